# SPDX-License-Identifier: Apache-2.0
"""MetricKey, by TensorFlow's module name."""

from __future__ import annotations

from .constants import MetricKey

__all__ = ["MetricKey"]
