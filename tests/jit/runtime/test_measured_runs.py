# SPDX-License-Identifier: Apache-2.0
"""Runs that learn sizes for which they were not laid out, and go on in others that are."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

import numbaflow as tf
from numbaflow.engine import settings
from numbaflow.jit.kernel import verify_kernel
from numbaflow.jit.runtime import runner
from numbaflow.jit.runtime.execution import Run, is_held
from numbaflow.jit.schedule.steps import Learn

pytestmark = pytest.mark.cpu


@pytest.fixture(autouse=True)
def graph() -> Iterator[None]:
    with tf.Graph().as_default():
        tf.set_random_seed(5)
        yield


def both_ways(fetches: list[tf.Tensor], feeds: list[dict[tf.Tensor, object]]) -> None:
    """Compares what runs of one session give with what reference kernels give."""
    results = []
    for mode in ("never", "always"):
        with settings.override(jit=mode), tf.Session() as session:
            session.run(tf.global_variables_initializer())
            results.append([session.run(fetches, feed) for feed in feeds])
    for want, got in zip(*results, strict=True):
        for one, other in zip(want, got, strict=True):
            np.testing.assert_allclose(other, one, rtol=1e-5, atol=1e-6)


def test_a_slot_between_two_values_holds_nothing() -> None:
    early_and_late = 0b1110_0011
    assert [is_held(early_and_late, step) for step in range(8)] == [1, 0, 0, 0, 0, 1, 1, 0]


def attention(x: tf.Tensor, graph: tf.SparseTensor, size: int) -> tf.Tensor:
    """What each row takes of others, by a softmax over its entries in a sparse matrix."""
    x = tf.matmul(x, tf.get_variable("kernel", [x.shape[1], 4]))
    one, other = (tf.matmul(x, tf.get_variable(name, [4, 1])) for name in ("one", "other"))
    summed = tf.sparse_add(graph * one, graph * tf.transpose(other))
    weights = tf.sparse_softmax(
        tf.SparseTensor(summed.indices, tf.nn.leaky_relu(summed.values), summed.dense_shape)
    )
    made = tf.sparse_tensor_dense_matmul(tf.sparse_reshape(weights, [size, size]), x)
    made.set_shape([size, 4])
    return tf.nn.elu(made)


def test_heads_of_attention_over_a_sparse_matrix_train_alike() -> None:
    """Each head's entries have a size of their own, that a first run learns on its way."""
    size, draws = 30, np.random.default_rng(3)
    graph = tf.sparse_placeholder(tf.float32)
    x, heads = tf.constant(draws.standard_normal((size, 4)), tf.float32), []
    for number in range(6):
        with tf.variable_scope(f"head{number}", initializer=tf.glorot_uniform_initializer(seed=1)):
            heads.append(attention(x, graph, size))
    with tf.variable_scope("last", initializer=tf.glorot_uniform_initializer(seed=2)):
        last = attention(tf.concat(heads, 1), graph, size)
    loss = tf.reduce_sum(tf.square(last))
    train = tf.train.GradientDescentOptimizer(0.01).minimize(loss)
    with tf.control_dependencies([train]):
        done = tf.constant(0)
    places = np.argwhere(draws.uniform(0, 1, (size, size)) < 0.3)
    values = tf.SparseTensorValue(places, np.ones(len(places), np.float32), [size, size])
    both_ways([loss, done], [{graph: values}] * 3)


def test_random_numbers_of_a_measured_size_are_taken_when_the_size_is_known() -> None:
    """However many a run draws, the next one goes on behind them."""
    x = tf.placeholder(tf.float32, [None])
    chosen = tf.where(x > 0.5)
    drawn = tf.random_uniform([tf.shape(chosen)[0]], seed=4)
    before = tf.random_normal([3], seed=2)
    feeds = [{x: np.linspace(0, 1, size)} for size in (300, 500, 500, 200, 900)]
    both_ways([drawn * 2, before], feeds)


def test_a_run_that_begins_anew_draws_the_same_random_numbers() -> None:
    """One that took sizes for equal which are not; the numbers behind are those behind one draw."""
    x, fed = tf.placeholder(tf.float32, [None]), tf.placeholder(tf.float32, [None])
    chosen = tf.boolean_mask(x, x > 0.6)
    results = [tf.random_uniform([2], seed=3) * 2, chosen + fed, tf.random_shuffle(fed, seed=4)]
    whole = np.linspace(0, 1, 9)
    feeds = [{x: some, fed: [1, 2, 3]} for some in (whole[-3:], [0, 0.5, 1], whole[-3:])]
    both_ways(results, feeds)


def three_choices() -> tuple[tf.Tensor, list[tf.Tensor]]:
    """A vector, and what is left of it by three conditions, the last on what the second left."""
    x = tf.placeholder(tf.float32, [None])
    large, small = (tf.boolean_mask(tf.cumsum(x), some) for some in (x > 0.5, x < 0.4))
    few = tf.boolean_mask(tf.sqrt(small), small > tf.reduce_mean(small))
    return x, [large * 2, tf.reduce_sum(large), small[::-1], few + 1]


