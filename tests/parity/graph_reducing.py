# SPDX-License-Identifier: Apache-2.0
"""Making a program that fails shorter, as long as it fails in the same way."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator
from dataclasses import replace

from .graph_programs import GraphProgram

Failure = Callable[[GraphProgram], str]


def reduced(program: GraphProgram, failure: Failure, seconds: float = 60.0) -> GraphProgram:
    """The shortest program found in the time that still fails.

    Args:
        program: one that fails.
        failure: what is wrong with a program, "" for nothing; programs that cannot be built raise.
        seconds: how long to look.
    """
    ends = time.monotonic() + seconds
    is_shorter = True
    while is_shorter:
        is_shorter = False
        for candidate in _shorter(program):
            if time.monotonic() > ends:
                return program
            if _fails(candidate, failure):
                program, is_shorter = candidate, True
                break
    return program


def _fails(program: GraphProgram, failure: Failure) -> bool:
    try:
        return bool(failure(program))
    except Exception:  # it cannot be built any more
        return False


def _shorter(program: GraphProgram) -> Iterator[GraphProgram]:
    """The same without some lines, something that is fetched, or some runs."""
    lines = program.source.split("\n")
    for size in (16, 8, 4, 2, 1):
        for end in range(len(lines), 0, -size):
            yield _with_lines(program, lines[: max(end - size, 0)] + lines[end:])
    for number, line in enumerate(lines):
        found = re.fullmatch(r"(\s*(?:fetches|loss) = .*?\[)(.*)(\].*)", line)
        for items in _without_one(_split(found[2])) if found else ():
            changed = f"{found[1]}{', '.join(items)}{found[3]}" if found else ""
            yield _with_lines(program, [*lines[:number], changed, *lines[number + 1 :]])
    if len(program.runs) > 1:
        for run in program.runs:
            yield replace(program, runs=(run,))


def _with_lines(program: GraphProgram, lines: list[str]) -> GraphProgram:
    """A program of other lines; what these have no place for is not fed."""
    source = "\n".join(lines)
    runs = tuple(
        {name: x for name, x in run.items() if f"{name} = tf.placeholder" in source}
        for run in program.runs
    )
    return replace(program, source=source, runs=runs)


def _without_one(items: list[str]) -> Iterator[list[str]]:
    if len(items) > 1:
        for k in range(len(items)):
            yield items[:k] + items[k + 1 :]


def _split(text: str) -> list[str]:
    """Text at the commas that stand in no brackets."""
    parts, depth = [""], 0
    for letter in text:
        depth += (letter in "([") - (letter in ")]")
        if letter == "," and not depth:
            parts.append("")
        else:
            parts[-1] += letter
    return [part.strip() for part in parts]
