# SPDX-License-Identifier: Apache-2.0
"""`tensorflow.tools.graph_transforms`: GraphDefs rewritten by transforms, asked for by name.

Each is a function of a GraphDef and what was asked for, which gives another GraphDef.  Constants
are folded in io/graph_folding.py.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..engine import errors
from ..engine.graph import registry
from ..engine.interface.log import get_logger
from ..engine.record_class import record
from ..engine.types import dtypes
from . import protos
from .graph_folding import fold_constants, in_order, split_input, with_nodes
from .graph_util import extract_sub_graph
from .optimize_for_inference import constant, fold_batch_norms, values_from_const

# What a transform may be asked for with: `name` or `name(key=value, key="a,b")`.
_TRANSFORM = re.compile(r"\s*(?P<name>\w+)(?:\((?P<arguments>[^()]*)\))?")
_ARGUMENT = re.compile(
    r"[\s,]*(?P<key>\w+)\s*=\s*(?:\"(?P<quoted>[^\"]*)\"|(?P<plain>[^\s,]+))[\s,]*"
)


@record(frozen=True)
class Asked:
    """A transform that is asked for, its arguments, and the graph's inputs and outputs."""

    name: str
    arguments: dict[str, list[str]]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]

    @property
    def kept(self) -> set[str]:
        """Nodes that stay as they are."""
        return {split_input(text)[0] for text in (*self.inputs, *self.outputs)}

    def one(self, key: str, default: str | None = None) -> str:
        """An argument that is given once; InvalidArgumentError if it must be given and is not."""
        values = self.arguments.get(key, [] if default is None else [default])
        if len(values) != 1:
            raise errors.invalid(f"{self.name} expects exactly one '{key}' argument")
        return values[0]

    def integer(self, key: str, default: int) -> int:
        """An argument that is a number."""
        return int(self.one(key, str(default)))

    def flag(self, key: str, default: bool = False) -> bool:
        """An argument that is true or false."""
        return self.one(key, str(default)).lower() in ("true", "1")


def TransformGraph(  # noqa: N802 - TensorFlow's name
    input_graph_def: Any,
    inputs: Sequence[str],
    outputs: Sequence[str],
    transforms: Sequence[str],
) -> Any:
    """A GraphDef rewritten by transforms, one after the other.

    Args:
        input_graph_def: a GraphDef, whose variables are constants for most transforms.
        inputs: names of nodes that are fed.
        outputs: names of nodes whose results are wanted.
        transforms: such as "strip_unused_nodes" or "remove_nodes(op=Identity, op=CheckNumerics)".
            With `ignore_errors=true` one that fails is left out, with a warning.

    Returns:
        A new GraphDef.

    Raises:
        InvalidArgumentError: there is no such transform, or an argument is wrong.
        UnimplementedError: a transform of TensorFlow's that is not here.
    """
    graph_def = protos.GraphDef()
    graph_def.CopyFrom(input_graph_def)
    for name, arguments in _parsed(" ".join(transforms)):
        asked = Asked(name, arguments, tuple(inputs), tuple(outputs))
        if name not in TRANSFORMS and name not in _ABSENT:
            known = ", ".join(TRANSFORMS)
            raise errors.invalid(f"Transform '{name}' not recognized; there are {known}")
        try:
            if name in _ABSENT:
                raise errors.unimplemented(f"{name} {_ABSENT[name]}")
            graph_def = TRANSFORMS[name](graph_def, asked)
        except (errors.OpError, ValueError, AssertionError) as error:
            if not asked.flag("ignore_errors"):
                raise
            get_logger().warning("%s is left out: %s", name, error)
    return graph_def


def _parsed(text: str) -> list[tuple[str, dict[str, list[str]]]]:
    """The names of transforms and their arguments."""
    found, at = [], 0
    while text[at:].strip():
        match = _TRANSFORM.match(text, at)
        if match is None:
            raise errors.invalid(f"Looking for transform name, but found {text[at:]}")
        found.append((match["name"], _arguments(match["arguments"] or "")))
        at = match.end()
    return found


