# SPDX-License-Identifier: Apache-2.0
"""Readers read ahead in a file: keys, ends of files and damage are where they were."""

from __future__ import annotations

from pathlib import Path

import pytest

import numbaflow as tf

pytestmark = pytest.mark.cpu


def written(path: Path, records: list[bytes]) -> str:
    with tf.python_io.TFRecordWriter(str(path)) as writer:
        for record in records:
            writer.write(record)
    return str(path)


def read_all(paths: list[str]) -> tuple[list[tuple[bytes, bytes]], Exception | None]:
    queue = tf.train.string_input_producer(paths, num_epochs=1, shuffle=False)
    reader = tf.TFRecordReader()
    both, closed = reader.read(queue), reader.reset()
    found: list[tuple[bytes, bytes]] = []
    with tf.Session() as session:
        session.run(tf.local_variables_initializer())
        threads = tf.train.start_queue_runners(session, coord := tf.train.Coordinator())
        try:
            while True:
                found.append(tuple(session.run(both)))
        except (tf.errors.OutOfRangeError, tf.errors.DataLossError) as error:
            caught = error
        session.run(closed)
        coord.request_stop()
        session.run(queue.close(cancel_pending_enqueues=True))
        coord.join(threads)
    return found, caught


def test_keys_are_offsets_through_files_of_any_length(tmp_path: Path) -> None:
    lengths = [0, 1, 2, 3, 200]
    records = [[b"%d" % i * (i % 7) for i in range(count)] for count in lengths]
    paths = [written(tmp_path / f"{i}", part) for i, part in enumerate(records)]
    expected = []
    for path, part in zip(paths, records):
        offset = 0
        for record in part:
            expected.append((b"%s:%d" % (path.encode(), offset), record))
            offset += len(record) + 16
    with tf.Graph().as_default():
        found, error = read_all(paths)
    assert found == expected
    assert isinstance(error, tf.errors.OutOfRangeError)


def test_records_before_a_damaged_one_come_first(tmp_path: Path) -> None:
    path = written(tmp_path / "a", [b"%03d" % i for i in range(50)])
    data = bytearray(Path(path).read_bytes())
    data[40 * 19 + 13] ^= 1
    Path(path).write_bytes(data)
    with tf.Graph().as_default():
        found, error = read_all([path])
    assert [record for _, record in found] == [b"%03d" % i for i in range(40)]
    assert isinstance(error, tf.errors.DataLossError)
