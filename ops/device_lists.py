# SPDX-License-Identifier: Apache-2.0
"""The devices of this machine (`tf.config.experimental`): the processor, and GPUs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from ..engine.api import export
from ..engine.session.device_placement import gpus


class LogicalDevice(NamedTuple):
    """A device that ops can be placed on."""

    name: str
    device_type: str


class PhysicalDevice(NamedTuple):
    """A device of the machine."""

    name: str
    device_type: str


_TASK = "/job:localhost/replica:0/task:0"
# How many devices the processor counts as, and what is used of the machine (None: all of it).
_parts = [1]
_visible: list[Sequence[PhysicalDevice] | None] = [None]
# Whether a program has asked for the devices that ops can be placed on: they stay what they are.
_listed = [False]


def were_listed() -> bool:
    """Whether a program has asked for the devices that ops can be placed on."""
    return _listed[0]


def divide(count: int) -> None:
    """Makes the processor so many devices."""
    _parts[0] = count


def show(devices: Sequence[PhysicalDevice]) -> None:
    """Says what is used of the machine."""
    _visible[0] = tuple(devices)


def _physical() -> list[PhysicalDevice]:
    kinds = [("CPU", 0), *(("GPU", number) for number in range(len(gpus())))]
    return [PhysicalDevice(f"/physical_device:{kind}:{n}", kind) for kind, n in kinds]


def _used() -> Sequence[PhysicalDevice]:
    return _physical() if _visible[0] is None else _visible[0]


def _logical(device: PhysicalDevice) -> list[LogicalDevice]:
    """What ops can be placed on of a device of the machine."""
    kind, number = device.device_type, device.name.rpartition(":")[2]
    numbers = [str(i) for i in range(_parts[0])] if kind == "CPU" else [number]
    return [LogicalDevice(f"{_TASK}/device:{kind}:{i}", kind) for i in numbers]


def _of_type(devices: Iterable[Any], device_type: str | None) -> list[Any]:
    return [device for device in devices if device_type in (None, device.device_type)]


@export("config.experimental.list_logical_devices")
def list_logical_devices(device_type: str | None = None) -> list[LogicalDevice]:
    """The devices that ops can be placed on, of one type or all."""
    _listed[0] = True
    found = [one for device in _used() for one in _logical(device)]
    return _of_type(found, device_type)


@export("config.experimental.list_physical_devices")
def list_physical_devices(device_type: str | None = None) -> list[PhysicalDevice]:
    """The devices of the machine, of one type or all."""
    return _of_type(_physical(), device_type)


@export("config.experimental.get_visible_devices")
def get_visible_devices(device_type: str | None = None) -> list[PhysicalDevice]:
    """The devices that sessions use, of one type or all."""
    return _of_type(_used(), device_type)
