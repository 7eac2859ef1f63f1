# SPDX-License-Identifier: Apache-2.0
"""Stacks of loops in a device's memory.

Kernels copy items and count them there (jit/library/stacks.py); the host follows the counts by what
it begins, without looking, and sees in time that there is room.  A stack that other kernels use,
too, stays in the host's memory.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from typing import NamedTuple

import numpy as np

from ..library.latches import LATCH
from ..library.stacks import CHANGES, CONTROLS, MOVES
from ..library.step_table import FIT, HELD, ITEM_BYTES, MEMORY, NEEDED
from ..program.tensor_ir import GrowableStack
from ..schedule.frame import grown
from ..schedule.steps import CallStep, KernelStep
from .cuda_kernel import KernelText, kernel_text
from .device import Device, Memory

_MANY = 1 << 40  # items, more than any stack has


def on_device(steps: Iterable[KernelStep | CallStep]) -> frozenset[GrowableStack]:
    """The stacks that only kernels use whose counts the host can follow."""
    found: dict[GrowableStack, bool] = {}
    for step in steps:
        stack = stack_of(step)
        if stack is not None:
            found[stack] = found.get(stack, True) and step.kernel.name in CONTROLS  # type: ignore[union-attr]
    return frozenset(stack for stack, is_followed in found.items() if is_followed)


def stack_of(step: KernelStep | CallStep) -> GrowableStack | None:
    """The stack that a step uses, if it uses one."""
    return step.node.effects.stack if isinstance(step, CallStep) else None


@cache
def bundled() -> tuple[KernelText, KernelText]:
    """The kernels that copy items of several stacks, and that count them (stack_bundles.py)."""
    return kernel_text(MOVES().over(["int64"])), kernel_text(CHANGES().over(["int64"]))


@cache
def latching() -> KernelText:
    """The kernel that notes what is wrong in a turn (device_turns.py)."""
    return kernel_text(LATCH().over(["int64"]))


class Count(NamedTuple):
    """What a row does to the counts of a stack; without `change` it asks for room."""

    stack: GrowableStack
    change: Callable[[int, int], tuple[int, int]] | None
    number: int = 0


class DeviceStack:
    """A stack of one run: its record here and on the device, and the memory of its items there."""

    def __init__(self, device: Device, record: np.ndarray) -> None:
        self.device, self.record = device, record
        self.there = Memory(device, record.nbytes)
        self.memory: Memory | None = None
        self.send()

    def send(self) -> None:
        """Copies the record to the device, which has no other counts by then."""
        self.device.upload(self.there.address, self.record)

    def grow(self) -> None:
        """Doubles the memory, and keeps the items."""
        record, old = self.record, self.memory
        count, item = int(record[HELD]), int(record[ITEM_BYTES])
        room = grown(record)
        memory = self.memory = Memory(self.device, max(room * item, 1))
        if old is not None and count * item:
            self.device.copy_across(memory.address, self.device, old.address, count * item)
        record[MEMORY], record[FIT] = memory.address, room
        self.send()

    def take_over(self, before: DeviceStack) -> None:
        """Goes on with what another one holds, whose items may be counted by another size."""
        item = int(self.record[ITEM_BYTES])
        self.record[:], self.memory = before.record, before.memory
        count = 0 if self.memory is None else self.memory.count
        self.record[ITEM_BYTES], self.record[FIT] = item, count // max(item, 1)
        self.send()


class Net(NamedTuple):
    """What several rows do to the counts of one stack, as long as it is not empty meanwhile.

    more: items that it has more then.  asked: those that there has to be room for meanwhile, beyond
    what it has now; None: nobody asks.  least: the fewest, beyond what it has now.
    """

    more: int
    asked: int | None
    least: int


class Counts:
    """What rows that begin together do to stacks."""

    def __init__(self, counts: Sequence[Count]) -> None:
        self._counts: dict[GrowableStack, list[Count]] = {}
        for count in counts:
            self._counts.setdefault(count.stack, []).append(count)
        self._nets = {stack: _net(rows) for stack, rows in self._counts.items()}

    def begin(self, stacks: Mapping[GrowableStack, DeviceStack]) -> None:
        """Follows it, and sees that there is room."""
        for stack, net in self._nets.items():
            there = stacks[stack]
            # (Items of a view of memory are Python's numbers, and quicker to come by than arrays'.)
            words = there.record.data
            held = words[HELD]
            if net is None or words[NEEDED] != held + 1 or held + net.least < 0:
                _follow(there, self._counts[stack])
                continue
            if net.asked is not None and held + net.asked > words[FIT]:
                words[NEEDED] = held + net.asked
                there.grow()
            words[HELD] = held = held + net.more
            words[NEEDED] = held + 1


def _net(rows: Sequence[Count]) -> Net | None:
    """What some rows come to; None if that depends on more than how many items there are."""
    held = least = _MANY
    needed, asked = held + 1, 0
    for _, change, number in rows:
        if change is None:
            asked = max(asked, needed)
        else:
            held, needed = change(held, number)
            least = min(least, held)
        if needed != held + 1:
            return None
    if least < _MANY // 2:
        return None  # it was emptied
    return Net(held - _MANY, asked - _MANY if asked else None, least - _MANY)


def _follow(there: DeviceStack, rows: Sequence[Count]) -> None:
    """The same row by row."""
    words = there.record.data
    held, needed, most = words[HELD], words[NEEDED], 0
    for _, change, number in rows:
        if change is None:
            most = max(most, needed)
        else:
            held, needed = change(held, number)
    if most > words[FIT]:
        words[NEEDED] = most
        there.grow()
    words[HELD], words[NEEDED] = held, needed
