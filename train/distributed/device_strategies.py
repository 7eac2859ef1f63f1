# SPDX-License-Identifier: Apache-2.0
"""Strategies of one machine's devices."""

from __future__ import annotations

from collections.abc import Sequence

from ...engine.api import export
from .strategy import Strategy, StrategyExtended

_SEVERAL = "numbaflow computes on this machine's processor alone, as one replica"


@export("distribute.OneDeviceStrategy", "contrib.distribute.OneDeviceStrategy")
class OneDeviceStrategy(Strategy):
    """One replica on a device.

    Args:
        device: its name; whatever it is, this machine's processor computes.
    """

    def __init__(self, device: str) -> None:
        super().__init__(StrategyExtended.on(self, device))


def one_device(devices: Sequence[str] | None) -> str:
    """The only one of the devices of a strategy; this machine's processor if None."""
    if devices is None:
        return "/device:CPU:0"
    if not devices:
        raise ValueError("Must specify at least one device.")
    if len(devices) > 1:
        raise NotImplementedError(
            f"a strategy of {len(devices)} devices ({', '.join(map(str, devices))}): {_SEVERAL}"
        )
    return devices[0]


def _mirrored(
    strategy: Strategy, devices: Sequence[str] | None, cross_device_ops: object
) -> StrategyExtended:
    """What libraries ask of a strategy of one device or several."""
    if not devices or len(devices) == 1:
        return StrategyExtended.on(strategy, one_device(devices or None))
    from .mirrored_strategy import MirroredExtended, devices_of

    return MirroredExtended(strategy, devices_of(devices), cross_device_ops)


@export("distribute.MirroredStrategy")
class MirroredStrategy(Strategy):
    """Replicas that keep the same variables, one on each device.

    Each replica calls the program's functions once, with variables of its own (`w`,
    `w/replica_1`), which optimizers give the sum of the gradients.  Sessions need as many devices:
    `tf.ConfigProto(device_count={"CPU": 2})`.

    Args:
        devices: the devices; this machine's processor if None.
        cross_device_ops: how values of several are added up.

    Raises:
        ValueError: a device is there twice, or is another task's.

    Example:
        >>> strategy = tf.distribute.MirroredStrategy(["/cpu:0", "/cpu:1"])
        >>> with strategy.scope():
        ...     w = tf.get_variable("w", [], initializer=tf.ones_initializer())
        ...     ones = strategy.experimental_run_v2(lambda: w * 2.0)
        ...     total = strategy.reduce("SUM", ones, axis=None)
        >>> sess = tf.Session(config=tf.ConfigProto(device_count={"CPU": 2}))
        >>> sess.run(w.initializer)
        >>> sess.run(total)
        np.float32(4.0)
    """

    def __init__(
        self, devices: Sequence[str] | None = None, cross_device_ops: object = None
    ) -> None:
        super().__init__(_mirrored(self, devices, cross_device_ops))


@export("contrib.distribute.MirroredStrategy")
class ContribMirroredStrategy(Strategy):
    """Replicas that keep the same variables, one on each device: tf.distribute.MirroredStrategy.

    Args:
        devices: the devices; this machine's processor if None.
        num_gpus, num_gpus_per_worker: how many GPUs, instead of devices.
        cross_device_ops, cross_tower_ops: how values of several are added up.
        auto_shard_dataset: whether machines take parts of datasets.

    Raises:
        ValueError: numbers are given twice, or a device is there twice or is another task's.
    """

    def __init__(
        self,
        devices: Sequence[str] | None = None,
        num_gpus: int | None = None,
        num_gpus_per_worker: int | None = None,
        cross_device_ops: object = None,
        auto_shard_dataset: bool = False,
        cross_tower_ops: object = None,
    ) -> None:
        if num_gpus is not None and num_gpus_per_worker is not None:
            raise ValueError("You cannot specify both `num_gpus` and `num_gpus_per_worker`.")
        count = num_gpus_per_worker if num_gpus is None else num_gpus
        if devices is not None and count is not None:
            raise ValueError("Must only specify one of `devices` and `num_gpus_per_worker`.")
        if count is not None and count > 1:
            devices = [f"/device:GPU:{i}" for i in range(count)]
        super().__init__(_mirrored(self, devices, cross_device_ops or cross_tower_ops))
