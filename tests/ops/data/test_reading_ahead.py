# SPDX-License-Identifier: Apache-2.0
"""Long files are read ahead in a thread: the same elements, errors and positions as without it."""

from __future__ import annotations

import gc
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import numbaflow as tf
from numbaflow.engine import settings
from numbaflow.ops.data.runtime import reading

from .draining import all_of

pytestmark = pytest.mark.programs

COUNT = 300
TEXTS = [b"%d " % i * (i % 7 + 1) for i in range(COUNT)]


@pytest.fixture(autouse=True)
def short_files_are_long(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Files are read ahead from their tenth piece or so on, in blocks of thirteen."""
    monkeypatch.setattr(reading, "_SHORT", 100)
    monkeypatch.setattr(reading, "_PIECES", 13)
    monkeypatch.setattr(reading.os, "cpu_count", lambda: 2)
    with tf.Graph().as_default(), settings.override(jit="never"):
        yield


def written(path: Path, compression: str = "") -> str:
    with tf.python_io.TFRecordWriter(str(path), compression) as writer:
        for text in TEXTS:
            writer.write(text)
    return str(path)


def datasets(folder: Path) -> dict[str, Any]:
    lines = folder / "lines"
    lines.write_bytes(b"\n".join(TEXTS))
    data = tf.data
    return {
        "lines": data.TextLineDataset(str(lines)),
        "records": data.TFRecordDataset(written(folder / "plain")),
        "compressed": data.TFRecordDataset(written(folder / "gzip", "GZIP"), "GZIP"),
    }


def readers() -> int:
    return sum(thread.name == "numbaflow-data" for thread in threading.enumerate())


def all_end(count: int) -> bool:
    """Whether all but so many threads that read end within a time."""
    end = time.monotonic() + 10
    while readers() > count and time.monotonic() < end:
        time.sleep(0.01)
    return readers() == count


@pytest.mark.parametrize("kind", ["lines", "records", "compressed"])
def test_elements_come_in_their_order_and_the_thread_ends(tmp_path: Path, kind: str) -> None:
    all_end(0)  # those of other tests
    before = readers()
    dataset = datasets(tmp_path)[kind]
    iterator = tf.data.make_initializable_iterator(dataset.concatenate(dataset))
    element = iterator.get_next()
    with tf.Session() as session:
        session.run(iterator.initializer)
        first = [session.run(element) for _ in range(50)]
        assert readers() == before + 1
        assert first + all_of(session, element) == TEXTS * 2
        assert all_end(before)
        session.run(iterator.initializer)
        assert [session.run(element) for _ in range(50)] == TEXTS[:50]
        session.run(iterator.initializer)
        assert session.run(element) == TEXTS[0]
        assert all_end(before)
        all_of(session, element)


@pytest.mark.parametrize("kind", ["lines", "records", "compressed"])
@pytest.mark.parametrize("count", [0, 5, 40, 53, 200, COUNT])
def test_a_position_within_what_was_read_ahead_is_kept(
    tmp_path: Path, kind: str, count: int
) -> None:
    iterator = tf.data.make_initializable_iterator(datasets(tmp_path)[kind].batch(1))
    element = iterator.get_next()[0]
    saver = tf.train.Saver([tf.data.experimental.make_saveable_from_iterator(iterator)])
    with tf.Session() as session:
        session.run(iterator.initializer)
        assert [session.run(element) for _ in range(count)] == TEXTS[:count]
        path = saver.save(session, str(tmp_path / "position"))
        assert all_of(session, element) == TEXTS[count:]
        session.run(iterator.initializer)
        for _ in range(2):  # from a new stream, and from one that reads ahead
            saver.restore(session, path)
            assert [session.run(element) for _ in range(min(60, COUNT - count))] == TEXTS[
                count : count + 60
            ]
        assert all_of(session, element) == TEXTS[count + 60 :]


def test_what_is_damaged_is_told_at_its_place(tmp_path: Path) -> None:
    path = written(tmp_path / "records")
    place = sum(len(text) + 16 for text in TEXTS[:200])
    data = bytearray(Path(path).read_bytes())
    data[place + 13] ^= 1
    Path(path).write_bytes(data)
    files = tf.data.TFRecordDataset([path, written(tmp_path / "whole")])
    element = tf.data.make_one_shot_iterator(files).get_next()
    with tf.Session() as session:
        assert [session.run(element) for _ in range(200)] == TEXTS[:200]
        with pytest.raises(tf.errors.DataLossError, match=f"corrupted record at {place + 12}"):
            session.run(element)
        assert all_of(session, element) == TEXTS


def test_a_session_that_goes_ends_the_thread(tmp_path: Path) -> None:
    before = readers()
    element = tf.data.make_one_shot_iterator(datasets(tmp_path)["records"]).get_next()
    session = tf.Session()
    assert [session.run(element) for _ in range(50)] == TEXTS[:50]
    assert readers() == before + 1
    session.close()
    del session
    gc.collect()
    assert all_end(before)


def test_options_for_one_thread_make_none(tmp_path: Path) -> None:
    before = readers()
    options = tf.data.Options()
    options.experimental_threading.max_intra_op_parallelism = 1
    dataset = datasets(tmp_path)["records"].with_options(options)
    element = tf.data.make_one_shot_iterator(dataset).get_next()
    with tf.Session() as session:
        assert all_of(session, element) == TEXTS
        assert readers() == before
