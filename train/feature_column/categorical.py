# SPDX-License-Identifier: Apache-2.0
"""Columns of categories: by hash, by vocabulary, by number; and categories with weights."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ...engine.api import export
from ...engine.graph.tensor import SparseTensor
from ...engine.interface import log
from ...engine.types import dtypes
from ...io import files
from ...ops.lookup.vocabulary import index_table_from_file, index_table_from_tensor
from ...ops.public import tf
from .checks import assert_key_is_string, assert_string_or_int
from .protocol import (
    CategoricalColumn,
    IdWeightPair,
    arguments_of,
    buckets_of,
    config_of,
    is_new,
    spec_of,
)
from .serialization import deserialize_feature_column, serialize_feature_column

if TYPE_CHECKING:
    from ...engine.graph.tensor import Tensor
    from ...engine.types.dtypes import DType
    from .state import Cache, Objects, StateManager


@export("feature_column.categorical_column_with_hash_bucket")
def categorical_column_with_hash_bucket(
    key: str, hash_bucket_size: int, dtype: DType = dtypes.string
) -> HashedCategoricalColumn:
    """A column of categories that are numbered by their hashes.

    Args:
        key: the feature's name.
        hash_bucket_size: the number of categories, which hashes are taken modulo.
        dtype: of the feature: string or an integer.

    Returns:
        A categorical column.

    Raises:
        ValueError: the size is not positive, the key no string, or the dtype another.

    Example:
        >>> column = tf.feature_column.categorical_column_with_hash_bucket("city", 1000)
        >>> column.num_buckets
        1000
    """
    if hash_bucket_size is None:
        raise ValueError(f"hash_bucket_size must be set. key: {key}")
    if hash_bucket_size < 1:
        raise ValueError(
            f"hash_bucket_size must be at least 1. hash_bucket_size: {hash_bucket_size}, key: {key}"
        )
    assert_key_is_string(key)
    assert_string_or_int(dtype, prefix=f"column_name: {key}")
    return HashedCategoricalColumn(key, hash_bucket_size, dtype)


def _check_oov(key: str, num_oov_buckets: int, has_default: bool) -> None:
    if num_oov_buckets and has_default:
        raise ValueError(f"Can't specify both num_oov_buckets and default_value in {key}.")
    if num_oov_buckets and num_oov_buckets < 0:
        raise ValueError(f"Invalid num_oov_buckets {num_oov_buckets} in {key}.")


@export("feature_column.categorical_column_with_vocabulary_file")
def categorical_column_with_vocabulary_file(
    key: str,
    vocabulary_file: str,
    vocabulary_size: int | None = None,
    num_oov_buckets: int = 0,
    default_value: int | None = None,
    dtype: DType = dtypes.string,
) -> VocabularyFileCategoricalColumn:
    """A column of categories that are numbered by the lines of a file.

    Args:
        key: the feature's name.
        vocabulary_file: a file with one category a line.
        vocabulary_size: how many lines count; None for all that the file has.
        num_oov_buckets: categories for what the file does not have, by hash.
        default_value: the number of what the file does not have, -1 if None.
        dtype: of the feature: string or an integer.

    Returns:
        A categorical column.

    Raises:
        ValueError: there is no such file, a size is wrong, buckets and a default are given both,
            or the dtype is another.
    """
    return categorical_column_with_vocabulary_file_v2(
        key, vocabulary_file, vocabulary_size, dtype, default_value, num_oov_buckets
    )


def categorical_column_with_vocabulary_file_v2(
    key: str,
    vocabulary_file: str,
    vocabulary_size: int | None = None,
    dtype: DType = dtypes.string,
    default_value: int | None = None,
    num_oov_buckets: int = 0,
) -> VocabularyFileCategoricalColumn:
    """As categorical_column_with_vocabulary_file, with arguments in TensorFlow 2's order."""
    if not vocabulary_file:
        raise ValueError(f"Missing vocabulary_file in {key}.")
    if vocabulary_size is None:
        if not files.file_exists(vocabulary_file):
            raise ValueError(f"vocabulary_file in {key} does not exist.")
        with files.GFile(vocabulary_file) as file:
            vocabulary_size = sum(1 for _ in file)
        log.info(
            "vocabulary_size = %d in %s is inferred from the number of elements in the "
            "vocabulary_file %s.",
            *(vocabulary_size, key, vocabulary_file),
        )
    if vocabulary_size < 1:
        raise ValueError(f"Invalid vocabulary_size in {key}.")
    _check_oov(key, num_oov_buckets, default_value is not None)
    assert_string_or_int(dtype, prefix=f"column_name: {key}")
    assert_key_is_string(key)
    return VocabularyFileCategoricalColumn(
        key=key,
        vocabulary_file=vocabulary_file,
        vocabulary_size=vocabulary_size,
        num_oov_buckets=num_oov_buckets or 0,
        dtype=dtype,
        default_value=-1 if default_value is None else default_value,
    )


