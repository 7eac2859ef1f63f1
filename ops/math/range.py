# SPDX-License-Identifier: Apache-2.0
"""Sequences: Range, LinSpace, and Bucketize, which places values among boundaries."""

from __future__ import annotations

import functools
import math
from typing import TYPE_CHECKING, Any

import numpy as np

from ...engine import errors
from ...engine.api import export
from ...engine.graph.build import define
from ...engine.graph.convert import convert_to_tensor
from ...engine.graph.registry import NoGradient
from ...engine.graph.scope_functions import name_scope
from ...engine.types import dtypes
from ...engine.types.shape import TensorShape, shape_text
from ...jit.kernel import scalar as k
from ...jit.kernel.sizes import ceil_div, is_positive
from ..elementwise import first_shape, is_integer
from ..public import tf

if TYPE_CHECKING:
    from ...engine.graph.annotations import DTypeLike, TensorLike
    from ...engine.graph.inference import ShapeContext
    from ...engine.graph.kernel_context import KernelContext
    from ...jit.program.tensor_ir import Value
    from ...jit.trace.builder import Builder
    from ...jit.trace.tracer import OpView

# Boundaries that one map compares with.
_MOST_BOUNDARIES = 64
# More elements than any memory holds; NumPy's error for them would not say so.
_TOO_LARGE = 1 << 44
_NONE = NoGradient("a sequence is not differentiated", silent=True)


def _scalars(c: ShapeContext, names: tuple[str, ...]) -> None:
    for shape, name in zip(c.inputs, names, strict=True):
        if shape.ndims not in (0, None):
            text = f"Shape must be rank 0 but is rank {shape.ndims}\n\t for '{name}'"
            raise ValueError(text)


