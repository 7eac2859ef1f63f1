# SPDX-License-Identifier: Apache-2.0
"""Compiled scalar functions against references of higher precision: errors in ulp, limits, NaN.

float32 is compared with float64, float64 with long double where that is wider, else within 8 ulp
of NumPy.  The arguments are random bit patterns, ordinary numbers and the special values.
"""

from __future__ import annotations

import ctypes
import math
import platform
from typing import Any

import numpy as np
import pytest

from numbaflow.engine import settings
from numbaflow.jit.codegen import compile as compiler
from numbaflow.jit.kernel import ir, reference, scalar_rules
from numbaflow.jit.kernel import scalar as k

pytestmark = pytest.mark.cpu

# Largest error in units in the last place: float32, float64.
ULP = {
    "exp": (1.1, 1.1),
    "expm1": (2.0, 2.0),
    "log": (0.9, 0.9),
    "log1p": (0.9, 0.9),
    "sin": (1.7, 1.0),
    "cos": (1.7, 1.0),
    "tan": (3.5, 1.8),
    "sinh": (3.0, 3.0),
    "cosh": (3.0, 3.0),
    "tanh": (2.6, 2.7),
    "asinh": (1.9, 1.9),
    "acosh": (2.4, 2.4),
    "atanh": (2.4, 2.4),
    "sigmoid": (2.3, 2.3),
    "erf": (1.3, None),
    "erfc": (4.5, 8),
    "i0e": (3.0, None),
    "i1e": (3.0, None),
    "sqrt": (0.51, 0.51),
    "rsqrt": (1.6, 1.6),
    "reciprocal": (0.51, 0.51),
    "asin": (1.0, 1.6),
    "acos": (1.0, 1.5),
    "atan": (1.0, 1.8),
    "floor": (0, 0),
    "ceil": (0, 0),
    "rint": (0, 0),
    "trunc": (0, 0),
    "neg": (0, 0),
    "abs": (0, 0),
    "sign": (0, 0),
    "square": (0.51, 0.51),
}
UNIT_INTERVAL = ("asin", "acos", "atanh")


def apply_compiled(fn: str, *inputs: Any, result: str | None = None) -> Any:
    """Applies a primitive to whole arrays in one compiled kernel."""
    dtype = result or inputs[0].dtype.name
    loads = [ir.Load(n, ir.Index((1,)), x.dtype.name) for n, x in enumerate(inputs)]
    value = k.cast(loads[0], dtype) if fn == "cast" else k.apply(fn, *loads)
    buffers = (*(ir.Buffer(x.dtype.name, "r") for x in inputs), ir.Buffer(value.dtype, "w"))
    store = ir.Store(len(inputs), ir.Index((1,)), value)
    kernel = ir.Kernel("map", buffers, (ir.Axis("map"),), (), (store,), 0)
    out = np.zeros(inputs[0].shape, reference.numpy_dtype(value.dtype))
    args = np.array([x.ctypes.data for x in (*inputs, out)] + [out.size], np.int64)
    address = compiler.compile_kernel(kernel).address
    function = ctypes.CFUNCTYPE(None, ctypes.c_void_p, *[ctypes.c_int64] * 5)(address)
    function(args.ctypes.data, 0, 1, 0, out.size, 0)
    return out


