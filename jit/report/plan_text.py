# SPDX-License-Identifier: Apache-2.0
"""A plan's report as text: a table of its steps, and what there is to say besides.

Imports nothing heavy; jit/report/plan_report.py has the data.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .plan_report import Buffer, KernelReport, PlanReport

_MOST_OPS = 76  # letters of the operations in a row
_MOST_NAME = 48  # letters of a buffer's name
_MOST_PAIRS = 8  # of steps that are apart for one reason


def size_text(count: float) -> str:
    """1234567 as 1.2 MB."""
    return _scaled(count, ("B", "kB", "MB", "GB", "TB"))


def count_text(count: float) -> str:
    """1234567 as 1.2 M."""
    return _scaled(count, ("", "k", "M", "G", "T")).strip()


def _scaled(count: float, units: Sequence[str]) -> str:
    power = 0
    # What would be rounded up to 1000.0 is one of the next unit.
    while count >= 999.95 and power < len(units) - 1:
        count, power = count / 1000, power + 1
    return f"{count:.1f} {units[power]}" if power else f"{count:.0f} {units[0]}"


def counted(count: int, thing: str) -> str:
    """1 kernel, 2 kernels."""
    return f"{count} {thing}{'s' * (count != 1)}"


def seconds_text(seconds: float) -> str:
    """0.0012 as 1.20 ms."""
    for factor, unit in ((1, "s"), (1e3, "ms")):
        if seconds * factor >= 1:
            return f"{seconds * factor:.2f} {unit}"
    return f"{seconds * 1e6:.1f} µs"


def table(report: PlanReport) -> str:
    """What the plan is as a whole, and a row for each step."""
    columns: list[tuple[str, str, Callable[[KernelReport], str]]] = [
        ("kernel", "<", _kernel),
        ("loops", "<", lambda k: k.work),
        ("moves", ">", lambda k: size_text(k.bytes)),
        ("operations", ">", lambda k: count_text(k.operations) if k.operations else ""),
    ]
    if report.machine is not None:
        columns.append(("at best", ">", lambda k: seconds_text(k.at_best) if k.at_best else ""))
    if report.seconds:
        columns.append(("time", ">", lambda k: seconds_text(k.seconds) if k.seconds else ""))
    if report.seconds and report.machine is not None:
        columns.append(("of best", ">", _share))
    columns.append(("fuses", "<", _fused))
    rows = [("", *(title for title, _, _ in columns))]
    rows += [(str(n), *(text(k) for _, _, text in columns)) for n, k in enumerate(report.kernels)]
    sides = [">", *(side for _, side, _ in columns)]
    return "\n".join([*_head(report), *aligned(rows, sides)])


def aligned(rows: Sequence[Sequence[str]], sides: Sequence[str]) -> Iterator[str]:
    """Rows of cells as lines; sides says for each column which way it is pushed."""
    widths = [max(map(len, column)) for column in zip(*rows)]
    for row in rows:
        cells = (f"{cell:{side}{width}}" for cell, side, width in zip(row, sides, widths))
        yield "  ".join(cells).rstrip()


def _head(report: PlanReport) -> Iterator[str]:
    times = ""
    if report.seconds:
        times = f" in {seconds_text(report.seconds)}"
    if report.at_best:
        times += f" (at best {seconds_text(report.at_best)})"
    moved = sum(kernel.bytes for kernel in report.kernels)
    operations = sum(kernel.operations for kernel in report.kernels)
    yield (
        f"plan     {counted(len(report.kernels), 'step')}{times}: {size_text(moved)} moved, "
        f"{count_text(operations)} operations"
    )
    between = size_text(report.between_bytes)
    scratch = f", and {size_text(report.scratch_bytes)} for each thread" * bool(
        report.scratch_bytes
    )
    yield f"memory   {size_text(report.arena_bytes)} for {between} between steps{scratch}"
    distinct = len({k.key for k in report.kernels if k.key})
    compiled = f", {report.cache_misses} compiled in {report.compile_seconds:.2f} s"
    yield (
        f"kernels  {distinct}: {report.cache_hits} from the cache"
        f"{compiled * bool(report.cache_misses)}; traced in {report.trace_seconds * 1e3:.0f} ms"
    )
    if report.machine is not None:
        yield f"machine  {report.machine.text}"
    if report.start:
        yield f"starts   with {report.start}"
    if report.guards:
        yield f"serves   sizes with {', '.join(report.guards)}"
    if report.follows:
        yield f"then     {report.follows}"


def _kernel(kernel: KernelReport) -> str:
    return "host" if kernel.kind == "host" else kernel.name


def _share(kernel: KernelReport) -> str:
    """How near a step comes to what is possible; above 100 % by luck of the clock."""
    if not (kernel.at_best and kernel.seconds):
        return ""
    return f"{min(kernel.at_best / kernel.seconds, 1):.0%}"


def _fused(kernel: KernelReport) -> str:
    ops = " ".join(kernel.ops)
    if len(ops) > _MOST_OPS:
        ops = f"{ops[: _MOST_OPS - 1]}… ({len(kernel.ops)} ops)"
    return f"{ops}: {kernel.reason}" if kernel.kind == "host" else ops


def details(report: PlanReport) -> str:
    """Why steps that feed each other are apart, and every buffer with its life."""
    parts = []
    reasons: dict[str, list[str]] = {}
    for number, kernel in enumerate(report.kernels):
        for boundary in kernel.boundaries:
            # By reason: a large plan has thousands of pairs and a dozen reasons.
            reasons.setdefault(boundary.reason, []).append(f"{boundary.step}→{number}")
    if reasons:
        parts.append("why steps are apart")
        for reason, pairs in reasons.items():
            few = ", ".join(dict.fromkeys(pairs[:_MOST_PAIRS]))
            more = f" … ({len(pairs)})" if len(pairs) > _MOST_PAIRS else ""
            parts.append(f"  {few}{more}: {reason}")
    if report.buffers:
        parts += ["buffers", *(f"  {line}" for line in _buffers(report.buffers))]
    return "\n".join(parts)


def _short(name: str) -> str:
    """A name of at most _MOST_NAME letters; the end says most."""
    return name if len(name) <= _MOST_NAME else f"…{name[1 - _MOST_NAME :]}"


def _buffers(buffers: Sequence[Buffer]) -> Iterator[str]:
    rows = [("", "name", "kind", "holds", "bytes", "steps", "at")]
    for number, b in enumerate(buffers):
        life = str(b.first) if b.first == b.last else f"{b.first}-{b.last}"
        shape = ",".join(map(str, b.shape))
        kind = f"{b.kind}, fetched" if b.fetched else b.kind
        place = "" if b.offset is None else str(b.offset)
        what = (_short(b.name), kind, f"{b.dtype}[{shape}]")
        rows.append((str(number), *what, size_text(b.bytes), life, place))
    return aligned(rows, "><<<>>>")
