# SPDX-License-Identifier: Apache-2.0
"""The base of all optimizers: gradients, slots and the scopes in which updates are built.

Node names, scopes and the order of creation are TensorFlow 1.15's, as seeds, checkpoints and
GraphDefs depend on them.  A subclass supplies slots and how one variable is updated.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

from ...engine.api import export
from ...engine.graph.operation import Operation
from ...engine.graph.tensor import IndexedSlices, Tensor
from ...engine.graph.trackable import Trackable, TrackableReference
from ...engine.hints import hinted
from ...engine.types import dtypes
from ...engine.types.nest import flatten
from ...ops.public import raw, tf
from ..variables import replicas, slot_creator
from ..variables.variable_kind import is_reference, is_resource, is_variable

if TYPE_CHECKING:
    from ...engine.graph.annotations import TensorLike
    from ...engine.graph.graph import Graph
    from ...engine.types.dtypes import DType
    from ...engine.types.shape import TensorShape
    from ...ops.state.variables import Variable

# One gradient, absent where the loss does not depend on the variable.
Gradient = Tensor | IndexedSlices | None
GradientsAndVariables = list[tuple[Gradient, Any]]


@export("train.Optimizer")
class Optimizer(Trackable):
    """Computes gradients of a loss and applies them to variables: what all optimizers share.

    A subclass overrides `_create_slots`, `_prepare`, `_apply_dense`, `_apply_sparse` and their
    `_resource_` forms, and `_finish` when there is work after all updates.


    Args:
        use_locking: whether an update of a variable excludes others.
        name: the scope of the updates, and part of the names of what it keeps.

    Raises:
        ValueError: `name` is empty.

    Example:
        >>> x = tf.Variable(4.0)
        >>> optimizer = tf.train.GradientDescentOptimizer(0.25)
        >>> [(gradient, variable)] = optimizer.compute_gradients(tf.square(x))
        >>> clipped = tf.clip_by_value(gradient, -1.0, 1.0)
        >>> step = optimizer.apply_gradients([(clipped, variable)])
        >>> sess = tf.Session()
        >>> sess.run(tf.global_variables_initializer())
        >>> sess.run(step)
        >>> sess.run(x)
        np.float32(3.75)
    """

    # How much is computed before a gradient may be used: nothing, its op's gradients, all.
    GATE_NONE = 0
    GATE_OP = 1
    GATE_GRAPH = 2

    def __init__(self, use_locking: bool, name: str) -> None:
        if not name:
            raise ValueError("Must specify the optimizer name")
        self._use_locking = use_locking
        self._name = name
        # Slot name -> variable key -> slot variable.
        self._slots: dict[str, dict[Any, Any]] = {}
        # (name, graph) -> a variable of the optimizer that belongs to no single variable.
        self._non_slot_dict: dict[tuple[str, Any], Any] = {}
        # (slot name, variable key) -> places in checkpoints that wait for the slot.
        self._awaited_slots: dict[tuple[str, Any], list[Any]] = {}

    def get_name(self) -> str:
        """The name given to the optimizer."""
        return self._name

    def minimize(
        self,
        loss: Any,
        global_step: Variable | None = None,
        var_list: Sequence[Any] | None = None,
        gate_gradients: int = GATE_OP,
        aggregation_method: int | None = None,
        colocate_gradients_with_ops: bool = False,
        name: str | None = None,
        grad_loss: TensorLike | None = None,
    ) -> Operation:
        """Builds the operation that takes one step: `compute_gradients`, then `apply_gradients`.

        Args:
            loss: the scalar to make small; or a function without arguments that returns it.
            global_step: a variable to count up after the update.
            var_list: the variables to update; all trainable ones by default.
            gate_gradients: GATE_NONE, GATE_OP or GATE_GRAPH.
            aggregation_method: how gradients of several uses are added.
            colocate_gradients_with_ops: whether gradients are put beside their operations.
            name: of the operation.
            grad_loss: the gradient of the loss, one by default.

        Returns:
            An Operation; the count of `global_step`, if that is given.

        Raises:
            ValueError: there are no variables, or none has a gradient.

        Example:
            >>> x = tf.Variable(4.0)
            >>> step = tf.train.GradientDescentOptimizer(0.25).minimize(x * x)
            >>> sess = tf.Session()
            >>> sess.run(x.initializer)
            >>> sess.run(step)
            >>> sess.run(x)
            np.float32(2.0)
        """
        grads_and_vars = self.compute_gradients(
            loss,
            var_list=var_list,
            gate_gradients=gate_gradients,
            aggregation_method=aggregation_method,
            colocate_gradients_with_ops=colocate_gradients_with_ops,
            grad_loss=grad_loss,
        )
        if all(grad is None for grad, _ in grads_and_vars):
            raise hinted(
                ValueError,
                "No gradients provided for any variable, check your graph for ops that do not "
                f"support gradients, between variables {[str(v) for _, v in grads_and_vars]} "
                f"and loss {loss}.",
            )
        return self.apply_gradients(grads_and_vars, global_step=global_step, name=name)

    def compute_gradients(
        self,
        loss: TensorLike,
        var_list: Sequence[Any] | None = None,
        gate_gradients: int = GATE_OP,
        aggregation_method: int | None = None,
        colocate_gradients_with_ops: bool = False,
        grad_loss: TensorLike | None = None,
    ) -> GradientsAndVariables:
        """The gradients of a loss by variables: the first half of `minimize`.

        Args:
            loss: a tensor; or a function without arguments that returns one, whose variables are
                those that it depends on.
            var_list: the variables; all trainable ones by default.
            gate_gradients: GATE_NONE, GATE_OP or GATE_GRAPH.
            aggregation_method: how gradients of several uses are added.
            colocate_gradients_with_ops: whether gradients are put beside their operations.
            grad_loss: the gradient of the loss, ones by default.

        Returns:
            A list of pairs: a Tensor, an IndexedSlices or None, and the variable.

        Raises:
            ValueError: there are no variables, or the loss is not of floating-point numbers, or
                there is no such gate.
        """
        # A function of no arguments, as programs for eager execution give it.
        if callable(loss):
            value = loss()
            pairs = self.compute_gradients(value, var_list, grad_loss=grad_loss)
            return pairs if var_list is not None else [p for p in pairs if p[0] is not None]
        if gate_gradients not in (self.GATE_NONE, self.GATE_OP, self.GATE_GRAPH):
            raise ValueError(
                "gate_gradients must be one of: Optimizer.GATE_NONE, Optimizer.GATE_OP, "
                f"Optimizer.GATE_GRAPH.  Not {gate_gradients}"
            )
        self._assert_valid_dtypes([loss])
        loss = replicas.scaled_loss(loss)
        if grad_loss is not None:
            self._assert_valid_dtypes([grad_loss])
        variable_list = _variables(var_list)
        targets = [_target(v) for v in variable_list]
        if not variable_list:
            raise hinted(ValueError, "No variables to optimize.")
        grads = tf.gradients(
            loss,
            targets,
            grad_ys=grad_loss,
            gate_gradients=gate_gradients == self.GATE_OP,
            aggregation_method=aggregation_method,
            colocate_gradients_with_ops=colocate_gradients_with_ops,
        )
        if gate_gradients == self.GATE_GRAPH:
            grads = tf.tuple(grads)
        pairs = list(zip(grads, variable_list))
        self._assert_valid_dtypes(
            [v for g, v in pairs if g is not None and v.dtype != dtypes.resource]
        )
        return pairs

    def apply_gradients(
        self,
        grads_and_vars: Iterable[tuple[Any, Any]],
        global_step: Variable | None = None,
        name: str | None = None,
    ) -> Operation:
        """Builds the operation that updates variables: the second half of `minimize`.

        Args:
            grads_and_vars: pairs as of `compute_gradients`.
            global_step: a variable to count up after the update.
            name: of the operation; the optimizer's by default.

        Returns:
            An Operation; the count of `global_step`, if that is given.

        Raises:
            ValueError: there are no pairs, or there is no gradient in them.
            TypeError: something in them is no gradient.
        """
        pairs = tuple((_as_gradient(g), v) for g, v in grads_and_vars)
        if not pairs:
            raise ValueError("No variables provided.")
        extended = replicas.mirrored()
        if extended is not None:
            given = [(g, v) for g, v in pairs if g is not None]
            if not given:
                raise _no_gradients(pairs)
            merge = extended.replica_context().merge_call
            return merge(self._apply_for_replicas, (given, global_step, name))  # type: ignore[no-any-return]
        updates = [(g, v, _updater(v)) for g, v in replicas.reduced_gradients(pairs)]
        # A variable without a gradient gets no slot either, as TensorFlow's checkpoints show.
        var_list = [v for g, v, _ in updates if g is not None]
        if not var_list:
            raise _no_gradients(pairs)
        # Slots are made outside of loops, branches and control dependencies: they are made once,
        # whatever surrounds the update.
        with tf.init_scope():
            self._create_slots(var_list)
        with tf.name_scope(name, self._name) as scope:
            self._prepare()
            update_ops = []
            for grad, var, update in updates:
                if grad is None:
                    continue
                # The update runs where the variable is, and carries its name.
                with tf.name_scope("update_" + var.op.name), tf.colocate_with(var):
                    update_ops.append(update(self, grad, var))
            return self._apply(update_ops, global_step, scope)

    def _distributed_apply(
        self, distribution: Any, grads_and_vars: Any, global_step: Any = None, name: Any = None
    ) -> Operation:
        """What strategies call outside of replicas, with what `compute_gradients` gave in them."""
        if not distribution.extended.is_mirrored:
            return self.apply_gradients(grads_and_vars, global_step, name)
        return self._apply_for_replicas(distribution, list(grads_and_vars), global_step, name)

    def _apply_for_replicas(
        self, strategy: Any, pairs: list[tuple[Any, Any]], global_step: Any, name: str | None
    ) -> Operation:
        """Applies the sums of the gradients of this process's replicas to all of their variables.

        Called outside of replicas, once.
        """
        extended = strategy.extended
        variables = [v for _, v in pairs]
        sums = extended.batch_reduce_to("SUM", pairs)
        with tf.init_scope():
            self._create_slots(variables)

        def update(var: Any, grad: Any) -> Any:
            with tf.name_scope("update_" + var.op.name):
                return _updater(var)(self, _as_gradient(grad), var)

        with tf.name_scope(name, self._name) as scope:
            self._prepare()
            parts = [
                extended.update(var, update, (grad,), group=False)
                for grad, var in zip(sums, variables)
            ]
            ops = [op for part in parts for op in part]
            finished = extended.update_non_slot(
                extended.non_slot_devices(variables),
                lambda: self._finish(ops, "update"),
                group=False,
            )
            if global_step is None:
                return self._recorded(tf.group(*finished, name=scope))
            with tf.control_dependencies(list(finished)):
                counted = extended.update(global_step, tf.assign_add, (1,))
            return self._recorded(tf.group(*extended.local_results(counted), name=scope))

    def _apply(self, update_ops: list[Any], global_step: Variable | None, scope: str) -> Operation:
        """Finishes the updates, counts the step and records the train op."""
        if global_step is None:
            applied = self._finish(update_ops, scope)
        else:
            # The step is counted after the updates, so that updates that read it all see the old
            # one.
            with tf.control_dependencies([self._finish(update_ops, "update")]):
                with tf.colocate_with(global_step):
                    applied = _count(global_step, scope)
        return self._recorded(applied)

    def _recorded(self, applied: Any) -> Operation:
        """The operation of a step, which is in the collection of those."""
        if isinstance(applied, Tensor):
            applied = applied.op
        train_ops = tf.get_collection_ref(tf.GraphKeys.TRAIN_OP)
        if applied not in train_ops:
            train_ops.append(applied)
        return applied  # type: ignore[no-any-return]

    def get_slot(self, var: Variable, name: str) -> Any:
        """The variable that holds the slot `name` of `var`, or None."""
        return replicas.beside(self._slots.get(name, {}).get(_var_key(var)), var)

    def get_slot_names(self) -> list[str]:
        """The names of all slots, sorted."""
        return sorted(self._slots)

    def variables(self) -> list[Any]:
        """The optimizer's own variables in the current graph, sorted by name."""
        graph = tf.get_default_graph()
        own = list(self._non_slot_variables())
        for slots in self._slots.values():
            own.extend(slots.values())
        return sorted((v for v in own if v.op.graph is graph), key=lambda v: v.name)

    def _create_non_slot_variable(
        self, initial_value: float, name: str, colocate_with: Variable
    ) -> Any:
        key = (name, colocate_with.graph)
        if key not in self._non_slot_dict:
            with replicas.colocation(colocate_with):
                variable = tf.Variable(
                    initial_value,
                    name=name,
                    trainable=False,
                    use_resource=is_resource(colocate_with),
                )
            # No dependency for good: another graph may have one of the same name.
            self._handle_deferred_dependencies(name, variable)
            self._non_slot_dict[key] = variable
        return self._non_slot_dict[key]

    @property
    def _checkpoint_dependencies(self) -> list[TrackableReference]:
        """The variables of the current graph that are no slots, too."""
        graph = tf.get_default_graph()
        own = sorted((name, v) for (name, of), v in self._non_slot_dict.items() if of is graph)
        return super()._checkpoint_dependencies + [TrackableReference(*item) for item in own]

    def _lookup_dependency(self, name: str) -> Any:
        found = super()._lookup_dependency(name)
        graph = tf.get_default_graph()
        return self._get_non_slot_variable(name, graph) if found is None else found

    def _get_non_slot_variable(self, name: str, graph: Graph | None = None) -> Any:
        found: Any = self._non_slot_dict.get((name, graph))
        return found.get() if hasattr(found, "values") else found

    def _non_slot_variables(self) -> Iterable[Any]:
        return self._non_slot_dict.values()

    def _assert_valid_dtypes(self, tensors: Sequence[Any]) -> None:
        valid = self._valid_dtypes()
        for t in tensors:
            if t.dtype.base_dtype not in valid:
                raise ValueError(
                    f"Invalid type {t.dtype.base_dtype!r} for {t.name}, expected: {list(valid)}."
                )

    def _valid_dtypes(self) -> set[dtypes.DType]:
        return {dtypes.float16, dtypes.bfloat16, dtypes.float32, dtypes.float64}

    # What a subclass supplies.

    def _create_slots(self, var_list: list[Any]) -> None:
        pass

    def _prepare(self) -> None:
        pass

    def _apply_dense(self, grad: Tensor, var: Variable) -> Any:
        raise NotImplementedError(f"{type(self).__name__} has no dense update")

    def _resource_apply_dense(self, grad: Tensor, handle: Variable) -> Any:
        raise NotImplementedError(f"{type(self).__name__} has no dense update of resources")

    def _apply_sparse(self, grad: IndexedSlices, var: Variable) -> Any:
        raise NotImplementedError(f"{type(self).__name__} has no sparse update")

    def _resource_apply_sparse(self, grad: Tensor, handle: Variable, indices: Tensor) -> Any:
        raise NotImplementedError(f"{type(self).__name__} has no sparse update of resources")

    def _apply_sparse_duplicate_indices(self, grad: IndexedSlices, var: Variable) -> Any:
        """Adds rows of equal index first; override where the update does not need that."""
        # Most rules are not linear in the gradient: a row is updated once, by the sum.
        values, indices = _deduplicate_indexed_slices(grad.values, grad.indices)
        return self._apply_sparse(IndexedSlices(values, indices, grad.dense_shape), var)

    def _resource_apply_sparse_duplicate_indices(
        self, grad: Tensor, handle: Variable, indices: Tensor
    ) -> Any:
        values, unique = _deduplicate_indexed_slices(grad, indices)
        return self._resource_apply_sparse(values, handle, unique)

    def _finish(self, update_ops: list[Any], name_scope: str) -> Operation:
        return tf.group(*update_ops, name=name_scope)

    # Slots.

    def _slot_dict(self, slot_name: str) -> dict[Any, Any]:
        return self._slots.setdefault(slot_name, {})

    def _get_or_make_slot(self, var: Variable, val: Tensor, slot_name: str, op_name: str) -> Any:
        return self._slot(var, slot_name, lambda: slot_creator.create_slot(var, val, op_name))

    def _get_or_make_slot_with_initializer(
        self,
        var: Variable,
        initializer: Callable[..., Any] | TensorLike | None,
        shape: TensorShape,
        dtype: DType,
        slot_name: str,
        op_name: str,
    ) -> Any:
        def create() -> Any:
            return slot_creator.create_slot_with_initializer(
                var, initializer, shape, dtype, op_name
            )

        return self._slot(var, slot_name, create)

    def _zeros_slot(self, var: Variable, slot_name: str, op_name: str) -> Any:
        return self._slot(var, slot_name, lambda: slot_creator.create_zeros_slot(var, op_name))

    def _slot(self, var: Variable, slot_name: str, create: Callable[[], Any]) -> Any:
        slots, key = self._slot_dict(slot_name), _var_key(var)
        if key not in slots:
            slot = create()
            self._restore_slot_variable(slot_name, var, slot)
            slots[key] = slot
        return slots[key]

    def _restore_slot_variable(
        self, slot_name: str, variable: Variable, slot_variable: Variable
    ) -> None:
        """Restores a new slot from checkpoints that wait for it, the newest restore first."""
        waiting = self._awaited_slots.pop((slot_name, _var_key(variable)), [])
        for position in sorted(waiting, key=lambda position: -position.restore_uid):
            position.restore(slot_variable)

    def _create_or_restore_slot_variable(
        self, slot_variable_position: Any, slot_name: str, variable: Variable
    ) -> None:
        """Restores a slot, now or when it is made."""
        slot = self._slot_dict(slot_name).get(_var_key(variable))
        if slot is None:
            key = (slot_name, _var_key(variable))
            self._awaited_slots.setdefault(key, []).append(slot_variable_position)
        else:
            slot_variable_position.restore(slot)

    def _call_if_callable(self, param: object) -> Any:
        return param() if callable(param) and not isinstance(param, Tensor) else param


