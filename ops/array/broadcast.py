# SPDX-License-Identifier: Apache-2.0
"""Broadcasting: to a shape, of shapes, and the axes over which its gradient is summed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ...engine import errors
from ...engine.api import export
from ...engine.graph.build import define
from ...engine.graph.registry import NoGradient
from ...engine.graph.tensor import Tensor
from ...engine.types.shape import TensorShape, shape_text
from .. import shape_inference
from ..public import tf
from ..ranks import ranked, vector
from .shape import reshape, shape

if TYPE_CHECKING:
    from ...engine.graph.annotations import TensorLike
    from ...engine.graph.inference import ShapeContext
    from ...engine.graph.kernel_context import KernelContext
    from ...engine.graph.operation import Operation
    from ...jit.kernel.sizes import AnySize
    from ...jit.program.tensor_ir import Value
    from ...jit.trace.builder import Builder
    from ...jit.trace.tracer import OpView


def broadcast_dims(a: Any, b: Any) -> list[Any]:
    """The shape of an elementwise result; sizes may be symbolic."""
    longest = max(len(a), len(b))
    out = []
    for p, q in zip([1] * (longest - len(a)) + list(a), [1] * (longest - len(b)) + list(b)):
        if isinstance(p, int) and p == 1:
            out.append(q)
        elif (isinstance(q, int) and q == 1) or p == q:
            out.append(p)
        else:
            raise errors.invalid(f"Incompatible shapes: {shape_text(a)} vs. {shape_text(b)}")
    return out


def _broadcast_to_shape(c: ShapeContext) -> TensorShape:
    given, wanted = (
        shape_inference.dims(c.inputs[0]),
        shape_inference.dims(shape_inference.shape_value(c, 1)),
    )
    if wanted is None or given is None:
        return TensorShape(wanted)
    if len(given) > len(wanted):
        raise ValueError(f"Shape must be at most rank {len(wanted)} but is rank {len(given)}")
    for p, q in zip(reversed(given), reversed(wanted)):
        if p is not None and q is not None and p not in (1, q):
            raise ValueError(f"Dimensions must be equal, but are {p} and {q}")
    return TensorShape(wanted)


def _broadcast_to(c: KernelContext, x: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    target = tuple(wanted.reshape(-1).tolist())
    try:
        return np.broadcast_to(x, target).copy()
    except ValueError:
        raise errors.invalid(
            f"Incompatible shapes: {shape_text(x.shape)} vs. {shape_text(target)}"
        ) from None


def _lower_broadcast_to(b: Builder, op: OpView, x: Value, wanted: Value) -> Any:
    known = b.known(wanted)
    if known is None:
        return NotImplemented
    b.require(known.ndim == 1)
    return b.broadcast(x, tuple(known.tolist()))


def _broadcast_to_gradient(op: Operation, grad: Tensor) -> tuple[Any, ...]:
    input_shape = shape(op.inputs[0])
    _, axes = broadcast_gradient_args(op.inputs[1], input_shape)
    summed = tf.reduce_sum(grad, axis=axes, keepdims=True)
    return reshape(summed, input_shape), None


_broadcast_to_op = define(
    "BroadcastTo",
    "input: T, shape: Tidx -> output: T",
    "T: type; Tidx: index = int32",
    shape=_broadcast_to_shape,
    kernel=ranked(
        _broadcast_to, vector(1, "shape must be a vector of {{int32,int64}}, got shape {shape}")
    ),
    lower=_lower_broadcast_to,
    gradient=_broadcast_to_gradient,
    sizes=True,
    doc="A tensor repeated to a shape by the rules of broadcasting.",
    test=lambda: {
        "values": [[np.array([[1], [2]], np.float32), np.array([2, 3], np.int32)]],
        "gradient": True,
    },
)


def _gradient_axes(
    c: KernelContext | None, s0: np.ndarray, s1: np.ndarray
) -> tuple[np.ndarray, ...]:
    """The axes to sum over: those where one side is 1 (or missing) and the other is not.

    Where both are 1 both sides sum, as the runtime does; it changes nothing.
    """
    first, second = s0.tolist(), s1.tolist()
    count = max(len(first), len(second))
    padded = [[1] * (count - len(s)) + s for s in (first, second)]
    broadcast_dims(first, second)
    axes: tuple[list[int], list[int]] = ([], [])
    same = len(first) == len(second) and all(_is_same(p, q) for p, q in zip(first, second))
    for i, (p, q) in enumerate(zip(*padded)):
        # As TensorFlow's BCast: equal shapes need no sum, not even over axes of size one.
        if same:
            break
        missing = (i < count - len(first), i < count - len(second))
        one = tuple(isinstance(n, int) and n == 1 for n in (p, q))
        if all(one):
            axes[0].append(i)
            axes[1].append(i)
        else:
            for side in (0, 1):
                if one[side] or missing[side]:
                    axes[side].append(i)
    return tuple(
        np.array(a, dtype=s.dtype if s.dtype != object else np.int32)
        for a, s in zip(axes, (s0, s1))
    )


def _is_same(p: AnySize, q: AnySize) -> bool:
    # (What only a run knows may be one, too: it sums over that axis then, which changes nothing.)
    one = [isinstance(n, int) and n == 1 for n in (p, q)]
    return p is q or (one[0] == one[1] and bool(p == q))


def _lower_gradient_axes(b: Builder, op: OpView, s0: Value, s1: Value) -> Any:
    """For sizes that a run learns, which may be taken for equal."""
    first, second = b.known(s0), b.known(s1)
    if first is None or second is None:
        return NotImplemented
    axes = _gradient_axes(None, first, second)
    return tuple(b.constant(found.astype(op.dtype(i))) for i, found in enumerate(axes))


def _axes_shapes(c: ShapeContext) -> list[TensorShape]:
    for given in c.inputs:
        shape_inference.ranked(given, 1)
    return [shape_inference.vector(None), shape_inference.vector(None)]


_VECTORS = [vector(i, f"In[{i}] must be a vector.{{shape}}") for i in (0, 1)]
broadcast_gradient_args = define(
    "BroadcastGradientArgs",
    "s0: T, s1: T -> r0: T, r1: T",
    "T: index = int32",
    shape=_axes_shapes,
    kernel=ranked(_gradient_axes, *_VECTORS),
    lower=_lower_gradient_axes,
    gradient=NoGradient("axes are integers", silent=True),
    sizes=True,
    dynamic_shape=True,
    doc="The axes over which the gradients of two broadcast inputs are summed.",
    test=lambda: {"values": [[np.array([2, 1, 3], np.int32), np.array([4, 1], np.int32)]]},
)


def _broadcast_args_shape(c: ShapeContext) -> TensorShape:
    sizes = [shape_inference.ranked(s, 1)[0] for s in c.inputs]
    known = [size for size in sizes if size is not None]
    return shape_inference.vector(None if len(known) < len(sizes) else max(known))


_broadcast_args = define(
    "BroadcastArgs",
    "s0: T, s1: T -> r0: T",
    "T: index = int32",
    shape=_broadcast_args_shape,
    kernel=ranked(
        lambda c, s0, s1: shape_inference.size_array(c, broadcast_dims(s0.tolist(), s1.tolist())),
        *_VECTORS,
    ),
    gradient=NoGradient("shapes are integers"),
    sizes=True,
    doc="The shape that two shapes broadcast to.",
    test=lambda: {"values": [[np.array([2, 1, 3], np.int32), np.array([4, 1], np.int32)]]},
)


@export("broadcast_to")
def broadcast_to(input: TensorLike, shape: TensorLike, name: str | None = None) -> Tensor:
    """`input` repeated to `shape` by the rules of broadcasting."""
    return _broadcast_to_op(input, shape, name=name)


@export("broadcast_dynamic_shape")
def broadcast_dynamic_shape(shape_x: TensorLike, shape_y: TensorLike) -> Tensor:
    """The shape, as a tensor, that two shape tensors broadcast to."""
    return _broadcast_args(shape_x, shape_y)
