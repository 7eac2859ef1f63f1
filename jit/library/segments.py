# SPDX-License-Identifier: Apache-2.0
"""Reductions of rows by sorted segment, and products of a sparse matrix and a dense one.

A tile owns some rows of the result and combines for each what belongs there in order, so that the
tiles make no difference.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from ..kernel import scalar
from ..kernel.sizes import AnySize, ceil_div, maximum, product
from . import rows_kernels, segments_kernels
from .block_segments import combined_segments, product_of_sparse
from .complex_parts import by_parts
from .library_kernel import LibraryKernel
from .rows import WIDTHS
from .template import specialise

_WORK = 1 << 15  # elements per tile
_COMBINE = {
    "add": rows_kernels.add,
    "mul": rows_kernels.multiply,
    "fmax": segments_kernels.fmax,
    "fmin": segments_kernels.fmin,
}


def sorted_segments(
    b: Any,
    fn: str,
    data: Any,
    ids: Any,
    rows: AnySize,
    start: Any,
    empty: Any,
    picks: Any = None,
    power: float = 0.0,
) -> Any:
    """Row i of the result combines the rows of `data` whose id is i; ids are sorted.

    fn: add, mul, fmax or fmin, where a NaN counts for nothing unless it is alone.  picks: the rows
    of `data` that the ids stand beside, int64 and required to be inside.  power: the result is
    divided by this power (0.5 or 1) of the number of rows.  NotImplemented for other dtypes.
    """
    if scalar.is_complex(data.dtype) and fn == "add" and not start and not empty:
        options = (ids, rows, start, empty, picks, power)
        return by_parts(b, lambda part: sorted_segments(b, fn, part, *options), data)
    if data.dtype not in WIDTHS or ids.dtype not in ("int32", "int64"):
        return NotImplemented
    kind = np.dtype(data.dtype)
    if power and kind.kind != "f":
        return NotImplemented
    tail = tuple(data.shape[1:])
    width = product(tail)
    if b.is_plain:
        found = combined_segments(
            b, fn, data, ids, rows, (start, empty), width, picks, int(2 * power)
        )
        if found is not None:
            return found
    kernel = _segments_kernel(fn, data.dtype, start, empty, picks is not None)
    inputs = [ids, data, ids if picks is None else picks]
    count = ids.shape[0]
    # As many rows as a tile of data has on the average.
    per_row = maximum(ceil_div(count * width, maximum(rows, 1)), 1)
    (out,) = b.call(
        kernel,
        inputs,
        [((rows, *tail), data.dtype)],
        [count, width, data.shape[0], int(2 * power)],
        rows,
        maximum(ceil_div(_WORK, per_row), ceil_div(rows, 64)),
        operations=count * width,
    )
    return out


def _segments_kernel(fn: str, dtype: str, start: Any, empty: Any, is_picked: bool) -> LibraryKernel:
    kind = np.dtype(dtype)
    return specialise(
        f"segments_{fn}",
        segments_kernels.sorted_segments,
        COMBINE=_COMBINE[fn],
        START=_constant(start, kind),
        EMPTY=_constant(empty, kind),
        ALONE=fn in ("fmax", "fmin"),
        MEANS=fn == "add" and kind.kind == "f",
        SHORT=dtype == "float32",
        PICKED=is_picked,
    )


def _constant(number: Any, kind: np.dtype) -> Any:
    """A number for a kernel: floats have their dtype, integers are all alike there."""
    return kind.type(number) if kind.kind == "f" else int(number)


def sparse_product(
    b: Any, places: Any, turned: bool, values: Any, dense: Any, count: AnySize
) -> Any:
    """A sparse matrix of `count` rows times a dense one: entry by entry, in order.

    places: int64[entries, 2], the row and the column of each (the column and the row, if turned),
    required to be inside (who asks for the product makes the run fail where some are not).
    """
    if dense.dtype not in ("float32", "float64") or values.dtype != dense.dtype:
        return NotImplemented
    entries, at = values.shape[0], (1, 0) if turned else (0, 1)
    if b.is_plain:
        rows, columns = (b.reshape(b.slice(places, [0, n], [entries, 1]), [entries]) for n in at)
        found = product_of_sparse(b, rows, columns, values, dense, count)
        if found is not None:
            return found
    width = dense.shape[1]
    (out,) = b.call(
        _sparse_kernel(dense.dtype),
        [places, values, dense],
        [((count, width), dense.dtype)],
        [entries, width, *at, dense.shape[0]],
        count,
        maximum(ceil_div(count, 8), ceil_div(_WORK, maximum(width, 1))),
        operations=2 * entries * width,
    )
    return out


def _sparse_kernel(dtype: str) -> LibraryKernel:
    zero = _constant(0, np.dtype(dtype))
    return specialise("sparse_product", segments_kernels.sparse_product, START=zero)


def closed(dtypes: Sequence[str]) -> Iterator[LibraryKernel]:
    """Reductions by segment, which begin with the neutral element, and sparse products."""
    for dtype in dtypes:
        for ids in ("int32", "int64"):
            for fn, start, empty in (
                ("add", 0, 0),
                ("mul", 1, 1),
                ("fmax", -np.inf, 0),
                ("fmin", np.inf, 0),
            ):
                kernel = _segments_kernel(fn, dtype, start, empty, False)
                yield kernel.over([ids, dtype, ids, dtype])
            picked = _segments_kernel("add", dtype, 0, 0, True)
            yield picked.over([ids, dtype, "int64", dtype])
        yield _sparse_kernel(dtype).over(["int64", *[dtype] * 3])
