# SPDX-License-Identifier: Apache-2.0
"""New values for some rows of variables in place, on GPUs.

Indices are put in order first (block_order.py).  Then a thread takes a column of a row that is
named, and applies there what belongs to it as it comes, so that equal indices follow one another.
Imports jit's IR.
"""

from __future__ import annotations

import re
from functools import cache

from ..kernel import ir
from .block_rows import elements
from .block_scan import THREADS
from .library_kernel import LibraryKernel

ORDER, ENDS = 2, 3  # the buffers of both


@cache
def update_kernel(kernel: ir.Kernel) -> LibraryKernel:
    """The kernel of a nest whose rows are the indices, in order, and its columns elements of a row.

    Its buffers begin with the indices, how many are applied, their order int32, and up to where
    indices are the same; its columns are the elements of as many rows as there are indices.
    """
    from ..codegen.emit import literal
    from ..codegen.writer import ROW, Writer

    w = Writer(kernel)
    stop, order, ends = (w.buffer(number) for number in (1, ORDER, ENDS))
    w.line(f"stop = load({stop}, 0)")
    w.line(f"width = {w.size(1)}")
    w.open((1,))
    w.line("k = truncatediv(e, width)")
    w.line("i1 = e - k * width")
    w.line(f"last = cast_int64(load({ends}, k))")
    w.open((0, ROW))
    w.line(f"i0 = cast_int64(load({order}, p))")
    w.open(())
    for store in kernel.stores:
        w.store(store)
    w.close("if i0 < stop:")
    w.close("for p in range(k, last):")
    w.close(elements())
    constants = [f"{name} = {literal(const)}" for const, name in w.constants.items()]
    body = [f"    {text}" for text in w.scopes[0].lines]
    text = "\n".join([*constants, "", "", "def kernel(args, rows, columns):", *body, ""])
    # A turn reads what the one before it wrote.
    text = re.sub(r"\b(load|store)\(", r"\1_ordered(", text)
    return LibraryKernel("block_update", text, block=(1, THREADS, THREADS))
