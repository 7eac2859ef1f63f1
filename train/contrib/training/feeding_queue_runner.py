# SPDX-License-Identifier: Apache-2.0
"""A queue runner whose threads feed what they put in."""

from __future__ import annotations

from ...estimator.feeding import FeedingQueueRunner

__all__ = ["FeedingQueueRunner"]
