# SPDX-License-Identifier: Apache-2.0
"""Functions of single elements as functions of blocks, where facts of their ops allow it.

An elementwise op computes a block of elements as it does one: only the places of axes differ.
Other ops have rules of their own (engine/graph/rowwise.py).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ....engine.graph import rowwise
from ....engine.graph.graph import Graph
from ....engine.graph.rowwise import Rows
from ...public import tf

if TYPE_CHECKING:
    from ....engine.graph.operation import Operation
    from ....engine.graph.tensor import Tensor
    from ....engine.session.function_inlining import Body
    from ....engine.types.shape import TensorShape


def vectorized(
    body: Body, shapes: Sequence[TensorShape], captured: int
) -> tuple[list[Tensor], list[Rows]] | None:
    """Parameters and results of the function of blocks; None where an op's facts forbid it.

    shapes: of the elements' components; `captured` further parameters are the same for all.
    """
    # (Lookups are among the effects, as they take a handle.)
    if any(op.definition.stateful for op in body.effects):
        return None
    if len(body.parameters) != len(shapes) + captured:
        return None
    if any(shape.ndims is None for shape in shapes):
        return None
    graph = Graph()
    graph._functions = body.parameters[0].graph._functions
    made: dict[Tensor, Rows] = {}
    with graph.as_default():
        for i, parameter in enumerate(body.parameters):
            kind, is_element = parameter.dtype.base_dtype, i < len(shapes)
            shape = [None, *shapes[i].as_list()] if is_element else parameter.shape
            tensor = tf.placeholder(kind, shape=shape, name=parameter.op.name)
            made[parameter] = Rows(tensor, shapes[i].ndims if is_element else None)
        for op in body.operations:
            if not _copied(op, made):
                return None
    if not all(t in made and made[t].rank is not None for t in body.results):
        return None
    parameters = [made[parameter].tensor for parameter in body.parameters]
    return parameters, [made[tensor] for tensor in body.results]


def _copied(op: Operation, made: dict[Tensor, Rows]) -> bool:
    """Makes what computes an operation for blocks; whether there is such a thing."""
    definition = op.definition
    if definition.control_flow_role or definition.expand is not None or op._control_inputs_val:
        return False
    inputs = [made[tensor] for tensor in op._inputs_val if tensor in made]
    if len(inputs) < len(op._inputs_val) or definition.stateful:
        return False
    found: rowwise.Results = None
    if all(rows.rank is None for rows in inputs):
        if not op._is_stateful:
            copy = rowwise.copied(op, [rows.tensor for rows in inputs])
            found = [Rows(tensor) for tensor in copy.outputs]
    elif definition.rows is not None:
        found = definition.rows(op, inputs)
    elif definition.elementwise:
        found = rowwise.elementwise(op, inputs)
    if found is None:
        return False
    made.update({mine: rows for mine, rows in zip(op.outputs, found) if rows is not None})
    return True
