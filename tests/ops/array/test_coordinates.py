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


@pytest.mark.parametrize("dtype", ["int32", "int64"])
def test_flat_indices_become_coordinates_within_a_plan(dtype: str) -> None:
    scores = tf.placeholder(tf.float32, [None, None, 3])
    best = tf.argmax(tf.reshape(scores, [-1]), output_type=dtype)
    flat = tf.placeholder(dtype, [None])
    sizes = tf.cast(tf.shape(scores), dtype)
    fetches = tf.unravel_index(best, sizes), tf.unravel_index(flat, sizes)
    rng = np.random.default_rng(0)
    with settings.override(jit="always"), tf.Session() as session:
        for shape in ((4, 5, 3), (2, 7, 3), (1, 1, 3)):
            data = rng.normal(size=shape)
            places = rng.integers(0, data.size, 6)
            feeds = {scores: data, flat: places}
            one, many = session.run(fetches, feeds)
            np.testing.assert_array_equal(one, np.unravel_index(data.argmax(), shape))
            np.testing.assert_array_equal(many, np.unravel_index(places, shape))
        assert not session.prepared_plan(fetches, feeds)[0].traced.hosted
        for bad, words in ((-1, "negative indices"), (3, r"as with dims: \[1,1,3\]")):
            with pytest.raises(tf.errors.InvalidArgumentError, match=words):
                session.run(fetches[1], {scores: data, flat: [bad]})
        with pytest.raises(tf.errors.InvalidArgumentError, match="out of bound"):
            session.run(fetches[1], {scores: np.zeros((0, 2, 3)), flat: [0]})
