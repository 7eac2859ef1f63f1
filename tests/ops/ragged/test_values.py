# SPDX-License-Identifier: Apache-2.0
"""Rows of different lengths as values: what they hold, and lists of which none can be made."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import numbaflow as tf

pytestmark = pytest.mark.pure


def test_nested_lists_are_rows_with_splits() -> None:
    value = tf.ragged.constant_value([[[1, 2], [3]], [], [[], [4, 5, 6]]], dtype=tf.int16)
    assert value.ragged_rank == 2 and value.shape == (3, None, None) and value.dtype == np.int16
    assert [splits.tolist() for splits in value.nested_row_splits] == [
        [0, 2, 2, 4],
        [0, 2, 3, 3, 6],
    ]
    assert value.flat_values.tolist() == [1, 2, 3, 4, 5, 6]
    assert value.to_list() == [[[1, 2], [3]], [], [[], [4, 5, 6]]]
    assert str(value) == "<tf.RaggedTensorValue [[[1, 2], [3]], [], [[], [4, 5, 6]]]>"


@pytest.mark.parametrize(
    "rows, options, shape",
    [
        ([[1, 2], [3]], {"row_splits_dtype": tf.int32}, (2, None)),
        ([[[1, 2]], [[3, 4], [5, 6]]], {"ragged_rank": 1}, (2, None, 2)),
        ([[[1, 2]], [[3, 4], [5, 6]]], {"inner_shape": (2,)}, (2, None, 2)),
        ([[], []], {}, (2, None)),
        ([[1, 2], [3, 4]], {"ragged_rank": 0}, (2, 2)),
        ([1, 2], {}, (2,)),
        (7, {}, ()),
    ],
)
def test_ranks_and_shapes_are_as_asked(rows: Any, options: Any, shape: Any) -> None:
    value = tf.ragged.constant_value(rows, **options)
    assert value.shape == shape
    if "row_splits_dtype" in options:
        assert value.row_splits.dtype == np.int32


@pytest.mark.parametrize(
    "rows, options, message",
    [
        ([[1], 2], {}, "same nesting depth"),
        ([[1], [[]]], {}, "empty list nesting"),
        ([1], {"ragged_rank": -1}, "nonnegative"),
        ([1], {"ragged_rank": 1}, "requires scalar value depth"),
        ([[1]], {"ragged_rank": 1, "inner_shape": (2,)}, "incompatible"),
        ([[[1, 2]], [[3]]], {"ragged_rank": 1}, "inconsistent shape"),
        (5, {"inner_shape": (1,)}, "incompatible"),
    ],
)
def test_lists_of_other_ranks_are_refused(rows: Any, options: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        tf.ragged.constant_value(rows, **options)


def test_splits_and_values_of_other_kinds_are_refused() -> None:
    value = tf.ragged.RaggedTensorValue
    one, splits = np.array([1]), np.array([0, 1])
    with pytest.raises(TypeError, match="row_splits must be"):
        value(one, [0, 1])
    with pytest.raises(TypeError, match="values must be"):
        value([1], splits)
    with pytest.raises(ValueError, match="same dtype"):
        value(value(one, splits), splits.astype(np.int32))
