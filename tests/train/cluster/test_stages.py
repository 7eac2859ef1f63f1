# SPDX-License-Identifier: Apache-2.0
"""Which runs go stage by stage, and what each stage takes and gives."""

from __future__ import annotations

import pytest

import numbaflow as tf
from numbaflow.engine.session import run_order
from numbaflow.train.cluster.placement import Placer
from numbaflow.train.cluster.stages import staged

pytestmark = pytest.mark.pure

PS, WORKER = (f"/job:{job}/replica:0/task:0/device:CPU:0" for job in ("ps", "worker"))


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as found:
        yield found


def stages(fetches, targets=(), feeds=()):
    """The stages of a run, for a master at the worker."""
    operations = run_order.needed_operations(fetches, targets, feeds)
    placer = Placer(tf.get_default_graph(), [PS, WORKER], WORKER.partition("/device")[0], False)
    return staged(placer.devices_of(operations), feeds, fetches)


def names(tensors):
    return sorted(tensor.name for tensor in tensors)


@pytest.mark.parametrize("use_resource", [False, True])
def test_training_is_three_stages(use_resource):
    with tf.device("/job:ps"):
        v = tf.get_variable("v", [3], use_resource=use_resource)
    x = tf.placeholder(tf.float32, [3])
    loss = tf.reduce_sum(x * v, name="loss")
    train = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
    read, compute, apply = stages([loss], [train], [x])
    assert set(read.devices.values()) == set(apply.devices.values()) == {PS}
    assert set(compute.devices.values()) == {WORKER}
    assert len(read.fetches) == 1 and not read.feeds
    assert set(read.fetches) | {x} == set(compute.feeds)
    assert loss in compute.fetches and loss not in apply.feeds
    # The variable itself is there in both of its task's stages.
    assert v.op in read.devices and v.op in apply.devices


def test_what_waits_comes_last_or_not_at_all():
    with tf.device("/job:ps"):
        queue = tf.FIFOQueue(1, tf.float32, shapes=[[]])
        taken = queue.dequeue()
    x = tf.placeholder(tf.float32, [])
    assert len(stages([taken + x], feeds=[x])) == 2
    # The rest would wait for it, and it, perhaps, for the rest.
    with tf.device("/job:ps"):
        given = queue.enqueue(x * tf.constant(2.0))
    later = tf.identity(x) + 1
    with tf.device("/job:ps"):
        second = queue.enqueue(later)
    assert stages([taken], [second], [x]) is None
    assert stages([taken], [given], [x]) is not None


def test_large_tensors_cross_by_themselves():
    with tf.device("/job:ps"):
        large, small = tf.zeros([5 << 20]), tf.zeros([5 << 10])
    assert stages([large + 1]) is None
    assert len(stages([small + 1])) == 2


def test_what_stays_with_a_task_is_not_sent_away_and_back():
    with tf.device("/job:ps"):
        a = tf.random_normal([1 << 20])
    b = tf.reduce_sum(a)
    with tf.device("/job:ps"):
        c = a * b
    assert stages([c]) is None


def test_conditionals_within_a_stage_and_loops_not_at_all():
    with tf.device("/job:ps"):
        v = tf.get_variable("v", [], use_resource=True)
        y = tf.cond(v > 0, lambda: v + 1, lambda: v - 1)
        z = tf.while_loop(lambda i: i < 3, lambda i: i + 1, [0])
    assert len(stages([y * 2])) == 2
    assert stages([z * 2]) is None
