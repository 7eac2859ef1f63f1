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
from typing import TYPE_CHECKING

from ...engine.record_class import record
from ..kernel.ir import declaration
from .computed import Computed

if TYPE_CHECKING:
    from .template import Specialised


@record(frozen=True)
class LibraryKernel:
    """A kernel's name and Python text, or what that is written from; equal texts are compiled once.

    parts: kernels that it calls, whose addresses end its argument block.  They are compiled by
    themselves, so that what differs between their callers is no matter.  block: of kernels for GPUs
    alone, `kernel(args, rows, columns)`, the rows and columns that a block takes, and its threads.
    computes: what it computes, if a device's library may do it in its place (computed.py).
    takes_pairs: complex numbers are pairs of reals to it; other kernels are not given any.
    """

    name: str
    source: str | Specialised
    dtypes: tuple[str, ...] | None = None
    parts: tuple[LibraryKernel, ...] = ()
    block: tuple[int, int, int] | None = None
    computes: Computed | None = None
    takes_pairs: bool = False

    @property
    def text(self) -> str:
        """The Python text, written once somebody asks."""
        text = self.source if isinstance(self.source, str) else self.source.text
        return text if self.dtypes is None else f"{declaration(self.dtypes)}\n{text}"

    @property
    def recipe(self) -> str:
        """What the text follows from, given the modules of the library; nothing if it was given."""
        if isinstance(self.source, str):
            return ""
        return f"{self.name} {self.source.recipe} {self.dtypes}"

    def over(self, dtypes: Iterable[str]) -> LibraryKernel:
        """The kernel for buffers of these dtypes."""
        return replace(self, dtypes=tuple(dtypes))

    def calling(self, parts: Iterable[LibraryKernel]) -> LibraryKernel:
        """The kernel with others whose addresses end its argument block."""
        return replace(self, parts=tuple(parts))
