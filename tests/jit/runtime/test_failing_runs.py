# SPDX-License-Identifier: Apache-2.0
"""What fails ends its run at once, whatever else of the run waits, and leaves nothing behind."""

from __future__ import annotations

import contextvars
import threading
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import numbaflow as tf
from numbaflow.engine import settings
from numbaflow.jit.runtime.async_runner import AsyncRunner

pytestmark = pytest.mark.cpu


@pytest.fixture(params=["never", "auto", "always"])
def mode(request: pytest.FixtureRequest) -> Iterator[str]:
    with settings.override(jit=request.param):
        yield request.param


def error_of(session: Any, fetch: Any) -> BaseException | None:
    """What a run in a thread of its own, with this one's settings, ends with."""
    found: list[BaseException | None] = []

    def run() -> None:
        try:
            session.run(fetch)
            found.append(None)
        except Exception as error:
            found.append(error)

    context = contextvars.copy_context()
    thread = threading.Thread(target=context.run, args=(run,), daemon=True)
    thread.start()
    thread.join(30)
    assert found, "a run does not end"
    return found[0]


def unknown(value: Any) -> Any:
    """A tensor of a shape and value that are known only when the graph runs."""
    return tf.placeholder_with_default(np.asarray(value), tf.TensorShape(None))


def pair(**named: Any) -> Any:
    return tf.Variable([1.0, 2.0], **named)


def three() -> Any:
    return unknown(np.float32([1.0, 2.0, 3.0]))


def behind(operation: Any) -> Any:
    with tf.control_dependencies([operation]):
        return tf.constant(1.0) + 0.0


def _index() -> Any:
    return unknown(np.int32([5]))


def _descent(optimizer: Any) -> Any:
    return behind(optimizer.apply_gradients([(three(), pair())]))


def _full_queue_of_pairs() -> Any:
    return behind(tf.FIFOQueue(3, [tf.float32], shapes=[(2,)]).enqueue(three()))


def _python() -> Any:
    def fail() -> np.ndarray:
        raise ValueError("no")

    return tf.reshape(tf.py_func(fail, [], tf.float32), [])


def _branch() -> Any:
    return tf.cond(tf.placeholder_with_default(True, []), FAILURES["assigned shape"], lambda: 1.0)


def _loop() -> Any:
    variable = pair()
    return tf.while_loop(
        lambda i: i < 3.0, lambda i: i + tf.reduce_sum(tf.assign(variable, three())), [0.0]
    )


FAILURES: dict[str, Callable[[], Any]] = {
    "assigned shape": lambda: tf.reduce_sum(tf.assign(pair(), three())),
    "assigned shape, identity": lambda: tf.reduce_sum(tf.identity(tf.assign(pair(), three()))),
    "added shape": lambda: tf.reduce_sum(tf.assign_add(pair(), three())),
    "added to nothing": lambda: tf.reduce_sum(
        tf.assign_add(pair(collections=[]), unknown(np.float32([1.0, 2.0])))
    ),
    "scattered index": lambda: tf.reduce_sum(tf.scatter_update(pair(), _index(), [1.0])),
    "resource, added shape": lambda: behind(pair(use_resource=True).assign_add(three())),
    "descent": lambda: _descent(tf.train.GradientDescentOptimizer(0.1)),
    "slots": lambda: _descent(tf.train.AdamOptimizer(0.1)),
    "random shape": lambda: tf.reduce_sum(tf.random_uniform(unknown(np.int32([-2])))),
    "counter": lambda: tf.cast(tf.Variable(3).count_up_to(3), tf.float32),
    "product": lambda: tf.reduce_sum(
        tf.matmul(unknown(np.ones((1, 2), np.float32)), unknown(np.ones((1, 2), np.float32)))
    ),
    "python": _python,
    "queue of another shape": _full_queue_of_pairs,
    "branch": _branch,
    "loop": _loop,
}


def queue() -> Any:
    return tf.FIFOQueue(10, [tf.float32], shapes=[()])


def _full_queue() -> Any:
    full = tf.FIFOQueue(1, [tf.float32], shapes=[()])
    with tf.control_dependencies([full.enqueue(1.0)]):
        again = full.enqueue(2.0)
    return behind(again)


