# SPDX-License-Identifier: Apache-2.0
"""Runs by reference kernels end when their session is closed, when their time is up, on Ctrl-C."""

from __future__ import annotations

import threading
import time
from typing import Any

import numpy as np
import pytest

import numbaflow as tf
from numbaflow.engine import settings, stopping

# Bounds waits that a failing test would not end.
PATIENCE = 60.0

pytestmark = pytest.mark.programs


def chain(*functions: Any) -> Any:
    """An operation that calls Python functions one after the other."""
    last: list[Any] = []
    for function in functions:
        with tf.control_dependencies(last):
            last = [tf.py_func(function, [], [], stateful=True)]
    return last[0]


def test_closing_a_session_ends_its_run_before_the_next_operation() -> None:
    calls: list[str] = []
    session = tf.Session()
    run = chain(session.close, lambda: calls.append("next"))
    with pytest.raises(tf.errors.CancelledError, match="Run call was cancelled"):
        session.run(run)
    assert not calls
    with pytest.raises(RuntimeError, match="closed Session"):
        session.run(run)


def test_a_run_that_ends_after_its_session_is_cancelled_too() -> None:
    session = tf.Session()
    with pytest.raises(tf.errors.CancelledError, match="Run call was cancelled"):
        session.run(chain(session.close))


def test_reset_cancels_runs_that_are_under_way() -> None:
    calls: list[str] = []
    run = chain(lambda: tf.Session.reset(""), lambda: calls.append("next"))
    with tf.Session() as session, pytest.raises(tf.errors.CancelledError):
        session.run(run)
    assert not calls


def test_a_timeout_counts_all_operations_together() -> None:
    """Each is quick, and so is the first loop of Python that looks at the clock."""
    calls: list[int] = []

    def work() -> None:
        calls.append(len(calls))
        time.sleep(0.005)

    run = chain(*[work] * 200)
    with tf.Session() as session:
        with pytest.raises(tf.errors.DeadlineExceededError, match="Timed out waiting"):
            session.run(run, options=tf.RunOptions(timeout_in_ms=50))
        assert 0 < len(calls) < 200
        calls.clear()
        session.run(run)
        assert len(calls) == 200


@pytest.mark.parametrize("kind", ["options", "config"])
def test_a_loop_without_end_has_the_time_that_the_run_has(kind: str) -> None:
    endless = tf.while_loop(lambda i: i >= 0, lambda i: i * 0, [0])
    config = tf.ConfigProto(operation_timeout_in_ms=100 if kind == "config" else 0)
    options = tf.RunOptions(timeout_in_ms=100 if kind == "options" else 0)
    with tf.Session(config=config) as session:
        with pytest.raises(tf.errors.DeadlineExceededError):
            session.run(endless, options=options)
        with pytest.raises(tf.errors.DeadlineExceededError):
            session.make_callable(endless, accept_options=True)(options=options)
        assert session.run(tf.constant(3)) == 3


def test_a_run_whose_only_operation_took_too_long_fails() -> None:
    with tf.Session() as session, pytest.raises(tf.errors.DeadlineExceededError):
        session.run(
            chain(lambda: time.sleep(0.1)),
            options=tf.RunOptions(timeout_in_ms=1),
            run_metadata=tf.RunMetadata(),
        )


def test_the_limit_of_a_run_is_its_own() -> None:
    """Not that of another thread, nor of runs within it or after it."""
    limits: list[Any] = []
    with tf.Session() as session:

        def inner() -> None:
            session.run(chain(note), options=tf.RunOptions(timeout_in_ms=10**6))
            note()

        def note() -> None:
            limits.append(session.deadline)

        session.run(chain(inner), options=tf.RunOptions(timeout_in_ms=10**8))
        other = threading.Thread(target=note)
        session.run(
            chain(other.start, lambda: other.join(PATIENCE)),
            options=tf.RunOptions(timeout_in_ms=10**8),
        )
        session.run(chain(note))
        assert not session.has_limits
    within, outer, elsewhere, after = limits
    assert within < outer
    assert elsewhere is after is None


@pytest.mark.pure
def test_parts_of_a_run_have_a_limit_each() -> None:
    x = tf.placeholder(tf.float32, [])
    calls: list[int] = []

    def work(value: Any) -> Any:
        calls.append(0)
        time.sleep(0.005)
        return value

    y = x
    for _ in range(200):
        y = tf.py_func(work, [y], tf.float32)
    config = tf.ConfigProto(operation_timeout_in_ms=50)
    with tf.Session(config=config) as session:
        handle = session.partial_run_setup([y], [x])
        with pytest.raises(tf.errors.DeadlineExceededError):
            session.partial_run(handle, y, {x: 1.0})
    assert 0 < len(calls) < 200


@pytest.mark.parametrize("mode", ["never", pytest.param("always", marks=pytest.mark.cpu)])
def test_closing_a_session_ends_runs_in_other_threads(mode: str) -> None:
    begun, caught = threading.Event(), []
    with tf.control_dependencies([chain(begun.set)]):
        endless = tf.while_loop(lambda i: i >= 0, lambda i: i * 0, [0])
    session = tf.Session()

    def work() -> None:
        with settings.override(jit=mode), pytest.raises(tf.errors.CancelledError) as error:
            session.run(endless)
        caught.append(error.value.message)

    threads = [threading.Thread(target=work, daemon=True) for _ in range(3)]
    for thread in threads:
        thread.start()
    assert begun.wait(PATIENCE)
    session.close()
    for thread in threads:
        thread.join(PATIENCE)
    # Those that had not begun were told so.
    assert len(caught) == 3
    assert set(caught) <= {"Run call was cancelled", "Session has been closed."}


@pytest.mark.pure
def test_who_waits_for_a_lock_looks_whether_it_may() -> None:
    lock = threading.Lock()
    with tf.Session() as session, lock:
        session.cancel()
        with stopping.within(session), pytest.raises(tf.errors.CancelledError):
            stopping.await_release(lock)
    stopping.await_release(lock)


@pytest.mark.pure
def test_who_waits_for_a_moment_goes_on_once_the_lock_is_free() -> None:
    lock, order = threading.Lock(), []

    def wait() -> None:
        stopping.await_moment(lock)
        order.append("free")

    lock.acquire()
    thread = threading.Thread(target=wait)
    thread.start()
    time.sleep(0.02)
    order.append("held")
    lock.release()
    thread.join(PATIENCE)
    assert order == ["held", "free"]


def test_variables_keep_what_complete_operations_gave_them() -> None:
    v = tf.Variable(np.zeros(3, "f4"))
    first = tf.assign_add(v, [1.0, 1.0, 1.0])
    with tf.control_dependencies([first]):
        stop = tf.py_func(lambda: time.sleep(0.1), [], [], stateful=True)
    with tf.control_dependencies([stop]):
        second = tf.assign_add(v, [1.0, 1.0, 1.0])
    with tf.Session() as session:
        session.run(v.initializer)
        with pytest.raises(tf.errors.DeadlineExceededError):
            session.run(second, options=tf.RunOptions(timeout_in_ms=20))
        assert session.run(v).tolist() == [1.0, 1.0, 1.0]
        assert session.run(second).tolist() == [3.0, 3.0, 3.0]
