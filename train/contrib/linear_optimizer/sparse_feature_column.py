# SPDX-License-Identifier: Apache-2.0
"""Sparse features of a batch, by their name in contrib."""

from __future__ import annotations

from ....engine.api import export
from ...estimator.sdca_model import _SparseFeatureColumn


@export("contrib.linear_optimizer.SparseFeatureColumn")
class SparseFeatureColumn(_SparseFeatureColumn):
    """Sparse features of a batch.

    Args:
        example_indices: int64 [n], which example each is of.
        feature_indices: int64 [n], which feature it is.
        feature_values: float32 [n]; None where all are 1.
    """
