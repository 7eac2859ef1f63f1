# SPDX-License-Identifier: Apache-2.0
"""Which operations take each tensor, by TensorFlow's name of the module."""

from __future__ import annotations

from .common import InputToOps

__all__ = ["InputToOps"]
