# SPDX-License-Identifier: Apache-2.0
"""Lookup tables that change while the graph runs, and that savers save."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ...engine.api import export
from ...engine.graph.collections import GraphKeys, add_to_collection
from ...engine.graph.convert import convert_to_tensor
from ...engine.graph.graph import colocate_with, name_scope
from ...engine.signatures import without_private_bases
from ...ops.lookup.tables import LookupInterface
from ...ops.public import raw
from .saveable import SaveableObject, SaveSpec

if TYPE_CHECKING:
    from ...engine.graph.annotations import DTypeLike, TensorLike
    from ...engine.graph.operation import Operation
    from ...engine.graph.tensor import Tensor


class _Saveable(SaveableObject):
    """A table as two tensors: its keys and its values."""

    def __init__(self, table: Any, name: str) -> None:
        keys, values = table.export()
        specs = [SaveSpec(keys, "", f"{name}-keys"), SaveSpec(values, "", f"{name}-values")]
        super().__init__(table, specs, name)

    def restore(
        self, restored_tensors: Any, restored_shapes: Any, name: str | None = None
    ) -> Operation:
        with name_scope(name, f"{self.name}_table_restore"):
            with colocate_with(self.op.resource_handle):
                return raw.LookupTableImportV2(
                    self.op.resource_handle, restored_tensors[0], restored_tensors[1]
                )


class _Mutable(LookupInterface):
    """What the mutable tables share."""

    _default_value: Any
    _name: str
    _checkpoint: bool
    _shared_name: str | None = None
    _table_name: str | None = None

    def _begin(self) -> None:
        """Makes the handle, and tells savers of the table."""
        self._resource_handle = self._create_resource()
        if self._checkpoint:
            add_to_collection(GraphKeys.SAVEABLE_OBJECTS, _Saveable(self, self._name))

    @property
    def name(self) -> Any:
        return self._table_name

    @property
    def _shares_node_name(self) -> bool:
        # A restored table must be found again.
        return self._checkpoint and self._shared_name is None

    def size(self, name: str | None = None) -> Tensor:
        handle = self.resource_handle
        with name_scope(name, f"{self.name}_Size", [handle]), colocate_with(handle):
            return raw.LookupTableSizeV2(handle)

    def _scope(self, name: str | None, what: str, *values: Any) -> name_scope:
        return name_scope(name, f"{self.name}_lookup_table_{what}", [self.resource_handle, *values])

    def _removal(self, keys: Tensor, name: str | None) -> Operation:
        if keys.dtype != self._key_dtype:
            raise TypeError(
                f"Signature mismatch. Keys must be dtype {self._key_dtype}, got {keys.dtype}."
            )
        with self._scope(name, "remove", keys, self._default_value):
            return raw.LookupTableRemoveV2(self.resource_handle, keys)

    def _found(self, keys: Tensor) -> Tensor:
        keys = convert_to_tensor(keys, dtype=self._key_dtype, name="keys")
        with colocate_with(self.resource_handle):
            return raw.LookupTableFindV2(self.resource_handle, keys, self._default_value)

    def _insertion(self, keys: TensorLike, values: TensorLike, name: str | None) -> Operation:
        with self._scope(name, "insert", keys, values):
            keys = convert_to_tensor(keys, self._key_dtype, name="keys")
            values = convert_to_tensor(values, self._value_dtype, name="values")
            with colocate_with(self.resource_handle):
                return raw.LookupTableInsertV2(self.resource_handle, keys, values)

    def export(self, name: str | None = None) -> tuple[Any, Any]:
        """All keys and values, as tensors."""
        with self._scope(name, "export_values"), colocate_with(self.resource_handle):
            keys, values = raw.LookupTableExportV2(
                self.resource_handle, self._key_dtype, self._value_dtype
            )
        return keys, values

    def _gather_saveables_for_checkpoint(self) -> dict[str, Any]:
        return {"table": lambda name=self._name: _Saveable(self, name)}


@export("contrib.lookup.MutableHashTable")
@without_private_bases
class MutableHashTable(_Mutable):
    """A table whose values are scalars or vectors (tf.contrib.lookup.MutableHashTable).

    With `checkpoint` savers save and restore it.
    """

    def __init__(
        self,
        key_dtype: DTypeLike,
        value_dtype: DTypeLike,
        default_value: int | Sequence[float],
        name: str = "MutableHashTable",
        checkpoint: bool = True,
    ) -> None:
        self._default_value = convert_to_tensor(default_value, dtype=value_dtype)
        self._value_shape = self._default_value.shape
        self._checkpoint, self._name = checkpoint, name
        super().__init__(key_dtype, value_dtype)
        self._begin()

    def _create_resource(self) -> Tensor:
        settings: dict[str, Any] = {
            "shared_name": self._shared_name,
            "use_node_name_sharing": self._shares_node_name,
            "key_dtype": self._key_dtype,
            "value_dtype": self._value_dtype,
            "name": self._name,
        }
        if self._value_shape.ndims == 0:
            handle = raw.MutableHashTableV2(**settings)
        else:
            handle = raw.MutableHashTableOfTensorsV2(value_shape=self._value_shape, **settings)
        self._table_name = handle.op.name.split("/")[-1]
        return handle

    def remove(self, keys: Any, name: str | None = None) -> Operation:
        """An operation that takes keys out."""
        return self._removal(keys, name)

    def lookup(self, keys: Any, name: str | None = None) -> Tensor:
        """The values of keys; the default for those that are not there."""
        with self._scope(name, "find", keys, self._default_value):
            return self._found(keys)

    def insert(self, keys: TensorLike, values: TensorLike, name: str | None = None) -> Operation:
        """An operation that gives keys values."""
        return self._insertion(keys, values, name)


@export("lookup.experimental.DenseHashTable", "contrib.lookup.MutableDenseHashTable")
@without_private_bases
class DenseHashTable(_Mutable):
    """A table in arrays of buckets (tf.lookup.experimental.DenseHashTable).

    `empty_key` and `deleted_key` mark buckets and cannot be used as keys.
    """

    def __init__(
        self,
        key_dtype: DTypeLike,
        value_dtype: DTypeLike,
        default_value: int | Sequence[float],
        empty_key: int,
        deleted_key: int,
        initial_num_buckets: int | None = None,
        name: str = "MutableDenseHashTable",
        checkpoint: bool = True,
    ) -> None:
        self._default_value = convert_to_tensor(
            default_value, dtype=value_dtype, name="default_value"
        )
        self._value_shape = self._default_value.shape
        self._initial_num_buckets = initial_num_buckets
        self._checkpoint, self._name = checkpoint, name
        self._empty_key = convert_to_tensor(empty_key, dtype=key_dtype, name="empty_key")
        self._deleted_key = convert_to_tensor(deleted_key, dtype=key_dtype, name="deleted_key")
        super().__init__(key_dtype, value_dtype)
        self._begin()

    def _create_resource(self) -> Tensor:
        handle = raw.MutableDenseHashTableV2(
            empty_key=self._empty_key,
            deleted_key=self._deleted_key,
            shared_name=self._shared_name,
            use_node_name_sharing=self._shares_node_name,
            value_dtype=self._value_dtype,
            value_shape=self._value_shape,
            initial_num_buckets=self._initial_num_buckets,
            name=self._name,
        )
        self._table_name = handle.op.name.split("/")[-1]
        return handle

    def lookup(self, keys: Any, name: str | None = None) -> Tensor:
        """The values of keys; the default for those that are not there."""
        with self._scope(name, "find", keys):
            return self._found(keys)

    def insert_or_assign(
        self, keys: TensorLike, values: TensorLike, name: str | None = None
    ) -> Operation:
        """An operation that gives keys values."""
        return self._insertion(keys, values, name)

    def insert(self, keys: TensorLike, values: TensorLike, name: str | None = None) -> Any:
        """The same as `insert_or_assign`."""
        return self.insert_or_assign(keys, values, name)

    def erase(self, keys: Any, name: str | None = None) -> Operation:
        """An operation that takes keys out."""
        return self._removal(keys, name)

    def remove(self, keys: TensorLike, name: str | None = None) -> Any:
        """The same as `erase`."""
        return self.erase(keys, name)
