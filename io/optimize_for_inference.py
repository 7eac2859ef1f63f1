# SPDX-License-Identifier: Apache-2.0
"""Frozen GraphDefs rewritten for inference (TensorFlow's optimize_for_inference).

Batch normalizations become part of the weights before them; resizing and padding become part of
the convolution behind them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..engine.interface.log import get_logger
from ..engine.types import dtypes
from . import protos
from .graph_util import remove_training_nodes
from .strip_unused import strip_unused
from .tensor_proto import make_ndarray, make_tensor_proto

# Op type -> the places of convolution, mean, variance, offset and scale among its inputs.
_INPUTS = {
    "BatchNormWithGlobalNormalization": (0, 1, 2, 3, 4),
    "FusedBatchNorm": (0, 3, 4, 2, 1),
    "FusedBatchNormV2": (0, 3, 4, 2, 1),
    "FusedBatchNormV3": (0, 3, 4, 2, 1),
}


def optimize_for_inference(
    input_graph_def: object,
    input_node_names: Sequence[str],
    output_node_names: Sequence[str],
    placeholder_type_enum: Any,
    toco_compatible: bool = False,
) -> Any:
    """The GraphDef for inference from the inputs to the outputs.

    Args:
      input_graph_def: A frozen GraphDef.
      input_node_names: Names of nodes to be fed.
      output_node_names: Names of nodes.
      placeholder_type_enum: The DataType of the inputs, or a list of one for each.
      toco_compatible: Whether to leave resizing and padding as they are.

    Raises:
      ValueError: Two nodes have one name, or an input of a node is missing.
    """
    ensure_graph_is_valid(input_graph_def)
    result = strip_unused(
        input_graph_def, input_node_names, output_node_names, placeholder_type_enum
    )
    result = fold_batch_norms(remove_training_nodes(result, output_node_names))
    if not toco_compatible:
        result = fuse_resize_and_conv(result, output_node_names)
    ensure_graph_is_valid(result)
    return result


def node_name_from_input(node_name: str) -> str:
    """The node that an input's text names: "a:1" and "^a" name "a"."""
    name = node_name.removeprefix("^")
    head, _, tail = name.rpartition(":")
    return head if head and tail.isdigit() else name


def node_from_map(node_map: dict[str, Any], name: str) -> Any:
    """The node that an input's text names; ValueError if there is none."""
    if node_name_from_input(name) not in node_map:
        raise ValueError(f"No node named '{name}' found in map.")
    return node_map[node_name_from_input(name)]


def values_from_const(node_def: Any) -> np.ndarray:
    """The array in a Const node; ValueError for another node."""
    if node_def.op != "Const":
        raise ValueError(
            f"Node named '{node_def.name}' should be a Const op for values_from_const."
        )
    return make_ndarray(node_def.attr["value"].tensor)


def _by_name(graph_def: Any) -> dict[str, Any]:
    nodes: dict[str, Any] = {}
    for node in graph_def.node:
        if node.name in nodes:
            raise ValueError("Duplicate node names detected for ", node.name)
        nodes[node.name] = node
    return nodes


def ensure_graph_is_valid(graph_def: Any) -> None:
    """Raises ValueError if two nodes have one name or an input is missing."""
    nodes = _by_name(graph_def)
    for node in graph_def.node:
        for text in node.input:
            if node_name_from_input(text) not in nodes:
                raise ValueError("Input for ", node.name, " not found: ", text)


def constant(name: str, value: np.ndarray) -> Any:
    """A Const node of an array."""
    node = protos.NodeDef(name=name, op="Const")
    dtype = dtypes.as_dtype(value.dtype)
    node.attr["dtype"].type = dtype.as_datatype_enum
    node.attr["value"].tensor.CopyFrom(make_tensor_proto(value, dtype, value.shape))
    return node


# Batch normalization


def fold_batch_norms(input_graph_def: Any) -> Any:
    """The GraphDef whose batch normalizations behind convolutions are in the weights.

    Only where weights and moments are constants: freeze the graph first.
    """
    nodes = _by_name(input_graph_def)
    uses = Counter(node_name_from_input(t) for node in input_graph_def.node for t in node.input)
    replaced: set[str] = set()
    made: list[Any] = []
    for node in input_graph_def.node:
        if node.op in _INPUTS and not node.attr["is_training"].b:
            folded = _folded(node, nodes, uses)
            if folded is not None:
                used, new = folded
                replaced |= used
                made += new
    kept = [node for node in input_graph_def.node if node.name not in replaced]
    # Constants that others read, too, stay.
    read = {node_name_from_input(text) for node in (*kept, *made) for text in node.input}
    taken = {node.name for node in made}
    result = protos.GraphDef()
    result.node.extend(
        node
        for node in input_graph_def.node
        if node.name not in replaced or (node.name in read and node.name not in taken)
    )
    result.node.extend(made)
    return result


