# SPDX-License-Identifier: Apache-2.0
"""Rewrite rules of scalar expressions, as a table of rows, and the one function that applies them.

A pattern is a tuple (primitive, argument, …); an argument is a pattern, a number (that literal) or
a name, which stands for any expression and the same one wherever it appears.  Every rule gives the
same bits as what it replaces, NaN, infinities and signed zeros included; tests hold each row to it.
Imports the kernel IR and the scalar vocabulary.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ...engine.record_class import record
from . import ir, scalar
from .reference import numpy_dtype
from .scalar import kind_of

# No chain of rules is so long: each leaves less, moves a negation outwards, or ends in a product.
# It makes an error of rules that undo each other.
_MOST_STEPS = 32


@record(frozen=True, slots=True)
class Rule:
    """pattern -> build(bound expressions by name), if when(bound) holds; formula for readers."""

    pattern: tuple[Any, ...]
    build: Callable[..., ir.Expr]
    formula: str
    when: Callable[..., bool] | None = None


def _is_integer(x: ir.Expr, **_: Any) -> bool:
    return kind_of(x.dtype) in "iu"


def _is_power_of_two(c: ir.Expr, **_: Any) -> bool:
    """A literal whose reciprocal is exact."""
    if not isinstance(c, ir.Const) or kind_of(c.dtype) != "f" or not c.value:
        return False
    # Far enough from the ends of float32's exponents (±126): the reciprocal is no denormal either.
    return math.frexp(abs(c.value))[0] == 0.5 and abs(math.frexp(c.value)[1]) < 100


def _is_float(x: ir.Expr, **_: Any) -> bool:
    return kind_of(x.dtype) == "f"


def _is_single(x: ir.Expr, **_: Any) -> bool:
    return x.dtype == "float32"


def _cube(x: ir.Expr) -> ir.Expr:
    wide = scalar.cast(x, "float64")
    return scalar.cast(scalar.mul(scalar.mul(wide, wide), wide), x.dtype)


def _fourth(x: ir.Expr) -> ir.Expr:
    wide = scalar.cast(x, "float64")
    square = scalar.mul(wide, wide)
    return scalar.cast(scalar.mul(square, square), x.dtype)


# f(-x) = -f(x) and f(-x) = f(x), so that what is asked for both is computed once.
ODD = tuple(name for name, primitive in scalar.PRIMITIVES.items() if primitive.parity == -1)
EVEN = tuple(name for name, primitive in scalar.PRIMITIVES.items() if primitive.parity == 1)


def _odd(fn: str) -> Rule:
    def build(x: ir.Expr) -> ir.Expr:
        return scalar.neg(scalar.apply(fn, x))

    return Rule((fn, ("neg", "x")), build, f"{fn}(-x) = -{fn}(x)")


def _even(fn: str) -> Rule:
    return Rule((fn, ("neg", "x")), lambda x: scalar.apply(fn, x), f"{fn}(-x) = {fn}(x)")


# What algebra allows and floats do not is no rule: -0 + 0 is +0 (but -0 - 0 is -0), 0 * x is NaN
# for an infinite x, x - x for it too, and sums in another order round otherwise.
RULES: tuple[Rule, ...] = (
    Rule(("mul", "x", 1), lambda x: x, "x * 1 = x"),
    Rule(("mul", 1, "x"), lambda x: x, "1 * x = x"),
    Rule(("div", "x", 1), lambda x: x, "x / 1 = x"),
    Rule(("sub", "x", 0), lambda x: x, "x - 0 = x"),
    Rule(("add", "x", 0), lambda x: x, "n + 0 = n, integers", _is_integer),
    Rule(("add", 0, "x"), lambda x: x, "0 + n = n, integers", _is_integer),
    Rule(("mul", "x", -1), lambda x: scalar.neg(x), "x * -1 = -x"),
    Rule(("neg", ("neg", "x")), lambda x: x, "-(-x) = x"),
    # Negations move outwards, where they cancel, become a subtraction, or leave an expression that
    # another one without them shares.
    Rule(("add", "x", ("neg", "y")), lambda x, y: scalar.sub(x, y), "x + -y = x - y"),
    Rule(("sub", "x", ("neg", "y")), lambda x, y: scalar.add(x, y), "x - -y = x + y"),
    Rule(("add", ("neg", "x"), "y"), lambda x, y: scalar.sub(y, x), "-x + y = y - x"),
    Rule(("mul", ("neg", "x"), ("neg", "y")), lambda x, y: scalar.mul(x, y), "-x * -y = x * y"),
    Rule(
        ("mul", ("neg", "x"), "y"), lambda x, y: scalar.neg(scalar.mul(x, y)), "-x * y = -(x * y)"
    ),
    Rule(
        ("mul", "x", ("neg", "y")), lambda x, y: scalar.neg(scalar.mul(x, y)), "x * -y = -(x * y)"
    ),
    Rule(
        # The lowest integer is its own negative: for it -x / y and -(x / y) differ.
        ("div", ("neg", "x"), "y"),
        lambda x, y: scalar.neg(scalar.div(x, y)),
        "-x / y = -(x / y), floats",
        _is_float,
    ),
    Rule(
        ("div", "x", "c"),
        lambda x, c: scalar.mul(x, 1.0 / c.value),
        "x / 2^n = x * 2^-n",
        _is_power_of_two,
    ),
    Rule(("pow", "x", 1), lambda x: x, "x ^ 1 = x"),
    # (The power of a float32 is computed in float64, where x * x is exact, and rounded once.)
    Rule(("pow", "x", 2), lambda x: scalar.mul(x, x), "x ^ 2 = x * x"),
    Rule(("pow", "x", 3), _cube, "x ^ 3 = x * x * x, rounded once", _is_single),
    Rule(("pow", "x", 4), _fourth, "x ^ 4 = (x * x) * (x * x), rounded once", _is_single),
    Rule(("pow", "x", -1), lambda x: scalar.div(1, x), "x ^ -1 = 1 / x, floats", _is_float),
    Rule(("square", "x"), lambda x: scalar.mul(x, x), "x² = x * x"),
    # Also for NaN, which stays where it is the first argument.
    Rule(("maximum", "x", "x"), lambda x: x, "max(x, x) = x"),
    Rule(("minimum", "x", "x"), lambda x: x, "min(x, x) = x"),
    Rule(("abs", ("abs", "x")), lambda x: scalar.abs(x), "||x|| = |x|"),
    *map(_odd, ODD),
    *map(_even, EVEN),
    Rule(("select", "c", "x", "x"), lambda c, x: x, "c ? x : x = x"),
    Rule(
        ("select", ("logical_not", "c"), "x", "y"),
        lambda c, x, y: scalar.select(c, y, x),
        "!c ? x : y = c ? y : x",
    ),
    Rule(("logical_not", ("logical_not", "c")), lambda c: c, "!!c = c"),
    Rule(("real", ("complex", "x", "y")), lambda x, y: x, "real(x + iy) = x"),
    Rule(("imag", ("complex", "x", "y")), lambda x, y: y, "imag(x + iy) = y"),
    Rule(("logical_and", "c", "c"), lambda c: c, "c & c = c"),
    Rule(("logical_or", "c", "c"), lambda c: c, "c | c = c"),
)


def _by_root() -> dict[str, list[Rule]]:
    index: dict[str, list[Rule]] = {}
    for rule in RULES:
        index.setdefault(rule.pattern[0], []).append(rule)
    return index


_INDEX = _by_root()


# Equal expressions are one object, and many kernels have the same ones.
_SIMPLE: dict[ir.Expr, ir.Expr] = {}


def simplify(expr: ir.Expr) -> ir.Expr:
    """Applies rules at the root until none fits.  Arguments are taken to be in simplest form."""
    known = _SIMPLE.get(expr)
    if known is None:
        known = _SIMPLE[expr] = rewrite(expr)
    return known


def rewrite(expr: ir.Expr, trace: list[str] | None = None) -> ir.Expr:
    """The same, always anew; `trace` receives the formula of every rule applied."""
    for _ in range(_MOST_STEPS):
        if not isinstance(expr, ir.Apply):
            return expr
        folded = _fold(expr)
        if folded is not None:
            return folded
        for rule in _INDEX.get(expr.fn, ()):
            bound: dict[str, ir.Expr] = {}
            if _matches(rule.pattern, expr, bound) and (rule.when is None or rule.when(**bound)):
                if trace is not None:
                    trace.append(rule.formula)
                expr = rule.build(**bound)
                break
        else:
            return expr
    raise AssertionError(f"rewriting does not end: {expr}")


def _fold(expr: ir.Apply) -> ir.Const | None:
    """The literal that an expression of literals comes to."""
    if expr.fn == "complex" or not all(isinstance(arg, ir.Const) for arg in expr.args):
        return None
    values = [np.asarray(arg.value, numpy_dtype(arg.dtype)) for arg in expr.args]  # type: ignore[union-attr]
    with np.errstate(all="ignore"):
        if expr.fn == "cast":
            result = scalar.cast(values[0], expr.dtype)
        else:
            result = scalar.apply(expr.fn, *values)
    folded = scalar.const(np.asarray(result).item(), expr.dtype)
    assert isinstance(folded, ir.Const)
    return folded


def _matches(pattern: Any, expr: ir.Expr, bound: dict[str, ir.Expr]) -> bool:
    if isinstance(pattern, str):
        return bound.setdefault(pattern, expr) is expr
    if not isinstance(pattern, tuple):
        return _is_literal(expr, pattern)
    if not isinstance(expr, ir.Apply) or expr.fn != pattern[0]:
        return False
    return all(_matches(p, e, bound) for p, e in zip(pattern[1:], expr.args, strict=True))


def _is_literal(expr: ir.Expr, number: float) -> bool:
    # True is no 1 here, and -0.0 no 0, though Python finds them equal.
    if not isinstance(expr, ir.Const) or isinstance(expr.value, bool):
        return False
    return expr.value == number and math.copysign(1, expr.value) == math.copysign(1, number)
