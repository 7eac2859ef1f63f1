# SPDX-License-Identifier: Apache-2.0
"""Tells programs of Python 2 by the errors in which they end."""

from __future__ import annotations

import re

from .table import PYTHON_2_METHODS, PYTHON_2_MODULES, PYTHON_2_NAMES

_MESSAGES = re.compile(
    r"Missing parentheses in call to '(print|exec)'|multiple exception types must be parenth|"
    r"leading zeros in decimal integer|inconsistent use of tabs"
)
# Statements that only Python 2 takes.
_LINES = re.compile(
    r"^\s*(print\s+[^\s(=]|exec\s+[^\s(=]|raise\s+\w+\s*,|except\s+[\w.]+\s*,\s*\w+\s*:)|<>|"
    r"\b0[0-7]+\b|\b\d+L\b|\bur['\"]"
)

# What gave lists.
_LISTS = re.compile(
    r"'(dict_keys|dict_values|dict_items|map|filter|zip)' object is not subscriptable|"
    r"object of type '(map|filter|zip)' has no len\(\)|"
    r"unsupported operand type\(s\) for \+: '(dict_keys|dict_values|dict_items|map|range)'"
)


def _is_old_method(error: AttributeError) -> bool:
    """Whether a method was asked for that dictionaries, files and generators had."""
    kind = type(error.obj)
    is_plain = kind.__module__ in ("builtins", "_io", "collections") and not isinstance(
        error.obj, type
    )
    return is_plain and error.name in PYTHON_2_METHODS


def file_of(error: BaseException) -> str:
    """The file that is written for Python 2, if that is why the error came; else nothing."""
    if isinstance(error, SyntaxError):
        found = _MESSAGES.search(error.msg or "") or _LINES.search(error.text or "")
        return str(error.filename) if found else ""
    is_old = (
        (isinstance(error, ModuleNotFoundError) and error.name in PYTHON_2_MODULES)
        or (isinstance(error, NameError) and error.name in PYTHON_2_NAMES)
        or (isinstance(error, AttributeError) and _is_old_method(error))
        or (isinstance(error, TypeError) and _LISTS.match(str(error)) is not None)
    )
    trace = error.__traceback__
    if not is_old or trace is None:
        return ""
    while trace.tb_next is not None:
        trace = trace.tb_next
    file = trace.tb_frame.f_code.co_filename
    return "" if file.startswith("<") else file
