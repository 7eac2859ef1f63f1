# SPDX-License-Identifier: Apache-2.0
"""Vocabularies: tables from words to numbers and back, with buckets for unknown words."""

from __future__ import annotations

import functools
from collections import namedtuple
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from ...engine.api import export
from ...engine.graph.constants import constant_value
from ...engine.graph.convert import convert_to_tensor
from ...engine.graph.graph import name_scope
from ...engine.graph.tensor import SparseTensor, Tensor
from ...engine.signatures import without_private_bases
from ...engine.types import dtypes
from ..public import tf
from .tables import (
    HashTable,
    KeyValueTensorInitializer,
    LookupInterface,
    StaticHashTable,
    TextFileIdTableInitializer,
    TextFileIndex,
    TextFileStringTableInitializer,
)

if TYPE_CHECKING:
    from ...engine.graph.annotations import TensorLike
    from ...engine.graph.operation import Operation
    from ...engine.types.dtypes import DType


class HasherSpec(namedtuple("HasherSpec", ["hasher", "key"])):
    """How unknown words are hashed: "fasthash", "stronghash" (with a key) or "legacy"."""

    __slots__ = ()


FastHashSpec = HasherSpec("fasthash", None)


class StrongHashSpec(HasherSpec):
    """Hashing under a key of two integers."""

    __slots__ = ()

    def __new__(cls, key: Sequence[int]) -> StrongHashSpec:
        if len(key) != 2:
            raise ValueError(f"key must have size 2, got {len(key)}.")
        if not all(isinstance(part, int) for part in key):
            raise TypeError(f"Invalid key {key}. Must be unsigned integer values.")
        return super().__new__(cls, "stronghash", key)


def _hash_function(spec: Any) -> Callable[..., Any]:
    if spec.hasher == "fasthash":
        return tf.string_to_hash_bucket_fast
    if spec.hasher == "legacy":
        return tf.string_to_hash_bucket
    if spec.hasher == "stronghash":
        return functools.partial(tf.string_to_hash_bucket_strong, key=spec.key)
    raise ValueError(f"Unknown hasher {spec.hasher}")


def _as_text(tensor: Tensor) -> Tensor:
    return tensor if tensor.dtype.base_dtype == dtypes.string else tf.as_string(tensor)


class _WithBuckets(LookupInterface):
    """Words of a table keep their numbers; others get those behind, by their hash."""

    _table: Any
    _num_oov_buckets: int
    _table_name: str | None
    _hasher_spec: Any

    def _create_resource(self) -> Any:
        return None if self._table is None else self._table._create_resource()

    def _initialize(self) -> Any:
        return self._nothing() if self._table is None else self._table._initialize()

    @staticmethod
    def _nothing() -> Operation:
        with name_scope(None, "init"):
            return tf.no_op()

    @property
    def initializer(self) -> Any:
        """The operation that fills the table."""
        return self._nothing() if self._table is None else self._table._init_op

    @property
    def resource_handle(self) -> Any:
        return None if self._table is None else self._table.resource_handle

    @property
    def name(self) -> Any:
        return self._table_name

    def size(self, name: str | None = None) -> Any:
        """The number of words and buckets."""
        with name_scope(name, f"{self.name}_Size"):
            if self._table:
                words = self._table.size()
            else:
                words = convert_to_tensor(0, dtype=dtypes.int64)
            return words + self._num_oov_buckets

    def lookup(self, keys: Any, name: str | None = None) -> Any:
        """The numbers of words, a tensor or the values of a SparseTensor."""
        self._require_key_type(keys)
        values = keys.values if isinstance(keys, SparseTensor) else keys
        if self._table and self._table.key_dtype.base_dtype == dtypes.int64:
            # Tables have int64 keys for integers of any type.
            values = tf.cast(values, dtypes.int64)
        if self._num_oov_buckets == 0:
            numbers = self._table.lookup(values, name=name)
        else:
            with name_scope(name, f"{self.name}_Lookup"):
                numbers = self._numbers(values)
        if isinstance(keys, SparseTensor):
            return SparseTensor(keys.indices, numbers, keys.dense_shape)
        return numbers

    def _numbers(self, values: Tensor) -> Any:
        hashed = _hash_function(self._hasher_spec)
        count = self._num_oov_buckets
        buckets = hashed(_as_text(values), num_buckets=count, name="hash_bucket")
        if not self._table:
            return buckets
        numbers = self._table.lookup(values)
        # Buckets are numbered behind the words of the table.
        buckets = tf.add(buckets, self._table.size())
        # A word whose number is the table's default counts as unknown, as in TensorFlow.
        is_known = tf.not_equal(numbers, self._table.default_value)
        return tf.where_v2(is_known, numbers, buckets)


