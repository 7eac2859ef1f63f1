# SPDX-License-Identifier: Apache-2.0
"""`tf.data.TextLineDataset`, `TFRecordDataset` and `FixedLengthRecordDataset`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...engine.api import export
from ...engine.graph.convert import convert_to_tensor
from ...engine.interface.specs import TensorSpec
from ...engine.types import dtypes
from ..public import raw, tf
from . import structure
from .arguments import optional_param_to_tensor
from .dataset import AUTOTUNE, DatasetV2
from .dataset_v1 import DatasetV1Adapter
from .sources import DatasetSource, TensorSliceDataset

_DEFAULT_READER_BUFFER_SIZE_BYTES = 256 * 1024


def _create_or_validate_filenames_dataset(filenames: Any) -> DatasetV2:
    """Names of files as a dataset of strings."""
    if isinstance(filenames, DatasetV2):
        spec = filenames.element_spec
        if structure.legacy(spec, "types") != dtypes.string:
            raise TypeError("`filenames` must be a `tf.data.Dataset` of `tf.string` elements.")
        if not structure.legacy(spec, "shapes").is_compatible_with([]):
            raise TypeError(
                "`filenames` must be a `tf.data.Dataset` of scalar `tf.string` elements."
            )
        return filenames
    names = convert_to_tensor(filenames, dtype=dtypes.string)
    return TensorSliceDataset(tf.reshape(names, [-1], name="flat_filenames"))


def _create_dataset_reader(
    dataset_creator: Callable[[Any], Any], filenames: Any, num_parallel_reads: Any = None
) -> Any:
    """A dataset of what is in all files."""

    def read_one_file(filename: Any) -> Any:
        return dataset_creator(convert_to_tensor(filename, dtypes.string, name="filename"))

    if num_parallel_reads is None:
        return filenames.flat_map(read_one_file)
    if isinstance(num_parallel_reads, int) and num_parallel_reads == AUTOTUNE:
        return filenames.interleave(read_one_file, num_parallel_calls=num_parallel_reads)
    from .experimental.choosing import ParallelInterleaveDataset

    return ParallelInterleaveDataset(
        filenames, read_one_file, num_parallel_reads, 1, False, None, None
    )


class _Strings(DatasetSource):
    """A dataset of strings."""

    _structure = TensorSpec([], dtypes.string)


def _text(name: str, value: Any) -> Any:
    return optional_param_to_tensor(name, value, argument_default="", argument_dtype=dtypes.string)


def _buffer(value: Any) -> Any:
    return optional_param_to_tensor("buffer_size", value, _DEFAULT_READER_BUFFER_SIZE_BYTES)


class _TextLineDataset(_Strings):
    """The lines of files."""

    def __init__(self, filenames: Any, compression_type: Any = None, buffer_size: Any = None):
        self._filenames = filenames
        self._compression_type = _text("compression_type", compression_type)
        self._buffer_size = _buffer(buffer_size)
        super().__init__(raw.TextLineDataset(filenames, self._compression_type, self._buffer_size))


class _TFRecordDataset(_Strings):
    """The records of files."""

    def __init__(self, filenames: Any, compression_type: Any = None, buffer_size: Any = None):
        self._filenames = filenames
        self._compression_type = _text("compression_type", compression_type)
        self._buffer_size = _buffer(buffer_size)
        super().__init__(raw.TFRecordDataset(filenames, self._compression_type, self._buffer_size))


class _FixedLengthRecordDataset(_Strings):
    """Pieces of one length of files."""

    def __init__(
        self,
        filenames: Any,
        record_bytes: Any,
        header_bytes: Any = None,
        footer_bytes: Any = None,
        buffer_size: Any = None,
        compression_type: Any = None,
    ) -> None:
        self._filenames = filenames
        self._record_bytes = convert_to_tensor(
            record_bytes, dtype=dtypes.int64, name="record_bytes"
        )
        self._header_bytes = optional_param_to_tensor("header_bytes", header_bytes)
        self._footer_bytes = optional_param_to_tensor("footer_bytes", footer_bytes)
        self._buffer_size = _buffer(buffer_size)
        self._compression_type = _text("compression_type", compression_type)
        super().__init__(
            raw.FixedLengthRecordDatasetV2(
                filenames,
                self._header_bytes,
                self._record_bytes,
                self._footer_bytes,
                self._buffer_size,
                self._compression_type,
            )
        )


class _FilesDataset(_Strings):
    """What is in the files of a dataset of names."""

    _impl: Any

    def _read(self, filenames: Any, create: Callable[[Any], Any], parallel: Any) -> None:
        self._filenames = _create_or_validate_filenames_dataset(filenames)
        self._impl = _create_dataset_reader(create, self._filenames, parallel)
        DatasetV2.__init__(self, self._impl._variant_tensor)


class TextLineDatasetV2(_FilesDataset):
    """See `TextLineDatasetV1`."""

    def __init__(
        self,
        filenames: Any,
        compression_type: Any = None,
        buffer_size: Any = None,
        num_parallel_reads: Any = None,
    ) -> None:
        self._compression_type, self._buffer_size = compression_type, buffer_size

        def create(filename: Any) -> Any:
            return _TextLineDataset(filename, compression_type, buffer_size)

        self._read(filenames, create, num_parallel_reads)


class TFRecordDatasetV2(_FilesDataset):
    """See `TFRecordDatasetV1`."""

    def __init__(
        self,
        filenames: Any,
        compression_type: Any = None,
        buffer_size: Any = None,
        num_parallel_reads: Any = None,
    ) -> None:
        self._compression_type, self._buffer_size = compression_type, buffer_size
        self._num_parallel_reads = num_parallel_reads

        def create(filename: Any) -> Any:
            return _TFRecordDataset(filename, compression_type, buffer_size)

        self._read(filenames, create, num_parallel_reads)

    def _inputs(self) -> list[Any]:
        return self._impl._inputs()  # type: ignore[no-any-return]

    def _clone(
        self,
        filenames: Any = None,
        compression_type: Any = None,
        buffer_size: Any = None,
        num_parallel_reads: Any = None,
    ) -> TFRecordDatasetV2:
        return TFRecordDatasetV2(
            filenames or self._filenames,
            compression_type or self._compression_type,
            buffer_size or self._buffer_size,
            num_parallel_reads or self._num_parallel_reads,
        )


class FixedLengthRecordDatasetV2(_FilesDataset):
    """See `FixedLengthRecordDatasetV1`."""

    def __init__(
        self,
        filenames: Any,
        record_bytes: Any,
        header_bytes: Any = None,
        footer_bytes: Any = None,
        buffer_size: Any = None,
        compression_type: Any = None,
        num_parallel_reads: Any = None,
    ) -> None:
        numbers = record_bytes, header_bytes, footer_bytes

        def create(filename: Any) -> Any:
            return _FixedLengthRecordDataset(filename, *numbers, buffer_size, compression_type)

        self._read(filenames, create, num_parallel_reads)


class _FilesDatasetV1(DatasetV1Adapter):
    """A dataset of what is in files, with the methods of TensorFlow 1."""

    _dataset: Any

    @property
    def _filenames(self) -> Any:
        return self._dataset._filenames

    @_filenames.setter
    def _filenames(self, value: Any) -> None:
        self._dataset._filenames = value


@export("data.TextLineDataset")
class TextLineDatasetV1(_FilesDatasetV1):
    """A dataset of the lines of text files, without their ends.

    Args:
      filenames: Names of files: a string tensor, or a dataset of strings.
      compression_type: "", "ZLIB" or "GZIP".
      buffer_size: Of bytes that are read at a time.
      num_parallel_reads: How many files are read at a time, their lines in turns.
    """

    def __init__(
        self,
        filenames: Any,
        compression_type: Any = None,
        buffer_size: Any = None,
        num_parallel_reads: Any = None,
    ) -> None:
        super().__init__(
            TextLineDatasetV2(filenames, compression_type, buffer_size, num_parallel_reads)
        )


@export("data.TFRecordDataset")
class TFRecordDatasetV1(_FilesDatasetV1):
    """A dataset of the records of TFRecord files.

    Args:
      filenames: Names of files: a string tensor, or a dataset of strings.
      compression_type: "", "ZLIB" or "GZIP".
      buffer_size: Of bytes that are read at a time.
      num_parallel_reads: How many files are read at a time, their records in turns.
    """

    def __init__(
        self,
        filenames: Any,
        compression_type: Any = None,
        buffer_size: Any = None,
        num_parallel_reads: Any = None,
    ) -> None:
        super().__init__(
            TFRecordDatasetV2(filenames, compression_type, buffer_size, num_parallel_reads)
        )

    def _clone(self, *args: Any, **kwargs: Any) -> TFRecordDatasetV1:
        made = TFRecordDatasetV1.__new__(TFRecordDatasetV1)
        DatasetV1Adapter.__init__(made, self._dataset._clone(*args, **kwargs))
        return made


@export("data.FixedLengthRecordDataset")
class FixedLengthRecordDatasetV1(_FilesDatasetV1):
    """A dataset of pieces of one length of binary files.

    Args:
      filenames: Names of files: a string tensor, or a dataset of strings.
      record_bytes: The length of a piece.
      header_bytes, footer_bytes: The lengths of what is passed over at both ends; 0 if None.
      buffer_size: Of bytes that are read at a time.
      compression_type: "", "ZLIB" or "GZIP".
      num_parallel_reads: How many files are read at a time, their pieces in turns.
    """

    def __init__(
        self,
        filenames: Any,
        record_bytes: Any,
        header_bytes: Any = None,
        footer_bytes: Any = None,
        buffer_size: Any = None,
        compression_type: Any = None,
        num_parallel_reads: Any = None,
    ) -> None:
        numbers = record_bytes, header_bytes, footer_bytes
        super().__init__(
            FixedLengthRecordDatasetV2(
                filenames, *numbers, buffer_size, compression_type, num_parallel_reads
            )
        )


FixedLengthRecordDataset = FixedLengthRecordDatasetV1
TFRecordDataset = TFRecordDatasetV1
TextLineDataset = TextLineDatasetV1
