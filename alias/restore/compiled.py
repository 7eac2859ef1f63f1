# SPDX-License-Identifier: Apache-2.0
"""Compiles files of programs and libraries as rewriting.py does, and keeps the code in the cache.

Python keeps what it compiles in `__pycache__`, which other interpreters read, too, and which
libraries may not be able to write.  Reading a file's text and changing it takes as long as
training a small network for some hundred steps; a library such as Keras has a hundred files.
"""

from __future__ import annotations

import atexit
import functools
import hashlib
import marshal
import os
import sys
from types import CodeType
from typing import Any

from . import rewriting, table

# Shorter files are compiled as fast as they are found.
_LEAST_BYTES = 1024
# What this process compiled, by the text of its key; written when it ends.
_NEW: dict[str, bytes] = {}


def compile_program(source: bytes | str, path: str) -> CodeType:
    """The code of a file of the program, from the cache if it is there.

    Args:
        source: what the file holds.
        path: where it lies, for tracebacks.

    Raises:
        SyntaxError: as `compile` does.
    """
    if len(source) < _LEAST_BYTES:
        return rewriting.compile_program(source, path)
    text = _key_text(source, path)
    found = _stored(text)
    if found is None:
        from ...engine.gc_pause import held_up

        with held_up():  # A file is some thousand nodes.
            found = rewriting.compile_program(source, path)
        if not _NEW:
            atexit.register(_write)
        _NEW[text] = marshal.dumps(found)
    return found


def _stored(text: str) -> CodeType | None:
    folder = _folder()
    content = folder.load(text)
    if content is None:
        return None
    try:
        found = marshal.loads(content)
    except (ValueError, EOFError, TypeError) as error:
        folder.reject(text, str(error))
        return None
    return found if isinstance(found, CodeType) else None


def _write() -> None:
    _folder().save(_NEW)
    _NEW.clear()


def _folder() -> Any:
    from ...jit.cache.program_files import PROGRAMS

    return PROGRAMS


def _key_text(source: bytes | str, path: str) -> str:
    data = source.encode() if isinstance(source, str) else source
    labels = {**labels_of_all(), "file": path, "text": hashlib.blake2b(data).hexdigest()}
    return "".join(f"{name}: {value}\n" for name, value in labels.items())


@functools.cache
def labels_of_all() -> dict[str, str]:
    """Those labels of keys that are the same for all files of a process."""
    rules = hashlib.blake2b(digest_size=16)
    for module in (rewriting, table):
        status = os.stat(module.__file__ or "")
        rules.update(f"{status.st_size} {status.st_mtime_ns} ".encode())
    return {
        "python": f"{sys.implementation.cache_tag} {sys.hexversion:x} {sys.flags.optimize}",
        "rewriting": rules.hexdigest(),
    }