def _variables(var_list: Sequence[Any] | None) -> list[Any]:
    if var_list is None:
        chosen = tf.trainable_variables()
        chosen = chosen + tf.get_collection("trainable_resource_variables")
    else:
        chosen = flatten(var_list)
    # A collection that TensorFlow's optimizer reads too (training/optimizer.py).
    return chosen + tf.get_collection("streaming_model_ports")


def _target(var: Variable) -> Any:
    """What gradients are taken with respect to: the reference of a variable that has one."""
    _updater(var)
    return var._ref() if is_reference(var) else var


def _updater(var: Variable) -> Callable[[Optimizer, Any, Any], Any]:
    """The function that builds the update of this kind of variable."""
    # A partitioned variable and what is no variable at all have no op: an AttributeError.
    if var.op.type == "VarHandleOp":
        return _update_resource
    if is_variable(var):
        return _update_reference
    if isinstance(var, Tensor):
        return _update_tensor
    raise NotImplementedError("Trying to optimize unsupported type ", var)


def _update_reference(optimizer: Optimizer, grad: Tensor | IndexedSlices, var: Variable) -> Any:
    if isinstance(grad, Tensor):
        return _constrained(optimizer._apply_dense(grad, var), var)
    _refuse_constraint(var)
    return optimizer._apply_sparse_duplicate_indices(grad, var)


