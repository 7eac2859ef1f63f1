# SPDX-License-Identifier: Apache-2.0
"""Interleaved datasets that give blocks are read in blocks, too: their order is numbers alone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ....engine.types.texts import PackedTexts, unpacked
from .batching import joined
from .dataset import Block, BlockStream, Element, State, Stream, alone, kept, taken_up

# What begins a stream of the dataset that a function makes of an element with a number.
Begin = Callable[[Element, int], Stream]


class _Turn:
    """A dataset that has its turns, and rows of it that were read and not given yet."""

    __slots__ = ("element", "number", "place", "rows", "stream")

    def __init__(self, element: Element, number: int, stream: Stream, rows: Block) -> None:
        self.element, self.number, self.stream = element, number, stream
        self.rows, self.place = rows, 0

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

    def __init__(self, source: Stream, begin: Begin, numbers: tuple[int, int]) -> None:
        """numbers: how many datasets take turns, and how many elements each gives at a time."""
        super().__init__()
        self._source, self._begin = source, begin
        self._cycle, self._block = numbers
        self._turns: list[_Turn | None] = [None] * self._cycle
        self._at = self._given = self._number = self._open = 0
        self._is_over = False
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
        share = max(self._block, -(-count // self._cycle))
        try:
            if self._failure is not None:
                failure, self._failure = self._failure, None
                raise failure
            while left and (turn := self._next_turn(share)) is not None:
                if pieces and not _are_alike(pieces[0].rows, turn.rows):
                    break
                size = min(left, turn.left, self._block - self._given)
                pieces.append(_Piece(turn.rows, turn.place, turn.place + size))
                turn.place += size
                left -= size
                self._given += size
                if self._given == self._block:
                    self._advance()
        except Exception as error:  # (for who asks for what comes next)
            if not pieces:
                raise
            self._failure = error
        return _together(pieces) if pieces else None

    def _next_turn(self, share: int) -> _Turn | None:
        """The dataset whose turn it is, with rows at hand; None at the end of all."""
        while not self._is_over or self._open:
            turn = self._turns[self._at]
            if turn is not None:
                if turn.read(share):
                    return turn
                turn.stream.close()
                self._turns[self._at] = None
                self._open -= 1
                self._advance()
            elif not self._is_over:
                self._fill()
            else:
                self._advance()
        return None

    def _advance(self) -> None:
        self._given = 0
        self._at = (self._at + 1) % self._cycle

    def _fill(self) -> None:
        """Begins with a dataset more, if there is one."""
        element = self._source.next()
        if element is None:
            self._is_over = True
            return
        self._number += 1
        stream = self._begin(element, self._number)
        self._turns[self._at] = _Turn(element, self._number, stream, [])
        self._open += 1

    def save(self) -> State:
        if self._failure is not None:
            raise self._failure
        return {
            "source": self._source.save(),
            "turns": [{} if turn is None else _saved(turn) for turn in self._turns],
            "place": self._at,
            "given": self._given,
            "number": self._number,
            "over": int(self._is_over),
            **self.save_ahead(),
        }

    def restore(self, state: State) -> None:
        self._source.restore(state["source"])
        self._at, self._given = state["place"], state["given"]
        self._number, self._is_over = state["number"], bool(state["over"])
        self.restore_ahead(state)
        for at, saved in enumerate(state["turns"]):
            self._turns[at] = None
            if saved:
                element, number = tuple(saved["element"]), saved["number"]
                stream = self._begin(element, number)
                stream.restore(saved["stream"])
                rows = [taken_up(column) for column in saved["rows"]]
                self._turns[at] = _Turn(element, number, stream, rows)
        self._open = sum(turn is not None for turn in self._turns)

    def close(self) -> None:
        self._source.close()
        for turn in self._turns:
            if turn is not None:
                turn.stream.close()


def _saved(turn: _Turn) -> State:
    rows = [kept(unpacked(column[turn.place :])) for column in turn.rows] if turn.left else []
    return {
        "element": list(turn.element),
        "number": turn.number,
        "stream": turn.stream.save(),
        "rows": rows,
    }


def _are_alike(one: Block, other: Block) -> bool:
    """Whether rows of two blocks have one shape and type each."""
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
