# SPDX-License-Identifier: Apache-2.0
"""The scalar vocabulary of kernels: every primitive once, with its NumPy meaning.

With `scalar` imported as k, `k.mul(k.exp(x), 0.5)` computes when x is an array and builds a kernel
expression (jit/kernel/ir.py) when x is one.  Python numbers take the dtype of the other
arguments; arguments of different dtypes are an error.  The NumPy meanings (jit/kernel/reference.py)
follow TensorFlow's C++ kernels.  Imports NumPy alone; no Numba.
"""

from __future__ import annotations

import builtins
from collections.abc import Callable
from typing import Any, Literal, Union

import numpy as np

from ...engine.record_class import record
from . import reference
from .ir import Apply, AxisIndex, Const, Expr, Load, Param, Reduced

# What a scalar body is given: arrays, or expressions that stand for them in a kernel.
Operand = Union[np.ndarray, Expr]
NODES = (Const, AxisIndex, Param, Load, Apply, Reduced)
Result = Literal["same", "bool", "branch", "given"]
Rounding = Literal["none", "once", "free"]
_NUMBERS = (bool, int, float, builtins.complex)


@record(frozen=True, slots=True)
class Primitive:
    """All there is to know of a scalar function but its LLVM form.

    That is in jit/codegen/llvm_scalar.py and jit/codegen/transcendental.py.

    result   same: the dtype of the arguments; bool; branch: the dtype of the last two of three
             arguments, the first being bool; given: that of the Apply
    kinds    of NumPy dtypes it compiles for: f float, i signed, u unsigned, b bool; none: there are
             only expressions of it, not kernels
    meaning  in NumPy, the oracle of the compiled code
    cost     of one position, in simple instructions
    rounding of floats.  none: the result is one of the arguments' values or as short, so that even
             16-bit floats need no rounding; once: IEEE 754 defines it to the last bit; free: NumPy
             and compiled code may differ in the last place
    parity   -1: f(-x) = -f(x), 1: f(-x) = f(x), 0: neither
    is_costly  worth storing and loading again rather than computing in every pass over a row
    """

    name: str
    arity: int
    result: Result
    kinds: str
    meaning: Callable[..., Any]
    cost: int
    rounding: Rounding
    parity: Literal[-1, 0, 1] = 0
    is_costly: bool = False


