# SPDX-License-Identifier: Apache-2.0
"""Columns of sequences, and context repeated along them."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from ...engine.api import export
from ...engine.types import dtypes
from ...engine.types.shape import TensorShape
from ...ops.public import tf
from .categorical import (
    categorical_column_with_hash_bucket,
    categorical_column_with_identity,
    categorical_column_with_vocabulary_file,
    categorical_column_with_vocabulary_list,
)
from .checks import checked_shape, sequence_length_from_sparse_tensor
from .protocol import (
    CategoricalColumn,
    IdWeightPair,
    SequenceDenseColumn,
    TensorSequenceLengthPair,
    arguments_of,
    buckets_of,
    config_of,
    is_new,
    sparse_tensors_of,
    spec_of,
)
from .serialization import (
    deserialize_feature_column,
    function_from,
    name_of_function,
    serialize_feature_column,
)

if TYPE_CHECKING:
    from ...engine.graph.tensor import Tensor
    from ...engine.types.dtypes import DType
    from .state import Cache, Objects, StateManager


@export("feature_column.sequence_categorical_column_with_identity")
def sequence_categorical_column_with_identity(
    key: str, num_buckets: int, default_value: int | None = None
) -> SequenceCategoricalColumn:
    """categorical_column_with_identity for sequences."""
    return SequenceCategoricalColumn(
        categorical_column_with_identity(key, num_buckets, default_value)
    )


@export("feature_column.sequence_categorical_column_with_hash_bucket")
def sequence_categorical_column_with_hash_bucket(
    key: str, hash_bucket_size: int, dtype: DType = dtypes.string
) -> SequenceCategoricalColumn:
    """categorical_column_with_hash_bucket for sequences."""
    return SequenceCategoricalColumn(
        categorical_column_with_hash_bucket(key, hash_bucket_size, dtype)
    )


@export("feature_column.sequence_categorical_column_with_vocabulary_file")
def sequence_categorical_column_with_vocabulary_file(
    key: str,
    vocabulary_file: str,
    vocabulary_size: int | None = None,
    num_oov_buckets: int = 0,
    default_value: int | None = None,
    dtype: DType = dtypes.string,
) -> SequenceCategoricalColumn:
    """categorical_column_with_vocabulary_file for sequences."""
    return SequenceCategoricalColumn(
        categorical_column_with_vocabulary_file(
            key, vocabulary_file, vocabulary_size, num_oov_buckets, default_value, dtype
        )
    )


@export("feature_column.sequence_categorical_column_with_vocabulary_list")
def sequence_categorical_column_with_vocabulary_list(
    key: str,
    vocabulary_list: Sequence[Any],
    dtype: DType | None = None,
    default_value: int = -1,
    num_oov_buckets: int = 0,
) -> SequenceCategoricalColumn:
    """categorical_column_with_vocabulary_list for sequences."""
    return SequenceCategoricalColumn(
        categorical_column_with_vocabulary_list(
            key, vocabulary_list, dtype, default_value, num_oov_buckets
        )
    )


@export("feature_column.sequence_numeric_column")
def sequence_numeric_column(
    key: str,
    shape: int | Sequence[int] = (1,),
    default_value: float = 0.0,
    dtype: DType = dtypes.float32,
    normalizer_fn: Callable[..., Any] | None = None,
) -> SequenceNumericColumn:
    """A column of sequences of numbers.

    Args:
        key: the feature's name.
        shape: of one step's numbers.
        default_value: what pads shorter sequences.
        dtype: of the feature.
        normalizer_fn: a function from the sparse tensor to the one to take instead.

    Returns:
        A column for layers of sequences.

    Raises:
        TypeError: a size is no integer, or normalizer_fn no function.
        ValueError: the dtype is no number's, or a size not positive.
    """
    shape = checked_shape(shape, key)
    if not (dtype.is_integer or dtype.is_floating):
        raise ValueError(f"dtype must be convertible to float. dtype: {dtype}, key: {key}")
    if normalizer_fn is not None and not callable(normalizer_fn):
        raise TypeError(f"normalizer_fn must be a callable. Given: {normalizer_fn}")
    return SequenceNumericColumn(key, shape, default_value, dtype, normalizer_fn)


def concatenate_context_input(context_input: Any, sequence_input: Any) -> Tensor:
    """Sequences [batch, steps, a] with context [batch, b] at every step: [batch, steps, a + b].

    Raises:
        ValueError: a rank is another, or a dtype is not float32.
    """
    checks = [
        check
        for tensor, what, rank in ((sequence_input, "sequence", 3), (context_input, "context", 2))
        for check in (
            tf.assert_rank(
                tensor,
                rank,
                message=f"{what}_input must have rank {rank}",
                data=[tf.shape(tensor)],
            ),
            tf.assert_type(
                tensor,
                dtypes.float32,
                message=f"{what}_input must have dtype float32; got {tensor.dtype}.",
            ),
        )
    ]
    with tf.control_dependencies(checks):
        steps = tf.shape(sequence_input)[1]
        times = tf.concat([[1], [steps], [1]], 0)
        repeated = tf.tile(tf.expand_dims(context_input, 1), times)
    return tf.concat([sequence_input, repeated], 2)


def assert_all_equal_and_return(tensors: Sequence[Any], name: str | None = None) -> Any:
    """The first of several tensors that a run finds to be equal."""
    with tf.name_scope(name, "assert_all_equal", values=tensors):
        if len(tensors) == 1:
            return tensors[0]
        checks = [tf.assert_equal(tensors[0], other) for other in tensors[1:]]
        with tf.control_dependencies(checks):
            return tf.identity(tensors[0])


class SequenceNumericColumn(
    SequenceDenseColumn,
    namedtuple(
        "SequenceNumericColumn", ("key", "shape", "default_value", "dtype", "normalizer_fn")
    ),
):
    """What sequence_numeric_column gives."""

    @property
    def _is_v2_column(self) -> bool:
        return True

    @property
    def name(self) -> str:
        """The key."""
        return self.key  # type: ignore[no-any-return]

    @property
    def parse_example_spec(self) -> dict[str, Any]:
        """A feature of varying length."""
        return {self.key: tf.VarLenFeature(self.dtype)}

    def transform_feature(
        self, transformation_cache: Cache, state_manager: StateManager | None
    ) -> Any:
        """The normalized numbers, sparse."""
        tensor = transformation_cache.get(self.key, state_manager)
        return tensor if self.normalizer_fn is None else self.normalizer_fn(tensor)

    @property
    def variable_shape(self) -> TensorShape:
        """The shape of one step's numbers."""
        return TensorShape(self.shape)

    @property
    def _variable_shape(self) -> TensorShape:
        return self.variable_shape

    def get_sequence_dense_tensor(
        self, transformation_cache: Cache, state_manager: StateManager | None
    ) -> TensorSequenceLengthPair:
        """The numbers, padded, and the lengths."""
        sparse = transformation_cache.get(self, state_manager)
        dense = tf.sparse_tensor_to_dense(sparse, default_value=self.default_value)
        shape = tf.concat([tf.shape(dense)[:1], [-1], self.variable_shape], axis=0)
        dense = tf.reshape(dense, shape=shape)
        # Sparse tensors of three axes have a step's numbers along the third.
        width = self.variable_shape.num_elements() if sparse.shape.ndims == 2 else 1
        lengths = sequence_length_from_sparse_tensor(sparse, num_elements=width)
        return TensorSequenceLengthPair(dense_tensor=dense, sequence_length=lengths)

    @property
    def parents(self) -> list[Any]:
        """The key."""
        return [self.key]

    def _get_config(self) -> dict[str, Any]:
        named = name_of_function(self.normalizer_fn)
        return {**config_of(self), "normalizer_fn": named, "dtype": self.dtype.name}

    @classmethod
    def _from_config(
        cls, config: dict[str, Any], custom_objects: Objects = None, columns_by_name: Objects = None
    ) -> SequenceNumericColumn:
        given = arguments_of(cls, config)
        given["normalizer_fn"] = function_from(config["normalizer_fn"], custom_objects)
        given["dtype"] = dtypes.as_dtype(config["dtype"])
        return cls(**given)


