# SPDX-License-Identifier: Apache-2.0
"""The chunks of a PNG file, checked as libpng checks them."""

from __future__ import annotations

import zlib
from collections.abc import Iterator

from ...engine.record_class import record

SIGNATURE = b"\x89PNG\r\n\x1a\n"
GRAY, RGB, PALETTE, GRAY_ALPHA, RGB_ALPHA = 0, 2, 3, 4, 6
# Samples per pixel and the bits that each may have.
SAMPLES = {GRAY: 1, RGB: 3, PALETTE: 1, GRAY_ALPHA: 2, RGB_ALPHA: 4}
_BITS = {
    GRAY: (1, 2, 4, 8, 16),
    RGB: (8, 16),
    PALETTE: (1, 2, 4, 8),
    GRAY_ALPHA: (8, 16),
    RGB_ALPHA: (8, 16),
}
# libpng's limit for a side (png.h, PNG_USER_WIDTH_MAX), and its largest chunk.
_LONGEST_SIDE = 1_000_000
_LONGEST_CHUNK = (1 << 31) - 1
# First row, first column and steps of the passes of an interlaced file.
_PASSES = (
    *((0, 0, 8, 8), (0, 4, 8, 8), (4, 0, 8, 4), (0, 2, 4, 4)),
    *((2, 0, 4, 2), (0, 1, 2, 2), (1, 0, 2, 1)),
)
# Nothing that deflate writes becomes longer than that many times its length.
_LARGEST_EXPANSION = 1032
# The gamma that the colours of an sRGB chunk stand for, in hundred thousandths.
_SRGB_GAMMA = 45455


class BadHeader(ValueError):
    """A file that libpng refuses before its pixels."""


class BadPixels(ValueError):
    """A file that libpng refuses among its pixels, or behind them."""


