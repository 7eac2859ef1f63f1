# SPDX-License-Identifier: Apache-2.0
"""The ops that give ragged tensors another form: sparse, dense, or variants that datasets carry."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ...engine import errors
from ...engine.graph.build import define
from ...engine.graph.registry import NoGradient
from ...engine.record_class import record
from ...engine.types import dtypes
from ...engine.types.shape import TensorShape, shape_text
from ..public import raw, tf
from ..shape_inference import dims, of_rank, ranked, ranked_at_least
from .compiled import lower_to_sparse
from .rows import places_of, splits_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ...engine.graph.inference import ShapeContext
    from ...engine.graph.kernel_context import KernelContext
    from ...engine.graph.operation import Operation
    from ...engine.graph.tensor import Tensor

_SAMPLE: list[Any] = [
    [np.array([0, 2, 2, 3], np.int64)],
    np.array([1.0, 2.0, 3.0], np.float32),
]

# Sparse


def check_nested(nested: list[np.ndarray], values: np.ndarray) -> None:
    """Raises InvalidArgumentError for splits that are no rows of these values."""
    lengths = [splits.size - 1 for splits in nested[1:]] + [len(values)]
    for level, splits in enumerate(nested):
        if splits.ndim != 1:
            shape = shape_text(splits.shape)
            raise errors.invalid(f"ragged splits must be vectors, but have shape {shape}")
        if not splits.size:
            raise errors.invalid("ragged splits may not be empty.")
        if splits[0]:
            raise errors.invalid("First value of ragged splits must be 0.")
        if (splits[1:] < splits[:-1]).any():
            # (TensorFlow 1.15 does not look, and gives what there is no meaning to.)
            raise errors.invalid("Ragged splits must be sorted")
        if splits[-1] != lengths[level]:
            raise errors.invalid(
                "Final value of ragged splits must match the length the corresponding ragged "
                "values."
            )


def _to_sparse(c: KernelContext, nested: list[np.ndarray], values: np.ndarray) -> Any:
    check_nested(nested, values)
    # The coordinates of rows, level by level; those of a row are repeated for what is in it.
    columns = [np.arange(nested[0].size - 1)]
    sizes = [nested[0].size - 1]
    for splits in nested:
        lengths = np.diff(splits)
        owners, inside = places_of(lengths)
        columns = [column[owners] for column in columns] + [inside]
        sizes.append(int(lengths.max(initial=0)))
    inner = values.shape[1:]
    count = int(np.prod(inner, dtype=np.int64))
    prefix = np.repeat(np.stack(columns, 1), count, axis=0)
    suffix = np.indices(inner).reshape(len(inner), count).T
    indices = np.concatenate([prefix, np.tile(suffix, (len(values), 1))], 1)
    return indices.astype(np.int64), values.reshape(-1), np.array([*sizes, *inner], np.int64)


def _sparse_shapes(c: ShapeContext) -> list[TensorShape]:
    *nested, values = c.inputs
    sizes = ranked_at_least(values, 1)
    for shape in nested:
        ranked(shape, 1)
    rank = None if sizes is None else len(sizes) + len(nested)
    count = values.num_elements()
    return [TensorShape([count, rank]), TensorShape([count]), TensorShape([rank])]


def _to_sparse_gradient(op: Operation, _indices: Tensor, grad: Tensor, _shape: Tensor) -> list[Any]:
    *nested, values = op.inputs
    return [*[None] * len(nested), tf.reshape(grad, tf.shape(values))]


define(
    "RaggedTensorToSparse",
    "rt_nested_splits: RAGGED_RANK * Tsplits, rt_dense_values: T -> sparse_indices: int64, "
    "sparse_values: T, sparse_dense_shape: int64",
    "RAGGED_RANK: int >= 1; T: type; Tsplits: {int32, int64} = int64",
    shape=_sparse_shapes,
    kernel=_to_sparse,
    lower=lower_to_sparse,
    gradient=_to_sparse_gradient,
    doc="A ragged tensor as a sparse one: the coordinates of all its values.",
    test=lambda: {"values": [_SAMPLE], "gradient": True},
)

# Dense

_FIRST, _ROWIDS, _SPLITS = "FIRST_DIM_SIZE", "VALUE_ROWIDS", "ROW_SPLITS"


def _kinds(c: ShapeContext | KernelContext | Operation) -> list[str]:
    """How each level is given; ValueError for an order that there is not."""
    given = c.attr("row_partition_types")
    kinds = [kind.decode() if isinstance(kind, bytes) else kind for kind in given]
    for kind in kinds:
        if kind not in (_FIRST, _ROWIDS, _SPLITS, "ROW_LENGTHS", "ROW_LIMITS", "ROW_STARTS"):
            raise ValueError(f"Unknown string for partition info type: {kind}")
        if kind not in (_FIRST, _ROWIDS, _SPLITS):
            raise ValueError(f"Unsupported partition type: {kind}")
    if not kinds:
        raise ValueError("Partition info types should not be empty")
    if _FIRST in kinds[1:]:
        raise ValueError(f"{_FIRST} must be first")
    if kinds[0] == _FIRST and kinds[1:2] != [_ROWIDS]:
        raise ValueError(f"{_FIRST} must be followed by {_ROWIDS}")
    if kinds[0] == _ROWIDS:
        raise ValueError(f"{_ROWIDS} cannot be first")
    return kinds


def _check_default(default: Sequence[int | None], values: Sequence[int | None]) -> None:
    if len(default) > len(values):
        raise ValueError(
            "default_value_shape must have no more dimensions than the value. "
            f"default_value_shape: {list(default)} value_shape: {list(values)}"
        )
    for i, (given, size) in enumerate(zip(default, values[1:])):
        if given not in (None, 1, size) and size is not None:
            raise ValueError(f"default_value_shape and value_shape do not match on dimension {i}")


def _dense_sizes(
    levels: int, wanted: Sequence[int | None] | None, values: Sequence[int | None] | None
) -> list[int | None] | None:
    """The sizes of the result as far as the wanted shape and that of the values tell them."""
    if values is None:
        return None if wanted is None else list(wanted)
    rank = levels + len(values)
    sizes: list[int | None] = [None] * rank if wanted is None else list(wanted)
    if len(sizes) != rank:
        raise ValueError(
            f"Value shape ({list(values)}), ragged_rank({levels}) and shape({sizes}) do not have "
            "a consistent number of dimensions"
        )
    for place, size in enumerate(values[1:], levels + 1):
        if size is not None and sizes[place] not in (None, size):
            raise ValueError("Value and shape dimension are inconsistent.")
        sizes[place] = sizes[place] if size is None else size
    return sizes


def _dense_shape(c: ShapeContext) -> TensorShape:
    kinds = _kinds(c)
    if len(kinds) != c.attr("num_row_partition_tensors"):
        raise ValueError(
            f"Number of row partition tensors ({c.attr('num_row_partition_tensors')}) does not "
            f"equal the number of row partition types({len(kinds)})."
        )
    for kind, shape in zip(kinds, c.inputs[3:]):
        if shape.ndims not in (None, int(kind != _FIRST)):
            what = (
                f"{_FIRST} must be a scalar" if kind == _FIRST else "Row partition must be a vector"
            )
            raise ValueError(f"{what}.")
    values, default = dims(c.inputs[1]), dims(c.inputs[2])
    if values is not None and default is not None:
        _check_default(default, values)
    # A scalar, -1, stands for a shape of which nothing is wanted.
    wanted = None if c.inputs[0].ndims in (None, 0) else dims(c.value_as_shape(0))
    found = _dense_sizes(len(kinds) - (kinds[0] == _FIRST), wanted, values)
    return of_rank(None) if found is None else TensorShape(found)


def _rows_of(kind: str, partition: np.ndarray) -> tuple[np.ndarray, np.ndarray, int]:
    """The row of each value of a level, its number there, and the length of the longest row."""
    if kind == _SPLITS:
        lengths = np.diff(partition)
        return *places_of(lengths), int(lengths.max(initial=0))
    begins = np.flatnonzero(np.diff(partition, prepend=-1))
    lengths = np.diff(np.append(begins, partition.size))
    return partition, places_of(lengths)[1], int(lengths.max(initial=0))


def _checked_sizes(
    kinds: list[str], levels: int, shape: np.ndarray, values: np.ndarray, default: np.ndarray
) -> list[int | None]:
    try:
        _check_default(default.shape, values.shape)
        wanted = [size if size >= 0 else None for size in shape.tolist()] if shape.ndim else None
        sizes = _dense_sizes(levels, wanted, values.shape)
    except ValueError as error:
        raise errors.invalid(str(error)) from None
    assert sizes is not None, "values have a rank in a run"
    return sizes


def _to_tensor(
    c: KernelContext,
    shape: np.ndarray,
    values: np.ndarray,
    default: np.ndarray,
    partitions: list[np.ndarray],
) -> np.ndarray:
    kinds = _kinds(c)
    first = int(partitions[0]) if kinds[0] == _FIRST else partitions[0].size - 1
    if kinds[0] == _FIRST:
        kinds, partitions = kinds[1:], partitions[1:]
    sizes = _checked_sizes(kinds, len(kinds), shape, values, default)
    found = [_rows_of(*level) for level in zip(kinds, partitions)]
    known = [first, *(longest for _, _, longest in found)]
    for i, size in enumerate(known):
        sizes[i] = size if sizes[i] is None else sizes[i]
    full = [int(size) for size in sizes if size is not None]
    inner = full[len(kinds) + 1 :]
    if len(np.broadcast_shapes(default.shape, tuple(full))) > len(full):
        raise errors.invalid(
            f"Unable to broadcast default_value of shape {shape_text(default.shape)} to tensor of "
            f"shape {shape_text(full)}"
        )
    result = np.empty(full, values.dtype)
    result[...] = default
    # The place of each row among all rows of the result; -1 for what does not fit in.
    place = np.arange(first)
    place[full[0] :] = -1
    for (rows, inside, _), width in zip(found, full[1:]):
        owner = place[rows]
        place = np.where((owner < 0) | (inside >= width), -1, owner * width + inside)
    if len(place) != len(values):
        raise errors.internal("Values and indices must be equal")
    fits = place >= 0
    if result.size:
        result.reshape(-1, *inner)[place[fits]] = values[fits]
    return result


def _to_tensor_gradient(op: Operation, grad: Tensor) -> list[Any]:
    """TensorFlow 2's, which 1.15 lacks: each place gives to the value there, or to the default."""
    shape, values, default, *partitions = op.inputs
    kinds = _kinds(op)
    levels = len(kinds) - (kinds[0] == _FIRST)
    # Which value lies at each place, counted from 1.
    numbers = tf.range(tf.shape(values)[0]) + 1
    owner = raw.RaggedTensorToTensor(
        shape if shape.shape.ndims == 0 else shape[: levels + 1],
        numbers,
        tf.zeros([], numbers.dtype),
        partitions,
        row_partition_types=kinds,
    )
    inner = tf.shape(values)[1:]
    rows = tf.reshape(grad, tf.concat([[-1], inner], axis=0))
    flat = tf.reshape(owner, [-1])
    of_values = tf.unsorted_segment_sum(rows, flat, tf.shape(values)[0] + 1)[1:]
    is_default = tf.cast(tf.equal(flat, 0), grad.dtype)
    weights = tf.reshape(is_default, tf.concat([[-1], tf.ones_like(inner)], axis=0))
    of_default = tf.reshape(rows * weights, tf.shape(grad))
    axes, _ = raw.BroadcastGradientArgs(tf.shape(default), tf.shape(grad))
    summed = tf.reshape(tf.reduce_sum(of_default, axes), tf.shape(default))
    return [None, of_values, summed, *[None] * len(partitions)]


