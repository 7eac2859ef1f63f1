# SPDX-License-Identifier: Apache-2.0
"""`slim.dataset`: what a dataset is: files, how they are read and decoded."""

from __future__ import annotations

from typing import Any

from .....engine.api import export


@export("contrib.slim.dataset.Dataset")
class Dataset:
    """A dataset, as `DatasetDataProvider` takes it.

    Args:
        data_sources: the files, or patterns of their names.
        reader: the class that reads them, such as tf.TFRecordReader.
        decoder: a DataDecoder.
        num_samples: the number of samples.
        items_to_descriptions: item -> what it is, in words.
        **kwargs: further attributes.
    """

    def __init__(
        self,
        data_sources: Any,
        reader: type,
        decoder: Any,
        num_samples: int,
        items_to_descriptions: dict[str, str],
        **kwargs: Any,
    ) -> None:
        vars(self).update(
            kwargs,
            data_sources=data_sources,
            reader=reader,
            decoder=decoder,
            num_samples=num_samples,
            items_to_descriptions=items_to_descriptions,
        )
