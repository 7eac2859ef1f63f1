# SPDX-License-Identifier: Apache-2.0
"""Vectors as sets and lists: unique, set difference, repetition."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ...engine import errors
from ...engine.api import export
from ...engine.graph.build import define
from ...engine.graph.convert import convert_to_tensor
from ...engine.graph.graph import name_scope
from ...engine.graph.registry import NoGradient
from ...engine.graph.tensor import Tensor
from ...engine.types import dtypes
from ...engine.types.shape import TensorShape
from .. import shape_inference
from ..public import raw
from .broadcast import broadcast_to
from .constant import ones
from .join import concat
from .pad import tile
from .scatter import all_dimensions, boolean_mask, sequence_mask
from .shape import expand_dims, rank, reshape, shape
from .stack import stack

if TYPE_CHECKING:
    from ...engine.graph.annotations import DTypeLike, TensorLike
    from ...engine.graph.build import OpFunction
    from ...engine.graph.inference import ShapeContext
    from ...engine.graph.kernel_context import KernelContext
    from ...jit.program.tensor_ir import Value
    from ...jit.trace.builder import Builder
    from ...jit.trace.tracer import OpView

# Unique

_NO_ORDER = NoGradient("TensorFlow declares none")


# Numbers that are no further apart than this many times their count, or this far, have places in a
# table, which takes a tenth of the time of sorting them.
_MOST_SPREAD, _FEW = 64, 1 << 20


def _first_seen_of_few(x: np.ndarray, size: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """As `_first_seen`, of numbers below `size`; only those places of the table are touched."""
    here = np.arange(len(x))
    place = np.empty(size, np.int64)
    # The first of each comes last, and stays.
    place[x[::-1]] = here[::-1]
    place = place[x]
    is_first = place == here
    number = (np.cumsum(is_first) - 1)[place]
    return np.flatnonzero(is_first), number, np.bincount(number)


def _first_seen(x: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Positions of first occurrences in order, the number of each element, and counts."""
    if x.dtype == object:
        order: dict[Any, int] = {}
        number = np.array([order.setdefault(v, len(order)) for v in x.tolist()], dtype=np.int64)
        first = np.full(len(order), len(x), np.int64)
        np.minimum.at(first, number, np.arange(len(x)))
        return first, number, np.bincount(number, minlength=len(order))
    if x.dtype.kind in "iu" and x.ndim == 1 and x.size:
        least, most = int(x.min()), int(x.max())
        if most - least < _MOST_SPREAD * x.size + _FEW:
            return _first_seen_of_few(x.astype(np.int64) - least, most - least + 1)
    axis = 0 if x.ndim > 1 else None
    # NumPy sorts; TensorFlow numbers elements as they first appear, and a NaN equals nothing.
    _, first, number, counts = np.unique(
        x, return_index=True, return_inverse=True, return_counts=True, axis=axis, equal_nan=False
    )
    order_ = np.argsort(first, kind="stable")
    place = np.empty(len(order_), dtype=np.int64)
    place[order_] = np.arange(len(order_))
    return first[order_], place[number.reshape(-1)], counts[order_]


def _unique(
    c: KernelContext, x: np.ndarray, axis: np.ndarray | None = None
) -> tuple[np.ndarray, ...]:
    if axis is not None and axis.ndim != 1:
        raise errors.invalid("axis expects a 1D vector.")
    if axis is None or axis.size == 0:
        if x.ndim != 1:
            raise errors.invalid("unique expects a 1D vector.")
        first, number, counts = _first_seen(x)
        values = x[first]
    else:
        if axis.size != 1:
            raise errors.invalid("axis does not support input tensors larger than 1 elements")
        where = int(axis.reshape(-1)[0])
        if not -x.ndim <= where < x.ndim:
            raise errors.invalid(f"axis has to be between [0, {x.ndim})")
        moved = np.moveaxis(x, where, 0)
        # (Rows without elements are all alike, and there may be none.)
        width = math.prod(moved.shape[1:])
        rows = moved.reshape(len(moved), width) if width else np.zeros(len(moved), np.int64)
        first, number, counts = _first_seen(rows if x.ndim > 1 else moved)
        values = np.moveaxis(moved[first], 0, where)
    kind = c.out_dtype(1)
    return values, number.astype(kind), counts.astype(kind)


