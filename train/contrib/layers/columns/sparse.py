# SPDX-License-Identifier: Apache-2.0
"""Columns of categories: numbered, hashed, looked up in lists and files, with weights."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from .....engine.api import export
from .....engine.graph.tensor import SparseTensor
from .....engine.interface import log
from .....engine.types import dtypes
from .....ops.public import tf
from ..sparse_ops import dense_to_sparse_tensor
from .protocol import Categorical, reshape_real_valued, zero_weights

if TYPE_CHECKING:
    from .....engine.graph.tensor import Tensor
    from .....engine.types.dtypes import DType

_SparseIdLookupConfig = namedtuple(
    "_SparseIdLookupConfig",
    ("vocabulary_file", "keys", "num_oov_buckets", "vocab_size", "default_value"),
    defaults=(None, None, 0, None, -1),
)


class _SparseColumn(
    Categorical,
    namedtuple(
        "_SparseColumn",
        ("column_name", "is_integerized", "bucket_size", "lookup_config", "combiner", "dtype"),
    ),
):
    """A feature of categories, some for each example."""

    def __new__(
        cls,
        column_name: str,
        is_integerized: bool = False,
        bucket_size: int | None = None,
        lookup_config: Any = None,
        combiner: str = "sum",
        dtype: DType = dtypes.string,
    ) -> Any:
        of_column = f"column_name: {column_name}"
        if is_integerized and bucket_size is None:
            raise ValueError(f"bucket_size must be set if is_integerized is True. {of_column}")
        if is_integerized and not dtype.is_integer:
            raise ValueError(
                f"dtype must be an integer if is_integerized is True. dtype: {dtype}, {of_column}."
            )
        if dtype != dtypes.string and not dtype.is_integer:
            raise ValueError(f"dtype must be string or integer. dtype: {dtype}, {of_column}")
        if bucket_size is None and lookup_config is None:
            raise ValueError(f"one of bucket_size or lookup_config must be set. {of_column}")
        if bucket_size is not None and lookup_config:
            raise ValueError(
                f"one and only one of bucket_size or lookup_config must be set. {of_column}"
            )
        if bucket_size is not None and bucket_size < 1:
            raise ValueError(
                f"bucket_size must be at least 1. bucket_size: {bucket_size}, {of_column}"
            )
        _check_lookup(lookup_config, column_name)
        return super().__new__(
            cls, column_name, is_integerized, bucket_size, lookup_config, combiner, dtype
        )

    @property
    def name(self) -> str:
        """The feature's name."""
        return self.column_name  # type: ignore[no-any-return]

    @property
    def length(self) -> int:
        """The number of ids."""
        if self.bucket_size is not None:
            return self.bucket_size  # type: ignore[no-any-return]
        config = self.lookup_config
        return config.vocab_size + config.num_oov_buckets  # type: ignore[no-any-return]

    @property
    def config(self) -> dict[str, Any]:
        """How the feature is read."""
        return {self.column_name: tf.VarLenFeature(self.dtype)}

    def _to_dnn_input_layer(
        self,
        input_tensor: Any,
        weight_collections: Iterable[str] | None = None,
        trainable: bool = True,
        output_rank: int = 2,
    ) -> Any:
        raise ValueError(
            "SparseColumn is not supported in DNN. Please use embedding_column or one_hot_column. "
            f"column: {self}"
        )

    def _wide_embedding_lookup_arguments(self, input_tensor: Any) -> Any:
        ids, weights = self.id_tensor(input_tensor), self.weight_tensor(input_tensor)
        return zero_weights(ids, weights, self.length, self.combiner)

    def is_compatible(self, other_column: Any) -> bool:
        """Whether another column's ids may have the same embeddings."""
        if self.lookup_config and other_column.lookup_config:
            return bool(self.lookup_config == other_column.lookup_config)
        both_integers = self.dtype.is_integer and other_column.dtype.is_integer
        same_kind = self.dtype == other_column.dtype or both_integers
        compatible = bool(self.length == other_column.length and same_kind)
        if compatible:
            log.warning(
                f"Column {self.name} and {other_column.name} may not have the same vocabulary."
            )
        return compatible

    def _do_transform(self, input_tensor: SparseTensor) -> Any:
        raise NotImplementedError(f"{type(self).__name__} does not say what its ids are")

    def _transform_feature(self, inputs: Any) -> Any:
        tensor = inputs.get(self.name)
        if not isinstance(tensor, SparseTensor):
            # Numbers may well be zero; what is missing among them is -1.
            missing: Any = "" if tensor.dtype == dtypes.string else -1
            tensor = reshape_real_valued(tensor, 2, self.name)
            tensor = dense_to_sparse_tensor(tensor, ignore_value=missing)
        return self._do_transform(tensor)


