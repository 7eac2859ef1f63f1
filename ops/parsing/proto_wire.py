# SPDX-License-Identifier: Apache-2.0
"""The wire format of protocol buffers: fields out of messages and into them, by their numbers.

Submessages stay the bytes they are, so any field may be decoded further, or not at all.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator
from typing import Any

from ...engine import errors
from ...engine.record_class import record

VARINT, FIXED64, BYTES, START_GROUP, END_GROUP, FIXED32 = range(6)
# Groups within groups, as protobuf allows (io/coded_stream.h).
_DEEPEST = 100
_MASK = {32: (1 << 32) - 1, 64: (1 << 64) - 1}


class _Malformed(Exception):
    """Bytes that are no field."""


def _signed(value: int, bits: int) -> int:
    value &= _MASK[bits]
    return value - (1 << bits) if value >> (bits - 1) else value


def _zigzag(value: int, bits: int) -> int:
    value &= _MASK[bits]
    return (value >> 1) ^ -(value & 1)


@record(frozen=True)
class Form:
    """How values of one of a schema's types stand in a message."""

    name: str
    wire: int
    # From the varint, or from the bytes; and back.
    read: Callable[[Any], Any]
    write: Callable[[Any], Any]
    # Of `dtypes`, that tensors of such values may have.
    dtypes: tuple[str, ...]


def _number(name: str, code: str, wire: int, *dtypes: str) -> Form:
    def read(data: bytes) -> Any:
        return struct.unpack(code, data)[0]

    def write(value: Any) -> bytes:
        if code in "<I<Q":
            value = int(value) & _MASK[32 if wire == FIXED32 else 64]
        elif code in "<i<q":
            value = _signed(int(value), 32 if wire == FIXED32 else 64)
        return struct.pack(code, value)

    return Form(name, wire, read, write, dtypes)


def _varint(
    name: str, read: Callable[[int], Any], write: Callable[[int], int], *dtypes: str
) -> Form:
    return Form(name, VARINT, read, write, dtypes)


def _text(name: str, wire: int = BYTES) -> Form:
    return Form(name, wire, bytes, bytes, ("string",))


_NARROW, _PLAIN = ("int32", "int64"), ("uint32", "uint64")
# FieldDescriptor.type -> form.
FORMS = {
    1: _number("double", "<d", FIXED64, "float64"),
    2: _number("float", "<f", FIXED32, "float32", "float64"),
    3: _varint("int64", lambda v: _signed(v, 64), lambda v: v & _MASK[64], "int64"),
    4: _varint("uint64", lambda v: v & _MASK[64], lambda v: v & _MASK[64], "uint64"),
    5: _varint("int32", lambda v: _signed(v, 32), lambda v: _signed(v, 32) & _MASK[64], *_NARROW),
    6: _number("fixed64", "<Q", FIXED64, "uint64"),
    7: _number("fixed32", "<I", FIXED32, *_PLAIN),
    8: _varint("bool", bool, bool, "bool"),
    9: _text("string"),
    10: _text("group", START_GROUP),
    11: _text("message"),
    12: _text("bytes"),
    13: _varint("uint32", lambda v: v & _MASK[32], lambda v: v & _MASK[32], *_PLAIN),
    14: _varint("enum", lambda v: _signed(v, 32), lambda v: _signed(v, 32) & _MASK[64], "int32"),
    15: _number("sfixed32", "<i", FIXED32, *_NARROW),
    16: _number("sfixed64", "<q", FIXED64, "int64"),
    17: _varint(
        "sint32",
        lambda v: _zigzag(v, 32),
        lambda v: ((_signed(v, 32) << 1) ^ (_signed(v, 32) >> 31)) & _MASK[32],
        *_NARROW,
    ),
    18: _varint(
        "sint64", lambda v: _zigzag(v, 64), lambda v: ((v << 1) ^ (v >> 63)) & _MASK[64], "int64"
    ),
}
_SIZES = {FIXED64: 8, FIXED32: 4}


