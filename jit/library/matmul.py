# SPDX-License-Identifier: Apache-2.0
"""Matrix products from register tiles: packed panels, tiles cut by size alone.

A tile packs its rows of the left factor and, panel by panel, the right one into the worker's
scratch memory, so that the innermost loop reads a few rows of the left one and a panel of the right
one from the nearest caches.  A `Product` says what else a call could compute: parts of its factors,
a sum with another value, a product with a right factor that is packed already
(jit/passes/matmul_rewrites.py).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import product as product_of
from typing import Any

from ...engine.record_class import record
from ..kernel import scalar
from ..kernel.sizes import AnySize, ceil_div, hint, is_positive, maximum, minimum, product, same
from ..program.tensor_ir import Launch
from . import matmul_kernels
from .complex_parts import complex_product
from .library_kernel import LibraryKernel
from .plain_forms import HALVES, in_float32, matrix_product
from .template import specialise
from .tiles import BLOCK, MASKED_WIDTH, heights, tiles
from .vectors import BYTES, vectors

_DEPTH = 256  # how much of the reduction is packed at a time: a panel of it fits the first cache
_ROWS = 128  # rows of the left factor packed at a time: they stay in the second cache
_COLUMNS = 256  # columns of a tile at most, where it packs the right factor itself
_WIDE = 1024  # and where it does not
# Multiply-adds of one product of a stack up to which a loop nest over all is quicker than a call
# for each (measured: 0.2 to 0.5 of the time), and where the left factor is a line; as a nest
# 8 by 8 by 8 takes 1.6 times as long.  With one element inside (k) there is nothing to add up.
_TINY, _TINY_LINE = 64, 1 << 14
_WORK = 1 << 19  # multiply-adds that make a worthwhile tile
_LARGE = 1 << 24  # multiply-adds that are worth a step of their own for packing
_PACKED = 1 << 14  # elements that make a worthwhile tile of packing
_GAP = 16  # keeps packed rows from starting at the same place in the cache
_INTEGERS = ("int32", "int64", "uint8", "int8", "int16", "uint16")


@record(frozen=True, eq=False)
class Factor:
    """A matrix in memory: its rows (its columns, if turned) lie `stride` elements apart."""

    turned: bool
    stride: AnySize
    offset: AnySize = 0


@record(frozen=True, eq=False)
class Product:
    """x[lead, m, k] @ y[lead, k, n], contiguous; what a call of it can be turned into.

    onto: adds another value (input number 2) of the result's shape.  packed: input number 1 is the
    right factor as `panels` gives it.  Factors are read through offsets and strides when lead is 1.
    """

    dtype: str
    lead: AnySize
    m: AnySize
    n: AnySize
    k: AnySize
    x: Factor
    y: Factor
    onto: bool = False
    packed: bool = False

    @property
    def can_add(self) -> bool:
        """Can more be added?  With nothing to sum over there is no last step that could do it."""
        return self.dtype in BYTES and is_positive(self.k)

    @property
    def can_pack(self) -> bool:
        """Can the right factor be packed beforehand?"""
        return self.dtype in BYTES and self.is_plain and not self.packed

    @property
    def should_pack(self) -> bool:
        """Are there so many rows that every tile would pack the right factor again?

        The sizes met first decide; a product gives the same bits either way.
        """
        rows, others = hint(self.m), hint(self.k) * hint(self.n)
        return self.can_pack and rows >= 2 * _ROWS and rows * others >= _LARGE

    @property
    def is_packed_by_turns(self) -> bool:
        """Would each of many such products pack the right factor, which may be packed once?"""
        few = None if self.y.turned else _across_few(self.dtype, self.n, hint(self.m))
        return self.can_pack and few is None

    @property
    def is_plain(self) -> bool:
        """Is this one product, and no stack of them?"""
        return same(self.lead, 1)

    def launch(self, bias: bool = False, relu: bool = False) -> Launch:
        """How a call of this product is run, with a bias (its last input) added, and relu."""
        rows = self.lead * self.m
        row_tile, col_tile = _tiles(rows, self.n, self.k, self.packed)
        sizes = self.m, self.n, self.k, self.x.stride, self.y.stride, self.x.offset, self.y.offset
        turned = self.x.turned, self.y.turned
        params: tuple[int, ...] = ()
        if self.dtype in _INTEGERS:
            kernel, scratch = _integer_kernel(*turned), 0
        else:
            kernel, scratch, params = product_kernel(
                self.dtype, self.n, *turned, bias, relu, self.onto, self.packed, hint(self.m)
            )
        return Launch(
            kernel,
            (*sizes, *params),
            rows,
            row_tile,
            self.n,
            col_tile,
            scratch,
            operations=2 * rows * self.n * self.k,
            epilogue=self.launch if self.can_add else None,
            bias=bias,
            relu=relu,
        )

    def part(self, axis: int, start: AnySize, size: AnySize) -> Product:
        """Only some rows (axis 0) or columns (axis 1) of the result."""
        if axis == 0:
            step = 1 if self.x.turned else self.x.stride
            x = replace(self.x, offset=self.x.offset + start * step)
            return replace(self, m=size, x=x)
        step = self.y.stride if self.y.turned else 1
        return replace(self, n=size, y=replace(self.y, offset=self.y.offset + start * step))

    def with_panels(self) -> Product:
        """The same product of a right factor that is packed."""
        return replace(self, packed=True, y=Factor(False, 0))

    def panels(self, b: Any, y: Any) -> Any:
        """The right factor as products read it when it is packed."""
        panel = _across(self.dtype, self.n) * vectors(self.dtype).lanes
        count = ceil_div(self.n, panel)
        tile = maximum(_PACKED // maximum(self.k * panel, 1), 1)
        params = [self.n, self.k, self.y.stride, self.y.offset, int(self.y.turned), panel]
        kernel = _pack_kernel(self.dtype)
        (out,) = b.call(kernel, [y], [((count, self.k, panel), self.dtype)], params, count, tile)
        return out


def closed(dtypes: Sequence[str]) -> Iterator[LibraryKernel]:
    """All kernels of products, but for the tiles that they call."""
    for dtype in ("int32", "int64"):
        for turned in product_of((False, True), repeat=2):
            yield _integer_kernel(*turned).over([dtype] * 3)
    for dtype in (name for name in dtypes if name in BYTES):
        yield _pack_kernel(dtype).over([dtype] * 2)
        for bias, onto in product_of((False, True), repeat=2):
            yield _product_kernel(dtype, bias, onto).over([dtype] * (3 + bias + onto))


def matmul(b: Any, x: Any, y: Any, transpose_x: bool = False, transpose_y: bool = False) -> Any:
    """The product of two matrices, or NotImplemented for dtypes without a kernel.

    Of 16-bit floats it is the product in float32, rounded.
    """
    if scalar.is_complex(x.dtype):
        return complex_product(b, matmul, x, y, transpose_x, transpose_y)
    if b.is_plain:
        return matrix_product(b, x, y, transpose_x, transpose_y)
    if x.dtype in HALVES:
        return in_float32(b, matmul, x, y, transpose_x, transpose_y)
    if _is_vector(x, y, transpose_x, transpose_y):
        return _as_nest(b, x, y, transpose_x, transpose_y)
    return _product(b, x, y, transpose_x, transpose_y)


def batch_matmul(
    b: Any, x: Any, y: Any, transpose_x: bool = False, transpose_y: bool = False
) -> Any:
    """The products of two equal stacks of matrices (all leading dimensions are the stack)."""
    if b.is_plain and not scalar.is_complex(x.dtype):
        return matrix_product(b, x, y, transpose_x, transpose_y)
    if x.dtype in HALVES:
        return in_float32(b, batch_matmul, x, y, transpose_x, transpose_y)
    m, k = x.shape[-2:] if not transpose_x else x.shape[:-3:-1]
    n = y.shape[-2] if transpose_y else y.shape[-1]
    work = product([m, n, k])
    is_tiny = isinstance(work, int) and 0 < work <= (_TINY_LINE if same(m, 1) else _TINY)
    if same(k, 1) or is_tiny or _is_vector(x, y, transpose_x, transpose_y):
        return _as_nest(b, x, y, transpose_x, transpose_y)
    if scalar.is_complex(x.dtype):
        return complex_product(b, batch_matmul, x, y, transpose_x, transpose_y)
    return _product(b, x, y, transpose_x, transpose_y)


def _is_vector(x: Any, y: Any, transpose_x: bool, transpose_y: bool) -> bool:
    """Is a factor a vector, so that the other one is read once, along its lines?

    A tile would pack it, for one use, and leave most of its columns or rows empty.
    """
    rows, columns = x.shape[-1 if transpose_x else -2], y.shape[-2 if transpose_y else -1]
    return x.dtype in BYTES and (same(columns, 1) or (transpose_y and same(rows, 1)))


def _as_nest(b: Any, x: Any, y: Any, transpose_x: bool, transpose_y: bool) -> Any:
    """Products that a loop nest over all makes quicker than a call for each."""
    batch = list(range(x.ndim - 2))
    left, right = x.ndim - 2, x.ndim - 1
    x = b.transpose(x, [*batch, right, left]) if transpose_x else x
    y = y if transpose_y else b.transpose(y, [*batch, right, left])
    lead, (m, k), n = x.shape[:-2], x.shape[-2:], y.shape[-2]
    whole = (*lead, m, n, k)
    rows = b.broadcast(b.reshape(x, (*lead, m, 1, k)), whole)
    columns = b.broadcast(b.reshape(y, (*lead, 1, n, k)), whole)
    return b.reduce("sum", b.map(scalar.mul, rows, columns), [len(whole) - 1])


def _product(b: Any, x: Any, y: Any, transpose_x: bool, transpose_y: bool) -> Any:
    dtype = x.dtype
    if dtype not in BYTES and dtype not in _INTEGERS:
        return NotImplemented
    lead = tuple(x.shape[:-2])
    m, k = (x.shape[-1], x.shape[-2]) if transpose_x else (x.shape[-2], x.shape[-1])
    n = y.shape[-2] if transpose_y else y.shape[-1]
    factors = Factor(transpose_x, x.shape[-1]), Factor(transpose_y, y.shape[-1])
    made = Product(dtype, product(lead), m, n, k, *factors)
    (out,) = b.launch(made.launch(), [x, y], [((*lead, m, n), dtype)], made)
    return out


def _tiles(rows: AnySize, n: AnySize, k: AnySize, packed: bool) -> tuple[AnySize, AnySize]:
    """Rows and columns of a tile: about eight tiles down, four across, none too small.

    Where the right factor is packed already a tile has few rows, all columns, and packs its rows of
    the left factor once.
    """
    if packed:
        # (Of few rows the columns are what threads share.)
        is_low = hint(rows) <= _ROWS
        col_tile: AnySize = _columns(n) if is_low else _WIDE
        row_tile = minimum(_ROWS, maximum(32, _up(ceil_div(rows, 64), 32)))
    else:
        col_tile = _columns(n)
        row_tile = minimum(_ROWS, maximum(64, _up(ceil_div(rows, 8), 16)))
    per_row = maximum(minimum(n, col_tile) * k, 1)
    row_tile = maximum(row_tile, ceil_div(_WORK, per_row))
    # All alike, so that threads have as much to do.
    return _up(ceil_div(rows, maximum(ceil_div(rows, row_tile), 1)), 4), col_tile


def _columns(n: AnySize) -> AnySize:
    return minimum(_COLUMNS, maximum(128, _up(ceil_div(n, 4), 32)))


def _up(size: AnySize, unit: int) -> AnySize:
    return ceil_div(size, unit) * unit


def _integer_kernel(transpose_x: bool, transpose_y: bool) -> LibraryKernel:
    facts = {"LEFT_TRANSPOSED": transpose_x, "RIGHT_TRANSPOSED": transpose_y}
    return specialise("matmul_integer", matmul_kernels.integer_product, **facts)


def _across(dtype: str, n: AnySize) -> int:
    """Vectors across a panel of a right factor that is packed."""
    return 1 if isinstance(n, int) and n <= vectors(dtype).lanes else 2


def _across_few(dtype: str, n: AnySize, rows: int) -> int | None:
    """Vectors across a panel of a right factor that one tile, of all rows, reads where it is.

    None where no tile has so many rows.
    """
    # The more the better, as what lies side by side comes together.
    for count in (4, 2, 1) if _across(dtype, n) > 1 else (1,):
        is_whole = isinstance(n, int) and n % (count * vectors(dtype).lanes) == 0
        if rows in heights(dtype, count) and (is_whole or count <= MASKED_WIDTH):
            return count
    return None


def _shape(dtype: str, n: AnySize, rows: int, packs: bool) -> tuple[int, tuple[int, int, int]]:
    """Vectors across the tiles of a product, and the rows of three kinds of them, tallest first."""
    # A panel that is packed anyway may be read as often as one likes, from near.
    few = None if packs else _across_few(dtype, n, rows)
    count, many = few or _across(dtype, n), vectors(dtype).registers > 16
    tall = {1: 24 if many else 8, 2: 12 if many else 6}.get(count, heights(dtype, count)[0])
    if few:
        return count, (max(rows, tall), rows, min(rows, 4))
    return count, (tall, 8 if tall > 8 else 4, 4)


def product_kernel(
    dtype: str,
    n: AnySize,
    transpose_x: bool,
    transpose_y: bool,
    bias: bool = False,
    relu: bool = False,
    onto: bool = False,
    packed: bool = False,
    rows: int = 0,
) -> tuple[LibraryKernel, int, tuple[int, ...]]:
    """The kernel for a dtype and (where known) width of the product, with its scratch bytes and
    the numbers that it gets behind sizes, strides and offsets.  It is best for so many rows, and
    gives the same bits for all.

    Its arguments: x, y, the value added, the bias, the result; then m, n, k, the strides of x and
    y, their offsets, and these numbers.
    """
    size, lanes = BYTES[dtype], vectors(dtype).lanes
    count, rows_of = _shape(dtype, n, rows, packed or transpose_y)
    panel = count * lanes
    masked = not (isinstance(n, int) and n % panel == 0)
    # Each row of a narrow product is read only once.
    packs_left = not (isinstance(n, int) and n <= lanes)
    high, wide = (_DEPTH, _ROWS) if transpose_x else (_ROWS, _DEPTH)
    row = wide + _GAP
    scratch = BLOCK + size * ((0 if packed else _DEPTH * panel) + packs_left * high * row)
    turned = transpose_x, transpose_y and not packed
    params = (*turned, packs_left, packed, panel, 2 * bias + 4 * relu + 8 * onto)
    numbers = (*map(int, params), _DEPTH, _ROWS, row, *rows_of)
    parts = (tiles(dtype, height, count, masked, adjacent=transpose_x) for height in (*rows_of, 1))
    return _product_kernel(dtype, bias, onto).calling(parts), scratch, numbers


def _pack_kernel(dtype: str) -> LibraryKernel:
    return specialise("matmul_pack", matmul_kernels.pack_panels, LANES=vectors(dtype).lanes)


def _product_kernel(dtype: str, bias: bool, onto: bool) -> LibraryKernel:
    buffers = 3 + onto + bias
    return specialise(
        "matmul",
        matmul_kernels.product,
        DTYPE=dtype,
        LANES=vectors(dtype).lanes,
        BASE_AT=2 if onto else 0,
        BIAS_AT=buffers - 2 if bias else 0,
        OUT_AT=buffers - 1,
        FIRST=buffers,
    )
