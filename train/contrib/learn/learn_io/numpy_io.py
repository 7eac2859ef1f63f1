# SPDX-License-Identifier: Apache-2.0
"""Arrays, by TensorFlow's module name."""

from __future__ import annotations

from typing import Any

from .....engine.api import export
from ....estimator.inputs import numpy_input_fn as _shuffling


@export("contrib.learn.io.numpy_input_fn")
def numpy_input_fn(
    x: object,
    y: object = None,
    batch_size: int = 128,
    num_epochs: int | None = 1,
    shuffle: bool = True,
    queue_capacity: int = 1000,
    num_threads: int = 1,
) -> Any:
    """`tf.estimator.inputs.numpy_input_fn`, which shuffles unless told not to."""
    return _shuffling(x, y, batch_size, num_epochs, shuffle, queue_capacity, num_threads)
