# SPDX-License-Identifier: Apache-2.0
"""Predicts the rows of `benchmarks.cluster` from a few rates, and measures both.

    python -m benchmarks.cluster_model [--page docs/cluster_costs.md]

docs/cluster_costs.md tells what the model is.
"""

from __future__ import annotations

import argparse
import mmap
import os
import statistics
import sys
import tempfile
import time
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from . import cluster, report
from .processes import say
from .report import OURS

# The bytes of the perceptron's parameters: what is read and what is applied in a step.
PARAMETERS = 4 * (784 * 100 + 100 + 100 * 10 + 10)
_SMALL, _MIDDLE, _LARGE = 4, 1 << 20, 100 << 20
# A slice of the simulation's time, in seconds.
_SLICE = 1e-5


@dataclass(frozen=True)
class Rates:
    """What the model knows of a machine, in seconds."""

    latency: float  # of a run through a master of another process
    per_byte: float  # sent one way and in memory by then
    step: float  # of the perceptron in one process
    mapped_byte: float  # written where another process maps it
    processors: float  # that processes find which compute at a time

    def exchange(self, size: float) -> float:
        """A call of another task that carries so many bytes."""
        return self.latency + size * self.per_byte


@dataclass(frozen=True)
class Phase:
    """Work of a step: where it is, and how long it takes a processor."""

    is_ps: bool
    seconds: float


def step_of(rates: Rates, is_sync: bool) -> list[Phase]:
    """The phases of a worker's step: parameters come, gradients are made, and go.

    Half of an exchange is the worker's, half the parameter server's, which does one at a time.
    """
    half = rates.exchange(PARAMETERS) / 2
    found = [Phase(False, half), Phase(True, half), Phase(False, rates.step)]
    found += [Phase(False, half), Phase(True, half)]
    if is_sync:
        # The update by the mean, which the chief asks for, and the token for the next step.
        found += [Phase(True, half), Phase(False, rates.latency / 2)]
        found += [Phase(True, rates.latency / 2)]
    return found


class Simulation:
    """Workers that take steps, and share processors and a parameter server."""

    def __init__(self, phases: list[Phase], workers: int, processors: float, is_sync: bool) -> None:
        self._phases, self._processors, self._is_sync = phases, processors, is_sync
        self._at = [0] * workers
        self._left = [phases[0].seconds] * workers
        self._steps = [0] * workers
        self._queue: list[int] = []

    def seconds_per_step(self, count: int = 200) -> float:
        """Seconds of a step of all workers together, over so many steps of each."""
        passed = 0
        while min(self._steps) < count:
            self._pass(_SLICE)
            passed += 1
        return passed * _SLICE / sum(self._steps)

    def _pass(self, seconds: float) -> None:
        active = [i for i in range(len(self._at)) if self._may_go_on(i)]
        share = min(1.0, self._processors / len(active)) if active else 0.0
        for i in active:
            self._left[i] -= seconds * share
            while self._left[i] <= 0:
                self._advance(i)

    def _may_go_on(self, i: int) -> bool:
        if self._is_sync and self._at[i] == 0 and self._steps[i] > min(self._steps):
            return False
        return not self._phases[self._at[i]].is_ps or self._queue[0] == i

    def _advance(self, i: int) -> None:
        if self._phases[self._at[i]].is_ps:
            self._queue.remove(i)
        self._at[i] = (self._at[i] + 1) % len(self._phases)
        self._steps[i] += self._at[i] == 0
        self._left[i] += max(self._phases[self._at[i]].seconds, _SLICE)
        if self._phases[self._at[i]].is_ps:
            self._queue.append(i)


def predicted(name: str, rates: Rates) -> float:
    """The seconds of a row of `benchmarks.cluster`."""
    if name.startswith("a scalar"):
        return rates.latency
    if name.startswith("a tensor"):
        # One call asks a task for its part, one carries the tensor's place.
        return 2 * rates.latency + _LARGE * rates.mapped_byte
    is_sync = "SyncReplicas" in name
    return Simulation(step_of(rates, is_sync), 2, rates.processors, is_sync).seconds_per_step()


