# SPDX-License-Identifier: Apache-2.0
"""What a run reads of resource variables is whole, whatever other runs assign meanwhile.

As in TensorFlow, where who has read a variable keeps the buffer and assignments get another.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest

import numbaflow as tf
from numbaflow.engine import settings
from numbaflow.engine.session import shared_reads
from numbaflow.engine.session.shared_reads import Changing, Reader
from numbaflow.engine.session.state import VariableStorage

pytestmark = pytest.mark.cpu

SHAPE = [64, 256]
MODES = ["always", "never"]


def ran(session: tf.Session, mode: str, fetch: Any, feeds: Any = None) -> Any:
    """A run in a mode (settings are each thread's own)."""
    with settings.override(jit=mode):
        return session.run(fetch, feeds)


@contextmanager
def another(function: Callable[[], Any]) -> Iterator[list[Any]]:
    """A thread that runs a function meanwhile; what it gave, once it is over."""
    found: list[Any] = []
    thread = threading.Thread(target=lambda: found.append(function()))
    thread.start()
    yield found
    thread.join(60)
    assert not thread.is_alive() and found


class Stop:
    """An operation that waits until it may go on."""

    def __init__(self) -> None:
        self.is_there, self.may_go = threading.Event(), threading.Event()

    def __call__(self) -> np.float32:
        self.is_there.set()
        assert self.may_go.wait(60)
        return np.float32(1)

    @property
    def tensor(self) -> Any:
        return tf.py_func(self, [], tf.float32)


def variable(value: float = 1.0) -> Any:
    return tf.get_variable("v", initializer=np.full(SHAPE, value, np.float32), use_resource=True)


ASSIGNMENTS = {
    "assign": lambda v: v.assign(tf.fill(SHAPE, 7.0) * 1.0, read_value=False),
    "add": lambda v: v.assign_add(tf.fill(SHAPE, 6.0) * 1.0, read_value=False),
    "scatter": lambda v: tf.scatter_update(v, tf.range(SHAPE[0]), tf.fill(SHAPE, 7.0)).op,
    "descent": lambda v: tf.train.GradientDescentOptimizer(-6.0).apply_gradients(
        [(tf.ones(SHAPE), v)]
    ),
    "loop": lambda v: (
        tf.while_loop(
            lambda i: i < 6,
            lambda i: _after(v.assign_add(tf.ones(SHAPE), read_value=False), i + 1),
            [0],
        ).op
    ),
    "function": lambda v: (
        tf.cond(
            tf.constant(True), lambda: _after(v.assign(tf.fill(SHAPE, 7.0)).op, 1), lambda: 0
        ).op
    ),
}


def _after(op: Any, result: Any) -> Any:
    with tf.control_dependencies([op]):
        return tf.identity(result)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("how", [*ASSIGNMENTS, "load"])
def test_a_run_keeps_what_it_has_read(how: str, mode: str) -> None:
    """It reads a variable, waits, and computes with it; another run assigns meanwhile."""
    stop = Stop()
    with tf.Graph().as_default(), tf.Session() as session:
        v = variable()
        read = v.read_value()
        before = tf.reduce_sum(read * 2.0)
        with tf.control_dependencies([before]):
            waited = stop.tensor
        both = [before, tf.reduce_sum(read * 2.0 + 0.0 * waited), tf.reduce_max(tf.abs(read))]
        assignment = None if how == "load" else ASSIGNMENTS[how](v)
        session.run(v.initializer)
        with another(lambda: ran(session, mode, both)) as found:
            assert stop.is_there.wait(60)
            if assignment is None:
                v.load(np.full(SHAPE, 7.0, np.float32), session)
            else:
                ran(session, mode, assignment)
            np.testing.assert_array_equal(ran(session, mode, v.read_value()), np.full(SHAPE, 7.0))
            stop.may_go.set()
        count = np.prod(SHAPE)
        assert found[0] == [2 * count, 2 * count, 1.0]
        np.testing.assert_array_equal(session.run(v), np.full(SHAPE, 7.0))


@pytest.mark.parametrize("mode", MODES)
def test_what_is_read_after_a_wait_is_what_is_there_then(mode: str) -> None:
    stop = Stop()
    with tf.Graph().as_default(), tf.Session() as session:
        v = variable()
        with tf.control_dependencies([stop.tensor]):
            later = tf.reduce_max(v.read_value() * 2.0)
        session.run(v.initializer)
        assignment = ASSIGNMENTS["assign"](v)
        with another(lambda: ran(session, mode, later)) as found:
            assert stop.is_there.wait(60)
            ran(session, mode, assignment)
            stop.may_go.set()
        assert found == [14.0]


@pytest.mark.parametrize("mode", MODES)
def test_what_a_run_adds_goes_to_what_others_have_assigned(mode: str) -> None:
    """It has read the variable before; what it adds is not added to that."""
    stop = Stop()
    with tf.Graph().as_default(), tf.Session() as session:
        v = variable()
        before = tf.reduce_max(v.read_value() * 2.0)
        with tf.control_dependencies([before]):
            waited = stop.tensor
        with tf.control_dependencies(
            [v.assign_add(tf.fill(SHAPE, waited * 3.0), read_value=False)]
        ):
            after = tf.reduce_max(v.read_value() * 2.0)
        session.run(v.initializer)
        assignment = ASSIGNMENTS["assign"](v)
        with another(lambda: ran(session, mode, [before, after])) as found:
            assert stop.is_there.wait(60)
            ran(session, mode, assignment)
            stop.may_go.set()
        assert found == [[2.0, 20.0]]
        np.testing.assert_array_equal(session.run(v), np.full(SHAPE, 10.0))


@pytest.mark.parametrize("mode", MODES)
def test_all_of_a_read_is_of_one_assignment(mode: str) -> None:
    """While another thread assigns over and over."""
    is_over = threading.Event()
    with tf.Graph().as_default(), tf.Session() as session:
        v, amount = variable(), tf.placeholder(tf.float32, [])
        assignment = v.assign(tf.fill(SHAPE, amount), read_value=False)
        spread = tf.reduce_max(v.read_value()) - tf.reduce_min(v.read_value())
        whole = v.read_value()
        session.run(v.initializer)

        def assign() -> int:
            count = 0
            while not is_over.is_set():
                count += 1
                ran(session, mode, assignment, {amount: float(count)})
            return count

        with another(assign) as found:
            for _ in range(100):
                # (Two reads may be of two assignments.)
                values = ran(session, mode, whole)
                assert values.min() == values.max()
                ran(session, mode, spread)
            is_over.set()
        assert found[0] > 1


def test_a_file_has_each_variable_as_it_was_at_one_time(tmp_path) -> None:
    is_over = threading.Event()
    with tf.Graph().as_default(), tf.Session() as session:
        v, amount = variable(), tf.placeholder(tf.float32, [])
        assignment = v.assign(tf.fill(SHAPE, amount), read_value=False)
        saver = tf.train.Saver([v])
        session.run(v.initializer)

        def assign() -> int:
            count = 0
            while not is_over.is_set():
                count += 1
                session.run(assignment, {amount: float(count)})
            return count

        with another(assign):
            for number in range(10):
                path = saver.save(session, str(tmp_path / "model"), global_step=number)
                values = tf.train.load_checkpoint(path).get_tensor("v")
                assert values.min() == values.max()
            is_over.set()


def cell(value: float = 1.0) -> VariableStorage:
    made = VariableStorage("v", tf.float32, tf.TensorShape([3]))
    made.is_resource = True
    made.assign(np.full(3, value, np.float32))
    return made


def test_a_variable_is_changed_in_place_while_nobody_reads_it() -> None:
    v = cell()
    array = v.read()
    v.assign(np.full(3, 2.0, np.float32))
    v.update(lambda held: np.add(held, 1, out=held))
    assert v.read() is array and array.tolist() == [3.0, 3.0, 3.0]


def test_one_copy_serves_however_many_assignments_come() -> None:
    v, other = cell(), cell()
    reader = Reader([v])
    reader.look([])
    before = v.read()
    try:
        v.assign(np.full(3, 2.0, np.float32))
        moved = v.read()
        v.assign(np.full(3, 3.0, np.float32))
        other.assign(np.full(3, 3.0, np.float32))
        assert v.read() is moved and moved is not before
        assert reader.array_of(v) is before and before.tolist() == [1.0] * 3
        reader.look([v])
        assert reader.array_of(v) is moved
        v.assign(np.full(3, 4.0, np.float32))
        assert moved.tolist() == [3.0] * 3 and v.read().tolist() == [4.0] * 3
    finally:
        reader.end()
    assert not shared_reads._readers and not shared_reads._changes


def test_a_reader_waits_for_a_change_under_way_and_for_no_other() -> None:
    v, other = cell(), cell()
    reader, looked = Reader([v]), threading.Event()

    def look() -> np.ndarray:
        reader.look([])
        looked.set()
        return reader.array_of(v).copy()

    change = Changing(v)
    with Changing(other):
        change.__enter__()
        with another(look) as found:
            assert not looked.wait(0.2)
            v.read()[...] = 5.0
            change.__exit__()
            assert looked.wait(60)
    reader.end()
    assert found[0].tolist() == [5.0] * 3


def test_an_error_in_a_change_ends_it() -> None:
    v = cell()

    def fail(_: Any) -> None:
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        v.update(fail)
    assert not shared_reads._changes
    reader = Reader([v])
    reader.look([])
    reader.end()
