# SPDX-License-Identifier: Apache-2.0
"""What is known of a value of a drawn program: its type, its sizes, and where its numbers lie.

Numbers are known by an interval, so that logarithms and quotients get what they are smooth at, and
by the binary places that they need: of numbers that are exact, comparisons and roundings give the
same whoever computes them.
"""

from __future__ import annotations

from dataclasses import dataclass

# No number of a program is larger, nor are integers.
LARGEST = 1e4


@dataclass(frozen=True)
class Size:
    """A size of a tensor: so many times n, and so many more; and what n is in the runs."""

    times: int
    more: int
    runs: tuple[int, ...] = ()

    def at(self, n: int) -> int:
        """The size where n is known."""
        return self.times * n + self.more

    @property
    def fixed(self) -> int | None:
        """The size where it does not depend on n."""
        return None if self.times else self.more

    @property
    def most(self) -> int:
        """The largest that it gets."""
        return max(map(self.at, self.runs or (1,)))

    @property
    def least(self) -> int:
        """The smallest that it gets."""
        return min(map(self.at, self.runs or (1,)))

    def plus(self, other: Size, sign: int = 1) -> Size:
        """The sum of two, or the difference."""
        times, more = self.times + sign * other.times, self.more + sign * other.more
        return Size(times, more, (self.runs or other.runs) if times else ())

    def by(self, other: Size) -> Size | None:
        """The product of two, where that is a size again."""
        if self.times and other.times:
            return None
        scale, size = (self.more, other) if not self.times else (other.more, self)
        return Size(scale * size.times, scale * size.more, size.runs if scale * size.times else ())


ONE = Size(0, 1)
Sizes = tuple[Size, ...]


@dataclass(frozen=True)
class Value:
    """A name of the program and what it stands for.

    `bits` are the binary places of numbers that are exact, None for those that are rounded.
    """

    name: str
    dtype: str
    sizes: Sizes
    low: float = 0.0
    high: float = 1.0
    bits: int | None = 0

    @property
    def is_float(self) -> bool:
        """Whether it has gradients."""
        return self.dtype.startswith("float")

    @property
    def is_int(self) -> bool:
        """Whether it counts."""
        return self.dtype.startswith("int")

    @property
    def is_exact(self) -> bool:
        """Whether its numbers need no rounding in single precision."""
        bits = self.bits
        return bits is not None and self.largest * 2.0**bits < 2.0**23

    @property
    def largest(self) -> float:
        """The largest of its numbers, whatever the sign."""
        return max(abs(self.low), abs(self.high))

    @property
    def ndim(self) -> int:
        """Its rank."""
        return len(self.sizes)

    def shape(self, n: int) -> tuple[int, ...]:
        """Its shape where n is known."""
        return tuple(size.at(n) for size in self.sizes)


def broadcast(first: Sizes, second: Sizes) -> Sizes | None:
    """The sizes of a sum of two; None where there is none for every n."""
    found = []
    longest = max(len(first), len(second))
    pad = lambda sizes: (ONE,) * (longest - len(sizes)) + tuple(sizes)  # noqa: E731
    for one, other in zip(pad(first), pad(second)):
        if one != other and ONE not in (one, other):
            return None
        found.append(other if one == ONE else one)
    return tuple(found)


def count(sizes: Sizes) -> Size | None:
    """How many elements there are; None where that is no multiple of n."""
    total: Size | None = ONE
    for size in sizes:
        total = total.by(size) if total is not None else None
    return total