def _check_lookup(config: Any, column_name: str) -> None:
    if config and not isinstance(config, _SparseIdLookupConfig):
        raise TypeError(
            "lookup_config must be an instance of _SparseIdLookupConfig. Given one is in type "
            f"{type(config)} for column_name {column_name}"
        )
    if config and config.vocabulary_file and config.vocab_size is None:
        raise ValueError(f"vocab_size must be defined. column_name: {column_name}")


def _with_values(tensor: SparseTensor, values: Any) -> SparseTensor:
    return SparseTensor(tensor.indices, values, tensor.dense_shape)


def _as_text(column: _SparseColumn, tensor: SparseTensor) -> Tensor:
    return tf.as_string(tensor.values) if column.dtype.is_integer else tensor.values


class _SparseColumnIntegerized(_SparseColumn):
    """What sparse_column_with_integerized_feature gives."""

    def _do_transform(self, input_tensor: SparseTensor) -> SparseTensor:
        return _with_values(input_tensor, tf.mod(input_tensor.values, self.bucket_size, name="mod"))


class _SparseColumnHashed(_SparseColumn):
    """What sparse_column_with_hash_bucket gives."""

    hash_keys: list[list[int]] | None

    def __new__(
        cls,
        column_name: str,
        is_integerized: bool = False,
        bucket_size: int | None = None,
        lookup_config: Any = None,
        combiner: str = "sum",
        dtype: DType = dtypes.string,
        hash_keys: list[list[int]] | None = None,
    ) -> Any:
        if hash_keys is not None:
            if not isinstance(hash_keys, list) or not hash_keys:
                raise ValueError("hash_keys must be a non-empty list.")
            if not all(_is_pair(pair) for pair in hash_keys):
                raise ValueError("Each element of hash_keys must be a pair of integers.")
        column = super().__new__(
            cls, column_name, is_integerized, bucket_size, lookup_config, combiner, dtype
        )
        column.hash_keys = hash_keys
        return column

    def _do_transform(self, input_tensor: SparseTensor) -> SparseTensor:
        values = _as_text(self, input_tensor)
        if not self.hash_keys:
            ids = tf.string_to_hash_bucket_fast(values, self.bucket_size, name="lookup")
            return _with_values(input_tensor, ids)
        hashed = [
            tf.string_to_hash_bucket_strong(values, self.bucket_size, key) for key in self.hash_keys
        ]
        parts = [_with_values(input_tensor, ids) for ids in hashed]
        return tf.sparse_concat(axis=1, sp_inputs=parts, name="lookup")


def _is_pair(pair: object) -> bool:
    return isinstance(pair, list) and len(pair) == 2 and all(isinstance(k, int) for k in pair)


class _SparseColumnKeys(_SparseColumn):
    """What sparse_column_with_keys gives."""

    def _do_transform(self, input_tensor: SparseTensor) -> Any:
        from .....ops.lookup.vocabulary import index_table_from_tensor

        table = index_table_from_tensor(
            vocabulary_list=tuple(self.lookup_config.keys),
            default_value=self.lookup_config.default_value,
            dtype=self.dtype,
            name="lookup",
        )
        return table.lookup(input_tensor)


class _SparseColumnVocabulary(_SparseColumn):
    """What sparse_column_with_vocabulary_file gives."""

    def _do_transform(self, input_tensor: SparseTensor) -> Any:
        from .....ops.lookup.vocabulary import index_table_from_file

        if self.dtype.is_integer:
            input_tensor = _with_values(input_tensor, tf.as_string(input_tensor.values))
        config = self.lookup_config
        table = index_table_from_file(
            vocabulary_file=config.vocabulary_file,
            num_oov_buckets=config.num_oov_buckets,
            vocab_size=config.vocab_size,
            default_value=config.default_value,
            name=self.name + "_lookup",
        )
        return table.lookup(input_tensor)


