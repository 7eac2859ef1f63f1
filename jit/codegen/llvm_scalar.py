# SPDX-License-Identifier: Apache-2.0
"""LLVM code of the scalar primitives: arithmetic, comparison, integers, conversion.

Functions take an Emitter (an llvmlite builder and the dtype of the arguments) and LLVM values, and
return one.  Everything is straight-line code.  Transcendental functions are in
jit/codegen/transcendental.py. Imports llvmlite alone.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from llvmlite import ir

from .. import target

NODE = "llvm.loop"  # of a loop's last branch
BODY = "body"  # begins the names of the blocks that loops' bodies begin with
LOOP = "numbaflow.loop"  # begins the text of a loop's node, which is completed in llvm.py
SERIAL = "serial"  # ends that of a loop around loops, whose length is not in the text
LANES = "lanes"  # begins how many turns of a loop are taken at once
GROUP = "numbaflow.group"  # marks accesses that are independent between loop iterations
_FLOATS = {"float16": 16, "bfloat16": 16, "float32": 32, "float64": 64}
CONTRACT = ("contract",)


class Emitter:
    """An LLVM builder together with the dtype that the code at hand computes in."""

    def __init__(self, builder: ir.IRBuilder, dtype: str) -> None:
        self.b = builder
        self.dtype = dtype
        self.is_float = dtype in _FLOATS
        self.is_signed = dtype.startswith("int")
        self.bits = _FLOATS.get(dtype) or (1 if dtype == "bool" else int(dtype.lstrip("uint")))
        self.wide = max(self.bits, 32) if self.is_float else self.bits
        self.type = _llvm_type(self.is_float, self.wide)
        self.memory = ir.IntType(8) if self.bits == 1 else self._memory_type()
        self.int = ir.IntType(self.wide)
        self.bytes = max(self.bits, 8) // 8

    def _memory_type(self) -> Any:
        return ir.IntType(16) if self.bits == 16 else self.type

    def with_dtype(self, dtype: str) -> Emitter:
        """The same builder for another dtype."""
        return Emitter(self.b, dtype)

    def c(self, value: float) -> Any:
        """A literal of the dtype."""
        if self.is_float:
            if self.wide == 32:
                value = float(np.float32(value))
            return ir.Constant(self.type, value)
        return ir.Constant(self.type, int(value))

    def i(self, value: int) -> Any:
        """A literal of the integer type as wide as the dtype."""
        return ir.Constant(self.int, value)

    def add(self, x: ir.Value, y: ir.Value) -> Any:
        return self.b.fadd(x, y, flags=CONTRACT) if self.is_float else self.b.add(x, y)

    def sub(self, x: ir.Value, y: ir.Value) -> Any:
        return self.b.fsub(x, y, flags=CONTRACT) if self.is_float else self.b.sub(x, y)

    def mul(self, x: ir.Value, y: ir.Value) -> Any:
        return self.b.fmul(x, y, flags=CONTRACT) if self.is_float else self.b.mul(x, y)

    def exact_add(self, x: ir.Value, y: ir.Value) -> Any:
        """A sum that must not be contracted (error-free transformations, the graph's own sums)."""
        return self.b.fadd(x, y) if self.is_float else self.b.add(x, y)

    def exact_sub(self, x: ir.Value, y: ir.Value) -> Any:
        return self.b.fsub(x, y) if self.is_float else self.b.sub(x, y)

    def exact_mul(self, x: ir.Value, y: ir.Value) -> Any:
        return self.b.fmul(x, y) if self.is_float else self.b.mul(x, y)

    def div(self, x: ir.Value, y: ir.Value) -> Any:
        return self.b.fdiv(x, y)

    def fma(self, x: ir.Value, y: ir.Value, z: ir.Value) -> Any:
        """x * y + z, fused where the target can."""
        return self.call("fmuladd", x, y, z)

    def neg(self, x: ir.Value) -> Any:
        return self.b.fneg(x) if self.is_float else self.b.sub(self.c(0), x)

    def call(self, name: str, *args: Any, flags: tuple[str, ...] = ()) -> Any:
        """An LLVM intrinsic on the dtype."""
        suffix = f"f{self.wide}" if self.is_float else f"i{self.wide}"
        return self._declared(f"llvm.{name}.{suffix}", args, flags)

    def library(self, name: str, *args: Any) -> Any:
        """A function of the C mathematics library."""
        return self._declared(name + ("f" if self.wide == 32 else ""), args)

    def _declared(self, name: str, args: tuple[Any, ...], flags: tuple[str, ...] = ()) -> Any:
        function = self._function(name, self.type, [a.type for a in args])
        return self.b.call(function, args, fastmath=flags)

    def _function(self, name: str, result: Any, arguments: list[Any]) -> Any:
        module = self.b.module
        known = module.globals.get(name)
        return known or ir.Function(module, ir.FunctionType(result, arguments), name)

    def compare(self, op: str, x: ir.Value, y: ir.Value) -> Any:
        """An ordered comparison (unordered for !=), so NaN compares as in C."""
        if self.is_float:
            kind = self.b.fcmp_unordered if op == "!=" else self.b.fcmp_ordered
            return kind(op, x, y)
        return (self.b.icmp_signed if self.is_signed else self.b.icmp_unsigned)(op, x, y)

    def lt(self, x: ir.Value, y: ir.Value) -> Any:
        return self.compare("<", x, y)

    def gt(self, x: ir.Value, y: ir.Value) -> Any:
        return self.compare(">", x, y)

    def eq(self, x: ir.Value, y: ir.Value) -> Any:
        return self.compare("==", x, y)

    def isnan(self, x: ir.Value) -> Any:
        return self.b.fcmp_unordered("uno", x, x)

    def select(self, condition: ir.Value, x: ir.Value, y: ir.Value) -> Any:
        return self.b.select(condition, x, y)

    def abs(self, x: ir.Value) -> Any:
        return self.call("fabs", x)

    def bitcast(self, x: ir.Value) -> Any:
        """The bits of a float as an integer and back."""
        return self.b.bitcast(x, self.int if x.type == self.type else self.type)

    def bitcast_to(self, x: ir.Value, kind: Any) -> Any:
        """The bits of a value as another type of the same width."""
        return self.b.bitcast(x, kind)

    def compare_bits(self, bits: ir.Value) -> Any:
        """Whether an integer as wide as the dtype is not zero."""
        return self.b.icmp_unsigned("!=", bits, self.i(0))

    def funnel(self, high: ir.Value, low: ir.Value, shift: ir.Value) -> Any:
        """The upper word of (high, low) shifted left; words are as wide as the dtype."""
        function = self._function(f"llvm.fshl.i{self.wide}", self.int, [self.int] * 3)
        return self.b.call(function, [high, low, shift])

    def sign_of(self, magnitude: ir.Value, x: ir.Value) -> Any:
        """`magnitude` with the sign of x."""
        return self.call("copysign", magnitude, x)

    def polynomial(self, x: ir.Value, coefficients: tuple[float, ...]) -> Any:
        """Horner's rule, highest power first."""
        value = self.c(coefficients[0])
        for coefficient in coefficients[1:]:
            value = self.fma(value, x, self.c(coefficient))
        return value


def _llvm_type(is_float: bool, bits: int) -> Any:
    if is_float:
        return ir.FloatType() if bits == 32 else ir.DoubleType()
    return ir.IntType(bits)


def from_memory(e: Emitter, value: ir.Value) -> Any:
    """An element as it is computed with: bool as one bit, 16-bit floats as float32."""
    if e.dtype == "bool":
        return e.b.icmp_unsigned("!=", value, ir.Constant(e.memory, 0))
    if e.dtype == "bfloat16":
        wide = e.b.shl(e.b.zext(value, e.int), e.i(16))
        return e.b.bitcast(wide, e.type)
    return half_to_float(e, value) if e.dtype == "float16" else value


def to_memory(e: Emitter, value: ir.Value) -> Any:
    """An element as it is stored; values of 16-bit floats are already rounded."""
    if e.dtype == "bool":
        return e.b.zext(value, e.memory)
    if e.dtype == "bfloat16":
        return e.b.trunc(e.b.lshr(e.b.bitcast(value, e.int), e.i(16)), e.memory)
    return float_to_half(e, value) if e.dtype == "float16" else value


def half_to_float(e: Emitter, bits: ir.Value) -> Any:
    """The float32 with the value of 16 bits."""
    if target.current().has_half:
        return e.b.fpext(e.b.bitcast(bits, ir.HalfType()), e.type)
    wide = e.b.zext(bits, e.int)
    size = e.b.and_(wide, e.i(0x7FFF))
    # Shifted into place the exponent is 112 too small; the product is exact, denormals included.
    value = e.b.fmul(e.bitcast(e.b.shl(size, e.i(13))), e.c(2.0**112))
    endless = e.b.icmp_unsigned(">=", size, e.i(0x7C00))
    value = e.b.or_(e.bitcast(value), e.select(endless, e.i(0x7F800000), e.i(0)))
    return e.bitcast(e.b.or_(value, e.b.shl(e.b.and_(wide, e.i(0x8000)), e.i(16))))


def float_to_half(e: Emitter, x: ir.Value) -> Any:
    """The 16 bits of the nearest half, ties to even."""
    if target.current().has_half:
        return e.b.bitcast(e.b.fptrunc(x, ir.HalfType()), ir.IntType(16))
    bits = e.bitcast(x)
    size = e.b.and_(bits, e.i(0x7FFFFFFF))
    odd = e.b.and_(e.b.lshr(size, e.i(13)), e.i(1))
    normal = e.b.lshr(e.b.add(size, e.b.add(odd, e.i(0xFFF - (112 << 23)))), e.i(13))
    # Adding one half leaves a denormal's bits at the end of the sum, rounded.
    small = e.b.sub(e.bitcast(e.b.fadd(e.bitcast(size), e.c(0.5))), e.bitcast(e.c(0.5)))
    value = e.select(e.b.icmp_unsigned("<", size, e.i(0x38800000)), small, normal)
    value = e.select(e.b.icmp_unsigned(">=", size, e.i(0x477FF000)), e.i(0x7C00), value)
    value = e.select(e.b.icmp_unsigned(">", size, e.i(0x7F800000)), e.i(0x7E00), value)
    sign = e.b.and_(e.b.lshr(bits, e.i(16)), e.i(0x8000))
    return e.b.trunc(e.b.or_(value, sign), ir.IntType(16))


def round_half(e: Emitter, x: ir.Value, dtype: str) -> Any:
    """A float32 rounded to the nearest value of a 16-bit type, still a float32."""
    if dtype == "float16":
        return half_to_float(e, float_to_half(e, x))
    bits = e.bitcast(x)
    odd = e.b.and_(e.b.lshr(bits, e.i(16)), e.i(1))
    rounded = e.b.and_(e.b.add(e.b.add(bits, odd), e.i(0x7FFF)), e.i(0xFFFF0000))
    return e.select(e.isnan(x), e.c(float("nan")), e.bitcast(rounded))


def accumulate(e: Emitter, name: str, acc: ir.Value, x: ir.Value) -> Any:
    """One step of a reduction whose order LLVM may change, so that it becomes a vector loop.

    It may not contract it: a negated product would be added without being rounded.
    """
    if not e.is_float:
        return PRIMITIVES[{"max": "maximum", "min": "minimum"}.get(name, name)](e, acc, x)
    if name in ("add", "mul"):
        step = e.b.fadd if name == "add" else e.b.fmul
        return step(acc, x, flags=("reassoc", "nsz"))
    # A NaN counts as the worst number: llvm.maxnum makes it that in one instruction.  With no NaN
    # left llvm.maximum is one more, and a vector loop; nsz spares the ordering of zeros.
    worst = e.c(float("-inf" if name == "max" else "inf"))
    number = e.call(name + "num", x, worst, flags=("nsz",))
    return e.call(name + "imum", acc, number, flags=("nnan", "nsz"))


def cast(e: Emitter, x: ir.Value, dtype: str) -> Any:
    """Conversion as x86 C++ does it; what does not fit becomes the minimum of int32 or int64."""
    to = e.with_dtype(dtype)
    if e.dtype == dtype:
        return x
    if dtype == "bool":
        return e.compare("!=", x, e.c(0))
    if e.is_float:
        return _float_to_float(e, x, to) if to.is_float else _float_to_int(e, x, to)
    if to.is_float:
        value = (e.b.sitofp if e.is_signed else e.b.uitofp)(x, to.type)
        return round_half(to, value, dtype) if to.bits == 16 else value
    if to.bits <= e.bits:
        return x if to.bits == e.bits else e.b.trunc(x, to.type)
    return (e.b.sext if e.is_signed else e.b.zext)(x, to.type)


def _float_to_float(e: Emitter, x: ir.Value, to: Emitter) -> Any:
    if e.wide < to.wide:
        return e.b.fpext(x, to.type)
    value = e.b.fptrunc(x, to.type) if e.wide > to.wide else x
    if to.bits != 16:
        return value
    if e.wide > to.wide:
        # Something must stand between the two: where a half's sign is copied to another, LLVM
        # takes it from the float64, by calls of __truncdfhf2, which systems do not have.
        value = e.select(e.isnan(x), to.c(float("nan")), value)
    return round_half(to, value, to.dtype)


def _float_to_int(e: Emitter, x: ir.Value, to: Emitter) -> Any:
    if to.dtype == "uint64":
        top = e.c(2.0**63)
        high = e.b.fcmp_ordered(">=", x, top)
        low = _truncate(e, e.select(high, e.b.fsub(x, top), x), 64)
        return e.select(high, e.b.xor(low, ir.Constant(to.type, 1 << 63)), low)
    value = _truncate(e, x, 64 if to.dtype in ("int64", "uint32") else 32)
    return value if value.type == to.type else e.b.trunc(value, to.type)


def _truncate(e: Emitter, x: ir.Value, bits: int) -> Any:
    kind, limit = ir.IntType(bits), 2.0 ** (bits - 1)
    # float64 holds -2**31 - 0.5, which truncates to the minimum: the lower bound is exclusive.
    low = -limit - 1 if (e.wide, bits) == (64, 32) else -limit
    above = e.b.fcmp_ordered(">" if low != -limit else ">=", x, e.c(low))
    fits = e.b.and_(above, e.b.fcmp_ordered("<", x, e.c(limit)))
    value = e.b.fptosi(e.select(fits, x, e.c(0)), kind)
    return e.select(fits, value, ir.Constant(kind, -(1 << (bits - 1))))


def _safe_divisor(e: Emitter, x: ir.Value, y: ir.Value) -> Any:
    """y, or 1 where the division would trap: by zero, and of the minimum by -1 (which wraps)."""
    bad = e.eq(y, e.c(0))
    if e.is_signed:
        wraps = e.b.and_(e.eq(x, e.c(-(1 << (e.bits - 1)))), e.eq(y, e.c(-1)))
        bad = e.b.or_(bad, wraps)
    return e.select(bad, e.c(1), y)


def _quotient(e: Emitter, x: ir.Value, y: ir.Value) -> Any:
    safe = _safe_divisor(e, x, y)
    value = (e.b.sdiv if e.is_signed else e.b.udiv)(x, safe)
    return e.select(e.eq(y, e.c(0)), e.c(0), value)


def _remainder(e: Emitter, x: ir.Value, y: ir.Value) -> Any:
    return (e.b.srem if e.is_signed else e.b.urem)(x, _safe_divisor(e, x, y))


def _div(e: Emitter, x: ir.Value, y: ir.Value) -> Any:
    return e.div(x, y) if e.is_float else _quotient(e, x, y)


def _floordiv(e: Emitter, x: ir.Value, y: ir.Value) -> Any:
    if e.is_float:
        return e.call("floor", e.div(x, y))
    if not e.is_signed:
        return _quotient(e, x, y)
    rest = _remainder(e, x, y)
    below = e.b.and_(e.compare("!=", rest, e.c(0)), e.lt(e.b.xor(x, y), e.c(0)))
    return e.select(e.eq(y, e.c(0)), e.c(0), e.sub(_quotient(e, x, y), e.b.zext(below, e.type)))


def _floormod(e: Emitter, x: ir.Value, y: ir.Value) -> Any:
    rest = _truncatemod(e, x, y)
    if not (e.is_float or e.is_signed):
        return rest
    zero = e.c(0)
    differs = e.b.xor(e.lt(rest, zero), e.lt(y, zero))
    nonzero = e.compare("!=", rest, zero)
    return e.select(e.b.and_(nonzero, differs), e.add(rest, y), rest)


def _truncatediv(e: Emitter, x: ir.Value, y: ir.Value) -> Any:
    return e.call("trunc", e.div(x, y)) if e.is_float else _quotient(e, x, y)


def _truncatemod(e: Emitter, x: ir.Value, y: ir.Value) -> Any:
    if not e.is_float:
        return _remainder(e, x, y)
    # C's library takes a number at a time, and ten times as long.
    d = e.with_dtype("float64")
    if e.wide == 64:
        rest, is_near = _exact_rest(d, x, y)
        far = e.library("fmod", e.select(is_near, e.c(0), x), e.select(is_near, e.c(1), y))
        return e.select(is_near, e.sign_of(rest, x), far)
    rest, size = e.b.fpext(e.abs(x), d.type), e.b.fpext(e.abs(y), d.type)
    # Quotients of float32 are below 2**277, which is six times less than 2**53.
    for step in range(5, -1, -1):
        rest, _ = _exact_rest(d, rest, d.mul(size, d.c(2.0 ** (52 * step))))
    endless = e.b.and_(d.eq(size, d.c(float("inf"))), e.lt(e.abs(x), e.c(float("inf"))))
    return e.select(endless, x, e.sign_of(e.b.fptrunc(rest, e.type), x))


def _exact_rest(e: Emitter, x: ir.Value, y: ir.Value) -> tuple[Any, Any]:
    """The rest of a division, but for its sign if it is zero; and whether it is exact.

    A quotient that is exact as a whole number leaves a rest that is a number: fused, it is exact.
    """
    whole = e.call("trunc", e.div(x, y))
    rest = e.call("fma", e.neg(whole), y, x)
    # The quotient may have been rounded up to the next whole number.
    passed = e.lt(e.b.fmul(e.sign_of(e.c(1), x), rest), e.c(0))
    rest = e.select(passed, e.b.fadd(rest, e.sign_of(y, x)), rest)
    inside = e.b.and_(e.lt(e.abs(whole), e.c(2.0**53)), e.lt(e.abs(y), e.c(float("inf"))))
    return rest, inside


def _minimum(e: Emitter, x: ir.Value, y: ir.Value) -> Any:
    return e.select(e.lt(y, x), y, x)


def _maximum(e: Emitter, x: ir.Value, y: ir.Value) -> Any:
    return e.select(e.gt(y, x), y, x)


def _abs(e: Emitter, x: ir.Value) -> Any:
    if e.is_float:
        return e.abs(x)
    return e.select(e.lt(x, e.c(0)), e.neg(x), x) if e.is_signed else x


def _sign(e: Emitter, x: ir.Value) -> Any:
    positive, negative = e.gt(x, e.c(0)), e.lt(x, e.c(0))
    down = e.select(negative, e.c(-1), e.c(0)) if e.is_float or e.is_signed else e.c(0)
    return e.select(positive, e.c(1), down)


def _shift_count(e: Emitter, y: ir.Value) -> Any:
    low = e.select(e.lt(y, e.c(0)), e.c(0), y)
    return e.select(e.gt(low, e.c(e.bits - 1)), e.c(e.bits - 1), low)


def _right_shift(e: Emitter, x: ir.Value, y: ir.Value) -> Any:
    return (e.b.ashr if e.is_signed else e.b.lshr)(x, _shift_count(e, y))


def int_pow(e: Emitter, x: ir.Value, y: ir.Value) -> Any:
    """Squaring, once per bit of the exponent; negative exponents give 0 but for 1 and -1."""
    one, zero, base = e.c(1), e.c(0), x
    value = one
    for bit in range(e.bits - (1 if e.is_signed else 0)):
        chosen = e.compare("!=", e.b.and_(y, e.c(1 << bit)), zero)
        value = e.select(chosen, e.mul(value, base), value)
        base = e.mul(base, base)
    if not e.is_signed:
        return value
    odd = e.compare("!=", e.b.and_(y, one), zero)
    minus = e.select(e.eq(x, e.c(-1)), e.select(odd, e.c(-1), one), zero)
    return e.select(e.lt(y, zero), e.select(e.eq(x, one), one, minus), value)


def _comparison(op: str) -> Callable[..., Any]:
    return lambda e, x, y: e.compare(op, x, y)


def _infinite(e: Emitter, x: ir.Value) -> Any:
    return e.eq(e.abs(x), e.c(float("inf")))


PRIMITIVES: dict[str, Callable[..., Any]] = {
    # A graph's own arithmetic rounds after every operation, so that fusion changes no bit.
    "add": lambda e, x, y: e.exact_add(x, y),
    "sub": lambda e, x, y: e.exact_sub(x, y),
    "mul": lambda e, x, y: e.exact_mul(x, y),
    "div": _div,
    "floordiv": _floordiv,
    "floormod": _floormod,
    "truncatediv": _truncatediv,
    "truncatemod": _truncatemod,
    "minimum": _minimum,
    "maximum": _maximum,
    "neg": lambda e, x: e.neg(x),
    "abs": _abs,
    "sign": _sign,
    "square": lambda e, x: e.mul(x, x),
    "reciprocal": lambda e, x: e.div(e.c(1), x),
    "sqrt": lambda e, x: e.call("sqrt", x),
    "rsqrt": lambda e, x: e.div(e.c(1), e.call("sqrt", x)),
    "floor": lambda e, x: e.call("floor", x),
    "ceil": lambda e, x: e.call("ceil", x),
    "rint": lambda e, x: e.call("rint", x),
    "trunc": lambda e, x: e.call("trunc", x),
    "isnan": lambda e, x: e.isnan(x),
    "isinf": _infinite,
    "isfinite": lambda e, x: e.lt(e.abs(x), e.c(float("inf"))),
    **{
        name: _comparison(op)
        for name, op in dict(eq="==", ne="!=", lt="<", le="<=", gt=">", ge=">=").items()
    },
    "logical_and": lambda e, x, y: e.b.and_(x, y),
    "logical_or": lambda e, x, y: e.b.or_(x, y),
    "logical_not": lambda e, x: e.b.not_(x),
    "bitwise_and": lambda e, x, y: e.b.and_(x, y),
    "bitwise_or": lambda e, x, y: e.b.or_(x, y),
    "bitwise_xor": lambda e, x, y: e.b.xor(x, y),
    "invert": lambda e, x: e.b.not_(x),
    "left_shift": lambda e, x, y: e.b.shl(x, _shift_count(e, y)),
    "right_shift": _right_shift,
    "select": lambda e, condition, x, y: e.select(condition, x, y),
}
