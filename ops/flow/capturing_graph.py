# SPDX-License-Identifier: Apache-2.0
"""Graphs that are bodies of functions: what they use of graphs around becomes a parameter."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from ...engine.graph import registry
from ...engine.graph.devices import MergeDevice
from ...engine.graph.graph import Graph
from ...engine.graph.operation import Operation
from ...engine.graph.scope_functions import control_dependencies
from ...engine.graph.scopes import ControlDependencies
from ...engine.graph.tensor import Tensor
from ...engine.types.dtypes import DType
from ..public import tf


def _is_chosen(device: Any) -> bool:
    """Whether an entry of the devices is a function of nodes, and no name."""
    return callable(device) and not isinstance(device, MergeDevice)


class CapturingGraph(Graph):
    """A graph with parameters and results within another one, whose tensors it may use."""

    # Whether branches and loops in it are nodes that call functions.
    calls_functions = False

    def __init__(self, name: str, outer_graph: Graph) -> None:
        super().__init__()
        self.name = name
        self.outer_graph = outer_graph
        self.inputs: list[Tensor] = []
        self.outputs: list[Tensor] = []
        # What must run whether or not a result needs it.
        self.control_outputs: list[Operation] = []
        # Tensors of graphs around -> the parameters that stand for them here, in order.
        self._captured: dict[Tensor, Tensor] = {}
        self._building_function = True

    @property
    def captures(self) -> list[tuple[Tensor, Tensor]]:
        """Tensors of graphs around, each with the parameter that stands for it."""
        return list(self._captured.items())

    @property
    def external_captures(self) -> list[Tensor]:
        """The tensors of graphs around that are used."""
        return list(self._captured)

    @property
    def internal_captures(self) -> list[Tensor]:
        """The parameters that stand for them."""
        return list(self._captured.values())

    def _create(
        self,
        definition: registry.OpDef,
        name: str | None,
        inputs: Sequence[Tensor],
        attrs: dict[str, Any],
        input_types: Sequence[DType] | None = None,
        compute_device: bool = True,
        in_context: bool = True,
    ) -> Operation:
        own = [x if x.graph is self else self.capture(x) for x in inputs]
        return super()._create(
            definition, name, own, attrs, input_types, compute_device, in_context
        )

    def capture(self, tensor: Tensor, name: str | None = None) -> Tensor:
        """What stands here for a tensor of another graph."""
        if tensor.graph is self:
            return tensor
        if tensor not in self._captured:
            self._captured[tensor] = self._parameter(tensor, name)
        return self._captured[tensor]

    def add_capture(self, tensor: Tensor, parameter: Tensor) -> None:
        """Has a tensor of this graph stand for one of a graph around, as a further parameter."""
        self._captured[tensor] = parameter
        self.inputs.append(parameter)
        if parameter.op.definition.is_fed:
            parameter.op._given = parameter.op._captured = tensor

    def taken_in(self, tensor: Tensor) -> Tensor:
        """The parameter that stands for a tensor of a graph around, if there is one."""
        return self._captured.get(tensor, tensor)

    def _parameter(self, tensor: Tensor, name: str | None) -> Tensor:
        """A new parameter for a tensor of another graph."""
        with control_dependencies(None):
            made = tf.placeholder(tensor.dtype.base_dtype, shape=tensor.get_shape(), name=name)
        made.op._given = made.op._captured = tensor
        self.inputs.append(made)
        return made


class BodyGraph(CapturingGraph):
    """The body of a branch or of a loop that is a function.

    Functions, collections and seeds are those of the graph around.  Operations around that
    something here waits for are waited for by the call (`control_captures`).
    """

    calls_functions = True

    def __init__(self, name: str, outer_graph: Graph) -> None:
        super().__init__(name, outer_graph)
        self.structured_outputs: Any = None
        self.control_captures: list[Operation] = []
        self._functions = outer_graph._functions
        self._collection_lists = outer_graph._collection_lists
        self._seed = outer_graph._seed
        self._variable_creator_stack = outer_graph._variable_creator_stack
        self._gradient_override_map = outer_graph._gradient_override_map
        self._colocation_stack = outer_graph._colocation_stack.copy()
        # (Devices are the call's but for those that functions choose for each node.)
        devices = outer_graph._device_function_stack
        if any(_is_chosen(entry.function) for entry, _ in devices.entries):
            self._device_function_stack = devices.copy()

    def control_dependencies(self, control_inputs: Iterable[Any] | None) -> ControlDependencies:
        if control_inputs is None:
            return super().control_dependencies(None)
        own = []
        for item in control_inputs:
            op = getattr(item, "op", item)
            if getattr(op, "graph", self) is self:
                own.append(item)
            elif op not in self.control_captures:
                self.control_captures.append(op)
        return super().control_dependencies(own)

    def _add_function(self, function: Any) -> None:
        # (It is one library; what a graph notes of it besides, the outermost one notes.)
        self.outer_graph._add_function(function)

    def capture(self, tensor: Tensor, name: str | None = None) -> Tensor:
        graph = tensor.graph
        while isinstance(graph, BodyGraph) and graph is not self:
            graph = graph.outer_graph
            if graph is self:
                raise ValueError(
                    f"Trying to capture a tensor from an inner function: {tensor} is made within "
                    "a branch or a loop; outside of it there are only its results"
                )
        return super().capture(tensor, tensor.op.name if name is None else name)