define(
    "RaggedTensorToTensor",
    "shape: Tshape, values: T, default_value: T, "
    "row_partition_tensors: num_row_partition_tensors * Tindex -> result: T",
    "T: type; Tindex: {int64, int32}; Tshape: {int64, int32}; num_row_partition_tensors: int >= 1; "
    "row_partition_types: list(string)",
    shape=_dense_shape,
    kernel=_to_tensor,
    gradient=_to_tensor_gradient,
    dynamic_shape=True,
    doc="A ragged tensor as a dense one, with a default where rows are shorter.",
    test=lambda: {
        "values": [[np.int64(-1), _SAMPLE[1], np.float32(7), _SAMPLE[0]]],
        "attrs": [{"row_partition_types": [_SPLITS]}],
        "gradient": True,
    },
)

# Variants


@record(frozen=True, slots=True)
class EncodedRows:
    """A ragged tensor as an element of a variant tensor; without splits, a dense one."""

    nested_splits: tuple[np.ndarray, ...]
    values: np.ndarray


def _variants(found: list[EncodedRows], shape: Sequence[int]) -> np.ndarray:
    result = np.empty(len(found), object)
    for i, rows in enumerate(found):
        result[i] = rows
    return result.reshape(shape)


def _to_variant(c: KernelContext, nested: list[np.ndarray], values: np.ndarray) -> np.ndarray:
    if not c.attr("batched_input"):
        # (Copies: what the inputs lie in may be written again.)
        copies = tuple(splits.copy() for splits in nested)
        return _variants([EncodedRows(copies, values.copy())], ())
    found = []
    for first, last in zip(nested[0].tolist(), nested[0].tolist()[1:]):
        inner = []
        for splits in nested[1:]:
            part = splits[first : last + 1]
            inner.append(part - part[0])
            first, last = int(part[0]), int(part[-1])
        found.append(EncodedRows(tuple(inner), values[first:last].copy()))
    return _variants(found, (len(found),))


