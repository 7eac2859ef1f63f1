# SPDX-License-Identifier: Apache-2.0
"""The key of a stored plan: a text of all that decides what a segment becomes.

That is what is traced (operations with attributes and shapes, contents of constants, what is fed
and fetched), at which sizes and with which variables, the sources of this package, and the target.
`Outside` numbers what a plan refers to and another process has of its own.
Imports the trace and the compiler's labels.
"""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ...engine.graph import registry
from ...engine.session.state import VariableStorage
from ...engine.types.dtypes import DType
from ...engine.types.shape import TensorShape
from ..codegen import compile as compiler
from ..kernel.module_source import installed_version
from ..kernel.reference import dtype_name
from ..kernel.size_scope import Scope
from ..trace.segment import FeedType, Segment
from ..trace.tracer import is_handle, makes_handles

if TYPE_CHECKING:
    from ...engine.graph.operation import Operation
    from ...engine.graph.tensor import Tensor

# Of fewer operations a plan is made about as quickly as it is found.
_LEAST_OPERATIONS = 8
# Folders of the package whose modules decide what becomes of a graph; an op that is declared
# elsewhere is in no stored plan.
_DECIDING = ("engine", "jit", "ops")
_ROOT = __name__.removesuffix(".jit.runtime.plan_key")


class NotStored(Exception):
    """The plan is of a kind that is made anew in every process; the text says why."""


class Outside:
    """What a plan refers to: operations, tensors and variables of its segment, by number."""

    def __init__(self, segment: Segment) -> None:
        self.operations = segment.operations
        every = (t for op in segment.operations for t in op.outputs)
        self.tensors: list[Any] = list(dict.fromkeys((*segment.inputs, *every)))
        # The variables that operations stand for, found as tracing finds them.
        self.handles = [_cells(segment, op) for op in segment.operations if makes_handles(op)]
        self.cells = list(dict.fromkeys(cell for cells in self.handles for cell in cells))
        self.operation_numbers = {op: number for number, op in enumerate(self.operations)}
        self.tensor_numbers = {tensor: number for number, tensor in enumerate(self.tensors)}
        self.cell_numbers = {cell: number for number, cell in enumerate(self.cells)}


def _cells(segment: Segment, op: Operation) -> list[VariableStorage]:
    things = list(segment.evaluate(op, []))
    if not all(isinstance(thing, VariableStorage) for thing in things):
        raise NotStored("it has resources besides variables")
    return things


def require_plain(segment: Segment) -> None:
    """Raises NotStored for what is beyond one program that runs are begun with."""
    if len(segment.operations) < _LEAST_OPERATIONS:
        raise NotStored("it is small")
    if segment.start or segment.end is not None:
        raise NotStored("it is a part of a run")
    if segment.handles or segment.constants or segment.varying:
        raise NotStored("it is a part of a run")


def key_of(segment: Segment, outside: Outside, feeds: Sequence[FeedType], scope: Scope) -> str:
    """The text of the key; two segments with one text become one plan."""
    state = hashlib.blake2b(digest_size=32)
    for line in _lines(segment, outside, feeds, scope):
        state.update(line.encode(errors="surrogatepass") + b"\n")
    labels = (*version_labels(), ("graph", state.hexdigest()), *compiler.target_labels())
    return "".join(f"{name}: {value}\n" for name, value in labels)


@cache
def version_labels() -> tuple[tuple[str, str], ...]:
    """Those parts of the key that tell what made a plan."""
    known = (label for label in compiler.common_labels("") if label[0] != "kernel")
    others = ((package, installed_version(package)) for package in ("numpy", "scipy"))
    return (*known, *others, ("python", f"{sys.hexversion:x}"), ("package", _package_version()))


def _lines(
    segment: Segment, outside: Outside, feeds: Sequence[FeedType], scope: Scope
) -> Iterator[str]:
    numbers = outside.tensor_numbers
    options = (segment.may_measure, segment.may_assume, segment.is_plain, segment.is_mixed)
    yield f"{options} {sorted(segment.doubted)} {sorted(segment.offered)}"
    for tensor, feed in zip(segment.inputs, feeds, strict=True):
        known = None if feed.known is None else [str(item) for item in feed.known.flat]
        shapes = tuple(map(str, feed.shape)), tensor.shape.sizes
        yield f"feed {tensor.name} {feed.dtype} {shapes} {known}"
    yield f"sizes {list(scope.examples.items())} regions {list(segment.regions.items())}"
    try:
        for op in segment.operations:
            yield _operation(op, numbers)
        wanted = segment.wanted(len(segment.operations))
        yield f"wanted {[numbers[tensor] for tensor in wanted]}"
    except KeyError as missing:
        raise NotStored(f"{missing} is not among its tensors") from None
    yield from _users(segment)
    for cell in outside.cells:
        value = cell.value
        yield f"variable {None if value is None else (value.shape, dtype_name(value.dtype))}"
    for cells in outside.handles:
        yield f"handles {[outside.cell_numbers[cell] for cell in cells]}"


