# SPDX-License-Identifier: Apache-2.0
"""Eight workers that train for minutes: no update under locking is lost, and memory stays flat."""

from __future__ import annotations

import os
import signal
import sys
import time

import pytest

import numbaflow as tf
from numbaflow.train.cluster import launch

from .fault_tasks import JOIN, SERVE, Process, until

pytestmark = [
    pytest.mark.process,
    pytest.mark.cpu,
    pytest.mark.skipif(sys.platform != "linux", reason="memory is read as Linux tells of it"),
]

# Each step adds one to all of an array by the gradient, and one to a counter of the worker's own.
WORK = (
    SERVE
    + """
import signal
say = lambda line: print(line + "\\n", end="", flush=True)
is_over = []
signal.signal(signal.SIGUSR1, lambda number, frame: is_over.append(number))
say("ready")
with tf.device("/job:ps/task:0"):
    w = tf.get_variable("w", [256], tf.float64, tf.zeros_initializer())
    total = tf.get_variable("total", [], tf.int64, tf.zeros_initializer(), use_resource=True)
    own = tf.get_variable("own%d" % task, [], tf.int64, tf.zeros_initializer())
with tf.device("/job:worker/task:%d" % task):
    loss = -tf.reduce_sum(tf.identity(w) * tf.placeholder_with_default(tf.ones([], tf.float64), []))
train = tf.train.GradientDescentOptimizer(1.0, use_locking=True).minimize(loss)
step = tf.group(train, total.assign_add(1).op, tf.assign_add(own, 1, use_locking=True))
filters = ["/job:ps", "/job:worker/task:%d" % task]
count = 0
with tf.Session(server.target, config=tf.ConfigProto(device_filters=filters)) as sess:
    if task == 0:
        sess.run(tf.variables_initializer([w, total]))
    sess.run(own.initializer)
    say("prepared")
    while not sess.run(tf.reduce_all(tf.is_variable_initialized(w))):
        time.sleep(0.05)
    while not is_over:
        for _ in range(20):
            sess.run(step)
        count += 20
        say("done %d" % count)
"""
)


@pytest.mark.parametrize(
    ("workers", "seconds"), [(3, 3.0), pytest.param(8, 600.0, marks=pytest.mark.deep)]
)
def test_no_update_is_lost_and_memory_is_flat(workers: int, seconds: float) -> None:
    seconds = float(os.environ.get("NUMBAFLOW_TEST_SOAK", seconds))
    hosts = [f"localhost:{port}" for port in launch.free_ports(1 + workers)]
    spec = {"ps": hosts[:1], "worker": hosts[1:]}
    tasks = [Process(JOIN, spec, "ps", 0, "link")]
    try:
        for i in range(workers):
            tasks.append(Process(WORK, spec, "worker", i, "link"))
        until(lambda: all(task.count("done") for task in tasks[1:]), 300.0)
        # What is made once is made by then.
        time.sleep(seconds / 4)
        before = [task.resident() for task in tasks]
        time.sleep(seconds * 3 / 4)
        after = [task.resident() for task in tasks]
        for task in tasks[1:]:
            task.send(signal.SIGUSR1)
        assert [task.ended() for task in tasks[1:]] == [0] * workers
        counts = [max(task.numbers("done")) for task in tasks[1:]]
        with tf.Graph().as_default(), tf.device("/job:ps/task:0"):
            w = tf.get_variable("w", [256], tf.float64)
            total = tf.get_variable("total", [], tf.int64, use_resource=True)
            owns = [tf.get_variable(f"own{i}", [], tf.int64) for i in range(workers)]
            config = tf.ConfigProto(device_filters=["/job:ps"])
            with tf.Session(f"grpc://{hosts[0]}", config=config) as sess:
                found = sess.run([w, total, owns])
    finally:
        for task in tasks:
            task.kill()
    assert found[2] == counts
    assert found[1] == sum(counts)
    assert (found[0] == sum(counts)).all()
    # (Shown with -s.)
    grown = [f"{(other - one) / 1024:+.0f}" for one, other in zip(before, after)]
    print(f"{workers} workers, {seconds:.0f} s: {sum(counts)} steps, none lost")
    print(f"memory of the tasks then, MB: {', '.join(f'{one / 2**20:.0f}' for one in after)}")
    print(f"since a quarter of the time, KB: {', '.join(grown)}")
    for task, one, other in zip(["ps", *range(workers)], before, after, strict=True):
        # (The allocator's own turns; a leak of a hundred bytes a step is more in ten minutes.)
        assert other - one < max(4 << 20, 0.05 * one), (task, one, other)
