# SPDX-License-Identifier: Apache-2.0
"""What each scalar primitive means, in NumPy: the oracle of the compiled code.

Semantics are those of TensorFlow 1.15's C++ kernels on x86: integers wrap, shifts clamp, minimum
and maximum return their first argument unless the second is strictly better (so a NaN in the first
stays and a NaN in the second loses), sign(NaN) is 0.  Imports NumPy; SciPy on first use.
"""

from __future__ import annotations

import builtins
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np


@cache
def dtype_name(dtype: Any) -> str:
    """The NumPy name of a dtype given as a name, a NumPy dtype or a scalar type."""
    # (Kept, as NumPy puts names together anew each time.)
    if isinstance(dtype, str):
        return dtype
    return np.dtype(dtype).name


def numpy_dtype(dtype: Any) -> np.dtype[Any]:
    """The NumPy dtype of a name; "bfloat16" too, which NumPy alone does not know."""
    if isinstance(dtype, str) and dtype == "bfloat16":
        import ml_dtypes

        return np.dtype(ml_dtypes.bfloat16)
    return np.dtype(dtype)


_ARRAYS = {np.ndarray}


def are_whole(args: tuple[Any, ...]) -> bool:
    """Whether all are arrays of whole numbers, or of truth values, of one dtype."""
    if {type(arg) for arg in args} != _ARRAYS:
        return False
    dtypes = {arg.dtype for arg in args}
    return len(dtypes) == 1 and dtypes.pop().kind in "iub"


def evaluate(fn: Callable[..., Any], result: str, args: tuple[Any, ...]) -> np.ndarray[Any, Any]:
    """Computes fn on arrays of one dtype; 16-bit floats go through float32 and are rounded once."""
    if fn in _AS_NUMPY and are_whole(args):
        return np.asarray(fn(*args))
    arrays = _arrays(args, first=1 if result == "branch" else 0)
    dtype = arrays[-1].dtype
    with np.errstate(all="ignore"):
        # (By size and kind: NumPy puts a name together each time it is asked for one.)
        if dtype.itemsize != 2 or dtype.kind in "iu":
            value = np.asarray(fn(*arrays))
            return value if result == "bool" or value.dtype == dtype else value.astype(dtype)
        wide = [a.astype(np.float32) if a.dtype == dtype else a for a in arrays]
        value = np.asarray(fn(*wide))
        return value if result == "bool" else value.astype(dtype)


def _arrays(args: tuple[Any, ...], first: int) -> list[np.ndarray[Any, Any]]:
    """The arguments as arrays; Python numbers in the dtype of the typed ones from `first` on."""
    dtype = _common_dtype(args[first:])
    if dtype is not None:
        rest = [a if type(a) is np.ndarray else np.asarray(a, dtype) for a in args[first:]]
        return [*map(np.asarray, args[:first]), *rest]
    typed = [a for a in args[first:] if not isinstance(a, (bool, int, float, builtins.complex))]
    if not typed:
        return [np.asarray(a) for a in args]
    arrays = [np.asarray(a) for a in typed]
    objects = any(a.dtype.kind == "O" for a in arrays)
    dtype = np.dtype(object) if objects else arrays[0].dtype
    for a in arrays:
        if a.dtype != dtype and not objects:
            raise TypeError(f"arguments of different dtypes: {dtype}, {a.dtype}")
    rest = [np.asarray(a, dtype) if np.isscalar(a) else np.asarray(a) for a in args[first:]]
    return [np.asarray(a) for a in args[:first]] + rest


def _common_dtype(args: tuple[Any, ...]) -> np.dtype[Any] | None:
    """The dtype of arrays of numbers that all have one; None where more must be looked at."""
    dtype = None
    for arg in args:
        if type(arg) is np.ndarray:
            if dtype is None:
                dtype = arg.dtype
            elif arg.dtype != dtype:
                return None
        elif type(arg) not in (bool, int, float):
            return None
    return None if dtype is None or dtype.kind == "O" else dtype


def _is_float(x: Any) -> bool:
    return x.dtype.kind in "fc"


add, sub, mul = np.add, np.subtract, np.multiply
neg, sqrt, square = np.negative, np.sqrt, np.square
exp, expm1, log1p = np.exp, np.expm1, np.log1p
sin, cos, tan = np.sin, np.cos, np.tan
asin, acos, atan, atan2 = np.arcsin, np.arccos, np.arctan, np.arctan2
sinh, cosh, tanh = np.sinh, np.cosh, np.tanh
acosh, atanh = np.arccosh, np.arctanh
floor, ceil, rint, trunc = np.floor, np.ceil, np.rint, np.trunc
isnan, isinf, isfinite = np.isnan, np.isinf, np.isfinite
eq, ne, lt, le, gt, ge = (
    np.equal,
    np.not_equal,
    np.less,
    np.less_equal,
    np.greater,
    np.greater_equal,
)
logical_and, logical_or, logical_not = np.logical_and, np.logical_or, np.logical_not
bitwise_and, bitwise_or, bitwise_xor = np.bitwise_and, np.bitwise_or, np.bitwise_xor
# What NumPy computes of whole numbers in their dtype, or as truth values, and never warns of.
_AS_NUMPY = frozenset(
    {
        *(add, sub, mul, eq, ne, lt, le, gt, ge, logical_and, logical_or, logical_not),
        *(bitwise_and, bitwise_or, bitwise_xor),
    }
)
invert, abs, select = np.invert, np.abs, np.where


