# SPDX-License-Identifier: Apache-2.0
"""Combining rows by index (scatter, segment sums), running sums, and transposes of matrices.

A tile of a scatter owns a range of output rows and walks all indices in order, so every row is
combined in the order of the indices whatever the tiles.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from ..kernel import scalar
from ..kernel.sizes import AnySize, ceil_div, hint, maximum, product, same
from . import rows_kernels
from .block_places import distinct_numbers, inverted_numbers, nonzero_places
from .block_rows import combined_rows
from .block_scan import running_sums
from .complex_parts import by_parts
from .library_kernel import LibraryKernel
from .template import specialise
from .vectors import BYTES, vectors

_OF_WIDTH = {
    1: "bool int8 uint8",
    2: "int16 uint16",
    4: "int32 uint32 float32",
    8: "int64 uint64 float64",
}
WIDTHS = {dtype: width for width, names in _OF_WIDTH.items() for dtype in names.split()}
_WORK = 1 << 15  # elements per tile
_BLOCK = 64  # rows and columns of the blocks of a transpose

COMBINE: dict[str, Callable[[Any, Any], Any]] = {
    "add": rows_kernels.add,
    "sub": rows_kernels.subtract,
    "mul": rows_kernels.multiply,
    "div": rows_kernels.divide,
    "max": rows_kernels.largest,
    "min": rows_kernels.smallest,
    "update": rows_kernels.replace,
}


def scatter_rows(
    b: Any, fn: str, indices: Any, updates: Any, rows: AnySize, base: Any = None, start: Any = 0
) -> Any:
    """Rows of `updates` combined into `base` (or into `start` everywhere) at `indices`, in order.

    updates has shape indices.shape + row shape; the result has shape [rows] + row shape.  fn is a
    key of COMBINE.  Indices outside of [0, rows) are skipped.
    """
    if scalar.is_complex(updates.dtype) and fn in ("add", "update") and not start:

        def of_parts(updates: Any, base: Any = None) -> Any:
            return scatter_rows(b, fn, indices, updates, rows, base)

        return by_parts(b, of_parts, updates, *([] if base is None else [base]))
    if updates.dtype not in WIDTHS or indices.dtype not in ("int32", "int64"):
        return NotImplemented
    if b.is_plain:
        found = combined_rows(b, fn, indices, updates, rows, base, start)
        if found is not None:
            return found
    tail = tuple(updates.shape[indices.ndim :])
    width = product(tail)
    out_at = 2 if base is None else 3
    kernel = _scatter_kernel(fn, start, updates.dtype, out_at, same(width, 1))
    # Every tile looks at all indices, and no processor foresees which of them are its own: of
    # narrow rows, that takes longer than to combine them.
    pieces = 16 if not isinstance(width, int) or width >= 16 else 1 if width < 4 else 2
    row_tile = maximum(ceil_div(rows, pieces), ceil_div(_WORK, maximum(width, 1)))
    inputs = [indices, updates] if base is None else [indices, updates, base]
    params = [product(indices.shape), width]
    (out,) = b.call(
        kernel,
        inputs,
        [((rows, *tail), updates.dtype)],
        params,
        rows,
        row_tile,
        operations=product(updates.shape),
    )
    return out


def _scatter_kernel(fn: str, start: Any, dtype: str, out_at: int, is_single: bool) -> LibraryKernel:
    first = float(start) if dtype in BYTES else start
    return specialise(
        f"scatter_{fn}",
        rows_kernels.scatter,
        COMBINE=COMBINE[fn],
        START=first,
        OUT_AT=out_at,
        SINGLE=is_single,
    )


def running(
    b: Any, fn: str, x: Any, axis: int, exclusive: bool = False, reverse: bool = False
) -> Any:
    """The running sum (fn "add"), product ("mul") or sum of exponentials ("logaddexp", of which it
    takes and gives logarithms) along an axis."""
    if scalar.is_complex(x.dtype) and fn == "add":
        return by_parts(b, lambda part: running(b, fn, part, axis, exclusive, reverse), x)
    if scalar.is_complex(x.dtype) and fn == "mul" and not b.is_plain:
        return _running_products(b, x, axis, exclusive, reverse)
    if x.dtype not in (_LOGARITHMS if fn == "logaddexp" else WIDTHS):
        return NotImplemented
    if b.is_plain:
        if fn == "logaddexp":
            return NotImplemented
        found = running_sums(b, fn, x, axis, exclusive, reverse)
        if found is not None:
            return found
    outer, length, inner = product(x.shape[:axis]), x.shape[axis], product(x.shape[axis + 1 :])
    if fn == "logaddexp" and same(inner, 1) and hint(outer) > 1:
        # Each step waits for the one before, and takes long: lines go on side by side.
        turned = transpose_matrices(b, b.reshape(x, (1, outer, length)))
        found = running(b, fn, b.reshape(turned, (length, outer)), 0, exclusive, reverse)
        turned = transpose_matrices(b, b.reshape(found, (1, length, outer)))
        return b.reshape(turned, x.shape)
    return _ran(b, _running_kernel(fn, x.dtype), [x], axis, exclusive, reverse)[0]


def _ran(
    b: Any, kernel: LibraryKernel, given: list[Any], axis: int, exclusive: bool, reverse: bool
) -> Any:
    """What a kernel that runs along an axis makes of tensors of one shape: as many of that."""
    shape = tuple(given[0].shape)
    outer, length, inner = product(shape[:axis]), shape[axis], product(shape[axis + 1 :])
    line = maximum(length * inner, 1)
    return b.call(
        kernel,
        given,
        [(shape, x.dtype) for x in given],
        [length, inner, int(exclusive), int(reverse)],
        outer,
        maximum(_WORK // line, 1),
        inner,
        maximum(_WORK // maximum(length, 1), 256),
        operations=product(shape),
    )


def _running_products(b: Any, x: Any, axis: int, exclusive: bool, reverse: bool) -> Any:
    """Running products of complex numbers."""
    parts = list(b.map(lambda z: (scalar.real(z), scalar.imag(z)), x))
    kernel = _complex_kernel(parts[0].dtype)
    return b.map(scalar.complex, *_ran(b, kernel, parts, axis, exclusive, reverse))


def _complex_kernel(dtype: str) -> LibraryKernel:
    one, zero = (np.dtype(dtype).type(number) for number in (1, 0))
    entry = rows_kernels.running_complex
    return specialise("running_complex", entry, START=one, ZERO=zero)


_LOGARITHMS = ("float32", "float64")
_FIRST = {"add": 0, "mul": 1, "logaddexp": -np.inf}


def _running_kernel(fn: str, dtype: str) -> LibraryKernel:
    if fn == "logaddexp":
        first, zero = (np.dtype(dtype).type(number) for number in (_FIRST[fn], 0))
        combine = rows_kernels.log_add
        return specialise(
            f"running_{fn}", rows_kernels.running, COMBINE=combine, START=first, ZERO=zero
        )
    first = float(_FIRST[fn]) if dtype in BYTES else _FIRST[fn]
    return specialise(f"running_{fn}", rows_kernels.running, COMBINE=COMBINE[fn], START=first)


def inverted(b: Any, numbers: Any) -> Any:
    """(the permutation that undoes a vector of integers, whether it is one)."""
    if b.is_plain:
        return inverted_numbers(b, numbers)
    count = numbers.shape[0]
    return b.call(
        specialise("inverted", rows_kernels.inverted),
        [numbers],
        [((count,), numbers.dtype), ((), "bool")],
        [count],
        operations=3 * count,
    )


def distinct(b: Any, x: Any, dtype: str) -> Any:
    """Of a vector of integers those that are new, in order; for each its number among these; how
    often each of these occurs; and how many they are.  All but the last as long as the vector.

    dtype: of numbers and counts.  NotImplemented for what is no integer.
    """
    if x.dtype not in ("int32", "int64"):
        return NotImplemented
    if b.is_plain:
        found = distinct_numbers(b, x, dtype)
        if found is not None:
            return found
    (count,) = x.shape
    vectors = [((count,), x.dtype), ((count,), dtype), ((count,), dtype), ((), "int64")]
    # (A table has up to four times as many places.)
    return b.call(
        specialise("distinct", rows_kernels.distinct),
        [x],
        vectors,
        [count],
        scratch=32 * count + 64,
        operations=8 * count,
    )


def coordinates(b: Any, x: Any, count: AnySize) -> Any:
    """The places of the `count` elements that are not zero, int64, or NotImplemented."""
    if x.dtype not in WIDTHS or not x.ndim:
        return NotImplemented
    if b.is_plain:
        found = nonzero_places(b, x, count)
        if found is not None:
            return found
    (out,) = b.call(
        specialise("coordinates", rows_kernels.coordinates),
        [x],
        [((count, x.ndim), "int64")],
        [count, product(x.shape[:-1]), x.shape[-1], x.ndim, *x.shape[:-1]],
        operations=2 * product(x.shape),
    )
    return out


def transpose_matrices(b: Any, x: Any) -> Any:
    """Swaps the last two of three dimensions, a block at a time, or NotImplemented."""
    if WIDTHS.get(x.dtype) not in (4, 8):
        return NotImplemented
    batch, m, n = x.shape
    kernel = _transpose_kernel(WIDTHS[x.dtype])
    blocks = ceil_div(m, _BLOCK)
    per_block = maximum(n * _BLOCK, 1)
    (out,) = b.call(
        kernel,
        [x],
        [((batch, n, m), x.dtype)],
        [m, n],
        batch * blocks,
        maximum(_WORK // per_block, 1),
        n,
        8 * _BLOCK,
    )
    return out


def _transpose_kernel(width: int) -> LibraryKernel:
    dtype = "float32" if width == 4 else "float64"
    lanes = min(vectors(dtype).lanes, 16)
    return specialise("transpose", rows_kernels.transpose, LANES=lanes, BLOCK=_BLOCK)


def closed(dtypes: Sequence[str]) -> Iterator[LibraryKernel]:
    """Sums, products and extremes of scattered rows, which begin with the neutral element or with
    a tensor, counts, running sums and products, and places of what is true."""
    yield _scatter_kernel("add", 0, "int64", 2, True).over(["int32", "int64", "int64"])
    yield _scatter_kernel("add", 0, "int64", 2, True).over(["int64"] * 3)
    yield _running_kernel("add", "int64").over(["int64"] * 2)
    for dtype in dtypes:
        most = float(np.finfo(dtype).max)
        for fn, start in (("add", 0.0), ("mul", 1.0), ("max", -most), ("min", most)):
            for ids, is_single in itertools.product(("int32", "int64"), (False, True)):
                yield _scatter_kernel(fn, start, dtype, 2, is_single).over([ids, dtype, dtype])
        for fn, is_single in itertools.product(("add", "sub", "update"), (False, True)):
            yield _scatter_kernel(fn, 0, dtype, 3, is_single).over(["int64", *[dtype] * 3])
        for fn in _FIRST if dtype in _LOGARITHMS else ("add", "mul"):
            yield _running_kernel(fn, dtype).over([dtype] * 2)
        if dtype in _LOGARITHMS:
            yield _complex_kernel(dtype).over([dtype] * 4)
            yield _transpose_kernel(WIDTHS[dtype]).over([dtype] * 2)
    yield specialise("coordinates", rows_kernels.coordinates).over(["bool", "int64"])
    for ids in ("int32", "int64"):
        yield specialise("inverted", rows_kernels.inverted).over([ids, ids, "bool"])
