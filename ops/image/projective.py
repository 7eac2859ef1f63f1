# SPDX-License-Identifier: Apache-2.0
"""The ops of images under projective transforms: rotated, moved, seen from aside.

A transform is eight numbers, a matrix without its last entry, 1: it gives the point of the image
that each point of the result shows.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ...engine import errors
from ...engine.api import export
from ...engine.graph.build import define
from ...engine.graph.convert import convert_to_tensor
from ...engine.graph.registry import NoGradient
from ...engine.graph.scope_functions import name_scope
from ...engine.graph.tensor import Tensor
from ...engine.types import dtypes
from ...engine.types.shape import TensorShape
from ...jit.kernel import scalar as k
from .. import shape_inference
from ..math.rounding import half_away
from ..public import raw, tf

if TYPE_CHECKING:
    from ...engine.graph.annotations import TensorLike
    from ...engine.graph.inference import ShapeContext
    from ...engine.graph.kernel_context import KernelContext
    from ...engine.graph.operation import Operation
    from ...jit.program.tensor_ir import Value
    from ...jit.trace.builder import Builder
    from ...jit.trace.tracer import OpView

_PIXELS = "dtype: {uint8, int32, int64, half, float32, float64}; interpolation: string"


def _source(x: Any, y: Any, *transform: Any) -> tuple[Any, Any, Any]:
    """The point of the image that (x, y) shows, and whether there is one: a scalar body."""
    a, b, c, d, e, f, g, h = transform

    def line(p: Any, q: Any, r: Any) -> Any:
        return k.add(k.add(k.mul(p, x), k.mul(q, y)), r)

    depth = line(g, h, 1.0)
    return k.div(line(a, b, c), depth), k.div(line(d, e, f), depth), k.ne(depth, 0.0)


def _place(y: Any, x: Any, is_seen: Any, image: Any, height: Any, width: Any) -> tuple[Any, Any]:
    """Which pixel of all images is meant, and whether it is one: a scalar body."""
    tall, wide = k.cast(height, "float32"), k.cast(width, "float32")
    in_rows = k.logical_and(k.ge(y, 0.0), k.lt(y, tall))
    in_columns = k.logical_and(k.ge(x, 0.0), k.lt(x, wide))
    inside = k.logical_and(is_seen, k.logical_and(in_rows, in_columns))
    row = k.cast(k.select(inside, y, k.sub(y, y)), "int64")
    column = k.cast(k.select(inside, x, k.sub(x, x)), "int64")
    at = k.add(k.mul(k.add(k.mul(image, height), row), width), column)
    return k.select(inside, at, k.sub(image, image)), inside


def _wanted_size(images: Sequence[Any], size: Any) -> tuple[Any, Any]:
    """The height and width of the results."""
    if size is None:
        return images[1], images[2]
    if size.ndim != 1:
        raise errors.invalid(f"output shape must be 1-dimensional{list(size.shape)}")
    if size.shape != (2,):
        raise errors.invalid(f"output shape must have two elements{list(size.shape)}")
    if any(n <= 0 for n in size.tolist()):
        raise errors.invalid("output dimensions must be positive")
    return size.tolist()[0], size.tolist()[1]


def _check(images: np.ndarray, transforms: np.ndarray) -> None:
    if images.ndim != 4:
        raise errors.invalid("Input images must have rank 4")
    if transforms.ndim != 2 or transforms.shape[1] != 8 or len(transforms) not in (1, len(images)):
        raise errors.invalid("Input transform should be num_images x 8 or 1 x 8")


def _is_bilinear(mode: object) -> bool:
    if mode not in ("NEAREST", "BILINEAR"):
        raise errors.invalid(f"Invalid interpolation {mode}. Supported types: NEAREST, BILINEAR")
    return mode == "BILINEAR"


def _transformed(
    c: KernelContext, images: np.ndarray, transforms: np.ndarray, size: np.ndarray | None = None
) -> np.ndarray:
    _check(images, transforms)
    tall, wide = _wanted_size(images.shape, size)
    is_bilinear = _is_bilinear(c.attr("interpolation"))
    count, height, width, depth = images.shape
    if not images.size:
        return np.zeros((count, tall, wide, depth), images.dtype)
    numbers = np.arange(count)[:, None, None]
    rows, columns = np.arange(tall, dtype=np.float32)[:, None], np.arange(wide, dtype=np.float32)
    parts = [transforms[:, i, None, None].astype(np.float32) for i in range(8)]
    with np.errstate(all="ignore"):
        x, y, is_seen = _source(columns, rows, *parts)
        flat = images.reshape(-1, depth)

        def pixels(y: Any, x: Any) -> np.ndarray:
            inside = is_seen & (y >= 0) & (y < height) & (x >= 0) & (x < width)
            row, column = (np.where(inside, p, 0).astype(np.int64) for p in (y, x))
            found = flat[(numbers * height + row) * width + column]
            return np.where(inside[..., None], found, np.zeros((), images.dtype))

        if not is_bilinear:
            return pixels(half_away(y), half_away(x))
        y, x = (np.where(is_seen, p, np.float32(-9)) for p in (y, x))
        corners = [
            pixels(np.floor(y) + np.float32(i), np.floor(x) + np.float32(j)).astype(np.float32)
            for i in (0, 1)
            for j in (0, 1)
        ]
        blended = _blend(y[..., None], x[..., None], *corners)
        return np.where(is_seen[..., None], blended, np.float32(0)).astype(images.dtype)


def _blend(y: Any, x: Any, *corners: Any) -> Any:
    """Between four pixels, in TensorFlow's order: a scalar body."""
    tl, tr, bl, br = corners
    left, top = k.floor(x), k.floor(y)
    to_right, to_left = k.sub(k.add(left, 1.0), x), k.sub(x, left)
    above = k.add(k.mul(to_right, tl), k.mul(to_left, tr))
    below = k.add(k.mul(to_right, bl), k.mul(to_left, br))
    to_bottom, to_top = k.sub(k.add(top, 1.0), y), k.sub(y, top)
    return k.add(k.mul(to_bottom, above), k.mul(to_top, below))


