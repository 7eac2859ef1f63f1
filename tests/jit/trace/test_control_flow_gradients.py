# SPDX-License-Identifier: Apache-2.0
"""Compiled loops with gradients and with arrays of tensors give what reference kernels give."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import numbaflow as tf
from numbaflow.engine import settings
from numbaflow.ops.flow.state import GradLoopState

pytestmark = pytest.mark.cpu


@pytest.fixture(autouse=True)
def _fresh_graph():
    tf.reset_default_graph()


def weights() -> Any:
    return tf.get_variable("w", initializer=np.linspace(-1, 1, 9).reshape(3, 3).astype("f4"))


def with_gradients(y: Any, *of: Any) -> list[Any]:
    return [y, *tf.gradients(tf.reduce_sum(tf.square(y)), list(of))]


def recurrent(x, n):
    w = weights()
    body = lambda i, a: (i + 1, tf.tanh(a @ w) + x)  # noqa: E731
    y = tf.while_loop(lambda i, _: i < n, body, [0, x], swap_memory=True, parallel_iterations=1)[1]
    return with_gradients(y, x, w)


def many_turns(x, n):
    y = tf.while_loop(lambda i, _: i < 100 * n, lambda i, a: (i + 1, tf.sin(a) + x), [0, x])[1]
    return with_gradients(y, x)


def branch_in_loop(x, n):
    w = weights()

    def body(i, a):
        return i + 1, tf.cond(a[0, 0] > 0.2, lambda: tf.sin(a) * x, lambda: a @ w + 1.0)

    return with_gradients(tf.while_loop(lambda i, _: i < n, body, [0, x])[1], x, w)


def loop_in_branch(x, n):
    w = weights()

    def loop():
        return tf.while_loop(lambda i, _: i < n, lambda i, a: (i + 1, tf.tanh(a @ w)), [0, x])[1]

    return with_gradients(tf.cond(n > 2, loop, lambda: x * 2.0), x)


def loop_in_branch_by_data(x, n):
    """What the gradient's loop asks in each turn is settled around it."""
    w = weights()

    def body(i, a):
        more = tf.cond(a[0, 0] > 0.1, lambda: tf.sin(a @ w), lambda: x * a)
        return i + 1, tf.tanh(a @ w) + more

    def loop():
        return tf.while_loop(lambda i, _: i < n, body, [0, x])[1]

    def nested():
        return tf.cond(x[0, 1] < 0.3, loop, lambda: tf.map_fn(lambda r: r * tf.reduce_sum(w), x))

    return with_gradients(tf.cond(x[0, 0] > 0.0, nested, lambda: x * 2.0), x, w)


def nested(x, n):
    w = weights()

    def body(i, a):
        inner = lambda j, b: (j + 1, tf.tanh(b @ w) + a)  # noqa: E731
        return i + 1, tf.while_loop(lambda j, _: j < 3, inner, [0, a])[1] * 0.5

    return with_gradients(tf.while_loop(lambda i, _: i < n, body, [0, x])[1], x, w)


def nested_by_size(x, n):
    def body(i, a):
        inner = lambda j, b: (j + 1, tf.tanh(b) * x)  # noqa: E731
        return i + 1, tf.while_loop(lambda j, _: j < i, inner, [0, a])[1] + 0.1

    return with_gradients(tf.while_loop(lambda i, _: i < n, body, [0, x])[1], x)


def mapped_in_map(x, n):
    """Each turn makes arrays of its own, whose gradients another loop's turns make."""
    w = weights()

    def of_row(row):
        return tf.map_fn(lambda v: tf.tanh(v * tf.reduce_sum(w * row)), row)

    return with_gradients(tf.map_fn(of_row, x), x, w)


def scanned_in_loop(x, n):
    w = weights()

    def body(i, a):
        found = tf.scan(lambda s, v: tf.tanh(0.5 * s + tf.tensordot(v, w, 1)), a)
        return i + 1, tf.where(a > 0.3, found, tf.map_fn(tf.sin, a))

    return with_gradients(tf.while_loop(lambda i, _: i < n, body, [0, x])[1], x, w)


def scanned_over_what_a_turn_chose(x, n):
    w = weights()

    def of_number(i):
        mask = x[:, 0] > 0.4 * tf.cast(i, tf.float32) - 1.0
        chosen = tf.concat([x[:1], tf.boolean_mask(x, mask)], 0)
        states = tf.scan(lambda s, v: tf.tanh(s * 0.5 + tf.tensordot(v, w, 1)), chosen)
        return tf.reduce_sum(tf.square(states[-1]))

    y = tf.map_fn(of_number, tf.range(n), dtype=tf.float32)
    return with_gradients(y, x, w)


def loop_of_arrays_in_branches(x, n):
    w = weights()

    def body(i, a):
        def scanned():
            return tf.scan(lambda s, v: tf.tanh(s + tf.tensordot(v, w, 1)), a)

        return i + 1, tf.cond(a[0, 0] > 0.0, scanned, lambda: x - 0.5 * a)

    return with_gradients(tf.while_loop(lambda i, _: i < n, body, [0, x])[1], x, w)


