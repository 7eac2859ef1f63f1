# SPDX-License-Identifier: Apache-2.0
"""A model as a table of its layers, and what is counted in it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ....engine.types import nest


def count_params(weights: Sequence[Any]) -> int:
    """The number of elements of some variables, each counted once."""
    unique = {id(v): v for v in weights}.values()
    return int(sum(np.prod(v.shape.as_list()) for v in unique))


def print_summary(
    model: Any,
    line_length: int | None = None,
    positions: Sequence[float] | None = None,
    print_fn: Callable[[str], Any] | None = None,
) -> None:
    """Prints the layers, the shapes of their outputs and the numbers of their weights.

    Args:
        model: the model.
        line_length: the width.
        positions: where columns end, as shares of the width or in characters.
        print_fn: prints a line; `print` if None.
    """
    show = print_fn or print
    is_simple = type(model).__name__ == "Sequential" or not model._is_graph_network
    is_simple = is_simple or _is_row(model)
    heads = ["Layer (type)", "Output Shape", "Param #"]
    ends: list[Any]
    if is_simple:
        width, ends = line_length or 65, list(positions or [0.45, 0.85, 1.0])
    else:
        width, ends = line_length or 98, list(positions or [0.33, 0.55, 0.67, 1.0])
        heads.append("Connected to")
    if ends[-1] <= 1:
        ends = [int(width * end) for end in ends]

    def row(fields: Sequence[Any]) -> None:
        line = ""
        for number, field in enumerate(fields):
            if number > 0:
                line = line[:-1] + " "
            line = (line + str(field))[: int(ends[number])]
            line += " " * (int(ends[number]) - len(line))
        show(line)

    show(f'Model: "{model.name}"')
    show("_" * width)
    row(heads)
    show("=" * width)
    for number, layer in enumerate(model.layers):
        count = layer.count_params() if layer.built else "0 (unused)"
        name = f"{layer.name} ({type(layer).__name__})"
        before = [] if is_simple else _connections(model, layer)
        row([name, _shape(layer), count, *([before[0] if before else ""] * (not is_simple))])
        for other in before[1:]:
            row(["", "", "", other])
        show(("=" if number == len(model.layers) - 1 else "_") * width)
    trained = getattr(model, "_collected", None) or model.trainable_weights
    a, b = count_params(trained), count_params(model.non_trainable_weights)
    show(f"Total params: {a + b:,}")
    show(f"Trainable params: {a:,}")
    show(f"Non-trainable params: {b:,}")
    show("_" * width)


def _shape(layer: Any) -> Any:
    try:
        return layer.output_shape
    except AttributeError:
        return "multiple"
    except RuntimeError:
        return "?"


def _is_row(model: Any) -> bool:
    """Whether each layer has one input, which only the next one reads."""
    inner = [node for node in model._nodes if nest.flatten(node.inbound_layers)]
    for node in inner:
        if len(nest.flatten(node.inbound_layers)) > 1:
            return False
    own = {id(node) for node in model._nodes}
    for layer in model.layers:
        if sum(id(node) in own for node in layer.inbound_nodes) > 1:
            return False
        if sum(id(node) in own for node in layer.outbound_nodes) > 1:
            return False
    return True


def _connections(model: Any, layer: Any) -> list[str]:
    own = {id(node) for node in model._nodes}
    return [
        f"{inbound.name}[{number}][{place}]"
        for node in layer.inbound_nodes
        if id(node) in own
        for inbound, number, place, _ in node.iterate_inbound()
    ]
