# SPDX-License-Identifier: Apache-2.0
"""A step of a gated recurrent unit as one op: GRUBlockCell and its gradient."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...engine.graph.build import define
from ...engine.graph.registry import NoGradient
from ...engine.types.shape import TensorShape
from ...jit.kernel import scalar as k
from ..public import raw, tf
from ..shape_inference import ranked
from .recurrent_maths import (
    InPlan,
    OnArrays,
    fits,
    require_rank,
    require_size,
    slope_of_sigmoid,
    slope_of_tanh,
)

if TYPE_CHECKING:
    from ...engine.graph.inference import ShapeContext
    from ...engine.graph.kernel_context import KernelContext
    from ...engine.graph.operation import Operation
    from ...engine.graph.tensor import Tensor
    from ...jit.kernel.scalar import Operand
    from ...jit.program.tensor_ir import Value
    from ...jit.trace.builder import Builder
    from ...jit.trace.tracer import OpView

    Maths = OnArrays | InPlan

_INPUTS = "x: T, h_prev: T, w_ru: T, w_c: T, b_ru: T, b_c: T"


def _cell_shape(c: ShapeContext) -> list[TensorShape]:
    return [TensorShape([ranked(c.inputs[0], 2)[0], ranked(c.inputs[1], 2)[1]])] * 4


def _sizes(x: Any, h_prev: Any) -> dict[str, tuple[Any, ...]]:
    """The shapes of all but x."""
    batch, cells, rows = x.shape[0], h_prev.shape[1], x.shape[1] + h_prev.shape[1]
    sizes: dict[str, tuple[Any, ...]] = {"h_prev": (batch, cells), "w_ru": (rows, cells * 2)}
    sizes |= {"w_c": (rows, cells), "b_ru": (cells * 2,), "b_c": (cells,)}
    return sizes | dict.fromkeys(("r", "u", "c", "d_h"), (batch, cells))


def _check(x: Any, h_prev: Any, *rest: Any) -> None:
    require_rank("x", x, 2)
    require_rank("h_prev", h_prev, 2)
    for (name, shape), value in zip(_sizes(x, h_prev).items(), (h_prev, *rest)):
        require_rank(name, value, len(shape))
        for axis, size in enumerate(shape):
            require_size(f"{name}.dim_size({axis})", value.shape[axis], "what fits x", size)


def _require(b: Builder, x: Value, h_prev: Value, *rest: Value) -> None:
    b.require(x.ndim == h_prev.ndim == 2)
    wanted = _sizes(x, h_prev).values()
    b.require(all(fits(v, shape, b.equal) for v, shape in zip((h_prev, *rest), wanted)))


def _forward(m: Maths, x: Any, h_prev: Any, *weights: Any) -> tuple[Any, ...]:
    w_ru, w_c, b_ru, b_c = weights
    cells = h_prev.shape[1]
    gates = m.product(m.join([x, h_prev]), w_ru)
    gates = m.map(lambda g, b: k.sigmoid(k.add(g, b)), gates, m.row(b_ru))
    r, u = m.columns(gates, 0, cells), m.columns(gates, cells, cells)
    candidate = m.product(m.join([x, m.map(k.mul, h_prev, r)]), w_c)

    def body(x: Operand, b: Operand, u: Operand, h: Operand) -> tuple[Any, Any]:
        new = k.tanh(k.add(x, b))
        return new, k.add(k.mul(u, k.sub(h, new)), new)

    return r, u, *m.map(body, candidate, m.row(b_c), u, h_prev)


def _backward(m: Maths, x: Any, h_prev: Any, *rest: Any) -> tuple[Any, Any, Any, Any]:
    w_ru, w_c, _, _, r, u, c, d_h = rest
    inputs, cells = x.shape[1], h_prev.shape[1]

    def closer(u: Operand, new: Operand, h: Operand, d: Operand) -> tuple[Any, Any]:
        d_c = k.mul(k.mul(d, k.sub(1.0, u)), slope_of_tanh(new))
        return d_c, k.mul(k.mul(d, k.sub(h, new)), slope_of_sigmoid(u))

    d_c_bar, d_u_bar = m.map(closer, u, c, h_prev, d_h)
    second = m.product(d_c_bar, w_c, turn_y=True)
    d_hr = m.columns(second, inputs, cells)
    d_r_bar = m.map(lambda d, h, r: k.mul(k.mul(d, h), slope_of_sigmoid(r)), d_hr, h_prev, r)
    gates = m.join([d_r_bar, d_u_bar])
    first = m.product(gates, w_ru, turn_y=True)
    d_x = m.map(k.add, m.columns(first, 0, inputs), m.columns(second, 0, inputs))

    def back(first: Operand, d_hr: Operand, r: Operand, d: Operand, u: Operand) -> Any:
        return k.add(k.add(first, k.mul(d_hr, r)), k.mul(d, u))

    d_h_prev = m.map(back, m.columns(first, inputs, cells), d_hr, r, d_h, u)
    return d_x, d_h_prev, d_c_bar, gates


def _kernel(c: KernelContext, *inputs: Any) -> tuple[Any, ...]:
    _check(*inputs)
    return _forward(OnArrays(), *inputs)


def _lower(b: Builder, op: OpView, *inputs: Value) -> tuple[Any, ...]:
    _require(b, *inputs)
    return _forward(InPlan(b), *inputs)


def _gradient(op: Operation, *grads: Tensor) -> tuple[Any, ...]:
    x, h_prev, *_ = op.inputs
    r, u, c, _ = op.outputs
    d_x, d_h_prev, d_c_bar, gates = raw.GRUBlockCellGrad(*(*op.inputs, r, u, c, grads[3]))
    d_w_ru = tf.matmul(tf.concat([x, h_prev], 1), gates, transpose_a=True)
    d_b_ru = raw.BiasAddGrad(gates)
    d_w_c = tf.matmul(tf.concat([x, h_prev * r], 1), d_c_bar, transpose_a=True)
    return d_x, d_h_prev, d_w_ru, d_w_c, d_b_ru, raw.BiasAddGrad(d_c_bar)


_SHAPES = [[2, 3], [2, 4], [7, 8], [7, 4], [8], [4]]

define(
    "GRUBlockCell",
    f"{_INPUTS} -> r: T, u: T, c: T, h: T",
    "T: {float32}",
    shape=_cell_shape,
    kernel=_kernel,
    lower=_lower,
    gradient=_gradient,
    doc="One step of a gated recurrent unit, with all that its gradient needs.",
    # Only the output hands a gradient on.
    test=lambda: {"shapes": [_SHAPES], "dtypes": ["float32"], "gradient": False},
)


def _grad_shape(c: ShapeContext) -> list[TensorShape]:
    x, h_prev, w_ru = (ranked(shape, 2) for shape in c.inputs[:3])
    like_state = TensorShape([x[0], h_prev[1]])
    return [TensorShape(x), like_state, like_state, TensorShape([x[0], w_ru[1]])]


def _grad_kernel(c: KernelContext, *inputs: Any) -> tuple[Any, Any, Any, Any]:
    _check(*inputs)
    return _backward(OnArrays(), *inputs)


def _grad_lower(b: Builder, op: OpView, *inputs: Value) -> tuple[Any, Any, Any, Any]:
    _require(b, *inputs)
    return _backward(InPlan(b), *inputs)


define(
    "GRUBlockCellGrad",
    f"{_INPUTS}, r: T, u: T, c: T, d_h: T -> d_x: T, d_h_prev: T, d_c_bar: T, d_r_bar_u_bar: T",
    "T: {float32}",
    shape=_grad_shape,
    kernel=_grad_kernel,
    lower=_grad_lower,
    gradient=NoGradient("TensorFlow has none"),
    doc="The gradient of GRUBlockCell, but for the products with its kernels.",
    test=lambda: {"shapes": [_SHAPES + [[2, 4]] * 4], "dtypes": ["float32"]},
)
