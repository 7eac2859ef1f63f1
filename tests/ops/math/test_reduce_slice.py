# SPDX-License-Identifier: Apache-2.0
"""Reductions over slices of a dimension: ends, empty slices, and what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import numbaflow as tf
from numbaflow.train.contrib import reduce_slice_ops

pytestmark = pytest.mark.cpu
DATA = np.arange(1, 13).reshape(3, 4)
SLICES = np.array([[0, 2], [1, 1], [1, 9]])


def _run(name: str, *arguments: Any) -> tuple[Any, Any]:
    with tf.Graph().as_default(), tf.Session() as session:
        result = getattr(reduce_slice_ops, f"reduce_slice_{name}")(*arguments)
        return session.run(result), result.shape.as_list()


@pytest.mark.parametrize("dtype", [np.int32, np.float32])
@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("name, empty", [("sum", 0), ("prod", 1), ("max", None), ("min", None)])
def test_slices_are_reduced(name: str, empty: int | None, axis: int, dtype: type) -> None:
    data = np.moveaxis(DATA, 0, axis).astype(dtype)
    if empty is None:
        limits = np.iinfo(np.int32) if dtype is np.int32 else None
        least, most = (limits.min, limits.max) if limits else (-np.inf, np.inf)
        empty = least if name == "max" else most
    function = getattr(np, name)
    rows = [function(DATA[:2], axis=0), np.full(4, empty, dtype), function(DATA[1:], axis=0)]
    found, shape = _run(name, data, SLICES, axis)
    np.testing.assert_array_equal(found, np.stack(rows, axis))
    assert found.dtype == dtype and shape == list(found.shape)


def test_a_vector_names_the_edges() -> None:
    assert _run("sum", DATA[:, 0], [0, 0, 2, 3], 0)[0].tolist() == [0, 6, 9]
    assert _run("sum", DATA[:, 0], np.zeros(0, np.int32), 0)[1] == [0]


def test_what_is_refused() -> None:
    with pytest.raises(ValueError, match="Out of range dim_index 2"):
        _run("sum", DATA, SLICES, 2)
    with pytest.raises(ValueError, match="Dimensions must be equal, but are 3 and 2"):
        _run("sum", DATA, [[0, 1, 2]], 0)
    with pytest.raises(ValueError, match="at most rank 2"):
        _run("sum", DATA, [[[0, 1]]], 0)
    with pytest.raises(tf.errors.InvalidArgumentError, match="must not be negative"):
        _run("sum", DATA, [[-1, 2]], 0)
