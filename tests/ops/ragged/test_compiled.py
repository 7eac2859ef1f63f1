# SPDX-License-Identifier: Apache-2.0
"""Ops on ragged tensors, compiled: against their reference kernels, with rows that are fed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import numbaflow as tf
from numbaflow.engine import settings
from numbaflow.jit.runtime import runner

pytestmark = pytest.mark.cpu
LISTS: list[Any] = [
    [[3, 1, 4], [], [1, 5], [9]],
    [[], [2], [7, 1, 8, 2, 8]],
    [[], []],
]
PAGES: list[Any] = [
    [[[1, 2], []], [], [[3], [4, 5, 6], [7]]],
    [[], [[8, 9]]],
    [[[]], [[], [1]]],
]


@pytest.fixture(autouse=True)
def graph() -> Iterator[None]:
    with tf.Graph().as_default():
        yield


def parts(thing: Any) -> list[Any]:
    """The tensors (or arrays) that a ragged tensor or its value consists of."""
    if hasattr(thing, "nested_row_splits"):
        return [thing.flat_values, *thing.nested_row_splits]
    return (
        [thing.indices, thing.values, thing.dense_shape] if hasattr(thing, "indices") else [thing]
    )


def compare(
    make: Callable[..., Any], given: list[Any], levels: int = 1, dtype: Any = np.int64
) -> None:
    """One compiled runner gives for all values what reference kernels give, without the host."""
    fed = tf.ragged.placeholder(tf.as_dtype(dtype), levels, [])
    fetches = [part for result in make(fed) for part in parts(result)]
    with settings.override(jit="always"), tf.Session() as session:
        run = runner.make_runner(session, session.graph, fetches, [], parts(fed))
        assert isinstance(run, runner.Runner)
        for value in given:
            feeds = parts(tf.ragged.constant_value(value, dtype, ragged_rank=levels))
            with settings.override(jit="never"), tf.Session() as reference:
                want = reference.run(fetches, dict(zip(parts(fed), feeds, strict=True)))
            for actual, expected in zip(run(feeds), want, strict=True):
                assert actual.tolist() == expected.tolist()
                assert np.asarray(actual).dtype == np.asarray(expected).dtype
        report = run.explain(feeds)
        plans = [report, *report.plans]
        names = [kernel.ops for plan in plans for kernel in plan.kernels if kernel.kind == "host"]
        assert not names, names


@pytest.mark.parametrize("dtype", [np.int32, np.int64])
@pytest.mark.parametrize("splits", [tf.int32, tf.int64])
def test_ranges(dtype: Any, splits: Any) -> None:
    def make(x: Any) -> list[Any]:
        starts = x.values
        return [
            tf.ragged.range(starts, row_splits_dtype=splits),
            tf.ragged.range(starts, starts * 3, 2, row_splits_dtype=splits),
            tf.ragged.range(4, 4 - starts, -1, row_splits_dtype=splits),
        ]

    compare(make, LISTS, dtype=dtype)


@pytest.mark.parametrize("dtype", [np.int32, np.float32, np.float64])
def test_rows_by_number(dtype: Any) -> None:
    def make(x: Any) -> list[Any]:
        rows = tf.cast(x.nrows(), tf.int32)
        numbers = tf.range(rows - 1, -1, -1)
        return [
            tf.gather(x, numbers),
            tf.gather(x, tf.stack([numbers, numbers], 1)),
            tf.gather(x, tf.concat([numbers[:0], [0, 0]], 0)),
            tf.gather(x, tf.constant(1)),
        ]

    compare(make, LISTS, dtype=dtype)


@pytest.mark.parametrize("dtype", [np.int64, np.float32])
def test_rows_of_rows(dtype: Any) -> None:
    def make(x: Any) -> list[Any]:
        return [
            tf.gather(x, tf.constant([1, 0, 1])),
            x.to_sparse(),
            tf.concat([x, x], axis=1),
            tf.reduce_sum(x, axis=2),
        ]

    compare(make, PAGES, levels=2, dtype=dtype)


def test_coordinates_of_what_lies_below_rows() -> None:
    def make(x: Any) -> list[Any]:
        pairs = x.with_values(tf.stack([x.values, x.values + 1], axis=1))
        return [x.to_sparse(), pairs.to_sparse()]

    compare(make, [*LISTS, []])


def test_slices_and_tiles() -> None:
    def make(x: Any) -> list[Any]:
        return [x[1:], x[:, 1:], x[:, :-1], x[::2], tf.tile(x, [2, 3]), x + x, x[:, None]]

    compare(make, [*LISTS, []])


def test_dense_tensors_and_masks() -> None:
    def make(x: Any) -> list[Any]:
        return [x.to_tensor(-1), tf.ragged.boolean_mask(x, x > 2), tf.reduce_max(x, axis=1)]

    compare(make, LISTS)


def test_what_is_no_row_is_refused_with_tensorflows_words() -> None:
    x = tf.ragged.placeholder(tf.int32, 1, [])
    numbers = tf.placeholder(tf.int32, [None])
    steps = tf.placeholder(tf.int32, [None])
    rows, ranges = tf.gather(x, numbers), tf.ragged.range(numbers, 5, steps)
    sparse = x.to_sparse()
    value = tf.ragged.constant_value([[1, 2], [3]], np.int32)
    cases: list[Any] = [
        (rows, {x: value, numbers: [0, 2]}, r"indices\[1\] = 2 is not in \[0, 2\)"),
        (rows, {x.values: [1, 2, 3], x.row_splits: [0, 2, 1, 3], numbers: [0]}, "must be sorted"),
        (rows, {x.values: [1], x.row_splits: [0, 2], numbers: [0]}, "must not point past values"),
        (ranges, {numbers: [1, 2], steps: [1, 0]}, "Requires delta != 0"),
        (sparse, {x.values: [1, 2], x.row_splits: [0, 1]}, "must match the length"),
        (sparse, {x.values: [1, 2], x.row_splits: [1, 2]}, "First value of ragged splits"),
    ]
    for jit in ("never", "always"):
        with settings.override(jit=jit), tf.Session() as session:
            for fetch, feeds, problem in cases:
                with pytest.raises(tf.errors.InvalidArgumentError, match=problem):
                    session.run(fetch, feeds)


def test_gradients_of_gathered_rows() -> None:
    def make(x: Any) -> list[Any]:
        rows = tf.gather(x, tf.constant([1, 1, 0]))
        slope = tf.gradients(tf.reduce_sum(rows.values * rows.values), x.values)[0]
        return [tf.convert_to_tensor(slope)]

    compare(make, [LISTS[0], LISTS[1]], dtype=np.float32)


@pytest.mark.parametrize("dtype", [np.int32, np.int64])
@pytest.mark.parametrize("jit", ["never", "always"])
def test_ranges_of_the_longest_steps(jit: str, dtype: Any) -> None:
    least, most = int(np.iinfo(dtype).min), int(np.iinfo(dtype).max)
    ranges = [(1, 4, most), (4, 1, least), (least, most, most), (most, least, least), (0, 1, least)]
    with settings.override(jit=jit), tf.Graph().as_default(), tf.Session() as session:
        parts = [tf.placeholder(dtype, [None]) for _ in range(3)]
        feeds = {part: np.array(column, dtype) for part, column in zip(parts, zip(*ranges))}
        found = session.run(tf.ragged.range(*parts), feeds).to_list()
    assert found == [list(range(*each)) for each in ranges]
