# SPDX-License-Identifier: Apache-2.0
"""What takes long in a profile, and what may be made faster."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from .measures import time
from .views import Node, View

if TYPE_CHECKING:
    from .counted import Counted

_MOST = 3
_OPTIONS: dict[str, Any] = {
    "max_depth": 100,
    "order_by": "micros",
    "account_type_regexes": [".*"],
    "account_displayed_op_only": False,
    "select": ["micros"],
}


def advise(operations: list[Counted], options: Iterable[str]) -> Any:
    """The AdviceProto of the checkers that options name, which is printed, too."""
    from ....io import protos

    made = protos.AdviceProto()
    for name in sorted({*options} & {*_CHECKERS}):
        made.checkers[name].reports.extend(_CHECKERS[name](operations))
        text = "".join(f"{line}\n" for line in made.checkers[name].reports)
        sys.stdout.write(f"\n{name}:\n{text}")
    return made


def _of(node: Node) -> str:
    own = node.own
    return _times(own["cpu_exec_micros"], own["accelerator_exec_micros"], own["exec_micros"])


def _times(here: int, there: int, both: int) -> str:
    return f"cpu: {time(here)}, accelerator: {time(there)}, total: {time(both)}"


def _expensive(operations: list[Counted]) -> Iterator[str]:
    """The types, name scopes and lines that took longest."""
    if not any(counts.executions for counts in operations):
        sys.stderr.write("Missing RunMetadata info. Skip ExpensiveOperationChecker\n")
        return
    root = View({**_OPTIONS, "min_micros": 1, "max_depth": _MOST}, None).types(operations)
    lines: list[str] = []
    node = root
    while node.children and len(lines) < _MOST:
        (node,) = node.children
        part = node.own["exec_micros"] / (root.total["exec_micros"] or 1)
        lines.append(f"top {len(lines) + 1} operation type: {node.name}, {_of(node)} ({part:.2%})")
    yield "\n".join(lines)
    view = View({**_OPTIONS, "min_micros": 100}, None)
    root = view.scopes(operations)
    view.shown(root)
    if root.children:
        yield "\n".join(
            f"top {place} graph node: {node.name}, {_scope(node)}"
            for place, node in enumerate(root.children[:_MOST], 1)
        )
    view = View({**_OPTIONS, "min_micros": 1000}, None)
    root = view.lines(operations)
    view.shown(root)
    if root.children:
        yield "\n".join(f"{node.name}, {_of(node)}" for node in root.children[:_MOST])


def _scope(node: Node) -> str:
    # (A scope is its operations; TensorFlow says 0 of it.)
    total = node.total
    return _times(total["cpu_exec_micros"], total["accelerator_exec_micros"], total["exec_micros"])


def _accelerators(operations: list[Counted]) -> Iterator[str]:
    """How much of the time accelerators are busy."""
    spans: dict[str, list[tuple[int, int]]] = {}
    busy: dict[str, int] = {}
    for counts in operations:
        if not counts.executions or not any(x in counts.device for x in ("gpu", "sycl")):
            continue
        last = counts.executions[max(counts.executions)]
        spans.setdefault(counts.device, []).extend(
            (span.start, span.start + span.length) for span in last.spans
        )
        busy[counts.device] = busy.get(counts.device, 0) + last.micros(accelerator=True)
    for device, when in sorted(spans.items()):
        whole = max(end for _, end in when) - min(start for start, _ in when)
        if whole > 0:
            part = busy[device] / whole
            yield f"device: {device} {'' if part >= 0.5 else 'low '}utilization: {part:.2f}"


def _operations(operations: list[Counted]) -> Iterator[str]:
    """Operations that others do faster."""
    types = {kind for counts in operations for kind in counts.types}
    if any("BatchNorm" in counts.name for counts in operations) and "FusedBatchNorm" not in types:
        yield "Maybe use faster FusedBatchNorm instead of BatchNorm"
    if any(counts.data_format == "NHWC" and "gpu" in counts.device for counts in operations):
        yield "Found operation using NHWC data_format on GPU. Maybe NCHW is faster."


_CHECKERS = {
    "AcceleratorUtilizationChecker": _accelerators,
    "ExpensiveOperationChecker": _expensive,
    "OperationChecker": _operations,
}
