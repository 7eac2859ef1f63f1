# SPDX-License-Identifier: Apache-2.0
"""The context of a conditional's branch: what is made inside of it gets its inputs by switches.

A context is entered while a branch or loop body is built; every new operation is handed to it
(`AddOp`) and every outside value that it uses is routed in (`AddValue`).  Names are TensorFlow's.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ...engine.graph.collections import GraphKeys, get_collection, get_collection_ref
from ...engine.graph.convert import convert_to_tensor
from ...engine.graph.graph import control_dependencies, get_default_graph
from ...engine.graph.operation import Operation
from ...engine.graph.scope_functions import prepend_name_scope, strip_name_scope
from ...engine.graph.tensor import Tensor
from ...engine.types import nest
from ..control import no_op, with_dependencies
from ..public import tf
from . import util
from .nodes import switch_ref_or_tensor


class ControlFlowContext:
    """What branches and loop bodies share."""

    _name = ""

    def __init__(self, values_def: object = None, import_scope: str | None = None) -> None:
        self._nested_contexts: list[ControlFlowContext] = []
        self._outer_context: Any = get_default_graph()._get_control_flow_context()
        if self._outer_context is not None:
            self._outer_context._nested_contexts.append(self)
        self._context_stack: list[Any] = []
        # Names of tensors that were seen, and what stands here for those from outside.
        self._values: set[str] = set()
        self._external_values: dict[str, Tensor] = {}
        if values_def is not None:
            self._read_values(values_def, import_scope)

    def _read_values(self, values_def: Any, scope: str | None) -> None:
        graph = get_default_graph()
        self._values = {prepend_name_scope(value, scope) for value in values_def.values}
        for key, value in values_def.external_values.items():
            tensor = graph.as_graph_element(prepend_name_scope(value, scope))
            self._external_values[prepend_name_scope(key, scope)] = tensor
        for name in {value.split(":")[0] for value in self._values - set(self._external_values)}:
            graph.as_graph_element(name)._set_control_flow_context(self)

    @property
    def name(self) -> str:
        """The context's name, unique in the graph."""
        return self._name

    @property
    def outer_context(self) -> Any:
        """The context around this one, or None."""
        return self._outer_context

    @property
    def grad_state(self) -> Any:
        """The state of the gradient loop that this is or is in, or None."""
        raise NotImplementedError(f"{type(self).__name__}.grad_state")

    def _to_values_def(self, export_scope: str | None = None) -> Any:
        from ...io import protos

        result = protos.ValuesDef()
        result.values.extend(
            strip_name_scope(value, export_scope) for value in sorted(self._values)
        )
        for key, value in self._external_values.items():
            result.external_values[strip_name_scope(key, export_scope)] = strip_name_scope(
                value.name, export_scope
            )
        return result

    def to_control_flow_context_def(self, context_def: object, export_scope: object = None) -> None:
        """Writes this context into a ControlFlowContextDef."""
        raise NotImplementedError(f"{type(self).__name__}.to_control_flow_context_def")

    def AddName(self, name: str) -> None:
        """Notes that a tensor is known here."""
        self._values.add(name)

    def Enter(self) -> None:
        """From here on, new operations belong to this context."""
        graph = get_default_graph()
        self._context_stack.append(graph._get_control_flow_context())
        graph._set_control_flow_context(self)

    def Exit(self) -> None:
        """Back to the context before."""
        get_default_graph()._set_control_flow_context(self._context_stack.pop())

    def EnterGradientColocation(self, op: Operation, gradient_uid: str) -> None:
        """A gradient beside an op begins."""
        if self._outer_context is not None:
            self._outer_context.EnterGradientColocation(op, gradient_uid)

    def ExitGradientColocation(self, op: Operation, gradient_uid: str) -> None:
        """A gradient beside an op ends."""
        if self._outer_context is not None:
            self._outer_context.ExitGradientColocation(op, gradient_uid)

    def ExitResult(self, result: Sequence[Any]) -> None:
        """Makes the results known to the context around."""
        if self._outer_context is not None:
            for value in nest.flatten(result, expand_composites=True):
                self._outer_context.AddName(value.name)

    def GetWhileContext(self) -> Any:
        """The innermost loop around, itself included."""
        outer = self._outer_context
        return None if outer is None else outer.GetWhileContext()

    def AddInnerOp(self, op: Operation) -> None:
        """An operation was added to a context inside of this one."""
        if self._outer_context is not None:
            self._outer_context.AddInnerOp(op)

    def GetControlPivot(self) -> Tensor | None:
        """What runs if and only if this context does."""
        return None

    def IsWhileContext(self) -> bool:
        """Whether this is a loop."""
        return False

    def IsCondContext(self) -> bool:
        """Whether this is a branch."""
        return False

    def IsXLAContext(self) -> bool:
        """Whether this is compiled by XLA."""
        return False

    def _drop_outer_controls(self, op: Operation) -> tuple[list[Operation], list[Operation]]:
        """Removes control inputs from outside of the loop; returns those kept and those not."""
        # An edge from outside would be waited for in every iteration, but comes once.
        loop = self.GetWhileContext()
        if loop is None:
            return op.control_inputs, []
        inside: list[Operation] = []
        outside: list[Operation] = []
        for other in op.control_inputs:
            context = util.GetOutputContext(other)
            is_inside = context is not None and context.GetWhileContext() is loop
            (inside if is_inside else outside).append(other)
        if outside:
            op._remove_all_control_inputs()
            op._add_control_inputs(inside)
        return inside, outside

    def __str__(self) -> str:
        return self.name


