# SPDX-License-Identifier: Apache-2.0
"""`python -m benchmarks.ops`: every op type and its gradient, here and in TensorFlow, in turns.

Each op gets a sample of about a million elements (benchmarks/op_samples.py).  The table goes to
docs/ops.md, and the figures to benchmarks/op_results.json; `--only` measures some ops again
and keeps the other rows.  TensorFlow's Python is named by NUMBAFLOW_TF_PYTHON.
"""

from __future__ import annotations

import argparse
import json
import os
import pickle
import sys
import tempfile
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from . import op_report
from .op_samples import absent, sample
from .peers import pythons
from .processes import Worker, say
from .report import machine
from .sides import PEERS

SIDES = ("numbaflow", "tensorflow")
RESULTS = op_report.RESULTS
Row = dict[str, Any]


def arguments() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.ops", description=__doc__)
    parser.add_argument("--only", help="op types, separated by commas; others keep their rows")
    parser.add_argument("--seconds", type=float, default=0.1, help="per turn")
    parser.add_argument("--rounds", type=int, default=3, help="turns")
    parser.add_argument("--threads", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--results", type=Path, default=RESULTS, help="the JSON of all rows")
    parser.add_argument("--page", type=Path, default=op_report.PAGE, help="the table")
    parser.add_argument("--again", type=float, help="only what was slower by more than this")
    return parser.parse_args()


class Survey:
    """The two sides, and how long they take turns."""

    def __init__(self, options: argparse.Namespace, scratch: str) -> None:
        found = pythons(PEERS, None)
        if "tensorflow" not in found:
            raise SystemExit("Name TensorFlow's Python by NUMBAFLOW_TF_PYTHON.")
        self._options, self._scratch = options, scratch
        self.workers = {
            peer: Worker(peer, found[peer], options.threads, scratch, "benchmarks.op_worker")
            for peer in SIDES
        }

    def close(self) -> None:
        """Ends both sides."""
        for worker in self.workers.values():
            worker.close()

    def measure(self, definition: Any) -> list[Row]:
        """The rows of an op: of its own, and of its gradient where it has one."""
        made = sample(definition)
        if made is None:
            return [{"op": definition.name, "absent": absent(definition)}]
        path = Path(self._scratch, "call.pickle")
        call = {
            "inputs": made.inputs,
            "attrs": made.attrs,
            "variables": made.variables,
            "fed": made.fed,
        }
        path.write_bytes(pickle.dumps(call))
        rows = [self._row(definition.name, str(path), False)]
        has_gradient = callable(definition.gradient) and not made.variables
        if has_gradient and "ratio" in rows[0]:
            row = self._row(definition.name, str(path), True)
            if "absent" not in row:
                rows.append(row)
        return rows

    def _row(self, op: str, file: str, gradient: bool) -> Row:
        row: Row = {"op": op, "gradient": gradient, "date": f"{datetime.now(UTC):%Y-%m-%d}"}
        for peer, worker in self.workers.items():
            answer = worker.ask("build", op=op, file=file, gradient=gradient)
            if "absent" in answer:
                return {**row, "absent": answer["absent"]}
            if "error" in answer:
                return {**row, "error": f"{peer}: {answer['error'][:200]}"}
            if "hosted" in answer:
                row["hosted"] = answer["hosted"]
        least = dict.fromkeys(SIDES, float("inf"))
        for turn in range(self._options.rounds):
            for peer in SIDES if turn % 2 == 0 else reversed(SIDES):
                answer = self.workers[peer].ask("measure", seconds=self._options.seconds)
                if "error" in answer:
                    return {**row, "error": f"{peer}: {answer['error'][:200]}"}
                least[peer] = min(least[peer], answer["least"])
        return {**row, **least, "ratio": least["numbaflow"] / least["tensorflow"]}


def wanted(options: argparse.Namespace, rows: list[Row]) -> list[Any]:
    """The definitions to measure."""
    from numbaflow.engine.graph import registry

    definitions = list(registry.definitions())
    if options.again is not None:
        slow = {row["op"] for row in rows if row.get("ratio", 0) > options.again}
        return [definition for definition in definitions if definition.name in slow]
    if not options.only:
        return definitions
    names = options.only.split(",")
    return [registry.lookup(name) for name in names]


def main() -> int:
    """Measures, keeps the JSON and writes the page."""
    options = arguments()
    before = json.loads(options.results.read_text()) if options.results.exists() else {"rows": []}
    chosen = wanted(options, before["rows"])
    rows = {(row["op"], row.get("gradient", False)): row for row in before["rows"]}
    result: dict[str, Any] = before
    with tempfile.TemporaryDirectory() as scratch, closing(Survey(options, scratch)) as survey:
        versions = {
            peer: w.ask("version").get("version", "?") for peer, w in survey.workers.items()
        }
        for definition in chosen:
            for gradient in (False, True):
                rows.pop((definition.name, gradient), None)
            for row in survey.measure(definition):
                rows[row["op"], row.get("gradient", False)] = row
                say(op_report.line(row))
            result = {
                "date": datetime.now(UTC).isoformat(timespec="seconds"),
                "machine": machine(options.threads),
                "peers": versions,
                "rows": list(rows.values()),
            }
            options.results.parent.mkdir(parents=True, exist_ok=True)
            options.results.write_text(json.dumps(result, indent=1) + "\n")
    options.page.write_text(op_report.page(result))
    return 0


if __name__ == "__main__":
    sys.exit(main())