def _arguments(text: str) -> dict[str, list[str]]:
    arguments: dict[str, list[str]] = {}
    at = 0
    while text[at:].strip():
        match = _ARGUMENT.match(text, at)
        if match is None:
            raise errors.invalid(f"Looking for name=value, but found {text[at:]}")
        value = match["quoted"] if match["plain"] is None else match["plain"]
        arguments.setdefault(match["key"], []).append(value)
        at = match.end()
    return arguments


# What nodes there are


def _strip_unused_nodes(graph_def: Any, asked: Asked) -> Any:
    """Keeps what the outputs need of the inputs, which become placeholders."""
    names, kinds = asked.arguments.get("name", []), asked.arguments.get("type_for_name", [])
    shapes = asked.arguments.get("shape_for_name", [])
    fed = {split_input(text)[0] for text in asked.inputs}

    def placeholder(node: Any) -> Any:
        at = names.index(node.name) if node.name in names else -1
        made = protos.NodeDef(name=node.name, op="Placeholder")
        kind = kinds[at] if 0 <= at < len(kinds) else asked.one("type", "float")
        made.attr["dtype"].type = dtypes.as_dtype(_TYPES.get(kind, kind)).as_datatype_enum
        shape = shapes[at] if 0 <= at < len(shapes) else asked.one("shape", "")
        sizes = made.attr["shape"].shape
        for size in filter(None, shape.split(",")):
            sizes.dim.add(size=int(size))
        return made

    nodes = [
        placeholder(node) if node.name in fed and node.op != "Placeholder" else node
        for node in graph_def.node
    ]
    return extract_sub_graph(with_nodes(graph_def, nodes), sorted(asked.kept))


_TYPES = {"float": "float32", "double": "float64"}


def _remove_nodes(graph_def: Any, asked: Asked) -> Any:
    """Takes out nodes of one input, whose readers read that."""
    types = asked.arguments.get("op")
    if not types:
        raise errors.invalid(
            "remove_nodes expects at least one 'op'argument, e.g. remove_nodes(op=Identity)"
        )
    most = asked.integer("max_inputs", 1)
    gone = {
        node.name: node.input[0]
        for node in graph_def.node
        if node.op in types and 1 <= len(node.input) <= most and node.name not in asked.kept
    }
    nodes = [node for node in graph_def.node if node.name not in gone]
    return _redirected(with_nodes(graph_def, nodes), gone)


def _redirected(graph_def: Any, instead: dict[str, str]) -> Any:
    """The graph whose nodes read what stands for a node, and for that, and so on."""
    for node in graph_def.node:
        for i, text in enumerate(node.input):
            name, output, is_control = split_input(text)
            while name in instead and output == 0:
                name, output, _ = split_input(instead[name])
            node.input[i] = f"^{name}" if is_control else name if not output else f"{name}:{output}"
    return graph_def


def _merge_duplicate_nodes(graph_def: Any, asked: Asked) -> Any:
    """Makes one node of those that compute the same, until there are none."""
    while True:
        first: dict[bytes, str] = {}
        same: dict[str, str] = {}
        for node in graph_def.node:
            definition = registry.find(node.op)
            if definition is None or definition.stateful or node.name in asked.kept:
                continue
            nameless = protos.NodeDef()
            nameless.CopyFrom(node)
            nameless.name = ""
            key = nameless.SerializeToString(deterministic=True)
            if first.setdefault(key, node.name) != node.name:
                same[node.name] = first[key]
        if not same:
            return graph_def
        graph_def = with_nodes(graph_def, [n for n in graph_def.node if n.name not in same])
        for node in graph_def.node:
            for i, text in enumerate(node.input):
                name = split_input(text)[0]
                if name in same:
                    node.input[i] = text.replace(name, same[name], 1)


