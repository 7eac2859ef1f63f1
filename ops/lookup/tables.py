# SPDX-License-Identifier: Apache-2.0
"""Lookup tables that are filled once, and what fills them (`tf.lookup`).

Tables that change are in train/checkpoints/lookup_mutable.py, since savers save them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...engine.api import export
from ...engine.graph.collections import GraphKeys, add_to_collection
from ...engine.graph.convert import convert_to_tensor
from ...engine.graph.graph import get_default_graph, init_scope, name_scope
from ...engine.graph.tensor import SparseTensor, Tensor
from ...engine.graph.trackable import Trackable
from ...engine.types import dtypes
from ...engine.types.shape import TensorShape
from ..array.constant import is_constant
from ..public import raw
from ..state.trackable_resource import TrackableAsset, TrackableResource

if TYPE_CHECKING:
    from ...engine.graph.annotations import DTypeLike, SparseLike, TensorLike
    from ...engine.graph.operation import Operation
    from ...engine.types.dtypes import DType


class LookupInterface(TrackableResource):
    """What all tables share: the types of keys and values, and the handle."""

    def __init__(self, key_dtype: DTypeLike, value_dtype: DTypeLike) -> None:
        super().__init__()
        self._key_dtype = dtypes.as_dtype(key_dtype)
        self._value_dtype = dtypes.as_dtype(value_dtype)

    @property
    def key_dtype(self) -> dtypes.DType:
        """The type of keys."""
        return self._key_dtype

    @property
    def value_dtype(self) -> dtypes.DType:
        """The type of values."""
        return self._value_dtype

    @property
    def name(self) -> Any:
        """The name of the table."""
        raise NotImplementedError

    def size(self, name: str | None = None) -> Any:
        """The number of keys, a tensor."""
        raise NotImplementedError

    def lookup(self, keys: SparseLike | TensorLike, name: str | None = None) -> Any:
        """The values of keys."""
        raise NotImplementedError

    def _require_key_type(self, keys: Any) -> None:
        if keys.dtype.base_dtype != self._key_dtype:
            raise TypeError(
                f"Signature mismatch. Keys must be dtype {self._key_dtype}, got {keys.dtype}."
            )


class InitializableLookupTableBase(LookupInterface):
    """A table with an initializer and a default value."""

    def __init__(self, default_value: TensorLike, initializer: TableInitializerBase) -> None:
        super().__init__(initializer.key_dtype, initializer.value_dtype)
        self._default_value = convert_to_tensor(default_value, dtype=self._value_dtype)
        self._default_value.shape.merge_with(TensorShape([]))
        # A SavedModel takes along what fills the table: its file is an asset.
        self._initializer = self._track_trackable(initializer, "_initializer")
        # The table is made and filled outside of loops and branches: once, whoever asks first.
        with init_scope():
            self._resource_handle = self._create_resource()
        if get_default_graph()._get_control_flow_context() is not None:
            with init_scope():
                self._init_op = self._initialize()
        else:
            self._init_op = self._initialize()

    def _initialize(self) -> Any:
        return self._initializer.initialize(self)

    @property
    def default_value(self) -> Tensor:
        """The value of keys that the table lacks."""
        return self._default_value

    @property
    def initializer(self) -> Any:
        """The operation that fills the table."""
        return self._init_op

    def size(self, name: str | None = None) -> Tensor:
        with name_scope(name, f"{self.name}_Size", [self.resource_handle]):
            return raw.LookupTableSizeV2(self.resource_handle)

    def lookup(self, keys: Any, name: str | None = None) -> Any:
        """The values of `keys`, a tensor or the values of a SparseTensor; of the same shape."""
        tensor = keys.values if isinstance(keys, SparseTensor) else keys
        self._require_key_type(keys)
        inputs = (self.resource_handle, tensor, self._default_value)
        with name_scope(name, f"{self.name}_Lookup", inputs):
            values = raw.LookupTableFindV2(*inputs)
        values.set_shape(tensor.shape)
        if isinstance(keys, SparseTensor):
            return SparseTensor(keys.indices, values, keys.dense_shape)
        return values


@export("lookup.StaticHashTable")
class StaticHashTable(InitializableLookupTableBase):
    """A table that `initializer` fills; run `table.initializer` or `tf.tables_initializer()`.

    (tf.lookup.StaticHashTable)
    """

    def __init__(
        self, initializer: TableInitializerBase, default_value: TensorLike, name: str | None = None
    ) -> None:
        import uuid

        self._shared_name = initializer._shared_name or f"hash_table_{uuid.uuid4()}"
        self._name = name or "hash_table"
        self._table_name: str | None = None
        super().__init__(default_value, initializer)
        self._value_shape = self._default_value.shape

    def _create_resource(self) -> Tensor:
        handle = raw.HashTableV2(
            shared_name=self._shared_name,
            key_dtype=self._initializer.key_dtype,
            value_dtype=self._initializer.value_dtype,
            name=self._name,
        )
        self._table_name = handle.op.name.split("/")[-1]
        return handle

    @property
    def name(self) -> Any:
        return self._table_name

    def export(self, name: str | None = None) -> tuple[Any, Any]:
        """All keys and values, as tensors."""
        with name_scope(name, f"{self.name}_Export", [self.resource_handle]):
            keys, values = raw.LookupTableExportV2(
                self.resource_handle, self._key_dtype, self._value_dtype
            )
        values.set_shape(keys.shape.concatenate(self._value_shape))
        return keys, values


class HashTable(StaticHashTable):
    """The same under its older name."""

    @property
    def init(self) -> Any:
        """The operation that fills the table."""
        return self.initializer


class TableInitializerBase(Trackable):
    """What fills a table; says which types it gives."""

    def __init__(self, key_dtype: DTypeLike, value_dtype: DTypeLike) -> None:
        self._key_dtype = dtypes.as_dtype(key_dtype)
        self._value_dtype = dtypes.as_dtype(value_dtype)

    @property
    def key_dtype(self) -> dtypes.DType:
        """The type of keys."""
        return self._key_dtype

    @property
    def value_dtype(self) -> dtypes.DType:
        """The type of values."""
        return self._value_dtype

    def initialize(self, table: LookupInterface) -> Any:
        """The operation that fills a table."""
        raise NotImplementedError

    @property
    def _shared_name(self) -> str:
        """A name that tables with the same content share."""
        return ""

    def _require_types(self, table: LookupInterface, key_dtype: DType, value_dtype: DType) -> None:
        if key_dtype.base_dtype != table.key_dtype:
            raise TypeError(f"Invalid key dtype, expected {table.key_dtype} but got {key_dtype}.")
        if value_dtype.base_dtype != table.value_dtype:
            raise TypeError(
                f"Invalid value dtype, expected {table.value_dtype} but got {value_dtype}."
            )


@export("lookup.KeyValueTensorInitializer")
class KeyValueTensorInitializer(TableInitializerBase):
    """Fills a table with a tensor of keys and one of values (tf.lookup...)."""

    def __init__(
        self,
        keys: TensorLike,
        values: TensorLike,
        key_dtype: DTypeLike | None = None,
        value_dtype: DTypeLike | None = None,
        name: str | None = None,
    ) -> None:
        def convert() -> None:
            self._keys = convert_to_tensor(keys, dtype=key_dtype, name="keys")
            self._values = convert_to_tensor(values, dtype=value_dtype, name="values")

        if get_default_graph()._get_control_flow_context() is not None:
            with init_scope():
                convert()
        else:
            convert()
        self._name = "key_value_init" if name is None else name
        super().__init__(self._keys.dtype, self._values.dtype)

    def initialize(self, table: LookupInterface) -> Operation:
        self._require_types(table, self._keys.dtype, self._values.dtype)
        inputs = (table.resource_handle, self._keys, self._values)
        with name_scope(self._name, values=inputs):
            op = raw.LookupTableImportV2(*inputs)
        add_to_collection(GraphKeys.TABLE_INITIALIZERS, op)
        return op


@export("lookup.TextFileIndex")
class TextFileIndex:
    """What of a line is meant, besides the number of a column."""

    WHOLE_LINE = -2
    LINE_NUMBER = -1


@export("lookup.TextFileInitializer")
class TextFileInitializer(TableInitializerBase):
    """Fills a table with two columns of a text file (tf.lookup.TextFileInitializer).

    key_index and value_index: a column, TextFileIndex.WHOLE_LINE or TextFileIndex.LINE_NUMBER.
    """

    def __init__(
        self,
        filename: str,
        key_dtype: DTypeLike,
        key_index: int,
        value_dtype: DTypeLike,
        value_index: int,
        vocab_size: int | None = None,
        delimiter: str = "\t",
        name: str | None = None,
    ) -> None:
        if not isinstance(filename, Tensor) and not filename:
            raise ValueError(f"Filename required for {name}.")
        self._filename_arg = filename
        key_dtype, value_dtype = dtypes.as_dtype(key_dtype), dtypes.as_dtype(value_dtype)
        _require_key_column(key_index, key_dtype)
        _require_value_column(value_index, value_dtype)
        if vocab_size is not None and vocab_size <= 0:
            raise ValueError(f"Invalid vocab_size {vocab_size}.")
        self._key_index, self._value_index = key_index, value_index
        self._vocab_size, self._delimiter, self._name = vocab_size, delimiter, name
        asset = self._track_trackable(TrackableAsset(filename), "_filename")
        self._filename = asset.asset_path
        super().__init__(key_dtype, value_dtype)

    def initialize(self, table: LookupInterface) -> Operation:
        self._require_types(table, self.key_dtype, self.value_dtype)
        with name_scope(self._name, "text_file_init", (table.resource_handle,)):
            op = raw.InitializeTableFromTextFileV2(
                table.resource_handle,
                self._filename,
                self._key_index,
                self._value_index,
                -1 if self._vocab_size is None else self._vocab_size,
                self._delimiter,
            )
        add_to_collection(GraphKeys.TABLE_INITIALIZERS, op)
        # A SavedModel takes the file along as an asset, if its name is known.
        if is_constant(self._filename):
            add_to_collection(GraphKeys.ASSET_FILEPATHS, self._filename)
        return op

    @property
    def _shared_name(self) -> str:
        size = f"_{self._vocab_size}" if self._vocab_size else ""
        # Tables of one session with the same columns of the same file are one table.
        return f"hash_table_{self._filename_arg}{size}_{self._key_index}_{self._value_index}"


def _require_key_column(index: int, dtype: dtypes.DType) -> None:
    if index < -2:
        raise ValueError(f"Invalid key index {index}.")
    if index == TextFileIndex.LINE_NUMBER and dtype != dtypes.int64:
        raise ValueError(f"Signature mismatch. Keys must be dtype {dtypes.int64}, got {dtype}.")
    if index == TextFileIndex.WHOLE_LINE and not dtype.is_integer and dtype != dtypes.string:
        raise ValueError(f"Signature mismatch. Keys must be integer or string, got {dtype}.")


def _require_value_column(index: int, dtype: dtypes.DType) -> None:
    if index < -2:
        raise ValueError(f"Invalid value index {index}.")
    wanted = {TextFileIndex.LINE_NUMBER: dtypes.int64, TextFileIndex.WHOLE_LINE: dtypes.string}
    if dtype != wanted.get(index, dtype):
        raise ValueError(f"Signature mismatch. Values must be dtype {wanted[index]}, got {dtype}.")


class TextFileStringTableInitializer(TextFileInitializer):
    """From line numbers to lines."""

    def __init__(
        self,
        filename: str,
        key_column_index: int = TextFileIndex.LINE_NUMBER,
        value_column_index: int = TextFileIndex.WHOLE_LINE,
        vocab_size: int | None = None,
        delimiter: str = "\t",
        name: str = "text_file_string_table_init",
    ) -> None:
        super().__init__(
            *(filename, dtypes.int64, key_column_index, dtypes.string, value_column_index),
            *(vocab_size, delimiter, name),
        )


class TextFileIdTableInitializer(TextFileInitializer):
    """From lines to line numbers."""

    def __init__(
        self,
        filename: str,
        key_column_index: int = TextFileIndex.WHOLE_LINE,
        value_column_index: int = TextFileIndex.LINE_NUMBER,
        vocab_size: int | None = None,
        delimiter: str = "\t",
        name: str = "text_file_id_table_init",
        key_dtype: DTypeLike = dtypes.string,
    ) -> None:
        super().__init__(
            *(filename, key_dtype, key_column_index, dtypes.int64, value_column_index),
            *(vocab_size, delimiter, name),
        )
