# SPDX-License-Identifier: Apache-2.0
"""Strategies of one machine's devices, of which there is one."""

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


@export("distribute.MirroredStrategy")
class MirroredStrategy(Strategy):
    """Replicas that keep the same variables; here it is one.

    Args:
        devices: one device; this machine's processor if None.
        cross_device_ops: how values of several would be added up.

    Raises:
        NotImplementedError: there are more devices.
    """

    def __init__(
        self, devices: Sequence[str] | None = None, cross_device_ops: object = None
    ) -> None:
        super().__init__(StrategyExtended.on(self, one_device(devices)))


@export("contrib.distribute.MirroredStrategy")
class ContribMirroredStrategy(Strategy):
    """Replicas that keep the same variables; here it is one.

    Args:
        devices: one device; this machine's processor if None.
        num_gpus, num_gpus_per_worker: 0 or 1, instead of devices.
        cross_device_ops, cross_tower_ops: how values of several would be added up.
        auto_shard_dataset: whether machines take parts of datasets.

    Raises:
        ValueError: numbers are given twice.
        NotImplementedError: there are more devices.
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
        super().__init__(StrategyExtended.on(self, one_device(devices)))