def new_summaries_of(build: Callable[[], Any]) -> tuple[Any, list[Any]]:
    """What `build` returns, and the summaries that it added, which are taken back."""
    before = get_collection(GraphKeys._SUMMARY_COLLECTION)
    result = build()
    after = get_collection(GraphKeys._SUMMARY_COLLECTION)
    if len(after) > len(before):
        get_collection_ref(GraphKeys._SUMMARY_COLLECTION)[:] = before
    return result, after[len(before) :]


class CondContext(ControlFlowContext):
    """One branch of a conditional."""

    def __init__(
        self,
        pred: Any = None,
        pivot: Any = None,
        branch: Any = None,
        name: str = "cond_text",
        context_def: object = None,
        import_scope: str | None = None,
    ) -> None:
        self._name = get_default_graph().unique_name(name)
        if context_def is not None:
            self._read(context_def, import_scope)
            return
        super().__init__()
        self._pred, self._pivot, self._branch = pred, pivot, branch
        # The condition is used within as it is.
        self._values.add(pred.name)
        self._external_values[pred.name] = pred
        self._values.add(pivot.name)
        pivot.op._set_control_flow_context(self)

    def _read(self, context_def: Any, scope: str | None) -> None:
        graph = get_default_graph()
        self._name = prepend_name_scope(context_def.context_name, scope)
        self._pred = graph.as_graph_element(prepend_name_scope(context_def.pred_name, scope))
        self._pivot = graph.as_graph_element(prepend_name_scope(context_def.pivot_name, scope))
        self._branch = context_def.branch
        super().__init__(context_def.values_def, scope)

    @property
    def pred(self) -> Any:
        """The condition."""
        return self._pred

    @property
    def pivot(self) -> Any:
        """The condition, dead where this branch is not taken."""
        return self._pivot

    @property
    def branch(self) -> int:
        """1 for the branch of true, 0 for that of false."""
        return self._branch

    @property
    def grad_state(self) -> Any:
        loop = self.GetWhileContext()
        return None if loop is None else loop.grad_state

    @property
    def back_prop(self) -> bool:
        """Only loops say yes."""
        return False

    def GetControlPivot(self) -> Tensor | None:
        return self._pivot

    def IsCondContext(self) -> bool:
        return True

    def to_proto(self, export_scope: str | None = None) -> Any:
        """A CondContextDef, or None when the context is outside of `export_scope`."""
        from ...io import protos

        if export_scope is not None and not self.name.startswith(export_scope):
            return None
        result = protos.CondContextDef(
            context_name=strip_name_scope(self.name, export_scope),
            pred_name=strip_name_scope(self._pred.name, export_scope),
            pivot_name=strip_name_scope(self._pivot.name, export_scope),
            branch=self._branch,
        )
        result.values_def.MergeFrom(self._to_values_def(export_scope))
        for nested in self._nested_contexts:
            nested.to_control_flow_context_def(result.nested_contexts.add())
        return result

    def to_control_flow_context_def(self, context_def: Any, export_scope: Any = None) -> None:
        """Writes this context into a ControlFlowContextDef."""
        context_def.cond_ctxt.CopyFrom(self.to_proto(export_scope))

    @staticmethod
    def from_proto(context_def: object, import_scope: str | None = None) -> CondContext:
        """The branch that a CondContextDef describes; its operations are in the graph already."""
        result = CondContext(context_def=context_def, import_scope=import_scope)
        read_nested(result, context_def, import_scope)
        return result

    # Building

    def AddValue(self, val: Tensor) -> Tensor:
        """What stands for a value inside of this branch."""
        if val.name in self._values:
            return self._external_values.get(val.name, val)
        result = val
        self._values.add(val.name)
        if self._outer_context is not None:
            result = self._outer_context.AddValue(val)
            self._values.add(result.name)
            self._external_values[result.name] = result
        # The switch must run whenever its value is there, not after what happens to be waited for
        # here.
        with control_dependencies(None):
            result = switch_ref_or_tensor(result, self._pred)[self._branch]
            if self._outer_context is not None:
                self._outer_context.AddInnerOp(result.op)
        result.op.graph.prevent_fetching(result.op)
        result.op._set_control_flow_context(self)
        self._see_all([result.name])
        self._external_values[val.name] = result
        return result

    def _see_all(self, names: list[str]) -> None:
        context: Any = self
        while context is not None:
            context._values.update(names)
            context = context._outer_context

    def AddOp(self, op: Operation) -> None:
        """Takes a new operation in."""
        self._AddOpInternal(op)

    def _AddOpInternal(self, op: Operation) -> None:
        # Nothing would keep it from running where the branch is not taken.
        if not op.inputs:
            self._drop_outer_controls(op)
            if not any(util.OpInContext(other, self) for other in op.control_inputs):
                op._add_control_input(self._pivot.op)
        else:
            for index, x in enumerate(op.inputs):
                # While a graph is imported, what comes back to a loop is not here yet.
                is_import = op.type == "Merge" and x.op.type == "NextIteration"
                real = x if is_import else self.AddValue(x)
                if real is not x:
                    op._update_input(index, real)
            self._drop_outer_controls(op)
        self._see_all([x.name for x in op.outputs])
        if self._outer_context is not None or not util.IsLoopExit(op):
            op.graph.prevent_fetching(op)
        if self._outer_context is not None:
            self._outer_context.AddInnerOp(op)

    def _output(self, val: Tensor) -> Tensor:
        """A result of the branch; one that was made outside goes through a switch."""
        if val.name in self._values:
            return self._external_values.get(val.name, val)
        real = val
        self._values.add(val.name)
        if self._outer_context is not None:
            real = self._outer_context.AddValue(val)
            self._values.add(real.name)
            self._external_values[real.name] = real
        real = switch_ref_or_tensor(real, self._pred)[self._branch]
        self._external_values[val.name] = real
        return real

    def _result(self, value: object) -> Any:
        from .tensor_array import flow_of

        if isinstance(value, Operation):
            # The pivot stands for what has no value.
            return with_dependencies([value], self._pivot)
        return self._output(convert_to_tensor(flow_of(value)))

    def BuildCondBranch(self, fn: Callable[[], Any]) -> tuple[Any, Any]:
        """Builds the branch; returns what `fn` returned, and tensors for it."""
        original, summaries = new_summaries_of(fn)
        if summaries:
            with control_dependencies(summaries):
                if original is None:
                    return no_op(), None
                original = nest.map_structure(tf.identity, original, expand_composites=True)
        if original is None:
            return None, None
        result = nest.map_structure(self._result, original, expand_composites=True)
        return original, result if isinstance(result, (list, tuple)) else [result]