def _branch_that_waits() -> Any:
    return tf.cond(tf.placeholder_with_default(True, []), queue().dequeue, lambda: 1.0)


def _loop_that_waits() -> Any:
    source = queue()
    return tf.while_loop(lambda i: i < 3.0, lambda i: i + source.dequeue(), [0.0])


WAITS: list[Callable[[], Any]] = [
    lambda: queue().dequeue(),
    lambda: tf.reduce_sum(queue().dequeue_many(2)),
    lambda: tf.ConditionalAccumulator(tf.float32, []).take_grad(1),
    _full_queue,
    _branch_that_waits,
    _loop_that_waits,
]


def _joined(later: Any, fail: Callable[[], Any]) -> Any:
    return later + fail()


def _enqueued(later: Any, fail: Callable[[], Any]) -> Any:
    return [later, tf.FIFOQueue(10, [tf.float32]).enqueue(fail())]


def _enqueued_later(later: Any, fail: Callable[[], Any]) -> Any:
    return tf.FIFOQueue(10, [tf.float32] * 2).enqueue([later, fail()])


def _counted_later(later: Any, fail: Callable[[], Any]) -> Any:
    count = tf.cast(fail(), tf.int32)
    with tf.control_dependencies([later]):
        return queue().dequeue_many(count)


def _added_later(later: Any, fail: Callable[[], Any]) -> Any:
    return tf.assign_add(tf.Variable(0.0), later + fail())


def _in_a_branch(later: Any, fail: Callable[[], Any]) -> Any:
    return tf.cond(
        tf.placeholder_with_default(True, []), lambda: fail() + later, lambda: tf.constant(1.0)
    )


def _in_a_branch_that_waits(later: Any, fail: Callable[[], Any]) -> Any:
    other = queue()
    return tf.cond(
        tf.placeholder_with_default(True, []),
        lambda: fail() + later + other.dequeue(),
        lambda: tf.constant(1.0),
    )


def _in_a_loop(later: Any, fail: Callable[[], Any]) -> Any:
    return tf.while_loop(lambda i: i < 3.0, lambda i: i + fail() + later, [0.0])


PLACES = (
    *(_joined, _enqueued, _enqueued_later, _counted_later, _added_later),
    *(_in_a_branch, _in_a_branch_that_waits, _in_a_loop),
)


@pytest.mark.parametrize("failing", FAILURES)
def test_a_failure_anywhere_ends_the_run(failing: str, mode: str) -> None:
    """Each failure in each place; which of the waits is beside it goes round."""
    first = list(FAILURES).index(failing)
    for i, place in enumerate(PLACES):
        with tf.Graph().as_default():
            fetch = place(WAITS[(first + i) % len(WAITS)](), FAILURES[failing])
            with tf.Session() as session:
                session.run(tf.global_variables_initializer())
                error = error_of(session, fetch)
                assert isinstance(error, tf.errors.OpError), (place.__name__, error)
                assert not isinstance(error, tf.errors.CancelledError), place.__name__
                assert session.run(tf.constant(1.0) + 1.0) == 2.0


def test_what_was_waited_for_is_left_to_the_next_run(mode: str) -> None:
    with tf.Graph().as_default():
        source = queue()
        put, size = source.enqueue(7.0), source.size()
        fetch = source.dequeue() + FAILURES["assigned shape"]()
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            assert isinstance(error_of(session, fetch), tf.errors.InvalidArgumentError)
            session.run(put)
            assert session.run(size) == 1


def test_what_has_effects_does_not_wait_for_who_uses_its_results(mode: str) -> None:
    with tf.Graph().as_default():
        source, counter = queue(), tf.Variable(1.0)
        fetch = tf.exp(source.dequeue() * 0.0) + tf.assign_add(counter, 2.0)
        put = source.enqueue(5.0)
        with tf.Session() as session:
            session.run(counter.initializer)
            done: list[Any] = []
            context = contextvars.copy_context()
            run = lambda: done.append(session.run(fetch))  # noqa: E731
            thread = threading.Thread(target=context.run, args=(run,), daemon=True)
            thread.start()
            while session.run(counter) != 3.0:
                assert thread.is_alive()
            # What reads the variable later sees it as it is then.
            session.run(tf.assign_add(counter, 10.0))
            session.run(put)
            thread.join(30)
            assert done == [14.0]


