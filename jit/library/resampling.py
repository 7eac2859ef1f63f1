# SPDX-License-Identifier: Apache-2.0
"""Images resampled by weighted sums of rows and columns, line by line of the result."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from ..kernel.sizes import maximum, one_of
from . import resampling_kernels
from .library_kernel import LibraryKernel
from .template import specialise

_WORK = 1 << 14  # elements per tile
_DEPTHS = (1, 3)


def resampled(
    b: Any,
    images: Any,
    rows: Sequence[Any],
    columns: Sequence[Any],
    across_first: bool = False,
    factor: Any = None,
) -> Any:
    """Images whose lines are weighted sums of others.

    rows: for each line of the result how many it takes, int64, which of them, int64, and weights,
    float32, [lines, most]; likewise columns.  across_first: what the sums along lines are
    multiplied by and added up to is multiplied by `factor`, a vector of one.  NotImplemented but
    for images of float32.
    """
    if images.dtype != "float32":
        return NotImplemented
    batch, height, width, depth = images.shape
    known = one_of(depth, _DEPTHS)
    kernel = specialise(
        "resampled", resampling_kernels.resampled, ACROSS_FIRST=across_first, DEPTH=known
    )
    factor = b.constant([1.0], "float32") if factor is None else factor
    (tall, high), (wide, broad) = rows[1].shape, columns[1].shape
    line = (wide if across_first else width) * depth
    (out,) = b.call(
        kernel,
        [images, *rows, *columns, factor],
        [((batch, tall, wide, depth), "float32")],
        [height, width, tall, wide, depth, high, broad],
        batch * tall,
        maximum(_WORK // maximum(high * width * depth, 1), 1),
        scratch=4 * line,
        operations=2 * batch * tall * depth * (high * width + broad * wide),
    )
    return out


def closed(dtypes: Sequence[str]) -> Iterator[LibraryKernel]:
    """All kernels, which are of single precision only."""
    del dtypes
    spans = ("int64", "int64", "float32")
    for across_first in (False, True):
        for depth in (0, *_DEPTHS):
            kernel = specialise(
                "resampled", resampling_kernels.resampled, ACROSS_FIRST=across_first, DEPTH=depth
            )
            yield kernel.over(("float32", *spans, *spans, "float32", "float32"))
