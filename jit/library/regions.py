# SPDX-License-Identifier: Apache-2.0
"""Pooling over regions of random sizes: where they begin, their maxima and means, and gradients.

Tiles are rows of results, or images: so results have the same bits whatever the threads.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from ..kernel.sizes import AnySize, ceil_div, maximum, product
from . import regions_kernels
from .library_kernel import LibraryKernel
from .random import PhiloxReservation
from .template import specialise

_WORK = 1 << 15  # elements per tile
DTYPES = ("float32", "float64", "int32", "int64")


def closed(dtypes: Sequence[str]) -> Iterator[LibraryKernel]:
    """Every kernel of this module for numbers of these dtypes."""
    yield specialise("region_bounds", regions_kernels.bounds).over(["int64"] * 2)
    for dtype in dtypes:
        if dtype in DTYPES:
            for mean in (False, True):
                yield _pool_kernel(dtype, mean).over([dtype, "int64", "int64", dtype])
            given = ["int64", "int64", dtype]
            yield _kernel(regions_kernels.max_gradient, dtype).over([dtype, dtype, *given])
            yield _kernel(regions_kernels.mean_gradient, dtype).over([dtype, *given])


def bounds(
    b: Any, op: Any, axes: Sequence[tuple[int, int]], is_even: bool, stream: Any
) -> tuple[Any, Any]:
    """Where regions of rows and of columns begin, and where the last ones end.

    axes: of rows and of columns how many there are, and how many regions; stream: as that of
    PhiloxReservation, whose outputs are blocks: of an even division one an axis, else one for each
    four regions.
    """
    blocks = sum(1 if is_even else -(-count // 4) for _, count in axes)
    return b.call(  # type: ignore[no-any-return]
        specialise("region_bounds", regions_kernels.bounds),
        [],
        [((count + 1,), "int64") for _, count in axes],
        [*(number for axis in axes for number in axis), int(is_even)],
        reserve=PhiloxReservation(op, stream, blocks),
    )


def pooled(b: Any, x: Any, rows: Any, columns: Any, overlaps: bool, is_mean: bool) -> Any:
    """The maxima of regions, from the lowest finite number up, or their means."""
    batch, height, width, depth = x.shape
    down, across = rows.shape[0] - 1, columns.shape[0] - 1
    (out,) = b.call(
        _pool_kernel(x.dtype, is_mean),
        [x, rows, columns],
        [((batch, down, across, depth), x.dtype)],
        [height, width, down, across, depth, int(overlaps)],
        batch * down,
        _tile(product(x.shape), batch * down),
        operations=product(x.shape),
    )
    return out


def max_gradient(b: Any, x: Any, dy: Any, rows: Any, columns: Any, overlaps: bool) -> Any:
    """The gradient of maxima."""
    batch, height, width, depth = x.shape
    (out,) = b.call(
        _kernel(regions_kernels.max_gradient, x.dtype),
        [x, dy, rows, columns],
        [(x.shape, x.dtype)],
        [height, width, *dy.shape[1:3], depth, int(overlaps)],
        batch,
        _tile(product(x.shape), batch),
        scratch=16 * depth + 8,
        operations=2 * product(x.shape),
    )
    return out


def mean_gradient(
    b: Any, shape: Sequence[AnySize], dy: Any, rows: Any, columns: Any, overlaps: bool
) -> Any:
    """The gradient of means of images of a shape."""
    batch, height, width, depth = shape
    (out,) = b.call(
        _kernel(regions_kernels.mean_gradient, dy.dtype),
        [dy, rows, columns],
        [(tuple(shape), dy.dtype)],
        [height, width, *dy.shape[1:3], depth, int(overlaps)],
        batch,
        _tile(product(shape), batch),
        scratch=8 * height * width * depth + 8,
        operations=2 * product(shape),
    )
    return out


def _tile(elements: AnySize, rows: AnySize) -> AnySize:
    """So many rows have work enough for a tile."""
    return maximum(ceil_div(_WORK * maximum(rows, 1), maximum(elements, 1)), 1)


def _pool_kernel(dtype: str, mean: bool) -> LibraryKernel:
    kind = np.dtype(dtype)
    least: Any = np.finfo(kind).min if kind.kind == "f" else int(np.iinfo(kind).min)
    name = "region_means" if mean else "region_maxima"
    return _kernel(regions_kernels.pool, dtype, name, LEAST=least, MEAN=mean)


def _kernel(
    entry: Callable[..., None], dtype: str, name: str = "", **constants: Any
) -> LibraryKernel:
    return specialise(
        *(name or f"region_{entry.__name__}", entry),
        DTYPE=dtype,
        IS_WHOLE=dtype.startswith("int"),
        IS_SINGLE=dtype == "float32",
        **constants,
    )
