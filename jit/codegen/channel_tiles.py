# SPDX-License-Identifier: Apache-2.0
"""What depthwise convolutions do with windows side by side, whose channels lie beside each other.

A list names the places of a window and, for each, where its weights are.  Several windows and
several vectors of channels stay in registers while the list is walked, and so do sums of several
places while windows are.  See jit/codegen/window_tiles.py, whose channels these are.
Imports llvmlite alone.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from llvmlite import ir

from .numbers import word
from .register_tiles import tile_dtype
from .window_tiles import LIST, Channels, Vectors, all_channels, steps
from .words import Kind, Unfit, Word

_WORD = ir.IntType(64)
# Sums that are added to at once, so that none waits for the addition before it.
_WINDOWS, _PLACES = 4, 3
_VECTORS = (2, 1)
_VECTORS_ALONE = (4, 1)  # of one window or place


def _word(name: str, emit: Callable[..., None]) -> Word:
    """Behind lanes, a literal, come four addresses or lists, the length of the lists, what else is
    an address, and the grid: channels, windows, and how far their two sides lie apart.
    """

    def result(*kinds: Kind) -> None:
        if list(kinds[1:7]).count(LIST) != 2:
            raise Unfit("windows: the offsets of places and weights are int64")
        tile_dtype(kinds[1:7], LIST)

    def code(b: ir.IRBuilder, kinds: tuple[Kind, ...], values: tuple[Any, ...]) -> None:
        words = [word(b, kind, v) for kind, v in zip(kinds[1:], values[1:], strict=True)]
        emit(b, tile_dtype(kinds[1:7], LIST), values[0].constant, *words)

    return Word(name, 11, result, code)


def _in_groups(
    b: ir.IRBuilder, most: int, end: Any, body: Callable[[int, Any, tuple[int, ...]], None]
) -> None:
    """body(how many, the first of them, vectors at once) for groups, then for what is left."""
    start = _WORD(0)
    for size, vectors in ((most, _VECTORS), (1, _VECTORS_ALONE)):

        def group(first: Any, size: int = size, vectors: tuple[int, ...] = vectors) -> None:
            body(size, first, vectors)

        start = steps(b, start, size, end, group)


def _apart(b: ir.IRBuilder, first: Any, count: int, step: Any) -> list[Any]:
    """The offsets of so many windows from one on."""
    begin = b.mul(first, step)
    return [b.add(begin, b.mul(_WORD(n), step)) for n in range(count)]


def _window_dot(
    b: ir.IRBuilder,
    dtype: str,
    lanes: int,
    x: Any,
    offsets: Any,
    w: Any,
    numbers: Any,
    count: Any,
    out: Any,
    channels: Any,
    windows: Any,
    x_step: Any,
    y_step: Any,
) -> None:
    def group(size: int, first: Any, vectors: tuple[int, ...]) -> None:
        reads, writes = (_apart(b, first, size, step) for step in (x_step, y_step))

        def some(t: Channels) -> None:
            def step(k: Any, sums: Vectors) -> Vectors:
                weights, place = t.load(w, t.item(numbers, k)), t.item(offsets, k)
                made = []
                for n, read in enumerate(reads):
                    own = sums[n * t.vectors : (n + 1) * t.vectors]
                    made += t.each(t.fma, t.load(x, b.add(place, read)), weights, own)
                return made

            sums = t.walk(count, t.fill(0.0) * size, step)
            for n, write in enumerate(writes):
                t.store(sums[n * t.vectors : (n + 1) * t.vectors], out, write)

        all_channels(b, dtype, lanes, channels, "read", some, vectors)

    _in_groups(b, _WINDOWS, windows, group)


def _window_taps(
    b: ir.IRBuilder,
    dtype: str,
    lanes: int,
    x: Any,
    offsets: Any,
    dy: Any,
    numbers: Any,
    count: Any,
    sums: Any,
    channels: Any,
    windows: Any,
    x_step: Any,
    y_step: Any,
) -> None:
    def group(size: int, first: Any, vectors: tuple[int, ...]) -> None:
        def some(t: Channels) -> None:
            items = [b.add(first, _WORD(k)) for k in range(size)]
            places = [t.item(offsets, k) for k in items]
            targets = [t.item(numbers, k) for k in items]

            def step(n: Any, old: Vectors) -> Vectors:
                scores, read = t.load(dy, b.mul(n, y_step)), b.mul(n, x_step)
                made = []
                for k, place in enumerate(places):
                    own = old[k * t.vectors : (k + 1) * t.vectors]
                    made += t.each(t.fma, t.load(x, b.add(place, read)), scores, own)
                return made

            made = t.walk(windows, t.fill(0.0) * size, step)
            for k, target in enumerate(targets):
                own = made[k * t.vectors : (k + 1) * t.vectors]
                t.store(t.each(b.fadd, t.load(sums, target), own), sums, target)

        all_channels(b, dtype, lanes, channels, "added", some, vectors)

    _in_groups(b, _PLACES, count, group)


WORDS = (_word("window_dot", _window_dot), _word("window_taps", _window_taps))
