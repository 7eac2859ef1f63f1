# SPDX-License-Identifier: Apache-2.0
"""Functions of small values, such as texts, none of which is compiled: called with little around.

A dataset calls its functions for every element.  Where all of a function's operations run on the
host, what a plan does around each of them would cost more than they do.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from operator import itemgetter
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import errors, settings, stopping
from ..graph import trust
from ..graph.operation import arg_length
from ..types import dtypes
from ..types.texts import PackedTexts
from . import interpreter

if TYPE_CHECKING:
    from ..graph.kernel_context import KernelContext
    from ..graph.operation import Operation
    from ..graph.tensor import Tensor
    from .session import BaseSession

# So many operations on whole numbers may stand among those on the host.
MOST_OTHERS = 6
# They have at most so many elements, if they are not elementwise.
_MOST_ELEMENTS = 1024


# What a kernel gives for an output as it is to be.
_VALUES = frozenset({np.ndarray, PackedTexts})


class HostCalls:
    """Runs operations one after the other by their kernels; what is constant was run before."""

    def __init__(
        self,
        session: BaseSession,
        operations: Sequence[Operation],
        fetches: Sequence[Tensor],
        feeds: Sequence[Tensor],
        cells: Mapping[Tensor, Any],
        is_inner: bool = False,
    ) -> None:
        """operations: all of `runs_on_host`; cells: what handles mean.

        is_inner: who calls it copies what it gives before anybody else sees that.
        """
        self._session = session
        program = interpreter.program_of(
            session, operations, fetches, [*feeds, *cells], release=False
        )
        # (What is read of variables is copied in any case: they change in place.)
        give = _given_on if is_inner and not cells else interpreter.fetched_from
        self._fetches = [(give, *pair) for pair in zip(program.fetch_slots, program.fetches)]
        count = len(feeds)
        self._feeds = program.feed_slots[:count]
        # The numbers of the feeds that may be `PackedTexts`.
        packed = _taken_packed(operations, fetches)
        self.packed = frozenset(i for i, feed in enumerate(feeds) if feed in packed)
        # Whether Python does all of it itself, so that threads would only wait for each other.
        self.holds_lock = not any(
            op.definition.is_native or op.definition.touches is not None for op in operations
        )
        contexts = {step.op: step.context for step in program.steps}
        let_pack(operations, set(contexts), fetches, contexts.__getitem__)
        self._template: list[Any] = [None] * program.size
        known = set(program.feed_slots[count:])
        for slot, cell in zip(program.feed_slots[count:], cells.values()):
            self._template[slot] = cell
        self._steps: list[tuple[interpreter.Step, Any, Any, Any]] = []
        for step in program.steps:
            if not (step.count or step.op._is_stateful):
                continue  # It gives nothing and does nothing.
            slots = [slot for slot, _ in step.sources]
            made = range(step.first, step.first + step.count)
            if known.issuperset(slots) and step.count and self._runs_now(step):
                known.update(made)
            else:
                # (What handles mean that are fed comes in arrays.)
                is_boxed = any(slots[i] in self._feeds for i, _ in step.handles)
                taken = step.inputs if is_boxed else _taken(slots, step.layout)
                self._steps.append((step, step.kernel, step.context, taken))

    @property
    def is_fixed(self) -> bool:
        """Whether it takes nothing, does nothing, and so gives the same in every call."""
        return not (self._steps or self._feeds)

    def _runs_now(self, step: interpreter.Step) -> bool:
        """Runs a step of constants once and for all, if that can be.

        What fails does so when it is called, if ever: it may be of a branch that nobody takes.
        """
        if step.op._is_stateful:
            return False
        try:
            step.run(self._template)
        except errors.OpError:
            return False
        return True

    def __call__(self, arrays: Sequence[Any]) -> list[Any]:
        """The fetched values, which share no memory with anything unless it is inner."""
        values = self._template.copy()
        for slot, array in zip(self._feeds, arrays):
            values[slot] = array
        stopping.check_session(self._session)
        with stopping.within(self._session):
            for step, kernel, context, taken in self._steps:
                try:
                    result = kernel(context, *taken(values))
                    if type(result) in _VALUES and step.count == 1:
                        values[step.first] = result
                    else:
                        step.store(values, result)
                except Exception as error:
                    raise interpreter.located(error, step.op) from error
        return [give(values, slot, tensor) for give, slot, tensor in self._fetches]


def _given_on(values: list[Any], slot: int, tensor: Tensor) -> Any:
    """What a run holds in a slot, for who copies what is small: as it is, if it is."""
    value = values[slot]
    if type(value) is np.ndarray and value.nbytes < interpreter.LARGE:
        if not value.dtype.hasobject or tensor.dtype == dtypes.string:
            return value
    return interpreter.fetched_from(values, slot, tensor)


def _taken(
    slots: list[int], layout: Sequence[int | None] | None
) -> Callable[[list[Any]], Sequence[Any]]:
    """What takes a kernel's arguments; a list for one that is a list of tensors."""
    if layout is None:
        if len(slots) > 1:
            return itemgetter(*slots)
        return lambda values: [values[i] for i in slots]
    groups: list[int | list[int]] = []
    place = 0
    for length in layout:
        groups.append(slots[place] if length is None else slots[place : place + length])
        place += 1 if length is None else length
    return lambda values: [
        values[i] if isinstance(i, int) else [values[j] for j in i] for i in groups
    ]


