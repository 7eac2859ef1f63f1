# SPDX-License-Identifier: Apache-2.0
"""Cutting boxes out of images, [y1, x1, y2, x2] in shares of height and width."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ...engine import errors
from ...engine.api import export
from ...engine.deprecation import deprecated_argument_lookup
from ...engine.graph.build import define
from ...engine.graph.registry import NoGradient
from ...engine.graph.tensor import Tensor
from ...engine.types import dtypes
from ...engine.types.shape import TensorShape, shape_text
from ...jit.kernel import scalar as k
from .. import shape_inference
from ..public import raw, tf

if TYPE_CHECKING:
    from ...engine.graph.annotations import TensorLike
    from ...engine.graph.inference import ShapeContext
    from ...engine.graph.kernel_context import KernelContext
    from ...engine.graph.operation import Operation
    from ...jit.program.tensor_ir import Value
    from ...jit.trace.builder import Builder
    from ...jit.trace.tracer import OpView


# Cutting out


def _places(first: np.float32, last: np.float32, size: int, count: int) -> np.ndarray:
    """Where the rows (or columns) of a cut lie in the image."""
    end = np.float32(size - 1)
    # A single row shows the middle of the box.
    if count == 1:
        return np.array([end * (first + last) / np.float32(2)], np.float32)
    step = (last - first) * end / np.float32(count - 1)
    return np.arange(count, dtype=np.float32) * step + end * first


class _Cut(NamedTuple):
    """Where the pixels of one cut lie in the image, and which of them lie within."""

    rows: np.ndarray
    columns: np.ndarray
    is_inside: np.ndarray

    @staticmethod
    def of(box: np.ndarray, image: Any, crop: Any) -> _Cut:
        """The cut of a box out of an image of a shape, to a size."""
        height, width = image[1:3]
        y = _places(box[0], box[2], height, int(crop[0]))
        x = _places(box[1], box[3], width, int(crop[1]))
        in_y, in_x = (y >= 0) & (y <= height - 1), (x >= 0) & (x <= width - 1)
        return _Cut(np.where(in_y, y, 0), np.where(in_x, x, 0), in_y[:, None] & in_x)

    def nearest(self) -> tuple[np.ndarray, np.ndarray]:
        """The rows and columns of the nearest pixels."""
        rows, columns = (np.floor(p + np.float32(0.5)).astype(int) for p in self[:2])
        return rows[:, None], columns

    def between(self) -> tuple[np.ndarray, ...]:
        """Upper and lower rows, left and right columns, and shares of the second of each."""
        top, left = np.floor(self.rows).astype(int), np.floor(self.columns).astype(int)
        bottom, right = np.ceil(self.rows).astype(int), np.ceil(self.columns).astype(int)
        y = (self.rows - top).astype(np.float32)[:, None, None]
        x = (self.columns - left).astype(np.float32)[:, None]
        return top[:, None], bottom[:, None], left, right, y, x

    def values(self, image: np.ndarray, method: str, outside: float) -> np.ndarray:
        """What the cut shows."""
        if method == "nearest":
            values = image[self.nearest()].astype(np.float32)
        else:
            tl, tr, bl, br, y, x = self.corners(image)
            with np.errstate(all="ignore"):
                above, below = tl + (tr - tl) * x, bl + (br - bl) * x
                values = above + (below - above) * y
        return np.where(self.is_inside[:, :, None], values, np.float32(outside))

    def corners(self, image: np.ndarray) -> tuple[np.ndarray, ...]:
        """The four pixels around each of the cut's, and the shares of the lower and right ones."""
        top, bottom, left, right, y, x = self.between()
        places = ((top, left), (top, right), (bottom, left), (bottom, right))
        return (*(image[place].astype(np.float32) for place in places), y, x)


