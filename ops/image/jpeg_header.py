# SPDX-License-Identifier: Apache-2.0
"""What a JPEG file says of itself before its pixels: size, components, where the scan begins.

Read here, not by a codec, because what is too large is refused before anything is allocated.
"""

from __future__ import annotations

from dataclasses import replace

from ...engine.record_class import record

# Markers (ITU-T T.81, table B.1).
_START = b"\xff\xd8"
END = b"\xff\xd9"
_SCAN, _APP0, _APP14 = 0xDA, 0xE0, 0xEE
# Adobe's marker of a file whose components are red, green and blue.
_RGB_MARKER = b"\xff\xee\x00\x0eAdobe\x00\x64\x00\x00\x00\x00\x00"
# Frames that TensorFlow's libjpeg decodes: baseline, extended, progressive, and the last two
# arithmetically coded.
_FRAMES = frozenset((0xC0, 0xC1, 0xC2, 0xC9, 0xCA))
_OTHER_FRAMES = frozenset((0xC3, 0xC5, 0xC6, 0xC7, 0xCB, 0xCD, 0xCE, 0xCF))
_PROGRESSIVE = (0xC2, 0xCA)
# Markers without a length: TEM, and the restarts.
_BARE = frozenset((0x01, *range(0xD0, 0xD8)))
# libjpeg refuses longer sides (jmorecfg.h, JPEG_MAX_DIMENSION).
_LONGEST = 65500


# Of each component, across and down.
Factors = tuple[tuple[int, int], ...]


class BadJpeg(ValueError):
    """A file that libjpeg would refuse."""


@record(frozen=True)
class Header:
    """The frame of a JPEG file."""

    height: int
    width: int
    # How many samples each component has in a unit, across and down.
    factors: Factors
    is_progressive: bool
    # Whether Adobe's marker is there, which inverts CMYK.
    has_adobe_marker: bool
    # Whether three components are red, green and blue, not brightness and two differences.
    is_rgb: bool
    # Where the first scan begins.
    scan: int
    # The file without what lies between its segments, if there was anything.
    cleaned: bytes | None

    @property
    def components(self) -> int:
        """How many there are."""
        return len(self.factors)

    @property
    def unit_height(self) -> int:
        """Rows of pixels in a row of the smallest coded units."""
        return 8 * max(down for _, down in self.factors)

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


def _frame(body: bytes) -> tuple[int, int, Factors]:
    """Height, width, and the factors of the components of a frame."""
    if len(body) < 6 or len(body) != 6 + 3 * body[5]:
        raise BadJpeg("a frame of the wrong length")
    height, width = _size(body, 1)
    factors = tuple((pair >> 4, pair & 15) for pair in body[7::3])
    if body[0] != 8 or not height or not width or not factors:
        raise BadJpeg("an empty frame, or not of 8 bits")
    if not all(0 < factor <= 4 for pair in factors for factor in pair):
        raise BadJpeg("a component of no samples, or of too many")
    if max(height, width) > _LONGEST:
        raise BadJpeg("a side is too long")
    return height, width, factors


def _is_jfif(code: int, body: bytes) -> bool:
    return code == _APP0 and len(body) >= 14 and body.startswith(b"JFIF\0")


def _is_adobe(code: int, body: bytes) -> bool:
    return code == _APP14 and len(body) >= 12 and body.startswith(b"Adobe")


def _segments(data: bytes) -> list[tuple[int, int, int, bytes]]:
    """Markers up to the first scan's: where each was looked for, where it ends, code, content."""
    at, last, found = len(_START), len(data) - 4, []
    while True:
        # (Nearly always a marker stands where the one before ends.)
        if at < last and data[at] == 0xFF and data[at + 1] not in (0, 0xFF):
            code, end = data[at + 1], at + 2
        else:
            code, end = _next_marker(data, at)
        if code == END[1]:
            raise BadJpeg("no scan")
        body = b"" if code in _BARE else _segment(data, end)
        found.append((at, end, code, body))
        if code == _SCAN:
            return found
        at = end if code in _BARE else end + 2 + len(body)


def read_header(data: bytes) -> Header:
    """The header of a JPEG file; BadJpeg for what is none."""
    before, behind, known = _last[0]
    at = len(before)
    if known.height and data.startswith(before) and data.startswith(behind, at + _SIZE):
        height, width = _size(data, at)
        if (height, width) == (known.height, known.width):
            return known
        if 0 < height <= _LONGEST and 0 < width <= _LONGEST:
            return replace(known, height=height, width=width)
    found, at = _read(data)
    if found.cleaned is None:
        length = int.from_bytes(data[found.scan : found.scan + 2], "big")
        _last[0] = data[:at], data[at + _SIZE : found.scan + length], found
    return found


def _size(data: bytes, at: int) -> tuple[int, int]:
    """Height and width, where they stand in a frame."""
    return int.from_bytes(data[at : at + 2], "big"), int.from_bytes(data[at + 2 : at + 4], "big")


def _read(data: bytes) -> tuple[Header, int]:
    """The header, and where the size of the picture stands."""
    if not data.startswith(_START):
        raise BadJpeg("no JPEG file")
    segments = _segments(data)
    frame, is_progressive, has_jfif_marker, adobe, names = None, False, False, b"", b""
    size_at = 0
    for _, end, code, body in segments:
        if code in _OTHER_FRAMES or (code in _FRAMES and frame):
            raise BadJpeg("a frame that is not supported")
        if code in _FRAMES:
            frame, is_progressive, names = _frame(body), code in _PROGRESSIVE, body[6::3]
            size_at = end + 3  # behind the length of the segment, and the precision
        elif code == _APP0:
            has_jfif_marker = has_jfif_marker or _is_jfif(code, body)
        elif code == _APP14 and _is_adobe(code, body):
            adobe = body
    if frame is None:
        raise BadJpeg("a scan before its frame")
    cleaned = None
    if any(end != at + 2 for at, end, _, _ in segments):
        kept = [_whole(code, body) for _, _, code, body in segments[:-1]]
        cleaned = b"".join([_START, *kept, data[segments[-1][1] - 2 :]])
    end = segments[-1][1]
    scan = end if cleaned is None else len(cleaned) - len(data) + end
    # Without a marker that says so the names of the components tell.
    says_rgb = not adobe[11] if adobe else names == b"RGB"
    is_rgb = says_rgb and not has_jfif_marker
    return Header(*frame, is_progressive, bool(adobe), is_rgb, scan, cleaned), size_at


# Of the last file what stands before its size, and behind that up to its scan; and its header.
# Files of one maker often begin alike.
_NONE = Header(0, 0, (), False, False, False, 0, None)
_SIZE = 4
_last: list[tuple[bytes, bytes, Header]] = [(b"", b"", _NONE)]


def _whole(code: int, body: bytes) -> bytes:
    if code in _BARE:
        return bytes((0xFF, code))
    return bytes((0xFF, code)) + (2 + len(body)).to_bytes(2, "big") + body


def as_samples(data: bytes) -> bytes:
    """The file, saying that its components are colours, as which they are decoded as they are."""
    kept = [_START, _RGB_MARKER]
    for _, end, code, body in _segments(data):
        if code == _SCAN:
            kept.append(data[end - 2 :])
        elif not _is_jfif(code, body) and not _is_adobe(code, body):
            kept.append(_whole(code, body))
    return b"".join(kept)
