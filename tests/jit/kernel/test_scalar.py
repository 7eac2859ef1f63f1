# SPDX-License-Identifier: Apache-2.0
"""The scalar vocabulary: arrays and expressions, dtypes, TensorFlow's semantics."""

from __future__ import annotations

import numpy as np
import pytest

from numbaflow.jit.kernel import ir
from numbaflow.jit.kernel import scalar as k

pytestmark = pytest.mark.pure

X = ir.Load(0, ir.Index((1,)), "float32")


def test_numbers_take_the_dtype_of_the_expression() -> None:
    assert k.mul(X, 0.1) is ir.Apply(
        "mul", (X, ir.Const(float(np.float32(0.1)), "float32")), "float32"
    )
    assert k.lt(X, 3).dtype == "bool"
    assert k.select(k.gt(X, 0), X, 0.0).dtype == "float32"
    assert k.cast(X, "float32") is X
    assert k.cast(ir.Const(2.7, "float64"), "int32") is ir.Const(2, "int32")


def test_numbers_take_the_dtype_of_the_array() -> None:
    x = np.ones(3, np.float16)
    assert k.mul(x, 0.1).dtype == np.float16
    assert k.add(np.ones(2, np.uint8), 1).dtype == np.uint8


@pytest.mark.parametrize("y", (ir.Const(1, "int32"), ir.Const(1.0, "float64")))
def test_dtypes_must_agree(y: ir.Const) -> None:
    with pytest.raises(TypeError, match=r"k\.add: arguments of different dtypes: float32, "):
        k.add(X, y)


def test_unsupported_dtypes_are_named() -> None:
    with pytest.raises(TypeError, match="bitwise_and has no compiled form for float32"):
        k.bitwise_and(X, X)
    assert not k.compiles("complex64") and not k.supports("exp", "int32")
    assert k.compiles("bfloat16") and k.supports("exp", "bfloat16")


def test_minimum_and_maximum_keep_a_nan_in_the_first_argument() -> None:
    nan = np.float32(np.nan)
    a, b = np.array([nan, 1, 0.0, -0.0], np.float32), np.array([1, nan, -0.0, 0.0], np.float32)
    for fn in (k.minimum, k.maximum):
        got = fn(a, b)
        assert np.isnan(got[0]) and got[1] == 1
        assert list(np.signbit(got[2:])) == [False, True]


def test_casts_wrap_and_clamp_as_on_x86() -> None:
    x = np.array([1e10, -1e10, np.nan, 200.7, 300.0, -1.5], np.float32)
    low = -(2**31)
    assert list(k.cast(x, "int32")) == [low, low, low, 200, 300, -1]
    assert list(k.cast(x, "uint8")) == [0, 0, 0, 200, 44, 255]
    assert k.cast(x, "uint64")[5] == 2**64 - 1


def test_object_arrays_pass_through() -> None:
    sizes = np.array([7, 8], object)
    for fn, want in (
        (k.add, [10, 11]),
        (k.floordiv, [2, 2]),
        (k.floormod, [1, 2]),
        (k.minimum, [3, 3]),
    ):
        got = fn(sizes, 3)
        assert got.dtype == object and list(got) == want
    assert list(k.lt(sizes, 8)) == [True, False]


def test_complex_numbers_of_arrays() -> None:
    z = k.complex(np.float32(1), np.float32(2))
    assert z.dtype == np.complex64 and k.conj(z) == 1 - 2j and k.real(z) == 1 and k.imag(z) == 2


def test_complex_expressions_are_made_of_their_parts() -> None:
    x, y = (ir.Load(n, ir.Index(()), "complex64") for n in (0, 1))
    total = k.add(x, y)
    assert total.dtype == "complex64" and k.real(total) is k.add(k.real(x), k.real(y))
    assert k.imag(k.conj(x)) is k.neg(k.imag(x)) and k.real(k.mul(x, 2)).dtype == "float32"
    assert k.cast(x, "complex128").dtype == "complex128" and k.cast(x, "bool").dtype == "bool"
    assert k.eq(x, y).dtype == "bool" and k.modulus(x).dtype == "float32"
    assert k.const(1 + 2j, "complex128") is k.complex(*(k.const(n, "float64") for n in (1, 2)))
    with pytest.raises(TypeError, match="k.floor has no compiled form for complex64"):
        k.floor(x)
    with pytest.raises(TypeError, match="k.complex has no compiled form for int32"):
        k.complex(k.const(1, "int32"), k.const(1, "int32"))
