# SPDX-License-Identifier: Apache-2.0
"""Runs a graph with the reference kernels, one operation after the other: the oracle.

The needed part of the graph runs in the order of run_order.py, so that a program means one thing.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import errors, gc_pause
from ..graph import trust
from ..graph.kernel_context import KernelContext
from ..graph.operation import Operation, arg_length
from ..graph.tensor import Tensor
from ..memory import copy_of, is_alone
from ..stopping import check_session, within
from ..types import dtypes
from ..types.dtypes import boxed
from ..types.texts import PackedTexts
from .deferred_assign import BulkAssign, LazyArray
from .futures import Future
from .live_memory import detached
from .run_order import needed_operations, reference_flags
from .shared_reads import Holding
from .state import VariableStorage, handle_bytes

if TYPE_CHECKING:
    from ..graph.graph import Graph
    from .session import BaseSession

Runner = Callable[[Sequence[Any]], list[Any]]

# Tests switch this on: every kernel's results are held against the declared dtype and shape.
verify = False

# Smaller results are copied sooner than it is found out whose they are.
LARGE = 1 << 12
# Roles in control flow that pass on whatever comes.
_PASSING = ("switch", "merge", "enter", "exit", "next")

_KIND_OF_ERROR: tuple[tuple[type[BaseException], type[errors.OpError]], ...] = (
    (NotImplementedError, errors.UnimplementedError),
    (MemoryError, errors.ResourceExhaustedError),
    (StopIteration, errors.OutOfRangeError),
    (TypeError, errors.InvalidArgumentError),
    (ValueError, errors.InvalidArgumentError),
)
# How NumPy's ValueErrors begin for arrays of more bytes than memory can have.
_BEYOND_ADDRESSES = ("array is too big", "Maximum allowed dimension exceeded")


def check_types(ops: Iterable[Operation]) -> None:
    """Raises InvalidArgumentError for an input that was exchanged for one of another type."""
    for op in ops:
        for i, (tensor, kind) in enumerate(zip(op._inputs_val, op._input_types_val)):
            if not kind.base_dtype.is_compatible_with(tensor.dtype.base_dtype):
                raise errors.invalid(
                    f"Input {i} of node {op.name} was passed {tensor.dtype.base_dtype.name} from "
                    f"{tensor.name} incompatible with expected {kind.base_dtype.name}."
                )


class Step:
    """One operation, prepared: where its inputs lie and where its outputs go."""

    __slots__ = (
        *("op", "kernel", "context", "sources", "layout", "first", "count", "free", "plain"),
        "handles",
    )

    def __init__(self, op: Operation, context: KernelContext, slots: dict[Tensor, int]) -> None:
        kernel = trust.kernel_of(op)
        if kernel is None:
            raise errors.UnimplementedError(
                None, op, f"There is no kernel for op type '{op.type}' (node '{op.name}')"
            )
        self.op = op
        self.kernel = detached(op, kernel)
        self.context = context
        refs = reference_flags(op)
        # Slot and whether the cell itself is wanted rather than its value.
        self.sources = [
            (slots[t], ref or t.dtype == dtypes.resource) for t, ref in zip(op._inputs_val, refs)
        ]
        lengths = [arg_length(arg, op._attrs) for arg in op.definition.inputs]
        # (None: no input is a list, and the values are the arguments.)
        self.layout = None if all(n is None for n in lengths) else lengths
        self.handles = handle_inputs(op)
        self.first = slots[op.outputs[0]] if op.outputs else 0
        self.count = len(op.outputs)
        self.free: list[int] = []
        self.plain = [_holds_array(t) for t in op.outputs]

    def inputs(self, values: list[Any]) -> list[Any]:
        """The kernel's arguments."""
        flat = []
        for slot, ref in self.sources:
            value = values[slot]
            # Read by who takes the value, not where the variable was made: assignments that come
            # before are to be seen.
            if isinstance(value, VariableStorage) and not ref:
                value = value.read()
            flat.append(value)
        if self.handles:
            flat = with_handles(self.handles, flat)
        if self.layout is None:
            return flat
        grouped: list[Any] = []
        position = 0
        for length in self.layout:
            if length is None:
                grouped.append(flat[position])
                position += 1
            else:
                grouped.append(flat[position : position + length])
                position += length
        return grouped

    def run(self, values: list[Any]) -> None:
        """Runs the kernel and stores its results."""
        try:
            self.store(values, self.kernel(self.context, *self.inputs(values)))
        except Exception as error:
            raise located(error, self.op) from error
        # Large values go as soon as nobody needs them, as compiled plans reuse their memory.
        for slot in self.free:
            values[slot] = None

    def store(self, values: list[Any], result: Any) -> None:
        """Puts the kernel's results where they belong."""
        if self.count == 1:
            if type(result) in (tuple, list) and len(result) == 1:
                result = result[0]
            values[self.first] = self.settle(0, result)
        elif self.count:
            for i, item in enumerate(self.spread(result)):
                values[self.first + i] = self.settle(i, item)

    def begin(self, values: list[Any]) -> Future | None:
        """Runs a kernel that may have to wait; what it waits for, None when it has run."""
        try:
            result = self.kernel(self.context, *self.inputs(values))
            if isinstance(result, Future):
                if not result.is_done:
                    return result
                result = result.outcome()
            self.store(values, result)
        except Exception as error:
            raise located(error, self.op) from error
        return None

    def end(self, values: list[Any], pending: Future) -> None:
        """Takes the results that the kernel waited for."""
        try:
            self.store(values, pending.outcome())
        except Exception as error:
            raise located(error, self.op) from error

    def spread(self, result: Sequence[Any]) -> list[Any]:
        """Several results as one flat list."""
        items = list(result)
        if len(items) != self.count:
            items = [
                x for item in items for x in (item if isinstance(item, (list, tuple)) else (item,))
            ]
        if len(items) != self.count:
            raise errors.internal(f"The kernel of {self.op.type} gave {len(items)} results")
        return items

    def settle(self, index: int, value: object) -> Any:
        """A result as an array, where arrays are meant."""
        if (
            self.plain[index]
            and type(value) is not np.ndarray
            and not isinstance(value, VariableStorage)
        ):
            if isinstance(value, (LazyArray, PackedTexts)):
                return value
            value = np.asarray(value, dtype=self.context.out_dtype(index))
        if verify and type(value) is np.ndarray:
            _verify(self.op.outputs[index], value)
        return value


