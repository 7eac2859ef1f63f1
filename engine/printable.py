# SPDX-License-Identifier: Apache-2.0
"""Text from files, as terminals may have it: what would steer one is written out instead.

Names in a checkpoint, a graph or a kernel's labels are whatever their author put there: an escape
sequence could hide lines or change the terminal, a bidirectional override turn words around.
"""

from __future__ import annotations

import sys
from typing import IO, Any

# What stays as it is in texts of several lines.
LINES = "\n\t"


def printable(thing: object, keep: str = "") -> str:
    """The text of a thing with an escape such as \\x1b for all that is no visible character.

    keep: characters that stay as they are, such as ends of lines.
    """
    text = str(thing)
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() or c in keep else _escape(c) for c in text)


def _escape(character: str) -> str:
    code = ord(character)
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def say(*things: Any, file: IO[str] | None = None) -> None:
    """Like `print`, of lines."""
    print(*(printable(thing, LINES) for thing in things), file=file or sys.stdout)
