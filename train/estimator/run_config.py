# SPDX-License-Identifier: Apache-2.0
"""`tf.estimator.RunConfig`: where and how often an Estimator saves, and which task it is."""

from __future__ import annotations

import copy
import json
import os
from collections.abc import Callable
from typing import Any

from ...engine.api import export
from ...engine.interface import log
from ...io import protos
from ..distributed.cluster import ClusterSpec
from .util import fn_args, path_text

_DEFAULT: Any = object()
_REPLACEABLE = (
    "model_dir tf_random_seed save_summary_steps save_checkpoints_steps save_checkpoints_secs "
    "session_config keep_checkpoint_max keep_checkpoint_every_n_hours log_step_count_steps "
    "train_distribute device_fn protocol eval_distribute experimental_distribute "
    "experimental_max_worker_delay_secs session_creation_timeout_secs"
).split()
_BOTH_SAVE = "`save_checkpoints_steps` and `save_checkpoints_secs` cannot be both set."
_ENVIRONMENT = "TF_CONFIG"
_FROM_ENVIRONMENT = (
    "\n\nNote that these values may be coming from the TF_CONFIG environment variable."
)


class TaskType:
    """The jobs of a cluster."""

    MASTER = "master"
    PS = "ps"
    WORKER = "worker"
    CHIEF = "chief"
    EVALUATOR = "evaluator"


def _is_whole(value: object) -> bool:
    return isinstance(value, int)


def _is_session_config(value: object) -> bool:
    return isinstance(value, protos.ConfigProto)


def _takes_op(value: object) -> bool:
    return callable(value) and set(fn_args(value)) == {"op"}


# Property -> what its value must be, unless None, and the message where it is not.
_CHECKS: dict[str, tuple[Callable[[Any], Any], str]] = {
    "model_dir": (bool, "model_dir should be non-empty"),
    **{
        name: (lambda value: value >= 0, f"{name} should be >= 0")
        for name in (
            "save_summary_steps save_checkpoints_steps save_checkpoints_secs keep_checkpoint_max"
        ).split()
    },
    "session_config": (_is_session_config, "session_config must be instance of ConfigProto"),
    **{
        name: (lambda value: value > 0, f"{name} should be > 0")
        for name in (
            "keep_checkpoint_every_n_hours log_step_count_steps session_creation_timeout_secs"
        ).split()
    },
    "tf_random_seed": (_is_whole, "tf_random_seed must be integer."),
    "experimental_max_worker_delay_secs": (
        _is_whole,
        "experimental_max_worker_delay_secs must be an integer if set.",
    ),
    "device_fn": (_takes_op, 'device_fn must be callable with exactly one argument "op".'),
    "protocol": (
        lambda value: value in ("grpc", "grpc+verbs"),
        "protocol should be grpc or grpc+verbs",
    ),
}


def get_default_session_config(device_filters: list[str] | None = None) -> Any:
    """The ConfigProto of sessions of Estimators."""
    config = protos.ConfigProto(allow_soft_placement=True, device_filters=device_filters)
    config.graph_options.rewrite_options.meta_optimizer_iterations = 1
    return config


