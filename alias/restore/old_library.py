# SPDX-License-Identifier: Apache-2.0
"""Small functions of Python's library that are gone."""

from __future__ import annotations

import html
import platform
from typing import Any


def escape(s: str, quote: bool = False) -> str:
    """`cgi.escape`: quotes stay, unless asked."""
    text = html.escape(s, quote=False)
    return text.replace('"', "&quot;") if quote else text


def unescape(self: Any, s: str) -> str:
    """`HTMLParser.unescape`."""
    del self
    return html.unescape(s)


def maketrans(frm: Any, to: Any) -> Any:
    """`string.maketrans`, of text or bytes."""
    return bytes.maketrans(frm, to) if isinstance(frm, bytes) else str.maketrans(frm, to)


def linux_distribution(*args: Any, **kwargs: Any) -> tuple[str, str, str]:
    """(name, version, code name) of the system, of its own file."""
    del args, kwargs
    try:
        facts = platform.freedesktop_os_release()
    except OSError:
        return "", "", ""
    name, version = facts.get("NAME", ""), facts.get("VERSION_ID", "")
    return name, version, facts.get("VERSION_CODENAME", "")


dist = linux_distribution


def errmsg(msg: str, doc: str, pos: int, end: int | None = None) -> str:
    """Where in a text JSON is wrong."""
    del end
    line = doc.count("\n", 0, pos) + 1
    return f"{msg}: line {line} column {pos - doc.rfind(chr(10), 0, pos)} (char {pos})"
