# SPDX-License-Identifier: Apache-2.0
"""Reductions over segments: rows of one id are combined (Segment*, UnsortedSegment*).

The sparse variants, which pick rows first, are in `reduce_sparse_segment`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from ...engine import errors
from ...engine.api import export
from ...engine.dispatch import dispatched
from ...engine.graph.build import OpFunction, define
from ...engine.graph.convert import convert_to_tensor
from ...engine.graph.registry import NoGradient
from ...engine.graph.scope_functions import name_scope
from ...engine.types import dtypes
from ...engine.types.indices import first_outside, outside_error
from ...engine.types.shape import TensorShape, shape_text
from ...jit.kernel import scalar as k
from ..array.constant import constant
from ..elementwise import is_integer
from ..public import raw, tf
from ..ranks import ranked, scalar
from ..shape_inference import merge
from .limits import highest, lowest
from .segment_lowering import last_plus_one, lower_sorted, measured_last_plus_one

if TYPE_CHECKING:
    from ...engine.graph.annotations import TensorLike
    from ...engine.graph.inference import ShapeContext
    from ...engine.graph.kernel_context import KernelContext
    from ...engine.graph.operation import Operation
    from ...engine.graph.tensor import Tensor
    from ...jit.program.tensor_ir import Value
    from ...jit.trace.builder import Builder
    from ...jit.trace.tracer import OpView

_INDICES = "Tindices: {int32, int64}"


def at_least_vector(shape: TensorShape) -> TensorShape:
    """The shape, after checking that it has a first dimension."""
    if shape.ndims == 0:
        raise ValueError("Shape must be at least rank 1 but is rank 0")
    return shape


def rows_shape(size: int | None, data: TensorShape) -> TensorShape:
    """`size` rows of what data has below its first dimension."""
    at_least_vector(data)
    return TensorShape(None if data.ndims is None else [size, *data.as_list()[1:]])


def _segment_shape(c: ShapeContext) -> TensorShape:
    if c.inputs[1].ndims not in (1, None):
        raise ValueError(f"Shape must be rank 1 but is rank {c.inputs[1].ndims}")
    return rows_shape(None, c.inputs[0])


def check_sorted(ids: np.ndarray, rows: int | None = None) -> int:
    """The number of output rows for sorted ids (`rows` when given), or TensorFlow's error."""
    if rows is None:
        rows = int(ids[-1]) + 1 if ids.size else 0
    elif ids.size and ids[-1] >= rows >= 0:
        raise errors.invalid("segment ids must be < num_segments")
    if rows < 0 or (ids.size and rows == 0):
        raise errors.invalid("segment ids must be >= 0")
    # TensorFlow walks the ids once and reports what it meets first; the comparison of the two
    # positions below finds the same error.
    distinct = ids[np.flatnonzero(np.diff(ids, prepend=ids[:1] - 1))]
    falls = np.flatnonzero(np.diff(distinct) <= 0)
    outside = np.flatnonzero((distinct < 0) | (distinct >= rows))
    if falls.size and (not outside.size or falls[0] <= outside[0]):
        raise errors.invalid("segment ids are not increasing")
    if outside.size:
        raise errors.invalid(
            f"Segment id {distinct[outside[0]]} out of range [0, {rows}), possibly because "
            "'segment_ids' input is not sorted."
        )
    return rows


def combine(
    ufunc: np.ufunc, data: np.ndarray, ids: np.ndarray, count: int, start: TensorLike
) -> np.ndarray:
    """Row i of the result combines the rows of data whose id is i, in order."""
    wide = np.float32 if data.dtype.name in ("float16", "bfloat16") else data.dtype
    out = np.full((count, *data.shape[1:]), start, wide)
    with np.errstate(all="ignore"):
        ufunc.at(out, ids, data)
    return out


def _mean(data: np.ndarray, ids: np.ndarray, count: int) -> np.ndarray:
    total = combine(np.add, data, ids, count, 0)
    counts = np.bincount(ids, minlength=count).reshape((-1,) + (1,) * (data.ndim - 1))
    counts = np.maximum(counts, 1).astype(total.dtype)
    return k.truncatediv(total, counts) if is_integer(total) else total / counts


