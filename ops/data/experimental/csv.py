# SPDX-License-Identifier: Apache-2.0
"""`tf.data.experimental.CsvDataset` and `make_csv_dataset`."""

from __future__ import annotations

import csv
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from typing import IO, Any, NamedTuple

import numpy as np

from ....engine.api import export
from ....engine.graph.annotations import TensorLike
from ....engine.graph.constants import constant_value
from ....engine.graph.convert import convert_to_tensor, internal_convert_n_to_tensor
from ....engine.graph.tensor import Tensor
from ....engine.interface.specs import TensorSpec
from ....engine.types import dtypes
from ...public import raw, tf
from ..arguments import optional_param_to_tensor
from ..dataset import AUTOTUNE
from ..dataset_v1 import DatasetV1, DatasetV1Adapter
from ..mapping import MapDataset
from ..sources import DatasetSource
from .choosing import parallel_interleave
from .reading import ordered, shuffled_and_repeated
from .scanning import ignore_errors as without_errors

_BUFFER_BYTES = 4 * 1024 * 1024
_KINDS = (dtypes.float32, dtypes.float64, dtypes.int32, dtypes.int64, dtypes.string)


def _defaults(given: Sequence[Any]) -> list[Any]:
    """Dtypes as empty tensors: fields that must be there."""
    return [
        tf.constant([], dtype=value) if not isinstance(value, Tensor) and value in _KINDS else value
        for value in given
    ]


class CsvDatasetV2(DatasetSource):
    """See `CsvDatasetV1`."""

    def __init__(
        self,
        filenames: TensorLike,
        record_defaults: Sequence[Any],
        compression_type: TensorLike | None = None,
        buffer_size: TensorLike | None = None,
        header: TensorLike = False,
        field_delim: TensorLike = ",",
        use_quote_delim: TensorLike = True,
        na_value: TensorLike = "",
        select_cols: TensorLike | None = None,
    ) -> None:
        names = convert_to_tensor(filenames, dtype=dtypes.string, name="filenames")
        compression = optional_param_to_tensor(
            "compression_type", compression_type, "", dtypes.string
        )
        found = internal_convert_n_to_tensor(_defaults(record_defaults), name="record_defaults")
        buffer = optional_param_to_tensor("buffer_size", buffer_size, _BUFFER_BYTES)
        has_header = convert_to_tensor(header, dtype=dtypes.bool, name="header")
        delimiter = convert_to_tensor(field_delim, dtype=dtypes.string, name="field_delim")
        quotes = convert_to_tensor(use_quote_delim, dtype=dtypes.bool, name="use_quote_delim")
        missing = convert_to_tensor(na_value, dtype=dtypes.string, name="na_value")
        columns = optional_param_to_tensor("select_cols", select_cols, [], dtypes.int64)
        self._structure = tuple(TensorSpec([], tensor.dtype) for tensor in found)
        super().__init__(
            raw.CSVDataset(
                filenames=names,
                record_defaults=found,
                buffer_size=buffer,
                header=has_header,
                output_shapes=self._flat_shapes,
                field_delim=delimiter,
                use_quote_delim=quotes,
                na_value=missing,
                select_cols=columns,
                compression_type=compression,
            )
        )


@export("data.experimental.CsvDataset")
class CsvDatasetV1(DatasetV1Adapter):
    """A dataset of the records of CSV files: a scalar for each field.

    Args:
      filenames: Names of files.
      record_defaults: For each wanted field its dtype if it must be there, or what stands for it if
        it is missing: float32, float64, int32, int64 or string.
      compression_type: "", "ZLIB" or "GZIP".
      buffer_size: Of bytes that are read at a time.
      header: Whether files begin with a line that is none of their records.
      field_delim: What stands between fields.
      use_quote_delim: Whether fields may stand in quotes.
      na_value: A text that counts as missing, besides the empty one.
      select_cols: The numbers of the wanted fields, in order; all if None.
    """

    def __init__(
        self,
        filenames: TensorLike,
        record_defaults: Sequence[Any],
        compression_type: TensorLike | None = None,
        buffer_size: TensorLike | None = None,
        header: TensorLike = False,
        field_delim: TensorLike = ",",
        use_quote_delim: TensorLike = True,
        na_value: TensorLike = "",
        select_cols: TensorLike | None = None,
    ) -> None:
        super().__init__(
            CsvDatasetV2(
                filenames,
                record_defaults,
                compression_type,
                buffer_size,
                header,
                field_delim,
                use_quote_delim,
                na_value,
                select_cols,
            )
        )


CsvDataset = CsvDatasetV1


