# SPDX-License-Identifier: Apache-2.0
"""The ops of statistics of pipelines."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ....engine.graph.build import define
from ...state.shared_state import kept
from ..runtime.dataset import Dataset, boxed, dataset_in
from ..runtime.statistics import Aggregator, ListenedDataset, MeasuredDataset
from .common import NONE, TYPES, scalar, scalars
from .experimental import define_both

if TYPE_CHECKING:
    from ....engine.graph.kernel_context import KernelContext

_INPUT = "input_dataset: variant"
_TEST = {"needs": "a dataset"}


def _handle(c: KernelContext) -> Any:
    return kept(c, "statistics", lambda name: Aggregator(), lambda found: None)


def _summary(c: KernelContext, aggregator: Aggregator) -> np.ndarray:
    return boxed(aggregator.summary())


def _listened(
    c: KernelContext, source: np.ndarray, aggregator: Any, tag: np.ndarray, prefix: np.ndarray
) -> Dataset:
    name = scalar(tag, "tag").decode(errors="replace")
    return ListenedDataset(dataset_in(source), aggregator, name)


def _bytes(c: KernelContext, source: np.ndarray, tag: np.ndarray) -> Dataset:
    return MeasuredDataset(dataset_in(source), scalar(tag, "tag").decode(), False)


def _latency(c: KernelContext, source: np.ndarray, tag: np.ndarray) -> Dataset:
    return MeasuredDataset(dataset_in(source), scalar(tag, "tag").decode(), True)


for _name in ("StatsAggregatorHandle", "ExperimentalStatsAggregatorHandle"):
    define(
        _name,
        "-> handle: resource",
        "container: string = ''; shared_name: string = ''",
        shape=scalars(),
        kernel=_handle,
        gradient=NONE,
        touches=(),
        doc="What keeps statistics of pipelines.",
        test=lambda: _TEST,
    )
for _name in ("StatsAggregatorSummary", "ExperimentalStatsAggregatorSummary"):
    define(
        _name,
        "iterator: resource -> summary: string",
        "",
        shape=scalars(0),
        kernel=_summary,
        gradient=NONE,
        touches=(),
        doc="The statistics as a serialized Summary.",
        test=lambda: _TEST,
    )
define_both(
    "SetStatsAggregatorDataset",
    "ExperimentalSetStatsAggregatorDataset",
    f"{_INPUT}, stats_aggregator: resource, tag: string, counter_prefix: string",
    TYPES,
    _listened,
    "The same dataset, whose statistics go to an aggregator.",
    shape=scalars(None, None, 0, 0),
)
define_both(
    "BytesProducedStatsDataset",
    "ExperimentalBytesProducedStatsDataset",
    f"{_INPUT}, tag: string",
    TYPES,
    _bytes,
    "The same dataset, which tells of the bytes of its elements.",
    shape=scalars(None, 0),
)
define_both(
    "LatencyStatsDataset",
    "ExperimentalLatencyStatsDataset",
    f"{_INPUT}, tag: string",
    TYPES,
    _latency,
    "The same dataset, which tells how long its elements took.",
    shape=scalars(None, 0),
)
