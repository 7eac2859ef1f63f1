# SPDX-License-Identifier: Apache-2.0
"""Strategies and optimizers to combine: `tensorflow.python.distribute.strategy_combinations`."""

from __future__ import annotations

from typing import Any

from ...ops import device_lists, runtime_settings
from ...train.distributed import strategy_context
from ...train.distributed.device_strategies import MirroredStrategy, OneDeviceStrategy
from ...train.distributed.parameter_server_strategy import CentralStorageStrategy
from ...train.keras.optimizers import further_rules, rules
from ...train.optimizers import adaptive, gradient_descent
from .combinations import Combination, NamedDistribution, NamedObject, combine


def _tpu() -> Any:
    raise NotImplementedError("numbaflow has no TPUs: tests with strategies of them are skipped")


def _one_device(name: str, device: str, gpus: int | None = None) -> NamedDistribution:
    return NamedDistribution(name, lambda: OneDeviceStrategy(device), gpus)


def _mirrored(name: str, *devices: str, gpus: int | None = None) -> NamedDistribution:
    return NamedDistribution(name, lambda: MirroredStrategy(list(devices)), gpus)


def _central(name: str, *devices: str, gpus: int) -> NamedDistribution:
    return NamedDistribution(name, lambda: CentralStorageStrategy(list(devices)), gpus)


_WORKER = "/job:worker/replica:0/task:1"
default_strategy = NamedDistribution("Default", lambda: strategy_context.default_mode().strategy)
one_device_strategy = _one_device("OneDeviceCPU", "/cpu:0")
one_device_strategy_gpu = _one_device("OneDeviceGPU", "/gpu:0", 1)
one_device_strategy_on_worker_1 = _one_device("OneDeviceOnWorker1CPU", f"{_WORKER}/cpu:0")
one_device_strategy_gpu_on_worker_1 = _one_device("OneDeviceOnWorker1GPU", f"{_WORKER}/gpu:0", 1)
tpu_strategy = NamedDistribution("TPU", _tpu, required_tpu=True)
tpu_strategy_one_step = NamedDistribution("TPUOneStep", _tpu, required_tpu=True)
tpu_strategy_one_core = NamedDistribution("TPUOneCore", _tpu, required_tpu=True)
tpu_strategy_one_step_one_core = NamedDistribution("TPUOneStepOneCore", _tpu, required_tpu=True)
mirrored_strategy_with_one_cpu = _mirrored("Mirrored1CPU", "/cpu:0")
mirrored_strategy_with_one_gpu = _mirrored("Mirrored1GPU", "/gpu:0", gpus=1)
mirrored_strategy_with_gpu_and_cpu = _mirrored("MirroredCPUAndGPU", "/gpu:0", "/cpu:0", gpus=1)
mirrored_strategy_with_two_gpus = _mirrored("Mirrored2GPUs", "/gpu:0", "/gpu:1", gpus=2)
mirrored_strategy_with_cpu_1_and_2 = _mirrored("Mirrored2CPU", "/cpu:1", "/cpu:2")
central_storage_strategy_with_two_gpus = _central("CentralStorage2GPUs", "/gpu:0", "/gpu:1", gpus=2)
central_storage_strategy_with_gpu_and_cpu = _central(
    "CentralStorageCPUAndGPU", "/gpu:0", "/cpu:0", gpus=1
)