def _lower(
    b: Builder, op: OpView, images: Value, transforms: Value, size: Value | None = None
) -> Any:
    known = None if size is None else b.known(size)
    if size is not None and known is None:
        return NotImplemented
    b.require(images.ndim == 4 and transforms.ndim == 2)
    is_bilinear = _is_bilinear(op.attr("interpolation"))
    tall, wide = _wanted_size(images.shape, known)
    count, height, width, depth = images.shape
    b.require(b.equal(transforms.shape[1], 8))
    if not b.equal(transforms.shape[0], 1):
        b.require(b.equal(transforms.shape[0], count))
    b.require(not any(b.equal(n, 0) for n in (height, width, depth)))
    shape = (count, tall, wide, 1)
    numbers = [b.slice(transforms, [0, i], [transforms.shape[0], 1]) for i in range(8)]
    parts = [b.reshape(part, (transforms.shape[0], 1, 1, 1)) for part in numbers]
    columns, rows = b.iota(shape, 2, "float32"), b.iota(shape, 1, "float32")
    x, y, is_seen = b.map(_source, columns, rows, *parts)
    flat = b.reshape(images, (count * height * width, depth))
    sizes = [b.iota(shape, 0, "int64"), b.constant(height, "int64"), b.constant(width, "int64")]

    def pixels(y: Value, x: Value) -> Value:
        at, inside = b.map(_place, y, x, is_seen, *sizes)
        found = b.pick(flat, b.reshape(at, shape[:3]), 0)
        return b.map(lambda v, i: k.select(i, v, k.cast(0, images.dtype)), found, inside)

    if not is_bilinear:
        return pixels(b.map(half_away, y), b.map(half_away, x))
    tops, lefts = (
        [b.map(lambda p, n=float(n): k.add(k.floor(p), n), p) for n in (0, 1)] for p in (y, x)
    )
    corners = [b.cast(pixels(top, left), "float32") for top in tops for left in lefts]

    def blend(y: Any, x: Any, is_seen: Any, *corners: Any) -> Any:
        return k.select(is_seen, _blend(y, x, *corners), 0.0)

    return b.map(blend, y, x, is_seen, *corners, dtype=images.dtype)


