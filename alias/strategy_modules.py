# SPDX-License-Identifier: Apache-2.0
"""Where names of `tensorflow.python.distribute` and its like are found (alias/module_map.py)."""

from __future__ import annotations

_STRATEGIES = (
    ".train.distributed.strategy .train.distributed.strategy_context tf.distribute "
    ".train.distributed.collective_strategy .train.distributed.strategy_hooks"
)
_PARTS = f".alias.internals.device_parts {_STRATEGIES}"
_RESOLVERS = ".train.distributed.cluster_resolver"
_CLOUD = ".train.distributed.cloud_resolvers"
_COMBINATIONS = ".alias.internals.combinations"

# Module below `tensorflow` -> its homes.
MODULES = {
    "python.tpu.tpu_function": ".train.contrib.tpu.tpu_function",
    "python.distribute": "tf.distribute",
    "python.distribute.combinations": _COMBINATIONS,
    "python.distribute.strategy_combinations": ".alias.internals.strategy_combinations",
    "python.framework.combinations": _COMBINATIONS,
    "python.framework.test_combinations": _COMBINATIONS,
    "python.distribute.step_fn": ".alias.internals.training_steps",
    "python.distribute.single_loss_example": ".alias.internals.single_loss_example",
    "python.distribute.input_lib": (
        ".train.distributed.worker_input .train.distributed.strategy_input"
    ),
    "python.distribute.values": ".alias.internals.replica_parts",
    "python.distribute.reduce_util": ".train.distributed.strategy_context",
    "python.distribute.all_reduce": ".train.distributed.all_reduce",
    "python.distribute.cross_device_ops": (
        ".train.distributed.cross_device_ops .train.distributed.worker_all_reduce"
    ),
    "python.ops.nccl_ops": ".train.distributed.nccl_ops",
    "python.distribute.multi_worker_util": ".train.distributed.multi_worker_util",
    "python.distribute.estimator_training": ".alias.internals.estimator_training",
    "python.training.distribute": _STRATEGIES,
    "python.training.distribution_strategy_context": _STRATEGIES,
    **{
        f"python.distribute.{module}": f"{_STRATEGIES} .alias.internals.device_parts"
        for module in (
            "distribute_lib mirrored_strategy one_device_strategy strategy_input "
            "collective_all_reduce_strategy"
        ).split()
    },
    "python.distribute.device_util": _PARTS,
    "python.distribute.shared_variable_creator": ".alias.internals.device_parts",
    "python.distribute.input_ops": ".alias.internals.dataset_parts",
    "python.distribute.distribution_strategy_context": _PARTS,
    "python.distribute.cross_device_utils": ".alias.internals.device_parts",
    "python.distribute.parameter_server_strategy": "tf.distribute.experimental",
    "python.distribute.central_storage_strategy": "tf.distribute.experimental",
    **{
        f"python.tpu.{module}": f".train.contrib.tpu.{module} tf.contrib.tpu"
        for module in "tpu tpu_config tpu_estimator tpu_optimizer training_loop bfloat16".split()
    },
    "python.distribute.cluster_resolver": (
        f"{_RESOLVERS} {_CLOUD} .train.distributed.slurm_resolver"
    ),
    "python.distribute.cluster_resolver.gce_cluster_resolver": _CLOUD,
    "python.distribute.cluster_resolver.kubernetes_cluster_resolver": _CLOUD,
    **{
        f"python.distribute.cluster_resolver.{module}": _RESOLVERS
        for module in "cluster_resolver tpu_cluster_resolver tfconfig_cluster_resolver".split()
    },
    "python.distribute.cluster_resolver.slurm_cluster_resolver": (
        ".train.distributed.slurm_resolver"
    ),
}
