# SPDX-License-Identifier: Apache-2.0
"""`tensorflow.python.keras.engine.training_utils`: what can be told of datasets and weights."""

from __future__ import annotations

from typing import Any

from ...engine.interface import log
from ...ops.data import mapping, padding, readers, sources, transformations
from ...ops.data.dataset_v1 import DatasetV1Adapter
from ...train.keras.engine import data

# Kinds of datasets that give the elements that they are given, or none of anything else's.
_PLAIN = (
    transformations._OptionsDataset,
    transformations.ConcatenateDataset,
    transformations.CacheDataset,
    transformations.PrefetchDataset,
    transformations.RepeatDataset,
    transformations.SkipDataset,
    transformations.TakeDataset,
    transformations.ZipDataset,
    mapping.FilterDataset,
    mapping.MapDataset,
    mapping.ParallelMapDataset,
    sources.RangeDataset,
    sources.SparseTensorSliceDataset,
    sources.TensorDataset,
    sources.TensorSliceDataset,
    readers.FixedLengthRecordDatasetV2,
    readers.TextLineDatasetV2,
    readers.TFRecordDatasetV2,
    readers._FixedLengthRecordDataset,
    readers._TextLineDataset,
    readers._TFRecordDataset,
)
_IN_ORDER = (
    transformations.BatchDataset,
    padding.PaddedBatchDataset,
    transformations.WindowDataset,
)


def _check(dataset: Any, kinds: tuple[type, ...], what: str) -> None:
    if isinstance(dataset, DatasetV1Adapter):
        dataset = dataset._dataset
    if not isinstance(dataset, kinds):
        raise ValueError(f"Could not assert that dataset is not {what}.")
    for source in dataset._inputs():
        _check(source, kinds, what)


def assert_not_batched(dataset: Any) -> None:
    """Raises a ValueError unless it is certain that a dataset has no batches."""
    _check(dataset, (*_PLAIN, transformations.ShuffleDataset), "batched")


def assert_not_shuffled(dataset: Any) -> None:
    """Raises a ValueError unless it is certain that a dataset has its elements in order."""
    _check(dataset, (*_PLAIN, *_IN_ORDER), "shuffled")


def verify_dataset_shuffled(x: Any) -> None:
    """Logs that a dataset is in order, if that is certain."""
    try:
        assert_not_shuffled(x)
    except ValueError:
        return
    log.warning(
        "Expected a shuffled dataset but input dataset `x` is not shuffled. Please invoke "
        "`shuffle()` on input dataset."
    )


def standardize_sample_weights(sample_weight: Any, output_names: Any) -> list[Any]:
    """Weights of samples, one for each output, as of `fit`."""
    return data.per_output(sample_weight, output_names, "sample_weight")


def standardize_class_weights(class_weight: Any, output_names: Any) -> list[Any]:
    """Weights of classes, one for each output, as of `fit`."""
    return data.per_output(class_weight, output_names, "class_weight")


def standardize_weights(
    y: Any, sample_weight: Any = None, class_weight: Any = None, sample_weight_mode: Any = None
) -> Any:
    """The weight of each example: of samples times of classes; None for neither."""
    return data.combined_weights(y, sample_weight, class_weight, sample_weight_mode)
