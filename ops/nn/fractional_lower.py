# SPDX-License-Identifier: Apache-2.0
"""Compiled forms of fractional pooling: regions are drawn, then gone through, by kernels."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ...engine import errors
from ...jit.kernel import scalar as k
from ..random.philox import Philox, Stream

if TYPE_CHECKING:
    from ...engine.graph.kernel_context import KernelContext
    from ...jit.program.tensor_ir import Value
    from ...jit.trace.builder import Builder
    from ...jit.trace.tracer import OpView


class _Blocks(NamedTuple):
    """A stream of one run, whose outputs are blocks."""

    stream: Stream

    def reserve_outputs(self, blocks: int) -> Philox:
        """The next blocks."""
        return self.stream.reserve(blocks)

    def go_back(self, counter: int, key: int) -> None:
        """(Each run has a stream of its own.)"""


def stream_of_run(c: KernelContext) -> Stream:
    """A new stream for each run; the same one when deterministic."""
    seeds = c.attr("seed"), c.attr("seed2")
    if not c.attr("deterministic") and seeds != (0, 0):
        raise errors.invalid("Both seed and seed2 should be 0 if deterministic is false.")
    if seeds == (0, 0) and c.attr("deterministic"):
        import secrets

        seeds = c.kernel_state(lambda: (secrets.randbits(63), secrets.randbits(63)))
    return Stream(*seeds)


def _blocks(c: KernelContext) -> _Blocks:
    """What regions are drawn from."""
    return _Blocks(stream_of_run(c))


def pool(pooled_size: Callable[[int, float], int], is_mean: bool) -> Callable[..., Any]:
    """Of maxima or means; pooled_size gives the size of a result's axis."""

    def lower(b: Builder, op: OpView, x: Value) -> Any:
        from ...jit.library import regions

        ratios, is_fixed = op.attr("pooling_ratio"), op.attr("deterministic")
        if x.ndim != 4 or (not is_fixed and (op.attr("seed"), op.attr("seed2")) != (0, 0)):
            return NotImplemented  # reference kernels say what is wrong
        if ratios[0] != 1 or ratios[3] != 1 or any(b.equal(x.shape[i], 0) for i in (0, 3)):
            return NotImplemented  # (images and channels that are left out, or not there)
        axes = []
        for size, ratio in zip(x.shape[1:3], ratios[1:3], strict=True):
            if not isinstance(size, int) or size < ratio:
                return NotImplemented
            axes.append((size, pooled_size(size, ratio)))
        rows, columns = regions.bounds(b, op.node, axes, op.attr("pseudo_random"), _blocks)
        overlaps = op.attr("overlapping")
        return regions.pooled(b, x, rows, columns, overlaps, is_mean), rows, columns

    return lower


def check_bounds(rows: np.ndarray, columns: np.ndarray) -> None:
    """InvalidArgumentError for regions that begin before an axis."""
    for name, bounds in (("Row", rows), ("Column", columns)):
        if bounds.size and bounds.min() < 0:
            text = " ".join(str(bound) for bound in bounds)
            raise errors.invalid(f"{name} sequence tensor values must not be negative, got {text}")


def _require_bounds(b: Builder, dy: Value, rows: Value, columns: Value) -> bool:
    """Have gradients of so many regions bounds?  If they do, that these are some is checked."""
    if not rows.ndim == columns.ndim == 1 or dy.ndim != 4:
        return False
    for bounds, size in zip((rows, columns), dy.shape[1:3], strict=True):
        if not b.equal(bounds.shape[0], size + 1):
            return False
    from ..run_checks import error_of

    for bounds in (rows, columns):
        is_before = b.reduce("any", b.map(lambda i: k.lt(i, 0), bounds), None)
        b.require_not(is_before, error_of(check_bounds), rows, columns)
    return True


def max_gradient(
    b: Builder, op: OpView, x: Value, y: Value, dy: Value, rows: Value, columns: Value
) -> Any:
    """Of the gradient of maxima."""
    from ...jit.library import regions

    del y
    if x.ndim != 4 or not _require_bounds(b, dy, rows, columns):
        return NotImplemented
    if not (b.equal(x.shape[0], dy.shape[0]) and b.equal(x.shape[3], dy.shape[3])):
        return NotImplemented
    return regions.max_gradient(b, x, dy, rows, columns, op.attr("overlapping"))


def mean_gradient(
    b: Builder, op: OpView, shape: Value, dy: Value, rows: Value, columns: Value
) -> Any:
    """Of the gradient of means."""
    from ...jit.library import regions

    known = b.known(shape)
    if known is None or known.shape != (4,) or not _require_bounds(b, dy, rows, columns):
        return NotImplemented
    sizes = known.tolist()
    if not (b.equal(sizes[0], dy.shape[0]) and b.equal(sizes[3], dy.shape[3])):
        return NotImplemented
    if any(b.equal(size, 0) for size in sizes):
        return NotImplemented
    return regions.mean_gradient(b, sizes, dy, rows, columns, op.attr("overlapping"))
