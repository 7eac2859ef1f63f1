# SPDX-License-Identifier: Apache-2.0
"""Gradients of Conv3D as graphs of 2015 have them: the values are given where sizes would do.

TensorFlow makes no such nodes any more, but runs those that old GraphDefs hold (the deprecations in
core/ops/nn_ops.cc).  Before a run the nodes of today stand in their place.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ...engine.graph.build import define
from ...engine.graph.registry import NoGradient
from ...engine.types import dtypes
from ...engine.types.shape import TensorShape
from ..shape_inference import ranked

if TYPE_CHECKING:
    from ...engine.graph.inference import ShapeContext
    from ...engine.graph.operation import Operation
    from ...engine.graph.tensor import Tensor
    from ...engine.session.function_inlining import Inliner

_GONE = NoGradient("TensorFlow has no gradient of it")
_ATTRS = (
    "T: {half, float32, float64}; strides: list(int) >= 5; padding: {'SAME', 'VALID'}; "
    "dilations: list(int) = [1, 1, 1, 1, 1]"
)
_Expansion = tuple[list["Tensor"], list["Operation"]]


def _gradient_of_input(x: Inliner, op: Operation, inputs: list[Tensor]) -> _Expansion:
    value, filters, grad = inputs
    sizes = x.node("Shape", [value], "sizes", out_type=dtypes.int32)
    return [x.node("Conv3DBackpropInputV2", [sizes, filters, grad], "result", **_of(op))], []


def _gradient_of_filter(x: Inliner, op: Operation, inputs: list[Tensor]) -> _Expansion:
    value, filters, grad = inputs
    sizes = x.node("Shape", [filters], "sizes", out_type=dtypes.int32)
    return [x.node("Conv3DBackpropFilterV2", [value, sizes, grad], "result", **_of(op))], []


def _of(op: Operation) -> dict[str, object]:
    return {name: op._attrs[name] for name in ("strides", "padding", "dilations")}


def _as_input(index: int) -> Callable[[Any], TensorShape]:
    def shape(c: ShapeContext) -> TensorShape:
        return TensorShape(ranked(c.inputs[index], 5))

    return shape


for _name, _index, _expand, _what in (
    ("Conv3DBackpropInput", 0, _gradient_of_input, "input"),
    ("Conv3DBackpropFilter", 1, _gradient_of_filter, "filter"),
):
    define(
        _name,
        "input: T, filter: T, out_backprop: T -> output: T",
        _ATTRS,
        shape=_as_input(_index),
        expand=_expand,
        gradient=_GONE,
        test={"needs": "a function"},
        doc=f"The gradient of Conv3D with respect to its {_what}, which is given for its sizes.",
    )
