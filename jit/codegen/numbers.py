# SPDX-License-Identifier: Apache-2.0
"""Numbers of several kinds in texts that are written by hand: what becomes of them together.

The rules are Numba's: whole numbers meet in 64 bits, a float and a whole number in float64.  What
such texts do without is refused.  Imports llvmlite alone.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from llvmlite import ir

from .words import WORD, Kind, Unfit, function

FLOATS = {"float32": ir.FloatType(), "float64": ir.DoubleType()}
# What texts of the library mostly compute with; those with other numbers (int8, int16) are left to
# Numba.
_WHOLE = {"bool": 1, "uint8": 8, "uint16": 16, "int32": 32, "uint32": 32, "int64": 64, "uint64": 64}
_SIGNED = ("int32", "int64")
Operator = type[ast.operator]


def type_of(kind: Kind) -> Any:
    """How LLVM holds a number."""
    if kind in FLOATS:
        return FLOATS[str(kind)]
    if kind not in _WHOLE:
        raise Unfit(f"number of {kind}: it is none")
    return ir.IntType(_WHOLE[str(kind)])


def is_whole(kind: Kind) -> bool:
    """Is it a kind of whole numbers, truth values apart?"""
    return kind in _WHOLE and kind != "bool"


def unified(x: Kind, y: Kind) -> Kind:
    """The kind in which two numbers are told as one."""
    if x == y:
        return x
    # All narrower ones, with a sign or without, are within int64; uint64 is not, and Numba would
    # take float64 for it and int64: an answer that nobody who writes of addresses or bits wants.
    if is_whole(x) and is_whole(y) and "uint64" not in (x, y):
        return "int64"
    if all(kind in FLOATS or is_whole(kind) for kind in (x, y)) and (x in FLOATS or y in FLOATS):
        return "float64"
    raise Unfit(f"{x} or {y}: these have no kind in common")


def converted(b: ir.IRBuilder, kind: Kind, value: Any, wanted: Kind) -> Any:
    """A number as one of another kind."""
    if kind == wanted:
        return value
    result = type_of(wanted)
    if kind in FLOATS:
        if wanted in FLOATS:
            return b.fpext(value, result) if wanted == "float64" else b.fptrunc(value, result)
        return (b.fptosi if wanted in _SIGNED else b.fptoui)(value, result)
    type_of(kind)
    # A literal stays one: words that ask for literals see the number, and LLVM's text is shorter.
    if isinstance(value, ir.Constant) and wanted != "bool" and kind == "int64":
        number = value.constant
        return ir.Constant(
            result, float(number) if wanted in FLOATS else _wrapped(number, str(wanted))
        )
    if wanted in FLOATS:
        return (b.sitofp if kind in _SIGNED else b.uitofp)(value, result)
    if wanted == "bool":
        return b.icmp_signed("!=", value, value.type(0))
    if result.width == value.type.width:
        return value
    if result.width < value.type.width:
        return b.trunc(value, result)
    return (b.sext if kind in _SIGNED else b.zext)(value, result)


def _wrapped(number: int, kind: str) -> int:
    """A literal in so many bits."""
    bits = _WHOLE[kind]
    number &= (1 << bits) - 1
    return number - (1 << bits) if kind in _SIGNED and number >> (bits - 1) else number


def word(b: ir.IRBuilder, kind: Kind, value: Any) -> Any:
    """A whole number or an address as 64 bits; what is constant stays so."""
    return converted(b, kind, value, "int64") if isinstance(kind, str) else value


def arithmetic(
    b: ir.IRBuilder, op: Operator, x: Kind, y: Kind, left: Any, right: Any
) -> tuple[Any, Kind]:
    """Two numbers and one of Python's operators."""
    if op not in _OPERATORS:
        raise Unfit(f"{op.__name__} of {x}, {y}: texts of kernels do without")
    # Both become what the result is before they meet, so that int32 * int32 has 64 bits.
    kind = _result(op, x, y)
    left, right = converted(b, x, left, kind), converted(b, y, right, kind)
    floats, signed, unsigned = _OPERATORS[op]
    written = floats if kind in FLOATS else signed if kind in _SIGNED else unsigned
    if written is None:
        raise Unfit(f"{op.__name__} of {x}, {y}: texts of kernels do without")
    return written(b, left, right), kind


def _result(op: Operator, x: Kind, y: Kind) -> Kind:
    if op is ast.Div:
        return "float64" if is_whole(x) or is_whole(y) else unified(x, y)
    if x in FLOATS or y in FLOATS:
        return unified(x, y)
    if x == y == "bool" and op in (ast.BitAnd, ast.BitOr, ast.BitXor):
        return "bool"
    if not (is_whole(x) and is_whole(y)):
        raise Unfit(f"{op.__name__.lower()} of {x}, {y}: this is arithmetic of numbers")
    # The left side decides: how far to shift has no sign to speak of.
    if op in (ast.LShift, ast.RShift):
        return "int64" if x in _SIGNED else "uint64"
    return "int64" if x in _SIGNED or y in _SIGNED else "uint64"


