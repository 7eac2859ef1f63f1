# SPDX-License-Identifier: Apache-2.0
"""Input of several replicas in one process: each takes the next element of one dataset."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ...ops.data.dataset import DatasetV2
from ...ops.data.dataset_v1 import DatasetV1, DatasetV1Adapter
from ...ops.data.experimental.adjusting import _RebatchDataset
from ...ops.public import tf
from .replica_values import regroup


def in_parts(dataset: DatasetV2, count: int) -> DatasetV1Adapter:
    """A dataset of whose batches each replica's part is an element."""
    return DatasetV1Adapter(_RebatchDataset(dataset, count))


class ReplicaIterator:
    """An iterator whose elements have a value for each replica.

    Args:
        devices: where the replicas are.
        source: a dataset, or a function that gives an element with each call.
        one_shot: whether it begins by itself.
    """

    def __init__(self, devices: Sequence[str], source: Any, one_shot: bool = False) -> None:
        self._devices = devices
        self._next: Callable[[], Any] = source
        self._start: list[Any] = []
        if isinstance(source, DatasetV2):
            dataset: Any = source if isinstance(source, DatasetV1) else DatasetV1Adapter(source)
            if one_shot:
                iterator = dataset._make_one_shot_iterator()
            else:
                iterator = dataset._make_initializable_iterator(None)
                self._start = [iterator.initializer]
            self._next = iterator.get_next

    def initialize(self) -> list[Any]:
        """The ops that start it."""
        return self._start

    @property
    def initializer(self) -> list[Any]:
        """The ops that start it."""
        return self._start

    def get_next(self, name: str | None = None) -> Any:
        """The next element of each replica, in their order."""
        del name
        return regroup(self._devices, self.get_next_as_list())

    def get_next_as_list(self) -> list[Any]:
        """The same, as a list."""
        parts: list[Any] = []
        for device in self._devices:
            # The elements of a step belong to the replicas in order, run by run.
            before = [_first_op(part) for part in parts[-1:]]
            with tf.control_dependencies([op for op in before if op is not None]):
                with tf.device(device):
                    parts.append(self._next())
        return parts

    @property
    def output_types(self) -> Any:
        """The types of a replica's element."""
        return _of(self._next, "output_types")

    @property
    def output_shapes(self) -> Any:
        """The shapes of a replica's element."""
        return _of(self._next, "output_shapes")

    @property
    def output_classes(self) -> Any:
        """The classes of a replica's element."""
        return _of(self._next, "output_classes")


def _of(function: Any, name: str) -> Any:
    return getattr(function.__self__, name)


def _first_op(element: Any) -> Any:
    """What took an element of the dataset."""
    from ...engine.types import nest

    for leaf in nest.flatten(element, expand_composites=True):
        if isinstance(leaf, tf.Tensor):
            return leaf.op
    return None


class DistributedDataset:
    """A dataset whose elements have a value for each replica.

    Args:
        devices: where the replicas are.
        dataset: the dataset.
    """

    def __init__(self, devices: Sequence[str], dataset: Any) -> None:
        self._devices, self._dataset = devices, dataset

    def make_initializable_iterator(self) -> ReplicaIterator:
        """An iterator that its `initializer` starts."""
        return ReplicaIterator(self._devices, self._dataset)

    def make_one_shot_iterator(self) -> ReplicaIterator:
        """An iterator that begins by itself."""
        return ReplicaIterator(self._devices, self._dataset, one_shot=True)

    def __iter__(self) -> Any:
        raise RuntimeError(
            "__iter__() is only supported inside of tf.function or when eager execution is enabled."
        )
