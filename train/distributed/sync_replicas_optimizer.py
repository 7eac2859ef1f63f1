# SPDX-License-Identifier: Apache-2.0
"""`SyncReplicasOptimizer`: one update from the gradients of several workers.

Accumulators add up the gradients; the chief applies their average and puts tokens into a queue,
for each of which one worker goes on to the next step.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ...engine.graph.collections import GraphKeys
from ...engine.graph.graph import colocate_with, control_dependencies, device, name_scope
from ...engine.graph.tensor import IndexedSlices, Tensor
from ...engine.interface import log
from ...engine.types import dtypes
from ...ops.public import tf
from ...ops.queues.accumulators import ConditionalAccumulator, SparseConditionalAccumulator
from ...ops.queues.queues import FIFOQueue
from ..inputs.queue_runner_impl import QueueRunner
from ..optimizers.optimizer import Optimizer
from ..sessions.session_manager import _ready
from ..sessions.session_run_hook import SessionRunHook

if TYPE_CHECKING:
    from ...engine.session.session import BaseSession
    from ...ops.state.variables import Variable
    from ..sessions.coordinator import Coordinator


class SyncReplicasOptimizer(Optimizer):
    """Applies the average of `replicas_to_aggregate` gradients by another optimizer.

    (tf.train.SyncReplicasOptimizer) total_num_replicas: of workers; more than are waited for make
    up for slow ones.  variable_averages: updated after every step.  Use its
    `make_session_run_hook`.
    """

    def __init__(
        self,
        opt: Any,
        replicas_to_aggregate: int,
        total_num_replicas: int | None = None,
        variable_averages: Any = None,
        variables_to_average: Any = None,
        use_locking: bool = False,
        name: str = "sync_replicas",
    ) -> None:
        if total_num_replicas is None:
            total_num_replicas = replicas_to_aggregate
        super().__init__(use_locking, name)
        log.info(
            "SyncReplicasV2: replicas_to_aggregate=%s; total_num_replicas=%s",
            *(replicas_to_aggregate, total_num_replicas),
        )
        self._opt = opt
        self._replicas_to_aggregate = replicas_to_aggregate
        self._gradients_applied = False
        self._variable_averages = variable_averages
        self._variables_to_average = variables_to_average
        self._total_num_replicas = total_num_replicas
        # Each worker needs a token to go on; where more gradients are wanted than there are
        # workers, some go on more than once.
        self._tokens_per_step = max(total_num_replicas, replicas_to_aggregate)
        self._global_step: Any = None
        self._sync_token_queue: Any = None
        self._chief_queue_runner: QueueRunner | None = None
        # Accumulators and the devices of their variables.
        self._accumulator_list: list[tuple[Any, str]] = []

    def compute_gradients(self, *args: Any, **kwargs: Any) -> Any:
        """Those of the wrapped optimizer."""
        return self._opt.compute_gradients(*args, **kwargs)

    def apply_gradients(
        self,
        grads_and_vars: Any,
        global_step: Any = None,
        name: str | None = None,
    ) -> Any:
        """An operation that hands in this worker's gradients and waits for the step to end.

        ValueError without variables or global step.
        """
        if not grads_and_vars:
            raise ValueError("Must supply at least one variable")
        if global_step is None:
            raise ValueError("Global step is required to check staleness")
        self._global_step = global_step
        self._make_local_step(global_step)
        with name_scope(None, self._name):
            handed_in, averages = self._accumulate(grads_and_vars)
            update = self._update(averages)
            with device(global_step.device), name_scope(""):
                self._sync_token_queue = FIFOQueue(
                    *(-1, global_step.dtype.base_dtype),
                    shapes=(),
                    name="sync_token_q",
                    shared_name="sync_token_q",
                )
                # Queue runners want a queue; this one stays empty.
                dummy = FIFOQueue(
                    1, dtypes.int32, shapes=(), name="dummy_queue", shared_name="dummy_queue"
                )
            train_op = self._step(handed_in, update, dummy)
            chief_init_ops = [self.local_step_init_op]
            for accumulator, place in self._accumulator_list:
                with device(place):
                    chief_init_ops.append(
                        accumulator.set_global_step(global_step, name="SetGlobalStep")
                    )
            self.chief_init_op = tf.group(*chief_init_ops)
            self._gradients_applied = True
            return train_op

    def _make_local_step(self, global_step: Variable) -> None:
        """The step that this worker's gradients belong to."""
        # Something on this worker to be beside of, whatever device functions would do with a
        # variable.
        anchor = tf.no_op()
        with device(None), colocate_with(anchor):
            self._local_step = tf.Variable(
                initial_value=0,
                trainable=False,
                collections=[GraphKeys.LOCAL_VARIABLES],
                dtype=global_step.dtype.base_dtype,
                name="sync_rep_local_step",
            )
        self.local_step_init_op = tf.assign(self._local_step, global_step)
        self.ready_for_local_init_op = tf.report_uninitialized_variables(tf.global_variables())

    def _accumulate(self, grads_and_vars: Sequence[Any]) -> tuple[list[Any], list[tuple[Any, Any]]]:
        """Operations that hand in gradients, and the averages with their variables."""
        handed_in: list[Any] = []
        averages: list[tuple[Any, Any]] = []
        count = self._replicas_to_aggregate
        for gradient, variable in grads_and_vars:
            average: Any = None
            with device(variable.device):
                name = f"{variable.name}/grad_accum"
                accumulator: Any
                if gradient is None:
                    averages.append((None, variable))
                    continue
                if isinstance(gradient, Tensor):
                    accumulator = ConditionalAccumulator(
                        gradient.dtype, shape=variable.get_shape(), shared_name=name
                    )
                    handed_in.append(accumulator.apply_grad(gradient, local_step=self._local_step))
                    average = accumulator.take_grad(count)
                elif isinstance(gradient, IndexedSlices):
                    accumulator = SparseConditionalAccumulator(
                        gradient.dtype, shape=(), shared_name=name
                    )
                    handed_in.append(
                        accumulator.apply_indexed_slices_grad(gradient, local_step=self._local_step)
                    )
                    average = accumulator.take_indexed_slices_grad(count)
                else:
                    raise ValueError("Unknown grad type!")
                self._accumulator_list.append((accumulator, variable.device))
            averages.append((average, variable))
        return handed_in, averages

    def _update(self, averages: list[tuple[Any, Any]]) -> Any:
        """The chief's update of all variables."""
        with device(self._global_step.device), name_scope(""):
            return self._opt.apply_gradients(averages, self._global_step)

    def _step(self, handed_in: list[Any], update: Any, dummy: FIFOQueue) -> Any:
        """What a worker runs: hand in, wait for a token; and the chief's thread."""
        queue, step = self._sync_token_queue, self._global_step
        with device(step.device), name_scope(""):
            # Wait only after everything is handed in, or the chief would wait for it too.
            with control_dependencies(handed_in):
                token = queue.dequeue()
            # A token is the number of the step that begins: gradients of older steps are dropped by
            # the accumulators, which compare it with theirs.
            train_op = tf.assign(self._local_step, token)
            with control_dependencies([update]):
                tokens = tf.fill([self._tokens_per_step], step)
                sync = queue.enqueue_many((tokens,))
            if self._variable_averages is not None:
                with control_dependencies([sync]), name_scope(""):
                    sync = self._variable_averages.apply(self._variables_to_average)
            self._chief_queue_runner = QueueRunner(dummy, [sync])
        return train_op

    def get_chief_queue_runner(self) -> QueueRunner | None:
        """What the chief must start: the thread that updates; after `apply_gradients`."""
        if not self._gradients_applied:
            raise ValueError("Should be called after apply_gradients().")
        return self._chief_queue_runner

    def get_slot(self, *args: Any, **kwargs: Any) -> Any:
        """That of the wrapped optimizer."""
        return self._opt.get_slot(*args, **kwargs)

    def variables(self) -> Any:
        """Those of the wrapped optimizer."""
        return self._opt.variables()

    def get_slot_names(self, *args: Any, **kwargs: Any) -> Any:
        """Those of the wrapped optimizer."""
        return self._opt.get_slot_names(*args, **kwargs)

    def get_init_tokens_op(self, num_tokens: int = -1) -> Any:
        """An operation that puts the first tokens into the queue; -1 for one per gradient."""
        if not self._gradients_applied:
            raise ValueError("get_init_tokens_op() should be called after apply_gradients().")
        # As many gradients are missing when each worker has handed in one.
        needed = self._replicas_to_aggregate - self._total_num_replicas
        if num_tokens == -1:
            num_tokens = self._replicas_to_aggregate
        elif num_tokens < needed:
            raise ValueError(
                f"Too few tokens to finish the first step: {num_tokens} (given) vs {needed} "
                "(needed)"
            )
        if num_tokens <= 0:
            return tf.no_op(name="no_init_tokens")
        with device(self._global_step.device), name_scope(""):
            tokens = tf.fill([num_tokens], self._global_step)
            return self._sync_token_queue.enqueue_many((tokens,))

    def make_session_run_hook(self, is_chief: bool, num_tokens: int = -1) -> SessionRunHook:
        """The hook that a session of this task needs."""
        return _SyncReplicasOptimizerHook(self, is_chief, num_tokens)


