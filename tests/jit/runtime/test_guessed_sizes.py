# SPDX-License-Identifier: Apache-2.0
"""Operations on the host between loops, whose sizes only running them tells."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import numbaflow as tf
from numbaflow.engine import settings
from numbaflow.jit.runtime import runner

pytestmark = pytest.mark.cpu
RNG = np.random.default_rng(5)
BATCH = 4


@pytest.fixture(autouse=True)
def graph() -> Iterator[None]:
    with tf.Graph().as_default():
        yield


def rewarded(
    reward: Callable[[Any], Any], turns: Any, shape: Any = None
) -> tuple[list[tf.Tensor], list[int]]:
    """A loss of what a loop gives, weighed by a function of Python, with the gradient through the
    loop; and a list that grows with each call of the function."""
    calls: list[int] = []

    def counted(states: Any) -> Any:
        calls.append(len(calls))
        return reward(states)

    w = tf.constant(RNG.standard_normal((3, 3)), tf.float32)
    start = tf.constant(RNG.standard_normal((BATCH, 3)), tf.float32)
    _, states = tf.while_loop(
        lambda i, s: i < turns, lambda i, s: (i + 1, tf.tanh(tf.matmul(s, w))), (0, start)
    )
    weights = tf.py_func(counted, [states], tf.float32)
    if shape is not None:
        weights.set_shape(shape)
    loss = tf.reduce_sum(tf.reduce_sum(states, 1) * weights)
    return [loss, *tf.gradients(loss, [w, start]), weights], calls


REWARDS: dict[str, Callable[[Any], Any]] = {
    "vector": lambda s: s.sum(1),
    "number": lambda s: s.sum(),
    "one": lambda s: s.sum(1)[:1],
    "matrix": lambda s: np.stack([s.sum(1)] * 3),
}


@pytest.mark.parametrize("name", REWARDS)
def test_a_function_of_unknown_rank_between_loops_is_part_of_the_plan(name: str) -> None:
    turns = tf.placeholder(tf.int32, [])
    fetches, calls = rewarded(REWARDS[name], turns)
    with settings.override(jit="never"), tf.Session() as session:
        want = [session.run(fetches, {turns: n}) for n in (3, 5)]
    for _ in range(2):  # the second time plans come from the cache
        calls.clear()
        with settings.override(jit="always"), tf.Session() as session:
            run = runner.make_runner(session, session.graph, fetches, [], [turns])
            assert isinstance(run, runner.Runner)
            for n, expected in zip((3, 5), want):
                for actual, value in zip(run([np.int32(n)]), expected, strict=True):
                    np.testing.assert_allclose(actual, value, rtol=1e-5, atol=1e-6)
            assert not list(run.later_plans())
        assert len(calls) == 2


def test_sizes_that_are_others_in_each_run() -> None:
    """What compares them cannot take them for equal, and each call is one all the same."""
    turns, many = tf.placeholder(tf.int32, []), [BATCH, 1, BATCH, 1]
    given = iter([])

    def reward(states: Any) -> Any:
        return states.sum(1)[: next(given)]

    fetches, calls = rewarded(reward, turns)
    want = []
    for mode in ("never", "always"):
        given, results = iter(many), []
        calls.clear()
        with settings.override(jit=mode), tf.Session() as session:
            for _ in many:
                results.append(session.run(fetches, {turns: 3}))
        assert len(calls) == len(many)
        want.append(results)
    for actual, expected in zip(*want, strict=True):
        for one, other in zip(actual, expected, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-6)


def test_a_size_that_the_graph_knows_is_held_against_what_came() -> None:
    fetches, _ = rewarded(lambda s: s.sum(1)[:2], 3, [BATCH])
    with settings.override(jit="always"), tf.Session() as session:
        with pytest.raises(tf.errors.InternalError, match="expected"):
            session.run(fetches)


def test_an_operation_with_effects_runs_once_where_what_is_assumed_fails() -> None:
    turns, calls = tf.placeholder(tf.int32, []), []

    def counted() -> Any:
        calls.append(1)
        return np.float32(len(calls))

    number = tf.py_func(counted, [], tf.float32)
    number.set_shape([])
    drawn = tf.random_uniform([5], seed=3)
    _, rows = tf.while_loop(
        lambda i, rows: i < turns,
        lambda i, rows: (i + 1, tf.concat([rows, [tf.cast(i, tf.float32) + number]], 0)),
        (0, tf.zeros([0])),
        shape_invariants=(tf.TensorShape([]), tf.TensorShape([None])),
    )
    fetches = [rows * tf.range(5.0) + drawn, number]
    results = []
    for mode in ("never", "always"):
        calls.clear()
        with settings.override(jit=mode), tf.Session() as session:
            results.append([session.run(fetches, {turns: n}) for n in (5, 1, 5, 1, 1)])
        assert len(calls) == 5
    for actual, expected in zip(*results, strict=True):
        for one, other in zip(actual, expected, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-6)


def test_a_function_within_a_loop_of_an_array() -> None:
    """`tf.map_fn` of a function of Python, of which the graph knows no shape."""
    given = tf.placeholder(tf.float32, [None, 3])
    mapped = tf.map_fn(lambda row: tf.py_func(lambda x: x[:2] * 2, [row], tf.float32), given)
    with settings.override(jit="always"), tf.Session() as session:
        run = runner.make_runner(session, session.graph, [mapped], [], [given])
        assert isinstance(run, runner.Runner)
        for count in (4, 2, 5):
            rows = RNG.standard_normal((count, 3)).astype(np.float32)
            np.testing.assert_array_equal(run([rows])[0], rows[:, :2] * 2)
        assert not list(run.later_plans())


def test_sizes_that_differ_from_turn_to_turn_are_no_plan() -> None:
    calls: list[int] = []

    def longer(i: Any) -> Any:
        calls.append(int(i))
        return np.arange(i + 1, dtype=np.float32)

    _, total = tf.while_loop(
        lambda i, t: i < 6,
        lambda i, t: (i + 1, t + tf.reduce_sum(tf.py_func(longer, [i], tf.float32))),
        (0, 0.0),
    )
    with settings.override(jit="always"), tf.Session() as session:
        for _ in range(3):
            calls.clear()
            assert session.run(total) == 35
            assert calls == list(range(6))


def test_text_that_a_function_gives() -> None:
    given = tf.placeholder(tf.int32, [None])

    def named(i: Any) -> Any:
        return np.array([b"a", b"bb"] * int(i), object)

    counts = tf.map_fn(
        lambda i: tf.reduce_sum(tf.strings.length(tf.py_func(named, [i], tf.string))), given
    )
    with settings.override(jit="always"), tf.Session() as session:
        for many in ([2, 2, 2], [1, 1], [1, 3, 2]):
            np.testing.assert_array_equal(session.run(counts, {given: many}), np.multiply(many, 3))
