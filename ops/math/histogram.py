# SPDX-License-Identifier: Apache-2.0
"""Histograms with bins of equal width."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ...engine import errors
from ...engine.api import export
from ...engine.graph.build import define
from ...engine.graph.convert import convert_to_tensor
from ...engine.graph.registry import NoGradient
from ...engine.graph.scope_functions import name_scope
from ...engine.types import dtypes
from ...engine.types.shape import TensorShape
from ...jit.kernel import scalar as k
from ...jit.kernel.sizes import product
from ..public import raw, tf
from ..run_checks import error_of

if TYPE_CHECKING:
    from ...engine.graph.annotations import DTypeLike, TensorLike
    from ...engine.graph.inference import ShapeContext
    from ...engine.graph.kernel_context import KernelContext
    from ...engine.graph.tensor import Tensor
    from ...jit.program.tensor_ir import Value
    from ...jit.trace.builder import Builder
    from ...jit.trace.tracer import OpView


@export("histogram_fixed_width_bins")
def histogram_fixed_width_bins(
    values: Any,
    value_range: TensorLike,
    nbins: Any = 100,
    dtype: DTypeLike = dtypes.int32,
    name: str | None = None,
) -> Tensor:
    """The bin of each value; what lies outside of the range is in the first or the last one."""
    del dtype
    with name_scope(name, "histogram_fixed_width_bins", [values, value_range, nbins]):
        values = convert_to_tensor(values, name="values")
        shape = tf.shape(values)
        values = tf.reshape(values, [-1])
        value_range = convert_to_tensor(value_range, name="value_range")
        nbins = convert_to_tensor(nbins, dtype=dtypes.int32, name="nbins")
        count = tf.cast(nbins, values.dtype)
        scaled = tf.truediv(
            values - value_range[0], value_range[1] - value_range[0], name="scaled_values"
        )
        indices = tf.floor(count * scaled, name="indices")
        indices = tf.cast(tf.clip_by_value(indices, 0, count - 1), dtypes.int32)
        return tf.reshape(indices, shape)


def _histogram(
    c: KernelContext, values: np.ndarray, limits: np.ndarray, nbins: np.ndarray
) -> np.ndarray:
    if limits.ndim != 1:
        raise errors.invalid("value_range should be a vector.")
    if limits.size != 2:
        raise errors.invalid("value_range should be a vector of 2 elements.")
    if nbins.ndim:
        raise errors.invalid("nbins should be a scalar.")
    count = int(nbins)
    if count <= 0:
        raise errors.invalid(f"nbins should be a positive number, but got '{count}'")
    _check(values, limits)
    kind = np.float64 if values.dtype.kind == "i" else values.dtype
    low, high = limits.astype(kind)
    with np.errstate(all="ignore"):
        step = float(high - low) / count
        places = np.maximum(values.ravel(), low, dtype=kind)
        places -= low
        if not 0 < step < np.inf:  # as below
            places[...], step = 0, 1.0
        places = places.astype(np.float64, copy=False)
        places /= step
    bins = np.minimum(places, count - 1, out=places).astype(np.intp)
    return np.bincount(bins, minlength=count).astype(c.out_dtype())


def _check(values: np.ndarray, limits: np.ndarray) -> None:
    """Refuses what has no bin, and bins that have no width."""
    low, high = limits
    if not low < high:
        raise errors.invalid(
            f"value_range should satisfy value_range[0] < value_range[1], but got '[{low}, {high}]'"
        )
    if values.dtype.kind == "f" and np.isnan(values).any():
        raise errors.invalid("Histogram values must not contain NaN")


def _lower(b: Builder, op: OpView, values: Value, limits: Value, nbins: Value) -> Any:
    from ...jit import library
    from ...jit.program.tensor_ir import Axis

    known = b.known(nbins)
    if known is None or known.ndim or limits.ndim != 1:
        return NotImplemented
    count = known.item()
    if not count > 0:
        return NotImplemented
    b.require(b.equal(limits.shape[0], 2))
    low, high = (b.view(limits, (Axis(None, 1, i),), ()) for i in (0, 1))
    is_whole = values.dtype.startswith("int")

    def place(v: Any, low: Any, high: Any, count: Any) -> Any:
        if is_whole:
            v, low, high = (k.cast(number, "float64") for number in (v, low, high))
        above = k.cast(k.sub(k.maximum(v, low), low), "float64")
        step = k.div(k.cast(k.sub(high, low), "float64"), count)
        bin_of = k.minimum(k.div(above, step), k.sub(count, 1.0))
        # (Of bins without end, or so narrow that they are none, the first has all.)
        is_some = k.logical_and(k.lt(0.0, step), k.lt(step, np.inf))
        return k.cast(k.select(is_some, bin_of, 0.0), "int64")

    b.require_not(
        b.map(lambda a, z: k.logical_not(k.lt(a, z)), low, high), error_of(_check), values, limits
    )
    if not is_whole:
        is_nan = b.reduce("any", b.map(k.isnan, values), None)
        b.require_not(is_nan, error_of(_check), values, limits)
    number = b.cast(nbins, "float64")
    flat = b.reshape(b.map(place, values, low, high, number), (product(values.shape),))
    bins = library.scatter_rows(b, "add", flat, b.full(flat.shape, 1, "int64"), count)
    return bins if bins is NotImplemented else b.cast(bins, op.dtype(0))


def _shape(c: ShapeContext) -> TensorShape:
    for place, rank in ((1, 1), (2, 0)):
        if c.inputs[place].ndims not in (None, rank):
            raise ValueError(f"Shape must be rank {rank} but is rank {c.inputs[place].ndims}")
    limits, nbins = c.inputs[1], c.value(2)
    if limits.ndims is not None and limits.as_list()[0] not in (None, 2):
        raise ValueError(f"Dimension must be 2 but is {limits.as_list()[0]}")
    if nbins is not None and nbins <= 0:
        raise ValueError(f"Requires nbins > 0: {int(nbins)}")
    return TensorShape([None if nbins is None else int(nbins)])


define(
    "HistogramFixedWidth",
    "values: T, value_range: T, nbins: int32 -> out: dtype",
    "T: {int32, int64, float32, float64}; dtype: index = int32",
    shape=_shape,
    kernel=_histogram,
    lower=_lower,
    gradient=NoGradient("counts are integers"),
    dynamic_shape=True,
    doc="How many values fall into each bin.",
    test=lambda: {
        "values": [
            [
                np.array([-1, 0, 1.5, 2, 5, 15], np.float32),
                np.array([0, 5], np.float32),
                np.int32(5),
            ]
        ]
    },
)


@export("histogram_fixed_width")
def histogram_fixed_width(
    values: TensorLike,
    value_range: TensorLike,
    nbins: TensorLike = 100,
    dtype: DTypeLike = dtypes.int32,
    name: str | None = None,
) -> Tensor:
    """How many values fall into each bin; those outside of the range are in the outermost."""
    with name_scope(name, "histogram_fixed_width", [values, value_range, nbins]) as scope:
        return raw.HistogramFixedWidth(values, value_range, nbins, dtype=dtype, name=scope)
