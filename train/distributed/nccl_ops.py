# SPDX-License-Identifier: Apache-2.0
"""Reductions of tensors that lie on several devices (`tensorflow.python.ops.nccl_ops`).

TensorFlow has NVIDIA's library for collective communication do them.  Here all devices are one
processor: the reductions are ordinary nodes on the tensors' devices, with ordinary gradients.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from ...ops.public import tf

if TYPE_CHECKING:
    from ...engine.graph.tensor import Tensor


def _on_all(tensors: Sequence[Tensor], reduction: Callable[[list[Any]], Any]) -> list[Tensor]:
    """The reduction on the device of each tensor."""
    if not tensors:
        raise ValueError("Must pass >0 tensors to all reduce operations")
    for tensor in tensors:
        _require_device(tensor)
    results = []
    for tensor in tensors:
        with tf.device(tensor.device):
            results.append(reduction(list(tensors)))
    return results


def _require_device(tensor: Tensor) -> None:
    if not tensor.device:
        raise ValueError(f"Device assignment required for nccl collective ops: {tensor}")


def _folded(of_two: Callable[[Any, Any], Any]) -> Callable[[list[Any]], Any]:
    return lambda tensors: functools.reduce(of_two, tensors)


def all_sum(tensors: Sequence[Tensor]) -> list[Tensor]:
    """The sum of tensors, on the device of each.

    Args:
        tensors: of one shape and dtype, each made within `tf.device`.

    Returns:
        A list of as many equal tensors.

    Raises:
        ValueError: there are no tensors, or one is on no device.
    """
    return _on_all(tensors, tf.add_n)


def all_prod(tensors: Sequence[Tensor]) -> list[Tensor]:
    """The product of tensors, on the device of each, as `all_sum` has the sum."""
    return _on_all(tensors, _folded(tf.multiply))


def all_min(tensors: Sequence[Tensor]) -> list[Tensor]:
    """The least of tensors, on the device of each, as `all_sum` has the sum."""
    return _on_all(tensors, _folded(tf.minimum))


def all_max(tensors: Sequence[Tensor]) -> list[Tensor]:
    """The greatest of tensors, on the device of each, as `all_sum` has the sum."""
    return _on_all(tensors, _folded(tf.maximum))


def reduce_sum(tensors: Sequence[Tensor]) -> Tensor:
    """The sum of tensors, on the device around.

    Args:
        tensors: of one shape and dtype, each made within `tf.device`.

    Returns:
        A tensor.

    Raises:
        ValueError: there are no tensors, or one is on no device.
    """
    if not tensors:
        raise ValueError("Must pass >0 tensors to reduce operations")
    for tensor in tensors:
        _require_device(tensor)
    return tf.add_n(list(tensors))


def broadcast(tensor: Tensor) -> Tensor:
    """The tensor, for other devices to take.

    Args:
        tensor: made within `tf.device`.

    Returns:
        A tensor.

    Raises:
        ValueError: it is on no device.
    """
    _require_device(tensor)
    with tf.device(tensor.device):
        return tf.identity(tensor)
