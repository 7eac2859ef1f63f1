# SPDX-License-Identifier: Apache-2.0
"""Sparse tensors as strings (or variants): three TensorProtos for indices, values and shape."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ...engine import errors
from ...engine.api import export
from ...engine.graph import rowwise
from ...engine.graph.build import define
from ...engine.graph.registry import NoGradient
from ...engine.graph.tensor import SparseTensor
from ...engine.types import dtypes
from ...engine.types.shape import TensorShape, shape_text
from ..public import raw
from ..shape_inference import ranked
from ..sparse_checks import require_sparse, with_parts
from .common import SAMPLE, as_sparse, in_order, parts, require_order, sparse_shapes

if TYPE_CHECKING:
    from ...engine.graph.annotations import DTypeLike, TensorLike
    from ...engine.graph.inference import ShapeContext
    from ...engine.graph.kernel_context import KernelContext
    from ...engine.graph.operation import Operation
    from ...engine.graph.tensor import Tensor
    from ...engine.types.dtypes import DType

_NO_GRADIENT = NoGradient("serialized tensors have no gradient")


def _boxed(arrays: list[np.ndarray], kind: dtypes.DType) -> np.ndarray:
    """Arrays as elements: themselves in variants, TensorProtos in strings."""
    from ...io.tensor_content import serialized

    result = np.empty(len(arrays), object)
    for i, array in enumerate(arrays):
        is_text = kind == dtypes.string
        result[i] = serialized(array) if is_text else array
    return result


def _boxed_ranges(
    whole: np.ndarray, bounds: Sequence[tuple[int, int]], kind: dtypes.DType
) -> np.ndarray:
    """The same of ranges of an array's rows."""
    from ...io.tensor_content import serialized_ranges

    if kind != dtypes.string:
        return _objects([whole[first:last] for first, last in bounds])
    return _objects(serialized_ranges(whole, bounds))


def _unboxed(element: object) -> np.ndarray:
    if isinstance(element, np.ndarray):
        return element
    from google.protobuf.message import DecodeError

    from ...io import protos
    from ...io.tensor_proto import make_ndarray

    try:
        return make_ndarray(protos.TensorProto.FromString(element))
    except (DecodeError, TypeError):
        raise errors.invalid("Could not parse serialized proto") from None


def _serialize(
    c: KernelContext, indices: np.ndarray, values: np.ndarray, shape: np.ndarray
) -> np.ndarray:
    return _boxed([indices, values, shape], c.attr("out_type"))


def _serialize_many(
    c: KernelContext, indices: np.ndarray, values: np.ndarray, shape: np.ndarray
) -> np.ndarray:
    if len(shape) < 2:
        raise errors.invalid(
            f"Rank of input SparseTensor should be > 1, but saw rank: {len(shape)}"
        )
    require_sparse(indices, values, shape)
    require_order(indices, shape)
    count, kind = int(shape[0]), c.attr("out_type")
    # Entries of a row stand together, in their order, once they are sorted by it.
    order = np.argsort(indices[:, 0], kind="stable")
    ends = np.searchsorted(indices[order, 0], np.arange(count + 1))
    rest, sorted_values = indices[order, 1:], values[order]
    between = list(zip(ends[:-1].tolist(), ends[1:].tolist()))
    result = np.empty((count, 3), object)
    for column, whole in ((0, rest), (1, sorted_values)):
        result[:, column] = _boxed_ranges(whole, between, kind)
    # (The shape is the same for all.)
    result[:, 2] = _boxed([shape[1:]] * min(count, 1), kind)
    return result


def _serialize_rows(
    c: KernelContext,
    indices: np.ndarray,
    values: np.ndarray,
    lengths: np.ndarray,
    shapes: np.ndarray,
) -> np.ndarray:
    stops = np.cumsum(lengths)
    between = list(zip((stops - lengths).tolist(), stops.tolist()))
    result = np.empty((len(shapes), 3), object)
    # (Slices one by one: an array of arrays of one length would be an array of more axes.)
    for column, whole in ((0, indices), (1, values)):
        result[:, column] = _objects([whole[first:last] for first, last in between])
    result[:, 2] = _objects(list(shapes))
    return result


def _objects(arrays: list[Any]) -> np.ndarray:
    return np.fromiter(arrays, object, len(arrays))


