# SPDX-License-Identifier: Apache-2.0
"""What RunMetadata tells of each operation: times, memory, shapes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import field
from typing import Any, NamedTuple

from ....engine.record_class import record

_DEVICE = re.compile(r".*/(device:gpu|gpu|device:cpu|cpu|device:sycl):\d+")
MEMORY = ("requested_bytes", "peak_bytes", "residual_bytes", "output_bytes")


class Span(NamedTuple):
    """Where and when an operation ran: microseconds."""

    device: str
    start: int
    length: int


@record
class Execution:
    """How an operation ran in a step; in loops it runs more than once."""

    spans: list[Span] = field(default_factory=list)
    memory: dict[str, int] = field(default_factory=lambda: dict.fromkeys(MEMORY, 0))

    @property
    def run_count(self) -> int:
        """How often it ran."""
        return sum(1 for span in self.spans if _DEVICE.fullmatch(span.device))

    def micros(self, accelerator: bool) -> int:
        """How long it ran, on accelerators or elsewhere."""
        return sum(
            span.length
            for span in self.spans
            if ("stream:all" in span.device if accelerator else _DEVICE.fullmatch(span.device))
        )

    def measures(self) -> dict[str, int]:
        """All that is measured, by the names of messages' fields."""
        there, here = self.micros(True), self.micros(False)
        times = {"accelerator_exec_micros": there, "cpu_exec_micros": here}
        return {**self.memory, **times, "exec_micros": there + here, "run_count": self.run_count}

    def add(self, device: str, stats: Any) -> None:
        """Counts a run of it."""
        if not stats.all_start_micros:
            return
        # (What takes less than a microsecond takes one.)
        length = stats.op_end_rel_micros or 1
        self.spans.append(Span(device, stats.all_start_micros, length))
        if not _DEVICE.fullmatch(device):
            return
        described = (x.tensor_description.allocation_description for x in stats.output)
        outputs = sum(max(x.allocated_bytes, x.requested_bytes) for x in described)
        kept = _kept(stats.memory_stats)
        used = kept + stats.memory_stats.temp_memory_size
        self.memory["output_bytes"] += outputs
        if not stats.memory and not used:
            # Plans have one piece of memory for all results: what a result takes was asked for.
            for name in MEMORY[:3]:
                self.memory[name] += outputs
            return
        self.memory["requested_bytes"] += used + sum(m.total_bytes for m in stats.memory)
        self.memory["peak_bytes"] += used + sum(m.peak_bytes for m in stats.memory)
        self.memory["residual_bytes"] += kept + sum(m.live_bytes for m in stats.memory)


def _kept(stats: Any) -> int:
    return int(stats.persistent_memory_size)


def node_stats(run_meta: Any) -> Iterator[tuple[str, str, Any]]:
    """(device, operation, NodeExecStats) of a run."""
    for device in run_meta.step_stats.dev_stats:
        for stats in device.node_stats:
            yield device.device.lower(), stats.node_name.partition(":")[0], stats


def average(executions: Iterable[Execution], field_name: str) -> int:
    """What a measure is in a step, of the steps in which the operation ran."""
    found = [execution.measures()[field_name] for execution in executions]
    return sum(found) // len(found) if found else 0
