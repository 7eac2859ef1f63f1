# SPDX-License-Identifier: Apache-2.0
"""The gradients of calls, branches and loops that are functions, of any order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ....engine.gradients.autodiff import is_trainable
from ....engine.gradients.autodiff_flow import zeros_for
from ....engine.gradients.autodiff_sums import _as_indexed_slices
from ....engine.graph.constants import constant_value
from ....engine.graph.operation import Operation
from ....engine.graph.tensor import IndexedSlices, Tensor
from ....engine.types import dtypes
from ...public import raw, tf
from ...state.resource import handle_shape
from .branches import build_case, build_if, mark_lowered
from .gradient_graphs import (
    BranchGradient,
    CallGradient,
    LoopGradient,
    beside,
    gradients_of,
    kept_on_failure,
    rewritten,
    set_attrs,
    whole,
    without_shapeless,
)
from .graphs import (
    BodyGraph,
    as_function,
    body_of,
    build,
    is_resource,
    pack,
    parameter,
    unique_grad_fn_name,
)
from .loops import LEADING, ORIGINAL

# Calls


def call_gradient(op: Operation, *grads: Any) -> list[Any]:
    """Of PartitionedCall: the gradient function is called with what the forward call keeps."""
    called, count = op.get_attr("f"), len(op.outputs)
    forward = body_of(op, called, op.inputs)
    graph = CallGradient(unique_grad_fn_name(called.name), forward, op)
    with kept_on_failure(op):
        build(graph, lambda: _branch_gradients(forward, grads), [])
        if len(op.outputs) > count:
            set_attrs(op, f=rewritten(forward), Tout=[x.dtype.base_dtype for x in op.outputs])
    make = raw.PartitionedCall if op.type == "PartitionedCall" else raw.StatefulPartitionedCall
    found = make(
        graph.external_captures,
        f=as_function(graph),
        Tout=[x.dtype.base_dtype for x in graph.outputs],
    )
    return _trainable(op.inputs, pack(graph.structured_outputs, _listed(found)))


def _listed(found: Any) -> list[Any]:
    if isinstance(found, Operation):
        return []
    return list(found) if isinstance(found, (list, tuple)) else [found]


def _trainable(inputs: Sequence[Tensor], found: Sequence[Any]) -> list[Any]:
    return [g if is_trainable(x) else None for x, g in zip(inputs, found, strict=True)]


def _branch_gradients(forward: BodyGraph, grads: Sequence[Any]) -> list[Any]:
    outputs = forward.outputs[: len(grads)]
    found = gradients_of(forward, outputs, forward.inputs, grads)
    return [without_shapeless(grad) for grad in found]


# Branches


def if_gradient(op: Operation, *grads: Any) -> list[Any]:
    """Of If: the gradient of the branch that is taken."""
    names = ["then_branch", "else_branch"]
    branches, found = _branches(op, [op.get_attr(name) for name in names], grads)
    if found is not None:
        set_attrs(op, **dict(zip(names, found, strict=True)))
    inputs = [branch.external_captures for branch in branches]
    made = build_if(op.inputs[0], branches, inputs, None)
    return [None, *_trainable(op.inputs[1:], _results(made))]


def case_gradient(op: Operation, *grads: Any) -> list[Any]:
    """Of Case: the gradient of the branch that is taken."""
    branches, found = _branches(op, list(op.get_attr("branches")), grads)
    if found is not None:
        set_attrs(op, branches=found)
    inputs = [branch.external_captures for branch in branches]
    made = build_case(op.inputs[0], branches, inputs, "gradient")
    return [None, *_trainable(op.inputs[1:], _results(made))]


def _results(made: Any) -> list[Any]:
    return [] if isinstance(made, Operation) else list(made)


def _branches(
    op: Operation, called: Sequence[Any], grads: Sequence[Any]
) -> tuple[list[Any], list[Any] | None]:
    """The gradients of branches, and the branches anew if they are to return more."""
    count, inputs = len(op.outputs), list(op.inputs)[1:]
    forwards = [body_of(op, each, inputs) for each in called]
    graphs = [
        BranchGradient(unique_grad_fn_name(each.name), forward, op)
        for each, forward in zip(called, forwards, strict=True)
    ]
    with kept_on_failure(op):
        for graph in graphs:
            build(graph, lambda g=graph: _branch_gradients(g.forward, grads), [])
        _same_kinds(graphs)
        if len(op.outputs) == count:
            return list(graphs), None
        for forward in forwards:
            with forward.as_default():
                missing = len(op.outputs) - len(forward.outputs)
                forward.outputs += [raw.OptionalNone() for _ in range(missing)]
        found = [rewritten(forward) for forward in forwards]
        kinds, shapes = [x.dtype.base_dtype for x in op.outputs], [x.shape for x in op.outputs]
        set_attrs(op, Tout=kinds, output_shapes=shapes)
    return list(graphs), found


def _same_kinds(graphs: Sequence[BodyGraph]) -> None:
    """Has all branches return IndexedSlices where one does."""
    found = [list(graph.structured_outputs) for graph in graphs]
    for place, each in enumerate(zip(*found)):
        if not any(isinstance(x, IndexedSlices) for x in each):
            continue
        for graph, outputs in zip(graphs, found):
            with graph.as_default():
                outputs[place] = _as_indexed_slices(outputs[place])
    for graph, outputs in zip(graphs, found):
        build(graph, lambda outputs=outputs: outputs, [])


# Loops


def while_gradient(op: Operation, *grads: Any) -> list[Any]:
    """Of While: a loop over the turns from the last one to the first."""
    original = op._attrs.get(ORIGINAL, len(op.outputs))
    with kept_on_failure(op):
        forward = _Forward(op)
        ys = forward.body.outputs[:original]
        pairs = [
            (number, _given(op, number, y, grad)) for number, (y, grad) in enumerate(zip(ys, grads))
        ]
        places = [number for number, grad in pairs if grad is not None]
        loop = _Backward(op, forward, places, [grad for _, grad in pairs if grad is not None])
        forward.update(op)
    set_attrs(op, **{ORIGINAL: len(op.outputs)})
    found: list[Any] = [None] * len(op.inputs)
    for number, grad in zip(places, loop.node(op)):
        found[number] = grad
    return found


def _given(op: Operation, number: int, result: Tensor, grad: Any) -> Any:
    if not _is_differentiated(result):
        return None
    if grad is None and result.dtype.base_dtype in (dtypes.resource, dtypes.variant):
        grad = zeros_for(op.outputs[number])
    return None if grad is None else whole(grad)


def _is_differentiated(result: Tensor) -> bool:
    if not is_trainable(result):
        return False
    # A list of integers, from which a turn of a gradient takes an element.
    if result.op.type == "TensorListPopBack" and result.value_index == 0:
        return is_trainable(result.op._attrs["element_dtype"])
    return True


class _Forward:
    """The bodies of a loop, and the number of its turns."""

    def __init__(self, op: Operation) -> None:
        inputs = list(op.inputs)
        self.cond = body_of(op, op.get_attr("cond"), inputs)
        self.body = body_of(op, op.get_attr("body"), inputs)
        self._count = len(self.body.outputs)
        is_counted = self._counts(op)
        self.limit: Any = op.inputs[1] if is_counted and self._is_limit(op) else -1
        self.turns = 0 if is_counted else self._add_counter(op)

    def _counts(self, op: Operation) -> bool:
        """Whether the first variable is the number of the turn."""
        if not self.body.outputs:
            return False
        result, start = self.body.outputs[0], constant_value(op.inputs[0])
        while result.op.type == "Identity":
            result = result.op.inputs[0]
        if start is None or start.shape or start != 0 or result.op.type not in ("Add", "AddV2"):
            return False
        step = constant_value(result.op.inputs[1])
        return result.op.inputs[0] is self.body.inputs[0] and step is not None and step == 1

    def _is_limit(self, op: Operation) -> bool:
        if len(op.inputs) < LEADING or op.inputs[1].dtype.base_dtype != dtypes.int32:
            return False
        return self.body.outputs[1] is self.body.inputs[1] and op.inputs[1].shape.rank == 0

    def _add_counter(self, op: Operation) -> int:
        """Has a loop that was stated otherwise count its turns, in a further variable."""
        with beside(op):
            start = tf.constant(0, dtypes.int32, name="loop_counter")
        with self.body.as_default():
            self.body.outputs.append(self.body.capture(start) + 1)
        self.cond.capture(start)
        op._add_while_inputs([start])
        op._add_outputs([dtypes.int32], [start.shape])
        return len(op.outputs) - 1

    def update(self, op: Operation) -> None:
        """Gives the node functions that return what its gradients need."""
        if len(self.body.outputs) == self._count:
            return
        set_attrs(
            op,
            cond=rewritten(self.cond),
            body=rewritten(self.body),
            T=[x.dtype.base_dtype for x in op.outputs],
            output_shapes=[x.shape for x in op.outputs],
        )


class _Backward:
    """The loop that is the gradient of one."""

    def __init__(
        self, op: Operation, forward: _Forward, places: Sequence[int], grads: Sequence[Tensor]
    ) -> None:
        total = op.outputs[forward.turns]
        limit = tf.convert_to_tensor(forward.limit)
        counter = tf.constant(0, total.dtype, name="grad_counter")
        self.args = [counter, limit, total, *grads]
        name = unique_grad_fn_name(op.get_attr("body").name)
        self.cond_name = unique_grad_fn_name(op.get_attr("cond").name)
        body = LoopGradient(name, forward.cond, forward.body, op, forward.limit)
        xs = [forward.body.inputs[number] for number in places]
        ys = [forward.body.outputs[number] for number in places]

        def turn(counter: Tensor, limit: Tensor, total: Tensor, *grads: Tensor) -> list[Any]:
            found = gradients_of(forward.body, ys, xs, grads)
            return [counter + 1, limit, total, *map(whole, found)]

        shapes = [x.shape for x in self.args[:3]]
        shapes += [handle_shape(x) if is_resource(x) else x.shape for x in xs]
        given = [parameter(body, x, s) for x, s in zip(self.args, shapes, strict=True)]
        build(body, turn, given)
        body.outputs += [body.popped.get(x, x) for x in body.internal_captures]
        self.body = body

    def node(self, op: Operation) -> list[Tensor]:
        """The gradients."""
        given = [*self.args, *self.body.external_captures]
        cond = BodyGraph(self.cond_name, self.body.outer_graph)
        shapes = [x.shape for x in self.body.inputs]
        args = [parameter(cond, x, s) for x, s in zip(given, shapes, strict=True)]
        build(cond, lambda counter, limit, total, *others: counter < total, args)
        found = raw.While(
            given,
            cond=as_function(cond),
            body=as_function(self.body),
            output_shapes=shapes,
            parallel_iterations=op._attrs.get("parallel_iterations", 10),
            name=f"{op.name}_grad",
        )
        mark_lowered(found[0].op)
        return [tf.identity(x) for x in found][3 : len(self.args)]