def _divided(b: ir.IRBuilder, x: Any, y: Any) -> tuple[Any, Any, Any]:
    """Quotient and remainder that are rounded down; of what has none they are zero, as the third
    says."""
    # LLVM leaves undefined what the machine would trap on: x / 0, and the lowest number / -1, whose
    # quotient has no room. A divisor of one takes their place, and `select` the result.
    zero, lowest = x.type(0), x.type(-(1 << (x.type.width - 1)))
    overflow = b.and_(b.icmp_signed("==", x, lowest), b.icmp_signed("==", y, x.type(-1)))
    none = b.or_(b.icmp_signed("==", y, zero), overflow)
    divisor = b.select(none, x.type(1), y)
    quotient, rest = b.sdiv(x, divisor), b.srem(x, divisor)
    # The machine rounds to zero, Python down: they differ where rest and divisor have different
    # signs.
    is_low = b.icmp_signed("<", b.xor(divisor, rest), zero)
    is_low = b.and_(b.icmp_signed("!=", rest, zero), is_low)
    lower = b.select(is_low, b.sub(quotient, x.type(1)), quotient)
    return lower, b.select(is_low, b.add(rest, divisor), rest), none


def _quotient(b: ir.IRBuilder, x: Any, y: Any) -> Any:
    quotient, _, none = _divided(b, x, y)
    return b.select(none, x.type(0), quotient)


def _rest(b: ir.IRBuilder, x: Any, y: Any) -> Any:
    _, rest, none = _divided(b, x, y)
    return b.select(none, x.type(0), rest)


def _unsigned_rest(b: ir.IRBuilder, x: Any, y: Any) -> Any:
    none = b.icmp_signed("==", y, y.type(0))
    return b.select(none, y, b.urem(x, b.select(none, y.type(1), y)))


# By operator: the code for floats, for whole numbers with a sign, and for those without.
_OPERATORS: dict[Operator, tuple[Callable[..., Any] | None, ...]] = {
    ast.Add: (lambda b, x, y: b.fadd(x, y), *[lambda b, x, y: b.add(x, y)] * 2),
    ast.Sub: (lambda b, x, y: b.fsub(x, y), *[lambda b, x, y: b.sub(x, y)] * 2),
    ast.Mult: (lambda b, x, y: b.fmul(x, y), *[lambda b, x, y: b.mul(x, y)] * 2),
    ast.Div: (lambda b, x, y: b.fdiv(x, y), None, None),
    ast.FloorDiv: (None, _quotient, None),
    ast.Mod: (None, _rest, _unsigned_rest),
    ast.BitAnd: (None, *[lambda b, x, y: b.and_(x, y)] * 2),
    ast.BitOr: (None, *[lambda b, x, y: b.or_(x, y)] * 2),
    ast.BitXor: (None, *[lambda b, x, y: b.xor(x, y)] * 2),
    ast.LShift: (None, *[lambda b, x, y: b.shl(x, y)] * 2),
    ast.RShift: (None, lambda b, x, y: b.ashr(x, y), lambda b, x, y: b.lshr(x, y)),
}


def compared(b: ir.IRBuilder, sign: str, x: Kind, y: Kind, left: Any, right: Any) -> Any:
    """Whether two numbers compare so."""
    kind = unified(x, y)
    left, right = converted(b, x, left, kind), converted(b, y, right, kind)
    if kind in FLOATS:
        # NaN differs from everything, itself too; all other comparisons with it are false.
        return (b.fcmp_unordered if sign == "!=" else b.fcmp_ordered)(sign, left, right)
    type_of(kind)
    return (b.icmp_signed if kind in _SIGNED else b.icmp_unsigned)(sign, left, right)


def negated(b: ir.IRBuilder, kind: Kind, value: Any) -> tuple[Any, Kind]:
    """A number with another sign."""
    if kind in FLOATS:
        # From minus zero, so that zeros change their sign as well.
        return b.fsub(ir.Constant(value.type, -0.0), value), kind
    if kind not in _SIGNED:
        raise Unfit(f"minus {kind}: it has no sign")
    if isinstance(value, ir.Constant):
        return ir.Constant(WORD, -value.constant), "int64"
    return b.sub(WORD(0), converted(b, kind, value, "int64")), "int64"


def magnitude(b: ir.IRBuilder, kind: Kind, value: Any) -> Any:
    """A number without its sign."""
    if kind in FLOATS:
        return b.call(b.module.declare_intrinsic("llvm.fabs", [value.type]), [value])
    if kind not in _SIGNED:
        raise Unfit(f"abs of {kind}: it has no sign")
    # The lowest number stays, as in NumPy.
    return b.select(b.icmp_signed("<", value, value.type(0)), b.neg(value), value)


def truth(b: ir.IRBuilder, kind: Kind, value: Any) -> Any:
    """Whether a number is not zero."""
    if kind == "bool":
        return value
    if not is_whole(kind):
        raise Unfit(f"truth of {kind}: conditions are of whole numbers")
    return b.icmp_signed("!=", value, value.type(0))


def real(b: ir.IRBuilder, kind: Kind, value: Any, name: str) -> tuple[Any, Kind]:
    """A function of real numbers: LLVM's own, and C's for a square root."""
    wanted: Kind = kind if kind in FLOATS else "float64"
    number = converted(b, kind, value, wanted)
    if name != "sqrt":
        return b.call(b.module.declare_intrinsic(f"llvm.{name}", [number.type]), [number]), wanted
    # C's, as Numba has it; with these facts LLVM knows what it does, and takes the instruction,
    # which rounds correctly as well.
    symbol = "sqrtf" if wanted == "float32" else "sqrt"
    root = function(b, symbol, number.type, [number.type])
    for fact in ("readonly", "nounwind"):
        root.attributes.add(fact)
    return b.call(root, [number]), wanted
