# SPDX-License-Identifier: Apache-2.0
"""Clusters of processes of this machine, here and in TensorFlow: `python -m benchmarks.cluster`.

Each side has a parameter server and two workers, processes that stay, and the sides take turns.
TensorFlow is the one of NUMBAFLOW_TF_PYTHON, best a 1.15.  With --page the table goes into that
page, too; what was measured is kept in benchmarks/results/cluster/.
"""

from __future__ import annotations

import argparse
import json
import os
import socket
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from . import report
from .processes import Worker, say
from .report import OURS

_MODULE = "benchmarks.cluster_worker"
_LARGE = 100 << 20
Measured = dict[str, Any]
# Of each row what one unit is, and the ratio of our time to TensorFlow's that is promised.
ROWS: dict[str, tuple[str, float]] = {
    "a scalar through a remote master": ("run", 0.5),
    "a tensor of 100 MB from task to task": ("run", 1 / 1.5),
    "MNIST perceptron, 1 ps + 2 workers, asynchronous": ("step", 1 / 1.5),
    "MNIST perceptron, 1 ps + 2 workers, SyncReplicas": ("step", 1 / 1.5),
    "4 tasks from their start to the first step, warm": ("start", 0.5),
}


def free_addresses(count: int) -> list[str]:
    """Addresses of this machine that nobody listens at."""
    with ExitStack() as stack:
        found = [stack.enter_context(socket.socket()) for _ in range(count)]
        for one in found:
            one.bind(("localhost", 0))
        return [f"localhost:{one.getsockname()[1]}" for one in found]


class Side:
    """The processes of one side: a parameter server and some workers."""

    def __init__(
        self, peer: str, python: str, scratch: str, workers: int = 2, is_apart: bool = False
    ) -> None:
        """is_apart: whether tasks speak to each other as those of several machines do."""
        addresses = free_addresses(1 + workers)
        self.cluster = {"ps": addresses[:1], "worker": addresses[1:]}
        # Tasks share the processors: more threads than they have hold each other up.
        start = [Worker(peer, python, 1, scratch, _MODULE) for _ in addresses]
        self.ps, self.workers = start[0], start[1:]
        for worker in start if is_apart else ():
            answered(worker.ask("apart"))
        tasks = [("ps", 0), *(("worker", i) for i in range(workers))]
        self.targets = [
            answered(worker.ask("listen", cluster=self.cluster, job=job, task=task))["target"]
            for worker, (job, task) in zip(start, tasks)
        ]

    def each(self, do: str, **arguments: Any) -> list[Measured]:
        """Asks all workers at a time; their answers."""
        with ThreadPoolExecutor(len(self.workers)) as pool:
            asked = [pool.submit(worker.ask, do, **arguments) for worker in self.workers]
            return [answered(one.result()) for one in asked]

    def train(self, is_sync: bool) -> None:
        """Prepares the training of all workers; the chief initializes before others look."""
        for task, worker in enumerate(self.workers):
            answered(worker.ask("train", cluster=self.cluster, task=task, is_sync=is_sync))

    def close(self) -> None:
        """Ends the processes."""
        for worker in (*self.workers, self.ps):
            worker.stop()


def answered(answer: Measured) -> Measured:
    """An answer; RuntimeError where it tells of an error."""
    if "error" in answer:
        raise RuntimeError(answer["error"])
    return answer


def _scalar(side: Side, options: argparse.Namespace) -> Callable[[], float]:
    answered(side.workers[0].ask("scalar", target=side.targets[0]))
    return lambda: _per_step([side.workers[0].ask("steps", seconds=options.seconds)])


def _tensor(side: Side, options: argparse.Namespace) -> Callable[[], float]:
    places = {"source": "/job:ps/task:0", "target": "/job:worker/task:0"}
    answered(side.workers[0].ask("tensor", size=_LARGE, **places))
    return lambda: _per_step([side.workers[0].ask("steps", seconds=options.seconds)])


def _asynchronous(side: Side, options: argparse.Namespace) -> Callable[[], float]:
    side.train(False)
    return lambda: _together(side, options.seconds)


def _synchronous(side: Side, options: argparse.Namespace) -> Callable[[], float]:
    side.train(True)
    return lambda: _together(side, options.seconds)


def _together(side: Side, seconds: float) -> float:
    """Seconds for a step, of all workers together, which may wait for each other."""
    before = sum(one["count"] for one in side.each("pause"))
    start = time.perf_counter()
    side.each("resume")
    time.sleep(seconds)
    after = sum(one["count"] for one in side.each("pause"))
    return (time.perf_counter() - start) / max(after - before, 1)


def _per_step(answers: Sequence[Measured]) -> float:
    """Seconds for a step of all workers together."""
    return max(a["seconds"] for a in answers) / sum(answered(a)["count"] for a in answers)


_PREPARE = dict(zip(ROWS, (_scalar, _tensor, _asynchronous, _synchronous)))


