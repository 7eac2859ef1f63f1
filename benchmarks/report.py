# SPDX-License-Identifier: Apache-2.0
"""From a result's JSON to tables: what was measured, what was promised, how far the limit is.

`python -m benchmarks.report` writes the newest result of benchmarks/results/ into README.md (the
table) and docs/benchmarks.md (the details).  The same JSON always gives the same text.
"""

from __future__ import annotations

import json
import os
import platform
import re
import statistics
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from .rows import ROWS, Promise, duration
from .sides import PEERS, SAME_PACKAGE

RESULTS = Path(__file__).parent / "results"
ROOT = Path(__file__).parent.parent
OURS = "numbaflow"
_TITLES = {name: peer.title for name, peer in PEERS.items()}
Measured = dict[str, Any]


def value(row: Measured, peer: str) -> float | None:
    """The median over the rounds."""
    rounds = row.get("values", {}).get(peer)
    return statistics.median(rounds) if rounds else None


def ratios(row: Measured, peer: str) -> list[float]:
    """Our time over the peer's, round by round; the medians' alone where rounds differ."""
    ours, theirs = (row.get("values", {}).get(p) or [] for p in (OURS, peer))
    if len(ours) == len(theirs):
        return [a / b for a, b in zip(ours, theirs)]
    return [statistics.median(ours) / statistics.median(theirs)] if ours and theirs else []


def ratio(row: Measured, peer: str) -> float | None:
    """The median of the ratios within rounds."""
    found = ratios(row, peer)
    return statistics.median(found) if found else None


def best_peer(row: Measured) -> tuple[str, float] | None:
    """The fastest other peer and our time over its."""
    others = {p: value(row, p) for p in row.get("values", {}) if p != OURS}
    if not others or row["unit"] == "x":
        return None
    best = min(others, key=lambda p: others[p] or 0.0)
    return best, ratio(row, best) or 0.0


def judge(row: Measured, promise: Promise) -> bool | None:
    """Whether a promise is kept; None where there is none or a peer that it names is missing."""
    if OURS in row.get("errors", {}):
        return False
    ours, verdicts = value(row, OURS), []
    if promise.seconds is not None:
        verdicts.append(ours is not None and ours <= promise.seconds)
    if promise.times is not None:
        measured = ratio(row, promise.peer) if promise.peer else ours
        if measured is None:
            return None
        verdicts.append(measured <= promise.times)
    if promise.compiled is not None:
        verdicts.append(row.get("compiled", {}).get(OURS) == promise.compiled)
    return all(verdicts) if verdicts else None


def kept(result: Measured) -> bool:
    """Whether nothing that must be reached was missed."""
    return all(judge(row, ROWS[row["name"]].must) is not False for row in result["rows"])


@dataclass(frozen=True)
class Limit:
    """What the machine allows for a row: bytes and operations a second, and the least seconds."""

    bandwidth: float
    rate: float
    moving: float
    computing: float

    @property
    def seconds(self) -> float:
        """Neither moving nor computing can be done in less."""
        return max(self.moving, self.computing)

    @property
    def reason(self) -> str:
        """Which of them sets the limit."""
        return "bytes" if self.moving >= self.computing else "operations"


def limit(result: Measured, row: Measured) -> Limit | None:
    """The limit of a row whose cost is known.

    Bytes are held against the best copy of the row's footprint, between its turns or (the next
    larger footprint) before and after all rows: what fits in a cache, against that cache.
    """
    cost = row.get("cost")
    if cost is None:
        return None
    copies = result["limits"]["copies"]
    bandwidth = next((r for size, r in copies if size >= cost["footprint"]), copies[-1][1])
    bandwidth = max([bandwidth, *row.get("copies", [])])
    rate = max(result["limits"]["products"][cost["dtype"]].values())
    return Limit(bandwidth, rate, cost["bytes"] / bandwidth, cost["operations"] / rate)


def distance(result: Measured, row: Measured) -> float | None:
    """Our time over the machine's limit."""
    bound, ours = limit(result, row), value(row, OURS)
    return ours / bound.seconds if bound and ours else None


def _shown(row: Measured, amount: float | None) -> str:
    if amount is None:
        return ""
    if row["unit"] == "x":
        return f"{amount:.2f} × a step"
    return f"{amount / 1e6:.0f} MB" if row["unit"] == "B" else duration(amount)


def _cell(result: Measured, row: Measured, peer: str) -> str:
    if peer in row.get("errors", {}):
        return "fails"
    if ROWS[row["name"]].kind in ("cold", "warm") and peer != OURS:
        rows = {other["name"]: other for other in result["rows"]}
        first = rows.get(ROWS[row["name"]].workload, {}).get("first", {}).get(peer)
        return duration(first) if first is not None and row["name"].endswith("cold") else ""
    return _shown(row, value(row, peer))


