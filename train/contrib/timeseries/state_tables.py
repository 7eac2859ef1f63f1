# SPDX-License-Identifier: Apache-2.0
"""Tables whose values are tensors of any shape, or several such."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ....engine.graph.convert import convert_to_tensor
from ....engine.types import nest
from ....ops.lookup.tables import LookupInterface
from ....ops.public import tf
from ...checkpoints.lookup_mutable import DenseHashTable
from ..structures import Structure

if TYPE_CHECKING:
    from ....engine.graph.annotations import DTypeLike, TensorLike
    from ....engine.graph.operation import Operation
    from ....engine.graph.tensor import Tensor


class TensorValuedMutableDenseHashTable(DenseHashTable):
    """A table whose values are tensors of one shape.

    Args:
        key_dtype, value_dtype: the types.
        default_value: the value of keys that are not there.
        The others are as of the table of vectors.
    """

    def __init__(
        self,
        key_dtype: DTypeLike,
        value_dtype: DTypeLike,
        default_value: TensorLike,
        *args: Any,
        **kwargs: Any,
    ) -> None:
        self._non_vector_value_shape = tf.shape(default_value)
        flat: Any = tf.reshape(default_value, [-1])
        super().__init__(key_dtype, value_dtype, flat, *args, **kwargs)

    def insert(self, keys: TensorLike, values: TensorLike, name: str | None = None) -> Any:
        """The operation that puts values [..., shape] in, of keys [...]."""
        flat = tf.reshape(convert_to_tensor(keys, dtype=self._key_dtype), [-1])
        rows = tf.reshape(values, [tf.shape(flat)[0], -1])
        return super().insert(keys=flat, values=rows, name=name)

    def lookup(self, keys: Any, name: str | None = None) -> Tensor:
        """The values of keys."""
        flat = tf.reshape(convert_to_tensor(keys, dtype=self._key_dtype), [-1])
        rows = super().lookup(keys=flat, name=name)
        shape = tf.concat([tf.shape(keys), self._non_vector_value_shape], 0)
        return tf.reshape(rows, shape)


class TupleOfTensorsLookup(LookupInterface):
    """A table whose values are several tensors, in tuples or lists.

    Args:
        key_dtype: the type of the keys.
        default_values: the values of keys that are not there.
        empty_key, deleted_key: two keys that nobody uses.
        name: how the names of its tables begin.
        checkpoint: whether it is saved.
    """

    def __init__(
        self,
        key_dtype: DTypeLike,
        default_values: Structure,
        empty_key: TensorLike,
        deleted_key: TensorLike,
        name: str,
        checkpoint: bool = True,
    ) -> None:
        tables = [
            TensorValuedMutableDenseHashTable(
                key_dtype=key_dtype,
                value_dtype=default.dtype.base_dtype,
                default_value=default,
                empty_key=empty_key,
                deleted_key=deleted_key,
                name=f"{name}_{i}",
                checkpoint=checkpoint,
            )
            for i, default in enumerate(nest.flatten(default_values))
        ]
        self._hash_tables = nest.pack_sequence_as(default_values, tables)
        self._name = name

    def lookup(self, keys: Any, name: str | None = None) -> Any:
        """The values of keys, like the default ones."""
        return nest.map_structure(lambda table: table.lookup(keys), self._hash_tables)

    def insert(self, keys: TensorLike, values: Structure, name: str | None = None) -> Operation:
        """The operation that puts values in; all are computed before."""
        nest.assert_same_structure(self._hash_tables, values)
        rows = [tf.identity(value) for value in nest.flatten(values)]
        with tf.control_dependencies(rows):
            pairs = zip(nest.flatten(self._hash_tables), rows)
            return tf.group(*[table.insert(keys, value) for table, value in pairs])
