# SPDX-License-Identifier: Apache-2.0
"""Further Python processes, which run this package's code and nothing that lies about.

Such a process imports what this one has imported, from the same folders, and of this package the
modules that it asks for.  It looks through no path that a program, the folder that it lies in, the
current folder or PYTHONPATH could have put something into.
"""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from importlib.machinery import ModuleSpec
from importlib.util import decode_source, find_spec
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from . import isolated_entry

if TYPE_CHECKING:
    import subprocess

# What such a process runs: a function of a module of this package, called with the stream that it
# reads lines of JSON from, and the one that it replies to, into which nothing else is written.
Task = Callable[[IO[bytes], IO[bytes]], None]
# Packages that they import; what of them this process has not imported, they do without.
_PACKAGES = ("numpy", "llvmlite", "numba", "scipy", "ml_dtypes")
# What they need of the environment: where the system finds libraries and temporary files, and what
# the compiler is told.  Nothing of Python's, which they ignore anyway.
_VARIABLES = re.compile(
    r"(NUMBA|NUMBAFLOW|LLVM|LD|DYLD|LC|OMP|KMP|GOMP|OPENBLAS|MKL)_.*"
    r"|PATH|HOME|LANG|TMPDIR|TEMP|TMP|SYSTEMROOT|SYSTEMDRIVE|WINDIR|USERPROFILE"
)


def is_supported() -> bool:
    """Is there a Python to start?  A program with Python inside, or a frozen one, has none."""
    is_python = "python" in os.path.basename(sys.executable or "").lower()
    return is_python and not getattr(sys, "frozen", False)


def start(task: Task) -> subprocess.Popen[bytes]:
    """A process that runs a function."""
    import subprocess

    process = subprocess.Popen(_command(task), stdout=subprocess.PIPE, **_surroundings())
    send(process, _package())
    return process


def leave(task: Task, *request: Any) -> None:
    """Starts a process that goes on by itself: it has no terminal and no pipe of this one, is in
    no group with it, and is nobody's child.  It finds `request` as a line of JSON."""
    import subprocess

    process = subprocess.Popen(
        _command(task, is_left=True),
        stdout=subprocess.DEVNULL,
        start_new_session=True,
        **_surroundings(),
    )
    # All of it fits into the pipe, so nobody waits for the other end.
    send(process, _package())
    send(process, request)
    assert process.stdin is not None
    process.stdin.close()
    process.wait()  # for the first of two, which ends at once


def _command(task: Task, is_left: bool = False) -> list[str]:
    call = f"call({task.__module__!r}, {task.__name__!r}, {is_left})\n"
    return [os.path.abspath(sys.executable), "-I", "-S", "-c", _beginning() + call]


@cache
def _beginning() -> str:
    """The text of jit/isolated_entry.py, wherever the package lies."""
    spec = isolated_entry.__spec__
    text = source_of(spec) if spec else None
    if text is None:
        raise RuntimeError(f"the source of {isolated_entry.__name__} is not there")
    return str(text)


def source_of(spec: ModuleSpec) -> str | None:
    """The source of a module; None where its loader says that there is none."""
    get_source = getattr(spec.loader, "get_source", None)
    if get_source is not None:
        return get_source(spec.name)  # type: ignore[no-any-return]
    # Loaders of others, such as pytest's of packages that bring plugins, know only where it is.
    return decode_source(Path(spec.origin).read_bytes()) if spec.origin else None


def _surroundings() -> dict[str, Any]:
    import subprocess

    return {
        "stdin": subprocess.PIPE,
        "stderr": subprocess.DEVNULL,
        "cwd": os.path.dirname(os.path.abspath(sys.executable)),
        "env": _environment(),
    }


def _package() -> tuple[str, list[str], dict[str, list[str]]]:
    """This package's name, and the folders of it and of those that it needs."""
    root = __name__.rpartition(".jit.")[0]
    return root, _absolute(sys.modules[root].__path__), _homes()


def send(process: subprocess.Popen[bytes], thing: Sequence[Any]) -> None:
    """Gives a process a line of JSON."""
    assert process.stdin is not None
    process.stdin.write(json.dumps(thing).encode() + b"\n")
    process.stdin.flush()


def _environment() -> dict[str, str]:
    return {name: text for name, text in os.environ.items() if _VARIABLES.fullmatch(name.upper())}


def _homes() -> dict[str, list[str]]:
    """The folders that the packages are in."""
    found = {name: _folders(name) for name in _PACKAGES}
    return {name: list(map(os.path.dirname, folders)) for name, folders in found.items() if folders}


def _folders(name: str) -> list[str]:
    module = sys.modules.get(name)
    return _LATER.get(name, []) if module is None else _absolute(module.__path__)


def _absolute(folders: Iterable[str]) -> list[str]:
    return [os.path.abspath(folder) for folder in folders]


def _found(name: str) -> list[str]:
    """Where this process would import a package from."""
    spec = find_spec(name)
    return _absolute(spec.submodule_search_locations or ()) if spec else []


# A helper may need the compiler before this process does, and has it from where it was to be found
# before a program went on to change folders and paths.
_LATER = {name: _found(name) for name in ("numba", "llvmlite")}