def _promise(row: Measured, promise: Promise) -> str:
    words = promise.words(_TITLES)
    return f"{words} {({True: '✓', False: '✗', None: '?'})[judge(row, promise)]}" if words else ""


def _times(number: float | None) -> str:
    if number is None:
        return ""
    if number >= 99.5:
        return "> 99"  # a call costs more than its work
    return f"{number:.2f}" if number < 9.95 else f"{number:.0f}"


def _lines(header: list[str], rows: list[list[str]], numbers: int) -> list[str]:
    marks = ["---", *["---:"] * numbers, *["---"] * (len(header) - numbers - 1)]
    return [f"| {' | '.join(cells)} |" for cells in (header, marks, *rows)]


def table(result: Measured, kinds: set[str] | None = None) -> str:
    """The table: times by peer, distances, what must be reached and what is aimed at."""
    peers = [peer for peer in PEERS if peer in result["peers"]]
    header = ["", *(_TITLES[p] for p in peers), "× best", "× limit", "must reach", "goal"]
    rows = []
    for row in result["rows"]:
        spec, best = ROWS[row["name"]], best_peer(row)
        if kinds is None or spec.kind in kinds:
            cells = [spec.title, *(_cell(result, row, peer) for peer in peers)]
            cells += [_times(best[1] if best else None), _times(distance(result, row))]
            rows.append([*cells, _promise(row, spec.must), _promise(row, spec.goal)])
    return "\n".join(_lines(header, rows, len(peers) + 2))


def readme(result: Measured) -> str:
    """What README shows: where and with what, what the marks mean, and the table of most rows."""
    first = (
        f"`make bench` runs the same work here and in other systems, in turns: {_place(result)} "
        "“× best” is our time over the fastest other system's, “× limit” over what the machine's "
        "bandwidth and arithmetic allow; [docs/benchmarks.md](docs/benchmarks.md) says how, and "
        "has all figures."
    )
    shown = table(result, {"step", "new_batch", "import", "start", "memory"})
    return "\n".join([f"{first} {_others_in_words(result)}".strip(), "", shown])


def _others_in_words(result: Measured) -> str:
    """The Adam update's bandwidth beside a plain copy's, and what a second process does."""
    rows = {row["name"]: row for row in result["rows"]}
    parts = []
    adam = rows.get("adam_update", {})
    bound, ours = limit(result, adam), value(adam, OURS)
    if bound and ours:
        moved = adam["cost"]["bytes"] / ours / 1e9
        parts.append(
            f"The Adam update moves {moved:.0f} GB/s, a plain copy {bound.bandwidth / 1e9:.0f}."
        )
    cold, warm = (value(rows.get(name, {}), OURS) for name in ("lstm_cold", "lstm_warm"))
    if cold and warm:
        parts.append(
            f"The LSTM's first call takes {duration(cold)} with an empty cache and "
            f"{duration(warm)} in a second process,"
        )
        compiled = rows.get("second_process", {}).get("compiled", {}).get(OURS)
        parts.append("where none of these programs compiles." if compiled == 0 else "warm.")
    return " ".join(parts)


def _place(result: Measured) -> str:
    facts = result["machine"]
    peers = ", ".join(
        f"{_TITLES[p]} {result['peers'][p]}"
        for p in PEERS
        if p in result["peers"] and p not in SAME_PACKAGE
    )
    copies, products = result["limits"]["copies"], result["limits"]["products"]["float32"]
    return (
        f"{result['date'][:10]}, {facts['cpu']}, {facts['threads']} threads, copies "
        f"{copies[-1][1] / 1e9:.0f} GB/s, sgemm {2e-9 * max(products.values()):.0f} GFLOP/s; "
        f"{peers}."
    )


def details(result: Measured) -> str:
    """All that was measured: the table, ratios with spread, first calls, limits, memory."""
    parts = [
        _place(result),
        table(result),
        "**Our time over the peer's**: median (least to most) of the rounds.",
        "\n".join(_ratio_table(result)),
        "**First calls**, with compiling.",
        "\n".join(_first_table(result)),
        "**Limits of the machine**, row by row.",
        "\n".join(_limit_table(result)),
        "**The machine**.",
        "\n".join(_machine_table(result)),
    ]
    for row in result["rows"]:
        if "peak" in row:
            parts += ["**Memory** of the LeNet step.", "\n".join(_memory_table(row))]
    for row in result["rows"]:
        if "compiling" in row:
            first = row.get("first", {}).get(OURS) or value(row, OURS) or 0.0
            parts.append(
                f"{ROWS[row['name']].title}: {duration(row['compiling'][OURS])} in the compiler "
                f"for {row['compiled'][OURS]} kernels, {duration(first)} in the first call."
            )
    return "\n\n".join(parts)


