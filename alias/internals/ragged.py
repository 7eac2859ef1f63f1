# SPDX-License-Identifier: Apache-2.0
"""Functions of `tensorflow.python.ops.ragged` that are methods, or missing, elsewhere."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...engine import api
from ...engine.types import dtypes
from ...ops.ragged import conversions, dispatch
from ...ops.ragged.conversions import ragged_to_dense  # noqa: F401  of ragged_conversion_ops
from ...ops.ragged.tensor import RaggedTensor, is_ragged
from ...ops.ragged.values import _depths as _find_scalar_and_max_depth  # noqa: F401
from ...ops.strings.split import strings_split as strings_split_v1  # noqa: F401
from ...ops.strings.split import strings_split_v2 as string_split_v2  # noqa: F401

if TYPE_CHECKING:
    from ...engine.graph.annotations import DTypeLike, TensorLike
    from ...engine.graph.tensor import SparseTensor


def auto_cast_partition_dtype() -> bool:
    """Whether row splits of int32 and int64 may meet, of ragged_config: they may not."""
    return False


def from_tensor(
    tensor: TensorLike,
    lengths: Any = None,
    padding: TensorLike | None = None,
    ragged_rank: int = 1,
    row_splits_dtype: DTypeLike = dtypes.int64,
    name: str | None = None,
) -> Any:
    """`RaggedTensor.from_tensor` that leaves ragged tensors as they are."""
    if is_ragged(tensor):
        return tensor
    return conversions.from_tensor(
        RaggedTensor, tensor, lengths, padding, ragged_rank, name, row_splits_dtype
    )


def to_tensor(rt_input: Any, default_value: Any = None, name: str | None = None) -> Any:
    """`RaggedTensor.to_tensor` that leaves dense tensors as they are."""
    return rt_input.to_tensor(default_value, name) if is_ragged(rt_input) else rt_input


def to_sparse(rt_input: RaggedTensor, name: str | None = None) -> SparseTensor:
    """The method of this name."""
    return rt_input.to_sparse(name)


def from_sparse(st_input: SparseTensor, name: str | None = None) -> RaggedTensor:
    """The class method of this name."""
    return conversions.from_sparse(RaggedTensor, st_input, name)


def ragged_op_list(tf_version: int = 1) -> str:
    """All names of the functions that take ragged tensors, one a line."""
    functions = {id(api.NAMES[name]) for name in dispatch.names()}
    names = sorted(name for name, thing in api.NAMES.items() if id(thing) in functions)
    only_first = {"batch_gather", "where"} if tf_version == 2 else set()
    return "\n".join(f"* `tf.{name}`" for name in names if name not in only_first)
