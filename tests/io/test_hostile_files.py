# SPDX-License-Identifier: Apache-2.0
"""Damaged graphs, models, checkpoints, records, Examples, events and archives: told, no worse."""

from __future__ import annotations

import socket
import struct
import subprocess
import sys
from pathlib import Path

import pytest

import numbaflow as tf
from numbaflow.io import crc

pytestmark = pytest.mark.cpu


@pytest.mark.parametrize("seed", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_damage_is_told_with_an_error_and_costs_little_memory(seed: int) -> None:
    """In a process of its own, whose address space is limited and whose death would be seen."""
    program = Path(__file__).with_name("hostile.py")
    done = subprocess.run(
        [sys.executable, "-W", "ignore", str(program), str(seed), "60"],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    assert done.stdout == ""


@pytest.mark.parametrize("length", [1 << 20, 1 << 34, 1 << 46, 1 << 62, (1 << 64) - 1])
def test_the_length_of_a_record_is_not_believed(length: int, tmp_path: Path) -> None:
    """Its checksum is right: whoever writes the file can see to that."""
    path = tmp_path / "records"
    header = struct.pack("<Q", length)
    path.write_bytes(header + struct.pack("<I", crc.masked(header)) + b"little")
    with pytest.raises(tf.errors.DataLossError):
        list(tf.python_io.tf_record_iterator(str(path)))


def test_large_records_are_read_whole(tmp_path: Path) -> None:
    path, record = str(tmp_path / "records"), bytes(range(256)) * 40_000
    with tf.python_io.TFRecordWriter(path) as writer:
        for content in (record, b"small", record[:-1]):
            writer.write(content)
    assert list(tf.python_io.tf_record_iterator(path)) == [record, b"small", record[:-1]]


def test_servers_answer_this_machine_alone() -> None:
    server = tf.train.Server.create_local_server()
    host, port = server.target.removeprefix("grpc://").split(":")
    socket.create_connection((host, int(port)), timeout=5).close()
    own = socket.gethostbyname(socket.gethostname())
    if own.startswith("127."):
        pytest.skip("this machine has no address but that of itself")
    with pytest.raises(OSError):
        socket.create_connection((own, int(port)), timeout=5).close()
