# SPDX-License-Identifier: Apache-2.0
"""Writing entries by index, and what selects entries: scatter_nd, where, masks and one-hots."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ...engine import errors
from ...engine.api import export
from ...engine.dispatch import dispatched
from ...engine.graph.build import define
from ...engine.graph.convert import convert_to_tensor
from ...engine.graph.graph import name_scope
from ...engine.graph.registry import NoGradient
from ...engine.graph.tensor import Tensor
from ...engine.types import dtypes
from ...engine.types.shape import TensorShape, as_shape, shape_text
from ...jit.kernel import scalar as k
from ...jit.kernel.sizes import same
from .. import shape_inference
from ..public import raw, tf
from ..ranks import ranked, scalar
from .constant import constant, zeros_like
from .gather import check_nd_indices, gather
from .identity import identity
from .join import concat
from .nd_index import lower_scatter, lower_scatter_nd
from .row_shapes import one_hot_rows, where_rows
from .shape import expand_dims, rank, reshape, shape, squeeze

if TYPE_CHECKING:
    from ...engine.graph.annotations import DTypeLike, TensorLike
    from ...engine.graph.build import OpFunction
    from ...engine.graph.inference import ShapeContext
    from ...engine.graph.kernel_context import KernelContext
    from ...engine.graph.operation import Operation
    from ...jit.program.tensor_ir import Value
    from ...jit.trace.builder import Builder
    from ...jit.trace.tracer import OpView

# ScatterNd


def _scatter_nd_shape(c: ShapeContext) -> TensorShape:
    shape_inference.ranked_at_least(c.inputs[0], 1)
    shape_inference.ranked_at_least(c.inputs[1], 1)
    shape_inference.ranked(c.inputs[2], 1)
    out = c.value_as_shape(2)
    check_updates(c.inputs[0], c.inputs[1], out, "output")
    return out


def check_updates(
    indices: TensorShape, updates: TensorShape, whole: TensorShape, what: str
) -> None:
    """Raises ValueError when the static shapes of index vectors and updates do not fit.

    `whole` is the shape of what is updated, called `what` in the error.
    """
    if shape_inference.product(whole.as_list() if whole.ndims is not None else [None]) == 0:
        for given in (indices, updates):
            if given.ndims is not None and shape_inference.product(given.as_list()):
                raise ValueError("Indices and updates specified for empty output shape")
    if indices.ndims is None or updates.ndims is None:
        return
    outer, depth = indices.ndims - 1, indices.as_list()[-1]
    if depth is None:
        return
    for side, name, mine, theirs, count in (
        ("outer", "indices", indices[:outer], updates[:outer], outer),
        ("inner", what, whole[depth:], updates[outer:], (whole.ndims or 0) - depth),
    ):
        try:
            shape_inference.merge(mine, theirs)
        except ValueError as reason:
            given = indices if side == "outer" else whole
            others = outer if side == "outer" else updates.ndims - outer
            raise ValueError(
                f"The {side} {count} dimensions of {name}.shape={shape_text(given.as_list())} must "
                f"match the {side} {others} dimensions of updates.shape="
                f"{shape_text(updates.as_list())}: {reason}"
            ) from None


def _add_at(out: np.ndarray, indices: np.ndarray, updates: np.ndarray, how: Any) -> np.ndarray:
    if out.size == 0 and (indices.size or updates.size):
        raise errors.invalid("Indices and updates specified for empty output tensor")
    depth = check_nd_indices(out.shape, indices)
    if updates.shape != indices.shape[:-1] + out.shape[depth:]:
        raise errors.invalid(
            "Must have updates.shape = indices.shape[:batch_dim] + buffer_shape[num_index_dims:], "
            f"got updates.shape: {shape_text(updates.shape)}, indices.shape: "
            f"{shape_text(indices.shape)}, buffer_shape: {shape_text(out.shape)}"
        )
    at = tuple(np.moveaxis(indices, -1, 0)) if depth else (Ellipsis,)
    if updates.size == 0:
        return out
    if depth == 0:
        # Index vectors of no length name the whole output each time.
        updates = updates.reshape((-1, *out.shape))
        for update in updates:
            out = update.copy() if how is None else how(out, update)
        return out
    if how is None:
        out[at] = updates
    else:
        how.at(out, at, updates)
    return out


def _scatter_nd_kernel(
    c: KernelContext, indices: np.ndarray, updates: np.ndarray, sizes: np.ndarray
) -> np.ndarray:
    if (sizes < 0).any():
        raise errors.invalid(f"Shape {shape_text(sizes.tolist())} has negative dimensions")
    out = np.zeros(sizes.tolist(), dtype=updates.dtype)
    if updates.dtype == object:
        out[...] = b""
    if updates.dtype == bool:
        return _add_at(out, indices, updates, np.logical_or)
    # Texts are joined.
    return _add_at(out, indices, updates, np.add)


def _table() -> list[Any]:
    return [np.array([[0], [2], [0]], np.int32), np.array([[1, 2], [3, 4], [5, 6]], np.float32)]


_scatter_nd = define(
    "ScatterNd",
    "indices: Tindices, updates: T, shape: Tindices -> output: T",
    "T: type; Tindices: index",
    shape=_scatter_nd_shape,
    kernel=_scatter_nd_kernel,
    lower=lower_scatter_nd(check_nd_indices),
    gradient=lambda op, grad: (None, tf.gather_nd(grad, op.inputs[0]), None),
    doc="Zeros with slices added where the index vectors say.",
    test=lambda: {"values": [[*_table(), np.array([4, 2], np.int32)]], "gradient": True},
)


@export("scatter_nd", "manip.scatter_nd")
def scatter_nd(
    indices: TensorLike, updates: TensorLike, shape: TensorLike, name: str | None = None
) -> Tensor:
    """Zeros, with slices added at places that vectors of indices name.

    Args:
        indices: int32 or int64; its last dimension has one index for each of the first dimensions
            of the result.
        updates: a tensor of shape indices.shape[:-1] + shape[indices.shape[-1]:].
        shape: of the result: a vector of the dtype of `indices`.
        name: of the operation.

    Returns:
        A Tensor of the dtype of `updates`; what goes to one place is added up.

    Raises:
        TypeError: the indices are no integers.
        ValueError: the shapes known in the graph do not fit.
        InvalidArgumentError: an index is out of range in a run.

    Example:
        >>> tf.Session().run(tf.scatter_nd([[0], [2], [0]], [1, 2, 10], [4]))
        array([11,  0,  2,  0], dtype=int32)
    """
    return _scatter_nd(indices, updates, shape, name=name)


def _tensor_scatter_shape(c: ShapeContext) -> TensorShape:
    shape_inference.ranked_at_least(c.inputs[1], 1)
    check_updates(c.inputs[1], c.inputs[2], c.inputs[0], "output")
    return c.inputs[0]


def _tensor_scatter(
    name: str, how: Callable[..., Any] | None, fn: str, gradient: Callable[..., Any], doc: str
) -> OpFunction:
    def kernel(
        c: KernelContext, x: np.ndarray, indices: np.ndarray, updates: np.ndarray
    ) -> np.ndarray:
        return _add_at(x.copy(), indices, updates, how)

    return define(
        name,
        "tensor: T, indices: Tindices, updates: T -> output: T",
        "T: type; Tindices: index",
        shape=_tensor_scatter_shape,
        kernel=kernel,
        lower=lower_scatter(fn, check_nd_indices),
        gradient=gradient,
        doc=doc,
        test=lambda: {
            "values": [
                [np.ones([4, 2], np.float32), np.array([[1], [2]], np.int32), _table()[1][:2]]
            ],
            "gradient": True,
        },
    )


def _update_gradient(op: Operation, grad: Tensor) -> tuple[Any, ...]:
    indices = op.inputs[1]
    # 1.15's formula: it holds where no entry is written twice.
    updates = tf.gather_nd(grad, indices)
    copy = identity(grad)
    zeros = zeros_like(op.inputs[2], dtype=grad.dtype)
    return tensor_scatter_update(copy, indices, zeros), None, updates


def _add_gradient(op: Operation, grad: Tensor) -> tuple[Any, ...]:
    updates = tf.gather_nd(grad, op.inputs[1])
    return identity(grad), None, updates


def _sub_gradient(op: Operation, grad: Tensor) -> tuple[Any, ...]:
    updates = tf.gather_nd(grad, op.inputs[1])
    return identity(grad), None, -updates


def _alias_gradient(op: Operation, grad: Tensor) -> tuple[Any, ...]:
    return grad, None, tf.gather_nd(grad, op.inputs[1])


_scatter_update = _tensor_scatter(
    "TensorScatterUpdate", None, "update", _update_gradient, "A tensor with slices replaced."
)
_scatter_add = _tensor_scatter(
    "TensorScatterAdd", np.add, "add", _add_gradient, "A tensor with slices added."
)
_scatter_sub = _tensor_scatter(
    "TensorScatterSub", np.subtract, "sub", _sub_gradient, "A tensor with slices subtracted."
)
define(
    "ScatterNdNonAliasingAdd",
    "input: T, indices: Tindices, updates: T -> output: T",
    "T: {numbertype, bool}; Tindices: index",
    shape=_tensor_scatter_shape,
    kernel=lambda c, x, indices, updates: _add_at(x.copy(), indices, updates, np.add),
    lower=lower_scatter("add", check_nd_indices),
    gradient=_alias_gradient,
    doc="A tensor with slices added; the input stays as it was.",
    test=lambda: {
        "values": [[np.ones([4, 2], np.float32), np.array([[1], [2]], np.int32), _table()[1][:2]]],
        "gradient": True,
    },
)


@export("tensor_scatter_update", "tensor_scatter_nd_update")
def tensor_scatter_update(
    tensor: TensorLike, indices: TensorLike, updates: TensorLike, name: str | None = None
) -> Tensor:
    """`tensor` with the slices at `indices` replaced by `updates`."""
    return _scatter_update(tensor, indices, updates, name=name)


@export("tensor_scatter_add", "tensor_scatter_nd_add")
def tensor_scatter_add(
    tensor: TensorLike, indices: Sequence[Any], updates: TensorLike, name: str | None = None
) -> Tensor:
    """`tensor` with `updates` added to the slices at `indices`."""
    return _scatter_add(tensor, indices, updates, name=name)


@export("tensor_scatter_sub", "tensor_scatter_nd_sub")
def tensor_scatter_sub(
    tensor: TensorLike, indices: Sequence[Any], updates: TensorLike, name: str | None = None
) -> Tensor:
    """`tensor` with `updates` subtracted from the slices at `indices`."""
    return _scatter_sub(tensor, indices, updates, name=name)


# Where


def _lower_where(b: Builder, op: OpView, x: Value, sizes: Value) -> Any:
    from ...jit import library

    known = b.known(sizes)
    if known is None or same(known.item(0), 0):
        return NotImplemented
    return library.coordinates(b, x, known.item(0))


def _number_of_places(b: Builder, op: OpView, x: Value) -> list[Value]:
    ones = b.map(lambda x: k.cast(x if x.dtype == "bool" else k.ne(x, 0), "int64"), x)
    return [b.reduce("sum", ones, None)]


_where = define(
    "Where",
    "input: T -> index: int64",
    "T: {bool, float32, float64, int32, uint8, int16, int8, complex64, int64, qint8, quint8, "
    "qint32, bfloat16, uint16, complex128, half, uint32, uint64} = bool",
    shape=lambda c: TensorShape([None, c.inputs[0].ndims]),
    kernel=lambda c, x: np.argwhere(x).astype(np.int64).reshape(-1, x.ndim),
    lower=_lower_where,
    gradient=NoGradient("indices are integers"),
    dynamic_shape=lambda c, x: [np.count_nonzero(x)],
    measured_sizes=_number_of_places,
    rows=where_rows,
    doc="The coordinates of what is true or not zero.",
    test=lambda: {"values": [[np.array([[True, False], [True, True]])]]},
)


@export("where")
@dispatched
def where(
    condition: Any,
    x: TensorLike | None = None,
    y: TensorLike | None = None,
    name: str | None = None,
) -> Tensor:
    """Elements of one tensor where a condition holds, and of another elsewhere; or where it holds.

    Args:
        condition: a bool tensor, of the shape of `x` or a vector that chooses its rows; without
            `x`, numbers too, which hold where they are not 0.
        x: a tensor of any dtype.
        y: a tensor of the shape and dtype of `x`.
        name: of the operation.

    Returns:
        A Tensor of the shape and dtype of `x`; without `x` and `y` the coordinates of what is
        true, int64 [count, rank of the condition], in order.

    Raises:
        TypeError: the dtypes of `x` and `y` differ, or the condition is not of bools.
        ValueError: only one of them is given, or the shapes differ.

    Example:
        >>> tf.Session().run(tf.where([True, False], [1, 2], [10, 20]))
        array([ 1, 20], dtype=int32)
        >>> tf.Session().run(tf.where([[True, False], [False, True]]))
        array([[0, 0],
               [1, 1]])
    """
    if x is None and y is None:
        return _coordinates(condition, name)
    if x is None or y is None:
        raise ValueError("x and y must both be non-None or both be None.")
    return raw.Select(condition, x, y, name=name)


@export("where_v2")
def where_v2(
    condition: Any,
    x: TensorLike | None = None,
    y: TensorLike | None = None,
    name: str | None = None,
) -> Tensor:
    """As `where`, with broadcasting."""
    if x is None and y is None:
        return _coordinates(condition, name)
    if x is None or y is None:
        raise ValueError("x and y must both be non-None or both be None.")
    return raw.SelectV2(condition, x, y, name=name)


def _coordinates(condition: Tensor, name: str | None) -> Tensor:
    with name_scope(name, "Where", [condition]) as name:
        condition = convert_to_tensor(condition, preferred_dtype=dtypes.bool, name="condition")
        return _where(condition, name=name)


@export("boolean_mask")
def boolean_mask(
    tensor: TensorLike, mask: TensorLike, name: str = "boolean_mask", axis: int | None = None
) -> Tensor:
    """What a mask takes of a tensor, along one dimension.

    Args:
        tensor: a tensor of any dtype.
        mask: bools of a known rank of at least 1, with the sizes of `tensor` from `axis` on.
        name: the scope of the operations.
        axis: the first dimension that is masked; 0 by default.

    Returns:
        A Tensor of the dtype of `tensor`; the masked dimensions have become one.

    Raises:
        ValueError: the mask is a scalar or of unknown rank, or its shape does not fit.

    Example:
        >>> tf.Session().run(tf.boolean_mask([[1, 2], [3, 4], [5, 6]], [True, False, True]))
        array([[1, 2],
               [5, 6]], dtype=int32)
    """
    with name_scope(name, values=[tensor, mask]):
        tensor = convert_to_tensor(tensor, name="tensor")
        mask = convert_to_tensor(mask, name="mask")
        mask_shape, static = mask.get_shape(), tensor.get_shape()
        ndims = mask_shape.ndims
        if ndims == 0:
            raise ValueError("mask cannot be scalar.")
        if ndims is None:
            raise ValueError(
                "Number of mask dimensions must be specified, even if some dimensions are None.  "
                "E.g. shape=[None] is ok, but shape=None is not."
            )
        axis = 0 if axis is None else axis
        end = axis + ndims
        static[axis:end].assert_is_compatible_with(mask_shape)
        # The masked dimensions become one, along which the true positions are gathered.
        leading = raw.Prod(shape(tensor)[axis:end], [0])
        tensor = reshape(tensor, concat([shape(tensor)[:axis], [leading], shape(tensor)[end:]], 0))
        first = static[axis:end].num_elements()
        tensor.set_shape(as_shape(static[:axis]).concatenate([first]).concatenate(static[end:]))
        indices = squeeze(where(reshape(mask, [-1])), axis=[1])
        return gather(tensor, indices, axis=axis)


# OneHot


def _one_hot_shape(c: ShapeContext) -> TensorShape:
    for i in (1, 2, 3):
        shape_inference.ranked(c.inputs[i], 0)
    given, axis, depth = shape_inference.dims(c.inputs[0]), c.attr("axis"), c.value(1)
    if axis < -1:
        raise ValueError(f"axis must be >= -1: {axis}")
    if given is None:
        return shape_inference.unknown()
    where_ = len(given) if axis == -1 else axis
    if where_ > len(given):
        raise ValueError(f"axis must be <= {len(given)}: {axis}")
    return TensorShape(given[:where_] + [None if depth is None else int(depth)] + given[where_:])


def _one_hot_kernel(
    c: KernelContext, indices: np.ndarray, depth: np.ndarray, on: np.ndarray, off: np.ndarray
) -> np.ndarray:
    axis = indices.ndim if c.attr("axis") == -1 else c.attr("axis")
    if depth.ndim:
        raise errors.invalid(f"depth must be a scalar, but got: {shape_text(depth.shape)}")
    if depth < 0:
        raise errors.invalid(f"depth must be non-negative, got: {int(depth)}")
    steps = np.arange(int(depth)).reshape([-1] + [1] * (indices.ndim - axis))
    hot = np.expand_dims(indices, axis) == steps
    return np.where(hot, on[()], off[()]).astype(on.dtype)


def _lower_one_hot(
    b: Builder, op: OpView, indices: Value, depth: Value, on: Value, off: Value
) -> Any:
    from ...jit.kernel import scalar as k

    known = b.known(depth)
    if known is None:
        return NotImplemented
    axis = indices.ndim if op.attr("axis") == -1 else op.attr("axis")
    spread = b.reshape(indices, (*indices.shape[:axis], 1, *indices.shape[axis:]))
    sizes = (*indices.shape[:axis], known.item(), *indices.shape[axis:])
    # An index outside of the range equals no position: its row is all `off_value`, and no error.
    steps = b.iota(sizes, axis, indices.dtype)
    return b.map(
        lambda i, s, hot, cold: k.select(k.eq(i, s), hot, cold),
        spread,
        steps,
        on,
        off,
        dtype=op.dtype(0),
    )


_one_hot = define(
    "OneHot",
    "indices: TI, depth: int32, on_value: T, off_value: T -> output: T",
    "axis: int = -1; T: type; TI: {uint8, int32, int64} = int64",
    shape=_one_hot_shape,
    kernel=ranked(
        _one_hot_kernel,
        scalar(1, "depth must be a scalar, but got: {shape}"),
        scalar(2, "on_value must be a scalar, but got: {shape}"),
        scalar(3, "off_value must be a scalar, but got: {shape}"),
    ),
    rows=one_hot_rows,
    lower=_lower_one_hot,
    gradient=NoGradient("indices are integers", silent=True),
    doc="Vectors that are `on_value` at an index and `off_value` elsewhere.",
    test=lambda: {
        "values": [[np.array([0, 2, -1], np.int32), np.int32(3), np.float32(1), np.float32(0)]],
        "attrs": [{}, {"axis": 0}],
    },
)


@export("one_hot")
@dispatched
def one_hot(
    indices: TensorLike,
    depth: TensorLike,
    on_value: Any = None,
    off_value: Any = None,
    axis: int | None = None,
    dtype: Any = None,
    name: str | None = None,
) -> Tensor:
    """A vector for every index, with one value at the index and another one elsewhere.

    Args:
        indices: uint8, int32 or int64; others than 0 … depth - 1 give vectors without the value.
        depth: the length of the vectors, an int32 scalar.
        on_value: a scalar, 1 by default.
        off_value: a scalar, 0 by default.
        axis: where the new dimension is in the result; -1, the last, by default.
        dtype: of the result; that of the values by default, or else float32.
        name: of the operation.

    Returns:
        A Tensor with one dimension more than `indices`, of size `depth`.

    Raises:
        TypeError: the dtypes of the values and `dtype` differ, or the indices are no integers.
        ValueError: `depth` is negative or no scalar, or `axis` is out of range.
        InvalidArgumentError: `depth` is negative in a run.

    Example:
        >>> tf.Session().run(tf.one_hot([0, 2, -1], depth=3))
        array([[1., 0., 0.],
               [0., 0., 1.],
               [0., 0., 0.]], dtype=float32)
    """
    values = [indices, depth, on_value, off_value, axis, dtype]
    with name_scope(name, "one_hot", values) as name:
        on_dtype, off_dtype = (
            None if v is None else convert_to_tensor(v).dtype.base_dtype
            for v in (on_value, off_value)
        )
        for label, given in (("on_value", on_dtype), ("off_value", off_dtype)):
            if dtype is not None and given is not None and given != dtype:
                raise TypeError(f"dtype {given} of {label} does not match dtype parameter {dtype}")
        dtype = dtype or on_dtype or off_dtype or dtypes.float32
        if on_value is None:
            on_value, on_dtype = convert_to_tensor(1, dtype, name="on_value"), dtype
        if off_value is None:
            off_value, off_dtype = convert_to_tensor(0, dtype, name="off_value"), dtype
        if on_dtype != off_dtype:
            raise TypeError(
                f"dtype {on_dtype} of on_value does not match dtype {off_dtype} of off_value"
            )
        axis = -1 if axis is None else axis
        return _one_hot(indices, depth, on_value, off_value, axis=axis, name=name)


@export("sequence_mask")
def sequence_mask(
    lengths: Any, maxlen: Any = None, dtype: DTypeLike = dtypes.bool, name: str | None = None
) -> Tensor:
    """For every length a row that is true that many times, then false.

    Args:
        lengths: integers, of any shape.
        maxlen: the size of a row, a scalar; the greatest length by default.
        dtype: of the result; numbers are 1 and 0.
        name: the scope of the operations.

    Returns:
        A Tensor of shape lengths.shape + [maxlen].

    Raises:
        TypeError: `dtype` is no dtype.
        ValueError: `maxlen` is no scalar.

    Example:
        >>> tf.Session().run(tf.sequence_mask([1, 3], maxlen=4, dtype=tf.int32))
        array([[1, 0, 0, 0],
               [1, 1, 1, 0]], dtype=int32)
    """
    with name_scope(name, "SequenceMask", [lengths, maxlen]):
        lengths = convert_to_tensor(lengths)
        if maxlen is None:
            longest = raw.Max(lengths, all_dimensions(lengths))
            maxlen = raw.Maximum(constant(0, longest.dtype), longest)
        else:
            maxlen = convert_to_tensor(maxlen)
        if maxlen.get_shape().ndims not in (None, 0):
            raise ValueError("maxlen must be scalar for sequence_mask")
        row = raw.Range(constant(0, maxlen.dtype), maxlen, constant(1, maxlen.dtype))
        column = raw.Cast(expand_dims(lengths, -1), DstT=maxlen.dtype)
        result = row < column
        if dtype is None or result.dtype.base_dtype == dtypes.as_dtype(dtype).base_dtype:
            return result
        return raw.Cast(result, DstT=dtype)


def all_dimensions(x: TensorLike) -> Tensor:
    """All axes of a tensor, as a constant when its rank is known."""
    ndims = x.get_shape().ndims if isinstance(x, Tensor) else None
    if ndims is not None:
        return constant(np.arange(ndims), dtype=dtypes.int32)
    return raw.Range(0, rank(x), 1)
