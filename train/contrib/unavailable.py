# SPDX-License-Identifier: Apache-2.0
"""Names that can be imported and not be used: they need what is not reached from here.

Programs name them behind flags such as `use_tpu`, on paths that they do not take here.
"""

from __future__ import annotations

from typing import Any

from ...engine.api import constant

_TPU = "a TPU"
_CLOUD = "services of the cloud"
_TREES = "estimators of boosted trees, which are not in numbaflow yet"
_SEVERAL = "several machines or processors, and numbaflow computes on this machine's alone"

# What is needed -> public names.
TABLE = {
    _TPU: """
        contrib.tpu.AsyncCheckpointSaverHook contrib.tpu.DeviceAssignment contrib.tpu.InfeedQueue
        contrib.tpu.TPUDistributionStrategy contrib.tpu.Topology contrib.tpu.batch_parallel
        contrib.tpu.device_assignment contrib.tpu.infeed_dequeue contrib.tpu.infeed_dequeue_tuple
        contrib.tpu.infeed_enqueue contrib.tpu.infeed_enqueue_tuple contrib.tpu.initialize_system
        contrib.tpu.keras_to_tpu_model contrib.tpu.outfeed_dequeue
        contrib.tpu.outfeed_dequeue_tuple contrib.tpu.outfeed_enqueue
        contrib.tpu.outfeed_enqueue_tuple contrib.tpu.replicate contrib.tpu.rewrite
        contrib.tpu.shard contrib.tpu.shutdown_system tpu.batch_parallel tpu.initialize_system
        tpu.replicate tpu.rewrite tpu.shard tpu.shutdown_system tpu.experimental.DeviceAssignment
        tpu.experimental.initialize_tpu_system contrib.tpu.profiler.TPUProfiler
        contrib.distribute.TPUStrategy contrib.distribute.initialize_tpu_system
        distribute.experimental.TPUStrategy contrib.tpu.TPUInMemoryEvalHook
    """,
    _CLOUD: """
        contrib.cluster_resolver.GCEClusterResolver
        contrib.cluster_resolver.KubernetesClusterResolver
        contrib.cluster_resolver.SlurmClusterResolver
        distribute.cluster_resolver.GCEClusterResolver
        distribute.cluster_resolver.KubernetesClusterResolver
        distribute.cluster_resolver.SlurmClusterResolver
    """,
    _TREES: """
        contrib.estimator.boosted_trees_classifier_train_in_memory
        contrib.estimator.boosted_trees_regressor_train_in_memory
    """,
    _SEVERAL: """
        contrib.distribute.CollectiveAllReduceStrategy contrib.distribute.ParameterServerStrategy
        contrib.distribute.MultiWorkerAllReduce
        distribute.experimental.CentralStorageStrategy
        distribute.experimental.MultiWorkerMirroredStrategy
        distribute.experimental.ParameterServerStrategy
    """,
}


def _refusing(name: str, needs: str) -> type:
    """A class whose instances cannot be made; a function that is called looks the same."""

    def refuse(self: object, *unused: Any, **also_unused: Any) -> None:
        raise NotImplementedError(f"tf.{name} needs {needs}")

    last = name.rpartition(".")[2]
    return type(last, (), {"__init__": refuse, "__doc__": f"Needs {needs}: raises an error."})


_made: dict[tuple[str, str], type] = {}
for _needs, _names in TABLE.items():
    for _name in _names.split():
        _key = (_name.rpartition(".")[2], _needs)
        constant(_name, _made.setdefault(_key, _refusing(_name, _needs)))
