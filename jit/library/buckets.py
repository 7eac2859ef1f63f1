# SPDX-License-Identifier: Apache-2.0
"""How many numbers lie in each of some buckets, with what else histograms tell of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache

from . import buckets_kernels
from .library_kernel import LibraryKernel
from .template import specialise

# Those whose bits can be looked at, and those that others are turned into.
KINDS = ("float32", "float64")


@cache
def buckets(dtype: str) -> LibraryKernel:
    """Counts numbers of a dtype, one of KINDS."""
    kernel = specialise("buckets", buckets_kernels.buckets, BY_BITS=dtype == "float32")
    return kernel.over([dtype, "int64", "float64", "int64", "float64", "int64"])


def closed(dtypes: Sequence[str]) -> Iterator[LibraryKernel]:
    """The kernels, which know no dtypes of programs."""
    yield from map(buckets, KINDS)
