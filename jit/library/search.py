# SPDX-License-Identifier: Apache-2.0
"""Where values belong in sorted rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from ..kernel.sizes import maximum
from . import search_kernels
from .library_kernel import LibraryKernel
from .rows import WIDTHS
from .template import specialise

_TILE = 1 << 12  # values per tile


def search_sorted(b: Any, rows: Any, values: Any, right: bool, dtype: str = "int64") -> Any:
    """For every value of a row, how many of the sorted row stand before it, or NotImplemented.

    Both are matrices with as many rows; right: equal ones stand before it, too.
    """
    if rows.dtype not in WIDTHS or rows.dtype != values.dtype or rows.dtype == "uint64":
        return NotImplemented
    count = values.shape[1]
    kernel = specialise("search", search_kernels.search, RIGHT=right)
    (out,) = b.call(
        kernel,
        [rows, values],
        [(tuple(values.shape), dtype)],
        [rows.shape[1], count],
        values.shape[0],
        maximum(_TILE // maximum(count, 1), 1),
        count,
        _TILE,
        operations=10 * values.shape[0] * count,
    )
    return out


def closed(dtypes: Sequence[str]) -> Iterator[LibraryKernel]:
    """Both kernels, for rows of these dtypes."""
    for dtype in dtypes:
        for right in (False, True):
            kernel = specialise("search", search_kernels.search, RIGHT=right)
            yield from (kernel.over([dtype, dtype, places]) for places in ("int32", "int64"))
