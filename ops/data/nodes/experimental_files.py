# SPDX-License-Identifier: Apache-2.0
"""The ops of `tf.data.experimental` that read and write files: CSV, Examples, SQL, records."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ....engine import errors
from ....engine.graph.build import define
from ....engine.graph.registry import reads, writes
from ....engine.types.shape import TensorShape
from ...parsing.example_store import Features
from ...parsing.nodes import dense_features, sparse_features
from ..runtime import csv, examples, pairs, sql
from ..runtime.context import Context
from ..runtime.dataset import Dataset, boxed, dataset_in
from ..runtime.files import compression_of
from ..runtime.sources import component_of
from .common import NONE, TYPES, element_types, scalar, scalars
from .experimental import define_both

if TYPE_CHECKING:
    from ....engine.graph.inference import ShapeContext
    from ....engine.graph.kernel_context import KernelContext

_INPUT = "input_dataset: variant"


def _csv(
    c: KernelContext,
    filenames: np.ndarray,
    compression: np.ndarray,
    buffer: np.ndarray,
    header: np.ndarray,
    delimiter: np.ndarray,
    quotes: np.ndarray,
    missing: np.ndarray,
    selected: np.ndarray,
    defaults: list[Any],
) -> Dataset:
    if filenames.ndim > 1:
        raise errors.invalid("`filenames` must be a scalar or a vector.")
    if selected.ndim != 1:
        raise errors.invalid("`select_cols` must be a vector.")
    size, mark = scalar(buffer, "buffer_size"), scalar(delimiter, "delimiter")
    if size <= 0:
        raise errors.invalid("buffer_size should be positive")
    if len(mark) != 1:
        raise errors.invalid("field_delim should be only 1 char")
    columns = tuple(selected.tolist())
    _require_columns(columns, len(defaults))
    form = csv.Format(
        mark,
        scalar(quotes, "use_quote_delim"),
        scalar(missing, "na_value"),
        columns,
        tuple(_default(i, value) for i, value in enumerate(defaults)),
        tuple(element_types(c)[0]),
        scalar(header, "header"),
        compression_of(scalar(compression, "compression_type")),
        size,
    )
    return csv.CsvDataset(list(filenames.reshape(-1)), form)


def _csv_shape(c: ShapeContext) -> TensorShape:
    most = [1, 0, 0, 0, 0, 0, 0, 1]
    for i, given in enumerate(c.inputs):
        rank = most[i] if i < len(most) else 1
        if given.ndims is not None and given.ndims > rank:
            raise ValueError(f"Shape must be at most rank {rank} but is rank {given.ndims}")
    return TensorShape([])


def _require_columns(columns: tuple[int, ...], count: int) -> None:
    if columns and len(columns) != count:
        raise errors.invalid("select_cols should match output size")
    if any(b <= a for a, b in zip(columns, columns[1:])):
        raise errors.invalid("select_cols should be strictly increasing indices")
    if columns and columns[0] < 0:
        raise errors.invalid("select_cols should be non-negative indices")


def _default(number: int, value: np.ndarray) -> Any:
    if value.ndim > 1:
        raise errors.invalid("Each record default should be at most rank 1")
    if value.size > 1:
        raise errors.invalid(
            f"There should only be 1 default per field but field {number} has {value.size}"
        )
    return value.reshape(-1)[0] if value.size else None


def _sql(c: KernelContext, driver: np.ndarray, source: np.ndarray, query: np.ndarray) -> Dataset:
    types, shapes = element_types(c)
    allowed = "string int8 int16 int32 int64 uint8 uint16 bool float64".split()
    if any(kind.name not in allowed for kind in types):
        raise errors.invalid(
            "Each element of `output_types_` must be one of: DT_STRING, DT_INT8, DT_INT16, "
            "DT_INT32, DT_INT64, DT_UINT8, DT_UINT16, DT_BOOL, DT_DOUBLE "
        )
    if any(shape.ndims not in (None, 0) for shape in shapes):
        raise errors.invalid("Each element of `output_shapes_` must be a scalar.")
    name = scalar(driver, "driver_name").decode(errors="replace")
    if name != "sqlite":
        raise errors.invalid(
            f"The database type, {name}, is not supported by SqlDataset. The set of supported "
            "databases is: {'sqlite'}."
        )
    texts = [scalar(t, "text").decode(errors="surrogateescape") for t in (source, query)]
    return sql.SqlDataset(types, shapes, *texts)


def _lmdb(c: KernelContext, filenames: np.ndarray) -> Dataset:
    if np.ndim(filenames) > 1:
        raise errors.invalid("`filenames` must be a scalar or a vector.")
    return pairs.LmdbDataset(list(component_of(filenames).reshape(-1)))


def _parse_example(
    c: KernelContext, source: np.ndarray, parallel: np.ndarray, defaults: list[Any]
) -> Dataset:
    attrs = c.op._attrs
    count = scalar(parallel, "num_parallel_calls")
    if count <= 0 and count != -1:
        raise errors.invalid("num_parallel_calls must be greater than zero.")
    dense = dense_features(attrs["dense_keys"], attrs["Tdense"], attrs["dense_shapes"], defaults)
    sparse = sparse_features(attrs["sparse_keys"], attrs["sparse_types"])
    keys = [*(asked.key for asked in dense), *(asked.key for asked in sparse)]
    for key in keys:
        if keys.count(key) > 1:
            raise errors.invalid(f"Duplicate key not allowed: {key}")
    features = Features(sparse, dense)
    return examples.ParseExampleDataset(dataset_in(source), *element_types(c), features, count)


def _write_records(
    c: KernelContext, source: np.ndarray, filename: np.ndarray, compression: np.ndarray
) -> None:
    from ....io.record import TFRecordOptions, TFRecordWriter

    assert c.session is not None
    name = scalar(filename, "filename").decode(errors="surrogateescape")
    kind = compression_of(scalar(compression, "compression_type"))
    options = TFRecordOptions(kind or None)
    stream = dataset_in(source).stream(Context(c.session), "ToTFRecordOpIterator")
    try:
        with TFRecordWriter(name, options) as writer:
            while (element := stream.next()) is not None:
                writer.write(element[0].item())
    finally:
        stream.close()


_NO_MATCH = "Don't find any matched files"


def _matching_files(c: KernelContext, patterns: np.ndarray) -> Dataset:
    from ....engine.types import dtypes
    from ....io.files import get_matching_files
    from ..runtime.sources import FailingDataset, FixedDataset

    kinds, shapes = [dtypes.string], [TensorShape([])]
    found = sorted({n for p in patterns.reshape(-1).tolist() for n in get_matching_files(p)})
    if not found:
        return FailingDataset(kinds, shapes, lambda: errors.not_found(_NO_MATCH))
    elements = [(boxed(name.encode(errors="surrogateescape")),) for name in found]
    return FixedDataset(kinds, shapes, elements)


define_both(
    "CSVDataset",
    "ExperimentalCSVDataset",
    "filenames: string, compression_type: string, buffer_size: int64, header: bool, "
    "field_delim: string, use_quote_delim: bool, na_value: string, select_cols: int64, "
    "record_defaults: output_types",
    "output_types: list({float, double, int32, int64, string}) >= 1; output_shapes: list(shape) "
    ">= 1",
    _csv,
    "A dataset of the records of CSV files.",
    shape=_csv_shape,
    stateful=True,
    touches=reads("filenames"),
)
define_both(
    "SqlDataset",
    "ExperimentalSqlDataset",
    "driver_name: string, data_source_name: string, query: string",
    TYPES,
    _sql,
    "A dataset of the rows of a query.",
    shape=scalars(0, 0, 0),
    stateful=True,
    touches=reads("data_source_name"),
)
define_both(
    "LMDBDataset",
    "ExperimentalLMDBDataset",
    "filenames: string",
    TYPES,
    _lmdb,
    "A dataset of the keys and values of LMDB databases.",
    stateful=True,
    touches=reads("filenames"),
)
_EXAMPLES = (
    "sparse_keys: list(string) >= 0; dense_keys: list(string) >= 0; "
    "sparse_types: list({float, int64, string}) >= 0; Tdense: list({float, int64, string}) >= 0; "
    f"dense_shapes: list(shape) >= 0; {TYPES}; sloppy: bool = false"
)
define_both(
    "ParseExampleDataset",
    "ExperimentalParseExampleDataset",
    f"{_INPUT}, num_parallel_calls: int64, dense_defaults: Tdense",
    _EXAMPLES,
    _parse_example,
    "A dataset of the features of batches of Examples.",
)
for _name in ("DatasetToTFRecord", "ExperimentalDatasetToTFRecord"):
    define(
        _name,
        "input_dataset: variant, filename: string, compression_type: string ->",
        "",
        shape=lambda c: [],
        kernel=_write_records,
        gradient=NONE,
        stateful=True,
        touches=writes("filename"),
        doc="Writes a dataset of strings into a TFRecord file.",
        test={"needs": "a dataset"},
    )
define_both(
    "MatchingFilesDataset",
    "ExperimentalMatchingFilesDataset",
    "patterns: string",
    "",
    _matching_files,
    "A dataset of the names of files that match patterns.",
    stateful=True,
    touches=reads("patterns"),
)
