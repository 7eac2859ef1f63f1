# SPDX-License-Identifier: Apache-2.0
"""Files of records and of events: any records come back, damage is found, TensorFlow reads them."""

from __future__ import annotations

import os
import pathlib
import subprocess
import sys
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import numbaflow as tf
from numbaflow.io import events
from numbaflow.io.record import RecordReader

from ..drawing import examples

pytestmark = pytest.mark.pure

TENSORFLOW = os.environ.get("NUMBAFLOW_TF_PYTHON")


def write(path: pathlib.Path, records: list[bytes], options: Any = None) -> None:
    with tf.io.TFRecordWriter(str(path), options) as writer:
        for record in records:
            writer.write(record)


def read(path: pathlib.Path, options: Any = None) -> list[bytes]:
    return list(tf.io.tf_record_iterator(str(path), options))


@given(
    records=st.lists(st.binary(max_size=300), max_size=8),
    kind=st.sampled_from(["", "GZIP", "ZLIB"]),
    level=st.sampled_from([None, 0, 9]),
    flush=st.booleans(),
)
@examples(60)
def test_records_come_back(
    records: list[bytes], kind: str, level: int | None, flush: bool, tmp_path: pathlib.Path
) -> None:
    path = tmp_path / "records"
    options = tf.io.TFRecordOptions(kind, compression_level=level)
    with tf.io.TFRecordWriter(str(path), options) as writer:
        for record in records:
            writer.write(record)
            if flush:
                writer.flush()
    assert read(path, options) == records


def test_a_flush_is_seen_by_readers(tmp_path: pathlib.Path) -> None:
    writer = tf.io.TFRecordWriter(str(tmp_path / "records"))
    writer.write(b"one")
    writer.flush()
    assert read(tmp_path / "records") == [b"one"]
    writer.write(b"two")
    writer.close()
    assert read(tmp_path / "records") == [b"one", b"two"]
    with tf.io.TFRecordWriter(str(tmp_path / "other")) as other:
        with pytest.raises(TypeError, match="expected bytes, str found"):
            other.write("text")


@pytest.mark.parametrize("at", range(36))
def test_every_flipped_byte_is_found(at: int, tmp_path: pathlib.Path) -> None:
    path = tmp_path / "records"
    write(path, [b"a", b"bcd"])
    raw = bytearray(path.read_bytes())
    # 12 bytes in front of a record, its bytes, and 4 behind.
    assert len(raw) == 36
    raw[at] ^= 0x10
    path.write_bytes(bytes(raw))
    with pytest.raises(tf.errors.DataLossError, match="corrupted record at"):
        read(path)


