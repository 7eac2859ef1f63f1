# SPDX-License-Identifier: Apache-2.0
"""Weights of sparse features that lie in several variables: which part has which."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from ...engine.graph.scope_functions import colocate_with
from ...ops.public import tf
from ...ops.state.variable_partitions import PartitionedVariable

if TYPE_CHECKING:
    from ...engine.graph.tensor import Tensor


def is_parted(variable: object) -> bool:
    """Whether weights are in parts."""
    return isinstance(variable, (list, PartitionedVariable))


def parts_of(variable: Any) -> Any:
    """The parts of weights, or the one variable they are."""
    return variable if is_parted(variable) else [variable]


def one_tensor(variable: Any) -> Any:
    """Weights as one tensor."""
    return tf.concat(variable, axis=0) if is_parted(variable) else variable


class Parting:
    """Where features are found in the parts of their weights, which are as equal as can be.

    ids: int64 [n], the features.  where: the selection op of the model.
    """

    def __init__(self, parts: Sequence[Any], ids: Tensor, where: Callable[..., Tensor]) -> None:
        self._parts = parts
        flat = tf.reshape(ids, [-1])
        total = self._total(flat)
        each, extra = total // len(parts), total % len(parts)
        # The first `extra` parts have one more than the others.
        owner = tf.maximum(flat // (each + 1), (flat - extra) // each)
        self._within = where(owner < extra, flat % (each + 1), (flat - extra) % each)
        self._owner = tf.cast(owner, tf.int32)
        self._rows = tf.dynamic_partition(self._within, self._owner, len(parts))

    def _total(self, flat: Tensor) -> Tensor:
        sizes = [part.shape[0] for part in self._parts]
        known = sum(size.value or 0 for size in sizes)
        if known and all(size.value is not None for size in sizes):
            return tf.constant(known, flat.dtype)
        found: list[Any] = []
        for part, size in zip(self._parts, sizes, strict=True):
            if size.value is not None:
                found.append(size.value)
                continue
            with colocate_with(part):
                found.append(tf.shape(part)[0])
        return tf.reduce_sum(tf.cast(tf.stack(found), flat.dtype))

    def gather(self) -> Tensor:
        """The weights of the features, in their order."""
        found = []
        for part, rows in zip(self._parts, self._rows, strict=True):
            with colocate_with(part):
                found.append(tf.gather(part, rows))
        places = tf.range(tf.shape(self._within)[0])
        return tf.dynamic_stitch(tf.dynamic_partition(places, self._owner, len(self._parts)), found)

    def scatter_add(self, update: Tensor) -> list[Any]:
        """What adds to the weights of the features."""
        added, result = tf.dynamic_partition(update, self._owner, len(self._parts)), []
        for part, rows, values in zip(self._parts, self._rows, added, strict=True):
            with colocate_with(part):
                result.append(tf.scatter_add(part, rows, values))
        return result
