# SPDX-License-Identifier: Apache-2.0
"""What may be wrong in a turn of a loop is looked at with what begins the next one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import numbaflow as tf
from numbaflow.engine import settings

pytestmark = pytest.mark.cpu
X = np.arange(12, dtype=np.float32).reshape(6, 2)


def by_number(i: Any, total: Any) -> Any:
    return i < 9


def by_sum(i: Any, total: Any) -> Any:
    """A test of several kernels."""
    return tf.reduce_sum(tf.nn.softmax(total) * tf.cumsum(total)) < 1e6


def reading(x: Any, first: Any, step: int, test: Callable[..., Any]) -> Any:
    """Adds up elements of an array from one on, and counts turns in a variable."""
    seen = tf.get_variable("seen", shape=(), dtype=tf.int32, initializer=tf.zeros_initializer())
    array = tf.TensorArray(tf.float32, 6, clear_after_read=False).unstack(x)

    def turn(i: Any, total: Any) -> tuple[Any, Any]:
        with tf.control_dependencies([tf.assign_add(seen, 1)]):
            return i + step, total + array.read(i)

    return tf.while_loop(test, turn, [first, tf.zeros([2])], parallel_iterations=1), seen


def outcome(gpu: str, first: int, step: int, test: Callable[..., Any]) -> tuple[Any, int, int]:
    """What a run gives or says, how many turns there were, and how often somebody waited."""
    with tf.Graph().as_default(), settings.override(gpu=gpu, jit="always"), tf.Session() as session:
        start = tf.placeholder(tf.int32, [])
        wanted, seen = reading(tf.constant(X), start, step, test)
        session.run(tf.global_variables_initializer())
        arenas = list(session.gpu.arenas(session)) if session.gpu else []
        before = sum(arena.device.waits for arena in arenas)
        try:
            found: Any = session.run(wanted, {start: first})
        except tf.errors.OpError as error:
            found = type(error), error.message.splitlines()[0]
        arenas = list(session.gpu.arenas(session)) if session.gpu else []
        waits = sum(arena.device.waits for arena in arenas) - before
        return found, int(session.run(seen)), waits


@pytest.mark.parametrize("test", [by_number, by_sum])
@pytest.mark.parametrize(("first", "step"), [(0, 1), (5, 1), (6, 1), (-3, 1), (0, 4), (1, -1)])
def test_a_wrong_turn_ends_the_run_as_on_processors(
    first: int, step: int, test: Callable[..., Any]
) -> None:
    mine, turns, _ = outcome("emulated", first, step, test)
    theirs, wanted, _ = outcome("none", first, step, test)
    assert mine == theirs
    assert isinstance(mine, tuple) and issubclass(mine[0], tf.errors.OpError)
    assert turns == wanted


def test_a_turn_waits_once() -> None:
    def waits(last: int) -> int:
        found, turns, waits = outcome("emulated", 0, 1, lambda i, total: i < last)
        assert turns == found[0] == last
        np.testing.assert_array_equal(found[1], X[:last].sum(0))
        return waits

    assert waits(5) - waits(2) == 3
