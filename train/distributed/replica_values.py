# SPDX-License-Identifier: Apache-2.0
"""Values that each replica of a process has one of: how they are put together and taken apart."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from ...engine.graph.convert import convert_to_tensor, register_tensor_conversion_function
from ...engine.types import nest
from ...ops.public import tf

if TYPE_CHECKING:
    from ...engine.graph.tensor import Tensor

Wrap = Callable[[Sequence[str], Sequence[Any]], Any]


def resolved(device: str) -> str:
    """A device of this machine by its whole name, as strategies tell of it."""
    full = tf.DeviceSpec.from_string("/replica:0/task:0/device:CPU:0")
    return str(full.make_merged_spec(tf.DeviceSpec.from_string(device)).to_string())


def _current_device() -> str:
    """The device that new operations would be put on."""

    class Asker:
        device = ""

        def _set_device_from_string(self, device: str) -> None:
            self.device = device

    asker = Asker()
    tf.get_default_graph()._apply_device_functions(asker)
    return asker.device


def replica_on(devices: Sequence[str], device: str | None) -> int:
    """Which replica is on a device (the one that operations are put on if None); else the first."""
    found = _current_device() if device is None else device
    full = resolved(found) if found else ""
    return devices.index(full) if full in devices else 0


class DistributedValues:
    """One value for each replica.

    Args:
        devices: where the replicas are.
        values: their values.
    """

    def __init__(self, devices: Sequence[str], values: Sequence[Any]) -> None:
        self._devices, self._values = tuple(devices), tuple(values)

    @property
    def devices(self) -> tuple[str, ...]:
        """Where the replicas are."""
        return self._devices

    @property
    def values(self) -> tuple[Any, ...]:
        """The values, by replica."""
        return self._values

    @property
    def primary(self) -> Any:
        """The first replica's value."""
        return self._values[0]

    def get(self, device: str | None = None) -> Any:
        """The value of this replica, or of the one that is on a device."""
        from .strategy_context import get_replica_context

        context = get_replica_context()
        if device is None and context is not None:
            return self._values[context.index]
        return self._values[replica_on(self._devices, device)]

    def __repr__(self) -> str:
        lines = (f"  {i} {d}: {v!r}" for i, (d, v) in enumerate(zip(self._devices, self._values)))
        return f"{type(self).__name__}:{{\n" + ",\n".join(lines) + "\n}"


class PerReplica(DistributedValues):
    """Values of replicas that are not the same."""


_Kind = TypeVar("_Kind", bound="DistributedValues")


def _to_tensor(
    value: Mirrored, dtype: Any = None, name: Any = None, as_ref: bool = False
) -> Tensor:
    return convert_to_tensor(value.get(), dtype=dtype, name=name)


def _operator(name: str) -> Callable[..., Any]:
    def method(self: DistributedValues, *operands: Any) -> Any:
        return getattr(self.get(), name)(*operands)

    method.__name__ = name
    return method


def with_operators(kind: type[_Kind]) -> type[_Kind]:
    """A class with the operators of tensors, which take its value."""
    for name in "add sub mul truediv floordiv mod pow matmul and or xor".split():
        for side in ("", "r"):
            setattr(kind, f"__{side}{name}__", _operator(f"__{side}{name}__"))
    for name in "lt le gt ge neg abs invert getitem".split():
        setattr(kind, f"__{name}__", _operator(f"__{name}__"))
    return kind


def _convertible(kind: type[Mirrored]) -> type[Mirrored]:
    register_tensor_conversion_function(kind, _to_tensor)
    return kind


@_convertible
@with_operators
class Mirrored(DistributedValues):
    """Values of replicas that are the same, and stand for one tensor."""

    def _as_graph_element(self) -> Any:
        found = self.get()
        convert = getattr(found, "_as_graph_element", None)
        return found if convert is None else convert()

    @property
    def op(self) -> Any:
        """What computes this replica's value."""
        return self.get().op

    @property
    def device(self) -> str:
        """Where this replica's value is."""
        return str(self.get().device)

    @property
    def dtype(self) -> Any:
        """The type of the values."""
        return self.primary.dtype

    @property
    def shape(self) -> Any:
        """The shape of the values."""
        return self.primary.shape

    @property
    def name(self) -> str:
        """The name of this replica's value."""
        return str(self.get().name)


def container_of(value: Any) -> Any:
    """The variable of all replicas that a variable of one belongs to; None if there is none."""
    reference = getattr(value, "_distributed_container", None)
    return None if reference is None else reference()


def regroup(devices: Sequence[str], values: Sequence[Any], wrap: Wrap = PerReplica) -> Any:
    """Structures of replicas as one structure, whose leaves hold the values of all of them.

    Args:
        devices: where the replicas are.
        values: a structure for each of them.
        wrap: makes a leaf; what is the same object everywhere stays as it is.

    Raises:
        ValueError: the structures differ.
    """
    first = values[0]
    if isinstance(first, (list, tuple)):
        if any(type(v) is not type(first) or len(v) != len(first) for v in values):
            raise ValueError(f"Replicas gave structures that differ: {list(values)}")
        parts = [regroup(devices, part, wrap) for part in zip(*values)]
        make: Any = getattr(type(first), "_make", type(first))
        return make(parts)
    if isinstance(first, dict):
        if any(not isinstance(v, dict) or set(v) != set(first) for v in values):
            raise ValueError(f"Replicas gave structures that differ: {list(values)}")
        return {key: regroup(devices, [v[key] for v in values], wrap) for key in first}
    container = container_of(first)
    if container is not None and all(container_of(v) is container for v in values):
        return container
    if all(v is first for v in values):
        return first
    return wrap(devices, values)


def for_replica(index: int, structure: Any) -> Any:
    """A structure as one replica has it."""
    return _each(structure, lambda value: value.values[index])


def for_device(device: str, structure: Any) -> Any:
    """A structure as an update on a device has it: what is the same for all replicas.

    Raises:
        TypeError: there are values that differ.
    """

    def found(value: Any) -> Any:
        if isinstance(value, PerReplica):
            raise TypeError(
                f"Expected value to be mirrored across replicas: {value} in {structure}."
            )
        return value.get(device)

    return _each(structure, found)


def _each(structure: Any, function: Callable[[Any], Any]) -> Any:
    def one(value: Any) -> Any:
        return function(value) if isinstance(value, DistributedValues) else value

    return nest.map_structure(one, structure)
