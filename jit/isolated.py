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
import subprocess
import sys
from collections.abc import Iterable, Sequence
from importlib.util import find_spec
from typing import Any

# The beginning of what such a process runs: `part` imports a module of the package, `requests` are
# the lines of its input, `replies` its output, into which nothing else is written.
_BEGINNING = """
import importlib, json, os, signal, struct, sys, time, types
from importlib.machinery import PathFinder
signal.signal(signal.SIGINT, signal.SIG_IGN)
requests, replies = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
os.dup2(2, 1)
root, folders, homes = json.loads(requests.readline())

class Homes:
    def find_spec(self, name, path=None, target=None):
        return PathFinder.find_spec(name, homes[name], target) if name in homes else None

    def find_distributions(self, context):
        where = types.SimpleNamespace(name=context.name, path=homes.get(context.name, []))
        return PathFinder.find_distributions(where)

sys.meta_path.insert(0, Homes())
sys.modules[root] = types.ModuleType(root)
sys.modules[root].__path__ = folders
part = lambda name: importlib.import_module(f"{root}.{name}")
"""
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


def start(program: str) -> subprocess.Popen[bytes]:
    """A process that runs a program, which reads lines of JSON from `requests`."""
    process = subprocess.Popen(_command(program), stdout=subprocess.PIPE, **_surroundings())
    send(process, _package())
    return process


def leave(program: str, *request: Any) -> None:
    """Starts a process that goes on by itself: it has no terminal and no pipe of this one, is in
    no group with it, and is nobody's child.  It finds `request` as a line of JSON."""
    process = subprocess.Popen(
        _command(_PARTING, program),
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


# The process that was started ends; its child goes on.
_PARTING = """
import os
if os.fork():
    os._exit(0)
"""


def _command(*programs: str) -> list[str]:
    *before, program = programs
    text = "".join((*before, _BEGINNING, program))
    return [os.path.abspath(sys.executable), "-I", "-S", "-c", text]


def _surroundings() -> dict[str, Any]:
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


# A helper may need Numba before this process does, and has it from where it was to be found before
# a program went on to change folders and paths.
_LATER = {"numba": _found("numba")}
