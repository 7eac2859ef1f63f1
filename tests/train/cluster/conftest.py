# SPDX-License-Identifier: Apache-2.0
"""Clusters of this process: every task a server of its own, which speak over real connections."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import ExitStack
from types import SimpleNamespace

import pytest

import numbaflow as tf


def free_ports(count: int) -> list[int]:
    """Ports that nobody listens at."""
    with ExitStack() as stack:
        found = [stack.enter_context(socket.socket()) for _ in range(count)]
        for one in found:
            one.bind(("localhost", 0))
        return [one.getsockname()[1] for one in found]


@pytest.fixture
def cluster() -> Iterator[SimpleNamespace]:
    """A parameter server and two workers: the ClusterSpec and the servers by job."""
    ports = [f"localhost:{port}" for port in free_ports(3)]
    spec = tf.train.ClusterSpec({"ps": ports[:1], "worker": ports[1:]})
    servers = [
        tf.train.Server(spec, job_name=job, task_index=task)
        for job, task in (("ps", 0), ("worker", 0), ("worker", 1))
    ]
    with tf.Graph().as_default():
        yield SimpleNamespace(spec=spec, ps=servers[0], workers=servers[1:])
    for server in servers:
        server._stop()
