# SPDX-License-Identifier: Apache-2.0
"""Tensor IR: what a traced graph becomes before it is cut into kernels.

A `Program` (jit/program/editing.py) is a list of nodes in program order; nodes make `Value`s.
Shapes are symbolic (jit/kernel/sizes.py).  Few kinds of node are enough: the sources (Feed,
Constant, Sizes, Read, Handle, Captured), Map, Reduce, View, Reshape, Iota, Gather, Compose (which
becomes StoreRegions), and the opaque ones (Call, Host, Loop, Stop,
Measure, Write).  Nodes and values are
compared by identity. Imports jit's ir and sizes only.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import field
from typing import TYPE_CHECKING, Any

import numpy as np

from ...engine.record_class import record
from ..kernel import ir, scalar
from ..kernel.sizes import AnySize

if TYPE_CHECKING:
    from ..library.library_kernel import LibraryKernel
    from .editing import Program

# Scalars that stand in the kernel's text; others are loaded, so that kernels differing only in a
# learning rate are one kernel.
LITERALS = frozenset({0, 1, 2, 3, 4, -1, 0.5, -0.5})
Shape = tuple[AnySize, ...]


@record(eq=False, slots=True)
class Value:
    """One tensor: NumPy dtype name, symbolic shape, and the node that makes it.

    `known` holds the contents where the trace knows them: an ndarray, of dtype object when some
    items are symbolic sizes.  `cell` is set on the values that stand for a variable itself.
    """

    dtype: str
    shape: Shape
    node: Node
    known: np.ndarray | None = None
    cell: Any = None

    @property
    def ndim(self) -> int:
        """The rank."""
        return len(self.shape)

    def __repr__(self) -> str:
        dims = ",".join(str(size) for size in self.shape)
        return f"{self.dtype}[{dims}]"


@record(eq=False, slots=True)
class Node:
    """What all nodes have: inputs, outputs, the graph op they come from, effects they wait for.

    Once a program is traced its inputs change through the program only (Program.set_inputs), which
    knows who uses what.
    """

    inputs: tuple[Value, ...]
    outputs: list[Value] = field(default_factory=list, init=False)
    origin: Any = field(default=None, init=False)
    # What must have run though nothing of it is taken: effects, and flags of the guard.
    after: list[Node] = field(default_factory=list, init=False)
    # Ascends along a program; -1 outside of all programs. A float, so that a node may be put
    # between any two, whose positions stay (Program._set_position).
    position: float = field(default=-1.0, init=False)
    # The node runs only if these flags came out so; the outermost condition first.
    guard: Guard = field(default=(), init=False)
    # Its neighbours in program order.
    before: Node | None = field(default=None, init=False, repr=False)
    behind: Node | None = field(default=None, init=False, repr=False)


Guard = tuple[tuple[Value, bool], ...]


@record(eq=False, slots=True)
class Source(Node):
    """Contents from outside the program."""

    inputs: tuple[Value, ...] = field(default=(), init=False)


@record(eq=False, slots=True)
class Feed(Source):
    """What a run is given, by number."""

    number: int


@record(eq=False, slots=True)
class Constant(Source):
    """Contents that never change."""

    array: np.ndarray


@record(eq=False, slots=True)
class Sizes(Source):
    """Contents that follow from the sizes of what is fed: an array of numbers and symbols."""

    items: np.ndarray


@record(eq=False, slots=True)
class Read(Source):
    """What a variable or Register holds at this point of the program; see Write."""

    cell: Any


@record(eq=False, slots=True)
class Handle(Source):
    """A variable or another resource itself, not what it holds."""

    resource: Any


@record(eq=False, slots=True)
class Captured(Source):
    """Input number `number` of the loop whose test or body this program is."""

    loop: Loop
    number: int


@record(eq=False, slots=True)
class Partial(Source):
    """What the pieces of a reduction gave, from one kernel to the next; in no program."""


@record(eq=False, slots=True)
class Map(Node):
    """Scalar expressions applied at every position; input i is ir.Load(i, Index(()), dtype).

    Inputs have the shape of the outputs, or lack leading dimensions, or have ones.
    """

    exprs: tuple[ir.Expr, ...]


@record(eq=False, slots=True)
class Reduce(Node):
    """Combines an input over axes, which become ones in the output."""

    # They stay as ones so that all axes keep their numbers; a Reshape drops them where the op does.
    fn: str
    axes: frozenset[int]


@record(frozen=True, slots=True)
class Axis:
    """How a View finds the position on one input dimension: stride * position[axis] + offset."""

    axis: int | None
    stride: AnySize = 1
    offset: AnySize = 0


@record(eq=False, slots=True)
class View(Node):
    """Reads an input at moved positions: transpose, slice, reverse, broadcast, squeeze, expand."""

    axes: tuple[Axis, ...]


@record(eq=False, slots=True)
class Reshape(Node):
    """The same elements in the same order under another shape."""


@record(eq=False, slots=True)
class Iota(Node):
    """The position along one axis."""

    inputs: tuple[Value, ...] = field(default=(), init=False)
    axis: int


@record(eq=False, slots=True)
class Gather(Node):
    """Rows of inputs[0] along `axis`, chosen by the integers in inputs[1] (kept in bounds)."""

    axis: int


@record(frozen=True, slots=True)
class Part:
    """Where an input of a Compose goes: position p of a dimension is at offset + stride * p."""

    offsets: Shape
    strides: Shape


@record(eq=False, slots=True)
class Compose(Node):
    """A tensor put together from regions; `fill` covers what no part writes (None: parts do)."""

    parts: tuple[Part, ...]
    fill: bool | int | float | None


@record(frozen=True, slots=True)
class Launch:
    """A library kernel (see jit/library) over tiles of rows and columns, and its parameters.

    `epilogue(bias, relu)` gives the launch that adds a bias (its last input), then applies relu;
    `bias` and `relu` say what the kernel does of that already.
    """

    kernel: LibraryKernel | ir.Kernel
    params: tuple[AnySize, ...] = ()
    rows: AnySize = 1
    row_tile: AnySize = 1
    columns: AnySize = 1
    # None: columns are never cut.
    col_tile: AnySize | None = None
    scratch: AnySize = 0  # bytes for each worker
    # How much arithmetic it does, for reports, and for what few threads of a GPU take too long for.
    operations: AnySize = 0
    epilogue: Callable[[bool, bool], Launch] | None = None
    bias: bool = False
    relu: bool = False


@record(frozen=True, slots=True)
class Effects:
    """What a library kernel changes besides making its outputs.

    updates: variables changed in place, for which the last outputs stand afterwards; `touches` is
    how many elements of each it reads and writes.  writes: registers and stacks.  stack: whose
    record it gets, behind its parameters; `grows` says that it must have room for one more.
    """

    updates: tuple[Any, ...] = ()
    touches: AnySize = 0
    writes: tuple[Any, ...] = ()
    stack: GrowableStack | None = None
    grows: bool = False


@record(eq=False, slots=True)
class Call(Node):
    """A call of a library kernel.

    reserve: the random numbers that it takes at every run (Reserve of jit/library/random.py).
    role: what rewriting may make of it (a class of the library, see jit/library), or None.
    fused: the graph operations that it computes besides its own.
    """

    launch: Launch
    effects: Effects = Effects()
    reserve: Any = None
    role: Any = None
    fused: list[Any] = field(default_factory=list)


@record(eq=False, slots=True)
class Host(Node):
    """An op run by its NumPy reference kernel, in Python, between compiled steps.

    cells: the variables and resources that it takes; reshaped: those that it may give another
    shape, which nothing behind it in the program reads.  is_guessed: sizes of its results are
    those of the last time, which the run looks at.
    """

    op: Any
    reason: str
    effects: bool
    cells: tuple[Any, ...] = ()
    reshaped: frozenset[Any] = frozenset()
    is_guessed: bool = False


@record(eq=False, slots=True)
class Stop(Node):
    """Ends the run with error(contents of the other inputs) if inputs[0], a flag, came out true."""

    error: Callable[..., BaseException]


@record(eq=False, slots=True)
class Measure(Node):
    """Where a run learns what number a symbol is that sizes behind it are made of: inputs[0]."""

    symbol: str


@record(eq=False, slots=True)
class Write(Node):
    """A variable's memory becomes inputs[0]; outputs[0] stands for the variable afterwards."""

    cell: Any