class _SyncReplicasOptimizerHook(SessionRunHook):
    """Initializes the local step; for the chief also the tokens and the thread that updates."""

    def __init__(
        self, sync_optimizer: SyncReplicasOptimizer, is_chief: bool, num_tokens: int
    ) -> None:
        self._sync_optimizer = sync_optimizer
        self._is_chief = is_chief
        self._num_tokens = num_tokens

    def begin(self) -> None:
        optimizer = self._sync_optimizer
        if not optimizer._gradients_applied:
            raise ValueError(
                "SyncReplicasOptimizer.apply_gradient should be called before using the hook."
            )
        self._ready_for_local_init_op = optimizer.ready_for_local_init_op
        self._q_runner: QueueRunner | None = None
        self._init_tokens_op: Any = None
        if self._is_chief:
            self._local_init_op = optimizer.chief_init_op
            self._q_runner = optimizer.get_chief_queue_runner()
            self._init_tokens_op = optimizer.get_init_tokens_op(self._num_tokens)
        else:
            self._local_init_op = optimizer.local_step_init_op

    def after_create_session(self, session: BaseSession, coord: Coordinator) -> None:
        text = "Model is not ready for SyncReplicasOptimizer local init."
        is_ready, problem = _ready(self._ready_for_local_init_op, session, text)
        if not is_ready:
            raise RuntimeError(
                "Init operations did not make model ready for SyncReplicasOptimizer local_init. "
                f"Init op: {self._local_init_op.name}, error: {problem}"
            )
        session.run(self._local_init_op)
        if self._init_tokens_op is not None:
            session.run(self._init_tokens_op)
        if self._q_runner is not None:
            self._q_runner.create_threads(session, coord=coord, daemon=True, start=True)
