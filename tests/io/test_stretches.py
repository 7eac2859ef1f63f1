# SPDX-License-Identifier: Apache-2.0
"""Tensors are checked and read together: sums of checksums, pieces, threads, files cut short."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from numbaflow.engine import stopping
from numbaflow.engine.memory import ALIGNMENT, aligned_arrays
from numbaflow.engine.session.deferred_assign import BulkAssign, EagerArray
from numbaflow.engine.session.state import VariableStorage
from numbaflow.engine.types.shape import TensorShape
from numbaflow.io import bulk_read, crc
from numbaflow.io.atomic_file import Output
from numbaflow.io.positioned_file import DataFile

tf = pytest.importorskip("numbaflow")

pytestmark = pytest.mark.pure


@given(st.binary(max_size=300), st.binary(max_size=300))
def test_a_checksum_follows_from_those_of_the_parts(first: bytes, second: bytes) -> None:
    shifted = crc.shifted(np.array([crc.value(first)], np.uint32), np.array([len(second)]))
    assert int(shifted[0]) ^ crc.value(second) == crc.value(first + second)


def test_checksums_of_arrays_are_those_of_their_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    data = np.arange(1000, dtype=np.uint8)
    expected = crc.value(data.tobytes())
    assert crc.of_array(data) == expected
    monkeypatch.setattr(crc, "_native", lambda: None)
    assert crc.of_array(data) == expected


def _file(folder: Path, sizes: list[int]) -> tuple[DataFile, np.ndarray, list[bulk_read.Check]]:
    content = np.random.default_rng(0).integers(0, 256, sum(sizes), np.uint8)
    path = folder / "data"
    content.tofile(path)
    file = DataFile(str(path))
    starts = np.concatenate([[0], np.cumsum(sizes)[:-1]]).tolist()
    checks = [
        (file, start, size, crc.value(content[start : start + size].tobytes()))
        for start, size in zip(starts, sizes)
    ]
    return file, content, checks


SIZES = [3, 1, 700_001, 64, 5_000_000, 7, 3_000_000, 12]


def test_nothing_is_damaged(tmp_path: Path) -> None:
    _, _, checks = _file(tmp_path, SIZES)
    assert bulk_read.damaged(checks) == []
    assert bulk_read.damaged(checks[::2]) == []
    assert bulk_read.damaged([]) == []


@pytest.mark.parametrize("place", [0, 3, 600_000, 5_000_000, sum(SIZES) - 1])
def test_damage_is_found_where_it_is(place: int, tmp_path: Path) -> None:
    _, content, checks = _file(tmp_path, SIZES)
    content[place] ^= 4
    content.tofile(tmp_path / "data")
    damaged = next(i for i, (_, at, size, _) in enumerate(checks) if at <= place < at + size)
    for chosen in (checks, checks[::2], checks[1::2], [checks[damaged]]):
        found = [chosen[i] for i in bulk_read.damaged(chosen)]
        assert (checks[damaged] in found) == (checks[damaged] in chosen)


def test_stretches_end_where_tensors_do_not_follow(monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = object(), object()
    monkeypatch.setattr(bulk_read, "_STRETCH", 10)
    checks = [(first, 0, 4, 0), (first, 4, 6, 0), (first, 10, 1, 0), (first, 12, 1, 0)]
    begins = list(bulk_read._begins([*checks, (second, 13, 1, 0)]))  # type: ignore[list-item]
    assert begins == [True, False, True, True, True]


@pytest.mark.parametrize("is_plain", [True, False])
def test_arrays_are_filled(is_plain: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if not is_plain:  # as where the system cannot read at a place
        monkeypatch.delattr("os.preadv")
    file, content, checks = _file(tmp_path, SIZES)
    arrays = [np.empty(size, np.uint8) for size in SIZES]
    targets = [(file, at, array) for (_, at, _, _), array in zip(checks, arrays)]
    bulk_read.read(targets[::-1])
    np.testing.assert_array_equal(np.concatenate(arrays), content)


def test_files_that_end_too_soon_are_noticed(tmp_path: Path) -> None:
    file, content, checks = _file(tmp_path, SIZES)
    content[:-5].tofile(tmp_path / "data")
    with pytest.raises(bulk_read.CutShortError):
        bulk_read.damaged(checks)
    with pytest.raises(bulk_read.CutShortError):
        bulk_read.read([(file, checks[-1][1], np.empty(12, np.uint8))])
    bulk_read.read([(file, 0, np.empty(3, np.uint8))])


def test_arrays_that_share_a_block_are_aligned_and_apart() -> None:
    float32 = np.dtype(np.float32)
    kinds = [((3,), float32), ((), float32), ((1 << 22,), float32), ((0, 4), float32)]
    arrays = aligned_arrays([*kinds, ((1 << 20,), float32)] * 3)
    for number, array in enumerate(arrays):
        assert array.ctypes.data % ALIGNMENT == 0
        array[...] = number
    assert all((array == number).all() for number, array in enumerate(arrays))


def test_cells_take_nothing_if_a_run_fails() -> None:
    cells = [VariableStorage(name, tf.float32, TensorShape([2])) for name in "abc"]
    cells[0].assign(np.zeros(2, np.float32))
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"rhs shape= \[3\]"), BulkAssign():
        cells[0].assign(np.ones(2, np.float32))
        cells[1].assign(EagerArray(np.ones(2, np.float32)))
        cells[2].assign(np.ones(3, np.float32))
    assert cells[0].read().tolist() == [0.0, 0.0]
    assert not cells[1].is_initialized
    with BulkAssign():
        cells[0].assign(np.ones(2, np.float32))
        cells[1].assign(np.array([5.0, 6.0], np.float32))
        assert cells[0].read().tolist() == [0.0, 0.0]
    assert cells[0].read().tolist() == [1.0, 1.0]
    assert cells[1].read().tolist() == [5.0, 6.0]


@pytest.mark.parametrize("who", ["caller", "helper"])
def test_what_fails_in_one_thread_ends_the_work_of_all(
    who: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ctrl-C does not wait until a large file is read, and nobody reads on behind its back."""
    monkeypatch.setattr(bulk_read, "_ALONE", 1)
    monkeypatch.setattr("os.sched_getaffinity", lambda _: range(4), raising=False)
    caller, done, threads = threading.current_thread(), [], set()
    together = threading.Barrier(2)

    def work(waiting: Iterator[int]) -> None:
        for number in waiting:
            if threading.current_thread() not in threads:
                threads.add(threading.current_thread())
                together.wait(60)
            done.append(number)
            if (threading.current_thread() is caller) == (who == "caller"):
                raise KeyboardInterrupt
            time.sleep(0.001)

    with pytest.raises(KeyboardInterrupt):
        bulk_read._shared(range(100_000), 1, work)
    assert len(done) < 100_000
    assert not any(thread.is_alive() for thread in threads - {caller})


def test_a_run_that_is_given_up_reads_no_further() -> None:
    done: list[int] = []
    with tf.Session() as session, stopping.within(session):

        def work(waiting: Iterator[int]) -> None:
            for number in waiting:
                done.append(number)
                session.cancel()

        with pytest.raises(tf.errors.CancelledError):
            bulk_read._shared(range(10), 1, work)
    assert done == [0]


@pytest.mark.cpu
def test_a_run_that_is_given_up_writes_no_further(tmp_path: Path) -> None:
    with tf.Session() as session:
        v = tf.Variable(tf.zeros([1 << 20]), name="v")
        session.run(v.initializer)
        with stopping.within(session):
            output = Output(str(tmp_path / "file"))
            session.cancel()
            with pytest.raises(tf.errors.CancelledError):
                output.write(b"some")
            output.discard()
    assert not list(tmp_path.iterdir())
