# SPDX-License-Identifier: Apache-2.0
"""`tf.contrib.distribute.MultiWorkerAllReduce`: sums of values that several workers have."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from ...engine.api import export
from ...engine.graph.tensor import IndexedSlices, Tensor
from ...ops.public import tf
from . import all_reduce
from . import strategy_context as modes
from .cross_device_ops import AllReduceCrossDeviceOps, devices_from, divided, on_each
from .replica_values import Mirrored, regroup


class AllReduceSpecTuple(NamedTuple):
    """A way to add up: its name, in how many parts, and values up to how many bytes (-1: all)."""

    alg: str
    shards: int
    limit: int


def _specs_of(given: Any) -> list[AllReduceSpecTuple]:
    """The ways that a setting names."""
    found = []
    for one in given if isinstance(given, list) else [given]:
        parts = (one,) if isinstance(one, str) else one
        if not isinstance(parts, tuple):
            raise ValueError(f"A tuple is expected for all-reduce spec: {given!r}")
        if not 1 <= len(parts) <= 3:
            raise ValueError(f"Too many elements in the all-reduce spec tuple: {parts!r}")
        spec = AllReduceSpecTuple(*(*parts, 1, -1)[: len(parts)], *(1, -1)[len(parts) - 1 :])
        if spec.alg not in _WAYS:
            raise ValueError(f"unsupported all_reduce alg: {spec.alg} (there are {sorted(_WAYS)})")
        found.append(spec)
    return found


def _ring(values: list[Tensor], hosts: list[str], shards: int, gpus: int) -> list[Tensor]:
    per_worker = list(range(max(gpus, len(values) // len(hosts), 1)))
    return all_reduce.build_ring_all_reduce(
        values, len(values) // len(per_worker), shards, per_worker, tf.add
    )


def _shuffle(values: list[Tensor], hosts: list[str], shards: int, gpus: int) -> list[Tensor]:
    del shards, gpus
    return all_reduce.build_shuffle_all_reduce(values, hosts, tf.add_n)


def _shuffle_twice(values: list[Tensor], hosts: list[str], shards: int, gpus: int) -> list[Tensor]:
    del gpus
    return all_reduce.build_shuffle_then_shuffle(values, hosts, hosts[:shards], tf.add_n)


_WAYS: dict[str, Callable[[list[Tensor], list[str], int, int], list[Tensor]]] = {
    "xring": _ring,
    "pscpu": _shuffle,
    "pscpu/pscpu": _shuffle_twice,
}


@export("contrib.distribute.MultiWorkerAllReduce")
class MultiWorkerAllReduce(AllReduceCrossDeviceOps):
    """Adds up values of several workers, by ways that depend on how large they are.

    Args:
        worker_devices: the workers.
        num_gpus_per_worker: how many devices each has.
        all_reduce_spec: a way ("xring", "pscpu", "pscpu/pscpu": a ring, by way of the workers'
            processors, within and among workers), with in how many parts and for values up to how
            many bytes; or a list of such tuples, of which the last one is for all (-1).
        num_packs, agg_small_grads_max_bytes, agg_small_grads_max_group: how GPUs pack values.

    Raises:
        ValueError: a way is unknown, or is not written so.
    """

    def __init__(
        self,
        worker_devices: Sequence[str],
        num_gpus_per_worker: int,
        all_reduce_spec: Any = ("pscpu/pscpu", 2, -1),
        num_packs: int = 0,
        agg_small_grads_max_bytes: int = 0,
        agg_small_grads_max_group: int = 10,
    ) -> None:
        super().__init__("nccl", num_packs, agg_small_grads_max_bytes, agg_small_grads_max_group)
        self._hosts = [f"{worker}/cpu:0" for worker in worker_devices]
        self._gpus, self._specs = num_gpus_per_worker, _specs_of(all_reduce_spec)

    def reduce_implementation(
        self, reduce_op: Any, per_replica_value: Any, destinations: Any
    ) -> Any:
        """The sum or mean, at its destinations.

        Raises:
            ValueError: the shape of a value is not known.
        """
        values, devices = list(per_replica_value.values), devices_from(destinations)
        if any(isinstance(value, IndexedSlices) for value in values):
            return super().reduce_implementation(reduce_op, per_replica_value, destinations)
        sums = self._sums(values)
        if reduce_op == modes.ReduceOp.MEAN:
            sums = [divided(one, len(values)) for one in sums]
        if tuple(per_replica_value.devices) == devices:
            return regroup(devices, sums, Mirrored)
        return on_each(sums[0], devices)

    def _sums(self, values: list[Tensor]) -> list[Tensor]:
        """The sum on each of the values' devices."""
        first = values[0]
        if not first.shape.is_fully_defined():
            raise ValueError(f"Shape is unknown for node {first!r}")
        size = (first.shape.num_elements() or 0) * first.dtype.size
        spec = next((s for s in self._specs if s.limit < 0 or size <= s.limit), self._specs[-1])
        sums = _WAYS[spec.alg](values, self._hosts, spec.shards, self._gpus)
        return [on_each(one, [value.device]) for one, value in zip(sums, values, strict=True)]
