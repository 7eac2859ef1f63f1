# SPDX-License-Identifier: Apache-2.0
"""What profiles count of each operation: parameters and floating-point operations."""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from math import prod
from typing import TYPE_CHECKING, Any

from ....engine.graph.collections import GraphKeys
from ....engine.interface.statistics import get_stats_for_node_def
from .option_builder import TRAINABLE_VARIABLES

if TYPE_CHECKING:
    from ....engine.graph.graph import Graph
    from ....engine.graph.operation import Operation

# What a profile can show and sort by, with the column's title.
COLUMNS = {
    "params": "# parameters",
    "float_ops": "# float_ops",
    "device": "assigned devices",
    "op_types": "op types",
    "occurrence": "op count (run|defined)",
}


@dataclass
class Counted:
    """An operation's counts."""

    name: str
    types: set[str] = field(default_factory=set)
    sizes: list[int] = field(default_factory=list)
    parameters: int = 0
    float_ops: int = 0
    device: str = ""

    def is_accounted(self, patterns: Sequence[str]) -> bool:
        """Whether one of its types matches a pattern; ".*" alone matches also what has none."""
        if list(patterns) == [".*"]:
            return True
        return any(re.fullmatch(pattern, kind) for pattern in patterns for kind in self.types)


def counted(graph: Graph, op_log: Any, run_meta: Any) -> list[Counted]:
    """The counts of a graph's operations, completed by an OpLogProto."""
    from . import flops_registry  # noqa: F401  registers the statistics

    if run_meta is not None:
        _learn_shapes(graph, run_meta)
    found: dict[str, Counted] = {}
    unknown = 0
    for op in graph.get_operations():
        entry = found[op.name] = Counted(op.name, {op.type}, device=op.device)
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
    return list(found.values())


def _parameters(op: Operation) -> tuple[list[int], int]:
    """The sizes that an operation states as its shape, and how many elements that is."""
    shape = op._attrs.get("shape")
    sizes = getattr(shape, "sizes", None)
    if sizes is None or None in sizes:
        return [], 0
    sizes = list(sizes) or [1]
    return sizes, prod(sizes)


def _learn_shapes(graph: Graph, run_meta: Any) -> None:
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
