# SPDX-License-Identifier: Apache-2.0
"""Calls of layers as nodes of a Keras network: where tensors come from, and what led to them."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Iterator
from typing import Any
from weakref import WeakSet

from ...engine.graph.tensor import Tensor
from ...engine.types import nest
from ...engine.types.shape import TensorShape

# Whether there is any input of a network, and the tensors that are known to come from none.
_networks: list[bool] = []
_without: WeakSet[Any] = WeakSet()

KerasHistory = namedtuple("KerasHistory", ("layer", "node_index", "tensor_index"))
"""Where a tensor comes from: a layer, the number of its call, the number of the call's output."""


def history_of(tensor: Any) -> Any:
    """The `KerasHistory` of a tensor, or None."""
    return getattr(tensor, "_keras_history", None)


def int_shape(x: Any) -> Any:
    """The shape of a tensor as a tuple with None for unknown sizes; None for an unknown rank."""
    shape = x.shape
    return None if shape.ndims is None else tuple(shape.as_list())


def as_shapes(value: Any) -> Any:
    """TensorShapes in the structure of what may be one shape, a list, a tuple or a dict of them."""
    if isinstance(value, dict):
        return {key: as_shapes(x) for key, x in value.items()}
    is_list = isinstance(value, (list, tuple))
    if is_list and any(isinstance(x, (list, tuple, dict, TensorShape)) for x in value):
        return type(value)(map(as_shapes, value))
    return TensorShape(value)


class Node:
    """One call of a layer.

    Args:
        outbound_layer: the layer that was called.
        input_tensors: a structure of tensors with histories; none for an input layer.
        output_tensors: a structure of tensors.
        arguments: the call's other arguments by their names.
    """

    def __init__(
        self,
        outbound_layer: Any,
        input_tensors: Any,
        output_tensors: Any,
        arguments: dict[str, Any] | None = None,
        *,
        begins: bool = False,
    ) -> None:
        self.outbound_layer = outbound_layer
        self.input_tensors = input_tensors
        self.output_tensors = output_tensors
        self.arguments = dict(arguments or {})
        origin = [] if begins else input_tensors
        if begins and not _networks:
            _networks.append(True)
        self.inbound_layers = nest.map_structure(lambda x: history_of(x).layer, origin)
        self.node_indices = nest.map_structure(lambda x: history_of(x).node_index, origin)
        self.tensor_indices = nest.map_structure(lambda x: history_of(x).tensor_index, origin)
        self.input_shapes = nest.map_structure(int_shape, input_tensors)
        self.output_shapes = nest.map_structure(int_shape, output_tensors)
        for x in nest.flatten(self.arguments):
            if isinstance(x, Tensor):
                give_histories([x])
        for layer in nest.flatten(self.inbound_layers):
            layer.outbound_nodes.append(self)
        outbound_layer.inbound_nodes.append(self)

    def iterate_inbound(self, include_arguments: bool = False) -> Iterator[tuple[Any, ...]]:
        """(layer, number of its call, number of the output, tensor) of each input."""
        if nest.flatten(self.inbound_layers):
            for x in nest.flatten(self.input_tensors):
                yield (*history_of(x), x)
        if include_arguments:
            for x in nest.flatten(self.arguments):
                if history_of(x) is not None:
                    yield (*history_of(x), x)

    def dependencies(self) -> list[Node]:
        """The nodes that this one needs the outputs of."""
        found = self.iterate_inbound(include_arguments=True)
        return [layer.inbound_nodes[node] for layer, node, _, _ in found]

    def get_config(self) -> dict[str, Any]:
        """The names and numbers of the node."""
        return {
            "outbound_layer": self.outbound_layer.name,
            "inbound_layers": nest.map_structure(lambda x: x.name, self.inbound_layers),
            "node_indices": self.node_indices,
            "tensor_indices": self.tensor_indices,
        }


def give_histories(tensors: Any) -> None:
    """Makes plain operations between a network's inputs and some tensors layers of the network."""
    flat = nest.flatten(tensors)
    if all(history_of(x) is not None for x in flat) or not comes_from_input(flat):
        return
    from ..keras.engine.op_layer import wrap_operations

    wrap_operations(flat)


def no_histories(tensors: list[Any]) -> None:
    """Says that some tensors are of no network: masks, which layers make anew in each call."""
    _without.update(tensors)


def comes_from_input(tensors: list[Any]) -> bool:
    """Whether a tensor of a Keras network leads to one of the tensors."""
    if not _networks:
        return False
    waiting, passed = list(tensors), set()
    while waiting:
        x = waiting.pop()
        if history_of(x) is not None:
            return True
        if isinstance(x, Tensor) and x not in passed and x not in _without:
            passed.add(x)
            waiting.extend(x.op.inputs)
    _without.update(passed)
    return False