@record(eq=False, slots=True)
class StoreRegion(Node):
    """Writes inputs[0] into a region of another value's memory."""

    target: Value
    part: Part


class Register:
    """Memory of a plan that is written more than once: what a loop carries, what branches give.

    It is used as variables are, by Reads and Writes that keep their order.
    """

    __slots__ = ("home", "name", "program", "value")

    def __init__(self, name: str, dtype: str, shape: Shape, program: Program) -> None:
        """program: where it is first written."""
        self.name, self.program = name, program
        # Memory belongs to values, so a register has one, of a node that is in no program.
        self.home = Value(dtype, shape, Node(()))
        self.home.node.origin = self  # which has its name
        self.value = None


class GrowableStack:
    """A stack of values of one kind, in memory that grows while a plan runs.

    `item` is what is pushed, `bytes` how much of that is not known while tracing.  `turn` are the
    symbols that tell how large an item is, where that is another number for each.  `place` are the
    conditions under which it was made, and the turns of loops that it was made in.
    """

    __slots__ = ("bytes", "item", "name", "place", "program", "turn", "value")

    def __init__(self, name: str, program: Program, place: frozenset[Any]) -> None:
        self.name, self.program, self.place = name, program, place
        self.item: Value | None = None
        self.bytes: AnySize = 0
        self.turn: list[str] = []
        self.value = None


