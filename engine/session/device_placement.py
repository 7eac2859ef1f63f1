# SPDX-License-Identifier: Apache-2.0
"""Which devices a session has, GPUs too; operations that ask for another one are refused.

With `allow_soft_placement` only the task must be there.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

from .. import errors, settings
from ..errors import InvalidArgumentError
from ..graph.devices import parse_device
from ..graph.graph import Graph

if TYPE_CHECKING:
    from ...jit.cuda.device import Device
    from ..graph.operation import Operation

# The device that TensorFlow 1.15 has beside the processors.
_COMPILER = "XLA_CPU"
# What the drivers of NVIDIA's cards put there: on Linux, and in Windows' Linux.
_SIGNS = ("/dev/nvidiactl", "/dev/dxg")


@cache
def _has_driver() -> bool:
    """Whether the system shows a driver of GPUs; looked at once, as sessions are made often."""
    return any(map(os.path.exists, _SIGNS))


def gpus() -> Sequence[Device]:
    """The GPUs of this process by number.

    None are looked for where the system shows no driver; nothing of the compiler is loaded then.
    """
    kind = settings.get("gpu")
    if kind == "none" or (kind == "auto" and not _has_driver()):
        return ()
    from ...jit.cuda import discovery

    return discovery.devices()


def visible_gpus(config: Any) -> list[int]:
    """The numbers of the GPUs that a session may use: all, or those of its ConfigProto."""
    numbers = list(range(len(gpus())))
    if config is None or not numbers:
        return numbers
    listed = config.gpu_options.visible_device_list
    if listed:
        numbers = [int(text) for text in listed.split(",") if int(text) in numbers]
    return numbers[: config.device_count["GPU"]] if "GPU" in config.device_count else numbers


def gpu_backend(numbers: Sequence[int], config: Any = None) -> Any:
    """What runs plans on the GPUs of a session, given their numbers: the first; None if none.

    Of a GPU's memory this process takes the share that the ConfigProto says.
    """
    if not numbers:
        return None
    from ...jit.cuda.gpu import Gpu

    share = config.gpu_options.per_process_gpu_memory_fraction if config is not None else 0.0
    if share > 0:
        for number in numbers:
            device = gpus()[number]
            device.most_bytes = int(min(share, 1.0) * device.total_bytes)
    places = [Gpu(gpus()[number]) for number in numbers]
    for place in places:
        place.all = places
    return places[0]


def kind_and_memory(device: str) -> tuple[str, int]:
    """The type of a device, and the bytes that it may take (of processors TensorFlow's number)."""
    kind, number = parse_device(device)[3:]
    if kind == "GPU":
        return kind, gpus()[number or 0].limit_bytes
    return "CPU", 256 << 20


class Elsewhere:
    """The placement of a session on a server elsewhere, which looks at devices itself."""

    devices: Sequence[str] = ()
    gpus: Sequence[int] = ()

    def __init__(self, graph: Graph, task: str, config: Any) -> None:
        del graph, task, config

    def check(self) -> None:
        """Looks at nothing."""


class Placement:
    """What a session has looked at of its graph, which grows."""

    def __init__(self, graph: Graph, task: str, config: Any) -> None:
        self._graph = graph
        self._name, self._task = task, parse_device(task)
        self._is_soft = config is not None and config.allow_soft_placement
        count = config.device_count.get("CPU", 1) if config is not None else 1
        if not count:
            raise errors.not_found("No CPU devices are available in this process")
        self.gpus: Sequence[int] = visible_gpus(config)
        self._counts = {"CPU": count, "GPU": len(self.gpus)}
        self.devices: Sequence[str] = [
            f"{task}/device:{kind}:{i}" for kind, most in self._counts.items() for i in range(most)
        ]
        self._known: set[str] = {""}
        self._last = 0
        self._is_told = config is not None and config.log_device_placement
        if self._is_told:
            from . import placement_log

            placement_log.tell_devices(task, [gpus()[number] for number in self.gpus])
        self._mutation = graph.mutation

    def check(self) -> None:
        """Raises InvalidArgumentError if an operation of the graph is on a device there is not."""
        graph = self._graph
        # Operations have been changed: those looked at may ask for another device now.
        if self._mutation != graph.mutation:
            self._mutation, self._last = graph.mutation, 0
        nodes, known, end = graph._nodes_by_id, self._known, graph._last_id
        refused = []
        for i in range(self._last + 1, end + 1):
            op = nodes.get(i)
            if op is None or op._device in known:
                continue
            if self._exists(op._device):
                known.add(op._device)
            else:
                refused.append(op)
        if refused:
            # TensorFlow places what only begins a chain after all others.
            raise self._refusal(next((op for op in refused if not _begins(op)), refused[0]))
        if self._is_told and self._last != end:
            from . import placement_log

            every = (op for i in range(1, end + 1) if (op := nodes.get(i)) is not None)
            placement_log.tell_operations(self._name, every, self._counts, _begins)
        self._last = end

    def _exists(self, device: str) -> bool:
        """Whether an operation may ask for a device."""
        wanted = parse_device(device)
        is_here = all(part in (None, own) for part, own in zip(wanted[:3], self._task[:3]))
        kind, index = wanted[3:]
        # Soft placement moves between devices of one task, never to another task.
        if not is_here or self._is_soft:
            return is_here
        if kind == _COMPILER:
            return index in (None, 0)
        return kind is None or (index or 0) < self._counts.get(kind.upper(), 0)

    def _refusal(self, op: Operation) -> InvalidArgumentError:
        advice = ""
        if parse_device(op._device)[3] == "GPU" and not self._counts["GPU"]:
            advice = " The requested device appears to be a GPU, but CUDA is not enabled."
        return errors.invalid(
            f"Cannot assign a device for operation {op.name}: {{{{node {op.name}}}}} was "
            f"explicitly assigned to {op._device} but available devices are "
            f"[ {', '.join(self.devices)} ]. Make sure the device specification refers to a "
            f"valid device.{advice}\n\t [[{op.name}]]"
        )


def _begins(op: Operation) -> bool:
    """Whether an operation only makes a value, from nothing."""
    outputs = op.outputs
    return not op._inputs_val and len(outputs) == 1 and not outputs[0].dtype._is_ref_dtype
