# SPDX-License-Identifier: Apache-2.0
"""Convolutions that pad and resize first: before a run they become the ops that they consist of."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...engine.graph.build import define
from ...engine.graph.operation import Operation
from ...engine.graph.registry import NoGradient
from ...engine.graph.tensor import Tensor
from ...engine.session.function_inlining import Inliner
from ...engine.types.shape import unknown_shape

if TYPE_CHECKING:
    from ...engine.graph.inference import ShapeContext
    from ...engine.types.shape import TensorShape

_OPTIONS = "mode: {'REFLECT', 'SYMMETRIC'}; strides: list(int); padding: {'SAME', 'VALID'}"
_NO_GRADIENT = NoGradient("it is for inference; TensorFlow has no gradient of it")


def _parts(x: Inliner, op: Operation, inputs: list[Tensor]) -> tuple[list[Tensor], list[Operation]]:
    image, *size, paddings, weights = inputs
    if size:
        corners = op.attr("resize_align_corners")
        image = x.node("ResizeBilinear", [image, *size], "resize", align_corners=corners)
        image = x.node("Cast", [image], "cast", DstT=weights.dtype)
    padded = x.node("MirrorPad", [image, paddings], "pad", mode=op.attr("mode"))
    options = {key: op.attr(key) for key in ("strides", "padding")}
    return [x.node("Conv2D", [padded, weights], "conv", **options)], []


def _shape(c: ShapeContext) -> TensorShape:
    return unknown_shape(4)


define(
    "FusedPadConv2D",
    "input: T, paddings: int32, filter: T -> output: T",
    f"T: {{half, float32, float64}}; {_OPTIONS}",
    shape=_shape,
    expand=_parts,
    gradient=_NO_GRADIENT,
    doc="A convolution of an image that is padded by its own pixels.",
)
define(
    "FusedResizeAndPadConv2D",
    "input: T, size: int32, paddings: int32, filter: T -> output: T",
    f"T: {{half, float32, float64}}; resize_align_corners: bool = false; {_OPTIONS}",
    shape=_shape,
    expand=_parts,
    gradient=_NO_GRADIENT,
    doc="A convolution of an image that is resized, then padded by its own pixels.",
)
