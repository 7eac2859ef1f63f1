# SPDX-License-Identifier: Apache-2.0
"""Many texts at once: out of objects into one piece of memory, changed there, and put together.

No kernel makes objects: what comes out lies in one piece of memory again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cache

from . import texts_kernels
from .library_kernel import LibraryKernel
from .template import specialise
from .texts_kernels import BAD

__all__ = ["BAD", "closed", "kernel"]

# By name the function, and the dtypes of its buffers.
_KERNELS: dict[str, tuple[Callable[..., None], str]] = {
    "measure": (texts_kernels.measure, "int64 int64 int64"),
    "gather": (texts_kernels.gather, "int64 int64 uint8 int64 int64"),
    "spread": (texts_kernels.spread, "uint8 int64 uint8"),
    "join": (texts_kernels.join, "uint8 int64 int64 uint8 uint8"),
    "strip": (texts_kernels.strip, "uint8 int64"),
    "characters": (texts_kernels.characters, "uint8 int64 int32"),
    "cut": (texts_kernels.cut, "int64 int64 int64 int64"),
    "split": (texts_kernels.split, "uint8 int64 uint8 int64 int64 int64"),
    "write": (texts_kernels.write, "int64 uint8 int64"),
    "encode": (texts_kernels.encode, "uint8 int64 uint8 uint8"),
    "decode": (texts_kernels.decode, "uint8 int64 uint8 uint8 int64"),
}


@cache
def kernel(name: str) -> LibraryKernel:
    """The kernel of that name; see the function in jit/library/texts_kernels.py."""
    function, dtypes = _KERNELS[name]
    return specialise(f"texts_{name}", function).over(dtypes.split())


def closed(dtypes: Sequence[str]) -> Iterator[LibraryKernel]:
    """All kernels, which know no dtypes of programs."""
    yield from map(kernel, _KERNELS)
