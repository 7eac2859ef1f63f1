# SPDX-License-Identifier: Apache-2.0
"""Parts of a graph, with the tensors that come in and go out in an order of one's own."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Sequence
from typing import Any

from ....engine.api import export
from ....engine.graph.graph import Graph
from ....engine.graph.operation import Operation
from ....engine.graph.tensor import Tensor
from . import select, util


def _indices(given: Iterable[Any], ts: list[Tensor], may_repeat: bool) -> list[int]:
    """Positions in a list, which may be given as its tensors."""
    found = [item if isinstance(item, int) else ts.index(item) for item in given]
    for i in found:
        if not 0 <= i < len(ts):
            raise ValueError(f"Out of [0, {len(ts)}[ range: {i}")
    if not may_repeat and len(set(found)) != len(found):
        raise ValueError(f"Found repetition in mapping: {found}")
    return found


@export("contrib.graph_editor.SubGraphView")
class SubGraphView:
    """A part of a graph (tf.contrib.graph_editor.SubGraphView).

    Args:
        inside_ops: the Operations that belong to it.
        passthrough_ts: Tensors that come in and go out untouched.

    Example:
        >>> with tf.Graph().as_default():
        ...     x = tf.constant(1.0, name="x")
        ...     y = tf.square(x, name="y")
        >>> view = tf.contrib.graph_editor.SubGraphView([y.op])
        >>> [t.name for t in view.inputs], [t.name for t in view.outputs]
        (['x:0'], ['y:0'])
    """

    def __init__(self, inside_ops: object = (), passthrough_ts: object = ()) -> None:
        ops, passing = util.make_list_of_op(inside_ops), util.make_list_of_t(passthrough_ts)
        self._graph: Any = None
        self._ops: list[Operation] = []
        self._passthrough_ts: list[Tensor] = []
        self._input_ts: list[Tensor] = []
        self._output_ts: list[Tensor] = []
        if ops or passing:
            self._graph = util.get_unique_graph([*ops, *passing])
            self._ops = ops
            inputs, outputs, inside = select.compute_boundary_ts(ops)
            touched = frozenset([*inputs, *outputs, *inside])
            self._passthrough_ts = [t for t in passing if t not in touched]
            self._input_ts = inputs + self._passthrough_ts
            self._output_ts = outputs + self._passthrough_ts

    def __copy__(self) -> SubGraphView:
        result = type(self).__new__(type(self))
        result._assign_from(self)
        return result

    def _assign_from(self, other: SubGraphView) -> None:
        if not isinstance(other, SubGraphView):
            raise TypeError(f"Expected SubGraphView, got: {type(other)}")
        self._graph = other._graph
        self._ops = list(other._ops)
        self._passthrough_ts = list(other._passthrough_ts)
        self._input_ts = list(other._input_ts)
        self._output_ts = list(other._output_ts)

    def copy(self) -> SubGraphView:
        """The same view, to be changed by itself."""
        return copy.copy(self)

    def remap_default(
        self, remove_input_map: bool = True, remove_output_map: bool = True
    ) -> SubGraphView:
        """A view with inputs and outputs in their first order."""
        result = self.copy()
        inputs, outputs, _ = select.compute_boundary_ts(self._ops)
        if remove_input_map:
            result._input_ts = inputs + self._passthrough_ts
        if remove_output_map:
            result._output_ts = outputs + self._passthrough_ts
        return result

    def remap_inputs(self, new_input_indices: Iterable[Any]) -> SubGraphView:
        """A view with those inputs alone, in that order.

        Raises:
            ValueError: one is not there, or there twice.
        """
        return self.remap(new_input_indices)

    def remap_outputs(self, new_output_indices: Iterable[Any]) -> SubGraphView:
        """A view with those outputs alone, in that order; they may repeat.

        Raises:
            ValueError: one is not there.
        """
        return self.remap(None, new_output_indices)

    def remap(
        self,
        new_input_indices: Iterable[Any] | None = None,
        new_output_indices: Iterable[Any] | None = None,
    ) -> SubGraphView:
        """A view with those inputs and outputs alone, in that order."""
        result = self.copy()
        if new_input_indices is not None:
            at = _indices(new_input_indices, self._input_ts, may_repeat=False)
            result._input_ts = [self._input_ts[i] for i in at]
        if new_output_indices is not None:
            at = _indices(new_output_indices, self._output_ts, may_repeat=True)
            result._output_ts = [self._output_ts[i] for i in at]
        return result

    def remap_outputs_make_unique(self) -> SubGraphView:
        """A view with each output once."""
        result = self.copy()
        result._output_ts = list(dict.fromkeys(self._output_ts))
        return result

    def remap_outputs_to_consumers(self) -> SubGraphView:
        """A view with each output as often as it is taken."""
        result = self.copy()
        result._output_ts = [
            t for t in dict.fromkeys(self._output_ts) for _ in range(len(t.consumers()))
        ]
        return result

    def remove_unused_ops(self, control_inputs: bool = True) -> SubGraphView:
        """A view without operations that lead from no input and to no output."""
        result = self.copy()
        used = frozenset(
            select.get_walks_union_ops(
                self.connected_inputs,
                self.connected_outputs,
                within_ops=self._ops,
                control_inputs=control_inputs,
            )
        )
        result._ops = [op for op in self._ops if op in used]
        return result

    def find_op_by_name(self, op_name: str) -> Operation:
        """The operation of a name.

        Raises:
            ValueError: there is none.
        """
        for op in self._ops:
            if op.name == op_name:
                return op
        raise ValueError(f"{op_name} not in subgraph.")

    def __str__(self) -> str:
        if not self:
            return "SubGraphView: empty"
        lines = [f"SubGraphView (graphid={id(self.graph)}):"]
        passing = frozenset(self._passthrough_ts)
        lists: list[tuple[str, Sequence[Any]]] = [
            ("ops", self._ops),
            ("inputs", self._input_ts),
            ("outputs", self._output_ts),
        ]
        for name, items in lists:
            lines.append(f"** {name}[{len(items)}]:" if items else f"** {name}: empty")
            lines += [f"  {item.name}{' *' if item in passing else ''}" for item in items]
        return "\n".join([*lines, ""])

    @property
    def graph(self) -> Any:
        """The graph, or None of an empty view."""
        return self._graph

    @property
    def ops(self) -> list[Operation]:
        """The operations."""
        return self._ops

    @property
    def inputs(self) -> util.ListView:
        """The tensors that come in."""
        return util.ListView(self._input_ts)

    @property
    def connected_inputs(self) -> list[Tensor]:
        """The inputs that operations of the view take."""
        return [t for t in self._input_ts if t not in self._passthrough_ts]

    @property
    def outputs(self) -> util.ListView:
        """The tensors that go out."""
        return util.ListView(self._output_ts)

    @property
    def connected_outputs(self) -> list[Tensor]:
        """The outputs that operations of the view make."""
        return [t for t in self._output_ts if t not in self._passthrough_ts]

    @property
    def passthroughs(self) -> util.ListView:
        """The tensors that go through untouched."""
        return util.ListView(self._passthrough_ts)

    def __bool__(self) -> bool:
        return self._graph is not None

    def op(self, op_id: int) -> Operation:
        """An operation by its position."""
        return self._ops[op_id]

    def is_passthrough(self, t: Tensor) -> bool:
        """Whether a tensor goes through untouched."""
        return t in self._passthrough_ts

    def __enter__(self) -> SubGraphView:
        return self

    def __exit__(self, exc_type: object, exc_value: object, traceback: object) -> None:
        pass

    def input_index(self, t: Tensor) -> int:
        """The position of an input.

        Raises:
            ValueError: it is none.
        """
        if t not in self._input_ts:
            raise ValueError(f"Can't find {t.name} in inputs of subgraph.")
        return self._input_ts.index(t)

    def output_index(self, t: Tensor) -> int:
        """The position of an output.

        Raises:
            ValueError: it is none.
        """
        if t not in self._output_ts:
            raise ValueError(f"Can't find {t.name} in outputs of subgraph.")
        return self._output_ts.index(t)

    def consumers(self) -> list[Operation]:
        """The operations outside that take outputs."""
        inside = frozenset(self._ops)
        takers = (op for t in self._output_ts for op in t.consumers() if op not in inside)
        return list(dict.fromkeys(takers))


def _checked(view: object, graph: object) -> SubGraphView:
    if not isinstance(view, SubGraphView):
        raise TypeError(f"Expected a SubGraphView, got: {type(view)}")
    if graph is not None and view.graph:
        if not isinstance(graph, Graph):
            raise TypeError(f"Expected a tf.Graph, got: {type(graph)}")
        if view.graph is not graph:
            raise ValueError("Graph mismatch.")
    return view


@export("contrib.graph_editor.make_view", "contrib.graph_editor.sgv")
def make_view(*args: Any, **kwargs: Any) -> SubGraphView:
    """A view of what patterns and lists name (tf.contrib.graph_editor.make_view, ge.sgv).

    Args:
        *args: patterns of names, Operations, Tensors that pass through, and lists; or one view.
        **kwargs: `graph`, which patterns look in.

    Raises:
        ValueError: the graphs differ.
        TypeError: an argument is none of these.
    """
    graph = kwargs.get("graph")
    if len(args) == 1 and isinstance(args[0], SubGraphView):
        return _checked(args[0], graph)
    return _checked(SubGraphView(*select.select_ops_and_ts(*args, **kwargs)), graph)


@export("contrib.graph_editor.make_view_from_scope", "contrib.graph_editor.sgv_scope")
def make_view_from_scope(scope: str, graph: Graph) -> SubGraphView:
    """A view of the operations of a scope."""
    return SubGraphView(select.get_name_scope_ops(graph, scope))