class _Probe:
    """Reads files while the graph is built, for the names and types of columns."""

    def __init__(
        self, names: Sequence[str], delimiter: str, quotes: bool, compression: Any
    ) -> None:
        self._names = names
        quoting: Any = csv.QUOTE_MINIMAL if quotes else csv.QUOTE_NONE
        self._reading = {"delimiter": delimiter, "quoting": quoting}
        self._open = _opener(compression)

    def column_names(self) -> list[str]:
        """The first line, which all files have in common."""
        lines = [self._header(name) for name in self._names]
        if any(line != lines[0] for line in lines[1:]):
            raise ValueError("Files have different column names in the header row.")
        return lines[0]

    def _header(self, name: str) -> list[str]:
        with self._open(name) as file:
            for line in csv.reader(file, **self._reading):
                return line
        raise ValueError(
            f"Received StopIteration when reading the header line of {name}.  Empty file?"
        )

    def rows(self, width: int, has_header: bool) -> Iterator[list[str]]:
        """The records of all files."""
        for name in self._names:
            with self._open(name) as file:
                lines = csv.reader(file, **self._reading)
                if has_header:
                    next(lines)
                for line in lines:
                    if len(line) != width:
                        raise ValueError(
                            "Problem inferring types: CSV row has different number of fields than "
                            "expected."
                        )
                    yield line


def _opener(compression: Any) -> Callable[[str], IO[str]]:
    kind = "" if compression is None else constant_value(convert_to_tensor(compression))
    if kind is None:
        raise ValueError("Received unkown compression_type")
    kind = kind.item().decode() if isinstance(kind, np.ndarray) else str(kind)
    if kind == "GZIP":
        import gzip

        return lambda name: gzip.open(name, "rt")  # type: ignore[return-value]
    if kind == "ZLIB":
        raise ValueError(f"compression_type ({compression}) is not supported for probing columns")
    if kind:
        raise ValueError(f"compression_type ({compression}) is not supported")
    return _open_text


def _open_text(name: str) -> IO[str]:
    import io

    from ....io.files import open_binary

    return io.TextIOWrapper(open_binary(name, "rb"), newline="")


def _least_kind(text: str) -> Any:
    """The narrowest dtype that holds what a text says."""
    for kind in (dtypes.int32, dtypes.int64):
        try:
            if kind.min <= int(text) <= kind.max:
                return kind
        except ValueError:
            break
    for kind in (dtypes.float32, dtypes.float64):
        try:
            with np.errstate(over="ignore"):
                if kind.as_numpy_dtype(text) < np.inf:
                    return kind
        except ValueError:
            break
    return dtypes.string


_WIDER = (dtypes.int32, dtypes.int64, dtypes.float32, dtypes.float64, dtypes.string)


def _inferred(rows: Iterator[list[str]], columns: Sequence[int], missing: str, most: Any) -> Any:
    """The defaults of columns, of the dtypes that their first records need."""
    kinds: list[Any] = [None] * len(columns)
    for number, row in enumerate(rows):
        if most is not None and number >= most:
            break
        for place, column in enumerate(columns):
            text = row[column]
            if text not in ("", missing):
                found = [k for k in (kinds[place], _least_kind(text)) if k is not None]
                kinds[place] = max(found, key=_WIDER.index)
    kinds = [kind or dtypes.string for kind in kinds]
    return [tf.constant(["" if k is dtypes.string else 0], dtype=k) for k in kinds]


def _sorted_columns(selected: Sequence[Any], names: Sequence[str]) -> list[int]:
    numbers = {name: number for number, name in enumerate(names)}
    found = []
    for column in selected:
        if isinstance(column, int):
            if not 0 <= column < len(names):
                raise ValueError(
                    f"Column index {column} specified in select_columns out of valid range."
                )
            found.append(column)
        elif column in numbers:
            found.append(numbers[column])
        else:
            raise ValueError(
                f"Value '{column}' specified in select_columns not a valid column index or name."
            )
    if len(set(found)) != len(found):
        raise ValueError("select_columns contains duplicate columns")
    return sorted(found)


def _file_names(pattern: Any) -> list[str]:
    from ....io.files import get_matching_files

    if isinstance(pattern, list) and not pattern:
        raise ValueError("File pattern is empty.")
    patterns = pattern if isinstance(pattern, list) else [pattern]
    found = [name for each in patterns for name in get_matching_files(each)]
    if not found:
        raise ValueError(f"No files match {pattern}.")
    return sorted(found)


class _Columns(NamedTuple):
    """The wanted columns of CSV files; numbers: None if they are all."""

    names: Sequence[str]
    numbers: list[int] | None
    defaults: list[Any]