ROWS = [name for name in cluster.ROWS if "start" not in name]


def measured_rates(side: cluster.Side, seconds: float) -> Rates:
    """The rates of this machine, by processes like those of the rows."""
    worker, target = side.workers[0], side.targets[0]

    def per_step(do: str, **given: Any) -> float:
        cluster.answered(worker.ask(do, **given))
        cluster.answered(worker.ask("steps", seconds=seconds / 4))
        return cluster._per_step([worker.ask("steps", seconds=seconds)])

    latency = per_step("echo", target=target, size=_SMALL)
    both_ways = per_step("echo", target=target, size=_MIDDLE)
    step = per_step("alone")
    for other in side.workers[1:]:
        cluster.answered(other.ask("alone"))
    side.each("steps", seconds=seconds / 4)
    together = cluster._per_step(side.each("steps", seconds=seconds))
    return Rates(
        latency=latency,
        per_byte=max(both_ways - latency, 0.0) / (2 * _MIDDLE),
        step=step,
        mapped_byte=_mapped() / _LARGE,
        # (Others may be using the machine, too.)
        processors=max(min(step / together, os.cpu_count() or 1), 0.25),
    )


def _mapped() -> float:
    """Seconds to write a large array where others can map it."""
    array = np.ones(_LARGE // 4, np.float32)
    found = []
    for _ in range(3):
        file = os.memfd_create("numbaflow-model")
        start = time.perf_counter()
        left = array.view(np.uint8).data
        while left:
            left = left[os.write(file, left) :]
        mmap.mmap(file, 0, access=mmap.ACCESS_READ).close()
        found.append(time.perf_counter() - start)
        os.close(file)
    return statistics.median(found)


def table(rates: Rates, rows: dict[str, float]) -> str:
    """The rates, and what was predicted and measured."""
    facts = report.machine(os.cpu_count() or 1)
    lines = [
        f"{facts['cpu']}, {facts['threads']} processors.",
        "",
        "| rate | |",
        "| --- | ---: |",
        f"| a run through a remote master, L | {1e3 * rates.latency:.3f} ms |",
        f"| a byte sent, 1 / B | {1e9 * rates.per_byte:.3f} ns |",
        f"| a byte mapped, 1 / M | {1e9 * rates.mapped_byte:.3f} ns |",
        f"| a step in one process, C | {1e3 * rates.step:.3f} ms |",
        f"| processors that two workers find, P | {rates.processors:.2f} |",
        "",
        "| row | predicted | measured | predicted / measured |",
        "| --- | ---: | ---: | ---: |",
    ]
    for name, seconds in rows.items():
        found = predicted(name, rates)
        lines.append(
            f"| {name} | {1e3 * found:.2f} ms | {1e3 * seconds:.2f} ms | {found / seconds:.2f} |"
        )
    return "\n".join(lines)


def main() -> None:
    """Measures the rates and the rows, and shows both."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.cluster_model", description=__doc__)
    parser.add_argument("--seconds", type=float, default=1.0, help="of a turn")
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--page", type=Path, help="a page to put the tables into")
    options = parser.parse_args()
    rows = {}
    with tempfile.TemporaryDirectory() as scratch:
        with closing(cluster.Side(OURS, sys.executable, scratch)) as side:
            rates = measured_rates(side, options.seconds)
            say(str(rates))
        for name in ROWS:
            row = cluster.measured(name, {OURS: sys.executable}, scratch, options)
            if row["errors"]:
                raise RuntimeError(str(row["errors"]))
            rows[name] = statistics.median(row["seconds"][OURS])
            say(f"{name}: {rows[name]}")
    shown = table(rates, rows)
    if options.page:
        report.put(options.page, shown, "model")
    print(shown)


if __name__ == "__main__":
    main()
