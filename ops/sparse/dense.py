# SPDX-License-Identifier: Apache-2.0
"""Between sparse and dense tensors: conversion, products, indicators."""

from __future__ import annotations

import numbers
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ...engine import errors
from ...engine.api import export
from ...engine.graph.build import define
from ...engine.graph.convert import convert_to_tensor
from ...engine.graph.scope_functions import name_scope
from ...engine.graph.tensor import SparseTensor, SparseTensorValue, Tensor
from ...engine.types import dtypes
from ...engine.types.shape import TensorShape, shape_text
from ...jit.kernel import scalar as k
from ...jit.kernel.sizes import product
from .. import ranks
from ..array import nd_index
from ..public import raw, tf
from ..run_checks import error_of
from ..shape_inference import merge_dim, ranked
from .common import SAMPLE, as_sparse, flat_places, parts, require_inside, require_order
from .layout import sparse_reorder
from .row_dense import to_dense_rows

if TYPE_CHECKING:
    from ...engine.graph.annotations import DTypeLike, TensorLike
    from ...engine.graph.inference import ShapeContext
    from ...engine.graph.kernel_context import KernelContext
    from ...engine.graph.operation import Operation
    from ...jit.program.tensor_ir import Value
    from ...jit.trace.builder import Builder
    from ...jit.trace.tracer import OpView

# Conversion


def _check_parts(
    indices: np.ndarray, shape: np.ndarray, values: np.ndarray, default: np.ndarray
) -> None:
    if indices.ndim > 2:
        raise errors.invalid(
            "sparse_indices should be a scalar, vector, or matrix, got shape "
            f"{shape_text(indices.shape)}"
        )
    if shape.ndim != 1:
        raise errors.invalid(
            f"output_shape should be a vector, got shape {shape_text(shape.shape)}"
        )
    rank = indices.shape[1] if indices.ndim > 1 else 1
    if len(shape) != rank:
        raise errors.invalid(
            f"output_shape has incorrect number of elements: {len(shape)} should be: {rank}"
        )
    count = len(indices) if indices.ndim else 1
    if values.ndim and values.shape != (count,):
        raise errors.invalid(
            f"sparse_values has incorrect shape {shape_text(values.shape)}, should be [] or "
            f"[{count}]"
        )
    if np.ndim(default):
        raise errors.invalid("default_value should be a scalar.")


def _to_dense(
    c: KernelContext,
    indices: np.ndarray,
    shape: np.ndarray,
    values: np.ndarray,
    default: np.ndarray,
) -> np.ndarray:
    _check_parts(indices, shape, values, default)
    places = indices.reshape(-1, len(shape)).astype(np.int64)
    check = require_order if c.attr("validate_indices") else require_inside
    check(places, shape.astype(np.int64))
    result = np.empty(tuple(shape.tolist()), c.out_dtype())
    result[...] = default[()]
    result.reshape(-1)[flat_places(places, shape)] = values
    return result


def _lower_to_dense(
    b: Builder, op: OpView, indices: Value, shape: Value, values: Value, default: Value
) -> Any:
    from ...jit import library

    known = b.known(shape)
    rank = nd_index.depth_of(b, indices)
    if known is None or indices.ndim != 2 or known.shape != (rank,) or default.ndim:
        return NotImplemented
    sizes, count = known.tolist(), indices.shape[0]
    if values.dtype == "bool" or nd_index.has_none(b, (), (*sizes, count)):
        return NotImplemented
    if any(isinstance(size, int) and size < 0 for size in sizes):
        return NotImplemented
    values = b.broadcast(values, [count]) if not values.ndim else values
    b.require_shape(values, [count])
    is_ordered = op.attr("validate_indices")
    check = require_order if is_ordered else require_inside

    def require(sizes: Sequence[int], places: np.ndarray) -> None:
        check(places.astype(np.int64), np.array(sizes, np.int64))

    flat = nd_index.flat_places(b, sizes, indices, require)
    if is_ordered:
        # (One more than there are, of which perhaps there is none.)
        before = b.slice(b.concat([b.full([1], -1, "int64"), flat], 0), [0], [count])
        error = error_of(lambda where, shape: require(shape.tolist(), where))
        late = b.reduce("any", b.map(k.ge, before, flat), None)
        b.require_not(late, error, indices, b.constant(sizes, "int64"))
    whole = product(sizes)
    base = b.full([whole], default, values.dtype)
    out = library.scatter_rows(b, "update", flat, values, whole, base)
    return out if out is NotImplemented else b.reshape(out, sizes)