def _range_size(start: Any, limit: Any, delta: Any) -> int:
    if delta == 0:
        raise ValueError("Requires delta != 0")
    if start > limit and delta > 0:
        raise ValueError(f"Requires start <= limit when delta > 0: {start}/{limit}")
    if start < limit and delta < 0:
        raise ValueError(f"Requires start >= limit when delta < 0: {start}/{limit}")
    if isinstance(start, (int, np.integer)):
        # The quotient rounded up, in integers: floats would round large ones.
        return -((int(limit) - int(start)) // -int(delta))
    return math.ceil(abs((limit - start) / delta))


def _range_shape(c: ShapeContext) -> TensorShape:
    _scalars(c, ("start", "limit", "delta"))
    start, limit, delta = (c.value(i) for i in (0, 1, 2))
    if start is None or limit is None or delta is None:
        return TensorShape([None])
    return TensorShape([_range_size(start[()], limit[()], delta[()])])


def _range_kernel(
    c: KernelContext, start: np.ndarray, limit: np.ndarray, delta: np.ndarray
) -> np.ndarray:
    for name, value in (("start", start), ("limit", limit), ("delta", delta)):
        if value.ndim:
            text = f"{name} must be a scalar, not shape {list(value.shape)}"
            raise errors.invalid(text)
    first, last, step = start[()], limit[()], delta[()]
    try:
        if any(x.dtype == object for x in (start, limit, delta)):
            return _symbolic_range(first, last, step)
        size = _range_size(first, last, step)
    except ValueError as error:
        raise errors.invalid(str(error)) from None
    if size > _TOO_LARGE:
        raise errors.resource_exhausted(f"OOM when allocating shape[{size}]")
    if start.dtype.kind in "iu":
        return (first + np.arange(size) * int(step)).astype(start.dtype)
    # TensorFlow adds the step up; rounding follows it.
    steps = np.full(size, step, start.dtype)
    steps[:1] = first
    return np.add.accumulate(steps, dtype=start.dtype) if size else steps


def _symbolic_range(start: Any, limit: Any, delta: Any) -> np.ndarray:
    """The range between sizes: its length must be a plain number."""
    step = int(delta)
    size = _range_size(0, int(limit - start), step)
    return np.array([start + i * step for i in range(size)], object)


def _range_lower(b: Builder, op: OpView, start: Value, limit: Value, delta: Value) -> Any:
    first, last, step = (b.known(v) for v in (start, limit, delta))
    if op.dtype(0) not in ("int32", "int64") or first is None or last is None or step is None:
        return NotImplemented
    apart, by = _plain(last[()] - first[()]), _plain(step[()])
    if isinstance(by, int) and by < 0:
        apart, by = -apart, -by
    if not is_positive(by) and not by > 0:
        return NotImplemented
    index = b.iota((ceil_div(apart, by),), 0, op.dtype(0))
    if not isinstance(by, int) or step[()] != 1:
        index = b.map(k.mul, index, delta)
    return index if first.dtype != object and first == 0 else b.map(k.add, index, start)


def _plain(size: Any) -> Any:
    return int(size) if isinstance(size, np.integer) else size


raw_range = define(
    "Range",
    "start: Tidx, limit: Tidx, delta: Tidx -> output: Tidx",
    "Tidx: {bfloat16, float32, float64, int32, int64} = int32",
    shape=_range_shape,
    kernel=_range_kernel,
    lower=_range_lower,
    gradient=_NONE,
    sizes=True,
    test=lambda: {
        "values": [
            [np.int32(0), np.int32(5), np.int32(1)],
            [np.int32(7), np.int32(1), np.int32(-2)],
            [np.float32(0), np.float32(1), np.float32(0.25)],
        ]
    },
    doc="Numbers from start up to limit (which is left out), delta apart.",
)


@export("range")
def range_(
    start: TensorLike,
    limit: TensorLike | None = None,
    delta: TensorLike = 1,
    dtype: DTypeLike | None = None,
    name: str | None = "range",
) -> Any:
    """start, start + delta, … up to but without limit, as Python's range.

    Args:
        start: a scalar; the limit if it is the only one, and 0 the start.
        limit: a scalar.
        delta: a scalar, which may be negative.
        dtype: int32, int64, bfloat16, float32 or float64; that of the arguments if None, where
            they differ the last of these.
        name: of the operation.

    Returns:
        A vector of that dtype.

    Raises:
        TypeError: the dtype is none of these.
        ValueError: an argument is no scalar, or delta does not lead to the limit.
        InvalidArgumentError: the same, where only a run knows the arguments.

    Example:
        >>> tf.Session().run([tf.range(3), tf.range(10, 4, -2)])
        [array([0, 1, 2], dtype=int32), array([10,  8,  6], dtype=int32)]
    """
    if limit is None:
        start, limit = 0, start
    with name_scope(name, "Range", [start, limit, delta]) as name:
        start = convert_to_tensor(start, dtype=dtype, name="start")
        limit = convert_to_tensor(limit, dtype=dtype, name="limit")
        delta = convert_to_tensor(delta, dtype=dtype, name="delta")
        if dtype is None:
            order = [dtypes.int32, dtypes.int64, dtypes.float32, dtypes.float64]
            parts = (start, limit, delta)
            assert all(part.dtype in order for part in parts)
            widest = max((part.dtype for part in parts), key=order.index)
            start, limit, delta = (tf.cast(part, widest) for part in parts)
        return raw_range(start, limit, delta, name=name)


range_.__name__ = range_.__qualname__ = "range"


def _linspace_shape(c: ShapeContext) -> TensorShape:
    _scalars(c, ("start", "stop", "num"))
    num = c.value(2)
    if num is not None and num <= 0:
        raise ValueError(f"Requires num > 0: {num}")
    return TensorShape([None if num is None else int(num)])


def _linspace_kernel(
    c: KernelContext, start: np.ndarray, stop: np.ndarray, num: np.ndarray
) -> np.ndarray:
    for name, given in (("start", start), ("stop", stop), ("num", num)):
        if given.ndim:
            raise errors.invalid(f"{name} must be a scalar, not shape {shape_text(given.shape)}")
    count, dtype = int(num), c.out_dtype()
    if count <= 0:
        raise errors.invalid(f"Requires num > 0: {count}")
    if count == 1:
        return start.reshape(1)
    step = ((stop - start) / np.asarray(count - 1, dtype)).astype(dtype)
    values = (start + step * np.arange(count).astype(dtype)).astype(dtype)
    # start + step * (num - 1) may round to another number.
    values[-1] = stop
    return values


def _lower_linspace(b: Builder, op: OpView, start: Value, stop: Value, num: Value) -> Any:
    known = b.known(num)
    if known is None or start.dtype == "bfloat16":
        return NotImplemented
    count = known.item()
    b.require(count > 0)
    if b.equal(count, 1):
        return b.reshape(start, [1])
    last = b.constant(count - 1, "int64")

    def value(start: Any, stop: Any, last: Any, i: Any) -> Any:
        step = k.div(k.sub(stop, start), k.cast(last, start.dtype))
        found = k.add(start, k.mul(step, k.cast(i, start.dtype)))
        return k.select(k.eq(i, last), stop, found)

    return b.map(value, start, stop, last, b.iota([count], 0, "int64"))


linspace = define(
    "LinSpace",
    "start: T, stop: T, num: Tidx -> output: T",
    "T: {bfloat16, float32, float64}; Tidx: {int32, int64} = int32",
    shape=_linspace_shape,
    kernel=_linspace_kernel,
    lower=_lower_linspace,
    gradient=_NONE,
    test=lambda: {"values": [[np.float32(0), np.float32(1), np.int32(5)]]},
    doc="""num numbers from start to stop, both included, evenly spaced.

    Args:
        start: the first number, a scalar
        stop: the last number, a scalar
        num: how many, a scalar

    Returns:
        It is a vector.

    Raises:
        ValueError: an argument is no scalar, or num is known not to be positive.
        InvalidArgumentError: a run's num is not positive.

    Example:
        >>> tf.Session().run(tf.linspace(0.0, 1.0, 5))
        array([0.  , 0.25, 0.5 , 0.75, 1.  ], dtype=float32)
    """,
)
export("lin_space", "linspace")(linspace)


def _bucketize_kernel(c: KernelContext, x: np.ndarray) -> np.ndarray:
    boundaries = np.asarray(c.attr("boundaries"), np.float32)
    if (np.diff(boundaries) < 0).any():
        raise errors.invalid("Expected sorted boundaries")
    # C++ converts an integer to float for the comparison; NumPy would convert both to float64.
    x = x.astype(np.float32) if is_integer(x) else x
    return np.searchsorted(boundaries, x, side="right").astype(np.int32)


def _lower_bucketize(b: Builder, op: OpView, x: Value) -> Any:
    boundaries = np.asarray(op.attr("boundaries"), np.float32).tolist()
    if not 0 < len(boundaries) <= _MOST_BOUNDARIES or boundaries != sorted(boundaries):
        return NotImplemented
    wide = x.dtype if x.dtype.startswith("float") else "float64"

    def count(v: Any) -> Any:
        v = k.cast(v, wide)
        # (NaN is below nothing.)
        reached = [k.cast(k.logical_not(k.lt(v, boundary)), "int32") for boundary in boundaries]
        return functools.reduce(k.add, reached)

    return b.map(count, x)


bucketize = define(
    "Bucketize",
    "input: T -> output: int32",
    "T: {int32, int64, float32, float64}; boundaries: list(float)",
    shape=first_shape,
    kernel=_bucketize_kernel,
    lower=_lower_bucketize,
    gradient=NoGradient("TensorFlow registers none"),
    test={"attrs": [{"boundaries": [0.0, 1.0]}]},
    doc="The number of boundaries that each element is not below.",
)
