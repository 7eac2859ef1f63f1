# SPDX-License-Identifier: Apache-2.0
"""Device names: `DeviceSpec`, how specs merge, and the stack that `tf.device` pushes on.

Devices are recorded for what programs read back and for GraphDefs; a session refuses those that it
does not have (engine/session/device_placement.py).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from ..api import export

if TYPE_CHECKING:
    from .operation import Operation

Parts = tuple[str | None, int | None, int | None, str | None, int | None]


def _parse(spec: str | None) -> Parts:
    """The five parts of a device name; ValueError for what is not one."""
    job = replica = task = kind = index = None
    for field in (spec or "").split("/"):
        words = field.split(":")
        head, count = words[0], len(words)
        if count == 2 and head == "job":
            job = words[1]
        elif count == 2 and head == "replica":
            replica = int(words[1])
        elif count == 2 and head == "task":
            task = int(words[1])
        elif count <= 2 and head.upper() in ("GPU", "CPU"):
            kind, index = _device_part(spec, kind, head.upper(), words[1:])
        elif count == 3 and head == "device":
            kind, index = _device_part(spec, kind, words[1], words[2:])
        elif head:
            raise ValueError(f"Unknown attribute: '{head}' in '{spec}'")
    return job, replica, task, kind, index


def _device_part(
    spec: str | None, seen: str | None, kind: str, rest: list[str]
) -> tuple[str, int | None]:
    if seen is not None:
        raise ValueError(f"Cannot specify multiple device types: {spec}")
    kind = kind.upper() if kind in ("cpu", "gpu") else kind
    return kind, int(rest[0]) if rest and rest[0] != "*" else None


def _join(parts: Parts) -> str:
    job, replica, task, kind, index = parts
    text = "" if job is None else f"/job:{job}"
    text += "" if replica is None else f"/replica:{replica}"
    text += "" if task is None else f"/task:{task}"
    if kind is not None:
        text += f"/device:{kind}:{'*' if index is None else index}"
    return text


_PARSED: dict[str, Parts] = {}


def parse_device(spec: str | None) -> Parts:
    """`_parse`, remembered."""
    key = spec or ""
    if key not in _PARSED:
        _PARSED[key] = _parse(key)
    return _PARSED[key]


class DeviceSpecV2:
    """A device name that may leave parts open; does not change."""

    __slots__ = ("_job", "_replica", "_task", "_device_type", "_device_index")

    def __init__(
        self,
        job: str | None = None,
        replica: object = None,
        task: int | None = None,
        device_type: str | None = None,
        device_index: int | None = None,
    ) -> None:
        self._set((job, replica, task, device_type, device_index))

    def _set(self, parts: Sequence[Any]) -> None:
        job, replica, task, kind, index = parts
        self._job: str | None = None if job is None else str(job)
        self._replica: int | None = None if replica is None else int(replica)
        self._task: int | None = None if task is None else int(task)
        kind = kind.upper() if kind in ("cpu", "gpu") else kind
        self._device_type: str | None = None if kind is None else str(kind)
        self._device_index: int | None = None if index is None else int(index)

    @property
    def job(self) -> str | None:
        """The job's name."""
        return self._job

    @property
    def replica(self) -> int | None:
        """The index of the replica."""
        return self._replica

    @property
    def task(self) -> int | None:
        """The index of the task."""
        return self._task

    @property
    def device_type(self) -> str | None:
        """ "CPU", "GPU" or another kind."""
        return self._device_type

    @property
    def device_index(self) -> int | None:
        """The index among devices of the kind."""
        return self._device_index

    def _parts(self) -> Parts:
        return self._job, self._replica, self._task, self._device_type, self._device_index

    def to_string(self) -> str:
        """The name, such as "/job:ps/task:0/device:CPU:0"."""
        return _join(self._parts())

    @classmethod
    def from_string(cls, spec: str | None) -> Any:
        """The spec that a name states."""
        return cls(*parse_device(spec))

    def parse_from_string(self, spec: str | None) -> DeviceSpecV2:
        """The spec that a name states."""
        return type(self)(*parse_device(spec))

    def _combined(self, dev: DeviceSpecV2) -> Parts:
        pairs = zip(dev._parts(), self._parts())
        return tuple(old if new is None else new for new, old in pairs)  # type: ignore[return-value]

    def make_merged_spec(self, dev: DeviceSpecV2) -> DeviceSpecV2:
        """A new spec: the parts of `dev` where stated, else this one's."""
        return type(self)(*self._combined(dev))

    def replace(self, **kwargs: Any) -> DeviceSpecV2:
        """A new spec with some parts changed."""
        return type(self)(**{**dict(zip(_PARTS, self._parts())), **kwargs})

    def __eq__(self, other: object) -> bool:
        return isinstance(other, type(self)) and self.to_string() == other.to_string()

    def __hash__(self) -> int:
        return hash(self.to_string())


