# SPDX-License-Identifier: Apache-2.0
"""Many decimal numbers of a text at once, each as the nearest float64 or as an int64.

A number of at most 2^53 without its point, times or over a power of ten that is a float64, is
rounded once, and so is the nearest (Clinger, How to read floating point numbers accurately, 1990).
Others, and what is no plain number, are reported.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache

from . import decimals_kernels
from .library_kernel import LibraryKernel
from .template import specialise


@cache
def reals() -> LibraryKernel:
    """Reads numbers that may have a point and an exponent."""
    kernel = specialise("decimal_reals", decimals_kernels.reals)
    return kernel.over(["uint8", "float64", "float64", "uint8", "int64"])


@cache
def integers() -> LibraryKernel:
    """Reads whole numbers."""
    kernel = specialise("decimal_integers", decimals_kernels.integers)
    return kernel.over(["uint8", "int64", "int64"])


def closed(dtypes: Sequence[str]) -> Iterator[LibraryKernel]:
    """Both kernels, which know no dtypes of programs."""
    yield reals()
    yield integers()