def _by(ufunc: np.ufunc, start: Callable[[np.dtype], Any]) -> Callable[..., np.ndarray]:
    """Combines by a ufunc; segments without rows are zero."""

    def reduce(data: np.ndarray, ids: np.ndarray, count: int) -> np.ndarray:
        out = combine(ufunc, data, ids, count, start(data.dtype))
        out[np.bincount(ids, minlength=count) == 0] = 0
        return out

    return reduce


def _test() -> dict[Any, Any]:
    return {
        "values": [[np.array([[1, 2], [3, 4], [5, 6]], np.float32), np.array([0, 0, 2], np.int32)]]
    }


def _segment(
    name: str,
    reduce: Callable[..., Any],
    gradient: object,
    public: str,
    types: str,
    lower: Callable[..., Any],
) -> OpFunction:
    def kernel(c: KernelContext, data: np.ndarray, ids: np.ndarray) -> np.ndarray:
        if data.ndim == 0 or data.shape[0] != ids.size:
            raise errors.invalid("segment_ids should be the same size as dimension 0 of input.")
        return reduce(data, ids, check_sorted(ids)).astype(c.out_dtype())

    op = define(
        name,
        "data: T, segment_ids: Tindices -> output: T",
        f"T: {types}; {_INDICES}",
        shape=_segment_shape,
        kernel=kernel,
        lower=lower,
        gradient=gradient,
        dynamic_shape=last_plus_one(1),
        measured_sizes=measured_last_plus_one(1),
        doc=f"The {public.split('_')[-1]} of the rows of each segment; ids are sorted.",
        test=lambda: _test(),
    )
    return export(f"math.{public}", public)(op)


# The sum of a one for each row counts the rows of a segment.
def _segment_mean_gradient(op: Operation, grad: Tensor) -> tuple[Tensor, None]:
    rank = tf.rank(op.inputs[0])
    ones_shape = tf.concat([tf.shape(op.inputs[1]), tf.fill(tf.expand_dims(rank - 1, 0), 1)], 0)
    ones = tf.fill(ones_shape, constant(1, dtype=grad.dtype))
    scaled = tf.divide(grad, segment_sum(ones, op.inputs[1]))
    return tf.gather(scaled, op.inputs[1]), None


# Elements that attain the extreme share its gradient equally.
def _segment_extreme_gradient(op: Operation, grad: Tensor) -> tuple[Tensor, None]:
    zeros = tf.zeros_like(op.inputs[0], dtype=op.inputs[0].dtype)
    gathered = tf.gather(op.outputs[0], op.inputs[1])
    is_selected = tf.equal(op.inputs[0], gathered)
    num_selected = segment_sum(tf.cast(is_selected, grad.dtype), op.inputs[1])
    weighted = tf.divide(grad, num_selected)
    return tf.where(is_selected, tf.gather(weighted, op.inputs[1]), zeros), None


def _zero(dtype: np.dtype) -> int:
    return 0


def _one(dtype: np.dtype) -> int:
    return 1


_SUM = _by(np.add, _zero)


def _extreme(ufunc: np.ufunc, start: Callable[[np.dtype], Any]) -> Callable[..., np.ndarray]:
    """fmax or fmin: a NaN is as good as nothing, except where a segment is a single row."""
    several = _by(ufunc, start)

    def reduce(data: np.ndarray, ids: np.ndarray, count: int) -> np.ndarray:
        out = several(data, ids, count)
        alone = np.bincount(ids, minlength=count)[ids] == 1
        out[ids[alone]] = data[alone]
        return out

    return reduce


def _worst(sign: int, limit: Callable[[np.dtype], Any]) -> Callable[[np.dtype], Any]:
    return lambda dtype: limit(dtype) if dtype.kind in "iu" else sign * np.inf


_MAX = _extreme(np.fmax, _worst(-1, lowest))
_MIN = _extreme(np.fmin, _worst(1, highest))


