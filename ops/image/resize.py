# SPDX-License-Identifier: Apache-2.0
"""Resizing images by interpolation or to the nearest pixel, with the gradients.

Where a pixel of the result lies in the image is computed in single precision, as in TensorFlow.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ...engine import errors
from ...engine.api import export
from ...engine.graph.build import define
from ...engine.graph.registry import NoGradient
from ...engine.graph.tensor import Tensor
from ...engine.types.shape import TensorShape, shape_text
from ...jit.kernel import scalar as k
from ...jit.kernel.sizes import is_measured, maximum, minimum, same_shape
from .. import shape_inference
from ..public import raw, tf
from ..ranks import ranked, vector

if TYPE_CHECKING:
    from ...engine.graph.annotations import TensorLike
    from ...engine.graph.inference import ShapeContext
    from ...engine.graph.kernel_context import KernelContext
    from ...engine.graph.operation import Operation
    from ...jit.kernel.sizes import AnySize
    from ...jit.program.tensor_ir import Value
    from ...jit.trace.builder import Builder
    from ...jit.trace.tracer import OpView

_OPTIONS = "align_corners: bool = false; half_pixel_centers: bool = false"
_INTEGERS = "int8, uint8, int16, uint16, int32, int64"
_SAMPLES = {
    "attrs": [{}, {"align_corners": True}, {"half_pixel_centers": True}],
    "static": True,
}


def resized_shape(c: ShapeContext) -> TensorShape:
    n, _, _, depth = shape_inference.ranked(c.inputs[0], 4)
    shape_inference.ranked(c.inputs[1], 1)
    size = c.value(1)
    if size is not None and len(size) != 2:
        raise ValueError(f"Dimension must be 2 but is {len(size)}")
    height, width = (None, None) if size is None else (int(size[0]), int(size[1]))
    return TensorShape([n, height, width, depth])


def check_sizes(
    image: Sequence[Any], size: Any, attr: Callable[..., Any], name: str = "shape_t"
) -> tuple[int, int]:
    """The wanted height and width; InvalidArgumentError for what cannot be resized."""
    if np.ndim(size) != 1:
        raise errors.invalid(f"{name} must be 1-dimensional{list(np.shape(size))}")
    refuse_sizes(image, size, attr, name)
    return int(size[0]), int(size[1])


def refuse_sizes(
    image: Sequence[Any], size: Sequence[Any], attr: Callable[..., Any], name: str = "shape_t"
) -> None:
    """InvalidArgumentError for what cannot be resized; sizes may be symbols."""
    if attr("half_pixel_centers") and attr("align_corners"):
        raise errors.invalid("If half_pixel_centers is True, align_corners must be False.")
    if len(image) != 4:
        raise errors.invalid(f"input must be 4-dimensional{list(image)}")
    if len(size) != 2:
        raise errors.invalid(f"{name} must have two elements[{len(size)}]")
    if size[0] <= 0 or size[1] <= 0:
        raise errors.invalid("output dimensions must be positive")
    if image[3] == 0:
        raise errors.invalid("image must have at least one channel")
    if 0 in (image[1], image[2]):
        raise errors.invalid("input image must be of non-zero size")


def positions(size: int, resized: int, attr: Callable[..., Any], center: float) -> np.ndarray:
    """Where each row (or column) of the resized image lies in the image."""
    one = np.float32(1)
    if attr("align_corners") and resized > 1:
        scale = np.float32(size - 1) / np.float32(resized - 1)
    else:
        scale = np.float32(size) / np.float32(resized)
    places = np.arange(resized, dtype=np.float32)
    if not attr("half_pixel_centers"):
        return places * scale
    # Pixels are at the centres of their squares: x + 0.5 scales, and 0.5 goes again.  The nearest
    # pixel keeps it, because floor follows.
    return (places + one / 2) * scale - np.float32(center)


def between(
    size: int, resized: int, attr: Callable[..., Any]
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """For each row: the two rows that it lies between, and how near to the second one."""
    places = positions(size, resized, attr, 0.5)
    low = np.floor(places)
    near = places - low
    first = np.clip(low, 0, size - 1).astype(np.int64)
    return first, np.clip(np.ceil(places), 0, size - 1).astype(np.int64), near


def _nearest(size: int, resized: int, attr: Callable[..., Any]) -> np.ndarray:
    """For each row of the resized image: the row of the image that it shows."""
    places = positions(size, resized, attr, 0.0)
    # TensorFlow rounds halves up here and rounds down elsewhere.
    if attr("align_corners"):
        places = places + np.float32(0.5)
    return np.minimum(np.floor(places).astype(np.int64), size - 1)


# Interpolation


def _mix(tl: object, tr: object, bl: object, br: object, x: TensorLike, y: TensorLike) -> Any:
    top = k.add(tl, k.mul(k.sub(tr, tl), x))
    bottom = k.add(bl, k.mul(k.sub(br, bl), x))
    return k.add(top, k.mul(k.sub(bottom, top), y))


_INPUTS = (vector(1, "shape_t must be 1-dimensional{shape}"),)


def _bilinear(c: KernelContext, images: np.ndarray, size: np.ndarray) -> np.ndarray:
    height, width = check_sizes(images.shape, size, c.attr)
    top, bottom, y = between(images.shape[1], height, c.attr)
    left, right, x = between(images.shape[2], width, c.attr)
    x, y = x[:, None], y[:, None, None]
    upper, lower = images[:, top].astype(np.float32), images[:, bottom].astype(np.float32)
    return _mix(upper[:, :, left], upper[:, :, right], lower[:, :, left], lower[:, :, right], x, y)


def static_sizes(b: Builder, image: Value, size: Value) -> tuple[int, int] | None:
    """The wanted height and width, where these and the image's are plain numbers."""
    known = b.known(size)
    sizes = [*image.shape[1:3], *(() if known is None else known)]
    if len(sizes) != 4 or not all(isinstance(s, (int, np.integer)) for s in sizes):
        return None
    return int(sizes[2]), int(sizes[3])


