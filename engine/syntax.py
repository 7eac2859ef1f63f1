# SPDX-License-Identifier: Apache-2.0
"""Python texts as syntax trees, made in one go.

CPython (3.11, for one) counts how deep a tree is in a variable that all threads share.  If garbage
is collected while a thread makes one, and that runs Python, another thread may make one meanwhile,
and the first fails with "AST constructor recursion depth mismatch".  Threads that compile kernels
make trees whenever they like.  Imports nothing from the package.
"""

from __future__ import annotations

import ast
import gc
import threading
from typing import Any

_LOCK = threading.Lock()


def tree_of(text: str | bytes, mode: str = "exec", file: str = "<unknown>") -> Any:
    """The tree of a text, as `ast.parse` makes it; SyntaxError says what is wrong with one."""
    with _LOCK:
        was_enabled = gc.isenabled()
        gc.disable()
        try:
            return compile(text, file, mode, ast.PyCF_ONLY_AST, dont_inherit=True)
        finally:
            if was_enabled:
                gc.enable()
