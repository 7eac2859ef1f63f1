# SPDX-License-Identifier: Apache-2.0
"""Products, convolutions and pooling as loop nests, for places without hand-written kernels.

Every function states what its namesake of this folder computes in the builder's vocabulary alone:
windows are gathered by a table of where their elements lie, and what is gathered fuses into the sum
or maximum over it, so that no window is ever in memory.  Arrays are NHWC.  Imports jit's IR.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..kernel import scalar
from ..kernel.sizes import AnySize, hint, is_positive, maximum, product, same
from ..program.tensor_ir import Launch
from . import block_forms
from .block_product import DTYPES, block_product
from .computed import MatrixProduct
from .geometry import Axis
from .shifted_views import padded_input

Both = tuple[Axis, Axis]
# From how many rows, columns and terms on products are computed by tiles, and from how many
# multiply-adds on by a library.
_LEAST = 16
_LEAST_WORK = 512
HALVES = ("float16", "bfloat16")


def matrix_product(b: Any, x: Any, y: Any, transpose_x: bool, transpose_y: bool) -> Any:
    """The products of two stacks of matrices; all leading dimensions are the stack."""
    if x.dtype in DTYPES and _is_large(b, x, y, transpose_x, transpose_y):
        return b.cast(_in_blocks(b, *_halved(b, x, y), transpose_x, transpose_y), x.dtype)
    if x.dtype in HALVES:
        return in_float32(b, matrix_product, x, y, transpose_x, transpose_y)
    lead = list(range(x.ndim - 2))
    turned = [*lead, x.ndim - 1, x.ndim - 2]
    x = b.transpose(x, turned) if transpose_x else x
    y = b.transpose(y, turned) if transpose_y else y
    (*stack, m, k), n = x.shape, y.shape[-1]
    whole = (*stack, m, k, n)
    left = b.broadcast(b.reshape(x, (*stack, m, k, 1)), whole)
    right = b.broadcast(b.reshape(y, (*stack, 1, k, n)), whole)
    # Columns of the result lie innermost: neighbours in memory are summed side by side.
    return b.reduce("sum", b.map(scalar.mul, left, right), [len(whole) - 2])


def in_float32(b: Any, form: Callable[..., Any], x: Any, y: Any, *rest: Any) -> Any:
    """What a form gives for float32, rounded to the dtype of its arguments."""
    wide = form(b, b.cast(x, "float32"), b.cast(y, "float32"), *rest)
    return wide if wide is NotImplemented else b.cast(wide, x.dtype)


def _halved(b: Any, one: Any, other: Any) -> tuple[Any, Any]:
    """Values in float16, if they are float32 and the session lets precision be mixed."""
    if not b.is_mixed or one.dtype != "float32":
        return one, other
    return b.cast(one, "float16"), b.cast(other, "float16")


def _is_large(b: Any, x: Any, y: Any, transpose_x: bool, transpose_y: bool) -> bool:
    """Has a result several columns and rows, and are there some to sum over?  (By the sizes met
    first; either way gives right results.)"""
    m, k = x.shape[:-3:-1] if transpose_x else x.shape[-2:]
    n = y.shape[-2] if transpose_y else y.shape[-1]
    if not is_positive(k):
        return False
    if MatrixProduct.kind in b.offered:
        return hint(m) * hint(n) * hint(k) >= _LEAST_WORK
    return all(hint(size) >= _LEAST for size in (m, n, k))


def _in_blocks(b: Any, x: Any, y: Any, transpose_x: bool, transpose_y: bool) -> Any:
    """A product by tiles (block_product.py), which reads transposed factors where they lie."""
    stack = tuple(x.shape[:-2])
    m, k = x.shape[:-3:-1] if transpose_x else x.shape[-2:]
    n = y.shape[-2] if transpose_y else y.shape[-1]
    left, right = (1, m) if transpose_x else (k, 1), (1, k) if transpose_y else (n, 1)
    lead = product(stack)
    numbers = (m, n, k, lead, m * k, *left, k * n, *right)

    def launch(bias: bool = False, relu: bool = False) -> Launch:
        kernel = block_product(x.dtype, bias, relu, transpose_x, transpose_y)
        assert kernel.block is not None
        down, across, _ = kernel.block
        return Launch(
            kernel,
            numbers,
            *(lead * m, down, n, across),
            operations=2 * lead * m * n * k,
            epilogue=launch,
            bias=bias,
            relu=relu,
        )

    (out,) = b.launch(launch(), [x, y], [((*stack, m, n), x.dtype)])
    return out


def convolve(b: Any, x: Any, w: Any, both: Both, bias: Any = None, relu: bool = False) -> Any:
    """The convolution of images with filters [height, width, channels, features], with a bias and
    what is below zero cut off, if these are wanted."""
    total = _sums(b, x, w, both)
    total = total if bias is None else b.map(scalar.add, total, bias)
    return b.map(lambda value: scalar.maximum(value, 0), total) if relu else total


def _sums(b: Any, x: Any, w: Any, both: Both) -> Any:
    if _is_product(both):
        flat = matrix_product(b, _seen(b, x, both), b.reshape(w, w.shape[2:]), False, False)
        return b.reshape(flat, (x.shape[0], both[0].out, both[1].out, w.shape[3]))
    if block_forms.is_worthwhile(b, x.dtype, w.shape, _pixels(x, both)):
        return b.cast(block_forms.convolve(b, *_halved(b, x, w), both), x.dtype)
    if x.dtype in HALVES:
        return in_float32(b, _sums, x, w, both)
    windows = _windows(b, padded_input(b, x, *both), both)
    whole = (*windows.shape, w.shape[3])
    pixels = b.broadcast(b.reshape(windows, (*windows.shape, 1)), whole)
    return b.reduce("sum", b.map(scalar.mul, pixels, b.broadcast(w, whole)), [3, 4, 5])


def _is_product(both: Both) -> bool:
    """Is every window one pixel of the images?"""
    return all(a.window == 1 and same(a.before, 0) for a in both)


def _seen(b: Any, x: Any, both: Both) -> Any:
    """The pixels that windows of one pixel each fall on, as a matrix."""
    (n, _, _, c), (high, wide) = x.shape, both
    steps = [1, high.stride, wide.stride, 1]
    x = x if steps == [1] * 4 else b.slice(x, [0] * 4, (n, high.out, wide.out, c), steps)
    return b.reshape(x, (product(x.shape[:3]), c))


def _pixels(x: Any, both: Both) -> AnySize:
    """How many windows there are."""
    return product([x.shape[0], both[0].out, both[1].out])


def convolve_back(b: Any, shape: Sequence[AnySize], w: Any, dy: Any, both: Both) -> Any:
    """The gradient of a convolution with respect to images of a shape."""
    if _is_product(both):
        scores, filters = b.reshape(dy, (product(dy.shape[:3]), w.shape[3])), w.shape[2:]
        flat = matrix_product(b, scores, b.reshape(w, filters), False, True)
        found = b.reshape(flat, (*dy.shape[:3], w.shape[2]))
        steps = [1, both[0].stride, both[1].stride, 1]
        # Pixels between the windows have no part in what came of them.
        return b.assemble(tuple(shape), dy.dtype, [(found, [0] * 4, steps)], 0)
    if block_forms.is_worthwhile(b, dy.dtype, w.shape, product(dy.shape[:3])):
        return b.cast(block_forms.convolve_back(b, shape, *_halved(b, w, dy), both), dy.dtype)
    if dy.dtype in HALVES:
        wide = b.cast(w, "float32"), b.cast(dy, "float32")
        return b.cast(convolve_back(b, shape, *wide, both), dy.dtype)
    windows = _windows_of_gradient(b, dy, both, 0)
    whole = (*windows.shape, shape[3])
    scores = b.broadcast(b.reshape(windows, (*windows.shape, 1)), whole)
    filters = b.broadcast(b.transpose(w, (0, 1, 3, 2)), whole)
    return b.reduce("sum", b.map(scalar.mul, scores, filters), [3, 4, 5])


def filter_gradient(b: Any, x: Any, dy: Any, both: Both) -> Any:
    """The gradient of a convolution with respect to the filters."""
    sizes = (both[0].window, both[1].window, x.shape[3], dy.shape[3])
    if _is_product(both):
        scores = b.reshape(dy, (product(dy.shape[:3]), dy.shape[3]))
        return b.reshape(matrix_product(b, _seen(b, x, both), scores, True, False), sizes)
    if block_forms.is_worthwhile(b, x.dtype, sizes, product(dy.shape[:3])):
        return b.cast(block_forms.filter_gradient(b, *_halved(b, x, dy), both), x.dtype)
    if x.dtype in HALVES:
        return in_float32(b, filter_gradient, x, dy, both)
    windows = _windows(b, padded_input(b, x, *both), both)
    n, high, wide, features = dy.shape
    whole = (*windows.shape, features)
    pixels = b.broadcast(b.reshape(windows, (*windows.shape, 1)), whole)
    scores = b.broadcast(b.reshape(dy, (n, high, wide, 1, 1, 1, features)), whole)
    return b.reduce("sum", b.map(scalar.mul, pixels, scores), [0, 1, 2])


def pool(b: Any, kind: str, x: Any, both: Both) -> Any:
    """The largest ("max") or mean element of every window."""
    if kind == "max":
        found = b.reduce("max", _windows(b, _padded(b, x, both), both), [3, 4])
        # As TensorFlow begins: a window of NaNs, or of nothing, has the lowest number.
        return b.map(lambda value: scalar.maximum(value, _lowest(x.dtype)), found)
    total = b.reduce("sum", _windows(b, padded_input(b, x, *both), both), [3, 4])
    return b.map(scalar.div, total, _counts(b, total, both))


def pool_gradient(b: Any, kind: str, inputs: Sequence[Any], both: Both) -> Any:
    """The gradient of pooling: of maxima it goes to the first in its window."""
    dy = inputs[-1]
    if kind == "mean":
        share = b.map(scalar.div, dy, _counts(b, dy, both))
        return b.reduce("sum", _windows_of_gradient(b, share, both, 0), [3, 4])
    place, taps = _places(b, _padded(b, inputs[0], both), both)
    # Which tap an element is of a window, beside the one where that has its maximum.
    found = _windows_of_gradient(b, place, both, -1)
    scores = _windows_of_gradient(b, dy, both, 0)
    number = b.reshape(b.iota((taps[0] * taps[1],), 0, "int64"), (1, 1, 1, *taps, 1))

    def received(where: Any, tap: Any, score: Any) -> Any:
        return scalar.select(scalar.eq(where, tap), score, 0)

    return b.reduce("sum", b.map(received, found, number, scores), [3, 4])


def _places(b: Any, padded: Any, both: Both) -> tuple[Any, Sequence[int]]:
    """The tap at which every window has its maximum, and the numbers of taps.

    As in TensorFlow it is the first element inside of the images that no later one exceeds: a NaN
    that comes first stays.
    """
    windows = _windows(b, padded, both)
    n, high, wide, *taps, channels = windows.shape
    flat = b.reshape(windows, (n, high, wide, taps[0] * taps[1], channels))
    top, at = b.reduce("max", flat, [3]), b.reduce("argmax", flat, [3])
    row, column = (_first_inside(b, axis, number) for number, axis in enumerate(both))
    steps = [(axis.out, axis.stride, 1, 1, 0) for axis in both]
    begin = _gathered(b, padded, steps, (row, column))
    begin = b.reshape(begin, (n, high, wide, channels))
    first = b.map(lambda i, j: scalar.add(scalar.mul(i, taps[1]), j), row, column)
    first = b.reshape(first, (1, high, wide, 1))

    def chosen(start: Any, most: Any, where: Any, other: Any) -> Any:
        stays = scalar.logical_or(scalar.isnan(start), scalar.le(most, _lowest(padded.dtype)))
        return scalar.select(stays, other, where)

    return b.map(chosen, begin, top, at, first), taps


def _first_inside(b: Any, axis: Axis, number: int) -> Any:
    """Of every window along an axis the first tap that is no padding, [out, 1] or [1, out]."""
    shape = (axis.out, 1) if number == 0 else (1, axis.out)
    before = b.known_as(_scalar(axis.before), "int64")
    position = b.iota(shape, number, "int64")
    return b.map(
        lambda at, low: scalar.maximum(scalar.sub(low, scalar.mul(at, axis.stride)), 0),
        position,
        before,
    )


def _padded(b: Any, x: Any, both: Both) -> Any:
    """Images with what is less than everything around them."""
    ends = [(axis.before, maximum(axis.padded - axis.size - axis.before, 0)) for axis in both]
    return b.pad(x, [(0, 0), *ends, (0, 0)], _lowest(x.dtype))


def _lowest(dtype: str) -> float:
    """The lowest number of a dtype that is not infinite."""
    return float(np.finfo(dtype).min)


def _windows(b: Any, padded: Any, both: Both) -> Any:
    """[n, out, out, window, window, channels] of images [n, height, width, channels]."""
    steps = [(axis.out, axis.stride, axis.window, axis.dilation, 0) for axis in both]
    return _gathered(b, padded, steps)


def _windows_of_gradient(b: Any, dy: Any, both: Both, fill: int) -> Any:
    """[n, height, width, window, window, features]: for every element of the images and every tap
    what the gradient is where that tap of a window falls on it, `fill` if there is no such window.
    """
    low = [axis.reach - 1 - axis.before for axis in both]
    room = [axis.size + axis.reach - 1 for axis in both]
    for axis, before, whole in zip(both, low, room):
        # Where padding is larger than a window, windows lie outside of the images altogether.
        b.require(before >= 0 and before + (axis.out - 1) * axis.stride < whole)
    n, _, _, features = dy.shape
    place = (dy, [0, *low, 0], [1, both[0].stride, both[1].stride, 1])
    spread = b.assemble((n, *room, features), dy.dtype, [place], fill)
    # The first tap of a window is the farthest behind it.
    steps = [(a.size, 1, a.window, -a.dilation, (a.window - 1) * a.dilation) for a in both]
    return _gathered(b, spread, steps)


Step = tuple[AnySize, int, int, int, int]


def _gathered(b: Any, images: Any, steps: Sequence[Step], further: Sequence[Any] = ()) -> Any:
    """Elements at (position * stride + tap * dilation + first) of height and width.

    steps: of each the positions, stride, taps, dilation, first; further: what is added to rows and
    to columns, [positions of height, positions of width] or what has ones of these.
    """
    n, height, width, channels = images.shape
    (high, down, rows, by_row, top), (wide, across, columns, by_column, left) = steps
    shape = (high, wide, rows, columns)

    def place(y: Any, x: Any, i: Any, j: Any, line: Any, *moved: Any) -> Any:
        row = scalar.add(scalar.add(scalar.mul(y, down), scalar.mul(i, by_row)), top)
        column = scalar.add(scalar.add(scalar.mul(x, across), scalar.mul(j, by_column)), left)
        if moved:
            row, column = scalar.add(row, moved[0]), scalar.add(column, moved[1])
        return scalar.add(scalar.mul(row, line), column)

    positions = [b.iota(shape, axis, "int64") for axis in range(4)]
    moved = [b.reshape(value, (*value.shape, 1, 1)) for value in further]
    table = b.map(place, *positions, b.size_scalar(images, [2], "int64"), *moved)
    return b.pick(b.reshape(images, (n, height * width, channels)), table, 1)


def _counts(b: Any, like: Any, both: Both) -> Any:
    """How many elements of every window lie inside of the images, [1, out, out, 1]."""
    sides = []
    for axis, shape in zip(both, ((1, both[0].out, 1, 1), (1, 1, both[1].out, 1))):
        position = b.iota(shape, 1 if axis is both[0] else 2, "int64")

        def inside(at: Any, size: Any, before: Any, axis: Axis = axis) -> Any:
            first = scalar.sub(scalar.mul(at, axis.stride), before)
            last = scalar.minimum(scalar.add(first, axis.window), size)
            return scalar.sub(last, scalar.maximum(first, 0))

        size, before = (b.known_as(_scalar(number), "int64") for number in (axis.size, axis.before))
        sides.append(b.map(inside, position, size, before))
    return b.cast(b.map(scalar.mul, *sides), like.dtype)


def _scalar(number: AnySize) -> Any:
    return np.array(number, dtype=object)
