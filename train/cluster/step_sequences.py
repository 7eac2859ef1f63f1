# SPDX-License-Identifier: Apache-2.0
"""Numbers of steps that members of collectives have in common, as TensorFlow's tasks count them.

Graphs with the same collectives have the same key.  The leader of groups draws the first number of
a key; every run that went well counts one on, on every member by itself.
"""

from __future__ import annotations

import secrets
import threading
from collections.abc import Iterable

# Steps have so many bits.
_BITS = 57
_WORD = (1 << 64) - 1
# With this and the mixing below keys are those of TensorFlow's own masters.
_SEED, _MIX = 0x8774AA605C729C72, 0x9E3779B97F4A7800


def graph_key(instances: Iterable[int]) -> int:
    """The key of a graph whose collectives have these numbers; 0 where there are none."""
    numbers = sorted(set(instances))
    found = _SEED if numbers else 0
    for number in numbers:
        mixed = found + _MIX + (number << 10) + ((number & _WORD) >> 4)
        found = (number ^ mixed) & _WORD
    # (The fields that carry it are signed.)
    return found - ((found >> 63) << 64)


class StepSequences:
    """The next step of each key, as far as this task knows it; safe for several threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._next: dict[int, int] = {}

    def find(self, key: int) -> int | None:
        """The next step; None where the leader is to be asked."""
        return self._next.get(key)

    def begin(self, key: int) -> int:
        """The next step for who asks the leader, which is this task."""
        with self._lock:
            return self._next.setdefault(key, secrets.randbits(_BITS))

    def note(self, key: int, step: int) -> int:
        """Takes the next step from the leader."""
        with self._lock:
            self._next[key] = step
        return step

    def retire(self, key: int, step: int) -> None:
        """Counts on from a step that went well."""
        with self._lock:
            if self._next.get(key) == step:
                self._next[key] = (step + 1) % (1 << _BITS)

    def forget(self, key: int) -> None:
        """Has the leader be asked again."""
        with self._lock:
            self._next.pop(key, None)
