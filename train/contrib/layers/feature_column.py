# SPDX-License-Identifier: Apache-2.0
"""Feature columns, as TensorFlow's module of this name has them, and how features are read."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from ....engine.api import export
from ....engine.interface import log
from ....ops.public import tf
from ...feature_column.input_layer import InputLayer
from .columns.crossed import _CrossedColumn, crossed_column
from .columns.embedding import (
    _EmbeddingColumn,
    _OneHotColumn,
    _ScatteredEmbeddingColumn,
    embedding_column,
    embeddings_from_arguments,
    maybe_restore_from_checkpoint,
    one_hot_column,
    scattered_embedding_column,
    shared_embedding_columns,
)
from .columns.protocol import (
    TransformedColumns,
    _DeepEmbeddingLookupArguments,
    _FeatureColumn,
    _LinearEmbeddingLookupArguments,
    reshape_real_valued,
)
from .columns.real_valued import (
    _BucketizedColumn,
    _real_valued_var_len_column,
    _RealValuedColumn,
    _RealValuedVarLenColumn,
    bucketized_column,
    real_valued_column,
)
from .columns.series import DataFrameColumn
from .columns.sparse import (
    _SparseColumn,
    _SparseColumnHashed,
    _SparseColumnIntegerized,
    _SparseColumnKeys,
    _SparseColumnVocabulary,
    _SparseIdLookupConfig,
    _WeightedSparseColumn,
    sparse_column_with_hash_bucket,
    sparse_column_with_integerized_feature,
    sparse_column_with_keys,
    sparse_column_with_vocabulary_file,
    weighted_sparse_column,
)

if TYPE_CHECKING:
    from ....engine.graph.tensor import SparseTensor, Tensor

# As TensorFlow calls them.
_embeddings_from_arguments = embeddings_from_arguments
_maybe_restore_from_checkpoint = maybe_restore_from_checkpoint
_reshape_real_valued_tensor = reshape_real_valued
_LazyBuilderByColumnsToTensor = TransformedColumns

__all__ = [
    "DataFrameColumn",
    "InputLayer",
    "_BucketizedColumn",
    "_CrossedColumn",
    "_DeepEmbeddingLookupArguments",
    "_EmbeddingColumn",
    "_FeatureColumn",
    "_LinearEmbeddingLookupArguments",
    "_OneHotColumn",
    "_RealValuedColumn",
    "_RealValuedVarLenColumn",
    "_ScatteredEmbeddingColumn",
    "_SparseColumn",
    "_SparseColumnHashed",
    "_SparseColumnIntegerized",
    "_SparseColumnKeys",
    "_SparseColumnVocabulary",
    "_SparseIdLookupConfig",
    "_WeightedSparseColumn",
    "_real_valued_var_len_column",
    "bucketized_column",
    "create_feature_spec_for_parsing",
    "crossed_column",
    "embedding_column",
    "make_place_holder_tensors_for_base_features",
    "one_hot_column",
    "real_valued_column",
    "scattered_embedding_column",
    "shared_embedding_columns",
    "sparse_column_with_hash_bucket",
    "sparse_column_with_integerized_feature",
    "sparse_column_with_keys",
    "sparse_column_with_vocabulary_file",
    "weighted_sparse_column",
]


@export("contrib.layers.create_feature_spec_for_parsing")
def create_feature_spec_for_parsing(feature_columns: Iterable[Any]) -> dict[str, Any]:
    """What tf.io.parse_example is told to read the features of columns.

    Args:
        feature_columns: columns of `tf.contrib.layers`, or a dict of them.

    Returns:
        FixedLenFeature, VarLenFeature and the like by the features' names.

    Raises:
        TypeError: one of them is no such column.

    Example:
        >>> age = tf.contrib.layers.real_valued_column("age")
        >>> tf.contrib.layers.create_feature_spec_for_parsing([age])["age"].shape
        [1]
    """
    if isinstance(feature_columns, dict):
        feature_columns = feature_columns.values()
    spec: dict[str, Any] = {}
    for column in feature_columns:
        if not isinstance(column, _FeatureColumn):
            raise TypeError(
                "feature_columns should only contain instances of _FeatureColumn. Given column is "
                f"{column}"
            )
        if isinstance(column, DataFrameColumn):
            raise TypeError(f"Not supported _FeatureColumn type. Given column is {column}")
        spec.update(column.config)
    return spec


def _create_sequence_feature_spec_for_parsing(
    sequence_feature_columns: Iterable[Any], allow_missing_by_default: bool = False
) -> dict[str, Any]:
    """The same for the sequences in tf.SequenceExamples."""
    return {
        key: _in_sequence(key, feature, allow_missing_by_default)
        for key, feature in create_feature_spec_for_parsing(sequence_feature_columns).items()
    }


def _in_sequence(key: str, feature: Any, allow_missing: bool) -> Any:
    if isinstance(feature, tf.VarLenFeature):
        return feature
    if not isinstance(feature, (tf.FixedLenFeature, tf.FixedLenSequenceFeature)):
        raise TypeError(f"Unsupported feature type: {type(feature).__name__}")
    has_default = feature.default_value is not None
    if has_default:
        log.warning(
            f'Found default value {feature.default_value} for feature "{key}". Ignoring this value '
            "and setting `allow_missing=True` instead."
        )
    return tf.FixedLenSequenceFeature(
        shape=feature.shape, dtype=feature.dtype, allow_missing=allow_missing or has_default
    )


@export("contrib.layers.make_place_holder_tensors_for_base_features")
def make_place_holder_tensors_for_base_features(
    feature_columns: Iterable[Any],
) -> dict[str, Tensor | SparseTensor]:
    """Placeholders for the features of columns.

    Args:
        feature_columns: columns of `tf.contrib.layers`, or a dict of them.

    Returns:
        Placeholders, sparse or dense, by the features' names.

    Example:
        >>> age = tf.contrib.layers.real_valued_column("age")
        >>> tf.contrib.layers.make_place_holder_tensors_for_base_features([age])["age"].shape
        TensorShape([Dimension(None), Dimension(1)])
    """
    return {
        key: tf.sparse_placeholder(feature.dtype, name=f"Placeholder_{key}")
        if isinstance(feature, tf.VarLenFeature)
        else tf.placeholder(
            feature.dtype, shape=(None, feature.shape[0]), name=f"Placeholder_{key}"
        )
        for key, feature in create_feature_spec_for_parsing(feature_columns).items()
    }