@export("feature_column.categorical_column_with_vocabulary_list")
def categorical_column_with_vocabulary_list(
    key: str,
    vocabulary_list: Sequence[Any],
    dtype: DType | None = None,
    default_value: int = -1,
    num_oov_buckets: int = 0,
) -> VocabularyListCategoricalColumn:
    """A column of categories that are numbered by a list.

    Args:
        key: the feature's name.
        vocabulary_list: strings or integers, each once.
        dtype: of the feature; the list's if None.
        default_value: the number of what the list does not have.
        num_oov_buckets: categories for what the list does not have, by hash.

    Returns:
        A categorical column.

    Raises:
        ValueError: the list is empty or repeats itself, its dtype is another, or buckets and a
            default are given both.

    Example:
        >>> colors = ["red", "green"]
        >>> column = tf.feature_column.categorical_column_with_vocabulary_list("color", colors)
        >>> column.num_buckets
        2
    """
    if vocabulary_list is None or len(vocabulary_list) < 1:
        raise ValueError(f"vocabulary_list {vocabulary_list} must be non-empty, column_name: {key}")
    if len(set(vocabulary_list)) != len(vocabulary_list):
        raise ValueError(f"Duplicate keys in vocabulary_list {vocabulary_list}, column_name: {key}")
    listed = dtypes.as_dtype(np.array(vocabulary_list).dtype)
    _check_oov(key, num_oov_buckets, default_value != -1)
    assert_string_or_int(listed, prefix=f"column_name: {key} vocabulary")
    if dtype is None:
        dtype = listed
    elif dtype.is_integer != listed.is_integer:
        raise ValueError(
            f"dtype {dtype} and vocabulary dtype {listed} do not match, column_name: {key}"
        )
    assert_string_or_int(dtype, prefix=f"column_name: {key}")
    assert_key_is_string(key)
    return VocabularyListCategoricalColumn(
        key, tuple(vocabulary_list), dtype, default_value, num_oov_buckets
    )


@export("feature_column.categorical_column_with_identity")
def categorical_column_with_identity(
    key: str, num_buckets: int, default_value: int | None = None
) -> IdentityCategoricalColumn:
    """A column of categories that are numbers already.

    Args:
        key: the feature's name.
        num_buckets: the number of categories.
        default_value: what numbers outside become; None makes them an error.

    Returns:
        A categorical column.

    Raises:
        ValueError: there are no buckets, the default is outside, or the key is no string.

    Example:
        >>> tf.feature_column.categorical_column_with_identity("video", 10).name
        'video'
    """
    if num_buckets < 1:
        raise ValueError(f"num_buckets {num_buckets} < 1, column_name {key}")
    if default_value is not None and not 0 <= default_value < num_buckets:
        raise ValueError(
            f"default_value {default_value} not in range [0, {num_buckets}), column_name {key}"
        )
    assert_key_is_string(key)
    return IdentityCategoricalColumn(key, num_buckets, default_value)


