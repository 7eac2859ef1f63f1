# SPDX-License-Identifier: Apache-2.0
"""How values of several devices are put together, which strategies may be told."""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from ...engine.api import export
from ...engine.graph.tensor import IndexedSlices, Tensor
from ...ops.public import tf
from . import strategy_context as modes
from .device_map import SingleDeviceMap, resolved
from .replica_values import DistributedValues, Mirrored, PerReplica, regroup


def devices_from(destinations: Any) -> tuple[str, ...]:
    """The devices that destinations name: a device, or what has some.

    Raises:
        ValueError: they name none.
    """
    if isinstance(destinations, (list, tuple)):
        return tuple(map(resolved, destinations))
    if isinstance(destinations, str) and destinations:
        return (resolved(destinations),)
    found = getattr(destinations, "devices", None)
    if found:
        return tuple(found)
    if hasattr(destinations, "device"):
        return (resolved(destinations.device),)
    raise ValueError(f"destinations must not be empty: {destinations!r}")


def copied(value: Any) -> Any:
    """The same tensor, or IndexedSlices, where operations are put."""
    if isinstance(value, IndexedSlices):
        shape = None if value.dense_shape is None else tf.identity(value.dense_shape)
        return IndexedSlices(tf.identity(value.values), tf.identity(value.indices), shape)
    return tf.identity(value)


def on_each(value: Any, devices: Sequence[str]) -> Any:
    """A value on devices: of several it is Mirrored."""
    copies = []
    for device in devices:
        with tf.device(device):
            copies.append(copied(value))
    return copies[0] if len(copies) == 1 else regroup(devices, copies, Mirrored)


def total_of(values: Sequence[Any], add: Callable[[list[Any]], Any] | None = None) -> Any:
    """The sum of tensors; slices are put behind each other."""
    if any(isinstance(v, IndexedSlices) for v in values):
        slices = [v if isinstance(v, IndexedSlices) else _slices(v) for v in values]
        return IndexedSlices(
            tf.concat([v.values for v in slices], 0),
            tf.concat([tf.cast(v.indices, slices[0].indices.dtype) for v in slices], 0),
            slices[0].dense_shape,
        )
    return (add or tf.add_n)([tf.convert_to_tensor(v) for v in values])


def divided(total: Any, count: int) -> Any:
    """A tensor, or IndexedSlices, divided by a number."""
    if isinstance(total, IndexedSlices):
        return IndexedSlices(total.values / count, total.indices, total.dense_shape)
    return total / count


def _slices(value: Any) -> IndexedSlices:
    tensor = tf.convert_to_tensor(value)
    return IndexedSlices(tensor, tf.range(tf.shape(tensor)[0]), tf.shape(tensor))


def _per_replica(value: Any) -> Any:
    """Values of replicas; a tensor is that of its device.

    Raises:
        ValueError: it is neither.
    """
    if isinstance(value, DistributedValues):
        return value
    if not isinstance(value, (Tensor, IndexedSlices)):
        raise ValueError(
            f"Cannot convert `input_tensor` to a `PerReplica` object because it has no device: "
            f"{value!r}"
        )
    return PerReplica(SingleDeviceMap(value.device), [value])


@export("distribute.CrossDeviceOps", "contrib.distribute.CrossDeviceOps")
class CrossDeviceOps:
    """Puts values of devices together.  Subclasses say how, by the methods `*_implementation`."""

    def reduce(self, reduce_op: Any, per_replica_value: Any, destinations: Any) -> Any:
        """The sum or mean of one value.

        Args:
            reduce_op: a ReduceOp.
            per_replica_value: a value of each replica, or a tensor.
            destinations: a device, or what has devices: where the result is wanted.

        Returns:
            A tensor of one device, or Mirrored values of several.

        Raises:
            ValueError: there are no values, or no destinations.
        """
        value = _per_replica(per_replica_value)
        wanted = devices_from(destinations)
        if len(value.values) == 1 and tuple(value.devices) == wanted:
            return on_each(value.values[0], wanted)
        return self.reduce_implementation(modes.reduce_op_of(reduce_op), value, destinations)

    def batch_reduce(self, reduce_op: Any, value_destination_pairs: Iterable[Any]) -> list[Any]:
        """The sums or means of values, each at its destinations; see `reduce`."""
        pairs = [(_per_replica(value), wanted) for value, wanted in value_destination_pairs]
        if all(len(v.values) == 1 and tuple(v.devices) == devices_from(d) for v, d in pairs):
            return [on_each(value.values[0], devices_from(wanted)) for value, wanted in pairs]
        found: list[Any] = self.batch_reduce_implementation(modes.reduce_op_of(reduce_op), pairs)
        return found

    def broadcast(self, tensor: Any, destinations: Any) -> Any:
        """The tensor on devices: of several it is Mirrored."""
        devices_from(destinations)
        return self.broadcast_implementation(tensor, destinations)

    def reduce_implementation(
        self, reduce_op: Any, per_replica_value: Any, destinations: Any
    ) -> Any:
        """What `reduce` gives where there is something to add up."""
        raise NotImplementedError(f"{type(self).__name__}.reduce_implementation")

    def batch_reduce_implementation(
        self, reduce_op: Any, value_destination_pairs: Sequence[Any]
    ) -> Any:
        """What `batch_reduce` gives where there is something to add up."""
        raise NotImplementedError(f"{type(self).__name__}.batch_reduce_implementation")

    def broadcast_implementation(self, tensor: Any, destinations: Any) -> Any:
        """What `broadcast` gives."""
        return on_each(tensor, devices_from(destinations))


