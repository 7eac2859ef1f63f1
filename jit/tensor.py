# SPDX-License-Identifier: Apache-2.0
"""Tensor IR: what a traced graph becomes before it is cut into kernels.

A `Program` is a list of nodes in program order; nodes make `Value`s.  Shapes are symbolic
(jit/sizes.py).  A dozen kinds of node are enough: Source, Map, Reduce, View, Reshape, Iota,
Gather, Assemble (which becomes Places), and the opaque ones (Call, Host, Write).
Imports jit's ir and sizes only.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from . import ir
from .sizes import AnySize


@dataclass(eq=False, slots=True)
class Value:
    """One tensor: NumPy dtype name, symbolic shape, and the node that makes it.

    `known` holds the contents where the trace knows them: an ndarray, of dtype object when some
    items are symbolic sizes.  `cell` is set on the values that stand for a variable itself.
    """

    dtype: str
    shape: tuple[AnySize, ...]
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


@dataclass(eq=False, slots=True)
class Node:
    """What all nodes have: inputs, outputs, the graph op they come from, effects they wait for."""

    inputs: tuple[Value, ...]
    outputs: list[Value] = field(default_factory=list, init=False)
    origin: Any = field(default=None, init=False)
    after: list[Node] = field(default_factory=list, init=False)
    position: int = field(default=-1, init=False)
    # The node runs only if these flags came out so; the outermost condition first.
    guard: Guard = field(default=(), init=False)


Guard = tuple[tuple[Value, bool], ...]


@dataclass(eq=False, slots=True)
class Source(Node):
    """Contents from outside the program: a feed, a constant array, or a variable's memory.

    "outer" is input number i of the loop that a program is a part of; its payload is (loop, i).
    """

    kind: str  # "feed", "constant", "cell", "handle", "sizes", "partial" or "outer"
    payload: Any


@dataclass(eq=False, slots=True)
class Map(Node):
    """Scalar expressions applied at every position; input i is ir.Load(i, Index(()), dtype).

    Inputs have the shape of the outputs, or lack leading dimensions, or have ones.
    """

    exprs: tuple[ir.Expr, ...]


@dataclass(eq=False, slots=True)
class Reduce(Node):
    """Combines an input over axes, which become ones in the output."""

    fn: str
    axes: frozenset[int]


@dataclass(frozen=True, slots=True)
class Axis:
    """How a View finds the position on one input dimension: stride * position[axis] + offset."""

    axis: int | None
    stride: AnySize = 1
    offset: AnySize = 0


@dataclass(eq=False, slots=True)
class View(Node):
    """Reads an input at moved positions: transpose, slice, reverse, broadcast, squeeze, expand."""

    axes: tuple[Axis, ...]


@dataclass(eq=False, slots=True)
class Reshape(Node):
    """The same elements in the same order under another shape."""


@dataclass(eq=False, slots=True)
class Iota(Node):
    """The position along one axis."""

    axis: int


@dataclass(eq=False, slots=True)
class Gather(Node):
    """Rows of inputs[0] along `axis`, chosen by the integers in inputs[1] (kept in bounds)."""

    axis: int


@dataclass(frozen=True, slots=True)
class Part:
    """Where an input of an Assemble goes: position p of a dimension is at offset + stride * p."""

    offsets: tuple[AnySize, ...]
    strides: tuple[AnySize, ...]


@dataclass(eq=False, slots=True)
class Assemble(Node):
    """A tensor put together from regions; `fill` covers what no part writes (None: parts do)."""

    parts: tuple[Part, ...]
    fill: bool | int | float | None


@dataclass(eq=False, slots=True)
class Call(Node):
    """A library kernel over tiles of rows and columns (see jit/library)."""

    kernel: Any
    params: tuple[Any, ...]
    rows: AnySize
    row_tile: AnySize
    columns: AnySize
    col_tile: AnySize | None
    scratch: AnySize
    reserve: Any  # None, or see library/random.py: Reserve
    # None, or (bias, relu) -> the kernel that adds a bias (its last input), then applies relu.
    absorbs: Callable[[bool, bool], Any] | None = None
    absorbed: list[Any] = field(default_factory=list)  # the graph ops taken up so
    operations: AnySize = 0  # how much arithmetic it does, for reports
    writes: tuple[Any, ...] = ()  # registers and stacks that it changes
    stack: Growing | None = None  # whose record it gets, behind its parameters
    grows: bool = False  # whether the stack must have room for one more
    role: Any = None  # what may be made of it around max pooling, see library/maxima.py
    # Variables that it changes in place; its last outputs stand for them afterwards.
    updates: tuple[Any, ...] = ()
    touches: AnySize = 0  # how many elements of each of those it reads and writes


@dataclass(eq=False, slots=True)
class Host(Node):
    """An op run by its NumPy reference kernel, in Python, between compiled steps."""

    op: Any
    reason: str
    effects: bool
    cells: tuple[Any, ...] = ()


@dataclass(eq=False, slots=True)
class Write(Node):
    """A variable's memory becomes inputs[0]; outputs[0] stands for the variable afterwards."""

    cell: Any


