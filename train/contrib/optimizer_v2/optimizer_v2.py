# SPDX-License-Identifier: Apache-2.0
"""The base of optimizers whose hyperparameters, slots and variables are a state per graph."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from ....engine.api import export
from ....engine.graph.operation import Operation
from ....engine.graph.tensor import IndexedSlices, Tensor
from ....engine.graph.trackable import TrackableReference
from ....engine.hints import hinted
from ....ops.public import tf
from ...optimizers.optimizer import (
    GradientsAndVariables,
    Optimizer,
    _as_gradient,
    _deduplicate_indexed_slices,
    _target,
    _updater,
    _variables,
)
from ...variables import slot_creator

if TYPE_CHECKING:
    from ....engine.graph.graph import Graph
    from ....engine.types.dtypes import DType
    from ....ops.state.variables import Variable


class _OptimizerV2State:
    """What an optimizer keeps in one graph.

    Args:
        op_name: part of the names of slots.
        hyper: the hyperparameters that are no functions, as tensors.
    """

    def __init__(self, op_name: str, hyper: dict[str, Any]) -> None:
        self._op_name = op_name
        self._hyper: dict[str, dict[DType | None, Any]] = {k: {None: v} for k, v in hyper.items()}
        self._slots: dict[str, dict[str, Any]] = {}
        self._non_slot_dict: dict[str, Any] = {}
        # What checkpoints have for variables that are not made yet.
        self.deferred: dict[str, list[Any]] = {}
        self._awaited_slots: dict[tuple[str, str], list[Any]] = {}
        # The variable that variables which are no slots are put beside.
        self._beside: Any = None

    def with_dynamic(self, hyper: dict[str, Any], beside: object) -> _OptimizerV2State:
        """The same slots, with hyperparameters that functions gave for this step."""
        made = _OptimizerV2State(self._op_name, hyper)
        made._hyper.update(self._hyper)
        made._slots, made._non_slot_dict = self._slots, self._non_slot_dict
        made.deferred, made._awaited_slots = self.deferred, self._awaited_slots
        made._beside = beside
        return made

    def get_hyper(self, name: str, dtype: DType | None = None) -> Any:
        """A hyperparameter, cast to a dtype once."""
        known = self._hyper[name]
        if dtype not in known:
            known[dtype] = tf.cast(known[None], dtype)
        return known[dtype]

    def _slot(self, var: Any, name: str, create: Callable[[], Any]) -> Any:
        slots = self._slots.setdefault(name, {})
        if var.op.name not in slots:
            slots[var.op.name] = slot = create()
            _restore(self._awaited_slots.pop((name, var.op.name), ()), slot)
        return slots[var.op.name]

    def restore_slot(self, position: object, name: str, var: Variable) -> None:
        """Restores a slot from a place in a checkpoint, now or when it is made."""
        slot = self.get_slot(var, name)
        if slot is None:
            self._awaited_slots.setdefault((name, var.op.name), []).append(position)
        else:
            _restore([position], slot)

    def create_slot(
        self, var: Variable, val: Any, slot_name: str, optional_op_name: str | None = None
    ) -> Any:
        """A slot that begins with a tensor."""
        name = optional_op_name or self._op_name
        return self._slot(var, slot_name, lambda: slot_creator.create_slot(var, val, name))

    def create_slot_with_initializer(
        self,
        var: object,
        initializer: object,
        shape: object,
        dtype: object,
        slot_name: str,
        optional_op_name: str | None = None,
    ) -> Any:
        """A slot that an initializer fills."""
        given = (var, initializer, shape, dtype, optional_op_name or self._op_name)
        create = slot_creator.create_slot_with_initializer
        return self._slot(var, slot_name, lambda: create(*given))

    def zeros_slot(self, var: object, slot_name: str, optional_op_name: str | None = None) -> Any:
        """A slot of zeros."""
        name = optional_op_name or self._op_name
        return self._slot(var, slot_name, lambda: slot_creator.create_zeros_slot(var, name))

    def get_slot(self, var: Any, name: str) -> Any:
        """A slot, or None."""
        return self._slots.get(name, {}).get(var.op.name)

    def get_slot_names(self) -> list[str]:
        """The names of all slots, sorted."""
        return sorted(self._slots)

    def create_non_slot(
        self, initial_value: object, name: str, colocate_with: object = None
    ) -> Any:
        """A variable that belongs to no other one."""
        if name not in self._non_slot_dict:
            with tf.colocate_with(self._beside if colocate_with is None else colocate_with):
                variable = tf.Variable(initial_value, name=name, trainable=False)
            self._non_slot_dict[name] = variable
            _restore(self.deferred.pop(name, ()), variable)
        return self._non_slot_dict[name]

    def get_non_slot(self, name: str) -> Any:
        """Such a variable, or None."""
        return self._non_slot_dict.get(name)

    @property
    def non_slots(self) -> list[TrackableReference]:
        """All such variables, sorted by name."""
        own = sorted(self._non_slot_dict.items(), key=lambda item: item[0])
        return [TrackableReference(*item) for item in own]

    def variables(self) -> list[Any]:
        """All variables, sorted by name."""
        own = [v for slots in self._slots.values() for v in slots.values()]
        return sorted([*self._non_slot_dict.values(), *own], key=lambda v: v.name)


def _restore(positions: Iterable[Any], variable: object) -> None:
    """Restores a variable from what checkpoints have for it, the newest restore first."""
    for position in sorted(positions, key=lambda position: -position.restore_uid):
        position.restore(variable)


class _WithState:
    """An optimizer as the updates of variables call it: its methods, with the state behind."""

    def __init__(self, optimizer: object, state: _OptimizerV2State) -> None:
        self._optimizer, self._state = optimizer, state

    def __getattr__(self, name: str) -> Callable[..., Any]:
        method = getattr(self._optimizer, name)
        return lambda *arguments: method(*arguments, self._state)


@export("contrib.optimizer_v2.OptimizerV2")
class OptimizerV2(Optimizer):
    """The base of optimizers with a state per graph (tf.contrib.optimizer_v2.OptimizerV2).

    A subclass calls `_set_hyper` in its constructor and overrides `_create_vars`, `_prepare`,
    `_apply_dense`, `_apply_sparse`, their `_resource_` forms and `_finish`, each of which gets the
    state as its last argument.

    Args:
        use_locking: whether an update of a variable excludes others.
        name: the scope of the updates, and part of the names of what it keeps.

    Raises:
        RuntimeError: the class overrides `_create_slots`.
        ValueError: `name` is empty.
    """

    def __init__(self, use_locking: bool, name: str) -> None:
        if type(self)._create_slots is not OptimizerV2._create_slots:
            raise RuntimeError(
                "Override _create_vars instead of _create_slots when descending from OptimizerV2 "
                f"(class {type(self).__name__})"
            )
        super().__init__(use_locking, name)
        self._hyper: dict[str, Any] = {}
        self._states: dict[Graph, _OptimizerV2State] = {}

    def _set_hyper(self, name: str, value: object) -> None:
        self._hyper[name] = value

    def minimize(  # type: ignore[override]
        self,
        loss: object,
        global_step: object = None,
        var_list: object = None,
        gate_gradients: int = Optimizer.GATE_OP,
        aggregation_method: int | None = None,
        name: str | None = None,
        grad_loss: object = None,
        stop_gradients: object = None,
        scale_loss_by_num_replicas: bool = False,
    ) -> Operation:
        """Builds the operation that takes one step.

        Args:
            loss, global_step, var_list, gate_gradients, aggregation_method, name, grad_loss: as of
                `tf.train.Optimizer.minimize`.
            stop_gradients: as of `compute_gradients`.
            scale_loss_by_num_replicas: is about several replicas; here is one.
        """
        pairs = self.compute_gradients(
            loss,
            var_list=var_list,
            gate_gradients=gate_gradients,
            aggregation_method=aggregation_method,
            grad_loss=grad_loss,
            stop_gradients=stop_gradients,
            scale_loss_by_num_replicas=scale_loss_by_num_replicas,
        )
        if all(grad is None for grad, _ in pairs):
            raise hinted(
                ValueError,
                "No gradients provided for any variable, check your graph for ops that do not "
                f"support gradients, between variables {[str(v) for _, v in pairs]} "
                f"and loss {loss}.",
            )
        return self.apply_gradients(pairs, global_step=global_step, name=name)

    def compute_gradients(  # type: ignore[override]
        self,
        loss: Any,
        var_list: Any = None,
        gate_gradients: int = Optimizer.GATE_OP,
        aggregation_method: int | None = None,
        grad_loss: Any = None,
        stop_gradients: Any = None,
        scale_loss_by_num_replicas: bool = False,
    ) -> GradientsAndVariables:
        """The gradients of a loss by variables.

        Args:
            loss, var_list, gate_gradients, aggregation_method, grad_loss: as of
                `tf.train.Optimizer.compute_gradients`.
            stop_gradients: tensors that count as constants; not with a loss that is a function.
            scale_loss_by_num_replicas: is about several replicas; here is one.
        """
        if stop_gradients is None or callable(loss):
            return super().compute_gradients(
                loss, var_list, gate_gradients, aggregation_method, grad_loss=grad_loss
            )
        chosen = _variables(var_list)
        gradients = tf.gradients(
            loss,
            [_target(v) for v in chosen],
            grad_ys=grad_loss,
            gate_gradients=gate_gradients == self.GATE_OP,
            aggregation_method=aggregation_method,
            stop_gradients=stop_gradients,
        )
        if gate_gradients == self.GATE_GRAPH:
            gradients = tf.tuple(gradients)
        return list(zip(gradients, chosen))

    def apply_gradients(
        self,
        grads_and_vars: Iterable[tuple[Any, Any]],
        global_step: object = None,
        name: str | None = None,
    ) -> Operation:
        """Builds the operation that updates variables.

        Args:
            grads_and_vars: pairs as of `compute_gradients`.
            global_step: a variable to count up after the update.
            name: of the operation; the optimizer's by default.

        Raises:
            ValueError: there are no pairs, or there is no gradient in them.
        """
        pairs = tuple(grads_and_vars)
        if not pairs:
            raise ValueError("No variables provided.")
        present = [(g, v) for g, v in pairs if g is not None]
        if not present:
            names = [str(v) for _, v in pairs]
            raise ValueError(f"No gradients provided for any variable: {names}.")
        var_list = [v for _, v in present]
        first = min(var_list, key=lambda v: str(v.name))
        with tf.name_scope(name, self._name) as scope:
            found = self._get_or_create_state(var_list)
            state = found.with_dynamic(self._hyper_tensors(dynamic=True), first)
        with tf.init_scope():
            self._create_vars(var_list, state)
        with tf.name_scope(scope):
            self._prepare(state)
            updates = []
            for grad, var in present:
                with tf.colocate_with(var):
                    update, given = _updater(var), _as_gradient(grad)
                    with tf.name_scope("update_" + var.op.name):
                        bound: Any = _WithState(self, state)
                        updates.append(update(bound, given, var))
            return self._finished(updates, state, first, global_step, scope)

    def _finished(
        self, updates: list[Any], state: Any, first: Any, global_step: Any, scope: str
    ) -> Operation:
        group = tf.group(updates)
        with tf.control_dependencies([group]), tf.colocate_with(first):
            last = self._finish(state)  # type: ignore[call-arg, arg-type]
        last = group if last is None else last
        if global_step is None:
            applied = tf.group(last, name=scope)
        else:
            with tf.control_dependencies([last]), tf.colocate_with(global_step):
                applied = global_step.assign_add(1, read_value=False, name=scope)
        applied = applied.op if isinstance(applied, Tensor) else applied
        train_ops = tf.get_collection_ref(tf.GraphKeys.TRAIN_OP)
        if applied not in train_ops:
            train_ops.append(applied)
        result: Operation = applied
        return result

    def _hyper_tensors(self, dynamic: bool) -> dict[str, Any]:
        """The hyperparameters that are functions, called, or those that are not."""
        chosen = [(k, v) for k, v in sorted(self._hyper.items()) if _is_function(v) == dynamic]
        return {
            name: tf.convert_to_tensor(value() if dynamic else value, name=name)
            for name, value in chosen
        }

    def _get_or_create_state(self, var_list: list[Any] | None = None) -> _OptimizerV2State:
        graph = tf.get_default_graph() if not var_list else var_list[0].op.graph
        if graph not in self._states:
            with tf.init_scope():
                hyper = self._hyper_tensors(dynamic=False)
            self._states[graph] = _OptimizerV2State(self._name, hyper)
        return self._states[graph]

    def _get_per_graph_state(self) -> Any:
        return self._states.get(tf.get_default_graph())

    def get_slot(self, var: Any, name: str) -> Any:
        """The variable that holds the slot `name` of `var`, or None."""
        state = self._states.get(var.op.graph)
        return None if state is None else state.get_slot(var, name)

    def get_slot_names(self) -> list[str]:
        """The names of all slots of the current graph, sorted."""
        state = self._get_per_graph_state()
        return [] if state is None else list(state.get_slot_names())

    def variables(self) -> list[Any]:
        """The optimizer's own variables in the current graph, sorted by name."""
        state = self._get_per_graph_state()
        return [] if state is None else list(state.variables())

    # Checkpoints of objects: what is kept is that of the current graph.

    @property
    def _checkpoint_dependencies(self) -> list[TrackableReference]:
        state = self._get_per_graph_state()
        return [] if state is None else list(state.non_slots)

    def _lookup_dependency(self, name: str) -> Any:
        state = self._get_per_graph_state()
        return None if state is None else state.get_non_slot(name)

    @property
    def _deferred_dependencies(self) -> dict[str, list[Any]]:
        return self._get_or_create_state().deferred

    def _create_or_restore_slot_variable(
        self, slot_variable_position: Any, slot_name: str, variable: Variable
    ) -> None:
        state = self._get_or_create_state([variable])
        state.restore_slot(slot_variable_position, slot_name, variable)

    # What a subclass supplies.

    def _create_vars(self, var_list: list[Any], state: object) -> None:
        pass

    def _prepare(self, state: object = None) -> None:
        pass

    def _apply_dense(self, grad: Tensor, var: Variable, state: object = None) -> Any:
        raise NotImplementedError(f"{type(self).__name__} has no dense update")

    def _resource_apply_dense(self, grad: Tensor, handle: Variable, state: object = None) -> Any:
        raise NotImplementedError(f"{type(self).__name__} has no dense update of resources")

    def _apply_sparse(self, grad: IndexedSlices, var: Variable, state: object = None) -> Any:
        raise NotImplementedError(f"{type(self).__name__} has no sparse update")

    def _resource_apply_sparse(
        self, grad: Tensor, handle: Variable, indices: Tensor, state: object = None
    ) -> Any:
        raise NotImplementedError(f"{type(self).__name__} has no sparse update of resources")

    def _apply_sparse_duplicate_indices(
        self, grad: IndexedSlices, var: Variable, state: object = None
    ) -> Any:
        values, indices = _deduplicate_indexed_slices(grad.values, grad.indices)
        return self._apply_sparse(IndexedSlices(values, indices, grad.dense_shape), var, state)

    def _resource_apply_sparse_duplicate_indices(
        self, grad: Tensor, handle: Variable, indices: Tensor, state: object = None
    ) -> Any:
        values, unique = _deduplicate_indexed_slices(grad, indices)
        return self._resource_apply_sparse(values, handle, unique, state)

    def _finish(self, state: object) -> Any:  # type: ignore[override]
        return None


def _is_function(value: object) -> bool:
    return callable(value) and not isinstance(value, Tensor)