@record(frozen=True)
class Header:
    """What a PNG file says of its pixels."""

    width: int
    height: int
    bits: int
    color_type: int
    is_interlaced: bool
    # Colours, uint8 triples.
    palette: bytes = b""
    # Transparency of colours, or the samples of the colour that is transparent.
    transparency: bytes = b""
    # In hundred thousandths; 0: not said.
    gamma: int = 0
    # Where the first chunk of pixels begins.
    pixels: int = 0

    @property
    def bits_per_pixel(self) -> int:
        """Bits of a pixel in the file."""
        return SAMPLES[self.color_type] * self.bits

    def rows(self) -> list[tuple[int, int]]:
        """Number of rows and bytes per row, without the filter's, of each pass."""
        if not self.is_interlaced:
            sizes = [(self.height, self.width)]
        else:
            sizes = [
                (-(-(self.height - y) // down), -(-(self.width - x) // right))
                for y, x, down, right in _PASSES
                if self.height > y and self.width > x
            ]
        return [(rows, -(-columns * self.bits_per_pixel // 8)) for rows, columns in sizes]

    @property
    def raw_size(self) -> int:
        """Bytes of all rows with their filters."""
        return sum(rows * (size + 1) for rows, size in self.rows())


def _chunks(
    data: bytes, at: int, bad: type[ValueError]
) -> Iterator[tuple[bytes, bytes, bool, int]]:
    """Types, contents, whether the checksum is right, and positions, until the file ends."""
    while True:
        length = int.from_bytes(data[at : at + 4], "big")
        end = at + 12 + length
        if bad is BadHeader and data[at + 4 : at + 8] == b"IDAT":
            # What is wrong with the first pixels is nothing of the header's.
            yield b"IDAT", b"", True, at
        if at + 12 > len(data) or end > len(data) or length > _LONGEST_CHUNK:
            raise bad("a chunk is longer than the file")
        kind = data[at + 4 : at + 8]
        if not kind.isalpha():
            raise bad("a chunk's type is no word")
        stated = int.from_bytes(data[end - 4 : end], "big")
        is_right = zlib.crc32(memoryview(data)[at + 4 : end - 4]) == stated
        # The case of its first letter says whether a decoder must know a chunk.
        if not is_right and kind[:1].isupper():
            raise bad("a checksum is wrong")
        yield kind, data[at + 8 : end - 4], is_right, at
        at = end


def _first(body: bytes) -> Header:
    width, height = int.from_bytes(body[:4], "big"), int.from_bytes(body[4:8], "big")
    if len(body) != 13 or not width or not height or max(width, height) > _LONGEST_SIDE:
        raise BadHeader("a size that is not supported")
    bits, color_type, compression, filters, interlace = body[8:]
    if bits not in _BITS.get(color_type, ()) or compression or filters or interlace > 1:
        raise BadHeader("a form of pixels that does not exist")
    return Header(width, height, bits, color_type, bool(interlace))


def _transparency(header: Header, body: bytes, palette: bytes) -> bytes:
    """The content of tRNS, if it is a right one for the colour type."""
    wanted = {GRAY: 2, RGB: 6}.get(header.color_type)
    if header.color_type == PALETTE:
        return body if 0 < len(body) <= len(palette) // 3 else b""
    return body if len(body) == wanted else b""


def read_header(data: bytes) -> Header:
    """The header, up to where pixels begin; BadHeader if libpng refuses it."""
    if not data.startswith(SIGNATURE):
        raise BadHeader("no PNG file")
    header: Header | None = None
    palette, transparency, gamma = b"", b"", 0
    for kind, body, is_right, at in _chunks(data, len(SIGNATURE), BadHeader):
        if header is None:
            if kind != b"IHDR":
                raise BadHeader("the first chunk is no header")
            header = _first(body)
        elif kind == b"IDAT":
            if header.color_type == PALETTE and not palette:
                raise BadHeader("no palette")
            fields = vars(header) | dict(palette=palette, transparency=transparency)
            return Header(**fields | dict(gamma=gamma, pixels=at))
        elif kind == b"PLTE":
            most = 1 << header.bits if header.color_type == PALETTE else 256
            # A palette that colours only suggest is passed over if it is wrong.
            is_wrong = len(body) % 3 or len(body) > 768
            if palette or (header.color_type == PALETTE and is_wrong):
                raise BadHeader("no right palette")
            palette = body[: 3 * most]
        elif kind == b"tRNS" and is_right and not transparency:
            transparency = _transparency(header, body, palette)
        elif kind == b"gAMA" and is_right and len(body) == 4:
            gamma = gamma or int.from_bytes(body, "big")
        elif kind == b"sRGB" and is_right and len(body) == 1:
            gamma = _SRGB_GAMMA
        elif kind in (b"IHDR", b"IEND") or kind[:1].isupper():
            raise BadHeader("a chunk that is not known, or out of place")
    raise BadHeader("no pixels")


def read_pixels(data: bytes, header: Header) -> list[bytes]:
    """The compressed pixels in their chunks; BadPixels if libpng refuses what follows."""
    parts, is_over = [], False
    for kind, body, _, _ in _chunks(data, header.pixels, BadPixels):
        if kind == b"IDAT" and not is_over:
            parts.append(body)
        elif kind == b"IEND":
            break
        elif kind == b"IHDR" or (kind[:1].isupper() and kind not in (b"IDAT", b"PLTE")):
            raise BadPixels("a chunk that is not known, or out of place")
        else:
            is_over = True
    if sum(map(len, parts)) * _LARGEST_EXPANSION < header.raw_size:
        raise BadPixels("too few pixels for the size")
    return parts


def chunk(kind: bytes, body: bytes) -> bytes:
    """A chunk as it stands in a file."""
    checksum = zlib.crc32(body, zlib.crc32(kind))
    return len(body).to_bytes(4, "big") + kind + body + checksum.to_bytes(4, "big")


def header_chunk(width: int, height: int, bits: int, color_type: int, interlace: int = 0) -> bytes:
    """The first chunk of a file."""
    sides = width.to_bytes(4, "big") + height.to_bytes(4, "big")
    return chunk(b"IHDR", sides + bytes((bits, color_type, 0, 0, interlace)))
