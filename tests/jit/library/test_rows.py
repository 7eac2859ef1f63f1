# SPDX-License-Identifier: Apache-2.0
"""Scatters, running sums and transposes against plain NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from numbaflow.jit import library

from ...drawing import examples
from .eager import EagerBuilder

pytestmark = pytest.mark.cpu

COMBINE: dict[str, Any] = {
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "div": np.divide,
    "max": np.maximum,
    "min": np.minimum,
    "update": lambda old, new: new,
}


@pytest.mark.parametrize("fn", COMBINE)
@pytest.mark.parametrize("with_base", [False, True])
def test_scatter_rows(fn: str, with_base: bool) -> None:
    rng = np.random.default_rng(0)
    rows, width = 3000, 37
    indices = rng.integers(-2, rows + 2, (50, 20)).astype(np.int32)
    indices[:10] = 7
    updates = rng.uniform(0.5, 1.5, (50, 20, width)).astype(np.float32)
    base = rng.standard_normal((rows, width)).astype(np.float32)
    want = base.copy() if with_base else np.full((rows, width), 1, np.float32)
    for row, update in zip(indices.reshape(-1), updates.reshape(-1, width), strict=True):
        if 0 <= row < rows:
            want[row] = COMBINE[fn](want[row], update)
    for threads in (1, 2):
        b = EagerBuilder(threads)
        start = b.value(base) if with_base else None
        got = library.scatter_rows(b, fn, b.value(indices), b.value(updates), rows, start, 1)
        np.testing.assert_array_equal(got.data, want)


def test_scatter_of_integers() -> None:
    b = EagerBuilder()
    indices, updates = np.array([2, 2, 0], np.int64), np.array([5, 6, 7], np.int32)
    got = library.scatter_rows(b, "add", b.value(indices), b.value(updates), 4).data
    np.testing.assert_array_equal(got, np.array([7, 0, 11, 0], np.int32))


@examples(15)
@given(
    shape=st.lists(st.integers(0, 7), min_size=1, max_size=3),
    data=st.data(),
    fn=st.sampled_from(["add", "mul"]),
    exclusive=st.booleans(),
    reverse=st.booleans(),
    dtype=st.sampled_from(["float32", "int64"]),
)
def test_running(
    shape: Any, data: Any, fn: str, exclusive: bool, reverse: bool, dtype: str
) -> None:
    axis = data.draw(st.integers(0, len(shape) - 1))
    x = np.random.default_rng(0).integers(1, 4, shape).astype(dtype)
    y = np.flip(x, axis) if reverse else x
    if exclusive and shape[axis]:
        first = np.full_like(np.take(y, [0], axis), 0 if fn == "add" else 1)
        y = np.concatenate([first, np.delete(y, -1, axis)], axis)
    want = (np.cumsum if fn == "add" else np.cumprod)(y, axis, dtype=dtype)
    b = EagerBuilder()
    got = library.running(b, fn, b.value(x), axis, exclusive, reverse).data
    np.testing.assert_array_equal(got, np.flip(want, axis) if reverse else want)


@pytest.mark.parametrize("dtype", ["float32", "int64"])
@pytest.mark.parametrize("shape", [(1, 1, 1), (0, 3, 4), (3, 64, 130), (2, 33, 17), (1, 700, 900)])
def test_transpose(shape: Any, dtype: str) -> None:
    x = np.arange(np.prod(shape)).reshape(shape).astype(dtype)
    b = EagerBuilder(2)
    got = library.transpose_matrices(b, b.value(x)).data
    np.testing.assert_array_equal(got, x.swapaxes(1, 2))
