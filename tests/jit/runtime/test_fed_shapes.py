# SPDX-License-Identifier: Apache-2.0
"""Shapes that are fed are known to plans, also where the graph does not say how long they are."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import numbaflow as tf
from numbaflow.engine import settings
from numbaflow.jit.kernel.size_scope import Scope
from numbaflow.jit.runtime.size_patterns import outlined, pattern_of
from numbaflow.jit.trace.segment import may_be_sizes
from numbaflow.jit.trace.tracer import symbolic_feeds

pytestmark = pytest.mark.cpu

RNG = np.random.default_rng(3)


def always(build: Any, feeds: list[dict[str, Any]]) -> tuple[list[Any], str]:
    """What runs give when all is compiled, and the report of the last."""
    with tf.Graph().as_default(), settings.override(jit="always"), tf.Session() as session:
        fetched = build()
        found = [session.run(fetched, feed) for feed in feeds]
        return found, str(session.explain(fetched, feeds[-1]))


def test_a_fed_sparse_matrix_is_multiplied_by_a_plan() -> None:
    with tf.Graph().as_default(), settings.override(jit="always"), tf.Session() as session:
        a = tf.sparse_placeholder(tf.float32)
        x = tf.placeholder(tf.float32, [None, 5])
        y = tf.sparse_tensor_dense_matmul(a, x)
        for rows, columns in ((7, 9), (12, 30), (7, 9)):
            dense = RNG.standard_normal((rows, columns)) * (RNG.random((rows, columns)) < 0.3)
            right = RNG.standard_normal((columns, 5))
            feeds = {a: (np.argwhere(dense), dense[dense != 0], dense.shape), x: right}
            got = session.run(y, feeds)
            np.testing.assert_allclose(got, dense @ right, rtol=1e-5, atol=1e-5)
            assert "host" not in str(session.explain(y, feeds))


def test_a_fed_shape_may_have_any_length() -> None:
    def build() -> Any:
        shape = tf.placeholder(tf.int32, [None], name="shape")
        return tf.reshape(tf.placeholder(tf.float32, name="x"), shape) * 2.0

    values = np.arange(24, dtype=np.float32)
    shapes = [(4, 6), (2, 3, 4), (24,), (2, 1, 1, 1, 2, 1, 1, 1, 3, 2)]
    found, _ = always(build, [{"x:0": values, "shape:0": shape} for shape in shapes])
    for got, shape in zip(found, shapes, strict=True):
        np.testing.assert_array_equal(got, values.reshape(shape) * 2)


def test_integers_that_spell_no_shape_are_data() -> None:
    """Their contents make no plans of their own."""
    with tf.Graph().as_default():
        labels, shape, matrix = (tf.placeholder(tf.int32, s) for s in ([None], [None], [None, 2]))
        tf.one_hot(labels, 3)
        tf.reshape(tf.zeros([6]), shape)
        tf.cast(shape, tf.float32)
        tf.reshape(tf.zeros([6]), matrix[0])
    assert not may_be_sizes(labels) and may_be_sizes(shape) and not may_be_sizes(matrix)


def test_rows_of_any_number_are_split_by_a_plan() -> None:
    def build() -> Any:
        x = tf.placeholder(tf.float32, [None, 3], name="x")
        heads = tf.split(tf.exp(x), 4, 0)
        return [sum(heads), tf.concat(heads, 1)]

    rows = [RNG.standard_normal((4 * n, 3)).astype(np.float32) for n in (2, 5, 1)]
    found, report = always(build, [{"x:0": x} for x in rows])
    assert "host" not in report
    for got, x in zip(found, rows, strict=True):
        parts = np.split(np.exp(x), 4)
        np.testing.assert_allclose(got[0], sum(parts), rtol=1e-5)
        np.testing.assert_allclose(got[1], np.concatenate(parts, 1), rtol=1e-5)
    with pytest.raises(tf.errors.InvalidArgumentError, match="evenly divide"):
        always(build, [{"x:0": np.ones((8, 3))}, {"x:0": np.ones((7, 3))}])


@pytest.mark.parametrize("step", [1, 3, -2])
def test_ranges_between_sizes_are_made_by_a_plan(step: int) -> None:
    def build() -> Any:
        x = tf.placeholder(tf.float32, [None, None], name="x")
        rows, columns = tf.unstack(tf.shape(x))
        ends = (0, rows * columns) if step > 0 else (rows * columns, 0)
        return [tf.range(*ends, step) * 2, tf.range(0, rows * columns, columns)]

    feeds = [{"x:0": np.zeros(shape)} for shape in ((3, 4), (5, 2), (7, 3))]
    found, report = always(build, feeds)
    assert "host" not in report
    for got, feed in zip(found, feeds, strict=True):
        rows, columns = feed["x:0"].shape
        ends = (0, rows * columns) if step > 0 else (rows * columns, 0)
        np.testing.assert_array_equal(got[0], np.arange(*ends, step) * 2)
        np.testing.assert_array_equal(got[1], np.arange(0, rows * columns, columns))


def test_ends_that_the_program_computes_are_sizes_of_the_same_plan() -> None:
    """`tf.sequence_mask` of computed lengths, and what is filled to a computed size."""

    def build() -> Any:
        ids = tf.placeholder(tf.int32, [None, None], name="ids")
        lengths = tf.reduce_sum(tf.cast(ids > 0, tf.int32), 1)
        mask = tf.sequence_mask(lengths, dtype=tf.float32)
        return [mask * 2, tf.fill([tf.reduce_max(lengths), 2], 3.0) + 1]

    feeds = [{"ids:0": RNG.integers(0, 3, shape)} for shape in ((3, 8), (5, 6), (1, 9))]
    feeds.append({"ids:0": np.zeros((2, 3))})
    found, report = always(build, feeds)
    assert "host" not in report and "another plan" not in report
    for (mask, filled), feed in zip(found, feeds, strict=True):
        lengths = (feed["ids:0"] > 0).sum(1)
        expected = np.arange(lengths.max()) < lengths[:, None]
        np.testing.assert_array_equal(mask, expected * 2.0)
        np.testing.assert_array_equal(filled, np.full((lengths.max(), 2), 4.0))


@pytest.mark.parametrize("size", [(3, 4, 2), (9, 1, 5), (4, 6, 1), (1, 1, 30), (1, 0, 2)])
def test_stacks_of_tiny_products(size: tuple[int, int, int]) -> None:
    m, k, n = size
    for turn_x, turn_y in ((False, False), (True, False), (False, True), (True, True)):

        def build(turn_x: bool = turn_x, turn_y: bool = turn_y) -> Any:
            x = tf.placeholder(tf.float32, [None, *((k, m) if turn_x else (m, k))], name="x")
            y = tf.placeholder(tf.float32, [None, *((n, k) if turn_y else (k, n))], name="y")
            return tf.matmul(x, y, transpose_a=turn_x, transpose_b=turn_y)

        x, y = RNG.standard_normal((5, m, k)), RNG.standard_normal((5, k, n))
        feed = {
            "x:0": x.swapaxes(1, 2) if turn_x else x,
            "y:0": y.swapaxes(1, 2) if turn_y else y,
        }
        found, _ = always(build, [feed])
        np.testing.assert_allclose(found[0], x @ y, rtol=1e-4, atol=1e-5)


def test_nothing_is_picked_and_nothing_added_without_the_host() -> None:
    def build() -> Any:
        x = tf.placeholder(tf.float32, [None, 3], name="x")
        places = tf.placeholder(tf.int64, [None, 1], name="places")
        picked = tf.gather_nd(x, places)
        return [picked * 2.0, tf.scatter_nd(places, picked, [9, 3])]

    feeds = [
        {"x:0": np.ones((9, 3)), "places:0": np.arange(count)[:, None] + 2} for count in (3, 0, 1)
    ]
    found, report = always(build, feeds)
    assert "host" not in report
    for (picked, spread), feed in zip(found, feeds, strict=True):
        count = len(feed["places:0"])
        np.testing.assert_array_equal(picked, np.full((count, 3), 2.0))
        np.testing.assert_array_equal(spread.sum(1), [0, 0] + [3] * count + [0] * (7 - count))


def test_labels_make_no_plans_of_their_own() -> None:
    """Few integers, of a length that the graph knows: whatever they are, they are data."""
    with tf.Graph().as_default(), settings.override(jit="always"), tf.Session() as session:
        x = tf.placeholder(tf.float32, [4, 3])
        labels, size = tf.placeholder(tf.int32, [4]), tf.placeholder(tf.int32, [2])
        losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=x)
        result = [tf.reduce_mean(losses), tf.one_hot(labels + 1, 4)]
        assert not may_be_sizes(labels)
        shaped = tf.zeros(size * 2)
        assert may_be_sizes(size) and shaped.shape.ndims == 2
        feed = {x: np.eye(4, 3), labels: [0, 1, 2, 2]}
        session.run(result, feed)
        plan = session.explain(result, feed)
        for values in ([1, 1, 1, 1], [2, 0, 1, 2], [0, 0, 0, 1]):
            feed |= {labels: values}
            session.run(result, feed)
            assert session.explain(result, feed).guards == plan.guards


@given(st.data())
def test_outlines_tell_patterns(data: st.DataObject) -> None:
    """Inputs of equal outlines have equal patterns; values of symbols come in the same order."""
    number = st.sampled_from([0, 1, 2, 3, 5, 7])
    ranks = data.draw(st.lists(st.integers(0, 2), min_size=1, max_size=3))
    static = [data.draw(st.none() | st.just((None, 3)[:rank])) for rank in ranks]
    valued = [i for i, rank in enumerate(ranks) if rank < 2 and data.draw(st.booleans())]
    seen: dict[Any, Any] = {}
    for _ in range(4):
        arrays = []
        for place, (rank, known) in enumerate(zip(ranks, static, strict=True)):
            shape = [data.draw(number) for _ in range(rank)]
            if known is not None and rank == 2:
                shape[1] = 3
            items = st.integers(-1, 7) if place in valued else st.just(0)
            count = int(np.prod(shape))
            drawn = data.draw(st.lists(items, min_size=count, max_size=count))
            arrays.append(np.array(drawn, np.int32).reshape(shape))
        outline, symbols = outlined(arrays, static, valued)
        counts = [a.shape if i in valued else s for i, (a, s) in enumerate(zip(arrays, static))]
        is_valued = [i in valued for i in range(len(arrays))]
        feeds, want = symbolic_feeds(Scope(), arrays, counts, ["int32"] * len(arrays), is_valued)
        assert symbols == want
        pattern = tuple(map(pattern_of, feeds))
        assert seen.setdefault(outline, pattern) == pattern
