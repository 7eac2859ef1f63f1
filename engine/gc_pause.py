# SPDX-License-Identifier: Apache-2.0
"""Python's collector of cyclic garbage, held up where many lasting objects are made at once.

Making objects starts it again and again, and it looks at all that there are, old and new: that
takes up to half of the time of reading a graph, of planning a run or of compiling.
Imports nothing from the package.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

# A program that has so many objects has begun its work; libraries make some ten thousands each.
_EARLY = 200_000


@contextmanager
def held_up() -> Iterator[None]:
    """Within it no garbage is collected, unless another thread asks."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


@contextmanager
def lasting() -> Iterator[None]:
    """As `held_up`; and what is made within it is never looked at again, here or at the exit.

    That saves a short program a tenth of its time.  Where much was there before, of which some may
    be garbage, it is looked at as ever.
    """
    with held_up():
        is_early = len(gc.get_objects()) < _EARLY
        yield
        if is_early:
            gc.freeze()