def _require_word_types(source: Any, key_dtype: Any) -> None:
    """TypeError unless a table (or initializer) goes from words of a type to numbers."""
    allowed = (dtypes.int64, dtypes.string)
    if source.key_dtype not in allowed:
        raise TypeError(f"Invalid key dtype, expected one of {allowed}, but got {key_dtype}.")
    if source.key_dtype.is_integer != key_dtype.is_integer:
        wanted = "integer" if key_dtype.is_integer else "non-integer"
        raise TypeError(f"Invalid key dtype, expected {wanted} but got {source.key_dtype}.")
    if source.value_dtype != dtypes.int64:
        raise TypeError(
            f"Invalid value dtype, expected {dtypes.int64} but got {source.value_dtype}."
        )


def _require_word_type(key_dtype: DType) -> None:
    if not key_dtype.is_integer and key_dtype != dtypes.string:
        raise TypeError(f"Invalid key_dtype, expected integer or string, got {key_dtype}.")


@without_private_bases
class IdTableWithHashBuckets(_WithBuckets):
    """A table of words (or none) and `num_oov_buckets` buckets for all others."""

    def __init__(
        self,
        table: Any,
        num_oov_buckets: int,
        hasher_spec: object = FastHashSpec,
        name: str | None = None,
        key_dtype: Any = None,
    ) -> None:
        name = name.rstrip("/") if name else name
        self._table = table or None
        if table:
            key_dtype = table.key_dtype if key_dtype is None else key_dtype
            _require_word_types(table, key_dtype)
            name = name or table.name
        else:
            if num_oov_buckets <= 0:
                raise ValueError("oov_buckets must be > 0 if no table is supplied.")
            key_dtype = dtypes.string if key_dtype is None else key_dtype
            name = name or "hash_bucket"
        _require_word_type(key_dtype)
        self._num_oov_buckets = num_oov_buckets
        if not isinstance(hasher_spec, HasherSpec):
            raise TypeError(f"hasher_spec must be of type HasherSpec, got {hasher_spec}")
        self._hasher_spec = hasher_spec
        self._table_name = name.split("/")[-1] if name else None
        super().__init__(key_dtype, dtypes.int64)

    @property
    def init(self) -> Any:
        """The older name of `initializer`."""
        return self.initializer


@export("lookup.StaticVocabularyTable")
@without_private_bases
class StaticVocabularyTable(_WithBuckets):
    """The same from an initializer (tf.lookup.StaticVocabularyTable)."""

    _hasher_spec = FastHashSpec

    def __init__(
        self,
        initializer: Any,
        num_oov_buckets: int,
        lookup_key_dtype: Any = None,
        name: str | None = None,
    ) -> None:
        if num_oov_buckets <= 0:
            raise ValueError("oov_buckets must be > 0.")
        name = name.rstrip("/") if name else name
        self._table = None
        if initializer:
            if lookup_key_dtype is None:
                lookup_key_dtype = initializer.key_dtype
            _require_word_types(initializer, lookup_key_dtype)
            self._table = HashTable(initializer, default_value=-1)
            name = name or self._table.name
        else:
            lookup_key_dtype = dtypes.string
            name = name or "hash_bucket"
        _require_word_type(lookup_key_dtype)
        self._num_oov_buckets = num_oov_buckets
        self._table_name = None if name is None else name.split("/")[-1]
        super().__init__(lookup_key_dtype, dtypes.int64)


def _require_file(vocabulary_file: str) -> None:
    if vocabulary_file is None or (isinstance(vocabulary_file, str) and not vocabulary_file):
        raise ValueError("vocabulary_file must be specified and must not be empty.")


def _require_buckets(num_oov_buckets: int) -> None:
    if num_oov_buckets < 0:
        raise ValueError(f"num_oov_buckets must be greater or equal than 0, got {num_oov_buckets}.")


