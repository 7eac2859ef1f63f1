# SPDX-License-Identifier: Apache-2.0
"""Frames of pandas, by TensorFlow's module name."""

from __future__ import annotations

from typing import Any

from .....engine.api import export
from ....estimator.inputs import pandas_input_fn as _shuffling
from .frames import (
    HAS_PANDAS,
    PANDAS_DTYPES,
    extract_pandas_data,
    extract_pandas_labels,
    extract_pandas_matrix,
)

__all__ = [
    "HAS_PANDAS",
    "PANDAS_DTYPES",
    "extract_pandas_data",
    "extract_pandas_labels",
    "extract_pandas_matrix",
    "pandas_input_fn",
]


@export("contrib.learn.io.pandas_input_fn")
def pandas_input_fn(
    x: object,
    y: object = None,
    batch_size: int = 128,
    num_epochs: int | None = 1,
    shuffle: bool = True,
    queue_capacity: int = 1000,
    num_threads: int = 1,
    target_column: str = "target",
) -> Any:
    """`tf.estimator.inputs.pandas_input_fn`, which shuffles unless told not to."""
    return _shuffling(
        *(x, y, batch_size, num_epochs, shuffle, queue_capacity, num_threads, target_column)
    )
