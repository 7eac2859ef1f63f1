# SPDX-License-Identifier: Apache-2.0
"""The sizes that nodes of a program are laid out by.  Imports tensor IR and sizes."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

from ..kernel.sizes import AnySize, Size, symbols_of
from .tensor_ir import Call, Compose, Node, Sizes, View


def symbols_of_node(node: Node) -> Iterator[str]:
    """The symbols of all sizes that a node is laid out by."""
    found: list[AnySize] = [size for value in node.outputs for size in value.shape]
    if isinstance(node, Sizes):
        found += node.items.flat
    if isinstance(node, View):
        found += chain.from_iterable((axis.stride, axis.offset) for axis in node.axes)
    if isinstance(node, Compose):
        found += chain.from_iterable((*part.offsets, *part.strides) for part in node.parts)
    if isinstance(node, Call):
        launch = node.launch
        found += (*launch.params, launch.rows, launch.row_tile, launch.columns, launch.scratch)
    for size in found:
        if isinstance(size, Size):
            yield from symbols_of(size.text)
