# SPDX-License-Identifier: Apache-2.0
"""The scalar vocabulary of kernels: every primitive once, with its NumPy meaning.

`from ..jit import scalar as k; k.mul(k.exp(x), 0.5)` computes when x is an array and builds a
kernel expression (jit/ir.py) when x is one.  Python numbers take the dtype of the other arguments;
arguments of different dtypes are an error.  The NumPy meanings (jit/meaning.py) follow TensorFlow's
C++ kernels.  Imports NumPy alone; no Numba.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from . import meaning
from .ir import Apply, AxisIndex, Const, Expr, Load, Param, Reduced

NODES = (Const, AxisIndex, Param, Load, Apply, Reduced)
Result = Literal["same", "bool", "branch", "given"]


@dataclass(frozen=True, slots=True)
class Primitive:
    """One scalar function: how many arguments, what it returns and for which kinds it compiles.

    result   same: the dtype of the arguments; bool; branch: the dtype of the last two of three
             arguments, the first being bool; given: that of the Apply
    kinds    of NumPy dtypes it compiles for: f float, i signed, u unsigned, b bool
    """

    name: str
    arity: int
    result: Result
    kinds: str
    meaning: Callable[..., Any]


def _rows() -> dict[str, Primitive]:
    table: list[tuple[str, int, Result, str]] = [
        *((name, 2, "same", "fiu") for name in meaning.ARITHMETIC),
        *((name, 1, "same", "fiu") for name in ("neg", "abs", "sign", "square")),
        *((name, 1, "same", "f") for name in meaning.UNARY_FLOAT),
        *((name, 2, "same", "f") for name in ("atan2",)),
        *((name, 2, "bool", "fiub") for name in ("eq", "ne")),
        *((name, 2, "bool", "fiub") for name in ("lt", "le", "gt", "ge")),
        *((name, 1, "bool", "f") for name in ("isnan", "isinf", "isfinite")),
        *((name, 2, "same", "b") for name in ("logical_and", "logical_or")),
        ("logical_not", 1, "same", "b"),
        *((name, 2, "same", "iub") for name in ("bitwise_and", "bitwise_or", "bitwise_xor")),
        ("invert", 1, "same", "iu"),
        *((name, 2, "same", "iu") for name in ("left_shift", "right_shift")),
        ("select", 3, "branch", "fiub"),
        ("cast", 1, "given", "fiub"),
    ]
    return {
        name: Primitive(name, arity, result, kinds, getattr(meaning, name))
        for name, arity, result, kinds in table
    }


# fmt: off
COMPILED_DTYPES = frozenset((
    "float16", "bfloat16", "float32", "float64", "int8", "int16", "int32", "int64",
    "uint8", "uint16", "uint32", "uint64", "bool",
))
# fmt: on
PRIMITIVES: dict[str, Primitive] = _rows()


def kind_of(dtype: str) -> str:
    """The kind letter of a dtype name: f i u b c, or "" for what is no number."""
    if dtype == "bfloat16":
        return "f"
    kind = np.dtype(dtype).kind
    return kind if kind in "fiubc" else ""


def compiles(dtype: str) -> bool:
    """Whether compiled kernels can hold elements of this dtype at all."""
    return meaning.dtype_name(dtype) in COMPILED_DTYPES


def supports(fn: str, dtype: str) -> bool:
    """Whether primitive `fn` has compiled code for arguments of this dtype."""
    return compiles(dtype) and kind_of(dtype) in PRIMITIVES[fn].kinds


def is_expr(value: Any) -> bool:
    """Whether a value is a kernel expression rather than an array or a number."""
    return isinstance(value, NODES)


def apply(fn: str, *args: Any) -> Any:
    """Applies primitive `fn`: to arrays at once, to expressions by building an Apply."""
    primitive = PRIMITIVES[fn]
    if len(args) != primitive.arity:
        raise TypeError(f"k.{fn} takes {primitive.arity} arguments, got {len(args)}")
    if any(isinstance(arg, NODES) for arg in args):
        return _build(primitive, args)
    return meaning.evaluate(primitive.meaning, primitive.result, args)


def _build(primitive: Primitive, args: tuple[Any, ...]) -> Expr:
    fn = primitive.name
    if primitive.result == "branch":
        condition, *branches = args
        nodes = (_adapt(condition, "bool"), *_same_dtype(fn, branches))
        if nodes[0].dtype != "bool":
            raise TypeError(f"k.{fn}: the condition is {nodes[0].dtype}, not bool")
    else:
        nodes = _same_dtype(fn, args)
    dtype = nodes[-1].dtype
    if not supports(fn, dtype):
        raise TypeError(f"k.{fn} has no compiled form for {dtype}")
    return Apply(fn, tuple(nodes), "bool" if primitive.result == "bool" else dtype)


def _same_dtype(fn: str, args: Any) -> tuple[Expr, ...]:
    dtypes = {_dtype(arg) for arg in args if not isinstance(arg, (bool, int, float))}
    if len(dtypes) > 1:
        names = ", ".join(map(str, (_dtype(a) for a in args)))
        raise TypeError(f"k.{fn}: arguments of different dtypes: {names}")
    dtype = dtypes.pop() if dtypes else "bool" if isinstance(args[0], bool) else "float32"
    return tuple(_adapt(arg, dtype) for arg in args)


def _dtype(arg: Any) -> str:
    if isinstance(arg, (*NODES, np.ndarray, np.generic)):
        return str(arg.dtype)
    return type(arg).__name__


def _adapt(arg: Any, dtype: str) -> Expr:
    if isinstance(arg, NODES):
        return arg
    if isinstance(arg, (np.ndarray, np.generic)) and arg.ndim:
        raise TypeError("an array cannot be an argument of a kernel expression; pass it as a value")
    return const(arg, dtype)


def const(value: Any, dtype: str) -> Const:
    """A literal of a dtype: the nearest representable value."""
    typed = meaning.numpy_dtype(dtype).type(value)
    item = float(typed) if kind_of(dtype) == "f" else typed.item()
    return Const(item, meaning.dtype_name(dtype))


def const_like(value: Any, x: Any) -> Any:
    """`value` in the dtype of x: a literal beside an expression, a 0-d array beside an array."""
    if isinstance(x, NODES):
        return const(value, x.dtype)
    return np.asarray(value, np.asarray(x).dtype)


def cast(x: Any, dtype: Any) -> Any:
    """x converted to another dtype as C++ on x86 does: truncation, wrap-around, NaN to minimum."""
    name = meaning.dtype_name(dtype)
    if not isinstance(x, NODES):
        return meaning.cast(np.asarray(x), meaning.numpy_dtype(name))
    if x.dtype == name:
        return x
    if isinstance(x, Const):
        value = np.asarray(x.value, meaning.numpy_dtype(x.dtype))
        return const(meaning.cast(value, meaning.numpy_dtype(name))[()], name)
    if not (compiles(x.dtype) and compiles(name)):
        raise TypeError(f"k.cast has no compiled form from {x.dtype} to {name}")
    return Apply("cast", (x,), name)


def real(x: Any) -> Any:
    """The real part; of a real number itself."""
    return x if isinstance(x, NODES) else np.real(x)


def imag(x: Any) -> Any:
    """The imaginary part; of a real number zero."""
    return const_like(0, x) if isinstance(x, NODES) else np.imag(x)


def conj(x: Any) -> Any:
    """The complex conjugate; of a real number itself."""
    return x if isinstance(x, NODES) else np.conj(x)


def complex(re: Any, im: Any) -> Any:
    """A complex number from its parts; arrays only."""
    if isinstance(re, NODES) or isinstance(im, NODES):
        raise TypeError("complex numbers have no compiled form")
    return meaning.complex(re, im)


def _function(name: str) -> Callable[..., Any]:
    def primitive(*args: Any) -> Any:
        return apply(name, *args)

    primitive.__name__ = primitive.__qualname__ = name
    primitive.__doc__ = getattr(meaning, name).__doc__
    return primitive


add, sub, mul, div = map(_function, ("add", "sub", "mul", "div"))
floordiv, floormod = map(_function, ("floordiv", "floormod"))
truncatediv, truncatemod = map(_function, ("truncatediv", "truncatemod"))
minimum, maximum, pow = map(_function, ("minimum", "maximum", "pow"))
neg, abs, sign, square = map(_function, ("neg", "abs", "sign", "square"))
reciprocal, rsqrt, sqrt = map(_function, ("reciprocal", "rsqrt", "sqrt"))
exp, expm1, log, log1p = map(_function, ("exp", "expm1", "log", "log1p"))
sin, cos, tan = map(_function, ("sin", "cos", "tan"))
asin, acos, atan, atan2 = map(_function, ("asin", "acos", "atan", "atan2"))
sinh, cosh, tanh = map(_function, ("sinh", "cosh", "tanh"))
asinh, acosh, atanh = map(_function, ("asinh", "acosh", "atanh"))
sigmoid, erf, erfc = map(_function, ("sigmoid", "erf", "erfc"))
lgamma, digamma = map(_function, ("lgamma", "digamma"))
floor, ceil, rint, trunc = map(_function, ("floor", "ceil", "rint", "trunc"))
isnan, isinf, isfinite = map(_function, ("isnan", "isinf", "isfinite"))
eq, ne, lt, le, gt, ge = map(_function, ("eq", "ne", "lt", "le", "gt", "ge"))
logical_and, logical_or, logical_not = map(_function, ("logical_and", "logical_or", "logical_not"))
bitwise_and, bitwise_or = map(_function, ("bitwise_and", "bitwise_or"))
bitwise_xor, invert = map(_function, ("bitwise_xor", "invert"))
left_shift, right_shift = map(_function, ("left_shift", "right_shift"))
select = _function("select")
