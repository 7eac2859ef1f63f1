# SPDX-License-Identifier: Apache-2.0
"""Strings by their parts: lengths, cases, substrings, Base64."""

from __future__ import annotations

import binascii
import re
from collections.abc import Callable, Sequence
from operator import itemgetter
from typing import TYPE_CHECKING, Any

import numpy as np

from ...engine import errors
from ...engine.api import export
from ...engine.dispatch import dispatched
from ...engine.graph import rowwise
from ...engine.graph.build import define
from ...engine.graph.registry import NoGradient
from ...engine.types.shape import TensorShape, as_shape, broadcast_static, shape_text
from ...engine.types.texts import PackedTexts, unpacked
from .. import shape_inference
from ..public import raw
from . import at_once, packing, pieces
from .files import mapped, text_array

if TYPE_CHECKING:
    from ...engine.graph.annotations import TensorLike
    from ...engine.graph.inference import ShapeContext
    from ...engine.graph.kernel_context import KernelContext
    from ...engine.graph.operation import Operation
    from ...engine.graph.rowwise import Results, Rows
    from ...engine.graph.tensor import Tensor

_TEXT = NoGradient("texts have no derivative")
_UNIT = "unit: {'BYTE', 'UTF8_CHAR'} = 'BYTE'"
_SPACE = b" \t\n\v\f\r"
# The bytes of UTF-8 that go on with a character.
_CONTINUING = bytes(range(0x80, 0xC0))


def _words() -> np.ndarray:
    return np.array([b"Some Words ", "\u00c4b\u00e7".encode(), b""], object)


def _starts(text: bytes) -> list[int]:
    """Where characters begin: at all bytes that do not continue one."""
    return [i for i, byte in enumerate(text) if byte & 0xC0 != 0x80]


def _length(c: KernelContext, texts: np.ndarray | PackedTexts) -> np.ndarray:
    is_many, by_byte = packing.is_many(texts), c.attr("unit") == "BYTE"
    found = None
    if is_many:
        count = packing.sizes_of if by_byte else at_once.character_counts
        found = count(texts)
    if found is not None:
        return found.astype(np.int32, copy=False).reshape(texts.shape)
    objects = unpacked(texts)
    if by_byte:
        return mapped(objects, len, np.int32)
    return mapped(objects, lambda text: len(text.translate(None, _CONTINUING)), np.int32)


def _in_case(method: str) -> Callable[..., np.ndarray | PackedTexts]:
    """A kernel that changes the case of ASCII letters, or of all if the strings are UTF-8."""

    def kernel(c: KernelContext, texts: np.ndarray | PackedTexts) -> np.ndarray | PackedTexts:
        encoding = c.attr("encoding")
        if encoding not in ("", "utf-8"):
            raise errors.invalid(
                f"only utf-8 or '' (no encoding) is supported, received {encoding}"
            )
        if not encoding:
            found = None
            if packing.is_many(texts):
                found = at_once.in_case(texts, getattr(bytes, method), c.packs)
            return mapped(unpacked(texts), getattr(bytes, method)) if found is None else found
        change = getattr(str, method)
        return mapped(unpacked(texts), lambda text: change(text.decode(errors="replace")).encode())

    return kernel


def _strip(c: KernelContext, texts: np.ndarray | PackedTexts) -> np.ndarray | PackedTexts:
    found = at_once.stripped(texts, c.packs) if packing.is_many(texts) else None
    return mapped(unpacked(texts), lambda text: text.strip(_SPACE)) if found is None else found


def _define_change(name: str, attrs: str, kernel: Callable[..., Any], doc: str) -> None:
    define(
        name,
        "input: string -> output: string",
        attrs,
        shape=lambda c: c.inputs[0],
        kernel=kernel,
        elementwise=True,
        takes_packed=("input",),
        gives_packed=True,
        gradient=_TEXT,
        doc=doc,
        test=lambda: {
            "values": [[_words()]],
            "attrs": [{}, {"encoding": "utf-8"}] if attrs else [{}],
        },
    )


