# SPDX-License-Identifier: Apache-2.0
"""MultiWorkerMirroredStrategy with our workers and TensorFlow 1.15's, in processes of their own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from itertools import takewhile
from typing import Any

import numpy as np
import pytest

from .conftest import free_ports
from .fault_tasks import DEADLINE
from .test_interoperation import program

pytestmark = [
    pytest.mark.tf,
    pytest.mark.skipif(
        not os.environ.get("NUMBAFLOW_TF115_PYTHON"),
        reason="NUMBAFLOW_TF115_PYTHON names no Python that has TensorFlow 1.15",
    ),
]

# The program of all workers: each prints its variables after each step.
TRAIN = """
import json, os, sys
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
os.environ["TF_CONFIG"] = sys.argv[1]
import numpy as np
import tensorflow.compat.v1 as tf

told = json.loads(sys.argv[1])
task = told["task"]["index"]
ring = tf.distribute.experimental.CollectiveCommunication.RING
strategy = tf.distribute.experimental.MultiWorkerMirroredStrategy(ring)
config = tf.ConfigProto(device_filters=["/job:worker/task:%d" % task])
config.experimental.collective_group_leader = "/job:worker/replica:0/task:0"
server = tf.train.Server(told["cluster"], job_name="worker", task_index=task, config=config)


def step():
    w = tf.get_variable("w", initializer=[1.0 + task, 2.0])
    b = tf.get_variable("b", initializer=0.5 + task)
    rows = tf.get_variable("rows", initializer=np.ones([4, 2], np.float32) * (task + 1))
    found = tf.gather(rows, [task, 2])
    loss = (task + 1) * tf.reduce_sum(tf.square(w - 3.0)) + tf.square(b - 1.0)
    loss += tf.reduce_sum(tf.square(found * b))
    optimizer = tf.train.MomentumOptimizer(0.05, 0.5)
    train = optimizer.minimize(loss, tf.train.get_or_create_global_step())
    return train, loss, w, b, rows


with strategy.scope():
    train, loss, *variables = strategy.experimental_run_v2(step)
    mean = strategy.reduce(tf.distribute.ReduceOp.MEAN, loss, axis=None)
    values = [strategy.experimental_local_results(v)[0] for v in variables]
    init = tf.global_variables_initializer()
    with tf.Session(server.target, config=config) as session:
        session.run(init)
        for _ in range(3):
            session.run(train)
            found = [np.asarray(v).tolist() for v in session.run(values)]
            print(json.dumps([float(session.run(mean)), *found]), flush=True)
print("done", flush=True)
server.join()
"""
OURS = "from numbaflow import alias\nalias.install()\n"


@contextmanager
def worker(is_ours: bool, told: str) -> Iterator[subprocess.Popen[str]]:
    """A worker, within the block."""
    if not is_ours:
        with program(TRAIN, told) as running:
            yield running
        return
    command = [sys.executable, "-c", OURS + TRAIN, told]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as running:
        yield running
        running.kill()


def results(are_ours: Sequence[bool]) -> list[list[Any]]:
    """What each of two workers prints."""
    cluster = {"worker": [f"localhost:{port}" for port in free_ports(2)]}
    found = []
    with ExitStack() as stack:
        running = []
        for i, is_ours in enumerate(are_ours):
            told = json.dumps({"cluster": cluster, "task": {"type": "worker", "index": i}})
            running.append(stack.enter_context(worker(is_ours, told)))
        # (Who waits for one that has failed waits without end.)
        timer = threading.Timer(DEADLINE, lambda: [process.kill() for process in running])
        timer.start()
        stack.callback(timer.cancel)
        for process in running:
            assert process.stdout is not None
            lines = takewhile(lambda line: line != "done\n", process.stdout)
            found.append([json.loads(line) for line in lines if line.startswith("[")])
    return found


@pytest.fixture(scope="module")
def theirs() -> list[list[Any]]:
    """What TensorFlow's workers find among themselves."""
    return results([False, False])


@pytest.mark.parametrize("are_ours", [(True, False), (False, True)], ids=["leads", "follows"])
def test_workers_of_both_train_together(are_ours, theirs):
    found = results(are_ours)
    for steps, wanted in zip(found, theirs, strict=True):
        assert len(steps) == len(wanted) == 3
        for step, other in zip(steps, wanted, strict=True):
            for value, expected in zip(step, other, strict=True):
                np.testing.assert_allclose(value, expected, rtol=1e-5, atol=1e-6)
