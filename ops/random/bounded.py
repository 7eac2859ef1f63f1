# SPDX-License-Identifier: Apache-2.0
"""Normal numbers within any bounds (ParameterizedTruncatedNormal), by three rejection methods.

The stream runs through all batches in order, as in TensorFlow on one thread.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ...engine import errors
from ...engine.graph.build import define
from ...engine.graph.convert import convert_to_tensor, shape_tensor
from ...engine.graph.graph import name_scope
from ...engine.graph.seed import get_seed
from ...engine.types import dtypes
from ...engine.types.shape import TensorShape, shape_text
from ..public import raw
from . import philox
from .random_ops import RANDOM, _dims, shape_of, stream

if TYPE_CHECKING:
    from ...engine.graph.annotations import DTypeLike, TensorLike
    from ...engine.graph.inference import ShapeContext
    from ...engine.graph.kernel_context import KernelContext
    from ...engine.graph.tensor import Tensor

_PARAMETERS = ("means", "stddevs", "minvals", "maxvals")
# TensorFlow's limit for the candidates of one output.
_MOST_TRIES = 1000
# Outputs that share parameters are made in batches of this size.
_BATCH = 100
# Groups of candidates that are drawn at once for many such batches.
_CHUNK = 1 << 13
# Deviations inside of the bounds from which on normal numbers are drawn and tested.
_WIDE = 1.3
_Draw = Callable[[philox.Philox, int], tuple[np.ndarray, np.ndarray]]


def _from_normal(low: np.ndarray | np.generic, high: np.ndarray | np.generic) -> tuple[int, _Draw]:
    def draw(at: philox.Philox, groups: int) -> tuple[np.ndarray, np.ndarray]:
        size = groups * philox.per_block(low.dtype)
        values = philox.normal(at, (size,), low.dtype)
        return values, (values >= low) & (values <= high)

    return 1, draw


# The proposals of all three methods, the optimal rate alpha and the limit between the last two are
# those of C. P. Robert, "Simulation of truncated normal variables" (1995).
def _from_uniform(low: Any, high: Any) -> tuple[int, _Draw]:
    """Candidates between the bounds; blocks of candidates and of tests alternate."""
    dtype = low.dtype.type
    top = dtype(0) if low < 0 else low * low

    def draw(at: philox.Philox, groups: int) -> tuple[np.ndarray, np.ndarray]:
        width = philox.per_block(low.dtype)
        u = philox.uniform(at, (groups * 2 * width,), low.dtype).reshape(groups, 2, width)
        values = (u[:, 0] * (high - low) + low).reshape(-1)
        return values, u[:, 1].reshape(-1) <= np.exp((top - values * values) / dtype(2))

    return 2, draw


def _from_exponential(low: Any, high: np.ndarray | np.generic) -> tuple[int, _Draw]:
    """Candidates from the lower bound on; candidates and tests alternate within a block."""
    dtype = low.dtype.type
    alpha = (low + np.sqrt(low * low + dtype(4))) / dtype(2)

    def draw(at: philox.Philox, groups: int) -> tuple[np.ndarray, np.ndarray]:
        size = groups * philox.per_block(low.dtype)
        u = philox.uniform(at, (size,), low.dtype).reshape(-1, 2)
        values = -np.log(u[:, 0]) / alpha + low
        x = alpha - values if low < alpha else low - alpha
        return values, (u[:, 1] <= np.exp(-x * x / dtype(2))) & (values < high)

    return 1, draw


def _method(low: Any, high: Any) -> tuple[int, _Draw]:
    """Blocks for each group of candidates, and how to draw them."""
    dtype = low.dtype.type
    if (low < -_WIDE and high >= 0) or (high > _WIDE and low <= 0):
        return _from_normal(low, high)
    root = np.sqrt(low * low + dtype(4))
    cutoff = dtype(2) * np.exp(dtype(0.5) + (low * (low - root)) / dtype(4)) / (low + root)
    return _from_uniform(low, high) if high - low < cutoff else _from_exponential(low, high)


def _accepted(
    at: philox.Philox, blocks: int, draw: _Draw, count: int
) -> tuple[np.ndarray, philox.Philox]:
    """The first accepted candidates, and the stream behind the group of the last."""
    parts: list[np.ndarray] = []
    while count:
        groups = max(count, _MOST_TRIES + 1)
        values, accept = draw(at, groups)
        hits = np.flatnonzero(accept)[:count]
        if not hits.size:
            raise errors.internal("TruncatedNormal rejection sampler failed to accept a sample.")
        parts.append(values[hits])
        count -= len(hits)
        used = groups if count else int(hits[-1]) // (len(values) // groups) + 1
        at = at.skip(used * blocks)
    return np.concatenate(parts), at


def _batches(
    at: philox.Philox, counts: Sequence[int], blocks: int, draw: _Draw
) -> tuple[list[np.ndarray], philox.Philox]:
    """The first accepted candidates for each of several batches, and the stream behind them.

    A batch begins with the group behind the one where the last has ended.
    """
    found: list[np.ndarray] = []
    values, hits = np.empty(0), np.empty(0, np.int64)
    width, first, start = 1, 0, 0
    for count in counts:
        place = int(np.searchsorted(hits, (start - first) * width))
        if place + count > len(hits) and len(counts) > 1:
            # Candidates for many batches: to draw a few takes as long.
            values, accept = draw(at.skip(start * blocks), _CHUNK)
            hits, width, first, place = np.flatnonzero(accept), len(values) // _CHUNK, start, 0
        mine = hits[place : place + count]
        if len(mine) == count:
            found.append(values[mine])
            start = first + int(mine[-1]) // width + 1
        else:
            more, behind = _accepted(at.skip(start * blocks), blocks, draw, count)
            found.append(more)
            start = at.blocks_to(behind) // blocks
            hits = hits[:0]
    return found, at.skip(start * blocks)


def _outputs(
    at: philox.Philox,
    counts: Sequence[int],
    mean: Any,
    stddev: Any,
    low: Any,
    high: Any,
) -> tuple[np.ndarray, philox.Philox]:
    """The outputs of one set of parameters, in batches of so many."""
    is_bounded = np.isfinite(low) or np.isfinite(high)
    if not (stddev > 0 and low < high and is_bounded):
        raise errors.invalid("Invalid parameters")
    if np.isneginf(low) or high < mean:
        # A single bound is made the lower one, two bounds on one side positive.
        low, high, stddev = high, low, -stddev
    with np.errstate(all="ignore"):
        blocks, draw = _method((low - mean) / stddev, (high - mean) / stddev)
        values, at = _batches(at, counts, blocks, draw)
        return np.concatenate(values) * stddev + mean, at


def _require(parameters: tuple[np.ndarray, ...], batches: int) -> None:
    for name, value in zip(_PARAMETERS, parameters, strict=True):
        if value.ndim > 1:
            raise errors.invalid(
                f"Input {name} should be a scalar or vector, got shape: {shape_text(value.shape)}"
            )
        if value.ndim and value.shape[0] not in (1, batches):
            raise errors.invalid(
                f"Input {name} should have length 1 or shape[0], got shape: "
                f"{shape_text(value.shape)}"
            )


def _bounded(c: KernelContext, shape: np.ndarray, *parameters: np.ndarray) -> np.ndarray:
    dims = _dims(shape)
    size, batches = math.prod(dims), dims[0]
    _require(parameters, batches)
    means, stddevs, lows, highs = parameters
    is_shared = means.size == stddevs.size == 1 and lows.ndim == highs.ndim == 0
    if is_shared:
        batches, each = -(-size // _BATCH), _BATCH
    else:
        each = size // max(batches, 1)
    # Two numbers for each try of each output, in blocks of four, rounded up (3) for each batch: as
    # many as TensorFlow skips, so that the next run begins where its does.
    at = stream(c).reserve(batches * 2 * _MOST_TRIES * (each + 3) // 4)
    every = [np.broadcast_to(value.reshape(-1), (batches,)) for value in parameters]
    result = np.empty(size, means.dtype)
    counts = [min(each, size - i * each) for i in range(batches)]
    if is_shared and counts:
        result[:], at = _outputs(at, counts, *(value[0] for value in every))
        return result.reshape(dims)
    for i, count in enumerate(counts if each else ()):
        mine = [value[i] for value in every]
        result[i * each : i * each + count], at = _outputs(at, [count], *mine)
    return result.reshape(dims)


def _shape(c: ShapeContext) -> TensorShape:
    for parameter in c.inputs[1:]:
        if parameter.ndims is not None and parameter.ndims > 1:
            raise ValueError(f"Shape must be at most rank 1 but is rank {parameter.ndims}")
    return shape_of(c)


define(
    "ParameterizedTruncatedNormal",
    "shape: T, means: dtype, stdevs: dtype, minvals: dtype, maxvals: dtype -> output: dtype",
    "seed: int = 0; seed2: int = 0; dtype: {half, bfloat16, float32, float64}; T: index",
    shape=_shape,
    kernel=_bounded,
    gradient=RANDOM.silently,
    stateful=True,
    doc="Normal numbers with given means and deviations, within given bounds.",
    test=lambda: {
        "values": [
            [np.array([2, 3], np.int32), *(np.asarray(v, np.float32) for v in values)]
            for values in ((0, 1, -1.5, 2), (0, 1, 1, 1.5), ([0, 1], 2, 4, [9, 20]))
        ],
        "attrs": [{"seed": 1}],
    },
)


def parameterized_truncated_normal(
    shape: TensorLike,
    means: object = 0.0,
    stddevs: object = 1.0,
    minvals: object = -2.0,
    maxvals: object = 2.0,
    dtype: DTypeLike = dtypes.float32,
    seed: int | None = None,
    name: str | None = None,
) -> Tensor:
    """Normal numbers within bounds; parameters are scalars or one for each row."""
    inputs = [shape, means, stddevs, minvals, maxvals]
    with name_scope(name, "parameterized_truncated_normal", inputs):
        dims = shape_tensor(shape)
        mean, deviation, low, high = (
            convert_to_tensor(value, dtype=dtype, name=label)
            for label, value in zip(_PARAMETERS, inputs[1:], strict=True)
        )
        seed1, seed2 = get_seed(seed)
        return raw.ParameterizedTruncatedNormal(
            dims, mean, deviation, low, high, seed=seed1, seed2=seed2
        )