_CASE = "encoding: string = ''"
_define_change("StringLower", _CASE, _in_case("lower"), "Strings in small letters.")
_define_change("StringUpper", _CASE, _in_case("upper"), "Strings in capital letters.")
_define_change(
    "StringStrip",
    "",
    _strip,
    "Strings without white space at their ends.",
)
define(
    "StringLength",
    "input: string -> output: int32",
    _UNIT,
    shape=lambda c: c.inputs[0],
    kernel=_length,
    elementwise=True,
    takes_packed=("input",),
    gradient=_TEXT,
    doc="How many bytes, or characters of UTF-8, strings have.",
    test=lambda: {"values": [[_words()]], "attrs": [{}, {"unit": "UTF8_CHAR"}]},
)


def _part(text: bytes, start: int, length: int) -> bytes | None:
    """Some characters of a string from one on (from the end, if negative); None if outside."""
    places = [*_starts(text), len(text)]
    at = start + len(places) - 1 if start < 0 else start
    if not 0 <= at < len(places):
        return None
    last = len(places) - 1 if length < 0 else min(at + length, len(places) - 1)
    return text[places[at] : places[last]]


def _characters(texts: list[bytes], starts: np.ndarray, lengths: np.ndarray) -> list[bytes | None]:
    return list(map(_part, texts, starts.tolist(), lengths.tolist()))


def _bytes(texts: list[bytes], starts: np.ndarray, lengths: np.ndarray) -> list[bytes | None]:
    """Some bytes of every string; None for those that begin outside of it."""
    sizes = pieces.sizes_of(texts)
    first = np.where(starts < 0, starts + sizes, starts)
    # (The sum may be beyond 64 bits.)
    last = np.where(lengths < 0, sizes, first + np.minimum(lengths, sizes))
    inside = (first >= 0) & (first <= sizes)
    whole = inside.all()
    if whole and len(texts) and (first == first[0]).all() and (last == last[0]).all():
        # The same piece of all.
        return list(map(itemgetter(slice(first[0], last[0])), texts))
    found: list[bytes | None] = list(
        map(bytes.__getitem__, texts, map(slice, first.tolist(), last.tolist()))
    )
    for i in np.flatnonzero(~inside).tolist():
        found[i] = None
    return found


def _part_of_bytes(text: bytes, start: int, length: int) -> bytes | None:
    """Some bytes of a string; None if they begin outside of it."""
    size = len(text)
    first = start + size if start < 0 else start
    if not 0 <= first <= size:
        return None
    return text[first : size if length < 0 else first + length]


def _substr(
    c: KernelContext, texts: np.ndarray | PackedTexts, pos: np.ndarray, length: np.ndarray
) -> np.ndarray | PackedTexts:
    if isinstance(texts, np.ndarray) and texts.size == 1 and pos.ndim == length.ndim == 0:
        # One text, as of an element: what follows takes longer to begin than this.
        part = _part if c.attr("unit") == "UTF8_CHAR" else _part_of_bytes
        piece = part(texts.item(), pos.item(), length.item())
        if piece is not None:
            return text_array([piece]).reshape(texts.shape)
    by_character = c.attr("unit") == "UTF8_CHAR"
    if isinstance(texts, PackedTexts) and (
        by_character or not {pos.shape, length.shape} <= {(), texts.shape}
    ):
        texts = texts.array()
    try:
        shape = np.broadcast_shapes(texts.shape, pos.shape, length.shape)
        starts, lengths = np.broadcast_to(pos, shape), np.broadcast_to(length, shape)
    except ValueError:
        raise errors.invalid(
            f"Incompatible shapes: {shape_text(texts.shape)} vs. {shape_text(pos.shape)}"
        ) from None
    if not by_character and shape == texts.shape and packing.is_many(texts):
        first, count = (
            (each if each.size == 1 else all_of).astype(np.int64).reshape(-1)
            for each, all_of in ((pos, starts), (length, lengths))
        )
        at_a_time = at_once.parts(texts, first, count, c.packs)
        if at_a_time is not None:
            parts, bad = at_a_time
            if bad >= 0:
                raise _outside(unpacked(texts), pos, starts, bad, by_character)
            return parts
    whole = np.broadcast_to(unpacked(texts), shape)
    cut = _characters if by_character else _bytes
    found = cut(whole.reshape(-1).tolist(), starts.reshape(-1), lengths.reshape(-1))
    if None in found:
        raise _outside(whole, pos, starts, found.index(None), by_character)
    return text_array(found).reshape(whole.shape)  # type: ignore[arg-type]


