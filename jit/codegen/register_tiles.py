# SPDX-License-Identifier: Apache-2.0
"""Register tiles: the intrinsic that contractions (products, convolutions, gradients) are built of.

`fma_tile` keeps PIXELS x VECTORS vector accumulators in registers over a whole (two-level)
reduction.  Its shape, strides known when a kernel is written, and the use of masks are literals
in the kernel's text, so that every address is one base register plus a constant.
Imports Numba; used only while a kernel is compiled.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import TYPE_CHECKING, Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from .addresses import Address, Mismatch, of_one_dtype

if TYPE_CHECKING:
    import numpy as np

_WORD = ir.IntType(64)
_BIT = ir.IntType(1)
_ELEMENTS = {"float32": (ir.FloatType(), 4), "float64": (ir.DoubleType(), 8)}


class Tile:
    """Emits one register tile at the builder's position; strides and addresses are i64 values."""

    def __init__(
        self, builder: Any, dtype: str, shape: tuple[int, int, int], left: Any, ragged: bool
    ) -> None:
        self.b = builder
        self.pixels, self.vectors, self.lanes = shape
        self.element, self.bytes = _ELEMENTS[dtype]
        self.vector = ir.VectorType(self.element, self.lanes)
        self.left = left
        # Rows of w end where those of out do, so that their loads are masked.
        self.ragged = ragged
        self.masks = [None if left is None else self._mask(v) for v in range(self.vectors)]
        self.cells = [(p, v) for p in range(self.pixels) for v in range(self.vectors)]

    def function(self, name: str, result: Any, arguments: list[Any]) -> Any:
        kind = ir.FunctionType(result, arguments)
        return cgutils.get_or_insert_function(self.b.module, kind, name)

    def splat(self, scalar: Any) -> Any:
        undefined = ir.Constant(self.vector, ir.Undefined)
        index = ir.IntType(32)
        first = self.b.insert_element(undefined, scalar, index(0))
        zeros = ir.Constant(ir.VectorType(index, self.lanes), [0] * self.lanes)
        return self.b.shuffle_vector(first, undefined, zeros)

    def _mask(self, v: int) -> Any:
        index = ir.IntType(32)
        kind = ir.VectorType(index, self.lanes)
        left = self.b.trunc(self.left, index)
        undefined = ir.Constant(kind, ir.Undefined)
        first = self.b.insert_element(undefined, left, index(0))
        spread = self.b.shuffle_vector(first, undefined, ir.Constant(kind, [0] * self.lanes))
        lanes = ir.Constant(kind, [v * self.lanes + i for i in range(self.lanes)])
        return self.b.icmp_signed("<", lanes, spread)

    def address(self, base: Any, *terms: Any) -> Any:
        offset = terms[0]
        for term in terms[1:]:
            offset = self.b.add(offset, term)
        pointer = self.b.inttoptr(base, self.element.as_pointer())
        return self.b.gep(pointer, [offset])

    def load(self, base: Any, v: int, *terms: Any, whole: bool = False) -> Any:
        place = self.address(base, _WORD(v * self.lanes), *terms)
        place = self.b.bitcast(place, self.vector.as_pointer())
        if whole or self.masks[v] is None:
            value = self.b.load(place)
            value.align = self.bytes
            return value
        mask = ir.VectorType(_BIT, self.lanes)
        name = f"llvm.masked.load.v{self.lanes}{self._suffix}.p0"
        kinds = [self.vector.as_pointer(), ir.IntType(32), mask, self.vector]
        call = self.function(name, self.vector, kinds)
        zero = ir.Constant(self.vector, [0.0] * self.lanes)
        return self.b.call(call, [place, ir.IntType(32)(self.bytes), self.masks[v], zero])

    def store(self, value: np.ndarray | np.generic, base: Any, v: int, *terms: Any) -> None:
        place = self.address(base, _WORD(v * self.lanes), *terms)
        place = self.b.bitcast(place, self.vector.as_pointer())
        if self.masks[v] is None:
            self.b.store(value, place).align = self.bytes
            return
        mask = ir.VectorType(_BIT, self.lanes)
        name = f"llvm.masked.store.v{self.lanes}{self._suffix}.p0"
        kinds = [self.vector, self.vector.as_pointer(), ir.IntType(32), mask]
        call = self.function(name, ir.VoidType(), kinds)
        self.b.call(call, [value, place, ir.IntType(32)(self.bytes), self.masks[v]])

    @property
    def _suffix(self) -> str:
        return "f32" if self.bytes == 4 else "f64"

    def branch(self, condition: Any, yes: Callable[[], list[Any]], no: list[Any]) -> list[Any]:
        """Values of `yes()` where the condition holds, else `no`, through a real branch."""
        before = self.b.block
        inside = self.b.append_basic_block("inside")
        after = self.b.append_basic_block("after")
        self.b.cbranch(condition, inside, after)
        self.b.position_at_end(inside)
        values = yes()
        end = self.b.block
        self.b.branch(after)
        self.b.position_at_end(after)
        return self._merge(values, end, no, before)

    def _merge(self, values: list[Any], end: Any, no: list[Any], before: Any) -> list[Any]:
        merged = []
        for value, other in zip(values, no, strict=True):
            phi = self.b.phi(self.vector)
            phi.add_incoming(value, end)
            phi.add_incoming(other, before)
            merged.append(phi)
        return merged

    def loop(self, count: Any, start: list[Any], body: Callable[..., list[Any]]) -> list[Any]:
        """`body(i, values) -> values` for i < count; count is at least one."""
        before = self.b.block
        inside = self.b.append_basic_block("loop")
        after = self.b.append_basic_block("done")
        self.b.branch(inside)
        self.b.position_at_end(inside)
        index = self.b.phi(_WORD)
        index.add_incoming(_WORD(0), before)
        phis = [self.b.phi(self.vector) for _ in start]
        for phi, value in zip(phis, start, strict=True):
            phi.add_incoming(value, before)
        values = body(index, phis)
        following = self.b.add(index, _WORD(1))
        index.add_incoming(following, self.b.block)
        for phi, value in zip(phis, values, strict=True):
            phi.add_incoming(value, self.b.block)
        self.b.cbranch(self.b.icmp_signed("<", following, count), inside, after)
        self.b.position_at_end(after)
        return values

    def fma(self, x: Any, y: Any, z: Any) -> Any:
        """x * y + z, rounded once where the machine can."""
        name = f"llvm.fmuladd.v{self.lanes}{self._suffix}"
        function = self.function(name, self.vector, [self.vector] * 3)
        return self.b.call(function, [x, y, z])

    def multiply_add(
        self, x: Any, steps: tuple[Any, ...], w: Any, row: Any, sums: Any, first: int
    ) -> Any:
        """One step of the reduction, for the pixels from `first` on that `sums` has:

        sums[p, v] += x[steps[0] * p + …] * w[row + v * lanes]
        """
        whole = not self.ragged
        weights = [self.load(w, v, row, whole=whole) for v in range(self.vectors)]
        pixel_step, *offsets = steps
        new = []
        for number, old in enumerate(sums):
            p, v = divmod(number, self.vectors)
            if v == 0:
                place = self.address(x, self.b.mul(_WORD(first + p), pixel_step), *offsets)
                scalar = self.splat(self.b.load(place))
            new.append(self.fma(scalar, weights[v], old))
        return new


