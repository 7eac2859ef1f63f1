# SPDX-License-Identifier: Apache-2.0
"""The best boxes of images, picked class by class and then put in the order of their scores.

First each class of each image is a tile of its own, then each image.  Of equal scores the first
class, and in it the first box, comes first.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from ..kernel.sizes import AnySize, maximum, minimum
from . import class_suppression_kernels
from .library_kernel import LibraryKernel
from .template import specialise

_WORK = 1 << 12  # boxes per tile
_PICKS = (*["float32"] * 4, "int64", "int32")
_MERGED = ("float32", "float32", "int64", "int32", *["float32"] * 3, "int32")


def suppressed_classes(
    b: Any,
    boxes: Any,
    scores: Any,
    threshold: Any,
    least: Any,
    per_class: int,
    total: AnySize,
    is_clipped: bool,
) -> Any:
    """(boxes, scores, classes, how many) of each image, filled up with zeros to `total`.

    boxes: [images, number, 1 or classes, 4]; scores: [images, number, classes], all of float32.  A
    box goes that shares more than the threshold (0-d) with a better one of its class.
    """
    images, number, classes = scores.shape
    several, most = boxes.shape[2], minimum(per_class, number)
    picks, counts = b.call(
        _kernel(class_suppression_kernels.class_picks),
        [boxes, scores, threshold, least],
        [((images, classes, most), "int64"), ((images, classes), "int32")],
        [number, several, classes, most],
        images * classes,
        maximum(_WORK // maximum(number, 1), 1),
        scratch=8 * number + 20 * (most + 1),
        operations=images * classes * number * 20,
    )
    return b.call(
        _kernel(class_suppression_kernels.merged_picks),
        [boxes, scores, picks, counts],
        [
            ((images, total, 4), "float32"),
            *[((images, total), "float32")] * 2,
            ((images,), "int32"),
        ],
        [number, several, classes, most, total, int(is_clipped)],
        images,
        scratch=8 * (classes * most + 1),
        operations=images * classes * most * 20,
    )


def _kernel(entry: Any) -> LibraryKernel:
    return specialise(entry.__name__, entry)


def closed(dtypes: Sequence[str]) -> Iterator[LibraryKernel]:
    """Both kernels, which are of single precision only."""
    del dtypes
    yield _kernel(class_suppression_kernels.class_picks).over(_PICKS)
    yield _kernel(class_suppression_kernels.merged_picks).over(_MERGED)
