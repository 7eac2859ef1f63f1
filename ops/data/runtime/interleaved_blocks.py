# SPDX-License-Identifier: Apache-2.0
"""Interleaved datasets that give blocks are read in blocks, too: their order is numbers alone."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ....engine import errors
from ....engine.types.texts import PackedTexts, unpacked
from .batching import joined
from .dataset import Block, BlockStream, Element, State, Stream, alone, kept, taken_up
from .turns import Order, Turn


class BlockTurn(Turn):
    """A dataset that has its turns, and rows of it that were read and not given yet."""

    def __init__(self, element: Element, number: int, stream: Stream) -> None:
        super().__init__(element, number, stream)
        self.rows: Block = []
        self.place = 0

    @property
    def left(self) -> int:
        """How many rows were not given yet."""
        return len(self.rows[0]) - self.place if self.rows else 0

    def read(self, count: int) -> bool:
        """Reads rows, if none are left; False at the end."""
        if not self.left:
            self.rows, self.place = self._block(count) or [], 0
        return bool(self.rows)

    def _block(self, count: int) -> Block | None:
        if self.stream.has_blocks:
            return self.stream.next_packed_block(count)
        element = self.stream.next()
        return None if element is None else [alone(component) for component in element]

    def save(self) -> State:
        rows = self.rows if self.left else []
        return {
            **super().save(),
            "rows": [kept(unpacked(column[self.place :])) for column in rows],
        }

    def restore(self, state: State) -> None:
        super().restore(state)
        self.rows, self.place = [taken_up(column) for column in state["rows"]], 0


class _Piece(NamedTuple):
    """Neighbouring rows of what was read at once."""

    rows: Block
    start: int
    stop: int


class InterleavedBlocks(BlockStream):
    """The rows of several datasets in turns.

    Datasets that come later are begun while rows before theirs are still to be taken; an error
    comes when its element would.
    """

    def __init__(self, turns: Order[BlockTurn]) -> None:
        super().__init__()
        self._turns = turns
        self._failure: Exception | None = None

    def read_block(self, count: int) -> Block | None:
        block = self._read(count)
        return block and [unpacked(column) for column in block]

    def next_packed_block(self, count: int) -> Block | None:
        return self.next_block(count) if self.is_ahead else self._read(count)

    def _read(self, count: int) -> Block | None:
        """The next rows; texts may be packed."""
        pieces: list[_Piece] = []
        left = count
        # (As many as are likely to be taken now: what is left over is kept.)
        share = max(self._turns.block, -(-count // self._turns.cycle))
        try:
            if self._failure is not None:
                failure, self._failure = self._failure, None
                raise failure
            while left and (turn := self._next_turn(share)) is not None:
                if pieces and not _are_alike(pieces[0].rows, turn.rows):
                    break
                size = min(left, turn.left, self._turns.left)
                start = turn.place
                if pieces and pieces[-1].rows is turn.rows and pieces[-1].stop == start:
                    start = pieces.pop().start
                turn.place += size
                pieces.append(_Piece(turn.rows, start, turn.place))
                left -= size
                self._turns.gave(size)
        except Exception as error:  # (for who asks for what comes next)
            if not pieces:
                raise
            self._failure = error
        return _together(pieces) if pieces else None

    def _next_turn(self, share: int) -> BlockTurn | None:
        """The dataset whose turn it is, with rows at hand; None at the end of all."""
        while (turn := self._turns.current()) is not None:
            try:
                has_rows = turn.read(share)
            except errors.OpError:
                self._turns.failed()
                raise
            if has_rows:
                return turn
            self._turns.end()
        return None

    def save(self) -> State:
        if self._failure is not None:
            raise self._failure
        return {**self._turns.save(), **self.save_ahead()}

    def restore(self, state: State) -> None:
        self._turns.restore(state)
        self.restore_ahead(state)

    def close(self) -> None:
        self._turns.close()


def _are_alike(one: Block, other: Block) -> bool:
    """Whether rows of two blocks have one shape and type each."""
    if one is other:
        return True
    return all(a.shape[1:] == b.shape[1:] and a.dtype == b.dtype for a, b in zip(one, other))


def _together(pieces: list[_Piece]) -> Block:
    """The rows of pieces, in order."""
    if len(pieces) == 1:
        rows, start, stop = pieces[0]
        return [column[start:stop] for column in rows]
    # Of each block that was read the rows that are used, which are neighbours.
    used: dict[int, list[Any]] = {}
    for rows, start, stop in pieces:
        known = used.setdefault(id(rows), [rows, start, stop])
        known[2] = stop
    begins, total = {}, 0
    for key, (_, first, last) in used.items():
        begins[key], total = total - first, total + last - first
    order = np.concatenate(
        [np.arange(start, stop) + begins[id(rows)] for rows, start, stop in pieces]
    )
    blocks = [[column[first:last] for column in rows] for rows, first, last in used.values()]
    return [_in_order(column, order) for column in joined(blocks, total)]


def _in_order(column: Any, order: np.ndarray) -> Any:
    if isinstance(column, PackedTexts):
        return PackedTexts(column.data, column.places.take(order, axis=0))
    return column.take(order, axis=0)