def test_every_cut_is_found(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "records"
    write(path, [b"a", b"bcd"])
    raw = path.read_bytes()
    for length in range(len(raw)):
        path.write_bytes(raw[:length])
        if length in (0, 17):
            assert read(path) == [b"a"][: length // 17]
        else:
            with pytest.raises(tf.errors.DataLossError, match="truncated record at"):
                read(path)


def test_errors_of_files(tmp_path: pathlib.Path) -> None:
    with pytest.raises(tf.errors.NotFoundError, match="No such file"):
        read(tmp_path / "missing")
    with pytest.raises(tf.errors.NotFoundError, match="No such file"):
        tf.io.TFRecordWriter(str(tmp_path / "no" / "folder" / "records")).write(b"")
    with pytest.raises(ValueError, match="Not a valid compression_type"):
        tf.io.TFRecordOptions("LZ4")
    write(tmp_path / "plain", [b"x" * 50])
    with pytest.raises(tf.errors.DataLossError):
        read(tmp_path / "plain", tf.io.TFRecordOptions("ZLIB"))


@pytest.mark.programs
def test_events(tmp_path: pathlib.Path) -> None:
    with tf.Graph().as_default():
        tf.summary.scalar("loss", tf.constant(2.5))
        merged = tf.summary.merge_all()
        with tf.Session() as session:
            summary = session.run(merged)
        with tf.summary.FileWriter(str(tmp_path), tf.get_default_graph()) as writer:
            writer.add_summary(summary, 7)
            writer.add_session_log(tf.SessionLog(status=tf.SessionLog.START), 8)
    (path,) = tmp_path.iterdir()
    assert path.name.startswith("events.out.tfevents.")
    found = list(tf.train.summary_iterator(str(path)))
    assert [event.WhichOneof("what") for event in found] == [
        *("file_version", "graph_def", "meta_graph_def", "summary", "session_log")
    ]
    assert found[0].file_version == "brain.Event:2"
    assert found[3].step == 7
    assert [(v.tag, v.simple_value) for v in found[3].summary.value] == [("loss", 2.5)]


def test_an_event_writer_can_be_opened_again(tmp_path: pathlib.Path) -> None:
    writer = events.EventFileWriter(str(tmp_path))
    assert writer.get_logdir() == str(tmp_path)
    writer.add_event(tf.Event(step=1, wall_time=1.0))
    writer.close()
    # Files are named by the second.
    time.sleep(1.1)
    writer.reopen()
    writer.add_event(tf.Event(step=2, wall_time=2.0))
    writer.close()
    steps = [
        [event.step for event in tf.train.summary_iterator(str(path))]
        for path in sorted(tmp_path.iterdir(), key=lambda p: p.stat().st_mtime_ns)
    ]
    assert sorted(step for part in steps for step in part if step) == [1, 2]


READS = """
import sys
import tensorflow.compat.v1 as tf
for kind in ("", "GZIP", "ZLIB"):
    options = tf.io.TFRecordOptions(kind)
    print(list(tf.io.tf_record_iterator(sys.argv[1] + "/ours" + kind, options)))
    with tf.io.TFRecordWriter(sys.argv[1] + "/theirs" + kind, options) as writer:
        for record in (b"x", b"", b"y" * 5):
            writer.write(record)
"""


@pytest.mark.tf
@pytest.mark.skipif(not TENSORFLOW, reason="NUMBAFLOW_TF_PYTHON names no Python with TensorFlow")
def test_tensorflow_reads_what_we_write(tmp_path: pathlib.Path) -> None:
    loaded = set(sys.modules)
    records = [b"one", b"", bytes(range(256)) * 9]
    kinds = ("", "GZIP", "ZLIB")
    for kind in kinds:
        write(tmp_path / f"ours{kind}", records, tf.io.TFRecordOptions(kind))
    assert TENSORFLOW is not None
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
    command = [TENSORFLOW, "-c", READS, str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    assert done.stdout.splitlines() == [repr(records)] * 3
    for kind in kinds:
        assert read(tmp_path / f"theirs{kind}", tf.io.TFRecordOptions(kind)) == [
            b"x",
            b"",
            b"yyyyy",
        ]
    # (Another test may have given this package that name.)
    assert "tensorflow" not in set(sys.modules) - loaded


@pytest.mark.parametrize("compression", ["", "GZIP"])
def test_records_are_read_some_at_a_time(tmp_path, compression):
    path, options = str(tmp_path / "some"), tf.python_io.TFRecordOptions(compression)
    records = [bytes([i]) * (i * 37 % 90) for i in range(200)]
    with tf.python_io.TFRecordWriter(path, options) as writer:
        for record in records:
            writer.write(record)
    with RecordReader(path, compression) as reader:
        found, offsets = [], {}
        while some := reader.read_some(7):
            assert len(some) <= 7
            found += some
            offsets[reader.offset] = len(found)
            if len(found) % 3 == 0 and (one := reader.read()) is not None:
                found.append(one)
    assert found == records
    for offset, count in list(offsets.items())[::9]:
        with RecordReader(path, compression, offset) as reader:
            assert reader.read_some(3) == records[count : count + 3]


@pytest.mark.cpu
def test_records_before_a_damaged_one_come_first(tmp_path):
    path = tmp_path / "damaged"
    with tf.python_io.TFRecordWriter(str(path)) as writer:
        for i in range(9):
            writer.write(b"record %d" % i)
    data = bytearray(path.read_bytes())
    data[5 * 24 + 14] ^= 1
    path.write_bytes(data)
    with RecordReader(str(path)) as reader:
        assert list(reader.read_some(100)) == [b"record %d" % i for i in range(5)]
        with pytest.raises(tf.errors.DataLossError, match="corrupted record at 132"):
            reader.read_some(100)
