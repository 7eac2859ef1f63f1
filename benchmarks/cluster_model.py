# SPDX-License-Identifier: Apache-2.0
"""Predicts the rows of `benchmarks.cluster` from a few rates, and measures both.

    python -m benchmarks.cluster_model [--page docs/cluster_costs.md]

docs/cluster_costs.md tells what the model is.
"""

from __future__ import annotations

import argparse
import math
import mmap
import os
import statistics
import sys
import tempfile
import time
from contextlib import closing
from pathlib import Path

import numpy as np

from . import cluster, report
from .cluster_simulation import Rates, steps_per_second
from .processes import say
from .report import OURS

_SMALL, _MIDDLE, _LARGE = 4, 1 << 20, 100 << 20
# Workers of this machine whose steps are predicted and measured; of a cluster, predicted alone.
_HERE, _APART = (1, 2, 4, 8), (2, 4, 8, 16, 32, 64, 128, 256, 512, 1000)
# The network of that cluster, in bytes a second, and how many parameter servers it may have.
_NETWORK, _SERVERS = 10e9 / 8, (1, 8)
# From the median of what is drawn like Rates.spread to the value that nine of ten are below.
_NINE_OF_TEN = math.log(10) - math.log(2)


def predicted(name: str, rates: Rates) -> float:
    """The seconds of a row of `benchmarks.cluster`."""
    if name.startswith("a scalar"):
        return rates.latency
    if name.startswith("a tensor"):
        # One call asks a task for its part, one carries the tensor's place.
        return 2 * rates.latency + _LARGE * rates.mapped_byte
    return 1 / steps_per_second(rates, 2, "SyncReplicas" in name, count=200)


ROWS = [name for name in cluster.ROWS if "start" not in name]


def measured_rates(side: cluster.Side, apart: cluster.Side, seconds: float) -> Rates:
    """The rates of this machine, by processes like those of the rows.

    apart: tasks that speak to each other as those of several machines do.
    """
    latency, per_byte = _sending(side, seconds)
    apart_latency, apart_byte = _sending(apart, seconds)
    worker = side.workers[0]
    cluster.answered(worker.ask("alone"))
    cluster.answered(worker.ask("steps", seconds=seconds / 4))
    steps = cluster.answered(worker.ask("steps", seconds=seconds))
    for other in side.workers[1:]:
        cluster.answered(other.ask("alone"))
    side.each("steps", seconds=seconds / 4)
    together = cluster._per_step(side.each("steps", seconds=seconds))
    step = steps["seconds"] / steps["count"]
    return Rates(
        latency=latency,
        per_byte=per_byte,
        step=step,
        mapped_byte=_mapped() / _LARGE,
        # (Others may be using the machine, too.)
        processors=max(min(step / together, os.cpu_count() or 1), 0.25),
        spread=(steps["nine of ten"] - steps["median"]) / _NINE_OF_TEN,
        apart_latency=apart_latency,
        apart_byte=apart_byte,
    )


def _sending(side: cluster.Side, seconds: float) -> tuple[float, float]:
    """Seconds of a call that carries next to nothing, and of a byte on top of it."""
    worker, found = side.workers[0], []
    for size in (_SMALL, _MIDDLE):
        cluster.answered(worker.ask("echo", target=side.targets[0], size=size))
        cluster.answered(worker.ask("steps", seconds=seconds / 4))
        found.append(cluster._per_step([worker.ask("steps", seconds=seconds)]))
    return found[0], max(found[1] - found[0], 0.0) / (2 * _MIDDLE)


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


