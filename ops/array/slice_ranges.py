# SPDX-License-Identifier: Apache-2.0
"""What a strided slice takes of each dimension, from begin, end, strides and masks.

Shape inference, reference kernels and lowerings share it.  Sizes may be ints, None (unknown) or
symbolic.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ...engine import errors
from ...engine.record_class import record
from ...engine.types.shape import shape_text
from ...jit.kernel.sizes import Unanswered, maximum, minimum

if TYPE_CHECKING:
    from ...jit.kernel.sizes import AnySize


@record(frozen=True, slots=True)
class Range:
    """What is taken of one dimension; size is None where it is not known."""

    begin: Any
    stride: int
    size: Any
    shrink: bool = False


@record(frozen=True, slots=True)
class Masks:
    """The five masks of a strided slice, one bit per entry of its specification."""

    begin: int = 0
    end: int = 0
    ellipsis: int = 0
    new_axis: int = 0
    shrink: int = 0


def masks_of(attr: Callable[..., Any]) -> Masks:
    """The masks among an op's attributes."""
    return Masks(
        attr("begin_mask"),
        attr("end_mask"),
        attr("ellipsis_mask"),
        attr("new_axis_mask"),
        attr("shrink_axis_mask"),
    )


def entries(ndim: int, count: int, masks: Masks) -> list[tuple[str, int]]:
    """The specification without ellipsis: ("new", -1), ("all", -1) or ("range", entry)."""
    kinds = []
    for i in range(count):
        bit = 1 << i
        kind = "ellipsis" if masks.ellipsis & bit else "new" if masks.new_axis & bit else "range"
        kinds.append((kind, i))
    if sum(kind == "ellipsis" for kind, _ in kinds) > 1:
        raise ValueError("Multiple ellipses in slice spec not allowed")
    if not masks.ellipsis:
        kinds.append(("ellipsis", count))
    used = sum(kind == "range" for kind, _ in kinds)
    if used > ndim:
        raise ValueError(f"Index out of range using input dim {ndim}; input has only {ndim} dims")
    result = []
    for kind, i in kinds:
        result += [("all", -1)] * (ndim - used) if kind == "ellipsis" else [(kind, i)]
    return result


def range_of(
    size: Any,
    i: int,
    begin: Any,
    end: Any,
    stride: int,
    masks: Masks,
    dim: int,
) -> Range:
    """The range of one dimension; begin and end are None where they are not known."""
    bit = 1 << i
    if stride == 0:
        raise ValueError(f"strides[{i}] must be non-zero")
    if masks.shrink & bit:
        if stride < 0:
            raise ValueError("only stride 1 allowed on non-range indexing.")
        if size is None or begin is None:
            return Range(None, 1, 1, shrink=True)
        at = size + begin if begin < 0 else begin
        if not 0 <= at < size:
            raise ValueError(f"slice index {begin} of dimension {dim} out of bounds.")
        return Range(at, 1, 1, shrink=True)
    open_begin, open_end = bool(masks.begin & bit), bool(masks.end & bit)
    if size is None or (begin is None and not open_begin) or (end is None and not open_end):
        return Range(None, stride, None)
    # The bounds of positions between which begin and end are clamped, as Python does: going down, a
    # range may start at the last element and end before the first.
    low, high = (0, size) if stride > 0 else (-1, size - 1)
    start = (low if stride > 0 else high) if open_begin else _clamped(begin, size, low, high)
    stop = (high if stride > 0 else low) if open_end else _clamped(end, size, low, high)
    # The distance divided by the step, rounded up; negative where the range goes the wrong way.
    length = (
        (stop - start + stride - 1) // stride
        if stride > 0
        else (start - stop - stride - 1) // -stride
    )
    return Range(start, stride, _not_below(length, 0))


def _clamped(at: int, size: AnySize, low: int, high: AnySize) -> Any:
    at = size + at if at < 0 else at
    if at < low:
        return low
    return _not_above(at, high)


def _not_above(at: Any, high: AnySize) -> Any:
    try:
        return high if at > high else at
    except Unanswered:
        # Only a run tells which, half way through: the plan computes the smaller one.
        return minimum(at, high)


def _not_below(length: Any, low: AnySize) -> Any:
    try:
        # (Asked this way round: that there is nothing is as good as any other length.)
        return low if length < low else length
    except Unanswered:
        return maximum(length, low)


def resolve(
    sizes: Sequence[Any],
    begin: Sequence[AnySize] | None,
    end: Sequence[AnySize] | None,
    strides: Any,
    masks: Masks,
) -> tuple[list[Range], list[Any]]:
    """One range per input dimension, and the output's shape; begin and end may be None."""
    ranges: list[Range] = []
    out: list[Any] = []
    for kind, i in entries(len(sizes), len(strides), masks):
        if kind == "new":
            out.append(1)
            continue
        size = sizes[len(ranges)]
        if kind == "all":
            taken = Range(0, 1, size)
        else:
            first = None if begin is None else begin[i]
            last = None if end is None else end[i]
            taken = range_of(size, i, first, last, int(strides[i]), masks, len(ranges))
        ranges.append(taken)
        if not taken.shrink:
            out.append(taken.size)
    return ranges, out


def resolved(
    sizes: Any,
    begin: Any,
    end: Any,
    strides: Any,
    attr: Any,
) -> Any:
    """As `resolve`, from arrays, with errors as the run time raises them."""
    shapes = [np.shape(v) for v in (begin, end, strides)]
    if len(shapes[2]) != 1 or len(set(shapes)) > 1:
        texts = [shape_text(shape) for shape in shapes]
        raise errors.invalid(
            "Expected begin, end, and strides to be 1D equal size tensors, but got shapes "
            f"{texts[0]}, {texts[1]}, and {texts[2]} instead."
        )
    try:
        return resolve(sizes, begin.tolist(), end.tolist(), strides.tolist(), masks_of(attr))
    except ValueError as error:
        raise errors.invalid(str(error)) from None


def taken(r: Range) -> Any:
    """A range as the slice that NumPy takes."""
    if r.size == 0:
        return slice(0, 0, 1)
    stop = r.begin + r.size * r.stride
    return slice(r.begin, None if stop < 0 else stop, r.stride)