def _update_resource(optimizer: Optimizer, grad: Tensor | IndexedSlices, var: Variable) -> Any:
    if isinstance(grad, Tensor):
        return _constrained(optimizer._resource_apply_dense(grad, var), var)
    _refuse_constraint(var)
    return optimizer._resource_apply_sparse_duplicate_indices(grad.values, var, grad.indices)


def _update_tensor(optimizer: Optimizer, grad: Tensor | IndexedSlices, var: Tensor) -> Any:
    raise NotImplementedError("Trying to update a Tensor ", var)


def _constrained(update_op: Operation, var: Variable) -> Any:
    if var.constraint is None:
        return update_op
    with tf.control_dependencies([update_op]):
        return var.assign(var.constraint(var))


def _refuse_constraint(var: Variable) -> None:
    if var.constraint is not None:
        raise RuntimeError("Cannot use a constraint function on a sparse variable.")


def _as_gradient(grad: object) -> Gradient:
    if grad is None:
        return None
    try:
        gradient = tf.convert_to_tensor_or_indexed_slices(grad)
    except TypeError:
        raise TypeError(
            f"Gradient must be convertible to a Tensor or IndexedSlices, or None: {grad}"
        ) from None
    if not isinstance(gradient, (Tensor, IndexedSlices)):
        raise TypeError(f"Gradient must be a Tensor, IndexedSlices, or None: {gradient}")
    return gradient


def _count(global_step: Variable, name: str) -> Any:
    if is_resource(global_step):
        one = tf.convert_to_tensor(1, dtype=global_step.dtype)
        return raw.AssignAddVariableOp(global_step.handle, one, name=name)
    return tf.assign_add(global_step, 1, name=name)


def _no_gradients(pairs: Sequence[tuple[Any, Any]]) -> Exception:
    names = [str(v) for _, v in pairs]
    return hinted(ValueError, f"No gradients provided for any variable: {names}.")


def _var_key(var: Variable) -> tuple[Any, str]:
    var = replicas.container(var)
    return (var.op.graph, var.op.name)


def _deduplicate_indexed_slices(values: Tensor, indices: Tensor) -> tuple[Tensor, Tensor]:
    """Adds up the rows of `values` that have the same index; returns them with unique indices."""
    unique, positions = tf.unique(indices)
    count = tf.shape(unique)[0]
    return tf.unsorted_segment_sum(values, positions, count), unique