def handle_inputs(op: Operation) -> list[tuple[int, bool]]:
    """The positions of inputs that are resources, and whether the op knows them as such.

    Other ops, such as a gather among handles, treat them as elements of arrays.
    """
    if all(tensor.dtype != dtypes.resource for tensor in op._inputs_val):
        return []
    if op.definition.control_flow_role in _PASSING or op.definition.passes_ref:
        return []
    known: list[bool] = []
    for arg in op.definition.inputs:
        length = arg_length(arg, op._attrs)
        known.extend([arg.dtype == dtypes.resource] * (1 if length is None else length))
    inputs = enumerate(zip(op._inputs_val, known))
    return [(i, is_known) for i, (t, is_known) in inputs if t.dtype == dtypes.resource]


def with_handles(handles: list[tuple[int, bool]], inputs: Sequence[Any]) -> list[Any]:
    """A kernel's flat inputs with its handles as it wants them: see `handle_inputs`."""
    result = list(inputs)
    for i, is_known in handles:
        thing = result[i]
        # It is as the op wants it already.
        if (type(thing) is np.ndarray) != is_known:
            continue
        if is_known:
            result[i] = thing.item()
        else:
            result[i] = boxed(thing)
    return result


def _holds_array(tensor: Tensor) -> bool:
    return not tensor.dtype._is_ref_dtype and tensor.dtype.is_numpy_compatible


def _verify(tensor: Tensor, value: np.ndarray) -> None:
    kind = tensor.dtype.base_dtype.np_dtype
    if value.dtype != kind:
        raise errors.internal(f"{tensor.name} should be {kind} but its kernel gave {value.dtype}")
    if not tensor.shape.is_compatible_with(value.shape):
        raise errors.internal(
            f"{tensor.name} should be {tensor.shape} but its kernel gave {value.shape}"
        )


