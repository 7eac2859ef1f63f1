# SPDX-License-Identifier: Apache-2.0
"""Errors end in the program's own line: our frames are left out of what they show.

Two things do it, and neither is on the way of a call that succeeds:

* Where operations are made and run, an `except` clause calls `shorten` and raises on.  It takes
  our frames out of the error, so that logs and `traceback.format_exc` do not have them either.
* What prints errors (Python, also in threads, IPython and pytest) takes out, or hides, the frames
  of the functions around that: `install`.

NUMBAFLOW_TRACEBACK=full leaves everything as it is.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Iterator
from functools import cache
from types import ModuleType, TracebackType
from typing import Any

from . import settings
from .api import ON_LOAD
from .hints import add_hint
from .signatures import held

# What we call: its frames are ours where we called it.
_LIBRARIES = (
    *("numpy", "numba", "llvmlite", "scipy", "google.protobuf", "google_crc32c", "cityhash"),
    *("ml_dtypes", "PIL", "fsspec", "typer", "rich", "absl"),
)
_PYTHON = os.path.dirname(os.__file__) + os.sep
_CONTEXTS = _PYTHON + "contextlib.py"
_INSTALLED = (f"{os.sep}site-packages{os.sep}", f"{os.sep}dist-packages{os.sep}")


def _own_prefixes() -> tuple[str, ...]:
    root = os.path.dirname(os.path.dirname(__file__))
    folders = ("engine", "ops", "jit", "train", "io", "cli", "alias")
    names = ("__init__.py", "__main__.py")
    inside = [os.path.join(root, folder) + os.sep for folder in folders]
    return (*inside, *(os.path.join(root, name) for name in names))


_OWN = _own_prefixes()


def is_own_file(filename: str) -> bool:
    """Whether code of a file is this package's."""
    return filename.startswith(_OWN)


def shorten(error: BaseException) -> None:
    """Takes our frames out of an error, and adds what to do about it.

    To be called in an `except` clause that ends in a plain `raise`: this adds no frame for the
    function that the clause is in, so the error then begins in the caller of that.
    """
    _explain(error)
    if not _shows_all() and _is_called_by_program():
        _cut(error)


def _explain(error: BaseException) -> None:
    nodes = list(_nodes(error.__traceback__))
    kept = _kept(nodes)
    # What the program's own functions raise is theirs to explain.
    if nodes and not (kept and kept[-1] is nodes[-1]):
        from .node_notes import describe_run

        describe_run(error)
        add_hint(error)


def _shows_all() -> bool:
    return bool(settings.get("traceback") == "full")


# Which frames are the program's


def _nodes(trace: TracebackType | None) -> Iterator[TracebackType]:
    while trace is not None:
        yield trace
        trace = trace.tb_next


def _file(node: TracebackType) -> str:
    return node.tb_frame.f_code.co_filename


@cache
def _is_library(filename: str) -> bool:
    """Whether a file belongs to Python or to what this package depends on."""
    if filename.startswith("<frozen "):
        return True
    if filename.startswith(_PYTHON) and not any(part in filename for part in _INSTALLED):
        return True
    folders = (
        path + os.sep
        for name in _LIBRARIES
        for path in getattr(sys.modules.get(name), "__path__", ())
    )
    return filename.startswith(tuple(folders))


def _kept(nodes: list[TracebackType]) -> list[TracebackType]:
    """The frames that are neither ours nor of what we called in turn."""
    own: list[bool] = []
    for node in nodes:
        file, below_own = _file(node), bool(own) and own[-1]
        own.append(is_own_file(file) or (below_own and _is_library(file)))
    # Entering one of our contexts goes through Python's.
    for i in reversed(range(len(nodes) - 1)):
        own[i] = own[i] or (own[i + 1] and _file(nodes[i]) == _CONTEXTS)
    return [node for node, is_own in zip(nodes, own) if not is_own]


def _users(trace: TracebackType | None) -> list[TracebackType]:
    """The frames of a traceback that are the program's, and not Python's around it."""
    return [node for node in _kept(list(_nodes(trace))) if not _is_library(_file(node))]


def _is_called_by_program() -> bool:
    """Whether the program's code is on the stack: threads of ours have only their own."""
    frame = sys._getframe(1)
    while frame is not None:
        file = frame.f_code.co_filename
        if not is_own_file(file) and not _is_library(file):
            return True
        frame = frame.f_back  # type: ignore[assignment]
    return False


# Cutting


