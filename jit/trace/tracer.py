# SPDX-License-Identifier: Apache-2.0
"""Tracing: graph operations become a tensor Program, at symbolic sizes.

Shape arithmetic is evaluated on the way (the reference kernels run on symbolic sizes), constants
fold, equal subexpressions merge.  An op that does not lower runs on the host between compiled
steps; if its output shapes cannot be known before it runs, the trace stops in front of it and a
new one begins behind it.  Imports the engine's op table and errors, and the rest of jit.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ...engine import errors, stopping
from ...engine.graph.operation import group
from ...engine.graph.registry import OpDef
from ...engine.session.interpreter import located
from ...engine.session.state import VariableStorage
from ...engine.types import dtypes
from ...engine.types.repeated import is_vast
from .. import debug
from ..kernel import size_scope, sizes
from ..kernel.scalar import compiles, holds
from ..kernel.size_scope import Scope
from ..kernel.sizes import AnySize, Unanswered
from ..library.lists import Reused
from ..library.of_run import OfRun
from ..program.editing import Program
from ..program.tensor_ir import (
    Constant,
    Feed,
    Handle,
    Host,
    Value,
)
from .builder import Builder, NotLowered, Unsettled
from .carriers import Varies
from .control_flow import trace_region
from .measuring import as_stated, measured
from .segment import FeedType, ResultSizes, Segment, Traced, cells_of, may_be_sizes
from .shape_inference import filled, output_sizes, refusal, whole

if TYPE_CHECKING:
    from ...engine.graph.operation import Operation
    from ...engine.graph.tensor import Tensor
    from ...engine.types.shape import TensorShape

# Larger results of constant operations are computed in the plan, not kept in it.
FOLD_LIMIT = 1 << 16


def trace_segment(segment: Segment, feeds: Sequence[FeedType], scope: Scope) -> Traced:
    """Traces a segment; feeds say what its inputs are."""
    began = time.perf_counter()
    debug.show("graph", segment.operations)
    while True:
        tracer = Tracer(segment, feeds, scope)
        try:
            with scope.assuming(segment.may_assume, segment.doubted):
                stop, is_barrier = tracer.run()
            break
        except (Varies, Reused):
            continue
    is_complete = stop == len(segment.operations) and not is_barrier
    exports: dict[Any, int] = {}
    passed: dict[Any, Any] = {}
    # What is given is there for whoever comes behind.
    is_whole = is_complete and not segment.start
    before = (*segment.inputs, *(t for op in segment.constants for t in op.outputs))
    given: frozenset[Any] = frozenset() if is_whole else frozenset(before)
    for tensor in segment.wanted(stop):
        if tensor in given:
            continue
        # Variables are passed on as they are; at the end their contents are what was asked.
        known = tracer.values.get(tensor)
        cell = None if known is None else known.cell
        is_passed = cell is not None and (not is_complete or cell in tracer.builder.unsettled)
        value = None if is_passed else tracer.export(tensor)
        if value is not None:
            exports[tensor] = tracer.program.fetch(value)
        elif known is not None:
            passed[tensor] = cell
    seconds = time.perf_counter() - began
    program, cells = tracer.program, cells_of(tracer.program)
    return Traced(
        *(segment, program, scope, stop, is_barrier, exports, passed, tracer.hosted),
        *(seconds, cells),
    )


class OpView:
    """What a lowering sees of an operation."""

    __slots__ = ("name", "node", "type")

    def __init__(self, op: Operation) -> None:
        self.node = op
        self.name, self.type = op.name, op.type

    def attr(self, name: str) -> Any:
        """An attribute as a plain Python value."""
        return self.node.attr(name)

    def dtype(self, index: int = 0) -> str:
        """The NumPy dtype name of an output."""
        return array_dtype_name(self.node.outputs[index].dtype)

    def shape(self, index: int = 0) -> TensorShape:
        """The static shape of an output."""
        return self.node.outputs[index].shape


class Tracer:
    """Traces a segment until its end or a barrier."""

    def __init__(self, segment: Segment, feeds: Sequence[FeedType], scope: Scope) -> None:
        self.segment, self.scope, self.evaluate = segment, scope, segment.evaluate
        self.program = Program()
        self.builder = Builder(self.program, scope)
        self.builder.may_measure = segment.may_measure
        self.builder.may_assume = segment.may_assume
        self.builder.is_plain, self.builder.offered = segment.is_plain, segment.offered
        self.builder.is_mixed, self.builder.copied = segment.is_mixed, segment.copied
        self.values: dict[Any, Value] = {}
        self.hosted: list[tuple[Any, str]] = []
        self.fed, self.may_fold = frozenset(segment.inputs), True
        # Sizes of results that are taken for granted: with the ranks of these.
        self.told: dict[Any, tuple[tuple[int, ...], np.ndarray]] = {}
        for number, (tensor, feed) in enumerate(zip(segment.inputs, feeds)):
            (value,) = self.program.add(Feed(number), (feed.dtype, feed.shape))
            value.known = feed.known
            self.values[tensor] = value
            if isinstance(tensor, ResultSizes) and tensor.ranks and feed.known is not None:
                self.told[tensor.op] = tensor.ranks, feed.known
        for tensor, thing in segment.handles.items():
            self._handle(tensor, thing)

    def inner(self) -> Tracer:
        """A tracer of a program within this one: the test or the body of a loop."""
        nothing = Segment(
            *((), 0, (), lambda stop: (), self.evaluate),
            may_assume=self.segment.may_assume,
            is_plain=self.segment.is_plain,
            offered=self.segment.offered,
            is_mixed=self.segment.is_mixed,
            varying=self.segment.varying,
            copied=self.segment.copied,
        )
        tracer = Tracer(nothing, (), self.scope)
        tracer.hosted = self.hosted
        tracer.builder.outer, tracer.builder.is_closed = self.builder, True
        tracer.told, tracer.fed = self.told, self.fed
        tracer.builder.may_measure = self.builder.may_measure
        # One set for all: what the loop does to a variable holds behind it as well.
        tracer.builder.unsettled = self.builder.unsettled
        return tracer

    def run(self) -> tuple[int, bool]:
        """Traces; the number of the first operation left out, and whether that is a barrier."""
        number, end = self.segment.start, self.segment.end
        end = len(self.segment.operations) if end is None else end
        for op in self.segment.constants:
            self.program.origin = op
            self._operation(op)
        while number < end:
            behind = self.segment.regions.get(number)
            try:
                is_barrier = self._next(number) if behind is None else self._region(number, behind)
            except Unsettled:
                return number, False
            if is_barrier:
                return number, True
            number = number + 1 if behind is None else behind
        return end, False

    def _next(self, number: int) -> bool:
        """Adds an operation; True if it is a barrier."""
        op = self.segment.operations[number]
        # (What is fed of its outputs; it runs for the others, or because something waits for it.)
        given = [(t, self.values[t]) for t in op._outputs if t in self.values]
        self.program.origin = op
        mark = self.program.last
        try:
            is_barrier = self._operation(op)
            # What is fed of several outputs stays what it is.
            self.values.update(given)
            return is_barrier
        except errors.OpError as error:
            raise located(error, op) from error
        except Unsettled:
            self.builder.rollback(mark)
            raise

    def _region(self, number: int, behind: int) -> bool:
        """Adds operations that branch or loop; True if they have to run on the host."""
        operations = self.segment.operations[number:behind]
        reason = trace_region(self, operations)
        if reason is not None:
            self.hosted.append((operations[0], f"branches or loops: {reason}"))
        return reason is not None

    def export(self, tensor: Tensor) -> Value | None:
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

    def _operation(self, op: Operation) -> bool:
        """Adds one operation; True if it is a barrier, which cannot be added."""
        stopping.check()
        definition: OpDef = op.definition
        if makes_handles(op):
            self._handles(op)
            return False
        # It only orders others, and they are in order.
        if not op.outputs and definition.kernel is None:
            return False
        missing = [tensor for tensor in op._inputs_val if tensor not in self.values]
        if missing:
            return True
        inputs = self._inputs(op)
        if self._fold(op, definition, inputs):
            return False
        # Reference kernels look for themselves; compiled ones trust the shapes that they were made
        # for.
        if definition.lower is not None:
            self._require_shapes(op, inputs)
        reason = self._lower(op, definition, inputs)
        if reason is None or self._lower_measured(op, inputs):
            return False
        return self._host(op, definition, inputs, reason)

    def _require_shapes(self, op: Operation, inputs: list[Value]) -> None:
        """Raises what the op's shape function has against the shapes of the inputs."""
        reason = refusal(self.scope, op, inputs)
        if reason is not None:
            raise located(errors.invalid(reason), op)

    def _handles(self, op: Operation) -> None:
        for output, thing in zip(op.outputs, self.evaluate(op, [])):
            self._handle(output, thing)

    def _handle(self, tensor: Tensor, thing: Any) -> None:
        (value,) = self.program.add(Handle(thing), (array_dtype_name(tensor.dtype), ()))
        value.cell = thing
        self.values[tensor] = value

    def _inputs(self, op: Operation, hands_on: bool = False) -> list[Value]:
        """What an operation takes; hands_on: it gives on the references that it takes as such."""
        hands_on = hands_on or op.definition.passes_ref
        result = []
        for tensor, wanted in zip(op._inputs_val, op._input_types_val):
            value = self.values[tensor]
            is_variable = value.cell is not None and not isinstance(value.cell, OfRun)
            is_variable = is_variable and not is_handle(tensor)
            if is_variable and not wanted._is_ref_dtype:
                # Read here and not where the variable was made: writes in between are to be seen
                # (but what has another shape goes into memory of its own, as in TensorFlow).
                if not hands_on or may_change_shape(tensor, self.segment.present):
                    value = self.builder.read(value)
            result.append(value)
        return result

    def _fold(self, op: Operation, definition: OpDef, inputs: list[Value]) -> bool:
        """Evaluates operations whose inputs are known; True if it did."""
        if definition.stateful or definition.kernel is None or not op.outputs:
            return False
        if not self.may_fold or any(map(is_vast, op._attrs.values())):
            return False
        # (Those would be things of the host's.)
        if definition.lower is not None and any(y.dtype == dtypes.variant for y in op.outputs):
            return False
        if definition.touches:  # What it finds may be something else in the next run.
            return False
        known = [value.known for value in inputs]
        if any(array is None for array in known):
            return False
        symbolic = any(array.dtype == object for array in known)  # type: ignore[union-attr]
        if symbolic and not definition.sizes:
            return False
        if symbolic and not all(compiles(array_dtype_name(y.dtype)) for y in op.outputs):
            return False  # Complex numbers are known as numbers only.
        results = self._constants(op, known, symbolic)
        if results is None:
            return False
        # (A constant of the graph is there anyway, however large.)
        if inputs and sum(array.nbytes for array in results) > FOLD_LIMIT:
            return False
        for output, array in zip(op.outputs, results):
            self.know(output, array)
        return True

    def _constants(
        self, op: Operation, known: Sequence[Any], symbolic: bool
    ) -> Sequence[np.ndarray] | None:
        """What an operation gives of known inputs; None if it had better be lowered."""
        if not symbolic and known and self.evaluate.rounds(op, known):
            computed = self.evaluate.computed(op, self.segment, self.fed)
            self.program.has_computed |= computed is not None
            return computed
        try:
            # Reference kernels compute with sizes as with numbers; one that needs the number itself
            # would tie the plan to it, so that then the op is lowered instead.
            with self.scope.symbolic():
                results = [np.asarray(result) for result in self.evaluate(op, known)]
        except sizes.NeedsNumber:
            return None
        return None if symbolic and not _hold_exactly(op, results) else results

    def know(self, output: Tensor, array: np.ndarray) -> None:
        """Takes a tensor for this constant."""
        dtype = array_dtype_name(output.dtype)
        if holds(dtype):
            self.values[output] = self.builder.known_as(np.asarray(array), dtype)
            return
        node = Constant(np.asarray(array))
        (value,) = self.program.add(node, (dtype, tuple(np.shape(array))))
        value.known = np.asarray(array)
        self.values[output] = value

    def _lower(self, op: Operation, definition: OpDef, inputs: list[Value]) -> str | None:
        """Lowers an operation; None on success, else why it does not lower."""
        if definition.lower is None:
            return "has no lowering"
        arguments = group(definition.inputs, op._attrs, inputs)
        if definition.result_sizes is not None:
            sizes = self.values.get(ResultSizes(op, 0)) or self._measured(op, arguments)
            if sizes is None:
                return "its sizes depend on the data"
            arguments = [*arguments, sizes]
        try:
            return self._lower_with(op, definition, arguments)
        except Unanswered as question:
            # Once the program so far has run it is a size as all others.
            raise Unsettled(str(question)) from None
        except errors.OpError as error:
            raise located(error, op) from error

    def _lower_with(self, op: Operation, definition: OpDef, arguments: Sequence[Any]) -> str | None:
        """Lowers an operation with these inputs; else takes all back, and says why."""
        mark, asked = self.program.last, self.scope.mark()
        refusal = "has no lowering for these types or attributes"
        try:
            assert definition.lower is not None
            result = definition.lower(self.builder, OpView(op), *arguments)
        except NotLowered as reason:
            result, refusal = NotImplemented, str(reason)
        if result is NotImplemented:
            self.builder.rollback(mark)
            self.scope.forget_guards(asked)
            return refusal
        results = result if isinstance(result, (tuple, list)) else (result,)
        if len(results) != len(op.outputs) and op.outputs:
            raise AssertionError(f"the lowering of {op.type} gave {len(results)} values")
        if self.scope.measured:
            results = [as_stated(self.builder, t, v) for t, v in zip(op.outputs, results)]
        self.values.update(zip(op.outputs, results))
        return None

    def _lower_measured(self, op: Operation, inputs: list[Value]) -> bool:
        """Lowers an operation whose sizes are computed by the program, to be learnt by a run.

        False, and nothing is added, if that cannot be.
        """
        are_sizes = [
            value.known is None and value.cell is None and may_be_sizes(tensor)
            for tensor, value in zip(op._inputs_val, inputs)
        ]
        definition = op.definition
        if not any(are_sizes) or definition.lower is None or definition.result_sizes is not None:
            return False
        mark, asked = self.program.last, self.scope.mark()
        try:
            given = [
                measured(self.builder, value) if is_size else value
                for value, is_size in zip(inputs, are_sizes)
            ]
            arguments = group(definition.inputs, op._attrs, given)
            is_lowered = self._lower_with(op, definition, arguments) is None
        except (NotLowered, Unanswered, errors.OpError):
            is_lowered = False
        if not is_lowered:
            self.builder.rollback(mark)
            self.scope.forget_guards(asked)
        return is_lowered

    def _measured(self, op: Operation, arguments: Sequence[Any]) -> Value | None:
        """The numbers that sizes of results are, learnt by a run on its way, if that can be."""
        find, mark = op.definition.measured_sizes, self.program.last
        if find is None or not self.builder.may_measure:
            return None
        try:
            found = find(self.builder, OpView(op), *arguments)
            if found is NotImplemented:
                return None
            numbers = np.array([self.builder.measure(number) for number in found], object)
        except NotLowered:
            self.builder.rollback(mark)
            return None
        return self.builder.known_as(numbers, "int64")

    def _host(self, op: Operation, definition: OpDef, inputs: list[Value], reason: str) -> bool:
        if any(isinstance(value.cell, OfRun) for value in inputs):
            raise NotLowered(f"{op.type} (node '{op.name}') takes a list or optional")
        shapes, is_guessed = self._shapes(op, inputs)
        refs = [output.dtype._is_ref_dtype for output in op.outputs]
        # Others may ask for the shape of any tensor, also of those that kernels cannot hold.
        unknown = any(
            shape is None and not ref and not is_handle(output)
            for output, shape, ref in zip(op.outputs, shapes, refs)
        )
        # (What depends on data may have been said by the program: `set_shape` of a tensor.)
        if unknown:
            self.hosted.append((op, reason))
            return True
        cells = tuple(value.cell for value in inputs if value.cell is not None)
        # Also of handles that are made on the way, which have no cell.
        effects = definition.stateful or bool(cells) or _uses_handle(op) or not op.outputs
        # An op that could be lowered but was not is about to change a variable's shape.
        changes_shape = definition.lower is not None
        reshaped = frozenset(
            cell
            for cell in cells
            if isinstance(cell, VariableStorage) and (cell.value is None or changes_shape)
        )
        node = Host(tuple(inputs), op, reason, effects, cells, reshaped, is_guessed)
        made = self.program.add(
            node,
            *((array_dtype_name(o.dtype), shape or ()) for o, shape in zip(op.outputs, shapes)),
        )
        self.hosted.append((op, reason))
        for output, value, ref in zip(op.outputs, made, refs):
            if ref:
                value.cell = cells[0]
            self.values[output] = value
        self.builder.forget(cells)
        self.builder.unsettled |= reshaped
        return False

    def _shapes(
        self, op: Operation, inputs: list[Value]
    ) -> tuple[Sequence[tuple[AnySize, ...] | None], bool]:
        """The shapes of results, None for each that is not known; whether some are guessed."""
        found, told = output_sizes(self.scope, op, inputs), self.told.get(op)
        known = list(map(whole, found))
        if told is not None and None in known:
            shapes = filled(found, *told)
            if shapes is not None:
                return shapes, True
        return known, False


