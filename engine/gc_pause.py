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