_PARTS = ("job", "replica", "task", "device_type", "device_index")


@export("DeviceSpec")
class DeviceSpec(DeviceSpecV2):
    """A device name that may leave parts open; the parts can be set."""

    __slots__ = ()

    def parse_from_string(self, spec: str | None) -> DeviceSpec:
        """Replaces all parts by those of a name; returns this object."""
        self._set(parse_device(spec))
        return self

    def merge_from(self, dev: DeviceSpecV2) -> None:
        """Takes over the parts that `dev` states."""
        self._set(self._combined(dev))


DeviceSpecV1 = DeviceSpec


def _settable(name: str) -> property:
    def setter(self: DeviceSpec, value: str) -> None:
        self._set([value if part == name else getattr(self, part) for part in _PARTS])

    return getattr(DeviceSpecV2, name).setter(setter)


for _name in _PARTS:
    setattr(DeviceSpec, _name, _settable(_name))


def canonical_name(device: str) -> str:
    """The full form of a device name or spec; "" for None."""
    if device is None:
        return ""
    spec = device if isinstance(device, DeviceSpecV2) else DeviceSpec.from_string(device)
    return spec.to_string()


def check_valid(spec: str) -> None:
    """Raises ValueError unless `spec` is a device name."""
    DeviceSpec.from_string(spec)


class MergeDevice:
    """A device function that fills what an op leaves open with its own spec."""

    __slots__ = ("_parts",)

    def __init__(self, spec: str) -> None:
        self._parts: Parts = spec._parts() if isinstance(spec, DeviceSpecV2) else parse_device(spec)

    @property
    def is_null_merge(self) -> bool:
        """Whether the spec states nothing."""
        return not any(part is not None for part in self._parts)

    def merged(self, device: str) -> str:
        """The name that results for an op that has `device` so far."""
        pairs = zip(parse_device(device), self._parts)
        return _join(tuple(own if op is None else op for op, own in pairs))  # type: ignore[arg-type]

    def __call__(self, node_def: Any) -> DeviceSpec:
        return DeviceSpec.from_string(self.merged(node_def.device))

    def shortcut_string_merge(self, node_def: Any) -> str:
        """`merged` for an op or NodeDef."""
        return self.merged(node_def.device or "")


def merge_device(spec: Any) -> MergeDevice:
    """A device function that merges `spec` into what inner scopes have set."""
    return spec if isinstance(spec, MergeDevice) else MergeDevice(spec)


class DeviceEntry:
    """One entry of the device stack: a name, a spec, a function, or None: "forget outer ones"."""

    __slots__ = ("function", "display_name", "is_null_merge", "frame")

    def __init__(self, device_name_or_function: Any, frame: tuple[str, int, str]) -> None:
        value = device_name_or_function
        self.display_name = str(value)
        self.frame = frame
        self.is_null_merge = False
        self.function: Callable[[Any], Any] | None = value
        if isinstance(value, MergeDevice):
            self.is_null_merge = value.is_null_merge
        elif callable(value):
            self.display_name = _describe(value)
        elif value is not None:
            self.function = merge = merge_device(value)
            self.is_null_merge = merge.is_null_merge

    def string_merge(self, op: Operation) -> str:
        """The device name for an op after this entry."""
        if isinstance(self.function, MergeDevice):
            return self.function.merged(op.device)
        assert self.function is not None
        return device_string(self.function(op))


def _describe(function: Callable[..., Any]) -> str:
    name = getattr(function, "__qualname__", None) or getattr(function, "__name__", "function")
    code = getattr(function, "__code__", None)
    if code is None:
        return f"{name}<unknown, -1>"
    return f"{code.co_name}<{code.co_filename}, {code.co_firstlineno}>"


def device_string(device: str) -> str:
    """A device name from a spec, a name or None."""
    if isinstance(device, DeviceSpecV2):
        return device.to_string()
    if device is None:
        return ""
    return device.decode() if isinstance(device, bytes) else str(device)


class _DeviceAttributes:
    """One entry of `Session.list_devices`."""

    __slots__ = ("name", "device_type", "memory_limit_bytes", "incarnation")

    def __init__(self, name: str, device_type: str, memory: int, incarnation: int) -> None:
        self.name = canonical_name(name)
        self.device_type = device_type
        self.memory_limit_bytes = memory
        self.incarnation = incarnation

    def __repr__(self) -> str:
        return (
            f"_DeviceAttributes({self.name}, {self.device_type}, {self.memory_limit_bytes}, "
            f"{self.incarnation})"
        )