def shapes_of_values(x, n):
    """The gradient of a mean needs the number of elements."""

    def body(i, a):
        return i + 1, a * 0.5 + tf.reduce_mean(x * a, 0)

    return with_gradients(tf.while_loop(lambda i, _: i < n, body, [0, x[0]])[1], x)


def mapped(x, n):
    w = weights()
    return with_gradients(tf.map_fn(lambda v: tf.tensordot(v, w, 1) * 2.0, x), x, w)


def scanned(x, n):
    return with_gradients(tf.scan(lambda a, v: a * 0.5 + tf.sin(v), x), x)


def folded(x, n):
    return with_gradients(tf.foldl(lambda a, v: a * v + 1.0, x), x)


def arrays(x, n):
    w = weights()
    source = tf.TensorArray(tf.float32, tf.shape(x)[0], clear_after_read=False).unstack(x)
    target = tf.TensorArray(tf.float32, n, element_shape=[3])

    def body(i, state, target):
        state = tf.tanh(tf.tensordot(state, w, 1) + source.read(i % source.size()))
        return i + 1, state, target.write(n - 1 - i, state)

    loop = tf.while_loop(lambda i, *_: i < n, body, [0, tf.zeros([3]), target])
    return [*with_gradients(loop[2].stack(), x, w), loop[2].size()]


def array_without_a_loop(x, n):
    array = tf.TensorArray(tf.float32, 3).unstack(tf.stack([x, x * 2.0, x * 3.0]))
    array = tf.TensorArray(tf.float32, 2).write(1, array.read(2)).write(0, array.read(0))
    return with_gradients(array.stack(), x)


def grown(x, n):
    array = tf.TensorArray(tf.float32, 0, dynamic_size=True)
    loop = tf.while_loop(
        lambda i, _: i < n, lambda i, a: (i + 1, a.write(i, x * tf.cast(i, tf.float32))), [0, array]
    )
    return [loop[1].stack()]


def grown_and_read(x, n):
    shapes = [tf.TensorShape([]), tf.TensorShape([None, 3])]
    _, y = tf.while_loop(
        lambda i, _: i < n, lambda i, a: (i + 1, tf.concat([a * 0.5, x], 0)), [0, x], shapes
    )
    return [y, *tf.gradients(tf.reduce_sum(y), x)]


PROGRAMS = (
    *(recurrent, many_turns, branch_in_loop, loop_in_branch, loop_in_branch_by_data),
    *(nested, nested_by_size, mapped_in_map, scanned_in_loop, scanned_over_what_a_turn_chose),
    loop_of_arrays_in_branches,
    *(
        shapes_of_values,
        mapped,
        scanned,
        folded,
        arrays,
        array_without_a_loop,
        grown,
        grown_and_read,
    ),
)


def results(program: Any, mode: str, feeds: list[Any]) -> tuple[list[Any], str]:
    with tf.Graph().as_default(), settings.override(jit=mode), tf.Session() as session:
        x = tf.placeholder(tf.float32, [None, 3], name="x")
        fetches = program(x, tf.placeholder(tf.int32, [], name="n"))
        session.run(tf.global_variables_initializer())
        values = [session.run(fetches, feed) for feed in feeds]
        return values, str(session.explain(fetches, feeds[0])) if mode == "always" else ""


def feed(rows: int, n: int) -> dict[str, Any]:
    return {"x:0": np.random.RandomState(rows).randn(rows, 3).astype("f4"), "n:0": n}


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_compiled_as_by_reference(program):
    feeds = [feed(4, 5), feed(2, 1), feed(5, 3), feed(4, 6)]
    if program is recurrent:
        feeds.append(feed(3, 0))
    want, _ = results(program, "never", feeds)
    got, plan = results(program, "always", feeds)
    for a, b in zip(want, got, strict=True):
        for one, other in zip(a, b, strict=True):
            np.testing.assert_allclose(other, one, rtol=1e-4, atol=1e-5)
    assert "branches or loops" not in plan and "Not compiled" not in plan, plan


def test_all_runs_and_threads_give_the_same_bits():
    want: list[Any] = []
    for mode, threads in (("auto", "1"), ("auto", "3"), ("always", "2")):
        with settings.override(threads=threads):
            values, _ = results(recurrent, mode, [feed(70, 4)] * 3)
        for value in values:
            want = want or value
            for one, other in zip(want, value, strict=True):
                np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize(
    "use",
    [
        lambda array, x: array.write(3, x).read(0),
        lambda array, x: array.write(-1, x).read(0),
        lambda array, x: array.write(0, x).write(0, x).read(0),
        lambda array, x: array.write(0, x).read(5),
    ],
)
def test_wrong_use_of_an_array_names_the_operation(use):
    x = tf.placeholder(tf.float32, [2], name="x")
    with tf.name_scope("mine"):
        result = tf.exp(use(tf.TensorArray(tf.float32, 3), x))
    said = set()
    for mode in ("never", "always", "auto"):
        with settings.override(jit=mode), tf.Session() as session:
            for _ in range(2):
                with pytest.raises(tf.errors.InvalidArgumentError) as raised:
                    session.run(result, {x: [1.0, 2.0]})
                said.add(re.sub(r"TensorArray \S*:", "", str(raised.value)))
    (text,) = said
    assert "mine/" in text and "test_control_flow_gradients.py" in text