# fmt: off
# Costs decide when a kernel is too large and how finely it is cut into tiles, so they need to be
# right within a factor of a few.  They are those of vector code: what is computed number by number
# (floormod, atan, digamma …) takes longer than they say.
_TABLE = (
    # name, arguments, result, kinds, meaning, cost, rounding
    Primitive("add", 2, "same", "fiu", reference.add, 1, "once"),
    Primitive("sub", 2, "same", "fiu", reference.sub, 1, "once"),
    Primitive("mul", 2, "same", "fiu", reference.mul, 1, "once"),
    Primitive("div", 2, "same", "fiu", reference.div, 4, "once"),
    Primitive("floordiv", 2, "same", "fiu", reference.floordiv, 10, "free"),
    Primitive("floormod", 2, "same", "fiu", reference.floormod, 10, "free"),
    Primitive("truncatediv", 2, "same", "fiu", reference.truncatediv, 10, "free"),
    Primitive("truncatemod", 2, "same", "fiu", reference.truncatemod, 10, "free"),
    Primitive("minimum", 2, "same", "fiu", reference.minimum, 1, "none"),
    Primitive("maximum", 2, "same", "fiu", reference.maximum, 1, "none"),
    Primitive("pow", 2, "same", "fiu", reference.pow, 40, "free", is_costly=True),
    Primitive("neg", 1, "same", "fiu", reference.neg, 1, "none"),
    Primitive("abs", 1, "same", "fiu", reference.abs, 1, "none", parity=1),
    Primitive("sign", 1, "same", "fiu", reference.sign, 1, "none"),
    Primitive("square", 1, "same", "fiu", reference.square, 1, "once"),
    Primitive("reciprocal", 1, "same", "f", reference.reciprocal, 1, "once", is_costly=True),
    Primitive("rsqrt", 1, "same", "f", reference.rsqrt, 8, "free", is_costly=True),
    Primitive("sqrt", 1, "same", "f", reference.sqrt, 6, "once", is_costly=True),
    Primitive("exp", 1, "same", "f", reference.exp, 12, "free", is_costly=True),
    Primitive("expm1", 1, "same", "f", reference.expm1, 18, "free", is_costly=True),
    Primitive("log", 1, "same", "f", reference.log, 14, "free", is_costly=True),
    Primitive("log1p", 1, "same", "f", reference.log1p, 18, "free", is_costly=True),
    Primitive("sin", 1, "same", "f", reference.sin, 20, "free", parity=-1, is_costly=True),
    Primitive("cos", 1, "same", "f", reference.cos, 20, "free", parity=1, is_costly=True),
    Primitive("tan", 1, "same", "f", reference.tan, 30, "free", parity=-1, is_costly=True),
    Primitive("asin", 1, "same", "f", reference.asin, 30, "free", is_costly=True),
    Primitive("acos", 1, "same", "f", reference.acos, 30, "free", is_costly=True),
    Primitive("atan", 1, "same", "f", reference.atan, 25, "free", is_costly=True),
    Primitive("sinh", 1, "same", "f", reference.sinh, 25, "free", parity=-1, is_costly=True),
    Primitive("cosh", 1, "same", "f", reference.cosh, 25, "free", parity=1, is_costly=True),
    Primitive("tanh", 1, "same", "f", reference.tanh, 20, "free", parity=-1, is_costly=True),
    Primitive("asinh", 1, "same", "f", reference.asinh, 35, "free", parity=-1, is_costly=True),
    Primitive("acosh", 1, "same", "f", reference.acosh, 35, "free", is_costly=True),
    Primitive("atanh", 1, "same", "f", reference.atanh, 30, "free", parity=-1, is_costly=True),
    Primitive("sigmoid", 1, "same", "f", reference.sigmoid, 16, "free", is_costly=True),
    Primitive("erf", 1, "same", "f", reference.erf, 20, "free", parity=-1, is_costly=True),
    Primitive("erfc", 1, "same", "f", reference.erfc, 30, "free", is_costly=True),
    Primitive("lgamma", 1, "same", "f", reference.lgamma, 60, "free", is_costly=True),
    Primitive("digamma", 1, "same", "f", reference.digamma, 60, "free", is_costly=True),
    Primitive("i0e", 1, "same", "f", reference.i0e, 40, "free", parity=1, is_costly=True),
    Primitive("i1e", 1, "same", "f", reference.i1e, 40, "free", parity=-1, is_costly=True),
    Primitive("floor", 1, "same", "f", reference.floor, 1, "none"),
    Primitive("ceil", 1, "same", "f", reference.ceil, 1, "none"),
    Primitive("rint", 1, "same", "f", reference.rint, 1, "none"),
    Primitive("trunc", 1, "same", "f", reference.trunc, 1, "none"),
    Primitive("atan2", 2, "same", "f", reference.atan2, 40, "free", is_costly=True),
    Primitive("eq", 2, "bool", "fiub", reference.eq, 1, "none"),
    Primitive("ne", 2, "bool", "fiub", reference.ne, 1, "none"),
    Primitive("lt", 2, "bool", "fiub", reference.lt, 1, "none"),
    Primitive("le", 2, "bool", "fiub", reference.le, 1, "none"),
    Primitive("gt", 2, "bool", "fiub", reference.gt, 1, "none"),
    Primitive("ge", 2, "bool", "fiub", reference.ge, 1, "none"),
    Primitive("isnan", 1, "bool", "f", reference.isnan, 1, "none"),
    Primitive("isinf", 1, "bool", "f", reference.isinf, 1, "none"),
    Primitive("isfinite", 1, "bool", "f", reference.isfinite, 1, "none"),
    Primitive("logical_and", 2, "same", "b", reference.logical_and, 1, "none"),
    Primitive("logical_or", 2, "same", "b", reference.logical_or, 1, "none"),
    Primitive("logical_not", 1, "same", "b", reference.logical_not, 1, "none"),
    Primitive("bitwise_and", 2, "same", "iub", reference.bitwise_and, 1, "none"),
    Primitive("bitwise_or", 2, "same", "iub", reference.bitwise_or, 1, "none"),
    Primitive("bitwise_xor", 2, "same", "iub", reference.bitwise_xor, 1, "none"),
    Primitive("invert", 1, "same", "iu", reference.invert, 1, "none"),
    Primitive("left_shift", 2, "same", "iu", reference.left_shift, 1, "none"),
    Primitive("right_shift", 2, "same", "iu", reference.right_shift, 1, "none"),
    Primitive("select", 3, "branch", "fiub", reference.select, 1, "none"),
    Primitive("cast", 1, "given", "fiub", reference.cast, 1, "once"),
    # Of complex numbers, and gone before a kernel is made (jit/kernel/complex_forms.py).
    Primitive("real", 1, "given", "", np.real, 0, "none"),
    Primitive("imag", 1, "given", "", np.imag, 0, "none"),
    Primitive("complex", 2, "given", "", reference.complex, 0, "none"),
)
# fmt: on
PRIMITIVES: dict[str, Primitive] = {primitive.name: primitive for primitive in _TABLE}