def _obfuscate_names(graph_def: Any, asked: Asked) -> Any:
    """Gives all nodes but inputs and outputs short names."""
    taken, number = asked.kept, 0
    names: dict[str, str] = {}
    for node in graph_def.node:
        if node.name in taken:
            continue
        while (short := np.base_repr(number, 36).lower()) in taken or short[0].isdigit():
            number += 1
        names[node.name], number = short, number + 1
    for node in graph_def.node:
        node.name = names.get(node.name, node.name)
        for i, text in enumerate(node.input):
            name = split_input(text)[0]
            node.input[i] = text.replace(name, names.get(name, name), 1)
    return graph_def


def _sort_by_execution_order(graph_def: Any, asked: Asked) -> Any:
    del asked
    return with_nodes(graph_def, in_order(graph_def))


# What nodes say


def _each(change: Callable[[Any, Asked], None]) -> Callable[[Any, Asked], Any]:
    """A transform that changes every node for itself."""

    def transform(graph_def: Any, asked: Asked) -> Any:
        for node in graph_def.node:
            change(node, asked)
        return graph_def

    return transform


def _remove_device(node: Any, asked: Asked) -> None:
    del asked
    node.ClearField("device")


def _set_device(node: Any, asked: Asked) -> None:
    if not (node.device and asked.flag("if_default")):
        node.device = asked.one("device", "")


def _remove_control_dependencies(node: Any, asked: Asked) -> None:
    del asked
    node.input[:] = [text for text in node.input if not text.startswith("^")]


def _is_meant(node: Any, asked: Asked) -> bool:
    return asked.one("op_name", "*") in ("*", node.op)


def _remove_attribute(node: Any, asked: Asked) -> None:
    if _is_meant(node, asked):
        node.attr.pop(asked.one("attribute_name"), None)


def _rename_attribute(node: Any, asked: Asked) -> None:
    old, new = asked.one("old_attribute_name"), asked.one("new_attribute_name")
    if _is_meant(node, asked) and old in node.attr:
        node.attr[new].CopyFrom(node.attr[old])
        del node.attr[old]


def _rename_op(node: Any, asked: Asked) -> None:
    if node.op == asked.one("old_op_name"):
        node.op = asked.one("new_op_name")


def _add_default_attributes(node: Any, asked: Asked) -> None:
    del asked
    from .op_def_registry import get_registered_ops

    found = get_registered_ops().get(node.op)
    for attr in found.attr if found is not None else ():
        if attr.HasField("default_value") and attr.name not in node.attr:
            node.attr[attr.name].CopyFrom(attr.default_value)


# Weights


def _fold_multiplications(graph_def: Any, asked: Asked) -> Any:
    """Makes what multiplies the channels behind a product or convolution part of its weights."""
    nodes = {node.name: node for node in graph_def.node}
    readers: dict[str, int] = {}
    for node in graph_def.node:
        for text in node.input:
            readers[split_input(text)[0]] = readers.get(split_input(text)[0], 0) + 1
    for node in graph_def.node:
        if node.op != "Mul":
            continue
        layer, factor = (nodes[split_input(text)[0]] for text in node.input[:2])
        if layer.op not in ("Conv2D", "MatMul", "DepthwiseConv2dNative") or factor.op != "Const":
            continue
        weights = nodes[split_input(layer.input[1])[0]]
        parts = {layer.name, weights.name}
        if weights.op != "Const" or any(readers[n] > 1 or n in asked.kept for n in parts):
            continue
        values, scale = values_from_const(weights), values_from_const(factor)
        channels = values.shape[2:] if layer.op == "DepthwiseConv2dNative" else values.shape[-1:]
        if scale.shape != (int(np.prod(channels)),):
            raise errors.invalid(f"Mul constant input to batch norm has bad shape: {scale.shape}")
        scaled = (values * scale.reshape(channels)).astype(values.dtype)
        weights.CopyFrom(constant(weights.name, scaled))
        # The layer takes the place and the name of the multiplication.
        name = node.name
        node.CopyFrom(layer)
        node.name = name
    return extract_sub_graph(graph_def, sorted(asked.kept & set(nodes)))


def _weights(node: Any, least: int) -> np.ndarray | None:
    """The numbers of a constant of float32 that has so many at least."""
    if node.op != "Const" or node.attr["dtype"].type != protos.DT_FLOAT:
        return None
    values = values_from_const(node)
    return values if values.size >= least else None