def div(x: Any, y: Any) -> Any:
    """True division of floats, division towards zero of integers."""
    if x.dtype.kind == "c":
        # By C's rules a complex number over zero is NaN, by NumPy's infinite.
        return np.where(y == 0, x.dtype.type(complex(np.nan, np.nan)), np.divide(x, y))
    return np.divide(x, y) if _is_float(x) else truncatediv(x, y)


def asinh(x: Any) -> Any:
    """The inverse of sinh, which is finite there for the largest number.

    (To the nearest number, as NumPy rounds it, sinh of it would be infinite.)
    """
    if x.dtype.kind != "f":
        return np.arcsinh(x)
    far = np.copysign(np.log(np.maximum(np.abs(x), 1)) + x.dtype.type(np.log(2)), x)
    return np.where(np.abs(x) > _FAR, far, np.arcsinh(x))


# From here on asinh(x) is log(2x), to the last bit of a double.
_FAR = 2.0**29


# What is smaller is not a normal number, and TensorFlow's logarithm takes it for zero.
_SMALLEST_NORMAL = {"float32": 2.0**-126, "float64": 2.0**-1022, "bfloat16": 2.0**-126}


def log(x: Any) -> Any:
    """The natural logarithm; minus infinity for zero and what is too small to be normal."""
    parts = (x.real, x.imag) if x.dtype.kind == "c" else (x,)
    smallest = _SMALLEST_NORMAL.get(parts[0].dtype.name, 0.0)
    is_zero = np.logical_and.reduce([np.abs(part) < smallest for part in parts])
    return np.where(is_zero, x.dtype.type(-np.inf), np.log(x))


def floordiv(x: Any, y: Any) -> Any:
    """floor(x / y); 0 where an integer y is 0."""
    return np.floor(np.divide(x, y)) if _is_float(x) else np.floor_divide(x, y)


def floormod(x: Any, y: Any) -> Any:
    """The remainder with the sign of y; that of floats is made of C's fmod."""
    if not _is_float(x):
        return np.remainder(x, y)
    r = np.fmod(x, y)
    return np.where((r != 0) & ((r < 0) != (y < 0)), r + y, r)


def truncatediv(x: Any, y: Any) -> Any:
    """x / y towards zero; 0 where an integer y is 0."""
    if _is_float(x):
        return np.trunc(np.divide(x, y))
    # NumPy has division towards zero for floats only.
    quotient = np.floor_divide(x, y)
    if x.dtype.kind != "i":
        return quotient
    inexact = (quotient < 0) & (quotient * y != x)
    return quotient + inexact.astype(x.dtype)


def truncatemod(x: Any, y: Any) -> Any:
    """The remainder with the sign of x (C's % and fmod)."""
    return np.fmod(x, y)


def minimum(x: Any, y: Any) -> Any:
    """y where y < x, else x."""
    # NumPy's own minimum and maximum give NaN if either is; TensorFlow's are plain comparisons.
    return np.where(np.less(y, x), y, x)


def maximum(x: Any, y: Any) -> Any:
    """y where y > x, else x."""
    return np.where(np.greater(y, x), y, x)


def pow(x: Any, y: Any) -> Any:
    """x to the power y; for integers wrapping, negative exponents round to zero."""
    if x.dtype.kind == "c":
        # exp(y * log(x)), which has no value for 0 ** 0.
        nothing = x.dtype.type(complex(np.nan, np.nan))
        return np.where((x == 0) & (y == 0), nothing, np.power(x, y))
    if x.dtype == np.float32:
        # Rounded once, as compiled: NumPy's own single precision is off by an ulp now and then.
        with np.errstate(over="ignore", under="ignore"):
            return np.power(x, y, dtype=np.float64).astype(np.float32)
    if _is_float(x) or x.dtype.kind == "O":
        return np.power(x, y)
    with np.errstate(all="ignore"):
        # NumPy raises an error if one exponent is negative.
        safe = np.power(x, np.where(np.less(y, 0), np.zeros_like(y), y))
        inverse = safe
        if x.dtype.kind == "i":
            inverse = np.where(x == 1, 1, np.where(x == -1, 1 - 2 * (y & 1), 0))
    return np.where(np.less(y, 0), inverse, safe).astype(x.dtype)


def sign(x: Any) -> Any:
    """-1, 0 or 1; 0 for NaN; x / |x| for complex numbers."""
    if x.dtype.kind == "c":
        return np.sign(x)
    return (x > 0).astype(x.dtype) - (x < 0).astype(x.dtype)