@export("contrib.image.flat_transforms_to_matrices")
def flat_transforms_to_matrices(transforms: TensorLike) -> Tensor:
    """Transforms of eight numbers as matrices [n, 3, 3].

    Args:
        transforms: a vector of eight numbers, or [n, 8].

    Returns:
        Matrices that give points of images for those of results.

    Raises:
        ValueError: the transforms have another rank.

    Example:
        >>> flat = tf.constant([1.0, 0, 5, 0, 1, 7, 0, 0])
        >>> print(tf.Session().run(tf.contrib.image.flat_transforms_to_matrices(flat))[0])
        [[1. 0. 5.]
         [0. 1. 7.]
         [0. 0. 1.]]
    """
    with name_scope("flat_transforms_to_matrices"):
        given = convert_to_tensor(transforms, name="transforms")
        if given.shape.ndims not in (1, 2):
            raise ValueError(f"Transforms should be 1D or 2D, got: {given}")
        flat = tf.reshape(given, tf.constant([-1, 8]))
        last = tf.ones([tf.shape(flat)[0], 1])
        return tf.reshape(tf.concat([flat, last], axis=1), tf.constant([-1, 3, 3]))


@export("contrib.image.matrices_to_flat_transforms")
def matrices_to_flat_transforms(transform_matrices: TensorLike) -> Tensor:
    """Matrices as transforms of eight numbers, [n, 8].

    Args:
        transform_matrices: [3, 3] or [n, 3, 3]: they give points of images for those of results.

    Returns:
        Transforms for `tf.contrib.image.transform`.

    Raises:
        ValueError: the matrices have another rank.
    """
    with name_scope("matrices_to_flat_transforms"):
        given = convert_to_tensor(transform_matrices, name="transform_matrices")
        if given.shape.ndims not in (2, 3):
            raise ValueError(f"Matrices should be 2D or 3D, got: {given}")
        flat = tf.reshape(given, tf.constant([-1, 9]))
        flat /= flat[:, 8:9]
        return flat[:, :8]


def _gradient(op: Operation, grad: Tensor) -> list[Tensor | None]:
    images, transforms = op.inputs[:2]
    transforms = convert_to_tensor(transforms, dtypes.float32)
    back = matrices_to_flat_transforms(tf.matrix_inverse(flat_transforms_to_matrices(transforms)))
    size = tf.shape(images)[1:3]
    mode = op.attr("interpolation")
    return [raw.ImageProjectiveTransformV2(grad, back, size, interpolation=mode), None, None]


def _sized_shape(c: ShapeContext) -> TensorShape:
    images = shape_inference.ranked(c.inputs[0], 4)
    shape_inference.require_dim(shape_inference.ranked(c.inputs[2], 1)[0], 2)
    size = c.value(2)
    tall, wide = (None, None) if size is None else (int(size[0]), int(size[1]))
    return TensorShape([images[0], tall, wide, images[3]])


def _images() -> np.ndarray:
    return np.linspace(-1, 2, 48).reshape(2, 4, 3, 2).astype(np.float32)


# (Whose inverses are exact: another last bit may show another pixel.)


def _transforms() -> np.ndarray:
    return np.array(
        [[0, -1, 2.25, 1, 0, -0.75, 0, 0], [0.5, 0, 0.25, 0, 2, 0.125, 0, 0]], np.float32
    )


_MODES = [{"interpolation": b"NEAREST"}, {"interpolation": b"BILINEAR"}]

define(
    "ImageProjectiveTransform",
    "images: dtype, transforms: float32 -> transformed_images: dtype",
    _PIXELS,
    shape=lambda c: c.inputs[0],
    kernel=_transformed,
    lower=_lower,
    gradient=NoGradient("TensorFlow has one for ImageProjectiveTransformV2"),
    doc="Images as transforms show them.",
    test=lambda: {"values": [[_images(), _transforms()]], "attrs": _MODES},
)
define(
    "ImageProjectiveTransformV2",
    "images: dtype, transforms: float32, output_shape: int32 -> transformed_images: dtype",
    _PIXELS,
    shape=_sized_shape,
    kernel=_transformed,
    lower=_lower,
    gradient=_gradient,
    doc="Images as transforms show them, in another size.",
    test=lambda: {
        "values": [
            [_images(), _transforms(), np.array([3, 5], np.int32)],
            [_images(), _transforms()[:1], np.array([4, 3], np.int32)],
        ],
        "attrs": _MODES,
        # It shows the gradient as the image is shown, which is not the derivative.
        "gradient": False,
    },
)