def _variant_shape(c: ShapeContext) -> TensorShape:
    *nested, values = c.inputs
    ranked_at_least(values, 1)
    sizes = [ranked(shape, 1) for shape in nested]
    if not c.attr("batched_input"):
        return TensorShape([])
    return TensorShape([None if sizes[0][0] is None else sizes[0][0] - 1])


define(
    "RaggedTensorToVariant",
    "rt_nested_splits: RAGGED_RANK * Tsplits, rt_dense_values: Tvalues -> encoded_ragged: variant",
    "RAGGED_RANK: int >= 1; Tvalues: type; Tsplits: {int32, int64}; batched_input: bool",
    shape=_variant_shape,
    kernel=_to_variant,
    gradient=NoGradient("variants have no gradient", silent=True),
    doc="A ragged tensor as a variant, or each of its rows as one.",
    test={"needs": "variants"},
)


def _checked_rows(c: KernelContext, place: int, rows: object, rank: int) -> EncodedRows:
    if not isinstance(rows, EncodedRows):
        raise errors.invalid(
            f"Input Variant element at index {place} doesn't hold a Tensor: {rows!r}"
        )
    if len(rows.nested_splits) not in (rank, 0):
        raise errors.invalid(
            "Encoded input Variant must hold either input_ragged_rank + 1 Tensors or an empty "
            "Tensor (zero splits Tensors, 1 values Tensor), "
            f"input_ragged_rank: {rank}, encoded input Variant: {rows!r}"
        )
    for splits in rows.nested_splits:
        if splits.dtype != c.attr("Tsplits").as_numpy_dtype:
            raise errors.invalid(
                f"Expected splits Tensor dtype: {c.attr('Tsplits').name}, "
                f"found: {dtypes.as_dtype(splits.dtype).name}"
            )
    wanted = c.attr("Tvalues")
    found = dtypes.string if rows.values.dtype.hasobject else dtypes.as_dtype(rows.values.dtype)
    if found != wanted:
        raise errors.invalid(f"Expected values Tensor dtype: {wanted.name}, found: {found.name}")
    if not rows.values.ndim:
        raise errors.invalid(
            f"Ragged values must have rank >= 1; encoded scalar element at index {place} has "
            f"values Tensor: {rows.values!r}"
        )
    return rows


