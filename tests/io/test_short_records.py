# SPDX-License-Identifier: Apache-2.0
"""Many short records read by a kernel, held against the same read one by one."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import numbaflow as tf
from numbaflow.engine import settings
from numbaflow.io import crc
from numbaflow.io.record import RecordReader
from numbaflow.jit import target

pytestmark = pytest.mark.cpu
COUNT = 300


def read(path: Path) -> tuple[list[bytes], str]:
    """The records of a file, and what is said of the first that is damaged."""
    found: list[bytes] = []
    with RecordReader(str(path), "") as reader:
        try:
            while some := reader.read_some(COUNT):
                found += some
        except tf.errors.DataLossError as error:
            return found, error.message
    return found, ""


def written(path: Path, sizes: list[int]) -> list[bytes]:
    random = np.random.default_rng(4)
    records = [random.integers(0, 256, size, np.uint8).tobytes() for size in sizes]
    with tf.python_io.TFRecordWriter(str(path)) as writer:
        for record in records:
            writer.write(record)
    return records


def both(path: Path) -> list[tuple[list[bytes], str]]:
    """What a kernel finds and what is found without one."""
    fast = read(path)
    with settings.override(jit="never"):
        return [fast, read(path)]


def test_records_of_all_sizes_are_found(tmp_path: Path) -> None:
    sizes = [*range(40), 4095, 4096, 4097, 100_000, *([7] * COUNT), 5000, *([0] * COUNT)]
    records = written(tmp_path / "records", sizes)
    assert both(tmp_path / "records") == [(records, "")] * 2


def test_damaged_records_end_the_list_and_are_named(tmp_path: Path) -> None:
    path = tmp_path / "records"
    written(path, [24] * COUNT)
    sound, random = path.read_bytes(), np.random.default_rng(8)
    for place in random.integers(0, len(sound), 10).tolist():
        damaged = bytearray(sound)
        damaged[place] ^= 1 << int(random.integers(0, 8))
        path.write_bytes(damaged)
        fast, slow = both(path)
        assert fast == slow and len(fast[0]) == place // 40 and "corrupted record" in fast[1]
    path.write_bytes(sound[:-3])
    fast, slow = both(path)
    assert fast == slow and len(fast[0]) == COUNT - 1 and "truncated record" in fast[1]


def test_tables_are_those_of_the_checksum() -> None:
    tables = crc.tables().reshape(8, 256)
    for zeros in range(8):
        for byte in (0, 1, 77, 255):
            # Checksums are of more than the tables alone: what they begin and end with goes out.
            both = [crc.value(bytes([b]) + bytes(zeros)) for b in (byte, 0)]
            assert tables[zeros, byte] ^ tables[zeros, 0] == both[0] ^ both[1]


@pytest.mark.skipif(not target.native().has_checksums, reason="no instruction for checksums")
def test_records_are_found_without_an_instruction_for_checksums(tmp_path: Path) -> None:
    records = written(tmp_path / "records", [*range(40), *([70] * COUNT)])
    with settings.override(target="x86-64:"):
        assert not target.current().has_checksums
        assert read(tmp_path / "records") == (records, "")