def only_takes_data(operations: Sequence[Operation], feeds: Sequence[Tensor]) -> bool:
    """Whether a run takes what others have computed, and does nothing with it but on the host."""
    kinds = [op.definition for op in operations]
    if any(kind.control_flow_role for kind in kinds):
        return False
    fed = set(feeds)
    return any(kind.waits_for_data for kind in kinds) and all(
        kind.lower is None
        or not (op._inputs_val or op._is_stateful)
        or (kind.elementwise and kind.transfer == "value")
        or not fed.isdisjoint(op.outputs)
        for op, kind in zip(operations, kinds)
    )


def let_pack(
    operations: Sequence[Operation],
    callers: Collection[Operation],
    fetches: Sequence[Tensor],
    context: Callable[[Operation], KernelContext],
) -> None:
    """Has kernels give texts packed where all that reads them takes them so.

    callers: those of the operations whose kernels are given what others gave as it is.
    """
    if settings.get("jit") == "never":  # then nothing is compiled, not even what reads them
        return
    packed = _taken_packed(operations, fetches, callers)
    for op in callers:
        if op.definition.gives_packed:
            context(op).packs = frozenset(i for i, t in enumerate(op.outputs) if t in packed)


def _taken_packed(
    operations: Sequence[Operation],
    fetches: Sequence[Tensor],
    callers: Collection[Operation] | None = None,
) -> set[Tensor]:
    """The tensors whose texts all that read them take packed, and something does.

    callers: the operations that may be given such at all, if not all.
    """
    takes, others = set[Any](), set[Any](fetches)
    for op in operations:
        can_take = callers is None or op in callers
        for arg, given in zip(op.definition.inputs, _by_argument(op)):
            is_packed = can_take and arg.name in op.definition.takes_packed
            (takes if is_packed else others).update(given)
    return takes - others


def _by_argument(op: Operation) -> Iterator[Sequence[Tensor]]:
    """The inputs of an operation, those of each argument together."""
    place = 0
    for arg in op.definition.inputs:
        length = arg_length(arg, op._attrs)
        count = 1 if length is None else length
        yield op._inputs_val[place : place + count]
        place += count


def runs_on_host(
    operations: Sequence[Operation],
    feeds: Sequence[Tensor],
    cells: Mapping[Tensor, Any],
    varies: bool = False,
    most_others: int = MOST_OTHERS,
    least: int = 1,
    boxed: frozenset[Tensor] = frozenset(),
    is_exact: Callable[[Operation], bool] | None = None,
) -> bool:
    """Whether nothing of a function would be compiled, but for trifles of which no bit depends.

    varies: sizes are others in each call; a plan would be laid out anew in every one, which takes
    longer than to move some whole numbers.  least: so many operations have no other way to run.
    boxed: handles, among the feeds, of what lives for one run: what takes them runs on the host.
    is_exact: whether an operation gives the same bits however it runs; if few elements, it may.
    """
    hosted = others = 0
    varies = varies and any(map(_is_of_any_size, operations))
    constant: set[Tensor] = set()
    known = {*cells, *boxed}
    for op in operations:
        kind = op.definition
        takes_boxed = not boxed.isdisjoint(op._inputs_val)
        if kind.control_flow_role and not (kind.control_flow_role == "step" and takes_boxed):
            return False
        if trust.kernel_of(op) is None or not _is_plain(op, known):
            return False
        if not (op._inputs_val or op._is_stateful):
            constant.update(op.outputs)
        elif _is_hosted(op) or takes_boxed:
            hosted += 1
        elif kind.elementwise and kind.transfer == "value":
            continue  # Values pass as they are.
        elif _is_trifle(op, is_exact) or (varies and _is_moved(op, is_exact)):
            others += 1
        else:
            return False
    return (hosted >= least or varies) and others <= most_others and constant.isdisjoint(feeds)


