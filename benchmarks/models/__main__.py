# SPDX-License-Identifier: Apache-2.0
"""`python -m benchmarks.models`: whole models here and in TensorFlow, in turns in one run.

Peers are named by variables that hold a Python each (NUMBAFLOW_TF_PYTHON, NUMBAFLOW_TF115_PYTHON)
or found in a folder of virtual environments (--peers DIR: DIR/tf, DIR/tf115).
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from .. import command, report
from ..processes import Worker
from . import tables
from .catalog import MODELS
from .measure import PEERS, Settings, measure


def arguments() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.models", description=__doc__)
    parser.add_argument("models", nargs="*", help=f"any of: {', '.join(MODELS)} (default: all)")
    parser.add_argument("--first-steps", action="store_true", help="each with an empty cache")
    parser.add_argument("--seconds", type=float, default=0.2, help="of a turn")
    parser.add_argument("--rounds", type=int, default=10, help="turns of each peer")
    parser.add_argument("--cache", metavar="DIR", help="compiled kernels that stay there")
    parser.add_argument("--sizes", type=json.loads, help="other sizes for the models, as JSON")
    parser.add_argument("--page", type=Path, help="a page to put the tables into")
    command.add_options(parser, PEERS, report.RESULTS / "models")
    options = parser.parse_args()
    unknown = set(options.models) - set(MODELS)
    if unknown:
        parser.error(f"no such model: {', '.join(sorted(unknown))}")
    if options.first_steps and options.cache:
        parser.error("--first-steps needs empty caches; leave out --cache")
    return options


def run(options: argparse.Namespace) -> dict[str, Any]:
    """All rows that were asked for, the machine and the versions of the peers."""
    chosen = command.chosen(options, PEERS)
    wanted = [name for name in MODELS if name in (options.models or MODELS)]
    with tempfile.TemporaryDirectory() as shared:
        cache = None if options.first_steps else options.cache or shared
        turns = (options.rounds, options.seconds)
        settings = Settings(chosen, options.threads, *turns, cache, options.sizes)
        rows = [measure(settings, name) for name in wanted]
    return {
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "machine": {**report.machine(options.threads), "load": round(os.getloadavg()[0], 1)},
        "settings": {
            "rounds": options.rounds,
            "seconds": options.seconds,
            "first_steps": options.first_steps,
        },
        "peers": {peer: _version(peer, python) for peer, python in chosen.items()},
        "rows": rows,
    }


def _version(peer: str, python: str) -> str:
    with closing(Worker(peer, python, 1, "", "benchmarks.models.worker")) as worker:
        return worker.ask("version").get("version", "?")


def main() -> int:
    """Measures, keeps the JSON, prints the tables; 1 when a model fails here."""
    options = arguments()
    result = run(options)
    old = command.older(options)
    result = command.updated(old, result, MODELS) if old else result
    command.keep(options, result)
    print(tables.page(result))
    if options.page:
        report.put(options.page, tables.page(result), "models")
    return 1 if any("numbaflow" in row["errors"] for row in result["rows"]) else 0


if __name__ == "__main__":
    sys.exit(main())