def _dense_shape(c: ShapeContext) -> TensorShape:
    if c.inputs[1].ndims not in (None, 1):
        raise ValueError(f"Shape must be rank 1 but is rank {c.inputs[1].ndims}")
    return c.value_as_shape(1)


def _to_dense_gradient(op: Operation, grad: Tensor) -> list[Any]:
    indices, shape, _, _ = op.inputs
    values_grad = tf.gather_nd(grad, indices)
    # The default stands everywhere but at the entries.
    default_grad = tf.reduce_sum(grad) - tf.reduce_sum(values_grad)
    return [tf.zeros_like(indices), tf.zeros_like(shape), values_grad, default_grad]


define(
    "SparseToDense",
    "sparse_indices: Tindices, output_shape: Tindices, sparse_values: T, default_value: T -> "
    "dense: T",
    "validate_indices: bool = true; T: type; Tindices: index",
    shape=_dense_shape,
    kernel=_to_dense,
    lower=_lower_to_dense,
    rows=to_dense_rows,
    gradient=_to_dense_gradient,
    doc="A dense tensor with values at given places and a default elsewhere.",
    test=lambda: {"values": [[SAMPLE[0], SAMPLE[2], SAMPLE[1], np.float32(9)]], "gradient": False},
)


@export("sparse_to_dense")
def sparse_to_dense(
    sparse_indices: TensorLike,
    output_shape: TensorLike,
    sparse_values: TensorLike,
    default_value: TensorLike = 0,
    validate_indices: bool = True,
    name: str | None = None,
) -> Tensor:
    """A dense tensor with values at given places and a default elsewhere."""
    return raw.SparseToDense(
        sparse_indices,
        output_shape,
        sparse_values,
        default_value=default_value,
        validate_indices=validate_indices,
        name=name,
    )


@export("sparse.to_dense", "sparse_tensor_to_dense")
def sparse_tensor_to_dense(
    sp_input: SparseTensor,
    default_value: TensorLike | None = None,
    validate_indices: bool = True,
    name: str | None = None,
) -> Tensor:
    """The dense form of a sparse tensor.

    Args:
        sp_input: a SparseTensor of any dtype.
        default_value: a scalar of its dtype for where it has no entry; zero, or "", if None.
        validate_indices: whether a run checks that indices are in order and not repeated.
        name: of the operation.

    Returns:
        A Tensor of that dtype and of `dense_shape`.

    Raises:
        TypeError: `sp_input` is no SparseTensor.
        InvalidArgumentError: indices of a run are out of range, of order, or repeated.

    Example:
        >>> x = tf.SparseTensor([[0, 1]], [5], [2, 3])
        >>> tf.Session().run(tf.sparse_tensor_to_dense(x, default_value=-1))
        array([[-1,  5, -1],
               [-1, -1, -1]], dtype=int32)
    """
    sp_input = as_sparse(sp_input)
    if default_value is None:
        default_value = tf.zeros([], dtype=sp_input.dtype)
    return sparse_to_dense(
        sp_input.indices,
        sp_input.dense_shape,
        sp_input.values,
        default_value=default_value,
        validate_indices=validate_indices,
        name=name,
    )


