# SPDX-License-Identifier: Apache-2.0
"""Graphs from outside: nodes that were imported under `untrusted_graph`, and what they may touch.

Such a node carries what it is permitted in an attribute, so that copies, functions and exported
graphs keep it.  Whatever runs an operation asks `kernel_of` for its kernel, and `require` before
anything of a run begins; what an op touches stands in its definition (engine/graph/registry.py).
"""

from __future__ import annotations

import functools
import glob
import os
import posixpath
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

from .. import errors, settings
from .registry import TOUCHED, OpDef, Touch

if TYPE_CHECKING:
    from .kernel_context import KernelContext
    from .operation import Operation

# The attribute of nodes from outside: kinds of things, b"read:" and b"write:" with the beginning of
# paths.
MARK = "_from_outside"
# Attributes by which nodes of one session find the same resource; where they are empty, "" or the
# node's name counts.  Those of nodes from outside get something in front.
_SHARING = {"container": lambda name: b"", "var_name": str.encode}
_OUTSIDE = b"from_outside/"
# What an op of another package may do whose definition does not say what it touches.
_UNSTATED = "anything"
_PACKAGE = __name__.partition(".")[0] + "."
_DEFAULT = ("output",)
# For messages: what is done with a kind of thing.
_DOING = {
    "files": "read files",
    "python": "call a Python function of this process",
    "output": "write to this process's streams or log",
    "session": "use what the session keeps for other nodes",
    _UNSTATED: "do what its definition does not say (touches= of define in engine/graph/build.py)",
}

Permissions = list[bytes]
# What nodes that are imported now are permitted; None: everything, they are the program's own.
_imports: ContextVar[Permissions | None] = ContextVar("numbaflow_imports")
# What nodes from outside are permitted besides, while something of the program runs them.
_runs: ContextVar[tuple[bytes, ...]] = ContextVar("numbaflow_runs", default=())


# What the program says


def current() -> Permissions | None:
    """What nodes that are imported now are permitted; None: they are the program's own."""
    try:
        return _imports.get()
    except LookupError:
        return permissions() if settings.get("trust") == "graph" else None


def permissions(allow: Iterable[str] = _DEFAULT, read: Iterable[Any] = ()) -> Permissions:
    """The permission to touch kinds of things, and to read what is in folders."""
    kinds = list(allow)
    for kind in kinds:
        if kind not in (*TOUCHED, _UNSTATED):
            raise ValueError(f"allow={kind!r}: it must be one of {(*TOUCHED, _UNSTATED)}")
    return [*(kind.encode() for kind in kinds), *map(_in_folder, read)]


@contextmanager
def importing(permitted: Permissions | None) -> Iterator[None]:
    """A context in which imported nodes are from outside with these permissions, or (None) not."""
    token = _imports.set(permitted)
    try:
        yield
    finally:
        _imports.reset(token)


def importing_from(folder: str) -> AbstractContextManager[None]:
    """A context in which nodes from outside are permitted to read the folder that they are from."""
    permitted = current()
    return importing(None if permitted is None else [*permitted, _in_folder(folder)])


@contextmanager
def permitting_checkpoint(prefix: str, is_written: bool = False) -> Iterator[None]:
    """A context in which nodes from outside may use the files whose names begin with a prefix."""
    found = _resolved(os.fsdecode(prefix))
    granted = [f"read:{found}"] + [f"write:{found}"] * is_written if found else []
    token = _runs.set((*_runs.get(), *map(os.fsencode, granted)))
    try:
        yield
    finally:
        _runs.reset(token)


# What nodes carry


def mark(attrs: dict[str, Any], definition: OpDef, node_name: str, permitted: Permissions) -> None:
    """Makes attributes those of a node from outside, whose resources nobody else finds by name."""
    attrs[MARK] = list(permitted)
    for attr in definition.attrs:
        if attr.name in _SHARING and attr.type == "string":
            name = attrs[attr.name] or _SHARING[attr.name](node_name)
            attrs[attr.name] = name if name.startswith(_OUTSIDE) else _OUTSIDE + name


def permitted_to(op: Operation) -> Permissions | None:
    """What an operation is permitted; None: everything, it is not from outside."""
    found = op._attrs.get(MARK)
    # Whatever else an imported node has there permits nothing.
    return found if found is None or isinstance(found, list) else []


def both(first: Permissions | None, second: Permissions | None) -> Permissions | None:
    """What is permitted by the one and by the other; None permits everything."""
    if first is None or second is None:
        return second if first is None else first
    return [item for item in first if item in second]


# What runs ask


def require(operations: Iterable[Operation]) -> None:
    """Raises PermissionDeniedError for an operation from outside that may surely not run."""
    for op in operations:
        if op._attrs.get(MARK) is not None:
            _check(op, None)


def kernel_of(op: Operation) -> Callable[..., Any] | None:
    """The kernel of an operation; that of one from outside refuses what it may not touch."""
    kernel = op.definition.kernel
    if kernel is None or op._attrs.get(MARK) is None or not touched(op.definition):
        return kernel
    return functools.partial(_guarded, op, kernel)


