# SPDX-License-Identifier: Apache-2.0
"""Columns of categories as vectors of how often each occurs."""

from __future__ import annotations

from collections import namedtuple
from typing import TYPE_CHECKING, Any

from ...engine.api import export
from ...engine.types.shape import TensorShape
from ...ops.public import tf
from .checks import sequence_length_from_sparse_tensor
from .protocol import (
    DenseColumn,
    SequenceDenseColumn,
    TensorSequenceLengthPair,
    arguments_of,
    buckets_of,
    config_of,
    is_new,
    sparse_tensors_of,
    spec_of,
)
from .sequence_feature_column import require_sequence
from .serialization import deserialize_feature_column, serialize_feature_column
from .state import OldInputs

if TYPE_CHECKING:
    from .state import Cache, Objects, StateManager


@export("feature_column.indicator_column")
def indicator_column(categorical_column: Any) -> IndicatorColumn:
    """A dense column of categories: how often each occurs, or its weight.

    Args:
        categorical_column: the categories.

    Returns:
        A dense column.

    Example:
        >>> colors = ["red", "green"]
        >>> color = tf.feature_column.categorical_column_with_vocabulary_list("color", colors)
        >>> tf.feature_column.indicator_column(color).name
        'color_indicator'
    """
    return IndicatorColumn(categorical_column)


class IndicatorColumn(
    DenseColumn, SequenceDenseColumn, namedtuple("IndicatorColumn", ("categorical_column",))
):
    """What indicator_column gives."""

    @property
    def _is_v2_column(self) -> bool:
        return is_new(self.categorical_column)

    @property
    def name(self) -> str:
        """The categories' name with a suffix."""
        return f"{self.categorical_column.name}_indicator"

    @property
    def parse_example_spec(self) -> dict[str, Any]:
        """How the categories are read."""
        return spec_of(self.categorical_column)

    @property
    def variable_shape(self) -> TensorShape:
        """[1, the number of categories]."""
        return TensorShape([1, buckets_of(self.categorical_column)])

    def transform_feature(
        self, transformation_cache: Cache, state_manager: StateManager | None
    ) -> Any:
        """How often each category occurs, or the sum of its weights."""
        ids, weights = sparse_tensors_of(
            self.categorical_column, transformation_cache, state_manager
        )
        count = buckets_of(self.categorical_column)
        if weights is not None:
            merged = tf.sparse_merge(sp_ids=ids, sp_values=weights, vocab_size=count)
            # Drops what lies outside.
            merged = tf.sparse_slice(merged, [0, 0], merged.dense_shape)
            return tf.scatter_nd(merged.indices, merged.values, merged.dense_shape)
        dense = tf.sparse_tensor_to_dense(ids, default_value=-1)
        one_hot = tf.one_hot(dense, depth=count, on_value=1.0, off_value=0.0)
        return tf.reduce_sum(one_hot, axis=[-2])

    def get_dense_tensor(
        self, transformation_cache: Cache, state_manager: StateManager | None
    ) -> Any:
        """The vectors."""
        old = isinstance(transformation_cache, OldInputs)
        require_sequence(self, "indicator_column", False, old)
        return transformation_cache.get(self, state_manager)

    def get_sequence_dense_tensor(
        self, transformation_cache: Cache, state_manager: StateManager | None
    ) -> TensorSequenceLengthPair:
        """The vectors of each step, and the lengths."""
        old = isinstance(transformation_cache, OldInputs)
        require_sequence(self, "indicator_column", True, old)
        dense = transformation_cache.get(self, state_manager)
        found = sparse_tensors_of(self.categorical_column, transformation_cache, state_manager)
        lengths = sequence_length_from_sparse_tensor(found.id_tensor)
        return TensorSequenceLengthPair(dense_tensor=dense, sequence_length=lengths)

    @property
    def parents(self) -> list[Any]:
        """The column of categories."""
        return [self.categorical_column]

    def _get_config(self) -> dict[str, Any]:
        column = serialize_feature_column(self.categorical_column)
        return {**config_of(self), "categorical_column": column}

    @classmethod
    def _from_config(
        cls, config: dict[str, Any], custom_objects: Objects = None, columns_by_name: Objects = None
    ) -> IndicatorColumn:
        given = arguments_of(cls, config)
        given["categorical_column"] = deserialize_feature_column(
            config["categorical_column"], custom_objects, columns_by_name
        )
        return cls(**given)
