# SPDX-License-Identifier: Apache-2.0
"""An optimizer that keeps moving averages, and a saver that writes them in the variables' place."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from ....engine.api import export
from ....engine.graph.operation import Operation
from ....ops.public import tf
from ....ops.state.variable_partitions import PartitionedVariable
from ...checkpoints.saveable import op_list_to_dict
from ...checkpoints.saver import Saver
from ...optimizers.optimizer import GradientsAndVariables, Optimizer
from ...variables.moving_averages import ExponentialMovingAverage

if TYPE_CHECKING:
    from ....ops.state.variables import Variable


@export("contrib.opt.MovingAverageOptimizer")
class MovingAverageOptimizer(Optimizer):
    """Averages variables after each step (tf.contrib.opt.MovingAverageOptimizer).

    Training goes on with the variables; `swapping_saver` writes the averages under their names, so
    that a program that knows nothing of averages evaluates these.

    Args:
        opt: the optimizer that steps.
        average_decay: how much of an average is kept.
        num_updates: as of `tf.train.ExponentialMovingAverage`.
        sequential_update: whether averages wait for the step.

    Example:
        >>> x = tf.Variable(4.0, name="x")
        >>> sgd = tf.train.GradientDescentOptimizer(0.25)
        >>> optimizer = tf.contrib.opt.MovingAverageOptimizer(sgd, average_decay=0.5)
        >>> step = optimizer.minimize(tf.square(x))
        >>> saver, sess = optimizer.swapping_saver(), tf.Session()
        >>> sess.run(tf.global_variables_initializer())
        >>> sess.run(step)
        >>> path = saver.save(sess, "./averaged.ckpt")
        >>> print(sess.run(x), tf.train.load_variable(path, "x"))
        2.0 3.0
    """

    def __init__(
        self,
        opt: Optimizer,
        average_decay: float = 0.9999,
        num_updates: Any = None,
        sequential_update: bool = True,
    ) -> None:
        # It has neither slots nor a name of its own.
        self._optimizer = opt
        self._ema = ExponentialMovingAverage(average_decay, num_updates=num_updates)
        self._swapped_variable_name_map: dict[str, str] | None = None
        self._sequential_update = sequential_update

    def compute_gradients(self, *args: Any, **kwargs: Any) -> GradientsAndVariables:
        """The gradients, of the optimizer that steps."""
        return self._optimizer.compute_gradients(*args, **kwargs)

    def apply_gradients(
        self,
        grads_and_vars: Iterable[tuple[Any, Any]],
        global_step: Variable | None = None,
        name: str | None = None,
    ) -> Operation:
        """Builds the operation that steps and averages."""
        pairs = list(grads_and_vars)
        train_op = self._optimizer.apply_gradients(pairs, global_step=global_step, name=name)
        var_list = [var for grad, var in pairs if grad is not None]
        with tf.control_dependencies([train_op] if self._sequential_update else []):
            averaged = self._ema.apply(var_list)
        self._swapped_variable_name_map = {}
        for var in var_list:
            own, other = var.op.name, self._ema.average(var).op.name
            self._swapped_variable_name_map.update({own: other, other: own})
        group: Operation = tf.group(train_op, averaged, name="train_with_avg")
        return group

    def _swapped(self, by_name: dict[str, Any], name: str, value: object) -> Any:
        other = (self._swapped_variable_name_map or {}).get(name)
        if other is None:
            return value
        if other not in by_name:
            raise ValueError(
                f"Variable to swap {other} is not part of variables to save. "
                "This breaks MovingAverageOptimizer."
            )
        return by_name[other]

    def swapping_saver(
        self, var_list: Any = None, name: str = "swapping_saver", **kwargs: Any
    ) -> Saver:
        """A saver that writes averages as variables, and variables as averages.

        Args:
            var_list: as of `tf.train.Saver`; all global variables if None. It must have both.
            name: of the operations.
            kwargs: further arguments of `tf.train.Saver`.

        Returns:
            A `tf.train.Saver`, which restores in the same way.

        Raises:
            RuntimeError: nothing has been averaged yet.
            ValueError: `var_list` lacks one of a pair.
        """
        if self._swapped_variable_name_map is None:
            raise RuntimeError(
                "Must call apply_gradients or minimize before creating the swapping_saver"
            )
        given = tf.global_variables() if var_list is None else var_list
        named = given if isinstance(given, dict) else op_list_to_dict(given)
        by_name: dict[str, Any] = {}
        for key, value in named.items():
            if isinstance(value, (list, PartitionedVariable)):
                by_name.update({part.op.name: part for part in value})
            else:
                by_name[key] = value
        swapped = {
            key: [self._swapped(by_name, part.op.name, part) for part in value]
            if isinstance(value, list)
            else self._swapped(by_name, key, value)
            for key, value in named.items()
        }
        return Saver(swapped, name=name, **kwargs)
