# SPDX-License-Identifier: Apache-2.0
"""Slices of partitioned tensors: how checkpoints name them, and which of them make up another.

A slice is a start and a length per dimension; a length of -1 stands for all of it.
"""

from __future__ import annotations

import math
from collections.abc import Collection
from typing import Any

import numpy as np

from ..engine import errors
from ..engine.types.shape import shape_text
from . import varint

Shape = tuple[int, ...]
FULL = -1


class TensorSlice(tuple[tuple[int, int], ...]):
    """(start, length) of each dimension."""

    __slots__ = ()

    @classmethod
    def full(cls, rank: int) -> TensorSlice:
        """All of a tensor."""
        return cls(((0, FULL),) * rank)

    @classmethod
    def parse(cls, text: str) -> TensorSlice:
        """The slice that a text such as "-:3,2" stands for."""
        extents = []
        for item in filter(None, text.split(":")):
            extents.append((0, FULL) if item == "-" else _extent(item, text))
        return cls(extents)

    @classmethod
    def from_proto(cls, message: Any) -> TensorSlice:
        """The slice in a TensorSliceProto."""
        return cls((e.start, e.length if e.HasField("length") else FULL) for e in message.extent)

    def write_to(self, message: Any) -> None:
        """Fills a TensorSliceProto."""
        message.SetInParent()
        for start, length in self:
            extent = message.extent.add()
            # Nothing is written for all of a dimension, as TensorFlow does: `from_proto` tells it
            # by that.
            if length != FULL:
                extent.start, extent.length = start, length

    def __str__(self) -> str:
        return ":".join("-" if n == FULL else f"{start},{n}" for start, n in self)

    @property
    def is_full(self) -> bool:
        """Whether it is written as all of the tensor."""
        return all(length == FULL for _, length in self)

    def covers(self, shape: Shape) -> bool:
        """Whether it is all of a tensor of that shape, however it is written."""
        return self.is_full or (len(self) == len(shape) and self.shape(shape) == shape)

    def bounds(self, shape: Shape) -> list[tuple[int, int]]:
        """Where it begins and ends in each dimension of a tensor."""
        if len(self) != len(shape):
            raise errors.internal(f"Mismatching ranks: shape = {shape_text(shape)}, slice = {self}")
        result = []
        for d, ((start, length), size) in enumerate(zip(self, shape)):
            end = size if length == FULL else start + length
            if not 0 <= start <= end <= size:
                raise errors.internal(
                    f"Extent in dimension {d} out of bounds: shape = {shape_text(shape)}, "
                    f"slice = {self}"
                )
            result.append((start, end))
        return result

    def shape(self, shape: Shape) -> Shape:
        """The shape of the slice of a tensor."""
        return tuple(end - start for start, end in self.bounds(shape))


def _extent(item: str, text: str) -> tuple[int, int]:
    parts = [part for part in item.split(",") if part]
    try:
        start, length = (int(part) for part in parts)
    except ValueError:
        raise errors.invalid(
            f"Expected a pair of numbers or '-' but got '{item}': string = {text}"
        ) from None
    if start < 0 or length <= 0:
        raise errors.invalid(
            "Expected non-negative start and positive length but got start = "
            f"{start}, length = {length}: string = {text}"
        )
    return start, length


def parse_shape_and_slice(text: str) -> tuple[Shape, TensorSlice, Shape]:
    """Full shape, slice and shape of the slice, from a text such as "4 10 0,2:-"."""
    *sizes, last = text.split(" ")
    if not sizes:
        raise errors.invalid(f"Need least two elements in shape_and_slice specification: {text}")
    part = TensorSlice.parse(last)
    try:
        shape = tuple(int(size) for size in sizes)
    except ValueError:
        raise errors.invalid(f"Non numerical dimension in shape_and_slice: {text}") from None
    return shape, part, part.shape(shape)


def encoded_name(name: bytes, part: TensorSlice) -> bytes:
    """The key of a slice of a tensor in a checkpoint."""
    # The leading 0 sorts the keys of slices before those of tensors, which begin with a letter
    # (core/util/saved_tensor_slice_util.cc).
    key = varint.ordered_unsigned(0) + varint.ordered_text(name)
    key += varint.ordered_unsigned(len(part))
    for start, length in part:
        key += varint.ordered_signed(start) + varint.ordered_signed(length)
    return key


def find_cover(
    stored: Collection[TensorSlice], wanted: TensorSlice, shape: Shape
) -> list[TensorSlice] | None:
    """The stored slices, which do not overlap, that make up the wanted one; None if they do not.

    It is quick for one of the stored slices, if these are the keys of a dictionary.
    """
    if wanted in stored:
        return [wanted]
    found, covered = [], 0
    for part in stored:
        overlap = _overlap(part.bounds(shape), wanted.bounds(shape))
        if overlap is not None:
            found.append(part)
            # Parts do not overlap, so that the elements need only be counted.
            covered += math.prod(end - start for start, end in overlap)
    return found if covered == math.prod(wanted.shape(shape)) else None


def _overlap(a: list[tuple[int, int]], b: list[tuple[int, int]]) -> list[tuple[int, int]] | None:
    both = [(max(s, t), min(e, f)) for (s, e), (t, f) in zip(a, b)]
    return None if any(start >= end for start, end in both) else both


def copy_overlap(
    source: np.ndarray, stored: TensorSlice, target: np.ndarray, wanted: TensorSlice, shape: Shape
) -> None:
    """Copies what a stored slice and a wanted one have in common."""
    here, there = stored.bounds(shape), wanted.bounds(shape)
    overlap = _overlap(here, there)
    if overlap is not None:
        target[_relative(overlap, there)] = source[_relative(overlap, here)]


def _relative(overlap: list[tuple[int, int]], base: list[tuple[int, int]]) -> tuple[slice, ...]:
    return tuple(slice(s - b, e - b) for (s, e), (b, _) in zip(overlap, base))
