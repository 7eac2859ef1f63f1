# SPDX-License-Identifier: Apache-2.0
"""Collectives whose members are in one session."""

from __future__ import annotations

import numpy as np
import pytest

import numbaflow as tf
from numbaflow.ops import collective

pytestmark = pytest.mark.cpu
TWO = tf.ConfigProto(device_count={"CPU": 2}, operation_timeout_in_ms=5000)


def members(make, values):
    """What two members get, each on a device of its own."""
    with tf.Graph().as_default(), tf.Session(config=TWO) as session:
        made = []
        for i, value in enumerate(values):
            with tf.device(f"/cpu:{i}"):
                made.append(make(i, tf.constant(value)))
        # The second run is another meeting.
        session.run(made)
        return session.run(made)


@pytest.mark.parametrize(
    ("merge", "final", "wanted"),
    [
        *[("Add", "Id", [5, 5, 3]), ("Add", "Div", [2, 2, 1])],
        *[("Mul", "Id", [4, 6, 2]), ("Min", "Id", [1, 2, 1]), ("Max", "Id", [4, 3, 2])],
    ],
)
def test_reductions(merge, final, wanted):
    def make(i, t):
        return collective.all_reduce(t, 2, 1, 1, merge, final)

    for found in members(make, ([1, 2, 1], [4, 3, 2])):
        assert found.dtype == np.int32 and found.tolist() == wanted
    for found in members(make, ([-1.0, 2.0], [-2.0, 2.0])):
        assert found.shape == (2,)


def test_integers_are_divided_towards_zero():
    assert collective.divided(np.array([-3, 3, -4]), 2).tolist() == [-1, 1, -2]
    assert collective.divided(np.array([3.0], np.float16), 2).dtype == np.float16


def test_gathers_are_in_the_order_of_devices():
    def make(i, t):
        gathered = collective.all_gather(t, 2, 1, 1)
        assert gathered.shape.as_list() == [4, 1]
        return gathered

    for found in members(make, ([[1.0], [2.0]], [[3.0], [4.0]])):
        assert found.ravel().tolist() == [1, 2, 3, 4]


def test_broadcasts():
    def make(i, t):
        if i:
            return collective.broadcast_send(t, t.shape, t.dtype, 2, 1, 1)
        return collective.broadcast_recv([2], tf.float32, 2, 1, 1)

    for found in members(make, ([0.0, 0.0], [3.0, 4.0])):
        assert found.tolist() == [3, 4]


def test_shapes_that_differ_are_an_error_of_the_run():
    with pytest.raises(tf.errors.InvalidArgumentError, match="Shape mismatch"):
        members(lambda i, t: collective.all_reduce(t, 2, 1, 1, "Add", "Id"), ([1.0], [1.0, 2.0]))


def test_a_member_alone_waits():
    with tf.device("/cpu:0"):
        alone = collective.all_reduce(tf.constant([1.0]), 2, 1, 1, "Add", "Id")
    config = tf.ConfigProto(operation_timeout_in_ms=100)
    with tf.Session(config=config) as session:
        with pytest.raises(tf.errors.DeadlineExceededError):
            session.run(alone)


def test_arguments_are_checked():
    t = tf.constant([1.0])
    with pytest.raises(ValueError, match="Device assignment"):
        collective.all_reduce(t, 2, 1, 1, "Add", "Id")
    with tf.device("/cpu:0"):
        t = tf.constant([1.0])
    with pytest.raises(ValueError, match="at least 2"):
        collective.all_gather(t, 1, 1, 1)
    with pytest.raises(ValueError, match="delcared shape"):
        collective.broadcast_send(t, [2], tf.float32, 2, 1, 1)
    with pytest.raises(ValueError, match="declared type"):
        collective.broadcast_send(t, [1], tf.int32, 2, 1, 1)
    with pytest.raises(ValueError, match="rank 0"):
        tf.raw_ops.CollectiveGather(
            input=tf.constant(1.0), group_size=2, group_key=1, instance_key=1, shape=[0]
        )
