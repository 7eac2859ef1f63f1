# SPDX-License-Identifier: Apache-2.0
"""The devices of this machine (`tf.config.experimental`): here, the processor."""

from __future__ import annotations

from collections.abc import Iterable
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


_LOGICAL = (LogicalDevice("/job:localhost/replica:0/task:0/device:CPU:0", "CPU"),)
_PHYSICAL = (PhysicalDevice("/physical_device:CPU:0", "CPU"),)


def _of_type(devices: Iterable[Any], device_type: str | None) -> list[Any]:
    return [device for device in devices if device_type in (None, device.device_type)]


@export("config.experimental.list_logical_devices")
def list_logical_devices(device_type: str | None = None) -> list[LogicalDevice]:
    """The devices that ops can be placed on, of one type or all."""
    return _of_type(_LOGICAL, device_type)


@export("config.experimental.list_physical_devices")
def list_physical_devices(device_type: str | None = None) -> list[PhysicalDevice]:
    """The devices of the machine, of one type or all."""
    return _of_type(_PHYSICAL, device_type)


@export("config.experimental.get_visible_devices")
def get_visible_devices(device_type: str | None = None) -> list[PhysicalDevice]:
    """The devices that sessions use, of one type or all."""
    return _of_type(_PHYSICAL, device_type)