@export("contrib.layers.sparse_column_with_integerized_feature")
def sparse_column_with_integerized_feature(
    column_name: str, bucket_size: int, combiner: str = "sum", dtype: DType = dtypes.int64
) -> _SparseColumnIntegerized:
    """A column of categories that are numbers already.

    Args:
        column_name: the feature's name.
        bucket_size: the number of categories, which ids are taken modulo.
        combiner: how weights of an example's categories are put together: "sum", "mean", "sqrtn".
        dtype: of the numbers.

    Returns:
        A column for linear models; networks take it within `embedding_column` or `one_hot_column`.

    Raises:
        ValueError: the size is below 1 or the dtype none of integers.

    Example:
        >>> tf.contrib.layers.sparse_column_with_integerized_feature("age", 100).length
        100
    """
    return _SparseColumnIntegerized(
        column_name, is_integerized=True, bucket_size=bucket_size, combiner=combiner, dtype=dtype
    )


@export("contrib.layers.sparse_column_with_hash_bucket")
def sparse_column_with_hash_bucket(
    column_name: str,
    hash_bucket_size: int,
    combiner: str = "sum",
    dtype: DType = dtypes.string,
    hash_keys: list[list[int]] | None = None,
) -> _SparseColumnHashed:
    """A column of categories that are numbered by their hashes.

    Args:
        column_name: the feature's name.
        hash_bucket_size: the number of categories, which hashes are taken modulo.
        combiner: as in `sparse_column_with_integerized_feature`.
        dtype: of the feature: strings or integers.
        hash_keys: pairs of integers: each gives every category one more id, by a stronger hash.

    Returns:
        A column for linear models; networks take it within `embedding_column` or `one_hot_column`.

    Raises:
        ValueError: the size is below 1, the dtype another, or the keys no pairs.

    Example:
        >>> tf.contrib.layers.sparse_column_with_hash_bucket("town", 1000).name
        'town'
    """
    return _SparseColumnHashed(
        column_name,
        bucket_size=hash_bucket_size,
        combiner=combiner,
        dtype=dtype,
        hash_keys=hash_keys,
    )


@export("contrib.layers.sparse_column_with_keys")
def sparse_column_with_keys(
    column_name: str,
    keys: Sequence[Any],
    default_value: int = -1,
    combiner: str = "sum",
    dtype: DType = dtypes.string,
) -> _SparseColumnKeys:
    """A column of categories that are numbered by their places in a list.

    Args:
        column_name: the feature's name.
        keys: the categories.
        default_value: the id of what is not among them; -1 leaves it out.
        combiner: as in `sparse_column_with_integerized_feature`.
        dtype: of the feature: strings or integers.

    Returns:
        A column for linear models; networks take it within `embedding_column` or `one_hot_column`.

    Example:
        >>> tf.contrib.layers.sparse_column_with_keys("color", ["red", "blue"]).length
        2
    """
    keys = tuple(keys)
    lookup = _SparseIdLookupConfig(keys=keys, vocab_size=len(keys), default_value=default_value)
    return _SparseColumnKeys(column_name, lookup_config=lookup, combiner=combiner, dtype=dtype)


@export("contrib.layers.sparse_column_with_vocabulary_file")
def sparse_column_with_vocabulary_file(
    column_name: str,
    vocabulary_file: str,
    num_oov_buckets: int = 0,
    vocab_size: int | None = None,
    default_value: int = -1,
    combiner: str = "sum",
    dtype: DType = dtypes.string,
) -> _SparseColumnVocabulary:
    """A column of categories that are numbered by their lines in a file.

    Args:
        column_name: the feature's name.
        vocabulary_file: the file.
        num_oov_buckets: how many ids, by hashes, there are for what is not in the file.
        vocab_size: how many lines are read.
        default_value: the id of what is not in the file, if there are no buckets for it.
        combiner: as in `sparse_column_with_integerized_feature`.
        dtype: of the feature: strings or integers.

    Returns:
        A column for linear models; networks take it within `embedding_column` or `one_hot_column`.

    Raises:
        ValueError: there is no `vocab_size`, or the dtype is another.
    """
    if vocab_size is None:
        raise ValueError(f"vocab_size should be defined. column_name: {column_name}")
    lookup = _SparseIdLookupConfig(
        vocabulary_file=vocabulary_file,
        num_oov_buckets=num_oov_buckets,
        vocab_size=vocab_size,
        default_value=default_value,
    )
    return _SparseColumnVocabulary(
        column_name, lookup_config=lookup, combiner=combiner, dtype=dtype
    )


