# SPDX-License-Identifier: Apache-2.0
"""What a test needs, by its marker; and that tests which compile nothing keep to what they say."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache, wraps
from typing import Any

import pytest

from numbaflow.engine.session.session import BaseSession
from numbaflow.jit.codegen import compile as compiler

# Every test has one of these, its own or else its file's; see pyproject.toml.
NEEDS = ("pure", "programs", "text", "growth", "process", "cpu", "tf")
# Of these nothing is started and nothing compiled.
QUIET = NEEDS[:4]
_STARTS = frozenset("subprocess.Popen os.fork os.forkpty os.posix_spawn os.system os.exec".split())


class Impure(RuntimeError):
    """A test does what its marker says that it does not."""


@dataclass
class _Watched:
    """A quiet test that runs, the threads of others, and what it did that it may not."""

    name: str
    marker: str
    others: frozenset[threading.Thread]
    done: list[str] = field(default_factory=list)


_running: list[_Watched] = []


def distribute(items: Sequence[pytest.Item]) -> None:
    """A file's marker is that of its tests, but for those that have one of their own."""
    files = {file: _needs(file) for file in {item.getparent(pytest.Module) for item in items}}
    for file, marks in files.items():
        if file is not None:
            file.own_markers = [mark for mark in file.own_markers if mark not in marks]
    wrong = []
    for item in items:
        own = _needs(item)
        for mark in [] if own else files[item.getparent(pytest.Module)]:
            item.add_marker(mark.name)
        needs = {mark.name for mark in _needs(item)}
        if not needs or (needs & set(QUIET) and len(needs) > 1):
            wrong.append(f"{item.nodeid} is marked {sorted(needs)}")
    if wrong:
        told = "\n".join(wrong)
        few, many = ", ".join(QUIET), ", ".join(NEEDS[len(QUIET) :])
        raise pytest.UsageError(f"a test is one of {few}, or one or more of {many}:\n{told}")


def _needs(node: Any) -> list[pytest.Mark]:
    return [mark for mark in (node.own_markers if node else ()) if mark.name in NEEDS]


@contextmanager
def kept_quiet(name: str, marker: str) -> Iterator[None]:
    """Within it no process is started and no machine code asked for, in threads of its own too;
    nor is a session run, if the marker is `pure`."""
    _watch()
    this = threading.current_thread()
    others = frozenset(one for one in threading.enumerate() if one is not this)
    watched = _Watched(name, marker, others)
    _running.append(watched)
    try:
        yield
    finally:
        _running.clear()
        # A run may take the error for one of the compiler, and fall back to reference kernels.
        if watched.done:
            pytest.fail(watched.done[0])


def _refuse(what: str, marker: str, among: Sequence[str] = QUIET) -> None:
    for watched in _running:
        if watched.marker in among and threading.current_thread() not in watched.others:
            told = f"{watched.name} is marked {watched.marker}, but {what}: mark it {marker}"
            watched.done.append(told)
            raise Impure(told)


@cache
def _watch() -> None:
    def listen(event: str, arguments: tuple[Any, ...]) -> None:
        if event in _STARTS:
            _refuse(f"starts a process ({event})", "process")

    sys.addaudithook(listen)
    compile_kernels = compiler.compile_kernels

    def watched(wanted: Sequence[compiler.Wanted]) -> list[compiler.Compiled]:
        names = ", ".join(kernel.name for kernel, _ in wanted)
        _refuse(f"wants machine code ({names})", "cpu")
        return compile_kernels(wanted)

    compiler.compile_kernels = watched

    # Not `run` itself, whose caller is the user's line.
    find = BaseSession._find

    @wraps(find)
    def watched_find(*args: Any, **named: Any) -> Any:
        _refuse("runs a session", "programs", ("pure",))
        return find(*args, **named)

    BaseSession._find = watched_find  # type: ignore[method-assign]