def _users(segment: Segment) -> Iterator[str]:
    """What lowerings may ask beyond their operations, of the whole graph: whether anybody takes
    what control flow gives, and what is put into that which handles stand for."""
    for op in segment.operations:
        is_flow = bool(op.definition.control_flow_role)
        for tensor in op._outputs:
            if is_handle(tensor):
                yield f"users {list(_users_of(tensor, segment))}"
            elif is_flow:
                yield f"users {bool(tensor._consumers)}"


def _users_of(handle: Tensor, segment: Segment) -> Iterator[tuple[object, ...]]:
    for user in dict.fromkeys(handle._consumers):
        yield user.type, [tensor.shape.sizes for tensor in user._inputs_val]
        if user.definition.control_flow_role == "enter":
            yield from _users_of(user._outputs[0], segment)
        elif user not in segment.present and not all(map(_is_stated, user._inputs_val)):
            raise NotStored("another run's control flow takes what it gives")


def _is_stated(tensor: Tensor) -> bool:
    """Does the shape of a tensor tell all that its operation's inputs could tell?"""
    return tensor.shape.is_fully_defined() or not tensor.op.definition.control_flow_role


def _operation(op: Operation, numbers: dict[Any, int]) -> str:
    """All of an operation that a trace may look at."""
    inputs = [numbers[tensor] for tensor in op._inputs_val]
    outputs = [(t.dtype.as_datatype_enum, t.shape.sizes) for t in op._outputs]
    attrs = ",".join([f"{name}={_attribute(value)}" for name, value in op._attrs.items()])
    return f"{op.type} {op._name} {op._device} {inputs} {outputs} {attrs}"


_PLAIN = frozenset({type(None), bool, int, float, str, bytes})


def _attribute(value: object) -> str:
    if type(value) in _PLAIN:
        return repr(value)
    if isinstance(value, DType):
        return value.name
    if isinstance(value, TensorShape):
        return str(value.sizes)
    if isinstance(value, (list, tuple)):
        return f"[{' '.join(map(_attribute, value))}]"
    if isinstance(value, np.ndarray):
        return _contents(value)
    raise NotStored(f"it has an attribute of type {type(value).__name__}")


def _contents(array: np.ndarray) -> str:
    if array.dtype == object:
        return f"{array.shape} {array.tolist()!r}"
    # (As bytes, since NumPy gives no buffer of bfloat16, whose `str` is that of any two bytes.)
    whole = np.ascontiguousarray(array).reshape(-1).view(np.uint8)
    digest = hashlib.blake2b(whole.data, digest_size=16)
    return f"{array.dtype} {array.shape} {digest.hexdigest()}"


def require_known(segment: Segment) -> None:
    """Raises NotStored for operations that this package does not declare, or not there."""
    # By `id`: equal definitions are not the same, and they live as long as their nodes.
    for definition in {id(op.definition): op.definition for op in segment.operations}.values():
        # What a function of a graph does is said by the graph alone.
        is_declared = registry.find(definition.name) is definition
        if not is_declared:
            raise NotStored(f"{definition.name} has a meaning of its own")
        for part in (definition.kernel, definition.lower, definition.shape):
            module = getattr(part, "__module__", None) or ""
            if part is not None and not module.startswith(_HOMES):
                raise NotStored(f"{definition.name} is declared elsewhere")


_HOMES = tuple(f"{_ROOT}.{name}." for name in _DECIDING)


def _package_version() -> str:
    """What changes with any module that decides: their names, sizes and times.

    (As Python does to see whether what it has compiled of a module is still that.  Reading all of
    them would take longer than most plans.)
    """
    root = Path(__file__).parents[2]
    state = hashlib.blake2b(digest_size=16)
    for name in _DECIDING:
        for line in sorted(_modules(str(root / name))):
            state.update(line.encode())
    return state.hexdigest()


def _modules(folder: str) -> Iterator[str]:
    with os.scandir(folder) as entries:
        for entry in entries:
            name = entry.name
            if name.endswith(".py"):
                status = entry.stat()
                yield f"{entry.path} {status.st_size} {status.st_mtime_ns}\n"
            elif "." not in name and name != "__pycache__" and entry.is_dir():
                yield from _modules(entry.path)