class _WeightedSparseColumn(
    Categorical,
    namedtuple("_WeightedSparseColumn", ("sparse_id_column", "weight_column_name", "dtype")),
):
    """What weighted_sparse_column gives."""

    @property
    def name(self) -> str:
        """The names of categories and weights."""
        return f"{self.sparse_id_column.name}_weighted_by_{self.weight_column_name}"

    @property
    def length(self) -> int:
        """The number of ids."""
        return self.sparse_id_column.length  # type: ignore[no-any-return]

    @property
    def config(self) -> dict[str, Any]:
        """How categories and weights are read."""
        weights = {self.weight_column_name: tf.VarLenFeature(self.dtype)}
        return {**self.sparse_id_column.config, **weights}

    @property
    def lookup_config(self) -> Any:
        """Where the categories' ids are from."""
        return self.sparse_id_column.lookup_config

    @property
    def parent_columns(self) -> tuple[Any, ...]:
        """The column of categories."""
        return (self.sparse_id_column,)

    def id_tensor(self, input_tensor: Any) -> Any:
        """The ids in the column's tensors."""
        return input_tensor[0]

    def weight_tensor(self, input_tensor: Any) -> Any:
        """The weights in the column's tensors."""
        return input_tensor[1]

    def _to_dnn_input_layer(
        self,
        input_tensor: Any,
        weight_collections: Iterable[str] | None = None,
        trainable: bool = True,
        output_rank: int = 2,
    ) -> Any:
        raise ValueError(
            "WeightedSparseColumn is not supported in DNN. Please use embedding_column or "
            f"one_hot_column. column: {self}"
        )

    def _wide_embedding_lookup_arguments(self, input_tensor: Any) -> Any:
        ids, weights = self.id_tensor(input_tensor), self.weight_tensor(input_tensor)
        return zero_weights(ids, weights, self.length, self.sparse_id_column.combiner)

    def _transform_feature(self, inputs: Any) -> tuple[Any, Any]:
        ids, weights = inputs.get(self.sparse_id_column), inputs.get(self.weight_column_name)
        if not isinstance(weights, SparseTensor):
            weights = dense_to_sparse_tensor(weights)
        if not self.dtype.is_floating:
            weights = tf.cast(weights, dtypes.float32)
        return ids, weights

    def is_compatible(self, other_column: Any) -> bool:
        """Whether another column's ids may have the same embeddings."""
        if isinstance(other_column, _WeightedSparseColumn):
            other_column = other_column.sparse_id_column
        return bool(self.sparse_id_column.is_compatible(other_column))


@export("contrib.layers.weighted_sparse_column")
def weighted_sparse_column(
    sparse_id_column: _SparseColumn, weight_column_name: str, dtype: DType = dtypes.float32
) -> _WeightedSparseColumn:
    """A column of categories with weights, which are another feature.

    Args:
        sparse_id_column: the column of categories.
        weight_column_name: the name of the weights' feature, which has as many.
        dtype: of the weights.

    Returns:
        A column.

    Raises:
        ValueError: the dtype is none of numbers.

    Example:
        >>> words = tf.contrib.layers.sparse_column_with_hash_bucket("words", 1000)
        >>> tf.contrib.layers.weighted_sparse_column(words, "counts").name
        'words_weighted_by_counts'
    """
    if not (dtype.is_integer or dtype.is_floating):
        raise ValueError(f"dtype is not convertible to float. Given {dtype}")
    return _WeightedSparseColumn(sparse_id_column, weight_column_name, dtype)
