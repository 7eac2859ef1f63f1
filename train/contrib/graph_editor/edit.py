# SPDX-License-Identifier: Apache-2.0
"""Parts of a graph taken out, put behind one another, and passed by."""

from __future__ import annotations

from typing import Any

from ....engine.api import export
from ....engine.graph.tensor import Tensor
from ....ops.public import tf
from . import reroute, select, subgraph, util
from .subgraph import SubGraphView


@export("contrib.graph_editor.detach_control_inputs")
def detach_control_inputs(sgv: object) -> None:
    """Has the operations of a view no longer wait for others."""
    view = subgraph.make_view(sgv)
    for op in view.ops:
        reroute.remove_control_inputs(op, [c for c in op.control_inputs if c not in view.ops])


@export("contrib.graph_editor.detach_control_outputs")
def detach_control_outputs(sgv: object, control_outputs: util.ControlOutputs) -> None:
    """Has others no longer wait for the operations of a view.

    Raises:
        TypeError: `control_outputs` is no `ControlOutputs`.
    """
    if not isinstance(control_outputs, util.ControlOutputs):
        raise TypeError(f"Expected a util.ControlOutputs, got: {type(control_outputs)}")
    control_outputs.update()
    view = subgraph.make_view(sgv)
    for op in view.ops:
        for other in control_outputs.get(op):
            if other not in view.ops:
                reroute.remove_control_inputs(other, op)


@export("contrib.graph_editor.detach_inputs")
def detach_inputs(sgv: object, control_inputs: bool = False) -> tuple[SubGraphView, list[Tensor]]:
    """Puts placeholders in the place of the inputs of a view.

    Args:
        sgv: the view, or what `make_view` takes.
        control_inputs: whether its operations no longer wait for others, too.

    Returns:
        The view and the placeholders.
    """
    view = subgraph.make_view(sgv)
    with view.graph.as_default():
        placeholders = [
            tf.placeholder(dtype=t.dtype, name=util.placeholder_name(t)) for t in view.inputs
        ]
    reroute.swap_inputs(view, placeholders)
    if control_inputs:
        detach_control_inputs(view)
    return view, placeholders


@export("contrib.graph_editor.detach_outputs")
def detach_outputs(
    sgv: object, control_outputs: util.ControlOutputs | None = None
) -> tuple[SubGraphView, list[Tensor]]:
    """Gives what takes the outputs of a view placeholders instead.

    Args:
        sgv: the view, or what `make_view` takes.
        control_outputs: of the graph, if nothing shall wait for the view any longer.

    Returns:
        The view, of outputs that were taken, and the placeholders.
    """
    view = subgraph.make_view(sgv)
    taken = view.remap_outputs([i for i, t in enumerate(view.outputs) if t.consumers()])
    takers = SubGraphView(taken.consumers())
    takers = takers.remap_inputs([i for i, t in enumerate(takers.inputs) if t in taken.outputs])
    with taken.graph.as_default():
        placeholders = [util.make_placeholder_from_tensor(t) for t in takers.inputs]
    reroute.swap_outputs(taken, placeholders)
    if control_outputs is not None:
        detach_control_outputs(taken, control_outputs)
    return taken, placeholders


@export("contrib.graph_editor.detach")
def detach(
    sgv: object,
    control_inputs: bool = False,
    control_outputs: object = None,
    control_ios: object = None,
) -> tuple[Any, list[Tensor], list[Tensor]]:
    """Takes a view out of its graph.

    Args:
        sgv: the view, or what `make_view` takes.
        control_inputs: whether its operations no longer wait for others.
        control_outputs: of the graph, if nothing shall wait for it any longer.
        control_ios: the same for both.

    Returns:
        The view, the placeholders in the place of its inputs, and those in the place of its
        outputs.
    """
    follows, waiting = select.check_cios(control_inputs, control_outputs, control_ios)
    _, inputs = detach_inputs(sgv, follows)
    _, outputs = detach_outputs(sgv, waiting)
    return sgv, inputs, outputs


@export("contrib.graph_editor.connect")
def connect(
    sgv0: object, sgv1: object, disconnect_first: bool = False
) -> tuple[SubGraphView, SubGraphView]:
    """Gives a second view the outputs of the first as its inputs.

    Args:
        sgv0: a view, or what `make_view` takes.
        sgv1: another.
        disconnect_first: whether nothing else takes the outputs any longer.

    Returns:
        The views.
    """
    first, second = subgraph.make_view(sgv0), subgraph.make_view(sgv1)
    util.check_graphs(first, second)
    if disconnect_first:
        detach_outputs(first)
    reroute.reroute_inputs(SubGraphView(passthrough_ts=first.outputs), second)
    return first, second


@export("contrib.graph_editor.bypass")
def bypass(sgv: object) -> tuple[SubGraphView, list[Tensor]]:
    """Gives what takes the outputs of a view its inputs.

    Returns:
        The view and the placeholders in the place of its inputs.
    """
    view = subgraph.make_view(sgv)
    inputs = list(view.inputs)
    view, placeholders = detach_inputs(view)
    reroute.reroute_ts(inputs, view.outputs)
    return view, placeholders
