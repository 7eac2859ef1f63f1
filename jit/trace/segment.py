# SPDX-License-Identifier: Apache-2.0
"""What is traced, and what comes of it: operations with what they are given, and their program.

Imports tensor IR and the engine's types; the tracer (jit/trace/tracer.py) makes one from the other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import field
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np

from ...engine.graph.inference import leads_to_shape, spells_shape
from ...engine.record_class import record
from ...engine.session.state import VariableStorage
from ...engine.types import dtypes
from ...engine.types.shape import TensorShape
from ..kernel.reference import dtype_name
from ..kernel.size_scope import Scope
from ..kernel.sizes import AnySize, symbols_of
from ..program.editing import Program
from ..program.tensor_ir import (
    GrowableStack,
    Host,
    Loop,
    Measure,
    Node,
    Read,
    Register,
    Write,
    lasts,
    written_cells,
)
from .builder import Misjudged

if TYPE_CHECKING:
    from ...engine.graph.operation import Operation


# Contents of integer feeds count as sizes when there are at most so many of them.
# Shapes rarely have more dimensions; and each new content is a binding of its own, perhaps a plan,
# which data would be all the time.
MOST_SIZES = 8


class Evaluate(Protocol):
    """Runs an operation by its reference kernel, and gives the context that kernels get."""

    # How many threads the session allows; None leaves it to the settings.
    threads: int | None
    session: Any
    # What reference kernels take is noted there (jit/runtime/host_time.py).
    meter: Any
    # What a run that began anew had done is there (jit/runtime/done.py).
    done: Any
    # What sizes results of operations last had (jit/runtime/guessed_sizes.py).
    shapes: Any

    def __call__(self, op: Any, inputs: Sequence[Any]) -> Sequence[Any]: ...

    def bound(self, op: Operation) -> Callable[[Sequence[Any]], Any]:
        """What runs one operation, and gives what its kernel returned."""

    def spread(self, op: Operation, result: object) -> Sequence[Any]:
        """What a kernel returned as one flat list."""

    def rounds(self, op: Operation, known: Sequence[np.ndarray]) -> bool:
        """May kernels give other bits of these inputs than the reference kernel?"""

    def computed(
        self, op: Operation, segment: Segment, fed: frozenset[Any]
    ) -> Sequence[np.ndarray] | None:
        """What kernels give of an operation that follows from constants alone; else None."""

    def context(self, op: Operation) -> Any:
        """The kernel context of an operation (or of the OpView of one)."""


@record(frozen=True)
class FeedType:
    """What a trace is told of one input: dtype name, symbolic shape, contents if they are sizes."""

    dtype: str
    shape: tuple[AnySize, ...]
    known: np.ndarray | None = None


@record(frozen=True)
class Segment:
    """Operations from number `start` on, which are traced as far as one program goes.

    end: the number of the first that is not to be part of it, if that is known.
    inputs: the tensors that it is given, which are fed or come from segments before.  wanted(stop)
    names those that are needed once the program ends in front of operation number `stop`.
    may_measure: whether a program may learn sizes on its way, and go on; may_assume: whether it may
    rely on something that a run finds to be otherwise, and doubted: on what it may not, being found
    out (texts of jit/kernel/size_scope.py).  evaluate: runs an
    operation by its reference kernel.  handles: variables and resources that are
    known already, by tensor.  regions: first and behind the last number of operations that branch
    or loop (jit/trace/control_regions.py).  constants: operations before `start` that take nothing;
    they are traced again, so that this program, too, knows what they give.  is_plain: products and
    windows become loop nests, for want of hand-written kernels.  offered: what of them a library of
    the device computes (jit/library/computed.py), by kind.  is_mixed: products and windows of
    float32 may go by way of float16.  varying: of what goes round loops,
    by the operation that takes it in, the axes along which turns have found it to vary.  copied:
    operations that change a copy of a list of tensors.
    """

    operations: Sequence[Any]
    start: int
    inputs: Sequence[Any]
    wanted: Callable[[int], Sequence[Any]]
    evaluate: Evaluate
    handles: Mapping[Any, Any] = field(default_factory=dict)
    regions: Mapping[int, int] = field(default_factory=dict)
    constants: Sequence[Any] = ()
    may_measure: bool = True
    may_assume: bool = True
    doubted: frozenset[str] = frozenset()
    is_plain: bool = False
    offered: frozenset[str] = frozenset()
    is_mixed: bool = False
    varying: dict[Any, frozenset[int]] = field(default_factory=dict)
    copied: set[Any] = field(default_factory=set)
    end: int | None = None

    @cached_property
    def present(self) -> frozenset[Any]:
        """The operations, to look one up."""
        return frozenset(self.operations)

    @cached_property
    def rest(self) -> frozenset[Any]:
        """Those from `start` on."""
        return frozenset(self.operations[self.start :])


@record(frozen=True)
class ResultSizes:
    """Stands among a segment's inputs for the sizes that an operation's results take from data.

    It looks like the tensor of those numbers that the graph does not have.  ranks: of how many of
    them the shape of each result is made, where they are whole shapes.
    """

    op: Operation
    count: int = field(compare=False)
    ranks: tuple[int, ...] = field(default=(), compare=False)
    dtype = dtypes.int64

    @property
    def name(self) -> str:
        """What reports call it."""
        return f"{self.op.name} (sizes{' of ranks ' if self.ranks else ''}{self.ranks or ''!s})"

    @property
    def shape(self) -> TensorShape:
        """The shape of the vector of numbers."""
        return TensorShape([self.count])


class Hasty(NamedTuple):
    """What a run does before it sees whether what its program takes for granted is so.

    Where that is not so it begins anew: variables are put back (moving averages, say), and what
    operations on the host gave is taken again, as they may not run twice.
    """

    cells: tuple[VariableStorage, ...] = ()
    hosts: frozenset[Operation] = frozenset()


@record(frozen=True, eq=False)
class Traced:
    """A segment as a program, for one pattern of sizes.

    stop is the number of the first operation not traced; `is_barrier` says that it must run on the
    host by itself.  exports: the number among the program's fetches of every tensor that is wanted;
    passed: the variables that are wanted, as they are.  hosted: the operations that are not
    compiled, with reasons.  cells: the variables that it looked at, with shapes and dtypes.
    """

    segment: Segment
    program: Program
    scope: Scope
    stop: int
    is_barrier: bool
    exports: Mapping[Any, int]
    passed: Mapping[Any, Any]
    hosted: Sequence[tuple[Any, str]]
    seconds: float
    cells: Mapping[Any, tuple[tuple[AnySize, ...], str]]

    @property
    def is_complete(self) -> bool:
        """Is it all of the segment?"""
        return self.stop == len(self.segment.operations) and not self.is_barrier

    @cached_property
    def fits(self) -> Callable[..., bool]:
        """Do these values of the symbols keep to what the trace relied on?"""
        return self.scope.checker()

    def with_measured(self, symbols: Sequence[int]) -> tuple[int, ...]:
        """Values of all symbols, given those of the inputs; others as they were last measured."""
        examples = self.scope.examples
        return (*symbols, *(examples[name] for name in self.scope.measured))

    def still_holds(self, cell: VariableStorage, array: np.ndarray) -> bool:
        """Has what a variable holds the shape and dtype that the trace saw, if it looked?"""
        known = self.cells.get(cell)
        return known is None or known == (array.shape, dtype_name(array.dtype))

    def shapes_hold(self) -> bool:
        """Have all variables still the shapes and dtypes that the trace saw?"""
        # (Written out: whoever runs at sizes that are new asks it of all variables.)
        for cell, (shape, dtype) in self.cells.items():
            array = cell.value
            if array is not None and (array.shape != shape or dtype_name(array.dtype) != dtype):
                return False
        return True

    @property
    def is_pure(self) -> bool:
        """Whether nothing outlives a run but its results."""
        return not any(lasts(node) for program in self.program.all() for node in program)

    @cached_property
    def hasty(self) -> Hasty | None:
        """What a run changes before it sees whether what was taken for granted is so.

        None where that cannot be undone, or is too much.
        """
        last = max(self._guesses(self.program), default=-2.0)
        before = [node for node in self.program if node.position <= last]
        effects = [each for node in before for each in _within(node) if lasts(each)]
        if not effects:
            return Hasty()
        hosts = [node for node in effects if isinstance(node, Host)]
        changed = (cell for node in hosts for cell in node.cells)
        # (What an operation on the host made of a variable cannot be told.)
        if self.segment.is_plain or any(isinstance(cell, VariableStorage) for cell in changed):
            return None
        others = (node for node in effects if not isinstance(node, Host))
        cells = dict.fromkeys(cell for node in others for cell in written_cells(node))
        found = [c for c in cells if not isinstance(c, (Register, GrowableStack))]
        arrays = [cell.value if isinstance(cell, VariableStorage) else None for cell in found]
        total = sum(_MOST_HASTY + 1 if array is None else array.nbytes for array in arrays)
        if total > _MOST_HASTY:
            return None
        return Hasty(tuple(found), frozenset(node.op for node in hosts))

    def calm_end(self) -> int | None:
        """Where a program may end, so that another takes for granted what it takes.

        The number of the operation behind the last change that comes before that; None where it is
        within a region.
        """
        last = max(self._guesses(self.program), default=-2.0)
        makers = {
            node.origin
            for node in self.program
            if node.position <= last and any(map(lasts, _within(node)))
        }
        segment = self.segment
        ends = [i + 1 for i, op in enumerate(segment.operations[: self.stop]) if op in makers]
        if not ends or ends[-1] <= segment.start or ends[-1] >= self.stop:
            return None
        end = ends[-1]
        is_cut = any(start < end < behind for start, behind in segment.regions.items())
        return None if is_cut else end

    def _guesses(self, program: Program) -> Iterator[float]:
        """Where a program looks at what was taken for granted; loops do so all along."""
        checks = (check for check in program.checks if check.error is Misjudged)
        yield from (-1.0 if check.behind is None else check.behind.position for check in checks)
        scope = self.scope
        texts = [*scope.taken_for_zero, *scope.taken_for_some, *scope.taken_for_within]
        names = {name for text in texts for name in symbols_of(text)}
        for node in program:
            if isinstance(node, Measure) and node.symbol in names:
                yield node.position
            elif isinstance(node, Host) and node.is_guessed:
                yield node.position
            elif isinstance(node, Loop):
                parts = (node.test, node.body)
                if any(True for part in parts for _ in self._guesses(part)):
                    yield node.position


# Bytes of variables that each run copies for the case that it has to begin anew.
_MOST_HASTY = 1 << 20


def _within(node: Node) -> Iterator[Node]:
    """A node, and those of the programs in it."""
    yield node
    if isinstance(node, Loop):
        yield from (each for part in (node.test, node.body) for p in part.all() for each in p)


def may_be_sizes(tensor: Any) -> bool:
    """Are the contents of a feed perhaps sizes?  Small integers and vectors of them.

    Vectors have a static length and shapes are computed with them, or shapes of results are what
    they spell; others are data.  (Numbers also decide how often loops go round, and which branch
    is taken.)
    """
    if isinstance(tensor, ResultSizes):
        return True
    if tensor.op.definition.control_flow_role == "wait":
        # What comes out of queues is data.
        return False
    if tensor.dtype.base_dtype.name not in ("int32", "int64"):
        return False
    shape = tensor.shape.sizes
    if shape is not None and len(shape) > 1:
        return False
    if shape is None or None in shape:
        return spells_shape(tensor)
    if not shape:
        return True
    return int(np.prod(shape)) <= MOST_SIZES and leads_to_shape(tensor)


def cells_of(program: Program) -> dict[Any, tuple[tuple[AnySize, ...], str]]:
    """The variables that a program reads or writes, with shapes and dtypes.

    It counts even if nobody needs what is read: a lowering that looks at a variable's shape reads.
    """
    return {
        node.cell: (node.outputs[0].shape, node.outputs[0].dtype)
        for part in program.all()
        for node in part
        if isinstance(node, (Read, Write)) and not isinstance(node.cell, Register)
    }


def may_give_sizes(tensor: Any, segment: Segment) -> bool:
    """Are the contents of an input perhaps sizes, as far as the segment's operations go?

    What comes out of the middle of a run as one number, such as a label of a record, is another one
    each time: it counts only where something is made of it.
    """
    if not may_be_sizes(tensor):
        return False
    if not segment.start or isinstance(tensor, ResultSizes) or tensor.shape.rank != 0:
        return True
    return leads_to_shape(tensor, segment.rest)
