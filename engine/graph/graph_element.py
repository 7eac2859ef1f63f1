# SPDX-License-Identifier: Apache-2.0
"""What an object, a name or a stand-in means in a graph: `as_graph_element`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .operation import Operation
from .tensor import Tensor

if TYPE_CHECKING:
    from .graph import Graph


def as_graph_element(graph: Graph, obj: object, allow_tensor: bool, allow_operation: bool) -> Any:
    """The Tensor or Operation meant, with TensorFlow's errors for what is none."""
    kinds = _kinds_text(allow_tensor, allow_operation)
    stand_in = getattr(obj, "_as_graph_element", None)
    if callable(stand_in):
        obj = stand_in()
    if isinstance(obj, (str, bytes)):
        name = obj.decode() if isinstance(obj, bytes) else obj
        if ":" in name:
            return _tensor_named(graph, name, allow_tensor, kinds)
        return _operation_named(graph, name, allow_operation, kinds)
    if isinstance(obj, Tensor) and allow_tensor:
        if obj.graph is not graph:
            raise ValueError(f"Tensor {obj} is not an element of this graph.")
        return obj
    if isinstance(obj, Operation) and allow_operation:
        if obj.graph is not graph:
            raise ValueError(f"Operation {obj!r} is not an element of this graph.")
        return obj
    raise TypeError(f"Can not convert a {type(obj).__name__} into a {kinds}.")


def _tensor_named(graph: Graph, name: str, allowed: bool, kinds: str) -> Tensor:
    if not allowed:
        raise ValueError(f"Name {name!r} appears to refer to a Tensor, not a {kinds}.")
    parts = name.split(":")
    if len(parts) != 2 or not parts[1].lstrip("-").isdigit():
        raise ValueError(
            f"The name {name!r} looks a like a Tensor name, but is not a valid one. Tensor "
            'names must be of the form "<op_name>:<output_index>".'
        )
    op = graph._nodes_by_name.get(parts[0])
    if op is None:
        raise KeyError(
            f"The name {name!r} refers to a Tensor which does not exist. The operation, "
            f"{parts[0]!r}, does not exist in the graph."
        )
    try:
        return op.outputs[int(parts[1])]
    except IndexError:
        raise KeyError(
            f"The name {name!r} refers to a Tensor which does not exist. The operation, "
            f"{parts[0]!r}, exists but only has {len(op.outputs)} outputs."
        ) from None


def _operation_named(graph: Graph, name: str, allowed: bool, kinds: str) -> Operation:
    op = graph._nodes_by_name.get(name)
    if allowed:
        if op is None:
            raise KeyError(f"The name {name!r} refers to an Operation not in the graph.")
        return op
    what = "refers to an Operation" if op is not None else "looks like an (invalid) Operation name"
    raise ValueError(
        f"The name {name!r} {what}, not a {kinds}. Tensor names must be of the form "
        '"<op_name>:<output_index>".'
    )


def _kinds_text(allow_tensor: bool, allow_operation: bool) -> str:
    if allow_tensor and allow_operation:
        return "Tensor or Operation"
    if not (allow_tensor or allow_operation):
        raise ValueError("allow_tensor and allow_operation can't both be False.")
    return "Tensor" if allow_tensor else "Operation"