def _outside(
    whole: np.ndarray, pos: np.ndarray, starts: np.ndarray, i: int, by_character: bool
) -> errors.InvalidArgumentError:
    """The error of a text that ends before its part begins."""
    place = np.unravel_index(i, whole.shape)
    is_broadcast = pos.ndim > 0 and pos.shape != whole.shape
    text = whole[place].decode(errors="replace")
    shown = "string" if by_character else f"string b'{text}'"
    index = tuple(map(int, place)) if is_broadcast and len(place) > 1 else i
    return errors.invalid(f"pos {starts[place]} out of range for {shown} at index {index}")


def _substr_shape(c: ShapeContext) -> TensorShape:
    shape_inference.merge(c.inputs[1], c.inputs[2])
    return as_shape(broadcast_static(c.inputs[0], c.inputs[1]))


def _substr_rows(op: Operation, inputs: Sequence[Rows]) -> Results:
    """The same part of each element's texts."""
    if any(rows.tensor.shape.ndims != 0 for rows in inputs[1:]):
        return None
    return rowwise.of_first(op, inputs)


define(
    "Substr",
    "input: string, pos: T, len: T -> output: string",
    f"T: {{int32, int64}}; {_UNIT}",
    shape=_substr_shape,
    kernel=_substr,
    rows=_substr_rows,
    takes_packed=("input",),
    gives_packed=True,
    gradient=_TEXT,
    doc="Parts of strings.",
    test=lambda: {
        "values": [
            [np.array([b"thirteen", b"\xc3\xa4b"], object), np.int32(-2), np.int32(2)],
            [
                np.array([[b"abc"], [b"d"]], object),
                np.array([0, 1], np.int64),
                np.array([1, 5], np.int64),
            ],
        ],
        "attrs": [{}, {"unit": "UTF8_CHAR"}],
    },
)

_PLAIN_BASE64 = re.compile(rb"[A-Za-z0-9_-]*")
# What Python's words in Base64 say in TensorFlow's.
_TO_WEB, _FROM_WEB = bytes.maketrans(b"+/", b"-_"), bytes.maketrans(b"-_", b"+/")


