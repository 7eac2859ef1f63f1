# SPDX-License-Identifier: Apache-2.0
"""Random programs that read and write variables: compiled runs see what reference runs see."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import numbaflow as tf
from numbaflow.engine import settings

from ...drawing import examples

pytestmark = pytest.mark.cpu

ACTIONS = ["read", "combine", "assign", "assign_add", "sum", "transpose", "multiply", "print"]
steps = st.lists(
    st.tuples(st.sampled_from(ACTIONS), st.integers(0, 9), st.integers(0, 9), st.booleans()),
    min_size=2,
    max_size=12,
)


def build(program: list[tuple[str, int, int, bool]], use_resource: bool) -> list[Any]:
    """Fetches of a program over two variables; some steps wait for the step before."""
    variables = [
        tf.get_variable(name, initializer=np.float32(start), use_resource=use_resource)
        for name, start in (("a", [[1, 2], [3, 4]]), ("b", [[5, 6], [7, 8]]))
    ]
    made: list[Any] = [tf.constant(np.float32([[0.5, 1.0], [1.5, 2.0]]))]
    for action, first, second, waits in program:
        with tf.control_dependencies([made[-1]] if waits else []):
            made.append(_step(action, variables[first % 2], made, first, second))
    return [*made, variables[0].read_value(), variables[1].read_value()]


def _step(action: str, variable: Any, made: list[Any], first: int, second: int) -> Any:
    x, y = made[first % len(made)], made[second % len(made)]
    if action == "read":
        return variable + 0.0 if second % 2 else tf.identity(variable)
    if action == "combine":
        return x * 0.5 + variable
    if action == "assign":
        return tf.identity(tf.assign(variable, tf.clip_by_value(y * 0.9, -50, 50)))
    if action == "assign_add":
        return tf.identity(tf.assign_add(variable, tf.clip_by_value(x * 0.1, -5, 5)))
    if action == "sum":
        return x * 0.1 + tf.reduce_sum(variable, 0, keepdims=True)
    if action == "transpose":
        return tf.transpose(variable) - y * 0.5
    if action == "multiply":
        return tf.matmul(tf.clip_by_value(x, -2, 2), variable) * 0.25
    return tf.py_func(lambda array: array * np.float32(0.5), [variable + x], tf.float32)


@pytest.mark.parametrize("use_resource", [False, True])
def test_compiled_runs_see_the_same_state(use_resource):
    @examples(40)
    @given(steps)
    def check(program):
        results = []
        for mode in ("never", "always"):
            with tf.Graph().as_default(), settings.override(jit=mode), tf.Session() as session:
                fetches = build(program, use_resource)
                session.run(tf.global_variables_initializer())
                results.append([session.run(fetches) for _ in range(3)])
        for want, got in zip(*results, strict=True):
            for a, b in zip(want, got, strict=True):
                np.testing.assert_allclose(np.broadcast_to(b, a.shape), a, rtol=1e-5, atol=1e-6)

    check()


@pytest.mark.parametrize("mode", ["never", "auto", "always"])
def test_a_variable_that_became_small_is_not_written_as_if_it_were_large(mode: str) -> None:
    with tf.Graph().as_default(), settings.override(jit=mode), tf.Session() as session:
        variable = tf.Variable(np.zeros(4, np.float32), validate_shape=False)
        large = tf.assign(variable, np.ones(4, np.float32))
        small = tf.assign(variable, np.full(1, 5, np.float32), validate_shape=False)
        session.run(variable.initializer)
        for _ in range(2):
            session.run(large.op)
        session.run(small)
        with pytest.raises(tf.errors.InvalidArgumentError, match=r"lhs shape= \[1\] rhs"):
            session.run(large.op)
        np.testing.assert_array_equal(session.run(variable), [5.0])


@pytest.mark.parametrize("resource", [False, True])
def test_variables_of_text_beside_others(resource: bool) -> None:
    """Text is moved on the host, whatever is compiled beside it."""
    with tf.Graph().as_default(), tf.Session() as session:
        text = tf.Variable(["one", ""], use_resource=resource)
        number = tf.Variable([1.0, 2.0], use_resource=resource)
        session.run(tf.global_variables_initializer())
        step = [text.assign(["two", "x"]), number.assign_add([1.0, 1.0])]
        for count in (1, 2, 3):
            session.run(step)
            values = session.run([text, number])
            assert values[0].tolist() == [b"two", b"x"]
            assert values[1].tolist() == [1.0 + count, 2.0 + count]
            assert session.run(text).tolist() == [b"two", b"x"]


@pytest.mark.parametrize("resource", [False, True])
def test_text_is_read_before_and_after_it_is_written(resource: bool) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        text = tf.Variable(["one", ""], use_resource=resource)
        number = tf.Variable([1.0, 2.0], use_resource=resource)
        before = tf.strings.join([text, "!"])
        with tf.control_dependencies([before]):
            change = text.assign(["two", "x"])
        with tf.control_dependencies([change]):
            after = tf.strings.join([text.read_value(), "?"])
            count = number.assign_add([1.0, 1.0])
        back = text.assign(["one", ""])
        session.run(tf.global_variables_initializer())
        for step in (1, 2, 3):
            values = session.run([before, after, count])
            assert values[0].tolist() == [b"one!", b"!"]
            assert values[1].tolist() == [b"two?", b"x?"]
            assert values[2].tolist() == [1.0 + step, 2.0 + step]
            session.run(back)


def test_what_sums_side_by_side_write_is_read_behind_them() -> None:
    """Two sums become one kernel; who reads the variable that one of them wrote is not in it."""
    weights, values = tf.placeholder(tf.float32, [2]), tf.placeholder(tf.float32, [2])
    count, mean = tf.Variable(1.0), tf.Variable(0.5)
    total = tf.reduce_sum(weights)
    counted = tf.assign_add(count, total)
    share = tf.reduce_sum(values * weights) / total / counted
    updated = tf.assign_add(mean, share)
    found = {}
    for mode in ("never", "always"):
        with settings.override(jit=mode), tf.Session() as session:
            session.run(tf.global_variables_initializer())
            feed = {weights: [1, 2], values: [1, 3]}
            found[mode] = [session.run([updated, share], feed) for _ in range(3)]
    np.testing.assert_allclose(found["always"], found["never"], rtol=1e-6)


@pytest.mark.parametrize("use_resource", [False, True])
def test_a_loop_sees_what_was_written_before_it(use_resource: bool) -> None:
    """What the loop reads is written by a kernel, of which a part is needed behind the loop."""
    x, turns = tf.placeholder(tf.float32, [3]), tf.placeholder(tf.int32, [])
    total = tf.Variable(0.0, use_resource=use_resource)
    terms = tf.sin(x)
    with tf.control_dependencies([tf.assign(total, tf.reduce_sum(terms)).op]):
        body = lambda i, y: (i + 1, y * 0.5 + total)  # noqa: E731
        _, y = tf.while_loop(lambda i, _: i < turns, body, [0, 0.0])
    for mode in ("never", "always"):
        with settings.override(jit=mode), tf.Session() as session:
            session.run(tf.global_variables_initializer())
            for scale in (1, 2):
                fed = np.float32([1, 2, 3]) * scale
                want = np.sin(fed) * np.sin(fed).sum() * 1.75
                found = session.run(terms * y, {x: fed, turns: 3})
                np.testing.assert_allclose(found, want, rtol=1e-5)


@pytest.mark.parametrize("flow", ["v1", "v2"])
def test_a_loop_reads_what_an_array_was_filled_with_before_it(flow: str) -> None:
    """Of the kernel that fills the array, too, a part is needed behind the loop."""
    if flow == "v2":
        tf.enable_control_flow_v2()
    try:
        x = tf.placeholder(tf.float32, [1, 3])
        terms = tf.sin(x)
        array = tf.TensorArray(tf.float32, 1).unstack(tf.reduce_sum(terms, 1))
        body = lambda i, y: (i + 1, y + array.read(i))  # noqa: E731
        _, y = tf.while_loop(lambda i, _: i < tf.shape(x)[0], body, [0, 0.0])
    finally:
        tf.disable_control_flow_v2()
    with settings.override(jit="always"), tf.Session() as session:
        for scale in (1, 2):
            fed = np.float32([[1, 2, 3]]) * scale
            want = np.sin(fed) * np.sin(fed).sum()
            np.testing.assert_allclose(session.run(terms * y, {x: fed}), want, rtol=1e-5)
