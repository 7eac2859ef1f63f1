# SPDX-License-Identifier: Apache-2.0
"""Why some ops are slower than TensorFlow's: op type (or "type, gradient") -> the reason."""

from __future__ import annotations

SLOW_BECAUSE: dict[str, str] = {}
