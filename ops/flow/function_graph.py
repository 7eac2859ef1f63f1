# SPDX-License-Identifier: Apache-2.0
"""The graph in which a Python function builds the body of a graph function.

What it uses of other graphs becomes a further parameter; its variables are those of the graph
outside.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any

from ...engine.graph.collections import GraphKeys
from ...engine.graph.convert import convert_to_tensor
from ...engine.graph.graph import get_default_graph
from ...engine.graph.operation import Operation
from ...engine.graph.scope_functions import control_dependencies, device
from ...engine.graph.tensor import Tensor
from ...engine.types.dtypes import DType
from ..public import tf
from ..state.resource_variable import ResourceVariable
from ..state.variable_scope import _STORE_KEY, default_variable_store
from .capturing_graph import CapturingGraph

# What a variable may be asked for with.
_ASKED = frozenset(
    "shape dtype initializer regularizer reuse trainable collections use_resource validate_shape "
    "constraint".split()
)


class FuncGraph(CapturingGraph):
    """A graph with parameters and results that takes in what it needs from outside."""

    def __init__(
        self,
        name: str,
        by_value: bool = False,
        copied_stateful_ops: Collection[Any] = (),
        variables_by_value: bool = False,
    ) -> None:
        super().__init__(name, get_default_graph())
        # Tensors of other graphs, what they are here, and the variables that were asked for.
        self.extra_inputs: list[Tensor] = []
        self.extra_args: list[Tensor] = []
        self.extra_vars: list[Any] = []
        self._by_value = by_value
        self._copied_stateful_ops = copied_stateful_ops
        self._variables_by_value = variables_by_value
        self._outer_scope = tf.get_variable_scope()

    def get_variable(self, getter: Callable[..., Any], name: str, **options: Any) -> Any:
        """A custom getter: the variable is the outer graph's."""
        del getter
        with self.outer_graph.as_default():
            store = default_variable_store()
            known = {key: value for key, value in options.items() if key in _ASKED}
            variable = self._outer_scope.get_variable(store, name, **known)
            self.extra_vars.append(variable)
            if self._variables_by_value and isinstance(variable, ResourceVariable):
                return variable.value()
            return variable

    def capture(self, tensor: Tensor, name: str | None = None) -> Tensor:
        """What stands here for a tensor of another graph."""
        if self._by_value and tensor not in self._captured:
            return self._copied(tensor.op).outputs[tensor.value_index]
        return super().capture(tensor, name)

    def _parameter(self, tensor: Tensor, name: str | None) -> Tensor:
        made = super()._parameter(tensor, name)
        self.extra_inputs.append(tensor)
        self.extra_args.append(made)
        if not _is_guaranteed(tensor.op):
            return made
        with control_dependencies(None):
            return tf.guarantee_const(made)

    def _copied(self, op: Operation) -> Operation:
        """A copy of an operation of another graph and of all that it needs."""
        if op._is_stateful and op not in self._copied_stateful_ops:
            raise ValueError(
                f"Cannot capture a stateful node (name:{op.name}, type:{op.type}) by value."
            )
        if op.definition.is_fed:
            raise ValueError(
                f"Cannot capture a placeholder (name:{op.name}, type:{op.type}) by value."
            )
        inputs = [self.capture(tensor) for tensor in op.inputs]
        copy = super()._create(op.definition, op.name, inputs, dict(op._attrs))
        for attr in op.definition.attrs:
            value: Any = op._attrs.get(attr.name)
            named: Any = {"func": [value], "list(func)": value}.get(attr.type, ())
            for each in named:
                self._functions[each.name] = op.graph._functions[each.name]
        self._captured.update(zip(op.outputs, copy.outputs))
        return copy


def _is_guaranteed(op: Operation) -> bool:
    """Whether a value is said to be constant, or made of such values alone."""
    known: dict[Operation, bool] = {}
    pending = [op]
    while pending:
        current = pending[-1]
        missing = [x.op for x in current.inputs if x.op not in known]
        is_mark = current.type == "GuaranteeConst"
        if missing and not is_mark and current not in known:
            # A loop's back edge leads to what is being looked at: no constant.
            known[current] = False
            pending += missing
            continue
        known[current] = is_mark or (
            bool(current.inputs) and all(known.get(x.op, False) for x in current.inputs)
        )
        pending.pop()
    return known[op]


def share_variables(graph: FuncGraph) -> None:
    """Variables that are made in a function's graph belong to the default graph, outside."""
    outer = get_default_graph()._collection_lists.lists
    graph._collection_lists.lists = {
        key: outer.setdefault(key, []) for key in (*GraphKeys._VARIABLE_COLLECTIONS, _STORE_KEY)
    }


def func_graph_from_py_func(
    func: Callable[..., Any],
    arg_names: Sequence[str],
    arg_types: Sequence[DType],
    name: str | None = None,
    capture_by_value: bool = False,
    device_function: object = None,
    whitelisted_stateful_ops: set[Any] | None = None,
    capture_resource_var_by_value: bool = True,
    arg_shapes: Sequence[Any] | None = None,
) -> FuncGraph:
    """The graph that a Python function builds from placeholders of these types.

    Raises:
      ValueError: The function returns None among its results.
    """
    graph = FuncGraph(
        name or func.__name__,
        capture_by_value,
        whitelisted_stateful_ops or set(),
        capture_resource_var_by_value,
    )
    share_variables(graph)
    with graph.as_default(), device(device_function):
        shapes = arg_shapes or [None] * len(arg_types)
        for arg_name, kind, shape in zip(arg_names, arg_types, shapes):
            graph.inputs.append(tf.placeholder(kind, shape=shape, name=arg_name))
        with tf.variable_scope("", custom_getter=graph.get_variable):
            results = func(*graph.inputs)
        if results is None:
            results = []
        elif not isinstance(results, (list, tuple)):
            results = [results]
        if any(result is None for result in results):
            raise ValueError(f"Function {graph.name} can not return None.")
        tensors = [convert_to_tensor(result) for result in results]
        graph.outputs = [t if t.graph is graph else graph.capture(t) for t in tensors]
    return graph
