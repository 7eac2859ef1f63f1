# SPDX-License-Identifier: Apache-2.0
"""Branches that wait: what is not taken does nothing, what waits holds up what is behind it."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import numbaflow as tf
from numbaflow.engine import settings
from numbaflow.jit.runtime import async_runner
from numbaflow.jit.runtime.async_runner import AsyncRunner

pytestmark = pytest.mark.cpu


@pytest.fixture(params=["auto", "always"], autouse=True)
def mode(request: pytest.FixtureRequest) -> Iterator[str]:
    with settings.override(jit=request.param), tf.Graph().as_default():
        yield request.param


def steps_of(session: tf.Session, fetches: Any, feeds: Any = None) -> list[str] | None:
    """What a run does in line, or None."""
    found = session._find(fetches, feeds).run
    while not isinstance(found, AsyncRunner):
        found = found.runner
    return None if found.line is None else [type(step).__name__ for step in found.line.steps]


def queue(capacity: int = 9, kinds: Any = (tf.float32,)) -> Any:
    return tf.FIFOQueue(capacity, list(kinds), shapes=[[]] * len(kinds))


def put(queues: list[Any], which: Any, value: Any) -> Any:
    """Puts a value into one of some queues."""
    choices = [
        tf.cond(tf.equal(which, i), lambda queue=each: queue.enqueue([value]), tf.no_op)
        for i, each in enumerate(queues)
    ]
    return tf.group(*choices)


@pytest.fixture
def no_single_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing runs operation by operation."""

    def fail(*_: Any) -> None:
        raise AssertionError("a conditional ran operation by operation")

    monkeypatch.setattr(async_runner._Run, "_start", fail)


def test_an_element_goes_into_one_of_some_queues(no_single_steps: None) -> None:
    source, others = queue(99), [queue() for _ in range(3)]
    value = tf.placeholder(tf.float32, [])
    fill, taken = source.enqueue([value]), source.dequeue()
    move = put(others, tf.cast(taken, tf.int32) % 3, taken * 2.0 + 1.0)
    with tf.Session() as session:
        for i in range(7):
            session.run(fill, {value: i})
            session.run(move)
        assert [session.run(each.size()) for each in others] == [3, 2, 2]
        for i in range(7):
            assert session.run(others[i % 3].dequeue()) == i * 2.0 + 1.0
        steps = steps_of(session, move)
        assert steps is not None
        assert steps.count("_Branches") == 3
        assert steps[0] == "_Wait"


def test_branches_are_their_waits_and_are_passed_over_where_none_is_reached() -> None:
    """What only hands on what others have is no piece of its own, nor what nobody takes."""
    value, queues = tf.placeholder(tf.float32, []), [queue(), queue()]
    move = put(queues, tf.cast(value, tf.int32) % 2, value * 2.0)
    with tf.Session() as session:
        for i in range(5):
            session.run(move, {value: i})
        found = session._find(move, {value: 0.0}).run
        while not isinstance(found, AsyncRunner):
            found = found.runner
        branches = [step for step in found.line.steps if hasattr(step, "branches")]
        assert [len(each.branches.region.steps) for each in branches] == [1, 1]
        assert all(each.sides for each in branches)
        assert [session.run(each.size()) for each in queues] == [3, 2]
        assert [session.run(queues[0].dequeue()) for _ in range(3)] == [0.0, 4.0, 8.0]


def test_a_full_queue_holds_up_its_branch_alone(no_single_steps: None) -> None:
    value = tf.placeholder(tf.float32, [])
    full, free = queue(1), queue()
    flag = tf.placeholder(tf.bool, [])
    first = tf.cond(flag, lambda: full.enqueue([value]), tf.no_op)
    second = tf.cond(flag, lambda: free.enqueue([value + 1.0]), tf.no_op)
    both = tf.group(first, second)
    with tf.Session() as session:
        feeds = {value: 1.0, flag: True}
        session.run(both, feeds)
        session.run(free.dequeue())
        thread = threading.Thread(target=session.run, args=(both, feeds), daemon=True)
        thread.start()
        # (It comes although the first queue has no room.)
        assert session.run(free.dequeue()) == 2.0
        thread.join(0.2)
        assert thread.is_alive()
        assert session.run(full.dequeue()) == 1.0
        thread.join(30)
        assert not thread.is_alive()
        assert session.run(full.size()) == 1


def test_what_comes_behind_a_branch_that_takes_its_time() -> None:
    slow, log = queue(), queue()
    flag, value = tf.placeholder(tf.bool, []), tf.placeholder(tf.float32, [])
    found = tf.cond(flag, slow.dequeue, lambda: tf.constant(-1.0))
    move = log.enqueue([tf.sqrt(found + 1.0)])
    with tf.Session() as session:
        fill = slow.enqueue([value])
        for turn in range(3):
            late = threading.Timer(0.1, session.run, (fill, {value: turn * 4.0}))
            late.start()
            session.run(move, {flag: True})
            late.join()
            np.testing.assert_allclose(session.run(log.dequeue()), np.sqrt(turn * 4.0 + 1.0))
            session.run(move, {flag: False})
            assert session.run(log.dequeue()) == 0.0


