# SPDX-License-Identifier: Apache-2.0
"""Who reads a resource variable keeps what it read, whatever other runs assign meanwhile.

TensorFlow counts who has a variable's buffer and writes to a new one where that is not the
variable alone.  Here a run says which variables it reads as a whole (`Reader`), and who changes
one of them meanwhile (`Changing`) gives it other memory first: copy on write.  Nobody waits for
readers, who may take long or wait themselves; a reader that begins waits for changes under way,
which do neither.  Variables that references stand for are changed in place, as in TensorFlow, and
so are all variables while nothing else runs.

The sets are changed by single steps of the interpreter, and each side says what it does before it
looks at what the others do.  So of a reader and a change that begin together one sees the other.
"""

from __future__ import annotations

import threading
from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from .state import VariableStorage

_readers: set[Reader] = set()
_changes: list[Changing] = []
_one_is_over = threading.Condition()
_waiting: list[Reader] = []


class Moves:
    """How often a variable was given other memory because somebody read it."""

    count = 0


class Reader:
    """Something that reads variables for a while, each of them as it was when it looked.

    kept: of those that have been given other memory since, what they had before.
    moved: `Moves.count` when it looked; negative if it never has.
    """

    __slots__ = ("cells", "kept", "moved")

    def __init__(self, cells: Iterable[VariableStorage]) -> None:
        self.cells = frozenset(cells)
        self.kept: dict[VariableStorage, np.ndarray] = {}
        self.moved = -1

    def look(self, cells: Collection[VariableStorage]) -> None:
        """From here on `array_of` gives arrays that nobody writes to, until `end`.

        cells: those that it has not read yet; what they hold by now is what it will read.
        """
        for cell in cells if self.kept else ():
            self.kept.pop(cell, None)
        _readers.add(self)
        # (In this order: a change that is not among these will see the reader.)
        self.moved = Moves.count
        if _changes:
            self._wait()

    def array_of(self, cell: VariableStorage) -> np.ndarray:
        """What it reads of a variable."""
        array = cell.read()
        # (In this order: who moved it before it was looked at has said so before.)
        return self.kept.get(cell, array)

    def end(self) -> None:
        """It reads no more."""
        _readers.discard(self)

    def _wait(self) -> None:
        """Waits for changes under way, but for none that begins now, so that it comes to an end."""
        begun = [(change, change.turn) for change in tuple(_changes) if self._conflicts(change)]
        if begun:
            with _one_is_over:
                _waiting.append(self)
                try:
                    _one_is_over.wait_for(lambda: all(c.turn != turn for c, turn in begun))
                finally:
                    _waiting.remove(self)

    def _conflicts(self, change: Changing) -> bool:
        return not self.cells.isdisjoint(change.resources or ())


class Holding:
    """While it is open in a thread, what operations read of variables there stays what it is."""

    def __enter__(self) -> Holding:
        self._readers: list[Reader] = []
        self._outer, _local.holding = current(), self
        return self

    def __exit__(self, *error: object) -> None:
        _local.holding = self._outer
        for reader in self._readers:
            reader.end()

    def array_of(self, cell: VariableStorage) -> np.ndarray:
        """What a variable holds, not a copy."""
        reader = Reader((cell,))
        self._readers.append(reader)
        reader.look(())
        return reader.array_of(cell)


_local = threading.local()


def current() -> Holding | None:
    """What is open in this thread."""
    return getattr(_local, "holding", None)


class Changing:
    """Holds variables' locks; those that somebody else reads have memory of their own from here on.

    What happens meanwhile must not wait for anybody.  May be entered more than once, not at a time.
    """

    __slots__ = ("by", "cells", "held", "is_known", "resources", "turn")

    def __init__(self, *cells: VariableStorage, by: Reader | None = None) -> None:
        """by: who changes them may read them, too."""
        # In one order, whoever else does the same.
        self.cells = sorted(cells, key=id) if len(cells) > 1 else cells
        self.by, self.held, self.turn, self.is_known = by, 0, 0, False
        self.resources: frozenset[VariableStorage] | None = None

    def __enter__(self) -> None:
        try:
            for cell in self.cells:
                cell.lock.acquire()
                self.held += 1
            if self.resources is None:
                self.resources = frozenset([cell for cell in self.cells if cell.is_resource])
            if self.resources:
                _changes.append(self)
                self.is_known = True
                if _readers:
                    self._move_apart(self.resources)
        except BaseException:
            self.__exit__()
            raise

    def __exit__(self, *error: object) -> None:
        if self.is_known:
            self.is_known = False
            _changes.remove(self)
            self.turn += 1
            # (In this order: who begins to wait looks whether it is over.)
            if _waiting:
                with _one_is_over:
                    _one_is_over.notify_all()
        while self.held:
            self.held -= 1
            self.cells[self.held].lock.release()

    def _move_apart(self, resources: frozenset[VariableStorage]) -> None:
        moved: set[VariableStorage] = set()
        for reader in tuple(_readers):
            if reader is not self.by:
                for cell in (reader.cells & resources) - reader.kept.keys():
                    if cell.value is not None:
                        reader.kept[cell] = cell.value
                        moved.add(cell)
        for cell in moved:
            cell.move()
            Moves.count += 1