@export("estimator.RunConfig")
class RunConfig:
    """Settings of an Estimator.

    Args:
        model_dir: the folder of checkpoints and events; that of TF_CONFIG, or a new one, if None.
        tf_random_seed: the seed of the graphs.
        save_summary_steps: how many steps lie between summaries.
        save_checkpoints_steps, save_checkpoints_secs: how many steps, or seconds, lie between
            checkpoints; one of both, 600 seconds by default.
        session_config: the ConfigProto of sessions.
        keep_checkpoint_max: how many checkpoints are kept; None or 0 keeps all.
        keep_checkpoint_every_n_hours: how often one is kept for good.
        log_step_count_steps: how many steps lie between lines about the loss and the speed.
        train_distribute, eval_distribute: strategies of tf.distribute, of one replica.
        experimental_distribute: a DistributeConfig instead of them.
        device_fn: a function from ops to devices.
        protocol: of servers.
        experimental_max_worker_delay_secs: how long workers wait at most before they start.
        session_creation_timeout_secs: how long workers wait for a session.

    Raises:
        ValueError: a value is out of range, both ways of saving are given, or TF_CONFIG is wrong.

    Example:
        >>> config = tf.estimator.RunConfig(save_checkpoints_steps=50)
        >>> config.save_checkpoints_steps, config.is_chief
        (50, True)
    """

    def __init__(
        self,
        model_dir: object = None,
        tf_random_seed: int | None = None,
        save_summary_steps: int = 100,
        save_checkpoints_steps: object = _DEFAULT,
        save_checkpoints_secs: object = _DEFAULT,
        session_config: object = None,
        keep_checkpoint_max: int = 5,
        keep_checkpoint_every_n_hours: float = 10000,
        log_step_count_steps: int | None = 100,
        train_distribute: object = None,
        device_fn: object = None,
        protocol: str | None = None,
        eval_distribute: object = None,
        experimental_distribute: object = None,
        experimental_max_worker_delay_secs: int | None = None,
        session_creation_timeout_secs: int = 7200,
    ) -> None:
        given = {name: value for name, value in locals().items() if name in _REPLACEABLE}
        given.update(_saving(save_checkpoints_steps, save_checkpoints_secs))
        environment = json.loads(os.environ.get(_ENVIRONMENT) or "{}")
        if environment:
            log.info("TF_CONFIG environment variable: %s", environment)
        given["model_dir"] = _model_dir(environment, path_text(model_dir))
        RunConfig._replace(self, _REPLACEABLE, **given)
        self._take_strategies()
        self._init_from_environment(environment)
        if not self._session_config and self._cluster_spec:
            RunConfig._replace(
                self, _REPLACEABLE, session_config=self._distributed_session_config()
            )

    def _take_strategies(self) -> None:
        given = self._experimental_distribute
        if not given:
            return
        for name in ("train_distribute", "eval_distribute"):
            if getattr(self, name) is not None and getattr(given, name, None) is not None:
                raise ValueError(f"Either `{name}` or `experimental_distribute.{name}` can be set.")
            vars(self)[f"_{name}"] = getattr(self, name) or getattr(given, name, None)
        if getattr(given, "remote_cluster", None):
            raise NotImplementedError(
                "experimental_distribute.remote_cluster: numbaflow's clusters are in TF_CONFIG"
            )

    def _distributed_session_config(self) -> Any:
        if self.train_distribute is not None and self.train_distribute.extended.is_spread:
            return get_default_session_config([f"/job:{self._task_type}/task:{self._task_id}"])
        others = {
            TaskType.MASTER: ["/job:ps", "/job:master"],
            TaskType.CHIEF: ["/job:ps", "/job:chief"],
            TaskType.WORKER: ["/job:ps", f"/job:worker/task:{self._task_id}"],
            TaskType.PS: ["/job:ps", "/job:worker", "/job:chief", "/job:master"],
        }
        if self._task_type not in others:
            return None
        return get_default_session_config(others[self._task_type])

    def _init_from_environment(self, environment: dict[str, Any]) -> None:
        service = environment.get("service")
        if service is not None and not isinstance(service, dict):
            raise TypeError(
                f'If "service" is set in TF_CONFIG, it must be a dict. Given {type(service)}'
            )
        self._service = service
        self._cluster_spec: Any = ClusterSpec(environment.get("cluster", {}))
        task = environment.get("task", {})
        if self._cluster_spec:
            self._init_in_cluster(environment, task)
            return
        self._task_type: str = task.get("type", TaskType.WORKER)
        self._task_id = int(task.get("index", 0))
        self._global_id_in_cluster: int | None = 0
        if self._task_type != TaskType.WORKER:
            raise ValueError('If "cluster" is not set in TF_CONFIG, task type must be WORKER.')
        if self._task_id != 0:
            raise ValueError('If "cluster" is not set in TF_CONFIG, task index must be 0.')
        self._master = environment.get("session_master", "")
        self._evaluation_master = environment.get("eval_session_master", "")
        self._is_chief = True
        self._num_ps_replicas, self._num_worker_replicas = 0, 1

    def _init_in_cluster(self, environment: dict[str, Any], task: dict[str, Any]) -> None:
        jobs = self._cluster_spec.jobs
        chief = TaskType.MASTER if TaskType.MASTER in jobs else TaskType.CHIEF
        if chief == TaskType.MASTER and TaskType.CHIEF in jobs:
            raise ValueError("If `master` node exists in `cluster`, job `chief` is not supported.")
        strategy = self.train_distribute
        is_mirrored = strategy is not None and strategy.extended.is_spread
        if is_mirrored and chief not in jobs:
            # All workers do the same; the first of them saves.
            chief = TaskType.WORKER
        self._task_type, self._task_id = _checked_task(self._cluster_spec, task, chief, is_mirrored)
        self._is_chief = self._task_type == chief and self._task_id == 0
        self._evaluation_master = ""
        if self._task_type == TaskType.EVALUATOR:
            if chief == TaskType.MASTER:
                raise ValueError(
                    "If `master` node exists in `cluster`, task_type `evaluator` is not supported."
                )
            # It runs beside the cluster, not in it.
            self._evaluation_master = environment.get("eval_session_master", "")
            self._cluster_spec = ClusterSpec({})
            self._master = ""
            self._num_ps_replicas = self._num_worker_replicas = 0
            self._global_id_in_cluster = None
            return
        tasks = self._cluster_spec.as_dict()
        alone = len(jobs) == 1 and len(tasks[jobs[0]]) == 1
        address = self._cluster_spec.task_address(self._task_type, self._task_id)
        self._master = environment.get("session_master", "" if alone else f"grpc://{address}")
        self._num_ps_replicas = len(tasks.get(TaskType.PS, []))
        workers = {chief, TaskType.WORKER}
        self._num_worker_replicas = sum(len(tasks.get(job, [])) for job in workers)
        self._global_id_in_cluster = _global_id(
            self._cluster_spec, self._task_type, self._task_id, chief
        )

    def __getattr__(self, name: str) -> Any:
        if name in _PROPERTIES:
            return self.__dict__[f"_{name}"]
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def replace(self, **kwargs: Any) -> RunConfig:
        """A copy with some settings replaced.

        Args:
            **kwargs: settings by name: those of the constructor.

        Returns:
            A RunConfig.

        Raises:
            ValueError: a setting cannot be replaced, or its value is out of range.
        """
        return RunConfig._replace(copy.deepcopy(self), _REPLACEABLE, **kwargs)

    @staticmethod
    def _replace(
        config: RunConfig, allowed_properties_list: Any = None, **kwargs: Any
    ) -> RunConfig:
        allowed = allowed_properties_list or []
        for key, value in kwargs.items():
            if key not in allowed:
                raise ValueError(
                    f"Replacing {key} is not supported. Allowed properties are {allowed}."
                )
            setattr(config, f"_{key}", value)
        steps, seconds = config.save_checkpoints_steps, config.save_checkpoints_secs
        if {"save_checkpoints_steps", "save_checkpoints_secs"} <= set(kwargs):
            if steps is not None and seconds is not None:
                raise ValueError(_BOTH_SAVE)
        elif "save_checkpoints_steps" in kwargs and steps is not None:
            vars(config)["_save_checkpoints_secs"] = None
        elif "save_checkpoints_secs" in kwargs and seconds is not None:
            vars(config)["_save_checkpoints_steps"] = None
        for name, (holds, message) in _CHECKS.items():
            value = getattr(config, name)
            if value is not None and not holds(value):
                raise ValueError(message)
        return config


