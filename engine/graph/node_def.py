# SPDX-License-Identifier: Apache-2.0
"""Operations made from NodeDef messages, as `tf.Operation(node_def, graph)` does."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ..types.dtypes import DType
from . import registry
from .devices import device_string
from .operation import Operation, plain_attr
from .tensor import IndexedSlices, Tensor

if TYPE_CHECKING:
    from .graph import Graph


def _NodeDef(  # noqa: N802 - TensorFlow's name
    op_type: str, name: str, device: str | None = None, attrs: dict[str, Any] | None = None
) -> Any:
    """A NodeDef; `attrs` are AttrValues, `device` a name, a spec or a function of the NodeDef."""
    from ...io.protos import NodeDef

    message = NodeDef(op=str(op_type), name=str(name))
    for key, value in (attrs or {}).items():
        message.attr[key].CopyFrom(value)
    if device is not None:
        message.device = device_string(device(message) if callable(device) else device)
    return message


def fill_from_node_def(
    op: Operation,
    node_def: Any,
    graph: Graph,
    inputs: list[Tensor] | None,
    control_inputs: Any,
    input_types: Sequence[DType] | None,
    original_op: Operation | None,
) -> None:
    """Makes `op` the node that a NodeDef states; raises TensorFlow's errors."""
    from .graph import OP_NAME, Graph

    if type(node_def).__name__ != "NodeDef":
        raise TypeError(f"node_def needs to be a NodeDef: {node_def}")
    if not OP_NAME.match(node_def.name):
        raise ValueError(f"'{node_def.name}' is not a valid node name")
    if not isinstance(graph, Graph):
        raise TypeError(f"g needs to be a Graph: {graph}")
    inputs = [] if inputs is None else inputs
    if not isinstance(inputs, list):
        raise TypeError(f"inputs needs to be a list of Tensors: {inputs}")
    for tensor in inputs:
        if not isinstance(tensor, Tensor):
            raise TypeError(f"input needs to be a Tensor: {tensor}")
    definition = registry.lookup(node_def.op)
    attrs = {key: plain_attr(value) for key, value in node_def.attr.items()}
    before = [_control_op(item) for item in control_inputs or ()]
    graph._place(op, definition, node_def.name, inputs, attrs, input_types, before)
    op._device = node_def.device
    op._original_op = original_op


def _control_op(item: object) -> Operation:
    if isinstance(item, Operation):
        return item
    if isinstance(item, (Tensor, IndexedSlices)):
        return item.op
    raise TypeError(f"Control input must be an Operation, a Tensor, or IndexedSlices: {item}")
