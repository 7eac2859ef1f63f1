# SPDX-License-Identifier: Apache-2.0
"""Sums over processes of this machine, here and by Ray: `python -m benchmarks.collectives`.

Ray's are those of `ray.util.collective` with gloo, of the Python that NUMBAFLOW_RAY_PYTHON names,
which has ray and torch.  The sides take turns; with --page the table goes into that page, too.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from . import report
from .cluster import answered, free_addresses
from .processes import Worker, say
from .report import OURS

_MODULE = "benchmarks.collective_worker"
# Bytes of each member, and how many sums are a turn.
SIZES = {"1 KB": (1 << 10, 200), "1 MB": (1 << 20, 50), "100 MB": (100 << 20, 3)}


class Side:
    """The processes of one side: each asked is a member, or all of them."""

    def __init__(self, peer: str, python: str, scratch: str, count: int) -> None:
        addresses = free_addresses(count)
        started = count if peer == OURS else 1
        self.processes = [Worker(peer, python, 1, scratch, _MODULE) for _ in range(started)]
        if peer == OURS:
            for i, process in enumerate(self.processes):
                answered(process.ask("listen", cluster={"worker": addresses}, task=i))
        else:
            answered(self.processes[0].ask("group", count=count))

    def each(self, do: str, **arguments: Any) -> list[Any]:
        """Asks all processes at a time; their answers."""
        with ThreadPoolExecutor(len(self.processes)) as pool:
            asked = [pool.submit(process.ask, do, **arguments) for process in self.processes]
            return [answered(one.result()) for one in asked]

    def prepare(self, size: int, count: int) -> None:
        """Prepares sums of so many bytes, and checks one; RuntimeError if it is wrong."""
        self.each("prepare", size=size)
        if self.each("first")[0]["first"] != count:
            raise RuntimeError(f"a sum of {count} ones is {self.each('first')[0]['first']}")

    def seconds(self, steps: int) -> float:
        """The seconds of a sum."""
        return max(one["seconds"] for one in self.each("steps", count=steps)) / steps

    def close(self) -> None:
        """Ends the processes."""
        for process in self.processes:
            process.stop()


def measured(
    pythons: dict[str, str], scratch: str, counts: list[int], turns: int
) -> list[tuple[str, int, dict[str, list[float]]]]:
    """For each size and number of processes the seconds of each side, turn by turn."""
    rows = []
    for count in counts:
        with ExitStack() as stack:
            sides = {}
            for peer, python in pythons.items():
                sides[peer] = Side(peer, python, scratch, count)
                stack.callback(sides[peer].close)
            for name, (size, steps) in SIZES.items():
                found: dict[str, list[float]] = {peer: [] for peer in sides}
                for side in sides.values():
                    side.prepare(size, count)
                    side.seconds(steps)
                for turn in range(turns):
                    for peer in list(sides)[:: 1 if turn % 2 else -1]:
                        found[peer].append(sides[peer].seconds(steps))
                say(f"{name}, {count} processes: {found}")
                rows.append((name, count, found))
    return rows


def table(rows: list[tuple[str, int, dict[str, list[float]]]], versions: dict[str, str]) -> str:
    """All rows, and what they were measured on."""
    facts = report.machine(os.cpu_count() or 1)
    peers = ", ".join(f"{side} {number}" for side, number in versions.items())
    lines = [
        f"{facts['cpu']}, {facts['threads']} processors; {peers}.",
        "",
        "| a sum of | processes | numbaflow | Ray | ratio |",
        "| --- | ---: | ---: | ---: | ---: |",
    ]
    for name, count, found in rows:
        medians = [f"{1e3 * statistics.median(found[s]):.2f} ms" for s in found]
        ours, *theirs = found.values()
        ratio = f"{statistics.median(a / b for a, b in zip(ours, theirs[0])):.2f}" if theirs else ""
        lines.append(f"| {name} | {count} | {' | '.join(medians)} | {ratio} |")
    return "\n".join(lines)


def main() -> None:
    """Measures and shows the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.collectives", description=__doc__)
    parser.add_argument("--processes", type=int, nargs="*", default=[2, 4])
    parser.add_argument("--turns", type=int, default=5, help="turns of each side")
    parser.add_argument("--page", type=Path, help="a page to put the table into")
    options = parser.parse_args()
    pythons = {OURS: sys.executable}
    if os.environ.get("NUMBAFLOW_RAY_PYTHON"):
        pythons["ray"] = os.environ["NUMBAFLOW_RAY_PYTHON"]
    else:
        say("no Python for Ray: set NUMBAFLOW_RAY_PYTHON")
    with tempfile.TemporaryDirectory() as scratch:
        versions = {}
        for peer, python in pythons.items():
            process = Worker(peer, python, 1, scratch, _MODULE)
            versions[peer] = answered(process.ask("version"))["version"]
            process.stop()
        rows = measured(pythons, scratch, options.processes, options.turns)
    shown = table(rows, versions)
    if options.page:
        report.put(options.page, shown, "collectives")
    print(shown)


if __name__ == "__main__":
    main()
