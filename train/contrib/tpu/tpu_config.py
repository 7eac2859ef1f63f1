# SPDX-License-Identifier: Apache-2.0
"""Settings of estimators that may run on TPUs elsewhere."""

from __future__ import annotations

import collections
import json
import os
from typing import Any

from ....engine.api import export
from ....engine.interface import log
from ....io import protos
from ...estimator import run_config
from . import util


@export("contrib.tpu.InputPipelineConfig", "estimator.tpu.InputPipelineConfig")
class InputPipelineConfig:
    """Where input functions are called."""

    PER_SHARD_V1 = 1
    PER_HOST_V1 = 2
    PER_HOST_V2 = 3
    BROADCAST = 4
    SLICED = 5


@export("contrib.tpu.TPUConfig", "estimator.tpu.TPUConfig")
class TPUConfig(
    collections.namedtuple(
        "TPUConfig",
        (
            "iterations_per_loop",
            "num_shards",
            "num_cores_per_replica",
            "per_host_input_for_training",
            "tpu_job_name",
            "initial_infeed_sleep_secs",
            "input_partition_dims",
            "eval_training_input_configuration",
            "experimental_host_call_every_n_steps",
        ),
    )
):
    """Settings for TPUs, which are kept, and used where there is one.

    Args:
        iterations_per_loop: how many steps lie between runs, or a time such as "60s".
        num_shards, num_cores_per_replica: how a model is spread.
        per_host_input_for_training: of InputPipelineConfig, or whether it is PER_HOST_V1.
        tpu_job_name: the name of the TPU's job.
        initial_infeed_sleep_secs: how long to wait before the first batch.
        input_partition_dims: how inputs are cut.
        eval_training_input_configuration: PER_HOST_V1 or SLICED.
        experimental_host_call_every_n_steps: how often host calls are made.

    Raises:
        ValueError: a setting is out of range.
    """

    def __new__(
        cls,
        iterations_per_loop: object = 2,
        num_shards: int | None = None,
        num_cores_per_replica: int | None = None,
        per_host_input_for_training: object = True,
        tpu_job_name: str | None = None,
        initial_infeed_sleep_secs: int | None = None,
        input_partition_dims: object = None,
        eval_training_input_configuration: int = InputPipelineConfig.PER_HOST_V1,
        experimental_host_call_every_n_steps: int = 1,
    ) -> TPUConfig:
        util.parse_iterations_per_loop(iterations_per_loop)
        if num_shards is not None:
            util.check_positive_integer(num_shards, "TPUConfig num_shards")
        if input_partition_dims is not None:
            _check_partitions(
                input_partition_dims, per_host_input_for_training, num_cores_per_replica
            )
        if num_cores_per_replica not in (None, 1, 2, 4, 8, 16, 32, 64, 128):
            raise ValueError(
                "num_cores_per_replica must be 1, 2, 4, 8, 16, 32, 64, 128; got "
                f"{num_cores_per_replica}"
            )
        if eval_training_input_configuration not in (
            InputPipelineConfig.PER_HOST_V1,
            InputPipelineConfig.SLICED,
        ):
            raise ValueError(
                "eval_training_input_configuration must be PER_HOST_V1 or SLICED; got "
                f"{eval_training_input_configuration}"
            )
        if isinstance(per_host_input_for_training, bool):
            per_host_input_for_training = (
                InputPipelineConfig.PER_HOST_V1
                if per_host_input_for_training
                else InputPipelineConfig.PER_SHARD_V1
            )
        if initial_infeed_sleep_secs:
            util.check_positive_integer(
                initial_infeed_sleep_secs, "TPUConfig initial_infeed_sleep_secs"
            )
        return super().__new__(
            cls,
            iterations_per_loop,
            num_shards,
            num_cores_per_replica,
            per_host_input_for_training,
            tpu_job_name or _job_name_of_environment(),
            initial_infeed_sleep_secs,
            input_partition_dims,
            eval_training_input_configuration,
            experimental_host_call_every_n_steps,
        )


def _check_partitions(dims: Any, per_host: Any, cores: int | None) -> None:
    if len(dims) not in (1, 2):
        raise ValueError("input_partition_dims must be a list/tuple with one or two elements.")
    if per_host is not InputPipelineConfig.PER_HOST_V2:
        raise ValueError("input_partition_dims is only supported in PER_HOST_V2 mode.")
    if cores is None:
        raise ValueError("input_partition_dims requires setting num_cores_per_replica.")


def _job_name_of_environment() -> str | None:
    environment = json.loads(os.environ.get("TF_CONFIG", "{}"))
    name: str | None = environment.get("service", {}).get("tpu_worker_job_name")
    if name:
        log.info("Load TPU job name from TF_CONFIG: %s", name)
    return name


@export("contrib.tpu.RunConfig", "estimator.tpu.RunConfig")
class RunConfig(run_config.RunConfig):
    """Settings of a TPUEstimator.

    Args:
        tpu_config: a TPUConfig.
        evaluation_master, master: addresses of sessions; of the cluster, or TF_CONFIG, if None.
        cluster: a cluster resolver, instead of `master`.
        **kwargs: as tf.estimator.RunConfig takes them.

    Raises:
        ValueError: both a cluster and a master, or another cluster, are given.
    """

    def __init__(
        self,
        tpu_config: TPUConfig | None = None,
        evaluation_master: str | None = None,
        master: str | None = None,
        cluster: Any = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self._tpu_config = tpu_config or TPUConfig()
        self._cluster = cluster
        if master is not None:
            if cluster is not None:
                raise ValueError("Both master and cluster are set.")
            self._master = master
        elif cluster:
            self._master = cluster.master()
        if evaluation_master is not None:
            self._evaluation_master = evaluation_master
        elif not self._evaluation_master and self._task_type != run_config.TaskType.EVALUATOR:
            self._evaluation_master = self._master
        if cluster:
            self._join(cluster)

    def _join(self, cluster: Any) -> None:
        self._cluster_spec = cluster.cluster_spec()
        if self.session_config is None:
            self._session_config = protos.ConfigProto(
                allow_soft_placement=True, isolate_session_state=True
            )
        if self.session_config.HasField("cluster_def"):
            raise ValueError("You cannot provide a ClusterResolver and session_config.cluster_def.")
        if self._cluster_spec:
            self.session_config.cluster_def.CopyFrom(self._cluster_spec.as_cluster_def())

    def _distributed_session_config(self) -> None:
        """None: the workers of a TPU are one graph, and see each other's devices."""

    @property
    def tpu_config(self) -> TPUConfig:
        """The TPUConfig."""
        return self._tpu_config

    @property
    def cluster(self) -> Any:
        """The cluster resolver, or None."""
        return self._cluster

    def replace(self, **kwargs: Any) -> RunConfig:
        """A copy with some settings replaced, `tpu_config` too."""
        tpu_config = kwargs.pop("tpu_config", self._tpu_config)
        made: Any = super().replace(**kwargs)
        made._tpu_config = tpu_config
        return made  # type: ignore[no-any-return]
