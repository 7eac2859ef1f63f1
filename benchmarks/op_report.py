# SPDX-License-Identifier: Apache-2.0
"""The page of the survey of ops, docs/ops.md, from its figures."""

from __future__ import annotations

import textwrap
from typing import Any

from .op_notes import SLOW_BECAUSE
from .sides import PEERS, ROOT

RESULTS = ROOT / "benchmarks" / "op_results.json"
PAGE = ROOT / "docs" / "ops.md"
# What is not slower than this needs no reason.
AS_QUICK = 1.2
Row = dict[str, Any]


def title(row: Row) -> str:
    """The op, or its gradient."""
    return f"{row['op']}, gradient" if row.get("gradient") else row["op"]


def line(row: Row) -> str:
    """A row as one line of progress."""
    if "ratio" not in row:
        return f"{title(row)}: {row.get('error') or row.get('absent')}"
    hosted = "; ".join(row.get("hosted", ())) or "compiled"
    ours, theirs = (1e3 * row[peer] for peer in ("numbaflow", "tensorflow"))
    return f"{title(row)}: {ours:.3f} ms / {theirs:.3f} ms = {row['ratio']:.2f}  {hosted}"


def page(result: dict[str, Any]) -> str:
    """The page."""
    rows = sorted(result["rows"], key=lambda row: (row["op"], row.get("gradient", False)))
    measured = [row for row in rows if "ratio" in row]
    slow = [row for row in measured if row["ratio"] > AS_QUICK]
    compiled = sum(not row.get("hosted") for row in measured)
    parts = [_head(result), _summary(measured, slow, compiled), _table(measured)]
    parts.append(_reasons(slow))
    parts.append(_others([row for row in rows if "ratio" not in row]))
    return "\n".join(part for part in parts if part)


def _head(result: dict[str, Any]) -> str:
    machine, peers = result["machine"], result["peers"]
    dates = sorted({row["date"] for row in result["rows"] if "date" in row})
    when = dates[0] if dates[:1] == dates[-1:] else f"{dates[0]} to {dates[-1]}"
    threads = "1 thread" if machine["threads"] == 1 else f"{machine['threads']} threads"
    return f"""# Every op, against TensorFlow

Written by `python -m benchmarks.ops`: each op type and its gradient on about a million elements
(fewer where the cost is cubic, see `benchmarks/op_inputs.py`), in numbaflow {peers["numbaflow"]}
and TensorFlow {peers["tensorflow"]}, in turns. Feeding and fetching are part of a time; a time is
the least of all turns. Measured on {when}, {machine["cpu"]}
with {machine["cores"]} cores, {threads} each, Python {machine["python"]}.
"""


def _summary(measured: list[Row], slow: list[Row], compiled: int) -> str:
    faster = sum(row["ratio"] < 1 for row in measured)
    return (
        f"Of {len(measured)} rows {compiled} are compiled whole, {faster} are faster than "
        f"TensorFlow, and {len(slow)} are slower by more than {AS_QUICK - 1:.0%}.\n"
    )


def _table(measured: list[Row]) -> str:
    lines = ["| op | numbaflow ms | TensorFlow ms | ratio | how |", "|---|---:|---:|---:|---|"]
    for row in measured:
        how = "host: " + ", ".join(_host_types(row)) if row.get("hosted") else "compiled"
        ours, theirs = (1e3 * row[peer] for peer in ("numbaflow", "tensorflow"))
        lines.append(f"| {title(row)} | {ours:.3f} | {theirs:.3f} | {row['ratio']:.2f} | {how} |")
    return "\n".join(lines) + "\n"


def _host_types(row: Row) -> list[str]:
    return sorted({text.split(":")[0] for text in row["hosted"]})


def _reasons(slow: list[Row]) -> str:
    if not slow:
        return ""
    groups: dict[str, list[str]] = {}
    for row in sorted(slow, key=lambda row: -row["ratio"]):
        reason = reason_of(row) or "not looked into yet"
        groups.setdefault(reason, []).append(f"{title(row)} ({row['ratio']:.1f})")
    lines = [_listed(why, names) for why, names in groups.items()]
    return "\n".join(["## Slower, and why", "", *lines]) + "\n"


def _listed(what: str, names: list[str]) -> str:
    return textwrap.fill(
        f"- {what[0].upper()}{what[1:]}: {', '.join(names)}.",
        100,
        subsequent_indent="  ",
        break_long_words=False,
        break_on_hyphens=False,
    )


def reason_of(row: Row) -> str:
    """Why a row is slow, as far as somebody knows."""
    return SLOW_BECAUSE.get(title(row)) or SLOW_BECAUSE.get(row["op"], "")


def _others(rows: list[Row]) -> str:
    groups: dict[str, list[str]] = {}
    for row in rows:
        groups.setdefault(row.get("absent") or _failure(row["error"]), []).append(title(row))
    lines = [_listed(why, sorted(names)) for why, names in sorted(groups.items())]
    return "\n".join(["## Not measured", "", *lines]) + "\n"


def _failure(text: str) -> str:
    if "is not available in GraphDef version" in text:
        return "TensorFlow 2 has no such op any more"
    peer, _, message = text.partition(": ")
    kind = message.partition(":")[0]
    return f"{PEERS[peer].title} refuses the sample ({kind})"
