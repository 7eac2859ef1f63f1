# SPDX-License-Identifier: Apache-2.0
"""Inputs that programs of tf.contrib.learn try estimators with: the iris flowers as tensors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .....ops.public import tf
from ..datasets.base import Dataset, load_iris


def get_quantile_based_buckets(feature_values: Any, num_buckets: int) -> list[float]:
    """The values that part a feature into one bucket more than there are values."""
    shares: Sequence[float] = [100 * (i + 1.0) / (num_buckets + 1.0) for i in range(num_buckets)]
    return list(np.percentile(np.array(feature_values), shares))


def prepare_iris_data_for_logistic_regression() -> Dataset:
    """The flowers of the first two kinds."""
    iris = load_iris()
    chosen = np.flatnonzero((iris.target == 0) | (iris.target == 1))
    return Dataset(data=iris.data[chosen], target=iris.target[chosen])


def _tensors(data: Dataset) -> tuple[dict[str, Any], Any]:
    features = {"feature": tf.constant(data.data, dtype=tf.float32)}
    shape = (len(data.target), 1)
    return features, tf.constant(data.target, shape=shape, dtype=tf.int32)


def iris_input_multiclass_fn() -> tuple[dict[str, Any], Any]:
    """Features and labels of all 150 flowers, of three kinds."""
    return _tensors(load_iris())


def iris_input_logistic_fn() -> tuple[dict[str, Any], Any]:
    """Features and labels of 100 flowers, of two kinds."""
    return _tensors(prepare_iris_data_for_logistic_regression())
