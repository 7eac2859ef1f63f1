# SPDX-License-Identifier: Apache-2.0
"""The ops of bicubic resizing, of resizing by area, and of images scaled and moved."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ...engine import errors
from ...engine.api import export
from ...engine.graph.build import define
from ...engine.graph.registry import NoGradient
from ...engine.graph.tensor import Tensor
from ...engine.types import dtypes
from ...engine.types.shape import TensorShape, shape_text
from ...jit.kernel import scalar as k
from ...jit.kernel.sizes import same_shape
from ..public import raw
from ..ranks import ranked, vector
from .resize import (
    check_sizes,
    positions,
    refuse_sizes,
    resized_shape,
    static_sizes,
    wanted_sizes,
)
from .resize_spans import SAMPLING, Spans, area, cubic, sampled
from .span_lines import area_lines, cubic_lines, require_scales, sampled_lines

if TYPE_CHECKING:
    from ...engine.graph.annotations import TensorLike
    from ...engine.graph.inference import ShapeContext
    from ...engine.graph.kernel_context import KernelContext
    from ...engine.graph.operation import Operation
    from ...jit.kernel.sizes import AnySize
    from ...jit.program.tensor_ir import Value
    from ...jit.trace.builder import Builder
    from ...jit.trace.tracer import OpView

_INTEGERS = "int8, uint8, int16, uint16, int32, int64"
_REALS = f"{_INTEGERS}, half, float32, float64"
_OPTIONS = "align_corners: bool = false; half_pixel_centers: bool = false"


def _image() -> np.ndarray:
    return np.linspace(-1, 2, 60).reshape(1, 5, 4, 3).astype(np.float32)


def _bytes() -> np.ndarray:
    return np.arange(40, dtype=np.uint8).reshape(2, 4, 5, 1)


_CHOICES = [{}, {"align_corners": True}, {"half_pixel_centers": True}]
_INPUTS = (vector(1, "shape_t must be 1-dimensional{shape}"),)


def _apply(images: np.ndarray, rows: Spans, columns: Spans) -> np.ndarray:
    return columns.summed(rows.summed(images, 1), 2)


def _lower_spans(b: Builder, images: Value, rows: Spans, columns: Spans, **more: Any) -> Any:
    return _lower_lines(b, images, rows.values(b), columns.values(b), **more)


def _lower_lines(
    b: Builder, images: Value, rows: Sequence[Value], columns: Sequence[Value], **more: Any
) -> Any:
    from ...jit import library

    return library.resampled(b, b.cast(images, "float32"), rows, columns, **more)


def _run_sizes(b: Builder, images: Value, size: Value, attr: Any) -> Sequence[AnySize] | None:
    """The wanted height and width if only a run tells these or the image's; None if it may not."""
    wanted = wanted_sizes(b, size)
    if images.ndim != 4 or wanted is None:
        return None
    refuse_sizes(images.shape, wanted, attr)
    return wanted


# Bicubic.


def _cubic_spans(image: Sequence[Any], size: Sequence[int], attr: Any) -> tuple[Spans, Spans]:
    is_half = attr("half_pixel_centers")
    rows, columns = (
        cubic(positions(image[axis + 1], size[axis], attr, 0.5), image[axis + 1], is_half)
        for axis in (0, 1)
    )
    return rows, columns


def _bicubic(c: KernelContext, images: np.ndarray, size: np.ndarray) -> np.ndarray:
    wanted = check_sizes(images.shape, size, c.attr)
    return _apply(images.astype(np.float32), *_cubic_spans(images.shape, wanted, c.attr))


def _lower_bicubic(b: Builder, op: OpView, images: Value, size: Value) -> Any:
    wanted = static_sizes(b, images, size)
    if wanted is not None:
        check_sizes(images.shape, wanted, op.attr)
        return _lower_spans(b, images, *_cubic_spans(images.shape, wanted, op.attr))
    asked = _run_sizes(b, images, size, op.attr)
    if asked is None:
        return NotImplemented
    rows, columns = (
        cubic_lines(b, images.shape[axis + 1], asked[axis], op.attr) for axis in (0, 1)
    )
    return _lower_lines(b, images, rows, columns)


def _check_gradient(grads: Sequence[Any], image: Sequence[Any], attr: Any) -> None:
    if attr("half_pixel_centers") and attr("align_corners"):
        raise errors.invalid("If half_pixel_centers is True, align_corners must be False.")
    if len(grads) != 4:
        raise errors.invalid(f"input_grad must be 4-dimensional{shape_text(grads)}")
    if len(image) != 4:
        raise errors.invalid(f"original_image must be 4-dimensional{shape_text(image)}")
    if 0 in grads[1:3]:
        raise errors.invalid("resized dimensions must be positive")
    if 0 in image[1:3]:
        raise errors.invalid("original dimensions must be positive")


