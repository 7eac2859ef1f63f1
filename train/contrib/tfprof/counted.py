# SPDX-License-Identifier: Apache-2.0
"""What profiles count of each operation: parameters and floating-point operations."""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from dataclasses import field
from math import prod
from typing import TYPE_CHECKING, Any

from ....engine.graph.collections import GraphKeys
from ....engine.interface.statistics import get_stats_for_node_def
from ....engine.record_class import record
from .executions import Execution, average, node_stats
from .option_builder import TRAINABLE_VARIABLES

if TYPE_CHECKING:
    from ....engine.graph.graph import Graph
    from ....engine.graph.operation import Operation
# What a single RunMetadata is a part of.
ONLY_STEP = 0


@record
class Counted:
    """An operation's counts."""

    name: str
    types: set[str] = field(default_factory=set)
    sizes: list[int] = field(default_factory=list)
    parameters: int = 0
    float_ops: int = 0
    device: str = ""
    # The operation's own type; "" for a scope.
    op_type: str = ""
    inputs: list[str] = field(default_factory=list)
    input_shapes: list[list[int] | None] = field(default_factory=list)
    # The program's line: file, line, function.
    line: tuple[str, int, str] = ("", 0, "")
    data_format: str = ""
    # By steps.
    executions: dict[int, Execution] = field(default_factory=dict)

    def measure(self, name: str, step: int = -1) -> int:
        """A number of it, by the name of its field; in a step, or on the average of steps."""
        if name in ("parameters", "float_ops"):
            return int(getattr(self, name))
        chosen = self.executions.values() if step < 0 else [self.executions.get(step)]
        return average([execution for execution in chosen if execution], name)

    def is_accounted(self, patterns: Sequence[str]) -> bool:
        """Whether one of its types matches a pattern; ".*" alone matches also what has none."""
        if list(patterns) == [".*"]:
            return True
        return any(re.fullmatch(pattern, kind) for pattern in patterns for kind in self.types)


def counted(graph: Graph, op_log: Any, run_meta: Any) -> list[Counted]:
    """The counts of a graph's operations, completed by an OpLogProto."""
    from . import flops_registry  # noqa: F401  registers the statistics

    if run_meta is not None:
        learn_shapes(graph, run_meta)
    found: dict[str, Counted] = {}
    unknown = 0
    for op in graph.get_operations():
        entry = found[op.name] = _described(op)
        entry.sizes, entry.parameters = _parameters(op)
        try:
            entry.float_ops = int(get_stats_for_node_def(graph, op.node_def, "flops").value or 0)
        except ValueError:
            unknown += 1
    for variable in graph.get_collection(GraphKeys.TRAINABLE_VARIABLES):
        if variable.op.name in found:
            found[variable.op.name].types.add(TRAINABLE_VARIABLES)
    for logged in op_log.log_entries if op_log is not None else ():
        if logged.name in found:
            found[logged.name].types.update(logged.types)
            found[logged.name].float_ops = logged.float_ops or found[logged.name].float_ops
    if unknown and run_meta is None:
        sys.stderr.write(f"{unknown} ops no flops stats due to incomplete shapes.\n")
    if run_meta is not None:
        add_step(found, ONLY_STEP, run_meta)
    return list(found.values())


def _described(op: Operation) -> Counted:
    """What an operation is, without counts."""
    made = Counted(op.name, {op.type}, device=op.device, op_type=op.type)
    made.inputs = [x.op.name for x in op.inputs] + [x.name for x in op.control_inputs]
    made.input_shapes = [_known(x.shape) for x in op.inputs]
    made.line = op.traceback[0][:3]
    layout = op._attrs.get("data_format", "")
    made.data_format = layout.decode() if isinstance(layout, bytes) else layout
    return made


def _known(shape: Any) -> list[int] | None:
    """Sizes as profiles write them; None for unknown ones."""
    return (shape.as_list() or [1]) if shape.is_fully_defined() else None


def add_step(operations: dict[str, Counted], step: int, run_meta: Any) -> float:
    """Counts what a run tells, as a part of a step; which part of the operations it tells of."""
    for device, name, stats in node_stats(run_meta):
        if name not in operations:
            # Nodes that the runtime made.
            operations[name] = Counted(name, {name}, op_type=name)
        entry = operations[name]
        if not entry.executions:
            entry.device = device
            entry.types.add(device)
        entry.executions.setdefault(step, Execution()).add(device, stats)
    ran = sum(1 for entry in operations.values() if entry.executions)
    return ran / len(operations) if operations else 0.0


def _parameters(op: Operation) -> tuple[list[int], int]:
    """The sizes that an operation states as its shape, and how many elements that is."""
    shape = op._attrs.get("shape")
    sizes = getattr(shape, "sizes", None)
    if sizes is None or None in sizes:
        return [], 0
    sizes = list(sizes) or [1]
    return sizes, prod(sizes)


def learn_shapes(graph: Graph, run_meta: Any) -> None:
    """Gives tensors the shapes that a run's metadata tell."""
    for device in run_meta.step_stats.dev_stats:
        for node in device.node_stats:
            try:
                outputs = graph.get_operation_by_name(node.node_name).outputs
            except KeyError:
                continue
            if len(outputs) != len(node.output):
                continue
            for output, told in zip(outputs, node.output):
                sizes = [dim.size for dim in told.tensor_description.shape.dim]
                if output.shape.is_compatible_with(sizes):
                    output.set_shape(sizes)
