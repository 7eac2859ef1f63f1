# SPDX-License-Identifier: Apache-2.0
"""Slice: a box of a tensor, by its corner and its size."""

from __future__ import annotations

import builtins
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ...engine import errors
from ...engine.api import export
from ...engine.graph.build import define
from ...engine.graph.tensor import Tensor
from ...engine.types.shape import TensorShape, shape_text
from ...jit.kernel.sizes import fits
from .. import shape_inference
from ..public import tf
from . import moving_slices
from .join import concat
from .row_shapes import slice_rows
from .shape import rank, reshape, shape
from .slice_ranges import Range
from .stack import stack

if TYPE_CHECKING:
    from ...engine.graph.annotations import TensorLike
    from ...engine.graph.inference import ShapeContext
    from ...engine.graph.kernel_context import KernelContext
    from ...engine.graph.operation import Operation
    from ...jit.kernel.sizes import AnySize
    from ...jit.program.tensor_ir import Value
    from ...jit.trace.builder import Builder
    from ...jit.trace.tracer import OpView


def _slice_shape(c: ShapeContext) -> TensorShape:
    given = shape_inference.dims(c.inputs[0])
    shape_inference.ranked(c.inputs[1], 1)
    shape_inference.ranked(c.inputs[2], 1)
    merged = shape_inference.merge(c.inputs[1], c.inputs[2])
    count = None if merged.ndims is None else merged.as_list()[0]
    if given is not None and count is not None and len(given) != count:
        raise ValueError(f"Shape must be rank {count} but is rank {len(given)}")
    count = len(given) if given is not None else count
    if count is None:
        return shape_inference.unknown()
    given = given or [None] * count
    size = c.value(2)
    if size is None:
        return _sizes_of_slice(c, count)
    # Begins may be known in part.
    begin = shape_inference.dims(c.value_as_shape(1)) or [None] * count
    out = []
    for start, whole, length in zip(begin, given, size.tolist()):
        if length != -1:
            out.append(length)
        elif start is None or whole is None:
            out.append(None)
        else:
            out.append(whole - start)
            if out[-1] < 0:
                raise ValueError(
                    f"Negative dimension size caused by subtracting {start} from {whole}"
                )
    return TensorShape(out)


def _sizes_of_slice(c: ShapeContext, count: int) -> TensorShape:
    known = c.value_as_shape(2)
    return known if known.ndims == count else shape_inference.of_rank(count)


def _slice_ranges(
    shape_: Sequence[AnySize], begin: np.ndarray, size: np.ndarray
) -> tuple[list[Any], list[Any]]:
    if begin.shape != (len(shape_),) or size.shape != (len(shape_),):
        raise errors.invalid(
            "Expected begin and size arguments to be 1-D tensors of size "
            f"{len(shape_)}, but got shapes {shape_text(begin.shape)} and "
            f"{shape_text(size.shape)} instead."
        )
    starts, sizes = begin.tolist(), size.tolist()
    for i, whole in enumerate(shape_):
        # (A size that a run has found may be -1 as well.)
        if not sizes[i] >= 0 and sizes[i] >= -1:
            sizes[i] = whole - starts[i]
        if not (starts[i] >= 0 and fits(starts[i], whole)):
            raise errors.invalid(f"Expected begin[{i}] in [0, {whole}], but got {starts[i]}")
        if not (sizes[i] >= 0 and fits(starts[i] + sizes[i], whole)):
            raise errors.invalid(
                f"Expected size[{i}] in [0, {whole - starts[i]}], but got {sizes[i]}"
            )
    return starts, sizes


def _slice_kernel(
    c: KernelContext, x: np.ndarray, begin: np.ndarray, size: np.ndarray
) -> np.ndarray:
    starts, sizes = _slice_ranges(x.shape, begin, size)
    return x[tuple(builtins.slice(start, start + n) for start, n in zip(starts, sizes))]


def _lower_slice(b: Builder, op: OpView, x: Value, begin: Value, size: Value) -> Value:
    first, count = b.known(begin), b.known(size)
    if first is None or count is None:
        b.require(begin.shape == size.shape == (x.ndim,))
        return moving_slices.taken(b, x, [_box_side(b, x, begin, size, i) for i in range(x.ndim)])
    starts, sizes = _slice_ranges(x.shape, first, count)
    return b.slice(x, tuple(starts), tuple(sizes))


def _box_side(b: Builder, x: Value, begin: Value, size: Value, axis: int) -> Any:
    """What is taken of one dimension, as far as that is known."""
    start: Any
    count: Any
    start, count = (moving_slices.bound(b, vector, (axis,)) for vector in (begin, size))
    whole = x.shape[axis]
    if not moving_slices.is_moving(count) and count == -1:
        count = moving_slices.rest(b, whole, start)
    if not any(map(moving_slices.is_moving, (start, count))):
        b.require(0 <= start <= whole and count >= 0 and start + count <= whole)
        return Range(start, 1, count)
    return moving_slices.box_side(b, whole, start, count, axis)


def _slice_gradient(op: Operation, grad: Tensor) -> tuple[Any, ...]:
    x, begin = op.inputs[0], op.inputs[1]
    ranks = rank(x)
    size = shape(op.outputs[0])
    # The gradient is zero around the box: padded by what lies before and behind it.
    column = stack([ranks, 1])
    before = reshape(begin, column)
    after = reshape(shape(x) - size - begin, column)
    return tf.pad(grad, concat([before, after], 1)), None, None


_slice = define(
    "Slice",
    "input: T, begin: Index, size: Index -> output: T",
    "T: type; Index: index",
    shape=_slice_shape,
    kernel=_slice_kernel,
    rows=slice_rows,
    lower=_lower_slice,
    gradient=_slice_gradient,
    sizes=True,
    doc="A box of a tensor, by its corner and its size; size -1 means up to the end.",
    test=lambda: {
        "values": [
            [
                np.arange(12, dtype=np.float32).reshape(3, 4),
                np.array([1, 0], np.int32),
                np.array([2, -1], np.int32),
            ]
        ],
        "gradient": True,
    },
)


@export("slice")
def slice(
    input_: TensorLike, begin: TensorLike, size: TensorLike, name: str | None = None
) -> Tensor:
    """A box out of a tensor.

    Args:
        input_: a tensor of any dtype.
        begin: where the box starts: one index per dimension, a vector of int32 or int64.
        size: how large it is, of the same dtype; -1 for all up to the end.
        name: of the operation.

    Returns:
        A Tensor of the dtype of `input_`, of the shape `size`.

    Raises:
        ValueError: there is not one index and size per dimension.
        InvalidArgumentError: the box does not lie within the tensor.

    Example:
        >>> tf.Session().run(tf.slice([[1, 2, 3], [4, 5, 6]], begin=[0, 1], size=[-1, 2]))
        array([[2, 3],
               [5, 6]], dtype=int32)
    """
    return _slice(input_, begin, size, name=name)
