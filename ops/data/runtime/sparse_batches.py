# SPDX-License-Identifier: Apache-2.0
"""Batches of arrays of different sizes as sparse tensors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ....engine import errors
from ....engine.types.dtypes import DType
from ....engine.types.shape import TensorShape, shape_text
from .batching import _batches, gathered
from .dataset import Dataset, Element, OneSource, Stream
from .ordering import UnaryDataset

if TYPE_CHECKING:
    from .context import Context


class DenseToSparseBatchDataset(UnaryDataset):
    """Several elements as one sparse tensor: a vector of its indices, values and shape."""

    kind = "DenseToSparseBatch"

    def __init__(
        self,
        source: Dataset,
        types: Sequence[DType],
        shapes: Sequence[TensorShape],
        size: int,
        row: Sequence[int],
    ) -> None:
        """row: the sizes of a row, -1 for the largest of the batch."""
        super().__init__(source, types, shapes)
        self.size, self.row = size, tuple(row)

    def stream(self, context: Context, path: str) -> Stream:
        return _SparseBatches(self, self.source_stream(context, path))

    def cardinality(self) -> int:
        return _batches(self.source.cardinality(), self.size, False)


class _SparseBatches(OneSource):
    def __init__(self, dataset: DenseToSparseBatchDataset, source: Stream) -> None:
        self._dataset, self._source = dataset, source

    def next(self) -> Element | None:
        elements = gathered(self._source, self._dataset.size)
        if not elements:
            return None
        rows = [element[0] for element in elements]
        sizes = list(self._dataset.row)
        for array in rows:
            _require_fits(array, self._dataset.row)
            pairs = zip(sizes, array.shape, self._dataset.row)
            sizes = [max(s, n) if r == -1 else s for s, n, r in pairs]
        indices = [_indices(i, array.shape) for i, array in enumerate(rows)]
        box = np.empty(3, object)
        box[0] = np.concatenate(indices)
        box[1] = np.concatenate([array.reshape(-1) for array in rows])
        box[2] = np.array([len(rows), *sizes], np.int64)
        return (box,)


def _indices(number: int, shape: tuple[int, ...]) -> np.ndarray:
    """The indices of all elements of a row of the batch."""
    inner = np.stack([axis.reshape(-1) for axis in np.indices(shape)], -1)
    return np.concatenate([np.full((len(inner), 1), number), inner], 1).astype(np.int64)


def _require_fits(array: np.ndarray, row: tuple[int, ...]) -> None:
    text = f"Input element had shape ({shape_text(array.shape)}) that is"
    sizes = shape_text(row)
    if array.ndim != len(row):
        raise errors.invalid(f"{text} incompatible with the row shape ({sizes}).")
    if any(most != -1 and size > most for size, most in zip(array.shape, row)):
        raise errors.data_loss(f"{text} larger than the row shape ({sizes}).")
