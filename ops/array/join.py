# SPDX-License-Identifier: Apache-2.0
"""Joining tensors along a dimension and cutting them into pieces: concat and split."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ...engine import errors
from ...engine.api import export
from ...engine.dispatch import dispatched
from ...engine.graph.build import define
from ...engine.graph.constants import constant_value
from ...engine.graph.convert import convert_to_tensor
from ...engine.graph.graph import name_scope
from ...engine.graph.registry import NoGradient
from ...engine.graph.tensor import IndexedSlices, Tensor
from ...engine.types import dtypes
from ...engine.types.shape import Dimension, TensorShape, shape_text
from .. import shape_inference
from ..public import tf
from ..ranks import ranked, scalar, vector
from .constant import constant, is_constant
from .identity import identity
from .row_shapes import concat_rows
from .shape import expand_dims, rank, shape, shape_n, squeeze

if TYPE_CHECKING:
    from ...engine.graph.annotations import Gradient, TensorLike
    from ...engine.graph.inference import ShapeContext
    from ...engine.graph.kernel_context import KernelContext
    from ...engine.graph.operation import Operation
    from ...jit.kernel.sizes import AnySize
    from ...jit.program.tensor_ir import Value
    from ...jit.trace.builder import Builder
    from ...jit.trace.tracer import OpView

# Concat


def _concat_shape(c: ShapeContext, values: list[TensorShape], axis_index: int) -> TensorShape:
    shape_inference.ranked(c.inputs[axis_index], 0)
    if all(shape.ndims is None for shape in values):
        return shape_inference.unknown()
    # Ranks must agree whatever the axis is: it is looked at afterwards.
    rank = _common_rank(values)
    stated = c.value(axis_index)
    if stated is None:
        return shape_inference.of_rank(rank)
    axis = int(stated)
    for given_shape in values:
        shape_inference.ranked_at_least(given_shape, axis + 1 if axis >= 0 else -axis)
    where = shape_inference.canonical_axis(axis, rank)
    total: int | None = 0
    before, after = TensorShape(None), TensorShape(None)
    for given_shape in values:
        given = shape_inference.dims(given_shape)
        size = None if given is None else given[where]
        total = None if total is None or size is None else total + size
        if given is not None:
            before = shape_inference.merge(before, TensorShape(given[:where]))
            after = shape_inference.merge(after, TensorShape(given[where:][1:]))
    return before.concatenate([total]).concatenate(after)


def _common_rank(values: list[TensorShape]) -> int:
    rank = next(shape.ndims for shape in values if shape.ndims is not None)
    for given in values:
        shape_inference.ranked(given, rank)
    if rank == 0:
        raise ValueError("Can't concatenate scalars (use tf.stack instead)")
    return rank


def _concat(c: KernelContext, values: list[np.ndarray], axis: np.ndarray) -> np.ndarray:
    if axis.ndim:
        name = "axis" if c.type == "ConcatV2" else "concat_dim"
        raise errors.invalid(
            f"{name} tensor should be a scalar integer, but got shape {shape_text(axis.shape)}"
        )
    rank, where = values[0].ndim, int(axis)
    if not -rank <= where < rank:
        raise errors.invalid(
            f"ConcatOp : Expected concatenating dimensions in the range [{-rank}, {rank}), "
            f"but got {where}"
        )
    where %= rank
    first = values[0].shape
    for i, value in enumerate(values[1:], 1):
        if value.ndim != rank:
            raise errors.invalid(
                "ConcatOp : Ranks of all input tensors should match: "
                f"shape[0] = {shape_text(first)} vs. shape[{i}] = {shape_text(value.shape)}"
            )
        if value.shape[:where] + value.shape[where + 1 :] != first[:where] + first[where + 1 :]:
            raise errors.invalid(
                "ConcatOp : Dimensions of inputs should match: "
                f"shape[0] = {shape_text(first)} vs. shape[{i}] = {shape_text(value.shape)}"
            )
    return np.concatenate(values, axis=where)


def _lower_concat(b: Builder, op: OpView, values: list[Any], axis: Value) -> Any:
    known = b.known(axis)
    if known is None or not values[0].ndim:
        return NotImplemented
    return b.concat(values, int(known))


def _static_shapes(inputs: Sequence[Tensor]) -> list[Tensor]:
    """Shapes as constants when all are known, else one ShapeN; as TensorFlow, unused ones stay."""
    sizes = []
    for x in inputs:
        size = shape(x)
        if size.op.type != "Const":
            return shape_n(inputs)
        sizes.append(size)
    return sizes


def _concat_gradient(
    op: Operation, grad: Gradient, first: int, last: int, dim_index: int
) -> list[Any]:
    ordered = first < dim_index or dim_index < 0
    # One value and the axis: nothing was joined.
    if len(op.inputs) == 2:
        return [grad, None] if ordered else [None, grad]
    axis, values = op.inputs[dim_index], list(op.inputs[first:last])
    if isinstance(grad, IndexedSlices):
        grads = _sparse_concat_gradients(grad, axis, values)
    elif isinstance(grad, Tensor):
        grads = _dense_concat_gradients(grad, _axis_in_context(axis, grad), values)
    else:
        raise TypeError(f"Expected Tensor or IndexedSlices, got {type(grad)}")
    return [*grads, None] if ordered else [None, *grads]


def _axis_in_context(axis: Tensor, grad: Tensor) -> Tensor:
    """A constant axis is repeated when the gradient lives in another control flow context."""
    if is_constant(axis):
        contexts = [getattr(t.op, "_control_flow_context", None) for t in (grad, axis)]
        if contexts[0] is not contexts[1]:
            return constant(constant_value(axis), dtype=axis.dtype)
    return axis


def _dense_concat_gradients(grad: Tensor, axis: Tensor, values: list[Tensor]) -> list[Tensor]:
    axis = axis % rank(values[0])
    sizes = _static_shapes(values)
    # TensorFlow's limit, from its benchmarks: one Split is faster than many Slices.
    if len(sizes) > 16:
        along = squeeze(tf.slice(tf.stack(sizes, axis=1), [axis, 0], [1, -1]))
        return split(grad, along, axis)
    offsets = _concat_offset(axis, sizes)
    return [tf.slice(grad, begin, size) for begin, size in zip(offsets, sizes)]


def _sparse_concat_gradients(grad: IndexedSlices, axis: Tensor, values: list[Tensor]) -> list[Any]:
    positive = axis % rank(values[0])
    static = constant_value(axis)
    if static is None:
        raise ValueError("Can only compute IndexedSlices gradient with statically-known concat_dim")
    if static < 0:
        known = constant_value(rank(values[0]))
        if known is None:
            raise ValueError(
                "Can only compute IndexedSlices gradient with negative concat_dim when first "
                "value rank is statically-known."
            )
        static = static % known
    sizes = [shape(x) for x in values]
    if static > 0:
        return _sparse_inner_gradients(grad, positive, sizes)
    return _sparse_outer_gradients(grad, positive, sizes)


def _sparse_inner_gradients(grad: IndexedSlices, axis: Tensor, sizes: list[Tensor]) -> list[Any]:
    """Every input gets all rows of the gradient, cut along the axis."""
    of_shape = shape(sizes[0])
    mask = concat([tf.fill(expand_dims(axis, 0), 0), [1], tf.fill(of_shape - axis - 1, 0)], 0)
    begin = tf.fill(of_shape, 0)
    grads = []
    for size in sizes:
        rows = tf.slice(grad.values, begin, concat([[-1], tf.slice(size, [1], [-1])], 0))
        grads.append(IndexedSlices(rows, grad.indices, size))
        begin = tf.add(begin, size * mask)
    return grads


def _sparse_outer_gradients(grad: IndexedSlices, axis: Tensor, sizes: list[Tensor]) -> list[Any]:
    """Every input gets the rows of the gradient that fall into it."""
    start = constant(0, dtype=grad.indices.dtype)
    grads = []
    for size in sizes:
        length = tf.gather(size, axis)
        if length.dtype != grad.indices.dtype:
            length = tf.cast(length, dtype=grad.indices.dtype)
        end = start + length
        inside = tf.where(tf.logical_and(grad.indices >= start, grad.indices < end))
        chosen = squeeze(inside, axis=[1])
        indices = tf.gather(grad.indices, chosen) - start
        grads.append(IndexedSlices(tf.gather(grad.values, chosen), indices, size))
        start = end
    return grads


def _joins() -> dict[str, Any]:
    return {
        "shapes": [[[2, 3], [2, 1]]],
        "values": [
            [[np.array([[1, 2]], np.float32), np.array([[3, 4]], np.float32)], np.int32(axis)]
            for axis in (0, -1)
        ],
        "gradient": True,
    }


define(
    "Concat",
    "concat_dim: int32, values: N * T -> output: T",
    "N: int >= 2; T: type",
    shape=lambda c: _concat_shape(c, c.inputs[1:], 0),
    kernel=lambda c, axis, values: _concat(c, values, axis),
    lower=lambda b, op, axis, values: _lower_concat(b, op, values, axis),
    gradient=lambda op, grad: _concat_gradient(op, grad, 1, len(op.inputs), 0),
    sizes=True,
    doc="Tensors joined along a dimension, given first.",
    test=lambda: {
        "values": [[value[1], value[0]] for value in _joins()["values"]],
        "gradient": True,
    },
)
_concat_v2 = define(
    "ConcatV2",
    "values: N * T, axis: Tidx -> output: T",
    "N: int >= 2; T: type; Tidx: index = int32",
    shape=lambda c: _concat_shape(c, c.inputs[:-1], len(c.inputs) - 1),
    kernel=_concat,
    rows=concat_rows,
    lower=_lower_concat,
    gradient=lambda op, grad: _concat_gradient(op, grad, 0, -1, -1),
    sizes=True,
    doc="Tensors joined along a dimension.",
    test=_joins,
)


def _concat_offset_kernel(
    c: KernelContext, axis: np.ndarray, shapes: list[np.ndarray]
) -> tuple[Any, ...]:
    for i, sizes in enumerate(shapes):
        if sizes.ndim != 1:
            got = shape_text(sizes.shape)
            raise errors.invalid(f"input {i + 1} should be a vector, but got shape {got}")
    count, where = len(shapes[0]), int(axis)
    if not -count <= where < count:
        raise errors.invalid(f"Concat dim is out of range: {where} vs. {count}")
    where %= count
    offset: Any = 0
    offsets = []
    for i, sizes in enumerate(shapes):
        _check_offset_input(i, sizes, shapes[0], where)
        begin = [0] * count
        begin[where] = offset
        offsets.append(shape_inference.size_array(c, begin))
        offset = offset + sizes.tolist()[where]
    return tuple(offsets)


def _check_offset_input(i: int, sizes: np.ndarray, first: np.ndarray, where: int) -> None:
    count = len(first)
    if len(sizes) != count:
        raise errors.invalid(f"input {i} should contain {count} elements, but got {len(sizes)}")
    # Symbolic sizes are equal by construction: the graph concatenates along this axis.
    if first.dtype == object or sizes.dtype == object:
        return
    if any(p != q for j, (p, q) in enumerate(zip(first, sizes)) if j != where):
        texts = [" ".join(map(str, s.tolist())) for s in (sizes, first)]
        raise errors.invalid(
            f"All dimensions except {where} must match. Input {i} has shape [{texts[0]}] and "
            f"doesn't match input 0 with shape [{texts[1]}]."
        )


_concat_offset = define(
    "ConcatOffset",
    "concat_dim: int32, shape: N * int32 -> offset: N * int32",
    "N: int >= 2",
    shape=lambda c: list(c.inputs[1:]),
    kernel=_concat_offset_kernel,
    gradient=NoGradient("offsets are integers", silent=True),
    sizes=True,
    doc="Where each input of a concat begins in its output.",
    test=lambda: {
        "values": [[np.int32(1), [np.array([2, 3], np.int32), np.array([2, 5], np.int32)]]]
    },
)


@export("concat")
@dispatched
def concat(values: Sequence[Any], axis: TensorLike, name: str = "concat") -> Tensor:
    """Tensors joined along a dimension that they have.

    Args:
        values: a list of tensors of one dtype, of one shape except for that dimension.
        axis: which dimension: an integer in [-rank, rank), or an int32 scalar.
        name: of the operation.

    Returns:
        A Tensor of that dtype; the size along the axis is the sum of theirs.

    Raises:
        TypeError: the dtypes differ.
        ValueError: the shapes known in the graph do not fit, or are scalars, or `axis` is out of
            range.
        InvalidArgumentError: those of a run do not fit.

    Example:
        >>> tf.Session().run(tf.concat([[[1, 2]], [[3, 4], [5, 6]]], axis=0))
        array([[1, 2],
               [3, 4],
               [5, 6]], dtype=int32)
    """
    if not isinstance(values, (list, tuple)):
        values = [values]
    if len(values) == 1:
        with name_scope(name):
            where = convert_to_tensor(axis, name="concat_dim", dtype=dtypes.int32)
            where.get_shape().assert_has_rank(0)
            return identity(values[0], name=name)
    return _concat_v2(values=values, axis=axis, name=name)


# Split


def _split_shape(c: ShapeContext) -> list[TensorShape]:
    shape_inference.ranked(c.inputs[0], 0)
    given, stated, count = shape_inference.dims(c.inputs[1]), c.value(0), c.attr("num_split")
    if given is None or stated is None:
        return [shape_inference.of_rank(None if given is None else len(given))] * count
    axis = int(stated)
    shape_inference.ranked_at_least(c.inputs[1], axis + 1 if axis >= 0 else -axis)
    where = shape_inference.canonical_axis(axis, len(given))
    if given[where] is not None and given[where] % count:
        raise ValueError(
            f"Dimension size must be evenly divisible by {count} but is {given[where]}\n"
            "\tNumber of ways to split should evenly divide the split dimension"
        )
    part = None if given[where] is None else given[where] // count
    return [TensorShape(given[:where] + [part] + given[where + 1 :])] * count


def split_axis(axis: np.ndarray, ndim: int) -> int:
    """A non-negative axis; InvalidArgumentError when it is out of range."""
    where = int(axis)
    if not -ndim <= where < ndim:
        raise errors.invalid(
            f"-input rank(-{ndim}) <= split_dim < input rank ({ndim}), but got {where}"
        )
    return where % ndim


def _split(c: KernelContext, axis: np.ndarray, x: np.ndarray) -> tuple[np.ndarray, ...]:
    where, count = split_axis(axis, x.ndim), c.attr("num_split")
    if x.shape[where] % count:
        raise errors.invalid(
            "Number of ways to split should evenly divide the split dimension, but got "
            f"split_dim {where} (size = {x.shape[where]}) and num_split {count}"
        )
    return tuple(np.split(x, count, axis=where))


def pieces(b: Builder, x: Value, axis: int, lengths: list[Any]) -> tuple[Any, ...]:
    parts, start = [], 0
    for length in lengths:
        begin, size = [0] * x.ndim, list(x.shape)
        begin[axis], size[axis] = start, length
        parts.append(b.slice(x, tuple(begin), tuple(size)))
        start = start + length
    return tuple(parts)


def _lower_split(b: Builder, op: OpView, axis: Value, x: Value) -> Any:
    known = b.known(axis)
    if known is None:
        return NotImplemented
    where, count = split_axis(known, x.ndim), op.attr("num_split")
    if not b.equal(x.shape[where] % count, 0):
        return NotImplemented
    return pieces(b, x, where, [x.shape[where] // count] * count)


_split_op = define(
    "Split",
    "split_dim: int32, value: T -> output: num_split * T",
    "num_split: int >= 1; T: type",
    shape=_split_shape,
    kernel=ranked(_split, scalar(0, "split_dim must be a scalar but has rank {rank}")),
    lower=_lower_split,
    gradient=lambda op, *grads: (None, concat(list(grads), op.inputs[0])),
    sizes=True,
    doc="Equal pieces of a tensor along a dimension.",
    test=lambda: {
        "values": [[np.int32(1), np.arange(12, dtype=np.float32).reshape(2, 6)]],
        "attrs": [{"num_split": 3}],
        "gradient": True,
    },
)


def _split_v_shape(c: ShapeContext) -> list[TensorShape]:
    count = c.attr("num_split")
    shape_inference.ranked(c.inputs[1], 1)
    shape_inference.ranked_at_most(c.inputs[2], 1)
    given, axis, sizes = shape_inference.dims(c.inputs[0]), c.value(2), c.value(1)
    if given is None or axis is None:
        return [shape_inference.of_rank(None if given is None else len(given))] * count
    where = shape_inference.canonical_axis(int(np.asarray(axis).reshape(-1)[0]), len(given))
    if sizes is None:
        return [TensorShape(given[:where] + [None] + given[where + 1 :])] * count
    lengths = _checked_lengths(given[where], [int(size) for size in sizes])
    return [TensorShape(given[:where] + [length] + given[where + 1 :]) for length in lengths]


def _checked_lengths(total: int | None, lengths: list[int]) -> list[int | None]:
    for i, length in enumerate(lengths):
        if length < -1:
            raise ValueError(f"Split size at index {i} must be >= 0. Got: {length}")
    known = sum(length for length in lengths if length >= 0)
    if -1 in lengths:
        rest = None if total is None else total - known
        if rest is not None and rest < 0:
            raise ValueError(
                f"can't split axis of size {total} into pieces of size {shape_text(lengths)}"
            )
        return [rest if length == -1 else length for length in lengths]
    if total is not None and known != total:
        raise ValueError(
            f"can't split axis of size {total} into pieces of size {shape_text(lengths)}"
        )
    return list(lengths)


def _lengths(total: AnySize, sizes: np.ndarray) -> list[Any]:
    lengths = sizes.reshape(-1).tolist()
    missing = [i for i, n in enumerate(lengths) if isinstance(n, int) and n == -1]
    if len(missing) > 1:
        raise errors.invalid("There can only be one -1 in the input.")
    known = sum(n for i, n in enumerate(lengths) if i not in missing)
    if missing:
        lengths[missing[0]] = total - known
    if (not missing and known != total) or (missing and lengths[missing[0]] < 0):
        raise errors.invalid(
            "Determined shape must either match input shape along split_dim exactly if fully "
            "specified, or be less than the size of the input along split_dim if not fully "
            f"specified.  Got: {known}"
        )
    return lengths


def _split_v(
    c: KernelContext, x: np.ndarray, sizes: np.ndarray, axis: np.ndarray
) -> tuple[Any, ...]:
    if axis.size != 1:
        raise errors.invalid("split_dim_tensor must have exactly one element.")
    where = split_axis(axis.reshape(-1)[0], x.ndim)
    lengths = _lengths(x.shape[where], sizes)
    if len(lengths) != c.attr("num_split"):
        raise errors.invalid(
            "size_splits must have one element per output, got "
            f"{len(lengths)} for {c.attr('num_split')}"
        )
    return tuple(np.split(x, np.cumsum(lengths[:-1], dtype=np.int64), axis=where))


def _lower_split_v(b: Builder, op: OpView, x: Value, sizes: Value, axis: Value) -> Any:
    known, lengths = b.known(axis), b.known(sizes)
    if known is None or lengths is None:
        return NotImplemented
    b.require(lengths.size == op.attr("num_split"))
    where = split_axis(known.reshape(-1)[0], x.ndim)
    return pieces(b, x, where, _lengths(x.shape[where], lengths))


_split_v_op = define(
    "SplitV",
    "value: T, size_splits: Tlen, split_dim: int32 -> output: num_split * T",
    "num_split: int >= 1; T: type; Tlen: index = int64",
    shape=_split_v_shape,
    kernel=ranked(_split_v, vector(1, "size of the split_tensor must be 1-D, got shape {shape}")),
    lower=_lower_split_v,
    gradient=lambda op, *grads: (concat(list(grads), op.inputs[2]), None, None),
    sizes=True,
    doc="Pieces of given sizes of a tensor along a dimension.",
    test=lambda: {
        "values": [
            [
                np.arange(12, dtype=np.float32).reshape(2, 6),
                np.array([1, -1, 2], np.int32),
                np.int32(1),
            ]
        ],
        "attrs": [{"num_split": 3}],
        "gradient": True,
    },
)


@export("split")
def split(
    value: TensorLike,
    num_or_size_splits: Any,
    axis: TensorLike = 0,
    num: int | None = None,
    name: str = "split",
) -> list[Tensor]:
    """A tensor cut along a dimension.

    Args:
        value: a tensor of any dtype.
        num_or_size_splits: into how many equal pieces, an integer; or the sizes of the pieces, a
            list or an int32 or int64 vector, of which one may be -1.
        axis: which dimension: an integer in [-rank, rank), or an int32 scalar.
        num: how many sizes there are, where the graph does not know.
        name: of the operation.

    Returns:
        A list of Tensors of the dtype of `value`.

    Raises:
        ValueError: the number of pieces is not known, or does not divide the size, or the sizes do
            not add up to it.
        InvalidArgumentError: this is so in a run.

    Example:
        >>> first, second = tf.split([[1, 2, 3], [4, 5, 6]], [1, 2], axis=1)
        >>> tf.Session().run(second)
        array([[2, 3],
               [5, 6]], dtype=int32)
    """
    sizes = convert_to_tensor(num_or_size_splits)
    if isinstance(num_or_size_splits, (int, np.integer, Dimension)) and not isinstance(
        num_or_size_splits, np.integer
    ):
        return _split_op(axis, value, num_split=int(num_or_size_splits), name=name)
    if sizes.get_shape().ndims == 0:
        raise ValueError(
            "Rank-0 tensors are not supported as the num_or_size_splits argument to split. "
            f"Argument provided: {num_or_size_splits}"
        )
    if num is None:
        static = sizes.get_shape()
        num = static.as_list()[0] if static.ndims else None
        if num is None:
            raise ValueError(f"Cannot infer num from shape {num_or_size_splits}")
    return _split_v_op(value, sizes, axis, num_split=num, name=name)
