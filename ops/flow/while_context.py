# SPDX-License-Identifier: Apache-2.0
"""The context of a loop body: outside values enter the frame, results leave it by exits."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from ...engine.graph.convert import convert_n_to_tensor_or_indexed_slices, convert_to_tensor
from ...engine.graph.graph import control_dependencies, get_default_graph
from ...engine.graph.operation import Operation
from ...engine.graph.scope_functions import prepend_name_scope, strip_name_scope
from ...engine.graph.scopes import control_inputs_for
from ...engine.graph.tensor import Tensor
from ...engine.types import nest
from ..public import raw, tf
from . import util
from .accumulate import GradientLoop
from .context import new_summaries_of, read_nested
from .nodes import enter, exit, identity_like, merge, switch_ref_or_tensor
from .shapes import back_edge, invariants_of, set_invariants

if TYPE_CHECKING:
    from ...engine.types.shape import TensorShape


class WhileContext(GradientLoop):
    """A loop: its condition and body."""

    def __init__(
        self,
        maximum_iterations: Any = None,
        parallel_iterations: int = 10,
        back_prop: bool = True,
        swap_memory: bool = False,
        name: str = "while_context",
        grad_state: object = None,
        context_def: object = None,
        import_scope: str | None = None,
    ) -> None:
        self._grad_state = grad_state
        if context_def is not None:
            self._read(context_def, import_scope)
            return
        super().__init__()
        if not isinstance(parallel_iterations, int) or parallel_iterations <= 0:
            raise ValueError(
                f"`parallel_iterations` must be a positive integer: {parallel_iterations}"
            )
        self._name = get_default_graph().unique_name(name)
        self._maximum_iterations = maximum_iterations
        self._parallel_iterations = parallel_iterations
        self._back_prop = back_prop
        self._swap_memory = swap_memory
        # What constants of the condition and of the body wait for, and the condition itself.
        self._pivot_for_pred: Any = None
        self._pivot_for_body: Any = None
        self._pivot: Any = None
        self._loop_exits: list[Tensor] = []
        self._loop_enters: list[Tensor] = []
        self._graph = get_default_graph()

    def _read(self, context_def: Any, scope: str | None) -> None:
        graph = get_default_graph()

        def element(name: str) -> Any:
            return graph.as_graph_element(prepend_name_scope(name, scope))

        self._name = prepend_name_scope(context_def.context_name, scope)
        limit = context_def.maximum_iterations_name
        self._maximum_iterations = element(limit) if limit else None
        self._parallel_iterations = context_def.parallel_iterations
        self._back_prop = context_def.back_prop
        self._swap_memory = context_def.swap_memory
        self._pivot_for_pred = element(context_def.pivot_for_pred_name)
        self._pivot_for_body = element(context_def.pivot_for_body_name)
        self._pivot = element(context_def.pivot_name)
        self._loop_exits = [element(name) for name in context_def.loop_exit_names]
        self._loop_enters = [element(name) for name in context_def.loop_enter_names]
        super().__init__(context_def.values_def, scope)
        if scope:
            # The frame is known by the context's name, which is another one now.
            for name in self._values:
                op = graph.as_graph_element(name).op
                if util.IsLoopEnter(op):
                    op._set_attr("frame_name", self.name)
        self._graph = graph

    @property
    def maximum_iterations(self) -> Any:
        """The most iterations that will be run, or None."""
        return self._maximum_iterations

    @property
    def parallel_iterations(self) -> int:
        """How many iterations may run at once."""
        return self._parallel_iterations

    @property
    def back_prop(self) -> bool:
        """Whether gradients go through this loop."""
        return self._back_prop

    @property
    def swap_memory(self) -> bool:
        """Whether what gradients need may be moved out of the device's memory."""
        return self._swap_memory

    @property
    def pivot(self) -> Any:
        """The condition."""
        return self._pivot

    @property
    def loop_enters(self) -> list[Tensor]:
        """Where the loop variables enter."""
        return self._loop_enters

    @property
    def loop_exits(self) -> list[Tensor]:
        """Where the loop variables leave."""
        return self._loop_exits

    @property
    def grad_state(self) -> Any:
        return self._grad_state

    def GetWhileContext(self) -> WhileContext:
        return self

    def GetControlPivot(self) -> Tensor | None:
        return self._pivot_for_pred if self._pivot_for_body is None else self._pivot_for_body

    def IsWhileContext(self) -> bool:
        return True

    def to_proto(self, export_scope: str | None = None) -> Any:
        """A WhileContextDef, or None when the context is outside of `export_scope`."""
        from ...io import protos

        def short(name: str) -> str:
            return strip_name_scope(name, export_scope)

        if export_scope is not None and not self.name.startswith(export_scope):
            return None
        result = protos.WhileContextDef(
            context_name=short(self.name),
            parallel_iterations=self._parallel_iterations,
            back_prop=self._back_prop,
            swap_memory=self._swap_memory,
            pivot_for_pred_name=short(self._pivot_for_pred.name),
            pivot_for_body_name=short(self._pivot_for_body.name),
            pivot_name=short(self._pivot.name),
            loop_exit_names=[short(x.name) for x in self._loop_exits],
            loop_enter_names=[short(x.name) for x in self._loop_enters],
        )
        if self._maximum_iterations is not None:
            result.maximum_iterations_name = short(self._maximum_iterations.name)
        result.values_def.MergeFrom(self._to_values_def(export_scope))
        for nested in self._nested_contexts:
            nested.to_control_flow_context_def(result.nested_contexts.add())
        return result

    def to_control_flow_context_def(self, context_def: Any, export_scope: Any = None) -> None:
        """Writes this context into a ControlFlowContextDef."""
        context_def.while_ctxt.CopyFrom(self.to_proto(export_scope))

    @staticmethod
    def from_proto(context_def: object, import_scope: str | None = None) -> WhileContext:
        """The loop that a WhileContextDef describes; its operations are in the graph already."""
        result = WhileContext(context_def=context_def, import_scope=import_scope)
        read_nested(result, context_def, import_scope)
        return result

    # Taking operations and values in

    def AddValue(self, val: Tensor) -> Tensor:
        """What stands for a value inside of this loop."""
        if val.name in self._values or val.op._control_flow_context is self:
            return self._external_values.get(val.name, val)
        self._values.add(val.name)
        saved = self._saved_value(val)
        if saved is not None:
            self._external_values[val.name] = saved
            return saved
        result = val if self._outer_context is None else self._outer_context.AddValue(val)
        # What is waited for here is inside of the loop, and the enter runs outside: it would wait
        # for what only comes after it.
        with control_dependencies(None):
            entered = enter(
                result, self._name, is_constant=True, parallel_iterations=self._parallel_iterations
            )
            entered.graph.prevent_feeding(entered)
            if self._outer_context is not None:
                self._outer_context.AddInnerOp(entered.op)
        self._fix_controls([entered])
        self._values.add(entered.name)
        self._external_values[val.name] = entered
        return entered

    def _saved_value(self, val: Tensor) -> Tensor | None:
        """In a gradient loop, a value of the loop that it belongs to comes from that one's past."""
        state = _gradient_state()
        if state is None:
            return None
        forward = util.GetWhileContext(val.op)
        # An exit is made in the loop's context, but its value lives in the frame around it.
        if util.IsLoopExit(val.op) and forward is not None:
            forward = forward.outer_context
            forward = None if forward is None else forward.GetWhileContext()
        return state.GetRealValue(val) if forward is state.forward_context else None

    def AddOp(self, op: Operation) -> None:
        """Takes a new operation in."""
        if op.type in ("Shape", "Size", "Rank"):
            # The shape of a value of the past, rather than the value, is what is worth keeping.
            state = _gradient_state()
            if state is not None:
                source = op.inputs[0].op
                if util.GetWhileContext(source) is state.forward_context:
                    context = source._get_control_flow_context()
                    op._set_control_flow_context(context)
                    context._AddOpInternal(op)
                    return
        self._AddOpInternal(op)

    def _AddOpInternal(self, op: Operation) -> None:
        if not op.inputs:
            kept, outside = self._drop_outer_controls(op)
            if not kept:
                op._add_control_input(self.GetControlPivot().op)  # type: ignore[union-attr]
        else:
            for index, x in enumerate(op.inputs):
                real = self.AddValue(x)
                if real is not x:
                    op._update_input(index, real)
            _, outside = self._drop_outer_controls(op)
            self._tie_to_pivot(op)
        self._values.update(x.name for x in op.outputs)
        # (What begins a loop that has no turns yet waits for nothing in it.)
        if outside and self.GetControlPivot() is not None:
            # What was to run before the op runs before the loop: its values enter the loop.
            with control_dependencies(None):
                # Entered as a value and tied to an identity inside of the frame: no control edge
                # crosses into a frame.
                self.Enter()
                entered = [tf.identity(x.outputs[0]).op for x in outside if x.outputs]
                self.Exit()
            op._add_control_inputs(entered)
        # Only the exits of the outermost loop have one value for the caller; others have one for
        # each iteration.
        if self._outer_context is not None or not util.IsLoopExit(op):
            op.graph.prevent_fetching(op)
            for x in op.outputs:
                op.graph.prevent_feeding(x)
        if self._outer_context is not None:
            self._outer_context.AddInnerOp(op)

    def _tie_to_pivot(self, op: Operation) -> None:
        """An op of nothing but invariants would not run again in the next iteration."""
        if not op.control_inputs and all(util.IsLoopConstantEnter(x.op) for x in op.inputs):
            op._add_control_input(self.GetControlPivot().op)  # type: ignore[union-attr]

    def _fix_controls(self, entered: Sequence[Tensor]) -> None:
        """Puts enters into this context, with those control inputs that are around the loop."""
        graph = get_default_graph()
        for x in entered:
            stack = graph._control_dependencies_stack
            outer = [
                op
                for op in control_inputs_for(stack, {x.op.inputs[0].op})
                if self._is_around(util.GetOutputContext(op))
            ]
            x.op._set_control_flow_context(self)
            x.op._add_control_inputs(outer)
            for controller in stack:
                controller.add_op(x.op)

    def _is_around(self, context: object) -> bool:
        outer = self.outer_context
        loop = None if outer is None else outer.GetWhileContext()
        while outer is not context:
            if outer is None or outer is loop:
                return False
            outer = outer.outer_context
        return True

    # Building

    def BuildLoop(
        self,
        pred: Callable[..., Any],
        body: Callable[..., Any],
        loop_vars: Sequence[Any],
        shape_invariants: Sequence[TensorShape] | None,
        return_same_structure: bool,
    ) -> Any:
        """Builds condition and body; returns the loop variables as they leave."""
        from .tensor_array import arrays_of, flow_of

        original = loop_vars
        flat = [flow_of(x) for x in nest.flatten(loop_vars)]
        flat = convert_n_to_tensor_or_indexed_slices(flat)
        if shape_invariants is None:
            shape_invariants = [invariants_of(x) for x in flat]
        flat = nest.flatten(flat, expand_composites=True)
        self.Enter()
        try:
            result, exits = self._build(pred, body, original, flat, shape_invariants)
        finally:
            self.Exit()
        leaves = arrays_of(nest.flatten(result, expand_composites=True), exits)
        packed = nest.pack_sequence_as(result, leaves, expand_composites=True)
        return packed if return_same_structure or len(exits) != 1 else packed[0]

    def _build(
        self,
        pred: Callable[..., Any],
        body: Callable[..., Any],
        original: Sequence[Any],
        loop_vars: list[Tensor],
        shape_invariants: Sequence[Any],
    ) -> tuple[Any, list[Tensor]]:
        entered = self._enter_all(loop_vars, shape_invariants)
        # The second input is a placeholder: `back_edge` puts the next iteration there, which the
        # body, not built yet, will make.
        merges = [merge([x, x])[0] for x in entered]
        self._pivot_for_pred = merges[0]
        condition = convert_to_tensor(pred(*_packed(original, merges)))
        self._pivot = raw.LoopCond(condition, name="LoopCond")
        switches = [switch_ref_or_tensor(x, self._pivot) for x in merges]
        # Output 1 of a switch is live while the condition holds, output 0 once when it fails.
        inside = [identity_like(x[1]) for x in switches]
        self._pivot_for_body = inside[0]
        packed = _packed(original, inside)
        result, flat = _body_result(body, packed)
        if len(merges) != len(flat):
            raise ValueError(
                "Number of inputs and outputs of body must match loop_vars: "
                f"{len(merges)}, {len(flat)}"
            )
        for merged, value in zip(merges, flat):
            back_edge(merged, value)
        self._loop_exits = [exit(x[0]) for x in switches]
        self.ExitResult(self._loop_exits)
        return result, self._loop_exits

    def _enter_all(self, loop_vars: list[Tensor], shape_invariants: Sequence[Any]) -> list[Tensor]:
        self._values = {x.name for x in loop_vars}
        real = loop_vars
        if self._outer_context is not None:
            real = [self._outer_context.AddValue(x) for x in loop_vars]
        with control_dependencies(None):
            entered = [
                enter(
                    x,
                    self._name,
                    parallel_iterations=self._parallel_iterations,
                    use_input_shape=shape_invariants is None,
                )
                for x in real
            ]
            for x in entered:
                x.graph.prevent_feeding(x)
                if self._outer_context is not None:
                    self._outer_context.AddInnerOp(x.op)
        self._tie_enters(entered)
        set_invariants(real, entered, shape_invariants)
        self._fix_controls(entered)
        self._values = {x.name for x in entered}
        self._loop_enters = entered
        return entered

    def _tie_enters(self, entered: list[Tensor]) -> None:
        """An invariant of the loop around starts this one anew in each of its iterations."""
        outer, pivot = self._outer_context, None
        while outer is not None and pivot is None:
            pivot = outer.GetControlPivot()
            outer = outer._outer_context
        if pivot is None:
            return
        for x in entered:
            if util.IsLoopConstantEnter(x.op.inputs[0].op):
                x.op._add_control_input(pivot.op)


def _gradient_state() -> Any:
    """The gradient state of the loop that is being built, or None."""
    context = get_default_graph()._get_control_flow_context()
    loop = None if context is None else context.GetWhileContext()
    return None if loop is None else loop.grad_state


def _packed(original: Sequence[Any], tensors: list[Tensor]) -> Any:
    from .tensor_array import arrays_of

    leaves = arrays_of(nest.flatten(original, expand_composites=True), tensors)
    return nest.pack_sequence_as(original, leaves, expand_composites=True)


def _body_result(body: Callable[..., Any], packed: Sequence[Any]) -> tuple[Any, list[Any]]:
    """What the body returned, and its flat tensors."""
    from .tensor_array import flow_of, is_array

    result, summaries = new_summaries_of(lambda: body(*packed))
    if not nest.is_sequence_or_composite(result):
        result = [result]
    if summaries:
        with control_dependencies(summaries):
            result = nest.map_structure(
                lambda x: x if is_array(x) else tf.identity(x), result, expand_composites=True
            )
    nest.assert_same_structure(list(packed), list(result), expand_composites=True)
    flat = [flow_of(x) for x in nest.flatten(result, expand_composites=True)]
    return result, convert_n_to_tensor_or_indexed_slices(flat)
