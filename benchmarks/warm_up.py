# SPDX-License-Identifier: Apache-2.0
"""Steps before those that are timed: until threads have compiled what begins as bytecode."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable

_MOST = 10.0  # seconds
_IN_TURN = 5  # steps behind each other with nothing left to compile


def settle(step: Callable[[], object]) -> None:
    """Takes steps until no later one is served better; at least a few."""
    end, quiet = time.perf_counter() + _MOST, 0
    while quiet < _IN_TURN and time.perf_counter() < end:
        step()
        quiet = quiet + 1 if _is_idle() else 0


def _is_idle() -> bool:
    """Is nothing of this package's being compiled?"""
    if "numbaflow" not in sys.modules:
        return True
    from numbaflow.jit.codegen import compile_workers

    return compile_workers.here().is_idle
