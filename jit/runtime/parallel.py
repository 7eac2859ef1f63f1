# SPDX-License-Identifier: Apache-2.0
"""The one parallel function: walks a table of steps, spreading the tiles of each with prange.

Imports Numba; jit/runtime/driver.py imports it on the first step with more than one tile.
"""

from __future__ import annotations

from pathlib import Path

import numba as nb
from numba import njit, prange

from ..cache import store
from ..codegen import atomics
from ..codegen.clock import SLICE
from ..codegen.intrinsics import intrinsic_of

MOST = 1 << 20  # tiles at once

clock, call_kernel = map(intrinsic_of, (atomics.CLOCK, atomics.CALL_KERNEL))


@njit(parallel=True, nogil=True, error_model="numpy")
def walk(table, place, least):  # type: ignore[no-untyped-def]
    # From a place on; after a slice of time it notes there where it has got to.  `least`: how many
    # tiles go to the threads at once.
    s, first = place[0], place[1]
    place[2] = 0
    seen = clock()  # type: ignore[call-arg]
    end = seen + SLICE
    batch = least
    while s < table.shape[0]:
        kernel, args = table[s, 0], table[s, 1]
        rows, row_tile, columns, column_tile = table[s, 2], table[s, 3], table[s, 4], table[s, 5]
        across = (columns + column_tile - 1) // column_tile
        total = (rows + row_tile - 1) // row_tile * across
        last = min(first + batch, total)
        # A launch of prange takes tens of microseconds.
        if total == 1:
            call_kernel(kernel, args, 0, rows, 0, columns, 0)  # type: ignore[call-arg]
        elif total > 1:
            for t in prange(first, last):
                r, c = t // across * row_tile, t % across * column_tile
                call_kernel(  # type: ignore[call-arg]
                    kernel,
                    args,
                    r,
                    min(r + row_tile, rows),
                    c,
                    min(c + column_tile, columns),
                    nb.get_thread_id(),
                )
        first = last
        if first >= total:
            s += 1
            first = 0
        # More and more tiles at once, as long as they are quick.
        now = clock()  # type: ignore[call-arg]
        batch = min(2 * batch, MOST) if now == seen else least
        seen = now
        if now > end and s < table.shape[0]:
            place[0], place[1], place[2] = s, first, 1
            return


def _is_trusted(folder: Path) -> bool:
    """Whether Numba may keep code in a folder, and take it from there: it reads pickles.

    It is beside this file, where whoever can write can change this file as well, or what
    NUMBA_CACHE_DIR says or the user's cache, where nobody else may.
    """
    if folder == Path(__file__).resolve().parent / "__pycache__":
        return True
    try:
        for place in (folder.parent, folder, *folder.glob("parallel.walk*")):
            store.check_owner(place)
    except (OSError, store.Untrusted):
        return False
    return True


def _cache_folder() -> Path | None:
    """Where Numba would keep the walk, as far as it says; it makes the folder."""
    from numba.core.caching import FunctionCache

    try:
        return Path(FunctionCache(walk.py_func).cache_path).resolve()
    except (OSError, RuntimeError):  # nowhere
        return None


_folder = _cache_folder()
if _folder is not None and _is_trusted(_folder):
    walk.enable_caching()
# One signature, so that no call ever finds arguments to compile for.
walk.compile(nb.void(nb.int64[:, ::1], nb.int64[::1], nb.int64))
walk.disable_compile()
