# SPDX-License-Identifier: Apache-2.0
"""`slim.dataset_data_provider`: the items of a dataset, read and decoded one sample at a time."""

from __future__ import annotations

from typing import Any

from .....engine.api import export
from . import data_provider, parallel_reader
from .dataset import Dataset


@export("contrib.slim.dataset_data_provider.DatasetDataProvider")
class DatasetDataProvider(data_provider.DataProvider):
    """Gives the tensors of a dataset's items.

    Args:
        dataset: the Dataset.
        num_readers: how many readers read at once.
        reader_kwargs: their arguments.
        shuffle: whether files and records are mixed.
        num_epochs: how often the files are read, counted by a local variable; None goes on.
        common_queue_capacity: how many records wait at most.
        common_queue_min: how many at least stay when one is taken, where they are mixed.
        record_key: the item under which the record's key is found.
        seed: of the mixing.
        scope: the scope of the operations.

    Raises:
        ValueError: `record_key` is an item of the dataset.
    """

    def __init__(
        self,
        dataset: Dataset,
        num_readers: int = 1,
        reader_kwargs: dict[str, Any] | None = None,
        shuffle: bool = True,
        num_epochs: int | None = None,
        common_queue_capacity: int = 256,
        common_queue_min: int = 128,
        record_key: str = "record_key",
        seed: int | None = None,
        scope: str | None = None,
    ) -> None:
        described: Any = dataset
        key, data = parallel_reader.parallel_read(
            described.data_sources,
            reader_class=described.reader,
            num_epochs=num_epochs,
            num_readers=num_readers,
            reader_kwargs=reader_kwargs,
            shuffle=shuffle,
            capacity=common_queue_capacity,
            min_after_dequeue=common_queue_min,
            seed=seed,
            scope=scope,
        )
        items = described.decoder.list_items()
        tensors = dict(zip(items, described.decoder.decode(data, items)))
        if record_key in tensors:
            raise ValueError(
                "The item name used for `record_key` cannot also be used for a dataset item: "
                f"{record_key}"
            )
        super().__init__({**tensors, record_key: key}, described.num_samples)
