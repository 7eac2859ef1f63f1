# SPDX-License-Identifier: Apache-2.0
"""How values of several devices would be put together: settings that strategies take."""

from __future__ import annotations

import enum
from typing import Any

from ...engine.api import export
from ...engine.types import nest


@export("distribute.CrossDeviceOps", "contrib.distribute.CrossDeviceOps")
class CrossDeviceOps:
    """Puts values of devices together; of one device the value is it."""

    def reduce(self, reduce_op: object, per_replica_value: object, destinations: object) -> Any:
        """The sum or mean of one value."""
        return per_replica_value

    def batch_reduce(self, reduce_op: object, value_destination_pairs: Any) -> list[Any]:
        """The sums or means of values."""
        return [value for value, _ in value_destination_pairs]

    def broadcast(self, tensor: object, destinations: object) -> Any:
        """The tensor on devices, of which there is one."""
        return nest.map_structure(lambda value: value, tensor)


@export("distribute.ReductionToOneDevice")
class ReductionToOneDevice(CrossDeviceOps):
    """Adds up on one device.

    Args:
        reduce_to_device: which one.
        accumulation_fn: how values are added up.
    """

    def __init__(self, reduce_to_device: object = None, accumulation_fn: object = None) -> None:
        self.reduce_to_device, self.accumulation_fn = reduce_to_device, accumulation_fn


@export("contrib.distribute.AllReduceCrossDeviceOps")
class AllReduceCrossDeviceOps(CrossDeviceOps):
    """Adds up everywhere at once.

    Args:
        all_reduce_alg: "nccl" or "hierarchical_copy".
        num_packs: how many values travel together.
        agg_small_grads_max_bytes, agg_small_grads_max_group: which are put together.
    """

    def __init__(
        self,
        all_reduce_alg: str = "nccl",
        num_packs: int = 1,
        agg_small_grads_max_bytes: int = 0,
        agg_small_grads_max_group: int = 10,
    ) -> None:
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
