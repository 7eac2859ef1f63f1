# SPDX-License-Identifier: Apache-2.0
"""Where tensors of a step meet who waits for them, and the threads that answer calls."""

from __future__ import annotations

import threading

import pytest

import numbaflow as tf
from numbaflow.engine import errors
from numbaflow.engine.session.futures import Future, FutureSet
from numbaflow.engine.session.state import Resources
from numbaflow.train.cluster.call_threads import CallThreads
from numbaflow.train.cluster.rendezvous import Rendezvous, Steps, make_key, task_of
from numbaflow.train.cluster.task_session import TaskSession

pytestmark = pytest.mark.pure


def test_keys_are_those_of_the_runtime():
    source, target = "/job:ps/replica:0/task:0/device:CPU:0", "/job:w/replica:0/task:1/device:CPU:0"
    assert make_key(source, -1, target, "edge_5_x") == (
        f"{source};ffffffffffffffff;{target};edge_5_x;0:0"
    )
    assert make_key(source, 0xABC, target, "x:0") == f"{source};0000000000000abc;{target};x:0;0:0"
    assert task_of(source) == "/job:ps/replica:0/task:0"


def test_whoever_comes_first_waits():
    rendezvous = Rendezvous()
    early = rendezvous.receive("a")
    assert not early.is_done
    rendezvous.send("a", 1)
    rendezvous.send("a", 2)
    assert early.outcome() == 1
    assert rendezvous.receive("a").outcome() == 2


def test_who_gave_up_takes_nothing():
    rendezvous = Rendezvous()
    rendezvous.receive("a").cancel()
    rendezvous.send("a", 1)
    assert rendezvous.receive("a").outcome() == 1


def test_a_failure_ends_all_waits():
    rendezvous = Rendezvous()
    before = rendezvous.receive("a")
    rendezvous.abort(errors.internal("first"))
    rendezvous.abort(errors.internal("second"))
    rendezvous.send("b", 1)
    for future in (before, rendezvous.receive("b")):
        with pytest.raises(tf.errors.InternalError, match="first"):
            future.outcome()


def test_steps_are_forgotten_with_all_that_waits():
    steps = Steps()
    waiting = steps.find(1).receive("a")
    steps.cleanup(1)
    steps.cleanup(2)
    assert not len(steps)
    with pytest.raises(tf.errors.AbortedError, match="Cleanup 1"):
        waiting.outcome()


def test_no_call_waits_for_a_thread():
    """Every call waits for all others to have begun."""
    threads, count = CallThreads("test"), 40
    begun = threading.Barrier(count)
    futures = [threads.submit(begun.wait, 10) for _ in range(count)]
    assert sorted(future.result(10) for future in futures) == list(range(count))
    with pytest.raises(ZeroDivisionError):
        threads.submit(lambda: 1 // 0).result(10)
    threads.shutdown()


def test_a_run_that_was_ended_before_it_waited_for_anything_does_not_wait() -> None:
    """The call that another task gets may fail before this task's part has begun to wait."""
    with tf.Graph().as_default() as graph:
        session = TaskSession(graph, "/job:worker/task:0", Resources(), {}, None)
    session.run_futures.cancel_run(7)
    with session.running(7, None):
        waits, pending = FutureSet(session), Future()
        waits.add((0, None), pending)
        assert waits.next() == ((0, None), pending)
    with pytest.raises(tf.errors.CancelledError):
        raise pending.error or AssertionError("it is not cancelled")
    # It concerns no other run.
    with session.running(8, None):
        waits, pending = FutureSet(session), Future()
        waits.add((0, None), pending)
        assert waits.next_within(0.01) is None
        waits.close()
