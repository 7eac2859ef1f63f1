# SPDX-License-Identifier: Apache-2.0
"""Which entries a sparse tensor has: empty rows, masks, another dense shape."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ...engine import errors
from ...engine.api import export
from ...engine.graph.build import define
from ...engine.graph.constants import constant_value
from ...engine.graph.convert import convert_to_tensor
from ...engine.graph.registry import NoGradient
from ...engine.graph.scope_functions import name_scope
from ...engine.graph.tensor import SparseTensor
from ...engine.types import dtypes
from ...engine.types.shape import Dimension, TensorShape, shape_text
from ..control import with_dependencies
from ..public import raw, tf
from ..shape_inference import merge_dim, ranked
from .common import SAMPLE, as_sparse, parts, sparse_shapes
from .compiled import lower_fill_gradient, lower_fill_rows, require_gone, require_rows

if TYPE_CHECKING:
    from ...engine.graph.annotations import TensorLike
    from ...engine.graph.inference import ShapeContext
    from ...engine.graph.kernel_context import KernelContext
    from ...engine.graph.operation import Operation
    from ...engine.graph.tensor import Tensor


def _fill_rows(
    c: KernelContext,
    indices: np.ndarray,
    values: np.ndarray,
    shape: np.ndarray,
    default: np.ndarray,
) -> Any:
    for name, given, ndim, what in (
        ("dense_shape", shape, 1, "vector"),
        ("indices", indices, 2, "matrix"),
        ("values", values, 1, "vector"),
        ("default_value", default, 0, "scalar"),
    ):
        if given.ndim != ndim:
            raise errors.invalid(f"{name} must be a {what}, saw: {shape_text(given.shape)}")
    if not len(shape):
        raise errors.invalid("Dense shape cannot be empty.")
    rows, rank = int(shape[0]), len(shape)
    if indices.shape[1] != rank:
        raise errors.invalid(f"indices have {indices.shape[1]} columns for {rank} dimensions")
    if len(values) != len(indices):
        raise errors.invalid(
            f"The length of `values` ({len(values)}) must match the first dimension of `indices` "
            f"({len(indices)})."
        )
    require_rows(indices[:, 0], shape[0])
    empty = np.bincount(indices[:, 0], minlength=rows) == 0
    added = np.zeros((int(empty.sum()), rank), np.int64)
    added[:, 0] = np.flatnonzero(empty)
    # Only the rows are put in order: within a row entries stay as they were.
    order = np.argsort(np.concatenate([indices[:, 0], added[:, 0]]), kind="stable")
    fill = np.full(len(added), default, values.dtype)
    places = np.empty(len(order), np.int64)
    places[order] = np.arange(len(order))
    whole = np.concatenate([indices, added])[order]
    return whole, np.concatenate([values, fill])[order], empty, places[: len(indices)]


def _fill_shapes(c: ShapeContext) -> list[TensorShape]:
    count, rank = sparse_shapes(c)
    number = ranked(c.inputs[1], 1)[0]
    if None not in (count, number) and count != number:
        raise ValueError(f"Dimensions must be equal, but are {count} and {number}")
    merge_dim(ranked(c.inputs[0], 2)[1], ranked(c.inputs[2], 1)[0])
    ranked(c.inputs[3], 0)
    if rank == 0:
        raise ValueError("dense_shape must not be empty")
    known = c.value_as_shape(2)
    rows = None if known.ndims is None else known.as_list()[0]
    return [
        TensorShape([None, rank]),
        TensorShape([None]),
        TensorShape([rows]),
        TensorShape([count]),
    ]


def _fill_gradient(op: Operation, unused_indices: object, grad: Tensor, *unused: Any) -> list[Any]:
    values, default = raw.SparseFillEmptyRowsGrad(op.outputs[3], grad)
    return [None, values, None, default]


def _fill_gradient_shapes(c: ShapeContext) -> list[TensorShape]:
    ranked(c.inputs[1], 1)
    return [TensorShape(ranked(c.inputs[0], 1)), TensorShape([])]


def _fill_gradient_kernel(
    c: KernelContext, places: np.ndarray, grad: np.ndarray
) -> tuple[Any, Any]:
    if places.ndim != 1:
        raise errors.invalid(f"reverse_index_map must be a vector, saw: {list(places.shape)}")
    rest = np.ones(len(grad), bool)
    require_gone(places, np.array(len(grad)))
    rest[places] = False
    # What no input went to was filled in by the default.
    return grad[places], grad[rest].sum(dtype=grad.dtype)


define(
    "SparseFillEmptyRows",
    "indices: int64, values: T, dense_shape: int64, default_value: T -> output_indices: int64, "
    "output_values: T, empty_row_indicator: bool, reverse_index_map: int64",
    shape=_fill_shapes,
    kernel=_fill_rows,
    lower=lower_fill_rows,
    gradient=_fill_gradient,
    doc="A sparse tensor with one more entry in each empty row.",
    test=lambda: {
        "values": [[SAMPLE[0], SAMPLE[1], np.array([4, 3]), np.float32(9)]],
        "gradient": False,
    },
)
define(
    "SparseFillEmptyRowsGrad",
    "reverse_index_map: int64, grad_values: T -> d_values: T, d_default_value: T",
    shape=_fill_gradient_shapes,
    kernel=_fill_gradient_kernel,
    lower=lower_fill_gradient,
    gradient=NoGradient("TensorFlow has none for it"),
    doc="The gradient of filling empty rows.",
    test=lambda: {"values": [[np.array([0, 2]), np.array([1, 2, 3], np.float32)]]},
)


@export("sparse.fill_empty_rows", "sparse_fill_empty_rows")
def sparse_fill_empty_rows(
    sp_input: SparseTensor, default_value: TensorLike, name: str | None = None
) -> tuple[SparseTensor, Tensor]:
    """The sparse tensor with a default in each empty row, and which rows were empty."""
    sp_input = as_sparse(sp_input)
    with name_scope(name, "SparseFillEmptyRows", [sp_input]):
        default = convert_to_tensor(default_value, dtype=sp_input.values.dtype)
        indices, values, empty, _ = raw.SparseFillEmptyRows(*parts(sp_input), default)
        return SparseTensor(indices, values, sp_input.dense_shape), empty


@export("sparse.retain", "sparse_retain")
def sparse_retain(sp_input: Any, to_retain: Any) -> SparseTensor:
    """The entries for which a vector of booleans says so."""
    sp_input = as_sparse(sp_input)
    to_retain = convert_to_tensor(to_retain)
    shape = to_retain.get_shape().assert_has_rank(1) or to_retain.get_shape()
    if sp_input.values.get_shape().dims is not None:
        size = Dimension(None) if shape.dims is None else shape.dims[0]
        sp_input.values.get_shape().dims[0].merge_with(size)
    chosen = tf.reshape(tf.where_v2(to_retain), [-1])
    return SparseTensor(
        tf.gather(sp_input.indices, chosen),
        tf.gather(sp_input.values, chosen),
        tf.identity(sp_input.dense_shape),
    )


def _checked_shape(sp_input: SparseTensor, shape: Any, new_shape: Sequence[int]) -> Any:
    """A new dense shape that is nowhere smaller than the present one."""
    new = convert_to_tensor(new_shape)
    new.get_shape().assert_has_rank(1)
    new = tf.cast(new, dtypes.int64)
    if new.get_shape().ndims is not None:
        new.get_shape().dims[0].merge_with(shape.get_shape().dims[0])
    known = constant_value(new)
    if known is not None and sp_input.get_shape().is_fully_defined():
        present = np.array(sp_input.get_shape().as_list())
        if not np.all(present <= known):
            raise ValueError(
                "Requested new_shape should have dimension sizes >= sp_input.shape.  Found "
                f"new_shape ({present}), sp_input.shape ({known})."
            )
        return known
    new = with_dependencies([tf.assert_equal(tf.shape(shape), tf.shape(new))], new)
    return with_dependencies([tf.assert_less_equal(shape, new)], new)


@export("sparse.reset_shape", "sparse_reset_shape")
def sparse_reset_shape(
    sp_input: SparseTensor, new_shape: Sequence[int] | None = None
) -> SparseTensor:
    """The same entries in a larger dense shape, or in the smallest that holds them."""
    sp_input = as_sparse(sp_input)
    indices = tf.identity(sp_input.indices)
    values = tf.identity(sp_input.values)
    shape = tf.identity(sp_input.dense_shape)
    if new_shape is None:
        last = tf.reduce_max(indices, axis=0)
        zero = tf.constant(0, dtype=dtypes.int64)
        return SparseTensor(indices, values, tf.maximum(zero, tf.add(last, tf.ones_like(shape))))
    return SparseTensor(indices, values, _checked_shape(sp_input, shape, new_shape))