def reciprocal(x: Any) -> Any:
    """1 / x."""
    return div(np.ones((), x.dtype), x)


def rsqrt(x: Any) -> Any:
    """1 / sqrt(x)."""
    return div(np.ones((), x.dtype), np.sqrt(x))


def sigmoid(x: Any) -> Any:
    """1 / (1 + exp(-x)), without overflow for large negative x."""
    if x.dtype.kind == "c":
        return 1 / (1 + np.exp(-x))
    # For negative x that is e^x / (1 + e^x): no exponent is positive, and nothing overflows.
    small = np.exp(-np.abs(x))
    return np.where(np.signbit(x), small, np.ones((), x.dtype)) / (1 + small)


def erf(x: Any) -> Any:
    """The error function."""
    return _special("erf")(x)


def erfc(x: Any) -> Any:
    """1 - erf(x), accurate for large x."""
    return _special("erfc")(x)


def lgamma(x: Any) -> np.ndarray:
    """The logarithm of the absolute value of the gamma function."""
    # As C's lgamma; SciPy's is -inf there.
    return np.where(np.isneginf(x), np.asarray(np.inf, x.dtype), _special("gammaln")(x))


def digamma(x: Any) -> np.ndarray:
    """The derivative of lgamma; infinite at its poles."""
    poles = (x <= 0) & (np.floor(x) == x)
    return np.where(poles, np.inf, _special("psi")(np.where(poles, 1, x))).astype(x.dtype)


def i0e(x: Any) -> Any:
    """exp(-|x|) times the modified Bessel function of order 0."""
    return _special("i0e")(x)


def i1e(x: Any) -> Any:
    """exp(-|x|) times the modified Bessel function of order 1."""
    return np.copysign(_special("i1e")(x), x)  # SciPy's loses the sign of minus zero


def _special(name: str) -> Callable[..., Any]:
    import scipy.special

    return getattr(scipy.special, name)


def left_shift(x: Any, y: Any) -> Any:
    """x << y, with y clamped to [0, bits)."""
    return np.left_shift(x, _clamp_shift(y))


def right_shift(x: Any, y: Any) -> Any:
    """x >> y (arithmetic when signed), with y clamped to [0, bits)."""
    return np.right_shift(x, _clamp_shift(y))


def _clamp_shift(y: Any) -> Any:
    return np.clip(y, 0, y.dtype.itemsize * 8 - 1)


def complex(re: Any, im: Any) -> np.ndarray:
    """A complex number from two reals of one dtype."""
    re, im = np.asarray(re), np.asarray(im)
    dtype = np.result_type(re.dtype, np.complex64)
    value = np.empty(np.broadcast(re, im).shape, dtype)
    value.real, value.imag = re, im
    return value


def cast(x: np.ndarray[Any, Any], dtype: np.dtype[Any]) -> np.ndarray[Any, Any]:
    """Converts as x86 C++ does; small integers come from floats by way of int32 or int64."""
    kind = x.dtype.kind
    # (Whole numbers wrap, of which NumPy says nothing.)
    if kind == "O" or dtype.kind == "O" or (kind in "biu" and dtype.kind in "biu"):
        return x.astype(dtype)
    with np.errstate(all="ignore"):
        if kind == "c" and dtype.kind != "c":
            x = x.real if dtype.kind != "b" else x != 0
        if dtype.kind in "iu" and x.dtype.kind not in "iub":
            return _float_to_int(x.astype(np.float64), dtype)
        if dtype.name == "bfloat16" and x.dtype.kind not in "fV":
            x = x.astype(np.float32)
        return x.astype(dtype)


def _float_to_int(x: np.ndarray[Any, Any], dtype: np.dtype[Any]) -> np.ndarray[Any, Any]:
    # x86 has no unsigned conversion: compilers convert what is below 2 ** 63, and put the highest
    # bit back.
    if dtype == np.uint64:
        high = x >= 2.0**63
        low = _truncate(np.where(high, x - 2.0**63, x), np.int64).astype(np.uint64)
        return np.where(high, low ^ np.uint64(1 << 63), low)
    # Smaller ones are the low bits of an int32, an uint32 those of an int64: so they wrap.
    wide = np.int64 if dtype in (np.int64, np.uint32) else np.int32
    return _truncate(x, wide).astype(dtype)


def _truncate(x: np.ndarray[Any, Any], dtype: Any) -> np.ndarray[Any, Any]:
    """cvttsd2si: the minimum stands for everything that does not fit, NaN among it."""
    limit = -float(np.iinfo(dtype).min)
    # What lies between -2 ** 31 - 1 and -2 ** 31 is cut off to the latter.  Next to -2 ** 63 there
    # is no such double.
    fits = (x < limit) & (x > -limit - (1 if dtype is np.int32 else 0))
    value = np.where(fits, x, 0).astype(dtype)
    return np.where(fits, value, np.iinfo(dtype).min)
