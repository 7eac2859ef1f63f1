# SPDX-License-Identifier: Apache-2.0
"""Maps over many elements, of which a thread takes several at once.

What a thread reads for one element it has to wait for, and it reads for the next one when it has
finished this one: nothing moves up over a division, which branches.  So the lines of a few elements
are written side by side: all that is read first is read for all of them.  A block's threads take
neighbouring elements, and those of one thread lie a block apart, a number known when the kernel is
compiled: one address does for all of them.  Imports no Numba.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

from ..kernel.ir import Kernel

LANES = 256  # of blocks that do so
EACH = 4  # elements of a thread at a time
MANY = 1 << 20  # elements from which on there are enough for all threads of a card
_TILE = LANES * EACH
_MOST_LINES = 40  # of one element, beyond which registers run short
_ASSIGNED = re.compile(r"^(\w+) = ")


def is_wide(kernel: Kernel, body: Sequence[str]) -> bool:
    """Whether a map may be over so many elements, and is simple enough."""
    sizes = [axis.size for axis in kernel.axes]
    few = None not in sizes and math.prod(size or 0 for size in sizes) < MANY
    short = sizes[-1] is not None and sizes[-1] < _TILE
    loops = any(text.endswith(":") for text in body)
    return not (few or short or loops) and len(body) <= _MOST_LINES


def wide(index: str, body: Sequence[str]) -> list[str]:
    """The lines that do what the tiles of a row hold, and tell how far they came (`done`)."""
    inside = [f"{index}c{n} = first + lane() + {n * LANES}" for n in range(EACH)]
    names = [index, *(m[1] for text in body if (m := _ASSIGNED.match(text)))]
    pattern = re.compile(rf"\b({'|'.join(names)})\b")
    for text in body:
        inside += [pattern.sub(rf"\1c{n}", text) for n in range(EACH)]
    tiles = f"range(block_x() * {_TILE}, columns - {_TILE - 1}, blocks_x() * {_TILE})"
    return [
        "done = 0",
        f"if lanes() == {LANES}:",
        f"    for first in {tiles}:",
        *("        " + text for text in inside),
        f"    done = columns - bitwise_and(columns, {_TILE - 1})",
    ]
