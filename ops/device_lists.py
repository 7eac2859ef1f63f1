# SPDX-License-Identifier: Apache-2.0
"""The devices of this machine (`tf.config.experimental`): here, the processor."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from ..engine.api import export


class LogicalDevice(NamedTuple):
    """A device that ops can be placed on."""

    name: str
    device_type: str


class PhysicalDevice(NamedTuple):
    """A device of the machine."""

    name: str
    device_type: str


_PHYSICAL = (PhysicalDevice("/physical_device:CPU:0", "CPU"),)
_NAME = "/job:localhost/replica:0/task:0/device:CPU:"
# How many devices the processor counts as, and what is used of the machine.
_parts = [1]
_visible = list(_PHYSICAL)
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
    _visible[:] = devices


def _of_type(devices: Iterable[Any], device_type: str | None) -> list[Any]:
    return [device for device in devices if device_type in (None, device.device_type)]


@export("config.experimental.list_logical_devices")
def list_logical_devices(device_type: str | None = None) -> list[LogicalDevice]:
    """The devices that ops can be placed on, of one type or all."""
    _listed[0] = True
    count = _parts[0] if _visible else 0
    devices = [LogicalDevice(f"{_NAME}{i}", "CPU") for i in range(count)]
    return _of_type(devices, device_type)


@export("config.experimental.list_physical_devices")
def list_physical_devices(device_type: str | None = None) -> list[PhysicalDevice]:
    """The devices of the machine, of one type or all."""
    return _of_type(_PHYSICAL, device_type)


@export("config.experimental.get_visible_devices")
def get_visible_devices(device_type: str | None = None) -> list[PhysicalDevice]:
    """The devices that sessions use, of one type or all."""
    return _of_type(_visible, device_type)