class SequenceCategoricalColumn(
    CategoricalColumn, namedtuple("SequenceCategoricalColumn", ("categorical_column",))
):
    """Categories in sequences."""

    @property
    def _is_v2_column(self) -> bool:
        return is_new(self.categorical_column)

    @property
    def name(self) -> str:
        """The name of the categories."""
        return self.categorical_column.name  # type: ignore[no-any-return]

    @property
    def parse_example_spec(self) -> dict[str, Any]:
        """How the categories are read."""
        return spec_of(self.categorical_column)

    def transform_feature(
        self, transformation_cache: Cache, state_manager: StateManager | None
    ) -> Any:
        """What the categories make of the features."""
        return self.categorical_column.transform_feature(transformation_cache, state_manager)

    @property
    def num_buckets(self) -> int:
        """The number of categories."""
        return buckets_of(self.categorical_column)

    def get_sparse_tensors(
        self, transformation_cache: Cache, state_manager: StateManager | None
    ) -> IdWeightPair:
        """The ids and weights as sparse tensors of three axes: batch, steps, the rest."""
        found = sparse_tensors_of(self.categorical_column, transformation_cache, state_manager)
        shape = tf.shape(found.id_tensor)
        target = [shape[0], shape[1], tf.reduce_prod(shape[2:])]
        ids = tf.sparse_reshape(found.id_tensor, target)
        weights = found.weight_tensor
        if weights is not None:
            weights = tf.sparse_reshape(weights, target)
        return IdWeightPair(ids, weights)

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
    ) -> SequenceCategoricalColumn:
        given = arguments_of(cls, config)
        given["categorical_column"] = deserialize_feature_column(
            config["categorical_column"], custom_objects, columns_by_name
        )
        return cls(**given)


def require_sequence(column: Any, kind: str, wanted: bool, old: bool) -> None:
    """Raises ValueError unless a column's categories are in sequences, or unless they are not."""
    categories = column.categorical_column
    if isinstance(categories, SequenceCategoricalColumn) == wanted:
        return
    head = f"In {kind}: {column.name}. categorical_column must "
    tail = f"Given (type {type(categories)}): {categories}"
    if wanted:
        kind_and_use = (
            "_SequenceCategoricalColumn to use sequence_input_layer"
            if old
            else "SequenceCategoricalColumn to use SequenceFeatures"
        )
        raise ValueError(
            f"{head}be of type {kind_and_use}. "
            f"Suggested fix: Use one of sequence_categorical_column_with_*. {tail}"
        )
    raise ValueError(
        f"{head}not be of type {'_' if old else ''}SequenceCategoricalColumn. "
        "Suggested fix A: If you wish to use DenseFeatures, use a non-sequence "
        "categorical_column_with_*. Suggested fix B: If you wish to create sequence input, use "
        f"SequenceFeatures instead of DenseFeatures. {tail}"
    )