def _lower_bilinear(b: Builder, op: OpView, images: Any, size: Value) -> Any:
    from ...jit import library

    wanted = wanted_sizes(b, size)
    if images.ndim != 4 or wanted is None:
        return NotImplemented
    refuse_sizes(images.shape, wanted, op.attr)
    rows, columns = (
        _lines_between(b, images.shape[axis + 1], wanted[axis], op.attr) for axis in (0, 1)
    )
    if images.dtype != "uint8":
        images = b.cast(images, "float32")
    return library.resized(b, images, rows, columns, *wanted)


def wanted_sizes(b: Builder, size: Value) -> Sequence[AnySize] | None:
    """The wanted height and width, which may be symbols; None where only a run tells."""
    if not same_shape(size.shape, (2,)):
        return None
    known = b.known(size)
    if known is not None:
        return list(known)
    if not b.may_measure:
        return None
    # (No size is below zero: what asks for one comes to the reference kernel as zero does.)
    numbers = (b.reshape(b.slice(size, [i], [1]), []) for i in range(2))
    return [b.measure(b.map(lambda n: k.maximum(n, 0), number)) for number in numbers]


def _lines_between(
    b: Builder, size: AnySize, resized: AnySize, attr: Callable[..., Any]
) -> list[Value]:
    """What `between` says, also of sizes that only a run knows."""
    if are_numbers(size, resized):
        # With static sizes the places and shares are constants of the plan.
        return [b.constant(part) for part in between(int(size), int(resized), attr)]
    is_half = attr("half_pixel_centers")

    def place(i: Any, old: Any, new: Any) -> tuple[Any, Any, Any]:
        at = placed(i, old, new, is_half)
        low = k.floor(at)
        return low, k.ceil(at), k.sub(at, low)

    places = b.iota([resized], 0, "float32")
    low, high, near = b.map(place, places, *extents(b, size, resized, attr))
    last = b.constant(np.array(size - 1, object), "int64")
    first, second = (
        b.map(within, b.cast(each, "int64"), last, dtype="int64") for each in (low, high)
    )
    return [first, second, near]


def placed(i: object, old: object, new: object, is_half: bool) -> Any:
    """Where row i lies in the image, as `positions` says; old, new: see `extents`."""
    half, scale = k.const(0.5, "float32"), k.div(old, new)
    return k.sub(k.mul(k.add(i, half), scale), half) if is_half else k.mul(i, scale)


def are_numbers(*sizes: AnySize) -> bool:
    """Are sizes known while a program is traced?"""
    return all(isinstance(size, (int, np.integer)) for size in sizes)


def extents(b: Builder, size: AnySize, resized: AnySize, attr: Callable[..., Any]) -> list[Value]:
    """What is divided by what for the scale: sizes, or distances of the outermost pixels."""
    least: AnySize = 0
    if attr("align_corners"):
        # (Of what a run learns on its way whether it is more than one is not asked.)
        least = minimum(maximum(resized - 1, 0), 1) if is_measured(resized) else int(resized > 1)
    return [b.cast(b.constant([each - least]), "float32") for each in (size, resized)]


def within(place: object, last: object) -> Any:
    """The row of an image, whose last one is given, that is nearest to a place."""
    zero = k.const(0, "int64")
    return k.maximum(k.minimum(place, last), zero)