@intrinsic(prefer_literal=True)
def fma_tile(
    typing_context: Any,
    pixels: Any,
    vectors: Any,
    lanes: Any,
    left: Any,
    ragged: Any,
    x: Any,
    w: Any,
    out: Any,
    bias: Any,
    flags: Any,
    segments: Any,
    x_segment: Any,
    w_segment: Any,
    count: Any,
    x_pixel: Any,
    x_step: Any,
    w_step: Any,
    out_pixel: Any,
) -> Any:
    """A tile of sums of products, all strides in elements:

    out[p * out_pixel + f] = relu(bias[f] + out[…] + sum over s < segments, q < count of
        x[s * x_segment + p * x_pixel + q * x_step] * w[s * w_segment + q * w_step + f])

    for p < pixels and f < vectors * lanes (f < left when `left` is not the literal -1).  `ragged`
    is literal 1 when rows of w end at `left` too, 0 when they are padded to whole vectors.
    flags: 1 adds the old `out`, 2 adds `bias`, 4 applies relu.  Both counts are at least one.
    """
    shape = (pixels, vectors, lanes, left, ragged)
    kinds: tuple[Any, ...] = (x, w, out, bias, flags, segments, x_segment, w_segment, count)
    kinds += (x_pixel, x_step, w_step, out_pixel)

    def emit(t: Tile, *values: Any) -> None:
        none = _WORD(0)
        _emit(t, [(0, t.pixels, 1)], *values[:9], none, none, *values[9:])

    return types.void(*shape, *kinds), _lowering(emit, shape, kinds, ragged)


