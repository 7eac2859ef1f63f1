# SPDX-License-Identifier: Apache-2.0
"""Gradients of calls and branches whose bodies are functions of the graph's library."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import numbaflow as tf
from numbaflow.engine import settings
from numbaflow.ops.flow.function_library import Defun
from numbaflow.ops.public import raw

pytestmark = pytest.mark.programs


@Defun(tf.float32, tf.float32)
def products(x: Any, y: Any) -> Any:
    return tf.sin(x) * y, tf.reduce_sum(y)


@Defun(tf.float32, tf.float32)
def cubes(x: Any, y: Any) -> Any:
    return x**3, tf.constant(2.0)


@Defun(tf.float32, tf.float32)
def chosen(x: Any, y: Any) -> Any:
    inner = raw.StatelessIf(
        tf.reduce_sum(y) > 1, [x, y], then_branch=products, else_branch=cubes, Tout=[tf.float32] * 2
    )
    return inner[0] * y, inner[1]


def orders(y: Any, x: Any) -> list[Any]:
    """The first gradient, and that of its squares."""
    first = tf.gradients(y, x)[0]
    return [first, tf.gradients(tf.reduce_sum(first**2), x)[0]]


def values(fetches: Any, feed: dict[Any, Any]) -> Any:
    with settings.override(jit="never"), tf.Session() as session:
        return session.run(fetches, feed)


@pytest.mark.parametrize("kind", ["If", "StatelessIf"])
@pytest.mark.parametrize("condition", [True, False])
def test_a_branch_has_the_gradients_of_the_function_that_runs(kind: str, condition: bool) -> None:
    p, x, y = tf.placeholder(tf.bool, []), tf.placeholder(tf.float32, [2]), tf.constant([2.0, 3.0])
    made = getattr(raw, kind)(
        p, [x, y], then_branch=products, else_branch=cubes, Tout=[tf.float32] * 2
    )
    plain = tf.cond(p, lambda: tf.sin(x) * y, lambda: x**3)
    found = values([orders(made[0], x), orders(plain, x)], {p: condition, x: [0.5, 1.5]})
    np.testing.assert_allclose(*found, rtol=1e-6)
    assert orders(made[0], x)[0].shape == [2]
    assert tf.gradients(made[0], p) == [None]


@pytest.mark.parametrize("number", [-1, 0, 1, 2, 7])
def test_a_case_out_of_range_has_those_of_the_last_one(number: int) -> None:
    k, x, y = tf.placeholder(tf.int32, []), tf.placeholder(tf.float32, [2]), tf.constant([2.0, 3.0])
    branches = [products, cubes, chosen]
    made = raw.Case(k, [x, y], branches=branches, Tout=[tf.float32] * 2)
    plain = [tf.sin(x) * y, x**3, tf.sin(x) * y * y]
    wanted = plain[number if 0 <= number < 3 else 2]
    found = values([orders(made[0], x), orders(wanted, x)], {k: number, x: [0.5, 1.5]})
    np.testing.assert_allclose(*found, rtol=1e-6)


def test_calls_and_functions_that_choose_have_gradients() -> None:
    x, y = tf.placeholder(tf.float32, [2]), tf.placeholder(tf.float32, [2])
    called = raw.PartitionedCall([x, y], f=chosen, Tout=[tf.float32] * 2)
    for given, plain in (([2.0, 3.0], tf.sin(x) * y * y), ([0.25, 0.5], x**3 * y)):
        found = values([orders(called[0], x), orders(plain, x)], {x: [0.5, 1.5], y: given})
        np.testing.assert_allclose(*found, rtol=1e-6)
    both = values(tf.gradients(called, [x, y]), {x: [0.5, 1.5], y: [0.25, 0.5]})
    np.testing.assert_allclose(both[1], [0.125, 3.375], rtol=1e-6)


def test_a_graph_that_is_written_has_its_gradient_functions() -> None:
    x = tf.placeholder(tf.float32, [2], name="x")
    called = raw.PartitionedCall([x, x], f=products, Tout=[tf.float32] * 2)
    tf.identity(tf.gradients(called[0], x)[0], name="gradient")
    message = tf.get_default_graph().as_graph_def()
    with tf.Graph().as_default():
        (found,) = tf.import_graph_def(message, return_elements=["gradient:0"], name="")
        value = values(found, {"x:0": [0.5, 1.5]})
    np.testing.assert_allclose(value, np.sin([0.5, 1.5]) + np.cos([0.5, 1.5]) * [0.5, 1.5])


@Defun(tf.float32, tf.float32)
def drawn(x: Any, y: Any) -> Any:
    return x * tf.random_uniform([]), y


@pytest.mark.parametrize("call", ["StatefulPartitionedCall", "If", "Case"])
def test_random_numbers_are_those_that_were_drawn(call: str) -> None:
    x = tf.constant(2.0)
    options: dict[str, Any] = {
        "StatefulPartitionedCall": {"f": drawn},
        "If": {"then_branch": drawn, "else_branch": cubes},
        "Case": {"branches": [cubes, drawn]},
    }[call]
    chosen = {"StatefulPartitionedCall": (), "If": (True,), "Case": (1,)}[call]
    made = getattr(raw, call)(*chosen, [x, x], Tout=[tf.float32] * 2, **options)
    (grad,) = tf.gradients(made[0], x)
    for _ in range(3):
        value, found = values([made[0], grad], {})
        assert value == pytest.approx(2 * found)


def test_variables_have_gradients_through_calls() -> None:
    variable = tf.get_variable("v", initializer=3.0, use_resource=True)

    @Defun(tf.resource)
    def read(handle: Any) -> Any:
        return raw.ReadVariableOp(handle, dtype=tf.float32) ** 2

    called = raw.StatefulPartitionedCall([variable.handle], f=read, Tout=[tf.float32])
    (grad,) = tf.gradients(called, variable)
    with settings.override(jit="never"), tf.Session() as session:
        session.run(variable.initializer)
        assert session.run(grad) == 6.0


def squared(x: Any, turns: int = 2) -> Any:
    """By a loop that is a node, as those of functions are in graphs of TensorFlow's."""
    tf.enable_control_flow_v2()
    try:
        return tf.while_loop(lambda i, a: i < turns, lambda i, a: (i + 1, a * a), [0, x])[1]
    finally:
        tf.disable_control_flow_v2()


