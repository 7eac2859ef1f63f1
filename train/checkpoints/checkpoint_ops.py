# SPDX-License-Identifier: Apache-2.0
"""Initializers that take matrices from a checkpoint whose vocabularies differ."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ...engine.graph.convert import convert_to_tensor
from ...engine.types import dtypes
from ...ops.public import raw, tf

if TYPE_CHECKING:
    from ...engine.graph.annotations import TensorLike
    from ...engine.graph.tensor import Tensor
    from ...engine.types.dtypes import DType
    from ...engine.types.shape import TensorShape
    from ...ops.state.variable_partitions import PartitionInfo

Initializer = Callable[..., Any]


def _check_pair(axis: str, old: Any, new: Any) -> bool:
    """Whether an axis is remapped: both files or none."""
    if bool(old) != bool(new):
        raise ValueError(
            f"old_{axis}_vocab_file and new_{axis}_vocab_file must both be specified or left "
            f"unspecified. old_{axis}_vocab_file='{old}', new_{axis}_vocab_file='{new}'"
        )
    return bool(old)


def _load_and_remap_matrix(
    ckpt_path: TensorLike,
    old_tensor_name: TensorLike,
    new_row_vocab_offset: int,
    num_rows_to_load: int,
    new_col_vocab_size: int,
    initializer: Initializer,
    old_row_vocab_size: int = -1,
    old_row_vocab_file: Any = None,
    new_row_vocab_file: Any = None,
    old_col_vocab_file: Any = None,
    new_col_vocab_file: Any = None,
    num_row_oov_buckets: int = 0,
    num_col_oov_buckets: int = 0,
    max_rows_in_memory: int = -1,
) -> Tensor:
    """A matrix from a checkpoint, with rows and columns where the new vocabularies have them."""
    for axis, count in (("row", num_row_oov_buckets), ("col", num_col_oov_buckets)):
        if count < 0:
            raise ValueError(f"num_{axis}_oov_buckets must be >= 0, but received {count:d}")
    remap_rows = _check_pair("row", old_row_vocab_file, new_row_vocab_file)
    remap_columns = _check_pair("col", old_col_vocab_file, new_col_vocab_file)
    if not (remap_rows or remap_columns):
        raise ValueError(
            "Must provide either row or column vocab files. If no remapping is necessary, consider "
            "using `tf.contrib.framework.init_from_checkpoint` instead."
        )
    rows_present: Any = num_rows_to_load
    if remap_rows:
        rows, rows_present = raw.GenerateVocabRemapping(
            new_row_vocab_file,
            old_row_vocab_file,
            new_row_vocab_offset,
            num_rows_to_load,
            old_row_vocab_size,
        )
    else:
        end = new_row_vocab_offset + num_rows_to_load
        rows = tf.range(new_row_vocab_offset, end, dtype=dtypes.int64)
    columns: Any = []
    columns_present: Any = new_col_vocab_size
    if remap_columns:
        columns, columns_present = raw.GenerateVocabRemapping(
            new_col_vocab_file, old_col_vocab_file, 0, new_col_vocab_size
        )
    # What the old matrix does not have is made by the initializer, exactly so many values of it.
    missing = num_rows_to_load * new_col_vocab_size - rows_present * columns_present
    matrix = raw.LoadAndRemapMatrix(
        ckpt_path,
        old_tensor_name,
        rows,
        columns,
        initializer([missing, 1]),
        num_rows_to_load,
        new_col_vocab_size,
        max_rows_in_memory,
    )
    if num_row_oov_buckets > 0:
        more = convert_to_tensor(initializer([num_row_oov_buckets, new_col_vocab_size]))
        matrix = tf.concat([matrix, more], 0)
    if num_col_oov_buckets > 0:
        height = num_rows_to_load + num_row_oov_buckets
        more = convert_to_tensor(initializer([height, num_col_oov_buckets]))
        matrix = tf.concat([matrix, more], 1)
    return matrix


def _load_and_remap_matrix_initializer(
    ckpt_path: TensorLike,
    old_tensor_name: TensorLike,
    new_row_vocab_size: int,
    new_col_vocab_size: int,
    old_row_vocab_size: int = -1,
    old_row_vocab_file: Any = None,
    new_row_vocab_file: object = None,
    old_col_vocab_file: object = None,
    new_col_vocab_file: object = None,
    num_row_oov_buckets: int = 0,
    num_col_oov_buckets: int = 0,
    initializer: Initializer | None = None,
    max_rows_in_memory: int = -1,
) -> Initializer:
    """An initializer for such a matrix, also in parts along its rows."""
    initialize = tf.zeros_initializer() if initializer is None else initializer
    height = new_row_vocab_size + num_row_oov_buckets
    width = new_col_vocab_size + num_col_oov_buckets

    def initial_value(
        shape: Any, dtype: DType = dtypes.float32, partition_info: PartitionInfo | None = None
    ) -> Any:
        _check_shape(shape, dtype, width, new_col_vocab_size, num_col_oov_buckets)
        offset = 0 if partition_info is None else partition_info.single_offset(shape)
        if offset + shape[0] > height:
            raise ValueError(
                f"Trying to initialize {shape[0]} additional rows after {offset} rows have already "
                "been initialized, which would exceed expected total row count of "
                f"new_row_vocab_size ({new_row_vocab_size}) + num_row_oov_buckets "
                f"({num_row_oov_buckets}) = {height}."
            )
        # How many of this part's rows are behind the vocabulary: those are for words without a
        # number.
        extra = min(shape[0], max(0, offset + shape[0] - new_row_vocab_size))
        if offset > new_row_vocab_size:
            if shape[0] != extra:
                raise ValueError(
                    "Partitioned variable offset is greater than new vocab size and not operating "
                    "on OOV-only partition."
                )
            return initialize(shape)
        return _load_and_remap_matrix(
            ckpt_path,
            old_tensor_name,
            offset,
            shape[0] - extra,
            new_col_vocab_size,
            initialize,
            old_row_vocab_size,
            old_row_vocab_file,
            new_row_vocab_file,
            old_col_vocab_file,
            new_col_vocab_file,
            extra,
            num_col_oov_buckets,
            max_rows_in_memory,
        )

    return initial_value


def _check_shape(shape: TensorShape, dtype: DType, width: int, columns: int, buckets: int) -> None:
    if dtype != dtypes.float32:
        raise TypeError(f"Currently, only float32 is supported. Received dtype: {dtype}")
    if len(shape) != 2:
        raise ValueError(f"Expected 2-dim shape, but received: {shape}")
    if shape[0] <= 0:
        raise ValueError(f"Expected 1st dim of shape to be > 0, but received shape: {shape}")
    if shape[1] != width:
        raise ValueError(
            f"Expected 2nd dim of shape to be new_col_vocab_size ({columns}) + "
            f"num_col_oov_buckets ({buckets}) = {width}, but received shape: {shape}"
        )


def _load_embedding_initializer(
    ckpt_path: TensorLike,
    embedding_tensor_name: TensorLike,
    new_vocab_size: int,
    embedding_dim: int,
    old_vocab_file: object,
    new_vocab_file: object,
    old_vocab_size: int = -1,
    num_oov_buckets: int = 0,
    initializer: Initializer | None = None,
    max_rows_in_memory: int = -1,
) -> Initializer:
    """An initializer for embeddings of a vocabulary that has changed."""
    if initializer is None:
        initializer = tf.truncated_normal_initializer(stddev=1.0 / math.sqrt(embedding_dim))
    return _load_and_remap_matrix_initializer(
        ckpt_path,
        embedding_tensor_name,
        new_row_vocab_size=new_vocab_size,
        new_col_vocab_size=embedding_dim,
        old_row_vocab_size=old_vocab_size,
        old_row_vocab_file=old_vocab_file,
        new_row_vocab_file=new_vocab_file,
        num_row_oov_buckets=num_oov_buckets,
        initializer=initializer,
        max_rows_in_memory=max_rows_in_memory,
    )
