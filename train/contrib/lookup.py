# SPDX-License-Identifier: Apache-2.0
"""`tf.contrib.lookup`: vocabularies whose words are called `mapping`, and the first hash table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ...engine.api import export
from ...engine.deprecation import deprecated
from ...engine.graph.convert import convert_to_tensor
from ...engine.graph.graph import name_scope
from ...engine.types import dtypes
from ...ops.lookup import vocabulary
from ...ops.lookup.tables import InitializableLookupTableBase, StaticHashTable
from ...ops.lookup.vocabulary import FastHashSpec, index_table_from_file
from ...ops.public import raw

if TYPE_CHECKING:
    from ...engine.graph.annotations import TensorLike
    from ...ops.lookup.tables import TableInitializerBase

_SWITCH = "This op will be removed after the deprecation date. Please switch to {} and call the "
_SWITCH += "lookup method of the returned table."


@export("contrib.lookup.HashTable")
class HashTable(StaticHashTable):
    """A table that is filled once.

    Args:
        initializer: what fills it, such as a `KeyValueTensorInitializer`.
        default_value: the value of keys that it lacks.
        shared_name: the name under which sessions share it.
        name: of the operation that makes it.

    Example:
        >>> lookup = tf.contrib.lookup
        >>> initializer = lookup.KeyValueTensorInitializer(["a", "b"], [1, 2])
        >>> table = lookup.HashTable(initializer, default_value=-1)
        >>> with tf.Session() as sess:
        ...     sess.run(table.init)
        ...     sess.run(table.lookup(tf.constant(["b", "c"])))
        array([ 2, -1], dtype=int32)
    """

    def __init__(
        self,
        initializer: TableInitializerBase,
        default_value: TensorLike,
        shared_name: str | None = None,
        name: str | None = None,
    ) -> None:
        # Unlike tables of tf.lookup it shares nothing with others of the same content.
        self._shared_name: Any = shared_name
        self._name = name or "hash_table"
        self._table_name = None
        InitializableLookupTableBase.__init__(self, default_value, initializer)
        self._value_shape = self._default_value.shape

    @property
    def init(self) -> Any:
        """The operation that fills the table."""
        return self.initializer

    def export(self, name: str | None = None) -> tuple[Any, Any]:
        """All keys and values, as tensors."""
        with name_scope(name, f"{self.name}_Export", [self.resource_handle]) as name:
            keys, values = raw.LookupTableExportV2(
                self.resource_handle, self._key_dtype, self._value_dtype, name=name
            )
        values.set_shape(keys.shape.concatenate(self._value_shape))
        return keys, values


def _require_mapping(mapping: object) -> None:
    if mapping is None:
        raise ValueError("mapping must be specified.")


@export("contrib.lookup.index_table_from_tensor")
def index_table_from_tensor(
    mapping: TensorLike,
    num_oov_buckets: int = 0,
    default_value: int = -1,
    hasher_spec: object = FastHashSpec,
    dtype: object = dtypes.string,
    name: str | None = None,
) -> Any:
    """A table from the elements of a vector to their places.

    Args:
        mapping: the words, none twice.
        num_oov_buckets: how many numbers behind theirs are for other words, by their hash.
        default_value: the number of other words, if there are no such.
        hasher_spec: how other words are hashed.
        dtype: of the words that are looked up, string or an integer type.
        name: the scope of the operations.

    Returns:
        The table, which `tf.tables_initializer()` fills.

    Raises:
        ValueError: there are no words, or fewer buckets than none.

    Example:
        >>> table = tf.contrib.lookup.index_table_from_tensor(["a", "b"], default_value=9)
        >>> with tf.Session() as sess:
        ...     sess.run(tf.tables_initializer())
        ...     sess.run(table.lookup(tf.constant(["b", "c"])))
        array([1, 9])
    """
    _require_mapping(mapping)
    return vocabulary.index_table_from_tensor(
        mapping, num_oov_buckets, default_value, hasher_spec, dtype, name
    )


@export("contrib.lookup.index_to_string_table_from_tensor")
def index_to_string_table_from_tensor(
    mapping: Sequence[str], default_value: str = "UNK", name: str | None = None
) -> StaticHashTable:
    """A table from places to the elements of a vector of strings.

    Raises:
        ValueError: there are none.
    """
    _require_mapping(mapping)
    return vocabulary.index_to_string_table_from_tensor(mapping, default_value, name)


@export("contrib.lookup.string_to_index")
@deprecated("2017-01-07", _SWITCH.format("index_table_from_tensor"))
def string_to_index(
    tensor: TensorLike, mapping: TensorLike, default_value: int = -1, name: str | None = None
) -> Any:
    """The places of strings in a vector; `default_value` for others."""
    return index_table_from_tensor(mapping, default_value=default_value, name=name).lookup(tensor)


@export("contrib.lookup.index_to_string")
@deprecated("2017-01-07", _SWITCH.format("index_to_string_table_from_tensor"))
def index_to_string(
    tensor: TensorLike,
    mapping: Sequence[str],
    default_value: str = "UNK",
    name: str | None = None,
) -> Any:
    """The strings at places of a vector; `default_value` for other numbers."""
    return index_to_string_table_from_tensor(mapping, default_value, name).lookup(tensor)


@export("contrib.lookup.string_to_index_table_from_file")
@deprecated("2017-04-10", "Use `index_table_from_file`.")
def string_to_index_table_from_file(
    vocabulary_file: object = None,
    num_oov_buckets: int = 0,
    vocab_size: int | None = None,
    default_value: int = -1,
    hasher_spec: object = FastHashSpec,
    name: str | None = None,
) -> Any:
    """What `index_table_from_file` was called before."""
    return index_table_from_file(
        *(vocabulary_file, num_oov_buckets, vocab_size, default_value, hasher_spec), name=name
    )


@export("contrib.lookup.string_to_index_table_from_tensor")
@deprecated("2017-04-10", "Use `index_table_from_tensor`.")
def string_to_index_table_from_tensor(
    mapping: TensorLike,
    num_oov_buckets: int = 0,
    default_value: int = -1,
    hasher_spec: object = FastHashSpec,
    name: str | None = None,
) -> Any:
    """What `index_table_from_tensor` was called before; of strings only."""
    with name_scope(name, "string_to_index") as scope:
        words = convert_to_tensor(mapping)
    if words.dtype.base_dtype != dtypes.string:
        raise ValueError("string_to_index_table_from_tensor requires string.")
    return index_table_from_tensor(words, num_oov_buckets, default_value, hasher_spec, name=scope)