def _lower_unique(outputs: int) -> Callable[..., Any]:
    def lower(b: Builder, op: OpView, x: Value, axis: Value | None = None) -> Any:
        from ...jit import library

        if x.ndim != 1 or axis is not None:
            return NotImplemented
        made = library.distinct(b, x, op.dtype(1))
        if made is NotImplemented:
            return made
        new, number, often, count = made
        size = b.measure(count)
        values, counts = (b.slice(vector, (0,), (size,)) for vector in (new, often))
        return (values, number, counts)[:outputs]

    return lower


def _unique_shapes(c: ShapeContext) -> list[TensorShape]:
    size = shape_inference.ranked(c.inputs[0], 1)[0]
    return [
        shape_inference.vector(None),
        shape_inference.vector(size),
        shape_inference.vector(None),
    ]


def _unique_v2_shapes(c: ShapeContext) -> list[TensorShape]:
    return [
        shape_inference.of_rank(c.inputs[0].ndims),
        shape_inference.vector(None),
        shape_inference.vector(None),
    ]


def _define_unique(
    name: str, signature: str, attrs: str, outputs: int, sample: Sequence[np.ndarray]
) -> OpFunction:
    shapes = _unique_v2_shapes if "axis" in signature else _unique_shapes
    return define(
        name,
        signature,
        attrs,
        shape=lambda c: shapes(c)[:outputs],
        kernel=lambda c, *inputs: _unique(c, *inputs)[:outputs],
        lower=_lower_unique(outputs),
        gradient=_NO_ORDER,
        dynamic_shape=True,
        doc="The distinct elements in order of first appearance, and the number of each element.",
        test=lambda: {"values": [sample]},
    )


_VECTOR = np.array([3, 1, 3, 2, 1], np.int32)
_ROWS = np.array([[1, 2], [3, 4], [1, 2]], np.int32)
_unique_op = _define_unique(
    "Unique",
    "x: T -> y: T, idx: out_idx",
    "T: type; out_idx: index = int32",
    2,
    [_VECTOR],
)
_define_unique(
    "UniqueV2",
    "x: T, axis: Taxis -> y: T, idx: out_idx",
    "T: type; Taxis: index = int64; out_idx: index = int32",
    2,
    [_ROWS, np.array([0], np.int64)],
)
_unique_with_counts = _define_unique(
    "UniqueWithCounts",
    "x: T -> y: T, idx: out_idx, count: out_idx",
    "T: type; out_idx: index = int32",
    3,
    [_VECTOR],
)
_define_unique(
    "UniqueWithCountsV2",
    "x: T, axis: Taxis -> y: T, idx: out_idx, count: out_idx",
    "T: type; Taxis: index = int64; out_idx: index = int32",
    3,
    [_ROWS, np.array([0], np.int64)],
)


@export("unique")
def unique(x: TensorLike, out_idx: DTypeLike = dtypes.int32, name: str | None = None) -> Any:
    """The distinct elements of a vector, in order of first appearance.

    Args:
        x: a vector of any dtype.
        out_idx: tf.int32 or tf.int64.
        name: of the operation.

    Returns:
        A named tuple: `y`, the distinct elements, and `idx`, for each element of `x` where it is in
        `y`, of the dtype `out_idx`.

    Raises:
        TypeError: `out_idx` is neither.
        ValueError: `x` is no vector.

    Example:
        >>> tf.Session().run(tf.unique([7, 5, 7, 2])).y
        array([7, 5, 2], dtype=int32)
    """
    return _unique_op(x, out_idx=out_idx, name=name)


@export("unique_with_counts")
def unique_with_counts(
    x: TensorLike, out_idx: DTypeLike = dtypes.int32, name: str | None = None
) -> Any:
    """As `unique`, with how often each one occurs."""
    return _unique_with_counts(x, out_idx=out_idx, name=name)


