# SPDX-License-Identifier: Apache-2.0
"""A hand-written kernel: Python text over the vocabulary of jit/codegen/vocabulary.py.

Texts are written by jit/library/template.py from functions in the same words, which
jit/library/plain_vocabulary.py explains.  A text defines `kernel(args, r0, r1, c0, c1, worker)`,
serial over one tile.  The argument block is int64: input addresses, output addresses, parameters,
then, where a kernel asks for scratch memory, its base address and the bytes per worker, then the
addresses of the kernels that it calls.  args[i]
with the number of a buffer is an address with that buffer's dtype, which `LibraryKernel.over`
declares; regions of scratch memory get theirs by `region`.  Offsets from an address count elements.
Imports nothing heavy.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from ...engine.record_class import record
from ..kernel.ir import declaration
from .computed import Computed


@record(frozen=True)
class LibraryKernel:
    """A kernel's name and Python text; equal texts are compiled once.

    parts: kernels that it calls, whose addresses end its argument block.  They are compiled by
    themselves, so that what differs between their callers is no matter.  block: of kernels for GPUs
    alone, `kernel(args, rows, columns)`, the rows and columns that a block takes, and its threads.
    computes: what it computes, if a device's library may do it in its place (computed.py).
    takes_pairs: complex numbers are pairs of reals to it; other kernels are not given any.
    """

    name: str
    text: str
    parts: tuple[LibraryKernel, ...] = ()
    block: tuple[int, int, int] | None = None
    computes: Computed | None = None
    takes_pairs: bool = False

    def over(self, dtypes: Iterable[str]) -> LibraryKernel:
        """The kernel for buffers of these dtypes."""
        text = f"{declaration(dtypes)}\n{self.text}"
        return replace(self, text=text)

    def calling(self, parts: Iterable[LibraryKernel]) -> LibraryKernel:
        """The kernel with others whose addresses end its argument block."""
        return replace(self, parts=tuple(parts))
