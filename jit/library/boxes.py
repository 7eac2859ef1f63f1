# SPDX-License-Identifier: Apache-2.0
"""Boxes of tensors whose corners only a run knows: lines are copied whole."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from ..kernel.sizes import AnySize, ceil_div, maximum, product
from . import boxes_kernels
from .library_kernel import LibraryKernel
from .template import specialise

_TILE = 1 << 19  # elements that make a worthwhile tile: copying fewer takes less than a wake-up
_MOST = 4  # dimensions, of which the last may be several in one


def _kernel(depth: int) -> LibraryKernel:
    return specialise("box", boxes_kernels.box, LAST=depth - 1)


def box(b: Any, x: Any, corner: Any, shape: Sequence[AnySize], depth: int) -> Any:
    """The part of a tensor that begins at a corner, or NotImplemented.

    Args:
        b: the builder.
        x: the tensor.
        corner: int64, where the box begins in the first `depth` dimensions; checked to be inside.
        shape: the box's; that of the tensor in all dimensions behind those.
        depth: how many dimensions the corner has.
    """
    if not 1 <= depth <= _MOST:
        return NotImplemented
    params: list[Any] = [product(shape[depth - 1 :])]
    for axis in range(depth):
        stride = product(x.shape[axis + 1 :])
        params += [shape[axis], x.shape[axis] - shape[axis], stride]
    (out,) = b.call(
        _kernel(depth),
        [x, corner],
        [(tuple(shape), x.dtype)],
        params,
        product(shape[: depth - 1]),
        maximum(ceil_div(_TILE, maximum(params[0], 1)), 1),
    )
    return out


def closed(dtypes: Sequence[str]) -> Iterator[LibraryKernel]:
    """The kernels of pictures and batches of them, of bytes and of these dtypes."""
    for dtype in dict.fromkeys((*dtypes, "uint8")):
        for depth in (2, 3):
            yield _kernel(depth).over([dtype, "int64", dtype])
