# SPDX-License-Identifier: Apache-2.0
"""The ops of `tf.contrib.periodic_resample`: sizes grow at the cost of one, which shrinks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ...engine import errors
from ...engine.graph.build import define
from ...engine.graph.registry import NoGradient
from ...engine.types.shape import TensorShape, as_shape
from ..public import raw
from ..shape_inference import known_sizes

if TYPE_CHECKING:
    from ...engine.graph.inference import ShapeContext
    from ...engine.graph.kernel_context import KernelContext
    from ...engine.graph.operation import Operation
    from ...engine.graph.tensor import Tensor
    from ...jit.program.tensor_ir import Value
    from ...jit.trace.builder import Builder
    from ...jit.trace.tracer import OpView

_NUMBERS = "T: numbertype"
_MOVED = "float32", "float64", "int32", "int64"


def _wanted(attr: Any) -> list[int]:
    """The wanted sizes, below 1 where one is left open."""
    return [-1 if size is None else size for size in as_shape(attr).as_list()]


def _target(shape: Sequence[int], wanted: Sequence[int]) -> tuple[int, tuple[int, ...]]:
    """The dimension that shrinks, and the shape of the result."""
    if len(shape) != len(wanted):
        raise errors.invalid(
            f"periodic_resample expects the rank of the input tensor, {len(shape)}, to be the same "
            f"as the length of the desired shape, {len(wanted)}."
        )
    open_ones = [i for i, size in enumerate(wanted) if size < 1]
    if len(open_ones) > 1:
        raise errors.invalid("periodic_resample expects only one index to be marked as adjustable.")
    for i, (size, new) in enumerate(zip(shape, wanted)):
        if i not in open_ones and new < size:
            raise errors.invalid(
                "periodic_resample expects the size of non-adjustable dimensions be at least as "
                f"large as size of input tensor. Dimension {i} input tensor has size {size}, "
                f"desired shape has size {new}."
            )
    if not open_ones:
        raise errors.invalid(
            "periodic_resample expects at least one index to be marked as adjustable."
        )
    axis = open_ones[0]
    others = int(np.prod([size for size in wanted if size >= 1], dtype=np.int64))
    rest = int(np.prod(shape, dtype=np.int64)) // others
    if rest <= 0:
        raise errors.invalid(
            f"periodic_resample found that the adjustable dimension, {axis}, isn't greater than "
            f"zero, {rest}."
        )
    return axis, tuple(rest if i == axis else size for i, size in enumerate(wanted))


def _places(shape: Sequence[int], wanted: Sequence[int]) -> Any:
    """The element of the input, counted row by row, that each of the result is."""
    axis, target = _target(shape, wanted)
    steps = [-(-new // size) for new, size in zip(target, shape)]
    positions = np.indices(target, dtype=np.int64)
    turns, before = np.zeros(target, np.int64), 1
    rows = []
    for i, step in enumerate(steps):
        if i != axis:
            turns += before * (positions[i] % step)
        rows.append(positions[i] // step)
        before *= step
    rows[axis] = turns * target[axis] + positions[axis]
    strides = np.cumprod([1, *shape[:0:-1]])[::-1]
    places = sum(row * stride for row, stride in zip(rows, strides))
    if places.max(initial=0) >= np.prod(shape):
        # (TensorFlow reads what lies behind the tensor.)
        raise errors.invalid(
            f"periodic_resample of shape {list(shape)} to {list(target)} would need elements that "
            "there are not; make the sizes that grow multiples of what they are."
        )
    return places


def _resampled(c: KernelContext, values: np.ndarray) -> np.ndarray:
    if values.dtype.name not in _MOVED:
        raise errors.invalid("Unsuppored tensor elements type")
    return values.reshape(-1)[_places(values.shape, _wanted(c.attr("shape")))]


def _lower(b: Builder, op: OpView, values: Value) -> Any:
    if values.dtype not in _MOVED or not all(isinstance(size, int) for size in values.shape):
        return NotImplemented
    sizes = [size for size in values.shape if isinstance(size, int)]
    at = _places(sizes, _wanted(op.attr("shape")))
    flat = b.reshape(values, (int(np.prod(sizes)),))
    return b.pick(flat, b.constant(at, "int64"), 0)


def _resampled_grad(c: KernelContext, grad: np.ndarray) -> np.ndarray:
    shape = tuple(known_sizes(as_shape(c.attr("original_shape"))))
    at = _places(shape, _wanted(c.attr("desired_shape")))
    if at.shape != grad.shape or grad.dtype.name not in _MOVED:
        raise errors.invalid(
            f"the gradient must be numbers of shape {list(at.shape)}, not {grad.dtype.name} of "
            f"{list(grad.shape)}"
        )
    result = np.zeros(int(np.prod(shape)), grad.dtype)
    # (What several elements show gets the gradient of the last, as in TensorFlow.)
    result[at.reshape(-1)] = grad.reshape(-1)
    return result.reshape(shape)


def _shape(c: ShapeContext) -> TensorShape:
    wanted = _wanted(c.attr("shape"))
    if not c.inputs[0].is_fully_defined():
        return as_shape(c.attr("shape"))
    sizes = known_sizes(c.inputs[0])
    if len(sizes) != len(wanted):
        return TensorShape(None)
    count = int(np.prod(sizes, dtype=np.int64))
    others = int(np.prod([size for size in wanted if size >= 1], dtype=np.int64))
    return TensorShape([size if size >= 1 else count // others for size in wanted])


def _gradient(op: Operation, grad: Tensor) -> Tensor:
    if not op.inputs[0].shape.is_fully_defined():
        raise ValueError(
            f"The gradient of {op.type} is made for one shape, and that of '{op.inputs[0].name}' "
            f"is partially known: {op.inputs[0].shape}"
        )
    return raw.PeriodicResampleOpGrad(
        grad, original_shape=op.inputs[0].shape, desired_shape=op.attr("shape")
    )


define(
    "PeriodicResampleOpGrad",
    "grad: T -> grad_values: T",
    f"{_NUMBERS}; original_shape: shape; desired_shape: shape",
    shape=lambda c: as_shape(c.attr("original_shape")),
    kernel=_resampled_grad,
    gradient=NoGradient("TensorFlow has no gradient of it"),
    doc="The gradient of PeriodicResample.",
    test=lambda: {
        "values": [[np.arange(12, dtype=np.float32).reshape(6, 2)]],
        "attrs": [{"original_shape": [3, 4], "desired_shape": [6, None]}],
    },
)
define(
    "PeriodicResample",
    "values: T -> output: T",
    f"{_NUMBERS}; shape: shape",
    shape=_shape,
    kernel=_resampled,
    lower=_lower,
    gradient=_gradient,
    doc="Sizes that grow, and one that shrinks: elements side by side come one upon another.",
    test=lambda: {
        "values": [[np.arange(12, dtype=np.float32).reshape(3, 4)]],
        "attrs": [{"shape": [6, None]}, {"shape": [None, 8]}],
    },
)
