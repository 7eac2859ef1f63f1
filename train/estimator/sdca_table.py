# SPDX-License-Identifier: Apache-2.0
"""The state of examples between steps of SDCA: a hash table in several parts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...ops.public import tf
from ..checkpoints.lookup_mutable import DenseHashTable

if TYPE_CHECKING:
    from ...engine.graph.annotations import DTypeLike
    from ...engine.graph.tensor import Tensor


class _ShardedMutableDenseHashTable:
    """Tables that share keys among them by the remainder of the key.

    Args:
        key_dtype, value_dtype: dtypes of keys and values.
        default_value: the value of keys that are not there.
        empty_key, deleted_key: two keys that nobody uses.
        num_shards: how many tables there are.
        checkpoint: whether they are saved.
        name: of the tables, with the number of each.
    """

    def __init__(
        self,
        key_dtype: DTypeLike,
        value_dtype: DTypeLike,
        default_value: Any,
        empty_key: Any,
        deleted_key: Any,
        num_shards: int = 1,
        checkpoint: bool = True,
        name: str = "ShardedMutableHashTable",
    ) -> None:
        self._key_dtype, self._value_dtype = key_dtype, value_dtype
        with tf.name_scope(name, "sharded_mutable_hash_table") as scope:
            self._table_name = scope
            self._table_shards = [
                DenseHashTable(
                    key_dtype=key_dtype,
                    value_dtype=value_dtype,
                    default_value=default_value,
                    empty_key=empty_key,
                    deleted_key=deleted_key,
                    checkpoint=checkpoint,
                    name=f"{name}-{i + 1}-of-{num_shards}",
                )
                for i in range(num_shards)
            ]
            self._value_shape = self._table_shards[0]._value_shape

    @property
    def name(self) -> str:
        """The name scope of the tables."""
        return self._table_name

    @property
    def _num_shards(self) -> int:
        return len(self._table_shards)

    @property
    def table_shards(self) -> list[DenseHashTable]:
        """The tables."""
        return self._table_shards

    def size(self, name: str | None = None) -> Tensor:
        """The number of keys in all tables, int64."""
        with tf.name_scope(name, "sharded_mutable_hash_table_size"):
            return tf.add_n([table.size() for table in self._table_shards])

    def _shard_indices(self, keys: Tensor) -> Tensor:
        if len(keys.shape) > 1:
            # The first number of a vector decides.
            keys = tf.reshape(tf.slice(keys, [0, 0], [keys.shape[0].value, 1]), [-1])
        return tf.cast(tf.mod(tf.abs(keys), self._num_shards), tf.int32)

    def _check_keys(self, keys: Tensor) -> None:
        if not keys.shape.is_fully_defined():
            raise ValueError(f"Key shape must be fully defined, got {keys.shape}.")
        if keys.shape.ndims not in (1, 2):
            raise ValueError(f"Expected a vector or matrix for keys, got {keys.shape}.")

    def lookup(self, keys: Tensor, name: str | None = None) -> Tensor:
        """The values of keys; TypeError and ValueError for keys that cannot be ones."""
        if keys.dtype.base_dtype != self._key_dtype:
            raise TypeError(
                f"Signature mismatch. Keys must be dtype {self._key_dtype}, got {keys.dtype}."
            )
        self._check_keys(keys)
        count = self._num_shards
        if count == 1:
            return self._table_shards[0].lookup(keys, name=name)
        shards = self._shard_indices(keys)
        parts = tf.dynamic_partition(keys, shards, count)
        values = [
            table.lookup(part, name=name)
            for table, part in zip(self._table_shards, parts, strict=True)
        ]
        size = keys.shape[0]
        places = tf.dynamic_partition(tf.range(size), shards, count)
        result: Tensor = tf.dynamic_stitch(places, values)
        result.set_shape(tf.TensorShape([size]).concatenate(self._value_shape))
        return result

    def insert(self, keys: Tensor, values: Tensor, name: str | None = None) -> Any:
        """The operation that puts values in."""
        self._check_keys(keys)
        count = self._num_shards
        if count == 1:
            return self._table_shards[0].insert(keys, values, name=name)
        shards = self._shard_indices(keys)
        key_parts = tf.dynamic_partition(keys, shards, count)
        value_parts = tf.dynamic_partition(values, shards, count)
        rows = zip(self._table_shards, key_parts, value_parts, strict=True)
        return tf.group(*[table.insert(key, value, name=name) for table, key, value in rows])

    def export_sharded(self, name: str | None = None) -> tuple[list[Tensor], list[Tensor]]:
        """The keys of each table, and the values."""
        found = [table.export(name=name) for table in self._table_shards]
        return [keys for keys, _ in found], [values for _, values in found]
