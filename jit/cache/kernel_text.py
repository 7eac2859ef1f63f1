# SPDX-License-Identifier: Apache-2.0
"""Kernels as people read them: the loop nest of jit/kernel/ir.py in a few lines of formulas.

    buffers  b0: float32 read, b1: float32 written
    axes     i0: map, i1: reduce
    r0 = max of b0[i0*q0 + i1]
    r1 = sum of exp((b0[i0*q0 + i1] - r0))
    b1[i0] = log(r1)

A value that is used more than once has a line of its own.  Imports the IR
and the cache's types.
"""

from __future__ import annotations

import ast
import textwrap
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from ...engine.printable import printable
from ...engine.syntax import tree_of
from ..kernel import ir
from ..kernel.ir import postorder
from .store import Facts

INFIX = {
    "add": "+",
    "sub": "-",
    "mul": "*",
    "div": "/",
    "lt": "<",
    "le": "<=",
    "gt": ">",
    "ge": ">=",
    "eq": "==",
    "ne": "!=",
}
_DTYPES = frozenset(
    f"{kind}{bits}" for kind in ("int", "uint", "float") for bits in (8, 16, 32, 64)
) | {"bool", "boolean", "bfloat16", "int4", "intp"}
_IR = "as the compiler sees it:"
_ACCESS = {"r": "read", "w": "written", "rw": "read and written"}


def applied(apply: ir.Apply, args: Sequence[str]) -> str:
    """A scalar primitive with the texts of its arguments."""
    if apply.fn in INFIX:
        return f"({args[0]} {INFIX[apply.fn]} {args[1]})"
    name = apply.dtype if apply.fn == "cast" else apply.fn
    return f"{name}({', '.join(args)})"


def kernel_lines(kernel: ir.Kernel) -> list[str]:
    """Buffers, axes, reductions and stores of a kernel, one thing a line."""
    buffers = (f"b{n}: {b.dtype} {_ACCESS[b.access]}" for n, b in enumerate(kernel.buffers))
    axes = (f"i{n}: {_axis(axis)}" for n, axis in enumerate(kernel.axes))
    return [
        *_wrapped("buffers", buffers),
        *_wrapped("axes", axes),
        *_Formulas(kernel).lines(),
    ]


def _wrapped(title: str, items: Iterable[str]) -> list[str]:
    """A title and a list of things, which go on below each other; none is taken apart."""
    indent = " " * 8
    # Spaces within a thing are no places to break a line at.
    text = ", ".join(item.replace(" ", "\0") for item in items if item)
    wrap = textwrap.TextWrapper(
        96, f"{title:<8}", indent, break_long_words=False, break_on_hyphens=False
    )
    return [line.replace("\0", " ") for line in wrap.wrap(text)]


def header(kernel: ir.Kernel | None, facts: Facts, cpu: str) -> str:
    """Comments to stand above a kernel's source: what it is, where it comes from, its IR."""
    # No name of a program's file or operation ends the comment that it stands in.
    lines = [printable(f"numbaflow kernel {facts.name!r}, compiled for {cpu}")]
    for title, items in (("fuses", facts.ops), ("graph", [facts.graph]), ("line", [facts.line])):
        lines += _wrapped(title, map(printable, items))
    if kernel is not None:
        lines += ["", _IR, *(f"  {line}" for line in kernel_lines(kernel))]
    return "".join(f"# {line}".rstrip() + "\n" for line in lines) + "\n"


def split_header(source: str) -> tuple[str, str]:
    """The IR in the comments above a source (if any), and the source without them."""
    lines = source.removesuffix("\n").split("\n")
    count = next((n for n, line in enumerate(lines) if not line.startswith("#")), len(lines))
    comments = [line[2:] for line in lines[:count]]
    rest = "\n".join(lines[count:]).lstrip("\n") + "\n"
    if _IR not in comments:
        return "", rest
    return "\n".join(line[2:] for line in comments[comments.index(_IR) + 1 :]), rest


def is_kernel(source: str) -> bool:
    """Does a source define functions and name constants, and do nothing else?

    What is read from a file may be run to be compiled only if so.
    """
    try:
        statements = tree_of(source).body
    except (ValueError, SyntaxError, RecursionError, MemoryError):
        return False
    return all(map(_is_definition, statements))


