# SPDX-License-Identifier: Apache-2.0
"""Functions of single elements as functions of blocks, where facts of their ops allow it.

An elementwise op computes a block of elements as it does one: only the places of axes differ.
Other ops have rules of their own (engine/graph/rowwise.py).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ....engine.graph import rowwise
from ....engine.graph.graph import Graph
from ....engine.graph.rowwise import Rows
from ....engine.types import dtypes
from ...elementwise import broadcast_shape
from ...public import raw, tf

if TYPE_CHECKING:
    from ....engine.graph.operation import Operation
    from ....engine.graph.tensor import Tensor
    from ....engine.session.function_inlining import Body
    from ....engine.types.shape import TensorShape


def vectorized(
    body: Body, shapes: Sequence[TensorShape], captured: int, is_ragged: bool = False
) -> tuple[list[Rows], list[Rows]] | None:
    """Parameters and results of the function of blocks; None where an op's facts forbid it.

    shapes: of the elements' components; `captured` further parameters are the same for all.
    is_ragged: components whose first size is not known differ in it.
    """
    # (Lookups are among the effects, as they take a handle.)
    if any(op.definition.stateful for op in body.effects):
        return None
    if len(body.parameters) != len(shapes) + captured:
        return None
    if any(shape.ndims is None for shape in shapes):
        return None
    graph, made = _begun(body, shapes, is_ragged)
    with graph.as_default():
        for op in body.operations:
            if not _copied(op, made):
                return None
    if not all(t in made and made[t].rank is not None for t in body.results):
        return None
    return [made[each] for each in body.parameters], [made[each] for each in body.results]


def vectorizable(
    body: Body, shapes: Sequence[TensorShape], are_fixed: Sequence[bool]
) -> Mapping[Tensor, Rows]:
    """The rows of all tensors of a body that can be computed for blocks, parameters included.

    are_fixed: which of the parameters behind those of elements are the same for all of them.
    """
    if any(shape.ndims is None for shape in shapes):
        return {}
    graph, made = _begun(body, shapes, is_ragged=False)
    for parameter, is_fixed in zip(body.parameters[len(shapes) :], are_fixed, strict=True):
        if not is_fixed:
            del made[parameter]
    with graph.as_default():
        for op in body.operations:
            _copied(op, made)
    return made


def _begun(
    body: Body, shapes: Sequence[TensorShape], is_ragged: bool
) -> tuple[Graph, dict[Tensor, Rows]]:
    """The graph of a function of blocks, with its parameters."""
    graph = Graph()
    graph._functions = body.parameters[0].graph._functions
    with graph.as_default():
        return graph, {
            parameter: _parameter(parameter, shapes[i] if i < len(shapes) else None, is_ragged)
            for i, parameter in enumerate(body.parameters)
        }


def _parameter(of: Tensor, shape: TensorShape | None, is_ragged: bool) -> Rows:
    """What is fed for a parameter; shape: an element's, None for what is the same for all."""
    kind, name = of.dtype.base_dtype, of.op.name
    if shape is None:
        return Rows(tf.placeholder(kind, shape=of.shape, name=name))
    sizes = shape.as_list()
    is_plain = not (is_ragged and sizes and sizes[0] is None)
    tensor = tf.placeholder(kind, shape=[None, *sizes] if is_plain else sizes, name=name)
    if is_plain:
        return Rows(tensor, len(sizes))
    places, lengths = (tf.placeholder(dtypes.int64, shape=[None], name=name) for _ in range(2))
    return Rows(tensor, len(sizes), places, lengths)


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
        is_free = definition.shape is broadcast_shape
        found = rowwise.elementwise(op, _of_one_rank(inputs) if is_free else inputs)
    if found is None:
        return False
    made.update({mine: rows for mine, rows in zip(op.outputs, found) if rows is not None})
    return True


def _of_one_rank(inputs: Sequence[Rows]) -> Sequence[Rows]:
    """Inputs that broadcast, with as many axes each as the element with the most needs."""
    found: list[Any] = [(r, r.tensor.shape.ndims if r.rank is None else r.rank) for r in inputs]
    if any(rows.places is not None or rank is None for rows, rank in found):
        return inputs
    most = max(rank for _, rank in found)
    return [rows if rows.rank is None else _of_rank(rows, rank, most) for rows, rank in found]


def _of_rank(rows: Rows, rank: int, most: int) -> Rows:
    """Elements of a rank with axes of size one before their own."""
    tensor = rows.tensor
    for _ in range(most - rank):
        tensor = raw.ExpandDims(tensor, 1)
    return Rows(tensor, most)
