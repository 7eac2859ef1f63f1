# SPDX-License-Identifier: Apache-2.0
"""Regular expressions as tables, by which a kernel tells which of many texts match.

For texts of ASCII, and patterns that are nothing but characters, classes, repetitions, choices and
groups: whether such a pattern matches does not depend on what is tried first.  Positions of a
pattern (Thompson's automaton) that are reached by the same text become one state of the table.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Iterator, Sequence
from re import _constants, _parser  # type: ignore[attr-defined]
from typing import Any

import numpy as np

from . import packing

_SYMBOLS = 128
_ALL = frozenset(range(_SYMBOLS))
# Larger ones are not worth their memory.
_MOST_POSITIONS, _MOST_STATES = 400, 200
# The flags that change nothing here but what is looked at.
_FLAGS = re.ASCII | re.UNICODE | re.DOTALL
_NEWLINE = frozenset(b"\n")
_CATEGORIES = {
    _constants.CATEGORY_DIGIT: rb"[0-9]",
    _constants.CATEGORY_SPACE: rb"[ \t\n\r\f\v]",
    _constants.CATEGORY_WORD: rb"[0-9A-Za-z_]",
}
_NOT_CATEGORIES = {
    _constants.CATEGORY_NOT_DIGIT: _constants.CATEGORY_DIGIT,
    _constants.CATEGORY_NOT_SPACE: _constants.CATEGORY_SPACE,
    _constants.CATEGORY_NOT_WORD: _constants.CATEGORY_WORD,
}


class _Unfit(Exception):
    """A pattern that is no table."""


class Automaton:
    """A table of the state behind each state and byte, and whether states are of matches.

    State 0 has no way out, and state 1 is the first.
    """

    def __init__(self, table: np.ndarray, accepts: np.ndarray) -> None:
        """table: uint8 [states, 256]; accepts: uint8 [states]."""
        self.table, self.accepts = table, accepts

    def matches(self, data: np.ndarray, places: np.ndarray) -> np.ndarray:
        """Which texts match, bool [texts]; data: their bytes; places: where they lie in them."""
        found = np.empty(len(places), np.uint8)
        packing.run("match", [data, places, self.table, self.accepts, found], [], len(places))
        return found.view(bool)


class _Positions:
    """The positions of a pattern: what each reads, and where that leads."""

    def __init__(self, flags: int) -> None:
        self._dot = _ALL if flags & re.DOTALL else _ALL - _NEWLINE
        # Of each position what it reads, or nothing, and the positions behind it.
        self.reads: list[frozenset[int] | None] = []
        self.behind: list[list[int]] = []

    def add(self, reads: frozenset[int] | None = None, behind: Sequence[int] = ()) -> int:
        """One more position."""
        if len(self.reads) >= _MOST_POSITIONS:
            raise _Unfit
        self.reads.append(reads)
        self.behind.append(list(behind))
        return len(self.reads) - 1

    def sequence(self, nodes: Iterable[Any], end: int) -> int:
        """The position from which nodes one after the other lead to `end`."""
        for kind, value in reversed(list(nodes)):
            end = self._node(kind, value, end)
        return end

    def _node(self, kind: Any, value: Any, end: int) -> int:
        match kind:
            case _constants.LITERAL:
                return self.add(_ALL & {value}, [end])
            case _constants.NOT_LITERAL:
                return self.add(_ALL - {value}, [end])
            case _constants.ANY:
                return self.add(self._dot, [end])
            case _constants.IN:
                return self.add(_class(value), [end])
            case _constants.BRANCH:
                return self.add(None, [self.sequence(nodes, end) for nodes in value[1]])
            case _constants.SUBPATTERN if not value[1] and not value[2]:
                return self.sequence(value[3], end)
            case _constants.MAX_REPEAT | _constants.MIN_REPEAT:
                least, most, nodes = value
                return self._repeated(least, most, nodes, end)
        raise _Unfit

    def _repeated(self, least: int, most: Any, nodes: Any, end: int) -> int:
        if most == _constants.MAXREPEAT:
            start = self.add(None, [end])
            self.behind[start].append(self.sequence(nodes, start))
        else:
            start = end
            for _ in range(most - least):
                start = self.add(None, [end, self.sequence(nodes, start)])
        for _ in range(least):
            start = self.sequence(nodes, start)
        return start

    def reached(self, positions: Iterable[int]) -> frozenset[int]:
        """All positions that are reached without reading."""
        found, todo = set(), list(positions)
        while todo:
            position = todo.pop()
            if position not in found:
                found.add(position)
                if self.reads[position] is None:
                    todo += self.behind[position]
        return frozenset(found)


def _class(items: Sequence[Any]) -> frozenset[int]:
    """The characters of a class."""
    found: set[int] = set()
    is_negated = False
    for kind, value in items:
        match kind:
            case _constants.NEGATE:
                is_negated = True
            case _constants.LITERAL:
                found.add(value)
            case _constants.RANGE:
                found.update(range(value[0], min(value[1] + 1, _SYMBOLS)))
            case _constants.CATEGORY:
                found |= _category(value)
            case _:
                raise _Unfit
    return _ALL - found if is_negated else _ALL & found


def _category(name: Any) -> frozenset[int]:
    if name in _NOT_CATEGORIES:
        return _ALL - _category(_NOT_CATEGORIES[name])
    if name not in _CATEGORIES:
        raise _Unfit
    pattern = re.compile(_CATEGORIES[name])
    return frozenset(i for i in _ALL if pattern.match(bytes((i,))))


@functools.lru_cache(maxsize=64)
def automaton(pattern: re.Pattern[str], is_search: bool) -> Automaton | None:
    """The table of a pattern, which is to match texts as a whole, or any part of them.

    None for patterns that are none.
    """
    if pattern.flags & ~_FLAGS:
        return None
    try:
        return _made(pattern, is_search)
    except _Unfit:
        return None


def _made(pattern: re.Pattern[str], is_search: bool) -> Automaton:
    nodes = list(_parser.parse(pattern.pattern, pattern.flags))
    is_from_start = nodes[:1] == [(_constants.AT, _constants.AT_BEGINNING)]
    nodes = nodes[is_from_start:]
    is_to_end = nodes[-1:] == [(_constants.AT, _constants.AT_END_STRING)]
    nodes = nodes[: len(nodes) - is_to_end]
    positions = _Positions(pattern.flags)
    end = positions.add(_ALL if is_search and not is_to_end else frozenset())
    positions.behind[end].append(end)
    start = positions.sequence(nodes, end)
    if is_search and not is_from_start:
        before = positions.add(_ALL)
        positions.behind[before] = [before, start]
        start = positions.add(None, [before, start])
    return _table(positions, start, end)


def _table(positions: _Positions, start: int, end: int) -> Automaton:
    """The table whose states are sets of positions."""
    kinds = list(_kinds(positions.reads))
    first = positions.reached([start])
    numbers: dict[frozenset[int], int] = {frozenset(): 0, first: 1}
    rows: list[np.ndarray] = [np.zeros(256, np.uint8)]
    states = [first]
    for state in states:
        row = np.zeros(256, np.uint8)
        for symbol, members in kinds:
            behind = (positions.behind[p] for p in state if symbol in (positions.reads[p] or ()))
            reached = positions.reached(p for each in behind for p in each)
            if reached not in numbers:
                if len(numbers) >= _MOST_STATES:
                    raise _Unfit
                numbers[reached] = len(numbers)
                states.append(reached)
            row[members] = numbers[reached]
        rows.append(row)
    accepts = np.array([end in state for state in numbers], np.uint8)
    return Automaton(np.stack(rows), accepts)


def _kinds(reads: Sequence[frozenset[int] | None]) -> Iterator[tuple[int, list[int]]]:
    """Characters that no position tells apart: one of each kind, and all."""
    every = list({each for each in reads if each is not None})
    kinds: dict[tuple[bool, ...], list[int]] = {}
    for symbol in range(_SYMBOLS):
        kinds.setdefault(tuple(symbol in each for each in every), []).append(symbol)
    for members in kinds.values():
        yield members[0], members
