# SPDX-License-Identifier: Apache-2.0
"""Models as drawings; pydot and Graphviz draw."""

from __future__ import annotations

import os
from typing import Any

from ....engine.types import nest


def model_to_dot(
    model: Any,
    show_shapes: bool = False,
    show_layer_names: bool = True,
    rankdir: str = "TB",
    expand_nested: bool = False,
    dpi: int = 96,
    subgraph: bool = False,
) -> Any:
    """A graph of pydot: a node for each layer.

    Args:
        model: the model.
        show_shapes: whether the shapes of inputs and outputs are shown.
        show_layer_names: whether names are shown.
        rankdir: "TB" from top to bottom, "LR" from left to right.
        expand_nested: accepted; models within are one node.
        dpi: dots per inch.
        subgraph: accepted, of no effect.

    Raises:
        ImportError: pydot is not installed.
    """
    try:
        import pydot
    except ImportError as error:
        raise ImportError(
            "Failed to import pydot. You must install pydot and graphviz for `pydotprint` to work: "
            "pip install pydot"
        ) from error
    dot = pydot.Dot()
    for name, value in (("rankdir", rankdir), ("concentrate", True), ("dpi", dpi)):
        dot.set(name, value)
    dot.set_node_defaults(shape="record")
    for layer in model.layers:
        dot.add_node(pydot.Node(str(id(layer)), label=_label(layer, show_shapes, show_layer_names)))
    if model._is_graph_network:
        for node in model._nodes:
            for before in nest.flatten(node.inbound_layers):
                if any(before is layer for layer in model.layers):
                    dot.add_edge(pydot.Edge(str(id(before)), str(id(node.outbound_layer))))
    return dot


def _label(layer: Any, show_shapes: bool, show_name: bool) -> str:
    kind = type(layer).__name__
    label = f"{layer.name}: {kind}" if show_name else kind
    if not show_shapes:
        return label
    shapes = []
    for side in ("input_shape", "output_shape"):
        try:
            shapes.append(str(getattr(layer, side)))
        except (AttributeError, RuntimeError):
            shapes.append("multiple")
    return f"{label}\n|{{input:|output:}}|{{{{{shapes[0]}}}|{{{shapes[1]}}}}}"


def plot_model(
    model: Any,
    to_file: str = "model.png",
    show_shapes: bool = False,
    show_layer_names: bool = True,
    rankdir: str = "TB",
    expand_nested: bool = False,
    dpi: int = 96,
) -> None:
    """Draws a model to a file; arguments and errors as of model_to_dot."""
    dot = model_to_dot(model, show_shapes, show_layer_names, rankdir, expand_nested, dpi)
    form = os.path.splitext(to_file)[1][1:] or "png"
    dot.write(to_file, format=form)
