# SPDX-License-Identifier: Apache-2.0
"""Whole records in the bytes of a file: lengths and contents with checksums behind each.

The first that is cut short, damaged or long ends the list, whatever is the matter with it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache

from .. import target
from . import records_kernels
from .library_kernel import LibraryKernel
from .template import specialise


@cache
def _kernel(aim: target.Target) -> LibraryKernel:
    kernel = specialise("records", records_kernels.records, HARDWARE=aim.has_checksums)
    return kernel.over(["uint8", "int64", "int64", "int64"])


def records() -> LibraryKernel:
    """Finds records and holds them against their checksums."""
    return _kernel(target.current())


def closed(dtypes: Sequence[str]) -> Iterator[LibraryKernel]:
    """The kernel, which knows no dtypes of programs."""
    yield records()
