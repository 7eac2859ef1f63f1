# SPDX-License-Identifier: Apache-2.0
"""Texts matched against regular expressions, of which Python's and RE2's notation share the core.

What only one of them has raises the error of an invalid pattern where Python does not know it.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ...engine import errors
from ...engine.api import export
from ...engine.graph.build import define
from ...engine.graph.registry import NoGradient
from ...engine.graph.tensor import Tensor
from ...engine.types.shape import TensorShape

if TYPE_CHECKING:
    from ...engine.graph.annotations import TensorLike
    from ...engine.graph.inference import ShapeContext
    from ...engine.graph.kernel_context import KernelContext

_NO_GRADIENT = NoGradient("texts have no gradient")
# RE2's notation -> Python's.
_CLASSES = {
    b"[:alnum:]": b"0-9A-Za-z",
    b"[:alpha:]": b"A-Za-z",
    b"[:digit:]": b"0-9",
    b"[:lower:]": b"a-z",
    b"[:punct:]": rb"!-/:-@\[-`{-~",
    b"[:space:]": rb"\t\n\v\f\r ",
    b"[:upper:]": b"A-Z",
    b"[:word:]": b"0-9A-Za-z_",
    b"[:xdigit:]": b"0-9A-Fa-f",
}


@functools.lru_cache(maxsize=256)
def _compiled(pattern: bytes) -> re.Pattern[bytes]:
    text = pattern.replace(rb"\z", rb"\Z")
    for name, members in _CLASSES.items():
        text = text.replace(name, members)
    try:
        return re.compile(text)
    except re.error as error:
        shown = pattern.decode("utf-8", "backslashreplace")
        raise errors.invalid(f"Invalid pattern: {shown}, error: {error}") from None


def _scalar(value: np.ndarray, what: str) -> bytes:
    if value.ndim:
        raise errors.invalid(f"{what} must be scalar, but received {list(value.shape)}")
    return value.item()


def _each(texts: np.ndarray, function: Callable[[bytes], Any], dtype: Any) -> np.ndarray:
    result = np.empty(texts.shape, dtype)
    result.reshape(-1)[:] = [function(text) for text in texts.reshape(-1)]
    return result


def _match(texts: np.ndarray, pattern: bytes) -> np.ndarray:
    compiled = _compiled(pattern)
    return _each(texts, lambda text: compiled.fullmatch(text) is not None, bool)


def _replace(c: KernelContext, texts: np.ndarray, pattern: bytes, rewrite: bytes) -> np.ndarray:
    compiled = _compiled(pattern)
    # "\1" is a group in both; Python reads letters behind a backslash too, and \0 otherwise.
    parts = re.split(rb"\\([0-9\\])", rewrite)

    def written(match: re.Match[bytes]) -> bytes:
        pieces = []
        for i, part in enumerate(parts):
            is_group = i % 2 and part != b"\\"
            pieces.append((match[int(part)] or b"") if is_group else part)
        return b"".join(pieces)

    count = 0 if c.attr("replace_global") else 1
    return _each(texts, lambda text: compiled.sub(written, text, count), object)


def _like_first(c: ShapeContext) -> TensorShape:
    for shape in c.inputs[1:]:
        shape.assert_has_rank(0)
    return c.inputs[0]


_TEXTS = np.array([b"aab", b"b", b"", b"xaa"], object)
_full_match = define(
    "RegexFullMatch",
    "input: string, pattern: string -> output: bool",
    shape=_like_first,
    kernel=lambda c, texts, pattern: _match(texts, _scalar(pattern, "Pattern")),
    gradient=_NO_GRADIENT,
    doc="Whether each whole text matches the pattern.",
    test={
        "values": [[_TEXTS, np.array(b"a+b?", object)], [_TEXTS, np.array(b"[[:alpha:]]", object)]]
    },
)
_static_full_match = define(
    "StaticRegexFullMatch",
    "input: string -> output: bool",
    "pattern: string",
    shape=_like_first,
    kernel=lambda c, texts: _match(texts, c.attr("pattern").encode()),
    gradient=_NO_GRADIENT,
    doc="Whether each whole text matches the pattern.",
    test={"attrs": [{"pattern": "a+b?"}], "values": [[_TEXTS]]},
)
_regex_replace = define(
    "RegexReplace",
    "input: string, pattern: string, rewrite: string -> output: string",
    "replace_global: bool = True",
    shape=_like_first,
    kernel=lambda c, texts, pattern, rewrite: _replace(
        c, texts, _scalar(pattern, "Pattern"), _scalar(rewrite, "Rewrite")
    ),
    gradient=_NO_GRADIENT,
    doc="Replaces what matches the pattern; `\\1` in the new text is the first group.",
    test={"values": [[_TEXTS, np.array(b"(a)", object), np.array(rb"<\1>", object)]]},
)
_static_regex_replace = define(
    "StaticRegexReplace",
    "input: string -> output: string",
    "pattern: string; rewrite: string; replace_global: bool = True",
    shape=_like_first,
    kernel=lambda c, texts: _replace(
        c, texts, c.attr("pattern").encode(), c.attr("rewrite").encode()
    ),
    gradient=_NO_GRADIENT,
    doc="Replaces what matches the pattern; `\\1` in the new text is the first group.",
    test={"attrs": [{"pattern": "a+", "rewrite": rb"\0b"}], "values": [[_TEXTS]]},
)


def _is_text(value: TensorLike) -> bool:
    return isinstance(value, (str, bytes))


@export("strings.regex_full_match")
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
