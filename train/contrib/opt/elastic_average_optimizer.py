# SPDX-License-Identifier: Apache-2.0
"""Workers that are held to a centre as by springs: elastic averaging."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from ....engine.api import export
from ....engine.types import dtypes
from ....ops.nn.loss import l2_loss
from ....ops.public import tf
from ...checkpoints.saveable import op_list_to_dict
from ...checkpoints.saver import Saver
from ...optimizers.optimizer import GradientsAndVariables, Optimizer
from ...sessions.session_run_hook import SessionRunHook
from .averaging import (
    GLOBAL_VARIABLE_NAME,
    CenterGetter,
    InitHook,
    every,
    local_step,
    plain_getter,
)

if TYPE_CHECKING:
    from ....engine.graph.operation import Operation
    from ....ops.state.variables import Variable

LOCAL_VARIABLE_NAME = "local_center_variable"
GLOBAL_STEP = "global_step"
__all__ = [
    "GLOBAL_STEP",
    "GLOBAL_VARIABLE_NAME",
    "LOCAL_VARIABLE_NAME",
    "ElasticAverageCustomGetter",
    "ElasticAverageOptimizer",
]


@export("contrib.opt.ElasticAverageCustomGetter")
class ElasticAverageCustomGetter(CenterGetter):
    """The custom getter that `ElasticAverageOptimizer` needs (ElasticAverageCustomGetter).

    A trainable variable is local; at the centre is a global one, and here a copy of that.

    Args:
        worker_device: where local variables are.
    """

    def __init__(self, worker_device: str) -> None:
        super().__init__(worker_device, LOCAL_VARIABLE_NAME)
        self._local_map = self._second_map

    def __call__(
        self,
        getter: Callable[..., Any],
        name: str,
        trainable: bool,
        collections: Any,
        *args: Any,
        **kwargs: Any,
    ) -> Any:
        if trainable:
            return self.trainable(getter, name, *args, **kwargs)
        device = self._worker_device
        return plain_getter(device, getter, name, trainable, collections, *args, **kwargs)


def _make_local(names: set[str]) -> None:
    """Makes variables of these names local that were global."""
    everywhere = tf.get_collection_ref(tf.GraphKeys.GLOBAL_VARIABLES)
    for var in [v for v in everywhere if v.op.name in names]:
        tf.add_to_collection(tf.GraphKeys.LOCAL_VARIABLES, var)
        everywhere.remove(var)


@export("contrib.opt.ElasticAverageOptimizer")
class ElasticAverageOptimizer(Optimizer):
    """Steps here, drawn to the centre and drawing it (tf.contrib.opt.ElasticAverageOptimizer).

    Every `communication_period` steps a worker's variables and those at the centre move towards
    each other by `moving_rate` of their distance; in between, the loss has rho / 2 * distance ** 2
    besides: https://arxiv.org/abs/1412.6651.

    Args:
        opt: the optimizer of local steps.
        num_worker: how many workers there are.
        ea_custom_getter: the `ElasticAverageCustomGetter` of the variables.
        communication_period: how many steps a worker goes alone.
        moving_rate: a number; 0.9 / communication_period / num_worker if None.
        rho: a number; moving_rate / learning rate if None.
        use_locking: is kept.
        synchronous: whether workers wait for each other once, before they begin.
        name: is kept.
    """

    BETA = 0.9

    def __init__(
        self,
        opt: Any,
        num_worker: int,
        ea_custom_getter: ElasticAverageCustomGetter,
        communication_period: int = 10,
        moving_rate: float | None = None,
        rho: float | None = None,
        use_locking: bool = True,
        synchronous: bool = False,
        name: str = "ElasticAverageOptimizer",
    ) -> None:
        super().__init__(use_locking, name)
        self._opt = opt
        self._num_worker = num_worker
        self._period = communication_period
        self._local_map = ea_custom_getter._local_map
        self._global_map = ea_custom_getter._global_map
        self._synchronous = synchronous
        if moving_rate is None:
            moving_rate = self.BETA / communication_period / num_worker
        self._moving_rate = moving_rate
        self._rho = moving_rate / opt._learning_rate if rho is None else rho
        self._local_step = local_step()
        self._opt._prepare()

    def compute_gradients(
        self,
        loss: Any,
        var_list: Any = None,
        gate_gradients: int = Optimizer.GATE_OP,
        aggregation_method: int | None = None,
        colocate_gradients_with_ops: bool = False,
        grad_loss: Any = None,
    ) -> GradientsAndVariables:
        """The gradients of the loss and of the distance from the centre."""
        chosen = var_list or tf.trainable_variables()
        near = [self._local_map[v] for v in chosen]
        distances = [tf.subtract(v, c) for v, c in zip(tf.trainable_variables(), near)]
        distance_loss = self._rho * tf.add_n([l2_loss(d) for d in distances])
        return self._opt.compute_gradients(
            loss + distance_loss,
            chosen,
            gate_gradients,
            aggregation_method,
            colocate_gradients_with_ops,
            grad_loss,
        )

    def apply_gradients(  # type: ignore[override]
        self,
        grads_and_vars: Iterable[tuple[Any, Any]],
        global_step: Variable | None = None,
        name: str | None = None,
    ) -> Any:
        """Builds the local step, and the move of worker and centre when it is due."""
        pairs = list(grads_and_vars)
        before = {v.op.name for v in tf.global_variables()}
        stepped = self._opt.apply_gradients(pairs)
        after = {v.op.name for v in tf.global_variables()}
        with tf.control_dependencies([stepped]):
            counted = tf.assign_add(self._local_step, 1, name="local_step_update").op
        # What the optimizer keeps is this worker's.
        _make_local(after - before)
        local_vars = [v for g, v in pairs if g is not None]
        with tf.control_dependencies([counted]):
            return every(
                self._local_step, self._period, lambda: self._meet(local_vars, global_step)
            )

    def _meet(self, local_vars: list[Any], global_step: Variable | None) -> Operation:
        centers = [self._global_map[v] for v in local_vars]
        near = [self._local_map[v] for v in local_vars]
        copied = [copy.assign(center) for copy, center in zip(near, centers)]
        moved, distances = [], []
        with tf.control_dependencies(copied):
            for v, copy in zip(local_vars, near):
                with tf.device(v.device):
                    distances.append(tf.subtract(v, copy))
            for targets, move in ((local_vars, tf.assign_sub), (centers, tf.assign_add)):
                for v, distance in zip(targets, distances):
                    with tf.device(v.device):
                        moved.append(move(v, tf.multiply(self._moving_rate, distance)))
            if global_step is not None:
                with tf.colocate_with(global_step):
                    moved.append(tf.assign_add(global_step, 1))
        return tf.group(*moved)

    def _barrier(self, task_index: int, after: list[Any]) -> Operation:
        """Waits until all workers came here: each tells each other one by a queue of that one."""
        queues = [
            tf.FIFOQueue(
                self._num_worker,
                [dtypes.bool],
                shapes=[[]],
                shared_name=f"variable_init_sync_queue{i}",
            )
            for i in range(self._num_worker)
        ]
        token = tf.constant(False)
        with tf.control_dependencies(after):
            told = [
                tf.no_op() if i == task_index else queue.enqueue(token)
                for i, queue in enumerate(queues)
            ]
        heard = queues[task_index].dequeue_many(len(queues) - 1)
        return tf.group(*told, heard)

    def get_init_op(self, task_index: int) -> Operation:
        """The operation that sets local variables to those at the centre.

        Args:
            task_index: the number of the worker.

        Raises:
            ValueError: there are no variables.
        """
        local_vars = tf.trainable_variables()
        if not local_vars:
            raise ValueError(
                "The lists of local_variables, global_center_variables, "
                "local_center_variables should not be empty  "
            )
        starts = []
        for v in local_vars:
            center = self._global_map[v]
            starts += [tf.assign(v, center), tf.assign(self._local_map[v], center)]
        start = tf.group(*starts)
        return self._barrier(task_index, [start]) if self._synchronous else start

    def make_session_run_hook(self, is_chief: bool, task_index: int) -> SessionRunHook:
        """A hook that runs `get_init_op` when a session begins."""
        return InitHook(self, is_chief, task_index)

    def swapping_saver(
        self, var_list: Any = None, name: str = "swapping_saver", **kwargs: Any
    ) -> Saver:
        """A saver that writes what is at the centre under the names of local variables.

        Args:
            var_list: as of `tf.train.Saver`; the trainable variables if None.
            name: of the operations.
            kwargs: further arguments of `tf.train.Saver`.

        Raises:
            RuntimeError: there are no variables at the centre.
        """
        if not self._global_map:
            raise RuntimeError(
                "global_center_variable is empty, please make sure this is called after model "
                "created and ElasticAverageCustomGetter is used when declaring you model"
            )
        given = tf.trainable_variables() if var_list is None else var_list
        named = given if isinstance(given, dict) else op_list_to_dict(given)
        trained = {v.op.name: v for v in tf.trainable_variables()}

        def center(value: Any) -> Any:
            if isinstance(value, list):
                return [self._global_map.get(part, part) for part in value]
            return self._global_map.get(trained.get(value.op.name), value)

        return Saver({key: center(v) for key, v in named.items()}, name=name, **kwargs)
