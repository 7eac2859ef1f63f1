# SPDX-License-Identifier: Apache-2.0
"""Boxes picked by score, without those that overlap better ones; one after the other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from . import suppression_kernels
from .library_kernel import LibraryKernel
from .template import specialise

_KINDS = (*["float32"] * 5, "int32", "float32", "int32")


def suppressed(
    b: Any,
    boxes: Any,
    scores: Any,
    threshold: Any,
    least: Any,
    scale: Any,
    wanted: int,
    is_boxes: bool,
) -> Any:
    """(indices, scores, how many): the best ones, first, filled up with zeros to `wanted`.

    boxes: [number, 4], or how much each overlaps each; from the threshold (0-d) on one of two goes.
    Below it scores are multiplied by e ** (scale * overlap ** 2).  All are float32.
    """
    count = scores.shape[0]
    scratch = 24 * (count + 1) + 20 * (wanted + 1)
    return b.call(
        _kernel(is_boxes),
        [boxes, scores, threshold, least, scale],
        [((wanted,), "int32"), ((wanted,), "float32"), ((), "int32")],
        [count, wanted],
        scratch=scratch,
        operations=20 * count,
    )


def _kernel(is_boxes: bool) -> LibraryKernel:
    return specialise("suppressed", suppression_kernels.suppressed, BOXES=is_boxes)


def closed(dtypes: Sequence[str]) -> Iterator[LibraryKernel]:
    """Both kernels, which are of single precision only."""
    del dtypes
    for is_boxes in (False, True):
        yield _kernel(is_boxes).over(_KINDS)
