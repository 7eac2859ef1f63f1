# SPDX-License-Identifier: Apache-2.0
"""What every kernel must satisfy: a table of facts, checked in tests and when a stage is printed.

Imports the kernel IR and the scalar vocabulary only.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from . import ir, scalar

# Tests switch this on for all kernels.
enabled = False


class Illegal(Exception):
    """A kernel breaks a rule; the text names the rule and the node."""


def expressions(kernel: ir.Kernel) -> Iterator[ir.Expr]:
    """Every expression of a kernel once, those inside indices included."""
    stack: list[ir.Expr | None] = [reduction.value for reduction in kernel.reductions]
    for store in kernel.stores:
        stack += [store.value, store.index.offset]
    seen: set[int] = set()
    while stack:
        expr = stack.pop()
        if expr is None or id(expr) in seen:
            continue
        seen.add(id(expr))
        yield expr
        if isinstance(expr, ir.Load):
            stack.append(expr.index.offset)
        elif isinstance(expr, ir.Apply):
            stack.extend(expr.args)


def indices(kernel: ir.Kernel) -> Iterator[ir.Index]:
    """Every index of a kernel."""
    yield from (store.index for store in kernel.stores)
    yield from (expr.index for expr in expressions(kernel) if isinstance(expr, ir.Load))


def _strides(kernel: ir.Kernel) -> str:
    bad = [index for index in indices(kernel) if len(index.strides) != len(kernel.axes)]
    return f"{bad[0]}" if bad else ""


def _buffers(kernel: ir.Kernel) -> str:
    for expr in expressions(kernel):
        if isinstance(expr, ir.Load):
            buffer = kernel.buffers[expr.buffer]
            if buffer.dtype != expr.dtype or "r" not in buffer.access:
                return f"{expr} from {buffer}"
    return ""


def _stores(kernel: ir.Kernel) -> str:
    for store in kernel.stores:
        buffer = kernel.buffers[store.buffer]
        if buffer.dtype != store.value.dtype or "w" not in buffer.access:
            return f"{store.value.dtype} into {buffer}"
    return ""


def _params(kernel: ir.Kernel) -> str:
    used = [e.slot for e in expressions(kernel) if isinstance(e, ir.Param)]
    used += [s.slot for index in indices(kernel) for s in index.strides if isinstance(s, ir.Param)]
    return f"slot {max(used)} of {kernel.params}" if used and max(used) >= kernel.params else ""


def _reductions(kernel: ir.Kernel) -> str:
    """A reduction may use only those before it."""
    for number, reduction in enumerate(kernel.reductions):
        alone = ir.Kernel("map", (), (), (reduction,), (), 0)
        used = [e.reduction for e in expressions(alone) if isinstance(e, ir.Reduced)]
        if any(other >= number for other in used):
            return f"reduction {number} uses {used}"
    return ""


def _primitives(kernel: ir.Kernel) -> str:
    for expr in expressions(kernel):
        if isinstance(expr, ir.Apply) and not scalar.supports(expr.fn, expr.args[-1].dtype):
            return f"{expr.fn} of {expr.args[-1].dtype}"
    return ""


def _form(kernel: ir.Kernel) -> str:
    kinds = [axis.kind for axis in kernel.axes]
    if not kinds:
        return "no axes"
    inner = kinds[-1] == "map" and "reduce" in kinds
    expected = {"map": "reduce" not in kinds, "row": kinds[-1] == "reduce", "column": inner}
    return "" if expected[kernel.form] else f"{kernel.form} over {kinds}"


RULES: tuple[tuple[str, Callable[[ir.Kernel], str]], ...] = (
    ("an index has a stride for every axis", _strides),
    ("loads are from readable buffers of their dtype", _buffers),
    ("stores are into writable buffers of their dtype", _stores),
    ("parameters are in range", _params),
    ("reductions use earlier reductions only", _reductions),
    ("primitives have compiled code for their dtype", _primitives),
    ("the axes are those of the form", _form),
)


def verify(kernel: ir.Kernel) -> None:
    """Raises Illegal when a kernel breaks a rule."""
    for rule, broken in RULES:
        found = broken(kernel)
        if found:
            raise Illegal(f"{rule}: {found}")
