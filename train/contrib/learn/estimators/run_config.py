# SPDX-License-Identifier: Apache-2.0
"""Settings of estimators of tf.contrib.learn."""

from __future__ import annotations

import json
import os
from typing import Any

from .....engine.api import export
from .....engine.interface import log
from .....io import protos
from ....distributed.cluster import ClusterSpec
from ....estimator import run_config

_FREE = (
    "tf_random_seed save_summary_steps save_checkpoints_steps save_checkpoints_secs session_config "
    "keep_checkpoint_max keep_checkpoint_every_n_hours log_step_count_steps"
).split()
_BY_DEFAULT = 0


class Environment:
    """Where programs run."""

    CLOUD = "cloud"
    GOOGLE = "google"
    LOCAL = "local"


@export("contrib.learn.TaskType")
class TaskType:
    """The jobs of a cluster."""

    MASTER = "master"
    PS = "ps"
    WORKER = "worker"


def _said() -> dict[str, Any]:
    return json.loads(os.environ.get("TF_CONFIG") or "{}")  # type: ignore[no-any-return]


class ClusterConfig:
    """The cluster that the environment's TF_CONFIG describes, and this task in it.

    Args:
        master, evaluation_master: addresses of sessions; those of TF_CONFIG if None.

    Raises:
        ValueError: the cluster has no such task.
    """

    def __init__(self, master: str | None = None, evaluation_master: str | None = None) -> None:
        said = _said()
        self._task_type = said.get("task", {}).get("type")
        self._task_id = self.get_task_id()
        self._cluster_spec: Any = ClusterSpec(said.get("cluster", {}))
        kind, number = self._task_type, self._task_id
        self._master = _master(self._cluster_spec, kind, number) if master is None else master
        tasks = self._cluster_spec.as_dict()
        self._num_ps_replicas = len(tasks.get(TaskType.PS, []))
        self._num_worker_replicas = len(tasks.get(TaskType.WORKER, [])) + len(
            tasks.get(TaskType.MASTER, [])
        )
        self._environment = said.get("environment", Environment.LOCAL)
        cloud = self._environment == Environment.CLOUD
        chief = TaskType.MASTER if cloud else TaskType.WORKER
        self._is_chief = number == 0 and kind in (None, chief)
        self._evaluation_master = evaluation_master or ""

    @staticmethod
    def get_task_id() -> int:
        """The number of this task; 0 if TF_CONFIG has none."""
        return int(_said().get("task", {}).get("index") or 0)

    def __getattr__(self, name: str) -> Any:
        if name in _OF_CLUSTER:
            return self.__dict__[f"_{name}"]
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")


_OF_CLUSTER = frozenset(
    "cluster_spec environment evaluation_master is_chief master num_ps_replicas "
    "num_worker_replicas task_id task_type".split()
)


def _master(cluster: ClusterSpec, kind: str | None, number: int) -> str:
    jobs = cluster.jobs
    if not jobs or (len(jobs) == 1 and len(cluster.job_tasks(jobs[0])) == 1) or not kind:
        return ""
    note = "Note that these value{} may be coming from the TF_CONFIG environment variable."
    if kind not in jobs:
        raise ValueError(
            f"{kind} is not a valid task_type in the cluster_spec:\n{cluster}\n\n{note.format('s')}"
        )
    addresses = cluster.job_tasks(kind)
    if not 0 <= number < len(addresses):
        raise ValueError(
            f"{number} is not a valid task_id for task_type {kind} in the cluster_spec:\n{cluster}"
            f"\n\n{note.format('')}"
        )
    return f"grpc://{addresses[number]}"