@export("feature_column.weighted_categorical_column")
def weighted_categorical_column(
    categorical_column: Any, weight_feature_key: str, dtype: DType = dtypes.float32
) -> WeightedCategoricalColumn:
    """A column of categories with weights.

    Args:
        categorical_column: the categories.
        weight_feature_key: the name of the feature that has the weights, one for each category.
        dtype: of the weights.

    Returns:
        A categorical column.

    Raises:
        ValueError: the dtype is no number's.

    Example:
        >>> words = tf.feature_column.categorical_column_with_identity("word", 10)
        >>> tf.feature_column.weighted_categorical_column(words, "count").name
        'word_weighted_by_count'
    """
    if dtype is None or not (dtype.is_integer or dtype.is_floating):
        raise ValueError(f"dtype {dtype} is not convertible to float.")
    return WeightedCategoricalColumn(categorical_column, weight_feature_key, dtype)


def to_sparse_input(input_tensor: Any, ignore_value: Any = None) -> SparseTensor:
    """A sparse tensor of what is not the value to ignore: "", -1 or 0.0 unless given."""
    tensor = tf.convert_to_tensor_or_sparse_tensor(input_tensor)
    if isinstance(tensor, SparseTensor):
        return tensor
    with tf.name_scope(None, "to_sparse_input", (tensor, ignore_value)):
        if ignore_value is None:
            if tensor.dtype == dtypes.string:
                ignore_value = ""
            elif tensor.dtype.is_integer:
                ignore_value = -1
            else:
                ignore_value = tensor.dtype.as_numpy_dtype()
        ignored = tf.cast(ignore_value, tensor.dtype, name="ignore_value")
        indices = tf.where(tf.not_equal(tensor, ignored), name="indices")
        return SparseTensor(
            indices=indices,
            values=tf.gather_nd(tensor, indices, name="values"),
            dense_shape=tf.shape(tensor, out_type=dtypes.int64, name="dense_shape"),
        )


class _KeyedColumn(CategoricalColumn):
    """A column of categories that one feature has; `_ids` numbers them."""

    @property
    def _is_v2_column(self) -> bool:
        return True

    @property
    def name(self) -> str:
        """The key."""
        return self.key  # type: ignore[attr-defined, no-any-return]

    @property
    def parse_example_spec(self) -> dict[str, Any]:
        """A feature of varying length."""
        return {self.name: tf.VarLenFeature(self.dtype)}  # type: ignore[attr-defined]

    def _ids(self, tensor: Any, state_manager: StateManager | None) -> Any:
        raise NotImplementedError(f"{type(self).__name__} numbers no categories")

    def transform_feature(
        self, transformation_cache: Cache, state_manager: StateManager | None
    ) -> Any:
        """The ids as a sparse tensor."""
        tensor = to_sparse_input(transformation_cache.get(self.name, state_manager))
        return self._ids(tensor, state_manager)

    def _check_dtype(self, tensor: Any) -> None:
        if self.dtype.is_integer != tensor.dtype.is_integer:  # type: ignore[attr-defined]
            raise ValueError(
                "Column dtype and SparseTensors dtype must be compatible. "
                f"key: {self.name}, column dtype: {self.dtype}, "  # type: ignore[attr-defined]
                f"tensor dtype: {tensor.dtype}"
            )

    def get_sparse_tensors(
        self, transformation_cache: Cache, state_manager: StateManager | None
    ) -> IdWeightPair:
        """The ids, without weights."""
        return IdWeightPair(transformation_cache.get(self, state_manager), None)

    @property
    def parents(self) -> list[Any]:
        """The key."""
        return [self.name]

    def _get_config(self) -> dict[str, Any]:
        return {**config_of(self), "dtype": self.dtype.name}  # type: ignore[attr-defined]

    @classmethod
    def _from_config(
        cls, config: dict[str, Any], custom_objects: Objects = None, columns_by_name: Objects = None
    ) -> _KeyedColumn:
        given = arguments_of(cls, config)
        if "dtype" in given:
            given["dtype"] = dtypes.as_dtype(given["dtype"])
        return cls(**given)