def _bilinear_grad(c: KernelContext, grads: np.ndarray, image: np.ndarray) -> np.ndarray:
    height, width = check_sizes(image.shape, grads.shape[1:3], c.attr)
    top, bottom, y = between(image.shape[1], height, c.attr)
    left, right, x = between(image.shape[2], width, c.attr)
    one = np.float32(1)
    x, y = x[:, None], y[:, None, None]
    result = np.zeros(image.shape, image.dtype)
    with np.errstate(all="ignore"):
        for rows, share_y in ((top, one - y), (bottom, y)):
            for columns, share_x in ((left, one - x), (right, x)):
                part = (grads * share_y * share_x).astype(image.dtype)
                places: Any = (slice(None), rows[:, None], columns)
                np.add.at(result[: len(grads)], places, part)
    return result


def _lower_bilinear_grad(b: Builder, op: OpView, grads: Value, image: Value) -> Any:
    from ...jit import library

    if image.dtype != "float32" or image.ndim != 4 or grads.ndim != 4:
        return NotImplemented
    (_, height, width, _), (_, tall, wide, _) = image.shape, grads.shape
    b.require(tall > 0 and wide > 0 and height > 0 and width > 0)
    b.require(b.equal(grads.shape[0], image.shape[0]) and b.equal(grads.shape[3], image.shape[3]))
    rows, columns = (
        _lines_between(b, size, resized, op.attr)
        for size, resized in ((height, tall), (width, wide))
    )
    return library.resized_gradient(b, grads, rows, columns, height, width, False)


def _grad_of_bilinear(op: Operation, grad: Tensor) -> list[Any]:
    options = {key: op.attr(key) for key in ("align_corners", "half_pixel_centers")}
    return [raw.ResizeBilinearGrad(grad, op.inputs[0], **options), None]


define(
    "ResizeBilinearGrad",
    "grads: float32, original_image: T -> output: T",
    f"T: {{float32, bfloat16, half, float64}}; {_OPTIONS}",
    shape=lambda c: c.inputs[1],
    kernel=_bilinear_grad,
    lower=_lower_bilinear_grad,
    gradient=NoGradient("TensorFlow has no gradient of it"),
    doc="The gradient of ResizeBilinear.",
    test=lambda: {**_SAMPLES, "shapes": [[[2, 5, 3, 1], [2, 2, 4, 1]]]},
)
_resize_bilinear = define(
    "ResizeBilinear",
    "images: T, size: int32 -> resized_images: float32",
    f"T: {{{_INTEGERS}, bfloat16, half, float32, float64}}; {_OPTIONS}",
    shape=resized_shape,
    kernel=ranked(_bilinear, *_INPUTS),
    lower=_lower_bilinear,
    gradient=_grad_of_bilinear,
    doc="Resizes images with bilinear interpolation.",
    test=lambda: {
        **_SAMPLES,
        # The result is float32 whatever the image is: too coarse for differences.
        "gradient": False,
        "values": [
            [
                np.linspace(-1, 2, 24).reshape(1, 4, 3, 2).astype(np.float32),
                np.array([3, 7], np.int32),
            ],
            [np.arange(8, dtype=np.uint8).reshape(2, 2, 2, 1), np.array([2, 2], np.int32)],
        ],
    },
)


# The nearest pixel


def _nearest_neighbor(c: KernelContext, images: np.ndarray, size: np.ndarray) -> np.ndarray:
    height, width = check_sizes(images.shape, size, c.attr)
    rows = _nearest(images.shape[1], height, c.attr)
    columns = _nearest(images.shape[2], width, c.attr)
    return images[:, rows][:, :, columns]


def _lower_nearest(b: Builder, op: OpView, images: Any, size: Value) -> Any:
    wanted = wanted_sizes(b, size)
    if images.ndim != 4 or wanted is None:
        return NotImplemented
    refuse_sizes(images.shape, wanted, op.attr)
    for axis, resized in ((1, wanted[0]), (2, wanted[1])):
        images = b.gather(images, _nearest_lines(b, images.shape[axis], resized, op.attr), axis)
    return images


def _nearest_lines(b: Builder, size: AnySize, resized: AnySize, attr: Callable[..., Any]) -> Value:
    """What `_nearest` says, also of sizes that only a run knows."""
    if are_numbers(size, resized):
        return b.constant(_nearest(int(size), int(resized), attr), "int64")
    half, last = k.const(0.5, "float32"), b.constant(np.array(size - 1, object), "int64")

    def place(i: Any, old: Any, new: Any) -> Any:
        scale = k.div(old, new)
        at = k.mul(k.add(i, half) if attr("half_pixel_centers") else i, scale)
        return k.floor(k.add(at, half) if attr("align_corners") else at)

    places = b.map(place, b.iota([resized], 0, "float32"), *extents(b, size, resized, attr))
    return b.map(k.minimum, b.cast(places, "int64"), last)