@pytest.mark.parametrize("is_alike", [True, False])
def test_elements_that_were_not_written(is_alike):
    x = tf.placeholder(tf.float32, [2], name="x")
    stack = tf.TensorArray(tf.float32, 2, infer_shape=is_alike).write(1, x).stack()
    for mode in ("never", "always"):
        with settings.override(jit=mode), tf.Session() as session:
            if is_alike:
                got = session.run(stack, {x: [1.0, 2.0]})
                np.testing.assert_array_equal(got, [[0, 0], [1, 2]])
            else:
                with pytest.raises(tf.errors.InvalidArgumentError, match="Could not read"):
                    session.run(stack, {x: [1.0, 2.0]})


def test_an_array_is_read_once():
    x = tf.placeholder(tf.float32, [2], name="x")
    array = tf.TensorArray(tf.float32, 1).write(0, x)
    first = array.read(0)
    with tf.control_dependencies([first]):
        second = array.read(0)
    with settings.override(jit="always"), tf.Session() as session:
        np.testing.assert_array_equal(session.run(first, {x: [1.0, 2.0]}), [1, 2])
        with pytest.raises(tf.errors.InvalidArgumentError, match="cleared after a previous read"):
            session.run([first, second], {x: [1.0, 2.0]})


def test_empty_elements():
    x = tf.placeholder(tf.float32, [3, 0], name="x")
    array = tf.TensorArray(tf.float32, 3).unstack(x)
    fetches = [tf.TensorArray(tf.float32, 2).write(0, x).write(1, x).stack(), array.read(2)]
    with settings.override(jit="always"), tf.Session() as session:
        for _ in range(3):
            shapes = [value.shape for value in session.run(fetches, {x: np.zeros((3, 0))})]
            assert shapes == [(2, 3, 0), (0,)]


def test_training_with_a_loop():
    """A recurrent net learns the same way, step by step, as by reference."""
    losses = []
    for mode in ("never", "always"):
        with tf.Graph().as_default(), settings.override(jit=mode), tf.Session() as session:
            x = tf.constant(np.random.RandomState(0).randn(6, 4, 3).astype("f4"))
            w = tf.get_variable("w", initializer=np.eye(6, 3, dtype="f4"))
            rows = tf.TensorArray(tf.float32, 6, clear_after_read=False).unstack(x)

            def body(i, h, rows=rows, w=w):
                return i + 1, tf.tanh(tf.concat([rows.read(i), h], 1) @ w)

            _, last = tf.while_loop(lambda i, _: i < 6, body, [0, tf.zeros([4, 3])])
            loss = tf.reduce_mean(tf.square(last - 0.3))
            train = tf.train.AdamOptimizer(0.05).minimize(loss)
            session.run(tf.global_variables_initializer())
            losses.append([session.run([loss, train])[0] for _ in range(20)])
    np.testing.assert_allclose(losses[0], losses[1], rtol=1e-3)
    assert losses[1][-1] < losses[1][0] / 3


@pytest.mark.parametrize("in_branch", [False, True], ids=["made here", "as TensorFlow makes it"])
@pytest.mark.parametrize("is_cut", [False, True], ids=["one plan", "in pieces"])
def test_a_loop_runs_where_a_branch_does_not_take_its_gradient(monkeypatch, in_branch, is_cut):
    if in_branch:  # where the stacks of TensorFlow's graphs are
        monkeypatch.setattr(GradLoopState, "_outside_of_conditions", lambda _, context: context)
    x = tf.constant(np.linspace(-1, 1, 12).reshape(4, 3).astype("f4"))
    w, trains = weights(), tf.placeholder(tf.bool, [])
    y = tf.while_loop(lambda i, _: i < 3, lambda i, a: (i + 1, tf.tanh(a @ w)), [0, x])[1]

    def step():
        gradient = tf.gradients(y, w)[0]
        with tf.control_dependencies([tf.assign_sub(w, 0.1 * gradient)]):
            return tf.reduce_sum(gradient)

    fetches = [tf.cond(trains, step, lambda: 0.0), y]
    if is_cut:
        fetches.append(tf.cond(trains, lambda: tf.py_func(np.copy, [y], tf.float32), lambda: y))
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for is_training in (True, False, True, False, False):
            kept, expected = session.run(w), x.eval()
            for _ in range(3):
                expected = np.tanh(expected @ kept)
            gradient, found, *copies = session.run(fetches, {trains: is_training})
            for value in (found, *copies):
                np.testing.assert_allclose(value, expected, 1e-4, 1e-6)
            assert bool(gradient) is is_training
