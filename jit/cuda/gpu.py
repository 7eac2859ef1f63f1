# SPDX-License-Identifier: Apache-2.0
"""GPUs as places where the plans of a session run, and which operations run there.

Imports the rest of this folder.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from ...engine.graph.devices import parse_device
from .. import threads
from ..runtime.backend import GoingOn
from ..runtime.execution import Run
from ..schedule.bind import Binding
from ..trace.segment import Evaluate, Segment, Traced
from .device import Device
from .device_plan import DevicePlan, compile_for
from .device_run import DeviceArena, DeviceRun

if TYPE_CHECKING:
    from ...engine.session.session import BaseSession

# Threads of a kernel that have scratch memory.
_WORKERS = 128


class Gpu:
    """A GPU of a session: a place where its plans run.

    all: the GPUs of the session in their order, of which the first takes what asks for none.
    """

    is_plain = True
    keeps_plans = False

    def __init__(self, device: Device) -> None:
        self.device = device
        self.all: Sequence[Gpu] = [self]
        self._arenas: list[DeviceArena] = []
        device.ask_when_full(self)

    def let_go(self) -> None:
        """Frees the memory of runs, none of which is under way in it."""
        self._arenas.clear()

    @cached_property
    def offered(self) -> frozenset[str]:
        """See Backend."""
        return frozenset(self.device.libraries)

    def of(self, segment: Segment) -> Gpu | None:
        """The GPU where a segment runs, as in TensorFlow unless its operations are told not to.

        None: on the processor.
        """
        operations = segment.operations[segment.start : segment.end]
        number = self._first(operations)
        if number is not None:
            return self.all[number]
        asked = {op._device for op in operations}
        return self if not asked or any(map(_may_be_gpu, asked)) else None

    def end(self, operations: Sequence[Any], start: int, regions: Mapping[int, int]) -> int:
        """How far one GPU runs operations: to the first that is told to run on another one."""
        place, number = None, start
        while len(self.all) > 1 and number < len(operations):
            behind = regions.get(number, number + 1)
            # (What branches or loops is one GPU's, whatever its operations say.)
            wanted = self._first(operations[number:behind])
            if place is not None and wanted not in (None, place):
                return number
            place = wanted if place is None else place
            number = behind
        return len(operations)

    def _first(self, operations: Sequence[Any]) -> int | None:
        """The number of the GPU that the first operation asks for which asks for one."""
        numbers = (self._number(op._device) for op in operations)
        return next((number for number in numbers if number is not None), None)

    def _number(self, device: str) -> int | None:
        """The number of the GPU that a device is, if it is one of the session's."""
        kind, number = parse_device(device)[3:]
        is_one = kind == "GPU" and number is not None and number < len(self.all)
        return number if is_one else None

    def compile(self, traced: Traced, is_first: bool) -> DevicePlan:
        """See Backend."""
        return compile_for(self.device, traced)

    def arenas(self, session: BaseSession) -> list[Any]:
        """See Backend."""
        return self._arenas

    def new_arena(self, evaluate: Evaluate) -> DeviceArena:
        """See Backend."""
        return DeviceArena(max(threads.cores(), _WORKERS), self.device)

    def new_run(
        self,
        plan: DevicePlan,
        binding: Binding,
        arena: DeviceArena,
        feeds: Sequence[np.ndarray],
        rest: GoingOn,
    ) -> Run:
        """See Backend."""
        return DeviceRun(plan, binding, arena, feeds, *rest[:2])


def _may_be_gpu(device: str) -> bool:
    return parse_device(device)[3] in (None, "GPU")
