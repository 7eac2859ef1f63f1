# SPDX-License-Identifier: Apache-2.0
"""Parts of a graph copied, within it or to another one, with other inputs if need be."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from functools import partial
from typing import Any

from ....engine.api import export
from ....engine.graph.graph import Graph
from ....engine.graph.operation import Operation
from ....engine.graph.tensor import Tensor
from . import reroute, select, subgraph, util
from .subgraph import SubGraphView


@export("contrib.graph_editor.replace_t_with_placeholder_handler")
def replace_t_with_placeholder_handler(info: Any, t: Tensor) -> Tensor:
    """A placeholder in the place of a tensor."""
    with info.graph_.as_default():
        return util.make_placeholder_from_tensor(t, scope=info.scope_)


@export("contrib.graph_editor.keep_t_if_possible_handler")
def keep_t_if_possible_handler(info: Any, t: Tensor) -> Tensor:
    """The tensor itself within one graph, a placeholder in another."""
    if info.graph is info.graph_:
        return t
    return replace_t_with_placeholder_handler(info, t)


@export("contrib.graph_editor.assign_renamed_collections_handler")
def assign_renamed_collections_handler(info: Any, elem: Any, elem_: Any) -> None:
    """Puts what was copied into the collections of the original; those of one's own, renamed."""
    known = util.get_predefined_collection_names()
    for name, collection in info.collections.items():
        if elem in collection:
            info.graph_.add_to_collection(name if name in known else info.new_name(name), elem_)


@export("contrib.graph_editor.transform_op_if_inside_handler")
def transform_op_if_inside_handler(
    info: Any, op: Operation, keep_if_possible: bool = True
) -> Operation | None:
    """The copy of an operation; itself if it has none and stays in its graph; or None."""
    if op in info.ops:
        return info.transformed_ops[op]
    return op if keep_if_possible and info.graph is info.graph_ else None


@export("contrib.graph_editor.copy_op_handler")
def copy_op_handler(
    info: Any,
    op: Operation,
    new_inputs: Any,
    copy_shape: bool = False,
    nodedef_fn: Callable[[Any], Any] | None = None,
) -> tuple[Operation, list[Tensor]]:
    """A copy of an operation with other inputs, and its outputs.

    Args:
        info: of the copying.
        op: the original.
        new_inputs: what the copy takes.
        copy_shape: whether the outputs get the shapes of the original's.
        nodedef_fn: a function that changes the NodeDef of the copy.

    Raises:
        TypeError: `new_inputs` is a bool, as old programs have it.
    """
    if isinstance(new_inputs, bool):
        raise TypeError("the `new_inputs` argument must be an iterable.")
    node_def = deepcopy(op.node_def)
    node_def.name = info.graph_.unique_name(info.new_name(op.name))
    if nodedef_fn is not None:
        node_def = nodedef_fn(node_def)
    made = Operation(node_def, info.graph_, new_inputs, input_types=op._input_types[:])
    if copy_shape:
        for t, t_ in zip(op.outputs, made.outputs):
            t_.set_shape(t.get_shape())
    if op._original_op:
        made._original_op = op._original_op
    return made, made.outputs