@export("sparse.from_dense")
def from_dense(tensor: TensorLike, name: str | None = None) -> SparseTensor:
    """The entries of a dense tensor that are not zero."""
    with name_scope(name, "dense_to_sparse"):
        tensor = convert_to_tensor(tensor)
        indices = tf.where_v2(tf.not_equal(tensor, tf.constant(0, tensor.dtype)))
        values = tf.gather_nd(tensor, indices)
        return SparseTensor(indices, values, tf.shape(tensor, out_type=dtypes.int64))


def _int64(value: int, name: str) -> Any:
    if isinstance(value, numbers.Integral):
        return convert_to_tensor(value, name=name, dtype=dtypes.int64)
    if not isinstance(value, Tensor):
        raise TypeError(f"{name} must be an integer value")
    return value if value.dtype == dtypes.int64 else tf.cast(value, dtypes.int64)


@export("sparse.eye")
def sparse_eye(
    num_rows: int,
    num_columns: int | None = None,
    dtype: DTypeLike = dtypes.float32,
    name: str | None = None,
) -> SparseTensor:
    """A matrix with ones on its diagonal."""
    with name_scope(name, "eye", [num_rows, num_columns]):
        rows = _int64(num_rows, "num_rows")
        columns = rows if num_columns is None else _int64(num_columns, "num_columns")
        size = tf.minimum(rows, columns)
        diagonal = tf.range(size, dtype=dtypes.int64)
        return SparseTensor(
            tf.stack([diagonal, diagonal], axis=1), tf.ones(size, dtype=dtype), [rows, columns]
        )


# Products


def _check_product(
    indices: np.ndarray,
    values: np.ndarray,
    a_shape: np.ndarray,
    b_shape: Sequence[int],
    inner: tuple[int, int],
) -> None:
    if len(indices) != len(values):
        raise errors.invalid(
            "Number of rows of a_indices does not match number of entries in a_values"
        )
    if indices.shape[1] != len(a_shape):
        raise errors.invalid(
            "Number of columns of a_indices does not match number of entries in a_shape"
        )
    if inner[0] != inner[1]:
        raise errors.invalid(
            "Cannot multiply A and B because inner dimension does not match: "
            f"{inner[0]} vs. {inner[1]}.  Did you forget a transpose?  Dimensions of A: "
            f"[{a_shape[0]}, {a_shape[1]}).  Dimensions of B: {shape_text(b_shape)}"
        )


def _check_places(indices: np.ndarray, sizes: tuple[int, int], where: tuple[int, int]) -> None:
    """Raises what is wrong with the first entry that is outside; of its column before its row."""
    (rows, inner), (row, column) = sizes, where
    outside = (indices < 0) | (indices >= np.array([rows, inner])[list(where)])
    wrong = np.flatnonzero(outside.any(axis=1))
    if not wrong.size:
        return
    i = int(wrong[0])
    name, place, limit = ("k", column, inner) if outside[i, column] else ("m", row, rows)
    raise errors.invalid(
        f"{name} ({indices[i, place]}) from index[{i},{place}] out of bounds (>={limit})"
    )


def _lower_matmul(
    b: Builder, op: OpView, indices: Value, values: Value, a_shape: Value, dense: Value
) -> Any:
    from ...jit import library

    sizes = b.known(a_shape)
    if sizes is None:
        raise b.host("the shape depends on the data")
    b.require(sizes.shape == (2,) and indices.ndim == 2 and dense.ndim == 2)
    row, column = (1, 0) if op.attr("adjoint_a") else (0, 1)
    rows, inner = sizes.tolist()[row], sizes.tolist()[column]
    right = b.transpose(dense, (1, 0)) if op.attr("adjoint_b") else dense
    b.require(b.equal(inner, right.shape[0]) and b.equal(indices.shape[1], 2))
    b.require_shape(values, indices.shape[:1])
    limits = [b.constant(size, "int64") for size in (rows, inner)]
    wide, count = b.cast(indices, "int64"), indices.shape[0]
    places = [b.reshape(b.slice(wide, [0, at], [count, 1]), [count]) for at in (row, column)]

    def error(indices: np.ndarray, rows: np.ndarray, inner: np.ndarray) -> None:
        _check_places(indices, (int(rows), int(inner)), (row, column))

    for place, limit in zip(places, limits):
        outside = b.map(lambda i, n: k.logical_or(k.lt(i, 0), k.ge(i, n)), place, limit)
        b.require_not(b.reduce("any", outside, None), error_of(error), indices, *limits)
    return library.sparse_product(b, wide, op.attr("adjoint_a"), values, right, rows)


