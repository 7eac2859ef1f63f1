# SPDX-License-Identifier: Apache-2.0
"""`tf.contrib.distribute`: steps of training, beside what train/distributed/strategy.py has."""

from __future__ import annotations

import collections
from collections.abc import Callable
from typing import Any

from ...engine import errors
from ...engine.api import export
from ...engine.interface import log
from ...ops.public import tf
from ..distributed.server import Server


@export("contrib.distribute.DistributeConfig")
class DistributeConfig(
    collections.namedtuple(
        "DistributeConfig", ["train_distribute", "eval_distribute", "remote_cluster"]
    )
):
    """Strategies of an Estimator.

    Args:
        train_distribute, eval_distribute: a Strategy, for training and for evaluation.
        remote_cluster: a cluster.
    """

    def __new__(
        cls, train_distribute: Any = None, eval_distribute: Any = None, remote_cluster: Any = None
    ) -> DistributeConfig:
        return super().__new__(cls, train_distribute, eval_distribute, remote_cluster)


@export("contrib.distribute.Step")
class Step:
    """A step of training, which is called.

    Args:
        distribution: a Strategy.
    """

    def __init__(self, distribution: Any) -> None:
        self._distribution = distribution

    @property
    def distribution(self) -> Any:
        """The strategy."""
        return self._distribution

    def initialize(self) -> list[Any]:
        """The ops to run before."""
        return []

    def __call__(self) -> Any:
        raise NotImplementedError("must be implemented in descendants")


@export("contrib.distribute.StandardInputStep")
class StandardInputStep(Step):
    """A step with input of a dataset.

    Args:
        dataset_fn: makes the dataset.
        distribution: a Strategy.
    """

    def __init__(self, dataset_fn: Callable[[], Any], distribution: Any) -> None:
        super().__init__(distribution)
        self._iterator = distribution.make_input_fn_iterator(lambda _: dataset_fn())

    def initialize(self) -> list[Any]:
        """The ops that start the dataset."""
        return self._iterator.initialize()  # type: ignore[no-any-return]


@export("contrib.distribute.StandardSingleLossStep")
class StandardSingleLossStep(StandardInputStep):
    """A step that makes a loss smaller.

    Args:
        dataset_fn: makes the dataset.
        loss_fn: a function of a context and an element, which gives the loss.
        optimizer: an Optimizer.
        distribution: a Strategy.
        iterations_per_step: how many elements a call takes.
    """

    def __init__(
        self,
        dataset_fn: Callable[[], Any],
        loss_fn: Callable[..., Any],
        optimizer: Any,
        distribution: Any,
        iterations_per_step: int = 1,
    ) -> None:
        super().__init__(dataset_fn, distribution)
        self._loss_fn, self._optimizer = loss_fn, optimizer
        self._iterations_per_step = iterations_per_step

    def __call__(self) -> Any:
        def step_fn(context: Any, inputs: Any) -> Any:
            loss = self._distribution.extended.call_for_each_replica(
                self._loss_fn, args=(context, inputs)
            )
            return self._optimizer.minimize(loss)

        with self._distribution.scope():
            done = self._distribution.extended.experimental_run_steps_on_iterator(
                step_fn, self._iterator, self._iterations_per_step
            )
        return done.run_op


@export("contrib.distribute.Monitor")
class Monitor:
    """Runs steps.

    Args:
        step_callable: a Step.
        session: a Session.

    Raises:
        ValueError: there is no session.
    """

    def __init__(self, step_callable: Step, session: Any = None) -> None:
        if session is None:
            raise ValueError("Should provide a `session` in Graph mode.")
        session.run(step_callable.initialize())
        self._run_step = session.make_callable(step_callable())
        session.run(tf.global_variables_initializer())

    def run_steps(self, num_steps: int | None = None) -> None:
        """Runs so many steps, or until the input ends."""
        done = 0
        while num_steps is None or done < num_steps:
            try:
                self._run_step()
            except errors.OutOfRangeError:
                return
            done += 1


@export("contrib.distribute.run_standard_tensorflow_server")
def run_standard_tensorflow_server(session_config: Any = None) -> Any:
    """Starts a server of the task that TF_CONFIG names.

    Args:
        session_config: a ConfigProto.

    Returns:
        A Server.

    Raises:
        ValueError: it names none.
    """
    from ..distributed.cluster_resolver import TFConfigClusterResolver

    said = TFConfigClusterResolver()
    cluster: Any = said.cluster_spec()
    for what, is_there in (("cluster spec", bool(cluster)), ("task type", said.task_type)):
        if not is_there:
            raise ValueError(f'"TF_CONFIG" must be set for a standard server, with a {what}')
    log.info("Starting standard TensorFlow server of %s %s", said.task_type, said.task_id)
    server: Any = Server(
        cluster,
        job_name=said.task_type,
        task_index=said.task_id or 0,
        config=session_config,
        protocol=said.rpc_layer or "grpc",
    )
    server.start()
    return server
