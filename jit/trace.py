# SPDX-License-Identifier: Apache-2.0
"""Tracing: graph operations become a tensor Program, at symbolic sizes.

Shape arithmetic is evaluated on the way (the reference kernels run on symbolic sizes), constants
fold, equal subexpressions merge.  An op that does not lower runs on the host between compiled
steps; if its output shapes cannot be known before it runs, the trace stops in front of it and a
new one begins behind it.  Imports the engine's op table and errors, and the rest of jit.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from ..engine import errors
from ..engine.interpreter import located
from ..engine.operation import group
from ..engine.registry import OpDef
from ..engine.state import Cell
from . import sizes
from .flow import trace_region
from .inference import refusal
from .lower import Builder, NotLowered, Unsettled
from .scalar import compiles
from .sizes import AnySize, Scope
from .tensor import Host, Program, Source, Value

# Larger results of constant operations are computed in the plan, not kept in it.
FOLD_LIMIT = 1 << 16


class Evaluate(Protocol):
    """Runs an operation by its reference kernel, and gives the context that kernels get."""

    # How many threads the session allows; None leaves it to the settings.
    threads: int | None
    session: Any

    def __call__(self, op: Any, inputs: Sequence[Any]) -> Sequence[Any]: ...

    def context(self, op: Any) -> Any:
        """The kernel context of an operation (or of the OpView of one)."""


@dataclass(frozen=True)
class FeedType:
    """What a trace is told of one input: dtype name, symbolic shape, contents if they are sizes."""

    dtype: str
    shape: tuple[AnySize, ...]
    known: np.ndarray | None = None


@dataclass
class Traced:
    """The program of a stretch of operations.

    stop is the number of the first operation not traced; `barrier` tells whether that one must run
    on the host by itself.  exports are the values of the tensors that were asked for and made.
    """

    program: Program
    scope: Scope
    stop: int
    barrier: bool
    exports: dict[Any, Value] = field(default_factory=dict)
    host_reasons: list[tuple[Any, str]] = field(default_factory=list)


class OpView:
    """What a lowering sees of an operation."""

    __slots__ = ("name", "node", "type")

    def __init__(self, op: Any) -> None:
        self.node = op
        self.name, self.type = op.name, op.type

    def attr(self, name: str) -> Any:
        """An attribute as a plain Python value."""
        return self.node.attr(name)

    def dtype(self, index: int = 0) -> str:
        """The NumPy dtype name of an output."""
        return dtype_name(self.node.outputs[index].dtype)

    def shape(self, index: int = 0) -> Any:
        """The static shape of an output."""
        return self.node.outputs[index].shape


class Tracer:
    """Traces operations[start:] until the end or a barrier."""

    def __init__(
        self,
        operations: Sequence[Any],
        start: int,
        feeds: Mapping[Any, FeedType],
        scope: Scope,
        evaluate: Evaluate,
        handles: Mapping[Any, Any],
        regions: Mapping[int, int] | None = None,
    ) -> None:
        """regions: first and behind the last number of operations that branch or loop."""
        self.regions = regions or {}
        self.operations, self.start = operations, start
        self.program = Program()
        self.scope = scope
        self.builder = Builder(self.program, scope)
        self.evaluate = evaluate
        self.values: dict[Any, Value] = {}
        self.reasons: list[tuple[Any, str]] = []
        for number, (tensor, kind) in enumerate(feeds.items()):
            node = Source((), "feed", number)
            (value,) = self.program.add(node, (kind.dtype, kind.shape))
            value.known = kind.known
            self.values[tensor] = value

        for tensor, thing in handles.items():
            self._handle(tensor, thing)

    def run(self) -> Traced:
        """The program up to the first barrier."""
        behind = self.start
        for number in range(self.start, len(self.operations)):
            op = self.operations[number]
            if number < behind:
                continue
            if number in self.regions:
                behind = self.regions[number]
                try:
                    reason = trace_region(self, self.operations[number:behind])
                except Unsettled:
                    return Traced(
                        self.program, self.scope, number, False, host_reasons=self.reasons
                    )
                if reason is None:
                    continue
                self.reasons.append((op, f"branches or loops: {reason}"))
                return Traced(self.program, self.scope, number, True, host_reasons=self.reasons)
            if all(output in self.values for output in op.outputs) and op.outputs:
                continue
            self.program.origin = op
            mark = len(self.program.nodes)
            try:
                is_barrier = self._operation(op)
            except errors.OpError as error:
                raise located(error, op) from error
            except Unsettled:
                self.builder.rollback(mark)
                return Traced(self.program, self.scope, number, False, host_reasons=self.reasons)
            if is_barrier:
                return Traced(self.program, self.scope, number, True, host_reasons=self.reasons)
        return Traced(
            self.program, self.scope, len(self.operations), False, host_reasons=self.reasons
        )

    def export(self, tensor: Any) -> Value | None:
        """The value of a tensor for whoever comes behind this program; None for handles."""
        value = self.values.get(tensor)
        if value is None or (value.cell is not None and is_handle(tensor)):
            return None
        if value.cell is None:
            return value
        try:
            return self.builder.read(value)
        except errors.OpError as error:
            raise located(error, tensor.op) from error

    def _operation(self, op: Any) -> bool:
        """Adds one operation; True if it is a barrier, which cannot be added."""
        definition: OpDef = op.definition
        if makes_handles(op):
            self._handles(op)
            return False
        if not op.outputs and definition.kernel is None:
            return False
        missing = [tensor for tensor in op._inputs_val if tensor not in self.values]
        if missing:
            return True
        inputs = self._inputs(op)
        if self._fold(op, definition, inputs):
            return False
        if definition.lower is not None:
            self._require_shapes(op, inputs)
        reason = self._lower(op, definition, inputs)
        return False if reason is None else self._host(op, definition, inputs, reason)

    def _require_shapes(self, op: Any, inputs: list[Value]) -> None:
        """Raises what the op's shape function has against the shapes of the inputs."""
        reason = refusal(self.scope, op, inputs)
        if reason is not None:
            raise located(errors.InvalidArgumentError(None, None, reason), op)

    def _handles(self, op: Any) -> None:
        for output, thing in zip(op.outputs, self.evaluate(op, [])):
            self._handle(output, thing)

    def _handle(self, tensor: Any, thing: Any) -> None:
        node = Source((), "handle", thing)
        (value,) = self.program.add(node, (dtype_name(tensor.dtype), ()))
        value.cell = thing
        self.values[tensor] = value

    def _inputs(self, op: Any) -> list[Value]:
        result = []
        for tensor, wanted in zip(op._inputs_val, op._input_types_val):
            value = self.values[tensor]
            is_variable = value.cell is not None and not is_handle(tensor)
            if is_variable and not wanted._is_ref_dtype and not op.definition.passes_ref:
                value = self.builder.read(value)
            result.append(value)
        return result

    def _fold(self, op: Any, definition: OpDef, inputs: list[Value]) -> bool:
        """Evaluates operations whose inputs are known; True if it did."""
        if definition.stateful or definition.kernel is None or not op.outputs:
            return False
        known = [value.known for value in inputs]
        if any(array is None for array in known):
            return False
        symbolic = any(array.dtype == object for array in known)  # type: ignore[union-attr]
        if symbolic and not definition.sizes:
            return False
        if symbolic and not all(compiles(dtype_name(y.dtype)) for y in op.outputs):
            return False  # Complex numbers are known as numbers only.
        try:
            with self.scope.symbolic():
                results = [np.asarray(result) for result in self.evaluate(op, known)]
        except sizes.NeedsNumber:
            return False
        if inputs and sum(array.nbytes for array in results) > FOLD_LIMIT:
            return False
        for output, array in zip(op.outputs, results):
            self._know(output, array)
        return True

    def _know(self, output: Any, array: np.ndarray) -> None:
        dtype = dtype_name(output.dtype)
        if compiles(dtype):
            self.values[output] = self.builder.known_as(np.asarray(array), dtype)
            return
        node = Source((), "constant", np.asarray(array))
        (value,) = self.program.add(node, (dtype, tuple(np.shape(array))))
        value.known = np.asarray(array)
        self.values[output] = value

    def _lower(self, op: Any, definition: OpDef, inputs: list[Value]) -> str | None:
        """Lowers an operation; None on success, else why it does not lower."""
        if definition.lower is None:
            return "has no lowering"
        mark = len(self.program.nodes)
        try:
            result = definition.lower(
                self.builder, OpView(op), *group(definition.inputs, op._attrs, inputs)
            )
        except NotLowered as reason:
            self.builder.rollback(mark)
            return str(reason)
        except errors.OpError as error:
            raise located(error, op) from error
        if result is NotImplemented:
            self.builder.rollback(mark)
            return "has no lowering for these types or attributes"
        results = result if isinstance(result, (tuple, list)) else (result,)
        if len(results) != len(op.outputs) and op.outputs:
            raise AssertionError(f"the lowering of {op.type} gave {len(results)} values")
        self.values.update(zip(op.outputs, results))
        return None

    def _host(self, op: Any, definition: OpDef, inputs: list[Value], reason: str) -> bool:
        shapes = [_static_shape(output) for output in op.outputs]
        refs = [output.dtype._is_ref_dtype for output in op.outputs]
        # Others may ask for the shape of any tensor, also of those that kernels cannot hold.
        unknown = any(
            shape is None and not ref and not is_handle(output)
            for output, shape, ref in zip(op.outputs, shapes, refs)
        )
        if unknown or definition.dynamic_shape:
            self.reasons.append((op, reason))
            return True
        cells = tuple(value.cell for value in inputs if value.cell is not None)
        # Also of handles that are made on the way, which have no cell.
        effects = definition.stateful or bool(cells) or _uses_handle(op) or not op.outputs
        node = Host(tuple(inputs), op, reason, effects, cells)
        made = self.program.add(
            node, *((dtype_name(o.dtype), shape or ()) for o, shape in zip(op.outputs, shapes))
        )
        self.reasons.append((op, reason))
        for output, value, ref in zip(op.outputs, made, refs):
            if ref:
                value.cell = cells[0]
            self.values[output] = value
        self.builder.forget(cells)
        # An op that could be lowered but was not is about to change a variable's shape.
        changes_shape = definition.lower is not None
        self.builder.unsettled |= {
            id(cell)
            for cell in cells
            if isinstance(cell, Cell) and (cell.value is None or changes_shape)
        }
        return False


