# SPDX-License-Identifier: Apache-2.0
"""Runs of neighbouring strings, joined."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ...engine import errors
from ...engine.graph.build import define
from ...engine.graph.registry import NoGradient
from ...engine.types.shape import TensorShape
from .. import shape_inference
from .files import text_array

if TYPE_CHECKING:
    from ...engine.graph.inference import ShapeContext
    from ...engine.graph.kernel_context import KernelContext


class _Padding:
    """What is put before and behind a row, for n-grams of some width."""

    def __init__(self, c: KernelContext) -> None:
        self.left, self.right = (
            c.attr(name).encode("utf-8", "surrogateescape") for name in ("left_pad", "right_pad")
        )
        self.given = c.attr("pad_width")

    def width(self, ngram: int) -> int:
        """How many on each side: never so many that an n-gram is nothing else."""
        return min(ngram - 1 if self.given < 0 else self.given, ngram - 1)

    def around(self, row: Sequence[bytes], ngram: int) -> list[bytes]:
        """A row with its padding."""
        count = max(self.width(ngram), 0)
        return [self.left] * count + list(row) + [self.right] * count


def _row(
    row: Sequence[bytes], padding: _Padding, widths: list[int], whole: bool
) -> list[list[bytes]]:
    """The n-grams of a row, as what is joined; a row that has none is one itself, if `whole`."""
    found: list[list[bytes]] = []
    for width in widths:
        padded = padding.around(row, width)
        found += [padded[i : i + width] for i in range(len(padded) - width + 1)]
    if whole and not found and row:
        found = [padding.around(row, len(row) + 2 * padding.given)]
    return found


def _ngrams(
    c: KernelContext, data: np.ndarray, splits: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    wrong = splits[(splits < 0) | (splits > data.size)]
    if wrong.size:
        raise errors.invalid(f"Invalid split value {wrong[0]}, must be in [0,{data.size}]")
    if not (data.size and splits.size):
        return text_array([]), splits.copy()
    separator = c.attr("separator").encode("utf-8", "surrogateescape")
    widths, whole = list(c.attr("ngram_widths")), c.attr("preserve_short_sequences")
    padding, texts = _Padding(c), data.tolist()
    rows = [
        _row(texts[first:last], padding, widths, whole)
        for first, last in zip(splits[:-1].tolist(), splits[1:].tolist(), strict=True)
    ]
    joined = [separator.join(parts) for row in rows for parts in row]
    return text_array(joined), np.cumsum([0, *map(len, rows)]).astype(splits.dtype)


def _shape(c: ShapeContext) -> list[TensorShape]:
    for shape in c.inputs:
        shape_inference.ranked(shape, 1)
    return [TensorShape([None]), shape_inference.of_rank(1).merge_with(c.inputs[1])]


define(
    "StringNGrams",
    "data: string, data_splits: Tsplits -> ngrams: string, ngrams_splits: Tsplits",
    "separator: string; ngram_widths: list(int) >= 0; left_pad: string; right_pad: string; "
    "pad_width: int; preserve_short_sequences: bool; Tsplits: {int32, int64} = int64",
    shape=_shape,
    kernel=_ngrams,
    dynamic_shape=True,
    gradient=NoGradient("texts have no derivative"),
    doc="The n-grams of rows of strings: what lies within a window, joined.",
    test=lambda: {
        "values": [[np.array([b"a", b"b", b"c", b"d", b"e"], object), np.array([0, 3, 3, 4, 5])]],
        "attrs": [
            {
                "separator": "|",
                "ngram_widths": widths,
                "left_pad": "<",
                "right_pad": ">",
                "pad_width": width,
                "preserve_short_sequences": whole,
            }
            for widths, width, whole in (([3], -1, False), ([2, 4], 0, True), ([3], 1, True))
        ],
    },
)
