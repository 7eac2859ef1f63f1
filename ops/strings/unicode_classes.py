# SPDX-License-Identifier: Apache-2.0
"""Classes of characters by Unicode's general categories, as RE2 names them: `\\p{Lu}`, `\\pL`."""

from __future__ import annotations

import functools
import re
import sys
import unicodedata

# An escape of such a class: with P, or with a caret, all other characters.
CLASS = re.compile(r"\\([pP])(?:\{(\^?)([A-Za-z]+)\}|([A-Z]))")
_NAME = re.compile(r"[CLMNPSZ][a-z]?")


@functools.cache
def _categories() -> tuple[tuple[int, str], ...]:
    """The first character of each stretch of one category, and the category."""
    found: list[tuple[int, str]] = []
    for number in range(sys.maxunicode + 1):
        category = unicodedata.category(chr(number))
        if not found or found[-1][1] != category:
            found.append((number, category))
    return tuple(found)


@functools.cache
def _members(name: str, is_other: bool) -> str:
    starts = _categories()
    ends = [first - 1 for first, _ in starts[1:]] + [sys.maxunicode]
    ranges = [
        f"\\U{first:08x}-\\U{last:08x}"
        for (first, category), last in zip(starts, ends, strict=True)
        if category.startswith(name) != is_other
    ]
    return "".join(ranges)


def members(escape: str) -> str | None:
    """What stands in brackets for a class; None where there is no such category."""
    found = CLASS.fullmatch(escape)
    if found is None:
        return None
    name = found[3] or found[4]
    if name != "Any" and not _NAME.fullmatch(name):
        return None
    is_other = (found[1] == "P") != bool(found[2])
    return _members("" if name == "Any" else name, is_other)