def _segment_sum_gradient(op: Operation, grad: Tensor) -> tuple[Tensor, None]:
    return tf.gather(grad, op.inputs[1]), None


segment_sum = _segment(
    "SegmentSum",
    _SUM,
    _segment_sum_gradient,
    "segment_sum",
    "numbertype",
    lower_sorted("add", _zero, _zero, check_sorted),
)
segment_mean = _segment(
    "SegmentMean",
    _mean,
    _segment_mean_gradient,
    "segment_mean",
    "numbertype",
    lower_sorted("add", _zero, _zero, check_sorted, 1.0),
)


def _segment_prod(data: np.ndarray, ids: np.ndarray, count: int) -> np.ndarray:
    # An id without rows keeps the product of nothing.
    return combine(np.multiply, data, ids, count, 1)


segment_prod = _segment(
    "SegmentProd",
    _segment_prod,
    NoGradient("TensorFlow registers none"),
    "segment_prod",
    "numbertype",
    lower_sorted("mul", _one, _one, check_sorted),
)
segment_max = _segment(
    "SegmentMax",
    _MAX,
    _segment_extreme_gradient,
    "segment_max",
    "realnumbertype",
    lower_sorted("fmax", _worst(-1, lowest), _zero, check_sorted),
)
segment_min = _segment(
    "SegmentMin",
    _MIN,
    _segment_extreme_gradient,
    "segment_min",
    "realnumbertype",
    lower_sorted("fmin", _worst(1, highest), _zero, check_sorted),
)


# Unsorted


def _unsorted_shape(c: ShapeContext) -> TensorShape:
    data, ids = c.inputs[0], c.inputs[1]
    if c.inputs[2].ndims not in (0, None):
        raise ValueError(f"Shape must be rank 0 but is rank {c.inputs[2].ndims}")
    if data.ndims is None or ids.ndims is None:
        return TensorShape(None)
    if ids.ndims > data.ndims:
        raise ValueError(f"Shape must be at least rank {ids.ndims} but is rank {data.ndims}")
    merge(TensorShape(data.as_list()[: ids.ndims]), ids)
    count = c.value(2)
    if count is not None and count < 0:
        raise ValueError(
            f"Dimension size, given by scalar input 2, must be non-negative but is {count}"
        )
    rest = data.as_list()[ids.ndims :]
    return TensorShape([None if count is None else int(count), *rest])


def _ids_outside(ids: np.ndarray, count: int) -> errors.InvalidArgumentError:
    return outside_error("segment_ids", ids, count, None, "out of range")


def _unsorted_lowering(fn: str, start: Callable[..., Any]) -> Any:
    def lower(b: Builder, op: OpView, data: Value, ids: Value, num_segments: Value) -> Any:
        from ...jit import library

        known = b.known(num_segments)
        if known is None:
            raise b.host("the number of segments depends on the data")
        count, sizes = known.item(), zip(data.shape, ids.shape)
        if data.ndim < ids.ndim or not all(b.equal(x, y) for x, y in sizes):
            return NotImplemented
        # The sums of 16-bit floats are wider, on the host.
        if data.dtype in ("float16", "bfloat16") or (isinstance(count, int) and count < 0):
            return NotImplemented
        wide, limit = b.cast(ids, "int64"), b.constant(count, "int64")
        b.require_inside(wide, limit, _ids_outside, low=None)
        first = np.asarray(start(np.dtype(data.dtype))).item()
        return library.scatter_rows(b, fn, ids, data, count, start=first)

    return lower


def _fold(
    ufunc: np.ufunc,
    worse: Callable[..., Any],
    data: np.ndarray,
    ids: np.ndarray,
    count: int,
    start: np.ndarray | np.generic,
) -> np.ndarray:
    """Each row takes its segment's place unless it is worse: what follows a NaN takes its place."""
    if data.dtype.kind in "iu" or not np.isnan(data).any():
        return combine(ufunc, data, ids, count, start)
    out = np.full((count, *data.shape[1:]), start, data.dtype)
    for place, row in zip(ids.tolist(), data, strict=True):
        out[place] = np.where(worse(row, out[place]), out[place], row)
    return out


