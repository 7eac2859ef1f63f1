# SPDX-License-Identifier: Apache-2.0
"""The ops on lookup tables, with handles of both kinds: resources (V2) and references."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ...engine import errors
from ...engine.graph import rowwise
from ...engine.graph.build import define
from ...engine.graph.registry import NoGradient, reads
from ...engine.types import dtypes
from ...engine.types.dtypes import runtime_name
from ...engine.types.shape import TensorShape, as_shape, shape_text, unknown_shape
from .. import shape_inference
from ..state.shared_state import kept
from .dense_hash_table import DenseTable
from .store import MutableTable, StaticTable, Table, lines_of

if TYPE_CHECKING:
    from ...engine.graph.inference import ShapeContext
    from ...engine.graph.kernel_context import KernelContext
    from ...engine.graph.operation import Operation

_DISCRETE = NoGradient("tables look up, they do not compute", silent=True)
_IN_BULK = NoGradient("keys and values are moved, or dropped")
_SHARING = "container: string = ''; shared_name: string = ''; use_node_name_sharing: bool = false"
_TYPES = "key_dtype: type; value_dtype: type"
# Columns of a text file.
_LINE_NUMBER, _WHOLE_LINE = -1, -2

Maker = Callable[..., Table]


def _types_of(c: KernelContext) -> tuple[Any, Any]:
    return c.op._attrs["key_dtype"], c.op._attrs["value_dtype"]


def _value_shape(c: KernelContext) -> tuple[int, ...]:
    return tuple(shape_inference.known_sizes(as_shape(c.attr("value_shape"))))


def _of_tensors(c: KernelContext, name: str) -> Table:
    shape = _value_shape(c)
    if len(shape) != 1:
        raise errors.invalid(f"Default value must be a vector, got shape {shape_text(shape)}")
    return MutableTable(name, *_types_of(c), shape)


def _dense(c: KernelContext, name: str, empty_key: np.ndarray, *deleted_key: np.ndarray) -> Table:
    if not deleted_key:
        raise errors.invalid(
            "MutableDenseHashTable needs a deleted_key: use MutableDenseHashTableV2"
        )
    return DenseTable(
        *(name, _types_of(c), _value_shape(c), empty_key, deleted_key[0]),
        *(c.attr("initial_num_buckets"), c.attr("max_load_factor")),
    )


# Types of values that each type of keys goes with, by kind of table.
_NUMBERS = "float64 float32 int32"
_PAIRS = {
    "HashTable": {
        "int32": f"{_NUMBERS} string",
        "int64": f"{_NUMBERS} int64 string",
        "string": f"{_NUMBERS} int64 bool string",
    },
    "MutableHashTable": {
        "int32": _NUMBERS,
        "int64": f"{_NUMBERS} int64 string variant",
        "string": f"{_NUMBERS} int64 bool",
    },
    "MutableHashTableOfTensors": {
        "int32": _NUMBERS,
        "int64": f"{_NUMBERS} int64 string",
        "string": f"{_NUMBERS} int64 bool",
    },
    "MutableDenseHashTable": {
        "int32": _NUMBERS,
        "int64": f"{_NUMBERS} int64 bool variant",
        "string": f"{_NUMBERS} int64 bool",
    },
}


def _require_pair(c: KernelContext) -> None:
    key, value = (dtype.name for dtype in _types_of(c))
    allowed = _PAIRS[c.type.removesuffix("V2")]
    if value not in allowed.get(key, "").split():
        raise errors.invalid(
            f"No OpKernel was registered to support Op '{c.type}' used by {c.name} with these "
            f"attrs: key_dtype {key}, value_dtype {value}"
        )


def _maker(make: Maker) -> Callable[..., Table]:
    def kernel(c: KernelContext, *keys: np.ndarray) -> Table:
        _require_pair(c)

        def verify(found: Table) -> None:
            found.require_types(*_types_of(c))

        shares = c.attr("use_node_name_sharing")
        return kept(c, "table", lambda name: make(c, name, *keys), verify, shares)

    return kernel


def _require(c: KernelContext, table: Table, *wanted: Any) -> None:
    """InvalidArgumentError where a node's inputs do not have the table's types."""
    given = [tensor.dtype.base_dtype for tensor in c.op._inputs_val[1:]]
    if given == list(wanted):
        return
    handle = "resource" if c.type.endswith("V2") else "string_ref"
    results = f"->{runtime_name(table.value_dtype)}" if c.op.outputs else "->"
    have, expected = (
        ", ".join([handle, *map(runtime_name, kinds)]) + results for kinds in (given, wanted)
    )
    raise errors.invalid(f"Signature mismatch, have: {have} expected: {expected}")


def _find(c: KernelContext, table: Table, keys: np.ndarray, default: np.ndarray) -> np.ndarray:
    _require(c, table, table.key_dtype, table.value_dtype)
    table.require_key_shape(keys)
    table.require_default(default)
    return table.find(keys, default)


def _find_rows(op: Operation, inputs: Sequence[rowwise.Rows]) -> rowwise.Results:
    """Of tables whose keys and values are scalars, as those are that do not change."""
    table, keys, default = inputs
    if keys.rank is None or not (table.rank is default.rank is None):
        return None
    made = rowwise.copied(op, [table.tensor, keys.tensor, default.tensor])
    made.outputs[0].set_shape(keys.tensor.shape)
    return [keys.of(made.outputs[0])]


def _insert(c: KernelContext, table: Table, keys: np.ndarray, values: np.ndarray) -> None:
    _require(c, table, table.key_dtype, table.value_dtype)
    table.require_key_shape(keys)
    table.require_values(keys, values)
    table.insert(keys, values)


def _remove(c: KernelContext, table: Table, keys: np.ndarray) -> None:
    _require(c, table, table.key_dtype)
    table.require_key_shape(keys)
    table.remove(keys)


def _import(c: KernelContext, table: Table, keys: np.ndarray, values: np.ndarray) -> None:
    _require(c, table, table.key_dtype, table.value_dtype)
    table.require_key_shape(keys)
    table.require_import(keys, values)
    table.import_values(keys, values)


def _static(table: Table) -> StaticTable:
    if not isinstance(table, StaticTable):
        raise errors.invalid(f"Table localhost {table.name} is not initializable")
    return table


def _initialize(c: KernelContext, table: Table, keys: np.ndarray, values: np.ndarray) -> None:
    table = _static(table)
    _require(c, table, table.key_dtype, table.value_dtype)
    for what, array in (("Keys", keys), ("Values", values)):
        if array.ndim != 1:
            raise errors.invalid(
                f"{what} must be a vector, but received shape{shape_text(array.shape)}"
            )
    if keys.size != values.size:
        raise errors.invalid(
            f"Keys and values must have the same size {keys.size} vs {values.size}"
        )
    table.import_values(keys, values)


def _initialize_from_file(c: KernelContext, table: Table, filename: np.ndarray) -> None:
    table = _static(table)
    if filename.ndim:
        shape = shape_text(filename.shape)
        raise errors.invalid(f"filename should be a single string, but got {shape}")
    name = os.fsdecode(filename.item())
    if not name:
        raise errors.invalid("filename cannot be empty.")
    delimiter = c.attr("delimiter").encode()
    if len(delimiter) != 1:
        raise errors.invalid("delimiter should be only 1 char")
    columns = c.attr("key_index"), c.attr("value_index")
    _require_columns(table, *columns)
    # A second run of the initializer, or of another session's, changes nothing.
    if table.is_initialized:
        return
    kinds = table.key_dtype, table.value_dtype
    items = list(lines_of(name, c.attr("vocab_size"), delimiter, columns, kinds))
    table.initialize(items, len(items))


def _require_columns(table: Table, key_index: int, value_index: int) -> None:
    key, value = table.key_dtype, table.value_dtype
    if key_index == _LINE_NUMBER and key != dtypes.int64:
        rule = (
            f"Key index for line number requires table key dtype of int64, got {runtime_name(key)}"
        )
    elif key_index == _WHOLE_LINE and not (key.is_integer or key == dtypes.string):
        rule = (
            "Key index for whole line requires string or integer table key, got "
            f"{runtime_name(key)}"
        )
    elif value_index == _LINE_NUMBER and value != dtypes.int64:
        rule = (
            "Value index for line number requires table value dtype of int64, got "
            f"{runtime_name(value)}"
        )
    elif value_index == _WHOLE_LINE and value != dtypes.string:
        rule = (
            "Value index for whole line requires table value dtype of string, got "
            f"{runtime_name(value)}"
        )
    else:
        return
    raise errors.invalid(rule)


# Static shapes


def _facts(
    c: ShapeContext, key_attr: str, value_attr: str
) -> tuple[TensorShape, TensorShape] | None:
    """The shapes of a key and a value, where the handle tells them; checks the types."""
    maker = c.tensor(0).op
    if not maker.type.startswith("Mutable") or not maker.type.endswith("V2"):
        return None
    for mine, asked in (("key_dtype", key_attr), ("value_dtype", value_attr)):
        wanted, got = maker._attrs[mine], c.op._attrs[asked]
        if wanted != got:
            raise ValueError(
                f"Trying to read value with wrong dtype. Expected {runtime_name(wanted)} got "
                f"{runtime_name(got)}"
            )
    key = maker._inputs_val[0].shape if maker._inputs_val else TensorShape([])
    return key, as_shape(maker._attrs.get("value_shape", []))


def _found_shape(c: ShapeContext) -> TensorShape:
    if c.inputs[2].ndims is not None and c.inputs[2].ndims > 1:
        raise ValueError(f"Shape must be at most rank 1 but is rank {c.inputs[2].ndims}")
    facts = _facts(c, "Tin", "Tout")
    keys = c.inputs[1]
    if facts is None or facts[0].sizes is None or keys.sizes is None:
        return unknown_shape()
    value, (key_sizes, sizes) = facts[1], (facts[0].sizes, keys.sizes)
    if len(sizes) < len(key_sizes):
        raise ValueError(
            f"Expected keys to have suffix {shape_text(key_sizes)} but saw shape: "
            f"{shape_text(sizes)}"
        )
    return TensorShape(sizes[: len(sizes) - len(key_sizes)]).concatenate(value)


def _exported_shapes(c: ShapeContext) -> list[TensorShape]:
    facts = _facts(c, "Tkeys", "Tvalues")
    keys = TensorShape([None])
    return [keys, unknown_shape() if facts is None else keys.concatenate(facts[1])]


def _pairs(c: ShapeContext) -> list[TensorShape]:
    shape_inference.ranked(c.inputs[1], 1)
    shape_inference.merge(c.inputs[1], c.inputs[2])
    return []


for _names, _make, _inputs, _attrs, _doc in (
    (
        ("HashTable", "HashTableV2"),
        lambda c, name: StaticTable(name, *_types_of(c)),
        ("", ""),
        "",
        "A table that is filled once.",
    ),
    (
        ("MutableHashTable", "MutableHashTableV2"),
        lambda c, name: MutableTable(name, *_types_of(c)),
        ("", ""),
        "",
        "A table of scalars.",
    ),
    (
        ("MutableHashTableOfTensors", "MutableHashTableOfTensorsV2"),
        _of_tensors,
        ("", ""),
        "; value_shape: shape = []",
        "A table of vectors.",
    ),
    (
        *(("MutableDenseHashTable", "MutableDenseHashTableV2"), _dense),
        ("empty_key: key_dtype ", "empty_key: key_dtype, deleted_key: key_dtype "),
        "; value_shape: shape = []; initial_num_buckets: int = 131072; "
        "max_load_factor: float = 0.8",
        "A table in arrays of buckets; two keys are reserved.",
    ),
):
    for _name, _handle, _shape, _input in (
        (_names[0], "Ref(string)", [2], _inputs[0]),
        (_names[1], "resource", [], _inputs[1]),
    ):
        define(
            _name,
            f"{_input}-> table_handle: {_handle}",
            f"{_SHARING}; {_TYPES}{_attrs}",
            shape=lambda c, shape=_shape: TensorShape(shape),
            kernel=_maker(_make),
            gradient=_DISCRETE,
            stateful=True,
            doc=_doc,
        )

for _is_resource, _handle in ((False, "Ref(string)"), (True, "resource")):
    define(
        ("LookupTableFind", "LookupTableFindV2")[_is_resource],
        f"table_handle: {_handle}, keys: Tin, default_value: Tout -> values: Tout",
        shape=_found_shape,
        kernel=_find,
        rows=_find_rows,
        gradient=_DISCRETE,
        doc="The values of keys; default_value for those that a table lacks.",
    )
    define(
        ("LookupTableInsert", "LookupTableInsertV2")[_is_resource],
        f"table_handle: {_handle}, keys: Tin, values: Tout ->",
        kernel=_insert,
        gradient=_DISCRETE,
        doc="Gives keys values in a table.",
    )
    define(
        ("LookupTableSize", "LookupTableSizeV2")[_is_resource],
        f"table_handle: {_handle} -> size: int64",
        shape=lambda c: TensorShape([]),
        kernel=lambda c, table: np.asarray(table.size(), np.int64),
        gradient=_DISCRETE,
        doc="The number of keys in a table.",
    )
    define(
        ("LookupTableExport", "LookupTableExportV2")[_is_resource],
        f"table_handle: {_handle} -> keys: Tkeys, values: Tvalues",
        "Tkeys: type; Tvalues: type",
        shape=_exported_shapes,
        kernel=lambda c, table: table.export(),
        gradient=_IN_BULK,
        doc="All keys and values of a table.",
    )
    define(
        ("LookupTableImport", "LookupTableImportV2")[_is_resource],
        f"table_handle: {_handle}, keys: Tin, values: Tout ->",
        shape=_pairs if _is_resource else None,
        kernel=_import,
        gradient=_IN_BULK,
        doc="Puts keys and values in place of all that a table has.",
    )
    define(
        ("InitializeTable", "InitializeTableV2")[_is_resource],
        f"table_handle: {_handle}, keys: Tkey, values: Tval ->",
        shape=_pairs,
        kernel=_initialize,
        gradient=_DISCRETE,
        doc="Fills a table.",
    )
    define(
        ("InitializeTableFromTextFile", "InitializeTableFromTextFileV2")[_is_resource],
        f"table_handle: {_handle}, filename: string ->",
        "key_index: int >= -2; value_index: int >= -2; vocab_size: int >= -1 = -1; "
        "delimiter: string = '\\t'",
        shape=lambda c: shape_inference.ranked(c.inputs[1], 0) and [],
        kernel=_initialize_from_file,
        gradient=_DISCRETE,
        touches=reads("filename"),
        doc="Fills a table with columns of the lines of a text file.",
    )


def _removed_shape(c: ShapeContext) -> list[TensorShape]:
    if c.inputs[1].ndims == 0:
        raise ValueError("Shape must be at least rank 1 but is rank 0")
    return []


define(
    "LookupTableRemoveV2",
    "table_handle: resource, keys: Tin ->",
    shape=_removed_shape,
    kernel=_remove,
    gradient=_IN_BULK,
    doc="Takes keys out of a table.",
)
