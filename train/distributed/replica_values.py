# SPDX-License-Identifier: Apache-2.0
"""Values that each replica of a process has one of: how they are put together and taken apart."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from ...engine.graph.convert import convert_to_tensor, register_tensor_conversion_function
from ...engine.interface.specs import (
    TypeSpec,
    register_type_spec_from_value_converter,
    type_spec_from_value,
)
from ...engine.types import nest
from ...ops.public import tf
from .device_map import DeviceMap, current_device, map_of, resolved

if TYPE_CHECKING:
    from ...engine.graph.tensor import Tensor

Wrap = Callable[[Any, Sequence[Any]], Any]


class DistributedValues:
    """One value for each replica.

    Args:
        devices: where the replicas are: a DeviceMap, or the device of each.
        values: their values.
        logical_device: which of a replica's devices the values are on.
    """

    def __init__(
        self,
        devices: DeviceMap | Sequence[str],
        values: Sequence[Any],
        logical_device: int | None = None,
    ) -> None:
        self._device_map, self._values = map_of(devices), tuple(values)
        if logical_device is None:
            logical_device = self._device_map.logical_device_from_values(self._values)
        self._logical_device = logical_device

    @property
    def device_map(self) -> DeviceMap:
        """Where the replicas are."""
        return self._device_map

    @property
    def logical_device(self) -> int:
        """Which of a replica's devices the values are on."""
        return self._logical_device

    @property
    def devices(self) -> tuple[str, ...]:
        """Where the replicas are."""
        return self._device_map.logical_to_actual_devices(self._logical_device)

    @property
    def values(self) -> tuple[Any, ...]:
        """The values, by replica."""
        return self._values

    @property
    def primary(self) -> Any:
        """The first replica's value."""
        return self._values[0]

    @property
    def is_tensor_like(self) -> bool:
        """Whether all values are tensors."""
        return all(tf.is_tensor(value) for value in self._values)

    def get(self, device: str | None = None) -> Any:
        """The value of this replica, or of the one that is on a device.

        Raises:
            ValueError: no replica is on the device.
        """
        from .strategy_context import get_replica_context

        if device is not None:
            return self._device_map.select_for_device(self._values, resolved(device))
        context = get_replica_context()
        if context is not None:
            return self._device_map.select_for_current_replica(self._values, context)
        return self._of_current_device()

    def _of_current_device(self) -> Any:
        """The value on the device that operations are put on, or the first one."""
        device = current_device()
        whole = resolved(device) if device else ""
        return self._values[self.devices.index(whole) if whole in self.devices else 0]

    def __repr__(self) -> str:
        lines = (f"  {i} {d}: {v!r}" for i, (d, v) in enumerate(zip(self.devices, self._values)))
        return f"{type(self).__name__}:{{\n" + ",\n".join(lines) + "\n}"


def _composite(kind: type[PerReplica]) -> type[PerReplica]:
    """A class whose values are structures of their replicas' tensors."""

    def like(value: PerReplica, components: Any) -> PerReplica:
        return kind(value.device_map, components, value.logical_device)

    def spec(value: PerReplica) -> PerReplicaSpec:
        return value._type_spec

    nest.COMPOSITES[kind] = nest.Composite(lambda value: value.values, like, spec)
    register_type_spec_from_value_converter(kind, spec)
    return kind


@_composite
class PerReplica(DistributedValues):
    """Values of replicas that are not the same."""

    @property
    def _type_spec(self) -> PerReplicaSpec:
        specs = tuple(map(type_spec_from_value, self._values))
        return PerReplicaSpec(*specs, device_map=self._device_map, number=self._logical_device)

    def _to_components(self) -> tuple[Any, ...]:
        return self._values

    def _component_metadata(self) -> PerReplicaSpec:
        return self._type_spec

    @property
    def _is_graph_tensor(self) -> bool:
        """Whether any of the values is a tensor of a graph."""
        return any(hasattr(value, "graph") for value in self._values)