def _is_definition(statement: ast.stmt) -> bool:
    if isinstance(statement, ast.FunctionDef):
        signature = statement.args
        # Defaults, annotations and decorators are run when a function is defined.
        further = [*signature.defaults, *signature.kw_defaults, statement.returns]
        every = (*signature.posonlyargs, *signature.args, *signature.kwonlyargs)
        notes = [each.annotation for each in every if each is not None]
        notes += [each.annotation for each in (signature.vararg, signature.kwarg) if each]
        decorators = [getattr(each, "id", "") for each in statement.decorator_list]
        return not any((*further, *notes)) and decorators in ([], ["helper"])
    return isinstance(statement, ast.Assign) and _is_constant(statement.value)


def _is_constant(value: ast.expr) -> bool:
    """A number, a text, a tuple of such, or such a number of a dtype."""
    match value:
        case ast.Constant():
            return True
        case ast.UnaryOp(op=ast.USub() | ast.UAdd()):
            return _is_constant(value.operand)
        case ast.Tuple():
            return all(map(_is_constant, value.elts))
        case ast.Call(func=ast.Name(id=name), keywords=[]):
            return name in _DTYPES and all(map(_is_constant, value.args))
    return False


def _axis(axis: ir.Axis) -> str:
    size = "" if axis.size is None else f" of {axis.size}"
    pieces = "" if axis.of is None else f" of i{axis.of}"
    length = "" if axis.length is None else f" by q{axis.length.slot}"
    return f"{axis.kind}{size}{pieces}{length}"


class _Formulas:
    """The formulas of one kernel; values used more than once are named %0, %1 …"""

    def __init__(self, kernel: ir.Kernel) -> None:
        self.kernel = kernel
        self.texts: dict[ir.Expr, str] = {}
        self.uses = Counter(_used(kernel))
        self.shared = 0

    def lines(self) -> Iterator[str]:
        for number, reduction in enumerate(self.kernel.reductions):
            yield from self._define(reduction.value)
            yield f"r{number} = {reduction.fn} of {self.texts[reduction.value]}"
        for store in self.kernel.stores:
            for root in (store.value, store.index.offset):
                if root is not None:
                    yield from self._define(root)
            place = f"b{store.buffer}[{self._index(store.index)}]"
            yield f"{place} = {self.texts[store.value]}"

    def _define(self, root: ir.Expr) -> Iterator[str]:
        for node in postorder(root):
            if node in self.texts:
                continue
            self.texts[node] = text = self._text(node)
            # Formulas written out in full could grow as two to the power of their depth.
            if self.uses[node] > 1 and isinstance(node, (ir.Apply, ir.Load)):
                self.texts[node] = f"%{self.shared}"
                self.shared += 1
                yield f"{self.texts[node]} = {text}"

    def _text(self, node: ir.Expr) -> str:
        match node:
            case ir.Const():
                return str(node.value)
            case ir.AxisIndex():
                return f"i{node.axis}"
            case ir.Param():
                return f"q{node.slot}"
            case ir.Reduced():
                return f"r{node.reduction}"
            case ir.Load():
                return f"b{node.buffer}[{self._index(node.index)}]"
            case ir.Apply():
                return applied(node, [self.texts[arg] for arg in node.args])

    def _index(self, index: ir.Index) -> str:
        terms = [] if index.offset is None else [self.texts[index.offset]]
        for axis, stride in enumerate(index.strides):
            if isinstance(stride, ir.Param):
                terms.append(f"i{axis}*q{stride.slot}")
            elif stride:
                terms.append(f"i{axis}" if stride == 1 else f"i{axis}*{stride}")
        return " + ".join(terms) or "0"


def _used(kernel: ir.Kernel) -> Iterator[ir.Expr]:
    """Every expression, as often as something in the kernel names it."""
    roots = [reduction.value for reduction in kernel.reductions]
    for store in kernel.stores:
        roots.append(store.value)
        if store.index.offset is not None:
            roots.append(store.index.offset)
    yield from roots
    seen: set[ir.Expr] = set()
    for root in roots:
        for node in postorder(root):
            if node in seen:
                continue
            seen.add(node)
            if isinstance(node, ir.Apply):
                yield from node.args
            elif isinstance(node, ir.Load) and node.index.offset is not None:
                yield node.index.offset