def arguments(fn: str, dtype: str) -> Any:
    rng = np.random.default_rng(7)
    info = np.finfo(dtype)
    bits = rng.integers(0, 256, (20000, info.bits // 8), np.uint8).view(dtype)[:, 0]
    usual = (rng.standard_normal(20000) * np.exp(rng.uniform(-8, 5, 20000))).astype(dtype)
    limits = [0.0, np.inf, np.nan, 1.0, info.tiny, info.smallest_subnormal, info.max, 88.7, 709.7]
    special = np.array([*limits, *(-x for x in limits), -103.9, -745.0], dtype)
    x = np.concatenate([special, bits, usual])
    with np.errstate(all="ignore"):
        if fn in UNIT_INTERVAL:
            x = np.where(np.abs(x) > 1, 1 / x, x)
        if fn == "acosh":
            x = np.abs(x) + 1
    return x.astype(dtype)


@pytest.mark.parametrize("fn", ULP)
@pytest.mark.parametrize("dtype", ("float32", "float64"))
def test_functions_are_accurate_and_right_at_the_limits(fn: str, dtype: str) -> None:
    x = arguments(fn, dtype)
    got = apply_compiled(fn, x)
    plain = k.apply(fn, x)
    assert not np.flatnonzero(np.isnan(got) != np.isnan(plain)).size
    assert not np.flatnonzero(np.isinf(got) != np.isinf(plain)).size
    assert not np.flatnonzero((np.signbit(got) != np.signbit(plain)) & ~np.isnan(got)).size
    bound = ULP[fn][0 if dtype == "float32" else 1]
    if fn == "erfc":  # SciPy's is zero where the result is denormal
        with np.errstate(all="ignore"):
            plain = np.vectorize(math.erfc)(x.astype(np.float64)).astype(dtype)
    wide = np.float64 if dtype == "float32" else np.longdouble
    exact = bound is not None and np.finfo(wide).nmant > np.finfo(dtype).nmant
    with np.errstate(all="ignore"):
        fine = k.apply(fn, x.astype(wide)) if exact and fn != "erfc" else plain
        finite = np.isfinite(plain) & np.isfinite(got)
        error = np.abs(got[finite].astype(fine.dtype) - fine[finite])
        ulp = error / np.spacing(np.abs(plain[finite])).astype(fine.dtype)
    limit = bound if exact else 8
    assert ulp.max() <= limit, (x[finite][ulp.argmax()], float(ulp.max()))


@pytest.mark.parametrize("dtype", ("float32", "float64"))
@pytest.mark.parametrize("fn", (*scalar_rules.ODD, *scalar_rules.EVEN))
def test_compiled_functions_are_odd_and_even_to_the_bit(fn: str, dtype: str) -> None:
    x = arguments(fn, dtype)
    with np.errstate(all="ignore"):
        x = x[~np.isnan(k.apply(fn, x))]
    mirrored, plain = apply_compiled(fn, -x), apply_compiled(fn, x)
    bits = f"u{x.itemsize}"
    expected = -plain if fn in scalar_rules.ODD else plain
    np.testing.assert_array_equal(mirrored.view(bits), expected.view(bits))


@pytest.mark.parametrize("dtype", ("float32", "float64"))
@pytest.mark.parametrize("fn", ("lgamma", "digamma"))
def test_gamma_functions_are_close(fn: str, dtype: str) -> None:
    x = np.concatenate([np.linspace(-20.3, 50, 1500), [0.5, 1, 2, 1e6]]).astype(dtype)
    tolerance = 1e-5 if dtype == "float32" else 1e-12
    np.testing.assert_allclose(
        apply_compiled(fn, x), k.apply(fn, x), rtol=tolerance, atol=tolerance
    )


def test_the_logarithm_of_gamma_has_all_digits_and_ends() -> None:
    rng = np.random.default_rng(1)
    near = [n + rng.normal(size=4000) * 1e-4 for n in (1, 2, -2.457, 8)]
    wide = np.exp(rng.uniform(-80, 80, 8000))
    x = np.concatenate([rng.uniform(-30, 30, 20000), *near, wide, -wide[wide < 20]])
    x = x[x != np.rint(x)].astype("float32")
    wanted = k.apply("lgamma", x.astype("float64"))
    error = np.abs(apply_compiled("lgamma", x) - wanted) / np.spacing(np.abs(wanted, dtype="f4"))
    assert error[np.abs(wanted) > 1e-4].max() < 2
    ends = [0.0, -0.0, 1.0, 2.0, -1.0, -3e9, np.inf, -np.inf, 1e38, np.nan]
    found = apply_compiled("lgamma", np.array(ends, "float32"))
    np.testing.assert_array_equal(found, [np.inf] * 2 + [0] * 2 + [np.inf] * 5 + [np.nan])


@pytest.mark.parametrize("dtype", ("float32", "float64"))
@pytest.mark.parametrize("fn", ("truncatemod", "floormod"))
def test_remainders_are_exact_whatever_the_quotient(fn: str, dtype: str) -> None:
    rng = np.random.default_rng(5)
    x = arguments("neg", dtype)
    y = rng.permutation(x)
    # Quotients that are whole, or next to it, and as large as whole numbers are exact.
    few = np.asarray(rng.integers(1, 99, 4000), dtype)
    factor = np.asarray(rng.integers(-(2**23), 2**23, 4000), dtype)
    with np.errstate(all="ignore"):
        y[:4000] = x[:4000] * few
        x[8000:12000] = np.nextafter(y[8000:12000] * factor, rng.permutation(y)[:4000])
        want = k.apply(fn, x, y)
    got = apply_compiled(fn, x, y)
    bits = f"u{x.itemsize}"
    same = (got.view(bits) == want.view(bits)) | (np.isnan(got) & np.isnan(want))
    assert same.all(), (x[~same][:3], y[~same][:3], got[~same][:3], want[~same][:3])


@pytest.mark.parametrize("dtype", ("float32", "float64"))
def test_powers(dtype: str) -> None:
    rng = np.random.default_rng(3)
    special = np.array([0.0, -0.0, 1, -1, np.inf, -np.inf, np.nan, 2, 3, -2, -3, 0.5, -0.5], dtype)
    x, y = (v.ravel() for v in np.meshgrid(special, special))
    x = np.concatenate([x, rng.uniform(0, 10, 5000).astype(dtype)])
    y = np.concatenate([y, rng.uniform(-30, 30, 5000).astype(dtype)])
    got, want = apply_compiled("pow", x, y), k.pow(x, y)
    np.testing.assert_array_equal(
        np.signbit(got) & ~np.isnan(got), np.signbit(want) & ~np.isnan(want)
    )
    np.testing.assert_allclose(got, want, rtol=2.5e-7 if dtype == "float32" else 5e-16)


def units_off(got: Any, fine: Any) -> Any:
    """How far float64 results are from those of higher precision, in units of the last place."""
    with np.errstate(all="ignore"):
        plain = fine.astype(np.float64)
        finite = np.isfinite(plain) & np.isfinite(got)
        return np.abs(got[finite] - fine[finite]) / np.spacing(np.abs(plain[finite]))


WIDER = np.finfo(np.longdouble).nmant > 52


@pytest.mark.skipif(not WIDER, reason="no numbers of higher precision here")
def test_powers_of_doubles_are_right_to_the_last_place_wherever_they_are_finite() -> None:
    rng = np.random.default_rng(11)
    base = np.exp2(rng.uniform(-1074, 1024, 20000))
    with np.errstate(all="ignore"):
        most = 1080 / np.maximum(np.abs(np.log2(base)), 0.01)
        near = 1 + rng.standard_normal(20000) * 10.0 ** rng.uniform(-15, -1, 20000)
        x = np.concatenate([base, near])
        y = np.concatenate([rng.uniform(-most, most), rng.uniform(-700, 700, 20000) / (near - 1)])
        fine = np.power(x.astype(np.longdouble), y.astype(np.longdouble))
    got = apply_compiled("pow", x, y)
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(np.isinf(got), np.isinf(fine.astype(np.float64)))
    assert units_off(got, fine).max() < 1.5


@pytest.mark.skipif(not WIDER, reason="no numbers of higher precision here")
def test_the_arcus_of_two_doubles_is_right_in_every_quadrant_and_at_the_limits() -> None:
    rng = np.random.default_rng(12)
    info = np.finfo("float64")
    special = [0.0, 1.0, np.inf, info.max, info.tiny, info.smallest_subnormal, np.nan, 0.4142, 3.0]
    special += [-x for x in special]
    y, x = (v.ravel() for v in np.meshgrid(special, special))
    bits = rng.integers(0, 256, (2, 20000, 8), np.uint8).view("float64")[..., 0]
    usual = rng.standard_normal((2, 20000))
    y, x = np.concatenate([y, bits[0], usual[0]]), np.concatenate([x, bits[1], usual[1]])
    with np.errstate(all="ignore"):
        fine = np.arctan2(y.astype(np.longdouble), x.astype(np.longdouble))
    got = apply_compiled("atan2", y, x)
    np.testing.assert_array_equal(np.isnan(got), np.isnan(fine))
    np.testing.assert_array_equal(np.signbit(got[~np.isnan(got)]), np.signbit(fine[~np.isnan(got)]))
    assert units_off(got, fine).max() < 1.8


@pytest.mark.skipif(not WIDER, reason="no numbers of higher precision here")
@pytest.mark.parametrize("fn", ("sin", "cos", "tan"))
def test_angles_next_to_quarter_turns_have_all_digits(fn: str) -> None:
    quarters = np.concatenate([np.arange(1.0, 4000), np.arange(1, 900) * 2.0 ** np.arange(1, 900)])
    x = quarters * (np.pi / 2)
    x = np.concatenate([x, np.nextafter(x, 0), np.nextafter(x, np.inf)])
    # (The last of their kind: no double comes closer to a multiple of pi / 2.)
    x = np.append(x, [6381956970095103.0 * 2.0**797, 1.7976931348623157e308, np.pi / 4])
    assert units_off(apply_compiled(fn, x), k.apply(fn, x.astype(np.longdouble))).max() < 1.8


INTEGERS = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
BINARY = tuple(
    """
    add sub mul div floordiv floormod truncatediv truncatemod minimum maximum
    left_shift right_shift bitwise_and bitwise_or bitwise_xor
    eq ne lt le gt ge pow
    """.split()
)


@pytest.mark.parametrize("dtype", INTEGERS)
def test_integer_arithmetic_is_exact(dtype: str) -> None:
    rng = np.random.default_rng(5)
    info = np.iinfo(dtype)
    edge = np.array([0, 1, 2, 3, 7, info.min, info.max, info.max - 1], dtype)
    edge = np.concatenate([edge, -edge]) if info.min else edge
    x, y = (v.ravel() for v in np.meshgrid(edge, edge))
    x = np.concatenate([x, rng.integers(info.min, info.max, 300, dtype)])
    y = np.concatenate([y, rng.integers(info.min, info.max, 300, dtype) >> (info.bits // 2)])
    for fn in BINARY:
        got, want = apply_compiled(fn, x, y), k.apply(fn, x, y)
        np.testing.assert_array_equal(got, want, err_msg=f"{fn} {dtype}")
    for fn in ("neg", "abs", "sign", "square", "invert"):
        np.testing.assert_array_equal(apply_compiled(fn, x), k.apply(fn, x), err_msg=fn)


@pytest.mark.parametrize("dtype", ("float32", "float64", "float16", "bfloat16"))
def test_float_arithmetic_is_exact(dtype: str) -> None:
    rng = np.random.default_rng(5)
    special = [0.0, -0.0, 1, -1, 2.5, np.inf, -np.inf, np.nan, 7, -7]
    x, y = (v.ravel() for v in np.meshgrid(special, special))
    x = np.concatenate([x, rng.standard_normal(500) * 10]).astype(reference.numpy_dtype(dtype))
    y = np.concatenate([y, rng.standard_normal(500)]).astype(reference.numpy_dtype(dtype))
    for fn in (*BINARY[:10], "eq", "ne", "lt", "le", "gt", "ge"):
        got, want = apply_compiled(fn, x, y), k.apply(fn, x, y)
        np.testing.assert_array_equal(got.astype(np.float64), want.astype(np.float64), err_msg=fn)
    for fn in ("isnan", "isinf", "isfinite"):
        np.testing.assert_array_equal(apply_compiled(fn, x), k.apply(fn, x))


@pytest.mark.parametrize("target", (*INTEGERS, "bool", "float16", "bfloat16", "float32", "float64"))
def test_casts_are_those_of_the_reference(target: str) -> None:
    whole = "0 -0 300 -200 3e9 -3e9 1e10 -1e10 1e19 1e30 65504 70000 inf -inf nan"
    broken = "1.5 -1.5 200.7 -2147483648.5 2147483647.5 1e-7"
    floats = np.array([float(number) for number in f"{whole} {broken}".split()])
    with np.errstate(all="ignore"):
        sources = [floats, floats.astype(np.float32), floats.astype(np.float16)]
    sources += [np.array([-5, 0, 7, 100], "int8"), np.array([2**31, 1], "uint32")]
    sources += [np.array([-(2**40), 2**40 + 3], "int64"), np.array([True, False])]
    for x in sources:
        if x.dtype.name != target:
            got, want = apply_compiled("cast", x, result=target), k.cast(x, target)
            np.testing.assert_array_equal(
                got.astype(np.float64), want.astype(np.float64), err_msg=x.dtype.name
            )


def test_selection_and_logic() -> None:
    rng = np.random.default_rng(2)
    c, d = rng.random(100) < 0.5, rng.random(100) < 0.5
    x, y = rng.standard_normal((2, 100))
    np.testing.assert_array_equal(apply_compiled("select", c, x, y), np.where(c, x, y))
    for fn in ("logical_and", "logical_or", "bitwise_xor", "eq", "lt"):
        np.testing.assert_array_equal(apply_compiled(fn, c, d), k.apply(fn, c, d))
    np.testing.assert_array_equal(apply_compiled("logical_not", c), ~c)


@pytest.mark.skipif(platform.machine() not in ("x86_64", "AMD64"), reason="names x86 CPUs")
@pytest.mark.parametrize("cpu", ("x86-64", "x86-64-v3"))
def test_older_cpus_compute_the_same_to_rounding(cpu: str) -> None:
    x = arguments("sin", "float32")
    with np.errstate(all="ignore"):
        halves = x.astype(np.float16)
    with settings.override(target=cpu):
        sines, powers = apply_compiled("sin", x), apply_compiled("exp", x)
        rounded = apply_compiled("cast", x, result="float16")
        widened = apply_compiled("cast", halves, result="float32")
    np.testing.assert_allclose(sines, k.sin(x), rtol=4e-7, atol=1e-9)
    np.testing.assert_allclose(powers, k.exp(x), rtol=4e-7)
    np.testing.assert_array_equal(rounded, halves)
    np.testing.assert_array_equal(widened, halves.astype(np.float32))
