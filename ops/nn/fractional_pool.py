# SPDX-License-Identifier: Apache-2.0
"""Fractional pooling: regions of random sizes, so that the output is smaller by any ratio."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np

from ...engine import errors
from ...engine.api import export
from ...engine.graph.build import define
from ...engine.graph.registry import NoGradient
from ...engine.graph.seed import get_seed
from ...engine.record_class import record
from ...engine.types.shape import TensorShape
from ..math.limits import lowest
from ..public import raw
from ..random.philox import Stream
from . import fractional_lower
from . import window as nw
from .candidate_kernels import Bits
from .conv_public import per_axis

if TYPE_CHECKING:
    from ...engine.graph.annotations import TensorLike
    from ...engine.graph.inference import ShapeContext
    from ...engine.graph.kernel_context import KernelContext
    from ...engine.graph.operation import Operation
    from ...engine.graph.tensor import Tensor

_TYPES = "T: {float, double, int32, int64}"
_ATTRS = (
    "pooling_ratio: list(float) >= 4; pseudo_random: bool = false; overlapping: bool = false; "
    f"deterministic: bool = false; seed: int = 0; seed2: int = 0; {_TYPES}"
)
_RESULTS = "output: T, row_pooling_sequence: int64, col_pooling_sequence: int64"
_NO_GRADIENT = NoGradient("TensorFlow has none for the gradient of fractional pooling")


def _pooled_size(size: int, ratio: float) -> int:
    """The size divided as TensorFlow does, in float32."""
    return math.floor(np.float32(size) / np.float32(ratio))


def _shape(c: ShapeContext) -> list[TensorShape]:
    sizes, ratios = nw.known_dims(c.inputs[0], 4), c.attr("pooling_ratio")
    if len(ratios) != 4:
        raise ValueError("pooling_ratio field must specify 4 dimensions")
    for ratio in ratios:
        if ratio < 1:
            raise ValueError(f"pooling_ratio cannot be smaller than 1, got: {ratio:g}")
    pairs = zip(sizes, ratios, strict=True)
    out = [None if size is None else _pooled_size(size, ratio) for size, ratio in pairs]
    # A sequence has one bound more than there are regions.
    bounds = [TensorShape([None if n is None else n + 1]) for n in out[1:3]]
    return [TensorShape(out), *bounds]


def _even_regions(size: int, count: int, bits: Bits) -> list[int]:
    """Region sizes from one random phase of an even division."""
    alpha, least = size / count, size // count
    # Graham, Fractional Max-Pooling (arXiv 1412.6071): region i ends at ceil(alpha * (i + phase)).
    # The first limit keeps the first region below least + 2, the second keeps the last one from
    # being smaller than `least` (fractional_pool_common.cc).
    limit = min((least + 2) / alpha - 1, (size + 1 - least) / alpha - (count - 1))
    phase = float(bits.uniform(1)[0]) * limit
    bounds = [1, *(math.ceil(alpha * (i + phase)) for i in range(1, count)), size + 1]
    return [after - before for before, after in zip(bounds, bounds[1:])]


def _shuffled_regions(size: int, count: int, bits: Bits) -> list[int]:
    """Region sizes in random order."""
    least, larger = divmod(size, count)
    sizes = [least + 1] * larger + [least] * (count - larger)
    for i in range(count - 1):
        # Fisher and Yates' shuffle, with the slight bias of the remainder that TensorFlow's has.
        j = i + int(bits.next32(1)[0]) % (count - i)
        sizes[i], sizes[j] = sizes[j], sizes[i]
    return sizes


def _bounds(size: int, count: int, numbers: Stream, pseudo_random: bool) -> np.ndarray:
    """Where the regions of an axis begin, and the end of the last."""
    if pseudo_random:
        sizes = _even_regions(size, count, Bits(numbers.reserve(1)))
    else:
        sizes = _shuffled_regions(size, count, Bits(numbers.reserve(-(-count // 4))))
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)


@record(frozen=True, slots=True)
class _Regions:
    """The regions of an axis: where each begins, and how long it is."""

    starts: np.ndarray
    sizes: np.ndarray

    @staticmethod
    def between(bounds: np.ndarray, size: int, overlapping: bool) -> _Regions:
        """Those between bounds; overlapping ones share their borders."""
        ends = np.minimum(bounds[1:] + int(overlapping), size)
        return _Regions(bounds[:-1], ends - bounds[:-1])

    def are_apart(self) -> bool:
        """Has every region a position, and every position at most one region?"""
        ends = self.starts + self.sizes
        return bool((self.sizes > 0).all() and (self.starts[1:] >= ends[:-1]).all())

    def tile(self, size: int) -> bool:
        """Has every position of an axis one region?"""
        return self.are_apart() and bool(self.sizes.sum() == size)

    def offsets(self) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """For each offset: which regions are so long, and the positions there."""
        for offset in range(self.sizes.max(initial=0)):
            (which,) = np.nonzero(self.sizes > offset)
            yield which, self.starts[which] + offset


@record(frozen=True, slots=True)
class _Areas:
    """The regions of both axes of images.

    One axis is gone through after the other, offset by offset: much less than both at once.
    """

    rows: _Regions
    columns: _Regions

    @staticmethod
    def between(
        rows: np.ndarray, columns: np.ndarray, sizes: Sequence[int], overlapping: bool
    ) -> _Areas:
        """Those between bounds, in images of a shape [batch, rows, columns, depth]."""
        return _Areas(
            _Regions.between(rows, sizes[1], overlapping),
            _Regions.between(columns, sizes[2], overlapping),
        )

    def counts(self) -> np.ndarray:
        """How many positions each region has: [rows, columns, 1]."""
        return (self.rows.sizes[:, None] * self.columns.sizes)[..., None]


def _pool(reduce: Callable[[np.ndarray, _Areas, np.ndarray], None]) -> Callable[..., Any]:
    def kernel(c: KernelContext, x: np.ndarray) -> tuple[np.ndarray, ...]:
        if x.ndim != 4:
            raise errors.invalid("tensor_in must be 4-dimensional")
        ratios = c.attr("pooling_ratio")
        for i, (size, ratio) in enumerate(zip(x.shape, ratios, strict=True)):
            if size < ratio:
                raise errors.invalid(
                    "Pooling ratio is higher than input dimension size for dimension "
                    f"{i}. Input dim size: {size} pooling ratio: {ratio:g}"
                )
        out = [_pooled_size(size, ratio) for size, ratio in zip(x.shape, ratios, strict=True)]
        numbers, pseudo = fractional_lower.stream_of_run(c), c.attr("pseudo_random")
        rows = _bounds(x.shape[1], out[1], numbers, pseudo)
        columns = _bounds(x.shape[2], out[2], numbers, pseudo)
        result = np.empty((x.shape[0], out[1], out[2], x.shape[3]), x.dtype)
        areas = _Areas.between(rows, columns, x.shape, c.attr("overlapping"))
        reduce(x, areas, result)
        return result, rows, columns

    return kernel


def _maximum(x: np.ndarray, areas: _Areas, result: np.ndarray) -> None:
    """The maxima from the least finite number up, which NaN and minus infinity do not exceed."""
    most = _most(np.maximum, x, areas)
    if np.isnan(most).any():  # (Where a NaN counts for nothing, NumPy takes several times as long.)
        most = _most(np.fmax, x, areas)
    least = lowest(x.dtype)
    np.copyto(result, np.where(most > least, most, least))


def _most(combine: np.ufunc, x: np.ndarray, areas: _Areas) -> np.ndarray:
    return _along(combine, _along(combine, x, areas.rows, 1), areas.columns, 2)


def _along(combine: np.ufunc, x: np.ndarray, regions: _Regions, axis: int) -> np.ndarray:
    """What an axis's regions come to; of maxima NaN only where there is nothing else."""
    before: tuple[Any, ...] = (slice(None),) * axis
    result = x.take(regions.starts, axis)
    for which, places in islice(regions.offsets(), 1, None):
        if len(which) == len(regions.starts):
            combine(result, x.take(places, axis), out=result)
        else:
            at = (*before, which)
            result[at] = combine(result[at], x.take(places, axis))
    return result