def _wanted(
    probe: _Probe | None,
    names: Sequence[str] | None,
    given: Sequence[Any] | None,
    selected: Sequence[Any] | None,
    has_header: bool,
    missing: str,
    most: int | None,
) -> _Columns:
    """The columns of which elements consist; the probe tells what is not given."""
    if names is None:
        if not has_header:
            raise ValueError("Cannot infer column names without a header line.")
        assert probe is not None
        names = probe.column_names()
    if len(names) != len(set(names)):
        raise ValueError("Cannot have duplicate column names.")
    numbers = None if selected is None else _sorted_columns(selected, names)
    if given is not None:
        defaults = _defaults(given)
    else:
        assert probe is not None
        places = range(len(names)) if numbers is None else numbers
        defaults = _inferred(probe.rows(len(names), has_header), places, missing, most)
    if numbers is None:
        return _Columns(names, numbers, defaults)
    if len(defaults) != len(numbers):
        raise ValueError("If specified, column_defaults and select_columns must have same length.")
    return _Columns([names[number] for number in numbers], numbers, defaults)


@export("data.experimental.make_csv_dataset")
def make_csv_dataset(
    file_pattern: Any,
    batch_size: TensorLike,
    column_names: Sequence[str] | None = None,
    column_defaults: Sequence[Any] | None = None,
    label_name: str | None = None,
    select_columns: Sequence[Any] | None = None,
    field_delim: str = ",",
    use_quote_delim: bool = True,
    na_value: str = "",
    header: bool = True,
    num_epochs: TensorLike | None = None,
    shuffle: bool = True,
    shuffle_buffer_size: TensorLike = 10000,
    shuffle_seed: TensorLike | None = None,
    prefetch_buffer_size: TensorLike | None = None,
    num_parallel_reads: TensorLike | None = None,
    sloppy: bool = False,
    num_rows_for_inference: int | None = 100,
    compression_type: TensorLike | None = None,
    ignore_errors: bool = False,
) -> Any:
    """A dataset of batches of CSV records: dictionaries of columns, with a label if one is named.

    Args:
      file_pattern: A pattern of names of files, or several.
      batch_size: How many records are a batch.
      column_names: Of all columns; the files' first line if None.
      column_defaults: As of `CsvDataset`; found from the first records if None.
      label_name: The column that elements have apart: (columns, label).
      select_columns: The numbers or names of the wanted columns; all if None.
      field_delim, use_quote_delim, na_value, header, compression_type: As of `CsvDataset`.
      num_epochs: How often the files are read; for ever if None.
      shuffle, shuffle_buffer_size, shuffle_seed: Whether and how records are shuffled.
      prefetch_buffer_size: How many batches are read ahead; as fits if None.
      num_parallel_reads: How many files are read at a time; 1 if None.
      sloppy: Whether the order may be another one; here it never is.
      num_rows_for_inference: From how many records dtypes are found; from all if None.
      ignore_errors: Whether malformed records are left out.

    Raises:
      ValueError: No file matches, or columns are named that are not there, or twice.
    """
    names = _file_names(file_pattern)
    files = DatasetV1.from_tensor_slices(names)
    if shuffle:
        files = files.shuffle(len(names), shuffle_seed)
    probe = None
    if column_names is None or column_defaults is None:
        probe = _Probe(names, field_delim, use_quote_delim, compression_type)
    most = num_rows_for_inference
    wanted = _wanted(probe, column_names, column_defaults, select_columns, header, na_value, most)
    if label_name is not None and label_name not in wanted.names:
        raise ValueError("`label_name` provided must be one of the columns.")

    def filename_to_dataset(filename: TensorLike) -> Any:
        records = CsvDataset(
            filename,
            record_defaults=wanted.defaults,
            field_delim=field_delim,
            use_quote_delim=use_quote_delim,
            na_value=na_value,
            select_cols=wanted.numbers,
            header=header,
            compression_type=compression_type,
        )
        return records.apply(without_errors()) if ignore_errors else records

    def map_fn(*values: Any) -> Any:
        features = OrderedDict(zip(wanted.names, values))
        return features if label_name is None else (features, features.pop(label_name))

    records = _read(files, filename_to_dataset, num_parallel_reads, sloppy)
    records = shuffled_and_repeated(records, num_epochs, shuffle, shuffle_buffer_size, shuffle_seed)
    batches = records.batch(batch_size=batch_size, drop_remainder=num_epochs is None)
    batches = DatasetV1Adapter(MapDataset(batches, map_fn, use_inter_op_parallelism=False))
    return batches.prefetch(AUTOTUNE if prefetch_buffer_size is None else prefetch_buffer_size)


def _read(files: Any, read: Callable[[Any], Any], parallel: Any, sloppy: bool) -> Any:
    """What is in all files."""
    if parallel == AUTOTUNE:
        return ordered(files.interleave(read, num_parallel_calls=parallel), sloppy)
    count = 1 if parallel is None else parallel
    return files.apply(parallel_interleave(read, cycle_length=count, sloppy=sloppy))


make_csv_dataset_v1 = make_csv_dataset_v2 = make_csv_dataset