class _OnOneDevice(CrossDeviceOps):
    """Adds up on a device, by default the first destination."""

    reduce_to_device: str | None = None
    accumulation_fn: Callable[[list[Any]], Any] | None = None

    def reduce_implementation(
        self, reduce_op: Any, per_replica_value: Any, destinations: Any
    ) -> Any:
        """The sum or mean, of one device, at its destinations."""
        devices, values = devices_from(destinations), per_replica_value.values
        with tf.device(self.reduce_to_device or devices[0]):
            total = total_of(values, self.accumulation_fn)
            if reduce_op == modes.ReduceOp.MEAN:
                total = divided(total, len(values))
        return on_each(total, devices)

    def batch_reduce_implementation(
        self, reduce_op: Any, value_destination_pairs: Sequence[Any]
    ) -> list[Any]:
        """The sums or means, one after the other."""
        return [self.reduce_implementation(reduce_op, *pair) for pair in value_destination_pairs]


@export("distribute.ReductionToOneDevice")
class ReductionToOneDevice(_OnOneDevice):
    """Adds up on one device, and copies the sum from there.

    Args:
        reduce_to_device: which one; the first destination if None.
        accumulation_fn: how values are added up; `tf.add_n` if None.

    Example:
        >>> ops = tf.distribute.ReductionToOneDevice()
        >>> total = ops.reduce(tf.distribute.ReduceOp.SUM, tf.constant(2.0), "/cpu:0")
        >>> tf.Session().run(total)
        np.float32(2.0)
    """

    def __init__(
        self,
        reduce_to_device: str | None = None,
        accumulation_fn: Callable[[list[Any]], Any] | None = None,
    ) -> None:
        self.reduce_to_device, self.accumulation_fn = reduce_to_device, accumulation_fn


@export("contrib.distribute.AllReduceCrossDeviceOps")
class AllReduceCrossDeviceOps(_OnOneDevice):
    """Adds up where values are wanted; on processors by way of the first destination.

    Args:
        all_reduce_alg: "nccl" or "hierarchical_copy", which are ways among GPUs.
        num_packs: how many values travel together there.
        agg_small_grads_max_bytes, agg_small_grads_max_group: which are put together there.
    """

    def __init__(
        self,
        all_reduce_alg: str = "nccl",
        num_packs: int = 1,
        agg_small_grads_max_bytes: int = 0,
        agg_small_grads_max_group: int = 10,
    ) -> None:
        super().__init__()
        self._all_reduce_alg, self._num_packs = all_reduce_alg, num_packs
        self._small = agg_small_grads_max_bytes, agg_small_grads_max_group


def _checked(num_packs: int, name: str) -> int:
    if num_packs < 0:
        raise ValueError(f"{name} requires num_packs >= 0, but {num_packs} is specified")
    return num_packs


@export("distribute.NcclAllReduce")
class NcclAllReduce(AllReduceCrossDeviceOps):
    """Adds up by NCCL; num_packs says how many values travel together."""

    def __init__(self, num_packs: int = 1) -> None:
        super().__init__("nccl", _checked(num_packs, "NCCL all-reduce"))


@export("distribute.HierarchicalCopyAllReduce")
class HierarchicalCopyAllReduce(AllReduceCrossDeviceOps):
    """Adds up by copies; num_packs says how many values travel together."""

    def __init__(self, num_packs: int = 1) -> None:
        super().__init__("hierarchical_copy", _checked(num_packs, "HierarchicalCopy"))


@export("distribute.experimental.CollectiveCommunication")
class CollectiveCommunication(enum.Enum):
    """How machines talk."""

    AUTO = "AUTO"
    RING = "RING"
    NCCL = "NCCL"


def choose_the_best(devices: Sequence[str], session_config: object = None) -> CrossDeviceOps:
    """What adds up best on devices: of processors, on one of them."""
    del devices, session_config
    return ReductionToOneDevice()
