# SPDX-License-Identifier: Apache-2.0
"""A clock that compiled code may look at after every piece of work.

Walkers of plans stop after a slice of time to let Python see whether they may go on.  They need no
precise clock but one that costs next to nothing: a few milliseconds coarse, a few nanoseconds to
read.  Imports nothing heavy.
"""

from __future__ import annotations

import sys

from ...engine.record_class import record

# A walk comes back to Python after so long (in ns), at the end of the tile at hand.
SLICE = 100_000_000


@record(frozen=True, slots=True)
class Clock:
    """A function of C's library: with a number it fills a timespec, without it gives `unit` ns."""

    function: str
    number: int | None
    unit: int = 1


def current() -> Clock:
    """The cheapest clock of this system that never goes back."""
    if sys.platform == "win32":
        return Clock("GetTickCount64", None, 1_000_000)
    # CLOCK_MONOTONIC_RAW_APPROX, CLOCK_MONOTONIC_COARSE; POSIX has CLOCK_MONOTONIC.
    return Clock("clock_gettime", {"darwin": 5, "linux": 6}.get(sys.platform, 1))


def precise() -> Clock:
    """A clock of this system that tells microseconds apart, where there is one."""
    coarse = current()
    if coarse.number is None:
        return coarse
    # CLOCK_MONOTONIC.
    return Clock(coarse.function, 6 if sys.platform == "darwin" else 1)


def assembly() -> str:
    """LLVM's text of `i64 @numbaflow_now()` and `i64 @numbaflow_precisely()`.

    Both give the nanoseconds since some moment, the first at less cost.
    """
    clock = current()
    number = "" if clock.number is None else "i32, ptr"
    result = "i64" if clock.number is None else "i32"
    declared = f"\ndeclare {result} @{clock.function}({number})\n"
    return declared + _reads("now", clock) + _reads("precisely", precise())


def _reads(name: str, clock: Clock) -> str:
    if clock.number is None:
        return f"""
define internal i64 @numbaflow_{name}() nounwind {{
  %ticks = call i64 @{clock.function}()
  %ns = mul i64 %ticks, {clock.unit}
  ret i64 %ns
}}
"""
    return f"""
define internal i64 @numbaflow_{name}() nounwind {{
  %time = alloca [2 x i64]
  %code = call i32 @{clock.function}(i32 {clock.number}, ptr %time)
  %seconds = load i64, ptr %time
  %rest.at = getelementptr i64, ptr %time, i64 1
  %rest = load i64, ptr %rest.at
  %whole = mul i64 %seconds, 1000000000
  %ns = add i64 %whole, %rest
  ret i64 %ns
}}
"""