def _matmul(
    c: KernelContext, indices: np.ndarray, values: np.ndarray, a_shape: np.ndarray, b: np.ndarray
) -> np.ndarray:
    adjoint_a, adjoint_b = c.attr("adjoint_a"), c.attr("adjoint_b")
    if len(a_shape) != 2:
        raise errors.invalid("Tensor 'a_shape' must have 2 elements")
    row, column = (1, 0) if adjoint_a else (0, 1)
    rows, inner = int(a_shape[row]), int(a_shape[column])
    _check_product(indices, values, a_shape, b.shape, (inner, b.shape[1 if adjoint_b else 0]))
    right = b.conj().T if adjoint_b else b
    _check_places(indices, (rows, inner), (row, column))
    # Half precision would lose too much on the way.
    wide = np.float32 if b.dtype == np.float16 else b.dtype
    result = np.zeros((rows, right.shape[1]), wide)
    left = (values.conj() if adjoint_a else values).astype(wide)
    np.add.at(result, indices[:, row], left[:, None] * right[indices[:, column]].astype(wide))
    return result.astype(b.dtype)


def _matmul_shape(c: ShapeContext) -> TensorShape:
    ranked(c.inputs[0], 2), ranked(c.inputs[1], 1), ranked(c.inputs[2], 1)
    a, b = ranked(c.value_as_shape(2), 2), ranked(c.inputs[3], 2)
    left = a[::-1] if c.attr("adjoint_a") else a
    right = b[::-1] if c.attr("adjoint_b") else b
    merge_dim(left[1], right[0])
    return TensorShape([left[0], right[1]])


def _matmul_gradient(op: Operation, grad: Tensor) -> tuple[None, Any, None, Tensor]:
    indices, values, shape, b = op.inputs
    adjoint_a, adjoint_b = op.attr("adjoint_a"), op.attr("adjoint_b")
    if values.dtype.is_complex:
        raise NotImplementedError("SparseTensorDenseMatMul op does not support complex gradients.")
    # C = A B: dB = A^H dC, and dA at its entries (i, j) only, the product of row i of dC and column
    # j of B^T.
    b_grad = raw.SparseTensorDenseMatMul(indices, values, shape, grad, adjoint_a=not adjoint_a)
    if adjoint_b:
        b_grad = tf.transpose(b_grad)
    rows, columns = indices[:, 0], indices[:, 1]
    of_grad = tf.gather(grad, columns if adjoint_a else rows)
    of_b = tf.gather(tf.transpose(b) if adjoint_b else b, rows if adjoint_a else columns)
    return None, tf.reduce_sum(of_grad * of_b, axis=1), None, b_grad


define(
    "SparseTensorDenseMatMul",
    "a_indices: Tindices, a_values: T, a_shape: int64, b: T -> product: T",
    "T: type; Tindices: index = int64; adjoint_a: bool = false; adjoint_b: bool = false",
    shape=_matmul_shape,
    kernel=ranks.ranked(
        _matmul,
        ranks.Rank(3, (2,), "Tensor 'b' is not a matrix"),
        ranks.vector(2, "Tensor 'a_shape' is not a vector"),
        ranks.vector(1, "Tensor 'a_values' is not a vector"),
        ranks.Rank(0, (2,), "Tensor 'a_indices' is not a matrix"),
    ),
    lower=_lower_matmul,
    gradient=_matmul_gradient,
    doc="The product of a sparse matrix and a dense one.",
    test=lambda: {"values": [[*SAMPLE, np.ones((3, 2), np.float32)]], "gradient": False},
)


