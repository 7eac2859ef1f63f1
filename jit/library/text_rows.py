# SPDX-License-Identifier: Apache-2.0
"""Many texts at once: out of objects into one piece of memory, changed there, and put together.

No kernel makes objects: what comes out lies in one piece of memory again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cache

from . import text_rows_kernels
from .library_kernel import LibraryKernel
from .template import specialise
from .text_rows_kernels import BAD

__all__ = ["BAD", "closed", "kernel"]

# By name the function, and the dtypes of its buffers.
_KERNELS: dict[str, tuple[Callable[..., None], str]] = {
    "measure": (text_rows_kernels.measure, "int64 int64 int64"),
    "gather": (text_rows_kernels.gather, "int64 int64 uint8 int64 int64"),
    "spread": (text_rows_kernels.spread, "uint8 int64 uint8"),
    "join": (text_rows_kernels.join, "uint8 int64 int64 uint8 uint8"),
    "strip": (text_rows_kernels.strip, "uint8 int64"),
    "characters": (text_rows_kernels.characters, "uint8 int64 int32"),
    "cut": (text_rows_kernels.cut, "int64 int64 int64 int64"),
    "split": (text_rows_kernels.split, "uint8 int64 uint8 int64 int64 int64"),
    "write": (text_rows_kernels.write, "int64 uint8 int64"),
    "encode": (text_rows_kernels.encode, "uint8 int64 uint8 uint8"),
    "match": (text_rows_kernels.match, "uint8 int64 uint8 uint8 uint8"),
    "decode": (text_rows_kernels.decode, "uint8 int64 uint8 uint8 int64"),
}


@cache
def kernel(name: str) -> LibraryKernel:
    """The kernel of that name; see the function in jit/library/text_rows_kernels.py."""
    function, dtypes = _KERNELS[name]
    return specialise(f"texts_{name}", function).over(dtypes.split())


def closed(dtypes: Sequence[str]) -> Iterator[LibraryKernel]:
    """All kernels, which know no dtypes of programs."""
    yield from map(kernel, _KERNELS)
