# SPDX-License-Identifier: Apache-2.0
"""What a JPEG file says of itself before its pixels: size, components, where the scan begins.

Read here, not by a codec, because what is too large is refused before anything is allocated.
"""

from __future__ import annotations

from dataclasses import dataclass

# Markers (ITU-T T.81, table B.1).
_START = b"\xff\xd8"
END = b"\xff\xd9"
_SCAN, _APP14 = 0xDA, 0xEE
# Frames that TensorFlow's libjpeg decodes: baseline, extended, progressive, and the last two
# arithmetically coded.
_FRAMES = (0xC0, 0xC1, 0xC2, 0xC9, 0xCA)
_OTHER_FRAMES = (0xC3, 0xC5, 0xC6, 0xC7, 0xCB, 0xCD, 0xCE, 0xCF)
_PROGRESSIVE = (0xC2, 0xCA)
# Markers without a length: TEM, and the restarts.
_BARE = (0x01, *range(0xD0, 0xD8))
# libjpeg refuses longer sides (jmorecfg.h, JPEG_MAX_DIMENSION).
_LONGEST = 65500


class BadJpeg(ValueError):
    """A file that libjpeg would refuse."""


@dataclass(frozen=True)
class Header:
    """The frame of a JPEG file."""

    height: int
    width: int
    components: int
    is_progressive: bool
    # Rows of pixels in a row of the smallest coded units.
    unit_height: int
    # Whether Adobe's marker is there, which inverts CMYK.
    has_adobe_marker: bool
    # Where the first scan begins.
    scan: int
    # The file without what lies between its segments, if there was anything.
    cleaned: bytes | None

    def scaled(self, ratio: int) -> tuple[int, int]:
        """Height and width of the picture decoded at 1 / ratio."""
        return -(-self.height // ratio), -(-self.width // ratio)


def _next_marker(data: bytes, at: int) -> tuple[int, int]:
    """The next marker's code and where it ends, behind whatever is none."""
    while True:
        at = data.find(b"\xff", at)
        if at < 0:
            raise BadJpeg("the file ends before its first scan")
        while at < len(data) and data[at] == 0xFF:
            at += 1
        if at == len(data):
            raise BadJpeg("the file ends before its first scan")
        if data[at]:
            return data[at], at + 1


def _segment(data: bytes, at: int) -> bytes:
    """A segment's content, whose length stands first."""
    length = int.from_bytes(data[at : at + 2], "big")
    if length < 2 or at + length > len(data):
        raise BadJpeg("a segment is longer than the file")
    return data[at + 2 : at + length]


def _frame(body: bytes) -> tuple[int, int, int, int]:
    """Height, width, number of components and rows per unit of a frame."""
    if len(body) < 6 or len(body) != 6 + 3 * body[5]:
        raise BadJpeg("a frame of the wrong length")
    height, width = int.from_bytes(body[1:3], "big"), int.from_bytes(body[3:5], "big")
    factors = [pair & 15 for pair in body[7::3]]
    if body[0] != 8 or not height or not width or not factors:
        raise BadJpeg("an empty frame, or not of 8 bits")
    if max(height, width) > _LONGEST:
        raise BadJpeg("a side is too long")
    return height, width, len(factors), 8 * max(factors)


def read_header(data: bytes) -> Header:
    """The header of a JPEG file; BadJpeg for what is none."""
    if not data.startswith(_START):
        raise BadJpeg("no JPEG file")
    at, kept, is_clean = 2, [_START], True
    frame, is_progressive, has_adobe_marker = None, False, False
    while True:
        code, end = _next_marker(data, at)
        is_clean = is_clean and end == at + 2
        if code in _OTHER_FRAMES or code == END[1] or (code in _FRAMES and frame):
            raise BadJpeg("a frame that is not supported")
        if code in _BARE:
            at = end
            kept.append(bytes((0xFF, code)))
            continue
        body = _segment(data, end)
        if code == _SCAN:
            break
        if code in _FRAMES:
            frame, is_progressive = _frame(body), code in _PROGRESSIVE
        elif code == _APP14 and len(body) >= 12 and body.startswith(b"Adobe"):
            has_adobe_marker = True
        at = end + 2 + len(body)
        kept.append(data[end - 2 : at])
    if frame is None:
        raise BadJpeg("a scan before its frame")
    height, width, components, unit_height = frame
    cleaned = None if is_clean else b"".join(kept) + data[end - 2 :]
    scan = end if cleaned is None else len(cleaned) - len(data) + end
    return Header(
        height, width, components, is_progressive, unit_height, has_adobe_marker, scan, cleaned
    )
