# SPDX-License-Identifier: Apache-2.0
"""The largest elements of rows: which they are, whether some are among them, the nth smallest."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ...engine import errors
from ...engine.api import export
from ...engine.graph.build import define
from ...engine.graph.graph import name_scope
from ...engine.graph.registry import NoGradient
from ...engine.types import dtypes
from ...engine.types.shape import TensorShape, shape_text
from ...jit.kernel import scalar as k
from .. import ranks, shape_inference
from ..elementwise import is_integer
from ..public import raw, tf
from . import unordered

if TYPE_CHECKING:
    from ...engine.graph.annotations import TensorLike
    from ...engine.graph.inference import ShapeContext
    from ...engine.graph.kernel_context import KernelContext
    from ...engine.graph.operation import Operation
    from ...engine.graph.tensor import Tensor
    from ...jit.program.tensor_ir import Value
    from ...jit.trace.builder import Builder
    from ...jit.trace.tracer import OpView


def _top_k_shape(c: ShapeContext) -> list[TensorShape]:
    shape = c.inputs[0]
    if c.op_type == "TopK":
        count = c.attr("k")
    else:
        if c.inputs[1].ndims not in (None, 0):
            raise ValueError(f"Input must be scalar but has rank {c.inputs[1].ndims}")
        value = c.value(1)
        count = None if value is None else int(value)
    if shape.ndims is None:
        return [shape, shape]
    if shape.ndims < 1:
        raise ValueError("Shape must be at least rank 1 but is rank 0")
    last = shape.as_list()[-1]
    if count is not None and last is not None and last < count:
        raise ValueError(f"input must have last dimension >= k = {count} but is {last}")
    out = TensorShape([*shape.as_list()[:-1], count])
    return [out, out]


def _top_k(
    c: KernelContext, x: np.ndarray, k: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray]:
    count = c.attr("k") if k is None else int(k)
    if count < 0:
        raise errors.invalid(f"Need k >= 0, got {count}")
    if x.ndim < 1:
        raise errors.invalid("input must be >= 1-D, got shape []")
    if x.shape[-1] < count:
        raise errors.invalid("input must have at least k columns")
    # Stable in descending order: equal elements keep their order.  ~x is -x - 1, which unlike -x
    # exists for every integer of any width, with or without a sign.
    key = ~x if is_integer(x) else -(x if x.dtype.itemsize > 2 else x.astype(np.float32))
    order = np.argsort(key, axis=-1, kind="stable")
    indices = order[..., :count].astype(np.int32)
    if count and x.dtype.kind not in "iub":
        _place_unordered(x, indices)
    return np.take_along_axis(x, indices, axis=-1), indices


def _lower_top_k(b: Builder, op: OpView, x: Value, count: Value | None = None) -> Any:
    from ...jit import library
    from ...jit.kernel import scalar
    from ...jit.kernel.sizes import is_measured

    known = np.array(op.attr("k")) if count is None else b.known(count)
    if known is None or known.ndim or not x.ndim:
        return NotImplemented
    kept, length = known.item(), x.shape[-1]
    b.require(kept >= 0)
    if b.may_assume and is_measured(length - kept):
        # Before memory is looked for: of so many there may be none.
        b.scope.must_not_be_negative(length - kept)
    elif is_measured(kept) or is_measured(length):
        sizes = [b.known_as(np.array(size, object), "int64") for size in (kept, length)]
        b.require_not(b.map(scalar.gt, *sizes), _too_many)
    else:
        b.require(kept <= length)
    return library.largest(b, x, kept)


def _too_many() -> BaseException:
    return errors.invalid("input must have at least k columns")


def _place_unordered(x: np.ndarray, indices: np.ndarray) -> None:
    """Puts into `indices` where TensorFlow has the largest elements of rows that hold a NaN."""
    is_unordered = np.isnan(x).any(axis=-1)
    for place in np.argwhere(is_unordered):
        row = tuple(place)
        indices[row] = unordered.largest(x[row].tolist(), indices.shape[-1])


def _top_k_gradient(op: Operation, grad: Tensor, _: int) -> list[Any]:
    in_shape, ind_shape = tf.shape(op.inputs[0]), tf.shape(op.outputs[1])
    count = tf.gather(tf.cast(ind_shape, dtypes.int64), tf.size(ind_shape) - 1)
    rows = tf.reshape(op.outputs[1], tf.stack([-1, count]))
    last = tf.gather(tf.cast(in_shape, dtypes.int64), tf.size(in_shape) - 1)
    outer = tf.shape(rows)[0]
    # Positions in rows become positions in the whole, where the gradients are scattered to.
    starts = tf.range(0, tf.cast(outer, dtypes.int64) * last, last)
    flat = tf.reshape(rows + tf.cast(tf.expand_dims(starts, -1), dtypes.int32), [-1])
    scattered = tf.scatter_nd(
        tf.expand_dims(flat, -1), tf.reshape(grad, [-1]), [tf.reduce_prod(in_shape)]
    )
    result = [tf.reshape(scattered, in_shape)]
    if len(op.inputs) > 1:
        result.append(tf.zeros([], dtype=dtypes.int32))
    return result


define(
    "TopK",
    "input: T -> values: T, indices: int32",
    "k: int >= 0; sorted: bool = true; T: realnumbertype",
    shape=_top_k_shape,
    kernel=_top_k,
    lower=_lower_top_k,
    gradient=_top_k_gradient,
    doc="The k largest elements of every row, largest first, and where they are.",
    test={"shapes": [[[3, 6]]], "attrs": [{"k": 2}], "gradient": True},
)
define(
    "TopKV2",
    "input: T, k: int32 -> values: T, indices: int32",
    "sorted: bool = true; T: realnumbertype",
    shape=_top_k_shape,
    kernel=_top_k,
    lower=_lower_top_k,
    gradient=_top_k_gradient,
    doc="The k largest elements of every row, largest first, and where they are.",
    test=lambda: {
        "values": [[np.array([[1, 3, 2], [5, 4, 6]], np.float32), np.int32(2)]],
        "gradient": True,
    },
)


@export("math.top_k", "nn.top_k")
def top_k(input: TensorLike, k: int = 1, sorted: bool = True, name: str | None = None) -> Any:
    """The greatest elements of every row, greatest first, and where they are.

    Args:
        input: a tensor of real numbers; rows are along its last dimension.
        k: how many, an int32 scalar.
        sorted: accepted; they are always in order.
        name: of the operation.

    Returns:
        A named tuple: `values`, of the dtype of `input`, and `indices`, int32; both [..., k].  Of
        equal elements the first comes first.

    Raises:
        TypeError: the dtype is another, such as complex64.
        ValueError: `input` is a scalar, or has known to be fewer than k columns.
        InvalidArgumentError: it has in a run.

    Example:
        >>> values, indices = tf.nn.top_k([1.0, 7.0, 3.0], k=2)
        >>> tf.Session().run([values, indices])
        [array([7., 3.], dtype=float32), array([1, 2], dtype=int32)]
    """
    return raw.TopKV2(input, k, sorted=sorted, name=name)


def _in_top_k(
    c: KernelContext, predictions: np.ndarray, targets: np.ndarray, k: np.ndarray | None = None
) -> np.ndarray:
    count = c.attr("k") if k is None else int(k)
    if predictions.shape[0] != targets.shape[0]:
        raise errors.invalid(
            f"First dimension of predictions {predictions.shape[0]} must match length of targets "
            f"{targets.shape[0]}"
        )
    rows, classes = np.arange(len(targets)), predictions.shape[1]
    valid = (targets >= 0) & (targets < classes)
    if not classes:
        return valid
    chosen = predictions[rows, np.where(valid, targets, 0)]
    # How many are strictly better; a row with a number that is not finite has no answer but False.
    better = (predictions > chosen[:, None]).sum(axis=1)
    finite = np.isfinite(chosen) & ~np.any(~np.isfinite(predictions), axis=1)
    return valid & finite & (better < count)


def _lower_in_top_k(
    b: Builder, op: OpView, predictions: Value, targets: Value, count: Value | None = None
) -> Any:
    b.require(predictions.ndim == 2 and targets.ndim == 1)
    rows, classes = predictions.shape
    b.require_shape(targets, [rows])
    if b.equal(classes, 0):
        return NotImplemented
    most = b.constant(op.attr("k"), "int64") if count is None else b.cast(count, "int64")
    if most.ndim:
        return NotImplemented
    wide, limit = b.cast(targets, "int64"), b.constant(classes, "int64")
    valid = b.map(lambda t, n: k.logical_and(k.ge(t, 0), k.lt(t, n)), wide, limit)
    row = b.iota([rows], 0, "int64")

    def flat(target: Any, is_valid: Any, row: Any, classes: Any) -> Any:
        return k.add(k.mul(row, classes), k.select(is_valid, target, k.const_like(0, target)))

    place = b.map(flat, wide, valid, row, limit)
    chosen = b.pick(b.reshape(predictions, [rows * classes]), place)
    column = b.reshape(chosen, [rows, 1])
    better = b.map(lambda p, c: k.cast(k.gt(p, c), "int64"), predictions, column)
    odd = b.reduce("any", b.map(lambda p: k.logical_not(k.isfinite(p)), predictions), [1])

    def is_in(is_valid: Any, odd: Any, better: Any, most: Any) -> Any:
        is_fine = k.logical_and(is_valid, k.logical_not(odd))
        return k.logical_and(is_fine, k.lt(better, most))

    return b.map(is_in, valid, odd, b.reduce("sum", better, [1]), most)


def _in_top_k_shape(c: ShapeContext) -> TensorShape:
    rows = c.inputs[0].with_rank(2).as_list()[0]
    (targets,) = shape_inference.ranked(c.inputs[1], 1)
    if None not in (rows, targets) and rows != targets:
        raise ValueError(f"Dimensions must be equal, but are {rows} and {targets}")
    return shape_inference.vector(targets if rows is None else rows)


_DISCRETE = NoGradient("a comparison")
_IN_TOP_K = ranks.ranked(
    _in_top_k,
    ranks.Rank(0, (2,), "predictions must be 2-dimensional"),
    ranks.vector(1, "targets must be 1-dimensional"),
)
define(
    "InTopK",
    "predictions: float32, targets: T -> precision: bool",
    "k: int; T: index = int32",
    shape=_in_top_k_shape,
    kernel=_IN_TOP_K,
    lower=_lower_in_top_k,
    gradient=_DISCRETE,
    doc="Whether the target is among the k largest predictions; ties count as inside.",
    test=lambda: {
        "values": [[np.array([[1, 2, 3]], np.float32), np.array([1], np.int32)]],
        "attrs": [{"k": 2}],
    },
)
define(
    "InTopKV2",
    "predictions: float32, targets: T, k: T -> precision: bool",
    "T: index = int32",
    shape=_in_top_k_shape,
    kernel=_IN_TOP_K,
    lower=_lower_in_top_k,
    gradient=_DISCRETE,
    doc="Whether the target is among the k largest predictions; ties count as inside.",
    test=lambda: {
        "values": [[np.array([[1, 2, 3]], np.float32), np.array([1], np.int32), np.int32(2)]]
    },
)


@export("math.in_top_k", "nn.in_top_k")
def in_top_k(
    predictions: TensorLike, targets: TensorLike, k: int, name: str | None = None
) -> Tensor:
    """Whether the score of the right class is among the k greatest, or equal to them.

    Args:
        predictions: float32 [batch, classes].
        targets: the right classes, int32 or int64 [batch].
        k: an integer, or a scalar of the dtype of `targets`.
        name: of the operation.

    Returns:
        A bool Tensor [batch]; False for classes that there are not, or scores that are not finite.

    Raises:
        TypeError: a dtype is another.
        ValueError: the shapes known in the graph do not fit.
        InvalidArgumentError: those of a run do not.

    Example:
        >>> tf.Session().run(tf.nn.in_top_k([[0.1, 0.7, 0.2], [0.1, 0.7, 0.2]], [1, 0], k=2))
        array([ True, False])
    """
    with name_scope(name, "in_top_k"):
        return raw.InTopKV2(predictions, targets, k, name=name)


def _nth(c: KernelContext, x: np.ndarray, n: np.ndarray) -> np.ndarray:
    if n.ndim:
        raise errors.invalid(f"N must be scalar, got shape {shape_text(n.shape)}")
    at = int(n)
    if at < 0:
        raise errors.invalid(f"Need n >= 0, got {at}")
    if not x.ndim:
        raise errors.invalid(f"Input must be >= 1-D, got shape {shape_text(x.shape)}")
    if at >= x.shape[-1]:
        raise errors.invalid("Input must have at least n+1 columns")
    at = x.shape[-1] - 1 - at if c.attr("reverse") else at
    return np.partition(x, at, axis=-1)[..., at]


def _nth_shape(c: ShapeContext) -> TensorShape:
    sizes = shape_inference.ranked_at_least(c.inputs[0], 1)
    if c.inputs[1].ndims not in (None, 0):
        raise ValueError(f"Input must be scalar but has rank {c.inputs[1].ndims}")
    at = c.value(1)
    if at is not None and int(at) < 0:
        raise ValueError(
            f"Dimension size, given by scalar input 1, must be non-negative but is {at}"
        )
    if sizes is None:
        return shape_inference.unknown()
    if at is not None and sizes[-1] is not None and sizes[-1] <= int(at):
        raise ValueError(f"Input must have last dimension > n = {at} but is {sizes[-1]}")
    return TensorShape(sizes[:-1])


def _nth_gradient(op: Operation, grad: Tensor) -> list[Any]:
    x, output = op.inputs[0], op.outputs[0]
    # Elements that are equal to the n-th share its gradient equally.
    hits = tf.cast(tf.equal(tf.expand_dims(output, -1), x), grad.dtype)
    count = tf.expand_dims(tf.reduce_sum(hits, -1), -1)
    return [tf.div(hits, count) * tf.expand_dims(grad, -1), None]


define(
    "NthElement",
    "input: T, n: int32 -> values: T",
    "reverse: bool = false; T: realnumbertype",
    shape=_nth_shape,
    kernel=_nth,
    gradient=_nth_gradient,
    doc="The n-th smallest element of every row.",
    test=lambda: {"values": [[np.array([[3, 1, 2]], np.float32), np.int32(1)]]},
)