def located(error: BaseException, op: Operation) -> BaseException:
    """The error to raise for a failure in an operation: it names the node and the user's line."""
    if isinstance(error, errors.OpError):
        if error.op is not None or error.is_of_run:
            return error
        kind, text = type(error), error.message
    else:
        kind = next((k for e, k in _KIND_OF_ERROR if isinstance(error, e)), errors.UnknownError)
        text = f"{type(error).__name__}: {error}"
        if isinstance(error, MemoryError) or str(error).startswith(_BEYOND_ADDRESSES):
            kind = errors.ResourceExhaustedError
            text = f"OOM when allocating what operation '{op.name}' makes: {error}"
    # (Within a function: where in it, and what calls it.)
    filename, line, _ = op._frame
    where = f"{text}\n\t [[node {op.name} (defined at {filename}:{line}) ]]"
    caller = op._stands_for
    if caller is not None and caller.name != op.name:
        where += f"\n\t [[{caller.name}]]"
    return kind(None, caller or op, where)  # type: ignore[call-arg]


class Program:
    """The needed part of a graph, prepared for one session."""

    __slots__ = (
        *("session", "steps", "size", "feed_slots", "fetch_slots", "fetches", "restores"),
        "holds",
    )

    def __init__(
        self,
        session: BaseSession,
        fetches: Sequence[Tensor],
        ops: Sequence[Operation],
        feeds: Sequence[Tensor],
        release: bool = True,
    ) -> None:
        """ops: what the fetches need, in order (`needed_operations`)."""
        self.session = session
        slots: dict[Tensor, int] = {}
        for op in ops:
            for tensor in op.outputs:
                slots[tensor] = len(slots)
        # A fed tensor has a slot of its own: its operation may run too, for other outputs.
        for tensor in feeds:
            slots[tensor] = len(slots)
        shadowed = [t for op in ops for t in op.outputs if t in set(feeds)]
        self.size = len(slots) + len(shadowed)
        self.feed_slots = [slots[t] for t in feeds]
        self.fetch_slots = [slots[t] for t in fetches]
        self.fetches = list(fetches)
        self.steps = [self._step(session, op, slots) for op in ops]
        if shadowed:
            self._move_outputs(slots)
        # Whether variables may take what is in files together, at the end of a run.
        self.restores = release and not fetches and _only_restores(self.steps)
        # Whether it only puts variables into files, for which they need not be copied.
        self.holds = False
        if release:
            self._release()
            self._tell_what_need_not_be_copied(set(fetches))

    @staticmethod
    def _step(session: BaseSession, op: Operation, slots: dict[Tensor, int]) -> Step:
        context = KernelContext(op, session.resources, session.kernel_states, session=session)
        return Step(op, context, slots)

    def _move_outputs(self, slots: dict[Tensor, int]) -> None:
        """Gives outputs of operations with a fed output fresh slots, which nothing reads."""
        fed = set(self.feed_slots)
        for step in self.steps:
            outputs = [slots[t] for t in step.op.outputs]
            if fed.isdisjoint(outputs):
                continue
            step.first = self.size
            self.size += len(outputs)
            moved = {slot: step.first + i for i, slot in enumerate(outputs) if slot not in fed}
            for other in self.steps:
                other.sources = [(moved.get(slot, slot), ref) for slot, ref in other.sources]
            self.fetch_slots = [moved.get(slot, slot) for slot in self.fetch_slots]

    def _release(self) -> None:
        """Notes after which step each intermediate value is no longer needed."""
        # From behind: the first step that is met is the last one that uses a value.
        kept = {*self.fetch_slots, *self.feed_slots}
        for step in reversed(self.steps):
            outputs = range(step.first, step.first + step.count)
            for slot in (*(slot for slot, _ in step.sources), *outputs):
                if slot not in kept:
                    kept.add(slot)
                    step.free.append(slot)

    def _tell_what_need_not_be_copied(self, wanted: set[Tensor]) -> None:
        """Values between files and variables, and variables that nothing changes in this run.

        wanted: tensors that must be arrays.
        """
        roles = [step.op.definition.transfer for step in self.steps]
        is_read_only = "write" not in roles and "" not in roles
        # (What is only fetched is copied in any case.)
        self.holds = is_read_only and "file" in roles
        for step, role in zip(reversed(self.steps), reversed(roles)):
            step.context.is_read_only = self.holds
            step.context.may_defer = wanted.isdisjoint(step.op.outputs)
            # Whoever computes with a value needs an array; writes and moves pass on what is in a
            # file as it is.
            if role != "write" and not (role == "value" and step.context.may_defer):
                wanted.update(step.op._inputs_val)

    def start(self, feeds: Sequence[Any]) -> list[Any]:
        """The slots of a new run, with the feeds in place."""
        values: list[Any] = [None] * self.size
        for slot, value in zip(self.feed_slots, feeds):
            values[slot] = value
        return values

    def run(self, feeds: Sequence[Any]) -> list[Any]:
        """One run: the fetched values, which share no memory with anything."""
        with within(self.session):
            return self._run(feeds)

    def _run(self, feeds: Sequence[Any]) -> list[Any]:
        values = self.start(feeds)
        if self.restores:
            # Nothing but values from files to variables: they are read together, in the quickest
            # order.
            with gc_pause.held_up(), BulkAssign():
                self._run_steps(values)
            return []
        if not self.holds:
            self._run_steps(values)
            return self.results(values)
        with Holding():
            self._run_steps(values)
            return self.results(values)

    def _run_steps(self, values: list[Any]) -> None:
        for step in self.steps:
            check_session(self.session)
            step.run(values)

    def results(self, values: list[Any]) -> list[Any]:
        """The fetched values."""
        return [fetched_from(values, slot, t) for slot, t in zip(self.fetch_slots, self.fetches)]

    def execute(self, values: list[Any], watch: Callable[[Step, int, int], None]) -> None:
        """Runs everything; `watch` is told of every operation and when it ran."""
        for step in self.steps:
            check_session(self.session)
            start = time.time_ns()
            step.run(values)
            watch(step, start, time.time_ns())


