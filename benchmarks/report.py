# SPDX-License-Identifier: Apache-2.0
"""What the benchmarks promise, and the table that says whether it was kept.

`python -m benchmarks.report` writes the newest result of benchmarks/results/ into README.md.
"""

from __future__ import annotations

import json
import os
import platform
import re
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent


@dataclass(frozen=True)
class Promise:
    """A limit on seconds, on the ratio to TensorFlow or to a later step, or on compiled kernels."""

    seconds: float | None = None
    ratio: float | None = None
    compiled: int | None = None

    def text(self) -> str:
        """The limits in words."""
        parts = []
        if self.seconds is not None:
            parts.append(f"≤ {duration(self.seconds)}")
        if self.ratio is not None:
            parts.append(f"≤ {self.ratio:g} ×")
        if self.compiled is not None:
            parts.append(f"{self.compiled} kernels compiled")
        return ", ".join(parts)


PROMISES = {
    "two_scalar_ops": Promise(seconds=15e-6),
    "ten_op_chain": Promise(seconds=20e-6),
    "black_scholes_f32_1e6": Promise(ratio=0.6),
    "mlp_adam_b128": Promise(ratio=1.0),
    "new_batch_size": Promise(ratio=2.0, compiled=0),
    "import": Promise(seconds=0.3),
    "start_cold": Promise(seconds=10.0),
    "start_warm": Promise(seconds=2.0, compiled=0),
}


@dataclass
class Row:
    """The figures of one workload, by peer."""

    name: str
    seconds: dict[str, float] = field(default_factory=dict)
    first: dict[str, float] = field(default_factory=dict)
    ratios: dict[str, float] = field(default_factory=dict)
    compiled: dict[str, int] = field(default_factory=dict)
    errors: dict[str, str] = field(default_factory=dict)

    def as_json(self) -> dict[str, Any]:
        """The fields that hold something."""
        return {name: value for name, value in vars(self).items() if value}


def ratio(row: dict[str, Any]) -> float | None:
    """Our time over TensorFlow's, or a first step over a later one."""
    if "ratios" in row:
        return row["ratios"].get("numbaflow")
    seconds = row.get("seconds", {})
    if "numbaflow" in seconds and "tensorflow" in seconds:
        return seconds["numbaflow"] / seconds["tensorflow"]
    return None


def judge(row: dict[str, Any]) -> bool | None:
    """Whether the promise was kept; None where there is none or it cannot be told."""
    promise = PROMISES.get(row["name"])
    if "numbaflow" in row.get("errors", {}):
        return False
    if promise is None:
        return None
    verdicts: list[bool] = []
    if promise.seconds is not None:
        verdicts.append(row["seconds"]["numbaflow"] <= promise.seconds)
    if promise.ratio is not None:
        measured = ratio(row)
        if measured is None:
            return None
        verdicts.append(measured <= promise.ratio)
    if promise.compiled is not None:
        verdicts.append(row.get("compiled", {}).get("numbaflow", 0) <= promise.compiled)
    return all(verdicts)


def duration(seconds: float) -> str:
    """Three digits and a unit."""
    if seconds >= 1:
        return f"{seconds:.3g} s"
    return f"{seconds * 1e3:.3g} ms" if seconds >= 1e-3 else f"{seconds * 1e6:.3g} µs"


def show(result: dict[str, Any]) -> str:
    """The result as a Markdown table under a line about the machine."""
    facts = result["machine"]
    peers = ", ".join(f"{name} {number}" for name, number in result["peers"].items())
    lines = [
        f"{result['date'][:10]}, {facts['cpu']}, {facts['threads']} threads; {peers}.",
        "",
        "| workload | numbaflow | TensorFlow | ratio | promised | kept |",
        "|---|---:|---:|---:|---|---|",
    ]
    for row in result["rows"]:
        cells = [row["name"].replace("_", " "), _cell(row, "numbaflow"), _cell(row, "tensorflow")]
        measured = ratio(row)
        cells.append("" if measured is None else f"{measured:.2f}")
        promise = PROMISES.get(row["name"])
        cells.append("" if promise is None else promise.text())
        cells.append({True: "yes", False: "no", None: ""}[judge(row)])
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def _cell(row: dict[str, Any], peer: str) -> str:
    if peer in row.get("errors", {}):
        return "fails: " + row["errors"][peer][:80].replace("|", "/")
    if peer in row.get("ratios", {}):
        return f"{row['ratios'][peer]:.2f} × a step"
    if peer in row.get("seconds", {}):
        return duration(row["seconds"][peer])
    return ""


def machine(threads: int) -> dict[str, Any]:
    """The CPU, threads and versions that the figures belong to; nothing that names the host."""
    packages = {}
    for package in ("numpy", "numba", "llvmlite", "scipy"):
        try:
            packages[package] = version(package)
        except PackageNotFoundError:
            packages[package] = None
    return {
        "cpu": _cpu_model(),
        "cores": os.cpu_count(),
        "threads": threads,
        "system": platform.system(),
        "python": platform.python_version(),
        "packages": packages,
    }


def _cpu_model() -> str:
    try:
        text = Path("/proc/cpuinfo").read_text()
    except OSError:
        return platform.processor() or platform.machine()
    found = re.search(r"^model name\s*:\s*(.*)$", text, re.M)
    return found.group(1).strip() if found else platform.machine()


def main() -> None:
    """Puts the newest table between the markers in README.md."""
    newest = max((HERE / "results").glob("*.json"))
    table = show(json.loads(newest.read_text()))
    readme = HERE.parent / "README.md"
    block = f"<!-- benchmarks -->\n{table}\n<!-- /benchmarks -->"
    marked = re.compile(r"<!-- benchmarks -->.*<!-- /benchmarks -->", re.S)
    readme.write_text(marked.sub(lambda _: block, readme.read_text()))


if __name__ == "__main__":
    main()
