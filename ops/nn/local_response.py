# SPDX-License-Identifier: Apache-2.0
"""Local response normalization, and its gradient."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ...engine.api import export
from ...engine.graph.build import define
from ...engine.graph.registry import NoGradient
from ...jit.kernel import scalar as k
from ..public import raw

if TYPE_CHECKING:
    from ...engine.graph.kernel_context import KernelContext
    from ...engine.graph.operation import Operation
    from ...engine.graph.tensor import Tensor
    from ...jit.program.tensor_ir import Value
    from ...jit.trace.builder import Builder
    from ...jit.trace.tracer import OpView


def _powers(c: KernelContext, x: np.ndarray) -> np.ndarray:
    """bias + alpha times the sum of squares over neighbouring channels."""
    radius, size = c.attr("depth_radius"), x.shape[-1]
    squares = np.square(x)
    padded = np.pad(squares, [(0, 0)] * (x.ndim - 1) + [(radius, radius)])
    total: Any = sum(padded[..., i : i + size] for i in range(2 * radius + 1))
    return np.float32(c.attr("bias")) + np.float32(c.attr("alpha")) * total


def _lrn(c: KernelContext, x: np.ndarray) -> np.ndarray:
    wide = x.astype(np.float32)
    return (wide * _powers(c, wide) ** np.float32(-c.attr("beta"))).astype(x.dtype)


def _lrn_grad(c: KernelContext, dy: np.ndarray, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    alpha, beta, radius = (c.attr(n) for n in ("alpha", "beta", "depth_radius"))
    grad, wide = dy.astype(np.float32), x.astype(np.float32)
    norm, size = _powers(c, wide), x.shape[-1]
    terms = grad * y.astype(np.float32) / norm
    padded = np.pad(terms, [(0, 0)] * (x.ndim - 1) + [(radius, radius)])
    total = sum(padded[..., i : i + size] for i in range(2 * radius + 1))
    # y_i = x_i * n_i**-beta: x_j also stands in the norms n_i of its neighbours, each of which adds
    # -2 * alpha * beta * x_j * dy_i * y_i / n_i.
    result = grad * norm ** np.float32(-beta) - np.float32(2 * alpha * beta) * wide * total
    return result.astype(x.dtype)


def _neighbours(b: Builder, x: Value, radius: int) -> Value:
    """Sums over neighbouring channels."""
    before = x.ndim - 1
    padded = b.pad(x, [(0, 0)] * before + [(radius, radius)])
    starts = ([0] * before + [i] for i in range(2 * radius + 1))
    return b.fold(k.add, [b.slice(padded, start, x.shape) for start in starts])


def _lower_powers(b: Builder, op: OpView, x: Value) -> Value:
    bias, alpha = (np.float32(op.attr(name)).item() for name in ("bias", "alpha"))
    total = _neighbours(b, b.map(k.square, x), op.attr("depth_radius"))
    return b.map(lambda t: k.add(k.mul(t, alpha), bias), total)


def _power(x: Any, exponent: float) -> Any:
    """A negative power of norms, of which roots are quicker than others."""
    if exponent in (-0.5, -0.75):
        root = k.rsqrt(x)
        return root if exponent == -0.5 else k.mul(root, k.sqrt(root))
    return k.reciprocal(x) if exponent == -1 else k.pow(x, k.const_like(exponent, x))


def _lower_lrn(b: Builder, op: OpView, x: Value) -> Value:
    exponent, wide = float(np.float32(-op.attr("beta"))), b.cast(x, "float32")
    powers = _lower_powers(b, op, wide)
    return b.cast(b.map(lambda v, n: k.mul(v, _power(n, exponent)), wide, powers), x.dtype)


def _lower_lrn_grad(b: Builder, op: OpView, dy: Value, x: Value, y: Value) -> Value:
    alpha, beta, radius = (op.attr(n) for n in ("alpha", "beta", "depth_radius"))
    b.require(b.same_shape(dy, x) and b.same_shape(y, x))
    grad, wide, out = (b.cast(value, "float32") for value in (dy, x, y))
    norm = _lower_powers(b, op, wide)
    total = _neighbours(b, b.map(lambda g, o, n: k.div(k.mul(g, o), n), grad, out, norm), radius)
    exponent, factor = float(np.float32(-beta)), float(np.float32(2 * alpha * beta))

    def result(g: Any, v: Any, n: Any, t: Any) -> Any:
        return k.sub(k.mul(g, _power(n, exponent)), k.mul(k.mul(v, factor), t))

    return b.cast(b.map(result, grad, wide, norm, total), x.dtype)


_LRN = (
    "depth_radius: int = 5; bias: float = 1.0; alpha: float = 1.0; beta: float = 0.5; "
    "T: {half, bfloat16, float32} = float32"
)


def _lrn_gradient(op: Operation, grad: Tensor) -> Tensor:
    attrs = {name: op.get_attr(name) for name in ("depth_radius", "bias", "alpha", "beta")}
    return raw.LRNGrad(grad, op.inputs[0], op.outputs[0], **attrs)


lrn = define(
    "LRN",
    "input: T -> output: T",
    _LRN,
    shape=lambda c: c.inputs[0].with_rank(4),
    kernel=_lrn,
    lower=_lower_lrn,
    gradient=_lrn_gradient,
    doc="""Each element divided by a power of the sum of its neighbours' squares along the channels.

    The divisor is (bias + alpha * sum) ** beta: local response normalization.

    Args:
        input: [batch, height, width, channels]
        depth_radius: how many channels to either side count
        bias: keeps the divisor from zero
        alpha: the weight of the sum
        beta: the power

    Returns:
        It has the shape of the input.

    Raises:
        ValueError: the input is known to have another number of dimensions.

    Example:
        >>> tf.Session().run(tf.nn.lrn(tf.ones([1, 1, 1, 2]), depth_radius=1))
        array([[[[0.57735026, 0.57735026]]]], dtype=float32)
    """,
    test={"shapes": [[[1, 2, 2, 6]]], "attrs": [{"depth_radius": 2}], "gradient": True},
)
export("nn.local_response_normalization", "nn.lrn")(lrn)
define(
    "LRNGrad",
    "input_grads: T, input_image: T, output_image: T -> output: T",
    _LRN,
    shape=lambda c: c.inputs[1],
    kernel=_lrn_grad,
    lower=_lower_lrn_grad,
    gradient=NoGradient("not defined by TensorFlow"),
    doc="The gradient of LRN.",
    test={"shapes": [[[1, 2, 2, 6]] * 3], "attrs": [{"depth_radius": 2}]},
)
