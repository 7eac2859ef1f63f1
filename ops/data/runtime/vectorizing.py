# SPDX-License-Identifier: Apache-2.0
"""Functions of single elements as functions of blocks, where facts of their ops allow it.

An elementwise op computes a block of elements as it does one: only the places of axes differ.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ....engine.graph.graph import Graph, get_default_graph
from ...public import tf

if TYPE_CHECKING:
    from ....engine.graph.operation import Operation
    from ....engine.graph.tensor import Tensor
    from ....engine.session.function_inlining import Body
    from ....engine.types.shape import TensorShape


def vectorized(
    body: Body, shapes: Sequence[TensorShape], captured: int
) -> tuple[list[Tensor], list[Tensor]] | None:
    """Parameters and results of the function of blocks; None where an op's facts forbid it.

    shapes: of the elements' components; `captured` further parameters are the same for all.
    """
    if body.effects or len(body.parameters) != len(shapes) + captured:
        return None
    if any(shape.ndims is None for shape in shapes):
        return None
    graph = Graph()
    graph._functions = body.parameters[0].graph._functions
    made: dict[Tensor, Tensor] = {}
    # The ranks of elements, of what has a row for each of them.
    ranks: dict[Tensor, int] = {}
    with graph.as_default():
        parameters = []
        for i, parameter in enumerate(body.parameters):
            is_element = i < len(shapes)
            kind = parameter.dtype.base_dtype
            if is_element and kind.np_dtype.hasobject:
                return None
            shape = [None, *shapes[i].as_list()] if is_element else parameter.shape
            made[parameter] = tf.placeholder(kind, shape=shape, name=parameter.op.name)
            parameters.append(made[parameter])
            if is_element:
                ranks[parameter] = len(shapes[i].as_list())
        for op in body.operations:
            if not _copied(op, made, ranks):
                return None
    if not all(tensor in ranks for tensor in body.results):
        return None
    return parameters, [made[tensor] for tensor in body.results]


def _copied(op: Operation, made: dict[Tensor, Tensor], ranks: dict[Tensor, int]) -> bool:
    """Copies an operation; whether it computes blocks as elements."""
    definition = op.definition
    if definition.control_flow_role or definition.expand is not None or op._control_inputs_val:
        return False
    inputs: list[Any] = [made.get(tensor) for tensor in op._inputs_val]
    if any(tensor is None for tensor in inputs) or op._is_stateful:
        return False
    rows = [ranks[t] for t in op._inputs_val if t in ranks]
    if rows and not _is_rowwise(op, ranks, rows):
        return False
    copy = get_default_graph()._create(definition, op.name, inputs, dict(op._attrs))
    for mine, theirs in zip(copy.outputs, op.outputs):
        made[theirs] = mine
        if rows:
            ranks[theirs] = max(rows)
            if mine.shape.ndims != max(rows) + 1:
                return False
    return True


def _is_rowwise(op: Operation, ranks: dict[Tensor, int], rows: list[int]) -> bool:
    """Whether all of an elementwise op's inputs line up when there is an axis more in front."""
    if not op.definition.elementwise or len(set(rows)) > 1:
        return False
    for tensor in op._inputs_val:
        rank = tensor.shape.ndims
        if tensor not in ranks and (rank is None or rank > rows[0]):
            return False
    return True
