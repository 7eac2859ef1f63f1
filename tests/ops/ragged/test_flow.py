# SPDX-License-Identifier: Apache-2.0
"""Ragged tensors in branches, loops, maps and datasets."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import numbaflow as tf
from numbaflow.engine import settings
from numbaflow.ops.ragged.map import map_fn
from numbaflow.ops.ragged.tensor import RaggedTensorType

pytestmark = pytest.mark.programs


@pytest.fixture(autouse=True)
def graph() -> Iterator[None]:
    with tf.Graph().as_default(), settings.override(jit="never"):
        yield


def elements(dataset: Any) -> list[Any]:
    """All elements of a dataset, ragged ones as lists."""
    following = tf.data.make_one_shot_iterator(dataset).get_next()
    found = []
    with tf.Session() as session:
        while True:
            try:
                found.append(session.run(following))
            except tf.errors.OutOfRangeError:
                return found


def test_branches_give_ragged_tensors() -> None:
    x, y = tf.ragged.constant([[1, 2], [3]]), tf.ragged.constant([[7], [8, 9], []])
    chosen = tf.placeholder(tf.bool, [])
    result = tf.cond(chosen, lambda: x + 1, lambda: y)
    with tf.Session() as session:
        found = [session.run(result, {chosen: value}).to_list() for value in (True, False)]
    assert found == [[[2, 3], [4]], [[7], [8, 9], []]]


def test_loops_carry_ragged_tensors() -> None:
    x = tf.ragged.constant([[1, 2], [3]])
    longer = tf.RaggedTensorSpec([None, None], tf.int32)
    _, doubled = tf.while_loop(lambda i, _: i < 3, lambda i, r: (i + 1, r * 2), (0, x))
    _, grown = tf.while_loop(
        lambda i, _: i < 2,
        lambda i, r: (i + 1, tf.concat([r, x], axis=0)),
        (0, x),
        shape_invariants=(tf.TensorShape([]), longer),
    )
    with tf.Session() as session:
        assert session.run(doubled).to_list() == [[8, 16], [24]]
        assert session.run(grown).to_list() == [[1, 2], [3]] * 3


def test_maps_go_over_rows() -> None:
    x = tf.ragged.constant([[3, 1, 4], [], [1, 5]])
    totals = map_fn(tf.reduce_sum, x, dtype=tf.int32)
    counted = map_fn(
        lambda row: tf.range(tf.size(row)),
        x,
        dtype=RaggedTensorType(tf.int32, ragged_rank=1),
        infer_shape=False,
    )
    with tf.Session() as session:
        sums, counts = session.run([totals, counted])
    assert sums.tolist() == [8, 0, 6] and counts.to_list() == [[0, 1, 2], [], [0, 1]]
    with pytest.raises(ValueError, match="mismatches the result"):
        map_fn(lambda row: row, x, dtype=RaggedTensorType(tf.int32, ragged_rank=2))


def test_datasets_have_ragged_elements() -> None:
    x = tf.ragged.constant([[[1], [2, 3]], [], [[4, 5, 6]]])
    whole = tf.data.Dataset.from_tensors(x)
    assert whole.element_spec == tf.RaggedTensorSpec([3, None, None], tf.int32)
    assert [value.to_list() for value in elements(whole)] == [[[[1], [2, 3]], [], [[4, 5, 6]]]]
    rows = tf.data.Dataset.from_tensor_slices({"x": x, "n": [1, 2, 3]})
    found = [(value["x"].to_list(), value["n"].item()) for value in elements(rows)]
    assert found == [([[1], [2, 3]], 1), ([], 2), ([[4, 5, 6]], 3)]


def test_rows_that_differ_are_batched_and_taken_apart() -> None:
    value = tf.ragged.constant_value([[[1], [2, 3]], [[4]]], np.int32)
    rows = tf.data.Dataset.from_tensors(value).unbatch()
    assert [row.to_list() for row in elements(rows)] == [[[1], [2, 3]], [[4]]]
    pages = tf.data.Dataset.from_tensor_slices(tf.ragged.constant([[[1]], [[2], []], [[3, 4]]]))
    batched = pages.map(lambda page: page * 2).batch(2)
    assert [value.to_list() for value in elements(batched)] == [
        [[[2]], [[4], []]],
        [[[6, 8]]],
    ]
    assert [value.to_list() for value in elements(batched.unbatch())] == [
        [[2]],
        [[4], []],
        [[6, 8]],
    ]