def _turned_spans(grads: Sequence[Any], image: Sequence[Any], attr: Any) -> tuple[Spans, Spans]:
    rows, columns = _cubic_spans(image, [int(size) for size in grads[1:3]], attr)
    return rows.turned(int(image[1]), True), columns.turned(int(image[2]), True)


def _bicubic_grad(c: KernelContext, grads: np.ndarray, image: np.ndarray) -> np.ndarray:
    _check_gradient(grads.shape, image.shape, c.attr)
    spans = _turned_spans(grads.shape, image.shape, c.attr)
    return _apply(grads.astype(image.dtype), *spans).astype(image.dtype)


def _lower_bicubic_grad(b: Builder, op: OpView, grads: Value, image: Value) -> Any:
    sizes = (*image.shape[1:3], *grads.shape[1:3])
    if image.dtype != "float32" or not all(isinstance(size, int) for size in sizes):
        return NotImplemented
    b.require(grads.ndim == 4 and image.ndim == 4 and 0 not in sizes)
    return _lower_spans(b, grads, *_turned_spans(grads.shape, image.shape, op.attr))


def _shape_of_gradient(c: ShapeContext) -> TensorShape:
    """As the image's; how many there are, and of what depth, say the resized ones, too."""
    grads, image = c.inputs[:2]
    if grads.ndims != 4 or image.ndims != 4:
        return image
    outer = [image[i] if grads[i] in (None, image[i]) else None for i in (0, 3)]
    return TensorShape([outer[0], image[1], image[2], outer[1]])


def _grad_of_bicubic(op: Operation, grad: Tensor) -> list[Any]:
    image = op.inputs[0]
    if image.dtype not in (dtypes.float32, dtypes.float64):
        return [None, None]
    options = {key: op.attr(key) for key in ("align_corners", "half_pixel_centers")}
    return [raw.ResizeBicubicGrad(grad, image, **options), None]


define(
    "ResizeBicubicGrad",
    "grads: float32, original_image: T -> output: T",
    f"T: {{float32, float64}}; {_OPTIONS}",
    shape=_shape_of_gradient,
    kernel=_bicubic_grad,
    lower=_lower_bicubic_grad,
    gradient=NoGradient("TensorFlow has no gradient of it"),
    doc="The gradient of ResizeBicubic.",
    test=lambda: {"attrs": _CHOICES, "static": True, "shapes": [[[2, 5, 3, 1], [2, 2, 4, 1]]]},
)
_resize_bicubic = define(
    "ResizeBicubic",
    "images: T, size: int32 -> resized_images: float32",
    f"T: {{{_REALS}}}; {_OPTIONS}",
    shape=resized_shape,
    kernel=ranked(_bicubic, *_INPUTS),
    lower=_lower_bicubic,
    gradient=_grad_of_bicubic,
    doc="Resizes images with bicubic interpolation.",
    test=lambda: {
        "attrs": _CHOICES,
        "static": True,
        "gradient": False,  # The result is float32: too coarse for differences.
        "values": [
            [_image(), np.array([3, 7], np.int32)],
            [_bytes(), np.array([8, 3], np.int32)],
        ],
    },
)


@export("image.resize_bicubic")
def resize_bicubic(
    images: TensorLike,
    size: TensorLike,
    align_corners: bool = False,
    name: str | None = None,
    half_pixel_centers: bool = False,
) -> Tensor:
    """Resizes images with bicubic interpolation; arguments as in `tf.image.resize_bilinear`.

    Returns:
        A float32 tensor, [batch, new height, new width, channels].
    """
    return _resize_bicubic(images, size, align_corners, half_pixel_centers, name=name)


# By area.


def _scale(size: int, resized: int, is_aligned: bool) -> np.float32:
    if is_aligned and resized > 1:
        return np.float32(size - 1) / np.float32(resized - 1)
    return np.float32(size) / np.float32(resized)


class _AreaOptions:
    """The attributes that other resizing ops have besides."""

    def __init__(self, attr: Any) -> None:
        self.attr = attr

    def __call__(self, key: str) -> Any:
        return False if key == "half_pixel_centers" else self.attr(key)