def _folded(
    node: Any, nodes: dict[str, Any], uses: Counter[str]
) -> tuple[set[str], list[Any]] | None:
    """The names of the nodes that a batch normalization consists of and what replaces them."""
    conv, *parts = (node_from_map(nodes, node.input[i]) for i in _INPUTS[node.op])
    if conv.op not in ("Conv2D", "DepthwiseConv2dNative"):
        _note(f"no convolution before '{node.name}'")
        return None
    constants = [node_from_map(nodes, conv.input[1]), *parts]
    if any(part.op != "Const" for part in constants):
        _note(f"'{node.name}' or its convolution has inputs that are not constant")
        return None
    if uses[conv.name] > 1 or uses[constants[0].name] > 1:
        _note(f"the convolution before '{node.name}', or its weights, have other readers")
        return None
    weights, mean, variance, offset, scale = map(values_from_const, constants)
    # A depthwise convolution has weights.shape[3] outputs for each of its inputs.
    channels = weights.shape[3] * (weights.shape[2] if conv.op != "Conv2D" else 1)
    if any(part.shape != (channels,) for part in (mean, variance, offset, scale)):
        _note(f"'{node.name}' has inputs of another length than its {channels} channels")
        return None
    is_fused = node.op != "BatchNormWithGlobalNormalization"
    epsilon = node.attr["epsilon" if is_fused else "variance_epsilon"].f
    # (w * x - mean) * factor + offset = (w * factor) * x + (offset - mean * factor).
    factor = 1.0 / np.sqrt(variance + epsilon)
    if is_fused or node.attr["scale_after_normalization"].b:
        factor = factor * scale
    by_channel = factor.reshape(weights.shape[2:] if conv.op != "Conv2D" else (channels,))
    new_weights = constant(constants[0].name, (weights * by_channel).astype(weights.dtype))
    shift = constant(f"{conv.name}_bn_offset", (offset - mean * factor).astype(mean.dtype))
    bias = protos.NodeDef(name=node.name, op="BiasAdd", input=[conv.name, shift.name])
    for key in ("T", "data_format"):
        bias.attr[key].CopyFrom(conv.attr[key])
    return {node.name, conv.name, *(part.name for part in constants)}, [
        new_weights,
        conv,
        shift,
        bias,
    ]


def _note(reason: str) -> None:
    get_logger().warning("A batch normalization is not folded: %s", reason)


# Resizing and padding


def fuse_resize_and_conv(input_graph_def: Any, output_node_names: Sequence[str]) -> Any:
    """The GraphDef whose convolutions do the MirrorPad and ResizeBilinear before them."""
    nodes = _by_name(input_graph_def)
    uses = Counter(
        node_name_from_input(text) for node in input_graph_def.node for text in node.input
    )
    uses.update(output_node_names)
    made: list[Any] = []
    for node in input_graph_def.node:
        if node.op != "Conv2D":
            continue
        pad = resize = None
        source = node_from_map(nodes, node.input[0])
        if source.op == "MirrorPad":
            pad, source = source, node_from_map(nodes, source.input[0])
        if source.op == "ResizeBilinear":
            resize = source
        if pad is None and resize is None:
            continue
        # The fused node takes the name; what it took in goes, unless something else reads it.
        uses[node.name] = 0
        uses.subtract(part.name for part in (pad, resize) if part is not None)
        made += _fused(node, pad, resize)
    result = protos.GraphDef()
    result.node.extend(node for node in input_graph_def.node if uses[node.name] > 0)
    result.node.extend(made)
    return result


def _fused(conv: Any, pad: Any, resize: Any) -> list[Any]:
    """The convolution that resizes and pads, and a constant where it pads nothing."""
    made = []
    fused = protos.NodeDef(name=conv.name, op="FusedPadConv2D")
    if pad is None:
        made.append(constant(f"{conv.name}_dummy_paddings", np.zeros((4, 2), np.int32)))
        # The op has no form without padding.
        paddings, mode = made[0].name, protos.AttrValue(s=b"REFLECT")
    else:
        paddings, mode = pad.input[1], pad.attr["mode"]
    if resize is None:
        fused.input.extend([pad.input[0], paddings, conv.input[1]])
    else:
        fused.op = "FusedResizeAndPadConv2D"
        fused.input.extend([*resize.input[:2], paddings, conv.input[1]])
        fused.attr["resize_align_corners"].CopyFrom(resize.attr["align_corners"])
    fused.attr["mode"].CopyFrom(mode)
    for key in ("T", "strides", "padding"):
        fused.attr[key].CopyFrom(conv.attr[key])
    return [*made, fused]
