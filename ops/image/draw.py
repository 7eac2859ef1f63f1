# SPDX-License-Identifier: Apache-2.0
"""The outlines of boxes drawn onto images."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ...engine import errors
from ...engine.api import export
from ...engine.graph.build import define
from ...engine.graph.registry import NoGradient
from ...engine.graph.tensor import Tensor
from ...engine.types.shape import TensorShape, shape_text
from .. import shape_inference
from ..public import raw

if TYPE_CHECKING:
    from ...engine.graph.annotations import TensorLike
    from ...engine.graph.inference import ShapeContext
    from ...engine.graph.kernel_context import KernelContext
    from ...jit.program.tensor_ir import Value
    from ...jit.trace.builder import Builder
    from ...jit.trace.tracer import OpView

# Yellow, blue, red, lime, purple, olive, maroon, navy, aqua, fuchsia.
_COLORS = np.array(
    [
        [1, 1, 0, 1],
        [0, 0, 1, 1],
        [1, 0, 0, 1],
        [0, 1, 0, 1],
        [0.5, 0, 0.5, 1],
        [0.5, 0.5, 0, 1],
        [0.5, 0, 0, 1],
        [0, 0, 0.5, 1],
        [0, 1, 1, 1],
        [1, 0, 1, 1],
    ],
    np.float32,
)
_DEPTHS = "Channel depth should be either 1 (GRY), 3 (RGB), or 4 (RGBA)"
_NO_GRADIENT = NoGradient("TensorFlow has no gradient of it", silent=True)


def _default_colors(depth: Any) -> np.ndarray:
    colors = _COLORS.copy()
    if depth == 1:
        colors[:, 0] = 1
    return colors


def _check(images: Any, boxes: Any) -> None:
    if len(images) != 4:
        raise errors.invalid("The rank of the images should be 4")
    if len(boxes) != 3:
        raise errors.invalid("The rank of the boxes tensor should be 3")
    if images[0] != boxes[0]:
        raise errors.invalid("The batch sizes should be the same")
    if images[3] not in (1, 3, 4):
        raise errors.invalid(_DEPTHS)


def _edges(box: np.ndarray, height: int, width: int) -> list[int] | None:
    """The rows and columns of a box's first and last pixels; None if nothing of it is seen."""
    limits = np.array([height - 1, width - 1] * 2, np.float32)
    with np.errstate(all="ignore"):
        places = np.trunc(box * limits)
    # What no integer of 64 bits holds becomes the least one.
    places = np.where(np.abs(places) < 2.0**63, places, -(2.0**63))
    top, left, bottom, right = (int(place) for place in places)
    if top > bottom or left > right:
        return None
    if top >= height or bottom < 0 or left >= width or right < 0:
        return None
    return [top, left, bottom, right]


def _draw(
    c: KernelContext, images: np.ndarray, boxes: np.ndarray, colors: np.ndarray | None = None
) -> np.ndarray:
    _check(images.shape, boxes.shape)
    _, height, width, depth = images.shape
    if colors is not None:
        if colors.ndim != 2:
            raise errors.invalid(f"colors must be a 2-D matrix{shape_text(colors.shape)}")
        if colors.shape[1] < depth:
            raise errors.invalid(
                "colors must have equal or more channels than the image provided: "
                f"{shape_text(colors.shape)}"
            )
    if colors is None or not colors.size:
        colors = _default_colors(depth)
    colors = colors[:, :depth].astype(images.dtype)
    result = images.copy()
    for image, own in zip(result, boxes, strict=True):
        for number, box in enumerate(own):
            edges = _edges(box, height, width)
            if edges is not None:
                _outline(image, edges, colors[number % len(colors)])
    return result


def _outline(image: np.ndarray, edges: list[int], color: np.ndarray) -> None:
    top, left, bottom, right = edges
    rows = slice(max(top, 0), min(bottom, image.shape[0] - 1) + 1)
    columns = slice(max(left, 0), min(right, image.shape[1] - 1) + 1)
    for row in (top, bottom):
        if 0 <= row < image.shape[0]:
            image[row, columns] = color
    for column in (left, right):
        if 0 <= column < image.shape[1]:
            image[rows, column] = color


