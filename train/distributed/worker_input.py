# SPDX-License-Identifier: Apache-2.0
"""Input of replicas by worker: `tensorflow.python.distribute.input_lib`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ...ops.data.dataset import DatasetV2
from ...ops.data.dataset_v1 import DatasetV1
from ...ops.public import tf
from .device_map import DeviceMap, resolved
from .mirrored_input import ReplicaIterator, in_parts
from .replica_values import regroup
from .strategy_input import InputContext, input_of


class InputWorkers:
    """Which devices each worker's input is for.

    Args:
        device_map: where the replicas are.
        worker_device_pairs: (a worker's device, those of its replicas) for each; one worker's are
            all if None.
        logical_device: which of a replica's devices takes the input.

    Raises:
        ValueError: the devices are not the replicas' ones.
    """

    def __init__(
        self,
        device_map: DeviceMap,
        worker_device_pairs: Sequence[tuple[str, Sequence[str]]] | None = None,
        logical_device: int = 0,
    ) -> None:
        self._device_map, self._logical_device = device_map, logical_device
        devices = device_map.logical_to_actual_devices(logical_device)
        pairs = worker_device_pairs or [(resolved("/device:CPU:0"), devices)]
        self._workers = tuple(worker for worker, _ in pairs)
        self._fed = tuple(tuple(map(resolved, fed)) for _, fed in pairs)
        flat = tuple(device for fed in self._fed for device in fed)
        if flat != devices:
            raise ValueError(f"Workers feed {flat}, and the replicas are on {devices}")

    @property
    def device_map(self) -> DeviceMap:
        """Where the replicas are."""
        return self._device_map

    @property
    def logical_device(self) -> int:
        """Which of a replica's devices takes the input."""
        return self._logical_device

    @property
    def num_workers(self) -> int:
        """How many workers there are."""
        return len(self._workers)

    @property
    def worker_devices(self) -> tuple[str, ...]:
        """The workers' devices."""
        return self._workers

    def compute_devices_for_worker(self, worker_index: int) -> tuple[str, ...]:
        """The devices of a worker's replicas."""
        return self._fed[worker_index]

    def __repr__(self) -> str:
        lines = (f"  {i} {d}: {self._fed[i]}" for i, d in enumerate(self._workers))
        return (
            f"{type(self).__name__}:{{\n"
            + ",\n".join(lines)
            + f"\n  device_map: {self._device_map}}}"
        )


class DistributedIteratorV1:
    """An iterator whose elements have a value for each replica of all workers.

    Args:
        input_workers: which devices each worker's input is for.
        iterators: the workers' ones.
        strategy: the strategy.
    """

    def __init__(
        self, input_workers: InputWorkers, iterators: Sequence[ReplicaIterator], strategy: Any
    ) -> None:
        self._input_workers, self._iterators, self._strategy = input_workers, iterators, strategy

    def get_next(self, name: str | None = None) -> Any:
        """The next element of each replica, in their order."""
        del name
        parts: list[Any] = []
        for worker, iterator in zip(self._input_workers.worker_devices, self._iterators):
            with tf.device(worker or None):
                parts += iterator.get_next_as_list()
        return regroup(self._input_workers.device_map, parts)

    def initialize(self) -> list[Any]:
        """The ops that start it."""
        return [op for iterator in self._iterators for op in iterator.initialize()]

    @property
    def initializer(self) -> list[Any]:
        """The ops that start it."""
        return self.initialize()

    @property
    def output_types(self) -> Any:
        """The types of a replica's element."""
        return self._iterators[0].output_types

    @property
    def output_shapes(self) -> Any:
        """The shapes of a replica's element."""
        return self._iterators[0].output_shapes

    @property
    def output_classes(self) -> Any:
        """The classes of a replica's element."""
        return self._iterators[0].output_classes

    def get_iterator(self, worker: str) -> ReplicaIterator | None:
        """A worker's one; None if there is none."""
        devices = self._input_workers.worker_devices
        return self._iterators[devices.index(worker)] if worker in devices else None


def _iterators(
    workers: InputWorkers, sources: Sequence[Any], one_shot: bool = False
) -> list[ReplicaIterator]:
    """The workers' iterators, made where they are."""
    found = []
    for number, (device, source) in enumerate(zip(workers.worker_devices, sources, strict=True)):
        with tf.device(device or None):
            devices = workers.compute_devices_for_worker(number)
            found.append(ReplicaIterator(devices, source, one_shot))
    return found


def _source(dataset: Any, workers: InputWorkers, split_batch_by: int | None) -> Any:
    """A dataset of a worker's elements, whose batches are divided.

    Raises:
        NotImplementedError: there are several workers.
    """
    if workers.num_workers > 1:
        raise NotImplementedError(
            f"a dataset of {workers.num_workers} workers in one graph: in numbaflow each worker "
            "runs the program itself"
        )
    return in_parts(dataset, split_batch_by) if split_batch_by else dataset


class InputFunctionIterator(DistributedIteratorV1):
    """An iterator of what a function of each worker's InputContext gives.

    Args:
        input_fn: gives a dataset, or a function that gives an element with each call.
        input_workers: which devices each worker's input is for.
        input_contexts: one for each worker.
        strategy: the strategy.

    Raises:
        ValueError: there are other contexts than workers, or the function gives something else.
    """

    def __init__(
        self,
        input_fn: Callable[[InputContext], Any],
        input_workers: InputWorkers,
        input_contexts: Sequence[InputContext],
        strategy: Any,
    ) -> None:
        if input_workers.num_workers != len(input_contexts):
            raise ValueError(
                f"Number of input workers ({input_workers.num_workers}) is not same as number of "
                f"input_contexts ({len(input_contexts)})"
            )
        sources = [input_of(input_fn, context) for context in input_contexts]
        super().__init__(input_workers, _iterators(input_workers, sources), strategy)


class DatasetIterator(DistributedIteratorV1):
    """An iterator of a dataset.

    Args:
        dataset: the dataset.
        input_workers: which devices each worker's input is for.
        strategy: the strategy.
        split_batch_by: how many parts of a batch are elements; None: batches are.
        input_context: which part of the input is this worker's; all if None.

    Raises:
        NotImplementedError: there are several workers.
    """

    def __init__(
        self,
        dataset: DatasetV2,
        input_workers: InputWorkers,
        strategy: Any,
        split_batch_by: int | None = None,
        input_context: InputContext | None = None,
    ) -> None:
        if input_context is not None:
            dataset = dataset.shard(
                input_context.num_input_pipelines, input_context.input_pipeline_id
            )
        source = _source(dataset, input_workers, split_batch_by)
        super().__init__(input_workers, _iterators(input_workers, [source]), strategy)


class DistributedDataset:
    """A dataset whose elements have a value for each replica; see DatasetIterator."""

    def __init__(
        self,
        dataset: DatasetV2,
        input_workers: InputWorkers,
        strategy: Any,
        split_batch_by: int | None = None,
        input_context: InputContext | None = None,
    ) -> None:
        if input_context is not None:
            dataset = dataset.shard(
                input_context.num_input_pipelines, input_context.input_pipeline_id
            )
        self._source = _source(dataset, input_workers, split_batch_by)
        self._input_workers, self._strategy = input_workers, strategy

    def __iter__(self) -> Any:
        raise RuntimeError(
            "__iter__() is only supported inside of tf.function or when eager execution is enabled."
        )

    def _make(self, one_shot: bool) -> DistributedIteratorV1:
        iterators = _iterators(self._input_workers, [self._source], one_shot)
        return DistributedIteratorV1(self._input_workers, iterators, self._strategy)


class DistributedDatasetV1(DistributedDataset):
    """The same, with version 1's iterators."""

    def make_initializable_iterator(self) -> DistributedIteratorV1:
        """An iterator that its `initializer` starts."""
        return self._make(one_shot=False)

    def make_one_shot_iterator(self) -> DistributedIteratorV1:
        """An iterator that begins by itself."""
        return self._make(one_shot=True)


def get_distributed_dataset(
    dataset: DatasetV2,
    input_workers: InputWorkers,
    strategy: Any,
    split_batch_by: int | None = None,
    input_context: InputContext | None = None,
) -> DistributedDataset:
    """A dataset of replicas: version 1's if the dataset is."""
    kind = DistributedDatasetV1 if isinstance(dataset, DatasetV1) else DistributedDataset
    return kind(dataset, input_workers, strategy, split_batch_by, input_context)