def _unsorted(
    name: str,
    fn: str,
    fold: Callable[..., np.ndarray],
    start: Callable[..., Any],
    gradient: Callable[..., Any],
    public: str,
    types: str,
) -> OpFunction:
    def kernel(
        c: KernelContext, data: np.ndarray, ids: np.ndarray, num_segments: np.ndarray
    ) -> np.ndarray:
        if data.shape[: ids.ndim] != ids.shape:
            raise errors.invalid(
                f"data.shape = {shape_text(data.shape)} does not start with "
                f"segment_ids.shape = {shape_text(ids.shape)}"
            )
        count, flat = int(num_segments), ids.ravel()
        if count < 0:
            raise errors.invalid(f"Input num_segments == {count} must not be negative.")
        if first_outside(ids, count, None) is not None:
            raise _ids_outside(ids, count)
        rows = data.reshape((flat.size, *data.shape[ids.ndim :]))
        kept = flat >= 0
        out = fold(rows[kept], flat[kept], count, start(data.dtype))
        return out.astype(c.out_dtype())

    op = define(
        name,
        "data: T, segment_ids: Tindices, num_segments: Tnumsegments -> output: T",
        f"T: {types}; {_INDICES}; Tnumsegments: {{int32, int64}} = int32",
        shape=_unsorted_shape,
        kernel=ranked(kernel, scalar(2, "num_segments should be a scalar, not shape {shape}")),
        gradient=gradient,
        lower=_unsorted_lowering(fn, start),
        doc=f"The {public.split('_')[-1]} of the rows that have each id; ids come in any order.",
        test=lambda: {
            "values": [[*_test()["values"][0][:1], np.array([1, 0, 1], np.int32), np.int32(2)]]
        },
    )
    return export(f"math.{public}", public)(op)


def _gather_drop_negatives(
    params: Tensor,
    ids: Any,
    clipped: Tensor | None = None,
    is_positive: Any = None,
) -> tuple[Any, Any, Any]:
    """Rows of params by id, zeros for negative ids; also the clipped ids and the mask."""
    # Rows with a negative id are in no segment.  Gather would refuse the id, so zero stands in for
    # it and the result is masked.
    if clipped is None:
        clipped = tf.maximum(ids, tf.zeros_like(ids))
    gathered: Any = tf.gather(params, clipped)
    if is_positive is None:
        is_positive = _with_axes_of(gathered, tf.greater_equal(ids, 0))
        is_positive = is_positive & tf.ones_like(gathered, dtype=dtypes.bool)
    zeros = tf.zeros_like(gathered)
    return tf.where(is_positive, gathered, zeros), clipped, is_positive


def _with_axes_of(gathered: Tensor, mask: Any) -> Any:
    """A mask of ids with as many axes as the rows that belong to them."""
    if gathered.shape.ndims is None or mask.shape.ndims is None:
        # (TensorFlow 1.15 has no gradient here.)
        ones = tf.ones([tf.rank(gathered) - tf.rank(mask)], dtypes.int32)
        return tf.reshape(mask, tf.concat([tf.shape(mask), ones], 0))
    for _ in range(gathered.shape.ndims - mask.shape.ndims):
        mask = tf.expand_dims(mask, -1)
    return mask


def _unsorted_sum_gradient(op: Operation, grad: Tensor) -> tuple[Any, None, None]:
    return _gather_drop_negatives(grad, op.inputs[1])[0], None, None


def _unsorted_extreme_gradient(op: Operation, grad: Tensor) -> tuple[Tensor, None, None]:
    data, ids, count = op.inputs
    gathered, clipped, is_positive = _gather_drop_negatives(op.outputs[0], ids)
    is_selected = tf.equal(data, gathered)
    is_selected = tf.logical_and(is_selected, is_positive)
    num_selected = unsorted_segment_sum(tf.cast(is_selected, grad.dtype), ids, count)
    weighted = tf.divide(grad, num_selected)
    gathered_grads, _, _ = _gather_drop_negatives(weighted, None, clipped, is_positive)
    zeros = tf.zeros_like(gathered_grads)
    return tf.where(is_selected, gathered_grads, zeros), None, None