def index_table_from_file(
    vocabulary_file: Any = None,
    num_oov_buckets: int = 0,
    vocab_size: int | None = None,
    default_value: int = -1,
    hasher_spec: Any = FastHashSpec,
    key_dtype: Any = dtypes.string,
    name: str | None = None,
    key_column_index: int = TextFileIndex.WHOLE_LINE,
    value_column_index: int = TextFileIndex.LINE_NUMBER,
    delimiter: str = "\t",
) -> Any:
    """A table from the lines of a file to their numbers; unknown words go to the buckets."""
    _require_file(vocabulary_file)
    _require_buckets(num_oov_buckets)
    if vocab_size is not None and vocab_size < 1:
        shown = vocabulary_file
        if isinstance(vocabulary_file, Tensor):
            shown = constant_value(vocabulary_file) or "?"
        raise ValueError(
            f"vocab_size must be greater than 0, got {vocab_size}. vocabulary_file: {shown}"
        )
    if not key_dtype.is_integer and key_dtype.base_dtype != dtypes.string:
        raise TypeError("Only integer and string keys are supported.")
    with name_scope(name, "string_to_index"):
        with name_scope(None, "hash_table"):
            initializer = TextFileIdTableInitializer(
                vocabulary_file,
                vocab_size=vocab_size,
                key_dtype=dtypes.int64 if key_dtype.is_integer else key_dtype,
                name="table_init",
                key_column_index=key_column_index,
                value_column_index=value_column_index,
                delimiter=delimiter,
            )
            table: Any = StaticHashTable(initializer, default_value)
        return _with_buckets(table, num_oov_buckets, hasher_spec, key_dtype)


def _with_buckets(table: object, count: int, hasher_spec: object, key_dtype: DType) -> Any:
    if not count:
        return table
    return IdTableWithHashBuckets(
        table, num_oov_buckets=count, hasher_spec=hasher_spec, key_dtype=key_dtype
    )


def index_table_from_tensor(
    vocabulary_list: TensorLike,
    num_oov_buckets: int = 0,
    default_value: int = -1,
    hasher_spec: Any = FastHashSpec,
    dtype: Any = dtypes.string,
    name: str | None = None,
) -> Any:
    """A table from the elements of a vector to their places; unknown words go to the buckets."""
    if vocabulary_list is None:
        raise ValueError("vocabulary_list must be specified.")
    _require_buckets(num_oov_buckets)
    if not dtype.is_integer and dtype.base_dtype != dtypes.string:
        raise TypeError("Only integer and string keys are supported.")
    with name_scope(name, "string_to_index"):
        keys = convert_to_tensor(vocabulary_list)
        if keys.dtype.is_integer != dtype.is_integer:
            wanted = "integer" if dtype.is_integer else "non-integer"
            raise ValueError(f"Expected {wanted}, got {keys.dtype}.")
        if not dtype.is_integer and keys.dtype.base_dtype != dtype:
            raise ValueError(f"Expected {dtype}, got {keys.dtype}.")
        count = tf.size(keys)
        values = tf.cast(tf.range(count), dtypes.int64)
        with name_scope(None, "hash_table"):
            words = tf.cast(keys, dtypes.int64) if keys.dtype.is_integer else keys
            initializer = KeyValueTensorInitializer(
                words, values, words.dtype.base_dtype, dtypes.int64, name="table_init"
            )
            table: Any = StaticHashTable(initializer, default_value)
        return _with_buckets(table, num_oov_buckets, hasher_spec, dtype)


def index_to_string_table_from_file(
    vocabulary_file: str,
    vocab_size: int | None = None,
    default_value: str = "UNK",
    name: str | None = None,
    key_column_index: int = TextFileIndex.LINE_NUMBER,
    value_column_index: int = TextFileIndex.WHOLE_LINE,
    delimiter: str = "\t",
) -> StaticHashTable:
    """A table from line numbers to the lines of a file."""
    _require_file(vocabulary_file)
    if vocab_size is not None and vocab_size < 1:
        raise ValueError(f"vocab_size must be greater than 0, got {vocab_size}.")
    with name_scope(name, "index_to_string"):
        initializer = TextFileStringTableInitializer(
            vocabulary_file,
            vocab_size=vocab_size,
            name="table_init",
            key_column_index=key_column_index,
            value_column_index=value_column_index,
            delimiter=delimiter,
        )
        return StaticHashTable(initializer, default_value)


def index_to_string_table_from_tensor(
    vocabulary_list: Sequence[str], default_value: str = "UNK", name: str | None = None
) -> StaticHashTable:
    """A table from places to the elements of a vector of strings."""
    if vocabulary_list is None:
        raise ValueError("vocabulary_list must be specified.")
    with name_scope(name, "index_to_string"):
        words = convert_to_tensor(vocabulary_list, dtypes.string)
        count = tf.size(words)
        keys = tf.cast(tf.range(count), dtypes.int64)
        initializer = KeyValueTensorInitializer(
            keys, words, dtypes.int64, dtypes.string, name="table_init"
        )
        return StaticHashTable(initializer, default_value)
