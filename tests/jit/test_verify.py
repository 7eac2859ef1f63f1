# SPDX-License-Identifier: Apache-2.0
"""The verifier finds what is wrong with a kernel and names the rule."""

from __future__ import annotations

import pytest

from numbaflow.jit import ir, verify

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


def test_a_legal_kernel_passes():
    verify.verify(kernel())


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
    ],
)
def test_each_rule(changes, rule):
    with pytest.raises(verify.Illegal, match=rule):
        verify.verify(kernel(**changes))
