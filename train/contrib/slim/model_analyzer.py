# SPDX-License-Identifier: Apache-2.0
"""`slim.model_analyzer`: how many elements the operations and variables of a model have."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ....engine.api import export
from ....engine.graph.graph import Graph

_RULE = "---------"
_PREFIX = "contrib.slim.model_analyzer"


@export(f"{_PREFIX}.tensor_description")
def tensor_description(var: Any) -> str:
    """Dtype and shape of a tensor or variable as text: "(float32 1x8x8x1024)"."""
    sizes = "x".join(str(size) for size in var.get_shape())
    return f"({var.dtype.name} {sizes})"


def _elements(thing: Any) -> int:
    return thing.get_shape().num_elements() or 0


def _print_head(text: str) -> None:
    print(_RULE, text, _RULE, sep="\n")


@export(f"{_PREFIX}.analyze_ops")
def analyze_ops(graph: Graph, print_info: bool = False) -> int:
    """Counts the elements of all results in a graph.

    Args:
        graph: the graph.
        print_info: whether to print a line for each operation.

    Returns:
        The number of elements; those of unknown size count nothing.
    """
    if print_info:
        _print_head("Operations: name -> (type shapes) [size]")
    total = 0
    for op in graph.get_operations():
        size = sum(_elements(output) for output in op.outputs)
        if print_info:
            shapes = [tensor_description(o) for o in op.outputs if o.get_shape()]
            print(op.name, "\t->", ", ".join(shapes), f"[{size}]")
        total += size
    return total


@export(f"{_PREFIX}.analyze_vars")
def analyze_vars(variables: Iterable[Any], print_info: bool = False) -> tuple[int, int]:
    """Counts the elements and bytes of variables.

    Args:
        variables: such as tf.trainable_variables().
        print_info: whether to print a line for each, and the sums.

    Returns:
        The number of elements and that of bytes.
    """
    if print_info:
        _print_head("Variables: name (type shape) [size]")
    total = total_bytes = 0
    for variable in variables:
        size = _elements(variable)
        size_in_bytes = size * variable.dtype.size
        if print_info:
            sizes = f"[{size}, bytes: {size_in_bytes}]"
            print(variable.name, tensor_description(variable), sizes)
        total += size
        total_bytes += size_in_bytes
    if print_info:
        print(f"Total size of variables: {total}")
        print(f"Total bytes of variables: {total_bytes}")
    return total, total_bytes