def read_nested(context: ControlFlowContext, context_def: Any, scope: str | None) -> None:
    """Reads the contexts inside of one that was just read."""
    context.Enter()
    for nested in context_def.nested_contexts:
        from_control_flow_context_def(nested, import_scope=scope)
    context.Exit()


def from_control_flow_context_def(context_def: Any, import_scope: str | None = None) -> Any:
    """The context that a ControlFlowContextDef describes."""
    from .while_context import WhileContext

    kind = context_def.WhichOneof("ctxt")
    if kind == "cond_ctxt":
        return CondContext.from_proto(context_def.cond_ctxt, import_scope=import_scope)
    if kind == "while_ctxt":
        return WhileContext.from_proto(context_def.while_ctxt, import_scope=import_scope)
    raise NotImplementedError(f"Unknown ControlFlowContextDef field: {kind}")


class XLAControlFlowContext(ControlFlowContext):
    """A context that changes nothing, for programs that state what XLA should compile."""

    def __init__(self) -> None:
        super().__init__()
        self._name = "XLAControlFlowContext"

    @property
    def grad_state(self) -> Any:
        return None

    def IsXLAContext(self) -> bool:
        return True

    def AddOp(self, op: Operation) -> None:
        """Leaves the operation as it is."""

    def AddValue(self, x: Tensor) -> Tensor:
        """The value itself."""
        return x


__all__ = ["CondContext", "ControlFlowContext", "XLAControlFlowContext"]