def _area_spans(
    image: Sequence[Any], size: Sequence[int], attr: Any
) -> tuple[Spans, Spans, np.float32]:
    scales = [_scale(int(image[axis + 1]), size[axis], attr("align_corners")) for axis in (0, 1)]
    rows, columns = (area(int(image[axis + 1]), size[axis], scales[axis]) for axis in (0, 1))
    with np.errstate(all="ignore"):
        factor = np.float32(np.float64(1) / np.float64(scales[0] * scales[1]))
    return rows, columns, factor


def _area(c: KernelContext, images: np.ndarray, size: np.ndarray) -> np.ndarray:
    wanted = check_sizes(images.shape, size, _AreaOptions(c.attr))
    # Sizes beyond memory are refused before tables of as many rows are made, for hours.
    np.empty((len(images), *wanted, images.shape[3]), np.float32)
    rows, columns, factor = _area_spans(images.shape, wanted, c.attr)
    with np.errstate(all="ignore"):
        return rows.summed(columns.summed(images.astype(np.float32), 2), 1) * factor


def _lower_area(b: Builder, op: OpView, images: Value, size: Value) -> Any:
    wanted, attr = static_sizes(b, images, size), _AreaOptions(op.attr)
    if wanted is not None:
        check_sizes(images.shape, wanted, attr)
        rows, columns, factor = _area_spans(images.shape, wanted, op.attr)
        factors = b.constant(np.array([factor]))
        return _lower_spans(b, images, rows, columns, across_first=True, factor=factors)
    asked = _run_sizes(b, images, size, attr)
    if asked is None:
        return NotImplemented
    (tall, height), (wide, width) = (
        area_lines(b, images.shape[axis + 1], asked[axis], attr) for axis in (0, 1)
    )
    # (Of two numbers of single precision the quotient is that of their doubles, rounded.)
    factors = b.map(lambda x, y: k.div(k.const_like(1, x), k.mul(x, y)), height, width)
    return _lower_lines(b, images, tall, wide, across_first=True, factor=factors)


_resize_area = define(
    "ResizeArea",
    "images: T, size: int32 -> resized_images: float32",
    f"T: {{{_REALS}}}; align_corners: bool = false",
    shape=resized_shape,
    kernel=ranked(_area, *_INPUTS),
    lower=_lower_area,
    gradient=NoGradient("TensorFlow has no gradient of it"),
    doc="""Resizes images; each pixel is the mean of what it covers.

    Args:
        images: [batch, height, width, channels].
        size: the new height and width.
        align_corners: whether the centres of the corners' pixels stay where they are.
    """,
    test=lambda: {
        "attrs": [{}, {"align_corners": True}],
        "static": True,
        "values": [[_image(), np.array([3, 7], np.int32)], [_bytes(), np.array([3, 2], np.int32)]],
    },
)
export("image.resize_area")(_resize_area)


# Scaled and moved.


def _pair(values: np.ndarray) -> tuple[np.float32, np.float32]:
    if values.ndim != 1:
        raise errors.invalid(f"t must be 1-dimensional{shape_text(values.shape)}")
    if values.size != 2:
        raise errors.invalid(f"t must have two elements{shape_text(values.shape)}")
    return values[0], values[1]


def _text(name: bytes | str) -> str:
    return name.decode() if isinstance(name, bytes) else name


def _sampled_spans(
    attr: Any, image: Sequence[Any], size: Sequence[int], scale: np.ndarray, move: np.ndarray
) -> tuple[Spans, Spans]:
    kernel = _text(attr("kernel_type"))
    if kernel not in SAMPLING:
        raise errors.invalid(f"Unrecognized kernel type: {kernel}")
    scales = _pair(scale)
    if not (scales[0] > 0 and scales[1] > 0):
        raise errors.invalid("Scale must be greater than zero.")
    moves, smooth = _pair(move), attr("antialias")
    rows, columns = (
        sampled(kernel, int(image[axis + 1]), int(size[axis]), scales[axis], moves[axis], smooth)
        for axis in (0, 1)
    )
    return rows, columns


def _translated(
    c: KernelContext, images: np.ndarray, size: np.ndarray, scale: np.ndarray, move: np.ndarray
) -> np.ndarray:
    wanted = check_sizes(images.shape, size, lambda key: False, "output_shape_t")
    spans = _sampled_spans(c.attr, images.shape, wanted, scale, move)
    return _apply(images.astype(np.float32), *spans)


