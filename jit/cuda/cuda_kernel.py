# SPDX-License-Identifier: Apache-2.0
"""What a CUDA kernel is before it is compiled, and what for.  Imports nothing heavy."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

from ..kernel import ir
from ..kernel.ir_text import digest
from ..library.library_kernel import LibraryKernel
from . import block_emit

# Forms of the library's kernels: every thread does tiles, or a block does.
LIBRARY, BLOCK = "library", "block"


@dataclass(frozen=True, slots=True, order=True)
class Capability:
    """A GPU's compute capability; code for one runs on that of later ones as PTX."""

    major: int
    minor: int

    @property
    def name(self) -> str:
        """As compilers call it: sm_90."""
        return f"sm_{self.major}{self.minor}"


# What is compiled for where no GPU says what it has; the oldest that is supported.
OLDEST = Capability(8, 0)


@dataclass(frozen=True, slots=True)
class KernelText:
    """A CUDA kernel: what to call it, its text, and the form of its nest (map, row, column),
    LIBRARY or BLOCK.  block: of the last the rows and columns that a block takes, and its threads.
    """

    symbol: str
    source: str
    form: str
    block: tuple[int, int, int] | None = None


def kernel_text(kernel: ir.Kernel | LibraryKernel) -> KernelText:
    """The text of a kernel for a GPU.  (One that calls others by address has none there.)"""
    if isinstance(kernel, ir.Kernel):
        return KernelText(f"cuda_{digest(kernel)}", block_emit.emit(kernel), kernel.form)
    name = hashlib.blake2b(kernel.text.encode(), digest_size=16).hexdigest()
    form = BLOCK if kernel.block else LIBRARY
    return KernelText(f"cuda_{name}", kernel.text, form, kernel.block)
