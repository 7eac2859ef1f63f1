# SPDX-License-Identifier: Apache-2.0
"""What the passes share: groups of nodes by name, other inputs, the step that delays wait for."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Any

from ....engine.graph.collections import GraphKeys
from ....engine.graph.defaults import get_default_graph
from ....engine.graph.graph import Graph
from ....engine.graph.operation import Operation
from ....engine.graph.tensor import Tensor
from ....engine.types import dtypes
from ....ops.public import tf
from ....ops.state.variable_modes import VariableAggregation

SKIPPED_PREFIXES = (
    "gradients/",
    "RMSProp/",
    "Adagrad/",
    "Const_",
    "HistogramSummary",
    "ScalarSummary",
)


def BatchNormGroups(graph: Graph) -> list[str]:
    """What the names of batch norms begin with, each once."""
    found = (re.search(r"^(.*)BatchNorm/batchnorm", op.name) for op in graph.get_operations())
    names = (match.group(1) for match in found if match is not None)
    return list(dict.fromkeys(name for name in names if not name.startswith(SKIPPED_PREFIXES)))


def find_operation(graph: Graph, name: str) -> Operation | None:
    """The operation of a name, if there is one."""
    try:
        return graph.get_operation_by_name(name)
    except KeyError:
        return None


def GetEndpointActivationOp(graph: Graph, prefix: str) -> Operation | None:
    """The activation in a scope."""
    found = (find_operation(graph, prefix + kind) for kind in ("Relu6", "Relu", "Identity"))
    return next((op for op in found if op is not None), None)


def CreateOrGetQuantizationStep() -> Tensor:
    """A count of runs, which is made when it is first asked for."""
    name = "fake_quantization_step"
    graph = get_default_graph()
    try:
        return graph.get_tensor_by_name(f"{name}/Identity:0")
    except KeyError:
        pass
    with graph.name_scope(None):
        step = tf.get_variable(
            name,
            shape=[],
            dtype=dtypes.int64,
            initializer=tf.zeros_initializer(),
            trainable=False,
            collections=[GraphKeys.GLOBAL_VARIABLES],
            aggregation=VariableAggregation.ONLY_FIRST_REPLICA,
        )
        with graph.name_scope(f"{step.op.name}/"):
            return tf.identity(tf.assign_add(step, 1))


def DropStringPrefix(s: str, prefix: str) -> str:
    """A text without what it begins with."""
    return s.removeprefix(prefix)


def RerouteTensor(t0: Any, t1: Tensor, can_modify: Collection[Operation] | None = None) -> int:
    """Gives what takes the second tensor the first; how many inputs changed."""
    takers = [op for op in t1.consumers() if can_modify is None or op in can_modify]
    moves = [(op, i) for op in dict.fromkeys(takers) for i, t in enumerate(op.inputs) if t is t1]
    for op, i in moves:
        op._update_input(i, t0)
    return len(moves)


class InputToOps:
    """Which operations take each tensor, without those of gradients and summaries.

    Args:
        graph: as it is now.
    """

    def __init__(self, graph: Graph) -> None:
        self.mapping: dict[Tensor, dict[Operation, None]] = {}
        for op in graph.get_operations():
            if not op.name.startswith(SKIPPED_PREFIXES):
                for tensor in op.inputs:
                    self.mapping.setdefault(tensor, {})[op] = None

    def ConsumerOperations(self, producer_op: Operation) -> set[Operation]:
        """The operations that take the outputs of one."""
        return {op for t in producer_op.outputs for op in self.mapping.get(t, ())}