COMPILED_DTYPES = frozenset(
    """
    bool int8 int16 int32 int64 uint8 uint16 uint32 uint64
    float16 bfloat16 float32 float64
    """.split()
)


def kind_of(dtype: str) -> str:
    """The kind letter of a dtype name: f i u b c, or "" for what is no number."""
    if dtype == "bfloat16":
        return "f"
    kind = np.dtype(dtype).kind
    return kind if kind in "fiubc" else ""


def compiles(dtype: str) -> bool:
    """Whether compiled kernels can hold elements of this dtype at all."""
    return reference.dtype_name(dtype) in COMPILED_DTYPES


# The dtype of the parts of complex numbers.
PARTS = {"complex64": "float32", "complex128": "float64"}
# What is only moved is moved as whole numbers of as many bytes, so that one kernel does for all.
AS_ONE = {
    **dict.fromkeys(("bool", "int8"), "uint8"),
    **dict.fromkeys(("int16", "float16", "bfloat16"), "uint16"),
    **dict.fromkeys(("uint32", "float32"), "int32"),
    **dict.fromkeys(("uint64", "float64", "complex64"), "int64"),
}
_WHOLE = {part: whole for whole, part in PARTS.items()}


def is_complex(dtype: str) -> bool:
    """Whether this is a dtype of complex numbers."""
    return dtype in PARTS


def part_dtype(dtype: str) -> str:
    """The dtype of what kernels load and store: of a complex number that of its parts."""
    return PARTS.get(dtype, dtype)


def holds(dtype: str) -> bool:
    """Whether compiled code can hold elements of this dtype, or the parts that they consist of."""
    return compiles(part_dtype(reference.dtype_name(dtype)))


def supports(fn: str, dtype: str) -> bool:
    """Whether primitive `fn` has compiled code for arguments of this dtype."""
    return compiles(dtype) and kind_of(dtype) in PRIMITIVES[fn].kinds


def apply(fn: str, *args: Any) -> Any:
    """Applies primitive `fn`: to arrays at once, to expressions by building an Apply."""
    primitive = PRIMITIVES[fn]
    if len(args) != primitive.arity:
        raise TypeError(f"k.{fn} takes {primitive.arity} arguments, got {len(args)}")
    # One function for both, so that the maths of an op is stated once: see ops' definitions.
    for arg in args:
        if type(arg) is not np.ndarray and isinstance(arg, NODES):
            return _build(primitive, args)
    return reference.evaluate(primitive.meaning, primitive.result, args)


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
    if is_complex(dtype):
        return _complex_forms().build(fn, nodes)
    if not supports(fn, dtype):
        raise TypeError(f"k.{fn} has no compiled form for {dtype}")
    return Apply(fn, tuple(nodes), "bool" if primitive.result == "bool" else dtype)


def _complex_forms() -> Any:
    # They are made of this vocabulary.
    from . import complex_forms

    return complex_forms


def _same_dtype(fn: str, args: Any) -> tuple[Expr, ...]:
    dtypes = {_dtype(arg) for arg in args if not isinstance(arg, _NUMBERS)}
    if len(dtypes) > 1:
        names = ", ".join(map(str, (_dtype(a) for a in args)))
        raise TypeError(f"k.{fn}: arguments of different dtypes: {names}")
    # Nothing is typed only in a choice between two literals.
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


