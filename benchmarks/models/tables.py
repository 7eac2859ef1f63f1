# SPDX-License-Identifier: Apache-2.0
"""From the JSON of a run of the models to tables; the same JSON always gives the same text."""

from __future__ import annotations

import math
from typing import Any

from ..rows import duration
from .catalog import MODELS
from .measure import PEERS, Measured, ratio, step

OURS = "numbaflow"


def _lines(header: list[str], rows: list[list[str]]) -> str:
    marks = ["---", *["---:"] * (len(header) - 1)]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in (header, marks, *rows))


def _peers(result: Measured) -> list[str]:
    return [peer for peer in PEERS if peer in result["peers"]]


def _time(row: Measured, peer: str) -> str:
    if peer in row["errors"]:
        return "fails"
    found = step(row, peer)
    return "" if found is None else duration(found)


def _times(found: float | None) -> str:
    return "" if found is None else f"{found:.2f}"


def mean_ratio(result: Measured, peer: str, of: str = "values") -> float | None:
    """The geometric mean of how many times as fast as a peer we are."""
    found = [ratio(row, peer, of) for row in result["rows"]]
    logarithms = [math.log(times) for times in found if times]
    return math.exp(sum(logarithms) / len(logarithms)) if logarithms else None


def steps(result: Measured) -> str:
    """Times of a step, and how many times as fast as each other peer we are."""
    peers = _peers(result)
    ratios = [(p, of) for p in peers if p != OURS for of in ("values", "processor")]
    header = ["a step", *(PEERS[peer].title for peer in peers)]
    header += [f"× {PEERS[p].title}{', processors' * (of != 'values')}" for p, of in ratios]
    rows = [
        [
            MODELS[row["name"]].title,
            *(_time(row, peer) for peer in peers),
            *(_times(ratio(row, peer, of)) for peer, of in ratios),
        ]
        for row in result["rows"]
    ]
    means = [_times(mean_ratio(result, peer, of)) for peer, of in ratios]
    return _lines(header, [*rows, ["geometric mean", *[""] * len(peers), *means]])


def _megabytes(row: Measured, peer: str, over: bool) -> str:
    peak = row.get("fresh_peak", {}).get(peer)
    baseline = row.get("fresh_baseline", {}).get(peer)
    if peak is None or baseline is None:
        return ""
    return f"{(peak - baseline * over) / 1e6:.0f}"


def memory(result: Measured) -> str:
    """The greatest size of a process, whole and over its size after the import."""
    peers = _peers(result)
    header = ["MB", *(PEERS[p].title for p in peers), *(f"{PEERS[p].title}, over" for p in peers)]
    rows = [
        [
            MODELS[row["name"]].title,
            *(_megabytes(row, peer, False) for peer in peers),
            *(_megabytes(row, peer, True) for peer in peers),
        ]
        for row in result["rows"]
    ]
    return _lines(header, rows)


def first_steps(result: Measured) -> str:
    """First steps, and the first five together, with an empty cache and in a second process."""
    others = [peer for peer in _peers(result) if peer != OURS]
    header = ["a first step / the first five", "numbaflow, cold", "kernels"]
    header += ["numbaflow, second process", *(PEERS[peer].title for peer in others)]
    rows = []
    for row in result["rows"]:
        cells = [_firsts(row, "", OURS) or "fails", str(row["compiled"].get(OURS, ""))]
        cells += [_firsts(row, "fresh_", peer) for peer in (OURS, *others)]
        rows.append([MODELS[row["name"]].title, *cells])
    return _lines(header, rows)


def _firsts(row: Measured, which: str, peer: str) -> str:
    """A peer's first step and first five."""
    times = (row.get(f"{which}{key}", {}).get(peer) for key in ("first", "five"))
    return " / ".join(duration(seconds) for seconds in times if seconds is not None)


def brief(result: Measured) -> str:
    """A sentence of steps and first steps, with where they were measured: what README says."""
    parts = []
    for peer in (peer for peer in _peers(result) if peer != OURS):
        found = [times for row in result["rows"] if (times := ratio(row, peer, "values"))]
        mean = mean_ratio(result, peer)
        if mean is not None:
            spread = f"{min(found):.2f} to {max(found):.2f}"
            parts.append(
                f"{spread} times as fast as {PEERS[peer].title}'s (geometric mean {mean:.2f})"
            )
    text = f"Steps of {len(result['rows'])} whole models are {', '.join(parts)}"
    for name, key in (("with an empty cache", "first"), ("in a second process", "fresh_first")):
        firsts = [row[key][OURS] for row in result["rows"] if OURS in row.get(key, {})]
        if firsts:
            text += f"; first steps {name} take {duration(min(firsts))} to {duration(max(firsts))}"
    return f"{text} ([docs/benchmarks.md](docs/benchmarks.md) has each): {_place(result)}"


def _place(result: Measured) -> str:
    machine: dict[str, Any] = result["machine"]
    versions = ", ".join(f"{PEERS[p].title} {result['peers'][p]}" for p in _peers(result))
    # What else runs makes long steps longer, by the clock.
    load = f", load {machine['load']} of {machine['cores']}" if "load" in machine else ""
    where = f"{machine['cpu']}, {machine['threads']} threads{load}"
    return f"{result['date'][:10]}, {where}; {versions}."


def page(result: Measured) -> str:
    """All tables, with where they were measured."""
    parts = [_place(result), steps(result), memory(result)]
    if result["settings"]["first_steps"]:
        parts.append(first_steps(result))
    failures = [
        f"{MODELS[row['name']].title} fails in {PEERS[peer].title}: {why}"
        for row in result["rows"]
        for peer, why in row["errors"].items()
    ]
    return "\n\n".join([*parts, *failures])