def dtype_name(dtype: Any) -> str:
    """The NumPy name of a graph dtype; "object" for strings, resources and variants."""
    kind = dtype.base_dtype
    name = kind.name
    if name in ("string", "resource", "variant"):
        return "object"
    return "float16" if name == "half" else name


def is_handle(tensor: Any) -> bool:
    """Does a tensor hold a resource handle (and not a reference to a variable)?"""
    return tensor.dtype.base_dtype.name == "resource"


def _uses_handle(op: Any) -> bool:
    return any(is_handle(tensor) for tensor in op._inputs_val)


def makes_handles(op: Any) -> bool:
    """Does an operation give nothing but variables and resources?"""
    if op._inputs_val or not op.outputs:
        return False
    return all(output.dtype._is_ref_dtype or is_handle(output) for output in op.outputs)


def _static_shape(tensor: Any) -> tuple[int, ...] | None:
    known = tensor.shape.sizes
    if known is None or any(size is None for size in known):
        return None
    return tuple(known)


def symbolic_feeds(
    scope: Scope,
    arrays: Sequence[np.ndarray],
    static: Sequence[tuple[int | None, ...] | None],
    dtypes: Sequence[str],
    valued: Sequence[bool],
) -> tuple[list[FeedType], tuple[int, ...]]:
    """Symbolic types of concrete feeds, and the values of the symbols in order."""
    shapes, values = sizes.unify(scope, [a.shape for a in arrays], static)
    symbols = dict(zip(values, scope.examples))
    found = list(values)
    result = []
    for array, shape, dtype, is_valued in zip(arrays, shapes, dtypes, valued):
        known: Any = None
        if is_valued and array.size and array.min() >= 0:
            items: Any = np.empty(array.shape, object)
            for place, item in np.ndenumerate(array):
                number = int(item)
                if number < sizes.SMALLEST_SYMBOL:
                    items[place] = number
                elif number in symbols:
                    items[place] = scope.named(symbols[number])
                else:
                    items[place] = scope.symbol(number)
                    symbols[number] = items[place].text
                    found.append(number)
            known = items
        result.append(FeedType(dtype, shape, known))
    return result, tuple(found)