def _cut(error: BaseException) -> None:
    """Takes our frames out of an error and out of the errors that it came from."""
    seen: set[int] = set()
    pending: list[BaseException | None] = [error]
    while pending:
        one = pending.pop()
        if one is None or id(one) in seen:
            continue
        seen.add(id(one))
        _pass_over_internal_errors(one)
        nodes = list(_nodes(one.__traceback__))
        kept = _kept(nodes)
        if len(kept) < len(nodes):
            one.with_traceback(_chain(kept))
        pending += [one.__cause__, None if one.__suppress_context__ else one.__context__]
        if isinstance(one, BaseExceptionGroup):
            pending += one.exceptions


def _chain(nodes: list[TracebackType]) -> TracebackType | None:
    end = None
    for node in reversed(nodes):
        end = TracebackType(end, node.tb_frame, node.tb_lasti, node.tb_lineno)
    return end


def _pass_over_internal_errors(error: BaseException) -> None:
    """Links an error to the nearest one before it that the program had a part in."""
    first = before = _before(error)
    link, passed = error, {id(error)}
    while before is not None and id(before) not in passed and _is_internal(before):
        passed.add(id(before))
        link, before = before, _before(before)
    if before is first:
        return
    if id(before) in passed:  # An error that several threads raise may lead to itself.
        before = None
    is_cause = link.__cause__ is before
    _set(error, "__cause__", before if is_cause else None)
    if before is not None and not is_cause:
        _set(error, "__context__", before)
    _set(error, "__suppress_context__", before is None or is_cause)


def _before(error: BaseException) -> BaseException | None:
    if error.__cause__ is not None or error.__suppress_context__:
        return error.__cause__
    return error.__context__


def _is_internal(error: BaseException) -> bool:
    """Whether it was raised and caught within this package."""
    trace = error.__traceback__
    nodes = list(_nodes(trace))
    return any(is_own_file(_file(node)) for node in nodes) and not _users(trace)


def _set(error: BaseException, name: str, value: Any) -> None:
    """Sets an attribute, also of an error whose class forbids it."""
    BaseException.__setattr__(error, name, value)


# What prints errors


def _presented(error: Any, trace: TracebackType | None) -> TracebackType | None:
    """The traceback to print for an error.  One without a line of the program's is left alone."""
    if not isinstance(error, Exception) or not _users(error.__traceback__):
        return trace
    _explain(error)
    if _shows_all():
        return trace
    _cut(error)
    return error.__traceback__


def install(package: str) -> None:
    """Has Python, IPython and pytest print errors without our frames."""
    _install_in_python()
    _install_in_ipython()
    _mark_modules(package)


def _install_in_python() -> None:
    print_error, print_error_of_thread = sys.excepthook, threading.excepthook

    def excepthook(kind: Any, error: Any, trace: Any) -> None:
        print_error(kind, error, _presented(error, trace))

    def thread_excepthook(raised: Any) -> None:
        trace = _presented(raised.exc_value, raised.exc_traceback)
        values = (raised.exc_type, raised.exc_value, trace, raised.thread)
        print_error_of_thread(threading.ExceptHookArgs(values))

    sys.excepthook, threading.excepthook = excepthook, thread_excepthook


def _install_in_ipython() -> None:
    get_shell = getattr(sys.modules.get("IPython"), "get_ipython", None)
    shell = None if get_shell is None else get_shell()
    # There is place for one; a program's own goes first.
    if shell is not None and not shell.custom_exceptions:
        shell.set_custom_exc((Exception,), _show_in_ipython)


def _show_in_ipython(shell: Any, kind: Any, error: Any, trace: Any, tb_offset: Any = None) -> None:
    shown = (kind, error, _presented(error, trace))
    shell.showtraceback(shown, tb_offset=tb_offset, running_compiled_code=True)


def _mark_modules(package: str) -> None:
    """Has pytest pass over the frames of all modules, those that are loaded later included."""

    def hides(raised: object) -> bool:
        del raised
        mark()
        return not _shows_all()

    def mark() -> None:
        # (A list of the items may be interrupted, by a thread that imports; a copy is not.)
        for name, module in sys.modules.copy().items():
            if name.startswith(inside) and isinstance(module, ModuleType):
                if "__file__" in held(module):
                    held(module).setdefault("__tracebackhide__", hides)

    def mark_later() -> None:
        # All modules are gone through, and a program loads a hundred times.
        if "_pytest" in sys.modules:
            mark()

    inside = package + "."
    mark()
    # Pytest asks the frames in their order, so that one of these may be the first of ours.
    ON_LOAD.append(mark_later)
