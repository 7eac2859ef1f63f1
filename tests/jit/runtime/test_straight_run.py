# SPDX-License-Identifier: Apache-2.0
"""Parts and waits in one line: what was fed stays, what blocks goes on, errors name their node."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import numbaflow as tf
from numbaflow.engine import settings
from numbaflow.jit.runtime.async_runner import AsyncRunner

pytestmark = pytest.mark.cpu


@pytest.fixture(params=["auto", "always"], autouse=True)
def mode(request: pytest.FixtureRequest) -> Iterator[str]:
    with settings.override(jit=request.param), tf.Graph().as_default():
        yield request.param


def runner_of(session: tf.Session, fetches: Any) -> AsyncRunner:
    found = session._find(fetches, None).run
    while not isinstance(found, AsyncRunner):
        found = found.runner
    return found


def test_a_chain_is_a_line() -> None:
    first, second = (tf.FIFOQueue(9, [tf.float32], shapes=[[2]]) for _ in range(2))
    fill = first.enqueue([tf.constant([1.0, 2.0])])
    move = second.enqueue([first.dequeue() * 2.0 + 1.0])
    taken = second.dequeue()
    with tf.Session() as session:
        for _ in range(3):
            session.run(fill)
            session.run(move)
            np.testing.assert_array_equal(session.run(taken), [3.0, 5.0])
        line = runner_of(session, move).line
        assert line is not None
        assert [type(step).__name__ for step in line.steps] == ["_Wait", "_Part", "_Wait"]
        assert all(step.after & line.steps[0].bit for step in line.steps[1:])


def test_what_is_fed_of_what_comes_out_of_a_queue_stays() -> None:
    queue = tf.FIFOQueue(9, [tf.float32, tf.int32], shapes=[[], []])
    fill = queue.enqueue([1.0, 7])
    x, y = queue.dequeue()
    both = [x, y, x + 1.0]
    with tf.Session() as session:
        for _ in range(3):
            session.run(fill)
            assert session.run(both, {x: 5.0}) == [5.0, 7, 6.0]


def test_the_rest_goes_on_when_a_wait_takes_its_time() -> None:
    slow, quick = (tf.FIFOQueue(9, [tf.float32], shapes=[[]]) for _ in range(2))
    total = slow.dequeue() + quick.dequeue()
    value = tf.placeholder(tf.float32, [])
    with tf.Session() as session:
        for turn in range(3):
            session.run(quick.enqueue([1.0]))
            late = threading.Timer(0.1, session.run, (slow.enqueue([value]), {value: turn}))
            late.start()
            assert session.run(total) == turn + 1.0
            late.join()


def test_two_waits_in_a_row_that_both_block() -> None:
    names, records = (tf.FIFOQueue(9, [tf.float32], shapes=[[]]) for _ in range(2))
    first = names.dequeue()
    with tf.control_dependencies([first]):
        second = records.dequeue()
    result = first * 10.0 + second
    value = tf.placeholder(tf.float32, [])
    with tf.Session() as session:
        fills = [queue.enqueue([value]) for queue in (names, records)]
        for turn in range(2):
            for i, fill in enumerate(fills):
                threading.Timer(0.02 + 0.1 * i, session.run, (fill, {value: turn + i})).start()
            assert session.run(result) == turn * 10.0 + turn + 1.0


def test_what_a_variable_holds_when_it_is_enqueued() -> None:
    queue = tf.FIFOQueue(9, [tf.float32], shapes=[[]])
    variable = tf.Variable(0.0, use_resource=False)
    fill, taken = queue.enqueue([variable]), queue.dequeue()
    more = variable.assign_add(1.0)
    with tf.Session() as session:
        session.run(variable.initializer)
        for turn in range(3):
            session.run(fill)
            session.run(more)
            assert session.run(taken) == turn


def test_errors_name_the_node() -> None:
    queue = tf.FIFOQueue(9, [tf.float32], shapes=[[]], name="numbers")
    taken = tf.identity(queue.dequeue(name="take"))
    with tf.Session() as session:
        session.run(queue.enqueue([1.0]))
        assert session.run(taken) == 1.0
        session.run(queue.close())
        with pytest.raises(tf.errors.OutOfRangeError, match="is closed") as caught:
            session.run(taken)
    assert caught.value.op.name == "take"


def test_a_number_that_is_another_each_time_makes_no_plan() -> None:
    """A label among what a host operation gave is data, and no size of what comes behind."""
    record = tf.placeholder(tf.string, [])
    wanted = {"y": tf.FixedLenFeature([], tf.int64), "x": tf.FixedLenFeature([], tf.string)}
    found = tf.parse_single_example(record, wanted)
    pixels = tf.cast(tf.reshape(tf.decode_raw(found["x"], tf.uint8), [4]), tf.float32) / 2.0
    queue = tf.FIFOQueue(99, [tf.float32, tf.int64], shapes=[[4], []])
    fill, taken = queue.enqueue([pixels, found["y"]]), queue.dequeue()
    with tf.Session() as session:
        for label in range(5, 12):
            example = tf.train.Example()
            example.features.feature["y"].int64_list.value.append(label)
            example.features.feature["x"].bytes_list.value.append(bytes([label] * 4))
            session.run(fill, {record: example.SerializeToString()})
            x, y = session.run(taken)
            assert y == label
            np.testing.assert_array_equal(x, [label / 2.0] * 4)
        runner = session._find(fill, {record: b""}).run
        while not isinstance(runner, AsyncRunner):
            runner = runner.runner
        compiled = [getattr(part, "runner", part) for part in runner.runners]
        plans = [p for part in compiled for p in part._segments.values()]
        assert max(len(p._ready) for p in plans) == 1