def _stacked(found: list[EncodedRows], shape: Sequence[int], rank: int, dtype: Any) -> Any:
    """Several ragged tensors as the rows of one, below uniform rows for more axes of variants."""
    nested, count = [], 1
    for size, inner in zip(shape, shape[1:]):
        count *= size
        nested.append((np.arange(count + 1) * inner).astype(dtype))
    lengths = [
        rows.nested_splits[0].size - 1 if rank and rows.nested_splits else len(rows.values)
        for rows in found
    ]
    nested.append(splits_of(np.array(lengths, np.int64), dtype))
    for level in range(rank):
        parts = [np.diff(rows.nested_splits[level]) for rows in found if rows.nested_splits]
        nested.append(splits_of(np.concatenate([np.zeros(0, dtype), *parts]), dtype))
    for place, rows in enumerate(found):
        if rows.values.ndim != found[0].values.ndim:
            raise errors.invalid(
                "Rank of values must match for all components; values shape at index 0: "
                f"{shape_text(found[0].values.shape)}, values shape at index {place}: "
                f"{shape_text(rows.values.shape)}"
            )
    return nested, [rows.values for rows in found]


def _from_variant(c: KernelContext, encoded: np.ndarray) -> tuple[Any, ...]:
    encoded = np.asarray(encoded, object)
    rank, levels = c.attr("input_ragged_rank"), c.attr("output_ragged_rank")
    if rank == -1:
        rank = levels - encoded.ndim
        if rank < 0:
            raise errors.invalid(
                "Inferred input_ragged_rank (output_ragged_rank - encoded_variant.dims()) must be "
                f">= 0, found output_ragged_rank: {levels}, encoded_variant.dims(): "
                f"{encoded.ndim}, inferred input_ragged_rank: {rank}"
            )
    if levels != encoded.ndim + rank:
        raise errors.invalid(
            "output_ragged_rank must be equal to input_ragged_rank + encoded_ragged.dims(); "
            f"output_ragged_rank: {levels}, input_ragged_rank: {rank}, encoded_variant.dims(): "
            f"{encoded.ndim}."
        )
    found = [_checked_rows(c, i, rows, rank) for i, rows in enumerate(encoded.ravel())]
    if not encoded.ndim:
        return (*found[0].nested_splits, found[0].values)
    splits_dtype = c.attr("Tsplits").as_numpy_dtype
    nested, values = _stacked(found, encoded.shape, rank, splits_dtype)
    values = [part for part in values if part.size] or values[:1]
    flat = np.concatenate(values) if values else np.zeros(0, c.out_dtype(levels))
    return (*nested, flat)


def _from_variant_shapes(c: ShapeContext) -> list[TensorShape]:
    rank, levels = c.attr("input_ragged_rank"), c.attr("output_ragged_rank")
    if rank >= 0:
        ranked(c.inputs[0], levels - rank)
    return [TensorShape([None])] * levels + [of_rank(None)]


define(
    "RaggedTensorFromVariant",
    "encoded_ragged: variant -> output_nested_splits: output_ragged_rank * Tsplits, "
    "output_dense_values: Tvalues",
    "input_ragged_rank: int >= -1; output_ragged_rank: int >= 1; Tvalues: type; "
    "Tsplits: {int32, int64}",
    shape=_from_variant_shapes,
    kernel=_from_variant,
    gradient=NoGradient("variants have no gradient"),
    dynamic_shape=True,
    doc="The ragged tensor of variants, whose axes become its outer ones.",
    test={"needs": "variants"},
)
