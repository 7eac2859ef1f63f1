# SPDX-License-Identifier: Apache-2.0
"""Compiled forms of reductions by sorted segment."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ...jit.kernel import scalar as k
from ...jit.kernel.sizes import is_measured
from ..run_checks import error_of

if TYPE_CHECKING:
    from ...engine.graph.kernel_context import KernelContext
    from ...jit.program.tensor_ir import Value
    from ...jit.trace.builder import Builder
    from ...jit.trace.tracer import OpView

Check = Callable[[np.ndarray, "int | None"], object]


def last_plus_one(place: int) -> Callable[..., Any]:
    """How many segments the ids, input number `place`, name: one more than the last says."""

    def sizes(c: KernelContext, *inputs: np.ndarray) -> list[int] | None:
        ids = inputs[place]
        if ids.ndim != 1 or (ids.size and ids[-1] < 0):
            return None
        return [int(ids[-1]) + 1 if ids.size else 0]

    return sizes


def measured_last_plus_one(place: int) -> Callable[..., Any]:
    """The same as a number of a plan; no last id is as good as one below zero, which is refused."""

    def sizes(b: Builder, op: OpView, *inputs: Value) -> Any:
        ids = inputs[place]
        if ids.ndim != 1 or ids.dtype not in ("int32", "int64"):
            return NotImplemented
        wide = b.cast(ids, "int64")
        # (They are sorted, which is looked at: so the last is the largest.)
        most = b.reduce("max", b.concat([b.constant([-1], "int64"), wide], 0), None)
        return [b.map(lambda last: k.add(last, 1), most)]

    return sizes


def require_sorted(b: Builder, ids: Value, count: Any, check: Check) -> None:
    """Has a run fail unless ids are in order and in [0, count); check(ids, rows) raises why."""
    limit, wide = b.constant(count, "int64"), b.cast(ids, "int64")

    def whole(ids: np.ndarray, count: np.ndarray) -> None:
        check(ids, None)
        check(ids, int(count))

    error = error_of(whole)
    outside = b.map(lambda i, n: k.logical_or(k.lt(i, 0), k.ge(i, n)), wide, limit)
    b.require_not(b.reduce("any", outside, None), error, ids, limit)
    size = ids.shape[0]
    if is_measured(size):  # perhaps zero, for which nobody can ask
        before, after = b.slice(b.pad(wide, [(1, 0)]), [0], [size]), wide
    elif size > 1:  # noted as a guard
        before, after = (b.slice(wide, [at], [size - 1]) for at in (0, 1))
    else:
        return
    b.require_not(b.reduce("any", b.map(k.gt, before, after), None), error, ids, limit)


def lower_sorted(
    fn: str,
    start: Callable[[np.dtype], Any],
    empty: Callable[[np.dtype], Any],
    check: Check,
    power: float = 0.0,
) -> Callable[..., Any]:
    """The lowering of one reduction; the number of segments is the one size of its result."""

    def lower(b: Builder, op: OpView, data: Value, ids: Value, sizes: Value) -> Any:
        from ...jit import library

        if not _is_plain(data) or data.ndim < 1:
            return NotImplemented
        count = b.known(sizes).item(0)  # type: ignore[union-attr]
        b.require_shape(ids, data.shape[:1])
        kind = np.dtype(data.dtype)
        require_sorted(b, ids, count, check)
        return library.sorted_segments(
            *(b, fn, data, ids, count, start(kind), empty(kind)), power=power
        )

    return lower


def lower_picked(power: float, check: Check, check_picks: Callable[..., object]) -> Any:
    """The lowering of sums of picked rows by segment, for a number of segments that is known."""

    def lower(b: Builder, op: OpView, data: Value, picks: Value, ids: Value, sizes: Value) -> Any:
        from ...jit import library

        known = b.known(sizes)
        if known is None or known.size != 1 or not _is_plain(data) or not data.ndim:
            return NotImplemented
        count = known.reshape(-1).tolist()[0]
        b.require(picks.ndim == 1 and ids.ndim == 1 and count >= 0)
        b.require_shape(ids, picks.shape)
        require_sorted(b, ids, count, check)
        wide, limit = b.cast(picks, "int64"), b.constant(data.shape[0], "int64")
        require_inside(b, wide, limit, check_picks)
        return library.sorted_segments(b, "add", data, ids, count, 0, 0, wide, power)

    return lower


def require_inside(b: Builder, values: Value, limit: Value, check: Callable[..., object]) -> None:
    """Has a run fail unless numbers are in [0, limit); check(values, limit) raises why."""
    outside = b.map(lambda i, n: k.logical_or(k.lt(i, 0), k.ge(i, n)), values, limit)
    error = error_of(lambda values, limit: check(values, int(limit)))
    b.require_not(b.reduce("any", outside, None), error, values, limit)


def lower_picked_gradient(
    power: float, check_ids: Callable[..., object], check_picks: Callable[..., object]
) -> Callable[..., Any]:
    """The lowering of the gradients of means: rows, each divided, added where they were picked."""

    def lower(b: Builder, op: OpView, grad: Value, picks: Value, ids: Value, rows: Value) -> Any:
        from ...jit import library

        known = b.known(rows)
        if known is None or known.size != 1 or not grad.ndim:
            return NotImplemented
        count = known.reshape(-1).tolist()[0]
        b.require(picks.ndim == 1 and ids.ndim == 1)
        # (Of none that only a run knows, nothing is picked.)
        b.require(all(is_measured(size) or size >= 1 for size in (count, grad.shape[0])))
        b.require_shape(ids, picks.shape)
        segment, wide = b.cast(ids, "int64"), b.cast(picks, "int64")
        segments = grad.shape[0]
        require_inside(b, segment, b.constant(segments, "int64"), check_ids)
        require_inside(b, wide, b.constant(count, "int64"), check_picks)
        ones = b.full(ids.shape, 1, "int64")
        members = library.scatter_rows(b, "add", segment, ones, segments)

        def weight(n: Any) -> Any:
            number = k.cast(k.maximum(n, 1), "float64")
            return k.cast(number if power == 1 else k.sqrt(number), grad.dtype)

        weights = b.reshape(b.map(weight, members), (segments, *[1] * (grad.ndim - 1)))
        scaled = b.map(k.div, grad, weights)
        return library.scatter_rows(b, "add", wide, b.pick(scaled, segment), count)

    return lower


def _is_plain(data: Value) -> bool:
    """The sums of 16-bit floats are wider, on the host."""
    return data.dtype not in ("float16", "bfloat16") and k.holds(data.dtype)
