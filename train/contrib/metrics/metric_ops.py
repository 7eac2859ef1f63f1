# SPDX-License-Identifier: Apache-2.0
"""What TensorFlow's module of this name has, beside the public names."""

from __future__ import annotations

from .accumulating import next_size, streaming_concat
from .rates import recall_at_precision
from .streaming import METRICS

_next_array_size = next_size
globals().update(METRICS)

__all__ = ["_next_array_size", "recall_at_precision", "streaming_concat"]
