# SPDX-License-Identifier: Apache-2.0
"""A run's step statistics as a trace for chrome://tracing, event for event as TensorFlow's.

`Timeline(run_metadata.step_stats).generate_chrome_trace_format()` is the JSON text.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import field
from typing import TYPE_CHECKING, Any, NamedTuple

from ..engine.record_class import record

if TYPE_CHECKING:
    from ..engine.graph.graph import Graph

_LABEL = re.compile(r"(.*) = (.*)\((.*)\)")  # name = op(input, input)


class AllocationMaximum(NamedTuple):
    """When an allocator held most, how much, and for which tensors."""

    timestamp: int
    num_bytes: int
    tensors: set[str]


class StepStatsAnalysis(NamedTuple):
    """A trace and the maximum of each allocator."""

    chrome_trace: ChromeTrace
    allocator_maximums: dict[str, AllocationMaximum]


class ChromeTrace:
    """The events of a trace; the order of keys is that of TensorFlow's files."""

    def __init__(self) -> None:
        self.processes: list[dict[str, Any]] = []
        self.events: list[dict[str, Any]] = []

    def process(self, name: str, pid: int) -> None:
        """Names a process of the trace."""
        args = {"name": name}
        self.processes.append({"name": "process_name", "ph": "M", "pid": pid, "args": args})

    def event(
        self, phase: str, category: str, name: str, pid: int, tid: int, time: int, **more: Any
    ) -> None:
        """Adds an event of any phase."""
        fields = {"ph": phase, "cat": category, "name": name, "pid": pid, "tid": tid, "ts": time}
        self.events.append({**fields, **more})

    def format_to_string(self, pretty: bool = False) -> str:
        """The trace as JSON."""
        trace = {"traceEvents": self.processes + self.events}
        if pretty:
            return json.dumps(trace, indent=4, separators=(",", ": "))
        return json.dumps(trace, separators=(",", ":"))


@record
class _Tensor:
    """An output of a node: where and how long it lived."""

    name: str
    object_id: int
    created: int
    pid: int
    allocator: str
    num_bytes: int
    ready: tuple[int, int, int]  # time, pid and tid of the end of its producer
    released: list[int] = field(default_factory=list)

    @property
    def last_release(self) -> int:
        return max(self.released)


