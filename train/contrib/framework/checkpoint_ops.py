# SPDX-License-Identifier: Apache-2.0
"""Initializers that load matrices of checkpoints and put rows and columns as vocabularies say."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ....engine.api import export
from ....engine.types import dtypes
from ....ops.public import tf
from ...checkpoints.checkpoint_ops import (
    _load_and_remap_matrix_initializer as load_and_remap_matrix_initializer,
)
from ...checkpoints.checkpoint_ops import (
    _load_embedding_initializer as load_embedding_initializer,
)

if TYPE_CHECKING:
    from ....engine.graph.annotations import DTypeLike, ShapeLike

export("contrib.framework.load_and_remap_matrix_initializer")(load_and_remap_matrix_initializer)
export("contrib.framework.load_embedding_initializer")(load_embedding_initializer)

Initializer = Callable[..., Any]


@export("contrib.framework.load_linear_multiclass_bias_initializer")
def load_linear_multiclass_bias_initializer(
    ckpt_path: str,
    bias_tensor_name: str,
    new_class_vocab_size: int,
    old_class_vocab_file: str,
    new_class_vocab_file: str,
    num_class_oov_buckets: int = 0,
    initializer: Initializer | None = None,
    max_rows_in_memory: int = -1,
) -> Initializer:
    """An initializer that loads the biases of classes, in the order of another vocabulary.

    Args:
        ckpt_path: the checkpoint.
        bias_tensor_name: the name of the biases there, a matrix of one column.
        new_class_vocab_size: the number of classes of the new vocabulary.
        old_class_vocab_file, new_class_vocab_file: files of the classes' names, line by line.
        num_class_oov_buckets: the number of classes behind those of the vocabulary.
        initializer: makes the values that the checkpoint has not; zeros if None.
        max_rows_in_memory: how many rows are loaded at once; all if none are stated.
    """
    return load_and_remap_matrix_initializer(
        ckpt_path=ckpt_path,
        old_tensor_name=bias_tensor_name,
        new_row_vocab_size=new_class_vocab_size,
        new_col_vocab_size=1,
        old_row_vocab_file=old_class_vocab_file,
        new_row_vocab_file=new_class_vocab_file,
        num_row_oov_buckets=num_class_oov_buckets,
        initializer=tf.zeros_initializer() if initializer is None else initializer,
        max_rows_in_memory=max_rows_in_memory,
    )


@export("contrib.framework.load_variable_slot_initializer")
def load_variable_slot_initializer(
    ckpt_path: str,
    old_tensor_name: str,
    primary_partition_info: object,
    new_row_vocab_size: int,
    new_col_vocab_size: int,
    old_row_vocab_file: str | None = None,
    new_row_vocab_file: str | None = None,
    old_col_vocab_file: str | None = None,
    new_col_vocab_file: str | None = None,
    num_row_oov_buckets: int = 0,
    num_col_oov_buckets: int = 0,
    initializer: Initializer | None = None,
    max_rows_in_memory: int = -1,
) -> Initializer:
    """`load_and_remap_matrix_initializer` for an optimizer's slot of a part of a variable.

    Args:
        primary_partition_info: which part of its variable the slot belongs to.
        ckpt_path: the checkpoint; this and the rest as `load_and_remap_matrix_initializer`.
    """
    whole = load_and_remap_matrix_initializer(
        ckpt_path=ckpt_path,
        old_tensor_name=old_tensor_name,
        new_row_vocab_size=new_row_vocab_size,
        new_col_vocab_size=new_col_vocab_size,
        old_row_vocab_file=old_row_vocab_file,
        new_row_vocab_file=new_row_vocab_file,
        old_col_vocab_file=old_col_vocab_file,
        new_col_vocab_file=new_col_vocab_file,
        num_row_oov_buckets=num_row_oov_buckets,
        num_col_oov_buckets=num_col_oov_buckets,
        initializer=initializer,
        max_rows_in_memory=max_rows_in_memory,
    )

    def of_part(
        shape: ShapeLike, dtype: DTypeLike = dtypes.float32, partition_info: object = None
    ) -> Any:
        del partition_info  # That of the slot, which is cut as nothing is.
        return whole(shape, dtype, partition_info=primary_partition_info)

    return of_part
