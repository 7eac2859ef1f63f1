# SPDX-License-Identifier: Apache-2.0
"""Event files: nothing is lost, nobody waits, and a disk that is full is no end of the program."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

import numbaflow as tf
from numbaflow.io import event_file, event_queue, events

pytestmark = pytest.mark.pure


def steps(path: Path) -> list[int]:
    """The steps of a file's events but the first."""
    return [event.step for event in tf.train.summary_iterator(str(path))][1:]


def only(folder: Path) -> Path:
    (path,) = folder.iterdir()
    return path


def until(condition: Any) -> None:
    """Waits for what a thread does soon."""
    end = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.01)


def test_events_of_many_threads_are_all_there(tmp_path: Path) -> None:
    with tf.summary.FileWriter(str(tmp_path)) as writer:

        def work(first: int) -> None:
            for step in range(first, first + 200):
                writer.add_event(tf.Event(step=step))

        threads = [threading.Thread(target=work, args=(n * 200,)) for n in range(5)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    found = steps(only(tmp_path))
    assert sorted(found) == list(range(1000))
    for first in range(0, 1000, 200):
        assert [step for step in found if first <= step < first + 200] == list(
            range(first, first + 200)
        )


def test_events_are_flushed_by_time_though_no_other_comes(tmp_path: Path) -> None:
    writer = events.EventFileWriter(str(tmp_path), flush_secs=0.2)
    writer.add_event(tf.Event(step=1))
    until(lambda: list(tmp_path.iterdir()) and steps(only(tmp_path)) == [1])
    writer.add_event(tf.Event(step=2))
    until(lambda: steps(only(tmp_path)) == [1, 2])
    writer.close()


def test_a_file_of_the_same_second_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(event_file.time, "time", lambda: 1_700_000_000.5)
    writers = [events.EventFileWriter(str(tmp_path), filename_suffix=".mine") for _ in range(3)]
    for number, writer in enumerate(writers):
        writer.add_event(tf.Event(step=number))
        writer.close()
    paths = sorted(tmp_path.iterdir())
    assert [steps(path) for path in paths] == [[0], [1], [2]]
    assert [path.name[:31] for path in paths] == [
        f"events.out.tfevents.170000000{n}." for n in range(3)
    ]
    assert all(path.name.endswith(".mine") for path in paths)


class FullDisk:
    """Takes some bytes and then refuses all, until there is room again."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.room: int | None = None
        self.write = event_file._write_all
        monkeypatch.setattr(event_file, "_write_all", self)

    def __call__(self, file: Any, data: bytes) -> None:
        if self.room is not None:
            self.write(file, data[: self.room])
            raise OSError(28, "No space left on device")
        self.write(file, data)


def test_a_full_disk_is_survived(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    disk = FullDisk(monkeypatch)
    monkeypatch.setattr(event_queue, "_PAUSE", 0.05)
    writer = tf.summary.FileWriter(str(tmp_path), flush_secs=0.05)
    writer.add_event(tf.Event(step=1))
    writer.flush()
    disk.room = 7
    for step in range(2, 50):
        writer.add_event(tf.Event(step=step))
    with pytest.raises(tf.errors.ResourceExhaustedError) as caught:
        writer.flush()
    assert "No space left on device (48 events wait for the next flush)" in caught.value.message
    assert "Make room there" in caught.value.message
    # What came of the refused piece is no part of the file.
    assert steps(only(tmp_path)) == [1]
    disk.room = None
    until(lambda: steps(only(tmp_path)) == list(range(1, 50)))
    writer.add_event(tf.Event(step=50))
    writer.close()
    assert steps(only(tmp_path)) == list(range(1, 51))


def test_a_disk_that_stays_full_loses_events_with_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    writer = events.EventFileWriter(str(tmp_path))
    writer.add_event(tf.Event(step=1))
    writer.flush()
    FullDisk(monkeypatch).room = 0
    monkeypatch.setattr(event_queue, "MOST", 1000)
    for _ in range(3):
        for _ in range(20):
            writer.add_event(tf.Event(step=2))
        with pytest.raises(tf.errors.ResourceExhaustedError):
            writer.flush()
    with pytest.raises(tf.errors.ResourceExhaustedError, match="60 events are lost"):
        writer.close()
    assert steps(only(tmp_path)) == [1]
    writer.close()  # Once more changes nothing.


def test_nobody_waits_for_a_slow_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    writer = events.EventFileWriter(str(tmp_path), max_queue=1)
    writer.add_event(tf.Event(step=0))
    writer.flush()
    write, may_write = event_file._write_all, threading.Event()

    def slow(file: Any, data: bytes) -> None:
        assert may_write.wait(20)
        write(file, data)

    monkeypatch.setattr(event_file, "_write_all", slow)
    for step in range(1, 3000):
        writer.add_event(tf.Event(step=step))
    may_write.set()
    writer.close()
    assert steps(only(tmp_path)) == list(range(3000))


def test_an_event_file_that_is_something_else(tmp_path: Path) -> None:
    path = tmp_path / "records"
    with tf.python_io.TFRecordWriter(str(path)) as writer:
        writer.write(b"\xff\xff")
    with pytest.raises(tf.errors.DataLossError, match="record 0 of .* is no Event"):
        list(tf.train.summary_iterator(str(path)))


PROGRAM = """
import os, signal, sys, threading
import numbaflow as tf
writer = tf.summary.FileWriter(sys.argv[1])
for step in range(5000):
    writer.add_event(tf.Event(step=step))
if sys.argv[2] == "kill":
    writer.flush()
    def more(step=5000):
        while True:
            writer.add_event(tf.Event(step=step, file_version="x" * 300))
            step += 1
    threading.Thread(target=more, daemon=True).start()
    print("ready", flush=True)
    threading.Event().wait()
"""


@pytest.mark.process
def test_the_end_of_a_program_loses_nothing(tmp_path: Path) -> None:
    command = [sys.executable, "-c", PROGRAM, str(tmp_path), "end"]
    subprocess.run(command, check=True, timeout=120)
    assert steps(only(tmp_path)) == list(range(5000))


@pytest.mark.process
def test_the_file_of_a_killed_program_is_readable(tmp_path: Path) -> None:
    command = [sys.executable, "-c", PROGRAM, str(tmp_path), "kill"]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"
        size = only(tmp_path).stat().st_size
        until(lambda: only(tmp_path).stat().st_size > size + 10**6)
        os.kill(process.pid, signal.SIGKILL)
    found = []
    # (The system may have been in the middle of a record.)
    with suppress(tf.errors.DataLossError):
        for event in tf.train.summary_iterator(str(only(tmp_path))):
            found.append(event.step)
    found = found[1:]
    assert len(found) > 5000
    assert found == list(range(len(found)))
