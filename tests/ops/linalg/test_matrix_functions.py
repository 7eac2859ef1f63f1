# SPDX-License-Identifier: Apache-2.0
"""Roots, logarithms and exponentials of stacks of matrices, against SciPy's of each."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
import scipy.linalg

import numbaflow as tf
from numbaflow.ops.linalg import triangles

pytestmark = pytest.mark.cpu


def general(n: int) -> np.ndarray:
    random = np.random.default_rng(n)
    return random.normal(size=(6, n, n)) + 1j * random.normal(size=(6, n, n))


KINDS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "general": lambda x: x,
    "positive": lambda x: x @ np.conj(np.swapaxes(x, -1, -2)),
    "near one": lambda x: np.eye(x.shape[-1]) + 1e-9 * x,
    "large and small": lambda x: x * np.logspace(-12, 12, 6)[:, None, None],
    "triangles": lambda x: np.triu(x / x.shape[-1]) + np.eye(x.shape[-1]),
    "blocks": lambda x: np.eye(x.shape[-1]) * 3 + np.eye(x.shape[-1], k=1) * x,
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n", [1, 2, 3, 8, 20])
def test_roots_and_logarithms_are_scipys(n: int, kind: str) -> None:
    x = KINDS[kind](general(n))
    roots, logs = triangles.square_root(x), triangles.logarithm(x)
    scale = np.abs(x).max(axis=(-2, -1), keepdims=True)
    np.testing.assert_allclose(roots @ roots / scale, x / scale, atol=1e-12)
    for found, matrix in zip(logs, x, strict=True):
        want = scipy.linalg.logm(matrix)
        np.testing.assert_allclose(found, want, atol=1e-11 * max(1, np.abs(want).max()))


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128"])
@pytest.mark.parametrize("shape", [(4, 4), (2, 3, 4, 4), (0, 4, 4), (3, 0, 0), (2, 1, 1)], ids=str)
def test_functions_of_stacks(shape: tuple[int, ...], dtype: str) -> None:
    x = np.random.default_rng(1).normal(size=shape)
    x = (x @ np.swapaxes(x, -1, -2) + np.eye(shape[-1])).astype(dtype)
    tolerance = 1e-3 if dtype in ("float32", "complex64") else 1e-10
    with tf.Graph().as_default(), tf.Session() as session:
        fed = tf.placeholder(dtype, [None] * len(shape))
        wanted = {"sqrtm": tf.linalg.sqrtm(fed)}
        if dtype.startswith("complex"):
            wanted["logm"] = tf.linalg.logm(fed)
        for name, found in session.run(wanted, {fed: x}).items():
            assert found.dtype == dtype and found.shape == x.shape
            for place in np.ndindex(shape[:-2] if x.size else 0):
                exact = x[place].astype(np.result_type(x, np.float64))
                want = getattr(scipy.linalg, name)(exact)
                np.testing.assert_allclose(found[place], want, rtol=tolerance, atol=tolerance)


def test_zero_has_a_root() -> None:
    assert not triangles.square_root(np.zeros((2, 3, 3))).any()