def _unsorted_prod_gradient(op: Operation, grad: Tensor) -> tuple[Any, None, None]:
    """One zero in a segment: only it has a slope; two or more: nothing has."""
    data, ids, count = op.inputs
    is_zero = tf.equal(data, 0)
    num_zeros = unsorted_segment_sum(tf.cast(is_zero, dtype=dtypes.int32), ids, count)
    grad = tf.where(tf.greater(num_zeros, 1), tf.zeros_like(grad), grad)
    non_zero_data = tf.where(is_zero, tf.ones_like(data), data)
    non_zero_prod = unsorted_segment_prod(non_zero_data, ids, count)
    clipped = tf.maximum(ids, tf.zeros_like(ids))
    gathered_prod = tf.gather(op.outputs[0], clipped)
    gathered_non_zero = tf.gather(non_zero_prod, clipped)
    divided = gathered_prod / data
    slope = tf.where(is_zero, gathered_non_zero, divided)
    return _gather_drop_negatives(grad, ids, clipped)[0] * slope, None, None


unsorted_segment_sum = _unsorted(
    "UnsortedSegmentSum",
    "add",
    partial(combine, np.add),
    lambda dtype: 0,
    _unsorted_sum_gradient,
    "unsorted_segment_sum",
    "numbertype",
)
unsorted_segment_prod = _unsorted(
    "UnsortedSegmentProd",
    "mul",
    partial(combine, np.multiply),
    lambda dtype: 1,
    _unsorted_prod_gradient,
    "unsorted_segment_prod",
    "numbertype",
)
unsorted_segment_max = _unsorted(
    "UnsortedSegmentMax",
    "max",
    partial(_fold, np.maximum, np.less),
    lowest,
    _unsorted_extreme_gradient,
    "unsorted_segment_max",
    "realnumbertype",
)
unsorted_segment_min = _unsorted(
    "UnsortedSegmentMin",
    "min",
    partial(_fold, np.minimum, np.greater),
    highest,
    _unsorted_extreme_gradient,
    "unsorted_segment_min",
    "realnumbertype",
)


def _segment_counts(data: Any, segment_ids: Any, num_segments: int) -> Tensor:
    """How many rows each segment has, at least one, shaped to divide the output."""
    ones = tf.ones(tf.shape(segment_ids), dtype=data.dtype)
    counts = unsorted_segment_sum(ones, segment_ids, num_segments)
    extra = data.shape.ndims - segment_ids.shape.ndims
    counts = tf.reshape(counts, [num_segments] + [1] * extra)
    return raw.Maximum(counts, 1)


@export("math.unsorted_segment_mean", "unsorted_segment_mean")
@dispatched
def unsorted_segment_mean(
    data: TensorLike, segment_ids: TensorLike, num_segments: Any, name: str | None = None
) -> Any:
    """The mean of the rows of each id."""
    with name_scope(name, "UnsortedSegmentMean"):
        data, segment_ids = convert_to_tensor(data), convert_to_tensor(segment_ids)
        counts = _segment_counts(data, segment_ids, num_segments)
        return unsorted_segment_sum(data, segment_ids, num_segments) / counts


@export("math.unsorted_segment_sqrt_n", "unsorted_segment_sqrt_n")
@dispatched
def unsorted_segment_sqrt_n(
    data: TensorLike, segment_ids: TensorLike, num_segments: Any, name: str | None = None
) -> Any:
    """The sum of the rows of each id, divided by the root of their number."""
    with name_scope(name, "UnsortedSegmentSqrtN"):
        data, segment_ids = convert_to_tensor(data), convert_to_tensor(segment_ids)
        counts = _segment_counts(data, segment_ids, num_segments)
        return unsorted_segment_sum(data, segment_ids, num_segments) / tf.sqrt(counts)
