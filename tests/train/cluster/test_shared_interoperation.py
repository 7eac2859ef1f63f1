# SPDX-License-Identifier: Apache-2.0
"""Groups of collectives of our workers and TensorFlow 1.15's, in processes of their own."""

from __future__ import annotations

import json
import os
import threading
from contextlib import ExitStack
from typing import Any

import numpy as np
import pytest

import numbaflow as tf
from numbaflow.ops import collective

from .conftest import free_ports
from .test_interoperation import program

pytestmark = [
    pytest.mark.tf,
    pytest.mark.skipif(
        not os.environ.get("NUMBAFLOW_TF115_PYTHON"),
        reason="NUMBAFLOW_TF115_PYTHON names no Python that has TensorFlow 1.15",
    ),
]

# One worker's part, for both: everything that is run, and what it gives, as lines.  Who leads is
# the source of broadcasts, as TensorFlow's leader hears of no other one.
WORK = """
import numpy as np

LEADER = "/job:worker/replica:0/task:0"

def values(task, size):
    return np.random.RandomState(task).randn(size).astype(np.float32)

def work(tf, collective, cluster, task, count):
    config = tf.ConfigProto()
    config.experimental.collective_group_leader = LEADER
    config.device_filters.append("/job:worker/task:%d" % task)
    server = tf.train.Server(cluster, job_name="worker", task_index=task, config=config)
    with tf.Graph().as_default(), tf.device("/job:worker/task:%d/device:CPU:0" % task):
        fed = tf.placeholder(tf.float32, [None])
        small = collective.all_reduce(fed, count, 1, 101, "Add", "Div")
        product = collective.all_reduce(
            tf.fill([2, 3], task + 1), count, 1, 102, "Mul", "Id", subdiv_offsets=[])
        large = collective.all_reduce(
            tf.constant(values(task, 70001)), count, 1, 103, "Add", "Id")
        gathered = collective.all_gather(tf.fill([2, 2], 10 * task), count, 1, 104)
        if task == 0:
            t = tf.constant([0.5, 7.0])
            handed = collective.broadcast_send(t, t.shape, t.dtype, count, 1, 105)
        else:
            handed = collective.broadcast_recv([2], tf.float32, count, 1, 105)
        with tf.Session(server.target, config=config) as session:
            for step in range(3):
                say(session.run(small, {fed: [task + step, 1.0]}).tolist())
            say(session.run(product).tolist())
            found = session.run(large)
            say([float(found.sum()), float(found[-1])])
            say(session.run(gathered).tolist())
            say(session.run(handed).tolist())
            say(session.run([small, gathered], {fed: [task, 0.0]})[0].tolist())
    return server
"""
THEIRS = (
    """
import os, sys, json
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import tensorflow
from tensorflow.python.ops import collective_ops
tf = tensorflow.compat.v1
say = lambda line: print(line, flush=True)
"""
    + WORK
    + """
server = work(tf, collective_ops, {"worker": json.loads(sys.argv[1])}, int(sys.argv[2]),
              int(sys.argv[3]))
say("done")
server.join()
"""
)


def ours(addresses: list[str], task: int, said: list[Any]) -> Any:
    """The part of one of our workers, in this process; its server."""
    names: dict[str, Any] = {"say": said.append}
    exec(WORK, names)
    return names["work"](tf, collective, {"worker": addresses}, task, len(addresses))


def wanted(count: int) -> list[Any]:
    """What every member is to find."""
    tasks = range(count)
    total = sum(np.random.RandomState(task).randn(70001).astype(np.float32) for task in tasks)
    assert isinstance(total, np.ndarray)
    return [
        *([sum(task + step for task in tasks) / count, 1.0] for step in range(3)),
        [[float(np.prod(np.arange(count) + 1))] * 3] * 2,
        [float(total.sum()), float(total[-1])],
        [[10 * task] * 2 for task in tasks for _ in range(2)],
        [0.5, 7.0],
        [sum(tasks) / count, 0.0],
    ]


@pytest.mark.parametrize(("count", "theirs"), [(2, [1]), (2, [0]), (3, [1]), (3, [0, 2])], ids=str)
def test_groups_of_both(count, theirs):
    addresses = [f"localhost:{port}" for port in free_ports(count)]
    said: list[list[Any]] = [[] for _ in range(count)]
    servers = []
    with ExitStack() as stack:
        running = {}
        for task in theirs:
            arguments = json.dumps(addresses), str(task), str(count)
            running[task] = stack.enter_context(program(THEIRS, *arguments))
        threads = [
            threading.Thread(
                target=lambda task=task: servers.append(ours(addresses, task, said[task])),
                daemon=True,
            )
            for task in range(count)
            if task not in theirs
        ]
        for thread in threads:
            thread.start()
        for task, process in running.items():
            assert process.stdout is not None
            said[task] += map(json.loads, iter(process.stdout.readline, "done\n"))
        for thread in threads:
            thread.join(60)
            assert not thread.is_alive()
        for server in servers:
            server._stop()
    for found in said:
        for one, expected in zip(found, wanted(count), strict=True):
            np.testing.assert_allclose(one, expected, rtol=1e-4, atol=1e-4)
