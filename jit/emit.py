# SPDX-License-Identifier: Apache-2.0
"""From a kernel of jit/ir.py to readable Python source in the vocabulary of jit/intrinsics.py.

Every expression is computed once, in the outermost loop where what it depends on is known: before
all loops, per row, per position of an outer reduce axis, or per element.  The source is neutral
to the target: it names addresses, indices and scalar primitives only.  Imports no Numba.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from .ir import Apply, AxisIndex, Const, Expr, Index, Kernel, Load, Param, Reduced, Reduction, Store
from .scalar import kind_of

HALF = ("float16", "bfloat16")
# Results of these on 16-bit floats are 16-bit floats already.
EXACT = ("select", "neg", "abs", "minimum", "maximum", "sign", "floor", "ceil", "rint", "trunc")
BLOCK = 128  # columns whose accumulators the column form keeps in the frame at a time
ROW = -1  # stands for the row among the axes that values depend on
Axes = frozenset[int]


@dataclass
class Scope:
    """The body of a loop under construction: its lines and the names that hold in it."""

    axes: Axes
    lines: list[str] = field(default_factory=list)
    names: dict[Any, str] = field(default_factory=dict)


class Emission:
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
        if key not in scope.names:
            scope.names[key] = name = self.fresh(prefix)
            self.line(f"{name} = {text}", scope)
        return scope.names[key]

    def place(self, axes: Axes) -> Scope:
        """The outermost open loop in which positions on all these axes are known."""
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
        for node in postorder(root):
            self.dependence(node)
            text = self.node(node)
        return text

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
            case Load(buffer=buffer, index=index, dtype=dtype):
                return f"load_{dtype}({self.buffer(buffer)}, {self.index(index, scope)})"
            case Apply(fn="cast", args=(x,), dtype=dtype):
                return f"cast_{dtype}({self.node(x)})"
            case Apply(fn=fn, args=args, dtype=dtype):
                call = f"{fn}({', '.join(map(self.node, args))})"
                return f"round_{dtype}({call})" if dtype in HALF and fn not in EXACT else call
            case Reduced(reduction=number):
                return self.accumulator(number, scope)
        raise TypeError(f"{type(node).__name__} is no expression")

    def accumulator(self, number: int, scope: Scope) -> str:
        """A finished reduction of the column form; the row form names it beforehand."""
        reduction = self.kernel.reductions[number]
        kind = accumulator_dtype(reduction)
        held = f"load_{kind}(s{number}, i{self.inner} - block)"
        return f"round_{reduction.dtype}({held})" if reduction.dtype in HALF else held

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
            if level < depth and (len(found) > 1 or "*" in total or "+" in total):
                total = self.name(total, total, self.scopes[level], "p")
        return total or "0"

    def term(self, axis: int, stride: int | Param) -> str:
        if stride == 1:
            return f"i{axis}"
        return f"i{axis} * {self.param(stride) if isinstance(stride, Param) else stride}"

    def store(self, store: Store) -> None:
        buffer = self.kernel.buffers[store.buffer]
        value = self.value(store.value)
        if store.index.offset is not None:
            self.value(store.index.offset)
        self.dependence(store.index)
        index = self.index(store.index, self.scopes[-1])
        self.line(f"store_{buffer.dtype}({self.buffer(store.buffer)}, {index}, {value})")

    # Loops

    def rows(self) -> tuple[list[str], str, list[str]]:
        """How rows become positions: lines before the loop, its header, lines after each row."""
        outer = self.outer
        if len(outer) <= 1:
            return [], f"for {f'i{outer[0]}' if outer else 'row'} in range(r0, r1):", []
        before, after, rest, indent = [], [], "r0", ""
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
        return before, "for row in range(r0, r1):", after

    def literal(self, size: str) -> str:
        return self.node(Const(int(size), "int64")) if size.isdigit() else size

    def reduce_range(self, axis: int) -> str:
        """The range of a reduce axis: all of it, or the piece at the position on its chunk axis."""
        for number, chunk in enumerate(self.kernel.axes):
            if chunk.kind == "chunk" and chunk.of == axis and chunk.length is not None:
                scope = self.place(frozenset((number,)))
                length = self.param(chunk.length)
                low = self.name(("low", axis), f"i{number} * {length}", scope, "low")
                high = f"minimum({low} + {length}, {self.literal(self.size(axis))})"
                return f"range({low}, {self.name(('high', axis), high, scope, 'high')})"
        return f"range({self.size(axis)})"

    def depends_on_reduce(self, store: Store) -> bool:
        for root in (store.value, store.index.offset):
            for node in postorder(root) if root is not None else ():
                self.dependence(node)
        axes = self.dependence(store.value) | self.dependence(store.index)
        return bool(axes & frozenset(self.reduce))


def emit(kernel: Kernel, title: str = "") -> str:
    """The Python source of a kernel: a module whose one function is `kernel`."""
    e = Emission(kernel)
    e.open((*e.outer, ROW))
    before, header, after = e.rows()
    {"map": _map_row, "row": _row_row, "column": _column_row}[kernel.form](e)
    for text in after:
        e.line(text)
    root = e.scopes[0]
    root.lines += before
    e.close(header)
    head = [f"# {text}" for text in title.splitlines()]
    head += [f"{name} = {_literal(const)}" for const, name in e.constants.items()]
    body = ["if r0 >= r1 or c0 >= c1:", "    return", *_frame(kernel), *root.lines]
    signature = "def kernel(args, r0, r1, c0, c1, worker):"
    return "\n".join([*head, "", "", signature, *("    " + text for text in body), ""]).lstrip("\n")


def _map_row(e: Emission) -> None:
    e.open((e.inner,))
    for store in e.kernel.stores:
        e.store(store)
    e.close(f"for i{e.inner} in range(c0, c1):")


def _row_row(e: Emission) -> None:
    """Passes over the reduce axes, each finishing the reductions that it can; then the stores."""
    levels = _levels(e.kernel)
    for level in range(max(levels, default=-1) + 1):
        _row_pass(e, [n for n, at in enumerate(levels) if at == level])
    late = [store for store in e.kernel.stores if e.depends_on_reduce(store)]
    if late:
        _nest(e, lambda: [e.store(store) for store in late])  # type: ignore[func-returns-value]
    for store in e.kernel.stores:
        if store not in late:
            e.store(store)


def _row_pass(e: Emission, numbers: list[int]) -> None:
    """One pass; positions of extremes take a second one, as finding both at once is no vector loop."""
    reductions = e.kernel.reductions
    args = [n for n in numbers if reductions[n].fn.startswith("arg")]
    for n in numbers:
        _start(e, n)

    def step() -> None:
        for n in numbers:
            value = e.value(reductions[n].value)
            texts = _best(e, n, value) if n in args else _combine(e, n, value, f"a{n}", "")
            for text in texts:
                e.line(text)

    def locate() -> None:
        for n in args:
            value = e.value(reductions[n].value)
            far = e.node(Const(_FAR, "int64"))
            e.line(f"here{n} = select(eq({value}, a{n}), i{e.reduce[0]}, {far})")
            e.line(f"x{n} = accumulate_min(x{n}, here{n})")

    _nest(e, step)
    if args:
        for n in args:
            e.line(f"x{n} = {e.node(Const(_FAR, 'int64'))}")
        _nest(e, locate)
    for n in numbers:
        _finish(e, n)


_LARGEST = {"float32": 3.4028234663852886e38, "float64": 1.7976931348623157e308}
# A position beyond all others; not the largest int64, with which LLVM would fold the minimum.
_FAR = 1 << 62


def _best(e: Emission, n: int, value: str) -> list[str]:
    """The extreme of what is not NaN: a NaN counts as the worst finite number.

    As the identity it would be folded into a conditional step, which is no vector loop.
    """
    reduction = e.kernel.reductions[n]
    lines = []
    if kind_of(reduction.value.dtype) == "f":
        kind = _wide(reduction.value.dtype)
        largest = _LARGEST[kind]
        worst = e.node(Const(-largest if reduction.fn == "argmax" else largest, kind))
        lines.append(f"seen{n} = select(isnan({value}), {worst}, {value})")
        value = f"seen{n}"
    return [*lines, f"a{n} = accumulate_{reduction.fn[3:]}(a{n}, {value})"]


def _finish(e: Emission, n: int) -> None:
    """Names the result of a reduction of the row form."""
    reduction = e.kernel.reductions[n]
    text = f"a{n}"
    if reduction.fn.startswith("arg"):
        nowhere = f"eq(x{n}, {e.node(Const(_FAR, 'int64'))})"
        text = f"select({nowhere}, {e.node(Const(0, 'int64'))}, x{n})"
    if reduction.dtype in HALF:
        text = f"round_{reduction.dtype}({text})"
    e.name(Reduced(n, reduction.dtype), text, e.scopes[-1], "done")


def _nest(e: Emission, body: Any) -> None:
    """Loops over the reduce axes around `body`."""
    headers = [f"for i{axis} in {e.reduce_range(axis)}:" for axis in e.reduce]
    for axis in e.reduce:
        e.open((axis,))
    body()
    for header in reversed(headers):
        e.close(header)


def _column_row(e: Emission) -> None:
    """Blocks of columns, whose accumulators stay in the frame while the reduce axes go by."""
    numbers = range(len(e.kernel.reductions))
    column = f"for i{e.inner} in range(block, end):"
    e.open(())
    e.line(f"end = minimum(block + {BLOCK}, c1)")
    e.line("for column in range(end - block):")
    for n in numbers:
        for frame, dtype, value in _slots(e, n):
            e.line(f"    store_{dtype}({frame}, column, {value})")

    def sweep() -> None:
        e.open((e.inner,))
        for n in numbers:
            _column_step(e, n)
        e.close(column)

    if e.kernel.reductions:
        _nest(e, sweep)
    late = [store for store in e.kernel.stores if e.depends_on_reduce(store)]
    if late:
        _nest(e, lambda: _column_stores(e, late, column))
    _column_stores(e, [store for store in e.kernel.stores if store not in late], column)
    e.close(f"for block in range(c0, c1, {BLOCK}):")


def _column_stores(e: Emission, stores: list[Store], header: str) -> None:
    e.open((e.inner,))
    for store in stores:
        e.store(store)
    e.close(header)


def _column_step(e: Emission, n: int) -> None:
    value = e.value(e.kernel.reductions[n].value)
    at = f"i{e.inner} - block"
    slots = _slots(e, n)
    names = [f"a{n}", f"x{n}"][-len(slots) :] if len(slots) == 2 else [f"a{n}"]
    for name, (frame, dtype, _) in zip(names, slots):
        e.line(f"{name} = load_{dtype}({frame}, {at})")
    for text in _combine(e, n, value, f"a{n}", f"x{n}"):
        e.line(text)
    for name, (frame, dtype, _) in zip(names, slots):
        e.line(f"store_{dtype}({frame}, {at}, {name})")


def _slots(e: Emission, n: int) -> list[tuple[str, str, str]]:
    """The accumulators of a reduction: frame block, dtype and first value."""
    reduction = e.kernel.reductions[n]
    kind = accumulator_dtype(reduction)
    if not reduction.fn.startswith("arg"):
        return [(f"s{n}", kind, e.node(_identity(reduction.fn, kind)))]
    best = _wide(reduction.value.dtype)
    first = e.node(_identity(reduction.fn, best))
    return [(f"t{n}", best, first), (f"s{n}", "int64", e.node(Const(0, "int64")))]


def _frame(kernel: Kernel) -> list[str]:
    if kernel.form != "column":
        return []
    lines = []
    for n, reduction in enumerate(kernel.reductions):
        lines.append(f"s{n} = stack_{accumulator_dtype(reduction)}({BLOCK})")
        if reduction.fn.startswith("arg"):
            lines.append(f"t{n} = stack_{_wide(reduction.value.dtype)}({BLOCK})")
    return lines


def _start(e: Emission, n: int) -> None:
    reduction = e.kernel.reductions[n]
    is_arg = reduction.fn.startswith("arg")
    kind = _wide(reduction.value.dtype) if is_arg else accumulator_dtype(reduction)
    e.line(f"a{n} = {e.node(_identity(reduction.fn, kind))}")


def _combine(e: Emission, n: int, value: str, best: str, where: str) -> list[str]:
    fn = e.kernel.reductions[n].fn
    if fn in ("any", "all"):
        return [f"{best} = logical_{'or' if fn == 'any' else 'and'}({best}, {value})"]
    if fn in ("argmax", "argmin"):
        better = f"{'gt' if fn == 'argmax' else 'lt'}({value}, {best})"
        position = f"i{e.reduce[0]}"
        return [
            f"better{n} = {better}",
            f"{best} = select(better{n}, {value}, {best})",
            f"{where} = select(better{n}, {position}, {where})",
        ]
    step = {"sum": "add", "prod": "mul"}.get(fn, fn)
    return [f"{best} = accumulate_{step}({best}, {value})"]


def accumulator_dtype(reduction: Reduction) -> str:
    """16-bit floats accumulate in float32 and are rounded once, at the end."""
    return _wide(reduction.dtype)


def _wide(dtype: str) -> str:
    return "float32" if dtype in HALF else dtype


def _identity(fn: str, dtype: str) -> Const:
    if fn in ("any", "all"):
        return Const(fn == "all", "bool")
    if fn in ("sum", "prod"):
        value = float(fn == "prod") if kind_of(dtype) == "f" else int(fn == "prod")
        return Const(value, dtype)
    lowest = fn in ("max", "argmax")
    if kind_of(dtype) == "f":
        return Const(float("-inf") if lowest else float("inf"), dtype)
    if dtype == "bool":
        return Const(not lowest, "bool")
    bits = int(dtype.lstrip("uint"))
    if dtype.startswith("u"):
        return Const(0 if lowest else (1 << bits) - 1, dtype)
    return Const(-(1 << (bits - 1)) if lowest else (1 << (bits - 1)) - 1, dtype)


def _literal(const: Const) -> str:
    if const.dtype == "bool":
        return str(bool(const.value))
    text = repr(const.value)
    return (
        f"{_wide(const.dtype)}({text})" if text[-1].isdigit() else f'{_wide(const.dtype)}("{text}")'
    )


def _levels(kernel: Kernel) -> list[int]:
    """The pass in which each reduction is finished: one later than those that it depends on."""
    levels: list[int] = []
    for reduction in kernel.reductions:
        used = [n.reduction for n in postorder(reduction.value) if isinstance(n, Reduced)]
        levels.append(1 + max((levels[n] for n in used), default=-1))
    return levels


def postorder(root: Expr) -> list[Expr]:
    """The expressions below `root` and it, each once, arguments first."""
    order: list[Expr] = []
    seen: set[Expr] = set()
    stack: list[tuple[Expr, bool]] = [(root, False)]
    while stack:
        node, ready = stack.pop()
        if ready:
            order.append(node)
            continue
        if node in seen:
            continue
        seen.add(node)
        stack.append((node, True))
        if isinstance(node, Apply):
            stack.extend((arg, False) for arg in reversed(node.args))
        elif isinstance(node, Load) and node.index.offset is not None:
            stack.append((node.index.offset, False))
    return order
