# SPDX-License-Identifier: Apache-2.0
"""Datasets of what is in files, put together: Examples, records, rows of databases; and back."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ....engine.api import export
from ....engine.graph.annotations import TensorLike
from ....engine.graph.convert import convert_to_tensor
from ....engine.graph.tensor import SparseTensor, Tensor
from ....engine.interface.specs import TensorSpec
from ....engine.types import dtypes
from ....engine.types.shape import as_shape
from ...parsing.features import (
    FixedLenFeature,
    FixedLenSequenceFeature,
    SparseFeature,
    VarLenFeature,
    Wanted,
    with_merged,
    with_rows,
)
from ...public import raw
from .. import nest, structure
from ..arguments import optional_param_to_tensor
from ..dataset import AUTOTUNE, DatasetV2
from ..dataset_v1 import DatasetV1, DatasetV1Adapter
from ..mapping import MapDataset
from ..options import Options
from ..readers import TFRecordDataset
from ..sources import DatasetSource
from ..unary import UnaryDataset
from .choosing import parallel_interleave
from .scanning import shuffle_and_repeat

Apply = Callable[[Any], Any]
_FEATURES = (VarLenFeature, SparseFeature, FixedLenFeature, FixedLenSequenceFeature)


def shuffled_and_repeated(
    dataset: DatasetV2,
    num_epochs: TensorLike | None,
    shuffle: bool,
    buffer_size: TensorLike,
    seed: TensorLike | None,
) -> Any:
    """The elements shuffled and repeated, as asked for."""
    if num_epochs != 1 and shuffle:
        return dataset.apply(shuffle_and_repeat(buffer_size, num_epochs, seed))
    if shuffle:
        return dataset.shuffle(buffer_size, seed)
    return dataset if num_epochs == 1 else dataset.repeat(num_epochs)


def ordered(dataset: DatasetV2, sloppy: bool) -> Any:
    """The dataset with the option that says whether its order may be another one."""
    options = Options()
    options.experimental_deterministic = not sloppy
    return dataset.with_options(options)


@export("data.experimental.parse_example_dataset")
def parse_example_dataset(features: Mapping[str, Any], num_parallel_calls: TensorLike = 1) -> Apply:
    """A transformation that parses batches of serialized Examples.

    Args:
      features: What is asked for, as of `tf.io.parse_example`.
      num_parallel_calls: How many batches are parsed ahead.

    Raises:
      ValueError: `features` is None.
      TypeError: The elements are no vectors of strings.
    """
    if features is None:
        raise ValueError(f"Missing: features was {features}.")

    def apply(dataset: DatasetV2) -> Any:
        parsed = _ParseExampleDataset(dataset, features, num_parallel_calls)
        if any(isinstance(feature, SparseFeature) for feature in features.values()):
            merged = parsed.map(
                lambda found: with_merged(features, found), num_parallel_calls=num_parallel_calls
            )
            return merged
        return parsed

    return apply


class _ParseExampleDataset(UnaryDataset):
    """The features of batches of Examples, by key."""

    def __init__(
        self, input_dataset: DatasetV2, features: Mapping[str, Any], parallel: Any
    ) -> None:
        given = input_dataset.element_spec
        if not structure.are_compatible(given, TensorSpec([None], dtypes.string)):
            raise TypeError("Input dataset should be a dataset of vectors of strings")
        wanted = Wanted(with_rows(features), _FEATURES)
        wanted.require()
        defaults = wanted.defaults()
        self._structure = _parsed_structure(wanted, structure.legacy(given, "shapes"))
        variant = raw.ParseExampleDataset(
            input_dataset._variant_tensor,
            parallel,
            defaults,
            wanted.sparse_keys,
            wanted.dense_keys,
            wanted.sparse_types,
            wanted.dense_shapes,
            **self._flat_structure,
        )
        super().__init__(input_dataset, variant)


def _parsed_structure(wanted: Wanted, batch: Any) -> Any:
    keys = [*wanted.dense_keys, *wanted.sparse_keys]
    types = [dtypes.as_dtype(k) for k in (*wanted.dense_types, *wanted.sparse_types)]
    shapes = [batch.concatenate(as_shape(shape)) for shape in wanted.dense_shapes]
    shapes += [batch.concatenate([None])] * len(wanted.sparse_keys)
    classes = [Tensor] * len(wanted.dense_keys) + [SparseTensor] * len(wanted.sparse_keys)
    parts = (dict(zip(keys, values)) for values in (types, shapes, classes))
    return structure.convert_legacy_structure(*parts)


@export("data.experimental.make_batched_features_dataset")
def make_batched_features_dataset(
    file_pattern: Any,
    batch_size: TensorLike,
    features: Mapping[str, Any],
    reader: Any = TFRecordDataset,
    label_key: str | None = None,
    reader_args: Any = None,
    num_epochs: TensorLike | None = None,
    shuffle: bool = True,
    shuffle_buffer_size: TensorLike = 10000,
    shuffle_seed: TensorLike | None = None,
    prefetch_buffer_size: TensorLike | None = None,
    reader_num_threads: TensorLike | None = None,
    parser_num_threads: TensorLike | None = None,
    sloppy_ordering: bool = False,
    drop_final_batch: bool = False,
) -> Any:
    """A dataset of batches of parsed Examples: dictionaries, with a label if one is named.

    Args:
      file_pattern: A pattern of names of files, or several.
      batch_size: How many Examples are a batch.
      features: What is asked for, as of `tf.io.parse_example`.
      reader: A function from a file's name to a dataset of serialized Examples.
      label_key: The feature that elements have apart: (features, label).
      reader_args: Further arguments of `reader`.
      num_epochs: How often the files are read; for ever if None.
      shuffle, shuffle_buffer_size, shuffle_seed: Whether and how Examples are shuffled.
      prefetch_buffer_size: How many batches are read ahead; as fits if None.
      reader_num_threads: How many files are read at a time; 1 if None.
      parser_num_threads: How many batches are parsed ahead; 2 if None.
      sloppy_ordering: Whether the order may be another one; here it never is.
      drop_final_batch: Whether a last, smaller batch is left out.

    Raises:
      TypeError: `reader` is a reader of queues.
      ValueError: `label_key` is no feature.
    """
    from ...queues.readers import ReaderBase

    dataset = DatasetV1.list_files(file_pattern, shuffle=shuffle, seed=shuffle_seed)
    if isinstance(reader, type) and issubclass(reader, ReaderBase):
        raise TypeError(
            "The `reader` argument must return a `Dataset` object. `tf.ReaderBase` subclasses are "
            "not supported. For example, pass `tf.data.TFRecordDataset` instead of "
            "`tf.TFRecordReader`."
        )
    rest = reader_args or []
    if reader_num_threads == AUTOTUNE:
        read = dataset.interleave(lambda name: reader(name, *rest), num_parallel_calls=AUTOTUNE)
        dataset = ordered(read, sloppy_ordering)
    else:
        dataset = dataset.apply(
            parallel_interleave(
                lambda filename: reader(filename, *rest),
                cycle_length=1 if reader_num_threads is None else reader_num_threads,
                sloppy=sloppy_ordering,
            )
        )
    if structure.legacy(dataset.element_spec, "types") == (dtypes.string, dtypes.string):
        pairs = MapDataset(dataset, lambda _, value: value, use_inter_op_parallelism=False)
        dataset = DatasetV1Adapter(pairs)
    dataset = shuffled_and_repeated(dataset, num_epochs, shuffle, shuffle_buffer_size, shuffle_seed)
    dataset = dataset.batch(batch_size, drop_remainder=drop_final_batch or num_epochs is None)
    threads = 2 if parser_num_threads is None else parser_num_threads
    dataset = dataset.apply(parse_example_dataset(features, num_parallel_calls=threads))
    if label_key:
        if label_key not in features:
            raise ValueError(
                f"The `label_key` provided ({label_key!r}) must be one of the `features` keys."
            )
        dataset = dataset.map(lambda found: (found, found.pop(label_key)))
    size = AUTOTUNE if prefetch_buffer_size is None else prefetch_buffer_size
    return DatasetV1Adapter(dataset.prefetch(size))


def make_tf_record_dataset(
    file_pattern: Any,
    batch_size: TensorLike,
    parser_fn: Callable[..., Any] | None = None,
    num_epochs: TensorLike | None = None,
    shuffle: bool = True,
    shuffle_buffer_size: TensorLike | None = None,
    shuffle_seed: TensorLike | None = None,
    prefetch_buffer_size: TensorLike | None = None,
    num_parallel_reads: TensorLike | None = None,
    num_parallel_parser_calls: Any = None,
    drop_final_batch: bool = False,
) -> Any:
    """A dataset of batches of records, parsed by a function if one is given.

    Args: as of `make_batched_features_dataset`; num_parallel_reads: 24 if None.
    """
    files = DatasetV1.list_files(file_pattern, shuffle=shuffle, seed=shuffle_seed)
    parallel = 24 if num_parallel_reads is None else num_parallel_reads
    dataset = TFRecordDataset(files, num_parallel_reads=parallel)
    room = 10000 if shuffle_buffer_size is None else shuffle_buffer_size
    dataset = shuffled_and_repeated(dataset, num_epochs, shuffle, room, shuffle_seed)
    if parser_fn is not None:
        calls = batch_size if num_parallel_parser_calls is None else num_parallel_parser_calls
        dataset = dataset.map(parser_fn, num_parallel_calls=calls)
    dataset = dataset.batch(batch_size, drop_remainder=drop_final_batch or num_epochs is None)
    if prefetch_buffer_size == 0:
        return dataset
    return dataset.prefetch(AUTOTUNE if prefetch_buffer_size is None else prefetch_buffer_size)


class MatchingFilesDataset(DatasetSource):
    """A dataset of the names of files that match patterns, in order."""

    _structure = TensorSpec([], dtypes.string)

    def __init__(self, patterns: TensorLike) -> None:
        self._patterns = convert_to_tensor(patterns, dtype=dtypes.string, name="patterns")
        super().__init__(raw.MatchingFilesDataset(self._patterns))


class SqlDatasetV2(DatasetSource):
    """See `SqlDatasetV1`."""

    def __init__(
        self,
        driver_name: TensorLike,
        data_source_name: TensorLike,
        query: TensorLike,
        output_types: Any,
    ) -> None:
        given = {"driver_name": driver_name, "data_source_name": data_source_name, "query": query}
        texts = [convert_to_tensor(v, dtype=dtypes.string, name=n) for n, v in given.items()]
        self._structure = nest.map_structure(lambda kind: TensorSpec([], kind), output_types)
        driver, source, text = texts
        super().__init__(raw.SqlDataset(driver, source, text, **self._flat_structure))


@export("data.experimental.SqlDataset")
class SqlDatasetV1(DatasetV1Adapter):
    """A dataset of the rows that a query gives.

    Args:
      driver_name: "sqlite".
      data_source_name: The name of the database's file, which is only read.
      query: In SQL.
      output_types: The dtypes of columns: string, integers, bool or float64.
    """

    def __init__(
        self,
        driver_name: TensorLike,
        data_source_name: TensorLike,
        query: TensorLike,
        output_types: Any,
    ) -> None:
        super().__init__(SqlDatasetV2(driver_name, data_source_name, query, output_types))


SqlDataset = SqlDatasetV1


@export("contrib.data.LMDBDataset")
class LMDBDataset(DatasetSource):
    """A dataset of the pairs of keys and values in LMDB databases.

    Args:
      filenames: A tensor of one name or several, of files or folders.
    """

    def __init__(self, filenames: TensorLike) -> None:
        self._structure = (TensorSpec([], dtypes.string), TensorSpec([], dtypes.string))
        self._filenames = convert_to_tensor(filenames, dtype=dtypes.string, name="filenames")
        super().__init__(raw.LMDBDataset(self._filenames, **self._flat_structure))


@export("data.experimental.TFRecordWriter")
class TFRecordWriter:
    """Writes a dataset of strings into a TFRecord file.

    Args:
      filename: Its name.
      compression_type: "", "ZLIB" or "GZIP".
    """

    def __init__(self, filename: TensorLike, compression_type: TensorLike | None = None) -> None:
        self._filename = convert_to_tensor(filename, dtypes.string, name="filename")
        self._compression_type = optional_param_to_tensor(
            "compression_type", compression_type, "", dtypes.string
        )

    def write(self, dataset: DatasetV2) -> Any:
        """The operation that writes all elements.

        Raises:
          TypeError: `dataset` is no dataset of scalar strings.
        """
        if not isinstance(dataset, DatasetV2):
            raise TypeError("`dataset` must be a `tf.data.Dataset` object.")
        spec = dataset.element_spec
        if not structure.are_compatible(spec, TensorSpec([], dtypes.string)):
            shapes, types = structure.legacy(spec, "shapes"), structure.legacy(spec, "types")
            raise TypeError(
                "`dataset` must produce scalar `DT_STRING` tensors whereas it produces shape "
                f"{shapes} and types {types}"
            )
        return raw.DatasetToTFRecord(
            dataset._variant_tensor, self._filename, self._compression_type
        )
