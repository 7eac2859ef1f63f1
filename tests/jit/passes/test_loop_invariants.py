# SPDX-License-Identifier: Apache-2.0
"""What is the same in every turn of a loop is computed once, in front of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import numbaflow as tf
from numbaflow.engine import settings
from numbaflow.jit.passes import pipeline
from numbaflow.jit.program.editing import Program
from numbaflow.jit.program.tensor_ir import Call, Loop, Reduce
from numbaflow.jit.runtime import runner

pytestmark = pytest.mark.cpu
RNG = np.random.default_rng(2)


@pytest.fixture(autouse=True)
def graph() -> Iterator[None]:
    with tf.Graph().as_default():
        yield


def numbers(*shape: int) -> np.ndarray:
    return (RNG.standard_normal(shape) / 4).astype(np.float32)


def work(program: Program) -> list[str]:
    """The library kernels and sums of a program, but for those in its loops."""
    calls = [node.launch.kernel.name for node in program if isinstance(node, Call)]
    return [*calls, *("sum" for node in program if isinstance(node, Reduce))]


def compiled(fetches: list[Any], feeds: dict[Any, Any]) -> tuple[list[np.ndarray], Program]:
    """Results as reference kernels and those without the pass give them too, and the program."""
    with settings.override(jit="never"), tf.Session() as session:
        session.run(tf.global_variables_initializer())
        want = session.run(fetches, feeds)
    arrays, results = [np.asarray(value) for value in feeds.values()], []
    without = tuple(one for one in pipeline.PASSES if one.name != "leave_loops")
    for passes in (without, pipeline.PASSES):
        with settings.override(jit="always"), tf.Session() as session:
            session.run(tf.global_variables_initializer())
            run = runner.make_runner(session, session.graph, fetches, [], list(feeds))
            assert isinstance(run, runner.Runner)
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(pipeline, "PASSES", passes)
                patch.setenv("NUMBAFLOW_STORE", "never")
                plan, _ = run.prepare(arrays)
                results.append(run(arrays))
    for expected, before, after in zip(want, *results, strict=True):
        np.testing.assert_array_equal(after, before)
        np.testing.assert_allclose(after, expected, rtol=2e-5, atol=2e-5)
    return results[1], plan.traced.program


def loops(program: Program) -> list[Loop]:
    return [node for node in program if isinstance(node, Loop)]


def repeat(turn: Callable[[Any], Any], state: Any, turns: int = 4) -> Any:
    return tf.while_loop(lambda i, s: i < turns, lambda i, s: (i + 1, turn(s)), (0, state))[1]


@pytest.mark.parametrize("is_resource", [False, True])
@pytest.mark.parametrize("is_turned", [False, True])
def test_a_factor_that_does_not_change_is_packed_once(is_resource: bool, is_turned: bool) -> None:
    x = tf.placeholder(tf.float32, [None, 40])
    w = tf.get_variable("w", initializer=numbers(40, 40), use_resource=is_resource)
    state = repeat(lambda s: tf.tanh(tf.matmul(s, w, transpose_b=is_turned)), x)
    _, program = compiled([state, *tf.gradients(state, [w])], {x: numbers(30, 40)})
    forward, backward = loops(program)
    assert work(program).count("matmul_pack") == 2
    for loop in (forward, backward):
        assert "matmul_pack" not in work(loop.body) and "matmul" in work(loop.body)
    # What the gradient needs of a turn is what went round, and no copy of the factor.
    assert work(forward.body).count("stack_push") == 2


def test_few_rows_read_a_factor_where_it_is() -> None:
    x = tf.placeholder(tf.float32, [None, 32])
    w = tf.constant(numbers(32, 32))
    _, program = compiled([repeat(lambda s: tf.matmul(s, w), x)], {x: numbers(2, 32)})
    assert "matmul_pack" not in work(program)


def test_products_and_sums_of_what_comes_from_outside() -> None:
    a, b = tf.placeholder(tf.float32, [20, 30]), tf.placeholder(tf.float32, [30, 20])

    def turn(state: Any) -> Any:
        square = tf.matmul(tf.exp(a), b)
        return state * 0.5 + square + tf.reduce_sum(tf.nn.softmax(square), 0)

    fed = {a: numbers(20, 30), b: numbers(30, 20)}
    _, program = compiled([repeat(turn, tf.zeros([20, 20]))], fed)
    (loop,) = loops(program)
    assert work(loop.body) == []
    assert "matmul" in work(program) and "sum" in work(program)


def test_out_of_a_loop_in_a_loop_and_no_further_than_it_changes() -> None:
    a = tf.placeholder(tf.float32, [40, 40])

    def outer(state: Any) -> Any:
        return repeat(lambda s: tf.tanh(tf.matmul(s, a)) * tf.matmul(state, state), state, 2)

    _, program = compiled([repeat(outer, tf.eye(40), 2)], {a: numbers(40, 40)})
    (loop,) = loops(program)
    (inner,) = loops(loop.body)
    assert work(program).count("matmul_pack") == 1
    assert work(loop.body) == ["matmul"] and work(inner.body) == ["matmul"]


def test_what_turns_change_stays_where_it_is() -> None:
    x = tf.placeholder(tf.float32, [20, 20])
    w = tf.get_variable("w", initializer=numbers(20, 20), use_resource=True)

    def turn(i: Any, state: Any) -> Any:
        with tf.control_dependencies([w.assign(w.read_value() * 0.5)]):
            return i + 1, tf.matmul(state, w.read_value())

    state = tf.while_loop(lambda i, s: i < 3, turn, (0, x), parallel_iterations=1)[1]
    results = []
    fed = numbers(20, 20)
    for mode in ("never", "always"):
        with settings.override(jit=mode), tf.Session() as session:
            session.run(w.initializer)
            results.append(session.run(state, {x: fed}))
    np.testing.assert_allclose(*results, rtol=1e-5)


def test_random_numbers_are_drawn_in_every_turn() -> None:
    drawn = repeat(lambda s: s + tf.random_uniform([40], seed=3), tf.zeros([40]), 3)
    one = tf.random_uniform([40], seed=3)
    with settings.override(jit="always"), tf.Session() as session:
        assert not np.allclose(session.run(drawn), 3 * session.run(one))


def test_a_loop_without_a_turn() -> None:
    x, n = tf.placeholder(tf.float32, [None, 40]), tf.placeholder(tf.int32, [])
    w = tf.constant(numbers(40, 40))
    state = tf.while_loop(lambda i, s: i < n, lambda i, s: (i + 1, tf.matmul(s, w)), (0, x))[1]
    fed = numbers(16, 40)
    (result,), _ = compiled([state], {x: fed, n: np.int32(0)})
    np.testing.assert_array_equal(result, fed)
