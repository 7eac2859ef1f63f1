# SPDX-License-Identifier: Apache-2.0
"""Receptive fields: size, stride and padding of all layers between an image and an output as one.

A. Araujo, W. Norris, J. Sim: "Computing Receptive Fields of Convolutional Neural Networks",
Distill, 2019.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from ....engine.api import export
from ....engine.graph.graph import Graph
from ....engine.graph.tensor import Tensor
from .graph_compute_order import get_compute_order
from .parse_layer_parameters import get_layer_params

_DIRECTIONS = ("horizontal", "vertical")


class ReceptiveField:
    """What an output sees, along each axis.

    Args:
        size: how many places of the image.
        stride: how far the fields of neighbours are apart.
        padding: how far the first field begins before the image.
    """

    def __init__(self, size: Any, stride: Any, padding: Any) -> None:
        self.size = np.asarray(size)
        self.stride = np.asarray(stride)
        self.padding = np.asarray(padding)

    def _axes(self, given: np.ndarray, axis: Iterable[int] | None, what: str) -> list[int]:
        axes = list(range(self.size.size) if axis is None else axis)
        if given.shape[-1] != len(axes):
            raise ValueError(
                f"Dimensionality of the {what} ({given.shape[-1]}) does not match dimensionality "
                f"of `axis` ({len(axes)})"
            )
        return axes

    def compute_input_center_coordinates(self, y: Any, axis: Iterable[int] | None = None) -> Any:
        """Where in the image the centers of the fields of outputs are; ValueError for other axes.

        Args:
            y: [..., axes], places of outputs.
            axis: which axes they are; all if None.
        """
        y = np.asarray(y)
        axes = self._axes(y, axis, "feature coordinates `y`")
        return -self.padding[axes] + y * self.stride[axes] + (self.size[axes] - 1) / 2

    def compute_feature_coordinates(self, x: Any, axis: Iterable[int] | None = None) -> Any:
        """Which outputs have fields with these centers; ValueError for other axes.

        Args:
            x: [..., axes], places of the image.
            axis: which axes they are; all if None.
        """
        x = np.asarray(x)
        axes = self._axes(x, axis, "input center coordinates `x`")
        return (x + self.padding[axes] + (1 - self.size[axes]) / 2) / self.stride[axes]

    def __iter__(self) -> Iterator[Any]:
        return iter(np.concatenate([self.size, self.stride, self.padding]))


class _Field(NamedTuple):
    """What the output sees of a node, along one axis; the padding is None where not known."""

    size: int = 1
    stride: int = 1
    padding: Any = 0

    def before(self, layer: Sequence[Any], is_known: bool) -> _Field:
        """The field of the input of a layer: of its kernel size, stride and padding."""
        kernel, stride, padding = layer[:3]
        return _Field(
            stride * self.size + kernel - stride,
            stride * self.stride,
            stride * self.padding + padding if is_known else None,
        )

    def check(self, other: _Field, direction: str) -> None:
        """ValueError unless two ways from the output to a node fit each other."""
        if self.stride != other.stride:
            raise ValueError(
                "Graph is not aligned since effective stride from different paths is different "
                f"in {direction} direction"
            )
        if (self.size - 1) / 2 - self.padding != (other.size - 1) / 2 - other.padding:
            raise ValueError(
                "Graph is not aligned since center shift from different paths is different in "
                f"{direction} direction"
            )


def _followed(node: Any, stop_propagation: Sequence[str]) -> Iterator[str]:
    """The inputs of a node that the output sees."""
    for name in node.input:
        if not name.startswith(("^", *stop_propagation)):
            yield name


@export("contrib.receptive_field.compute_receptive_field_from_graph_def")
def compute_receptive_field_from_graph_def(
    graph_def: Any,
    input_node: Any,
    output_node: Any,
    stop_propagation: Sequence[str] | None = None,
    input_resolution: Sequence[int] | None = None,
) -> ReceptiveField:
    """How much of an image an output sees.

    Args:
        graph_def: a GraphDef or a graph.
        input_node: the tensor that is the image, or the name of its node.
        output_node: the output, or the name of its node.
        stop_propagation: beginnings of names of nodes that are not followed.
        input_resolution: height and width of the image, where paddings depend on them.

    Returns:
        A ReceptiveField, whose axes are x and y; it unpacks to six numbers.

    Raises:
        ValueError: a node is not found or not known, or several ways do not fit each other.

    Example:
        >>> image = tf.placeholder(tf.float32, [1, None, None, 3])
        >>> pooled = tf.nn.max_pool(image, [1, 3, 3, 1], [1, 2, 2, 1], "VALID")
        >>> output = tf.nn.avg_pool(pooled, [1, 2, 2, 1], [1, 1, 1, 1], "VALID")
        >>> find = tf.contrib.receptive_field.compute_receptive_field_from_graph_def
        >>> [int(n) for n in find(tf.get_default_graph(), image, output)]
        [5, 5, 2, 2, 0, 0]
    """
    if isinstance(graph_def, Graph):
        graph_def = graph_def.as_graph_def()
    first, last = (
        node.op.name if isinstance(node, Tensor) else node for node in (input_node, output_node)
    )
    found, name_to_node = get_compute_order(graph_def, first, input_resolution)
    fields: dict[str, tuple[_Field, _Field]] = {last: (_Field(), _Field())}
    is_known = True
    # From the output towards the image; what the output does not see has no field.
    for info in sorted(found.values(), key=lambda one: -one.order):
        node = info.node
        if node.name == first:
            break
        if node.name not in fields:
            continue
        params = get_layer_params(node, name_to_node, info.input_size)
        layer = [params[i::2] for i in (0, 1)]
        is_known = is_known and None not in params[4:6]
        x, y = (
            field.before(along, is_known)
            for field, along in zip(fields[node.name], layer, strict=True)
        )
        for name in _followed(node, stop_propagation or ()):
            fields[name] = _joined(fields.get(name), (x, y), is_known)
    if last not in found:
        raise ValueError("Output node was not found")
    if first not in fields:
        raise ValueError("Input node was not found")
    size, stride, padding = zip(*fields[first], strict=True)
    return ReceptiveField(size, stride, padding)


def _joined(
    present: tuple[_Field, _Field] | None, found: tuple[_Field, _Field], is_known: bool
) -> tuple[_Field, _Field]:
    """The larger field of two ways along each axis, once they are checked."""
    if present is None:
        return found
    if is_known:
        for old, new, direction in zip(present, found, _DIRECTIONS, strict=True):
            old.check(new, direction)
    x, y = (max(pair, key=lambda field: field.size) for pair in zip(present, found, strict=True))
    return x, y