@export("contrib.graph_editor.TransformerInfo")
class TransformerInfo:
    """What became of what (tf.contrib.graph_editor.TransformerInfo).

    Args:
        info: of the copying.
    """

    def __init__(self, info: Any) -> None:
        self._graph, self._scope = info.graph, info.scope
        self._graph_, self._scope_ = info.graph_, info.scope_
        self._transformed_ops = info.transformed_ops
        self._transformed_ts = info.transformed_ts

    def _copies(self, thing: object) -> dict[Any, Any]:
        if isinstance(thing, Operation):
            return self._transformed_ops
        if isinstance(thing, Tensor):
            return self._transformed_ts
        raise TypeError(f"Expected a tf.Tensor or a tf.Operation, got a {type(thing)}")

    def _copy_of(self, original: Any, missing_fn: Any = None) -> Any:
        copies = self._copies(original)
        if original in copies:
            return copies[original]
        return None if missing_fn is None else missing_fn(original)

    def _original_of(self, transformed: Any, missing_fn: Any = None) -> Any:
        for original, made in self._copies(transformed).items():
            if made is transformed:
                return original
        return None if missing_fn is None else missing_fn(transformed)

    def transformed(self, original: object, missing_fn: Callable[[Any], Any] | None = None) -> Any:
        """The copies of operations and tensors.

        Args:
            original: a Tensor, an Operation, or nested lists of them.
            missing_fn: a function of what has no copy; None otherwise.
        """
        return util.transform_tree(original, partial(self._copy_of, missing_fn=missing_fn))

    def original(self, transformed: object, missing_fn: Callable[[Any], Any] | None = None) -> Any:
        """What operations and tensors are copies of.

        Args:
            transformed: a Tensor, an Operation, or nested lists of them.
            missing_fn: a function of what is no copy; None otherwise.
        """
        return util.transform_tree(transformed, partial(self._original_of, missing_fn=missing_fn))

    def __str__(self) -> str:
        lines = ["Transform result info:"]
        if self._graph is self._graph_:
            place = "" if self._scope_ else " IN-PLACE"
            lines.append(f"  Within graph[{id(self._graph)}]{place}")
        else:
            lines.append(f"  graph[{id(self._graph)}] => graph[{id(self._graph_)}]")
        if self._scope:
            lines.append(f"  Relative to source scope: {self._scope}")
        if self._scope_:
            lines.append(f"  Scope destination: {self._scope_}")
        lines.append("Operations mapping:")
        lines += [f"  {op.name} => {op_.name}" for op, op_ in self._transformed_ops.items()]
        return "\n".join([*lines, ""])


class _Copying:
    """What the handlers of a `Transformer` see while it works."""

    def __init__(self, sgv: SubGraphView, dst_graph: Graph, dst_scope: str, src_scope: str) -> None:
        self.sgv = sgv
        self.sgv_inputs_set = frozenset(sgv.inputs)
        self.ops = frozenset(sgv.ops)
        self.graph, self.scope = sgv.graph, src_scope
        self.graph_, self.scope_ = dst_graph, dst_scope
        self.transformed_ops: dict[Operation, Operation] = {}
        self.transformed_ts: dict[Tensor, Tensor] = {}
        self.collections = {
            key: self.graph.get_collection(key) for key in self.graph.get_all_collection_keys()
        }
        # Operations in a loop take what is copied after them: tensors, what stands for them in
        # the meantime, and the operations.
        self.tmp_cyclic_ts: list[tuple[Tensor, Tensor, Operation]] = []

    def new_name(self, name: str) -> str:
        """The name of a copy.

        Raises:
            ValueError: the original is not in the scope that is copied.
        """
        if not name.startswith(self.scope):
            raise ValueError(f"{name} does not belong to source scope: {self.scope}.")
        return self.scope_ + name[len(self.scope) :]


