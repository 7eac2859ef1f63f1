# SPDX-License-Identifier: Apache-2.0
"""How much of the time of runs goes into reference kernels, and one warning where it is much.

Each runner has a `Meter`.  What is slow by its nature is not counted: files, codecs, Python
functions of the program's own, what waits for others or carries tensors to them.  Imports nothing
of jit.
"""

from __future__ import annotations

import weakref
from dataclasses import field
from typing import Any

from ...engine.record_class import record

# Runs of so many seconds, of which reference kernels take such a share, are worth a word.
_ENOUGH_SECONDS = 2.0
_MUCH = 0.2
_MOST_NAMED = 3
# A cause of a smaller share is not named: to do something about it would change nothing.
_LITTLE = 0.02

# Causes that a session's user has been told of: op types with reasons.
_TOLD: weakref.WeakKeyDictionary[Any, set[tuple[str, str]]] = weakref.WeakKeyDictionary()


@record(eq=False)
class Meter:
    """Seconds that the runs of one runner took, and those of operations on the host among them."""

    session: Any
    total: float = 0.0
    spent: dict[Any, float] = field(default_factory=dict)
    reasons: dict[Any, str] = field(default_factory=dict)
    # Something was compiled meanwhile: the present run says nothing of those to come.
    is_disturbed: bool = False
    _next: float = field(default_factory=lambda: _ENOUGH_SECONDS)

    @property
    def share(self) -> float:
        """What part of the time went into reference kernels."""
        return sum(self.spent.values()) / self.total if self.total else 0.0

    def add(self, op: Any, reason: str, seconds: float) -> None:
        """Notes that an operation (or a region that it begins) ran by reference kernels."""
        if op.definition.is_work:
            self.spent[op] = self.spent.get(op, 0.0) + seconds
            self.reasons[op] = reason

    def ran(self, seconds: float) -> None:
        """Notes a run with such operations in it."""
        if self.is_disturbed:
            self.is_disturbed = False
            self.spent.clear()
            self.total = 0.0
            return
        self.total += seconds
        if self.total >= self._next:
            self._next = 2 * self.total
            if self.share > _MUCH:
                self._tell()

    def _tell(self) -> None:
        from ...engine.interface.log import get_logger

        told = _TOLD.setdefault(self.session, set())
        slowest = sorted(self.spent, key=lambda op: -self.spent[op])
        causes: dict[tuple[str, str], Any] = {}
        for op in slowest:
            causes.setdefault((op.type, self.reasons[op]), op)
        new = {
            cause: op
            for cause, op in causes.items()
            if cause not in told and self._of(cause) >= _LITTLE
        }
        if not new:
            return
        told.update(new)
        get_logger().warning(
            "%.0f %% of the time of a run (%.1f s so far) goes into ops that are not compiled: %s. "
            "session.explain(fetches, feed_dict) shows what is; an op that has a compiled form, or "
            "one outside of the step, would be quicker.",
            100 * self.share,
            self.total,
            "; ".join(map(self._cause, list(new.values())[:_MOST_NAMED])),
        )

    def _of(self, cause: tuple[str, str]) -> float:
        """What part of the time a cause takes, all of its operations together."""
        alike = (s for op, s in self.spent.items() if (op.type, self.reasons[op]) == cause)
        return sum(alike) / self.total

    def _cause(self, op: Any) -> str:
        filename, line, _ = op._frame
        reason = self.reasons[op]
        share = 100 * self._of((op.type, reason))
        return f"{op.type} '{op.name}' ({filename}:{line}; {share:.0f} %), {reason}"