_PROPERTIES = frozenset(
    [
        *_REPLACEABLE,
        *"cluster_spec evaluation_master is_chief master num_ps_replicas task_id task_type".split(),
        *("num_worker_replicas", "global_id_in_cluster", "service"),
    ]
) - {"experimental_distribute"}


def _saving(steps: object, seconds: object) -> dict[str, Any]:
    """When checkpoints are saved: by steps, or by seconds."""
    if steps is _DEFAULT and seconds is _DEFAULT:
        steps, seconds = None, 600
    elif seconds is _DEFAULT:
        seconds = None
    elif steps is _DEFAULT:
        steps = None
    elif steps is not None and seconds is not None:
        raise ValueError(_BOTH_SAVE)
    return {"save_checkpoints_steps": steps, "save_checkpoints_secs": seconds}


def _model_dir(environment: dict[str, Any], given: object) -> Any:
    if given == "":
        raise ValueError("model_dir should be non-empty.")
    of_environment = environment.get("model_dir")
    if of_environment == "":
        raise ValueError("model_dir in TF_CONFIG should be non-empty.")
    if of_environment:
        if given and of_environment != given:
            raise ValueError(
                "`model_dir` provided in RunConfig construct, if set, must have the same value as "
                f'the model_dir in TF_CONFIG. model_dir: {given}\nTF_CONFIG["model_dir"]: '
                f"{of_environment}.\n"
            )
        log.info("Using model_dir in TF_CONFIG: %s", of_environment)
    return given or of_environment


def _checked_task(
    cluster: Any, task: dict[str, Any], chief: str, has_equals: bool
) -> tuple[str, int]:
    """The job and number of this task; ValueError where the cluster has no such one."""
    if chief not in cluster.jobs:
        raise ValueError(f'If "cluster" is set in TF_CONFIG, it must have one "{chief}" node.')
    if len(cluster.job_tasks(chief)) > 1 and not has_equals:
        raise ValueError(f'The "cluster" in TF_CONFIG must have only one "{chief}" node.')
    kind, number = task.get("type"), task.get("index")
    if not kind:
        raise ValueError('If "cluster" is set in TF_CONFIG, task type must be set.')
    if number is None:
        raise ValueError('If "cluster" is set in TF_CONFIG, task index must be set.')
    number = int(number)
    if number < 0:
        raise ValueError("Task index must be non-negative number.")
    if kind == TaskType.EVALUATOR:
        return kind, number
    if kind not in cluster.jobs:
        raise ValueError(
            f"{kind} is not a valid task_type in the cluster_spec:\n{cluster}{_FROM_ENVIRONMENT}"
        )
    if number >= len(cluster.job_tasks(kind)):
        raise ValueError(
            f"{number} is not a valid task_id for task_type {kind} in the cluster_spec:\n"
            f"{cluster}{_FROM_ENVIRONMENT}"
        )
    return kind, number


def _global_id(cluster: Any, kind: str, number: int, chief: str) -> int:
    """A task's number among all: the chief first, parameter servers last."""
    others = sorted(job for job in cluster.jobs if job not in (chief, TaskType.PS))
    before = 0
    for job in [chief, *others, TaskType.PS]:
        if job == kind:
            return before + number
        before += len(cluster.job_tasks(job))
    raise RuntimeError(f"Internal Error: `task_type` ({kind}) is not in cluster_spec ({cluster}).")