@intrinsic(prefer_literal=True)
def conv_tile(
    typing_context: Any,
    pixels: Any,
    vectors: Any,
    lanes: Any,
    left: Any,
    taps: Any,
    x: Any,
    w: Any,
    out: Any,
    bias: Any,
    flags: Any,
    segments: Any,
    x_segment: Any,
    w_segment: Any,
    count: Any,
    x_tap: Any,
    w_tap: Any,
    x_pixel: Any,
    w_step: Any,
    out_pixel: Any,
) -> Any:
    """Like fma_tile, for windows of taps some of which some pixels do not have:

    out[p * out_pixel + f] = relu(bias[f] + out[…] + sum over s, taps t of pixel p, q < count of
        x[s * x_segment + t * x_tap + p * x_pixel + q] *
        w[s * w_segment + t * w_tap + q * w_step + f])

    `taps` is a literal such as "1:14:1,0:14:4": pixels 1 to 13 have tap 0, all have taps 1 to 4.
    """
    shape = (pixels, vectors, lanes, left, taps)
    kinds: tuple[Any, ...] = (x, w, out, bias, flags, segments, x_segment, w_segment, count)
    kinds += (x_tap, w_tap, x_pixel, w_step, out_pixel)

    def emit(t: Tile, *values: Any) -> None:
        groups = [tuple(map(int, group.split(":"))) for group in taps.literal_value.split(",")]
        *most, w_step, out_pixel = values
        _emit(t, groups, *most, _WORD(1), w_step, out_pixel)

    return types.void(*shape, *kinds), _lowering(emit, shape, kinds)


@intrinsic(prefer_literal=True)
def product_tile(
    typing_context: Any,
    pixels: Any,
    vectors: Any,
    lanes: Any,
    left: Any,
    ragged: Any,
    x: Any,
    w: Any,
    out: Any,
    bias: Any,
    base: Any,
    flags: Any,
    count: Any,
    x_pixel: Any,
    x_step: Any,
    w_step: Any,
    out_pixel: Any,
) -> Any:
    """A tile of a matrix product: fma_tile of one segment, which may add another value.

    flags: as those of fma_tile, and 8 adds `base`, which lies as `out` does, before the bias.
    """
    shape = (pixels, vectors, lanes, left, ragged)
    kinds = (x, w, out, bias, base, flags, count, x_pixel, x_step, w_step, out_pixel)

    def emit(t: Tile, x: Any, w: Any, out: Any, bias: Any, base: Any, *rest: Any) -> None:
        flags, count, *steps = rest
        none = _WORD(0)
        strides = (none, none, count, none, none, *steps)
        _emit(t, [(0, t.pixels, 1)], x, w, out, bias, flags, _WORD(1), *strides, base=base)

    return types.void(*shape, *kinds), _lowering(emit, shape, kinds, ragged)


