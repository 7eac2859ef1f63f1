# SPDX-License-Identifier: Apache-2.0
"""Graphs as FunctionDefs, with the names that TensorFlow 1.15 gives to parameters and nodes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

from ..engine import errors
from ..engine.graph.operation import Operation, arg_length
from ..engine.graph.tensor import Tensor
from . import protos
from .graph_def import node_def


class _Names:
    """The names of a function's results, parameters and nodes, all of which differ."""

    def __init__(self) -> None:
        self._used: set[str] = set()

    def unique(self, name: str) -> str:
        """The name, numbered if it is taken."""
        candidate, count = name, 0
        while candidate in self._used:
            candidate = f"{name}_{count}"
            count += 1
        self._used.add(candidate)
        return candidate

    def argument(self, name: str) -> str:
        """A name for a result or parameter: small letters, digits and underscores."""
        plain = re.sub(r"[^a-z0-9_]", "_", name.lower())
        return self.unique(re.sub(r"^[^a-z]*", "", plain) or "unknown")


def graph_to_function_def(
    graph: object,
    operations: Iterable[Operation],
    inputs: Sequence[Tensor],
    outputs: Sequence[Tensor],
    out_names: Sequence[str] | None = None,
    name: str = "_",
    control_outputs: Sequence[Operation] = (),
) -> Any:
    """The FunctionDef from some tensors of a graph to others.

    Args:
      graph: Unused; the operations have it.
      operations: Those of the body.
      inputs: The parameters: outputs of placeholders.
      outputs: The results.
      out_names: Names of the results; by default those of the nodes.
      name: The function's name.
      control_outputs: Operations of the body that each call must run.

    Raises:
      InvalidArgumentError: There are more or fewer names than results.
      ValueError: Two results have one name.
    """
    del graph
    if out_names and len(outputs) != len(out_names):
        raise errors.invalid(
            "output names must be either empty or equal in size to outputs. output names size = "
            f"{len(out_names)} outputs size = {len(outputs)}"
        )
    if out_names and len(set(out_names)) < len(out_names):
        raise ValueError(f"Must not have duplicates in out_names: {', '.join(out_names)}")
    message = protos.FunctionDef()
    message.signature.name = name
    # The order in which names are given is TensorFlow's: results, parameters, nodes.
    names = _Names()
    for i, tensor in enumerate(outputs):
        result = out_names[i] if out_names else names.argument(tensor.op.name)
        kind = tensor.dtype.base_dtype.as_datatype_enum
        message.signature.output_arg.add(name=result, type=kind)
    renamed: dict[Tensor, str] = {}
    for i, tensor in enumerate(inputs):
        renamed[tensor] = names.argument(tensor.op.name)
        message.arg_attr[i].SetInParent()
        kind = tensor.dtype.base_dtype.as_datatype_enum
        message.signature.input_arg.add(name=renamed[tensor], type=kind)
    parameters = {tensor.op: renamed[tensor] for tensor in inputs}
    body = [op for op in operations if op not in parameters]
    node_names = {op: names.unique(op.name) for op in body}
    for op in body:
        renamed.update(_outputs(op, node_names[op]))
    for op in body:
        _add_node(message, op, node_names, {**parameters, **node_names}, renamed)
    for argument, tensor in zip(message.signature.output_arg, outputs):
        message.ret[argument.name] = renamed[tensor]
    for op in control_outputs:
        message.control_ret[node_names[op]] = node_names[op]
        message.signature.control_output.append(node_names[op])
    return message


def _outputs(op: Operation, name: str) -> dict[Tensor, str]:
    """How the outputs of a node are called in a body: "node:argument:number"."""
    found = {}
    position = 0
    for argument in op.definition.outputs:
        length = arg_length(argument, op._attrs)
        for i in range(1 if length is None else length):
            found[op.outputs[position]] = f"{name}:{argument.name}:{i}"
            position += 1
    return found


def _add_node(
    message: Any,
    op: Operation,
    node_names: dict[Operation, str],
    all_names: dict[Operation, str],
    renamed: dict[Tensor, str],
) -> None:
    node = message.node_def.add()
    node.CopyFrom(node_def(op))
    node.name = node_names[op]
    node.input[:] = [renamed[tensor] for tensor in op._inputs_val]
    node.input.extend(sorted(f"^{all_names[other]}" for other in op._control_inputs_val))
    if "_class" in node.attr:
        # Groups name nodes, which may have other names here.
        known = {other.name: new for other, new in node_names.items()}
        groups = [
            group.removeprefix(b"loc:@").decode(errors="replace")
            for group in node.attr["_class"].list.s
        ]
        kept = [f"loc:@{known[group]}".encode() for group in groups if group in known]
        node.attr["_class"].list.s[:] = kept
    if op._is_stateful:
        message.signature.is_stateful = True