@export("contrib.graph_editor.Transformer")
class Transformer:
    """Copies parts of graphs; its handlers, which are attributes, may be replaced."""

    def __init__(self) -> None:
        self.transform_op_handler: Callable[..., Any] = copy_op_handler
        self.transform_control_input_handler: Callable[..., Any] = transform_op_if_inside_handler
        self.assign_collections_handler: Callable[..., Any] = assign_renamed_collections_handler
        self.transform_external_input_handler: Callable[..., Any] = (
            replace_t_with_placeholder_handler
        )
        self.transform_external_hidden_input_handler: Callable[..., Any] = (
            keep_t_if_possible_handler
        )
        self.transform_original_op_handler: Callable[..., Any] = transform_op_if_inside_handler

    def __call__(
        self,
        sgv: object,
        dst_graph: Graph,
        dst_scope: str,
        src_scope: str = "",
        reuse_dst_scope: bool = False,
    ) -> tuple[SubGraphView, TransformerInfo]:
        """Copies a view.

        Args:
            sgv: the view, or what `make_view` takes.
            dst_graph: where the copy goes.
            dst_scope: of the copies' names.
            src_scope: what their names begin with, which is left away.
            reuse_dst_scope: whether the scope may be there already; else it is made unique.

        Returns:
            The view of the copy, and a `TransformerInfo`.

        Raises:
            TypeError: `dst_graph` is no graph.
            ValueError: something lies outside of `src_scope`.
        """
        view = subgraph.make_view(sgv)
        _check_graph(dst_graph)
        source, target = util.scope_finalize(src_scope), util.scope_finalize(dst_scope)
        if target and not reuse_dst_scope:
            target = util.scope_finalize(dst_graph.unique_name(target[:-1]))
        info = _Copying(view, dst_graph, target, source)
        self._copy_ops(info)
        self._finish_loops(info)
        self._connect_control_inputs(info)
        return self._copied_view(info), TransformerInfo(info)

    def _copy_ops(self, info: _Copying) -> None:
        for op in sorted(info.sgv.ops, key=lambda op: op._id):
            inputs = [self._transformed_t(info, t, op) for t in op.inputs]
            op_, outputs = self.transform_op_handler(info, op, inputs)
            if op is op_:
                raise ValueError("In-place transformation not allowed.")
            info.transformed_ops[op] = op_
            self.assign_collections_handler(info, op, op_)
            for t, t_ in zip(op.outputs, outputs):
                info.transformed_ts[t] = t_
                self.assign_collections_handler(info, t, t_)

    def _finish_loops(self, info: _Copying) -> None:
        for t, stand_in, op in info.tmp_cyclic_ts:
            op_ = info.transformed_ops[op]
            at = next(i for i, other in enumerate(op_.inputs) if other is stand_in)
            if op.type == "Merge":
                # What stands in is the first input, which stays.
                at = next(i for i, other in enumerate(op.inputs) if other is t)
            op_._update_input(at, info.transformed_ts[t])

    def _connect_control_inputs(self, info: _Copying) -> None:
        for op in info.sgv.ops:
            op_ = info.transformed_ops[op]
            if op._original_op:
                original = self.transform_original_op_handler(info, op._original_op)
                if original is not None:
                    op_._original_op = original
            before = [self.transform_control_input_handler(info, c) for c in op.control_inputs]
            known = op_.control_inputs
            reroute.add_control_inputs(op_, [c for c in before if c and c not in known])

    def _copied_view(self, info: _Copying) -> SubGraphView:
        """The view of the copies, inputs and outputs in the order of the originals."""
        view = SubGraphView(list(info.transformed_ops.values()))
        copies = info.transformed_ts

        def order(originals: Any, made: Any) -> list[int]:
            return [
                list(made).index(copies[t])
                for t in originals
                if t in copies and copies[t] in list(made)
            ]

        inputs, outputs = info.sgv.inputs, info.sgv.outputs
        return view.remap(order(inputs, view.inputs), order(outputs, view.outputs))

    def _transformed_t(self, info: _Copying, t: Tensor, taker: Operation) -> Tensor:
        """What the copy of an operation takes in the place of a tensor."""
        if t in info.transformed_ts:
            return info.transformed_ts[t]
        if t in info.sgv_inputs_set:
            return self.transform_external_input_handler(info, t)
        if t.op not in info.ops:
            return self.transform_external_hidden_input_handler(info, t)
        if taker.type == "Merge":
            stand_in = self._transformed_t(info, taker.inputs[0], taker)
        elif t.op.type == "Enter":
            stand_in = self._transformed_t(info, t.op.inputs[0], taker)
        else:
            with info.graph_.as_default():
                stand_in = util.make_placeholder_from_tensor(
                    t, scope=info.scope_, prefix="geph_tmp"
                )
        info.tmp_cyclic_ts.append((t, stand_in, taker))
        return stand_in


def _check_graph(graph: object) -> None:
    if not isinstance(graph, Graph):
        raise TypeError(f"Expected a tf.Graph, got: {type(graph)}")


@export("contrib.graph_editor.copy")
def copy(
    sgv: object,
    dst_graph: Graph | None = None,
    dst_scope: str = "",
    src_scope: str = "",
    reuse_dst_scope: bool = False,
) -> tuple[SubGraphView, TransformerInfo]:
    """Copies a part of a graph; its inputs become placeholders (tf.contrib.graph_editor.copy).

    Args:
        sgv: the view, or what `make_view` takes.
        dst_graph: where the copy goes; the same graph if None.
        dst_scope: of the copies' names.
        src_scope: what their names begin with, which is left away.
        reuse_dst_scope: whether the scope may be there already.

    Returns:
        The view of the copy, and a `TransformerInfo`.

    Raises:
        TypeError: `dst_graph` is no graph.
        ValueError: something lies outside of `src_scope`.
    """
    view = subgraph.make_view(sgv)
    graph = view.graph if dst_graph is None else dst_graph
    _check_graph(graph)
    return Transformer()(view, graph, dst_scope, src_scope, reuse_dst_scope=reuse_dst_scope)


