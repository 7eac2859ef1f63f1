# SPDX-License-Identifier: Apache-2.0
"""Compiled forms of slices whose bounds only a run knows: of tensors, gradients and variables.

What is taken of a dimension is a place and a size.  Places are values of the plan; a size is that
of what is put there, or what the form of the bounds says (`i * 4` and `i * 4 + 4` are four apart),
or a number that a run learns on its way.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Union

import numpy as np

from ...engine import errors
from ...engine.record_class import record
from ...jit.kernel import scalar as k
from ...jit.kernel.sizes import AnySize, hint, product, same
from ..run_checks import error_of
from .slice_ranges import Masks, Range, entries, masks_of, range_of, resolved

if TYPE_CHECKING:
    from ...jit.program.tensor_ir import Value
    from ...jit.trace import linear
    from ...jit.trace.builder import Builder

# A number, a size, or a 0-d integer of a run.
Bound = Union[AnySize, "Value"]


@record(frozen=True, slots=True)
class Filling:
    """What is put where a slice is taken from: its shape, and problem(of the slice, of this)."""

    shape: Sequence[AnySize]
    problem: Callable[[list[int], list[int]], BaseException]

    def unlike(self, place: int) -> Callable[[np.ndarray], BaseException]:
        """What is wrong where the slice is of another size along one dimension."""

        def error(count: np.ndarray) -> BaseException:
            given = [hint(size) for size in self.shape]
            sliced = [int(count) if i == place else size for i, size in enumerate(given)]
            return self.problem(sliced, given)

        return error


@record(frozen=True, slots=True)
class Moving:
    """What is taken of one dimension from a place (0-d int64) that only a run knows.

    count: how many elements there are by the bounds (0-d int64); size: how many are taken.
    """

    begin: Value
    stride: int
    size: AnySize
    shrink: bool = False
    count: Value | None = None


def moving_ranges(
    b: Builder,
    attr: Callable[..., Any],
    sizes: Sequence[AnySize],
    given: tuple[Value, Value, np.ndarray],
    fill: Filling | None = None,
) -> tuple[list[Any], list[Any]]:
    """As `resolved`, of bounds that only a run may know; fill: what is put there."""
    begin, end, steps = given
    first, last = b.known(begin), b.known(end)
    if first is not None and last is not None:
        return resolved(sizes, first, last, steps, attr)
    b.require(begin.shape == end.shape == steps.shape and steps.ndim == 1)
    try:
        return _Mover(b, masks_of(attr), sizes, given, fill).ranges()
    except ValueError as error:
        raise errors.invalid(str(error)) from None


@record
class _Mover:
    """One call of `moving_ranges`."""

    b: Builder
    masks: Masks
    sizes: Sequence[AnySize]
    given: tuple[Value, Value, np.ndarray]
    fill: Filling | None

    def ranges(self) -> tuple[list[Any], list[Any]]:
        """One range per input dimension, and the output's shape."""
        ranges: list[Any] = []
        out: list[Any] = []
        for kind, i in entries(len(self.sizes), len(self.given[2]), self.masks):
            if kind == "new":
                out.append(1)
                continue
            size, dim = self.sizes[len(ranges)], len(ranges)
            taken = Range(0, 1, size) if kind == "all" else self._range(i, size, dim, len(out))
            ranges.append(taken)
            if not taken.shrink:
                out.append(taken.size)
        return ranges, out

    def _range(self, i: int, size: AnySize, dim: int, place: int) -> Any:
        """place: of the dimension in what is taken."""
        bit, stride = 1 << i, int(self.given[2][i])
        shrinks = bool(self.masks.shrink & bit)
        ignored = (
            not shrinks and bool(self.masks.begin & bit),
            shrinks or bool(self.masks.end & bit),
        )
        bounds = [
            None if skip else bound(self.b, vector, (i,))
            for skip, vector in zip(ignored, self.given[:2])
        ]
        if not shrinks and stride == 1:
            bounds = self._measured(bounds, i)
        first, last = bounds
        if not any(map(is_moving, bounds)):
            return range_of(size, i, first, last, stride, self.masks, dim)
        if stride == 0:
            raise ValueError(f"strides[{i}] must be non-zero")
        if shrinks:
            if stride < 0:
                raise ValueError("only stride 1 allowed on non-range indexing.")
            return index(self.b, size, first, dim)
        taken = span(self.b, size, first, last, stride)
        if self.fill is None:
            from ...jit.trace import linear

            forms = [
                None if skip else linear.element(vector, (i,))
                for skip, vector in zip(ignored, self.given[:2])
            ]
            return sized(self.b, taken, *forms)
        self.b.require(place < len(self.fill.shape))
        return fitted(self.b, taken, self.fill.shape[place], self.fill.unlike(place))

    def _measured(self, bounds: list[Any], i: int) -> list[Any]:
        """The same, with sizes that a run measures in the place of what goes, if one goes alone."""
        from ...jit.trace import linear, measuring

        moving = [n for n, entry in enumerate(bounds) if is_moving(entry)]
        if len(moving) != 1 or self.fill is not None:
            return bounds
        (n,) = moving
        vector = self.given[0] if n == 0 else self.given[1]
        size = measuring.by_form(self.b, linear.element(vector, (i,)))
        return [size if k == n and size is not None else entry for k, entry in enumerate(bounds)]


