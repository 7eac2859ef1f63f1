# SPDX-License-Identifier: Apache-2.0
"""Branches and loops that are one node each: their nodes, values, and gradients of every order."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import numbaflow as tf
from numbaflow import testing
from numbaflow.engine import settings

pytestmark = pytest.mark.cpu


@pytest.fixture(autouse=True)
def _switched_on() -> Iterator[None]:
    tf.enable_control_flow_v2()
    with tf.Graph().as_default():
        yield
    tf.disable_control_flow_v2()


X = np.array([0.5, -0.75])


def op_types(graph: Any) -> set[str]:
    return {op.type for op in graph.get_operations()}


def test_branches_and_loops_are_one_node_each() -> None:
    x = tf.placeholder(tf.float32, [2])
    chosen = tf.cond(tf.reduce_sum(x) > 0, lambda: x * 2.0, lambda: [x][0])
    number, looped = tf.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, a + x), [0, chosen])
    case = tf.switch_case(number, [lambda: x, lambda: looped])
    made = op_types(tf.get_default_graph())
    assert {"StatelessIf", "While", "Case"} <= made and not made & {"Switch", "Merge", "Enter"}
    loop = next(op for op in tf.get_default_graph().get_operations() if op.type == "While")
    assert loop.get_attr("_lower_using_switch_merge") and loop.inputs[2].shape == []
    with tf.Session() as session:
        np.testing.assert_allclose(session.run(case, {x: [1.0, 2.0]}), [5.0, 10.0])


def test_what_is_switched_on_is_said() -> None:
    assert tf.control_flow_v2_enabled()
    tf.disable_v2_behavior()
    assert not tf.control_flow_v2_enabled()
    with pytest.raises(NotImplementedError, match="output_all_intermediates"):
        tf.experimental.output_all_intermediates(True)


def powers(x: Any) -> Any:
    return tf.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, a * tf.sin(a) + x), [0, x])[1]


def branch(x: Any) -> Any:
    return tf.cond(x[0] > 0, lambda: x**3 * tf.reduce_sum(x), lambda: tf.exp(x))


def branch_in_loop(x: Any) -> Any:
    def body(i: Any, a: Any) -> Any:
        return i + 1, tf.cond(tf.equal(i % 2, 0), lambda: tf.sin(a) * x, lambda: a * a)

    return tf.while_loop(lambda i, a: i < 4, body, [0, x])[1]


def loop_in_branch(x: Any) -> Any:
    return tf.cond(x[1] < 0, lambda: powers(x), lambda: x)


def loop_in_loop(x: Any) -> Any:
    def body(i: Any, a: Any) -> Any:
        return i + 1, tf.while_loop(
            lambda j, b: j < i, lambda j, b: (j + 1, b * tf.cos(a) + x), [0, a]
        )[1]

    return tf.while_loop(lambda i, a: i < 3, body, [0, x])[1]


def array(x: Any) -> Any:
    return tf.map_fn(lambda row: tf.tanh(row) * row, x)


def limited(x: Any) -> Any:
    return tf.while_loop(lambda a: True, lambda a: a * a + x, [x], maximum_iterations=3)[0]


@pytest.mark.parametrize(
    "program", [powers, branch, branch_in_loop, loop_in_branch, loop_in_loop, array, limited]
)
def test_gradients_are_right_to_the_second_order(program: Callable[[Any], Any]) -> None:
    with settings.override(jit="never"):
        testing.check_gradients(program, X, order=2, modes=["reverse"])


@pytest.mark.parametrize("program", [powers, branch, branch_in_loop, loop_in_loop, array])
def test_compiled_as_by_reference(program: Callable[[Any], Any]) -> None:
    x = tf.placeholder(tf.float32, [2])
    y = program(x)
    fetches = [y, tf.gradients(y, x)[0]]
    found = []
    for mode in ("never", "always"):
        with settings.override(jit=mode), tf.Session() as session:
            found.append([session.run(fetches, {x: sign * X}) for sign in (1, -1, 1)])
    np.testing.assert_allclose(found[1], found[0], rtol=1e-5, atol=1e-6)


def test_a_loop_and_its_gradient_are_compiled() -> None:
    x = tf.placeholder(tf.float32, [2])
    grad = tf.gradients(powers(x), x)
    with settings.override(jit="always"), tf.Session() as session:
        session.run(grad, {x: X})
        assert "branches or loops" not in str(session.explain(grad, {x: X}))


def test_variables_within_have_gradients() -> None:
    v = tf.get_variable("v", initializer=[1.0, 2.0], use_resource=True)
    y = tf.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, a * v), [0, tf.ones([2])])[1]
    z = tf.cond(tf.reduce_sum(y) > 0, lambda: tf.gather(v, [0, 0]), lambda: v * 4.0)
    dense, sparse = tf.gradients(y, v)[0], tf.gradients(z, v)[0]
    assert isinstance(sparse, tf.IndexedSlices)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        np.testing.assert_allclose(session.run(dense), [3.0, 12.0])
        np.testing.assert_allclose(session.run(tf.convert_to_tensor(sparse)), [2.0, 0.0])


def test_random_numbers_are_those_that_were_drawn() -> None:
    x = tf.constant(2.0)

    def body(i: Any, a: Any) -> Any:
        return i + 1, a * tf.random_uniform([])

    y = tf.while_loop(lambda i, a: i < 3, body, [0, x])[1]
    (grad,) = tf.gradients(y, x)
    with tf.Session() as session:
        value, found = session.run([y, grad])
    assert value == pytest.approx(2 * found, rel=1e-6)


def test_a_graph_that_is_read_has_gradients_of_its_own() -> None:
    x = tf.placeholder(tf.float32, [2], name="x")
    y = tf.identity(branch_in_loop(x), name="y")
    tf.gradients(y, x)
    message = tf.get_default_graph().as_graph_def()
    first = tf.gradients(y, x)[0]
    with tf.Graph().as_default():
        read_x, read_y = tf.import_graph_def(message, return_elements=["x:0", "y:0"], name="")
        again = tf.gradients(read_y, read_x)[0]
        with tf.Session() as session:
            value = session.run(again, {read_x: X})
    with tf.Session() as session:
        np.testing.assert_allclose(value, session.run(first, {x: X}), rtol=1e-6)


def test_a_gradient_that_cannot_be_built_leaves_the_graph_as_it_was() -> None:
    x = tf.constant([1.0, 2.0])

    def body(i: Any, a: Any) -> Any:
        image = tf.image.adjust_contrast(tf.reshape(a, [1, 2, 1]), 2.0)
        return i + 1, tf.sin(a) * tf.reshape(image, [2]) + a

    y = tf.while_loop(lambda i, a: i < 2, body, [0, x])[1]
    loop = next(op for op in tf.get_default_graph().get_operations() if op.type == "While")
    before = loop.node_def
    with pytest.raises(LookupError, match="AdjustContrastv2"):
        tf.gradients(y, x)
    assert loop.node_def == before


def test_what_does_not_fit_is_told() -> None:
    x = tf.constant(1.0)
    with pytest.raises(TypeError, match="enters the loop with type .*int32.* but has type"):
        tf.while_loop(lambda i: i < 3, lambda i: tf.cast(i, tf.float32), [0])
    with pytest.raises(ValueError, match="use the `shape_invariants` argument"):
        tf.while_loop(lambda a: True, lambda a: tf.concat([a, a], 0), [tf.ones([2])])
    with pytest.raises(TypeError, match="true_fn and false_fn arguments to tf.cond must have"):
        tf.cond(x > 0, lambda: x, lambda: (x, x))
    with pytest.raises(TypeError, match="pred must not be a Python bool"):
        tf.cond(True, lambda: x, lambda: x)
    inner: list[Any] = []
    tf.cond(x > 0, lambda: inner.append(x * 2) or x, lambda: x)
    with pytest.raises(ValueError, match="from the same graph"):
        tf.cond(x > 0, lambda: inner[0] + 1.0, lambda: x)


@pytest.mark.parametrize("mode", ["never", "always"])
def test_a_turn_may_give_what_never_changes(mode: str) -> None:
    k = tf.placeholder(tf.int32, [])

    def body(i: Any, last: Any) -> Any:
        inner = tf.while_loop(lambda j, a: j < k, lambda j, a: (j + 1, i), [0, 7])
        return i + 1, last + inner[1]

    found = tf.while_loop(lambda i, last: i < k, body, [0, k])
    with settings.override(jit=mode), tf.Session() as session:
        assert list(session.run(found, {k: 3})) == [3, 6]
