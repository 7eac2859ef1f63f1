# SPDX-License-Identifier: Apache-2.0
"""DenseFeatures as TensorFlow 2 has it: its variables are named by name scopes."""

from __future__ import annotations

from typing import Any

from ...ops.public import tf
from ..layers import base_layer
from . import dense_features
from .state import _StateManagerImplV2


class DenseFeatures(dense_features.DenseFeatures):
    """A matrix of dense columns whose variables the layer makes itself, without partitions.

    Args:
        feature_columns: dense columns.
        trainable: whether the variables are trained.
        name: of the name scope.
    """

    def __init__(
        self, feature_columns: Any, trainable: bool = True, name: str | None = None, **kwargs: Any
    ) -> None:
        super().__init__(feature_columns, trainable, name, **kwargs)
        self._state_manager = _StateManagerImplV2(self, self.trainable)

    def build(self, input_shape: Any) -> None:
        """Makes the columns' variables."""
        for column in self._feature_columns:
            with tf.name_scope(column.name):
                column.create_state(self._state_manager)
        base_layer.Layer.build(self, input_shape)
