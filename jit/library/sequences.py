# SPDX-License-Identifier: Apache-2.0
"""Lists of features of many messages at once: maps of keys to features, step by step.

As in jit/library/features.py only the usual form is read.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache

from . import sequences_kernels
from .library_kernel import LibraryKernel
from .template import specialise

__all__ = ["closed", "find_lists", "find_steps", "gather_steps"]


@cache
def find_lists() -> LibraryKernel:
    """Finds where the list of each key lies in each message, and what stands before the lists."""
    kernel = specialise("find_lists", sequences_kernels.find_lists)
    return kernel.over(["uint8", "int64", "uint8", *["int64"] * 6])


@cache
def find_steps() -> LibraryKernel:
    """Finds where the values of each step of each list lie."""
    kernel = specialise("find_steps", sequences_kernels.find_steps)
    return kernel.over(["uint8", *["int64"] * 6])


@cache
def gather_steps() -> LibraryKernel:
    """Puts the values of all steps of each list one behind the other."""
    kernel = specialise("gather_steps", sequences_kernels.gather_steps)
    return kernel.over(["uint8", *["int64"] * 4, "uint8", *["int64"] * 3])


def closed(dtypes: Sequence[str]) -> Iterator[LibraryKernel]:
    """The kernels, which know no dtypes of programs."""
    yield find_lists()
    yield find_steps()
    yield gather_steps()
