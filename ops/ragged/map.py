# SPDX-License-Identifier: Apache-2.0
"""`map_fn` whose rows and results may be ragged.

`tf.map_fn` of TensorFlow 1.15 takes dense tensors only; this one is that of its
`ragged_map_ops`.  A ragged result is written into arrays part by part, and put together from the
lengths of its rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from ...engine.graph.scope_functions import name_scope
from ...engine.graph.tensor import SparseTensor, Tensor
from ...engine.types import dtypes, nest
from ...engine.types.shape import dimension_value
from ..public import tf
from .tensor import (
    RaggedTensor,
    RaggedTensorType,
    convert_to_tensor_or_ragged_tensor,
    match_row_splits_dtypes,
)

if TYPE_CHECKING:
    from ...engine.graph.annotations import DTypeLike, TensorLike


class _Parts(NamedTuple):
    """What stands for one ragged result: tensors, arrays of them, or dtypes."""

    flat_values: Any
    nested_row_lengths: tuple[Any, ...]
    outer_row_length: Any


def _parts_of_type(kind: Any) -> Any:
    if not isinstance(kind, RaggedTensorType):
        return kind
    inner = (kind.row_splits_dtype,) * (kind.ragged_rank - 1)
    return _Parts(kind.dtype, inner, kind.row_splits_dtype)


def _parts_of_result(result: Any, declared: Any) -> Any:
    """A result as what is declared: the rows of a ragged one have one ragged axis less."""
    if isinstance(declared, RaggedTensorType):
        _check_declared(result, declared)
        if isinstance(result, Tensor):
            count = tf.shape(result, out_type=declared.row_splits_dtype)[0]
            return _Parts(result, (), tf.expand_dims(count, axis=0))
    if not isinstance(result, RaggedTensor):
        return result
    lengths = tuple(splits[1:] - splits[:-1] for splits in result.nested_row_splits)
    return _Parts(result.flat_values, lengths, tf.expand_dims(result.nrows(), axis=0))


def _check_declared(result: Any, declared: RaggedTensorType) -> None:
    rank = getattr(result, "ragged_rank", 0) + 1
    if declared.ragged_rank != rank:
        raise ValueError(
            f"The declared ragged rank ({declared.ragged_rank}) mismatches the result ({rank})"
        )
    if declared.dtype != result.dtype:
        raise ValueError(
            f"The declared dtype ({declared.dtype}) mismatches the result ({result.dtype})"
        )
    if rank > 1 and declared.row_splits_dtype != result.row_splits.dtype:
        raise ValueError(
            f"The declared row_splits dtype ({declared.row_splits_dtype}) mismatches the result "
            f"({result.row_splits.dtype}).  Use RaggedTensor.with_row_splits_dtype to convert it."
        )


def _collected(arrays: Any) -> Any:
    """All results of the arrays: stacked, or the ragged tensor of their parts."""
    if not isinstance(arrays, _Parts):
        return arrays.stack()
    values = arrays.flat_values.concat()
    lengths = [array.concat() for array in arrays.nested_row_lengths]
    outer = arrays.outer_row_length.concat()
    for level in (*reversed(lengths), outer):
        values = RaggedTensor.from_row_lengths(values, level, validate=False)
    return values


def _count(first: Any, is_only: bool) -> Any:
    """How many rows there are."""
    if isinstance(first, RaggedTensor):
        return first.nrows(out_type=dtypes.int32)
    shape = first.shape
    if shape.ndims is not None and shape.ndims < 1:
        if is_only:
            raise ValueError("elems must be a 1+ dimensional Tensor, not a scalar")
        raise ValueError("elements in elems must be 1+ dimensional Tensors, not scalars")
    known = None if shape.ndims is None else dimension_value(shape[0])
    return known or tf.shape(first)[0]


def _arrays(parts: Sequence[Any], size: Any, infer_shape: bool) -> Iterator[Any]:
    for kind in nest.flatten(list(parts)):
        yield tf.TensorArray(dtype=kind, dynamic_size=False, infer_shape=infer_shape, size=size)


def map_fn(
    fn: Callable[..., Any],
    elems: TensorLike,
    dtype: DTypeLike | None = None,
    parallel_iterations: int | None = None,
    back_prop: bool = True,
    swap_memory: bool = False,
    infer_shape: bool = True,
    name: str | None = None,
) -> Any:
    """`fn` of each row of tensors, ragged or not, in their structure, put together again.

    dtype: the dtypes of what `fn` returns, in its structure, a RaggedTensorType for what becomes
    ragged, where these are not those of `elems`.  The rest is as in `tf.map_fn`.
    """
    if not callable(fn):
        raise TypeError("fn must be callable.")
    if isinstance(elems, SparseTensor):
        raise TypeError(
            "To perform a map on the values of a sparse tensor use either  SparseTensor("
            "input.indices, fn(input.values), input.dense_shape) or  SparseTensor(input.indices, "
            "map_fn(fn, input.values), input.dense_shape)"
        )
    flat = match_row_splits_dtypes(*nest.flatten(elems))
    with name_scope(name, "map", flat):
        flat = [convert_to_tensor_or_ragged_tensor(elem, name="elem") for elem in flat]
        dtype = dtype or nest.pack_sequence_as(elems, [elem.dtype for elem in flat])
        n = tf.cast(_count(flat[0], len(flat) == 1), dtype=dtypes.int32)
        declared = nest.flatten(dtype)
        parts = [_parts_of_type(kind) for kind in declared]
        arrays = list(_arrays(parts, n, infer_shape))
        i = tf.constant(0, dtype=dtypes.int32)

        def body(i: Tensor, arrays: list[Any]) -> Any:
            results = nest.flatten(fn(nest.pack_sequence_as(elems, [elem[i] for elem in flat])))
            found = [_parts_of_result(*pair) for pair in zip(results, declared)]
            pairs = zip(arrays, nest.flatten(found))
            return i + 1, [array.write(i, value) for array, value in pairs]

        _, arrays = tf.while_loop(
            lambda i, _: i < n,
            body,
            (i, arrays),
            parallel_iterations=parallel_iterations or 10,
            back_prop=back_prop,
            swap_memory=swap_memory,
            maximum_iterations=n,
        )
        collected = [_collected(part) for part in nest.pack_sequence_as(parts, arrays)]
        return nest.pack_sequence_as(dtype, collected)