class HashedCategoricalColumn(
    _KeyedColumn, namedtuple("HashedCategoricalColumn", ("key", "hash_bucket_size", "dtype"))
):
    """What categorical_column_with_hash_bucket gives."""

    def _ids(self, tensor: Any, state_manager: StateManager | None) -> SparseTensor:
        if not isinstance(tensor, SparseTensor):
            raise ValueError("SparseColumn input must be a SparseTensor.")
        assert_string_or_int(tensor.dtype, prefix=f"column_name: {self.key} input_tensor")
        self._check_dtype(tensor)
        texts = tensor.values if self.dtype == dtypes.string else tf.as_string(tensor.values)
        ids = tf.string_to_hash_bucket_fast(texts, self.hash_bucket_size, name="lookup")
        return SparseTensor(tensor.indices, ids, tensor.dense_shape)

    @property
    def num_buckets(self) -> int:
        """The number of categories."""
        return self.hash_bucket_size  # type: ignore[no-any-return]


class _VocabularyColumn(_KeyedColumn):
    """A column whose categories a table numbers."""

    def _table(self, key_dtype: DType, name: str) -> Any:
        raise NotImplementedError(f"{type(self).__name__} has no table")

    def _ids(self, tensor: Any, state_manager: StateManager | None) -> Any:
        self._check_dtype(tensor)
        assert_string_or_int(tensor.dtype, prefix=f"column_name: {self.name} input_tensor")
        key_dtype = self.dtype  # type: ignore[attr-defined]
        if tensor.dtype.is_integer:
            # Tables have no smaller integers.
            key_dtype = dtypes.int64
            tensor = tf.cast(tensor, dtypes.int64)
        name = f"{self.name}_lookup"
        table = self._table(key_dtype, name)
        if state_manager is not None:
            state_manager.add_resource(self, name, table)
        return table.lookup(tensor)


class VocabularyFileCategoricalColumn(
    _VocabularyColumn,
    namedtuple(
        "VocabularyFileCategoricalColumn",
        ("key", "vocabulary_file", "vocabulary_size", "num_oov_buckets", "dtype", "default_value"),
    ),
):
    """What categorical_column_with_vocabulary_file gives."""

    def _table(self, key_dtype: DType, name: str) -> Any:
        return index_table_from_file(
            vocabulary_file=self.vocabulary_file,
            num_oov_buckets=self.num_oov_buckets,
            vocab_size=self.vocabulary_size,
            default_value=self.default_value,
            key_dtype=key_dtype,
            name=name,
        )

    @property
    def num_buckets(self) -> int:
        """The lines that count, and the buckets for others."""
        return self.vocabulary_size + self.num_oov_buckets  # type: ignore[no-any-return]


class VocabularyListCategoricalColumn(
    _VocabularyColumn,
    namedtuple(
        "VocabularyListCategoricalColumn",
        ("key", "vocabulary_list", "dtype", "default_value", "num_oov_buckets"),
    ),
):
    """What categorical_column_with_vocabulary_list gives."""

    def _table(self, key_dtype: DType, name: str) -> Any:
        return index_table_from_tensor(
            vocabulary_list=tuple(self.vocabulary_list),
            default_value=self.default_value,
            num_oov_buckets=self.num_oov_buckets,
            dtype=key_dtype,
            name=name,
        )

    @property
    def num_buckets(self) -> int:
        """The list's categories, and the buckets for others."""
        return len(self.vocabulary_list) + self.num_oov_buckets  # type: ignore[no-any-return]


