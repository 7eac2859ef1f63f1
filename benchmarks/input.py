# SPDX-License-Identifier: Apache-2.0
"""Input pipelines here and in TensorFlow: `python -m benchmarks.input [ROWS]`.

Both sides have a process that stays, and take turns of one pass each; medians of the turns count,
by the clock and of processors.  TensorFlow is the one of NUMBAFLOW_TF_PYTHON.  What was measured is
kept in benchmarks/results/input/; with --page it goes into that page, too.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
import tempfile
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from . import report
from .input_rows import pipelines
from .processes import Worker, say
from .report import OURS

_MODULE = "benchmarks.input_worker"
_FEEDING = "generator feeding a CIFAR-10 step"
# The share of the step's own rate that a generator must leave.
_SHARE = 0.97
_BATCH, _STEPS = 128, 4
Measured = dict[str, Any]


def arguments() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.input", description=__doc__)
    parser.add_argument("rows", nargs="*", help="parts of the names of rows (default: all)")
    parser.add_argument("--count", type=int, default=200_000, help="numbers in rows of numbers")
    parser.add_argument("--turns", type=int, default=5, help="turns of each side")
    parser.add_argument("--threads", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--folder", help="where the files are that rows read; they stay there")
    parser.add_argument("--update", type=Path, metavar="JSON", help="replace rows of this file")
    parser.add_argument("--results", type=Path, default=report.RESULTS / "input")
    parser.add_argument("--no-save", action="store_true", help="keep no JSON")
    parser.add_argument("--page", type=Path, help="a page to put the table into")
    return parser.parse_args()


def measured(workers: dict[str, Worker], name: str, folder: str, options: Any) -> Measured:
    """The turns of a row: seconds by the clock and of processors, by side."""
    row: Measured = {"name": name, "seconds": {}, "processor": {}, "errors": {}}
    sides = list(workers)
    for side in sides:
        answer = workers[side].ask("build", name=name, folder=folder, count=options.count)
        if "error" in answer:
            row["errors"][side] = answer["error"]
    for turn in range(options.turns):
        for side in sides[:: 1 if turn % 2 else -1]:
            answer = {} if side in row["errors"] else workers[side].ask("passed")
            for kind in ("seconds", "processor"):
                if kind in answer:
                    row[kind].setdefault(side, []).append(answer[kind])
    return row


def fed(worker: Worker, options: Any) -> Measured:
    """How fast a step is that a generator feeds, in turns with the step alone."""
    row: Measured = {"name": _FEEDING, "alone": [], "fed": [], "errors": {}}
    answer = worker.ask("build_step", batch=_BATCH)
    for _ in range(0 if "error" in answer else options.turns * 2):
        for kind in ("alone", "fed"):
            answer = worker.ask("steps", is_fed=kind == "fed", count=_STEPS)
            row[kind].append(answer["seconds"])
    if "error" in answer:
        row["errors"][OURS] = answer["error"]
    return row


def run(options: argparse.Namespace, folder: str) -> Measured:
    """All rows that were asked for, the machine and the versions of both sides."""
    pythons = {OURS: sys.executable}
    if os.environ.get("NUMBAFLOW_TF_PYTHON"):
        pythons["tensorflow"] = os.environ["NUMBAFLOW_TF_PYTHON"]
    else:
        say("no Python for TensorFlow: set NUMBAFLOW_TF_PYTHON")
    import numbaflow as tf

    names = [
        name for name in [*pipelines(tf, folder, options.count), _FEEDING] if _is_in(name, options)
    ]
    with tempfile.TemporaryDirectory() as scratch:
        workers = {
            side: Worker(side, python, options.threads, scratch, _MODULE)
            for side, python in pythons.items()
        }
        result: Measured = {
            "date": datetime.now(UTC).isoformat(timespec="seconds"),
            "machine": report.machine(options.threads),
            "count": options.count,
            "peers": {side: worker.ask("version")["version"] for side, worker in workers.items()},
            "rows": [],
        }
        for name in names:
            is_fed = name == _FEEDING
            row = (
                fed(workers[OURS], options) if is_fed else measured(workers, name, folder, options)
            )
            result["rows"].append(row)
            say(" | ".join(cells(row, promises(folder))))
        for worker in workers.values():
            worker.close()
    return result


def _is_in(name: str, options: argparse.Namespace) -> bool:
    return not options.rows or any(part in name for part in options.rows)


def promises(folder: str) -> dict[str, float]:
    """By row the greatest ratio that is promised."""
    import numbaflow as tf

    return {name: row[0] for name, row in pipelines(tf, folder, 1000).items()}


def ratio(row: Measured, kind: str = "seconds") -> float | None:
    """The median of our seconds over TensorFlow's, turn by turn."""
    ours, theirs = (row[kind].get(side) for side in (OURS, "tensorflow"))
    if not ours or not theirs:
        return None
    return statistics.median(a / b for a, b in zip(ours, theirs))


def cells(row: Measured, promised: dict[str, float]) -> list[str]:
    """A row of the table."""
    name = row["name"]
    if row["errors"]:
        return [name, *(f"{side}: {error}" for side, error in row["errors"].items())]
    if name == _FEEDING:
        share = statistics.median(a / b for a, b in zip(row["alone"], row["fed"]))
        mark = "✓" if share >= _SHARE else "✗"
        seconds = [statistics.median(row[kind]) / _STEPS for kind in ("fed", "alone")]
        shown = [f"{1000 * second:.1f} ms" for second in seconds]
        return [name, *shown, f"{share:.1%} of its rate", "", f"≥ {_SHARE:.0%} {mark}"]
    times = [
        f"{statistics.median(row['seconds'][side]):.3f} s" if side in row["seconds"] else ""
        for side in (OURS, "tensorflow")
    ]
    found = [ratio(row, kind) for kind in ("seconds", "processor")]
    limit = promised.get(name)
    promise = "" if limit is None or found[0] is None else "✓" if found[0] <= limit else "✗"
    ratios = ["" if number is None else f"{number:.2f}" for number in found]
    return [name, *times, *ratios, f"≤ {limit} {promise}".strip()]


def table(result: Measured, promised: dict[str, float]) -> str:
    """All rows, and what they were measured on."""
    header = ["", "numbaflow", "TensorFlow", "ratio", "ratio of processors' time", "goal"]
    rows = [header, ["---", *["---:"] * 4, "---"], *(cells(r, promised) for r in result["rows"])]
    peers = ", ".join(f"{side} {number}" for side, number in result["peers"].items())
    facts = result["machine"]
    place = f"{result['date'][:10]}, {facts['cpu']}, {facts['threads']} threads; {peers}."
    return "\n".join([place, "", *(f"| {' | '.join(row)} |" for row in rows)])


def main() -> None:
    """Measures, keeps the result and shows it."""
    options = arguments()
    with tempfile.TemporaryDirectory() as made:
        folder = options.folder or made
        os.makedirs(folder, exist_ok=True)
        result = run(options, folder)
        if options.update:
            known = json.loads(options.update.read_text())
            new = {row["name"]: row for row in result["rows"]}
            kept = [new.pop(row["name"], row) for row in known["rows"]]
            result["rows"] = [*kept, *new.values()]
        shown = table(result, promises(folder))
    if not options.no_save:
        options.results.mkdir(parents=True, exist_ok=True)
        name = result["date"][:19].replace(":", "").replace("T", "-")
        (options.results / f"{name}.json").write_text(json.dumps(result, indent=1) + "\n")
    if options.page:
        report.put(options.page, shown, "input")
    print(shown)


if __name__ == "__main__":
    main()
