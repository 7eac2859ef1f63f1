# SPDX-License-Identifier: Apache-2.0
"""Ragged tensors are lists of lists: what functions make of them is what Python makes of these."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import numbaflow as tf
from numbaflow.engine import settings

from ...drawing import examples
from .lists import Rows, flat, mapped, pages, rows, run

pytestmark = pytest.mark.programs

_BOUNDS = st.one_of(st.none(), st.integers(-4, 4))
_STEPS = st.sampled_from([None, 1, 2, 3])


@given(rows())
@examples(15)
def test_factories_take_what_the_others_give(value: Rows) -> None:
    def build(x: Any) -> list[Any]:
        make, flat_values = tf.RaggedTensor, x.flat_values
        return [
            make.from_row_splits(flat_values, x.row_splits),
            make.from_row_lengths(flat_values, x.row_lengths()),
            make.from_value_rowids(flat_values, x.value_rowids(), x.nrows()),
            make.from_row_starts(flat_values, x.row_starts()),
            make.from_row_limits(flat_values, x.row_limits()),
            make.from_tensor(x.to_tensor(), x.row_lengths()),
        ]

    assert run(build, value) == [value] * 6


@given(rows(), _BOUNDS, _BOUNDS, _STEPS)
@examples(40)
def test_slices_of_rows_are_slices_of_lists(
    value: Rows, start: Any, stop: Any, step: int | None
) -> None:
    assert run(lambda x: x[start:stop:step], value) == value[start:stop:step]


@given(rows(), _BOUNDS, st.one_of(st.none(), st.sampled_from([-3, -1, 1, 2, 4])), _STEPS)
@examples(40)
def test_slices_of_columns_are_slices_of_each_row(
    value: Rows, start: Any, stop: Any, step: int | None
) -> None:
    expected = [row[start:stop:step] for row in value]
    assert run(lambda x: x[:, start:stop:step], value) == expected


@given(rows(at_least=1), st.data())
@examples(15)
def test_numbers_are_rows(value: Rows, data: st.DataObject) -> None:
    place = data.draw(st.integers(-len(value), len(value) - 1))
    assert run(lambda x: [x[place], x[place, :], x[None][0]], value) == [
        value[place],
        value[place],
        value,
    ]


@given(rows(), rows())
@examples(15)
def test_tensors_are_joined_along_rows(one: Rows, other: Rows) -> None:
    joined, stacked = run(lambda x, y: [tf.concat([x, y], 0), tf.stack([x, y])], one, other)
    assert joined == one + other and stacked == [one, other]


@given(st.lists(st.tuples(rows(1, 1), rows(1, 1)), min_size=1, max_size=4))
@examples(15)
def test_tensors_are_joined_along_columns(pairs: list[Any]) -> None:
    one, other = (flat(part) for part in zip(*pairs, strict=True))
    expected = [a + b for a, b in zip(one, other, strict=True)]
    assert run(lambda x, y: tf.concat([x, y], axis=1), one, other) == expected


@given(pages(), st.lists(st.integers(0, 3), max_size=5))
@examples(20)
def test_gathered_rows_are_those_of_the_numbers(value: Any, numbers: list[int]) -> None:
    numbers = [number % len(value) for number in numbers] if value else []
    ids = tf.constant
    expected = [value[number] for number in numbers]
    assert run(lambda x: tf.gather(x, ids(numbers, tf.int32)), value, levels=2) == expected


@given(pages())
@examples(20)
def test_sums_are_those_of_python(value: Any) -> None:
    def build(x: Any) -> list[Any]:
        return [tf.reduce_sum(x, axis=axis) for axis in (None, 0, 1, 2, (1, 2))]

    total, first, second, third, both = run(build, value, levels=2)
    assert total == sum(flat(flat(value)))
    assert third == [[sum(row) for row in page] for page in value]
    assert both == [sum(flat(page)) for page in value]
    assert second == [_added(page) for page in value]
    columns = itertools.zip_longest(*value, fillvalue=[])
    assert first == [_added(column) for column in columns]


def _added(column: Any) -> list[int]:
    return [sum(numbers) for numbers in itertools.zip_longest(*column, fillvalue=0)]


@given(pages())
@examples(15)
def test_dense_and_sparse_tensors_hold_the_same(value: Any) -> None:
    def build(x: Any) -> list[Any]:
        sparse = x.to_sparse()
        return [x.to_tensor(99), sparse.indices, sparse.values, x.bounding_shape()]

    dense, indices, values, sizes = run(build, value, levels=2)
    places = [
        [i, j, k]
        for i, page in enumerate(value)
        for j, row in enumerate(page)
        for k, _ in enumerate(row)
    ]
    assert indices == places and values == flat(flat(value))
    widest = max(map(len, value), default=0)
    longest = max(map(len, flat(value)), default=0)
    assert sizes == [len(value), widest, longest]
    padded = [[row + [99] * (longest - len(row)) for row in page] for page in value]
    assert dense == [page + [[99] * longest] * (widest - len(page)) for page in padded]


@given(rows())
@examples(10)
def test_elementwise_functions_map_values(value: Rows) -> None:
    def build(x: Any) -> list[Any]:
        return [-x, abs(x), x + x, 3 - x, x * x > 4, tf.maximum(x, 2), tf.square(x), x // 2]

    functions: list[Any] = [
        lambda v: -v,
        abs,
        lambda v: v + v,
        lambda v: 3 - v,
        lambda v: v * v > 4,
        lambda v: max(v, 2),
        lambda v: v * v,
        lambda v: v // 2,
    ]
    assert run(build, value) == [mapped(function, value) for function in functions]


@given(rows(at_least=1))
@examples(10)
def test_a_number_for_each_row_meets_all_of_it(value: Rows) -> None:
    def build(x: Any) -> Any:
        return x + tf.expand_dims(tf.range(tf.cast(x.nrows(), tf.int64)), 1)

    expected = [[number + i for number in row] for i, row in enumerate(value)]
    assert run(build, value) == expected


@given(rows(), st.integers(0, 2), st.integers(0, 3))
@examples(15)
def test_tiles_repeat_rows_and_what_is_in_them(value: Rows, down: int, along: int) -> None:
    assert run(lambda x: tf.tile(x, [down, along]), value) == [row * along for row in value] * down


@given(pages())
@examples(15)
def test_masks_keep_what_they_hold_for(value: Any) -> None:
    def build(x: Any) -> list[Any]:
        return [tf.ragged.boolean_mask(x, x > 0), tf.where(x > 0), tf.size(x), tf.rank(x)]

    kept, places, size, rank = run(build, value, levels=2)
    assert kept == [[[v for v in row if v > 0] for row in page] for page in value]
    assert places == [
        [i, j, k]
        for i, page in enumerate(value)
        for j, row in enumerate(page)
        for k, v in enumerate(row)
        if v > 0
    ]
    assert size == len(flat(flat(value))) and rank == 3


@given(st.lists(st.integers(0, 3), max_size=6))
@examples(10)
def test_partitions_are_rows(numbers: list[int]) -> None:
    with tf.Graph().as_default(), settings.override(jit="never"):
        data = tf.range(len(numbers))
        stacked = tf.ragged.stack_dynamic_partitions(data, tf.constant(numbers, tf.int32), 4)
        found = tf.Session().run(stacked).to_list()
    assert found == [[i for i, number in enumerate(numbers) if number == row] for row in range(4)]


@given(st.lists(st.tuples(st.integers(-4, 4), st.integers(-4, 4), st.sampled_from([-2, 1, 3]))))
@examples(15)
def test_ranges_are_those_of_python(ranges: list[tuple[int, int, int]]) -> None:
    with tf.Graph().as_default(), settings.override(jit="never"):
        columns = [[part[i] for part in ranges] for i in range(3)]
        parts = [tf.constant(column, tf.int32) for column in columns]
        found = tf.Session().run(tf.ragged.range(*parts)).to_list()
    assert found == [list(range(*part)) for part in ranges]