def _check(image: Any, boxes: np.ndarray, indices: np.ndarray) -> None:
    if len(image) != 4:
        raise errors.invalid(f"input image must be 4-D{list(image)}")
    if 0 in image[1:3]:
        raise errors.invalid("image dimensions must be positive")
    if boxes.size or indices.size:
        if boxes.ndim != 2 or boxes.shape[1] != 4:
            raise errors.invalid(f"boxes must be 2-D with 4 columns{list(boxes.shape)}")
        if indices.shape != boxes.shape[:1]:
            raise errors.invalid("box_index has incompatible shape")
    if ((indices < 0) | (indices >= image[0])).any():
        raise errors.out_of_range("box_index has values outside [0, batch_size)")


def _crop_and_resize(
    c: KernelContext, image: np.ndarray, boxes: np.ndarray, indices: np.ndarray, crop: np.ndarray
) -> np.ndarray:
    if crop.shape != (2,) or (crop <= 0).any():
        raise errors.invalid("crop dimensions must be positive")
    _check(image.shape, boxes, indices)
    result = np.empty((len(indices), *crop, image.shape[3]), np.float32)
    for i, index in enumerate(indices):
        cut = _Cut.of(boxes[i], image.shape, crop)
        result[i] = cut.values(image[index], c.attr("method"), c.attr("extrapolation_value"))
    return result


def _lower_cut(
    b: Builder, op: OpView, image: Value, boxes: Value, indices: Value, crop: Value
) -> Any:
    from ...jit import library

    size = b.known(crop)
    if size is None or image.dtype in ("float16", "float64"):
        return NotImplemented
    b.require(size.shape == (2,) and all(n > 0 for n in size.tolist()))
    _require_boxes(b, image.shape, boxes, indices)
    outside = b.constant(np.array([op.attr("extrapolation_value")], np.float32))
    is_nearest = op.attr("method") in ("nearest", b"nearest")
    pixels = b.cast(image, "float32")
    tall, wide = size.tolist()
    return library.cut(b, pixels, boxes, indices, outside, tall, wide, is_nearest)


def _require_boxes(b: Builder, image: Sequence[Any], boxes: Value, indices: Value) -> None:
    """Has a run fail unless every box has an image."""
    b.require(len(image) == 4 and indices.ndim == 1)
    b.require_shape(boxes, [indices.shape[0], 4])
    b.require(all(not b.equal(size, 0) for size in image))
    count = b.constant(image[0], "int32")
    outside = b.map(lambda i, n: k.logical_or(k.lt(i, 0), k.ge(i, n)), indices, count)
    error = errors.out_of_range("box_index has values outside [0, batch_size)")
    b.require_not(b.reduce("any", outside, None), lambda: error)


def _lower_image_grad(
    b: Builder, op: OpView, grads: Value, boxes: Value, indices: Value, size: Value
) -> Any:
    from ...jit import library

    shape = b.known(size)
    if shape is None or op.dtype(0) != "float32" or shape.shape != (4,):
        return NotImplemented
    b.require(grads.ndim == 4)
    _require_boxes(b, shape.tolist(), boxes, indices)
    b.require(b.equal(grads.shape[0], indices.shape[0]) and b.equal(grads.shape[3], shape[3]))
    is_nearest = op.attr("method") in ("nearest", b"nearest")
    return library.cut_gradient(b, grads, boxes, indices, shape.tolist(), is_nearest)


def _image_grad(
    c: KernelContext, grads: np.ndarray, boxes: np.ndarray, indices: np.ndarray, size: np.ndarray
) -> np.ndarray:
    _check(size, boxes, indices)
    result = np.zeros(size, c.out_dtype())
    one = np.float32(1)
    for i, index in enumerate(indices):
        cut = _Cut.of(boxes[i], size, grads.shape[1:3])
        grad = np.where(cut.is_inside[:, :, None], grads[i], np.float32(0))
        if c.attr("method") == "nearest":
            np.add.at(result[index], cut.nearest(), grad.astype(result.dtype))
            continue
        top, bottom, left, right, y, x = cut.between()
        for rows, share_y in ((top, one - y), (bottom, y)):
            for columns, share_x in ((left, one - x), (right, x)):
                with np.errstate(all="ignore"):
                    part = (grad * share_y * share_x).astype(result.dtype)
                np.add.at(result[index], (rows, columns), part)
    return result


