# SPDX-License-Identifier: Apache-2.0
"""Tells programs of Python 2 by the errors in which they end."""

from __future__ import annotations

import re

from .table import PYTHON_2_MODULES, PYTHON_2_NAMES

_MESSAGES = re.compile(
    r"Missing parentheses in call to '(print|exec)'|multiple exception types must be parenth|"
    r"leading zeros in decimal integer|inconsistent use of tabs"
)
# Statements that only Python 2 takes.
_LINES = re.compile(
    r"^\s*(print\s+[^\s(=]|exec\s+[^\s(=]|raise\s+\w+\s*,|except\s+[\w.]+\s*,\s*\w+\s*:)|<>|"
    r"\b0[0-7]+\b|\b\d+L\b|\bur['\"]"
)


def file_of(error: BaseException) -> str:
    """The file that is written for Python 2, if that is why the error came; else nothing."""
    if isinstance(error, SyntaxError):
        found = _MESSAGES.search(error.msg or "") or _LINES.search(error.text or "")
        return str(error.filename) if found else ""
    is_old = (isinstance(error, ModuleNotFoundError) and error.name in PYTHON_2_MODULES) or (
        isinstance(error, NameError) and error.name in PYTHON_2_NAMES
    )
    trace = error.__traceback__
    if not is_old or trace is None:
        return ""
    while trace.tb_next is not None:
        trace = trace.tb_next
    file = trace.tb_frame.f_code.co_filename
    return "" if file.startswith("<") else file
