# SPDX-License-Identifier: Apache-2.0
"""What a run did and when, as TensorFlow's StepStats and partition graphs.

The session hands over one `Event` per node (or per compiled kernel) and gets the messages that
`tf.RunMetadata` holds; nothing here is imported unless a run asks for a trace.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from ..engine.graph.devices import DeviceSpecV2
from ..engine.types import dtypes
from . import protos
from .graph_def import node_def
from .tensor_proto import shape_proto
from .versions import GRAPH_DEF_VERSION

CPU = "/job:localhost/replica:0/task:0/device:CPU:0"


class Event(NamedTuple):
    """One executed node: when (nanoseconds since the epoch), where, and what it produced.

    `device` is the node's request, which may be partial or empty.
    """

    name: str
    op_type: str
    inputs: tuple[str, ...]
    start: int
    end: int
    outputs: tuple[tuple[dtypes.DType, tuple[int, ...]], ...] = ()
    device: str = ""
    thread: int = 0
    scheduled: int = 0  # 0: when it started


def step_stats(events: Iterable[Event]) -> Any:
    """The StepStats message of one run, with the nodes of a device in order of their start."""
    message = protos.StepStats()
    devices: dict[str, Any] = {}
    for event in sorted(events, key=lambda event: event.start):
        device = full_device(event.device)
        if device not in devices:
            devices[device] = message.dev_stats.add(device=device)
        _describe(devices[device].node_stats.add(), event)
    return message


def full_device(request: str) -> str:
    """The name of the CPU device that runs a node with this request."""
    asked = DeviceSpecV2.from_string(request)
    # There are no other devices here: a request for a GPU is run by the first CPU.
    index = asked.device_index if asked.device_type == "CPU" else 0
    return f"{CPU[:-1]}{index or 0}"


def _describe(stats: Any, event: Event) -> None:
    length = event.end - event.start
    scheduled = event.scheduled or event.start
    stats.node_name = event.name
    stats.timeline_label = f"{event.name} = {event.op_type}({', '.join(event.inputs)})"
    stats.thread_id = event.thread
    for unit, nanoseconds in (("micros", 1000), ("nanos", 1)):
        setattr(stats, f"all_start_{unit}", event.start // nanoseconds)
        setattr(stats, f"op_end_rel_{unit}", length // nanoseconds)
        setattr(stats, f"all_end_rel_{unit}", length // nanoseconds)
        setattr(stats, f"scheduled_{unit}", scheduled // nanoseconds)
    stats.memory_stats.SetInParent()
    for slot, (dtype, sizes) in enumerate(event.outputs):
        description = stats.output.add(slot=slot).tensor_description
        description.dtype = dtype.base_dtype.as_datatype_enum
        description.shape.CopyFrom(shape_proto(sizes))
        memory = description.allocation_description
        memory.requested_bytes = math.prod(sizes) * dtype.size
        memory.allocator_name = "cpu"


def partition_graph(operations: Sequence[Any], feeds: Sequence[Any] = ()) -> Any:
    """The GraphDef of what a run executed: fed tensors become `_Arg` nodes.

    `feeds` are the fed tensors; inputs that read them read the `_Arg` nodes instead.
    """
    message = protos.GraphDef()
    message.versions.producer = GRAPH_DEF_VERSION
    arguments = {}
    for index, tensor in enumerate(feeds):
        name = f"_arg_{tensor.op.name}_{tensor.value_index}_{index}"
        node = message.node.add(name=name, op="_Arg", device=CPU)
        node.attr["T"].type = tensor.dtype.base_dtype.as_datatype_enum
        node.attr["index"].i = index
        arguments[_short(tensor)] = name
    for operation in operations:
        node = message.node.add()
        node.CopyFrom(node_def(operation))
        node.device = full_device(node.device)
        node.input[:] = [arguments.get(name, name) for name in node.input]
    return message


def _short(tensor: Any) -> str:
    return tensor.name.removesuffix(":0")
