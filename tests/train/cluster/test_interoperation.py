# SPDX-License-Identifier: Apache-2.0
"""Clusters of which one task is TensorFlow 1.15's own, in a process of its own."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

import numbaflow as tf

from .conftest import free_ports
from .flow_models import NAMES, TEXT

PYTHON = os.environ.get("NUMBAFLOW_TF115_PYTHON")
pytestmark = [
    pytest.mark.tf,
    pytest.mark.skipif(
        not PYTHON, reason="NUMBAFLOW_TF115_PYTHON names no Python that has TensorFlow 1.15"
    ),
]

# What every program here begins with, and its graph: a model on the task "ps", used by "worker".
BEGIN = """
import sys, os
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import tensorflow
tf = tensorflow.compat.v1
cluster = {"ps": [sys.argv[1]], "worker": [sys.argv[2]]}
"""
SERVE = (
    BEGIN
    + """
server = tf.train.Server(cluster, job_name=sys.argv[3], task_index=0)
print("ready", flush=True)
server.join()
"""
)
MODEL = """
with tf.device("/job:ps"):
    v = tf.Variable([1.0, 2.0, 3.0], name="v")
    w = tf.get_variable("w", [3], use_resource=True, initializer=tf.ones_initializer())
with tf.device("/job:worker"):
    x = tf.placeholder(tf.float32, [3], name="x")
    loss = tf.reduce_sum(tf.square(x * v + w), name="loss")
train = tf.train.GradientDescentOptimizer(0.01).minimize(loss)

def losses(target):
    with tf.Session(target) as session:
        session.run(tf.global_variables_initializer())
        return [float(session.run([loss, train], {x: [1, 2, 3]})[0]) for _ in range(4)]
"""
# As TensorFlow 1.15 gives them in a cluster of its own.
LOSSES = [129.0, 87.9364013671875, 60.759891510009766, 42.63145446777344]


@contextmanager
def program(text: str, *arguments: str) -> Iterator[subprocess.Popen[str]]:
    """A program of TensorFlow 1.15 that runs within the block."""
    assert PYTHON is not None
    running = subprocess.Popen(
        [PYTHON, "-W", "ignore", "-c", text, *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    try:
        yield running
    finally:
        running.kill()
        running.communicate()


def losses(target: str) -> list[float]:
    """What our client makes of the model."""
    names = {"tf": tf}
    with tf.Graph().as_default():
        exec(MODEL, names)
        found: list[float] = names["losses"](target)
    return found


@pytest.mark.parametrize("theirs", ["ps", "worker"])
def test_a_cluster_of_both_trains_to_the_same_losses(theirs):
    addresses = [f"localhost:{port}" for port in free_ports(2)]
    ours = "worker" if theirs == "ps" else "ps"
    cluster = {"ps": addresses[:1], "worker": addresses[1:]}
    with program(SERVE, *addresses, theirs) as running:
        assert running.stdout is not None and running.stdout.readline() == "ready\n"
        server = tf.train.Server(cluster, job_name=ours, task_index=0)
        # Whoever is asked is the master.
        for address in addresses:
            assert losses(f"grpc://{address}") == pytest.approx(LOSSES, rel=1e-6)
        server._stop()


def test_its_client_drives_our_servers():
    addresses = [f"localhost:{port}" for port in free_ports(2)]
    cluster = {"ps": addresses[:1], "worker": addresses[1:]}
    servers = [tf.train.Server(cluster, job_name=job, task_index=0) for job in cluster]
    text = (
        BEGIN
        + MODEL
        + """
print(losses("grpc://" + sys.argv[2]))
bad = tf.reshape(v, tf.cast(tf.reduce_sum(v), tf.int32)[None] + [7], name="bad")
with tf.Session("grpc://" + sys.argv[2]) as session:
    try:
        session.run(bad)
    except tf.errors.InvalidArgumentError as error:
        print(error.op.name, "requested shape" in error.message)
"""
    )
    with program(text, *addresses) as running:
        out, _ = running.communicate(timeout=60)
    for server in servers:
        server._stop()
    numbers, error = out.splitlines()
    assert [float(one) for one in numbers.strip("[]").split(",")] == pytest.approx(LOSSES, rel=1e-6)
    assert error == "bad True"


@pytest.mark.parametrize("theirs", ["ps", "worker"])
def test_conditionals_and_loops_span_tasks_of_both(theirs):
    addresses = [f"localhost:{port}" for port in free_ports(2)]
    ours = "worker" if theirs == "ps" else "ps"
    cluster = {"ps": addresses[:1], "worker": addresses[1:]}
    model = {"tf": tf}
    exec(TEXT, model)
    with program(SERVE, *addresses, theirs) as running:
        assert running.stdout is not None and running.stdout.readline() == "ready\n"
        server = tf.train.Server(cluster, job_name=ours, task_index=0)
        for name in NAMES:
            wanted = model["values"](name, "")
            for address in addresses:
                found = model["values"](name, f"grpc://{address}")
                for one, other in zip(found, wanted, strict=True):
                    assert one == pytest.approx(other, rel=1e-3, abs=1e-4), (name, address)
        server._stop()


def test_its_client_has_our_servers_run_collectives():
    addresses = [f"localhost:{port}" for port in free_ports(2)]
    cluster = {"ps": addresses[:1], "worker": addresses[1:]}
    servers = [tf.train.Server(cluster, job_name=job, task_index=0) for job in cluster]
    text = (
        BEGIN
        + """
from tensorflow.python.ops import collective_ops
reduced = []
for number, job in enumerate(cluster):
    with tf.device("/job:" + job):
        own = tf.constant([1.0, 2.0]) * (number + 1)
        reduced.append(collective_ops.all_reduce(own, 2, 1, 1, "Add", "Div"))
with tf.Session("grpc://" + sys.argv[2]) as session:
    print([one.tolist() for one in session.run(reduced)])
"""
    )
    with program(text, *addresses) as running:
        out, _ = running.communicate(timeout=60)
    for server in servers:
        server._stop()
    assert out == "[[1.5, 3.0], [1.5, 3.0]]\n"
