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
import weakref
from collections.abc import Iterable, Iterator, Sequence
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ...engine.graph import registry
from ...engine.graph.constants import evaluate, evaluate_shape
from ...engine.session.state import VariableStorage
from ...engine.types.dtypes import DType
from ...engine.types.repeated import Repeated
from ...engine.types.shape import TensorShape
from ..codegen import compile as compiler
from ..kernel.module_source import installed_version
from ..kernel.reference import dtype_name
from ..kernel.size_scope import Scope
from ..trace.segment import FeedType, ResultSizes, Segment
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
    """What a plan refers to: operations, tensors and resources of its segment, by number.

    Operations are those of the whole run: what lies before the segment has numbers as well.
    """

    def __init__(self, segment: Segment) -> None:
        self.operations = segment.operations
        every = (t for op in segment.operations for t in op.outputs)
        known = (*segment.wanted(0), *segment.inputs, *segment.handles, *every)
        self.tensors: list[Any] = list(dict.fromkeys(known))
        # The variables and other resources that tensors stand for: those that are known from
        # before, and those that operations give, found as tracing finds them.
        given = list(segment.handles.values())
        makers = [op for op in segment.operations[segment.start :] if makes_handles(op)]
        for op in makers:
            # What is made of files, say, is not made before what writes these has run.
            if is_handle(op.outputs[0]) and not segment.rest.isdisjoint(op.control_inputs):
                raise NotStored("a resource is made behind other operations")
        self.handles = [given, *(list(segment.evaluate(op, [])) for op in makers)]
        self.cells = list(dict.fromkeys(cell for cells in self.handles for cell in cells))
        self.operation_numbers = {op: number for number, op in enumerate(self.operations)}
        self.tensor_numbers = {tensor: number for number, tensor in enumerate(self.tensors)}
        self.cell_numbers = {cell: number for number, cell in enumerate(self.cells)}


def require_worthwhile(segment: Segment) -> None:
    """Raises NotStored for what is traced about as quickly as it is found."""
    operations = segment.operations[segment.start : segment.end]
    if len(operations) < _LEAST_OPERATIONS or any(
        _ends_a_plan(op, segment) for op in operations[:_LEAST_OPERATIONS]
    ):
        raise NotStored("it is small")


def _ends_a_plan(op: Operation, segment: Segment) -> bool:
    """Is it sure that no plan has this operation, as only running it tells its sizes?"""
    if op.definition.lower is not None or not op._inputs_val or not op._outputs:
        return False
    if op._outputs[0] in segment.inputs or not all(map(is_handle, op._inputs_val)):
        return False
    return not all(output.shape.is_fully_defined() for output in op._outputs)


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
    yield f"part {segment.start} {segment.end}"
    for tensor, feed in zip(segment.inputs, feeds, strict=True):
        known = None if feed.known is None else [str(item) for item in feed.known.flat]
        shapes = tuple(map(str, feed.shape)), tensor.shape.sizes
        yield f"feed {tensor.name} {feed.dtype} {shapes} {known} {_told(tensor, segment)}"
    yield f"sizes {list(scope.examples.items())} regions {list(segment.regions.items())}"
    try:
        for op in segment.operations:
            yield _operation(op, numbers)
        # What else is wanted follows from these, wherever a plan ends.
        for position in (0, len(segment.operations)):
            yield f"wanted {[numbers[tensor] for tensor in segment.wanted(position)]}"
        of = outside.operation_numbers
        yield f"constants {[of[op] for op in segment.constants]}"
        yield f"varying {[(of[op], sorted(axes)) for op, axes in segment.varying.items()]}"
        yield f"copied {sorted(of[op] for op in segment.copied)}"
        yield f"given {[_given(tensor, numbers) for tensor in segment.handles]}"
    except KeyError as missing:
        raise NotStored(f"{missing} is not among its tensors") from None
    yield from _users(segment)
    yield from map(_resource, outside.cells)
    for cells in outside.handles:
        yield f"handles {[outside.cell_numbers[cell] for cell in cells]}"


