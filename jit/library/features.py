# SPDX-License-Identifier: Apache-2.0
"""Features of many messages at once: the wire format of maps of lists, one of each of a few keys.

Only the usual form is read (packed numbers, each key once, no unknown fields).  What is not of it,
broken messages among them, is reported, not explained.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache

from . import features_kernels
from .features_kernels import FLOATS, INTEGERS, TEXTS
from .library_kernel import LibraryKernel
from .template import specialise

__all__ = ["FLOATS", "INTEGERS", "TEXTS", "closed", "gather", "locate"]


@cache
def locate() -> LibraryKernel:
    """Finds where the values of each key lie in each message."""
    kernel = specialise("locate_features", features_kernels.locate)
    return kernel.over(["uint8", "int64", "uint8", *["int64"] * 6])


@cache
def gather() -> LibraryKernel:
    """Puts the values of each key of the messages one behind the other."""
    kernel = specialise("gather_features", features_kernels.gather)
    return kernel.over(["uint8", "int64", "int64", "int64", "uint8", *["int64"] * 3])


def closed(dtypes: Sequence[str]) -> Iterator[LibraryKernel]:
    """Both kernels, which know no dtypes of programs."""
    yield locate()
    yield gather()