_rows_serialized = define(
    "_SerializeSparseRows",
    "indices: int64, values: T, lengths: int64, shapes: int64 -> serialized_sparse: variant",
    "T: type",
    shape=lambda c: TensorShape([c.inputs[3][0], 3]),
    kernel=_serialize_rows,
    gradient=_NO_GRADIENT,
    doc="Sparse tensors that lie one behind the other as three tensors each.",
    test={"needs": "variants"},
)


def _sparse_rows(op: Operation, inputs: Sequence[rowwise.Rows]) -> rowwise.Results:
    """Of elements whose entries lie one behind the other, and whose shapes are rows."""
    indices, values, shape = inputs
    is_told = indices.rank == 2 and values.rank == shape.rank == 1
    is_ragged = indices.lengths is not None and indices.lengths is values.lengths
    if not (is_told and is_ragged) or shape.places is not None:
        return None
    if dtypes.as_dtype(op._attrs["out_type"]) != dtypes.variant:
        return None
    parts = [indices.tensor, values.tensor, indices.lengths, shape.tensor]
    made = _rows_serialized(*parts, name="SerializeSparseRows")
    return [rowwise.Rows(made, 1)]


for _name, _kernel, _sizes, _of_rows in (
    ("SerializeSparse", _serialize, [3], _sparse_rows),
    ("SerializeManySparse", _serialize_many, [None, 3], None),
):
    define(
        _name,
        "sparse_indices: int64, sparse_values: T, sparse_shape: int64 -> "
        "serialized_sparse: out_type",
        "T: type; out_type: {string, variant} = string",
        shape=lambda c, sizes=_sizes: sparse_shapes(c) and TensorShape(sizes),
        kernel=with_parts(_kernel),
        rows=_of_rows,
        gradient=_NO_GRADIENT,
        dynamic_shape=True,
        doc="A sparse tensor as three serialized tensors, for each entry of a batch.",
        test=lambda: {"values": [SAMPLE]},
    )


def _is_plain(row: Sequence[Any], kind: np.dtype) -> bool:
    """Whether a row is the arrays of a sparse tensor, which fit together."""
    indices, values, shape = row
    return (
        type(indices) is type(values) is type(shape) is np.ndarray
        and (indices.ndim, values.ndim, shape.ndim) == (2, 1, 1)
        and indices.shape == (len(values), len(shape))
        and values.dtype == kind
    )


def _part(place: int, row: Sequence[object], dtype: DType) -> tuple[Any, Any, Any]:
    """One sparse tensor, checked."""
    indices, values, shape = map(_unboxed, row)
    where = f"serialized_sparse[{place}"
    if indices.ndim != 2:
        raise errors.invalid(
            f"Expected {where}, 0] to represent an index matrix but received shape "
            f"{shape_text(indices.shape)}"
        )
    if values.ndim != 1:
        raise errors.invalid(
            f"Expected {where}, 1] to represent a values vector but received shape "
            f"{shape_text(values.shape)}"
        )
    if shape.ndim != 1:
        raise errors.invalid(
            f"Expected {where}, 1] to be a shape vector but its shape is {shape_text(shape.shape)}"
        )
    for number, array in ((0, indices), (2, shape)):
        if array.dtype != np.int64:
            raise errors.invalid(
                f"Expected {where}, {number}] to hold int64 numbers but it holds {array.dtype.name}"
            )
    if values.dtype != dtype.as_numpy_dtype and dtype != dtypes.string:
        raise errors.invalid(
            f"Requested SparseTensor of type {dtype.name} but SparseTensor[{place}]"
            f".values.dtype() == {values.dtype.name}"
        )
    if len(indices) != len(values):
        raise errors.invalid(
            f"Expected row counts of SparseTensor[{place}].indices and SparseTensor[{place}]"
            f".values to match but they do not: {len(indices)} vs. {len(values)}"
        )
    if indices.shape[1] != len(shape):
        raise errors.invalid(
            f"Expected column counts of SparseTensor[{place}].indices to match size of "
            f"SparseTensor[{place}].shape but they do not: {indices.shape[1]} vs. {len(shape)}"
        )
    return indices, values, shape