def bound(b: Builder, given: Value, place: tuple[int, ...]) -> Bound:
    """One of some integers: a number where that is known, else a 0-d int64."""
    from ...jit.trace import linear

    number = linear.element(given, place).number
    if number is not None:
        return number
    return b.cast(b.reshape(b.slice(given, place, [1] * len(place)), ()), "int64")


def is_moving(entry: object) -> bool:
    """Is a bound something that only a run knows?"""
    from ...jit.program.tensor_ir import Value

    return isinstance(entry, Value)


def index(b: Builder, size: AnySize, begin: Any, dim: int) -> Moving:
    """One place of a dimension, which goes; counted from the end if negative."""
    limit = b.constant(size, "int64")

    def place(i: Any, n: Any) -> Any:
        return k.select(k.lt(i, 0), k.add(i, n), i)

    def outside(i: Any, n: Any) -> Any:
        return k.logical_or(k.lt(i, k.neg(n)), k.ge(i, n))

    def problem(i: np.ndarray) -> BaseException:
        return errors.invalid(f"slice index {int(i)} of dimension {dim} out of bounds.")

    b.require_not(b.map(outside, begin, limit), problem, begin)
    return Moving(b.map(place, begin, limit), 1, 1, shrink=True)


def span(b: Builder, size: AnySize, first: Bound | None, last: Bound | None, stride: int) -> Moving:
    """From `first` up to `last` (None: all), clamped as Python does; the size is not known yet."""
    limit = b.constant(size, "int64")
    given = [_as_value(b, entry) for entry in (first, last) if entry is not None]

    def start(n: Any, *bounds: Any) -> tuple[Any, Any]:
        low, high = (0, n) if stride > 0 else (-1, k.sub(n, 1))
        opened = (low, high) if stride > 0 else (high, low)
        rest = iter(bounds)
        begin = opened[0] if first is None else _clamped(next(rest), n, low, high)
        end = opened[1] if last is None else _clamped(next(rest), n, low, high)
        way = k.sub(end, begin) if stride > 0 else k.sub(begin, end)
        count = k.truncatediv(k.maximum(k.add(way, abs(stride) - 1), 0), abs(stride))
        return k.add(begin, k.mul(n, 0)), count

    begin, count = b.map(start, limit, *given)
    return Moving(begin, stride, 0, count=count)


def _as_value(b: Builder, entry: Any) -> Value:
    return entry if is_moving(entry) else b.constant(entry, "int64")


def _clamped(at: Any, n: Any, low: Any, high: Any) -> Any:
    at = k.select(k.lt(at, 0), k.add(at, n), at)
    return k.minimum(k.maximum(at, low), high)


