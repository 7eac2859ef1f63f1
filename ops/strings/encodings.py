# SPDX-License-Identifier: Apache-2.0
"""Bytes as Unicode characters and back, with what each character took: as ICU reads them.

Python's codecs tell where a text is malformed in the same pieces as ICU does; the differences
(what UTF-16 is without a mark, which names there are) are evened out here.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator

from ...engine import errors

# A character, how many bytes it took, and whether these were malformed.
Read = tuple[int, int, bool]

_REPLACEMENT = 0xFFFD
# What ICU gives for a text that is a mark and nothing else.
_NOTHING = 0xFFFF
_OUTPUTS = {"UTF-8": "utf-8", "UTF-16-BE": "utf-16-be", "UTF-32-BE": "utf-32-be"}
_LONE = re.compile("[\ud800-\udfff]")
# Of encodings whose name leaves the order of bytes open: what a mark at the start says.
_MARKS = {
    "utf-16": ((b"\xfe\xff", "utf-16-be"), (b"\xff\xfe", "utf-16-le")),
    "utf-32": ((b"\x00\x00\xfe\xff", "utf-32-be"), (b"\xff\xfe\x00\x00", "utf-32-le")),
}
# Where ICU's tables have another of Python's codecs.
_SUPERSETS = {"shift_jis": "cp932", "gbk": "cp936", "gb2312": "cp936"}
# The bytes that windows-1252 leaves open stand for the control characters of their numbers.
_OPEN = {"cp1252": frozenset(b"\x81\x8d\x8f\x90\x9d")}
# What Python calls text encodings beyond those of character sets.
_NO_CHARACTER_SETS = frozenset(
    "idna punycode undefined mbcs oem unicode-escape raw-unicode-escape".split()
)


def codec_name(encoding: str) -> str:
    """Python's name of an encoding; InvalidArgumentError where there is none."""
    try:
        found = codecs.lookup(encoding)
    except (LookupError, ValueError):
        found = None
    if found is None or found.name in _NO_CHARACTER_SETS or not found._is_text_encoding:
        raise errors.invalid(f"Could not create converter for input encoding: {encoding}")
    return _SUPERSETS.get(found.name, found.name)


class CharacterReader:
    """Reads texts of one encoding.

    What the first text in UTF-16 says of the order of bytes holds for all.
    """

    def __init__(self, encoding: str) -> None:
        self._codec = codec_name(encoding)
        self._is_marked = self._codec == "utf-16"
        self._open = _OPEN.get(self._codec, frozenset())

    def read(self, text: bytes) -> Iterator[Read]:
        """What a text consists of: malformed pieces count as U+FFFD."""
        codec, skipped = self._codec, 0
        if text and codec in _MARKS:
            codec, skipped = _by_mark(text, _MARKS[codec])
            if self._is_marked:
                self._codec = codec
        if self._is_marked and codec == "utf-16-be" and text == _MARKS["utf-16"][0][0]:
            yield _NOTHING, len(text), False
            return
        # A mark counts to the first character.
        for character, length, is_wrong in self._pieces(text[skipped:], codec):
            yield character, length + skipped, is_wrong
            skipped = 0

    def _pieces(self, text: bytes, codec: str) -> Iterator[Read]:
        while text:
            try:
                whole, wrong = text.decode(codec), b""
                text = b""
            except UnicodeDecodeError as error:
                whole, wrong = text[: error.start].decode(codec), text[error.start : error.end]
                text = text[error.end :]
            for character in whole:
                yield ord(character), _length(character, codec), False
            if wrong and wrong[0] in self._open:
                yield wrong[0], 1, False
            elif wrong:
                yield _REPLACEMENT, len(wrong), True


def _by_mark(text: bytes, marks: tuple[tuple[bytes, str], ...]) -> tuple[str, int]:
    """The codec that a text's mark says, and how long the mark is; big end first without one."""
    for mark, ordered in marks:
        if text.startswith(mark):
            return ordered, len(mark)
    return marks[0][1], 0


def _length(character: str, codec: str) -> int:
    return 1 if character < "\x80" and codec == "utf-8" else len(character.encode(codec))


def encoded(points: list[int], encoding: str) -> bytes:
    """Characters in one of the encodings that ops write; halves of pairs join."""
    text = "".join(map(chr, points))
    try:
        return text.encode(_OUTPUTS[encoding])
    except UnicodeEncodeError:
        units = text.encode("utf-16-be", "surrogatepass")
    if encoding == "UTF-16-BE":
        return units
    joined = units.decode("utf-16-be", "surrogatepass")
    if encoding == "UTF-8":
        return _LONE.sub(chr(_REPLACEMENT), joined).encode()
    return joined.encode("utf-32-be", "surrogatepass")
