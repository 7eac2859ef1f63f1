# SPDX-License-Identifier: Apache-2.0
"""Workers that send the gradients of several steps at once: accumulated gradient normalization."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from ....engine.api import export
from ....ops.public import tf
from ....ops.state.variable_scope import variable_creator_scope
from ...optimizers.optimizer import Optimizer
from ...sessions.session_run_hook import SessionRunHook
from .averaging import GLOBAL_VARIABLE_NAME, CenterGetter, InitHook, local_step

if TYPE_CHECKING:
    from ....engine.graph.operation import Operation
    from ....ops.state.variables import Variable

GRAD_VARIABLE_NAME = "grad_variable"
__all__ = ["GLOBAL_VARIABLE_NAME", "GRAD_VARIABLE_NAME", "AGNCustomGetter", "AGNOptimizer"]


@export("contrib.opt.AGNCustomGetter")
class AGNCustomGetter(CenterGetter):
    """The custom getter of variables that `AGNOptimizer` needs (tf.contrib.opt.AGNCustomGetter).

    A trainable variable is local; at the centre is a global one, and beside it one that adds up
    gradients.

    Args:
        worker_device: where local variables are.
    """

    def __init__(self, worker_device: str) -> None:
        super().__init__(worker_device, GRAD_VARIABLE_NAME)
        self._grad_map = self._second_map

    def __call__(
        self,
        getter: Callable[..., Any],
        name: str,
        trainable: bool,
        collections: object,
        *args: Any,
        **kwargs: Any,
    ) -> Any:
        if trainable:
            return self.trainable(getter, name, *args, **kwargs)
        return getter(name, *args, trainable=trainable, collections=collections, **kwargs)


def _local(next_creator: Callable[..., Any], collections: Any = None, **kwargs: Any) -> Any:
    """Makes a variable local that would be global."""
    everywhere = tf.GraphKeys.GLOBAL_VARIABLES
    kept = [key for key in collections or () if key != everywhere]
    if not collections or everywhere in collections:
        kept.append(tf.GraphKeys.LOCAL_VARIABLES)
    return next_creator(collections=kept, **kwargs)


@export("contrib.opt.AGNOptimizer")
class AGNOptimizer(Optimizer):
    """Steps here at once, and at the centre from time to time (tf.contrib.opt.AGNOptimizer).

    Every `communication_period` steps the variables at the centre take one step by the mean of
    the gradients, and the local ones are set to them: https://arxiv.org/abs/1710.02368.

    Args:
        optimizer: the optimizer of both.
        num_worker: how many workers there are.
        custom_getter: the `AGNCustomGetter` of the variables.
        communication_period: how many steps a worker goes alone.
        use_locking: is kept.
        name: is kept.
    """

    def __init__(
        self,
        optimizer: Optimizer,
        num_worker: int,
        custom_getter: AGNCustomGetter,
        communication_period: int = 10,
        use_locking: bool = True,
        name: str = "AGNOptimizer",
    ) -> None:
        super().__init__(use_locking, name)
        self._opt = optimizer
        self._num_worker = num_worker
        self._period = communication_period
        self._global_map = custom_getter._global_map
        self._grad_map = custom_getter._grad_map
        self._local_step = local_step()
        self._opt._prepare()

    def apply_gradients(  # type: ignore[override]
        self,
        grads_and_vars: Iterable[tuple[Any, Any]],
        global_step: Variable | None = None,
        name: str | None = None,
    ) -> Any:
        """Builds the local step, and that at the centre when it is due."""
        pairs = list(grads_and_vars)
        present = [(g, v) for g, v in pairs if g is not None]
        local_vars = [v for _, v in present]
        sums = [self._grad_map[v] for v in local_vars]
        centers = [self._global_map[v] for v in local_vars]
        with variable_creator_scope(_local):
            stepped = self._opt.apply_gradients(pairs)
        added = [tf.assign_add(total, g) for (g, _), total in zip(present, sums)]

        def at_center() -> Operation:
            means = [tf.assign(total, total / self._period) for total in sums]
            with tf.control_dependencies(means):
                # (What variables hold now: a tensor of them from before would be the sums.)
                grads = [tf.identity(mean) for mean in means]
                step = self._opt.apply_gradients(zip(grads, centers))
            with tf.control_dependencies([step]):
                after = []
                if global_step is not None:
                    with tf.colocate_with(global_step):
                        after.append(tf.assign_add(global_step, 1))
                after += [tf.assign(v, c.read_value()) for v, c in zip(local_vars, centers)]
                after += [tf.assign(total, tf.zeros_like(total)) for total in sums]
            return tf.group(*after)

        counted = tf.assign_add(self._local_step, 1, name="local_step_update").op
        with tf.control_dependencies([counted]):
            due = tf.equal(tf.mod(self._local_step, self._period), 0)
        with tf.control_dependencies([stepped, *added]):
            return tf.cond(due, at_center, tf.no_op)

    def get_init_op(self, task_index: int) -> Operation:
        """The operation that sets local variables to those at the centre.

        Args:
            task_index: the number of the worker.

        Raises:
            ValueError: there are no variables.
        """
        del task_index
        local_vars = tf.trainable_variables()
        if not local_vars:
            raise ValueError(
                "The lists of local_variables, global_center_variables,"
                "grad_center_variables should not be empty"
            )
        sums = [self._grad_map[v] for v in local_vars]
        starts = [tf.assign(v, self._global_map[v]) for v in local_vars]
        return tf.group(*starts, *(tf.assign(total, tf.zeros_like(total)) for total in sums))

    def make_session_run_hook(self, is_chief: bool, task_index: int) -> SessionRunHook:
        """A hook that runs `get_init_op` when a session begins."""
        return InitHook(self, is_chief, task_index)
