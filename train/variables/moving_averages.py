# SPDX-License-Identifier: Apache-2.0
"""Exponential moving averages of variables and tensors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...engine.api import export
from ...engine.graph.operation import Operation
from ...engine.types import dtypes
from ...ops.public import tf
from ...ops.state.merging import merged
from . import replicas, slot_creator
from .variable_kind import is_variable, value_to_start_from

if TYPE_CHECKING:
    from ...engine.graph.annotations import TensorLike
    from ...engine.graph.tensor import Tensor
    from ...ops.state.variables import Variable

_FLOATS = (dtypes.bfloat16, dtypes.float16, dtypes.float32, dtypes.float64)
_VARIABLE_OPS = ("Variable", "VariableV2", "VarHandleOp")


def assign_moving_average(
    variable: Any,
    value: Any,
    decay: Any,
    zero_debias: bool = True,
    name: str | None = None,
) -> Any:
    """variable = variable * decay + value * (1 - decay), without the bias to zero if asked.

    With `zero_debias` a variable that starts as zeros is the average of the values so far; two
    more variables keep the biased average and the count.
    """
    with tf.name_scope(name, "AssignMovingAvg", [variable, value, decay]) as scope:
        rate = tf.convert_to_tensor(1.0 - decay, name="decay")
        if rate.dtype != variable.dtype.base_dtype:
            rate = tf.cast(rate, variable.dtype.base_dtype)
        if replicas.mirrored() is not None:
            return _moved_for_replicas(variable, value, rate, zero_debias)
        if zero_debias:
            return _zero_debias(variable, value, rate)
        # variable * decay + value * (1 - decay) as a difference to subtract, which several workers
        # may do at the same time without a lock.
        return tf.assign_sub(variable, (variable - value) * rate, name=scope)


def _moved_for_replicas(variable: Variable, value: Any, rate: Any, zero_debias: bool) -> Any:
    """The average of what replicas of this process have in the mean."""

    def moved(value: Any) -> Any:
        extended = replicas.mirrored()
        mean = extended.reduce_to("MEAN", value, variable)
        if zero_debias:
            return _zero_debias(variable, mean, rate)
        return extended.update(variable, lambda v, x: tf.assign_sub(v, (v - x) * rate), (mean,))

    return merged(moved, value)


def weighted_moving_average(
    value: Any,
    decay: Any,
    weight: Any,
    truediv: bool = True,
    collections: list[str] | None = None,
    name: str | None = None,
) -> Any:
    """The moving average of `value * weight` over that of `weight`."""
    if collections is None:
        collections = [tf.GraphKeys.GLOBAL_VARIABLES]
    with tf.variable_scope(name, "WeightedMovingAvg", [value, weight, decay]) as scope:
        weighted, weights = (
            tf.get_variable(
                label,
                shape=like.get_shape(),
                dtype=like.dtype,
                initializer=tf.zeros_initializer(),
                trainable=False,
                collections=collections,
            )
            for label, like in (("value_x_weight", value), ("weight", weight))
        )
        numerator = assign_moving_average(weighted, value * weight, decay, zero_debias=False)
        denominator = assign_moving_average(weights, weight, decay, zero_debias=False)
        divide = tf.truediv if truediv else tf.div
        return divide(numerator, denominator, name=scope.name)


def _zero_debias(unbiased: Variable, value: Tensor, rate: Tensor) -> Any:
    scope_name = unbiased.name[: -len(":0")]
    with tf.variable_scope(scope_name, values=[unbiased, value, rate]):
        with tf.init_scope():
            biased_zeros, step_zeros = tf.zeros_initializer(), tf.zeros_initializer()
        with tf.colocate_with(unbiased):
            biased = tf.get_variable(
                _unused("biased"),
                initializer=biased_zeros,
                shape=unbiased.get_shape(),
                dtype=unbiased.dtype,
                trainable=False,
            )
            local_step = tf.get_variable(
                _unused("local_step"),
                shape=[],
                dtype=unbiased.dtype,
                initializer=step_zeros,
                trainable=False,
            )
    update = tf.assign_sub(biased, (biased - value) * rate)
    count = local_step.assign_add(1)
    # After n values the weights of the biased average add up to 1 - decay ** n.
    weight = 1 - tf.pow(1.0 - rate, count)
    scope = tf.get_default_graph().get_name_scope()
    return tf.assign(unbiased, update / weight, name=scope + "/")


def _unused(name: str) -> str:
    """`name`, numbered when the scope has a variable of that name already."""
    scope = tf.get_variable_scope()
    if scope.reuse:
        return name
    taken = {v.op.name for v in scope.global_variables()}
    candidate, number = name, 0
    while f"{scope.name}/{candidate}" in taken:
        number += 1
        candidate = f"{name}_{number}"
    return candidate


@export("train.ExponentialMovingAverage")
class ExponentialMovingAverage:
    """Keeps shadow variables: shadow = decay * shadow + (1 - decay) * variable.

    Args:
        decay: close to one: how much of the shadow is kept.
        num_updates: the step, to decay faster at first: min(decay, (1 + n) / (10 + n)).
        zero_debias: whether averages of tensors start unbiased.
        name: becomes part of the shadow variables' names.

    Example:
        >>> w = tf.Variable(0.0)
        >>> average = tf.train.ExponentialMovingAverage(decay=0.75)
        >>> with tf.control_dependencies([tf.assign(w, 8.0)]):
        ...     update = average.apply([w])
        >>> sess = tf.Session()
        >>> sess.run(tf.global_variables_initializer())
        >>> sess.run(update)
        >>> sess.run([w, average.average(w)])
        [np.float32(8.0), np.float32(2.0)]
    """

    def __init__(
        self,
        decay: float,
        num_updates: Variable | None = None,
        zero_debias: bool = False,
        name: str = "ExponentialMovingAverage",
    ) -> None:
        self._decay = decay
        self._num_updates = num_updates
        self._zero_debias = zero_debias
        self._name = name
        self._averages: dict[int, tuple[Any, Any]] = {}

    @property
    def name(self) -> str:
        """The name of the averages."""
        return self._name

    def apply(self, var_list: list[Any] | None = None) -> Operation:
        """Builds the operation that updates the shadows, which it creates where they are missing.

        Args:
            var_list: Variables, or Tensors, of float16, float32 or float64; all trainable ones by
                default.

        Returns:
            An Operation.

        Raises:
            TypeError: a variable has another dtype.
        """
        if var_list is None:
            var_list = tf.trainable_variables()
        debiased = set()
        for var in var_list:
            if var.dtype.base_dtype not in _FLOATS:
                raise TypeError(f"The variables must be half, float, or double: {var.name}")
            if self.average(var) is None:
                with tf.init_scope():
                    self._averages[id(var)] = (var, self._create(var))
                # The average of a variable starts at its initial value, which has no bias to
                # remove.
                if self._zero_debias and not is_variable(var):
                    debiased.add(id(var))
        with tf.name_scope(self.name) as scope:
            decay = self._decay_now()
            updates = [
                assign_moving_average(self.average(var), var, decay, id(var) in debiased)
                for var in var_list
            ]
            return tf.group(*updates, name=scope)

    def _create(self, var: Variable) -> Any:
        if is_variable(var):
            average = slot_creator.create_slot(var, value_to_start_from(var), self.name)
            tf.add_to_collection(tf.GraphKeys.MOVING_AVERAGE_VARIABLES, var)
            return average
        colocate = var.op.type in _VARIABLE_OPS
        return slot_creator.create_zeros_slot(var, self.name, colocate_with_primary=colocate)

    def _decay_now(self) -> Tensor:
        decay = tf.convert_to_tensor(self._decay, name="decay")
        if self._num_updates is None:
            return decay
        count = tf.cast(self._num_updates, dtypes.float32, name="num_updates")
        # Early averages follow quickly: 0.1 at first, and `decay` only after as many updates as it
        # spans.
        return tf.minimum(decay, (1.0 + count) / (10.0 + count))

    def average(self, var: TensorLike) -> Any:
        """The shadow of a variable.

        Args:
            var: a Variable or Tensor.

        Returns:
            A Variable; None before `apply`.
        """
        return self._averages.get(id(var), (None, None))[1]

    def average_name(self, var: Variable) -> str:
        """The name of the shadow variable, also where it does not exist yet."""
        average = self.average(var)
        if average is not None:
            return average.op.name
        name = var.op.name + "/" + self.name
        return tf.get_default_graph().unique_name(name, mark_as_used=False)

    def variables_to_restore(self, moving_avg_variables: Any = None) -> dict[str, Any]:
        """Names in a checkpoint -> variables, so that averages are restored in their place."""
        if moving_avg_variables is None:
            moving_avg_variables = tf.trainable_variables()
            moving_avg_variables = moving_avg_variables + tf.moving_average_variables()
        averaged = list(dict.fromkeys(moving_avg_variables))
        names = {self.average_name(v): v for v in averaged}
        taken = {v.name for v in averaged}
        for v in dict.fromkeys(tf.global_variables()):
            if v.name not in taken and v.op.name not in names:
                names[v.op.name] = v
        return names
