# SPDX-License-Identifier: Apache-2.0
"""`tf.distribute.ray`: one function trains as several workers, on this machine or those of Ray.

Not of TensorFlow: its counterparts are programs that are started once for each worker.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from types import TracebackType
from typing import TYPE_CHECKING, Any

from ...engine.api import export
from ..sessions.monitored_session import MonitoredTrainingSession
from .collective_strategy import MultiWorkerMirroredStrategy

if TYPE_CHECKING:
    from ..sessions.monitored_session import MonitoredSession


@export("distribute.ray.Worker")
class Worker:
    """What a train function is told of the worker that it is.

    Args:
        index: the worker's number; 0 is the one that saves.
        generation: how often all workers have been started again.
        checkpoint_dir: the folder of checkpoints; None for none.

    Attributes:
        strategy: a MultiWorkerMirroredStrategy, whose scope the function is called in.
    """

    def __init__(self, index: int, generation: int, checkpoint_dir: str | None) -> None:
        self.index, self.generation, self.checkpoint_dir = index, generation, checkpoint_dir
        self.strategy = MultiWorkerMirroredStrategy()
        self._entered = ExitStack()

    @property
    def count(self) -> int:
        """How many workers there are now."""
        return self.strategy.num_replicas_in_sync

    def __enter__(self) -> Worker:
        from ...ops.public import tf

        self._entered.enter_context(tf.Graph().as_default())
        self._entered.enter_context(self.strategy.scope())
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._entered.close()

    def session(self, **given: Any) -> MonitoredSession:
        """A monitored session that begins with the last checkpoint, and saves.

        Args:
            given: arguments of tf.train.MonitoredTrainingSession.

        Returns:
            A MonitoredSession.
        """
        return MonitoredTrainingSession(**{"checkpoint_dir": self.checkpoint_dir, **given})


@export("distribute.ray.run")
def run(
    train: Callable[..., Any],
    workers: int,
    args: Sequence[Any] = (),
    checkpoint_dir: str | None = None,
    min_workers: int = 1,
    restarts: int = 3,
    address: str | None = None,
    use_ray: bool | None = None,
    say: Callable[[str], Any] = print,
) -> list[Any]:
    """Calls a function in several workers at a time, whose optimizers add up their gradients.

    Each worker is a process.  `train(worker, *args)` makes a graph and trains it, with a session of
    `worker.session(hooks=...)`; variables begin with the first worker's values, and each step's
    gradients are the sums of all workers'.  When a worker fails, all are started again, as many as
    there is room for, and go on from the last checkpoint.

    Args:
        train: a function of a module, or of the program itself, which is then imported again: what
            starts the workers belongs below `if __name__ == "__main__":`.
        workers: how many processes.
        args: what the function is given besides a `Worker`.
        checkpoint_dir: the folder of checkpoints, the same for all workers; None for none.
        min_workers: with fewer it does not go on.
        restarts: how often all workers are started again.
        address: of a cluster of Ray; None: one that is started on this machine.
        use_ray: whether Ray places workers; None: if there is an address. Without it they are
            processes of this machine.
        say: takes the lines that workers print, with their names.

    Returns:
        What the function has given in each worker, by their numbers.

    Raises:
        ValueError: the numbers make no sense, or the function cannot be named.
        RuntimeError: workers failed too often, or there is no room for them.
        ImportError: Ray is wanted and not installed.

    Example:
        results = tf.distribute.ray.run(train, workers=4, checkpoint_dir="/tmp/model")
    """
    if not 1 <= min_workers <= workers or restarts < 0:
        raise ValueError(f"{min_workers} to {workers} workers, started again {restarts} times")
    from ..cluster import data_parallel, launch

    work = data_parallel.described(train, args)._replace(checkpoint_dir=checkpoint_dir or "")
    engine: launch.Engine
    if use_ray or (use_ray is None and address is not None):
        from ..cluster.ray_engine import RayEngine

        engine = RayEngine(address)
    else:
        engine = launch.LocalEngine()
    return data_parallel.run(engine, work, workers, min_workers, restarts, say=say)