def _boxes_grad(
    c: KernelContext, grads: np.ndarray, image: np.ndarray, boxes: np.ndarray, indices: np.ndarray
) -> np.ndarray:
    if grads.ndim != 4:
        raise errors.invalid(f"grads image must be 4-D{shape_text(grads.shape)}")
    _check(image.shape, boxes, indices)
    if len(grads) != len(boxes):
        raise errors.invalid("boxes and grads have incompatible shape")
    result = np.zeros(boxes.shape, np.float32)
    one = np.float32(1)
    for i, index in enumerate(indices):
        cut = _Cut.of(boxes[i], image.shape, grads.shape[1:3])
        tl, tr, bl, br, y, x = cut.corners(image[index])
        inside = cut.is_inside[:, :, None]
        with np.errstate(all="ignore"):
            # How the interpolated values change when their places move down or right, summed over
            # what of the cut lies inside, however large it is beside.
            down = ((one - x) * (bl - tl) + x * (br - tr)) * grads[i]
            right = ((one - y) * (tr - tl) + y * (br - bl)) * grads[i]
            by_y = np.where(inside, down, np.float32(0)).sum((1, 2))
            by_x = np.where(inside, right, np.float32(0)).sum((0, 2))
        for axis, slopes in enumerate((by_y, by_x)):
            end, count = np.float32(image.shape[1 + axis] - 1), len(slopes)
            # How far a place moves with the last corner.
            moves = np.arange(count, dtype=np.float32) * end / np.float32(max(count - 1, 1))
            moves = moves if count > 1 else np.array([end / 2], np.float32)
            result[i, axis] = (slopes * (end - moves)).sum()
            result[i, axis + 2] = (slopes * moves).sum()
    return result


def _lower_boxes_grad(
    b: Builder, op: OpView, grads: Value, image: Value, boxes: Value, indices: Value
) -> Any:
    from ...jit import library

    if image.dtype in ("float16", "float64"):
        return NotImplemented
    b.require(grads.ndim == 4)
    _require_boxes(b, image.shape, boxes, indices)
    b.require(b.equal(grads.shape[0], indices.shape[0]) and b.equal(grads.shape[3], image.shape[3]))
    return library.box_gradient(b, grads, b.cast(image, "float32"), boxes, indices)


def _grad(op: Operation, grad: Tensor) -> list[Any]:
    image, boxes, indices = op.inputs[:3]
    size = image.shape.as_list() if image.shape.is_fully_defined() else tf.shape(image)
    by_image = None
    if image.dtype.is_floating:
        by_image = raw.CropAndResizeGradImage(
            grad, boxes, indices, size, T=image.dtype, method=op.attr("method")
        )
    return [by_image, raw.CropAndResizeGradBoxes(grad, image, boxes, indices), None, None]


def _cut_shape(c: ShapeContext) -> TensorShape:
    depth = shape_inference.ranked(c.inputs[0], 4)[3]
    boxes, corners = shape_inference.ranked(c.inputs[1], 2)
    count = shape_inference.merge_dim(boxes, shape_inference.ranked(c.inputs[2], 1)[0])
    shape_inference.require_dim(corners, 4)
    shape_inference.require_dim(shape_inference.ranked(c.inputs[3], 1)[0], 2)
    size = c.value(3)
    height, width = (None, None) if size is None else (int(size[0]), int(size[1]))
    return TensorShape([count, height, width, depth])


_PIXELS = "T: {uint8, uint16, int8, int16, int32, int64, half, float32, float64}"


