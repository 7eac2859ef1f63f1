# SPDX-License-Identifier: Apache-2.0
"""Plain operations between a network's inputs and its layers, as layers of their own."""

from __future__ import annotations

from typing import Any

import numpy as np

from ....engine.graph.operation import Operation
from ....io import protos
from ....ops.public import tf
from ...layers.base_layer import Layer
from ...layers.nodes import KerasHistory, Node, comes_from_input, history_of

# Of the names of these layers.
_PREFIX = "tf_op_layer_"


class TensorFlowOpLayer(Layer):
    """An operation of the graph as a layer: other inputs give another operation of its kind.

    Args:
        node_def: the operation's NodeDef, or its bytes.
        name: the layer's name.
        constants: number of an input -> its value, which is the same in every call.
    """

    def __init__(
        self, node_def: Any, name: str, constants: dict[int, Any] | None = None, **kwargs: Any
    ) -> None:
        super().__init__(name=_PREFIX + name, trainable=False, **kwargs)
        if isinstance(node_def, (bytes, str)):
            definition = protos.NodeDef()
            definition.ParseFromString(_as_bytes(node_def))
            node_def = definition
        self.node_def = node_def
        self.constants = {int(place): value for place, value in (constants or {}).items()}
        self.built = True

    def call(self, inputs: Any) -> Any:  # type: ignore[override]
        """The operation with other inputs."""
        given = list(inputs) if isinstance(inputs, (list, tuple)) else [inputs]
        for place in sorted(self.constants):
            given.insert(place, tf.constant(self.constants[place]))
        definition = protos.GraphDef()
        node = definition.node.add()
        node.CopyFrom(self.node_def)
        node.name = self.node_def.name.rpartition("/")[2]
        names = [f"input_{number}" for number in range(len(given))]
        del node.input[:]
        node.input.extend(names)
        for name, value in zip(names, given):
            source = definition.node.add()
            source.name, source.op = name, "Placeholder"
            source.attr["dtype"].type = value.dtype.as_datatype_enum
        found: Any = tf.import_graph_def(
            definition,
            input_map=dict(zip(names, given)),
            return_elements=[node.name],
            name="op",
        )
        outputs: list[Any] = list(found[0].outputs)
        return outputs[0] if len(outputs) == 1 else outputs

    def get_config(self) -> dict[str, Any]:
        """The arguments."""
        config = super().get_config()
        del config["trainable"], config["dtype"]
        return {
            **config,
            "name": config["name"].removeprefix(_PREFIX),
            "node_def": self.node_def.SerializeToString().decode("latin-1"),
            "constants": {p: np.asarray(v).tolist() for p, v in self.constants.items()},
        }


def _as_bytes(text: bytes | str) -> bytes:
    return text if isinstance(text, bytes) else text.encode("latin-1")


def wrap_operations(tensors: list[Any]) -> None:
    """Makes the operations behind some tensors layers, up to tensors of a network."""
    done: set[Operation] = set()
    for operation in _in_order(tensors):
        if operation not in done:
            done.add(operation)
            _wrap(operation)


def _in_order(tensors: list[Any]) -> list[Operation]:
    """The operations without a history that lead from a network, each behind what it needs."""
    found: list[Operation] = []
    seen: set[Operation] = set()
    waiting = [(x.op, False) for x in tensors if history_of(x) is None]
    while waiting:
        operation, is_expanded = waiting.pop()
        if is_expanded:
            found.append(operation)
        elif operation not in seen:
            seen.add(operation)
            waiting.append((operation, True))
            waiting.extend(
                (x.op, False)
                for x in operation.inputs
                if history_of(x) is None and comes_from_input([x])
            )
    return found


def _wrap(operation: Operation) -> None:
    from ..backend.sessions import Function

    inputs, constants = [], {}
    for place, x in enumerate(operation.inputs):
        if history_of(x) is not None:
            inputs.append(x)
        else:
            # What comes from no input of the network is the same in every call.
            with tf.init_scope():
                constants[place] = Function([], x)([])
    layer = TensorFlowOpLayer(operation.node_def, operation.name, constants)
    outputs: list[Any] = list(operation.outputs)
    Node(layer, inputs if len(inputs) != 1 else inputs[0], outputs)
    for number, x in enumerate(outputs):
        x._keras_history = KerasHistory(layer, 0, number)