@pytest.mark.parametrize("counts", [(10, 20, 400, 5, 401), (400, 10, 390, 401, 1, 399)])
def test_what_a_loop_keeps_has_room_whatever_its_size_is(counts: tuple[int, ...]) -> None:
    """Memory that a stack has from another run, or binding, holds fewer items of a larger size."""
    x = tf.placeholder(tf.float32, [None, 64])
    w = tf.Variable(0.9 * np.eye(64, dtype=np.float32))
    chosen = tf.boolean_mask(x, x[:, 0] > 0)

    def body(i: tf.Tensor, h: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
        return i + 1, tf.tanh(tf.matmul(h, w))

    _, h = tf.while_loop(lambda i, _: i < 40, body, [0, chosen])
    feeds = []
    for count in counts:
        rows = np.random.default_rng(count).random((402, 64), np.float32)
        rows[:, 0] = np.where(np.arange(402) < count, 0.5, -0.5)
        feeds.append({x: rows})
    loss = tf.reduce_mean(tf.square(h))
    both_ways([loss, *tf.gradients(loss, [w])], feeds)


def test_sizes_are_learnt_together_where_none_needs_another() -> None:
    x, results = three_choices()
    with settings.override(jit="always"), tf.Session() as session:
        run = runner.make_runner(session, session.graph, results, [], [x])
        assert isinstance(run, runner.Runner)
        plan, _ = run.prepare([np.linspace(0, 1, 50, dtype=np.float32)])
    places = [i for i, step in enumerate(plan.schedule.steps) if isinstance(step, Learn)]
    assert len(places) == 3
    assert places[1] == places[0] + 1 < places[2] - 1


def test_chains_of_sizes_are_learnt_side_by_side() -> None:
    """As of the columns of a table, each with sizes that follow from each other alone."""
    x, results = tf.placeholder(tf.float32, [None, 5]), list[tf.Tensor]()
    for i in range(5):
        kept = tf.boolean_mask(x[:, i], x[:, i] > 0.25)
        results.append(tf.reduce_sum(tf.boolean_mask(kept, kept < 0.75)))
    draws = np.random.default_rng(2)
    both_ways(results, [{x: draws.random((n, 5))} for n in (40, 40, 7, 0, 40)])
    with settings.override(jit="always"), tf.Session() as session:
        run = runner.make_runner(session, session.graph, results, [], [x])
        assert isinstance(run, runner.Runner)
        plan, _ = run.prepare([draws.random((40, 5)).astype(np.float32)])
    places = [i for i, step in enumerate(plan.schedule.steps) if isinstance(step, Learn)]
    rows = sum(place - 1 not in places for place in places)
    assert len(places) == 10
    assert rows == 2


def test_a_run_goes_on_where_it_is_while_there_is_room(monkeypatch: pytest.MonkeyPatch) -> None:
    if verify_kernel.guards:
        pytest.skip("guards stand around the sizes that a run began with")
    x, results = three_choices()
    draws = np.random.default_rng(7)
    feeds = [{x: draws.uniform(0, 1, 400)} for _ in range(12)]
    both_ways(results, feeds)
    moves = []
    take_over = Run.take_over
    monkeypatch.setattr(Run, "take_over", lambda *given: (moves.append(1), take_over(*given)))
    with settings.override(jit="always"), tf.Session() as session:
        counts = []
        for feed in feeds:
            session.run(results[1:], feed)
            counts.append(len(moves))
    assert counts[0] > 0
    assert counts[3] == counts[-1]


def test_sizes_that_outgrow_their_room_in_turns_come_to_rest(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """While one size grows the others shrink, and what they had is kept for them."""
    if verify_kernel.guards:
        pytest.skip("guards stand around the sizes that a run began with")
    x = tf.placeholder(tf.float32, [None])
    parts = [tf.sqrt(tf.boolean_mask(x, tf.equal(tf.floor(x), float(n)))) for n in range(3)]
    # Each condition holds for nearly all numbers of one feed and for few of the others.
    feeds = [{x: np.repeat([0.5, 1.5, 2.5], np.roll([900, 10, 20], n % 3))} for n in range(12)]
    sums = [tf.reduce_sum(part) for part in parts]
    both_ways(sums, feeds)
    moves = []
    take_over = Run.take_over
    monkeypatch.setattr(Run, "take_over", lambda *given: (moves.append(1), take_over(*given)))
    with settings.override(jit="always"), tf.Session() as session:
        counts = []
        for feed in feeds:
            session.run(sums, feed)
            counts.append(len(moves))
    assert counts[0] > 0
    assert counts[5] == counts[-1]


def test_a_fetch_whose_guessed_size_is_negative() -> None:
    """Rows behind a number that is met later than their own: 13 - 7, and of the next run 5 - 7."""
    behind = tf.placeholder(tf.int32)
    rows = tf.placeholder(tf.float32, [2, None, 8])
    others = tf.placeholder(tf.float32, [2, None, 8])
    kept = rows[:, behind + 1 :, :]
    fetches = [tf.reduce_sum(kept * others), tf.nn.relu(kept), others + 0.0]
    random = np.random.default_rng(0)
    with tf.Session() as session:
        for count in (6, 2, 1, 4, 1, 7):
            fed = random.normal(size=(2, 2 * count + 1, 8)).astype(np.float32)
            factor = random.normal(size=(2, count, 8)).astype(np.float32)
            total, positive, same = session.run(fetches, {behind: count, rows: fed, others: factor})
            expected = fed[:, count + 1 :]
            np.testing.assert_allclose(total, (expected * factor).sum(), rtol=1e-4, atol=1e-4)
            np.testing.assert_array_equal(positive, np.maximum(expected, 0))
            np.testing.assert_array_equal(same, factor)
