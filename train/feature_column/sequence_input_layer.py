# SPDX-License-Identifier: Apache-2.0
"""`tf.contrib.feature_column.sequence_input_layer`: columns of sequences in 1.x's way."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ...engine.api import constant, export
from ...ops.public import tf
from . import sequence_feature_column as columns
from .protocol import _SequenceDenseColumn, normalized_old, verify_static_batch_size_equality
from .state import _LazyBuilder

for _name in (
    "sequence_categorical_column_with_hash_bucket",
    "sequence_categorical_column_with_identity",
    "sequence_categorical_column_with_vocabulary_file",
    "sequence_categorical_column_with_vocabulary_list",
    "sequence_numeric_column",
):
    constant(f"contrib.feature_column.{_name}", getattr(columns, _name))


@export("contrib.feature_column.sequence_input_layer")
def sequence_input_layer(
    features: dict[str, Any],
    feature_columns: Any,
    weight_collections: Iterable[str] | None = None,
    trainable: bool = True,
) -> tuple[Any, Any]:
    """Padded sequences of columns, side by side in the order of their names, and their lengths.

    Args:
        features: sparse tensors by key.
        feature_columns: sequence_numeric_columns, and embedding or indicator columns of
            categories in sequences.
        weight_collections: collections that variables join, beside that of all.
        trainable: whether the variables are trained.

    Returns:
        A float32 Tensor [batch, steps, the sum of the columns' sizes] and an int64 one [batch].

    Raises:
        ValueError: a column is of another kind, there are none, or two have one name.
    """
    normalized = normalized_old(feature_columns)
    for column in normalized:
        if not isinstance(column, _SequenceDenseColumn):
            raise ValueError(
                "All feature_columns must be of type _SequenceDenseColumn. You can wrap a "
                "sequence_categorical_column with an embedding_column or indicator_column. Given "
                f"(type {type(column)}): {column}"
            )
    ordered = sorted(normalized, key=lambda column: column.name)
    with tf.variable_scope(
        None, default_name="sequence_input_layer", values=list(features.values())
    ):
        builder, outputs, lengths = _LazyBuilder(features), [], []
        for column in ordered:
            with tf.variable_scope(None, default_name=column._var_scope_name):
                dense, length = column._get_sequence_dense_tensor(
                    builder, weight_collections=weight_collections, trainable=trainable
                )
                shape, width = tf.shape(dense), column._variable_shape.num_elements()
                outputs.append(tf.reshape(dense, shape=[shape[0], shape[1], width]))
                lengths.append(length)
        verify_static_batch_size_equality(outputs, ordered)
        verify_static_batch_size_equality(lengths, ordered)
        length = columns.assert_all_equal_and_return(lengths)
        return tf.concat(outputs, -1), length