@record(eq=False, slots=True)
class Loop(Node):
    """Runs `test`, and `body` while that gave `flag`; inputs are what the two take from outside.

    `written` are the registers and variables that it writes, `read` those that it reads.
    """

    test: Program
    body: Program
    written: tuple[Any, ...] = ()
    read: tuple[Any, ...] = ()


def argument(position: int, dtype: str) -> ir.Load:
    """The leaf that stands for input number `position` in the expressions of a Map."""
    return ir.Load(position, ir.Index(()), dtype)


def base(value: Value) -> Value:
    """The value whose memory a chain of views and reshapes reads."""
    while isinstance(value.node, (View, Reshape)):
        value = value.node.inputs[0]
    return value


def root(value: Value) -> Value:
    """The value whose memory this one is, seen through reshapes."""
    while isinstance(value.node, Reshape):
        value = value.node.inputs[0]
    return value


def home(value: Value) -> Value:
    """The value that has the memory of this one: seen through reshapes, registers and loops."""
    while True:
        node = value.node
        # (Not of variables, whose memory is the session's: for them the value itself stands.)
        if isinstance(value.cell, Register):
            return value.cell.home
        if isinstance(node, Reshape):
            value = node.inputs[0]
        elif isinstance(node, Captured):
            value = node.loop.inputs[node.number]
        elif isinstance(node, Read) and isinstance(node.cell, Register):
            return node.cell.home
        else:
            return value


def written_cells(node: Node) -> tuple[Any, ...]:
    """The variables, registers and stacks whose memory a node may change."""
    match node:
        case Write():
            return (node.cell,)
        case Loop():
            return node.written
        case Call():
            return (*node.effects.writes, *node.effects.updates)
        case Host():
            return node.cells
    return ()


def lasts(node: Node) -> bool:
    """Does a node change something that outlives the run?"""
    if isinstance(node, Host) and node.effects:
        return True
    return any(not isinstance(cell, (Register, GrowableStack)) for cell in written_cells(node))


def literal(value: Value) -> ir.Expr | None:
    """The literal for a plain known scalar, if it is one of those written into kernels."""
    if value.known is None or value.ndim or value.known.dtype == object:
        return None
    item = value.known.item()
    parts = (item.real, item.imag) if isinstance(item, complex) else (item,)
    if isinstance(item, bool) or all(p in LITERALS and str(p) != "-0.0" for p in parts):
        return scalar.const(item, value.dtype)
    return None
