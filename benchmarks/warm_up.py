# SPDX-License-Identifier: Apache-2.0
"""Steps before those that are timed: until threads have compiled what begins as bytecode."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable

_MOST = 10.0  # seconds
_IN_TURN = 5  # steps behind each other without any


def settle(step: Callable[[], object]) -> None:
    """Takes steps until no bytecode is run any more; at least a few."""
    end, quiet, before = time.perf_counter() + _MOST, 0, _bytecode()
    while quiet < _IN_TURN and time.perf_counter() < end:
        step()
        now = _bytecode()
        quiet, before = quiet + 1 if now == before else 0, now


def _bytecode() -> float:
    """The seconds for which this package has run bytecode."""
    if "numbaflow" not in sys.modules:
        return 0.0
    from numbaflow.jit.runtime import interpreted

    return interpreted.seconds()
