# SPDX-License-Identifier: Apache-2.0
"""A bar that says how far something is."""

from __future__ import annotations

import os
import sys
import time
from typing import Any

import numpy as np


class Progbar:
    """Prints how far something is, and mean values.

    Args:
        target: the number at the end; None if it is not known.
        width: of the bar.
        verbose: 0 for nothing, 1 for a bar, 2 for a line at the end.
        interval: the least time between two prints, in seconds.
        stateful_metrics: names of values that are not to be averaged.
        unit_name: what is counted.
    """

    def __init__(
        self,
        target: int | None,
        width: int = 30,
        verbose: int = 1,
        interval: float = 0.05,
        stateful_metrics: Any = None,
        unit_name: str = "step",
    ) -> None:
        self.target, self.width, self.verbose, self.interval = target, width, verbose, interval
        self.unit_name = unit_name
        self.stateful_metrics = set(stateful_metrics or [])
        # (As TensorFlow: in files, too, where Python's module `posix` is there.)
        self._rewrites = sys.stdout.isatty() or os.name == "posix" or "PYCHARM_HOSTED" in os.environ
        self._values: dict[str, list[Any]] = {}
        self._seen, self._printed, self._last = 0, 0, 0.0
        self._start = time.time()

    def update(self, current: int, values: Any = None) -> None:
        """Moves the bar.

        Args:
            current: how far it is.
            values: (name, value) pairs.
        """
        for name, value in values or []:
            if name in self.stateful_metrics:
                self._values[name] = [value, 1]
            else:
                total, count = self._values.get(name, (0.0, 0))
                step = current - self._seen
                self._values[name] = [total + value * step, count + step]
        self._seen = current
        is_over = self.target is not None and current >= self.target
        now = time.time()
        if self.verbose == 1 and (is_over or now - self._last >= self.interval):
            self._print(current, now, is_over)
            self._last = now
        elif self.verbose == 2 and is_over:
            digits = int(np.log10(self.target or 1)) + 1
            took = f" - {now - self._start:.0f}s"
            sys.stdout.write(f"{current:{digits}d}/{self.target}{took}{self._shown()}\n")
            sys.stdout.flush()

    def add(self, n: int, values: Any = None) -> None:
        """Moves the bar by a number."""
        self.update(self._seen + n, values)

    def _shown(self) -> str:
        text = ""
        for name, (total, count) in self._values.items():
            mean = float(np.mean(total / max(1, count)))
            text += f" - {name}: " + (f"{mean:.4f}" if abs(mean) > 1e-3 else f"{mean:.4e}")
        return text

    def _print(self, current: int, now: float, is_over: bool) -> None:
        if self.target is None:
            bar = f"{current:7d}/Unknown"
        else:
            digits = int(np.log10(max(self.target, 1))) + 1
            filled = int(self.width * current / self.target)
            arrow = "=" * (filled - 1) + ("=" if is_over else ">") if filled else ""
            bar = f"{current:{digits}d}/{self.target} [{arrow}{'.' * (self.width - filled)}]"
        line = bar + self._time(current, now, is_over) + self._shown()
        head = "\b" * self._printed + "\r" if self._rewrites else "\n"
        padding = " " * max(0, self._printed - len(line))
        sys.stdout.write(head + line + padding + ("\n" if is_over else ""))
        sys.stdout.flush()
        self._printed = len(line)

    def _time(self, current: int, now: float, is_over: bool) -> str:
        each = (now - self._start) / current if current else 0.0
        if self.target is not None and not is_over:
            left = int(each * (self.target - current))
            if left > 3600:
                return f" - ETA: {left // 3600}:{left % 3600 // 60:02d}:{left % 60:02d}"
            if left > 60:
                return f" - ETA: {left // 60}:{left % 60:02d}"
            return f" - ETA: {left}s"
        took = f" - {now - self._start:.0f}s"
        for unit, size in (("s", 1.0), ("ms", 1e-3)):
            if each >= size or (unit == "s" and not each):
                return f"{took} {each / size:.0f}{unit}/{self.unit_name}"
        return f"{took} {each * 1e6:.0f}us/{self.unit_name}"