gradient_descent_optimizer_v1_fn = NamedObject(
    "GradientDescentV1", lambda: gradient_descent.GradientDescentOptimizer(0.2)
)
adagrad_optimizer_v1_fn = NamedObject("AdagradV1", lambda: adaptive.AdagradOptimizer(0.001))
adam_optimizer_v1_fn = NamedObject(
    "AdamV1", lambda: gradient_descent.AdamOptimizer(0.001, epsilon=1)
)
rmsprop_optimizer_v1_fn = NamedObject("RmsPropV1", lambda: adaptive.RMSPropOptimizer(0.001))
optimizers_v1 = [gradient_descent_optimizer_v1_fn, adagrad_optimizer_v1_fn]
gradient_descent_optimizer_keras_v2_fn = NamedObject(
    "GradientDescentKerasV2", lambda: rules.SGD(0.2)
)
adagrad_optimizer_keras_v2_fn = NamedObject("AdagradKerasV2", lambda: further_rules.Adagrad(0.001))
adam_optimizer_keras_v2_fn = NamedObject("AdamKerasV2", lambda: rules.Adam(0.001, epsilon=1.0))
rmsprop_optimizer_keras_v2_fn = NamedObject("RmsPropKerasV2", lambda: rules.RMSprop(0.001))
optimizers_v2 = [gradient_descent_optimizer_keras_v2_fn, adagrad_optimizer_keras_v2_fn]
optimizers_v1_and_v2 = optimizers_v1 + optimizers_v2

graph_and_eager_modes = ["graph", "eager"]
tpu_strategies = [tpu_strategy, tpu_strategy_one_step]
_ONE_AND_TWO = [
    *(one_device_strategy, mirrored_strategy_with_gpu_and_cpu, mirrored_strategy_with_two_gpus)
]
_NOT_DEFAULT = [one_device_strategy, one_device_strategy_gpu, *_ONE_AND_TWO[1:]]
strategies_minus_tpu = [default_strategy, *_NOT_DEFAULT]


def set_virtual_cpus_to_at_least(num_virtual_cpus: int) -> None:
    """Makes the processor so many devices; RuntimeError where it is fewer already."""
    if num_virtual_cpus < 1:
        raise ValueError(f"`num_virtual_cpus` must be at least 1 not {num_virtual_cpus!r}")
    processor = device_lists.list_physical_devices("CPU")[0]
    present = runtime_settings.get_virtual_device_configuration(processor)
    if present is None:
        made = [runtime_settings.VirtualDeviceConfiguration() for _ in range(num_virtual_cpus)]
        runtime_settings.set_virtual_device_configuration(processor, made)
    elif len(present) < num_virtual_cpus:
        raise RuntimeError(
            f"Already configured with {len(present)} < {num_virtual_cpus} virtual CPUs"
        )


def distributions_and_v1_optimizers() -> list[Combination]:
    """Strategies with version 1's optimizers."""
    return combine(distribution=_ONE_AND_TWO, optimizer_fn=optimizers_v1)


def distributions_and_v2_optimizers() -> list[Combination]:
    """Strategies with Keras' optimizers."""
    return combine(distribution=_ONE_AND_TWO, optimizer_fn=optimizers_v2)


def distributions_and_v1_and_v2_optimizers() -> list[Combination]:
    """Strategies with optimizers of both kinds."""
    return combine(distribution=_ONE_AND_TWO, optimizer_fn=optimizers_v1_and_v2)


def strategy_minus_tpu_combinations() -> list[Combination]:
    """All strategies but those of TPUs, in graphs and eager mode."""
    return combine(distribution=strategies_minus_tpu, mode=graph_and_eager_modes)


def tpu_strategy_combinations() -> list[Combination]:
    """Strategies of TPUs."""
    return combine(distribution=tpu_strategies, mode=["graph"])


def all_strategy_combinations() -> list[Combination]:
    """All strategies."""
    return strategy_minus_tpu_combinations() + tpu_strategy_combinations()


def all_strategy_minus_default_and_tpu_combinations() -> list[Combination]:
    """All strategies that a program has to ask for, but those of TPUs."""
    return combine(distribution=_NOT_DEFAULT, mode=graph_and_eager_modes)


def all_strategy_combinations_minus_default() -> list[Combination]:
    """All strategies that a program has to ask for."""
    return all_strategy_minus_default_and_tpu_combinations() + tpu_strategy_combinations()