def _told(tensor: Any, segment: Segment) -> object:
    """What the graph tells of the contents of something fed, which shape functions may ask."""
    if isinstance(tensor, ResultSizes) or tensor.op in segment.present:
        return None
    if tensor.dtype.base_dtype.name in ("resource", "variant"):
        raise NotStored("a list or a resource is fed")
    value = evaluate(tensor)
    told = None if value is None else _attribute(value)
    try:
        return told, evaluate_shape(tensor).sizes if tensor.shape.rank == 1 else None
    except ValueError as error:  # it spells no shape
        return told, str(error)


def _given(tensor: Tensor, numbers: dict[Any, int]) -> object:
    """A tensor whose variable or resource is known from before."""
    op = tensor.op
    if is_handle(tensor) and op._inputs_val:
        raise NotStored("it has a resource that may live for one run")
    return numbers[tensor], op.type, tensor.dtype.as_datatype_enum, tensor.shape.sizes


def _resource(cell: Any) -> str:
    """What a trace may look at of what outlives a run."""
    if isinstance(cell, VariableStorage):
        value = cell.value
        return f"variable {None if value is None else (value.shape, dtype_name(value.dtype))}"
    kind = type(cell)
    if not kind.__module__.startswith(_HOMES) or hasattr(cell, "value"):
        raise NotStored(f"it has a resource of type {kind.__name__}")
    return f"resource {kind.__module__} {kind.__qualname__}"


def _users(segment: Segment) -> Iterator[str]:
    """What lowerings may ask beyond their operations, of the whole graph: whether anybody takes
    what control flow gives, and what is put into that which handles stand for."""
    for tensor in segment.handles:
        if is_handle(tensor):
            yield f"users {list(_users_of(tensor, segment))}"
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
    attrs = ",".join([f"{name}={_attribute(value)}" for name, value in _attributes(op)])
    return f"{op.type} {op._name} {op._device} {inputs} {outputs} {attrs}"


def _attributes(op: Operation) -> Iterable[tuple[str, Any]]:
    """The attributes that a trace may look at.

    Functions that are still named here are called by reference kernels alone, which do not run
    before the plan does if they have effects; and which resources are one and the same is said by
    their numbers (`handles`), so that what they are called does not matter: that may be a random
    name.
    """
    attrs, definition = op._attrs, op.definition
    if definition.lower is not None or not definition.stateful:
        return attrs.items()
    passed = {attr.name for attr in definition.attrs if attr.type == "func"}
    if makes_handles(op):
        passed |= _NAMES
    return [(name, value) for name, value in attrs.items() if name not in passed]


# What says which resource an operation stands for.
_NAMES = frozenset({"container", "shared_name"})
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
    if isinstance(value, Repeated):
        return f"{value.shape} of {_contents(value.listed)}"
    raise NotStored(f"it has an attribute of type {type(value).__name__}")


def _contents(array: np.ndarray) -> str:
    if array.dtype == object:
        return f"{array.shape} {array.tolist()!r}"
    return f"{array.shape} {digest_of(array)}"


def digest_of(array: np.ndarray) -> str:
    """A text that is equal for equal elements in the same order, whatever the shape."""
    if array.flags.writeable or array.nbytes < _LARGE:
        return _digest_of(array)
    # What graphs hold is asked for by every key of every part of every run.
    known = _DIGESTS.get(id(array))
    if known is None or known[0]() is not array:
        forget = partial(_DIGESTS.pop, id(array), None)
        known = _DIGESTS[id(array)] = weakref.ref(array, lambda _: forget()), _digest_of(array)
    return known[1]


_LARGE = 1 << 16  # bytes
_DIGESTS: dict[int, tuple[weakref.ref[np.ndarray], str]] = {}


def _digest_of(array: np.ndarray) -> str:
    # (As bytes, since NumPy gives no buffer of bfloat16, whose `str` is that of any two bytes.)
    whole = np.ascontiguousarray(array).reshape(-1).view(np.uint8)
    return f"{array.dtype} {hashlib.blake2b(whole.data, digest_size=16).hexdigest()}"


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