def _lower_translated(
    b: Builder, op: OpView, images: Value, size: Value, scale: Value, move: Value
) -> Any:
    wanted, scales, moves = static_sizes(b, images, size), b.known(scale), b.known(move)
    if wanted is None or scales is None or moves is None or object in (scales.dtype, moves.dtype):
        return _lower_samples_of_run(b, op, images, size, scale, move)
    check_sizes(images.shape, wanted, lambda key: False)
    return _lower_spans(b, images, *_sampled_spans(op.attr, images.shape, wanted, scales, moves))


def _lower_samples_of_run(
    b: Builder, op: OpView, images: Value, size: Value, scale: Value, move: Value
) -> Any:
    kernel = _text(op.attr("kernel_type"))
    asked = _run_sizes(b, images, size, lambda key: False)
    are_pairs = same_shape(scale.shape, (2,)) and same_shape(move.shape, (2,))
    if asked is None or kernel not in SAMPLING or not are_pairs:
        return NotImplemented
    require_scales(b, scale)
    lines = []
    for axis in (0, 1):
        own, moved = (b.slice(each, [axis], [1]) for each in (scale, move))
        sides = images.shape[axis + 1], asked[axis]
        lines.append(sampled_lines(b, kernel, sides, own, moved, op.attr("antialias")))
    return _lower_lines(b, images, *lines)


def _turned_samples(
    attr: Any, grads: Sequence[Any], image: Sequence[Any], scale: np.ndarray, move: np.ndarray
) -> tuple[Spans, Spans]:
    rows, columns = _sampled_spans(attr, image, grads[1:3], scale, move)
    return rows.turned(int(image[1])), columns.turned(int(image[2]))


def _translated_grad(
    c: KernelContext, grads: np.ndarray, image: np.ndarray, scale: np.ndarray, move: np.ndarray
) -> np.ndarray:
    if grads.ndim != 4:
        raise errors.invalid(f"input_grad must be 4-dimensional{shape_text(grads.shape)}")
    if image.ndim != 4:
        raise errors.invalid(f"original_image must be 4-dimensional{shape_text(image.shape)}")
    return _apply(grads, *_turned_samples(c.attr, grads.shape, image.shape, scale, move))


def _lower_translated_grad(
    b: Builder, op: OpView, grads: Value, image: Value, scale: Value, move: Value
) -> Any:
    sizes = (*image.shape[1:3], *grads.shape[1:3])
    scales, moves = b.known(scale), b.known(move)
    if scales is None or moves is None or object in (scales.dtype, moves.dtype):
        return NotImplemented
    if not all(isinstance(size, int) for size in sizes):
        return NotImplemented
    b.require(grads.ndim == 4 and image.ndim == 4 and 0 not in sizes)
    return _lower_spans(
        b, grads, *_turned_samples(op.attr, grads.shape, image.shape, scales, moves)
    )


def _grad_of_translated(op: Operation, grad: Tensor) -> list[Any]:
    options = {key: op.attr(key) for key in ("kernel_type", "antialias")}
    image, _, scale, move = op.inputs
    return [raw.ScaleAndTranslateGrad(grad, image, scale, move, **options), None, None, None]


def _scales() -> np.ndarray:
    return np.array([0.7, 1.4], np.float32)


def _move() -> np.ndarray:
    return np.array([0.5, -0.25], np.float32)


_KERNELS = "kernel_type: string = 'lanczos3'; antialias: bool = true"
_SAMPLED = [{}, *({"kernel_type": key.encode(), "antialias": False} for key in SAMPLING)]
define(
    "ScaleAndTranslateGrad",
    "grads: T, original_image: T, scale: float32, translation: float32 -> output: T",
    f"T: {{float32}}; {_KERNELS}",
    shape=_shape_of_gradient,
    kernel=_translated_grad,
    lower=_lower_translated_grad,
    gradient=NoGradient("TensorFlow has no gradient of it"),
    doc="The gradient of ScaleAndTranslate.",
    test=lambda: {
        "attrs": _SAMPLED,
        "static": True,
        "values": [[_image()[:, :3], _image()[:, :, :3], _scales(), _move()]],
    },
)
define(
    "ScaleAndTranslate",
    "images: T, size: int32, scale: float32, translation: float32 -> resized_images: float32",
    f"T: {{{_INTEGERS}, bfloat16, half, float32, float64}}; {_KERNELS}",
    shape=resized_shape,
    kernel=_translated,
    lower=_lower_translated,
    gradient=_grad_of_translated,
    doc="Images scaled and moved, their pixels weighted by a sampling kernel.",
    test=lambda: {
        "attrs": _SAMPLED,
        "static": True,
        "gradient": False,  # The result is float32: too coarse for differences.
        "values": [[_image(), np.array([3, 7], np.int32), _scales(), _move()]],
    },
)
