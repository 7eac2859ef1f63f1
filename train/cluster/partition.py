# SPDX-License-Identifier: Apache-2.0
"""Cuts what a run needs into a GraphDef for each task, with `_Send` and `_Recv` where edges cross.

A tensor crosses once to each task that takes it, a control edge as an empty constant.  What a
client feeds comes as a `_Recv` in each task that needs it, what it fetches goes by a `_Send`: the
worker knows them by `client_terminated`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from typing import TYPE_CHECKING, Any

from ...engine.record_class import record
from ...engine.types import dtypes
from ...io import protos
from ...io.graph_bytes import NodeWriter
from ...io.graph_def import version_def
from .control_loops import ControlLoops, Frames, settled
from .part_program import MAY_BE_DEAD
from .rendezvous import make_key, task_of

if TYPE_CHECKING:
    from ...engine.graph.graph import Graph
    from ...engine.graph.operation import Operation
    from ...engine.graph.tensor import Tensor

_BEGINNING, _ENDING = ("switch", "enter"), ("merge", "exit")


@record
class Part:
    """What one task runs: its graph, and the keys of feeds and fetches by their names."""

    task: str
    graph_def: Any
    feeds: dict[str, str] = field(default_factory=dict)
    fetches: dict[str, str] = field(default_factory=dict)
    # The dtypes of the feeds, in their order.
    kinds: list[dtypes.DType] = field(default_factory=list)
    # Whether an operation of it may have to wait for others.
    may_wait: bool = False
    # The numbers of its collectives.
    collectives: set[int] = field(default_factory=set)


class Partitioner:
    """One run's operations, in order, cut by task."""

    def __init__(
        self,
        graph: Graph,
        devices: Mapping[Operation, str],
        incarnations: Mapping[str, int],
        feeds: Sequence[Tensor],
        numbers: Iterator[int],
    ) -> None:
        """devices: of the operations of the run, in its order; incarnations: by device.

        numbers: the session's, by which nodes differ that are added: TensorFlow's workers keep
        kernels for as long as a session, by the name of the node alone.
        """
        self._numbers = numbers
        self._graph, self._incarnations = graph, incarnations
        self._inside = between(devices)
        self._devices = settled(devices) if self._inside else dict(devices)
        self._frames = Frames(devices if self._inside else {})
        self._loops = ControlLoops(self._frames, self._name, self._put, self._condition)
        self._fed = set(feeds)
        self.parts: dict[str, Part] = {}
        self._writer = NodeWriter(False)
        self._crossed: dict[tuple[Any, str], str] = {}

    def cut(self, fetches: Sequence[Tensor]) -> list[Part]:
        """The parts, by task."""
        for op in self._devices:
            self._add(op)
        for tensor in fetches:
            self._fetch(tensor)
        return list(self.parts.values())

    def _part(self, device: str) -> Part:
        task = task_of(device)
        found = self.parts.get(task)
        if found is None:
            found = self.parts[task] = Part(task, protos.GraphDef())
            found.graph_def.versions.CopyFrom(version_def(self._graph))
            for function in self._graph._functions.values():
                found.graph_def.library.function.add().CopyFrom(function.definition)
        return found

    def _name(self, name: str) -> str:
        """A name that no other node of the session has."""
        while True:
            free = f"{name}_S{next(self._numbers)}"
            if free not in self._graph._nodes_by_name:
                return free

    def _add(self, op: Operation) -> None:
        device = self._devices[op]
        part = self._part(device)
        node = protos.NodeDef.FromString(self._writer.node(op))
        if "_class" in node.attr:
            del node.attr["_class"]
        node.device = device
        part.may_wait |= op.definition.control_flow_role == "wait"
        if "group_key" in op._attrs:
            part.collectives.add(op._attrs["instance_key"])
        inputs = [self._input(op, tensor, device) for tensor in op._inputs_val]
        controls = [
            self._control(op, other, device)
            for other in op._control_inputs_val
            if other in self._devices
        ]
        del node.input[:]
        node.input.extend([*inputs, *dict.fromkeys(controls)])
        part.graph_def.node.append(node)

    def _input(self, op: Operation, tensor: Tensor, device: str) -> str:
        """The name of an input within the part of a device."""
        if tensor in self._fed:
            return self._feed(tensor, device)
        source = self._devices[tensor.op]
        if task_of(source) == task_of(device):
            return _input_name(tensor)
        trigger = self._loops.trigger(self._frames.of_edge(tensor.op, op), device)
        return self._cross_tensor(tensor, device, trigger)

    def _cross_tensor(self, tensor: Tensor, device: str, trigger: str | None) -> str:
        source, is_inside = self._devices[tensor.op], tensor.op in self._inside
        name = _input_name(tensor)
        return self._cross(tensor, name, tensor.dtype, source, device, trigger, is_inside)

    def _condition(self, op: Operation, device: str, trigger: str) -> str:
        """The condition of a loop within the part of a device."""
        if task_of(self._devices[op]) == task_of(device):
            return op.name
        return self._cross_tensor(op.outputs[0], device, trigger)

    def _put(self, device: str, node: Any) -> None:
        self._part(device).graph_def.node.append(node)

    def _control(self, op: Operation, other: Operation, device: str) -> str:
        source = self._devices[other]
        if task_of(source) == task_of(device):
            return f"^{other.name}"
        trigger = self._loops.trigger(self._frames.of_edge(other, op), device)
        key = (other, task_of(device))
        if key not in self._crossed:
            part = self._part(source)
            token = protos.NodeDef(op="Const", device=source, input=[f"^{other.name}"])
            token.name = self._name(f"{other.name}/")
            token.attr["dtype"].type = protos.DT_FLOAT
            token.attr["value"].tensor.dtype = protos.DT_FLOAT
            token.attr["value"].tensor.tensor_shape.dim.add(size=0)
            part.graph_def.node.append(token)
            is_inside = other in self._inside
            taken = self._cross(
                *(token.name, token.name, dtypes.float32, source, device), trigger, is_inside
            )
            self._crossed[key] = self._alive(taken, device) if is_inside else taken
        return "^" + self._crossed[key].partition(":")[0]

    def _alive(self, taken: str, device: str) -> str:
        """What lives only if the taken tensor does: TensorFlow's runtime counts a node as alive,
        for who waits for it, if it runs, though the tensor that it takes be dead."""
        node = protos.NodeDef(op="Identity", device=device, input=[taken])
        node.name = self._name(f"{taken}/")
        node.attr["T"].type = protos.DT_FLOAT
        self._part(device).graph_def.node.append(node)
        return node.name

    def _cross(
        self,
        what: Any,
        name: str,
        dtype: Any,
        source: str,
        device: str,
        trigger: str | None,
        is_inside: bool,
    ) -> str:
        """The name by which another task's tensor is known in the part of a device.

        trigger: what begins the taking, in a loop; is_inside: whether it may be dead.
        """
        key = (what, task_of(device))
        if key not in self._crossed:
            label = f"edge_{next(self._numbers)}_{name}"
            node = name.replace(":", "_") + "/"
            sent = self._transfer("_Send", self._name(node), dtype, label, source, device, False)
            sent.input.append(name)
            self._part(source).graph_def.node.append(sent)
            taken = self._transfer("_Recv", self._name(node), dtype, label, source, device, False)
            if trigger is not None:
                taken.input.append(f"^{trigger}")
            if is_inside:
                taken.attr[MAY_BE_DEAD].b = True
            self._part(device).graph_def.node.append(taken)
            self._crossed[key] = taken.name
        return self._crossed[key]

    def _feed(self, tensor: Tensor, device: str) -> str:
        key = (tensor, task_of(device))
        if key not in self._crossed:
            part = self._part(device)
            node = self._transfer(
                "_Recv", _end("_recv", tensor), tensor.dtype, tensor.name, device, device, True
            )
            part.graph_def.node.append(node)
            part.feeds[tensor.name] = self._key_of(device, device, tensor.name)
            part.kinds.append(tensor.dtype.base_dtype)
            self._crossed[key] = node.name
        return self._crossed[key]

    def _fetch(self, tensor: Tensor) -> None:
        device = self._devices[tensor.op]
        part = self._part(device)
        if tensor.name in part.fetches:
            return
        node = self._transfer(
            "_Send", _end("_send", tensor), tensor.dtype, tensor.name, device, device, True
        )
        node.input.append(_input_name(tensor))
        part.graph_def.node.append(node)
        part.fetches[tensor.name] = self._key_of(device, device, tensor.name)

    def _key_of(self, source: str, device: str, name: str) -> str:
        return make_key(source, self._incarnations[source], device, name)

    def _transfer(
        self, kind: str, name: str, dtype: Any, label: str, source: str, device: str, ends: bool
    ) -> Any:
        """A node that sends or takes a tensor."""
        is_send = kind == "_Send"
        place = source if is_send else device
        node = protos.NodeDef(name=name, op=kind, device=place)
        node.attr["T" if is_send else "tensor_type"].type = dtype.base_dtype.as_datatype_enum
        node.attr["tensor_name"].s = label.encode()
        node.attr["send_device"].s = source.encode()
        node.attr["recv_device"].s = device.encode()
        incarnation = self._incarnations[source]
        # The attribute is signed, incarnations are not.
        node.attr["send_device_incarnation"].i = incarnation - ((incarnation >> 63) << 64)
        node.attr["client_terminated"].b = ends
        return node


def _input_name(tensor: Tensor) -> str:
    return tensor.name.removesuffix(":0")


def _end(kind: str, tensor: Tensor) -> str:
    """The name of a node where a client's tensor comes or goes."""
    return f"{kind}_{tensor.op.name}_{tensor.value_index}"


def between(operations: Mapping[Operation, str]) -> set[Operation]:
    """The operations of conditionals and loops, with those that begin and not those that end."""
    inside: set[Operation] = set()
    for op in operations:
        role = op.definition.control_flow_role
        sources = [t.op for t in op._inputs_val] + list(op._control_inputs_val)
        if role in _BEGINNING or (role not in _ENDING and any(s in inside for s in sources)):
            inside.add(op)
    return inside