def _hold_exactly(op: Operation, results: Sequence[np.ndarray]) -> bool:
    """Are results that were computed of sizes within their types, so that nothing wraps around?"""
    return all(
        size_scope.holds_exactly(array_dtype_name(output.dtype), item)
        for output, array in zip(op.outputs, results)
        if array.dtype == object
        for item in array.flat
    )


def array_dtype_name(dtype: Any) -> str:
    """The NumPy name of a graph dtype; "object" for strings, resources and variants."""
    kind = dtype.base_dtype
    name = kind.name
    if name in ("string", "resource", "variant"):
        return "object"
    return "float16" if name == "half" else name


def is_handle(tensor: Tensor) -> bool:
    """Does a tensor hold a resource handle (and not a reference to a variable)?"""
    return tensor.dtype.base_dtype.name == "resource"


def may_change_shape(tensor: Tensor, present: Collection[Operation]) -> bool:
    """May these operations give the variable that a tensor refers to another shape?"""
    while tensor.op._inputs_val and tensor.op._input_types_val[0]._is_ref_dtype:
        tensor = tensor.op._inputs_val[0]
    reached, ahead = {tensor}, [tensor]
    while ahead:
        for op in ahead.pop()._consumers:
            if op.has_attr("validate_shape") and not op.attr("validate_shape"):
                if op in present:
                    return True
            refs = {out for out in op.outputs if out.dtype._is_ref_dtype} - reached
            reached |= refs
            ahead += refs
    return False


