# SPDX-License-Identifier: Apache-2.0
"""Writing a program line by line: what its names stand for, and which of them were read."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from random import Random
from typing import Any

from .graph_values import Sizes, Value


class Writer:
    """The lines of a program so far, and the values that the next line may use.

    `random` decides; Hypothesis has one that shrinks.
    """

    def __init__(self, random: Random) -> None:
        self.random = random
        self.lines: list[str] = []
        self.values: list[Value] = []
        self.unused: list[str] = []
        self.indent = 0
        self.count = 0
        # What happened last: later reads and writes of variables wait for it.
        self.effect: str | None = None
        self.variables: list[Value] = []
        self.placeholders: list[Value] = []
        self.marks: set[str] = set()
        # What "n" is, one run after the other.
        self.runs: tuple[int, ...] = ()

    def line(self, text: str) -> None:
        """One more line."""
        self.lines.append("    " * self.indent + text)

    def fresh(self, letter: str = "y") -> str:
        """A name that nothing has."""
        self.count += 1
        return f"{letter}{self.count}"

    def add(
        self,
        text: str,
        dtype: str,
        sizes: Sizes,
        low: float = 0.0,
        high: float = 1.0,
        bits: int | None = None,
    ) -> Value:
        """A line that gives a value, which later ones may use."""
        value = Value(self.fresh(), dtype, tuple(sizes), low, high, bits)
        self.line(f"{value.name} = {text}")
        self.values.append(value)
        self.unused.append(value.name)
        return value

    def like(self, text: str, value: Value, **changes: Any) -> Value:
        """A line that gives something like a value."""
        known: dict[str, Any] = {
            "dtype": value.dtype,
            "sizes": value.sizes,
            "low": value.low,
            "high": value.high,
            "bits": value.bits,
        }
        return self.add(text, **{**known, **changes})

    def pick(self, fits: Callable[[Value], bool] = lambda value: True) -> Value | None:
        """One of the values that fit, mostly a new one."""
        found = [value for value in self.values if fits(value)]
        if not found:
            return None
        back = min(int(self.random.expovariate(0.5)), len(found) - 1)
        chosen = found[-1 - back]
        if chosen.name in self.unused:
            self.unused.remove(chosen.name)
        return chosen

    def chance(self, share: float) -> bool:
        """Whether to do something."""
        return self.random.random() < share

    @contextmanager
    def block(self, head: str) -> Iterator[None]:
        """Lines within a function or `with`; what they name is forgotten after it."""
        self.line(head)
        values, unused = list(self.values), list(self.unused)
        self.indent += 1
        try:
            yield
        finally:
            self.indent -= 1
            self.values = values
            self.unused = [name for name in unused if name in self.unused]
