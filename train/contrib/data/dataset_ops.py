# SPDX-License-Identifier: Apache-2.0
"""Datasets as of TensorFlow 1.2 to 1.4: `tf.contrib.data.Dataset`, before there was tf.data.

They are datasets of tf.data whose methods take the arguments of then, and give such datasets again.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from ....engine.api import export
from ....ops.data import readers
from ....ops.data.dataset import DatasetV2
from ....ops.data.dataset_v1 import DatasetV1, DatasetV1Adapter
from ....ops.data.experimental.batching import dense_to_sparse_batch
from ....ops.data.experimental.grouping import group_by_window
from ....ops.data.experimental.scanning import ignore_errors
from .readers import read_batch_features

if TYPE_CHECKING:
    from ....engine.graph.annotations import TensorLike


@export("contrib.data.Dataset")
class Dataset(DatasetV1Adapter):
    """A dataset of TensorFlow 1.3: as `tf.data.Dataset`, with some methods of then.

    Args:
        dataset: the dataset that has the elements.

    Example:
        >>> squares = tf.contrib.data.Dataset.range(4).map(
        ...     lambda x: x * x, num_threads=2, output_buffer_size=8)
        >>> element = squares.batch(4).make_one_shot_iterator().get_next()
        >>> tf.Session().run(element)
        array([0, 1, 4, 9])
    """

    @staticmethod
    def range(*args: TensorLike) -> Dataset:
        """Numbers, by the arguments of Python's `range`."""
        return Dataset(DatasetV1.range(*args))

    @staticmethod
    def read_batch_features(
        file_pattern: object,
        batch_size: TensorLike,
        features: Mapping[str, Any],
        reader: object,
        reader_args: object = None,
        randomize_input: bool = True,
        num_epochs: TensorLike | None = None,
        capacity: TensorLike = 10000,
    ) -> dict[str, Any]:
        """See `tf.contrib.data.read_batch_features`."""
        return read_batch_features(
            *(file_pattern, batch_size, features, reader, reader_args, randomize_input),
            *(num_epochs, capacity),
        )

    def map(  # type: ignore[override]
        self,
        map_func: Callable[..., Any],
        num_threads: TensorLike | None = None,
        output_buffer_size: TensorLike | None = None,
        num_parallel_calls: TensorLike | None = None,
    ) -> Dataset:
        """The results of a function.

        Args:
            map_func: a function of an element's components.
            num_threads: how many elements are computed at a time.
            output_buffer_size: how many results are computed ahead.
            num_parallel_calls: what `num_threads` was called later.
        """
        calls = num_threads if num_parallel_calls is None else num_parallel_calls
        mapped = self._mapped(map_func, calls)
        if output_buffer_size is not None:
            mapped = mapped.prefetch(output_buffer_size)
        return Dataset(mapped)

    def ignore_errors(self) -> Dataset:
        """The elements that can be computed."""
        return self.apply(ignore_errors())

    def dense_to_sparse_batch(self, batch_size: TensorLike, row_shape: object) -> Dataset:
        """See `tf.data.experimental.dense_to_sparse_batch`."""
        return self.apply(dense_to_sparse_batch(batch_size, row_shape))

    def group_by_window(
        self,
        key_func: Callable[..., Any],
        reduce_func: Callable[..., Any],
        window_size: TensorLike,
    ) -> Dataset:
        """See `tf.data.experimental.group_by_window`."""
        return self.apply(group_by_window(key_func, reduce_func, window_size))


def _giving_old_ones(method: Callable[..., DatasetV2]) -> Callable[..., Dataset]:
    @functools.wraps(method)
    def old(*args: Any, **kwargs: Any) -> Dataset:
        return Dataset(method(*args, **kwargs))

    return old


def _define_methods(sources: str, transformations: str) -> None:
    """Gives Dataset the methods of tf.data's whose results are such datasets again."""
    for name in sources.split():
        setattr(Dataset, name, staticmethod(_giving_old_ones(getattr(DatasetV1, name))))
    for name in transformations.split():
        setattr(Dataset, name, _giving_old_ones(getattr(DatasetV1, name)))


_define_methods(
    "from_generator from_sparse_tensor_slices from_tensor_slices from_tensors list_files zip",
    "apply batch cache concatenate enumerate filter flat_map interleave padded_batch prefetch "
    "repeat shard shuffle skip take unbatch",
)


@export("contrib.data.TextLineDataset")
class TextLineDataset(Dataset):
    """See `tf.data.TextLineDataset`."""

    def __init__(
        self, filenames: object, compression_type: object = None, buffer_size: object = None
    ) -> None:
        super().__init__(readers.TextLineDatasetV2(filenames, compression_type, buffer_size))


@export("contrib.data.TFRecordDataset")
class TFRecordDataset(Dataset):
    """See `tf.data.TFRecordDataset`."""

    def __init__(
        self, filenames: object, compression_type: object = None, buffer_size: object = None
    ) -> None:
        super().__init__(readers.TFRecordDatasetV2(filenames, compression_type, buffer_size))


@export("contrib.data.FixedLengthRecordDataset")
class FixedLengthRecordDataset(Dataset):
    """See `tf.data.FixedLengthRecordDataset`."""

    def __init__(
        self,
        filenames: object,
        record_bytes: object,
        header_bytes: object = None,
        footer_bytes: object = None,
        buffer_size: object = None,
    ) -> None:
        super().__init__(
            readers.FixedLengthRecordDatasetV2(
                filenames, record_bytes, header_bytes, footer_bytes, buffer_size
            )
        )
