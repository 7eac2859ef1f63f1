# SPDX-License-Identifier: Apache-2.0
"""Which devices the values of replicas are on: `tensorflow.python.distribute.values`."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from ...ops.public import tf

if TYPE_CHECKING:
    from .strategy import ReplicaContext


def resolved(device: str) -> str:
    """A device of this machine by its whole name, as strategies tell of it."""
    full = tf.DeviceSpec.from_string("/replica:0/task:0/device:CPU:0")
    return str(full.make_merged_spec(tf.DeviceSpec.from_string(device)).to_string())


def current_device() -> str:
    """The device that new operations would be put on."""

    class Asker:
        device = ""

        def _set_device_from_string(self, device: str) -> None:
            self.device = device

    asker = Asker()
    tf.get_default_graph()._apply_device_functions(asker)
    return asker.device


def _number_of(context: Any) -> int:
    """A replica's number, where it is known."""
    number = getattr(context, "index", None)
    return int(tf.get_static_value(context.replica_id_in_sync_group) if number is None else number)


class DeviceMap(ABC):
    """Devices of replicas, and which value of several is a replica's or a device's."""

    @property
    @abstractmethod
    def all_devices(self) -> tuple[str, ...]:
        """The devices of all replicas, by their whole names."""

    @property
    @abstractmethod
    def devices_by_replica(self) -> tuple[tuple[str, ...], ...]:
        """The devices of each replica."""

    @property
    def num_logical_devices(self) -> int:
        """How many devices each replica has."""
        return 1

    @property
    def num_replicas_in_graph(self) -> int:
        """How many replicas there are."""
        return len(self.devices_by_replica)

    def logical_device_from_values(self, values: Sequence[Any]) -> int:
        """Which of a replica's devices values are on: its only one."""
        del values
        return 0

    def logical_to_actual_devices(self, logical_device_id: int) -> tuple[str, ...]:
        """The devices of that number, of all replicas."""
        assert logical_device_id == 0, logical_device_id
        return self.all_devices

    @abstractmethod
    def select_for_current_replica(self, values: Sequence[Any], replica_context: Any) -> Any:
        """The value of the replica that code belongs to."""

    @abstractmethod
    def replica_for_device(self, device: str) -> int:
        """Which replica is on a device; ValueError if none is."""

    def select_for_device(self, values: Sequence[Any], device: str) -> Any:
        """The value on a device; ValueError if there is none."""
        return values[self.replica_for_device(device)]

    def is_device_in_replica(self, device: str, replica_id: int) -> bool:
        """Whether a device is one of a replica's."""
        return device in self.devices_by_replica[replica_id]


class SingleDeviceMap(DeviceMap):
    """One replica on one device.

    Args:
        device: its name.
    """

    def __init__(self, device: str) -> None:
        self._device = resolved(device)

    @property
    def all_devices(self) -> tuple[str, ...]:
        """The device."""
        return (self._device,)

    @property
    def devices_by_replica(self) -> tuple[tuple[str, ...], ...]:
        """The device."""
        return ((self._device,),)

    def select_for_current_replica(
        self, values: Sequence[Any], replica_context: ReplicaContext
    ) -> Any:
        """The only value."""
        del replica_context
        return values[0]

    def replica_for_device(self, device: str) -> int:
        """The only replica; ValueError for another device."""
        if self._device != device:
            raise ValueError(f"Device {device} not found in {self._device} (current device)")
        return 0

    def __repr__(self) -> str:
        return f"SingleDeviceMap({self._device!r})"


class ReplicaDeviceMap(DeviceMap):
    """A device for each replica.

    Args:
        devices: their names.

    Raises:
        ValueError: one is there twice.
    """

    def __init__(self, devices: Sequence[str]) -> None:
        self._devices = tuple(map(resolved, devices))
        if len(set(self._devices)) != len(self._devices):
            raise ValueError(f"Duplicate devices in {devices}, after canonicalization: {self!r}")

    @property
    def all_devices(self) -> tuple[str, ...]:
        """The devices."""
        return self._devices

    @property
    def devices_by_replica(self) -> tuple[tuple[str, ...], ...]:
        """Each replica's one."""
        return tuple((device,) for device in self._devices)

    def select_for_current_replica(
        self, values: Sequence[Any], replica_context: ReplicaContext
    ) -> Any:
        """The value of the replica."""
        return values[_number_of(replica_context)]

    def replica_for_device(self, device: str) -> int:
        """Which replica is on a device; ValueError if none is."""
        if device not in self._devices:
            raise ValueError(
                f"Device {device} not found in {self._devices} (current device {current_device()})"
            )
        return self._devices.index(device)

    def __repr__(self) -> str:
        return f"ReplicaDeviceMap({list(self._devices)!r})"


class WorkerDeviceMap(DeviceMap):
    """A device for each worker, which has several replicas.

    Args:
        devices: the workers' devices.
        num_replicas_per_worker: how many replicas each has.

    Raises:
        ValueError: one is there twice.
    """

    def __init__(self, devices: Sequence[str], num_replicas_per_worker: int) -> None:
        self._devices = tuple(map(resolved, devices))
        if len(set(self._devices)) != len(self._devices):
            raise ValueError(f"Duplicate devices in {devices}, after canonicalization: {self!r}")
        self._num_replicas_per_worker = num_replicas_per_worker

    @property
    def all_devices(self) -> tuple[str, ...]:
        """The workers' devices."""
        return self._devices

    @property
    def devices_by_replica(self) -> tuple[tuple[str, ...], ...]:
        """ValueError: replicas have no devices of their own."""
        raise ValueError("`WorkerDeviceMap` is not indexed by replicas")

    @property
    def num_replicas_in_graph(self) -> int:
        """How many workers there are."""
        return len(self._devices)

    def select_for_current_replica(
        self, values: Sequence[Any], replica_context: ReplicaContext
    ) -> Any:
        """The value of the replica's worker."""
        return values[_number_of(replica_context) // self._num_replicas_per_worker]

    def replica_for_device(self, device: str) -> int:
        """ValueError: a worker's device is that of several replicas."""
        raise ValueError("`WorkerDeviceMap` not indexed by replicas")

    def select_for_device(self, values: Sequence[Any], device: str) -> Any:
        """The value of a worker; ValueError if the device is none's."""
        return values[self._devices.index(device)]

    def is_device_in_replica(self, device: str, replica_id: int) -> bool:
        """ValueError: replicas have no devices of their own."""
        raise ValueError("WorkerDeviceMap not indexed by replicas")

    def __repr__(self) -> str:
        return (
            f"WorkerDeviceMap({self._devices!r}, "
            f"num_replicas_per_worker={self._num_replicas_per_worker})"
        )


class LogicalDeviceSpec(NamedTuple):
    """The devices of one number, of all replicas."""

    device_map: DeviceMap
    logical_device: int


def map_of(devices: DeviceMap | Sequence[str]) -> DeviceMap:
    """A DeviceMap: the one that is given, or one with a device for each replica."""
    return devices if isinstance(devices, DeviceMap) else ReplicaDeviceMap(devices)