def _nearest_grad(c: KernelContext, grads: np.ndarray, size: np.ndarray) -> np.ndarray:
    if grads.ndim != 4:
        raise errors.invalid(f"input must be 4-dimensional{shape_text(grads.shape)}")
    if size.ndim != 1:
        raise errors.invalid(f"shape_t must be 1-dimensional{shape_text(size.shape)}")
    if size.size != 2:
        raise errors.invalid(f"shape_t must have two elements{shape_text(size.shape)}")
    height, width = int(size[0]), int(size[1])
    if height <= 0 or width <= 0:
        raise errors.invalid("shape_t's elements must be positive")
    n, resized_height, resized_width, depth = grads.shape
    result = np.zeros((n, height, width, depth), grads.dtype)
    if grads.size:
        rows = _nearest(height, resized_height, c.attr)
        columns = _nearest(width, resized_width, c.attr)
        places: Any = (slice(None), rows[:, None], columns)
        np.add.at(result, places, grads)
    return result


def _lower_nearest_grad(b: Builder, op: OpView, grads: Value, size: Value) -> Any:
    from ...jit import library

    wanted = wanted_sizes(b, size)
    if grads.ndim != 4 or wanted is None:
        return NotImplemented
    height, width = wanted
    b.require(height > 0 and width > 0)
    places = []
    for axis in (0, 1):
        resized = grads.shape[axis + 1]
        where = _nearest_lines(b, wanted[axis], resized, op.attr)
        # (Of the share, which is for pixels between two others, nothing is read.)
        places.append([where, where, b.iota([resized], 0, "float32")])
    return library.resized_gradient(b, grads, places[0], places[1], height, width, True)


def _grad_of_nearest(op: Operation, grad: Tensor) -> list[Any]:
    image = op.inputs[0]
    size = image.shape[1:3]
    if not size.is_fully_defined():
        size = tf.shape(image)[1:3]
    options = {key: op.attr(key) for key in ("align_corners", "half_pixel_centers")}
    return [raw.ResizeNearestNeighborGrad(grad, size, **options), None]


define(
    "ResizeNearestNeighborGrad",
    "grads: T, size: int32 -> output: T",
    f"T: {{uint8, int8, int32, half, float32, float64}}; {_OPTIONS}",
    shape=resized_shape,
    kernel=_nearest_grad,
    lower=_lower_nearest_grad,
    gradient=NoGradient("TensorFlow has no gradient of it"),
    doc="The gradient of ResizeNearestNeighbor.",
    test=lambda: {
        **_SAMPLES,
        "values": [
            [np.arange(30, dtype=np.float32).reshape(1, 5, 3, 2), np.array([2, 4], np.int32)]
        ],
    },
)
_resize_nearest_neighbor = define(
    "ResizeNearestNeighbor",
    "images: T, size: int32 -> resized_images: T",
    f"T: {{{_INTEGERS}, half, float32, float64}}; {_OPTIONS}",
    shape=resized_shape,
    kernel=ranked(_nearest_neighbor, *_INPUTS),
    lower=_lower_nearest,
    gradient=_grad_of_nearest,
    doc="Resizes images; each pixel is that of the image which is nearest.",
    test=lambda: {
        **_SAMPLES,
        "values": [
            [np.arange(24, dtype=np.int64).reshape(1, 4, 3, 2), np.array([3, 7], np.int32)],
            [np.arange(24, dtype=np.float32).reshape(1, 4, 3, 2), np.array([8, 2], np.int32)],
        ],
    },
)


@export("image.resize_bilinear")
def resize_bilinear(
    images: TensorLike,
    size: Sequence[int],
    align_corners: bool = False,
    name: str | None = None,
    half_pixel_centers: bool = False,
) -> Tensor:
    """Resizes images with bilinear interpolation (`tf.image.resize_bilinear`).

    Args:
      images: A tensor of numbers, [batch, height, width, channels].
      size: Two int32s, the new height and width.
      align_corners: Whether the corners' centers stay where they are.
      name: A name for the node.
      half_pixel_centers: Whether pixels are squares around half numbers.

    Returns:
      A float32 tensor, [batch, new height, new width, channels].
    """
    return _resize_bilinear(images, size, align_corners, half_pixel_centers, name=name)


@export("image.resize_nearest_neighbor")
def resize_nearest_neighbor(
    images: TensorLike,
    size: Sequence[int],
    align_corners: bool = False,
    name: str | None = None,
    half_pixel_centers: bool = False,
) -> Tensor:
    """Resizes images to the nearest pixels; arguments as in `tf.image.resize_bilinear`.

    Returns:
      A tensor of the same type, [batch, new height, new width, channels].
    """
    return _resize_nearest_neighbor(images, size, align_corners, half_pixel_centers, name=name)
