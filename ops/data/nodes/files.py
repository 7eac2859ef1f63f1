# SPDX-License-Identifier: Apache-2.0
"""The ops of datasets of what is in files."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ....engine import errors
from ....engine.graph.registry import reads
from ....engine.types.shape import TensorShape
from ..runtime import files
from ..runtime.dataset import Dataset
from .common import define_dataset, scalar

if TYPE_CHECKING:
    from ....engine.graph.inference import ShapeContext
    from ....engine.graph.kernel_context import KernelContext


def _names(filenames: np.ndarray) -> list[bytes]:
    if filenames.ndim > 1:
        raise errors.invalid("`filenames` must be a scalar or a vector.")
    return list(filenames.reshape(-1))


def _text_lines(c: KernelContext, filenames: Any, compression: Any, buffer: Any) -> Dataset:
    kind = files.compression_of(scalar(compression, "compression_type"))
    size = scalar(buffer, "buffer_size")
    if size < 0:
        raise errors.invalid("`buffer_size` must be >= 0 (0 == default)")
    size = size or 1 << 18
    return files.FilesDataset(_names(filenames), lambda name: files.Lines(name, kind, size))


def _records(c: KernelContext, filenames: Any, compression: Any, buffer: Any) -> Dataset:
    kind = files.compression_of(scalar(compression, "compression_type"))
    if scalar(buffer, "buffer_size") < 0:
        raise errors.invalid("`buffer_size` must be >= 0 (0 == no buffering)")
    return files.FilesDataset(_names(filenames), lambda name: files.Records(name, kind))


def _fixed_lengths(
    c: KernelContext,
    filenames: Any,
    header: Any,
    record: Any,
    footer: Any,
    buffer: Any,
    compression: Any = b"",
) -> Dataset:
    sizes = (
        scalar(header, "header_bytes"),
        scalar(record, "record_bytes"),
        scalar(footer, "footer_bytes"),
    )
    for size, least, name in zip(sizes, (0, 1, 0), ("header", "record", "footer")):
        if size < least:
            raise errors.invalid(f"`{name}_bytes` must be {'> 0' if least else '>= 0'}")
    if scalar(buffer, "buffer_size") < 0:
        raise errors.invalid("`buffer_size` must be >= 0 (0 == default)")
    kind = files.compression_of(scalar(compression, "compression_type"))
    return files.FilesDataset(_names(filenames), lambda name: files.FixedLengths(name, kind, sizes))


def _shape(c: ShapeContext) -> TensorShape:
    if c.inputs[0].ndims is not None and c.inputs[0].ndims > 1:
        raise ValueError(f"Shape must be at most rank 1 but is rank {c.inputs[0].ndims}")
    for given in c.inputs[1:]:
        if given.ndims not in (None, 0):
            raise ValueError(f"Shape must be rank 0 but is rank {given.ndims}")
    return TensorShape([])


_FACTS: dict[str, Any] = {"shape": _shape, "stateful": True, "touches": reads("filenames")}
_TEXT = "filenames: string, compression_type: string, buffer_size: int64"
_LENGTHS = (
    "filenames: string, header_bytes: int64, record_bytes: int64, footer_bytes: int64, "
    "buffer_size: int64"
)
define_dataset("TextLineDataset", _TEXT, "", _text_lines, "The lines of files.", **_FACTS)
define_dataset("TFRecordDataset", _TEXT, "", _records, "The records of files.", **_FACTS)
define_dataset(
    "FixedLengthRecordDataset", _LENGTHS, "", _fixed_lengths, "Pieces of files.", **_FACTS
)
define_dataset(
    "FixedLengthRecordDatasetV2",
    f"{_LENGTHS}, compression_type: string",
    "",
    _fixed_lengths,
    "Pieces of files.",
    **_FACTS,
)