def has_floats(op: Operation) -> bool:
    """Does an operation take or give numbers that are rounded?"""
    kinds = [tensor.dtype.base_dtype for tensor in (*op._inputs_val, *op.outputs)]
    return any(kind.is_floating or kind.is_complex for kind in kinds)


def _uses_handle(op: Operation) -> bool:
    return any(is_handle(tensor) for tensor in op._inputs_val)


def makes_handles(op: Operation) -> bool:
    """Does an operation give nothing but variables and resources?"""
    if op._inputs_val or not op.outputs:
        return False
    return all(output.dtype._is_ref_dtype or is_handle(output) for output in op.outputs)


def symbolic_feeds(
    scope: Scope,
    arrays: Sequence[np.ndarray],
    static: Sequence[tuple[int | None, ...] | None],
    dtypes: Sequence[str],
    valued: Sequence[bool],
) -> tuple[list[FeedType], tuple[int, ...]]:
    """Symbolic types of concrete feeds, and the values of the symbols in order."""
    shapes, values = size_scope.unify(scope, [a.shape for a in arrays], static)
    symbols = dict(zip(values, scope.examples))
    result = []
    for array, shape, dtype, is_valued in zip(arrays, shapes, dtypes, valued):
        known: Any = array if is_valued and not array.size else None
        if is_valued and array.size and size_scope.may_be_fed(array.ravel().tolist()):
            items = _named_sizes(scope, array, symbols)
            # Objects are for symbols alone: kernels take numbers as what they are.
            known = items if any(map(sizes.is_symbolic, items.flat)) else array
        result.append(FeedType(dtype, shape, known))
    return result, tuple(symbols)


def _named_sizes(scope: Scope, array: np.ndarray, symbols: dict[int, str]) -> np.ndarray:
    """The contents of a feed as sizes; `symbols` has the names of those met, by number.

    Those that are sizes elsewhere get the same symbol, so that a reshape to them is known to fit;
    other negative ones than -1 are no sizes.
    """
    items: Any = np.empty(array.shape, object)
    for place, item in np.ndenumerate(array):
        number = int(item)
        if number < sizes.SMALLEST_SYMBOL:
            items[place] = number
        elif number in symbols:
            items[place] = scope.named(symbols[number])
        else:
            items[place] = size = scope.symbol(number)
            symbols[number] = size.text
    return items