def _unpadded(text: bytes) -> bytes:
    """A string in Base64 without what fills it up."""
    # What fills up stands at the end of a last block of four letters only.
    plain = text if len(text) % 4 else text.removesuffix(b"=").removesuffix(b"=")
    if _PLAIN_BASE64.fullmatch(plain[: len(plain) // 4 * 4]) is None:
        raise errors.invalid("Invalid character found in base64.")
    if len(plain) % 4 == 1:
        raise errors.invalid("Base64 string length cannot be 1 modulo 4.")
    if _PLAIN_BASE64.fullmatch(plain) is None:
        raise errors.invalid("Invalid character found in base64.")
    return plain


def _decode(c: KernelContext, texts: np.ndarray) -> np.ndarray:
    found = at_once.decoded(texts) if packing.is_many(texts) else None
    if found is not None:
        return found
    flat = texts.reshape(-1).tolist()
    sizes = pieces.sizes_of(flat)
    if not _PLAIN_BASE64.fullmatch(b"".join(flat)) or (sizes % 4 == 1).any():
        flat = list(map(_unpadded, flat))
        sizes = pieces.sizes_of(flat)
    # Four letters are three bytes: texts that are filled up can be read as one.
    blocks = -(-sizes // 4)
    letters = pieces.filled(flat, sizes, blocks * 4, ord("A"))
    whole = binascii.a2b_base64(letters.translate(_FROM_WEB))
    return text_array(pieces.cut(whole, sizes * 3 // 4, blocks * 3)).reshape(texts.shape)


def _encode(c: KernelContext, texts: np.ndarray) -> np.ndarray:
    found = at_once.encoded(texts, c.attr("pad")) if packing.is_many(texts) else None
    if found is not None:
        return found
    flat = texts.reshape(-1).tolist()
    sizes = pieces.sizes_of(flat)
    blocks = -(-sizes // 3)
    # Three bytes are four letters: texts that are filled up can be written as one.
    whole = binascii.b2a_base64(pieces.filled(flat, sizes, blocks * 3, 0), newline=False)
    whole, letters, rooms = whole.translate(_TO_WEB), -(-sizes * 4 // 3), blocks * 4
    if not c.attr("pad"):
        return text_array(pieces.cut(whole, letters, rooms)).reshape(texts.shape)
    padded = np.frombuffer(whole, np.uint8).copy()
    for missing in (1, 2):
        padded[(np.cumsum(rooms) - missing)[rooms - letters >= missing]] = ord("=")
    return text_array(pieces.cut(padded.tobytes(), rooms, rooms)).reshape(texts.shape)


define(
    "EncodeBase64",
    "input: string -> output: string",
    "pad: bool = false",
    shape=lambda c: c.inputs[0],
    kernel=_encode,
    elementwise=True,
    gradient=_TEXT.silently,
    doc="Strings in web-safe Base64.",
    test=lambda: {"values": [[_words()]], "attrs": [{}, {"pad": True}]},
)
define(
    "DecodeBase64",
    "input: string -> output: string",
    shape=lambda c: c.inputs[0],
    kernel=_decode,
    elementwise=True,
    gradient=_TEXT.silently,
    doc="What strings in web-safe Base64 say.",
    test=lambda: {"values": [[np.array([b"U29t", b"ZQ", b"ZQ==", b""], object)]]},
)


@export("strings.length")
@dispatched
def string_length(input: TensorLike, name: str | None = None, unit: str = "BYTE") -> Tensor:
    """How many bytes (unit "BYTE"), or characters of UTF-8 ("UTF8_CHAR"), strings have."""
    return raw.StringLength(input, unit=unit, name=name)


@export("strings.lower")
def string_lower(input: TensorLike, encoding: str = "", name: str | None = None) -> Tensor:
    """Strings in small letters: those of ASCII, or all with encoding "utf-8"."""
    return raw.StringLower(input, encoding=encoding, name=name)


@export("strings.upper")
def string_upper(input: TensorLike, encoding: str = "", name: str | None = None) -> Tensor:
    """Strings in capital letters: those of ASCII, or all with encoding "utf-8"."""
    return raw.StringUpper(input, encoding=encoding, name=name)


@export("strings.strip", "string_strip")
@dispatched
def string_strip(input: TensorLike, name: str | None = None) -> Tensor:
    """Strings without white space at their ends."""
    return raw.StringStrip(input, name=name)


@export("strings.substr")
@dispatched
def substr(
    input: TensorLike,
    pos: int | Sequence[Any],
    len: int | Sequence[Any],
    name: str | None = None,
    unit: str = "BYTE",
) -> Tensor:
    """`len` bytes (or characters of UTF-8) of strings from `pos` on, which counts from the end
    if negative; shapes broadcast.  InvalidArgumentError in the run for a `pos` outside."""
    return raw.Substr(input, pos, len, unit=unit, name=name)


@export("substr")
@dispatched
def substr_deprecated(
    input: TensorLike,
    pos: int | Sequence[Any],
    len: int | Sequence[Any],
    name: str | None = None,
    unit: str = "BYTE",
) -> Tensor:
    """`tf.strings.substr`."""
    return substr(input, pos, len, name=name, unit=unit)


@export("io.encode_base64", "encode_base64")
@dispatched
def encode_base64(input: TensorLike, pad: bool = False, name: str | None = None) -> Tensor:
    """Strings in web-safe Base64, padded with `=` if asked for."""
    return raw.EncodeBase64(input, pad=pad, name=name)


@export("io.decode_base64", "decode_base64")
@dispatched
def decode_base64(input: TensorLike, name: str | None = None) -> Tensor:
    """What strings in web-safe Base64 say; InvalidArgumentError in the run for others."""
    return raw.DecodeBase64(input, name=name)
