# SPDX-License-Identifier: Apache-2.0
"""Where tensors of any rank are not zero, and the inverses of permutations, compiled."""

from __future__ import annotations

import numpy as np
import pytest

import numbaflow as tf
from numbaflow.engine import settings

pytestmark = pytest.mark.cpu


@pytest.mark.parametrize("shape", [(7,), (4, 5), (3, 4, 5), (2, 3, 2, 4), (1, 6), (5, 1)])
@pytest.mark.parametrize("dtype", [np.bool_, np.float32, np.int64])
def test_places_of_what_is_not_zero(shape, dtype):
    x = tf.placeholder(tf.as_dtype(dtype), [None] * len(shape))
    where = tf.where(tf.identity(x)) * 1
    random = np.random.default_rng(len(shape))
    with settings.override(jit="always"), tf.Session() as session:
        for some in (0.5, 0.1, 1.0, 0.0):
            values = (random.random(shape) < some).astype(dtype)
            found = session.run(where, {x: values})
            np.testing.assert_array_equal(found, np.argwhere(values))


@pytest.mark.parametrize("dtype", [np.int32, np.int64])
def test_permutations_are_undone_and_others_refused(dtype):
    x = tf.placeholder(tf.as_dtype(dtype), [None])
    inverse = tf.math.invert_permutation(x)
    with settings.override(jit="always"), tf.Session() as session:
        for size in (1, 2, 100):
            order = np.random.default_rng(size).permutation(size).astype(dtype)
            np.testing.assert_array_equal(session.run(inverse, {x: order})[order], np.arange(size))
        for wrong, message in (([0, 2], "2 is not between 0 and 2"), ([1, 1, 0], "1 is dupl")):
            with pytest.raises(tf.errors.InvalidArgumentError, match=message):
                session.run(inverse, {x: wrong})