def test_a_branch_that_another_wait_needs_begins_before_it_is_over() -> None:
    first, second = queue(), queue()
    flag, value = tf.placeholder(tf.bool, []), tf.placeholder(tf.float32, [])
    taken = second.dequeue()

    def inside() -> Any:
        move = first.enqueue([value])
        with tf.control_dependencies([move]):
            return taken + 1.0

    result = tf.cond(flag, inside, lambda: tf.constant(0.0))
    through = second.enqueue([first.dequeue() * 2.0])
    with tf.Session() as session:
        for turn in range(3):
            found, _ = session.run([result, through], {flag: True, value: turn})
            assert found == turn * 2.0 + 1.0


def test_two_waits_of_a_branch_that_do_not_need_each_other() -> None:
    through, out = queue(), queue()
    flag, value = tf.placeholder(tf.bool, []), tf.placeholder(tf.float32, [])

    def inside() -> Any:
        taken = through.dequeue()
        return tf.group(through.enqueue([value * 3.0]), out.enqueue([taken + 1.0]))

    move = tf.cond(flag, inside, tf.no_op)
    with tf.Session() as session:
        for turn in range(3):
            session.run(move, {flag: True, value: turn})
            assert session.run(out.dequeue()) == turn * 3.0 + 1.0
            session.run(move, {flag: False, value: turn})
        assert session.run(out.size()) == 0


def test_branches_within_branches(no_single_steps: None) -> None:
    outer, inner = tf.placeholder(tf.bool, []), tf.placeholder(tf.bool, [])
    queues = [queue() for _ in range(3)]
    value = tf.placeholder(tf.float32, [])
    move = tf.cond(
        outer,
        lambda: tf.cond(
            inner,
            lambda: tf.group(queues[0].enqueue([value])),
            lambda: tf.group(queues[1].enqueue([value + 0.5])),
        ),
        lambda: tf.group(queues[2].enqueue([value * 2.0])),
    )
    with tf.Session() as session:
        for i in range(8):
            session.run(move, {outer: i % 2 == 1, inner: i % 4 > 1, value: i})
        found = [[session.run(q.dequeue()) for _ in range(n)] for q, n in zip(queues, (2, 2, 4))]
        assert found == [[3.0, 7.0], [1.5, 5.5], [0.0, 4.0, 8.0, 12.0]]


def test_a_variable_is_enqueued_as_it_is_when_the_branch_begins() -> None:
    log, flag = queue(), tf.placeholder(tf.bool, [])
    for use_resource in (False, True):
        variable = tf.Variable(0.0, use_resource=use_resource)
        more = variable.assign_add(1.0)
        with tf.control_dependencies([more]):
            move = tf.cond(flag, lambda v=variable: log.enqueue([v]), tf.no_op)
        with tf.Session() as session:
            session.run(variable.initializer)
            for turn in range(4):
                session.run(move, {flag: turn % 2 == 0})
            found = [float(session.run(log.dequeue())) for _ in range(2)]
            # (A reference variable is read when the branch begins, others where they are captured.)
            assert found[1] - found[0] == 2.0


def test_errors_name_the_node_in_the_branch() -> None:
    log, flag = queue(), tf.placeholder(tf.bool, [])
    move = tf.cond(flag, lambda: log.enqueue([1.0], name="put"), tf.no_op)
    with tf.Session() as session:
        session.run(move, {flag: True})
        session.run(log.close())
        session.run(move, {flag: False})
        with pytest.raises(tf.errors.CancelledError, match="is closed") as caught:
            session.run(move, {flag: True})
    assert caught.value.op.name == "cond/put"


def test_closing_a_session_ends_a_branch_that_waits() -> None:
    log, flag = queue(1), tf.placeholder(tf.bool, [])
    move = tf.cond(flag, lambda: log.enqueue([1.0]), tf.no_op)
    session = tf.Session()
    session.run(move, {flag: True})
    failed: list[BaseException] = []

    def run() -> None:
        try:
            session.run(move, {flag: True})
        except tf.errors.CancelledError as error:
            failed.append(error)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join(0.2)
    assert thread.is_alive()
    session.close()
    thread.join(30)
    assert failed


def test_a_loop_that_waits_goes_operation_by_operation() -> None:
    source = queue(99)
    total = tf.while_loop(lambda i, s: i < 3, lambda i, s: (i + 1, s + source.dequeue()), [0, 0.0])
    with tf.Session() as session:
        for value in (1.0, 2.0, 4.0):
            session.run(source.enqueue([value]))
        assert [float(x) for x in session.run(total)] == [3.0, 7.0]
        assert steps_of(session, total) is None
