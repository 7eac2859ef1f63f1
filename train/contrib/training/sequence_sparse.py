# SPDX-License-Identifier: Apache-2.0
"""What sequences need before they are cut up: padding, and ways for sparse ones through a queue."""

from __future__ import annotations

from numbers import Integral
from typing import TYPE_CHECKING, Any

from ....engine.graph.convert import convert_to_tensor
from ....engine.graph.graph import control_dependencies
from ....engine.graph.tensor import SparseTensor, SparseTensorValue, Tensor
from ....engine.types import dtypes
from ....ops.control import with_dependencies
from ....ops.public import tf
from ....ops.sparse.sparse_tensors_map import (
    add_many_sparse_to_tensors_map,
    take_many_sparse_from_tensors_map,
)
from .sequence_checks import multiple_rows

if TYPE_CHECKING:
    from ....engine.graph.operation import Operation

_SPARSE = (SparseTensor, SparseTensorValue)
# What is put before names of sparse context while it travels among the sequences.
_CONTEXT = "_context_in_seq_"


def sparse_keys(tensors: dict[str, Any]) -> list[str]:
    """The names of the sparse tensors, sorted."""
    return [key for key in sorted(tensors) if isinstance(tensors[key], _SPARSE)]


def pad(sequences: dict[str, Any], num_unroll: int) -> tuple[Any, dict[str, Any]]:
    """The length of the sequences, and the sequences with a multiple of `num_unroll` steps.

    Raises:
        TypeError: the sequences are no dictionary of names.
        ValueError: `num_unroll` is no integer.
    """
    if not isinstance(num_unroll, Integral):
        raise ValueError(f"Unsupported num_unroll expected int, got: {num_unroll}")
    if not isinstance(sequences, dict):
        raise TypeError(f"Unsupported sequences expected dict, got: {sequences}")
    for key in sequences:
        if not isinstance(key, str):
            raise TypeError(f"Unsupported sequences key expected string, got: {key}")
    if not sequences:
        return 0, {}
    tensors = {
        key: value if isinstance(value, _SPARSE) else convert_to_tensor(value)
        for key, value in sorted(sequences.items())
    }
    length = _common_length(list(tensors.values()))
    unroll = tf.constant(num_unroll)
    padded = length + ((unroll - (length % unroll)) % unroll)
    return length, {key: _padded(value, padded) for key, value in tensors.items()}


def _common_length(tensors: list[Any]) -> Tensor:
    lengths = [tf.shape(value)[0] for value in tensors if isinstance(value, Tensor)]
    if not lengths:
        rows = [value.dense_shape[0] for value in tensors if isinstance(value, SparseTensor)]
        return tf.reduce_max(tf.cast(rows, dtypes.int32))
    message = "All sequence lengths must match, but received lengths: "
    checks = [
        tf.Assert(tf.equal(length, lengths[0]), [tf.string_join([message, tf.as_string(lengths)])])
        for length in lengths
    ]
    return with_dependencies(checks, lengths[0])


def _padded(value: Any, rows: Tensor) -> Any:
    if not isinstance(value, Tensor):
        shape = tf.concat([[tf.cast(rows, dtypes.int64)], value.dense_shape[1:]], 0)
        return SparseTensor(value.indices, value.values, shape)
    missing = tf.concat(([rows - tf.shape(value)[0]], tf.shape(value)[1:]), 0)
    nothing = tf.constant("" if value.dtype == dtypes.string else 0, dtype=value.dtype)
    return tf.concat([value, tf.fill(dims=missing, value=nothing)], 0)


def check_multiples(sequences: dict[str, Any], num_unroll: int) -> dict[str, Any]:
    """The sequences, which must have a multiple of `num_unroll` steps."""
    return {key: _checked(key, value, num_unroll) for key, value in sequences.items()}


def _checked(key: str, value: object, num_unroll: int) -> Any:
    name = "multiple_of_checked"
    if isinstance(value, _SPARSE):
        check = multiple_rows("SparseTensor", key, value.dense_shape[0], num_unroll)
        with control_dependencies([check]):
            return SparseTensor(
                indices=tf.identity(value.indices, name=name),
                values=tf.identity(value.values, name=name),
                dense_shape=tf.identity(value.dense_shape, name=name),
            )
    try:
        value = convert_to_tensor(value)
    except TypeError:
        raise TypeError(
            "Unsupported input_sequences expected Tensor or SparseTensor values, got: "
            f"{type(value)} for key {key}"
        ) from None
    check = multiple_rows("Tensor", key, tf.shape(value)[0], num_unroll)
    with control_dependencies([check]):
        return tf.identity(value, name=name)


