# SPDX-License-Identifier: Apache-2.0
"""The verifier finds what is wrong with a kernel and names the rule."""

from __future__ import annotations

import pytest

from numbaflow.jit.kernel import ir, verify_kernel

pytestmark = pytest.mark.pure

X = ir.Load(0, ir.Index((1,)), "float32")


def kernel(**changes):
    parts = {
        "form": "map",
        "buffers": (ir.Buffer("float32", "r"), ir.Buffer("float32", "w")),
        "axes": (ir.Axis("map"),),
        "reductions": (),
        "stores": (ir.Store(1, ir.Index((1,)), ir.Apply("exp", (X,), "float32")),),
        "params": 0,
    }
    return ir.Kernel(**{**parts, **changes})


def reducing(fn, dtype, finished=None):
    """Changes for a kernel with a reduction."""
    result = ir.Reduced(0, finished or dtype)
    return {
        "form": "row",
        "buffers": (ir.Buffer("float32", "r"), ir.Buffer(result.dtype, "w")),
        "axes": (ir.Axis("map"), ir.Axis("reduce")),
        "reductions": (ir.Reduction(fn, ir.Load(0, ir.Index((0, 1)), "float32"), dtype),),
        "stores": (ir.Store(1, ir.Index((1, 0)), result),),
    }


def applying(fn, dtype, *args):
    """Changes for a kernel that applies a primitive."""
    return {"stores": (ir.Store(1, ir.Index((1,)), ir.Apply(fn, args, dtype)),)}


def test_a_legal_kernel_passes():
    verify_kernel.verify(kernel())
    verify_kernel.verify(kernel(), ["float32", "float32"])
    verify_kernel.verify(kernel(**reducing("argmax", "int32")))


def test_complex_numbers_are_their_parts_or_moved_as_one():
    verify_kernel.verify(kernel(), ["complex64", "float32"])
    moved = {
        "buffers": (ir.Buffer("int64", "r"), ir.Buffer("int64", "w")),
        "stores": (ir.Store(1, ir.Index((1,)), ir.Load(0, ir.Index((1,)), "int64")),),
    }
    verify_kernel.verify(kernel(**moved), ["complex64", "complex64"])
    for dtypes in (["complex128", "float32"], ["complex64"]):
        with pytest.raises(verify_kernel.Illegal, match="values have the dtypes"):
            verify_kernel.verify(kernel(), dtypes)


def test_values_have_the_dtypes_of_the_buffers():
    with pytest.raises(verify_kernel.Illegal, match="values have the dtypes of the buffers"):
        verify_kernel.verify(kernel(), ["float32", "float64"])


@pytest.mark.parametrize(
    "changes, rule",
    [
        ({"axes": (ir.Axis("map"), ir.Axis("map"))}, "stride for every axis"),
        ({"buffers": (ir.Buffer("float64", "r"), ir.Buffer("float32", "w"))}, "loads are from"),
        ({"buffers": (ir.Buffer("float32", "r"), ir.Buffer("float32", "r"))}, "stores are into"),
        ({"stores": (ir.Store(1, ir.Index((ir.Param(3),)), X),)}, "parameters are in range"),
        ({"form": "row"}, "axes are those of the form"),
        (
            {
                "form": "row",
                "axes": (ir.Axis("map"), ir.Axis("reduce")),
                "reductions": (ir.Reduction("sum", ir.Reduced(0, "float32"), "float32"),),
                "stores": (),
            },
            "earlier reductions",
        ),
        (
            {"stores": (ir.Store(1, ir.Index((1,)), ir.Apply("bitwise_and", (X, X), "float32")),)},
            "primitives",
        ),
        ({"stores": (ir.Store(2, ir.Index((1,)), X),)}, "name what there is"),
        ({"stores": (ir.Store(1, ir.Index((1,)), ir.Reduced(0, "float32")),)}, "what there is"),
        (
            {"buffers": (ir.Buffer("float32", "r"), ir.Buffer("complex64", "w"))},
            "buffers hold what",
        ),
        ({"stores": (ir.Store(1, ir.Index((1,), X), X),)}, "positions and offsets are int64"),
        (
            {"stores": (ir.Store(1, ir.Index((1,), ir.AxisIndex(0, "int32")), X),)},
            "positions and offsets are int64",
        ),
        (reducing("sum", "float64"), "reductions combine values of their dtype"),
        (reducing("any", "float32"), "reductions combine values of their dtype"),
        (reducing("argmax", "uint8"), "reductions combine values of their dtype"),
        (reducing("argmax", "int64", "int32"), "finished reduction has the dtype"),
        (applying("add", "float32", X, ir.Const(1, "int64")), "arguments of a primitive"),
        (
            {
                **applying("add", "float64", X, X),
                "buffers": (ir.Buffer("float32", "r"), ir.Buffer("float64", "w")),
            },
            "arguments of a primitive",
        ),
        (applying("lt", "float32", X, X), "arguments of a primitive"),
        (applying("select", "float32", X, X, X), "arguments of a primitive"),
    ],
)
def test_each_rule(changes, rule):
    with pytest.raises(verify_kernel.Illegal, match=rule):
        verify_kernel.verify(kernel(**changes))
