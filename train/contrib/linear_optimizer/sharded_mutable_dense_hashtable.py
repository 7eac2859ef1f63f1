# SPDX-License-Identifier: Apache-2.0
"""The table of examples' states, by its name in contrib."""

from __future__ import annotations

from ...estimator.sdca_table import _ShardedMutableDenseHashTable


class ShardedMutableDenseHashTable(_ShardedMutableDenseHashTable):
    """Tables that share keys among them by the remainder of the key."""
