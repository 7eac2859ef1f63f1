# SPDX-License-Identifier: Apache-2.0
"""Variables that are on a device: which side has the newest contents, and copies when the other
asks.

A variable that a run on a device uses becomes a `ResidentVariable`: its `value`, which all of the
package reads, copies from the device first if the device was written last.  What is read through
`value` may be written to as well, so the device takes it anew afterwards; `peek` is for those who
only look.  Programs without a GPU have none of these.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from ...engine.session.state import VariableStorage
from .device import Device, Memory

_HOST: Any = vars(VariableStorage)["value"]  # the slot, which `ResidentVariable.value` hides


class DeviceCopy:
    """A variable's contents on a device."""

    __slots__ = ("device", "is_current", "is_newer", "memory", "version")

    def __init__(self, device: Device, count: int) -> None:
        self.device, self.memory = device, Memory(device, count)
        # Does the device have what the host has?  Does it have what the host has not?
        self.is_current = self.is_newer = False

    def bring(self, array: np.ndarray) -> None:
        """Copies to the host what only the device has."""
        if self.is_newer:
            self.device.download(array, self.memory.address)
            self.is_newer = False


class ResidentVariable(VariableStorage):
    """A variable of which a device has a copy."""

    __slots__ = ()

    @property
    def value(self) -> np.ndarray | None:  # type: ignore[override]
        """The host's array, with the newest contents; whoever takes it may write to it."""
        array = _HOST.__get__(self)
        if array is not None and self.resident is not None:
            self.resident.bring(array)
            self.resident.is_current = False
        return array  # type: ignore[no-any-return]

    @value.setter
    def value(self, array: np.ndarray | None) -> None:
        self.resident = None
        _HOST.__set__(self, array)


def raw(cell: VariableStorage) -> np.ndarray:
    """The host's array as it is, perhaps outdated; the variable must be initialized."""
    found = _HOST.__get__(cell)
    return cell.read() if found is None else found  # type: ignore[no-any-return]


def peek(cell: VariableStorage) -> np.ndarray:
    """The host's array with the newest contents, to be looked at only."""
    array = raw(cell)
    if cell.resident is not None:
        cell.resident.bring(array)
    return array


def newer(
    cells: Iterable[VariableStorage], device: Device
) -> dict[DeviceCopy, tuple[np.ndarray, int]]:
    """The copies on a device that have what the host has not: where it goes, and where it is."""
    copies = {cell.resident: raw(cell) for cell in cells if cell.resident is not None}
    return {
        copy: (array, copy.memory.address)
        for copy, array in copies.items()
        if copy.is_newer and copy.device is device
    }


def settle(cell: VariableStorage, device: Device) -> int:
    """The address of a variable's contents on a device, which has the newest afterwards."""
    array = raw(cell)
    copy = cell.resident
    if copy is None or copy.device is not device or copy.memory.count != array.nbytes:
        if copy is not None:
            copy.bring(array)
        cell.__class__ = ResidentVariable
        copy = cell.resident = DeviceCopy(device, array.nbytes)
    if not copy.is_current:
        device.upload(copy.memory.address, array)
        copy.is_current = True
    return copy.memory.address


def wrote(cell: VariableStorage) -> None:
    """Notes that the device changed its copy."""
    cell.resident.is_newer = True
