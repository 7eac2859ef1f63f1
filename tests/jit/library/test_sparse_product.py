# SPDX-License-Identifier: Apache-2.0
"""Products of sparse matrices with dense ones, compiled."""

from __future__ import annotations

import numpy as np
import pytest

import numbaflow as tf
from numbaflow.engine import settings

pytestmark = pytest.mark.cpu


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("adjoint", [False, True])
def test_a_column_has_the_bits_that_it_has_among_others(dtype: str, adjoint: bool) -> None:
    rng = np.random.default_rng(0)
    cells = np.sort(rng.choice(40 * 30, 300, replace=False))
    places = np.stack([cells // 30, cells % 30], 1)
    entries = rng.standard_normal(300).astype(dtype)
    dense = rng.standard_normal((40 if adjoint else 30, 3)).astype(dtype)
    whole = np.zeros((40, 30), dtype)
    whole[tuple(places.T)] = entries
    found = []
    for columns in (dense, dense[:, :1]):
        with tf.Graph().as_default(), settings.override(jit="always"), tf.Session() as session:
            held = tf.SparseTensor(places, tf.constant(entries), [40, 30])
            result = tf.sparse_tensor_dense_matmul(held, tf.constant(columns), adjoint_a=adjoint)
            found.append(session.run(result))
    wanted = (whole.T if adjoint else whole) @ dense
    np.testing.assert_allclose(found[0], wanted, rtol=1e-4, atol=1e-4)
    np.testing.assert_array_equal(found[1], found[0][:, :1])
