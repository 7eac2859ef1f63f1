# SPDX-License-Identifier: Apache-2.0
"""Where the elements of a dataset go, and statistics of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ....engine.api import export
from ....engine.graph.annotations import TensorLike
from ....engine.graph.convert import convert_to_tensor
from ....engine.graph.defaults import get_default_graph
from ....engine.graph.devices import DeviceSpec
from ....engine.types import dtypes
from ...public import raw
from ..dataset import DatasetV2
from ..options import Options
from ..unary import UnaryUnchangedStructureDataset

Apply = Callable[[Any], Any]


class _CopyToDeviceDataset(UnaryUnchangedStructureDataset):
    """The same elements, given on by an op that is placed on a device."""

    def __init__(self, input_dataset: DatasetV2, device: str) -> None:
        self._input_dataset = input_dataset
        # Placement judges the device as it does any other op's, when a session first runs it.
        with get_default_graph().device(device):
            self._unchanged(raw.TakeDataset, count=convert_to_tensor(-1, dtype=dtypes.int64))


@export("data.experimental.copy_to_device")
def copy_to_device(target_device: str, source_device: str = "/cpu:0") -> Apply:
    """A transformation that copies elements to a device; on the CPU they are there already.

    A device that is not there is an InvalidArgumentError when the elements are first read, unless
    the session's configuration has `allow_soft_placement`
    (TensorFlow's `prefetching_ops`).

    Args:
      target_device: Where to.
      source_device: Where the elements are made.
    """

    def apply(dataset: DatasetV2) -> Any:
        options = Options()
        options.experimental_optimization.apply_default_optimizations = False
        options.experimental_optimization.autotune = False
        for device in (source_device, target_device):
            if DeviceSpec.from_string(device).device_type not in (None, "CPU"):
                dataset = _CopyToDeviceDataset(dataset, device)
        return dataset.with_options(options)

    return apply


@export("data.experimental.prefetch_to_device")
def prefetch_to_device(device: str, buffer_size: TensorLike | None = None) -> Apply:
    """A transformation that reads elements ahead, on a device.

    Args:
      device: Where to, as in `copy_to_device`.
      buffer_size: How many; as fits if None.
    """
    return lambda dataset: dataset.apply(copy_to_device(device)).prefetch(buffer_size)


@export("data.experimental.StatsAggregator")
class StatsAggregator:
    """Keeps statistics of pipelines that name it in `options.experimental_stats.aggregator`."""

    def __init__(self) -> None:
        self._resource = raw.StatsAggregatorHandle()

    def get_summary(self) -> Any:
        """A string tensor: all that was told so far, as a serialized Summary."""
        return raw.StatsAggregatorSummary(self._resource)


StatsAggregatorV1 = StatsAggregator


class _SetStatsAggregatorDataset(UnaryUnchangedStructureDataset):
    """The same elements, whose statistics go to an aggregator."""

    def __init__(
        self,
        input_dataset: DatasetV2,
        aggregator: Any,
        prefix: TensorLike,
        counter_prefix: TensorLike,
    ):
        self._input_dataset = input_dataset
        self._stats_aggregator = aggregator
        self._unchanged(
            raw.SetStatsAggregatorDataset,
            stats_aggregator=aggregator._resource,
            tag=prefix or "",
            counter_prefix=counter_prefix or "",
        )


def set_stats_aggregator(
    stats_aggregator: Any, prefix: TensorLike = "", counter_prefix: TensorLike = ""
) -> Apply:
    """A transformation whose statistics go to an aggregator."""
    rest = stats_aggregator, prefix, counter_prefix
    return lambda dataset: _SetStatsAggregatorDataset(dataset, *rest)


class _StatsDataset(UnaryUnchangedStructureDataset):
    """The same elements, of which something is told under a tag."""

    def __init__(self, input_dataset: DatasetV2, op_function: Any, tag: TensorLike) -> None:
        self._input_dataset = input_dataset
        self._tag = convert_to_tensor(tag, dtype=dtypes.string)
        self._unchanged(op_function, tag=self._tag)


@export("data.experimental.bytes_produced_stats")
def bytes_produced_stats(tag: TensorLike) -> Apply:
    """A transformation that tells how many bytes each element has, under a tag."""
    return lambda dataset: _StatsDataset(dataset, raw.BytesProducedStatsDataset, tag)


@export("data.experimental.latency_stats")
def latency_stats(tag: TensorLike) -> Apply:
    """A transformation that tells how many microseconds each element took, under a tag."""
    return lambda dataset: _StatsDataset(dataset, raw.LatencyStatsDataset, tag)
