# SPDX-License-Identifier: Apache-2.0
"""Patterns of sizes: what inputs of several sizes have in common, so that one program does for all.

Imports the types of traced segments.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..kernel.size_scope import may_be_fed
from ..kernel.sizes import SMALLEST_SYMBOL
from ..trace.segment import FeedType


def outlined(
    arrays: Sequence[np.ndarray], static: Sequence[Sequence[int | None] | None], valued: list[int]
) -> tuple[tuple[object, ...], tuple[int, ...]]:
    """What tells the pattern of inputs, and the values of its symbols, as `symbolic_feeds` finds.

    The outline has the number of a symbol, from zero on, and less than that for what is none.
    """
    symbols: dict[int, int] = {}
    outline: list[object] = []
    for number, (array, known) in enumerate(zip(arrays, static, strict=True)):
        shape = array.shape
        outline.append(len(shape))
        if number in valued:
            outline += [~size for size in shape]
            continue
        for axis, size in enumerate(shape):
            is_fixed = known is not None and axis < len(known) and known[axis] is not None
            is_symbol = size >= SMALLEST_SYMBOL and not is_fixed
            outline.append(symbols.setdefault(size, len(symbols)) if is_symbol else ~size)
    for number in valued:
        items = arrays[number].ravel().tolist()
        outline += (number, len(items))
        if not may_be_fed(items):
            outline.append(None)
            continue
        outline += [
            -2 - item if item < SMALLEST_SYMBOL else symbols.setdefault(item, len(symbols))
            for item in items
        ]
    return tuple(outline), tuple(symbols)


def matched(
    general: tuple[Any, ...], pattern: tuple[Any, ...], values: Mapping[str, int]
) -> dict[str, int] | None:
    """The values of one pattern's symbols for another's; None where it does not take them."""
    found: dict[str, int] = {}
    for (shape, known), (given, contents) in zip(general, pattern, strict=True):
        pairs = [*zip(shape, given), *zip(known or (), contents or ())]
        if len(shape) != len(given) or len(known or ()) != len(contents or ()):
            return None
        for one, other in pairs:
            if not one.startswith("s"):
                if one != other:
                    return None
            elif other not in values or found.setdefault(one, values[other]) != values[other]:
                return None
    return found


def pattern_of(feed: FeedType) -> tuple[object, ...]:
    """What tells an input's pattern from another's."""
    known = None if feed.known is None else tuple(str(item) for item in feed.known.flat)
    return tuple(map(str, feed.shape)), known
