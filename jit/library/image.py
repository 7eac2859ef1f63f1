# SPDX-License-Identifier: Apache-2.0
"""Cuts out of images, and the gradients of resampling, in single precision.

What goes to one image is added by one tile, in order.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from ..kernel.sizes import AnySize, maximum, one_of, product
from . import image_kernels
from .image_kernels import SPARE
from .library_kernel import LibraryKernel
from .template import specialise

_WORK = 1 << 14  # elements per tile
# What is resized as it is, and the numbers of channels that have code of their own.
_PIXELS, _DEPTHS = ("float32", "uint8"), (1, 3)
_CUT = ("float32", "float32", "int32", "float32", "float32")
_CUT_GRADIENT = ("float32", "float32", "int32", "float32")
_RESIZED = ("float32", "int64", "int64", "float32", "int64", "int64", "float32", "float32")


def resized_gradient(
    b: Any,
    grads: Any,
    rows: Sequence[Any],
    columns: Sequence[Any],
    height: AnySize,
    width: AnySize,
    is_nearest: bool,
) -> Any:
    """What resized images give to the images that they were made of.

    rows: for each row of the resized image the two that it lies between, int64, and how near the
    second one is, float32; likewise columns.  NotImplemented but for float32.
    """
    if grads.dtype != "float32":
        return NotImplemented
    batch, tall, wide, depth = grads.shape
    kernel = specialise("resized_gradient", image_kernels.resized_gradient, NEAREST=is_nearest)
    (out,) = b.call(
        kernel,
        [grads, *rows, *columns],
        [((batch, height, width, depth), "float32")],
        [height, width, tall, wide, depth],
        batch,
        operations=8 * product(grads.shape),
    )
    return out


def resized(
    b: Any, images: Any, rows: Sequence[Any], columns: Sequence[Any], tall: AnySize, wide: AnySize
) -> Any:
    """Images of another size; rows and columns: as those of `resized_gradient`."""
    if images.dtype not in _PIXELS:
        return NotImplemented
    batch, height, width, depth = images.shape
    (out,) = b.call(
        _resized_kernel(one_of(depth, _DEPTHS)),
        [images, *rows, *columns],
        [((batch, tall, wide, depth), "float32")],
        [height, width, tall, wide, depth],
        batch * tall,
        maximum(_WORK // maximum(wide * depth, 1), 1),
        scratch=8 * (wide * depth + SPARE) + 4 * (width * depth + SPARE),
        operations=6 * batch * tall * wide * depth,
    )
    return out


def _resized_kernel(depth: int) -> LibraryKernel:
    return specialise("resized", image_kernels.resized, NEAREST=False, DEPTH=depth)


def box_gradient(b: Any, grads: Any, images: Any, boxes: Any, numbers: Any) -> Any:
    """What cuts give to the corners of their boxes."""
    if images.dtype != "float32":
        return NotImplemented
    (out,) = b.call(
        specialise("box_gradient", image_kernels.box_gradient, NEAREST=False),
        [grads, images, boxes, numbers],
        [(tuple(boxes.shape), "float32")],
        [*images.shape, *grads.shape[1:3]],
        numbers.shape[0],
        operations=12 * product(grads.shape),
    )
    return out


def cut(
    b: Any,
    images: Any,
    boxes: Any,
    numbers: Any,
    outside: Any,
    rows: AnySize,
    columns: AnySize,
    is_nearest: bool,
) -> Any:
    """Cuts of rows x columns out of images; numbers (int32) say of which each is.

    outside: a vector with the one number that stands where a cut leaves its image.
    """
    if images.dtype != "float32":
        return NotImplemented
    count, depth = numbers.shape[0], images.shape[3]
    kernel = specialise("cut", image_kernels.cut, NEAREST=is_nearest)
    (out,) = b.call(
        kernel,
        [images, boxes, numbers, outside],
        [((count, rows, columns, depth), "float32")],
        [*images.shape, rows, columns],
        count,
        operations=8 * count * rows * columns * depth,
    )
    return out


def cut_gradient(
    b: Any, grads: Any, boxes: Any, numbers: Any, shape: Sequence[AnySize], is_nearest: bool
) -> Any:
    """What cuts give to the images, of a shape, that they were taken from."""
    if grads.dtype != "float32":
        return NotImplemented
    kernel = specialise("cut_gradient", image_kernels.cut_gradient, NEAREST=is_nearest)
    batch, height, width, depth = shape
    (out,) = b.call(
        kernel,
        [grads, boxes, numbers],
        [(tuple(shape), "float32")],
        [numbers.shape[0], height, width, depth, *grads.shape[1:3]],
        batch,
        operations=8 * product(grads.shape),
    )
    return out


def outlined(b: Any, images: Any, boxes: Any, colors: Any) -> Any:
    """Images with the outlines of boxes, [images, number, 4], in colours by turns."""
    (out,) = b.call(
        _outlined_kernel(),
        [images, boxes, colors],
        [(tuple(images.shape), "float32")],
        [*images.shape[1:], boxes.shape[1], *colors.shape],
        images.shape[0],
        operations=product(images.shape),
    )
    return out


def _outlined_kernel() -> LibraryKernel:
    return specialise("outlined", image_kernels.outlined, NEAREST=False)


def closed(dtypes: Sequence[str]) -> Iterator[LibraryKernel]:
    """All kernels, which are of single precision only."""
    del dtypes
    for is_nearest in (False, True):
        for entry, kinds in (
            (image_kernels.cut, _CUT),
            (image_kernels.cut_gradient, _CUT_GRADIENT),
            (image_kernels.resized_gradient, _RESIZED),
        ):
            yield specialise(entry.__name__, entry, NEAREST=is_nearest).over(kinds)
    yield _outlined_kernel().over(("float32",) * 4)
    for depth in (0, *_DEPTHS):
        for pixels in _PIXELS:
            yield _resized_kernel(depth).over((pixels, *_RESIZED[1:]))
    kinds = ("float32", "float32", "float32", "int32", "float32")
    yield specialise("box_gradient", image_kernels.box_gradient, NEAREST=False).over(kinds)