def _difference(c: KernelContext, x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    for name, value in (("x", x), ("y", y)):
        if value.ndim != 1:
            raise errors.invalid(f"{name} should be a 1D vector.")
    if x.dtype == object:
        left = set(y.tolist())
        kept = [i for i, v in enumerate(x.tolist()) if v not in left]
        at = np.array(kept, dtype=c.out_dtype(1))
    else:
        at = np.flatnonzero(~np.isin(x, y)).astype(c.out_dtype(1))
    return x[at], at


def _difference_shape(c: ShapeContext) -> list[TensorShape]:
    for given in c.inputs:
        shape_inference.ranked(given, 1)
    return [shape_inference.vector(None)] * 2


_list_diff = define(
    "ListDiff",
    "x: T, y: T -> out: T, idx: out_idx",
    "T: type; out_idx: index = int32",
    shape=_difference_shape,
    kernel=_difference,
    gradient=_NO_ORDER,
    sizes=True,
    dynamic_shape=True,
    doc="What is in x and not in y, and where.",
    test=lambda: {"values": [[_VECTOR, np.array([3], np.int32)]]},
)


@export("setdiff1d")
def setdiff1d(
    x: TensorLike, y: TensorLike, index_dtype: DTypeLike = dtypes.int32, name: str | None = None
) -> Any:
    """What is in `x` and not in `y`, in the order of `x`, and where."""
    return _list_diff(x, y, out_idx=index_dtype, name=name)


# Repeat


@export("repeat")
def repeat(
    input: TensorLike,
    repeats: int | Sequence[int],
    axis: int | None = None,
    name: str | None = None,
) -> Tensor:
    """Each entry of `input` along `axis` repeated; without an axis, of the flat tensor."""
    if axis is None:
        input, axis = reshape(input, [-1]), 0
    if not isinstance(axis, int):
        raise TypeError(f"axis must be an int; got {type(axis).__name__}")
    with name_scope(name, "Repeat", [input, repeats]):
        data = convert_to_tensor(input, name="data")
        counts = _integers(repeats)
        counts.shape.with_rank_at_most(1)
        data = _not_scalar(data)
        sizes = shape(data)
        axis = _positive(axis, data.shape.ndims)
        if counts.shape.ndims == 0:
            tiled = _tile_one(expand_dims(data, axis + 1), axis + 1, counts)
            return reshape(tiled, concat([sizes[:axis], [-1], sizes[axis + 1 :]], axis=0))
        data.shape[axis].assert_is_compatible_with(counts.shape[0])
        return _repeat_each(data, sizes, counts, axis)


def _repeat_each(data: Tensor, sizes: Tensor, counts: Tensor, axis: int) -> Tensor:
    given = counts
    if counts.shape.ndims != axis + 1:
        own, ndims = shape(counts), rank(counts)
        counts = broadcast_to(counts, concat([sizes[: axis + 1 - ndims], own], axis=0))
        counts.set_shape([None] * (axis + 1))
    # Every entry is tiled as often as the most frequent one, and a mask keeps as many as are
    # wanted.
    most = raw.Maximum(0, raw.Max(counts, all_dimensions(counts)))
    mask = sequence_mask(counts, most)
    tiled = _tile_one(expand_dims(data, axis + 1), axis + 1, most)
    result = boolean_mask(tiled, mask)
    if axis:
        result = reshape(result, concat([sizes[:axis], [-1], sizes[axis + 1 :]], axis=0))
    if data.shape.ndims is not None:
        length = 0 if given.shape[0] == 0 else None
        tail = data.shape[axis + 1 :]
        result.set_shape(data.shape[:axis].concatenate([length]).concatenate(tail))
    return result


def _integers(value: int | Sequence[int]) -> Tensor:
    tensor = convert_to_tensor(value, name="repeats", preferred_dtype=dtypes.int32)
    if not tensor.dtype.is_integer:
        raise TypeError(f"repeats must be an integer tensor; dtype={tensor.dtype}")
    return raw.Cast(tensor, DstT=dtypes.int32)


def _not_scalar(data: Tensor) -> Tensor:
    if data.shape.ndims is None:
        sizes, ndims = shape(data), rank(data)
        return reshape(data, concat([[1], sizes], axis=0)[-ndims:])
    return stack([data]) if data.shape.ndims == 0 else data


def _positive(axis: int, ndims: int | None) -> int:
    if ndims is None:
        if axis < 0:
            raise ValueError("axis may only be negative if ndims is statically known.")
        return axis
    if not -ndims <= axis < ndims:
        raise ValueError(f"axis={axis} out of bounds: expected {-ndims}<=axis<{ndims}")
    return axis + ndims if axis < 0 else axis


def _tile_one(data: Tensor, axis: int, multiple: Tensor) -> Tensor:
    if data.shape.ndims is not None:
        multiples: Any = [1] * data.shape.ndims
        multiples[axis] = multiple
    else:
        one = ones(rank(data), dtypes.int32)
        multiples = concat([one[:axis], [multiple], one[axis + 1 :]], axis=0)
    return tile(data, multiples)
