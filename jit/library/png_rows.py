# SPDX-License-Identifier: Apache-2.0
"""Rows of PNG files, filtered in the way that leaves the least, as libpng does it, and restored."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache

from . import png_rows_kernels
from .library_kernel import LibraryKernel
from .template import specialise


@cache
def png_rows() -> LibraryKernel:
    """Filters the rows of a picture."""
    return specialise("png_rows", png_rows_kernels.rows).over(["uint8", "uint8"])


@cache
def restored_png_rows() -> LibraryKernel:
    """Takes the filters out of the rows of a picture."""
    kernel = specialise("restored_png_rows", png_rows_kernels.restored)
    return kernel.over(["uint8", "uint8", "int64"])


def closed(dtypes: Sequence[str]) -> Iterator[LibraryKernel]:
    """Both kernels, which know no dtypes of programs."""
    yield png_rows()
    yield restored_png_rows()