@dataclass(eq=False, slots=True)
class Place(Node):
    """Writes inputs[0] into a region of another value's memory."""

    target: Value
    part: Part


class Register:
    """Memory of a plan that is written more than once: what a loop carries, what branches give.

    It is used as variables are, by reads (Source) and Writes that keep their order.
    """

    __slots__ = ("home", "name", "program", "value")

    def __init__(self, name: str, dtype: str, shape: tuple[AnySize, ...], program: Program) -> None:
        """program: where it is first written."""
        self.name, self.program = name, program
        self.home = Value(dtype, shape, Node(()))
        self.home.node.origin = self  # which has its name
        self.value = None


class Growing:
    """A stack of values of one kind, in memory that grows while a plan runs.

    `item` is what is pushed, `bytes` how much of that is not known while tracing.
    """

    __slots__ = ("bytes", "item", "name", "program", "value")

    def __init__(self, name: str, program: Program) -> None:
        self.name, self.program = name, program
        self.item: Value | None = None
        self.bytes: AnySize = 0
        self.value = None


@dataclass(eq=False, slots=True)
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


def home(value: Value) -> Value:
    """The value that has the memory of this one: seen through reshapes, registers and loops."""
    while True:
        node = value.node
        if isinstance(value.cell, Register):
            return value.cell.home
        if isinstance(node, Reshape):
            value = node.inputs[0]
        elif isinstance(node, Source) and node.kind == "outer":
            loop, number = node.payload
            value = loop.inputs[number]
        elif isinstance(node, Source) and isinstance(node.payload, Register):
            return node.payload.home
        else:
            return value


@dataclass(eq=False, slots=True)
class Stop(Node):
    """A check that comes before something which outlasts the run; inputs: flag and evidence."""

    error: Callable[..., BaseException]


class Check(NamedTuple):
    """What must not be: the run raises error(contents of the evidence) if the flag comes out true.

    Nothing outside of the run is changed by what comes behind a check that fails.
    """

    flag: Value
    error: Callable[..., BaseException]
    evidence: tuple[Value, ...] = ()
    # The last node before the check, in program order.
    behind: Node | None = None


class Program:
    """Nodes in program order, what is fetched, and what the trace relied on."""

    def __init__(self) -> None:
        self.nodes: list[Node] = []
        self.origin: Any = None
        # Of the nodes that are added now, see Node.
        self.guard: Guard = ()
        self.fetches: list[Value] = []
        self.checks: list[Check] = []

    def add(self, node: Node, *results: tuple[str, tuple[AnySize, ...]]) -> tuple[Value, ...]:
        """Appends a node and makes its outputs."""
        node.origin = self.origin
        if not isinstance(node, (Source, View, Reshape, Iota)):
            node.guard = self.guard
            node.after.extend(flag.node for flag, _ in self.guard)
        node.position = len(self.nodes)
        self.nodes.append(node)
        node.outputs.extend(Value(dtype, shape, node) for dtype, shape in results)
        return tuple(node.outputs)

    def kept(self) -> list[Value]:
        """Everything that Python reads: what is fetched, and what checks look at."""
        checked = (value for check in self.checks for value in (check.flag, *check.evidence))
        return [*self.fetches, *checked]

    def keep_instead(self, new: Callable[[Value], Value]) -> None:
        """Puts other values in place of those that Python reads."""
        self.fetches = [new(value) for value in self.fetches]
        self.checks = [
            check._replace(flag=new(check.flag), evidence=tuple(map(new, check.evidence)))
            for check in self.checks
        ]

    def all(self) -> Iterator[Program]:
        """This program and those of the loops in it."""
        yield self
        for node in self.nodes:
            if isinstance(node, Loop):
                yield from node.test.all()
                yield from node.body.all()