def _others(result: Measured) -> list[str]:
    return [peer for peer in PEERS if peer in result["peers"] and peer != OURS]


def _ratio_table(result: Measured) -> list[str]:
    peers, rows = _others(result), []
    for row in result["rows"]:
        if ROWS[row["name"]].kind == "step":
            cells = []
            for peer in peers:
                found = ratios(row, peer)
                spread = f" ({min(found):.2f} to {max(found):.2f})" if found else ""
                cells.append(_times(ratio(row, peer)) + spread)
            rows.append([ROWS[row["name"]].title, *cells])
    return _lines(["", *(_TITLES[p] for p in peers)], rows, len(peers))


def _first_table(result: Measured) -> list[str]:
    peers = [OURS, *_others(result)]
    warm: dict[str, float] = {}
    for row in result["rows"]:
        warm = row.get("by_workload", warm)
    rows = []
    for row in result["rows"]:
        if ROWS[row["name"]].kind == "step":
            first = row.get("first", {})
            cells = [duration(first[p]) if p in first else "" for p in peers]
            second = duration(warm[row["name"]]) if row["name"] in warm else ""
            rows.append([ROWS[row["name"]].title, second, *cells])
    return _lines(["", "numbaflow, warm", *(_TITLES[p] for p in peers)], rows, len(peers) + 1)


def _limit_table(result: Measured) -> list[str]:
    rows = []
    for row in result["rows"]:
        bound, ours = limit(result, row), value(row, OURS)
        if bound is None or ours is None:
            continue
        cells = [duration(bound.seconds), bound.reason, _times(distance(result, row))]
        for amount, most in (("bytes", bound.bandwidth), ("operations", bound.rate)):
            done = row["cost"][amount]
            cells += [f"{done / 1e6:.3g}", f"{done / ours / 1e9:.1f}", f"{most / 1e9:.0f}"]
        rows.append([ROWS[row["name"]].title, *cells])
    header = ["", "limit", "set by", "× limit", "MB", "GB/s", "copy", "M ops", "Gop/s", "product"]
    return _lines(header, rows, len(header) - 1)


def _machine_table(result: Measured) -> list[str]:
    limits = result["limits"]
    copies = [f"{rate / 1e9:.0f}" for _, rate in limits["copies"]]
    header = ["", *(f"{size >> 20} MiB" for size, _ in limits["copies"])]
    lines = _lines(header, [["copy, GB/s read and written", *copies]], len(copies))
    for dtype, rates in limits["products"].items():
        both = ", ".join(f"{2e-9 * rate:.0f} by {who}" for who, rate in rates.items())
        lines += ["", f"Matrix products in {dtype}, GFLOP/s: {both}."]
    return lines


def _memory_table(row: Measured) -> list[str]:
    peers = [peer for peer in PEERS if peer in row["peak"]]
    shown = [
        ["peak of the process", *(f"{row['peak'][p] / 1e6:.0f} MB" for p in peers)],
        ["after import", *(f"{row['baseline'][p] / 1e6:.0f} MB" for p in peers)],
        ["peak over import", *(_shown(row, value(row, p)) for p in peers)],
    ]
    return _lines(["", *(_TITLES[p] for p in peers)], shown, len(peers))


def machine(threads: int) -> Measured:
    """The CPU, threads and versions that the figures belong to; nothing that names the host."""
    packages: dict[str, str | None] = {}
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


def put(page: Path, text: str, name: str = "benchmarks") -> None:
    """Puts a text between the markers of a page."""
    block = f"<!-- {name} -->\n{text}\n<!-- /{name} -->"
    marked = re.compile(rf"<!-- {name} -->.*<!-- /{name} -->", re.S)
    page.write_text(marked.sub(lambda _: block, page.read_text()))


def main() -> None:
    """Puts the newest results into the pages."""
    from .models import tables

    folders = RESULTS, RESULTS / "models"
    result, models = (json.loads(max(place.glob("*.json")).read_text()) for place in folders)
    first, rest = readme(result).split("\n", 1)
    put(ROOT / "README.md", f"{first} {tables.brief(models)}\n{rest}")
    put(ROOT / "docs" / "benchmarks.md", details(result))
    put(ROOT / "docs" / "benchmarks.md", tables.page(models), "models")


if __name__ == "__main__":
    main()
