# SPDX-License-Identifier: Apache-2.0
"""Batches of a function's results: what fails, fails its whole batch, and the next one comes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ....engine import errors
from ....engine.types.shape import shape_text
from .batch_filling import RowsWay
from .batching import BatchDataset, Batched, joined, stacked
from .dataset import Block, Element, State, Stream, row_of

if TYPE_CHECKING:
    from .context import Context


class MapAndBatchDataset(BatchDataset):
    """Several results of a function, which the dataset that is read calls, as one."""

    kind = "MapAndBatch"

    def stream(self, context: Context, path: str) -> Stream:
        source = self.source_stream(context, path)
        # (Blocks are of functions that cannot fail for some elements alone.)
        return Batched(self, source) if source.has_blocks else _Batches(self, source)


class _Batches(Stream):
    def __init__(self, dataset: MapAndBatchDataset, source: Stream) -> None:
        self._dataset, self._source = dataset, source
        self._is_over = False

    def next(self) -> Element | None:
        if self._is_over:
            return None
        size = self._dataset.size
        found = self._source.next_rows(size, _WHOLE)
        if found is None:
            return self._one_by_one()
        rows, count = found
        self._is_over = count < size
        return None if self._is_over and self._dataset.drops else rows

    def _one_by_one(self) -> Element | None:
        blocks: list[Block] = []
        failure: errors.OpError | None = None
        count, size = 0, self._dataset.size
        while count < size:
            try:
                block = self._read(size - count)
            except (errors.CancelledError, errors.DeadlineExceededError):
                raise
            except errors.OpError as error:
                failure = failure or error
                count += 1
                continue
            if block is None:
                self._is_over = True
                break
            blocks.append(block)
            count += len(block[0])
        if failure is not None:
            raise failure
        if not blocks or (self._dataset.drops and count < size):
            return None
        _require_alike([tuple(row_of(column, 0) for column in block) for block in blocks])
        return joined(blocks, count)

    def _read(self, count: int) -> Block | None:
        """At most so many elements as rows."""
        if self._source.has_wanted:
            return self._source.next_wanted(count)
        element = self._source.next()
        return None if element is None else [item[None] for item in element]

    def save(self) -> State:
        return {"source": self._source.save(), "over": int(self._is_over)}

    def restore(self, state: State) -> None:
        self._source.restore(state["source"])
        self._is_over = bool(state["over"])

    def close(self) -> None:
        self._source.close()


def _stacked(elements: Sequence[Element]) -> Element:
    _require_alike(elements)
    return stacked(elements)


def _require_alike(elements: Sequence[Element]) -> None:
    for parts in zip(*elements):
        for part in parts[1:]:
            if part.shape != parts[0].shape:
                raise errors.invalid(
                    "Cannot add tensor to the batch: number of elements does not match. Shapes "
                    f"are: [tensor]: {shape_text(part.shape)}, [batch]: "
                    f"{shape_text(parts[0].shape)}"
                )


_WHOLE = RowsWay(_stacked, is_whole=True)