def const(value: Any, dtype: str) -> Expr:
    """A literal of a dtype: the nearest representable value; a complex one is made of two."""
    if is_complex(dtype):
        parts = (const(part, part_dtype(dtype)) for part in (np.real(value), np.imag(value)))
        return complex(*parts)  # type: ignore[no-any-return]
    # Rounded here: equal literals must be one, and 0.1 in float32 is another number than in
    # float64.
    typed = reference.numpy_dtype(dtype).type(value)
    item = float(typed) if kind_of(dtype) == "f" else typed.item()
    return Const(item, reference.dtype_name(dtype))


def const_like(value: Any, x: Any) -> Any:
    """`value` in the dtype of x: a literal beside an expression, a 0-d array beside an array."""
    if isinstance(x, NODES):
        return const(value, x.dtype)
    return np.asarray(value, np.asarray(x).dtype)


def cast(x: Any, dtype: Any) -> Any:
    """x converted to another dtype as C++ on x86 does: truncation, wrap-around, NaN to minimum."""
    name = reference.dtype_name(dtype)
    if not isinstance(x, NODES):
        return reference.cast(np.asarray(x), reference.numpy_dtype(name))
    if x.dtype == name:
        return x
    # Folded by the reference, which says what conversions mean that C++ leaves open.
    if isinstance(x, Const):
        value = np.asarray(x.value, reference.numpy_dtype(x.dtype))
        return const(reference.cast(value, reference.numpy_dtype(name))[()], name)
    if is_complex(name) or is_complex(x.dtype):
        return _complex_forms().convert(x, name)
    if not (compiles(x.dtype) and compiles(name)):
        raise TypeError(f"k.cast has no compiled form from {x.dtype} to {name}")
    return Apply("cast", (x,), name)


def real(x: Any) -> Any:
    """The real part; of a real number itself."""
    return _part(x, 0) if isinstance(x, NODES) else np.real(x)


def imag(x: Any) -> Any:
    """The imaginary part; of a real number zero."""
    if not isinstance(x, NODES):
        return np.imag(x)
    return _part(x, 1) if is_complex(x.dtype) else const_like(0, x)


def _part(x: Expr, which: int) -> Expr:
    if not is_complex(x.dtype):
        return x
    if isinstance(x, Apply) and x.fn == "complex":
        return x.args[which]
    return Apply(("real", "imag")[which], (x,), part_dtype(x.dtype))


def conj(x: Any) -> Any:
    """The complex conjugate; of a real number itself."""
    if not isinstance(x, NODES):
        return np.conj(x)
    return complex(real(x), neg(imag(x))) if is_complex(x.dtype) else x


def complex(re: Any, im: Any) -> Any:
    """A complex number from its parts, of one dtype."""
    if not (isinstance(re, NODES) or isinstance(im, NODES)):
        return reference.complex(re, im)
    parts = _same_dtype("complex", (re, im))
    if parts[0].dtype not in _WHOLE:
        raise TypeError(f"k.complex has no compiled form for {parts[0].dtype}")
    return Apply("complex", parts, _WHOLE[parts[0].dtype])


def modulus(x: Any) -> Any:
    """The absolute value of a complex number, a real one."""
    return _complex_forms().modulus(x) if isinstance(x, NODES) else np.abs(x)


def angle(x: Any) -> Any:
    """The argument of a complex number in radians."""
    return _complex_forms().angle(x) if isinstance(x, NODES) else np.angle(x)


def _function(name: str) -> Callable[..., Any]:
    def primitive(*args: Any) -> Any:
        return apply(name, *args)

    primitive.__name__ = primitive.__qualname__ = name
    primitive.__doc__ = getattr(reference, name).__doc__
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
lgamma, digamma, i0e, i1e = map(_function, ("lgamma", "digamma", "i0e", "i1e"))
floor, ceil, rint, trunc = map(_function, ("floor", "ceil", "rint", "trunc"))
isnan, isinf, isfinite = map(_function, ("isnan", "isinf", "isfinite"))
eq, ne, lt, le, gt, ge = map(_function, ("eq", "ne", "lt", "le", "gt", "ge"))
logical_and, logical_or, logical_not = map(_function, ("logical_and", "logical_or", "logical_not"))
bitwise_and, bitwise_or = map(_function, ("bitwise_and", "bitwise_or"))
bitwise_xor, invert = map(_function, ("bitwise_xor", "invert"))
left_shift, right_shift = map(_function, ("left_shift", "right_shift"))
select = _function("select")
