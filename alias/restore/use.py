# SPDX-License-Identifier: Apache-2.0
"""Notes what of the table a program used, and on which of its lines: `numbaflow run --report`."""

from __future__ import annotations

import sys
from collections import Counter
from types import FrameType

# The folder of the whole package.
_PACKAGE = __file__.rsplit("/", 3)[0]

# (what, since) -> how often it was asked for, by line of the program.
USES: dict[tuple[str, str], Counter[str]] = {}


class _Report:
    """Whether uses are counted one by one; otherwise a name is restored once and for all."""

    wanted = False


REPORT = _Report()


def _line_of(frame: FrameType | None) -> str:
    """The nearest line that is neither of this package nor of the import system."""
    while frame is not None:
        file = frame.f_code.co_filename
        if not file.startswith((_PACKAGE + "/", "<frozen importlib")):
            return f"{file}:{frame.f_lineno}"
        frame = frame.f_back
    return "?"


def note(what: str, since: str) -> None:
    """Notes that something was restored, for the line that asks for it."""
    if REPORT.wanted:
        USES.setdefault((what, since), Counter())[_line_of(sys._getframe(1))] += 1


def report() -> str:
    """What was restored in this run, a line for each with the lines of the program."""
    if not USES:
        return "numbaflow: nothing was restored for this program\n"
    lines = ["numbaflow: restored for this program:"]
    for (what, since), places in sorted(USES.items()):
        shown = [f"{place} ({n} times)" if n > 1 else place for place, n in places.most_common(4)]
        rest = f" and {len(places) - 4} more" if len(places) > 4 else ""
        reason = since if since.startswith("a ") else f"gone since {since}"
        lines.append(f"  {what} ({reason}): {', '.join(shown)}{rest}")
    return "\n".join(lines) + "\n"
