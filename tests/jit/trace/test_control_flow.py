# SPDX-License-Identifier: Apache-2.0
"""Compiled branches and loops give what reference kernels give, and are compiled."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import pytest

import numbaflow as tf
from numbaflow.engine import settings

pytestmark = pytest.mark.cpu


@pytest.fixture(autouse=True)
def _fresh_graph():
    tf.reset_default_graph()


X = {"x:0": np.array([0.5, -1.0, 2.0, 0.25], "f4"), "n:0": 5}


def x_and_n() -> tuple[Any, Any]:
    x = tf.placeholder(tf.float32, [None], name="x")
    return x, tf.placeholder(tf.int32, [], name="n")


def simple(x, n):
    return tf.while_loop(lambda i, a: i < n, lambda i, a: (i + 1, tf.tanh(a * 2.0) + x), [0, x])


def swap(x, n):
    def body(i, a, b):
        return i + 1, b, a * 0.5 + b

    return tf.while_loop(lambda i, *_: i < n, body, [0, x, x * 2.0])


def fixed(x, n):
    """A variable that stays as it is, one that becomes another, and one that is a constant."""

    def body(i, a, b, c):
        return i + 1, a, a, tf.constant(7.0)

    return tf.while_loop(lambda i, *_: i < n, body, [0, x, x + 1.0, 0.0])


def early(x, n):
    return tf.while_loop(
        lambda i, a: tf.logical_and(i < n, tf.reduce_sum(a) < 20.0),
        lambda i, a: (i + 1, a * 1.7),
        [0, tf.abs(x)],
    )


def nested(x, n):
    def body(i, a):
        inner = tf.while_loop(lambda j, b: j < i, lambda j, b: (j + 1, b * 0.9 + x), [0, a])
        return i + 1, inner[1] + tf.cast(inner[0], tf.float32)

    return tf.while_loop(lambda i, _: i < n, body, [0, x])


def branch(x, n):
    a = tf.cond(n > 3, lambda: tf.exp(x) + 1.0, lambda: x - 1.0)
    b = tf.cond(n > 4, lambda: [a, 2.0], lambda: [x, 3.0])
    return [a * 2.0, *b]


def nested_branch(x, n):
    def inner():
        return tf.cond(n > 4, lambda: tf.matmul(x[None], x[:, None])[0, 0] + x, lambda: x / 3)

    return tf.cond(n > 2, inner, lambda: x * 5.0)


def branch_in_loop(x, n):
    def body(i, a):
        return i + 1, tf.cond(tf.equal(i % 2, 0), lambda: a + x, lambda: a * 1.5)

    return tf.while_loop(lambda i, _: i < n, body, [0, x])


def loop_in_branch(x, n):
    return tf.cond(n > 2, lambda: simple(x, n)[1], lambda: simple(x * 2, n + 1)[1])


def case(x, n):
    return tf.case(
        [(n < 1, lambda: x), (n < 4, lambda: x + 1.0), (n < 6, lambda: tf.sin(x))],
        default=lambda: x * 100.0,
        exclusive=False,
    )


def products(x, n):
    w = tf.constant(np.linspace(-0.1, 0.1, 96 * 96).reshape(96, 96).astype("f4"))
    start = tf.tile(x[:1, None], [96, 96])
    return tf.while_loop(lambda i, _: i < n, lambda i, a: (i + 1, tf.tanh(a @ w)), [0, start])


def host_step(x, n):
    def body(i, a):
        return i + 1, tf.linalg.sqrtm(tf.matmul(a, a, transpose_b=True) + 5.0 * tf.eye(2)) * 2.0

    return tf.while_loop(lambda i, _: i < n, body, [0, tf.reshape(x, [2, 2])])


def python_function(x, n):
    def body(i, a):
        b = tf.py_func(lambda v: v * 2, [a], tf.float32)
        b.set_shape([4])
        return i + 1, b + 1.0

    return tf.while_loop(lambda i, _: i < n, body, [0, tf.reshape(x, [4])])


def variables(x, n):
    v = tf.get_variable("v", initializer=[1.0, 2.0, 3.0, 4.0], use_resource=True)

    def body(i, a):
        with tf.control_dependencies([v.assign_add(a * 0.1)]):
            return i + 1, v.read_value() + x

    i, a = tf.while_loop(lambda i, _: i < n, body, [0, x])
    with tf.control_dependencies([a]):
        return [i, a, v.read_value()]


def scattered(x, n):
    v = tf.Variable(tf.zeros([5, 2]))

    def body(i):
        with tf.control_dependencies([tf.scatter_update(v, i, [1.0, 2.0])]):
            return i + 1

    i = tf.while_loop(lambda i: i < n, body, [0])
    with tf.control_dependencies([i]):
        return [i, v + 0.0]


def written_in_branch(x, n):
    v = tf.Variable([1.0, 2.0])
    one = tf.cond(n > 3, lambda: tf.assign_add(v, [1.0, 1.0]) + 0.0, lambda: v + 10.0)
    with tf.control_dependencies([one]):
        return [one, v + 0.0]


def checked(x, n):
    def body(i, a):
        with tf.control_dependencies([tf.Assert(i >= 0, [i])]):
            return i + 1, a + tf.gather(x, i % 4)

    return tf.while_loop(lambda i, _: i < n, body, [0, 0.0])


def gradient_of_branch(x, n):
    y = tf.cond(n > 3, lambda: tf.exp(x) * x, lambda: tf.sin(x))
    return [y, *tf.gradients(y, [x])]


def gradient_with_outer(x, n):
    w = tf.tanh(x)
    y = tf.cond(n > 3, lambda: w * x, lambda: w + 1.0)
    return tf.gradients(tf.reduce_sum(y * y), [x, w])


def grows(x, n):
    shapes = [tf.TensorShape([]), tf.TensorShape([None])]
    return tf.while_loop(
        lambda i, _: i < n, lambda i, a: (i + 1, tf.concat([a, x], 0)), [0, x], shapes
    )


def grows_and_is_read(x, n):
    shapes = [tf.TensorShape([]), tf.TensorShape([None])]
    return tf.while_loop(
        lambda i, _: i < n, lambda i, a: (i + 1, tf.concat([a * 0.5, x], 0)), [0, x], shapes
    )


def known_condition(x, n):
    return tf.cond(tf.constant(True), lambda: x + 1.0, lambda: x * 2.0)


def reduced(x, n):
    def body(i, a):
        return i + 1, a + tf.reduce_sum(tf.exp(-x * tf.cast(i, tf.float32)))

    return tf.while_loop(lambda i, _: i < n, body, [0, 0.0])


def types(x, n):
    def body(i, flag, big):
        return i + 1, tf.logical_not(flag), big * 3 + tf.cast(i, tf.int64)

    return tf.while_loop(lambda i, *_: i < n, body, [0, True, tf.constant(1, tf.int64)])


PROGRAMS = (
    *(simple, swap, fixed, early, nested, branch, nested_branch, branch_in_loop, loop_in_branch),
    *(
        case,
        products,
        host_step,
        python_function,
        variables,
        written_in_branch,
        checked,
        gradient_of_branch,
    ),
    *(scattered, gradient_with_outer, grows, grows_and_is_read, known_condition, reduced, types),
)
# Their shapes depend on data.


def results(program: Any, mode: str, feeds: list[Any]) -> tuple[list[Any], str]:
    with tf.Graph().as_default(), settings.override(jit=mode), tf.Session() as session:
        fetches = program(*x_and_n())
        session.run(tf.global_variables_initializer())
        values = [session.run(fetches, feed) for feed in feeds]
        return values, str(session.explain(fetches, feeds[0])) if mode == "always" else ""


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_compiled_as_by_reference(program):
    feeds = [{**X, "n:0": n} for n in (5, 0, 1, 3, 5, 4)]
    want, _ = results(program, "never", feeds)
    got, plan = results(program, "always", feeds)
    for a, b in zip(want, got, strict=True):
        for one, other in zip(tf.nest.flatten(a), tf.nest.flatten(b), strict=True):
            assert np.asarray(one).dtype == np.asarray(other).dtype
            np.testing.assert_allclose(other, one, rtol=1e-5, atol=1e-5)
    assert "branches or loops" not in plan, plan


def test_a_condition_may_be_asked_for_in_both_branches_of_another():
    p, q = (tf.placeholder(tf.bool, []) for _ in range(2))
    x = tf.placeholder(tf.float32, [])

    def branch(a: float, b: float) -> Any:
        return lambda: tf.cond(q, lambda: x + a, lambda: x * b)

    chosen = tf.cond(p, branch(1.0, 2.0), branch(3.0, 4.0))
    with settings.override(jit="always"), tf.Session() as session:
        feeds = [{p: one, q: two, x: 5.0} for one in (True, False) for two in (True, False)]
        found = [session.run(chosen, feed) for feed in feeds]
    assert found == [6.0, 10.0, 8.0, 20.0]


@pytest.mark.parametrize("threads", ["1", "2", "3"])
def test_any_number_of_threads_gives_the_same_bits(threads):
    with settings.override(threads=threads):
        (value,), _ = results(products, "always", [X])
    with settings.override(threads="1"):
        (other,), _ = results(products, "always", [X])
    np.testing.assert_array_equal(value[1], other[1])


def test_an_error_in_a_body_names_operation_and_line():
    x, n = x_and_n()
    with tf.name_scope("mine"):
        loop = tf.while_loop(
            lambda i, _: i < n, lambda i, a: (i + 1, a + tf.gather(x, i, name="picked")), [0, 0.0]
        )
    with settings.override(jit="always"), tf.Session() as session:
        assert session.run(loop, X | {"n:0": 4})[1] == 1.75
        with pytest.raises(tf.errors.InvalidArgumentError, match=r"picked.*test_control_flow\.py"):
            session.run(loop, X)
        assert session.run(loop, X | {"n:0": 4})[1] == 1.75


def test_an_assertion_in_a_body_stops_the_loop():
    _, n = x_and_n()

    def body(i):
        with tf.control_dependencies([tf.Assert(i < 3, ["too far", i])]):
            return i + 1

    loop = tf.while_loop(lambda i: i < n, body, [0])
    with settings.override(jit="always"), tf.Session() as session:
        assert session.run(loop, X | {"n:0": 3}) == 3
        with pytest.raises(tf.errors.InvalidArgumentError, match="too far"):
            session.run(loop, X)


def test_what_is_wrong_in_a_branch_counts_when_it_runs():
    x, n = x_and_n()
    v = tf.get_variable("v", initializer=[1.0, 2.0], use_resource=True)
    value = tf.cond(n > 3, lambda: v.read_value() + 1.0, lambda: tf.sin(x[:2]))
    shape = tf.cond(n > 3, lambda: tf.reshape(x, [3]), lambda: tf.sin(x[:3]))
    for mode in ("auto", "always"):
        with settings.override(jit=mode), tf.Session() as session:
            for _ in range(3):
                assert session.run(value, X | {"n:0": 1}).shape == (2,)
                assert session.run(shape, X | {"n:0": 1}).shape == (3,)
                with pytest.raises(tf.errors.FailedPreconditionError, match="uninitialized"):
                    session.run(value, X)
                with pytest.raises(tf.errors.InvalidArgumentError, match="4 values"):
                    session.run(shape, X)
            session.run(v.initializer)
            np.testing.assert_array_equal(session.run(value, X), [2, 3])


def test_effects_come_in_order():
    _, n = x_and_n()
    seen = []

    def body(i):
        note = tf.py_func(lambda v: seen.append(int(v)), [i], [])
        with tf.control_dependencies([note]):
            return i + 1

    loop = tf.while_loop(lambda i: i < n, body, [0])
    with settings.override(jit="always"), tf.Session() as session:
        session.run(loop, X)
        session.run(loop, X | {"n:0": 2})
    assert seen == [0, 1, 2, 3, 4, 0, 1]


def test_an_endless_loop_ends_with_the_session_or_in_time():
    loop = tf.while_loop(lambda i: i > -1, lambda i: i * 0, [0])
    options = tf.RunOptions(timeout_in_ms=200)
    with settings.override(jit="always"), tf.Session() as session:
        with pytest.raises(tf.errors.DeadlineExceededError):
            session.run(loop, options=options)
        timer = threading.Timer(0.2, session.close)
        timer.start()
        with pytest.raises(tf.errors.CancelledError):
            session.run(loop)
        timer.join()


def test_a_plan_with_loops_serves_other_sizes():
    x, n = x_and_n()
    loop = simple(x, n)
    with settings.override(jit="always"), tf.Session() as session:
        for size in (4, 7, 300, 5000):
            value = np.linspace(-1, 1, size).astype("f4")
            want = value
            for _ in range(5):
                want = np.tanh(want * 2) + value
            got = session.run(loop, {x: value, n: 5})[1]
            np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-5)


def test_an_error_in_a_loop_with_effects_names_the_index_of_its_turn():
    """What a check shows is kept, though the loop has moved on by the end of the turn."""
    texts = []
    for mode in ("never", "always"):
        with tf.Graph().as_default(), settings.override(jit=mode), tf.Session() as session:
            x, v = tf.placeholder(tf.float32, [5]), tf.Variable(0.0)

            def turn(i, total):
                with tf.control_dependencies([tf.assign_add(v, 1.0)]):  # noqa: B023
                    return i + 100, total + tf.gather(x, tf.identity(i))  # noqa: B023

            start = [tf.constant(3, tf.int64), tf.constant(0.0)]
            result = tf.while_loop(lambda i, total: i < 1000, turn, start)
            session.run(v.initializer)
            with pytest.raises(tf.errors.InvalidArgumentError) as error:
                session.run(result, {x: np.ones(5)})
            texts.append(error.value.message.splitlines()[0])
    assert texts[0] == texts[1] and "103" in texts[0]