def _only_restores(steps: Sequence[Step]) -> bool:
    """Whether steps move values from files to variables, and none sees a variable's value."""
    roles = [step.op.definition.transfer for step in steps]
    if "" in roles or not any(r == "file" and step.count for r, step in zip(roles, steps)):
        return False
    return not any(_reads(step) for step in steps)


def _reads(step: Step) -> bool:
    """Whether a step that moves values takes one out of a variable."""
    definition = step.op.definition
    hands_on = definition.transfer == "value" and not definition.passes_ref
    for tensor, (_, wants_cell) in zip(step.op._inputs_val, step.sources):
        if tensor.dtype == dtypes.resource:
            if hands_on:
                return True
        elif tensor.dtype._is_ref_dtype and not wants_cell:
            return True
    return False


def fetched(value: Any, tensor: Tensor) -> Any:
    """A tensor's value as the caller gets it: a copy, since variables change in place."""
    if tensor.dtype == dtypes.resource:
        return handle_bytes(value)
    if isinstance(value, VariableStorage):
        try:
            value = value.read()
        except errors.OpError as error:
            raise located(error, tensor.op) from error
    return copy_of(value) if type(value) is np.ndarray else value


def fetched_from(values: list[Any], slot: int, tensor: Tensor) -> Any:
    """The same of what a run holds in a slot: as it is, if it is large and nobody else sees it."""
    value = values[slot]
    if type(value) is not np.ndarray or (
        value.dtype.hasobject and tensor.dtype != dtypes.string  # (handles, among others)
    ):
        return fetched(value, tensor)
    is_large = value.nbytes >= LARGE and value.flags.writeable
    return value if is_large and is_alone(values, slot, 1) else copy_of(value)


def make_runner(
    session: BaseSession,
    graph: Graph,
    fetches: Sequence[Tensor],
    targets: Sequence[Operation],
    feeds: Sequence[Tensor],
) -> Runner:
    """A function from feed arrays to fetched arrays."""
    del graph
    return prepared(session, fetches, targets, feeds).run


def prepared(
    session: BaseSession,
    fetches: Sequence[Tensor],
    targets: Sequence[Operation],
    feeds: Sequence[Tensor],
    release: bool = True,
) -> Program:
    """The program for a part of a graph, with branches and loops or without."""
    return program_of(session, needed_operations(fetches, targets, feeds), fetches, feeds, release)


def program_of(
    session: BaseSession,
    ops: Sequence[Operation],
    fetches: Sequence[Tensor],
    feeds: Sequence[Tensor],
    release: bool = True,
) -> Program:
    """The program for operations in order."""
    trust.require(ops)
    # (Imported late: it builds on this module.)
    if any(op.definition.control_flow_role for op in ops):
        from .dataflow import FlowProgram

        return (session.flow_class or FlowProgram)(session, ops, fetches, feeds)
    with gc_pause.held_up():
        return Program(session, fetches, ops, feeds, release)
