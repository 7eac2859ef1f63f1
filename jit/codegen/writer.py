# SPDX-License-Identifier: Apache-2.0
"""The writer of one kernel's source: open loops, names, arguments and expressions.

Every expression is computed once, in the outermost loop where what it depends on is known: before
all loops, per row, per position of an outer reduce axis, or per element.  Imports no Numba.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import field
from typing import Any

from ...engine.record_class import record
from ..kernel.ir import (
    Apply,
    AxisIndex,
    Const,
    Expr,
    Index,
    Kernel,
    Load,
    Param,
    Reduced,
    Reduction,
    Store,
    postorder,
)
from ..kernel.scalar import PRIMITIVES

HALF = ("float16", "bfloat16")
ROW = -1  # stands for the row among the axes that values depend on
Axes = frozenset[int]


@record
class Scope:
    """The body of a loop under construction: its lines and the names that hold in it."""

    axes: Axes
    lines: list[str] = field(default_factory=list)
    names: dict[Any, str] = field(default_factory=dict)


class Writer:
    """The state of writing one kernel: the loops that are open, outermost first."""

    def __init__(self, kernel: Kernel) -> None:
        self.kernel = kernel
        self.scopes = [Scope(frozenset())]
        self.constants: dict[Const, str] = {}
        self.count = 0
        self.axes_of: dict[Any, Axes] = {}
        maps = frozenset(n for n, axis in enumerate(kernel.axes) if axis.kind != "reduce")
        # Finished reductions are known per row, even where no axis moves from row to row.
        self.reduced_axes = maps | {ROW} if kernel.form == "row" else maps
        self.inner = len(kernel.axes) - 1
        self.outer = [n for n in sorted(maps) if kernel.form == "row" or n != self.inner]
        self.reduce = [n for n, axis in enumerate(kernel.axes) if axis.kind == "reduce"]

    # Lines and names

    def line(self, text: str, scope: Scope | None = None) -> None:
        (scope or self.scopes[-1]).lines.append(text)

    def fresh(self, prefix: str) -> str:
        self.count += 1
        return f"{prefix}{self.count}"

    def name(self, key: Any, text: str, scope: Scope, prefix: str = "v") -> str:
        """Binds `text` to a name in a scope, once per key."""
        # Within a scope and not within the kernel: the same expression may be needed before a loop
        # and in another one, where its name does not hold.
        if key not in scope.names:
            scope.names[key] = name = self.fresh(prefix)
            self.line(f"{name} = {text}", scope)
        return scope.names[key]

    def place(self, axes: Axes) -> Scope:
        """The outermost open loop in which positions on all these axes are known."""
        # Outermost first: what does not change in a loop is computed before it, loads too, of which
        # LLVM does not know whether stores in the loop leave them alone.
        known: set[int] = set()
        for scope in self.scopes:
            known |= scope.axes
            if axes <= known:
                return scope
        missing = sorted(axes - known)
        raise ValueError(f"a value depends on axes {missing}, which are not open here")

    def open(self, axes: Iterable[int]) -> None:
        self.scopes.append(Scope(frozenset(axes)))

    def close(self, header: str) -> None:
        """Ends the innermost loop; what was hoisted out of it already stands before it."""
        body = self.scopes.pop().lines
        if body:
            self.scopes[-1].lines += [header, *("    " + text for text in body)]

    # Arguments

    def argument(self, prefix: str, number: int, slot: int) -> str:
        root = self.scopes[0]
        key = (prefix, number)
        if key not in root.names:
            root.names[key] = f"{prefix}{number}"
            self.line(f"{prefix}{number} = args[{slot}]", root)
        return root.names[key]

    def buffer(self, number: int) -> str:
        return self.argument("b", number, number)

    def param(self, param: Param) -> str:
        slot = len(self.kernel.buffers) + len(self.kernel.axes) + param.slot
        return self.argument("q", param.slot, slot)

    def size(self, axis: int) -> str:
        static = self.kernel.axes[axis].size
        if static is not None:
            return str(static)
        return self.argument("n", axis, len(self.kernel.buffers) + axis)

    # Expressions

    def dependence(self, node: Any) -> Axes:
        """The axes that an expression or an index depends on; children are known already."""
        known = self.axes_of.get(node)
        if known is not None:
            return known
        match node:
            case AxisIndex(axis=axis):
                found = frozenset((axis,))
            case Index(strides=strides, offset=offset):
                moved = frozenset(n for n, stride in enumerate(strides) if stride != 0)
                found = moved | (self.dependence(offset) if offset is not None else frozenset())
            case Load(index=index):
                found = self.dependence(index)
            case Apply(args=args):
                found = frozenset().union(*map(self.dependence, args))
            case Reduced():
                found = self.reduced_axes
            case _:
                found = frozenset()
        self.axes_of[node] = found
        return found

    def value(self, root: Expr) -> str:
        """The name of an expression, writing the lines that compute it where they belong."""
        for node in postorder(root, self.is_named):
            self.dependence(node)
            text = self.node(node)
        return text

    def is_named(self, node: Expr) -> bool:
        """Whether a name holds the value here, so that nothing below it need be written."""
        axes = self.axes_of.get(node)
        return axes is not None and node in self.place(axes).names

    def node(self, node: Expr) -> str:
        match node:
            case Const():
                return self.constants.setdefault(node, f"k{len(self.constants)}")
            case AxisIndex(axis=axis):
                return f"i{axis}"
            case Param():
                return self.param(node)
        scope = self.place(self.dependence(node))
        known = scope.names.get(node)
        return known if known is not None else self.name(node, self.text(node, scope), scope)

    def text(self, node: Expr, scope: Scope) -> str:
        match node:
            case Load(buffer=buffer, index=index):
                return f"load({self.buffer(buffer)}, {self.index(index, scope)})"
            case Apply(fn="cast", args=(x,), dtype=dtype):
                return f"cast_{dtype}({self.node(x)})"
            case Apply(fn=fn, args=args, dtype=dtype):
                call = f"{fn}({', '.join(map(self.node, args))})"
                # Operations that are exact (choices, extremes, signs) give what 16 bits hold
                # already.
                rounds = dtype in HALF and PRIMITIVES[fn].rounding != "none"
                return f"round_{dtype}({call})" if rounds else call
            case Reduced(reduction=number):
                return self.accumulator(number, scope)
        raise TypeError(f"{type(node).__name__} is no expression")

    def accumulator(self, number: int, scope: Scope) -> str:
        """A reduction that waits in the frame: finished already by rows, not by columns."""
        reduction = self.kernel.reductions[number]
        held = f"load(s{number}, {self.frame_place})"
        return held if self.kernel.form == "row" else finished(reduction, held)

    @property
    def frame_place(self) -> str:
        """Where in a block of the frame the accumulators of the present column or row are."""
        at = f"i{self.inner}" if self.kernel.form == "column" else self.row
        return f"{at} - block"

    def index(self, index: Index, scope: Scope) -> str:
        """The sum of the terms known at each loop, named there; the innermost sum is returned."""
        depth = self.scopes.index(scope)
        terms: list[list[str]] = [[] for _ in range(depth + 1)]
        if index.offset is not None:
            level = self.scopes.index(self.place(self.dependence(index.offset)))
            terms[level].append(self.node(index.offset))
        for axis, stride in enumerate(index.strides):
            if stride != 0:
                level = self.scopes.index(self.place(frozenset((axis,))))
                terms[level].append(self.term(axis, stride))
        total = ""
        for level, found in enumerate(terms):
            if not found:
                continue
            total = " + ".join([total, *found] if total else found)
            # Named in its loop, so that the inner ones add one number; a mere name needs no other.
            if level < depth and (len(found) > 1 or "*" in total or "+" in total):
                total = self.name(total, total, self.scopes[level], "p")
        return total or "0"

    def term(self, axis: int, stride: int | Param) -> str:
        if stride == 1:
            return f"i{axis}"
        return f"i{axis} * {self.param(stride) if isinstance(stride, Param) else stride}"

    def store(self, store: Store, value: Expr | None = None) -> None:
        """Writes the value of a store, or another value to its place."""
        name = self.value(store.value if value is None else value)
        self.line(f"store({self.buffer(store.buffer)}, {self.place_of(store)}, {name})")

    def stores(self, stores: Iterable[Store]) -> None:
        """Writes several; of those to one buffer no value is read when another is written."""
        found = list(stores)
        # (The two parts of a complex number, which may each be made of both.)
        if len({store.buffer for store in found}) < len(found):
            for store in found:
                self.value(store.value)
        for store in found:
            self.store(store)

    def recall(self, store: Store, value: Expr) -> None:
        """Names what was written to the place of a store before as an expression's value."""
        text = f"load({self.buffer(store.buffer)}, {self.place_of(store)})"
        self.name(value, text, self.scopes[-1])

    def place_of(self, store: Store) -> str:
        if store.index.offset is not None:
            self.value(store.index.offset)
        self.dependence(store.index)
        return self.index(store.index, self.scopes[-1])

    # Loops

    @property
    def row(self) -> str:
        """The variable of the loop over rows."""
        return f"i{self.outer[0]}" if len(self.outer) == 1 else "row"

    def over_rows(
        self, steps: Iterable[Callable[[], None]], first: str = "r0", last: str = "r1"
    ) -> None:
        """All steps for every row from first to last."""
        self.open((*self.outer, ROW))
        before, after = self.positions(first)
        for step in steps:
            step()
        for text in after:
            self.line(text)
        self.scopes[-2].lines += before
        self.close(f"for {self.row} in range({first}, {last}):")

    def over_lines(self, along: int, body: Callable[[str, str], None]) -> None:
        """A body for every piece of a line, which are all rows that differ on one axis alone; it
        gets the texts of where on that axis the piece begins and ends."""
        # Rows may be counted in any order: those of a line one after the other.
        others = [axis for axis in self.outer if axis != along]
        if not others:
            body("r0", "r1")
            return
        size, zero = self.literal(self.size(along)), self.node(Const(0, "int64"))
        self.line(f"line = truncatediv(r0, {size})")
        self.line(f"behind = truncatediv(r1 - 1, {size}) + 1")

        def piece() -> None:
            self.line(f"first = maximum(r0 - {self.row} * {size}, {zero})")
            self.line(f"last = minimum(r1 - {self.row} * {size}, {size})")
            body("first", "last")

        self.outer = others
        self.over_rows([piece], "line", "behind")
        self.outer = [*others, along]

    def positions(self, first: str) -> tuple[list[str], list[str]]:
        """How rows become positions on several axes: lines before the loop and after each row."""
        # One division for the first row of a tile; from then on positions count as an odometer
        # does. Divisions cost more than most rows' work on an element.
        outer = self.outer
        before: list[str] = []
        after: list[str] = []
        if len(outer) <= 1:
            return before, after
        rest, indent = first, ""
        for axis in reversed(outer[1:]):
            size = self.size(axis)
            before.append(f"i{axis} = truncatemod({rest}, {self.literal(size)})")
            before.append(f"row{axis} = truncatediv({rest}, {self.literal(size)})")
            rest = f"row{axis}"
            after += [indent + f"i{axis} += 1", indent + f"if i{axis} == {size}:"]
            indent += "    "
            after.append(indent + f"i{axis} = 0")
        before.append(f"i{outer[0]} = {rest}")
        after.append(indent + f"i{outer[0]} += 1")
        return before, after

    def literal(self, size: str) -> str:
        return self.node(Const(int(size), "int64")) if size.isdigit() else size

    def reduce_range(self, axis: int) -> str:
        """The range of a reduce axis."""
        low, high = self.reduce_limits(axis)
        return f"range({high})" if low == "0" else f"range({low}, {high})"

    def reduce_limits(self, axis: int) -> tuple[str, str]:
        """Where a reduce axis begins and ends, or the piece at the position on its chunk axis."""
        for number, chunk in enumerate(self.kernel.axes):
            # The cut follows from the size alone, not from threads: partial sums are the same
            # whoever adds them.
            if chunk.kind == "chunk" and chunk.of == axis and chunk.length is not None:
                scope = self.place(frozenset((number,)))
                length = self.param(chunk.length)
                low = self.name(("low", axis), f"i{number} * {length}", scope, "low")
                high = f"minimum({low} + {length}, {self.literal(self.size(axis))})"
                return low, self.name(("high", axis), high, scope, "high")
        return "0", self.size(axis)

    def depends_on_reduce(self, store: Store) -> bool:
        for root in (store.value, store.index.offset):
            for node in postorder(root) if root is not None else ():
                self.dependence(node)
        axes = self.dependence(store.value) | self.dependence(store.index)
        return bool(axes & frozenset(self.reduce))


def wide(dtype: str) -> str:
    """The dtype that values are held in: float32 for the 16-bit floats."""
    return "float32" if dtype in HALF else dtype


def accumulator_dtype(reduction: Reduction) -> str:
    """What a reduction is held in until it is finished.

    16-bit floats are summed in float32 and rounded once, at the end; positions are counted in
    int64 as loops count, whatever they become.
    """
    return "int64" if reduction.fn.startswith("arg") else wide(reduction.dtype)


def finished(reduction: Reduction, accumulator: str) -> str:
    """The text of a reduction's result, given that of its accumulator."""
    if reduction.dtype in HALF:
        return f"round_{reduction.dtype}({accumulator})"
    if reduction.dtype != accumulator_dtype(reduction):
        return f"cast_{reduction.dtype}({accumulator})"
    return accumulator
