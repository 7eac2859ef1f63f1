# SPDX-License-Identifier: Apache-2.0
"""Picking entries of a tensor by index: gather and gather_nd."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ...engine import errors
from ...engine.api import export
from ...engine.dispatch import dispatched
from ...engine.graph.build import define
from ...engine.graph.constants import constant_value
from ...engine.graph.convert import convert_to_tensor
from ...engine.graph.graph import colocate_with, name_scope
from ...engine.graph.tensor import IndexedSlices, Tensor
from ...engine.types import dtypes
from ...engine.types.indices import first_outside, not_inside
from ...engine.types.shape import TensorShape, shape_text
from .. import shape_inference
from ..public import raw, tf
from ..ranks import ranked, scalar
from .constant import ones, zeros
from .join import concat
from .layout import transpose
from .nd_index import lower_gather_nd
from .pad import meshgrid, tile
from .shape import expand_dims, rank, reshape, shape, size, squeeze
from .stack import stack, unstack

if TYPE_CHECKING:
    from ...engine.graph.annotations import TensorLike
    from ...engine.graph.inference import ShapeContext
    from ...engine.graph.kernel_context import KernelContext
    from ...engine.graph.operation import Operation
    from ...jit.program.tensor_ir import Value
    from ...jit.trace.builder import Builder
    from ...jit.trace.tracer import OpView

# Gather


def _gather_dims(params: Sequence[Any], indices: Sequence[Any], axis: int, batch: int) -> list[Any]:
    return [*params[:axis], *indices[batch:], *params[axis + 1 :]]


def _gather_shape(c: ShapeContext) -> TensorShape:
    shape_inference.ranked_at_least(c.inputs[0], 1)
    return TensorShape(c.inputs[1]).concatenate(c.inputs[0][1:])


def _gather_v2_shape(c: ShapeContext) -> TensorShape:
    shape_inference.ranked_at_least(c.inputs[0], 1)
    shape_inference.ranked(c.inputs[2], 0)
    params, indices = shape_inference.dims(c.inputs[0]), shape_inference.dims(c.inputs[1])
    stated, batch = c.value(2), c.attr("batch_dims")
    if params is None or indices is None:
        return shape_inference.unknown()
    if not -len(indices) <= batch <= len(indices):
        raise ValueError(f"batch_dims {batch} must be in [{-len(indices)}, {len(indices)}]")
    batch = batch + len(indices) if batch < 0 else batch
    if stated is None:
        return shape_inference.of_rank(len(params) + len(indices) - 1 - batch)
    axis = int(stated)
    if axis >= len(params) or axis < -len(params):
        shape_inference.ranked_at_least(c.inputs[0], axis + 1 if axis >= 0 else -axis)
    axis = axis + len(params) if axis < 0 else axis
    if axis < batch:
        raise ValueError(f"axis {axis} must not be below batch_dims {batch}")
    for p, q in zip(params[:batch], indices[:batch]):
        shape_inference.merge_dim(p, q)
    return TensorShape(_gather_dims(params, indices, axis, batch))


def _checked_indices(indices: np.ndarray, limit: int) -> None:
    if indices.size == 0:
        return
    if first_outside(indices, limit) is not None:
        raise not_inside(indices, limit)


def _gather(
    c: KernelContext, params: np.ndarray, indices: np.ndarray, axis: Any = 0, batch: int = 0
) -> np.ndarray:
    if params.ndim < 1:
        raise errors.invalid("params must be at least 1 dimensional")
    where = int(axis)
    if not -params.ndim <= where < params.ndim:
        raise errors.invalid(
            f"Expected axis in the range [{-params.ndim}, {params.ndim}), but got {where}"
        )
    where %= params.ndim
    batch = batch + indices.ndim if batch < 0 else batch
    if where < batch:
        raise errors.invalid(f"batch_dims ({batch}) must be less than or equal to axis ({where}).")
    if params.shape[:batch] != indices.shape[:batch]:
        raise errors.invalid(
            f"params.shape[0]: {params.shape[0]} should be equal to indices.shape[0]: "
            f"{indices.shape[0]}"
        )
    # Which entries are picked cannot depend on sizes that are not known yet.
    indices = indices.astype(np.int64) if indices.dtype == object else indices
    _checked_indices(indices, params.shape[where])
    if not batch:
        return np.take(params, indices, axis=where)
    lead = params.shape[:batch]
    count = int(np.prod(lead, dtype=np.int64))
    rows = params.reshape((count, *params.shape[batch:]))
    chosen = indices.reshape((count, *indices.shape[batch:]))
    out_shape = tuple(_gather_dims(params.shape, indices.shape, where, batch))
    if not count:
        return np.zeros(out_shape, params.dtype)
    parts = [np.take(row, pick, axis=where - batch) for row, pick in zip(rows, chosen)]
    return np.stack(parts).reshape(out_shape)


def _lower_gather(
    b: Builder, op: OpView, params: Value, indices: Value, axis: Value | None = None
) -> Any:
    known = np.array(0) if axis is None else b.known(axis)
    if known is None or (axis is not None and op.attr("batch_dims")):
        return NotImplemented
    return b.gather(params, indices, int(known))


def _params_shape(params: Tensor) -> Tensor:
    # Large parameters may be on another device: their shape is computed beside them.
    with colocate_with(params):
        # 1.15's two nodes: a table may have more rows than an int32 counts, and what the cast cuts
        # off is not read by updates of rows.
        return tf.cast(shape(params, out_type=dtypes.int64), dtypes.int32)


def _row_gradient(
    params_shape: Tensor, indices: Tensor, count: Tensor, grad: Tensor
) -> IndexedSlices:
    """The gradient of picking rows: those rows, sparsely."""
    values_shape = concat([count, params_shape[1:]], 0)
    values = reshape(grad, values_shape)
    return IndexedSlices(values, reshape(indices, count), params_shape)


def _gather_gradient(op: Operation, grad: Tensor) -> tuple[Any, ...]:
    params_shape = _params_shape(op.inputs[0])
    indices = op.inputs[1]
    count = expand_dims(size(indices), 0)
    return _row_gradient(params_shape, indices, count, grad), None


def _gather_v2_gradient(op: Operation, grad: Tensor) -> tuple[Any, ...]:
    params_shape = _params_shape(op.inputs[0])
    indices, axis = op.inputs[1], op.inputs[2]
    count = expand_dims(size(indices), 0)
    static = constant_value(axis)
    batch = int(op.get_attr("batch_dims"))
    if batch < 0:
        batch += indices.shape.ndims
    if static is not None and static == 0:
        return _row_gradient(params_shape, indices, count, grad), None, None
    return _inner_gradient(params_shape, indices, axis, batch, grad), None, None


def _inner_gradient(
    params_shape: Tensor, indices: Tensor, axis: Tensor, batch: int, grad: Tensor
) -> Tensor:
    """Moves the axis to the front, sums there, and moves it back."""
    outer, inner = params_shape[:axis], params_shape[axis:][1:]
    values_shape = concat([outer, [-1], inner], 0)
    values_rank, outer_rank = size(values_shape), size(outer)
    batches = tf.range(batch)
    middle = tf.range(batch, outer_rank)
    last = tf.range(outer_rank + 1, values_rank)
    values = reshape(grad, values_shape)
    forward = concat([batches, [outer_rank], middle, last], 0)
    moved = transpose(values, forward)
    summed = _batch_gradient(params_shape, moved, indices, batch, params_shape[axis])
    back = concat([batches, middle + 1, [batch], last], 0)
    return transpose(summed, back)


def _batch_gradient(
    params_shape: Tensor, values: Tensor, indices: Tensor, batch: int, length: Tensor
) -> Tensor:
    count = expand_dims(size(indices), 0)
    if batch:
        values_shape = shape(values)
        outer, inner = values_shape[:batch], values_shape[batch:][1:]
        batch_size = raw.Prod(outer, [0], keep_dims=False)
        flat = concat([[-1], inner], 0)
        length *= batch_size
        indices = batch_indices(params_shape, indices, batch)
        values = reshape(values, flat)
    indices = reshape(indices, count)
    result = tf.unsorted_segment_sum(values, indices, length)
    return reshape(result, concat([outer, flat], 0)) if batch else result


def batch_indices(params_shape: Tensor, indices: Tensor, batch: int) -> Tensor:
    """Indices into batches, made indices into the batches joined."""
    ndims, dtype = indices.shape.ndims, indices.dtype.base_dtype
    sizes = tf.cast(params_shape, dtype)
    return _offset_indices(sizes, ones((), dtype=dtype), indices, batch, ndims, tf.range)


def _offset_indices(
    sizes: Tensor,
    step: Tensor,
    indices: Tensor,
    batch: int,
    ndims: Any,
    make_range: Callable[..., Any],
) -> Tensor:
    dtype = indices.dtype.base_dtype
    # An index within a batch plus the number of rows in all batches before it, axis by axis from
    # the innermost batch axis out.
    for dim in range(batch, 0, -1):
        length = sizes[dim - 1]
        step *= sizes[dim]
        start, one = zeros((), dtype=dtype), ones((), dtype=dtype)
        offsets = make_range(start, length, one)
        offsets *= step
        column = stack([1] * (dim - 1) + [length] + [1] * (ndims - dim), axis=0)
        indices += reshape(offsets, column)
    return indices


def _rows() -> np.ndarray:
    return np.arange(6, dtype=np.float32).reshape(3, 2)


_gather_op = define(
    "Gather",
    "params: Tparams, indices: Tindices -> output: Tparams",
    "validate_indices: bool = True; Tparams: type; Tindices: index",
    shape=_gather_shape,
    kernel=_gather,
    lower=_lower_gather,
    gradient=_gather_gradient,
    sizes=True,
    doc="Rows of a tensor.",
    test=lambda: {"values": [[_rows(), np.array([[2, 0]], np.int32)]], "gradient": True},
)
_gather_v2 = define(
    "GatherV2",
    "params: Tparams, indices: Tindices, axis: Taxis -> output: Tparams",
    "batch_dims: int = 0; Tparams: type; Tindices: index; Taxis: index",
    shape=_gather_v2_shape,
    kernel=ranked(
        lambda c, params, indices, axis: _gather(c, params, indices, axis, c.attr("batch_dims")),
        scalar(2, "axis must be scalar"),
    ),
    lower=_lower_gather,
    gradient=_gather_v2_gradient,
    sizes=True,
    doc="Slices of a tensor along a dimension.",
    test=lambda: {
        "values": [
            [_rows(), np.array([2, 0, 2], np.int32), np.int32(0)],
            [_rows(), np.array([[1], [0]], np.int32), np.int32(1)],
        ],
        "gradient": True,
    },
)


@export("gather")
@dispatched
def gather(
    params: TensorLike,
    indices: TensorLike,
    validate_indices: object = None,
    name: str | None = None,
    axis: int | None = None,
    batch_dims: int = 0,
) -> Tensor:
    """The slices of a tensor that indices name.

    Args:
        params: a Tensor of any dtype, or a Variable.
        indices: int32 or int64, of any shape.
        validate_indices: not used.
        name: of the operation.
        axis: along which dimension; 0, or `batch_dims`, by default.
        batch_dims: how many dimensions `params` and `indices` share at their beginning.

    Returns:
        A Tensor of the dtype of `params`, of shape params.shape[:axis] + indices.shape[batch_dims:]
        + params.shape[axis + 1:].

    Raises:
        TypeError: the indices are no integers.
        ValueError: `params` has too few dimensions.
        InvalidArgumentError: an index is out of range in a run.

    Example:
        >>> table = tf.constant([[1, 2, 3], [4, 5, 6]])
        >>> tf.Session().run([tf.gather(table, [1, 0, 1]), tf.gather(table, 2, axis=1)])
        [array([[4, 5, 6],
               [1, 2, 3],
               [4, 5, 6]], dtype=int32), array([3, 6], dtype=int32)]
    """
    del validate_indices
    if axis is None:
        axis = batch_dims
    static = constant_value(axis) if isinstance(axis, Tensor) else axis
    if static is None or static != 0:
        return _gather_v2(params, indices, axis, batch_dims=batch_dims, name=name)
    # A resource variable reads just these rows, and its gradient then names the variable itself.
    sparse_read = getattr(params, "sparse_read", None)
    if sparse_read is not None:
        return sparse_read(indices, name=name)
    return _gather_v2(params, indices, axis, name=name)


@export("batch_gather")
@dispatched
def batch_gather(params: TensorLike, indices: TensorLike, name: str | None = None) -> Tensor:
    """For every row, the entries of `params` that the row of `indices` names."""
    with name_scope(name, "BatchGather", [params, indices]):
        indices = convert_to_tensor(indices, name="indices")
        params = convert_to_tensor(params, name="params")
        ndims = indices.shape.ndims
        if ndims is None:
            raise ValueError("batch_gather does not allow indices with unknown shape.")
        _check_batch(ndims - 1, ndims, params.shape.ndims)
        return _flat_batch_gather(params, indices, ndims - 1)


def _check_batch(batch: int, indices_ndims: int, params_ndims: int | None) -> None:
    if not 0 <= batch < indices_ndims:
        raise ValueError(f"batch_dims = {batch} must be less than rank(indices) = {indices_ndims}")
    if params_ndims is not None and batch >= params_ndims:
        raise ValueError(f"batch_dims = {batch} must be less than rank(params) = {params_ndims}")


def _flat_batch_gather(params: Tensor, indices: Tensor, batch: int) -> Tensor:
    indices = convert_to_tensor(indices, name="indices")
    params = convert_to_tensor(params, name="params")
    indices_shape, params_shape = shape(indices), shape(params)
    dtype = indices.dtype.base_dtype
    step = ones((), dtype=dtype)
    sizes = raw.Cast(params_shape, DstT=dtype)
    chosen = _offset_indices(sizes, step, indices, batch, indices.shape.ndims, raw.Range)
    flat_indices = reshape(chosen, [-1])
    outer = params_shape[batch + 1 :]
    joined = raw.Prod(params_shape[: batch + 1], [0], keep_dims=False)
    flat_params = reshape(params, concat([[joined], outer], axis=0))
    result = reshape(gather(flat_params, flat_indices), concat([indices_shape, outer], axis=0))
    final = indices.get_shape()[:batch].merge_with(params.get_shape()[:batch])
    final = final.concatenate(indices.get_shape()[batch:])
    result.set_shape(final.concatenate(params.get_shape()[batch + 1 :]))
    return result


# GatherNd


def _gather_nd_shape(c: ShapeContext) -> TensorShape:
    params, indices = (
        shape_inference.dims(c.inputs[0]),
        shape_inference.ranked_at_least(c.inputs[1], 1),
    )
    if params is None or indices is None or indices[-1] is None:
        return shape_inference.unknown()
    if indices[-1] > len(params):
        raise ValueError(
            f"indices.shape[-1] must be <= params.rank, but saw indices shape: "
            f"{shape_text(indices)} and params shape: {shape_text(params)}"
        )
    return TensorShape(indices[:-1] + params[indices[-1] :])


def gather_nd_kernel(c: KernelContext, params: np.ndarray, indices: np.ndarray) -> np.ndarray:
    """The slices of an array that index vectors name; InvalidArgumentError for those outside."""
    if params.size == 0 and indices.size:
        raise errors.invalid(
            "Requested more than 0 entries, but params is empty.  Params shape: "
            + shape_text(params.shape)
        )
    depth = check_nd_indices(params.shape, indices)
    return params[tuple(np.moveaxis(indices, -1, 0))] if depth else _all_of(params, indices)


def _all_of(params: np.ndarray, indices: np.ndarray) -> np.ndarray:
    return np.broadcast_to(params, indices.shape[:-1] + params.shape).copy()


def check_nd_indices(sizes: tuple[int, ...], indices: np.ndarray) -> int:
    """How many dimensions the indices name, after checking that they are inside."""
    if indices.ndim < 1:
        raise errors.invalid("indices must be at least a vector")
    depth = indices.shape[-1]
    if depth > len(sizes):
        raise errors.invalid(
            f"index innermost dimension length must be <= params rank; saw: {depth} vs. "
            f"{len(sizes)}"
        )
    wrong = ((indices < 0) | (indices >= np.array(sizes[:depth], dtype=np.int64))).any(-1)
    if wrong.any():
        at = np.unravel_index(int(np.argmax(wrong)), wrong.shape) if wrong.ndim else ()
        place = f"[{','.join(map(str, at))}]" if at else "[0]"
        raise errors.invalid(
            f"indices{place} = {shape_text(indices[at].tolist()).replace(',', ', ')} does not "
            f"index into param shape {shape_text(sizes)}"
        )
    return depth


def _gather_nd_gradient(op: Operation, grad: Tensor) -> tuple[Any, ...]:
    params, indices = op.inputs[0], op.inputs[1]
    params_shape = shape(params, out_type=indices.dtype)
    # Vectors of one index name whole rows, as Gather does: the gradient can stay sparse.
    if indices.shape.ndims == 2 and indices.shape.as_list()[-1] == 1:
        return IndexedSlices(grad, squeeze(indices, axis=-1), params_shape), None
    return tf.scatter_nd(indices, grad, params_shape), None


_gather_nd = define(
    "GatherNd",
    "params: Tparams, indices: Tindices -> output: Tparams",
    "Tparams: type; Tindices: index",
    shape=_gather_nd_shape,
    kernel=gather_nd_kernel,
    lower=lower_gather_nd(check_nd_indices),
    gradient=_gather_nd_gradient,
    doc="Slices of a tensor by index vectors.",
    test=lambda: {
        "values": [
            [_rows(), np.array([[2, 1], [0, 0]], np.int32)],
            [_rows(), np.array([[2]], np.int32)],
        ],
        "gradient": True,
    },
)


@export("gather_nd", "manip.gather_nd")
@dispatched
def gather_nd(params: Any, indices: Any, name: str | None = None, batch_dims: Any = 0) -> Tensor:
    """The slices of a tensor that vectors of indices name.

    Args:
        params: a Tensor of any dtype, or a Variable.
        indices: int32 or int64; its last dimension has one index for each of the first dimensions
            of `params`.
        name: of the operation.
        batch_dims: how many dimensions `params` and `indices` share at their beginning.

    Returns:
        A Tensor of the dtype of `params`, of shape indices.shape[:-1]
        + params.shape[indices.shape[-1]:].

    Raises:
        TypeError: the indices are no integers.
        ValueError: the vectors are longer than `params` has dimensions.
        InvalidArgumentError: an index is out of range in a run.

    Example:
        >>> table = tf.constant([[1, 2, 3], [4, 5, 6]])
        >>> tf.Session().run([tf.gather_nd(table, [[0, 2], [1, 0]]), tf.gather_nd(table, [[1]])])
        [array([3, 4], dtype=int32), array([[4, 5, 6]], dtype=int32)]
    """
    if isinstance(batch_dims, (Tensor, np.ndarray, np.generic)):
        static = constant_value(batch_dims) if isinstance(batch_dims, Tensor) else batch_dims
        batch_dims = batch_dims if static is None else int(np.asarray(static).reshape(-1)[0])
    if batch_dims != 0:
        return batch_gather_nd(params, indices, batch_dims=batch_dims, name=name)
    own = getattr(params, "gather_nd", None)
    return own(indices, name=name) if own is not None else _gather_nd(params, indices, name=name)


def batch_gather_nd(
    params: TensorLike, indices: TensorLike, batch_dims: Any, name: str | None = None
) -> Tensor:
    """As `gather_nd`, for every entry of the leading `batch_dims` dimensions."""
    with name_scope(name, "BatchGatherND", [params, indices]):
        indices = convert_to_tensor(indices, name="indices")
        params = convert_to_tensor(params, name="params")
        if not isinstance(batch_dims, int):
            raise TypeError(f"batch_dims must be an int; got {batch_dims!r}")
        if batch_dims < 0:
            raise ValueError("tf.gather_nd does not allow negative batch_dims.")
        if indices.shape.ndims is not None:
            _check_batch(batch_dims, indices.shape.ndims, params.shape.ndims)
        if batch_dims:
            return _batch_gather_nd(params, indices, batch_dims)
        # Without batch dimensions, one is made for the time being.
        params, indices = expand_dims(params, axis=0), expand_dims(indices, axis=0)
        return squeeze(_batch_gather_nd(params, indices, 1), axis=0)


def _batch_gather_nd(params: Tensor, indices: Tensor, batch: int) -> Tensor:
    params_shape, indices_shape = shape(params), shape(indices)
    batch_shape = params_shape[:batch]
    batch_size = raw.Prod(batch_shape, [0])
    inner_rank = rank(indices) - batch - 1
    inner_shape = indices_shape[batch:-1]
    ranges = [
        raw.Cast(raw.Range(0, x, 1), DstT=indices.dtype) for x in unstack(batch_shape, axis=0)
    ]
    flat = [reshape(x, shape=(-1,)) for x in meshgrid(*ranges, indexing="ij")]
    grid = transpose(stack(flat, axis=0))
    grid_shape = shape(grid)
    spread = concat([grid_shape[:1], ones(inner_rank, dtype=dtypes.int32), grid_shape[1:]], axis=0)
    grid = reshape(grid, spread)
    grid = tile(grid, multiples=concat(((1,), inner_shape, (1,)), axis=0))
    flat_shape = concat(([batch_size], indices_shape[batch:]), axis=0)
    full = concat((grid, reshape(indices, shape=flat_shape)), axis=-1)
    out = _gather_nd(params, full)
    return reshape(out, shape=concat((batch_shape, shape(out)[1:]), axis=0))
