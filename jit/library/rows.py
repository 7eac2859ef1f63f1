# SPDX-License-Identifier: Apache-2.0
"""Combining rows by index (scatter, segment sums), running sums, and transposes of matrices.

A tile of a scatter owns a range of output rows and walks all indices in order, so every row is
combined in the order of the indices whatever the tiles.
"""

from __future__ import annotations

from typing import Any

from ..kernel.sizes import AnySize, ceil_div, maximum, product
from .library_kernel import LibraryKernel, specialise
from .vectors import BYTES, vectors

_WIDTHS = {
    "bool": 1, "int8": 1, "uint8": 1, "int16": 2, "uint16": 2, "int32": 4, "uint32": 4,
    "float32": 4, "int64": 8, "uint64": 8, "float64": 8,
}  # fmt: skip
_WORK = 1 << 15  # elements per tile
_BLOCK = 64  # rows and columns of the blocks of a transpose

COMBINE = {
    "add": "old + new",
    "sub": "old - new",
    "mul": "old * new",
    "div": "old / new",
    # As TensorFlow has it, what follows a NaN takes its place.
    "max": "old if new < old else new",
    "min": "old if new > old else new",
    "update": "new",
}

# The output starts as the base, or as START everywhere.  Indices outside of the output are skipped.
_SCATTER = """
def kernel(args, r0, r1, c0, c1, worker):
    indices, updates = pointer(args[0]), pointer(args[1])
    out = pointer(args[OUT_AT])
    count, width = args[OUT_AT + 1], args[OUT_AT + 2]
    if OUT_AT == 3:
        copy(args[3] + r0 * width, args[2] + r0 * width, (r1 - r0) * width)
    else:
        for place in range(r0 * width, r1 * width):
            out[place] = START
    for i in range(count):
        row = indices[i]
        if row >= r0 and row < r1:
            for f in range(width):
                old, new = out[row * width + f], updates[i * width + f]
                out[row * width + f] = COMBINED
"""

# Rows are the dimensions before the axis, columns those behind it; both are independent.
_RUNNING = """
def kernel(args, r0, r1, c0, c1, worker):
    x, out = pointer(args[0]), pointer(args[1])
    length, inner = args[2], args[3]
    for row in range(r0, r1):
        for step in range(length):
            at = length - 1 - step if REVERSE else step
            before = at + 1 if REVERSE else at - 1
            place = (row * length + at) * inner
            last = (row * length + before) * inner
            for c in range(c0, c1):
                old = out[last + c] if step else START
                # An exclusive sum at a position ends one position before it.
                new = (x[last + c] if step else START) if EXCLUSIVE else x[place + c]
                out[place + c] = COMBINED
"""

# Rows are row blocks of all matrices.  Inside of a block whole squares go through registers.
_TRANSPOSE = """
@helper
def block(x, out, m, n, i0, i1, j0, j1):
    source, target = pointer(x), pointer(out)
    i = i0
    while i + LANES <= i1:
        j = j0
        while j + LANES <= j1:
            transpose_tile(LANES, x + (i * n + j), n, out + (j * m + i), m)
            j += LANES
        for k in range(i, i + LANES):
            for q in range(j, j1):
                target[q * m + k] = source[k * n + q]
        i += LANES
    for q in range(j0, j1):
        for k in range(i, i1):
            target[q * m + k] = source[k * n + q]


def kernel(args, r0, r1, c0, c1, worker):
    m, n = args[2], args[3]
    blocks = (m + BLOCK - 1) // BLOCK
    for r in range(r0, r1):
        matrix = r // blocks
        i = (r - matrix * blocks) * BLOCK
        x, out = args[0] + matrix * m * n, args[1] + matrix * m * n
        for j in range(c0, c1, BLOCK):
            block(x, out, m, n, i, min(i + BLOCK, m), j, min(j + BLOCK, c1))
"""


def scatter_rows(
    b: Any, fn: str, indices: Any, updates: Any, rows: AnySize, base: Any = None, start: Any = 0
) -> Any:
    """Rows of `updates` combined into `base` (or into `start` everywhere) at `indices`, in order.

    updates has shape indices.shape + row shape; the result has shape [rows] + row shape.  fn is a
    key of COMBINE.  Indices outside of [0, rows) are skipped.
    """
    if updates.dtype not in _WIDTHS or indices.dtype not in ("int32", "int64"):
        return NotImplemented
    tail = tuple(updates.shape[indices.ndim :])
    width = product(tail)
    text = _SCATTER.replace("COMBINED", COMBINE[fn])
    kernel = specialise(f"scatter_{fn}", text, START=start, OUT_AT=2 if base is None else 3)
    row_tile = maximum(ceil_div(rows, 16), ceil_div(_WORK, maximum(width, 1)))
    inputs = [indices, updates] if base is None else [indices, updates, base]
    params = [product(indices.shape), width]
    (out,) = b.call(
        kernel, inputs, [((rows, *tail), updates.dtype)], params, rows, row_tile,
        operations=product(updates.shape),
    )  # fmt: skip
    return out


def running(
    b: Any, fn: str, x: Any, axis: int, exclusive: bool = False, reverse: bool = False
) -> Any:
    """The running sum (fn "add") or product ("mul") along an axis."""
    if x.dtype not in _WIDTHS:
        return NotImplemented
    outer, length, inner = product(x.shape[:axis]), x.shape[axis], product(x.shape[axis + 1 :])
    start: int | float = {"add": 0, "mul": 1}[fn]
    kernel = specialise(
        f"running_{fn}", _RUNNING.replace("COMBINED", COMBINE[fn]),
        START=float(start) if x.dtype in BYTES else start, EXCLUSIVE=exclusive, REVERSE=reverse,
    )  # fmt: skip
    line = maximum(length * inner, 1)
    (out,) = b.call(
        kernel, [x], [(tuple(x.shape), x.dtype)], [length, inner], outer,
        maximum(_WORK // line, 1), inner, maximum(_WORK // maximum(length, 1), 256),
        operations=product(x.shape),
    )  # fmt: skip
    return out


def transpose_matrices(b: Any, x: Any) -> Any:
    """Swaps the last two of three dimensions, a block at a time, or NotImplemented."""
    if _WIDTHS.get(x.dtype) not in (4, 8):
        return NotImplemented
    batch, m, n = x.shape
    kernel = _transpose_kernel(_WIDTHS[x.dtype])
    blocks = ceil_div(m, _BLOCK)
    per_block = maximum(n * _BLOCK, 1)
    (out,) = b.call(
        kernel, [x], [((batch, n, m), x.dtype)], [m, n], batch * blocks,
        maximum(_WORK // per_block, 1), n, 8 * _BLOCK,
    )  # fmt: skip
    return out


def _transpose_kernel(width: int) -> LibraryKernel:
    dtype = "float32" if width == 4 else "float64"
    lanes = min(vectors(dtype).lanes, 16)
    return specialise("transpose", _TRANSPOSE, LANES=lanes, BLOCK=_BLOCK)