def test_an_assigned_variable_that_changes_hands_leaves_the_rest_compiled() -> None:
    with settings.override(jit="always"), tf.Graph().as_default():
        source, counter = queue(), tf.Variable(1.0)
        fetch = tf.reduce_sum(tf.exp(source.dequeue()) * 2.0) + tf.assign_add(counter, 2.0)
        again = tf.assign_add(tf.assign(counter, 4.0), source.dequeue())
        with tf.Session() as session:
            session.run(counter.initializer)
            session.run(source.enqueue_many([[0.0, 0.0, 3.0]]))
            runner = session._prepare(fetch, None).run
            assert isinstance(runner, AsyncRunner)
            assert any("Exp" in {op.type for op in part.operations} for part in runner.parts)
            assert [session.run(fetch) for _ in range(2)] == [5.0, 7.0]
            assert session.run(again) == 7.0


def test_an_effect_in_a_branch_comes_before_what_the_branch_waits_for(mode: str) -> None:
    with tf.Graph().as_default():
        source, counter = queue(), tf.Variable(1.0)
        taken = tf.exp(source.dequeue())

        def count() -> Any:
            return tf.assign_add(counter, 2.0) * taken

        fetch = tf.cond(tf.placeholder_with_default(True, []), count, lambda: taken)
        with tf.Session() as session:
            # (All is compiled before time is short.)
            session.run([counter.initializer, source.enqueue(0.0)])
            session.run(fetch)
            session.run(counter.initializer)
            with pytest.raises(tf.errors.DeadlineExceededError):
                session.run(fetch, options=tf.RunOptions(timeout_in_ms=200))
            assert session.run(counter) == 3.0
            session.run(source.enqueue(0.0))
            assert session.run(fetch) == 5.0


def test_random_numbers_are_drawn_once_however_long_a_run_waits(mode: str) -> None:
    def draws(waits: bool) -> list[float]:
        with tf.Graph().as_default():
            source = queue()
            fetch = source.dequeue() + tf.random_uniform([], seed=5)
            with tf.Session() as session:
                found = []
                for _ in range(2):
                    put = source.enqueue(0.0)
                    if waits:
                        threading.Timer(0.12, session.run, [put]).start()
                    else:
                        session.run(put)
                    found.append(float(session.run(fetch)))
                return found

    assert draws(True) == draws(False)


@pytest.mark.parametrize("mode", ["never", "auto", "always"])
def test_a_conditional_that_waits_takes_what_was_there_before_it_began(mode):
    """An element that need not be waited for decides whether another queue gets it."""
    with tf.Graph().as_default(), settings.override(jit=mode), tf.Session() as session:
        one, other = (tf.FIFOQueue(9, [tf.int32], shapes=[[]]) for _ in range(2))
        number = one.dequeue()
        kept = tf.cond(number % 3 < 2, lambda: other.enqueue(number), tf.no_op)
        session.run(one.enqueue_many([list(range(6))]))
        for _ in range(6):
            session.run(kept)
        assert session.run(other.dequeue_many(4)).tolist() == [0, 1, 3, 4]


def test_a_loop_that_would_not_end_by_what_is_wrong_does_not_begin(mode: str) -> None:
    """Compiled kernels keep indices in bounds, and tell of them when a run looks at its checks."""
    with tf.Graph().as_default(), tf.Session() as session:
        limit = tf.gather(tf.Variable([3.0, 5.0, np.inf]), tf.Variable([7]))
        last = tf.while_loop(lambda i: i < tf.reduce_max(limit), lambda i: i + 1.0, [0.0])
        session.run(tf.global_variables_initializer())
        error = error_of(session, last)
        assert isinstance(error, tf.errors.InvalidArgumentError)
        assert "indices[0] = 7 is not in [0, 3)" in str(error)
