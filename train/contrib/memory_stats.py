# SPDX-License-Identifier: Apache-2.0
"""`tf.contrib.memory_stats`: how much memory of a GPU is in use when an operation runs."""

from __future__ import annotations

from ...engine.api import export
from ...engine.graph.tensor import Tensor
from ...ops.public import raw


@export("contrib.memory_stats.BytesInUse")
def BytesInUse() -> Tensor:
    """The bytes in use of the GPU that it runs on (tf.contrib.memory_stats.BytesInUse)."""
    return raw.BytesInUse()


@export("contrib.memory_stats.MaxBytesInUse")
def MaxBytesInUse() -> Tensor:
    """The most bytes that ever were in use of the GPU (tf.contrib.memory_stats.MaxBytesInUse)."""
    return raw.MaxBytesInUse()


@export("contrib.memory_stats.BytesLimit")
def BytesLimit() -> Tensor:
    """The bytes of the GPU that may be in use (tf.contrib.memory_stats.BytesLimit)."""
    return raw.BytesLimit()