def move_context_out(context: dict[str, Any], sequences: dict[str, Any], num_unroll: int) -> None:
    """Makes sequences of sparse context: each segment's first step has it."""
    rows: Any = tf.constant(1)
    if sequences:
        first = next(iter(sequences.values()))
        if isinstance(first, Tensor):
            with control_dependencies([first]):
                rows = tf.shape(first)[0]
        else:
            rows = first.dense_shape[0]
    rows = tf.cast(rows, dtype=dtypes.int64)
    for key in sparse_keys(context):
        sequences[_CONTEXT + key] = _once_per_segment(context.pop(key), rows, num_unroll)


def _once_per_segment(tensor: Any, rows: Tensor, num_unroll: int) -> SparseTensor:
    segments = tf.cast(rows // num_unroll, dtype=dtypes.int32)
    values = tf.tile(tensor.values, tf.expand_dims(segments, 0))
    shape = tf.concat([tf.expand_dims(rows, 0), tensor.dense_shape], 0)
    places = tf.tile(tf.expand_dims(tensor.indices, 0), tf.stack([segments, 1, 1]))
    count, rank = tf.shape(tensor.indices)[0], tf.shape(tensor.indices)[1]
    steps = tf.range(start=0, limit=rows, delta=num_unroll)
    steps = tf.tile(tf.expand_dims(tf.expand_dims(steps, 1), 2), [1, count, 1])
    indices = tf.reshape(tf.concat([steps, places], 2), [count * segments, rank + 1])
    return SparseTensor(indices=indices, values=values, dense_shape=shape)


def move_context_in(context: dict[str, Any], sequences: dict[str, Any]) -> None:
    """Makes context again of what `move_context_out` made sequences of."""
    for key in sorted(sequences):
        if not key.startswith(_CONTEXT):
            continue
        tensor = sequences.pop(key)
        batch, inner = tensor.dense_shape[0], tensor.dense_shape[2:]
        # All of it is at the first step.
        tensor = SparseTensor(tensor.indices, tensor.values, tf.concat([[batch], [1], inner], 0))
        shape = tf.concat([[tensor.dense_shape[0]], tensor.dense_shape[2:]], 0)
        context[key.removeprefix(_CONTEXT)] = tf.sparse_reshape(tensor, shape)


def take_apart(
    sequences: dict[str, Any], shared_name: str | None = None
) -> tuple[dict[str, Any], list[str] | None, list[Operation]]:
    """The sequences with numbers in the place of sparse rows, which are kept elsewhere.

    Returns:
        The sequences; the names of those that were sparse; what keeps each of them.
    """
    keys = sparse_keys(sequences)
    if not keys:
        return sequences, None, []
    numbers = {
        key: add_many_sparse_to_tensors_map(sequences[key], shared_name=shared_name) for key in keys
    }
    return {**sequences, **numbers}, keys, [number.op for number in numbers.values()]


def put_together(
    sequences: dict[str, Any],
    keys: list[str] | None,
    keepers: list[Operation],
    batch_size: object,
    num_unroll: int,
) -> None:
    """Puts sparse tensors [batch_size, num_unroll, ...] in the place of their numbers."""
    if not keys:
        return
    rows = [
        take_many_sparse_from_tensors_map(
            sparse_map_op=keeper, sparse_handles=tf.reshape(sequences[key], [-1]), rank=None
        )
        for key, keeper in zip(keys, keepers)
    ]
    steps = convert_to_tensor(num_unroll, dtype=dtypes.int64, name="num_unroll_int64")
    for key, tensor in zip(keys, rows):
        sequences[key] = _in_batches(tensor, batch_size, steps)


def _in_batches(tensor: SparseTensor, batch_size: object, steps: Tensor) -> SparseTensor:
    """A tensor [batch_size * steps, ...] as [batch_size, steps, ...]."""
    row = tensor.indices[:, 0]
    example = tf.cast(tf.floor(row / steps), dtypes.int64)
    step = tf.mod(row, steps)
    indices = tf.concat(
        [tf.expand_dims(example, 1), tf.expand_dims(step, 1), tensor.indices[:, 1:]], axis=1
    )
    sizes = [[tf.cast(size, dtype=dtypes.int64)] for size in (batch_size, steps)]
    dense_shape = tf.concat([*sizes, tensor.dense_shape[1:]], axis=0)
    return SparseTensor(indices=indices, values=tensor.values, dense_shape=dense_shape)