class _Stream:
    """The bytes of a message in order."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.at = 0

    def varint(self) -> int:
        """A number of seven bits per byte, ten bytes at most."""
        value = 0
        for shift in range(0, 70, 7):
            if self.at >= len(self.data):
                raise _Malformed
            byte = self.data[self.at]
            self.at += 1
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                return value & _MASK[64]
        raise _Malformed

    def take(self, count: int) -> bytes:
        """The next bytes."""
        end = self.at + count
        if end > len(self.data):
            raise _Malformed
        found, self.at = self.data[self.at : end], end
        return found

    def value(self, wire: int, number: int) -> Any:
        """A value of a wire type; of a group its bytes with both tags."""
        if wire == VARINT:
            return self.varint()
        if wire in _SIZES:
            return self.take(_SIZES[wire])
        if wire == BYTES:
            return self.take(self.varint() & _MASK[32])
        if wire != START_GROUP:
            raise _Malformed
        start = self.at
        self._skip_group(number)
        return tag(number, START_GROUP) + self.data[start : self.at]

    def _skip_group(self, number: int) -> None:
        """Passes over a group, whose first tag is read."""
        open_groups = [number]
        while open_groups:
            number, wire = divmod(self.varint() & _MASK[32], 8)
            if not number or len(open_groups) > _DEEPEST:
                raise _Malformed
            if wire == END_GROUP:
                if open_groups.pop() != number:
                    raise _Malformed
            elif wire == START_GROUP:
                open_groups.append(number)
            else:
                self.value(wire, number)


@record(frozen=True)
class Field:
    """A field that is wanted: its number and type in the schema."""

    number: int
    form: Form
    is_repeated: bool


def _packed(field: Field, data: bytes) -> Iterator[Any]:
    """The values of a field that stand in one piece."""
    form = field.form
    if form.wire in _SIZES:
        size = _SIZES[form.wire]
        if len(data) % size:
            raise errors.data_loss(f"Illegal data length for packed fixed-size type: {len(data)}")
        yield from (form.read(data[i : i + size]) for i in range(0, len(data), size))
        return
    if form.wire != VARINT:
        raise errors.data_loss(f"TYPE_{form.name.upper()} encountered as packed")
    stream = _Stream(data)
    try:
        while stream.at < len(data):
            yield form.read(stream.varint())
    except _Malformed:
        raise errors.data_loss("Corrupt packed varint") from None


def _collect(stream: _Stream, field: Field, wire: int, found: list[Any]) -> None:
    form = field.form
    if wire == BYTES and form.wire != BYTES:
        try:
            size = stream.varint()
            if size >> 31:
                raise _Malformed
        except _Malformed:
            raise errors.data_loss("CollectField: Failed reading packed size") from None
        try:
            data = stream.take(size)
        except _Malformed:
            raise errors.data_loss("ReadPackedValues: Skipping packed field failed") from None
        values = list(_packed(field, data))
        if field.is_repeated:
            found.extend(values)
        elif values:
            # TensorFlow counts it, and has the default of it.
            found[:] = [None]
        return
    what = "CollectField: Failed skipping malformed field"
    if wire == form.wire:
        what = "ReadValue: Failed skipping field when counting"
    try:
        value = stream.value(wire, field.number)
    except _Malformed:
        raise errors.data_loss(what) from None
    if wire != form.wire:
        return
    if not field.is_repeated:
        found.clear()
    found.append(form.read(value))


def read_fields(data: bytes, fields: list[Field]) -> list[list[Any]]:
    """The values of each field of a message; one at most, the last, of those that do not repeat.

    None stands for a value that TensorFlow takes for the default.

    Raises:
        DataLossError: the bytes are no message.
    """
    stream, found = _Stream(data), [[] for _ in fields]  # type: ignore[var-annotated]
    # Of a field that is wanted twice the last output has the values.
    places = {field.number: i for i, field in enumerate(fields)}
    while stream.at < len(data):
        try:
            whole = stream.varint() & _MASK[32]
        except _Malformed:
            whole = 0
        number, wire = divmod(whole, 8)
        if not whole or wire == END_GROUP:
            raise errors.data_loss("CountFields: Failed to consume entire buffer")
        place = places.get(number)
        if place is not None:
            _collect(stream, fields[place], wire, found[place])
            continue
        try:
            if not number:
                raise _Malformed
            stream.value(wire, number)
        except _Malformed:
            raise errors.data_loss("Failed skipping unrequested field") from None
    return found


def varint(value: int) -> bytes:
    """A number of seven bits per byte."""
    found = bytearray()
    while value >= 0x80:
        found.append(value & 0x7F | 0x80)
        value >>= 7
    found.append(value)
    return bytes(found)


def tag(number: int, wire: int) -> bytes:
    """What stands before a value."""
    return varint(number << 3 | wire)


def write_field(field: Field, values: list[Any], is_packed: bool) -> bytes:
    """The values of a field as they stand in a message."""
    form, number = field.form, field.number
    if form.wire == START_GROUP:
        start, end = tag(number, START_GROUP), tag(number, END_GROUP)
        return b"".join(start + value + end for value in values)
    if form.wire == BYTES:
        start = tag(number, BYTES)
        return b"".join(start + varint(len(value)) + value for value in values)
    if form.wire == VARINT:
        parts = [varint(form.write(int(value))) for value in values]
    else:
        parts = [form.write(value) for value in values]
    if is_packed:
        body = b"".join(parts)
        return tag(number, BYTES) + varint(len(body)) + body
    start = tag(number, form.wire)
    return b"".join(start + part for part in parts)
