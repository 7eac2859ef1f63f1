# SPDX-License-Identifier: Apache-2.0
"""What the two commands share: who takes part, for how long, and where results are kept."""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from .peers import Peers, pythons
from .processes import say


def add_options(parser: argparse.ArgumentParser, peers: Peers, results: Path) -> None:
    """Peers, processors, and what becomes of results."""
    parser.add_argument("--peers", metavar="DIR", help="folder of the peers' environments")
    parser.add_argument("--against", help=f"peers, separated by commas: {', '.join(peers)}")
    parser.add_argument("--threads", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--update", type=Path, metavar="JSON", help="replace rows of this file")
    parser.add_argument("--results", type=Path, default=results, help="folder of the JSON")
    parser.add_argument("--no-save", action="store_true", help="keep no JSON")


def chosen(options: argparse.Namespace, peers: Peers) -> dict[str, str]:
    """The Pythons of numbaflow and of the peers that were asked for."""
    found = pythons(peers, options.peers)
    against = set(options.against.split(",")) if options.against else set(peers)
    for peer in sorted(against - set(found)):
        say(f"no Python for {peers[peer].title}: set {peers[peer].variable} or --peers")
    return {p: found[p] for p in peers if p in found and p in {"numbaflow", *against}}


def updated(old: dict[str, Any], new: dict[str, Any], order: Iterable[str]) -> dict[str, Any]:
    """An older result with the rows that were measured again."""
    rows = {row["name"]: row for row in (*old["rows"], *new["rows"])}
    peers = {**old["peers"], **new["peers"]}
    return {**new, "peers": peers, "rows": [rows[name] for name in order if name in rows]}


def older(options: argparse.Namespace) -> dict[str, Any] | None:
    """The result that is to be updated, if one is."""
    return json.loads(options.update.read_text()) if options.update else None


def keep(options: argparse.Namespace, result: dict[str, Any]) -> None:
    """Writes a result: in the place of the one that is updated, else as a file of its own."""
    if options.no_save:
        return
    path = options.update or options.results / f"{datetime.now(UTC):%Y-%m-%d-%H%M%S}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(result, indent=1) + "\n")
    say(f"kept in {path}")
