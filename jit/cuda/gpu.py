# SPDX-License-Identifier: Apache-2.0
"""GPUs as places where the plans of a session run, and which operations run there.

Imports the rest of this folder.
"""

from __future__ import annotations

from collections.abc import Sequence
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
    """The first GPU of a session: a place where its plans run."""

    is_plain = True

    def __init__(self, device: Device) -> None:
        self.device = device
        self._arenas: list[DeviceArena] = []
        device.ask_when_full(self)

    def let_go(self) -> None:
        """Frees the memory of runs, none of which is under way in it."""
        self._arenas.clear()

    @cached_property
    def offered(self) -> frozenset[str]:
        """See Backend."""
        return frozenset(self.device.libraries)

    def takes(self, segment: Segment) -> bool:
        """Whether a segment runs here: as in TensorFlow, unless its operations are told not to."""
        asked = {op._device for op in segment.operations[segment.start :]}
        return not asked or any(_may_be_gpu(device) for device in asked)

    def compile(self, traced: Traced) -> DevicePlan:
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