class Timeline:
    """Turns the StepStats of one run into a Chrome trace."""

    def __init__(self, step_stats: Any, graph: Graph | None = None) -> None:
        del graph  # TensorFlow takes it and does not use it.
        self._step_stats = step_stats
        self._trace = ChromeTrace()
        self._compute_pids: dict[str, int] = {}
        self._tensor_pids: dict[str, int] = {}
        self._tensors: dict[str, _Tensor] = {}
        self._flows = 0

    def generate_chrome_trace_format(
        self, show_dataflow: bool = True, show_memory: bool = False
    ) -> str:
        """The trace as JSON text, with arrows from producers to consumers, and memory if asked."""
        return self.analyze_step_stats(show_dataflow, show_memory).chrome_trace.format_to_string(
            pretty=True
        )

    def analyze_step_stats(
        self, show_dataflow: bool = True, show_memory: bool = True
    ) -> StepStatsAnalysis:
        """The trace as an object, and what each allocator held at most."""
        self._name_processes()
        self._assign_lanes()
        self._track_tensors(show_memory)
        for device, node in self._nodes():
            self._show_node(device, node, show_dataflow)
        maximums = self._show_allocators() if show_memory else {}
        return StepStatsAnalysis(self._trace, maximums)

    def _nodes(self) -> Iterator[tuple[str, Any]]:
        for device in self._step_stats.dev_stats:
            for node in device.node_stats:
                yield device.device, node

    def _name_processes(self) -> None:
        self._trace.process("Allocators", 0)
        for i, device in enumerate(self._step_stats.dev_stats):
            name = device.device
            self._compute_pids[name], self._tensor_pids[name] = 2 * i + 1, 2 * i + 2
            self._trace.process(f"{name} Compute", 2 * i + 1)
            self._trace.process(f"{name} Tensors", 2 * i + 2)

    def _assign_lanes(self) -> None:
        """Nodes that overlap in time on one device get thread ids of their own."""
        for device in self._step_stats.dev_stats:
            lanes = [0]  # when each lane is free again
            for node in device.node_stats:
                start = node.all_start_micros
                free = (i for i, end in enumerate(lanes) if start > end)
                node.thread_id = next(free, len(lanes))
                lanes[node.thread_id : node.thread_id + 1] = [start + node.all_end_rel_micros]

    def _track_tensors(self, show_memory: bool) -> None:
        for device, node in self._nodes():
            start = node.all_start_micros
            end = start + node.all_end_rel_micros
            tid = node.thread_id
            for index, output in enumerate(node.output):
                name = f"{node.node_name}:{index}" if index else node.node_name
                memory = output.tensor_description.allocation_description
                tensor = _Tensor(
                    name,
                    len(self._tensors),
                    start,
                    self._tensor_pids[device],
                    memory.allocator_name,
                    memory.requested_bytes,
                    (end, self._compute_pids[device], tid),
                    # It lives at least until its producer ends.
                    [end],
                )
                self._tensors[name] = tensor
                if show_memory:
                    self._show_tensor(tensor, start, end, tid, output)

    def _show_tensor(self, tensor: _Tensor, start: int, end: int, tid: int, output: Any) -> None:
        where = ("Tensor", tensor.name, tensor.pid, tid)
        self._trace.event("N", *where, start, id=tensor.object_id)
        description = str(output.tensor_description).replace('"', "")
        snapshot = {"snapshot": {"tensor_description": description}}
        self._trace.event("O", *where, end - 1, id=tensor.object_id, args=snapshot)

    def _show_node(self, device: str, node: Any, show_dataflow: bool) -> None:
        pid, tid, start = self._compute_pids[device], node.thread_id, node.all_start_micros
        is_gpu_trace = "/stream:" in device or "/memcpy" in device
        name, op, inputs = _parse(node, is_gpu_trace)
        args = {"name": name, "op": op, **{f"input{i}": text for i, text in enumerate(inputs)}}
        length = node.all_end_rel_micros
        self._trace.event("X", "Op", op, pid, tid, start, dur=length, args=args)
        for text in inputs if not is_gpu_trace else ():
            tensor = self._tensors.get(text) or self._tensors.get(_without_transfer(text))
            if tensor is None:
                continue  # The run computed it as part of something else.
            tensor.released.append(start + length - 1)
            if show_dataflow and tensor.ready[1:] != (pid, tid):
                self._show_flow(tensor, start, pid, tid)

    def _show_flow(self, tensor: _Tensor, start: int, pid: int, tid: int) -> None:
        ready, source_pid, source_tid = tensor.ready
        flow = ("DataFlow", tensor.name)
        self._trace.event("s", *flow, source_pid, source_tid, ready, id=self._flows)
        self._trace.event("t", *flow, pid, tid, start, id=self._flows)
        self._flows += 1

    def _show_allocators(self) -> dict[str, AllocationMaximum]:
        """A counter per allocator; returns when each held most."""
        changes: dict[str, list[tuple[int, int, str]]] = {}
        for tensor in self._tensors.values():
            last = tensor.last_release
            self._trace.event("D", "Tensor", tensor.name, tensor.pid, 0, last, id=tensor.object_id)
            history = changes.setdefault(tensor.allocator, [])
            history.append((tensor.created, tensor.num_bytes, tensor.name))
            history.append((last, -tensor.num_bytes, tensor.name))
        return {name: self._show_counter(name, sorted(changes[name])) for name in changes}

    def _show_counter(
        self, allocator: str, changes: list[tuple[int, int, str]]
    ) -> AllocationMaximum:
        total, alive = 0, set[str]()
        maximum = AllocationMaximum(0, 0, set())
        for time, num_bytes, name in changes:
            total += num_bytes
            if num_bytes < 0:
                alive.discard(name)
            else:
                alive.add(name)
            if total > maximum.num_bytes:
                maximum = AllocationMaximum(time, total, set(alive))
            self._trace.event("C", "Memory", allocator, 0, 0, time, args={allocator: total})
        return maximum


def _parse(node: Any, is_gpu_trace: bool) -> tuple[str, str, list[str]]:
    """The name, the op type and the inputs of a node."""
    if is_gpu_trace:  # "name:op"
        name, op = [*node.node_name.split(":"), "unknown"][:2]
        return name, op, []
    if node.node_name == "RecvTensor":
        return node.node_name, "RecvTensor", []
    match = _LABEL.match(node.timeline_label)
    if match is None:
        return node.node_name, "unknown", []
    return node.node_name, match[2], match[3].split(", ") if match[3] else []


def _without_transfer(name: str) -> str:
    """The name without the suffix that TensorFlow gives to transfers between devices."""
    index = name.rfind("/_")
    return name[:index] if index > 0 else name
