# SPDX-License-Identifier: Apache-2.0
"""Updates that are told to keep others out lose nothing to runs at the same time."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import pytest

import numbaflow as tf
from numbaflow.engine import settings
from numbaflow.engine.session.state import VariableStorage

pytestmark = pytest.mark.cpu


def storage(session: tf.Session) -> VariableStorage:
    """The memory of the only variable."""
    (found,) = (thing for _, thing in session.resources if isinstance(thing, VariableStorage))
    return found


def compiled(session: tf.Session, fetch: Any, feeds: Any = None) -> None:
    """A compiled run, in whichever thread (settings are each thread's own)."""
    with settings.override(jit="always"):
        session.run(fetch, feeds)


def descent(v: Any, amount: Any, use_locking: bool) -> Any:
    """A step of gradient descent that adds the amount."""
    return tf.train.GradientDescentOptimizer(-1.0, use_locking).apply_gradients([(amount, v)])


UPDATES = {
    "assign_add": lambda v, x, locks: v.assign_add(x, use_locking=locks),
    "scatter": lambda v, x, locks: tf.scatter_add(v, tf.range(4), x, use_locking=locks),
    "descent": descent,
}


def update_of(name: str, use_locking: bool, use_resource: bool = False) -> tuple[Any, Any]:
    """A variable, and what adds ones to it."""
    v = tf.get_variable("v", initializer=np.zeros([4, 3], np.float32), use_resource=use_resource)
    return v, UPDATES[name](v, tf.ones([4, 3]) * tf.placeholder_with_default(1.0, []), use_locking)


@pytest.mark.parametrize("name", UPDATES)
@pytest.mark.parametrize("use_locking", [True, False])
def test_an_update_waits_for_the_lock_if_it_is_told_to(name: str, use_locking: bool) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        v, update = update_of(name, use_locking)
        session.run(v.initializer)
        target = getattr(update, "op", update)
        compiled(session, target)
        worker = threading.Thread(target=compiled, args=(session, target))
        with storage(session).lock:
            worker.start()
            worker.join(0.3 if use_locking else 20)
            assert worker.is_alive() == use_locking
            assert storage(session).read()[0, 0] == (1.0 if use_locking else 2.0)
        worker.join()
        np.testing.assert_array_equal(session.run(v), np.full([4, 3], 2.0))


@pytest.mark.parametrize("use_locking", [True, False])
@pytest.mark.parametrize("shape", [[], [4, 3]])
def test_elements_are_not_those_of_two_assignments(shape: list[int], use_locking: bool) -> None:
    """(One element alone is always that of one.)"""
    waits = use_locking and bool(shape)
    with tf.Graph().as_default(), tf.Session() as session:
        v = tf.Variable(tf.zeros(shape), use_resource=False)
        amount = tf.placeholder_with_default(1.0, [])
        update = tf.assign(v, tf.ones(shape) * amount, use_locking=use_locking).op
        session.run(v.initializer)
        compiled(session, update)
        worker = threading.Thread(target=compiled, args=(session, update, {amount: 2.0}))
        with storage(session).lock:
            worker.start()
            worker.join(0.3 if waits else 20)
            assert worker.is_alive() == waits
        worker.join()
        np.testing.assert_array_equal(session.run(v), np.full(shape, 2.0))


@pytest.mark.parametrize("use_resource", [False, True])
def test_nothing_is_lost_among_threads(use_resource: bool) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        v = tf.Variable(tf.zeros([512, 512]), use_resource=use_resource)
        updates = [v.assign_add(tf.ones([512, 512]), use_locking=True) for _ in range(8)]
        session.run(v.initializer)
        for update in updates:
            compiled(session, update.op)
        threads = [
            threading.Thread(
                target=lambda op: [compiled(session, op) for _ in range(5)], args=(op,)
            )
            for op in (update.op for update in updates)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        np.testing.assert_array_equal(session.run(v), np.full([512, 512], 48.0))