@export("sparse.sparse_dense_matmul", "sparse.matmul", "sparse_tensor_dense_matmul")
def sparse_tensor_dense_matmul(
    sp_a: SparseTensor,
    b: TensorLike,
    adjoint_a: bool = False,
    adjoint_b: bool = False,
    name: str | None = None,
) -> Tensor:
    """The product of a sparse matrix and a dense one."""
    sp_a = as_sparse(sp_a)
    values = [sp_a.indices, sp_a.values, b]
    with name_scope(name, "SparseTensorDenseMatMul", values):
        b = convert_to_tensor(b, name="b")
        return raw.SparseTensorDenseMatMul(
            *parts(sp_a), b, adjoint_a=adjoint_a, adjoint_b=adjoint_b
        )


# Indicators


def _ids_and_sizes(sp_ids: SparseTensor, vocab_size: int) -> tuple[list[Any], list[Any]]:
    """The arguments of `sparse_merge` as lists of equal length."""
    if isinstance(sp_ids, (SparseTensorValue, SparseTensor)):
        if not isinstance(vocab_size, (Tensor, numbers.Integral)):
            raise TypeError(
                f"vocab_size has to be a Tensor or Python int. Found {type(vocab_size)}"
            )
        return [sp_ids], [vocab_size]
    if not isinstance(sp_ids, Iterable):
        raise TypeError(f"sp_ids has to be a SparseTensor or list thereof. Found {type(sp_ids)}")
    advice = "vocab_size has to be a list of Tensors or Python ints. Found"
    if not isinstance(vocab_size, Iterable):
        raise TypeError(f"{advice} {type(vocab_size)}")
    ids, sizes = list(sp_ids), list(vocab_size)
    for size in sizes:
        if not isinstance(size, (Tensor, numbers.Integral)):
            raise TypeError(f"{advice} {type(size)}")
    if len(ids) != len(sizes):
        raise ValueError("sp_ids and vocab_size have to have equal lengths.")
    return ids, sizes


@export("sparse.merge", "sparse_merge")
def sparse_merge(
    sp_ids: SparseTensor,
    sp_values: SparseTensor,
    vocab_size: int,
    name: str | None = None,
    already_sorted: bool = False,
) -> SparseTensor:
    """The values at the places that the ids name in the last axis."""
    ids, sizes = _ids_and_sizes(sp_ids, vocab_size)
    with name_scope(name, "SparseMerge", [ids, sp_values]):
        ids = [as_sparse(part) for part in ids]
        sp_values = as_sparse(sp_values)
        columns = []
        for part in ids:
            values = part.values
            if values.dtype != dtypes.int64:
                values = tf.cast(values, dtypes.int64)
            columns.append(tf.expand_dims(values, axis=1))
        sizes = [tf.cast(size, dtypes.int64) for size in sizes]
        indices = tf.concat([ids[0].indices[:, :-1], *columns], 1)
        shape = tf.concat([ids[0].dense_shape[:-1], sizes], 0)
        result = SparseTensor(indices, sp_values.values, shape)
        if already_sorted:
            return result
        ordered = sparse_reorder(result)
        return SparseTensor(ordered.indices, ordered.values, shape)


@export("sparse.to_indicator", "sparse_to_indicator")
def sparse_to_indicator(sp_input: SparseTensor, vocab_size: int, name: str | None = None) -> Any:
    """A dense tensor of booleans: which ids occur in each row."""
    sp_input = as_sparse(sp_input)
    with name_scope(name, "SparseToIndicator", [sp_input]) as scope:
        entries = tf.shape(sp_input.indices)[0]
        true = tf.fill(tf.expand_dims(entries, 0), True)
        values = SparseTensor(sp_input.indices, true, sp_input.dense_shape)
        merged = sparse_merge(sp_input, values, vocab_size, scope)
        return sparse_tensor_to_dense(
            merged, default_value=False, validate_indices=False, name=scope
        )
