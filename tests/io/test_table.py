# SPDX-License-Identifier: Apache-2.0
"""Sorted tables and what they are made of: varints, ordered numbers, checksums, Snappy."""

from __future__ import annotations

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from numbaflow.engine.errors import DataLossError
from numbaflow.io import crc, snappy, table, varint

pytestmark = pytest.mark.pure

ENTRIES = st.dictionaries(st.binary(max_size=12), st.binary(max_size=40), max_size=60)
INT64 = st.integers(-(2**63), 2**63 - 1)


@given(ENTRIES)
def test_a_table_gives_back_its_entries(entries: dict[bytes, bytes]) -> None:
    items = sorted(entries.items())
    read = table.Table(table.encode(items))
    assert list(read) == items
    assert all(read.get(key) == value for key, value in items)
    assert read.get(b"\xff" * 13) is None


def test_large_tables_have_several_blocks() -> None:
    items = [(b"%06d" % i, bytes(100)) for i in range(9000)]
    items.insert(4000, (b"003999x", bytes(3 * table.BLOCK_SIZE)))
    read = table.Table(table.encode(items))
    assert len(read._places) > 3
    assert list(read) == items
    assert read.get(b"008999") == bytes(100)
    assert read.get(b"0039995") is None


@pytest.mark.parametrize("at", [0, 30, 130, -60, -45, -1])
def test_a_changed_byte_is_noticed(at: int) -> None:
    items = [(b"%03d" % i, b"value") for i in range(20)]
    data = bytearray(table.encode(items))
    data[at] ^= 1
    with pytest.raises(DataLossError):
        list(table.Table(bytes(data)))


def test_a_cut_file_is_noticed() -> None:
    data = table.encode([(b"k", b"v")])
    for length in (0, 47, len(data) - 1):
        with pytest.raises(DataLossError, match="sstable|block"):
            list(table.Table(data[:length]))


@given(st.integers(0, 2**64 - 1))
def test_varints(number: int) -> None:
    text = varint.put(number)
    assert varint.get(b"x" + text + b"y", 1) == (number, 1 + len(text))


@given(INT64, INT64)
def test_ordered_numbers_sort_as_numbers_do(a: int, b: int) -> None:
    assert (varint.ordered_signed(a) < varint.ordered_signed(b)) == (a < b)
    a, b = abs(a), abs(b)
    assert (varint.ordered_unsigned(a) < varint.ordered_unsigned(b)) == (a < b)


@given(st.binary(), st.binary())
def test_ordered_texts_sort_as_texts_do(a: bytes, b: bytes) -> None:
    assert (varint.ordered_text(a) < varint.ordered_text(b)) == (a < b)


def test_known_encodings() -> None:
    assert varint.ordered_signed(0) == b"\x80"
    assert varint.ordered_signed(-1) == b"\x7f"
    assert varint.ordered_signed(64) == b"\xc0\x40"
    assert varint.ordered_text(b"a\x00b\xff") == b"a\x00\xffb\xff\x00\x00\x01"


@given(st.integers(0, 2**32 - 1))
def test_masked_checksums_come_back(value: int) -> None:
    assert crc.unmask(crc.mask(value)) == value


def test_known_checksum() -> None:
    assert crc.value(b"123456789") == 0xE3069283
    assert crc.extend(crc.value(b"1234"), b"56789") == 0xE3069283


def test_snappy() -> None:
    # Two literals and copies with one and two bytes of offset, the second over itself.
    data = varint.put(19) + b"\x0cabcd" + b"\x01\x04" + b"\x00z" + b"\x26\x02\x00"
    assert snappy.decompress(data) == b"abcdabcdz" + b"dzdzdzdzdz"
    for wrong in (data[:-1], varint.put(3) + b"\x01\x09", b""):
        with pytest.raises(DataLossError, match="corrupted"):
            snappy.decompress(wrong)


def test_compressed_blocks_are_read() -> None:
    """Tables of old programs; nothing here writes them."""
    block = b"\x00\x01\x01kv" + struct.pack("<II", 0, 1)
    packed = varint.put(len(block)) + bytes(((len(block) - 1) << 2,)) + block
    text = packed + b"\x01" + struct.pack("<I", crc.masked(packed + b"\x01"))
    index = b"\x00\x01\x02l\x00" + varint.put(len(packed)) + struct.pack("<II", 0, 1)
    place = len(text)
    text += index + b"\x00" + struct.pack("<I", crc.masked(index + b"\x00"))
    handles = b"\x00\x00" + varint.put(place) + varint.put(len(index))
    text += handles.ljust(40, b"\0") + struct.pack("<Q", table.MAGIC)
    assert list(table.Table(text)) == [(b"k", b"v")]
