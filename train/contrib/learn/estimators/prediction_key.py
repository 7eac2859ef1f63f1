# SPDX-License-Identifier: Apache-2.0
"""PredictionKey, by TensorFlow's module name."""

from __future__ import annotations

from .constants import PredictionKey

__all__ = ["PredictionKey"]
