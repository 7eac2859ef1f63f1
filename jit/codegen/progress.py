# SPDX-License-Identifier: Apache-2.0
"""A line on the terminal that says how many kernels of a long compilation are done.

For whoever sits before a first step.  Standard error that is no terminal, a file or a notebook,
gets nothing, and neither does a compilation that is over soon.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import TypeVar

Item = TypeVar("Item")

PATIENCE = 2.0  # seconds that pass without a line


def shown(items: Iterable[Item], total: int) -> Iterator[Item]:
    """The items, with a line that counts them between one and the next."""
    since, line = time.monotonic(), ""
    try:
        for done, item in enumerate(items, 1):
            # Meanwhile others may write on the terminal.
            line = _replaced(line, "")
            yield item
            if done < total and time.monotonic() - since > PATIENCE:
                line = _replaced(line, f"numbaflow: {done} of {total} kernels compiled")
    finally:
        _replaced(line, "")


def _replaced(old: str, new: str) -> str:
    """Writes a line in place of another where it is seen; what stands there now."""
    if old == new:
        return old
    # A terminal that has gone away is no reason not to compile.
    with suppress(OSError, ValueError):
        if sys.stderr is not None and sys.stderr.isatty():
            sys.stderr.write(f"\r{' ' * len(old)}\r{new}")
            sys.stderr.flush()
            return new
    return ""
