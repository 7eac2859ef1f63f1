# SPDX-License-Identifier: Apache-2.0
"""Compiled forms of dilation and its gradients, as maps of shifted views; see `views`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ...jit.kernel import scalar as k
from .views import Pool

if TYPE_CHECKING:
    from ...jit.program.tensor_ir import Value
    from ...jit.trace.builder import Builder
    from ...jit.trace.tracer import OpView


def _pool(b: Builder, op: OpView, x: Value, w: Value) -> Pool:
    """The windows; raises the builder's NotLowered where views do not serve."""
    if x.dtype not in ("float32", "float64"):
        raise b.host("dilation of other numbers than float32 and float64")
    high, wide, depth = w.shape
    if list(op.attr("rates")) != [1, 1, 1, 1] or not all(isinstance(n, int) for n in (high, wide)):
        raise b.host("windows with gaps, or of sizes that are not static")
    b.require(b.equal(depth, x.shape[3]))
    ksize = [1, int(high), int(wide), 1]
    return Pool(b, x.shape, ksize, op.attr("strides"), op.attr("padding"), "NHWC")


def _sums(b: Builder, pool: Pool, x: Value, w: Value) -> list[Value]:
    """The views of the input, then what of the filter is added to each."""
    depth = w.shape[2]
    taps = [b.reshape(b.slice(w, [*at, 0], [1, 1, depth]), [depth]) for at in pool.offsets]
    return [*pool.views(x, -np.inf), *taps]


def _winner(b: Builder, pool: Pool, x: Value, w: Value) -> tuple[Value, Value]:
    """The largest sum of every window, and the number of its first offset."""
    count, lowest = len(pool.offsets), np.finfo(x.dtype).min

    def largest(*given: Any) -> Any:
        best, winner = k.const(lowest, x.dtype), k.const(0, "int32")
        for i in range(count):
            total = k.add(given[i], given[count + i])
            better = k.gt(total, best)
            best = k.select(better, total, best)
            winner = k.select(better, k.const(i, "int32"), winner)
        return best, winner

    best, winner = b.map(largest, *_sums(b, pool, x, w))
    return best, winner


def lower(b: Builder, op: OpView, x: Value, w: Value) -> Value:
    """The largest of an image and a filter, added, in every window."""
    return _winner(b, _pool(b, op, x, w), x, w)[0]


def _shares(b: Builder, pool: Pool, x: Value, w: Value, dy: Value) -> list[Value]:
    """What of the gradient each offset gets."""
    b.require_shape(dy, pool.shape)
    _, winner = _winner(b, pool, x, w)

    def share(number: int) -> Any:
        return lambda grad, winner: k.select(k.eq(winner, number), grad, k.const_like(0, grad))

    return [b.map(share(i), dy, winner) for i in range(len(pool.offsets))]


def lower_input_gradient(b: Builder, op: OpView, x: Value, w: Value, dy: Value) -> Value:
    """The gradient goes to the pixel that won."""
    pool = _pool(b, op, x, w)
    return pool.spread(_shares(b, pool, x, w, dy))


def lower_filter_gradient(b: Builder, op: OpView, x: Value, w: Value, dy: Value) -> Value:
    """The gradient goes to the place of the filter that won."""
    pool = _pool(b, op, x, w)
    sums = [b.reduce("sum", part, [0, 1, 2]) for part in _shares(b, pool, x, w, dy)]
    depth = w.shape[2]
    rows = b.concat([b.reshape(part, [1, depth]) for part in sums], 0)
    return b.reshape(rows, w.shape)