def _guarded(
    op: Operation, kernel: Callable[..., Any], context: KernelContext, *inputs: Any
) -> Any:
    _check(op, inputs)
    return kernel(context, *inputs)


def touched(definition: OpDef) -> tuple[Touch | None, ...]:
    """What an op touches; None stands for what is not stated by an op of another package."""
    if definition.touches is not None:
        return definition.touches
    if definition.kernel is None or definition.kernel.__module__.startswith(_PACKAGE):
        return ()  # The package's own definitions are tested to be complete.
    return (None,)


def _check(op: Operation, inputs: Sequence[Any] | None) -> None:
    permitted = {*(permitted_to(op) or ()), *_runs.get()}
    for touch in touched(op.definition):
        kind = _UNSTATED if touch is None else touch.kind
        if kind.encode() in permitted:
            continue
        paths = None if touch is None else _paths(op, touch, inputs)
        way = b"write:" if touch is not None and touch.writes else b"read:"
        folders = [os.fsdecode(p.removeprefix(way)) for p in permitted if p.startswith(way)]
        if paths is None:
            # What an input says is known when the kernel runs.
            if touch is not None and touch.path and folders and inputs is None:
                continue
            raise _refusal(op, kind, touch, _likely_path(op, touch))
        for path in paths:
            if not _is_among(path, folders):
                raise _refusal(op, kind, touch, path)


def _paths(op: Operation, touch: Touch, inputs: Sequence[Any] | None) -> list[str] | None:
    """The paths that an operation is about to touch; None when that is not known."""
    if not touch.path:
        return None
    names = [argument.name for argument in op.definition.inputs]
    if touch.path not in names:  # an attribute, "" where it is not used
        text = os.fsdecode(op._attrs[touch.path])
        return [text] if text and text.startswith(touch.scheme) else []
    if inputs is None:
        return None
    return [os.fsdecode(item) for item in inputs[names.index(touch.path)].flat]


def _likely_path(op: Operation, touch: Touch | None) -> str | None:
    """For messages: the path that the graph's constants say, if no other is fed."""
    from .constants import evaluate

    names = [argument.name for argument in op.definition.inputs]
    if touch is None or touch.path not in names:
        return None
    (source,) = op.grouped_inputs()[names.index(touch.path) :][:1]
    value = evaluate(source)
    return None if value is None or not value.size else os.fsdecode(value.ravel()[0])


def _refusal(op: Operation, kind: str, touch: Touch | None, path: str | None) -> errors.OpError:
    doing = _DOING[kind]
    if touch is not None and touch.writes:
        doing = doing.replace("read", "write")
    what = "" if path is None else f" ({path!r})"
    stands_for = op._stands_for or op
    return errors.PermissionDeniedError(
        None,
        stands_for,
        f"Node '{op.name}' ({op.type}) was imported as a graph from outside and would {doing}"
        f"{what}, which it is not permitted. If you trust the graph, import it within "
        f"numbaflow.security.untrusted_graph(allow=[{kind!r}]) or .trusted_graph().",
    )


# Paths


def _resolved(path: str) -> str | None:
    """A path without links and dots, with its scheme if it is elsewhere; None for what is none."""
    scheme, separator, rest = path.partition("://")
    if separator and scheme != "file" and "/" not in scheme:
        parts = rest.split("/")
        return None if ".." in parts else f"{scheme}://{posixpath.normpath(rest)}"
    try:
        return os.path.realpath(path.removeprefix("file://"))
    except ValueError:  # a null character
        return None


def _in_folder(folder: Any) -> bytes:
    found = _resolved(os.fsdecode(folder))
    if found is None:
        raise ValueError(f"{folder!r} is no path of a folder")
    return os.fsencode(f"read:{found.rstrip('/')}/")


def _is_among(path: str, beginnings: Iterable[str]) -> bool:
    """Whether a path, and all that is there under names that begin with it, begins with one."""
    found = _resolved(path)
    if found is None or glob.has_magic(os.path.dirname(path)):
        return False
    known = tuple(beginnings)
    if not any(_begins(found, beginning) for beginning in known):
        return False
    if "://" in found:
        return True
    # Checkpoints are several files, whose names begin with the path; links may lead elsewhere.
    names = glob.iglob(path.removeprefix("file://") + "*") if glob.has_magic(path) else _with(found)
    return all(os.path.realpath(name).startswith(known) for name in names)


def _begins(path: str, beginning: str) -> bool:
    """Whether a path is in a folder ("folder/"), or of the files of a checkpoint ("prefix")."""
    if not path.startswith(beginning):
        return False
    # "model-1" is no permission for "model-10".
    return beginning.endswith("/") or not path[len(beginning) :][:1].isalnum()


def _with(beginning: str) -> Iterator[str]:
    """The files of a folder whose names begin so."""
    folder, name = os.path.split(beginning)
    if os.path.isdir(folder):
        yield from (os.path.join(folder, n) for n in os.listdir(folder) if n.startswith(name))