def sized(
    b: Builder, span: Moving, first: linear.Linear | None, last: linear.Linear | None
) -> Moving:
    """A span whose size the bounds' form says, or else a run."""
    assert span.count is not None
    apart = None if first is None or last is None else (last - first).number
    if isinstance(apart, int) and b.may_assume:
        size = max(-(-apart // span.stride), 0)
        b.assume(b.map(lambda n: k.ne(n, size), span.count))
        return replace(span, size=size)
    return replace(span, size=b.measure(span.count))


def fitted(
    b: Builder, span: Moving, size: AnySize, problem: Callable[..., BaseException]
) -> Moving:
    """A span that must be as long as what is put there."""
    assert span.count is not None
    limit = b.constant(size, "int64")
    b.require_not(b.map(k.ne, span.count, limit), problem, span.count)
    return replace(span, size=size)


def rest(b: Builder, whole: AnySize, start: Any) -> Bound:
    """How many elements of a dimension lie behind a place."""
    if not is_moving(start):
        return whole - start  # type: ignore[no-any-return]
    return b.map(k.sub, b.constant(whole, "int64"), start)  # type: ignore[no-any-return]


def box_side(b: Builder, whole: AnySize, start: Bound, count: Any, axis: int) -> Moving:
    """`count` elements from `start` on, which must lie within a dimension; -1: all behind it."""
    begin, number = _as_value(b, start), _as_value(b, count)
    limit = b.constant(whole, "int64")
    if is_moving(count):
        number = b.map(
            lambda count, begin, n: k.select(k.eq(count, -1), k.sub(n, begin), count),
            *(number, begin, limit),
        )

    def outside(begin: Any, count: Any, n: Any) -> Any:
        negative = k.logical_or(k.lt(begin, 0), k.lt(count, 0))
        return k.logical_or(negative, k.gt(k.add(begin, count), n))

    def problem(begin: np.ndarray, count: np.ndarray, n: np.ndarray) -> BaseException:
        if not 0 <= begin <= n:
            return errors.invalid(f"Expected begin[{axis}] in [0, {n}], but got {begin}")
        return errors.invalid(f"Expected size[{axis}] in [0, {n - begin}], but got {count}")

    wrong = b.map(outside, begin, number, limit)
    b.require_not(wrong, problem, begin, number, limit)
    if is_moving(count):
        # What is wrong is told by the check, and nothing has a size below zero.
        count = b.measure(b.map(lambda n: k.maximum(n, 0), number))
    return Moving(begin, 1, count)


def padded(
    b: Builder, x: Value, paddings: Value, fill: Value, check: Callable[[int, np.ndarray], object]
) -> Value:
    """A tensor with as much around it as a run says, given a scalar that is put there.

    check(rank, paddings) raises what is wrong with them.
    """
    from ...jit.trace import linear, measuring

    ranges: list[Any] = []
    whole: list[AnySize] = []
    for axis, size in enumerate(x.shape):
        before, after = (linear.element(paddings, (axis, i)) for i in range(2))
        around = (before + after).number
        begin, end = (_as_value(b, bound(b, paddings, (axis, i))) for i in range(2))
        if around is None:
            around = measuring.by_form(b, before + after)
        if around is None:
            around = b.measure(b.map(lambda m, n: k.maximum(k.add(m, n), 0), begin, end))
        whole.append(size + around)
        ends = (before.number, after.number)
        is_plain = all(n is not None and same(n, 0) for n in ends)
        ranges.append(Range(0, 1, size) if is_plain else Moving(begin, 1, size))
    negative = b.reduce("any", b.map(lambda n: k.lt(n, 0), paddings), None)
    b.require_not(negative, error_of(lambda given: check(x.ndim, given)), paddings)
    return put(b, x, ranges, whole, fill)


def places(b: Builder, moving: Moving) -> Value:
    """Which elements of a dimension are taken: a vector."""

    def place(i: Any, begin: Any) -> Any:
        return k.add(k.mul(i, moving.stride), begin)

    return b.map(place, b.iota([moving.size], 0, "int64"), moving.begin)


def taken(b: Builder, x: Value, ranges: Sequence[Any]) -> Value:
    """What ranges take of a tensor; dimensions that shrink stay, as ones."""
    # What is as long as the dimension and lies within it is all of it.
    ranges = [
        Range(0, 1, n) if isinstance(r, Moving) and r.stride == 1 and same(r.size, n) else r
        for r, n in zip(ranges, x.shape)
    ]
    found = _box(b, x, ranges)
    if found is not None:
        return found
    starts = [0 if isinstance(r, Moving) else r.begin for r in ranges]
    strides = [1 if isinstance(r, Moving) else r.stride for r in ranges]
    sizes = [n if isinstance(r, Moving) else r.size for r, n in zip(ranges, x.shape)]
    part = b.slice(x, starts, sizes, strides)
    for axis, r in enumerate(ranges):
        if isinstance(r, Moving):
            where = b.reshape(r.begin, (1,)) if r.shrink else places(b, r)
            part = b.pick(part, where, axis)
    return part


def _box(b: Builder, x: Value, ranges: Sequence[Any]) -> Value | None:
    """What ranges that move along two dimensions or more take: whole lines, copied."""
    from ...jit.library import boxes

    moving = [r for r in ranges if isinstance(r, Moving)]
    if len(moving) < 2 or any(r.stride != 1 for r in ranges):
        return None
    depth = len(ranges)
    while _is_all(ranges[depth - 1], x.shape[depth - 1]):
        depth -= 1
    corner = [b.reshape(_as_value(b, r.begin), (1,)) for r in ranges[:depth]]
    found = boxes.box(b, x, b.concat(corner, 0), [r.size for r in ranges], depth)
    return None if found is NotImplemented else found


def put(
    b: Builder, part: Value, ranges: Sequence[Any], whole: Sequence[AnySize], old: Value
) -> Value:
    """`old`, a tensor or a scalar, with a part in the place of what moving ranges take of it.

    The part is as long as the whole along all other dimensions.
    """
    if not any(isinstance(r, Moving) for r in ranges):
        return part
    given: list[Value] = []
    for axis, r in enumerate(ranges):
        if not isinstance(r, Moving):
            continue
        line = [n if i == axis else 1 for i, n in enumerate(whole)]
        along = b.iota(line, axis, "int64")
        if r.shrink:
            given.append(b.map(k.eq, along, r.begin))
            continue
        step, inside = _where(b, along, r)
        given.append(inside)
        part = b.pick(part, b.reshape(step, [whole[axis]]), axis)

    def chosen(new: Any, old: Any, *flags: Any) -> Any:
        for flag in flags:
            new = k.select(flag, new, old)
        return new

    return b.broadcast(b.map(chosen, part, old, *given), tuple(whole))


def _where(b: Builder, along: Value, r: Moving) -> tuple[Value, Value]:
    """For each position of a dimension which element of a span lies there, and whether one does."""
    count, up = b.constant(r.size, "int64"), abs(r.stride)

    def find(at: Any, begin: Any, n: Any) -> tuple[Any, Any]:
        way = k.sub(at, begin) if r.stride > 0 else k.sub(begin, at)
        step = way if up == 1 else k.truncatediv(way, up)
        inside = k.logical_and(k.ge(way, 0), k.lt(step, n))
        if up > 1:
            inside = k.logical_and(inside, k.eq(k.mul(step, up), way))
        return k.select(inside, step, 0), inside

    return b.map(find, along, r.begin, count)  # type: ignore[no-any-return]


def rows(b: Builder, ranges: Sequence[Any], whole: Sequence[AnySize]) -> tuple[Value | None, int]:
    """Numbers of the rows that ranges take, by their leading dimensions, and how many these are.

    A row is what lies behind the last dimension that is not taken as a whole; None: all is taken.
    """
    depth = len(ranges)
    while depth and _is_all(ranges[depth - 1], whole[depth - 1]):
        depth -= 1
    flat = None
    for axis, r in enumerate(ranges[:depth]):
        if isinstance(r, Moving):
            where = b.reshape(r.begin, (1,)) if r.shrink else places(b, r)
        else:
            start = b.constant(r.begin, "int64")
            where = places(b, Moving(start, r.stride, r.size))
        line = [r.size if i == axis else 1 for i in range(depth)]
        stride = b.constant(product(whole[axis + 1 : depth]), "int64")
        part = b.map(k.mul, b.reshape(where, line), stride)
        flat = part if flat is None else b.map(k.add, flat, part)
    return flat, depth


def _is_all(r: Any, size: AnySize) -> bool:
    return not isinstance(r, Moving) and r.stride == 1 and same(r.size, size)
