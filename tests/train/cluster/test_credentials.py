# SPDX-License-Identifier: Apache-2.0
"""Clusters whose tasks show each other a token or certificates."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

import numbaflow as tf
from numbaflow.engine import settings
from numbaflow.train.cluster.credentials import credentials

from .conftest import free_ports

pytestmark = pytest.mark.cpu


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a token."""
    (tmp_path / "token").write_text("abc\n")
    return tmp_path


def served(folder: Path) -> tuple[list, str]:
    """Two tasks with what is in a folder, and the address of the second."""
    ports = [f"localhost:{port}" for port in free_ports(2)]
    with settings.override(cluster=str(folder)):
        return [tf.train.Server({"job": ports}, "job", i) for i in range(2)], ports[1]


def computed(address: str) -> float:
    """A client of its own, rather than one in the server's process."""
    with tf.Graph().as_default():
        with tf.device("/job:job/task:0"):
            x = tf.constant(2.0)
        with tf.device("/job:job/task:1"):
            y = x * 3
        config = tf.ConfigProto(operation_timeout_in_ms=10000)
        with tf.Session("grpc://" + address.replace("localhost", "127.0.0.1"), config=config) as s:
            return float(s.run(y))


def test_clients_show_the_token(folder: Path) -> None:
    servers, address = served(folder)
    try:
        with settings.override(cluster=str(folder)):
            assert computed(address) == 6
        with pytest.raises(tf.errors.UnauthenticatedError, match="NUMBAFLOW_CLUSTER"):
            computed(address)
        (folder / "token").write_text("abd")
        with settings.override(cluster=str(folder)):
            with pytest.raises(tf.errors.UnauthenticatedError):
                computed(address)
    finally:
        for server in servers:
            server._stop()


@pytest.mark.process
@pytest.mark.skipif(shutil.which("openssl") is None, reason="openssl is not installed")
def test_connections_are_encrypted(folder: Path) -> None:
    key, own = folder / "key.pem", folder / "cert.pem"
    names = "subjectAltName=DNS:localhost,IP:127.0.0.1"
    subprocess.run(
        [
            *("openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2"),
            *("-subj", "/CN=cluster", "-addext", names, "-keyout", str(key), "-out", str(own)),
        ],
        check=True,
        capture_output=True,
    )
    shutil.copy(own, folder / "ca.pem")
    servers, address = served(folder)
    try:
        with settings.override(cluster=str(folder)):
            assert computed(address) == 6
        # Who speaks in the clear is not understood.
        config = tf.ConfigProto(operation_timeout_in_ms=500)
        target = "grpc://" + address.replace("localhost", "127.0.0.1")
        with pytest.raises(tf.errors.OpError), tf.Graph().as_default():
            one = tf.constant(1)
            tf.Session(target, config=config).run(one)
    finally:
        for server in servers:
            server._stop()


def test_folders_that_lack_something_are_refused(tmp_path: Path) -> None:
    assert credentials().token is None and credentials().shown() == ()
    with settings.override(cluster=str(tmp_path)):
        with pytest.raises(tf.errors.FailedPreconditionError, match="ca.pem, cert.pem, key.pem"):
            credentials()
        (tmp_path / "cert.pem").write_text("x")
        with pytest.raises(tf.errors.FailedPreconditionError, match="ca.pem, key.pem is missing"):
            credentials()
        (tmp_path / "cert.pem").unlink()
        (tmp_path / "token").write_text(" ")
        with pytest.raises(tf.errors.FailedPreconditionError, match="empty"):
            credentials()
