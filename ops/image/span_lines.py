# SPDX-License-Identifier: Apache-2.0
"""The tables of resize_spans.py for sizes that only a run knows, computed by the plan itself.

Each is three values: how many lines a line of the result takes, int64, [lines]; which, int64, and
how much of each, float32, [lines, most].
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ...engine import errors
from ...jit.kernel import scalar as k
from ...jit.kernel import sizes
from .resize import extents, placed, within
from .resize_spans import SAMPLING, STEPS, TINY, coefficients

if TYPE_CHECKING:
    from ...jit.kernel.sizes import AnySize
    from ...jit.program.tensor_ir import Value
    from ...jit.trace.builder import Builder

_TAPS = 4  # of a cubic
_HALF = 0.5


def _grid(b: Builder, lines: AnySize, most: AnySize) -> tuple[Value, Value]:
    """The number of each line of the result, float32, and of what it takes, int64."""
    return b.iota([lines, 1], 0, "float32"), b.iota([1, most], 1, "int64")


def _last(b: Builder, size: AnySize) -> Value:
    return b.constant(np.array(size - 1, object), "int64")


def _counted(b: Builder, counts: Value, lines: AnySize) -> Value:
    return b.reshape(counts, [lines])


def cubic_lines(
    b: Builder, size: AnySize, resized: AnySize, attr: Callable[..., Any]
) -> list[Value]:
    """What `cubic` says of the places of lines."""
    is_half = attr("half_pixel_centers")
    inner, outer = coefficients(-0.5 if is_half else -0.75)
    table = b.constant(np.concatenate([outer, inner, inner[::-1], outer[::-1]]))
    lines, taps = _grid(b, resized, _TAPS)

    def place(i: object, tap: object, last: object, old: object, new: object) -> tuple[Any, ...]:
        at = placed(i, old, new, is_half)
        low = k.floor(at)
        share = k.rint(k.mul(k.sub(at, low), k.const_like(STEPS, at)))
        step = k.add(k.cast(share, "int64"), k.mul(tap, k.const_like(STEPS + 1, tap)))
        wanted = k.sub(k.add(k.cast(low, "int64"), tap), k.const_like(1, tap))
        row = within(wanted, last)
        return row, step, k.eq(row, wanted)

    rows, steps, are_inside = b.map(
        place, lines, taps, _last(b, size), *extents(b, size, resized, attr)
    )
    weights = b.pick(table, steps)
    if is_half:
        zero = b.constant(np.float32(0))
        weights = _shared(b, b.map(k.select, are_inside, weights, zero), resized)
    return [b.full([resized], _TAPS, "int64"), rows, weights]


def _shared(b: Builder, weights: Value, lines: AnySize) -> Value:
    """The weights of cubics, which make up for what has none."""
    taps = [b.slice(weights, [0, tap], [lines, 1]) for tap in range(_TAPS)]

    def share(weight: object, *each: object) -> Any:
        total = each[0]
        for other in each[1:]:
            total = k.add(total, other)
        scaled = k.mul(weight, k.div(k.const_like(1, total), total))
        return k.select(k.ge(k.abs(total), k.const_like(TINY, total)), scaled, weight)

    return b.map(share, weights, *taps)


def area_lines(
    b: Builder, size: AnySize, resized: AnySize, attr: Callable[..., Any]
) -> tuple[list[Value], Value]:
    """What `area` says of lines, and how high each is, float32, [1]."""
    least = 1 if attr("align_corners") and resized > 1 else 0
    # One more than whole ones at either end, as places are rounded.
    most = sizes.ceil_div(size - least, sizes.maximum(resized - least, 1)) + 2
    lines, taps = _grid(b, resized, most)
    scale = b.map(k.div, *extents(b, size, resized, attr))

    def edges(i: object, scale: object) -> tuple[Any, Any, Any]:
        first, last = k.mul(i, scale), k.mul(k.add(i, k.const_like(1, i)), scale)
        return first, last, k.floor(first)

    def covered(i: object, tap: object, end: object, scale: object) -> tuple[Any, Any]:
        first, last, low = edges(i, scale)
        place = k.add(k.cast(low, "int64"), tap)
        row = k.cast(place, "float32")
        behind = k.add(row, k.const_like(1, row))
        ends_inside = k.gt(behind, last)
        from_first = k.select(ends_inside, scale, k.sub(behind, first))
        whole = k.select(ends_inside, k.sub(last, row), k.const_like(1, row))
        return within(place, end), k.select(k.lt(row, first), from_first, whole)

    def count(i: object, scale: object) -> Any:
        _, last, low = edges(i, scale)
        return k.cast(k.sub(k.ceil(last), low), "int64")

    rows, weights = b.map(covered, lines, taps, _last(b, size), scale)
    return [_counted(b, b.map(count, lines, scale), resized), rows, weights], scale


def sampled_lines(
    b: Builder,
    kernel: str,
    sides: tuple[AnySize, AnySize],
    scale: Value,
    move: Value,
    is_smooth: bool,
) -> list[Value]:
    """What `sampled` says of lines; sides: the image's and the result's; scale, move: [1]."""
    size, resized = sides
    radius, weigh = SAMPLING[kernel]
    most = _most_sampled(b, size, scale, radius, is_smooth)
    whole, stretch = b.constant(np.array([size], object), "int64"), _stretch(is_smooth)
    width = b.constant(np.array([most], object), "int64")
    lines, taps = _grid(b, resized, most)

    def span(i: object, scale: object, move: object, size: object) -> tuple[Any, ...]:
        half, zero = k.const_like(_HALF, i), k.const_like(0, i)
        inverse, reach = k.div(k.const_like(1, scale), scale), k.const_like(radius, scale)
        reach = k.mul(reach, stretch(scale))
        at = k.add(k.mul(k.add(i, half), inverse), k.mul(k.neg(inverse), move))
        bound = k.cast(size, "float32")
        first, last = k.ceil(k.sub(k.sub(at, reach), half)), k.floor(k.sub(k.add(at, reach), half))
        ends = [k.select(k.isnan(each), zero, each) for each in (first, last)]
        top = k.sub(bound, k.const_like(1, bound))
        start, end = (k.cast(k.maximum(k.minimum(each, top), zero), "int64") for each in ends)
        is_outside = k.logical_or(k.lt(at, zero), k.gt(at, bound))
        return at, start, k.add(end, k.const_like(1, end)), k.logical_not(is_outside)

    def weight(i: object, tap: object, scale: object, move: object, size: object) -> Any:
        at, start, end, _ = span(i, scale, move, size)
        row = k.add(start, tap)
        middle = k.add(k.cast(row, "float32"), k.const_like(_HALF, at))
        shrunk = k.div(k.const_like(1, scale), stretch(scale))
        distance = k.abs(k.mul(k.sub(middle, at), shrunk))
        return k.select(k.lt(row, end), weigh(distance), k.const_like(0, at))

    def share(weight: object, total: object, *line: object) -> Any:
        *_, is_inside = span(*line)
        scaled = k.mul(weight, k.div(k.const_like(1, total), total))
        is_much = k.ge(k.abs(total), k.const_like(TINY, total))
        return k.select(k.logical_and(is_much, is_inside), scaled, k.const_like(0, scaled))

    def begin(i: object, scale: object, move: object, size: object) -> Any:
        _, start, _, is_inside = span(i, scale, move, size)
        return k.select(is_inside, start, k.const_like(0, start))

    def row(start: object, tap: object, size: object) -> Any:
        return k.minimum(k.add(start, tap), k.sub(size, k.const_like(1, size)))

    def count(start: object, most: object, size: object) -> Any:
        return k.sub(k.minimum(k.add(start, most), size), start)

    weights = b.map(weight, lines, taps, scale, move, whole)
    total = b.reduce("sum", weights, [1], keepdims=True)
    weights = b.map(share, weights, total, lines, scale, move, whole)
    starts = b.map(begin, lines, scale, move, whole)
    counts = b.map(count, starts, width, whole)
    return [_counted(b, counts, resized), b.map(row, starts, taps, whole), weights]


def _stretch(is_smooth: bool) -> Callable[[Any], Any]:
    """How much wider a kernel is for images that become smaller, of the scale."""

    def stretch(scale: object) -> Any:
        one = k.const_like(1, scale)
        return k.maximum(k.div(one, scale), one) if is_smooth else one

    return stretch


def _most_sampled(
    b: Builder, size: AnySize, scale: Value, radius: float, is_smooth: bool
) -> AnySize:
    """The most lines that one takes, which of smoothed images only the run tells."""
    if not is_smooth:
        return sizes.minimum(2 * int(np.ceil(radius)) + 1, size)
    stretch, whole = _stretch(True), b.constant(np.array([size], object), "int64")

    def most(scale: object, size: object) -> Any:
        reach = k.ceil(k.mul(k.const_like(radius, scale), stretch(scale)))
        bound = k.cast(size, "float32")
        lines = k.cast(k.minimum(reach, bound), "int64")
        return k.minimum(k.add(k.add(lines, lines), k.const_like(1, lines)), size)

    return b.measure(b.reshape(b.map(most, scale, whole), []))


def require_scales(b: Builder, scales: Value) -> None:
    """Raises TensorFlow's error unless all scales are positive."""
    is_wrong = b.map(lambda s: k.logical_not(k.gt(s, k.const_like(0, s))), scales)
    found = b.reduce("any", is_wrong, None)
    b.require_not(found, lambda: errors.invalid("Scale must be greater than zero."))
