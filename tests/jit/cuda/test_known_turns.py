# SPDX-License-Identifier: Apache-2.0
"""Loops that count whole numbers are begun turn behind turn; the host waits once for all."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import numbaflow as tf
from numbaflow.engine import settings

pytestmark = pytest.mark.cpu
X = np.arange(24, dtype=np.float32).reshape(8, 3) / 8
Test = Callable[..., Any]
TESTS: dict[str, Test] = {
    "below": lambda i, last, *_: i < last,
    "not yet": lambda i, last, *_: tf.not_equal(i, last),
    "two numbers": lambda i, last, *_: tf.logical_and(i < last, i * 2 - 1 <= 2 * last),
    "cast": lambda i, last, *_: tf.cast(i, tf.int64) < tf.cast(tf.maximum(last, 0), tf.int64),
}


def summed(x: Any, first: Any, last: Any, test: Test) -> Any:
    """Adds up rows of an array from one on."""
    array = tf.TensorArray(tf.float32, 8, clear_after_read=False).unstack(x)

    def turn(i: Any, last: Any, total: Any) -> tuple[Any, ...]:
        return i + 1, last, tf.tanh(total) + array.read(i)

    return tf.while_loop(test, turn, [first, last, tf.zeros([3])])


class Ran:
    """What runs of a program give or say, and how often they waited and began kernels."""

    def __init__(self, gpu: str, test: Test, bounds: list[tuple[int, int]]) -> None:
        self.found: list[Any] = []
        self.waits: list[int] = []
        self.is_known: list[bool] = []
        with tf.Graph().as_default(), settings.override(gpu=gpu, jit="always"):
            x = tf.placeholder(tf.float32, [8, 3])
            first, last = tf.placeholder(tf.int32, []), tf.placeholder(tf.int32, [])
            state = summed(x, first, last, test)
            wanted = [*state, tf.gradients(state[-1], x)[0]]
            with tf.Session() as session:
                for pair in bounds:
                    before = self._waits(session)
                    feeds = {x: X, first: pair[0], last: pair[1]}
                    try:
                        self.found.append(session.run(wanted, feeds))
                    except tf.errors.OpError as error:
                        self.found.append((type(error), error.message))
                    self.waits.append(self._waits(session) - before)
                arenas = list(session.gpu.arenas(session)) if session.gpu else []
                runs = [run for arena in arenas for run in arena.runs.values()]
                self.is_known = [found is not None for r in runs for found in r.plan.loops.values()]

    @staticmethod
    def _waits(session: Any) -> int:
        arenas = list(session.gpu.arenas(session)) if session.gpu else []
        return sum(arena.device.waits for arena in arenas)


@pytest.mark.parametrize("test", TESTS)
def test_loops_give_what_they_give_on_processors(test: str) -> None:
    bounds = [(0, 8), (0, 8), (2, 5), (0, 8), (3, 4), (3, 3), (0, 2), (0, 2)]
    mine, theirs = (Ran(gpu, TESTS[test], bounds) for gpu in ("emulated", "none"))
    assert mine.is_known and all(mine.is_known)
    for one, other in zip(mine.found, theirs.found, strict=True):
        for value, wanted in zip(one, other, strict=True):
            np.testing.assert_allclose(value, wanted, rtol=1e-6)
    assert mine.waits[1] == mine.waits[6] == mine.waits[7]


@pytest.mark.parametrize("pair", [(0, 12), (5, 9), (-2, 3), (7, 40), (8, 9)])
def test_errors_are_those_of_the_first_wrong_turn(pair: tuple[int, int]) -> None:
    bounds = [(0, 8), pair, (0, 8), pair, pair, (1, 3)]
    mine, theirs = (Ran(gpu, TESTS["below"], bounds) for gpu in ("emulated", "none"))
    assert all(mine.is_known)
    for one, other in zip(mine.found, theirs.found, strict=True):
        if isinstance(other, tuple):
            assert one == other
        else:
            np.testing.assert_allclose(one[-1], other[-1], rtol=1e-6)
    assert isinstance(theirs.found[1], tuple) and issubclass(theirs.found[1][0], tf.errors.OpError)


def test_sums_of_other_things_are_asked_for() -> None:
    """What the host does not do itself, or what would be seen, it waits for in each turn."""
    with tf.Graph().as_default(), settings.override(gpu="emulated", jit="always"):
        seen = tf.get_variable("seen", [], tf.float32, tf.zeros_initializer(), use_resource=True)

        def counting(i: Any) -> Any:
            with tf.control_dependencies([seen.assign_add(1.0)]):
                return i + 1

        real = tf.while_loop(lambda x: x < 9.5, lambda x: x * 1.5, [tf.placeholder(tf.float32, [])])
        changing = tf.while_loop(lambda i: i < 4, counting, [tf.placeholder(tf.int32, [])])
        with tf.Session() as session:
            session.run(seen.initializer)
            assert session.run(real, {real.graph.get_tensor_by_name("Placeholder:0"): 1.0}) > 9.5
            first = real.graph.get_tensor_by_name("Placeholder_1:0")
            assert session.run([changing, seen.read_value()], {first: 0})[0] == 4
            (arena,) = session.gpu.arenas(session)
            loops = [loop for run in arena.runs.values() for loop in run.plan.loops.values()]
            assert len(loops) == 2 and loops == [None, None]
