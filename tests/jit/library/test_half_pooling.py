# SPDX-License-Identifier: Apache-2.0
"""Pooling of half precision, compiled, is that of the reference kernels."""

from __future__ import annotations

import numpy as np
import pytest

import numbaflow as tf
from numbaflow.engine import settings

pytestmark = pytest.mark.cpu


@pytest.mark.parametrize("gpu", ["none", "emulated"])
@pytest.mark.parametrize(("dtype", "rtol"), [(tf.float16, 1e-3), (tf.bfloat16, 1e-2)])
@pytest.mark.parametrize("padding", ["SAME", "VALID"])
@pytest.mark.parametrize("pool", [tf.nn.avg_pool, tf.nn.max_pool], ids=["mean", "max"])
def test_pools_of_half_precision_are_made_in_single(gpu, dtype, rtol, padding, pool):
    rng = np.random.default_rng(0)
    given = [rng.standard_normal((2, 7, 8, 3)), np.full((2, 7, 8, 3), 6e4)]
    given += [np.full((2, 7, 8, 3), fill) for fill in (-np.inf, np.nan)]
    given.append(np.where(given[0] > 2, np.nan, np.where(given[0] < -2, np.inf, given[0])))

    def results(mode):
        with tf.Graph().as_default(), settings.override(jit=mode), tf.Session() as session:
            x = tf.placeholder(dtype, [None, None, None, 3])
            y = pool(x, [1, 3, 2, 1], [1, 2, 1, 1], padding)
            fetches = [tf.cast(v, tf.float64) for v in (y, *tf.gradients(y, [x]))]
            found = [session.run(fetches, {x: values}) for values in given]
            is_native = mode == "always" and "host" not in str(
                session.explain(fetches, {x: given[0]})
            )
            return found, is_native

    want, _ = results("never")
    with settings.override(gpu=gpu):
        found, is_native = results("always")
    for mine, theirs in zip(found, want, strict=True):
        for one, other in zip(mine, theirs, strict=True):
            np.testing.assert_allclose(one, other, rtol=rtol, atol=rtol)
    assert is_native
