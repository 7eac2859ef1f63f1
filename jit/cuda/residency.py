# SPDX-License-Identifier: Apache-2.0
"""Variables that are on devices: who has the newest contents, and copies when another asks.

A variable that a run on a device uses becomes a `ResidentVariable`: its `value`, which all of the
package reads, copies from a device first if that was written last.  What is read through `value`
may be written to as well, so devices take it anew afterwards; `peek` is for those who only look.
Several devices may have a copy each; it stays where it is, so that kernels find it there again.
Programs without a GPU have none of these.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from ...engine.session.state import VariableStorage
from .device import Device, Memory

_HOST: Any = vars(VariableStorage)["value"]  # the slot, which `ResidentVariable.value` hides


class DeviceCopy:
    """A variable's contents on a device; whether they are the newest."""

    __slots__ = ("device", "is_current", "memory", "of")

    def __init__(self, of: Copies, device: Device, count: int) -> None:
        self.of, self.device, self.memory = of, device, Memory(device, count)
        self.is_current = False


class Copies:
    """The copies of one variable, and which of them has what the host has not."""

    __slots__ = ("__weakref__", "by_device", "count", "newest")

    def __init__(self, count: int) -> None:
        self.count = count
        self.by_device: dict[Device, DeviceCopy] = {}
        self.newest: DeviceCopy | None = None

    def bring(self, array: np.ndarray) -> None:
        """Copies to the host what only a device has."""
        newest = self.newest
        if newest is not None:
            newest.device.download(array, newest.memory.address)
            self.newest = None

    def outdate(self, but: DeviceCopy | None = None) -> None:
        """All copies but one are no longer the newest."""
        for copy in self.by_device.values():
            copy.is_current = copy is but


class ResidentVariable(VariableStorage):
    """A variable of which devices have copies."""

    __slots__ = ()

    @property
    def value(self) -> np.ndarray | None:  # type: ignore[override]
        """The host's array, with the newest contents; whoever takes it may write to it."""
        array = _HOST.__get__(self)
        if array is not None and self.resident is not None:
            self.resident.bring(array)
            self.resident.outdate()
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


def newer(cells: Iterable[VariableStorage], device: Device) -> dict[Copies, tuple[np.ndarray, int]]:
    """Those whose newest contents only a device has: where they go, and where they are."""
    found = {}
    for cell in cells:
        newest = None if cell.resident is None else cell.resident.newest
        if newest is not None and newest.device is device:
            found[newest.of] = raw(cell), newest.memory.address
    return found


def settle(cell: VariableStorage, device: Device) -> DeviceCopy:
    """A variable's copy on a device, which has the newest contents afterwards."""
    array = raw(cell)
    copies = cell.resident
    if copies is None or copies.count != array.nbytes:
        cell.__class__ = ResidentVariable
        copies = cell.resident = Copies(array.nbytes)
    copy = copies.by_device.get(device)
    if copy is None:
        copy = copies.by_device[device] = DeviceCopy(copies, device, array.nbytes)
    if not copy.is_current:
        address, newest = copy.memory.address, copies.newest
        if newest is None:
            device.upload(address, array)
        else:
            device.copy_across(address, newest.device, newest.memory.address, copies.count)
        copy.is_current = True
    return copy


def wrote(cell: VariableStorage, device: Device) -> None:
    """Notes that a device changed its copy."""
    copies = cell.resident
    copy = copies.by_device[device]
    if copies.newest is not copy or len(copies.by_device) > 1:
        copies.newest = copy
        copies.outdate(but=copy)
