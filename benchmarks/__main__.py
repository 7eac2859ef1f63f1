# SPDX-License-Identifier: Apache-2.0
"""`python -m benchmarks`: times numbaflow and its peers in turns and prints the table.

Peers are named by variables that hold a Python each (NUMBAFLOW_TF_PYTHON, NUMBAFLOW_JAX_PYTHON,
NUMBAFLOW_TORCH_PYTHON, NUMBAFLOW_PYTENSOR_PYTHON) or found in a folder of virtual environments
(--peers DIR: DIR/tf, DIR/jax, DIR/torch, DIR/pytensor). Each run is kept as JSON.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from contextlib import closing
from datetime import UTC, datetime
from typing import Any

from . import command, measuring, report
from .rows import ROWS
from .sides import PEERS


def arguments() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--only", help=f"rows, separated by commas: {', '.join(ROWS)}")
    parser.add_argument("--seconds", type=float, default=1.0, help="per workload and peer")
    parser.add_argument("--rounds", type=int, default=5, help="turns that these are cut into")
    parser.add_argument("--quick", action="store_true", help="leave out first calls of a minute")
    parser.add_argument("--details", action="store_true", help="print all that was measured")
    command.add_options(parser, PEERS, report.RESULTS)
    options = parser.parse_args()
    known = set(ROWS)
    if options.only and set(options.only.split(",")) - known:
        parser.error(f"no such row: {', '.join(set(options.only.split(',')) - known)}")
    return options


def measure(options: argparse.Namespace) -> dict[str, Any]:
    """All rows that were asked for, the machine's limits and the versions of the peers."""
    chosen = command.chosen(options, PEERS)
    wanted = options.only.split(",") if options.only else list(ROWS)
    with tempfile.TemporaryDirectory() as scratch:
        run = measuring.Run(
            chosen,
            options.threads,
            options.rounds,
            options.seconds,
            scratch,
            not options.quick,
        )
        with closing(run):
            versions = {p: run.worker(p).ask("version").get("version", "?") for p in chosen}
            machine_limits = measuring.limits(run)
            rows = [measuring.measure(run, name) for name in ROWS if name in wanted]
            machine_limits = measuring.better(machine_limits, measuring.limits(run))
    return {
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "machine": report.machine(options.threads),
        "settings": {"rounds": options.rounds, "seconds": options.seconds},
        "peers": versions,
        "limits": machine_limits,
        "rows": rows,
    }


def updated(old: dict[str, Any], new: dict[str, Any]) -> dict[str, Any]:
    """An older result with the rows that were measured again, and the better of the limits."""
    limits = measuring.better(old["limits"], new["limits"])
    return {**command.updated(old, new, ROWS), "limits": limits}


def main() -> int:
    """Measures, keeps the JSON, prints the table; 1 when something that must be is not."""
    options = arguments()
    result = measure(options)
    old = command.older(options)
    result = updated(old, result) if old else result
    command.keep(options, result)
    print(report.details(result) if options.details else report.readme(result))
    return 0 if report.kept(result) else 1


if __name__ == "__main__":
    sys.exit(main())