class PerReplicaSpec(TypeSpec):
    """The type of values of replicas.

    Args:
        *value_specs: the types of the replicas' values.
        device_map: where the replicas are.
        number: which of a replica's devices the values are on.
    """

    def __init__(self, *value_specs: Any, device_map: DeviceMap, number: int) -> None:
        self._value_specs, self._device_map = value_specs, device_map
        self._logical_device = number

    @property
    def value_type(self) -> type:
        """PerReplica."""
        return PerReplica

    @property
    def _component_specs(self) -> tuple[Any, ...]:
        return self._value_specs

    def _serialize(self) -> tuple[Any, ...]:
        return (self._value_specs, self._device_map, self._logical_device)

    @classmethod
    def _deserialize(cls, serialization: Sequence[Any]) -> PerReplicaSpec:
        specs, devices, number = serialization
        return cls(*specs, device_map=devices, number=number)

    def _to_components(self, value: Any) -> Any:
        number = self._device_map.num_replicas_in_graph
        if len(value.values) != number:
            raise ValueError(f"{value!r} has values of other replicas than {number}")
        return value.values

    def _from_components(self, components: Any) -> PerReplica:
        return PerReplica(self._device_map, components, self._logical_device)


_Kind = TypeVar("_Kind", bound="DistributedValues")


def _to_tensor(
    value: Mirrored, dtype: Any = None, name: Any = None, as_ref: bool = False
) -> Tensor:
    return convert_to_tensor(value.get(), dtype=dtype, name=name)


def _own(value: Any) -> Any:
    return value.get() if isinstance(value, DistributedDelegate) else value


def _unary(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda self, *operands: function(self.get(), *map(_own, operands))


def _swapped(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda self, other: function(_own(other), self.get())


def with_operators(kind: type[_Kind]) -> type[_Kind]:
    """A class with the operators of tensors, which take its value."""
    for name in "add sub mul truediv floordiv mod matmul and or xor".split():
        function = getattr(operator, f"__{name}__")
        setattr(kind, f"__{name}__", _unary(function))
        setattr(kind, f"__r{name}__", _swapped(function))
    # (The function takes a modulus, which the operator does not.)
    setattr(kind, "__pow__", _unary(pow))  # noqa: B010
    setattr(kind, "__rpow__", _swapped(pow))  # noqa: B010
    for name in "lt le gt ge neg abs invert getitem".split():
        setattr(kind, f"__{name}__", _unary(getattr(operator, f"__{name}__")))
    return kind


@with_operators
class DistributedDelegate(DistributedValues):
    """Values of replicas, of which this replica's answers whatever is asked."""

    def __getattr__(self, name: str) -> Any:
        # (What is looked for while this is made is not there yet.)
        if name.startswith(("_values", "_device_map", "_logical_device")):
            raise AttributeError(name)
        return getattr(self.get(), name)


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


def regroup(
    devices: DeviceMap | Sequence[str], values: Sequence[Any], wrap_class: Wrap = PerReplica
) -> Any:
    """Structures of replicas as one structure, whose leaves hold the values of all of them.

    Args:
        devices: where the replicas are.
        values: a structure for each of them.
        wrap_class: makes a leaf; what is the same object everywhere stays as it is.

    Raises:
        ValueError: the structures differ.
    """
    first = values[0]
    if isinstance(first, (list, tuple)):
        if any(type(v) is not type(first) or len(v) != len(first) for v in values):
            raise ValueError(f"Replicas gave structures that differ: {list(values)}")
        parts = [regroup(devices, part, wrap_class) for part in zip(*values)]
        make: Any = getattr(type(first), "_make", type(first))
        return make(parts)
    if isinstance(first, dict):
        if any(not isinstance(v, dict) or set(v) != set(first) for v in values):
            raise ValueError(f"Replicas gave structures that differ: {list(values)}")
        return {key: regroup(devices, [v[key] for v in values], wrap_class) for key in first}
    container = container_of(first)
    if container is not None and all(container_of(v) is container for v in values):
        return container
    if all(v is first for v in values):
        return first
    return wrap_class(devices, values)


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
