# SPDX-License-Identifier: Apache-2.0
"""Compiled forms of what goes by vectors of indices: gather_nd and scatter_nd.

A vector of indices becomes one number, the place of a slice among all slices.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ...jit.kernel import scalar as k
from ...jit.kernel.sizes import AnySize, is_measured, product
from ..run_checks import error_of

if TYPE_CHECKING:
    from ...jit.program.tensor_ir import Value
    from ...jit.trace.builder import Builder
    from ...jit.trace.tracer import OpView


# No tensor has more dimensions than that; more columns are no indices, and tell no plan apart.
_MOST_DEPTH = 8


def depth_of(b: Builder, indices: Value) -> int:
    """How many dimensions the vectors name, which a plan knows; 0 for none, or too many."""
    last = indices.shape[-1] if indices.ndim else 0
    if isinstance(last, int):
        return last
    return next((depth for depth in range(1, _MOST_DEPTH + 1) if b.equal(last, depth)), 0)


def has_none(b: Builder, slices: Sequence[AnySize], places: Sequence[AnySize]) -> bool:
    """Is there nothing to pick from or to write to, of which errors say other words?

    Where a run learns how many places there are, none is a number as any.
    """
    stated = [size for size in places if not is_measured(size)]
    return any(b.equal(size, 0) for size in (*slices, *stated))


def flat_places(
    b: Builder,
    sizes: Sequence[AnySize],
    indices: Value,
    check: Callable[[tuple[int, ...], np.ndarray], object],
) -> Value:
    """The places of the slices that vectors of indices name, among all slices of `sizes`.

    check(sizes, indices) raises the error of indices that are outside.
    """
    flat, outside = places_and_outside(b, sizes, indices)
    error = error_of(lambda where, shape: check(tuple(shape.tolist()), where))
    shape = b.constant(list(sizes), "int64")
    b.require_not(b.reduce("any", outside, None), error, indices, shape)
    return flat


def places(b: Builder, columns: Sequence[Value], sizes: Sequence[AnySize]) -> tuple[Value, Value]:
    """(row-major places of indices in a shape, whether they are outside), entry by entry.

    columns: by dimension, the indices on it.
    """
    limits = [b.constant(size, "int64") for size in sizes]

    def place(*given: Any) -> Any:
        # Row-major places, by Horner's rule. Those of vectors that are outside mean nothing: who
        # takes them looks at `outside` first.
        found, outside = None, None
        for i, n in zip(given[: len(columns)], given[len(columns) :], strict=True):
            wrong = k.logical_or(k.lt(i, 0), k.ge(i, n))
            outside = wrong if outside is None else k.logical_or(outside, wrong)
            found = i if found is None else k.add(k.mul(found, n), i)
        return found, outside

    flat, outside = b.map(place, *columns, *limits)
    return flat, outside


def places_and_outside(b: Builder, sizes: Sequence[AnySize], indices: Value) -> tuple[Value, Value]:
    """The places that vectors of indices name, and for each whether it is outside."""
    outer = indices.shape[:-1]
    wide = b.cast(indices, "int64")
    columns = [
        b.reshape(
            b.slice(wide, [0] * len(outer) + [i], [*outer, 1]),
            outer,
        )
        for i in range(depth_of(b, indices))
    ]
    return places(b, columns, sizes[: len(columns)])


def lower_gather_nd(
    check: Callable[[tuple[int, ...], np.ndarray], object],
) -> Callable[..., Any]:
    """The lowering of gather_nd, whose errors `check` words."""

    def lower(b: Builder, op: OpView, params: Value, indices: Value) -> Any:
        depth = depth_of(b, indices)
        if not 0 < depth <= params.ndim:
            return NotImplemented
        if has_none(b, params.shape[depth:], params.shape[:depth]):
            return NotImplemented
        flat = flat_places(b, params.shape, indices, check)
        rows = b.reshape(params, (product(params.shape[:depth]), *params.shape[depth:]))
        return b.pick(rows, flat)

    return lower


def lower_scatter(
    fn: str, check: Callable[[tuple[int, ...], np.ndarray], object]
) -> Callable[..., Any]:
    """The lowering of an update of a tensor, a key of `library.rows.COMBINE`."""

    def lower(b: Builder, op: OpView, base: Value, indices: Value, updates: Value) -> Any:
        return _scattered(b, fn, base.shape, indices, updates, check, base)

    return lower


def lower_scatter_nd(
    check: Callable[[tuple[int, ...], np.ndarray], object],
) -> Callable[..., Any]:
    """The lowering of scatter_nd."""

    def lower(b: Builder, op: OpView, indices: Value, updates: Value, sizes: Value) -> Any:
        known = b.known(sizes)
        if known is None:
            raise b.host("the shape depends on the data")
        shape = known.tolist()
        if any(isinstance(size, int) and size < 0 for size in shape):
            return NotImplemented
        return _scattered(b, "add", shape, indices, updates, check, None)

    return lower


def _scattered(
    b: Builder,
    fn: str,
    shape: Sequence[AnySize],
    indices: Value,
    updates: Value,
    check: Callable[..., object],
    base: Value | None,
) -> Any:
    from ...jit import library

    depth = depth_of(b, indices)
    if not 0 < depth <= len(shape) or updates.dtype == "bool":
        return NotImplemented
    b.require_shape(updates, (*indices.shape[:-1], *shape[depth:]))
    if has_none(b, shape[depth:], shape[:depth]):
        return NotImplemented
    flat = flat_places(b, shape, indices, check)
    rows = product(shape[:depth])
    if base is not None:
        base = b.reshape(base, (rows, *shape[depth:]))
    out = library.scatter_rows(b, fn, flat, updates, rows, base)
    return out if out is NotImplemented else b.reshape(out, shape)
