# SPDX-License-Identifier: Apache-2.0
"""`tensorflow.python.ops.while_v2`, `cond_v2` and `control_flow_util_v2`, where they are used."""

from __future__ import annotations

from typing import Any

from ...engine.graph.operation import Operation
from ...ops.flow.capturing_graph import BodyGraph
from ...ops.flow.v2.branches import cond_v2 as cond_v2
from ...ops.flow.v2.branches import indexed_case as indexed_case
from ...ops.flow.v2.branches import mark_lowered
from ...ops.flow.v2.gradients import if_gradient, while_gradient
from ...ops.flow.v2.graphs import as_function, body_of
from ...ops.flow.v2.graphs import unique_fn_name as unique_fn_name
from ...ops.flow.v2.graphs import unique_grad_fn_name as unique_grad_fn_name
from ...ops.flow.v2.loops import while_loop as while_loop

CondBranchFuncGraph = WhileCondFuncGraph = WhileBodyFuncGraph = BodyGraph
_IfGrad, _WhileGrad = if_gradient, while_gradient
maybe_set_lowering_attr = mark_lowered
# Whether values within are given out before a gradient needs them: they are not.
_EXPERIMENTAL_OUTPUT_ALL_INTERMEDIATES_OVERRIDE = None


def output_all_intermediates() -> bool:
    """Whether branches and loops give out all of their values from the start: never."""
    return False


def create_new_tf_function(func_graph: BodyGraph) -> str:
    """Adds a body to the library around it; the function's name."""
    name: str = as_function(func_graph).name
    return name


def in_defun() -> bool:
    """Whether a function is being built that is no branch and no loop."""
    from ...engine.graph.defaults import get_default_graph

    graph: Any = get_default_graph()
    while isinstance(graph, BodyGraph):
        graph = graph.outer_graph
    return bool(graph.building_function)


def _get_graph(while_op: Operation, func_attr_name: str) -> BodyGraph:
    """The body that an attribute ("cond" or "body") of a loop names."""
    return body_of(while_op, while_op.get_attr(func_attr_name), list(while_op.inputs))


def get_func_graphs(op: Operation) -> Any:
    """The bodies of the branches of an operation."""
    inputs = list(op.inputs)[1:]
    if op.type == "Case":
        return [body_of(op, each, inputs) for each in op.get_attr("branches")]
    if op.type not in ("If", "StatelessIf"):
        raise ValueError(f"Unsupported op type: {op.type}")
    names = ("then_branch", "else_branch")
    return tuple(body_of(op, op.get_attr(name), inputs) for name in names)
