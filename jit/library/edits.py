# SPDX-License-Identifier: Apache-2.0
"""How many elements to insert, remove or replace, to make sequences of others."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from ..kernel.sizes import AnySize
from . import edits_kernels
from .library_kernel import LibraryKernel
from .rows import WIDTHS
from .template import specialise

_TILE = 16  # sequences per tile
_OPERATIONS = 8


def edit_distances(b: Any, one: Sequence[Any], other: Sequence[Any], rows: AnySize) -> Any:
    """float32 [rows]: for each row the distance of its two sequences, or NotImplemented.

    one, other: the row of every element, int64 in order and below `rows`, and the elements.
    """
    dtype = one[1].dtype
    if dtype not in WIDTHS or dtype != other[1].dtype:
        return NotImplemented
    count, other_count = one[0].shape[0], other[0].shape[0]
    (out,) = b.call(
        _KERNEL,
        [*one, *other],
        [((rows,), "float32")],
        [count, other_count],
        rows,
        _TILE,
        scratch=8 * (other_count + 1),
        operations=_OPERATIONS * count * other_count,
    )
    return out


_KERNEL = specialise("edit_distances", edits_kernels.distances)


def closed(dtypes: Sequence[str]) -> Iterator[LibraryKernel]:
    """For elements that are 32-bit or 64-bit integers, as labels are."""
    for dtype in ("int32", "int64"):
        yield _KERNEL.over(["int64", dtype, "int64", dtype, "float32"])
