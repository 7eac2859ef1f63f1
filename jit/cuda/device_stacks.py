# SPDX-License-Identifier: Apache-2.0
"""Stacks of loops in a device's memory.

Kernels copy items and count them there (jit/library/stacks.py); the host follows the counts by what
it begins, without looking, and sees in time that there is room.  A stack that other kernels use,
too, stays in the host's memory.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cache
from typing import NamedTuple

import numpy as np

from ..library.latches import LATCH
from ..library.stacks import CHANGES, CONTROLS, MOVES
from ..library.step_table import FIT, HELD, ITEM_BYTES, MEMORY, NEEDED
from ..program.tensor_ir import GrowableStack
from ..schedule.frame import LEAST_ITEMS
from ..schedule.steps import CallStep, KernelStep
from .cuda_kernel import KernelText, kernel_text
from .device import Device, Memory


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
        room = max(2 * int(record[FIT]), LEAST_ITEMS, int(record[NEEDED]))
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


def begin(stacks: dict[GrowableStack, DeviceStack], counts: Sequence[Count]) -> None:
    """Follows what rows do that are about to begin together, and sees that there is room."""
    states: dict[GrowableStack, tuple[int, int]] = {}
    most: dict[GrowableStack, int] = {}
    # (Items of a view of memory are Python's numbers, and quicker to come by than an array's.)
    for stack, change, number in counts:
        state = states.get(stack)
        if state is None:
            words = stacks[stack].record.data
            state = words[HELD], words[NEEDED]
        if change is None:
            most[stack] = max(most.get(stack, 0), state[1])
        else:
            states[stack] = change(state[0], number)
    for stack, needed in most.items():
        words = stacks[stack].record.data
        if needed > words[FIT]:
            words[NEEDED] = needed
            stacks[stack].grow()
    for stack, (held, needed) in states.items():
        words = stacks[stack].record.data
        words[HELD], words[NEEDED] = held, needed
