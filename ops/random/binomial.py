# SPDX-License-Identifier: Apache-2.0
"""Binomial numbers from a state that is a variable.

Few expected successes are counted by the gaps between them (geometric numbers), many are drawn by
transformed rejection: W. Hörmann, "The generation of binomial random variates" (1993), method BTRS.
TensorFlow divides the work among threads, and its numbers depend on how; here one thread draws all.
(Where the variable still shares the memory of its initial value, TensorFlow 1.15 loses the new
state, and the second run draws what the first has drawn.)
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from ...engine import errors
from ...engine.graph.build import define
from ...engine.types.shape import shape_text
from .philox import RESERVED, Philox, uniform_pairs
from .random_ops import RANDOM, _dims
from .stateful import shape_at, take

if TYPE_CHECKING:
    from ...engine.graph.kernel_context import KernelContext
    from ...engine.session.state import VariableStorage

# Numbers with one count and probability are drawn in batches of this size.
_BATCH = 100
# Expected successes from which on rejection is quicker.
_MANY = 10
_TAILS = (
    *(0.0810614667953272, 0.0413406959554092, 0.0276779256849983, 0.02079067210376509),
    *(0.0166446911898211, 0.0138761288230707, 0.0118967099458917, 0.0104112652619720),
    *(0.00925546218271273, 0.00833056343336287),
)
_CHUNK = 256


class _Blocks:
    """The blocks of a stream, one after the other."""

    def __init__(self, at: Philox) -> None:
        self._at, self._rows, self._next = at, np.empty((0, 2)), 0

    def uniforms(self) -> Iterator[float]:
        """Uniform numbers from the next block on, the last of each block first."""
        while True:
            if self._next == len(self._rows):
                self._rows = uniform_pairs(self._at.blocks(_CHUNK))
                self._at, self._next = self._at.skip(_CHUNK), 0
            row = self._rows[self._next].tolist()
            self._next += 1
            yield from reversed(row)


def _by_gaps(count: float, p: float, blocks: _Blocks) -> float:
    total, found, scale = 0.0, 0, math.log1p(-p)
    for u in blocks.uniforms():
        total += math.ceil(math.log(u) / scale) if u else math.inf
        if total > count:
            break
        found += 1
    return float(found)


def _tail(k: float) -> float:
    """What Stirling's formula leaves over of a logarithm of a factorial."""
    if k <= 9:
        return _TAILS[int(k)]
    square = (k + 1) * (k + 1)
    return (1.0 / 12 - (1.0 / 360 + 1.0 / 1260 / square) / square) / (k + 1)


def _by_rejection(count: float, p: float, blocks: _Blocks) -> float:
    deviation = math.sqrt(count * p * (1 - p))
    b = 1.15 + 2.53 * deviation
    a = -0.0873 + 0.0248 * b + 0.01 * p
    centre, sure, odds = count * p + 0.5, 0.92 - 4.2 / b, p / (1 - p)
    alpha, mode = (2.83 + 5.1 / b) * deviation, math.floor((count + 1) * p)
    uniforms = blocks.uniforms()
    while True:
        u, v = next(uniforms) - 0.5, next(uniforms)
        us = 0.5 - abs(u)
        if not us:
            continue
        k = math.floor((2 * a / us + b) * u + centre)
        if us >= 0.07 and v <= sure:
            return float(k)
        if k < 0 or k > count:
            continue
        height = math.log(v * alpha / (a / (us * us) + b)) if v else -math.inf
        if height <= _bound(count, odds, float(k), float(mode)):
            return float(k)


def _bound(count: float, odds: float, k: float, mode: float) -> float:
    """The logarithm of how probable k is beside the most probable number."""
    return (
        (mode + 0.5) * math.log((mode + 1) / (odds * (count - mode + 1)))
        + (count + 1) * math.log((count - mode + 1) / (count - k + 1))
        + (k + 0.5) * math.log(odds * (count - k + 1) / (k + 1))
        + _tail(mode)
        + _tail(count - mode)
        - _tail(k)
        - _tail(count - k)
    )


def _one(count: Any, p: Any, blocks: _Blocks) -> float:
    kind = p.dtype.type
    if not (count > 0 and p > 0):
        return math.nan if p != p and count > 0 else 0.0
    if p >= 1:
        return float(count)
    few = p <= kind(0.5)
    share = p if few else kind(1) - p
    draw = _by_rejection if count * share >= _MANY else _by_gaps
    found = draw(float(count), float(share), blocks)
    return found if few else float(count) - found


def _check(name: str, given: np.ndarray, batches: int, alone: bool) -> None:
    if given.ndim > 1:
        raise errors.invalid(
            f"Input {name} should be a scalar or vector, got shape: {shape_text(given.shape)}"
        )
    if not alone and given.size not in (1, batches):
        raise errors.invalid(
            f"Input {name} should have length 1 or shape[0], got shape: {shape_text(given.shape)}"
        )


def _binomial(
    c: KernelContext,
    cell: VariableStorage,
    algorithm: np.ndarray,
    shape: np.ndarray,
    counts: np.ndarray,
    probs: np.ndarray,
) -> np.ndarray:
    dims = _dims(shape)
    size = int(np.prod(dims, dtype=np.int64))
    batches, each = (dims[0], size // max(dims[0], 1)) if dims else (1, 1)
    alone = counts.size == 1 and probs.size == 1
    for name, given in (("counts", counts), ("probs", probs)):
        _check(name, given, batches, alone)
    rows, width = (-(-size // _BATCH), _BATCH) if alone else (batches, each)
    at = take(cell, algorithm, rows * 2 * 100 * (width + 3) // 4 * RESERVED)
    blocks = _Blocks(at)
    many, likely = (np.broadcast_to(x.reshape(-1), (batches,)) for x in (counts, probs))
    found = [_one(many[i // max(each, 1)], likely[i // max(each, 1)], blocks) for i in range(size)]
    with np.errstate(invalid="ignore"):
        return np.array(found, np.float64).astype(c.out_dtype()).reshape(dims)


define(
    "StatefulRandomBinomial",
    "resource: resource, algorithm: int64, shape: S, counts: T, probs: T -> output: dtype",
    "S: {int32, int64}; T: {half, float32, float64, int32, int64} = float64; "
    "dtype: {half, float32, float64, int32, int64} = int64",
    shape=shape_at(2),
    kernel=_binomial,
    gradient=RANDOM,
    stateful=True,
    doc="How many of so many trials succeed, each with a given probability.",
    test={"needs": "a variable that holds the state"},
)
