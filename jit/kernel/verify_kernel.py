# SPDX-License-Identifier: Apache-2.0
"""What every kernel must satisfy: a table of facts, checked in tests and when a stage is printed.

Imports the kernel IR and the scalar vocabulary only.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from . import ir, scalar
from .ir_text import text_of

# Tests switch this on for all kernels.
enabled = False
# How tests have kernels run among guards (jit/runtime/guards.py): "bytes", "pages", or "" for not
# at all.
guards = ""


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


def _numbers(kernel: ir.Kernel) -> str:
    """Accesses name buffers and reductions that there are."""
    used = [e.buffer for e in expressions(kernel) if isinstance(e, ir.Load)]
    used += [store.buffer for store in kernel.stores]
    if used and max(used) >= len(kernel.buffers):
        return f"buffer {max(used)} of {len(kernel.buffers)}"
    done = [e.reduction for e in expressions(kernel) if isinstance(e, ir.Reduced)]
    if done and max(done) >= len(kernel.reductions):
        return f"reduction {max(done)} of {len(kernel.reductions)}"
    return ""


def _held(kernel: ir.Kernel) -> str:
    bad = [buffer for buffer in kernel.buffers if not scalar.compiles(buffer.dtype)]
    return f"{bad[0]}" if bad else ""


def _offsets(kernel: ir.Kernel) -> str:
    for expr in expressions(kernel):
        if isinstance(expr, (ir.AxisIndex, ir.Param)) and expr.dtype != "int64":
            return f"{expr}"
    for index in indices(kernel):
        if index.offset is not None and index.offset.dtype != "int64":
            return f"{index.offset.dtype} in {index}"
    return ""


def _combined(kernel: ir.Kernel) -> str:
    for reduction in kernel.reductions:
        # Sums are cast before they are added up (jit/schedule/loop_nest.py): their values have the
        # dtype of the accumulator already.
        if reduction.fn in _RESULTS:
            if reduction.dtype in _RESULTS[reduction.fn]:
                continue
        elif reduction.value.dtype == reduction.dtype:
            continue
        return f"{reduction.fn} of {reduction.value.dtype} as {reduction.dtype}"
    return ""


# What reductions give whose result need not be of their values' dtype.
_POSITIONS, _TRUTH = ("int32", "int64"), ("bool",)
_RESULTS = {"argmax": _POSITIONS, "argmin": _POSITIONS, "any": _TRUTH, "all": _TRUTH}


def _finished(kernel: ir.Kernel) -> str:
    for expr in expressions(kernel):
        if isinstance(expr, ir.Reduced):
            reduction = kernel.reductions[expr.reduction]
            if reduction.dtype != expr.dtype:
                return f"{expr} of {reduction.fn} as {reduction.dtype}"
    return ""


def _arguments(kernel: ir.Kernel) -> str:
    """Arguments of a primitive have one dtype, and its result has the one that follows."""
    for expr in expressions(kernel):
        if not isinstance(expr, ir.Apply):
            continue
        primitive, dtypes = scalar.PRIMITIVES[expr.fn], [arg.dtype for arg in expr.args]
        # Of a choice the first argument is a bool, and the other two have the dtype in question.
        choice = dtypes.pop(0) if primitive.result == "branch" else "bool"
        results = {"bool": "bool", "given": expr.dtype}
        result = results.get(primitive.result, dtypes[-1])
        if len(set(dtypes)) > 1 or choice != "bool" or expr.dtype != result:
            given = ", ".join(arg.dtype for arg in expr.args)
            return f"{expr.fn} of {given} gives {expr.dtype}"
    return ""


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


def _before(kernel: ir.Kernel) -> str:
    """At a position, what is stored over is loaded before: by that store, or one in front of it."""
    buffers = [store.buffer for store in kernel.stores]
    if kernel.form == "map" and len(set(buffers)) < len(buffers):
        # Parts of complex numbers, which may each be made of both: all values come before all
        # stores (Writer.stores).
        return ""
    loaded: set[ir.Expr] = set()
    written: set[int] = set()
    for store in kernel.stores:
        alone = ir.Kernel("map", (), (), (), (store,), 0)
        new = {expr for expr in expressions(alone) if isinstance(expr, ir.Load)} - loaded
        late = [expr for expr in new if expr.buffer in written]
        if late:
            return f"{late[0]}"
        loaded |= new
        written.add(store.buffer)
    return ""


def _params(kernel: ir.Kernel) -> str:
    used = [e.slot for e in expressions(kernel) if isinstance(e, ir.Param)]
    used += [s.slot for index in indices(kernel) for s in index.strides if isinstance(s, ir.Param)]
    used += [axis.length.slot for axis in kernel.axes if axis.length is not None]
    return f"slot {max(used)} of {kernel.params}" if used and max(used) >= kernel.params else ""


def _reductions(kernel: ir.Kernel) -> str:
    """A reduction may use only those before it."""
    for number, reduction in enumerate(kernel.reductions):
        alone = ir.Kernel("map", (), (), (reduction,), (), 0)
        # What comes later is not finished when the pass of this one runs.
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
    ("accesses name what there is", _numbers),
    ("buffers hold what compiled code can", _held),
    ("positions and offsets are int64", _offsets),
    ("loads are from readable buffers of their dtype", _buffers),
    ("stores are into writable buffers of their dtype", _stores),
    ("what is stored over has been loaded", _before),
    ("parameters are in range", _params),
    ("reductions combine values of their dtype", _combined),
    ("a finished reduction has the dtype of its reduction", _finished),
    ("arguments of a primitive have one dtype, which its result follows", _arguments),
    ("reductions use earlier reductions only", _reductions),
    ("primitives have compiled code for their dtype", _primitives),
    ("the axes are those of the form", _form),
)


def verify(kernel: ir.Kernel, dtypes: Sequence[str] | None = None) -> None:
    """Raises Illegal when a kernel breaks a rule.

    dtypes: those of the values that it is called with, in the order of its buffers.
    """
    for rule, broken in RULES:
        found = broken(kernel)
        if found:
            raise Illegal(f"{rule}: {found}, in\n{_text(kernel)}")
    declared = [buffer.dtype for buffer in kernel.buffers]
    if dtypes is None:
        return
    if len(dtypes) != len(declared) or not all(map(_fits, declared, dtypes)):
        found = f"{list(dtypes)} for {declared}"
        raise Illegal(f"values have the dtypes of the buffers: {found}, in\n{_text(kernel)}")


def _fits(element: str, dtype: str) -> bool:
    """May a kernel look at memory of a dtype as these elements?"""
    return element in (scalar.part_dtype(dtype), scalar.AS_ONE.get(dtype))


def _text(kernel: ir.Kernel) -> str:
    return text_of(kernel).replace("],[", "],\n[")
