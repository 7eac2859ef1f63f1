# SPDX-License-Identifier: Apache-2.0
"""Batches of parsed Examples, as tensors."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ....engine.api import export
from ....engine.deprecation import deprecated
from ....ops.data.dataset_v1 import make_one_shot_iterator
from ....ops.data.experimental.reading import make_batched_features_dataset
from ....ops.data.readers import TFRecordDataset

if TYPE_CHECKING:
    from ....engine.graph.annotations import TensorLike


@export("contrib.data.read_batch_features")
@deprecated(None, "Use `tf.data.experimental.make_batched_features_dataset(...)`")
def read_batch_features(
    file_pattern: object,
    batch_size: TensorLike,
    features: Mapping[str, Any],
    reader: object = TFRecordDataset,
    reader_args: object = None,
    randomize_input: bool = True,
    num_epochs: TensorLike | None = None,
    capacity: TensorLike = 10000,
) -> dict[str, Any]:
    """The next batch of parsed Examples of files.

    Args:
        file_pattern: a pattern of names of files, or several.
        batch_size: how many Examples are a batch.
        features: what is asked for, as of `tf.io.parse_example`.
        reader: a function from a file's name to a dataset of serialized Examples.
        reader_args: further arguments of `reader`.
        randomize_input: whether Examples are shuffled.
        num_epochs: how often the files are read; for ever if None.
        capacity: how many Examples wait while they are shuffled.

    Returns:
        Tensors by the features' names.
    """
    dataset = make_batched_features_dataset(
        file_pattern,
        batch_size,
        features,
        reader=reader,
        reader_args=reader_args,
        shuffle=randomize_input,
        num_epochs=num_epochs,
        shuffle_buffer_size=capacity,
    )
    return make_one_shot_iterator(dataset).get_next()
