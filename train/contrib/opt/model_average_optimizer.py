# SPDX-License-Identifier: Apache-2.0
"""Workers whose variables are replaced by their average from time to time."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from ....engine.api import export
from ....engine.graph.tensor import Tensor
from ....engine.types import dtypes
from ....ops.public import tf
from ...optimizers.optimizer import GradientsAndVariables, Optimizer
from ...sessions.session_run_hook import SessionRunHook
from .averaging import GLOBAL_VARIABLE_NAME, every, local_step, plain_getter

if TYPE_CHECKING:
    from ....engine.graph.operation import Operation
    from ....ops.state.variables import Variable

__all__ = ["GLOBAL_VARIABLE_NAME", "ModelAverageCustomGetter", "ModelAverageOptimizer"]


@export("contrib.opt.ModelAverageCustomGetter")
class ModelAverageCustomGetter:
    """The custom getter that `ModelAverageOptimizer` needs (ModelAverageCustomGetter).

    A trainable variable is local; beside it is a global one for the average.

    Args:
        worker_device: where local variables are.
    """

    def __init__(self, worker_device: str) -> None:
        self._worker_device = worker_device
        self._local_2_global: dict[Any, Any] = {}

    def __call__(
        self,
        getter: Callable[..., Any],
        name: str,
        trainable: bool,
        collections: Any,
        *args: Any,
        **kwargs: Any,
    ) -> Any:
        if not trainable:
            device = self._worker_device
            return plain_getter(device, getter, name, trainable, collections, *args, **kwargs)
        here = [tf.GraphKeys.LOCAL_VARIABLES]
        with tf.device(self._worker_device):
            local = getter(name, *args, trainable=True, collections=here, **kwargs)
        self._local_2_global[local] = tf.Variable(
            name=f"{GLOBAL_VARIABLE_NAME}/{name}",
            initial_value=local.initialized_value(),
            trainable=False,
            collections=[tf.GraphKeys.GLOBAL_VARIABLES],
        )
        return local


@export("contrib.opt.ModelAverageOptimizer")
class ModelAverageOptimizer(Optimizer):
    """Averages workers' variables every so many steps (tf.contrib.opt.ModelAverageOptimizer).

    Args:
        opt: the optimizer of local steps.
        num_worker: how many workers there are.
        is_chief: whether this one counts the global step and tells the others to go on.
        ma_custom_getter: the `ModelAverageCustomGetter` of the variables.
        interval_steps: how many steps a worker goes alone.
        use_locking: is kept.
        name: the scope of the operations.
    """

    def __init__(
        self,
        opt: Optimizer,
        num_worker: int,
        is_chief: bool,
        ma_custom_getter: ModelAverageCustomGetter,
        interval_steps: int = 100,
        use_locking: bool = True,
        name: str = "ModelAverageOptimizer",
    ) -> None:
        super().__init__(use_locking, name)
        self._opt = opt
        self._num_worker = num_worker
        self._is_chief = is_chief
        self._local_2_global = ma_custom_getter._local_2_global
        self._interval_steps = interval_steps
        self._accumulator_list: list[tuple[Any, str]] = []
        self._chief_init_op: Any = None
        self._local_step = local_step()
        self._opt._prepare()

    def compute_gradients(self, *args: Any, **kwargs: Any) -> GradientsAndVariables:
        """The gradients, of the optimizer of local steps."""
        return self._opt.compute_gradients(*args, **kwargs)

    def _local_vars_update(self, var_list: list[Any]) -> Operation:
        if not var_list:
            raise ValueError("The list of local_variables should not be empty")
        updates = []
        for local, center in [(v, self._local_2_global[v]) for v in var_list]:
            with tf.device(local.device):
                updates.append(tf.assign(local, center.read_value()))
        return tf.group(*updates)

    def apply_gradients(  # type: ignore[override]
        self,
        grads_and_vars: Iterable[tuple[Any, Any]],
        global_step: Variable | None = None,
        name: str | None = None,
    ) -> Any:
        """Builds the local step, and the average when it is due.

        Raises:
            ValueError: there are no variables, or no global step.
        """
        pairs = list(grads_and_vars)
        if not pairs:
            raise ValueError("Must supply at least one variable")
        if global_step is None:
            raise ValueError("Global step is required")
        stepped = self._opt.apply_gradients(pairs)
        with tf.control_dependencies([stepped]):
            counted = tf.assign_add(self._local_step, 1, name="local_step_update").op
        local_vars = [v for g, v in pairs if g is not None]
        with tf.control_dependencies([counted]):
            result = every(
                self._local_step,
                self._interval_steps,
                lambda: self._average(local_vars, global_step),
            )
        starts = []
        for accumulator, device in self._accumulator_list:
            with tf.device(device):
                starts.append(accumulator.set_global_step(global_step, name="SetGlobalStep"))
        self._chief_init_op = tf.group(*starts)
        return result

    def _accumulate(self, local: Any, center: Any, global_step: Any) -> tuple[Any, Any]:
        """Adds a local variable to the sum at the centre; gives also the average of all workers."""
        with tf.device(center.device):
            if not isinstance(local._ref(), Tensor):
                raise ValueError("Unknown local variable type!")
            accumulator = tf.ConditionalAccumulator(
                local.dtype, shape=local.get_shape(), shared_name=center.name + "/var_accum"
            )
            added = accumulator.apply_grad(local._ref(), local_step=global_step)
            average = accumulator.take_grad(self._num_worker)
        self._accumulator_list.append((accumulator, center.device))
        return added, average

    def _average(self, local_vars: list[Any], global_step: Any) -> Operation:
        centers = [self._local_2_global[v] for v in local_vars]
        with tf.colocate_with(global_step):
            tokens = tf.FIFOQueue(-1, [dtypes.bool], shapes=[[]], shared_name="sync_queue")
        with tf.name_scope(None, self._name + "/global"):
            pairs = [self._accumulate(v, c, global_step) for v, c in zip(local_vars, centers)]
        added = [one for one, _ in pairs]
        if not self._is_chief:
            with tf.control_dependencies(added), tf.device(global_step.device):
                told = tokens.dequeue()
        else:
            updates = []
            with tf.control_dependencies(added):
                for (_, average), center in zip(pairs, centers):
                    with tf.device(center.device):
                        updates.append(tf.assign(center, average))
                with tf.device(global_step.device):
                    updates.append(tf.assign_add(global_step, 1))
            with tf.control_dependencies(updates), tf.device(global_step.device):
                others = tf.fill([self._num_worker - 1], tf.constant(False))
                told = tokens.enqueue_many(others)
        with tf.control_dependencies([told]):
            return self._local_vars_update(local_vars)

    def get_init_op(self) -> Operation:
        """The operation that sets local variables to the averages.

        Raises:
            ValueError: there are no variables.
        """
        return self._local_vars_update(tf.trainable_variables())

    def make_session_run_hook(self) -> SessionRunHook:
        """A hook that makes the operations that initialize this worker's variables."""
        return _ModelAverageOptimizerHook(self, self._is_chief)


class _ModelAverageOptimizerHook(SessionRunHook):
    def __init__(self, optimizer: ModelAverageOptimizer, is_chief: bool) -> None:
        self._optimizer = optimizer
        self._is_chief = is_chief

    def begin(self) -> None:
        """Makes the operations; as in TensorFlow the program runs them."""
        self._local_init_op = tf.local_variables_initializer()
        self._global_init_op = None
        if self._is_chief:
            self._global_init_op = tf.global_variables_initializer()
            self._chief_init_op = self._optimizer._chief_init_op
        self._variable_init_op = self._optimizer.get_init_op()
