# SPDX-License-Identifier: Apache-2.0
"""SparseSegmentSum, Mean and SqrtN: rows are picked by index, then combined by sorted segment."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from ...engine import errors
from ...engine.api import export
from ...engine.graph.build import OpFunction, define
from ...engine.graph.registry import NoGradient
from ...engine.types.indices import first_outside
from ...engine.types.shape import TensorShape
from ..public import raw, tf
from ..shape_inference import merge, ranked
from .reduce_segment import check_sorted, combine, rows_shape
from .segment_lowering import (
    last_plus_one,
    lower_picked,
    lower_picked_gradient,
    measured_last_plus_one,
)

if TYPE_CHECKING:
    from ...engine.graph.annotations import TensorLike
    from ...engine.graph.inference import ShapeContext
    from ...engine.graph.kernel_context import KernelContext
    from ...engine.graph.operation import Operation
    from ...engine.graph.tensor import Tensor

_INPUTS = "data: T, indices: Tidx, segment_ids: int32"
_TIDX = "Tidx: {int32, int64} = int32"


def _vectors(c: ShapeContext) -> None:
    for shape in c.inputs[1:3]:
        if shape.ndims not in (1, None):
            raise ValueError(f"Shape must be rank 1 but is rank {shape.ndims}")
    merge(c.inputs[1], c.inputs[2])


def _shape(c: ShapeContext) -> TensorShape:
    _vectors(c)
    return rows_shape(None, c.inputs[0])


def _counted_shape(c: ShapeContext) -> TensorShape:
    _vectors(c)
    if c.inputs[3].ndims not in (0, None):
        raise ValueError(f"Shape must be rank 0 but is rank {c.inputs[3].ndims}")
    count = c.value(3)
    if count is not None and count < 0:
        raise ValueError("Cannot specify a negative value for num_segments")
    return rows_shape(None if count is None else int(count), c.inputs[0])


def _segments(
    data: np.ndarray, indices: np.ndarray, ids: np.ndarray, count: np.ndarray | None
) -> int:
    """The number of output rows, after checking the inputs."""
    if indices.shape != ids.shape:
        raise errors.invalid("segment_ids and indices should have same size.")
    rows = check_sorted(ids, None if count is None else int(count))
    _check_picks(indices, data.shape[0])
    return rows


def _check_picks(indices: np.ndarray, rows: int) -> None:
    bad = first_outside(indices, rows)
    if bad is not None:
        text = f"Bad: indices[{bad}] == {indices.reshape(-1)[bad]} out of range [0, {rows})"
        raise errors.invalid(text)


def _weights(ids: np.ndarray, count: int, power: float, dtype: np.dtype[Any]) -> np.ndarray:
    """(number of rows)^power for each segment; one where there are none."""
    return (np.maximum(np.bincount(ids, minlength=count), 1) ** power).astype(dtype)


def _reducer(power: float) -> Callable[..., np.ndarray]:
    def kernel(
        c: KernelContext,
        data: np.ndarray,
        indices: np.ndarray,
        ids: np.ndarray,
        count: np.ndarray | None = None,
    ) -> np.ndarray:
        rows = _segments(data, indices, ids, count)
        out = combine(np.add, data[indices], ids, rows, 0)
        if power:
            weights = _weights(ids, rows, power, out.dtype)
            out /= weights.reshape((-1,) + (1,) * (data.ndim - 1))
        return out.astype(c.out_dtype())

    return kernel


def _rows() -> np.ndarray:
    return np.array([[1, 2], [3, 4], [5, 6]], np.float32)


def _pick() -> list[Any]:
    return [np.array([0, 2, 1], np.int32), np.array([0, 0, 1], np.int32)]


def _family(
    names: tuple[str, str], power: float, types: str, gradient: Callable[..., Any], what: str
) -> tuple[OpFunction, OpFunction]:
    """The op and its variant with num_segments; gradient(op, grad) is that of the data."""
    kernel, lower = _reducer(power), lower_picked(power, check_sorted, _check_picks)
    plain = define(
        names[0],
        f"{_INPUTS} -> output: T",
        f"T: {types}; {_TIDX}",
        shape=_shape,
        kernel=kernel,
        lower=lower,
        gradient=lambda op, grad: (gradient(op, grad), None, None),
        dynamic_shape=last_plus_one(2),
        measured_sizes=measured_last_plus_one(2),
        doc=f"{what} of picked rows, by segment; ids are sorted.",
        test=lambda: {"values": [[_rows(), *_pick()]]},
    )
    counted = define(
        names[1],
        f"{_INPUTS}, num_segments: Tnumsegments -> output: T",
        f"T: {types}; {_TIDX}; Tnumsegments: {{int32, int64}} = int32",
        shape=_counted_shape,
        kernel=kernel,
        lower=lower,
        gradient=lambda op, grad: (gradient(op, grad), None, None, None),
        doc=f"{what} of picked rows, for a given number of segments.",
        test=lambda: {"values": [[_rows(), *_pick(), np.int32(3)]]},
    )
    return plain, counted


# A row may be picked several times: its gradients add up, and `indices` are in no order.
def _sum_gradient(op: Operation, grad: Tensor) -> Tensor:
    input_rows = tf.shape(op.inputs[0])[0]
    gathered = tf.gather(grad, op.inputs[2])
    return tf.unsorted_segment_sum(gathered, op.inputs[1], input_rows)


def _scaled_gradient(op_type: str) -> Callable[..., Any]:
    def gradient(op: Operation, grad: Tensor) -> Any:
        dim0 = tf.shape(op.inputs[0])[0]
        return getattr(raw, op_type)(grad, op.inputs[1], op.inputs[2], dim0)

    return gradient


_FLOATS = "{float32, float64}"
raw_sum, raw_sum_counted = _family(
    ("SparseSegmentSum", "SparseSegmentSumWithNumSegments"),
    *(0, "realnumbertype", _sum_gradient, "The sum"),
)
raw_mean, raw_mean_counted = _family(
    ("SparseSegmentMean", "SparseSegmentMeanWithNumSegments"),
    *(1, _FLOATS, _scaled_gradient("SparseSegmentMeanGrad"), "The mean"),
)
raw_sqrt_n, raw_sqrt_n_counted = _family(
    ("SparseSegmentSqrtN", "SparseSegmentSqrtNWithNumSegments"),
    *(0.5, _FLOATS, _scaled_gradient("SparseSegmentSqrtNGrad"), "The sum / sqrt(rows)"),
)


def _grad_shape(c: ShapeContext) -> TensorShape:
    _vectors(c)
    ranked(c.inputs[3], 0)
    rows = c.value(3)
    if rows is not None and rows < 0:
        raise ValueError("Cannot specify a negative value for output_dim0")
    return rows_shape(None if rows is None else int(rows), c.inputs[0])


def _check_range(what: str, values: np.ndarray, limit: int) -> None:
    outside = np.flatnonzero((values < 0) | (values >= limit))
    if outside.size:
        raise errors.invalid(f"{what} {values[outside[0]]} out of range [0, {limit}).")


def _grad_kernel(power: float) -> Callable[..., np.ndarray]:
    def kernel(
        c: KernelContext, grad: np.ndarray, indices: np.ndarray, ids: np.ndarray, dim0: np.ndarray
    ) -> np.ndarray:
        for name, given in (("indices", indices), ("segment_ids", ids)):
            if given.ndim != 1:
                raise errors.invalid(f"{name} should be a vector.")
        if len(indices) != len(ids):
            raise errors.invalid("segment_ids and indices should have same size.")
        rows = int(dim0)
        segments = grad.shape[0]
        if rows and ids.size:
            if ids[-1] >= segments:
                raise errors.invalid("Invalid number of segments")
            _check_range("Segment id", ids, segments)
            _check_range("Index", indices, rows)
        weights = _weights(ids, segments, power, grad.dtype)
        scaled = grad / weights.reshape((-1,) + (1,) * (grad.ndim - 1))
        return combine(np.add, scaled[ids], indices, rows, 0).astype(c.out_dtype())

    return kernel


for _name, _of, _power in (
    ("SparseSegmentMeanGrad", "SparseSegmentMean", 1.0),
    ("SparseSegmentSqrtNGrad", "SparseSegmentSqrtN", 0.5),
):
    define(
        _name,
        "grad: T, indices: Tidx, segment_ids: int32, output_dim0: int32 -> output: T",
        f"T: {_FLOATS}; {_TIDX}",
        shape=_grad_shape,
        kernel=_grad_kernel(_power),
        lower=lower_picked_gradient(
            _power, partial(_check_range, "Segment id"), partial(_check_range, "Index")
        ),
        gradient=NoGradient("TensorFlow registers none"),
        doc=f"The gradient of {_of} by its data.",
        test=lambda: {"values": [[_rows(), *_pick(), np.int32(3)]]},
    )


def _public(name: str, plain: OpFunction, counted: OpFunction, doc: str) -> Callable[..., Any]:
    def sparse_segment(
        data: Tensor,
        indices: TensorLike,
        segment_ids: TensorLike,
        name: str | None = None,
        num_segments: int | None = None,
    ) -> Any:
        if num_segments is None:
            return plain(data, indices, segment_ids, name=name)
        return counted(data, indices, segment_ids, num_segments, name=name)

    sparse_segment.__name__ = sparse_segment.__qualname__ = f"sparse_segment_{name}"
    sparse_segment.__doc__ = doc
    return export(f"sparse.segment_{name}", f"sparse_segment_{name}")(sparse_segment)


sparse_segment_sum = _public("sum", raw_sum, raw_sum_counted, "Sums of picked rows by segment.")
sparse_segment_mean = _public(
    "mean", raw_mean, raw_mean_counted, "Means of picked rows by segment."
)
sparse_segment_sqrt_n = _public(
    "sqrt_n",
    raw_sqrt_n,
    raw_sqrt_n_counted,
    "Sums of picked rows by segment, over the root of their number.",
)