class IdentityCategoricalColumn(
    _KeyedColumn,
    namedtuple("IdentityCategoricalColumn", ("key", "number_buckets", "default_value")),
):
    """What categorical_column_with_identity gives."""

    @property
    def parse_example_spec(self) -> dict[str, Any]:
        """A feature of varying length."""
        return {self.key: tf.VarLenFeature(dtypes.int64)}

    def _ids(self, tensor: Any, state_manager: StateManager | None) -> SparseTensor:
        if not tensor.dtype.is_integer:
            raise ValueError(f"Invalid input, not integer. key: {self.key} dtype: {tensor.dtype}")
        values = tf.cast(tensor.values, dtypes.int64, name="values")
        count = tf.cast(self.num_buckets, dtypes.int64, name="num_buckets")
        zero = tf.cast(0, dtypes.int64, name="zero")
        if self.default_value is None:
            values = self._required(values, count, zero)
        else:
            outside = tf.logical_or(values < zero, values >= count, name="out_of_range")
            default = tf.cast(self.default_value, dtypes.int64)
            defaults = tf.fill(dims=tf.shape(values), value=default, name="default_values")
            values = tf.where_v2(outside, defaults, values)
        return SparseTensor(indices=tensor.indices, values=values, dense_shape=tensor.dense_shape)

    def _required(self, values: Any, count: Any, zero: Any) -> Tensor:
        """The values, once they are known to lie within."""
        below = tf.assert_less(
            values,
            count,
            data=(values, count),
            message=f'Bucket index for categorical column "{self.name}" exceeds number of buckets',
            name="assert_less_than_num_buckets",
        )
        above = tf.assert_greater_equal(
            values,
            zero,
            data=(values,),
            message=f'Negative bucket index for categorical column "{self.name}"',
            name="assert_greater_or_equal_0",
        )
        with tf.control_dependencies((below, above)):
            return tf.identity(values)

    @property
    def num_buckets(self) -> int:
        """The number of categories."""
        return self.number_buckets  # type: ignore[no-any-return]

    def _get_config(self) -> dict[str, Any]:
        return config_of(self)


class WeightedCategoricalColumn(
    CategoricalColumn,
    namedtuple("WeightedCategoricalColumn", ("categorical_column", "weight_feature_key", "dtype")),
):
    """What weighted_categorical_column gives."""

    @property
    def _is_v2_column(self) -> bool:
        return is_new(self.categorical_column)

    @property
    def name(self) -> str:
        """The names of categories and weights."""
        return f"{self.categorical_column.name}_weighted_by_{self.weight_feature_key}"

    @property
    def parse_example_spec(self) -> dict[str, Any]:
        """How the categories are read, and the weights."""
        spec = spec_of(self.categorical_column)
        key = self.weight_feature_key
        if key in spec:
            raise ValueError(f"Parse config {spec[key]} already exists for {key}.")
        spec[key] = tf.VarLenFeature(self.dtype)
        return spec

    @property
    def num_buckets(self) -> int:
        """The number of categories."""
        return buckets_of(self.categorical_column)

    def transform_feature(
        self, transformation_cache: Cache, state_manager: StateManager | None
    ) -> tuple[Any, Any]:
        """The ids and the weights."""
        weights = transformation_cache.get(self.weight_feature_key, state_manager)
        if weights is None:
            raise ValueError(f"Missing weights {self.weight_feature_key}.")
        weights = tf.convert_to_tensor_or_sparse_tensor(weights)
        if self.dtype != weights.dtype.base_dtype:
            raise ValueError(f"Bad dtype, expected {self.dtype}, but got {weights.dtype}.")
        if not isinstance(weights, SparseTensor):
            # A weight of zero is none: dense ids that are ignored have such ones.
            weights = to_sparse_input(weights, ignore_value=0.0)
        if not weights.dtype.is_floating:
            weights = tf.cast(weights, dtypes.float32)
        return transformation_cache.get(self.categorical_column, state_manager), weights

    def get_sparse_tensors(
        self, transformation_cache: Cache, state_manager: StateManager | None
    ) -> IdWeightPair:
        """The ids and the weights."""
        return IdWeightPair(*transformation_cache.get(self, state_manager))

    @property
    def parents(self) -> list[Any]:
        """The column of categories and the key of weights."""
        return [self.categorical_column, self.weight_feature_key]

    def _get_config(self) -> dict[str, Any]:
        column = serialize_feature_column(self.categorical_column)
        return {**config_of(self), "categorical_column": column, "dtype": self.dtype.name}

    @classmethod
    def _from_config(
        cls, config: dict[str, Any], custom_objects: Objects = None, columns_by_name: Objects = None
    ) -> WeightedCategoricalColumn:
        given = arguments_of(cls, config)
        given["categorical_column"] = deserialize_feature_column(
            config["categorical_column"], custom_objects, columns_by_name
        )
        given["dtype"] = dtypes.as_dtype(config["dtype"])
        return cls(**given)