def _deserialize(c: KernelContext, serialized: np.ndarray) -> Any:
    if not serialized.ndim:
        raise errors.invalid("Serialized sparse should have non-zero rank []")
    if serialized.shape[-1] != 3:
        raise errors.invalid(
            f"Serialized sparse should have 3 as the last dimension {shape_text(serialized.shape)}"
        )
    batch = serialized.shape[:-1]
    rows = serialized.reshape(-1, 3)
    if not len(rows):
        raise errors.invalid(
            "Serialized sparse should have at least 1 serialized tensor, but has a zero dimension "
            f"{shape_text(serialized.shape)}"
        )
    dtype = c.attr("dtype")
    found: list[Any] = rows.tolist()
    if not all(_is_plain(row, dtype.np_dtype) for row in found):
        found = [_part(i, row, dtype) for i, row in enumerate(found)]
    rank = len(found[0][2])
    for i, (_, _, shape) in enumerate(found):
        if len(shape) != rank:
            raise errors.invalid(
                "Inconsistent shape across SparseTensors: rank prior to SparseTensor"
                f"[{i}] was: {rank} but rank of SparseTensor[{i}] is: {len(shape)}"
            )
    if not batch:
        # (The serialized tensors stay what they are, whatever becomes of these.)
        indices, values, shape = found[0]
        return indices.astype(np.int64), values.copy(), shape.astype(np.int64)
    places = np.indices(batch, np.int64).reshape(len(batch), -1).T
    lengths = [len(part) for part, _, _ in found]
    inner = np.concatenate([part for part, _, _ in found])
    indices = np.concatenate([places.repeat(lengths, axis=0), inner], 1).astype(np.int64)
    values = np.concatenate([part[1] for part in found])
    # The batch takes the greatest of each size: rows may be of different lengths.
    sizes = np.max([part[2] for part in found], axis=0)
    order = in_order(indices)
    return indices[order], values[order], np.array([*batch, *sizes], np.int64)


def _deserialized(c: ShapeContext) -> list[TensorShape]:
    if c.op_type == "DeserializeManySparse":
        ranked(c.inputs[0], 2)
    return [TensorShape([None, None]), TensorShape([None]), TensorShape([None])]


for _name, _input, _attrs in (
    ("DeserializeSparse", "Tserialized", "dtype: type; Tserialized: {string, variant} = string"),
    ("DeserializeManySparse", "string", "dtype: type"),
):
    define(
        _name,
        f"serialized_sparse: {_input} -> sparse_indices: int64, sparse_values: dtype, "
        "sparse_shape: int64",
        _attrs,
        shape=_deserialized,
        kernel=_deserialize,
        gradient=_NO_GRADIENT,
        dynamic_shape=True,
        doc="The sparse tensor of serialized ones.",
        test={"needs": "serialized tensors"},
    )


@export("serialize_sparse", "io.serialize_sparse")
def serialize_sparse(
    sp_input: SparseTensor, name: str | None = None, out_type: DTypeLike = dtypes.string
) -> Tensor:
    """A sparse tensor as a vector of three serialized tensors."""
    return raw.SerializeSparse(*parts(as_sparse(sp_input)), name=name, out_type=out_type)


@export("serialize_many_sparse", "io.serialize_many_sparse")
def serialize_many_sparse(
    sp_input: SparseTensor, name: str | None = None, out_type: DTypeLike = dtypes.string
) -> Tensor:
    """A batch of sparse tensors as a matrix with three serialized tensors a row."""
    return raw.SerializeManySparse(*parts(as_sparse(sp_input)), name=name, out_type=out_type)


def _deserialized_sparse(found: Any, rank: int | None) -> SparseTensor:
    indices, values, shape = found
    indices.set_shape([None, rank])
    shape.set_shape([rank])
    return SparseTensor(indices, values, shape)


def deserialize_sparse(
    serialized_sparse: TensorLike,
    dtype: DTypeLike,
    rank: int | None = None,
    name: str | None = None,
) -> SparseTensor:
    """The sparse tensor of what `serialize_sparse` made, or of a batch of it."""
    return _deserialized_sparse(raw.DeserializeSparse(serialized_sparse, dtype, name=name), rank)


@export("deserialize_many_sparse", "io.deserialize_many_sparse")
def deserialize_many_sparse(
    serialized_sparse: TensorLike,
    dtype: DTypeLike,
    rank: int | None = None,
    name: str | None = None,
) -> SparseTensor:
    """The sparse tensor of a batch of serialized ones."""
    found = raw.DeserializeManySparse(serialized_sparse, dtype, name=name)
    return _deserialized_sparse(found, rank)