def _lowering(
    emit: Callable[..., None], shape: tuple[Any, ...], kinds: tuple[Any, ...], ragged: Any = None
) -> Callable[..., Any]:
    """The code generator of an intrinsic whose first arguments are shape and lanes left."""
    name, left = tile_dtype(kinds), shape[3]
    counts = [kind.literal_value for kind in shape[:3]]
    masked = not (isinstance(left, types.IntegerLiteral) and left.literal_value == -1)

    def lower(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        edge = word(context, builder, left, args[3]) if masked else None
        words = [word(context, builder, k, v) for k, v in zip(kinds, args[5:], strict=True)]
        is_ragged = ragged is not None and bool(ragged.literal_value)
        emit(Tile(builder, name, (counts[0], counts[1], counts[2]), edge, is_ragged), *words)
        return context.get_dummy_value()

    return lower


def tile_dtype(kinds: Iterable[Any], *others: Any) -> str:
    """The dtype of a tile: that of all addresses among its arguments, but for `others`."""
    places = [kind for kind in kinds if isinstance(kind, Address) and kind not in others]
    dtype = of_one_dtype("tile", *places)
    if dtype not in _ELEMENTS:
        raise Mismatch(f"tile of {dtype}", f"tiles are of {' or '.join(_ELEMENTS)}")
    return dtype


def word(context: Any, builder: Any, kind: Any, value: np.ndarray | np.generic) -> Any:
    """An argument of an intrinsic as an i64, a constant if it is a literal."""
    if isinstance(kind, Address):
        return value
    if isinstance(kind, types.IntegerLiteral):
        return _WORD(kind.literal_value)
    return context.cast(builder, value, kind, types.int64)


def _emit(
    t: Tile, taps: list[Any], x: Any, w: Any, out: Any, bias: Any, flags: Any, segments: Any,
    *strides: Any, base: Any = None,
) -> None:  # fmt: skip
    *inner, out_pixel = strides
    zero = ir.Constant(t.vector, [0.0] * t.lanes)
    sums = _products(t, taps, x, w, segments, inner, [zero] * len(t.cells))
    b = t.b

    def flag(bit: int) -> Any:
        return b.icmp_signed("!=", b.and_(flags, _WORD(bit)), _WORD(0))

    def place(p: int) -> Any:
        return b.mul(_WORD(p), out_pixel)

    def add_old() -> list[Any]:
        # Last, so that a long sum is one of short sums and loses less to rounding.
        old = (t.load(out, v, place(p)) for p, v in t.cells)
        return [b.fadd(s, o) for s, o in zip(sums, old, strict=True)]

    sums = t.branch(flag(1), add_old, sums)

    def add_base() -> list[Any]:
        others = (t.load(base, v, place(p)) for p, v in t.cells)
        return [b.fadd(s, o) for s, o in zip(sums, others, strict=True)]

    if base is not None:
        sums = t.branch(flag(8), add_base, sums)

    def add_bias() -> list[Any]:
        added = [t.load(bias, v, _WORD(0)) for v in range(t.vectors)]
        return [b.fadd(s, added[v]) for s, (_, v) in zip(sums, t.cells, strict=True)]

    sums = t.branch(flag(2), add_bias, sums)

    def relu() -> list[Any]:
        return [b.select(b.fcmp_ordered("<", s, zero), zero, s) for s in sums]

    sums = t.branch(flag(4), relu, sums)
    for value, (p, v) in zip(sums, t.cells, strict=True):
        t.store(value, out, v, place(p))


def _products(
    t: Tile, taps: list[Any], x: Any, w: Any, segments: Any, strides: list[Any], sums: list[Any]
) -> list[Any]:
    """The sums of products over segments, taps, and steps within a tap."""
    x_segment, w_segment, count, x_tap, w_tap, x_pixel, x_step, w_step = strides
    b = t.b

    def tap(x_start: Any, w_start: Any, pixels: range, values: list[Any]) -> list[Any]:
        def step(q: Any, inner: list[Any]) -> list[Any]:
            offsets = (x_pixel, b.add(x_start, b.mul(q, x_step)))
            row = b.add(w_start, b.mul(q, w_step))
            return t.multiply_add(x, offsets, w, row, inner, pixels.start)

        some = slice(pixels.start * t.vectors, pixels.stop * t.vectors)
        return [*values[: some.start], *t.loop(count, values[some], step), *values[some.stop :]]

    def group(
        starts: tuple[Any, Any], number: int, pixels: range, i: Any, values: list[Any]
    ) -> list[Any]:
        i = b.add(i, _WORD(number))
        x_start, w_start = b.add(starts[0], b.mul(i, x_tap)), b.add(starts[1], b.mul(i, w_tap))
        return tap(x_start, w_start, pixels, values)

    def segment(s: Any, values: list[Any]) -> list[Any]:
        starts, number = (b.mul(s, x_segment), b.mul(s, w_segment)), 0
        for first, last, repeats in taps:
            body = partial(group, starts, number, range(first, last))
            once = repeats == 1
            values = body(_WORD(0), values) if once else t.loop(_WORD(repeats), values, body)
            number += repeats
        return values

    return t.loop(segments, sums, segment)