def table(rates: Rates, rows: dict[str, float], here: dict[tuple[int, bool], float]) -> str:
    """The rates, what was predicted and measured, and what is predicted of larger clusters.

    here: measured steps a second by workers of this machine, and whether they are synchronous.
    """
    facts = report.machine(os.cpu_count() or 1)
    lines = [f"{facts['cpu']}, {facts['threads']} processors.", "", "| rate | |", "| --- | ---: |"]
    lines += [
        f"| a run through a remote master, L | {1e3 * rates.latency:.3f} ms |",
        f"| the same over gRPC | {1e3 * rates.apart_latency:.3f} ms |",
        f"| a byte sent, 1 / B | {1e9 * rates.per_byte:.3f} ns |",
        f"| the same over gRPC | {1e9 * rates.apart_byte:.3f} ns |",
        f"| a byte mapped, 1 / M | {1e9 * rates.mapped_byte:.3f} ns |",
        f"| a step in one process, C | {1e3 * rates.step:.3f} ms |",
        f"| what comes on top of a step, in the mean | {1e3 * rates.spread:.3f} ms |",
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
    return "\n".join([*lines, "", *_table_here(rates, here), "", *_table_apart(rates)])


def _table_here(rates: Rates, here: dict[tuple[int, bool], float]) -> list[str]:
    lines = [
        "| workers of this machine | predicted steps/s | measured | predicted / measured |",
        "| --- | ---: | ---: | ---: |",
    ]
    for (workers, is_sync), measured in here.items():
        found = steps_per_second(rates, workers, is_sync)
        kind = "synchronous" if is_sync else "asynchronous"
        lines.append(
            f"| {workers}, {kind} | {found:.0f} | {measured:.0f} | {found / measured:.2f} |"
        )
    return lines


def _table_apart(rates: Rates) -> list[str]:
    """Predictions for a machine a task: steps of all workers together in a second."""
    own = rates.apart(_NETWORK)
    kinds = [(is_sync, servers) for is_sync in (False, True) for servers in _SERVERS]
    names = [f"{'sync' if is_sync else 'async'}, {servers} ps" for is_sync, servers in kinds]
    lines = [f"| machines of workers | {' | '.join(names)} |", "| ---: |" + " ---: |" * len(names)]
    for workers in _APART:
        # (Few steps of each of many: what is predicted is the mean.)
        count = max(5, 400 // workers)
        found = [steps_per_second(own, workers, *kind, count=count) for kind in kinds]
        lines.append(f"| {workers} | {' | '.join(f'{one:,.0f}' for one in found)} |")
    return lines


def measured_here(scratch: str, options: argparse.Namespace) -> dict[tuple[int, bool], float]:
    """Steps a second of so many workers of this machine together."""
    found = {}
    for is_sync in (False, True):
        for workers in _HERE:
            with closing(cluster.Side(OURS, sys.executable, scratch, workers)) as side:
                side.train(is_sync)
                turns = [cluster._together(side, options.seconds) for _ in range(1 + options.turns)]
            found[workers, is_sync] = 1 / statistics.median(turns[1:])
            say(f"{workers} workers, {'' if is_sync else 'a'}synchronous: {turns}")
    return found


def main() -> None:
    """Measures the rates and the rows, and shows both."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.cluster_model", description=__doc__)
    parser.add_argument("--seconds", type=float, default=1.0, help="of a turn")
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--page", type=Path, help="a page to put the tables into")
    options = parser.parse_args()
    rows = {}
    with tempfile.TemporaryDirectory() as scratch:
        with (
            closing(cluster.Side(OURS, sys.executable, scratch)) as side,
            closing(cluster.Side(OURS, sys.executable, scratch, is_apart=True)) as apart,
        ):
            rates = measured_rates(side, apart, options.seconds)
            say(str(rates))
        for name in ROWS:
            row = cluster.measured(name, {OURS: sys.executable}, scratch, options)
            if row["errors"]:
                raise RuntimeError(str(row["errors"]))
            rows[name] = statistics.median(row["seconds"][OURS])
            say(f"{name}: {rows[name]}")
        here = measured_here(scratch, options)
    shown = table(rates, rows, here)
    if options.page:
        report.put(options.page, shown, "model")
    print(shown)


if __name__ == "__main__":
    main()
