# SPDX-License-Identifier: Apache-2.0
"""Coordinators, queue runners and looping threads: they stop when asked, and say why."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import numbaflow as tf
from numbaflow.engine import settings

pytestmark = pytest.mark.cpu


@pytest.fixture(autouse=True, params=["auto", "always"])
def graph(request: pytest.FixtureRequest) -> Iterator[tf.Graph]:
    with settings.override(jit=request.param), tf.Graph().as_default() as g:
        yield g


def ends(threads: list[threading.Thread]) -> bool:
    """Whether all threads end soon."""
    deadline = time.time() + 20
    for thread in threads:
        thread.join(max(0.0, deadline - time.time()))
    return not any(thread.is_alive() for thread in threads)


def test_a_failure_in_a_thread_reaches_join() -> None:
    coordinator = tf.train.Coordinator()

    def fail() -> None:
        with coordinator.stop_on_exception():
            raise ValueError("on purpose")

    def wait() -> None:
        coordinator.wait_for_stop()

    threads = [threading.Thread(target=target) for target in (wait, fail, wait)]
    for thread in threads:
        thread.start()
    with pytest.raises(ValueError, match="on purpose"):
        coordinator.join(threads)
    assert coordinator.should_stop() and coordinator.joined


def test_threads_that_do_not_stop_are_named() -> None:
    coordinator = tf.train.Coordinator()
    over = threading.Event()
    thread = threading.Thread(target=over.wait, name="stubborn")
    thread.start()
    coordinator.request_stop()
    with pytest.raises(RuntimeError, match="stubborn"):
        coordinator.join([thread], stop_grace_period_secs=0.2)
    coordinator.join([thread], stop_grace_period_secs=0.2, ignore_live_threads=True)
    over.set()
    assert ends([thread])


def test_clean_stops_and_clear() -> None:
    coordinator = tf.train.Coordinator()
    with coordinator.stop_on_exception():
        raise tf.errors.OutOfRangeError(None, None, "the end")
    assert coordinator.should_stop()
    coordinator.join([])
    coordinator.clear_stop()
    assert not coordinator.should_stop() and not coordinator.wait_for_stop(0.01)
    strict = tf.train.Coordinator(clean_stop_exception_types=(KeyError,))
    with strict.stop_on_exception():
        raise tf.errors.OutOfRangeError(None, None, "the end")
    with pytest.raises(tf.errors.OutOfRangeError, match="the end"):
        strict.join([])


def test_a_looping_thread() -> None:
    coordinator = tf.train.Coordinator()
    times: list[int] = []

    def once(name: str) -> None:
        times.append(len(name))
        if len(times) == 3:
            coordinator.request_stop()

    thread = tf.train.LooperThread.loop(coordinator, 0.001, once, args=("ab",))
    coordinator.join([thread])
    assert times == [2, 2, 2]


def test_a_queue_runner_fills_until_the_end() -> None:
    source = tf.train.limit_epochs(tf.constant(3.0), 4)
    queue = tf.FIFOQueue(2, [tf.float32], shapes=[()])
    runner = tf.train.QueueRunner(queue, [queue.enqueue(source * 2.0)] * 2)
    taken = queue.dequeue() + 1.0
    with tf.Session() as session:
        session.run(tf.local_variables_initializer())
        coordinator = tf.train.Coordinator()
        threads = runner.create_threads(session, coordinator, start=True)
        assert [session.run(taken) for _ in range(4)] == [7.0] * 4
        with pytest.raises(tf.errors.OutOfRangeError, match="is closed and has insufficient"):
            session.run(taken)
        coordinator.request_stop()
        coordinator.join(threads)
        assert not runner.exceptions_raised


def test_stopping_frees_threads_that_wait() -> None:
    queue = tf.FIFOQueue(1, [tf.float32], shapes=[()])
    tf.train.add_queue_runner(tf.train.QueueRunner(queue, [queue.enqueue(1.0)] * 3))
    session = tf.Session()
    coordinator = tf.train.Coordinator()
    threads = tf.train.start_queue_runners(session, coordinator)
    assert len(threads) == 4
    time.sleep(0.1)
    coordinator.request_stop()
    coordinator.join(threads)
    session.close()


# Without a coordinator an error has no way but out of its thread.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_closing_the_session_frees_threads_without_a_coordinator() -> None:
    queue = tf.FIFOQueue(1, [tf.float32], shapes=[()])
    runner = tf.train.QueueRunner(queue, [queue.enqueue(1.0)] * 3)
    session = tf.Session()
    threads = runner.create_threads(session, start=True)
    time.sleep(0.1)
    session.close()
    assert ends(threads)
    assert {type(e) for e in runner.exceptions_raised} == {tf.errors.CancelledError}


def test_runners_of_a_session_are_started_outside_its_graph() -> None:
    with tf.Graph().as_default() as other:
        number = tf.train.range_input_producer(3, shuffle=False).dequeue()
    # Those of the default graph are not this session's.
    tf.train.range_input_producer(5)
    coordinator, session = tf.train.Coordinator(), tf.Session(graph=other)
    threads = tf.train.start_queue_runners(session, coordinator)
    assert threads and session.run(number) == 0
    coordinator.request_stop()
    session.close()
    assert ends(threads)


def test_an_error_while_filling_stops_everybody() -> None:
    queue = tf.FIFOQueue(1, [tf.float32], shapes=[()])
    number = tf.placeholder_with_default(-1.0, [])
    checked = tf.Assert(number > 0.0, [number])
    with tf.control_dependencies([checked]):
        put = queue.enqueue(tf.sqrt(number))
    tf.train.add_queue_runner(tf.train.QueueRunner(queue, [put]))
    taken = queue.dequeue()
    with tf.Session() as session:
        coordinator = tf.train.Coordinator()
        threads = tf.train.start_queue_runners(session, coordinator)
        with pytest.raises(tf.errors.OutOfRangeError):
            session.run(taken)
        with pytest.raises(tf.errors.InvalidArgumentError, match="assertion failed"):
            coordinator.join(threads)


def test_runners_survive_export(graph: tf.Graph) -> None:
    queue = tf.FIFOQueue(1, [tf.float32], shapes=[()], name="q")
    tf.train.add_queue_runner(tf.train.QueueRunner(queue, [queue.enqueue(4.0)]))
    tf.identity(queue.dequeue(), name="taken")
    exported = tf.train.export_meta_graph()
    with tf.Graph().as_default() as other:
        tf.train.import_meta_graph(exported)
        (runner,) = other.get_collection(tf.GraphKeys.QUEUE_RUNNERS)
        assert runner.name == "q"
        assert runner.queue_closed_exception_types == (tf.errors.OutOfRangeError,)
        with tf.Session() as session:
            coordinator = tf.train.Coordinator()
            threads = tf.train.start_queue_runners(session, coordinator)
            assert session.run("taken:0") == 4.0
            coordinator.request_stop()
            coordinator.join(threads)


def test_many_threads_read_every_example_once() -> None:
    """Four readers, two batches at a time: a whole epoch of 120 numbers, none twice."""
    number = tf.train.range_input_producer(60, num_epochs=2, shuffle=True, seed=1).dequeue()
    batch = tf.train.shuffle_batch(
        [number * 1], 7, 50, 10, num_threads=4, allow_smaller_final_batch=True
    )
    found: list[np.ndarray] = []
    with tf.Session() as session:
        session.run(tf.local_variables_initializer())
        coordinator = tf.train.Coordinator()
        threads: list[Any] = tf.train.start_queue_runners(session, coordinator)

        def read() -> None:
            with coordinator.stop_on_exception():
                while not coordinator.should_stop():
                    found.append(session.run(batch))

        threads += [threading.Thread(target=read) for _ in range(2)]
        for thread in threads[-2:]:
            thread.start()
        coordinator.join(threads)
    numbers = np.concatenate(found).tolist()
    assert sorted(numbers) == sorted([*range(60)] * 2) and numbers != sorted(numbers)
