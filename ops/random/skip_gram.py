# SPDX-License-Identifier: Apache-2.0
"""Pairs of words that stand near each other, within distances drawn at random."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...engine import errors
from ...engine.graph.build import define
from ...engine.graph.registry import NoGradient
from ...engine.types.shape import TensorShape
from . import philox
from .random_ops import stream

if TYPE_CHECKING:
    from ...engine.graph.inference import ShapeContext
    from ...engine.graph.kernel_context import KernelContext


def _shape(c: ShapeContext) -> list[TensorShape]:
    for shape, rank in zip(c.inputs, (1, 0, 0, 0, 0, 0)):
        shape.with_rank(rank)
    return [TensorShape([None])] * 2


def _below(at: philox.Philox, count: int, limit: int) -> np.ndarray:
    """Numbers from 0 to below `limit`, all equally likely: draws that would skew it are dropped."""
    skewing = 0 if limit & (limit - 1) == 0 else (2**32 - 1) % limit + 1
    blocks = (count + 3) // 4
    while True:
        draws = at.blocks(blocks).reshape(-1).astype(np.int64)
        kept = draws[draws >= skewing]
        if len(kept) >= count:
            return kept[:count] % limit
        blocks += 1


def _pairs(
    c: KernelContext,
    words: np.ndarray,
    least: np.ndarray,
    most: np.ndarray,
    start: np.ndarray,
    limit: np.ndarray,
    with_self: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    low, high, first, count = (int(value) for value in (least, most, start, limit))
    if low < 0 or high < 0:
        raise errors.invalid("Both min_skips and max_skips must be >= 0.")
    if low > high:
        raise errors.invalid("min_skips must be <= max_skips.")
    if first < 0:
        raise errors.invalid(f"start must be >= 0, got {first}")
    end = len(words) if count < 0 else min(first + count, len(words))
    size = max(0, end - first)
    at = stream(c).reserve((size + 1 + 3) // 4)
    reach = low + _below(at, size, high - low + 1)
    # No pair is farther apart than the ends.
    farthest = max(0, min(high, size - 1))
    steps = np.arange(-farthest, farthest + 1)
    places = np.arange(size)[:, None] + steps
    near = (np.abs(steps) <= reach[:, None]) & (places >= 0) & (places < size)
    if not bool(with_self):
        near &= steps != 0
    rows, columns = np.nonzero(near)
    return words[first + rows], words[first + places[rows, columns]]


define(
    "SkipGramGenerateCandidates",
    "input_tensor: T, min_skips: int32, max_skips: int32, start: int32, limit: int32, "
    "emit_self_as_target: bool -> tokens: T, labels: T",
    "T: {string, int16, int32, int64}; seed: int = 0; seed2: int = 0",
    shape=_shape,
    kernel=_pairs,
    dynamic_shape=True,
    gradient=NoGradient("a choice of words", silent=True),
    stateful=True,
    doc="Words and those near them, as far as numbers between two limits say.",
    test=lambda: {
        "values": [
            [
                np.array([5, 6, 7], np.int32),
                *(np.int32(n) for n in (1, 2, 0, -1)),
                np.bool_(False),
            ]
        ],
        "attrs": [{"seed": 1}],
    },
)