def started(peer: str, python: str, scratch: str) -> float:
    """Seconds from nothing to the first step of a cluster of four tasks."""
    before = time.perf_counter()
    with closing(Side(peer, python, scratch, workers=3)) as side:
        chief = side.workers[0]
        answered(chief.ask("train", cluster=side.cluster, task=0, is_sync=False))
        answered(chief.ask("steps", seconds=0))
        return time.perf_counter() - before


def measured(name: str, pythons: dict[str, str], scratch: str, options: Any) -> Measured:
    """The turns of a row: seconds by side."""
    row: Measured = {"name": name, "seconds": {side: [] for side in pythons}, "errors": {}}
    with ExitStack() as stack:
        turns: dict[str, Callable[[], float]] = {}
        for peer, python in pythons.items():
            try:
                turns[peer] = _turn(stack, name, peer, python, scratch, options)
                turns[peer]()
            except RuntimeError as error:
                row["errors"][peer] = str(error)
                turns.pop(peer, None)
        for turn in range(options.turns):
            for peer in list(turns)[:: 1 if turn % 2 else -1]:
                row["seconds"][peer].append(turns[peer]())
    return row


def _turn(
    stack: ExitStack, name: str, peer: str, python: str, scratch: str, options: Any
) -> Callable[[], float]:
    if name not in _PREPARE:
        return lambda: started(peer, python, scratch)
    side = stack.enter_context(closing(Side(peer, python, scratch)))
    return _PREPARE[name](side, options)


def ratio(row: Measured) -> float | None:
    """The median of our seconds over TensorFlow's, turn by turn."""
    ours, theirs = (row["seconds"].get(side) for side in (OURS, "tensorflow"))
    if not ours or not theirs:
        return None
    return statistics.median(a / b for a, b in zip(ours, theirs))


def cells(row: Measured) -> list[str]:
    """A row of the table."""
    name = row["name"]
    if row["errors"]:
        return [name, *(f"{side}: {error}" for side, error in row["errors"].items())]
    unit, limit = ROWS[name]
    times = [
        _shown(statistics.median(row["seconds"][side]), unit) if row["seconds"].get(side) else ""
        for side in (OURS, "tensorflow")
    ]
    found = ratio(row)
    mark = "" if found is None else "✓" if found <= limit else "✗"
    shown = "" if found is None else f"{found:.2f}"
    return [name, *times, shown, f"≤ {limit:.2f} {mark}".strip()]


def _shown(seconds: float, unit: str) -> str:
    if seconds >= 1:
        return f"{seconds:.2f} s"
    return f"{1000 * seconds:.2f} ms" + ("" if unit == "start" else f" a {unit}")


def table(result: Measured) -> str:
    """All rows, and what they were measured on."""
    header = ["", "numbaflow", "TensorFlow", "ratio", "goal"]
    rows = [header, ["---", *["---:"] * 3, "---"], *map(cells, result["rows"])]
    peers = ", ".join(f"{side} {number}" for side, number in result["peers"].items())
    facts = result["machine"]
    place = f"{result['date'][:10]}, {facts['cpu']}, {facts['threads']} processors; {peers}."
    return "\n".join([place, "", *(f"| {' | '.join(row)} |" for row in rows)])


def arguments() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.cluster", description=__doc__)
    parser.add_argument("rows", nargs="*", help="parts of the names of rows (default: all)")
    parser.add_argument("--seconds", type=float, default=2.0, help="of a turn")
    parser.add_argument("--turns", type=int, default=5, help="turns of each side")
    parser.add_argument("--results", type=Path, default=report.RESULTS / "cluster")
    parser.add_argument("--no-save", action="store_true", help="keep no JSON")
    parser.add_argument("--page", type=Path, help="a page to put the table into")
    return parser.parse_args()


def run(options: argparse.Namespace) -> Measured:
    """All rows that were asked for, the machine and the versions of both sides."""
    pythons = {OURS: sys.executable}
    if os.environ.get("NUMBAFLOW_TF_PYTHON"):
        pythons["tensorflow"] = os.environ["NUMBAFLOW_TF_PYTHON"]
    else:
        say("no Python for TensorFlow: set NUMBAFLOW_TF_PYTHON")
    rows, versions = [], {}
    with tempfile.TemporaryDirectory() as scratch:
        for peer, python in pythons.items():
            with closing(Worker(peer, python, 1, scratch, _MODULE)) as worker:
                versions[peer] = answered(worker.ask("version"))["version"]
        for name in ROWS:
            if not options.rows or any(part in name for part in options.rows):
                rows.append(measured(name, pythons, scratch, options))
                say(" | ".join(cells(rows[-1])))
    return {
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "machine": report.machine(os.cpu_count() or 1),
        "peers": versions,
        "rows": rows,
    }


def main() -> None:
    """Measures, keeps the result and shows it."""
    options = arguments()
    result = run(options)
    shown = table(result)
    if not options.no_save:
        options.results.mkdir(parents=True, exist_ok=True)
        name = result["date"][:19].replace(":", "").replace("T", "-")
        (options.results / f"{name}.json").write_text(json.dumps(result, indent=1) + "\n")
    if options.page:
        report.put(options.page, shown, "cluster")
    print(shown)


if __name__ == "__main__":
    main()