@export("contrib.learn.RunConfig")
class RunConfig(ClusterConfig, run_config.RunConfig):
    """Settings of an Estimator, of tf.contrib.learn or of tf.estimator.

    Args:
        master: the address of sessions.
        num_cores, log_device_placement, gpu_memory_fraction: of sessions.
        tf_random_seed: the seed of graphs.
        save_summary_steps: how many steps lie between summaries.
        save_checkpoints_secs, save_checkpoints_steps: how many seconds, or steps, lie between
            checkpoints; 600 seconds by default.
        keep_checkpoint_max: how many checkpoints are kept.
        keep_checkpoint_every_n_hours: how often one is kept for good.
        log_step_count_steps: how many steps lie between lines about the speed.
        protocol: of servers.
        evaluation_master: the address of sessions of evaluations.
        model_dir: the folder of checkpoints and events.
        session_config: the ConfigProto of sessions.
        session_creation_timeout_secs: how long workers wait for a session.

    Raises:
        ValueError: TF_CONFIG names another folder, or no task of the cluster.

    Example:
        >>> config = tf.contrib.learn.RunConfig(save_checkpoints_steps=10)
        >>> config.save_checkpoints_secs, config.is_chief
        (None, True)
    """

    _USE_DEFAULT = _BY_DEFAULT

    def __init__(
        self,
        master: str | None = None,
        num_cores: int = 0,
        log_device_placement: bool = False,
        gpu_memory_fraction: float = 1,
        tf_random_seed: int | None = None,
        save_summary_steps: int = 100,
        save_checkpoints_secs: int | None = _BY_DEFAULT,
        save_checkpoints_steps: int | None = None,
        keep_checkpoint_max: int = 5,
        keep_checkpoint_every_n_hours: float = 10000,
        log_step_count_steps: int = 100,
        protocol: str | None = None,
        evaluation_master: str = "",
        model_dir: str | None = None,
        session_config: object = None,
        session_creation_timeout_secs: int = 7200,
    ) -> None:
        ClusterConfig.__init__(self, master, evaluation_master)
        self._train_distribute = self._eval_distribute = self._experimental_distribute = None
        self._experimental_max_worker_delay_secs = self._device_fn = self._service = None
        self._global_id_in_cluster = None
        self._tf_config = protos.ConfigProto(
            log_device_placement=log_device_placement,
            inter_op_parallelism_threads=num_cores,
            intra_op_parallelism_threads=num_cores,
        )
        self._tf_config.gpu_options.per_process_gpu_memory_fraction = gpu_memory_fraction
        if save_checkpoints_secs == _BY_DEFAULT:
            save_checkpoints_secs = 600 if save_checkpoints_steps is None else None
        self._save_checkpoints_secs = save_checkpoints_secs
        self._save_checkpoints_steps = save_checkpoints_steps
        self._tf_random_seed = tf_random_seed
        self._save_summary_steps = save_summary_steps
        self._log_step_count_steps = log_step_count_steps
        self._protocol, self._session_config = protocol, session_config
        self._keep_checkpoint_max = keep_checkpoint_max
        self._keep_checkpoint_every_n_hours = keep_checkpoint_every_n_hours
        self._model_dir = _model_dir(model_dir)
        self._session_creation_timeout_secs = session_creation_timeout_secs

    def __getattr__(self, name: str) -> Any:
        if name in _OF_CLUSTER:
            return self.__dict__[f"_{name}"]
        return run_config.RunConfig.__getattr__(self, name)

    @property
    def tf_config(self) -> Any:
        """The ConfigProto of sessions, if none was given."""
        return self._tf_config

    def uid(self, whitelist: list[str] | None = None) -> str:
        """A text that tells settings apart.

        Args:
            whitelist: settings that do not count; what may change between runs if None.

        Returns:
            The text.
        """
        free = {f"_{name}" for name in (_FREE if whitelist is None else whitelist)}
        state = {key: value for key, value in vars(self).items() if key not in free}
        if "_cluster_spec" in state:
            state["_cluster_spec"] = dict(sorted(state["_cluster_spec"].as_dict().items()))
        return ", ".join(f"{key}={value!r}" for key, value in sorted(state.items()))


def _model_dir(given: str | None) -> str | None:
    said: str | None = _said().get("model_dir")
    if said is not None:
        if given is not None and said != given:
            raise ValueError(
                "`model_dir` provided in RunConfig construct, if set, must have the same value as "
                f'the model_dir in TF_CONFIG. model_dir: {given}\nTF_CONFIG["model_dir"]: {said}.\n'
            )
        log.info("Using model_dir in TF_CONFIG: %s", said)
    return given or said