@pytest.mark.cpu
@pytest.mark.parametrize("mode", ["never", "always"])
def test_loops_that_are_nodes_have_gradients_of_any_order(mode: str) -> None:
    x = tf.placeholder(tf.float32, [2])
    found = [squared(x)]
    for _ in range(3):
        found += tf.gradients(found[-1], x)
    with settings.override(jit=mode), tf.Session() as session:
        value, first, second, third = session.run(found, {x: [1.0, 2.0]})
    # x^4.
    assert value.tolist() == [1, 16]
    assert first.tolist() == [4, 32]
    assert second.tolist() == [12, 48]
    assert third.tolist() == [24, 48]


@pytest.mark.cpu
@pytest.mark.parametrize("mode", ["never", "always"])
def test_loops_that_are_nodes_lie_in_loops_of_tensorflow_1(mode: str) -> None:
    x = tf.placeholder(tf.float32, [2])
    twice = tf.while_loop(lambda i, a: i < 2, lambda i, a: (i + 1, squared(a, 1)), [0, x])[1]
    (outside,) = tf.gradients(twice, x)
    # The gradient's loop may lie in the loop around, too: what it takes from is made there.
    inside = tf.map_fn(lambda a: tf.gradients(squared(a), a)[0], x)
    chosen = tf.map_fn(lambda i: pick(i, 3.0), tf.range(3), dtype=tf.float32)
    with settings.override(jit=mode), tf.Session() as session:
        found = session.run([twice, outside, inside, chosen], {x: [1.0, 2.0]})
    assert [each.tolist() for each in found] == [[1, 16], [4, 32], [4, 32], [3, 6, 9]]


def pick(i: Any, x: Any) -> Any:
    tf.enable_control_flow_v2()
    try:
        return tf.switch_case(i, [lambda: x, lambda: 2.0 * x, lambda: 3.0 * x])
    finally:
        tf.disable_control_flow_v2()


@pytest.mark.cpu
@pytest.mark.parametrize("mode", ["never", "always"])
def test_errors_within_loops_that_are_nodes_tell_the_line(mode: str) -> None:
    x = tf.placeholder(tf.float32, [])

    def turn(i: Any, a: Any) -> Any:
        with tf.control_dependencies([tf.debugging.assert_less(a, 5.0, message="too big")]):
            return i + 1, a * 3.0

    tf.enable_control_flow_v2()
    try:
        y = tf.while_loop(lambda i, a: i < 3, turn, [0, x], name="growing")[1]
    finally:
        tf.disable_control_flow_v2()
    with settings.override(jit=mode), tf.Session() as session:
        assert session.run(y, {x: 0.1}) == pytest.approx(2.7)
        with pytest.raises(tf.errors.InvalidArgumentError, match="too big") as caught:
            session.run(y, {x: 1.0})
    lines = Path(__file__).read_text().splitlines()
    line = next(i for i, text in enumerate(lines, 1) if "assert_less(a, 5.0" in text)
    assert f"test_function_gradients.py:{line})" in str(caught.value)
    assert f"[[{y.op.inputs[0].op.name}]]" in str(caught.value)