def _images() -> np.ndarray:
    return np.linspace(0, 1, 48).reshape(2, 4, 3, 2).astype(np.float32)


def _cuts() -> np.ndarray:
    return np.array([[0, 0, 1, 1], [0.2, -0.1, 0.7, 0.6], [0.9, 0.1, 0.1, 1.3]], np.float32)


def _grads() -> np.ndarray:
    return np.linspace(-1, 1, 36).reshape(3, 3, 2, 2).astype(np.float32)


_METHOD = "method: {'bilinear', 'nearest'} = 'bilinear'"
_NO_GRADIENT = NoGradient("TensorFlow has no gradient of it")

define(
    "CropAndResizeGradImage",
    "grads: float32, boxes: float32, box_ind: int32, image_size: int32 -> output: T",
    f"T: {{float32, half, float64}}; {_METHOD}",
    shape=lambda c: shape_inference.shape_value(c, 3),
    kernel=_image_grad,
    lower=_lower_image_grad,
    gradient=_NO_GRADIENT,
    doc="The gradient of CropAndResize for the images.",
    test=lambda: {
        "attrs": [{"T": dtypes.float32}, {"T": dtypes.float32, "method": b"nearest"}],
        "values": [
            [_grads(), _cuts(), np.array([1, 0, 1], np.int32), np.array([2, 4, 3, 2], np.int32)]
        ],
    },
)
define(
    "CropAndResizeGradBoxes",
    "grads: float32, image: T, boxes: float32, box_ind: int32 -> output: float32",
    f"{_PIXELS}; method: {{'bilinear'}} = 'bilinear'",
    shape=lambda c: c.inputs[2],
    kernel=_boxes_grad,
    lower=_lower_boxes_grad,
    gradient=_NO_GRADIENT,
    doc="The gradient of CropAndResize for the boxes.",
    test=lambda: {"values": [[_grads(), _images(), _cuts(), np.array([1, 0, 1], np.int32)]]},
)
define(
    "CropAndResize",
    "image: T, boxes: float32, box_ind: int32, crop_size: int32 -> crops: float32",
    f"{_PIXELS}; {_METHOD}; extrapolation_value: float = 0.0",
    shape=_cut_shape,
    kernel=_crop_and_resize,
    lower=_lower_cut,
    gradient=_grad,
    doc="Boxes of images, in shares of their height and width, resized to one size.",
    test=lambda: {
        "attrs": [{}, {"method": b"nearest"}, {"extrapolation_value": 2.0}],
        "values": [[_images(), _cuts(), np.array([1, 0, 1], np.int32), np.array([3, 2], np.int32)]],
        # The gradient for the boxes jumps at pixels, and single precision is coarse.
        "gradient": False,
    },
)


@export("image.crop_and_resize")
def crop_and_resize(
    image: TensorLike,
    boxes: TensorLike,
    box_ind: Any = None,
    crop_size: Any = None,
    method: str = "bilinear",
    extrapolation_value: float = 0,
    name: str | None = None,
    box_indices: Any = None,
) -> Tensor:
    """Cuts boxes out of images and resizes them (`tf.image.crop_and_resize`).

    Args:
      image: A tensor of numbers, [batch, height, width, channels].
      boxes: A float32 tensor, [number, 4], in shares of height and width.
      box_ind: An int32 vector: the image that each box is of.
      crop_size: Two int32s, the height and width of the results.
      method: "bilinear" or "nearest".
      extrapolation_value: What lies outside of the image.
      name: A name for the node.
      box_indices: The new name of `box_ind`.

    Returns:
      A float32 tensor, [number, crop height, crop width, channels].
    """
    box_ind = deprecated_argument_lookup("box_indices", box_indices, "box_ind", box_ind)
    return raw.CropAndResize(
        image,
        boxes,
        box_ind,
        crop_size,
        method=method,
        extrapolation_value=extrapolation_value,
        name=name,
    )
