# SPDX-License-Identifier: Apache-2.0
"""Messages as text, with long contents of tensors at once.

`google.protobuf.text_format` looks up each byte of them in Python and holds a list of them all, ten
times their size: a training set that stands in a graph as a constant would keep a session's start
for a minute.  The text is the same.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from typing import Any

import numpy as np

# Contents from so many bytes on are written here.
_LONG = 1 << 16
# Bytes that are escaped together.
_PIECE = 1 << 20
_NAMED = {
    ord("\t"): rb"\t",
    ord("\n"): rb"\n",
    ord("\r"): rb"\r",
    **{ord(letter): b"\\" + letter.encode() for letter in "\"'\\"},
}


def text_of(message: Any) -> bytes:
    """The text form of a message, as TensorFlow writes graphs into .pbtxt files."""
    from google.protobuf import text_format

    if message.ByteSize() < _LONG:
        return text_format.MessageToString(message).encode()
    short = type(message)()
    short.CopyFrom(message)
    mark, contents = secrets.token_hex(16).encode(), []
    for owner, name in list(_long_fields(short)):
        contents.append(getattr(owner, name))
        setattr(owner, name, mark)
    first, *rest = text_format.MessageToString(short).encode().split(mark)
    parts = [first]
    for content, behind in zip(contents, rest, strict=True):
        parts += [*_escaped(content), behind]
    return b"".join(parts)


def _long_fields(message: Any) -> Iterator[tuple[Any, str]]:
    """Messages within one, and the names of their long fields, in the order of the text."""
    for field, value in message.ListFields():
        if field.message_type is None:
            if isinstance(value, bytes) and len(value) >= _LONG:
                yield message, field.name
        elif field.message_type.GetOptions().map_entry:
            # (A map of numbers or texts has nothing long that could be put in again.)
            if field.message_type.fields_by_name["value"].message_type is not None:
                for key in sorted(value):
                    yield from _long_fields(value[key])
        elif hasattr(value, "ListFields"):
            yield from _long_fields(value)
        else:
            for each in value:
                yield from _long_fields(each)


def _escaped(content: bytes) -> Iterator[bytes]:
    """The bytes of a text's string literal, piece by piece."""
    texts = [_NAMED.get(i) or (bytes([i]) if 32 <= i < 127 else b"\\%03o" % i) for i in range(256)]
    # As words of four letters, of which fewer end in zeros, that no text has.
    words = np.frombuffer(b"".join(text.ljust(4, b"\0") for text in texts), np.uint32)
    for start in range(0, len(content), _PIECE):
        piece = np.frombuffer(content, np.uint8, min(_PIECE, len(content) - start), start)
        yield words[piece].tobytes().translate(None, b"\0")