@export("contrib.graph_editor.copy_with_input_replacements")
def copy_with_input_replacements(
    sgv: object,
    replacement_ts: dict[Tensor, Tensor],
    dst_graph: Graph | None = None,
    dst_scope: str = "",
    src_scope: str = "",
    reuse_dst_scope: bool = False,
) -> tuple[SubGraphView, TransformerInfo]:
    """Copies a part of a graph with other inputs (ge.copy_with_input_replacements).

    Args:
        sgv: the view, or what `make_view` takes.
        replacement_ts: inputs of the part and what the copy takes in their place; it takes the
            others itself, within one graph, and placeholders in another.
        dst_graph: where the copy goes; the same graph if None.
        dst_scope: of the copies' names.
        src_scope: what their names begin with, which is left away.
        reuse_dst_scope: whether the scope may be there already.

    Returns:
        The view of the copy, and a `TransformerInfo`.

    Raises:
        TypeError: `dst_graph` is no graph.
        ValueError: something lies outside of `src_scope`.
    """
    view = subgraph.make_view(sgv)
    graph = view.graph if dst_graph is None else dst_graph
    _check_graph(graph)

    def replace(info: object, t: Tensor) -> Tensor:
        return replacement_ts[t] if t in replacement_ts else keep_t_if_possible_handler(info, t)

    copier = Transformer()
    copier.transform_external_input_handler = replace
    return copier(view, graph, dst_scope, src_scope, reuse_dst_scope=reuse_dst_scope)


def _with_whole_loops(ops: list[Operation], control_ios: util.ControlOutputs) -> list[Operation]:
    """Operations, and the rest of the loops that they are in."""
    contexts = dict.fromkeys(op._control_flow_context for op in ops)
    for context in contexts:
        if context is not None and context.IsWhileContext():
            between = select.get_walks_intersection_ops(
                [enter.op for enter in context.loop_enters],
                [leave.op for leave in context.loop_exits],
                control_ios=control_ios,
            )
            ops = util.concatenate_unique(ops, between)
    return ops


@export("contrib.graph_editor.graph_replace")
def graph_replace(
    target_ts: object,
    replacement_ts: dict[Tensor, Tensor],
    dst_scope: str = "",
    src_scope: str = "",
    reuse_dst_scope: bool = False,
) -> Any:
    """Tensors computed anew from others (tf.contrib.graph_editor.graph_replace).

    What lies between the replaced tensors and the targets is copied.

    Args:
        target_ts: Tensors, or nested lists of them.
        replacement_ts: tensors and what is taken in their place.
        dst_scope: of the copies' names.
        src_scope: what their names begin with, which is left away.
        reuse_dst_scope: whether the scope may be there already.

    Returns:
        The targets' copies, in the same lists.

    Raises:
        ValueError: the targets do not depend on the replaced tensors.

    Example:
        >>> with tf.Graph().as_default():
        ...     x, other = tf.constant(2.0), tf.constant(5.0)
        ...     y = tf.contrib.graph_editor.graph_replace(x * x, {x: other})
        ...     print(tf.Session().run(y))
        25.0
    """
    targets = util.flatten_tree(target_ts)
    graph = util.get_unique_graph(targets, check_types=Tensor)
    control_ios = util.ControlOutputs(graph)
    ops = select.get_walks_intersection_ops(list(replacement_ts), targets, control_ios=control_ios)
    if not ops:
        raise ValueError("Targets and replacements are not connected!")
    ops = _with_whole_loops(ops, control_ios)
    _, info = copy_with_input_replacements(
        ops, replacement_ts, None, dst_scope, src_scope, reuse_dst_scope
    )
    return info.transformed(target_ts, lambda original: original)
