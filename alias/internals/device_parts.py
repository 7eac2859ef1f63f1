# SPDX-License-Identifier: Apache-2.0
"""What code of strategies asks about devices, defaults and gradients of several devices.

`tensorflow.python.distribute.device_util`, `cross_device_utils` and
`distribution_strategy_context`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ...engine.gradients.autodiff_sums import _flat, add_sparse
from ...engine.graph.devices import DeviceSpec
from ...engine.graph.tensor import IndexedSlices
from ...ops.public import tf
from ...train.distributed import (
    device_map,
    replica_threads,
    replica_values,
    strategy_context,
)
from .eager import context

current = device_map.current_device
# `tensorflow.python.distribute.shared_variable_creator`: variables that replicas share.
_canonicalize_variable_name, make_fn = replica_threads.plain_name, replica_threads.sharing


def canonicalize(d: str, default: str | None = None) -> str:
    """A device by its whole name; what it does not say is taken from another one.

    Example:
        >>> canonicalize("/cpu:1", "/job:worker")
        '/job:worker/replica:0/task:0/device:CPU:1'
    """
    whole = DeviceSpec.from_string("/replica:0/task:0/device:CPU:0")
    if default:
        whole = whole.make_merged_spec(DeviceSpec.from_string(default))
    return str(whole.make_merged_spec(DeviceSpec.from_string(d)).to_string())


def resolve(d: str) -> str:
    """A device by its whole name, seen from where operations are put."""
    return canonicalize(d, current())


def get_host_for_device(device: str) -> str:
    """The processor of the task that a device belongs to."""
    spec = DeviceSpec.from_string(device)
    return str(spec.replace(device_type="CPU", device_index=0).to_string())


def local_devices_from_num_gpus(num_gpus: int) -> tuple[str, ...]:
    """So many GPUs, or the processor."""
    return tuple(f"/device:GPU:{i}" for i in range(num_gpus)) or ("/device:CPU:0",)


def all_local_devices(num_gpus: int | None = None) -> tuple[str, ...]:
    """So many GPUs, those that there are if None; or the processor."""
    return local_devices_from_num_gpus(context().num_gpus() if num_gpus is None else num_gpus)


def _get_default_strategy() -> Any:
    """The strategy that holds where none was asked for."""
    return strategy_context.default_mode().strategy


def _get_default_replica_context() -> Any:
    """Its replica."""
    return strategy_context.default_mode().replica


def aggregate_tensors_or_indexed_slices(
    values: Sequence[Any], accumulation_fn: Callable[[Sequence[Any]], Any] | None = None
) -> Any:
    """The sum of tensors, or of IndexedSlices."""
    if any(isinstance(value, IndexedSlices) for value in values):
        return add_sparse(values)
    return tf.add_n(values) if accumulation_fn is None else accumulation_fn(values)


def divide_by_n_tensors_or_indexed_slices(value: Any, n: int) -> Any:
    """A tensor or IndexedSlices, divided by a number."""
    if not isinstance(value, IndexedSlices):
        return value / n
    flat = _flat(value)
    return IndexedSlices(flat.values / n, flat.indices, flat.dense_shape)


def copy_tensor_or_indexed_slices_to_device(value: Any, device: str) -> Any:
    """The same on a device."""
    with tf.device(device):
        if not isinstance(value, IndexedSlices):
            return tf.identity(value)
        return IndexedSlices(*map(tf.identity, (value.values, value.indices, value.dense_shape)))


def contains_indexed_slices(value: Any) -> bool:
    """Whether something is IndexedSlices, or has some among its elements or replicas."""
    if isinstance(value, replica_values.DistributedValues):
        value = value.values
    if isinstance(value, (list, tuple)) and not isinstance(value, IndexedSlices):
        return any(map(contains_indexed_slices, value))
    return isinstance(value, IndexedSlices)


def is_indexed_slices(value: Any) -> bool:
    """Whether something, or all that replicas have of it, is IndexedSlices."""
    if isinstance(value, IndexedSlices):
        return True
    return all(isinstance(one, IndexedSlices) for one in value.values)