def _lower_draw(
    b: Builder, op: OpView, images: Value, boxes: Value, colors: Value | None = None
) -> Any:
    from ...jit import library

    if images.dtype != "float32":
        return NotImplemented
    b.require(images.ndim == 4 and boxes.ndim == 3 and b.equal(boxes.shape[2], 4))
    depth = images.shape[3]
    b.require(b.equal(images.shape[0], boxes.shape[0]))
    b.require(any(b.equal(depth, size) for size in (1, 3, 4)))
    if colors is not None:
        b.require(colors.ndim == 2)
        if not isinstance(colors.shape[1], int) or not isinstance(depth, int):
            return NotImplemented
        b.require(colors.shape[1] >= depth)
        if b.equal(colors.shape[0], 0):
            colors = None
    if colors is None:
        colors = b.constant(_default_colors(1 if b.equal(depth, 1) else 0))
    return library.outlined(b, images, boxes, colors)


def _shape(c: ShapeContext) -> TensorShape:
    images = shape_inference.ranked(c.inputs[0], 4)
    if images[3] is not None and images[3] not in (1, 3, 4):
        raise ValueError(_DEPTHS)
    boxes = shape_inference.ranked(c.inputs[1], 3)
    shape_inference.require_dim(boxes[2], 4)
    return c.inputs[0]


def _images() -> np.ndarray:
    return np.linspace(0, 1, 120).reshape(2, 5, 4, 3).astype(np.float32)


def _boxes() -> np.ndarray:
    return np.array(
        [
            [[0, 0, 1, 1], [0.3, 0.3, 0.7, 2], [0.5, 0.5, 0.2, 0.2]],
            [[0.2, -0.4, 0.6, 0.6], [0, 0, 0, 0], [2, 2, 3, 3]],
        ],
        np.float32,
    )


_define: dict[str, Any] = {
    "kernel": _draw,
    "lower": _lower_draw,
    "gradient": _NO_GRADIENT,
}
define(
    "DrawBoundingBoxes",
    "images: T, boxes: float32 -> output: T",
    "T: {float32, half} = float32",
    shape=_shape,
    doc="Images with the outlines of boxes, in ten colours by turns.",
    test=lambda: {"values": [[_images(), _boxes()], [_images()[..., :1], _boxes()]]},
    **_define,
)
define(
    "DrawBoundingBoxesV2",
    "images: T, boxes: float32, colors: float32 -> output: T",
    "T: {float32, half} = float32",
    shape=shape_inference.images,
    doc="Images with the outlines of boxes, in given colours by turns.",
    test=lambda: {
        "values": [
            [_images(), _boxes(), np.array([[0.1, 0.2, 0.3, 1], [0.4, 0.5, 0.6, 1]], np.float32)]
        ],
        "static": True,
    },
    **{**_define, "gradient": NoGradient("TensorFlow has no gradient of it")},
)


def draw_bounding_boxes_v2(
    images: TensorLike, boxes: TensorLike, colors: TensorLike | None, name: str | None = None
) -> Tensor:
    """`tf.image.draw_bounding_boxes` with the colours before the name."""
    if colors is None:
        return raw.DrawBoundingBoxes(images, boxes, name=name)
    return raw.DrawBoundingBoxesV2(images, boxes, colors, name=name)


@export("image.draw_bounding_boxes")
def draw_bounding_boxes(
    images: TensorLike,
    boxes: TensorLike,
    name: str | None = None,
    colors: TensorLike | None = None,
) -> Tensor:
    """Images with the outlines of boxes, in colours by turns.

    Args:
        images: a tensor of float32 or float16 in [0, 1], [batch, height, width, 1, 3 or 4].
        boxes: a float32 tensor, [batch, number, 4], of corners (y, x) in shares of the image.
        name: a name for the operation.
        colors: a float32 tensor, [number, 4]; ten colours by default.

    Returns:
        A Tensor of the same dtype and shape.

    Example:
        >>> image = tf.image.draw_bounding_boxes(tf.zeros([1, 3, 3, 1]), [[[0.0, 0.0, 1.0, 1.0]]])
        >>> tf.Session().run(image)[0, :, :, 0].tolist()
        [[1.0, 1.0, 1.0], [1.0, 0.0, 1.0], [1.0, 1.0, 1.0]]
    """
    return draw_bounding_boxes_v2(images, boxes, colors, name)
