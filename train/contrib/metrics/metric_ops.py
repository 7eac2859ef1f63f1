# SPDX-License-Identifier: Apache-2.0
"""What TensorFlow's module of this name has, beside the public names."""

from __future__ import annotations

from .accumulating import next_size

_next_array_size = next_size