def leading(
    operations: Sequence[Operation], feeds: Sequence[Tensor], cells: Mapping[Tensor, Any]
) -> list[Operation]:
    """The operations that can run on the host before anything is compiled, in order.

    Those that have to run there, as where a file is read and decoded, and what they need of the
    others: constants, and some whole numbers.  None comes before an operation with state that it
    has come after so far.
    """
    known, fed, present = {*feeds, *cells}, set(feeds), set(operations)
    # By operation whether it has to run on the host.
    found: dict[Operation, bool] = {}
    is_behind = False  # an operation with state
    for op in operations:
        is_there = all(tensor in known for tensor in op._inputs_val) and all(
            other in found or other not in present for other in op._control_inputs_val
        )
        if is_there and _can_lead(op, cells) and not (op._is_stateful and is_behind):
            found[op] = _is_hosted(op) and any(tensor not in fed for tensor in op.outputs)
            known.update(op.outputs)
        elif op._is_stateful:
            is_behind = True
    needed: set[Operation] = set()
    for op in reversed(found):
        if found[op] or op in needed:
            needed.update((op, *(t.op for t in op._inputs_val), *op._control_inputs_val))
    return [op for op in found if op in needed]


def _is_hosted(op: Operation) -> bool:
    """Whether an operation has to run on the host."""
    return op.definition.lower is None or _has_texts(op)


def _can_lead(op: Operation, cells: Mapping[Tensor, Any]) -> bool:
    """Whether the host may run an operation in front of a plan, and loses nothing by it."""
    return (
        (_is_hosted(op) or not op._inputs_val or _is_trifle(op))
        and not op.definition.control_flow_role
        and trust.kernel_of(op) is not None
        and _is_plain(op, cells)
    )


def _is_plain(op: Operation, cells: Collection[Tensor]) -> bool:
    """Whether an operation takes and gives values, or handles whose meaning is given."""
    wanted = {i for i, is_known in interpreter.handle_inputs(op) if is_known}
    for i, tensor in enumerate(op._inputs_val):
        if tensor.dtype._is_ref_dtype:
            return False
        if tensor.dtype == dtypes.resource and not (tensor in cells and i in wanted):
            return False
    return not any(t.dtype._is_ref_dtype or t.dtype == dtypes.resource for t in op.outputs)


def _has_texts(op: Operation) -> bool:
    return any(t.dtype == dtypes.string for t in (*op._inputs_val, *op.outputs))


def _is_of_any_size(op: Operation) -> bool:
    """Whether an operation takes or gives what has another size in each call."""
    return any(t.shape.num_elements() is None for t in (*op._inputs_val, *op.outputs))


def _is_of_whole_numbers(op: Operation) -> bool:
    """Whether an operation moves or computes whole numbers, with the same bits anywhere."""
    return not op._is_stateful and all(
        t.dtype.is_integer or t.dtype.is_bool for t in (*op._inputs_val, *op.outputs)
    )


def _is_moved(op: Operation, is_exact: Callable[[Operation], bool] | None) -> bool:
    """Whether an operation of any size takes little time anywhere: for lines also of numbers."""
    if _is_of_whole_numbers(op):
        return True
    are_lines = all(t.shape.rank is not None and t.shape.rank < 2 for t in op.outputs)
    return is_exact is not None and are_lines and not op._is_stateful and is_exact(op)


def _is_trifle(op: Operation, is_exact: Callable[[Operation], bool] | None = None) -> bool:
    """The same of a few whole numbers, or of others that are only moved."""
    counts = [tensor.shape.num_elements() for tensor in op.outputs]
    are_few = all(n is not None and n <= _MOST_ELEMENTS for n in counts)
    if _is_of_whole_numbers(op):
        return op.definition.elementwise or are_few
    return is_exact is not None and are_few and not op._is_stateful and is_exact(op)
