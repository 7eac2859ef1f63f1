# SPDX-License-Identifier: Apache-2.0
"""Library kernels run as what they are, Python: the oracle of what is compiled from their texts."""

from __future__ import annotations

import numpy as np

from numbaflow.jit.library import plain_vocabulary
from numbaflow.jit.library.library_kernel import LibraryKernel

from .eager import EagerBuilder, tiles_of


class PlainBuilder(EagerBuilder):
    """As an EagerBuilder, without a compiler."""

    def address(self, part: LibraryKernel) -> int:
        names = {**vars(plain_vocabulary)}
        exec(compile(part.text, f"<{part.name}>", "exec"), names)
        number = 1 + len(plain_vocabulary.KERNELS)
        plain_vocabulary.KERNELS[number] = names["kernel"]
        return number

    def execute(self, kernel: LibraryKernel, block: np.ndarray, grid: tuple[int, ...]) -> None:
        names = {**vars(plain_vocabulary)}
        exec(compile(kernel.text, f"<{kernel.name}>", "exec"), names)
        arguments = plain_vocabulary.Arguments(block.tolist(), names["BUFFERS"])
        # Unsigned numbers wrap around, and floats may overflow, as they do in compiled code.
        with np.errstate(all="ignore"):
            for tile in tiles_of(grid):
                names["kernel"](arguments, *tile, 0)
