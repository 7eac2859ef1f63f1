# SPDX-License-Identifier: Apache-2.0
"""Texts matched against regular expressions, of which Python's and RE2's notation share the core.

What only one of them has raises the error of an invalid pattern where Python does not know it.
Texts are matched by their characters of UTF-8; with `(?i)` letters beyond ASCII keep their case.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from ...engine import errors
from ...engine.api import export
from ...engine.dispatch import dispatched
from ...engine.graph import rowwise
from ...engine.graph.build import define
from ...engine.graph.registry import NoGradient
from ...engine.graph.tensor import Tensor
from ...engine.types.shape import TensorShape
from . import automaton, packing
from .files import text_array

if TYPE_CHECKING:
    from ...engine.graph.annotations import TensorLike
    from ...engine.graph.inference import ShapeContext
    from ...engine.graph.kernel_context import KernelContext

_NO_GRADIENT = NoGradient("texts have no gradient")
# RE2's notation for classes of ASCII -> Python's.
_CLASSES = {
    "[:alnum:]": "0-9A-Za-z",
    "[:alpha:]": "A-Za-z",
    "[:digit:]": "0-9",
    "[:lower:]": "a-z",
    "[:punct:]": r"!-/:-@\[-`{-~",
    "[:space:]": r"\t\n\v\f\r ",
    "[:upper:]": "A-Z",
    "[:word:]": "0-9A-Za-z_",
    "[:xdigit:]": "0-9A-Fa-f",
}
# Bytes that are no UTF-8, as texts have them here: for RE2 they are no characters.
_NO_CHARACTERS = "\udc80-\udcff"
_MULTILINE = re.compile(r"\(\?[a-zA-Z]*m")
# What a pattern consists of: an escape, a class of characters, or one character.
_UNICODE = r"\\[pP](?:\{\^?\w+\}|\w)"
_PIECE = re.compile(_UNICODE + r"|\\.|\[\^?\]?(?:\[:\^?[a-z]+:\]|\\.|[^\]\\])*\]|.", re.DOTALL)
# What a backslash begins in a new text: "\1" is a group, and two of them are one.
_ESCAPE = re.compile(r"\\(.?)", re.DOTALL)
_ESCAPED = frozenset("0123456789\\")
# Patterns that surely match no empty text: plain characters and classes, once or more often.
_NEVER_EMPTY = re.compile(r"(?:(?:[\w ,;:/-]|\\[dsw]|\[\^?[\w ,;:/-]+\])\+?)+", re.ASCII)


def _text(value: bytes) -> str:
    """A text by its characters, as RE2 reads it, such that `_bytes` gives the same bytes."""
    return value.decode("utf-8", "surrogateescape")


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


@functools.lru_cache(maxsize=256)
def _compiled(pattern: bytes) -> re.Pattern[str]:
    """For texts by their characters."""
    return _made(pattern, _text(pattern), _NO_CHARACTERS)


@functools.lru_cache(maxsize=256)
def _compiled_ascii(pattern: bytes) -> re.Pattern[str]:
    """For texts all of whose bytes are characters."""
    return _made(pattern, _text(pattern), "")


def _made(pattern: bytes, text: str, none: str) -> re.Pattern[str]:
    is_multiline = _MULTILINE.search(text) is not None
    written = _PIECE.sub(lambda piece: _as_python(piece[0], is_multiline, none), text)
    try:
        # The classes that a backslash names are of ASCII in RE2.
        return re.compile(written, re.ASCII)
    except re.error as error:
        shown = pattern.decode("utf-8", "backslashreplace")
        raise errors.invalid(f"Invalid pattern: {shown}, error: {error}") from None


def _unicode(escape: str) -> str | None:
    """The members of a class by its category in Unicode; few patterns have any."""
    from .unicode_classes import members

    return members(escape)


def _as_python(piece: str, is_multiline: bool, none: str) -> str:
    """A piece of a pattern of RE2's in Python's notation; `none`: what are no characters."""
    if piece[0] == "[" and len(piece) > 1:
        for name, members in _CLASSES.items():
            piece = piece.replace(name, members)
        piece = re.sub(_UNICODE, lambda found: _unicode(found[0]) or found[0], piece)
        return f"{piece[:-1]}{none}]" if piece[1] == "^" else piece
    if piece[:2] in (r"\p", r"\P"):
        inside = _unicode(piece)
        if inside == "":
            return "(?!)"
        if inside is not None:
            return f"(?:(?![{none}])[{inside}])" if none else f"[{inside}]"
    if none and piece in (".", r"\D", r"\S", r"\W"):
        return f"(?:(?![{none}]){piece})"
    # Python's `$` stands before a last line's end, too.
    if piece == r"\z" or (piece == "$" and not is_multiline):
        return r"\Z"
    return piece


def _scalar(value: np.ndarray, what: str) -> bytes:
    if value.ndim:
        raise errors.invalid(f"{what} must be scalar, but received {list(value.shape)}")
    return value.item()


def _matcher(texts: list[bytes], pattern: bytes) -> tuple[re.Pattern[str], list[str]]:
    """A pattern and texts, such that one can be held against the other."""
    whole = b"\0".join(texts)
    if not whole.isascii():
        return _compiled(pattern), list(map(_text, texts))
    plain = whole.decode().split("\0")
    # (A text with a zero byte would come apart.)
    if len(plain) != len(texts):
        plain = [text.decode() for text in texts]
    return _compiled_ascii(pattern), plain


def _hits(texts: np.ndarray, pattern: bytes, is_search: bool) -> np.ndarray | None:
    """Which of many texts match, or have a part that does, by a table; None where there is none."""
    if not packing.is_many(texts):
        return None
    found = automaton.automaton(_compiled_ascii(pattern), is_search)
    known = packing.gathered(texts) if found is not None else None
    if found is None or known is None or known[0].max(initial=0) > 127:
        return None
    return found.matches(*known).reshape(texts.shape)


def _match(texts: np.ndarray, pattern: bytes) -> np.ndarray:
    hits = _hits(texts, pattern, is_search=False)
    if hits is not None:
        return hits
    compiled, plain = _matcher(texts.reshape(-1).tolist(), pattern)
    found = map(bool, map(compiled.fullmatch, plain))
    return np.fromiter(found, bool, texts.size).reshape(texts.shape)


def _joined_bytes(texts: Sequence[str]) -> np.ndarray:
    """Texts as bytes."""
    whole = "\0".join(texts)
    parts = _bytes(whole).split(b"\0") if texts else []
    return text_array(parts if len(parts) == len(texts) else list(map(_bytes, texts)))


def _replace(c: KernelContext, texts: np.ndarray, pattern: bytes, rewrite: bytes) -> np.ndarray:
    hits = _hits(texts, pattern, is_search=True)
    if hits is None:
        return _all_replaced(c, texts, pattern, rewrite)
    # What has no match stays the object that it is.
    found = texts.copy()
    if hits.any():
        found[hits] = _all_replaced(c, texts[hits], pattern, rewrite)
    return found


def _all_replaced(
    c: KernelContext, texts: np.ndarray, pattern: bytes, rewrite: bytes
) -> np.ndarray:
    is_global = c.attr("replace_global")
    compiled, plain = _matcher(texts.reshape(-1).tolist(), pattern)
    parts = _ESCAPE.split(_text(rewrite))
    wrong = next((i for i in range(1, len(parts), 2) if parts[i] not in _ESCAPED), None)
    if wrong is not None:
        # RE2 logs the mistake, and goes on with what it has written before it, if it goes on.
        if not is_global:
            return texts.copy()
        parts = parts[:wrong]

    def written(match: re.Match[str]) -> str:
        pieces = []
        for i, part in enumerate(parts):
            if i % 2 == 0 or part == "\\":
                pieces.append(part)
            elif int(part) <= compiled.groups:
                pieces.append(match[int(part)] or "")
        return "".join(pieces)

    # What is the same for all matches is put there without a call of Python's for each.
    new = written if len(parts) > 1 else parts[0]
    if not is_global:
        found = [compiled.sub(new, text, 1) for text in plain]
    elif _NEVER_EMPTY.fullmatch(compiled.pattern):
        found = list(map(partial(compiled.sub, new), plain))
    else:
        found = [
            _replaced(text, compiled, written) if compiled.search(text) else text for text in plain
        ]
    return _joined_bytes(found).reshape(texts.shape)


def _replaced(text: str, compiled: re.Pattern[str], written: Callable[[re.Match[str]], str]) -> str:
    """A text with all matches replaced, but for empty ones at the end of the last match."""
    pieces, at, end = [], 0, -1
    while match := compiled.search(text, at) if at <= len(text) else None:
        pieces.append(text[at : match.start()])
        if match.start() == match.end() == end:
            # RE2 goes on behind the next character, where `re.sub` tries other matches here.
            pieces.append(text[at : at + 1])
            at += 1
        else:
            pieces.append(written(match))
            at = end = match.end()
    return "".join([*pieces, text[at:]])


def _like_first(c: ShapeContext) -> TensorShape:
    for shape in c.inputs[1:]:
        shape.assert_has_rank(0)
    return c.inputs[0]


def _texts() -> np.ndarray:
    return np.array([b"aab", b"b", b"", b"xaa"], object)


_full_match = define(
    "RegexFullMatch",
    "input: string, pattern: string -> output: bool",
    shape=_like_first,
    kernel=lambda c, texts, pattern: _match(texts, _scalar(pattern, "Pattern")),
    rows=rowwise.of_first,
    gradient=_NO_GRADIENT,
    doc="Whether each whole text matches the pattern.",
    test=lambda: {
        "values": [
            [_texts(), np.array(b"a+b?", object)],
            [_texts(), np.array(b"[[:alpha:]]", object)],
        ]
    },
)
_static_full_match = define(
    "StaticRegexFullMatch",
    "input: string -> output: bool",
    "pattern: string",
    shape=_like_first,
    kernel=lambda c, texts: _match(texts, c.attr("pattern").encode()),
    rows=rowwise.of_first,
    gradient=_NO_GRADIENT,
    doc="Whether each whole text matches the pattern.",
    test=lambda: {"attrs": [{"pattern": "a+b?"}], "values": [[_texts()]]},
)
_regex_replace = define(
    "RegexReplace",
    "input: string, pattern: string, rewrite: string -> output: string",
    "replace_global: bool = True",
    shape=_like_first,
    kernel=lambda c, texts, pattern, rewrite: _replace(
        c, texts, _scalar(pattern, "Pattern"), _scalar(rewrite, "Rewrite")
    ),
    rows=rowwise.of_first,
    gradient=_NO_GRADIENT.silently,
    doc="Replaces what matches the pattern; `\\1` in the new text is the first group.",
    test=lambda: {"values": [[_texts(), np.array(b"(a)", object), np.array(rb"<\1>", object)]]},
)
_static_regex_replace = define(
    "StaticRegexReplace",
    "input: string -> output: string",
    "pattern: string; rewrite: string; replace_global: bool = True",
    shape=_like_first,
    kernel=lambda c, texts: _replace(
        c, texts, c.attr("pattern").encode(), c.attr("rewrite").encode()
    ),
    rows=rowwise.of_first,
    gradient=_NO_GRADIENT,
    doc="Replaces what matches the pattern; `\\1` in the new text is the first group.",
    test=lambda: {"attrs": [{"pattern": "a+", "rewrite": rb"\0b"}], "values": [[_texts()]]},
)


def _is_text(value: TensorLike) -> bool:
    return isinstance(value, (str, bytes))


@export("strings.regex_full_match")
@dispatched
def regex_full_match(input: TensorLike, pattern: TensorLike, name: str | None = None) -> Tensor:
    """Whether each whole text matches a regular expression.

    Args:
      input: A string tensor.
      pattern: A text or scalar string tensor.
      name: A name for the node.

    Returns:
      A bool tensor of the same shape.
    """
    if _is_text(pattern):
        return _static_full_match(input, pattern=pattern, name=name)
    return _full_match(input, pattern, name=name)


@export("strings.regex_replace", "regex_replace")
@dispatched
def regex_replace(
    input: TensorLike,
    pattern: TensorLike,
    rewrite: str,
    replace_global: bool = True,
    name: str | None = None,
) -> Tensor:
    """Replaces in each text what matches a regular expression.

    Args:
      input: A string tensor.
      pattern: A text or scalar string tensor.
      rewrite: What to put there; `\\1` to `\\9` are groups, `\\0` is the whole match.
      replace_global: Whether to replace all matches or only the first.
      name: A name for the node.

    Returns:
      A string tensor of the same shape.
    """
    options: dict[str, Any] = {"replace_global": replace_global, "name": name}
    if _is_text(pattern) and _is_text(rewrite):
        return _static_regex_replace(input, pattern=pattern, rewrite=rewrite, **options)
    return _regex_replace(input, pattern, rewrite, **options)