def _mean(x: np.ndarray, areas: _Areas, result: np.ndarray) -> None:
    total = _along(np.add, _along(np.add, x, areas.rows, 1), areas.columns, 2)
    counts = areas.counts()
    if x.dtype.kind == "i":
        # Integers are divided as in C, towards zero.
        result[...] = np.sign(total) * (np.abs(total) // counts)
    else:
        np.divide(total, counts.astype(x.dtype), out=result)


def _max_gradient(
    c: KernelContext,
    x: np.ndarray,
    y: np.ndarray,
    dy: np.ndarray,
    rows: np.ndarray,
    columns: np.ndarray,
) -> np.ndarray:
    fractional_lower.check_bounds(rows, columns)
    areas = _Areas.between(rows, columns, x.shape, c.attr("overlapping"))
    result = np.zeros_like(x)
    if not dy.size or not x.size:
        return result
    # The place of the first maximum of each region, or of the first NaN: in each row, then of rows.
    best, column = _best_along(x, areas.columns, 2)
    _, row = _best_along(best, areas.rows, 1)
    # Rows of all images, and positions of these, counted through.
    images = np.arange(x.shape[0])[:, None, None, None] * x.shape[1]
    inner = np.arange(column.shape[2] * x.shape[3]).reshape(column.shape[2:])
    at = images + row
    chosen = column.reshape(-1)[at * inner.size + inner]
    # (In place: to take memory for this many indices takes longer than to compute them.)
    at *= x.shape[2]
    at += chosen
    at *= x.shape[3]
    at += np.arange(x.shape[3])
    given = np.where(areas.counts() > 0, dy, 0)
    if areas.rows.are_apart() and areas.columns.are_apart():
        result.reshape(-1)[at] = given
    else:  # One place may be the maximum of several.
        np.add.at(result.reshape(-1), at.reshape(-1), given.reshape(-1))
    return result


def _best_along(x: np.ndarray, regions: _Regions, axis: int) -> tuple[np.ndarray, np.ndarray]:
    """The first maximum of each region of an axis, or its first NaN, and where it is."""
    before: tuple[Any, ...] = (slice(None),) * axis
    starts = np.minimum(regions.starts, x.shape[axis] - 1)  # (of regions of nothing, too)
    best = x.take(starts, axis)
    first = np.zeros(best.shape, np.int32)
    for offset, (which, places) in enumerate(regions.offsets()):
        if not offset:
            continue
        value = x.take(places, axis)
        # (Not by a choice of NumPy's, which takes several times as long: the larger number, or
        # NaN, and the larger offset, which is the later one.)
        if len(which) == len(starts):
            np.maximum(first, _is_more(value, best) * np.int32(offset), out=first)
            np.maximum(best, value, out=best)
        else:
            at = (*before, which)
            is_more = _is_more(value, best[at])
            first[at] = np.maximum(first[at], is_more * np.int32(offset))
            best[at] = np.maximum(best[at], value)
    first += starts.astype(np.int32).reshape(-1, *(1,) * (x.ndim - axis - 1))
    return best, first


def _is_more(value: np.ndarray, most: np.ndarray) -> np.ndarray:
    """Where another value is the larger one, or the first NaN."""
    is_more = value > most
    is_other = np.isnan(value)
    return is_more | (is_other & ~np.isnan(most)) if is_other.any() else is_more


def _avg_gradient(
    c: KernelContext, shape: np.ndarray, dy: np.ndarray, rows: np.ndarray, columns: np.ndarray
) -> np.ndarray:
    if shape.shape != (4,):
        raise errors.invalid("original input tensor shape must be1-dimensional and 4 elements")
    for name, size in zip(("Batch", "Rows", "Columns", "Depth"), shape, strict=True):
        if size == 0:
            raise errors.invalid(f"{name} dimension of input must not be 0")
    fractional_lower.check_bounds(rows, columns)
    areas = _Areas.between(rows, columns, shape.tolist(), c.attr("overlapping"))
    shares = dy.astype(np.float64) / np.maximum(areas.counts(), 1)
    if areas.rows.tile(int(shape[1])) and areas.columns.tile(int(shape[2])):
        shares = shares.astype(dy.dtype)  # nothing is added up, so that nothing is lost
    spread = _spread_along(shares, areas.rows, 1, int(shape[1]))
    return _spread_along(spread, areas.columns, 2, int(shape[2])).astype(dy.dtype, copy=False)


def _spread_along(values: np.ndarray, regions: _Regions, axis: int, size: int) -> np.ndarray:
    """Along an axis the sums of the values of all regions that a position is in."""
    if regions.tile(size):
        return np.repeat(values, regions.sizes, axis)
    before: tuple[Any, ...] = (slice(None),) * axis
    result = np.zeros((*values.shape[:axis], size, *values.shape[axis + 1 :]), values.dtype)
    for which, places in regions.offsets():
        # (No position comes twice at one offset.)
        result[(*before, places)] += values[(*before, which)]
    return result


def _gradient_of_max(op: Operation, grad: Tensor, *_: Any) -> Tensor:
    x, (y, rows, columns) = op.inputs[0], op.outputs
    return raw.FractionalMaxPoolGrad(x, y, grad, rows, columns, op.get_attr("overlapping"))


def _gradient_of_avg(op: Operation, grad: Tensor, *unused: Any) -> Tensor:
    del unused
    _, rows, columns = op.outputs
    shape = op.inputs[0].get_shape()
    return raw.FractionalAvgPoolGrad(shape, grad, rows, columns, op.get_attr("overlapping"))


_RATIO = [1.0, 1.5, 1.3, 1.0]
_FACTS: dict[str, Any] = {
    "dtypes": ["float32", "float64", "int32"],
    "shapes": [[[2, 6, 5, 3]]],
    "attrs": [
        {
            "pooling_ratio": _RATIO,
            "deterministic": True,
            "seed": 5,
            "seed2": 6,
            "overlapping": overlapping,
            "pseudo_random": not overlapping,
        }
        for overlapping in (False, True)
    ],
}

_max_pool = define(
    "FractionalMaxPool",
    f"value: T -> {_RESULTS}",
    _ATTRS,
    shape=_shape,
    kernel=_pool(_maximum),
    lower=fractional_lower.pool(_pooled_size, False),
    gradient=_gradient_of_max,
    stateful=True,
    doc="The maxima of regions of random sizes, and where these begin.",
    test=lambda: _FACTS,
)
_avg_pool = define(
    "FractionalAvgPool",
    f"value: T -> {_RESULTS}",
    _ATTRS,
    shape=_shape,
    kernel=_pool(_mean),
    lower=fractional_lower.pool(_pooled_size, True),
    gradient=_gradient_of_avg,
    stateful=True,
    doc="The means of regions of random sizes, and where these begin.",
    test=lambda: _FACTS,
)


def _some_bounds() -> list[Any]:
    return [np.array([0, 1, 3]), np.array([0, 2, 3])]


def _sample() -> np.ndarray:
    return np.array([9.0, 2, 5, 3, 0, 1, 8, 4, 6]).reshape(1, 3, 3, 1)


def _small() -> np.ndarray:
    return np.arange(4.0).reshape(1, 2, 2, 1)


# The maxima of the sample in these regions, whether they overlap or not.


def _maxima() -> np.ndarray:
    return np.array([9.0, 5, 8, 6]).reshape(1, 2, 2, 1)


define(
    "FractionalMaxPoolGrad",
    "orig_input: T, orig_output: T, out_backprop: T, row_pooling_sequence: int64, "
    "col_pooling_sequence: int64 -> output: T",
    f"overlapping: bool = false; {_TYPES}",
    shape=lambda c: TensorShape(nw.known_dims(c.inputs[0], 4)),
    kernel=_max_gradient,
    lower=fractional_lower.max_gradient,
    gradient=_NO_GRADIENT,
    doc="The gradient of FractionalMaxPool: each goes to the first maximum of its region.",
    test=lambda: {
        "values": [[_sample(), _maxima(), _small(), *_some_bounds()]],
        "attrs": [{}, {"overlapping": True}],
    },
)
define(
    "FractionalAvgPoolGrad",
    "orig_input_tensor_shape: int64, out_backprop: T, row_pooling_sequence: int64, "
    "col_pooling_sequence: int64 -> output: T",
    f"overlapping: bool = false; {_TYPES}",
    shape=lambda c: c.value_as_shape(0).merge_with([None] * 4),
    kernel=_avg_gradient,
    lower=fractional_lower.mean_gradient,
    gradient=_NO_GRADIENT,
    doc="The gradient of FractionalAvgPool: each is shared out over its region.",
    test=lambda: {
        "values": [[np.array([1, 3, 3, 1]), _small(), *_some_bounds()]],
        "attrs": [{}, {"overlapping": True}],
    },
)


@export("nn.fractional_max_pool")
def fractional_max_pool(
    value: TensorLike,
    pooling_ratio: Sequence[float],
    pseudo_random: bool = False,
    overlapping: bool = False,
    deterministic: bool = False,
    seed: int = 0,
    seed2: int = 0,
    name: str | None = None,
) -> Any:
    """The maxima of regions of random sizes; and the rows and columns where these begin."""
    attrs = (pseudo_random, overlapping, deterministic, seed, seed2)
    return _max_pool(value, pooling_ratio, *attrs, name=name)


@export("nn.fractional_avg_pool")
def fractional_avg_pool(
    value: TensorLike,
    pooling_ratio: Sequence[float],
    pseudo_random: bool = False,
    overlapping: bool = False,
    deterministic: bool = False,
    seed: int = 0,
    seed2: int = 0,
    name: str | None = None,
) -> Any:
    """The means of regions of random sizes; and the rows and columns where these begin."""
    attrs = (pseudo_random, overlapping, deterministic, seed, seed2)
    return _avg_pool(value, pooling_ratio, *attrs, name=name)


def _seeds(seed: int) -> tuple[bool, int | None, int | None]:
    """Deterministic or not, and the two seeds, for one seed of TensorFlow 2's form."""
    return (False, 0, 0) if seed == 0 else (True, *get_seed(seed))


def fractional_max_pool_v2(
    value: TensorLike,
    pooling_ratio: Any,
    pseudo_random: bool = False,
    overlapping: bool = False,
    seed: int = 0,
    name: str | None = None,
) -> Any:
    """TensorFlow 2's form of `fractional_max_pool`: one seed, ratios as of a window."""
    ratio = per_axis(pooling_ratio, 2, 3, "pooling_ratio")
    return _max_pool(value, ratio, pseudo_random, overlapping, *_seeds(seed), name=name)


def fractional_avg_pool_v2(
    value: TensorLike,
    pooling_ratio: Sequence[float],
    pseudo_random: bool = False,
    overlapping: bool = False,
    seed: int = 0,
    name: str | None = None,
) -> Any:
    """TensorFlow 2's form of `fractional_avg_pool`: one seed."""
    return _avg_pool(value, pooling_ratio, pseudo_random, overlapping, *_seeds(seed), name=name)
