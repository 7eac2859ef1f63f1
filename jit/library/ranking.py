# SPDX-License-Identifier: Apache-2.0
"""The largest elements of rows, largest first, and where they are; rows are tiles of their own."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from ..kernel.sizes import AnySize, maximum, product
from . import ranking_kernels
from .block_ranking import ranked
from .library_kernel import LibraryKernel
from .rows import WIDTHS
from .template import specialise

_WORK = 1 << 14  # elements per tile

# Words for parts of a row that wait to be sorted: there are at most two for each bit of a length.
_WAITING = ranking_kernels.PART * 128


def largest(b: Any, x: Any, kept: AnySize) -> Any:
    """(values, indices) of the `kept` largest elements, of which a row has as many.

    Of equal elements the first comes first.  NotImplemented for dtypes without a kernel.
    """
    if x.dtype not in WIDTHS or x.dtype in ("bool", "uint64"):
        return NotImplemented
    lead, length = x.shape[:-1], x.shape[-1]
    shape = (*lead, kept)
    scratch = 8 * (kept + 1 + _WAITING)
    if b.is_plain:
        found = ranked(b, x, kept, scratch)
        if found is not None:
            return found
    kernel = specialise("largest", ranking_kernels.largest)
    return b.call(
        kernel,
        [x],
        [(shape, x.dtype), (shape, "int32")],
        [length, kept],
        product(lead),
        maximum(_WORK // maximum(length, 1), 1),
        scratch=scratch,
        operations=product(x.shape),
    )


def closed(dtypes: Sequence[str]) -> Iterator[LibraryKernel]:
    """The kernel, for numbers of these dtypes."""
    for dtype in dtypes:
        yield specialise("largest", ranking_kernels.largest).over([dtype, dtype, "int32"])
