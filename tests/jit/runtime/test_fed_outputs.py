# SPDX-License-Identifier: Apache-2.0
"""What is fed of an operation's outputs stays so, though the operation runs for others."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import numbaflow as tf
from numbaflow.engine import settings

pytestmark = pytest.mark.cpu

NUMBERS = np.float32([1, 2, 3, 4])
PAIRS: dict[str, Callable[[Any], Any]] = {
    "split": lambda x: tf.split(x, 2),
    "unstack": lambda x: tf.unstack(x)[:2],
    "top_k": lambda x: tf.nn.top_k(x, 2),
    "identity_n": lambda x: tf.identity_n([x, x * 2]),
    "unique": tf.unique,
    "unique, then a size": lambda x: (tf.unique(x)[1], tf.unique(x)[0]),
    "batch norm": lambda x: tf.nn.fused_batch_norm(
        tf.reshape(x, [4, 1, 1, 1]), tf.ones([1]), tf.ones([1])
    )[:2],
    "cond": lambda x: tf.cond(x[0] > 0, lambda: (x * 1, x * 2), lambda: (x * 3, x * 4)),
    "while_loop": lambda x: tf.while_loop(
        lambda a, b: b[0] < 9, lambda a, b: (a + 1, b * 2), [x, x]
    ),
}


@pytest.mark.parametrize("mode", ["never", "always"])
@pytest.mark.parametrize("name", PAIRS)
def test_the_fed_one_of_several_outputs_is_read(name: str, mode: str) -> None:
    with tf.Graph().as_default(), settings.override(jit=mode), tf.Session() as session:
        x = tf.placeholder(tf.float32, [4])
        pair = list(PAIRS[name](x))
        tens = [tf.cast(tensor, tf.float32) * 10 for tensor in pair]
        values = session.run(pair, {x: NUMBERS})
        for k, tensor in enumerate(pair):
            fed = {x: NUMBERS, tensor: values[k] + 100}
            wanted = [value + 100 * (i == k) for i, value in enumerate(values)]
            found = session.run([*pair, *tens], fed)
            for got, value in zip(found, [*wanted, *(value * 10.0 for value in wanted)]):
                np.testing.assert_allclose(got, value, rtol=1e-5)
            for ten, value in zip(tens, wanted):
                np.testing.assert_allclose(session.run(ten, fed), value * 10.0, rtol=1e-5)


def _assigned() -> tuple[Any, Callable[[], Any]]:
    variable = tf.get_variable("v", initializer=1.0, use_resource=False)
    return tf.assign_add(variable, 1.0), lambda: variable


def _called() -> tuple[Any, Callable[[], Any]]:
    calls: list[float] = [1.0]
    called = tf.py_func(lambda: (calls.append(1.0), np.float32(5))[1], [], tf.float32)
    return called, lambda: tf.py_func(lambda: np.float32(sum(calls)), [], tf.float32)


def _taken() -> tuple[Any, Callable[[], Any]]:
    queue = tf.FIFOQueue(9, tf.float32, [()])
    with tf.control_dependencies([queue.enqueue_many([np.arange(9, dtype=np.float32)])]):
        tf.identity(1.0, name="filled")
    return queue.dequeue(), lambda: 10 - tf.cast(queue.size(), tf.float32)


@pytest.mark.parametrize("mode", ["never", "always", "auto"])
@pytest.mark.parametrize("made", [_assigned, _called, _taken])
def test_what_is_needed_for_its_effect_runs_though_its_result_is_fed(made: Any, mode: str) -> None:
    with tf.Graph().as_default() as graph, settings.override(jit=mode), tf.Session() as session:
        result, count = made()
        with tf.control_dependencies([result]):
            behind = result * 2
        session.run(tf.global_variables_initializer())
        if made is _taken:
            session.run(graph.get_operation_by_name("filled"))
        wanted = count()
        fed = {result: 7.0}
        assert session.run(result, fed) == 7  # nothing needs the operation
        assert session.run(wanted) == 1
        assert session.run(result.op, fed) is None
        assert session.run(wanted) == 2
        assert session.run([result, result.op], fed) == [7, None]
        assert session.run(wanted) == 3
        for times in (4, 5):
            assert session.run(behind, fed) == 14
            assert session.run(wanted) == times
