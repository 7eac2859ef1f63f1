# SPDX-License-Identifier: Apache-2.0
"""Systems of matrices that are not finite: TensorFlow 1.15's errors and values, compiled or not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import numbaflow as tf
from numbaflow.engine import settings

pytestmark = pytest.mark.cpu
NAN, INF = np.nan, np.inf
OPS: dict[str, Callable[..., Any]] = {
    "solve": lambda m: tf.matrix_solve(m, tf.ones_like(m)[:, :1]),
    "inverse": tf.matrix_inverse,
    "lu": lambda m: tf.linalg.lu(m)[0],
    "triangular": lambda m: tf.matrix_triangular_solve(m, tf.ones_like(m)[:, :1]),
}
# What TensorFlow 1.15.5 gives for [[a, b], [c, d]]; None for "not invertible".
FOUND: list[tuple[str, list[float], Any]] = [
    ("solve", [NAN, 1, 1, 2], None),
    ("solve", [1, 2, NAN, 1], [[NAN], [NAN]]),
    ("solve", [1, NAN, 0, 1], [[NAN], [NAN]]),
    ("solve", [0, 0, 0, 0], None),
    ("inverse", [NAN, 1, 1, 2], None),
    ("inverse", [1, NAN, 0, 1], [[NAN, NAN], [NAN, NAN]]),
    ("lu", [NAN, 1, 1, 2], None),
    ("lu", [2, NAN, 1, 1], [[2, NAN], [0.5, NAN]]),
    ("triangular", [NAN, 1, 1, 2], None),
    ("triangular", [1, 2, 3, NAN], [[1], [NAN]]),
    ("triangular", [1, 2, NAN, 1], [[1], [NAN]]),
]


@pytest.mark.parametrize("mode", ["never", "always"])
@pytest.mark.parametrize("dtype", [np.float32, np.complex64])
@pytest.mark.parametrize("op, cells, expected", FOUND)
def test_what_is_not_finite(
    mode: str, dtype: Any, op: str, cells: list[float], expected: Any
) -> None:
    m = tf.placeholder(dtype, [None, None])
    feed = {m: np.reshape(cells, [2, 2]).astype(dtype)}
    with settings.override(jit=mode), tf.Session() as session:
        if expected is None:
            with pytest.raises(tf.errors.InvalidArgumentError, match="is not invertible"):
                session.run(OPS[op](m), feed)
            return
        found = session.run(OPS[op](m), feed)
    np.testing.assert_array_equal(np.isnan(found), np.isnan(expected))
    np.testing.assert_allclose(found.real, np.where(np.isnan(expected), found.real, expected))


def test_the_exponential_of_what_has_none_ends() -> None:
    with tf.Session() as session:
        for value in (NAN, INF):
            with pytest.raises(tf.errors.InvalidArgumentError, match="is not invertible"):
                session.run(tf.linalg.expm(np.full((2, 2), value, np.float32)))


def test_the_rank_of_one_side_tells_that_of_the_other() -> None:
    def given(*sizes: int | None) -> Any:
        return tf.placeholder(tf.float32, list(sizes) or None)

    assert tf.matrix_solve(given(3, None, None), given()).shape.as_list() == [3, None, None]
    assert tf.matrix_solve(given(), given(3, 2, 5)).shape.as_list() == [3, 2, 5]
    assert tf.matrix_triangular_solve(given(None, None), given(2, 5)).shape.as_list() == [2, 5]
    assert tf.matrix_solve(given(), given()).shape.ndims is None