def _round_weights(graph_def: Any, asked: Asked) -> Any:
    """Leaves constants of 16 numbers or more so many different ones."""
    steps = asked.integer("num_steps", 256)
    for node in graph_def.node:
        values = _weights(node, 16)
        if values is not None:
            low, high = _range(values)
            width = (high - low) / np.float32(steps)
            bucket = np.floor((values - low) / width)
            node.CopyFrom(constant(node.name, (low + width * (bucket + 0.5)).astype(np.float32)))
    return graph_def


def _range(values: np.ndarray) -> tuple[np.float32, np.float32]:
    """The least and the greatest number, made apart if they are one."""
    low, high = np.float32(values.min()), np.float32(values.max())
    if low == high:
        high = low + np.float32(1) if abs(low) < 1e-6 else max(low * 2, low / 2)
    return low, high


def _quantize_weights(graph_def: Any, asked: Asked) -> Any:
    """Makes large constants 8-bit ones, and nodes that give the numbers again."""
    least, nodes = asked.integer("minimum_size", 1024), []
    for node in graph_def.node:
        values = _weights(node, least)
        nodes += [node] if values is None else _quantized(node.name, values)
    return with_nodes(graph_def, nodes)


def _quantized(name: str, values: np.ndarray) -> list[Any]:
    low, high = _range(np.append(values.ravel(), np.float32(0)))
    # 256 steps, of which the first begins at the least number.
    scale = np.float32(256) / ((high - low) * np.float32(256 / 255))
    steps = np.rint(values * scale) - np.rint(low * scale)
    quint8 = dtypes.quint8
    held = constant(f"{name}_quantized_const", np.clip(steps, 0, 255).astype(np.uint8))
    held.attr["dtype"].type = held.attr["value"].tensor.dtype = quint8.as_datatype_enum
    ends = [
        constant(f"{name}_quantized_{end}", np.asarray(value, np.float32))
        for end, value in (("min", low), ("max", high))
    ]
    made = protos.NodeDef(name=name, op="Dequantize", input=[held.name, *(e.name for e in ends)])
    made.attr["T"].type = quint8.as_datatype_enum
    made.attr["mode"].s = b"MIN_FIRST"
    return [held, *ends, made]


TRANSFORMS: dict[str, Callable[[Any, Asked], Any]] = {
    "add_default_attributes": _each(_add_default_attributes),
    "fold_batch_norms": _fold_multiplications,
    "fold_constants": lambda graph_def, asked: fold_constants(
        graph_def, asked.kept, asked.flag("clear_output_shapes", True)
    ),
    "fold_old_batch_norms": lambda graph_def, asked: fold_batch_norms(graph_def),
    "merge_duplicate_nodes": _merge_duplicate_nodes,
    "obfuscate_names": _obfuscate_names,
    "quantize_weights": _quantize_weights,
    "remove_attribute": _each(_remove_attribute),
    "remove_control_dependencies": _each(_remove_control_dependencies),
    "remove_device": _each(_remove_device),
    "remove_nodes": _remove_nodes,
    "rename_attribute": _each(_rename_attribute),
    "rename_op": _each(_rename_op),
    "round_weights": _round_weights,
    "set_device": _each(_set_device),
    "sort_by_execution_order": _sort_by_execution_order,
    "strip_unused_nodes": _strip_unused_nodes,
}
_OF_8_BITS = "makes graphs of 8-bit kernels, which are not in numbaflow; quantize_weights is"
_ABSENT = {
    "backport_concatv2": "makes graphs for TensorFlow before 1.0",
    "backport_tensor_array_v3": "makes graphs for TensorFlow before 1.0",
    "flatten_atrous_conv": "is for devices without dilated convolutions",
    "freeze_requantization_ranges": _OF_8_BITS,
    "insert_logging": "is not in numbaflow; tf.Print and tf.debugging are",
    "quantize_nodes": _OF_8_BITS,
    "sparsify_gather": "makes tables of variables, which is not in numbaflow",
}
