# SPDX-License-Identifier: Apache-2.0
"""`RecordInput`: every record once an epoch, in an order that a seed determines."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import numbaflow as tf
from numbaflow.engine import settings
from numbaflow.ops.queues.record_input import RecordInput

pytestmark = pytest.mark.programs


@pytest.fixture(autouse=True)
def interpreted() -> Iterator[None]:
    with settings.override(jit="never"), tf.Graph().as_default():
        yield


def write(folder: Path, files: int, records: int, compression: str = "") -> None:
    for i in range(files):
        path, options = str(folder / f"part-{i}"), tf.python_io.TFRecordOptions(compression)
        with tf.python_io.TFRecordWriter(path, options) as writer:
            for j in range(records):
                writer.write(b"%d-%d" % (i, j))


def given(source: RecordInput, count: int) -> list[bytes]:
    """The records of so many runs of a new session."""
    node: Any = source.get_yield_op()
    with tf.Session() as sess:
        return [record for _ in range(count) for record in sess.run(node)]


@pytest.mark.parametrize("buffer_size", [1, 7, 1000])
def test_every_record_comes_once_an_epoch(tmp_path: Path, buffer_size: int) -> None:
    write(tmp_path, files=5, records=8)

    def source(seed: int) -> RecordInput:
        pattern = f"{tmp_path}/part-*"
        return RecordInput(pattern, 10, buffer_size, parallelism=2, shift_ratio=0.4, seed=seed)

    found = given(source(3), 12)
    epochs = [found[i : i + 40] for i in (0, 40, 80)]
    assert all(len(set(epoch)) == 40 for epoch in epochs)
    assert epochs[0] != epochs[1] != epochs[2]
    assert given(source(3), 12) == found
    assert given(source(4), 12) != found


def test_lists_of_batches(tmp_path: Path) -> None:
    write(tmp_path, files=2, records=3, compression="GZIP")
    kind = tf.python_io.TFRecordCompressionType.GZIP
    pattern = f"{tmp_path}/part-0,{tmp_path}/part-1"
    source = RecordInput(pattern, batch_size=3, batches=2, compression_type=kind)
    with tf.Session() as sess:
        found = sess.run(source.get_yield_op())
    assert [len(part) for part in found] == [3, 3]
    assert len({*found[0], *found[1]}) == 6


def test_what_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(tf.errors.NotFoundError, match="Found no files at .*nothing"):
        given(RecordInput(f"{tmp_path}/nothing*"), 1)
    write(tmp_path, files=1, records=0)
    with pytest.raises(tf.errors.OutOfRangeError, match="hold no records"):
        given(RecordInput(f"{tmp_path}/part-*"), 1)
    (tmp_path / "part-0").write_bytes(b"no record of any kind")
    with pytest.raises(tf.errors.DataLossError, match="corrupted record"):
        given(RecordInput(f"{tmp_path}/part-*"), 1)
