# SPDX-License-Identifier: Apache-2.0
"""A step of an LSTM as one op: LSTMBlockCell and its gradient."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...engine.graph.build import define
from ...engine.graph.registry import NoGradient
from ...engine.record_class import record
from ...engine.types.shape import TensorShape, dimension_value
from ..public import raw, tf
from ..shape_inference import ranked
from .lstm_step import Form, Step, Weights, backward, forward
from .recurrent_maths import InPlan, OnArrays, fits, require_rank, require_size

if TYPE_CHECKING:
    from ...engine.graph.inference import ShapeContext
    from ...engine.graph.kernel_context import KernelContext
    from ...engine.graph.operation import Operation
    from ...engine.graph.tensor import Tensor
    from ...jit.program.tensor_ir import Value
    from ...jit.trace.builder import Builder
    from ...jit.trace.tracer import OpView

INPUTS = "x: T, cs_prev: T, h_prev: T, w: T, wci: T, wcf: T, wco: T, b: T"
OUTPUTS = "i: T, cs: T, f: T, o: T, ci: T, co: T, h: T"
_TYPES = "T: {half, float32}"


def form_of(op: KernelContext | OpView) -> Form:
    """The numbers of an op that computes forward."""
    return Form(op.attr("forget_bias"), op.attr("cell_clip"), op.attr("use_peephole"))


def _cell_shape(c: ShapeContext) -> list[TensorShape]:
    batch, cells = ranked(c.inputs[0], 2)[0], ranked(c.inputs[1], 2)[1]
    return [TensorShape([batch, cells])] * 7


def check_step(x: Any, cs_prev: Any, h_prev: Any, weights: Weights) -> None:
    """Errors for inputs of one step that do not fit."""
    for name, value in (("x", x), ("cs_prev", cs_prev), ("h_prev", h_prev), ("w", weights.w)):
        require_rank(name, value, 2)
    batch, cells = x.shape[0], cs_prev.shape[1]
    require_size("cs_prev.dims(0)", cs_prev.shape[0], "batch_size", batch)
    require_size("h_prev.dims(0)", h_prev.shape[0], "batch_size", batch)
    require_size("h_prev.dims(1)", h_prev.shape[1], "cell_size", cells)
    rows = x.shape[1] + cells
    require_size("w.dim_size(0)", weights.w.shape[0], "input_size + cell_size", rows)
    require_size("w.dim_size(1)", weights.w.shape[1], "cell_size * 4", cells * 4)
    for name in ("wci", "wcf", "wco"):
        value = getattr(weights, name)
        require_rank(name, value, 1)
        require_size(f"{name}.dim_size(0)", value.shape[0], "cell_size", cells)
    require_rank("b", weights.b, 1)
    require_size("b.dim_size(0)", weights.b.shape[0], "cell_size * 4", cells * 4)


@record(frozen=True)
class Sizes:
    """The shape of a value that is in no plan: one step of a sequence."""

    shape: Any

    @property
    def ndim(self) -> int:
        """How many dimensions it has."""
        return len(self.shape)


def step_fits(
    b: Builder, x: Value | Sizes, cs_prev: Value, h_prev: Value, weights: Weights
) -> bool:
    """Whether inputs of one step fit, when a plan is made."""
    if not all(value.ndim == 2 for value in (x, cs_prev, h_prev)):
        return False
    batch, cells = x.shape[0], cs_prev.shape[1]
    vectors = (weights.wci, weights.wcf, weights.wco)
    return (
        all(fits(value, [batch, cells], b.equal) for value in (cs_prev, h_prev))
        and fits(weights.w, [x.shape[1] + cells, cells * 4], b.equal)
        and all(fits(value, [cells], b.equal) for value in vectors)
        and fits(weights.b, [cells * 4], b.equal)
    )


def _kernel(c: KernelContext, x: Any, cs_prev: Any, h_prev: Any, *weights: Any) -> tuple[Any, ...]:
    given = Weights(*weights)
    check_step(x, cs_prev, h_prev, given)
    return tuple(forward(OnArrays(), form_of(c), given, x, cs_prev, h_prev))


def _lower(
    b: Builder, op: OpView, x: Value, cs_prev: Value, h_prev: Value, *weights: Value
) -> tuple[Any, ...]:
    given = Weights(*weights)
    b.require(step_fits(b, x, cs_prev, h_prev, given))
    return tuple(forward(InPlan(b), form_of(op), given, x, cs_prev, h_prev))


def _gradient(op: Operation, *grads: Tensor) -> tuple[Any, ...]:
    x, cs_prev, h_prev, w, wci, wcf, wco, b = op.inputs
    i, cs, f, o, ci, co, _ = op.outputs
    batch = dimension_value(x.get_shape().with_rank(2)[0])
    inputs = dimension_value(x.get_shape().with_rank(2)[1])
    if inputs is None:
        raise ValueError("input_size from `x` should not be None.")
    cells = dimension_value(cs_prev.get_shape().with_rank(2)[1])
    if cells is None:
        raise ValueError("cell_size from `cs_prev` should not be None.")
    cs_prev_grad, gates, wci_grad, wcf_grad, wco_grad = raw.LSTMBlockCellGrad(
        *(x, cs_prev, h_prev, w, wci, wcf, wco, b, i, cs, f, o, ci, co, grads[1], grads[6]),
        use_peephole=op.get_attr("use_peephole"),
    )
    batch = -1 if batch is None else batch
    # The kernel's rows are those of x above those of h_prev; so are the products' columns.
    joined = tf.matmul(gates, w, transpose_b=True)
    x_grad = tf.slice(joined, (0, 0), (batch, inputs))
    h_prev_grad = tf.slice(joined, (0, inputs), (batch, cells))
    w_grad = tf.matmul(tf.concat([x, h_prev], 1), gates, transpose_a=True)
    b_grad = raw.BiasAddGrad(gates)
    return x_grad, cs_prev_grad, h_prev_grad, w_grad, wci_grad, wcf_grad, wco_grad, b_grad


_SHAPES = [[2, 3], [2, 4], [2, 4], [7, 16], [4], [4], [4], [16]]

define(
    "LSTMBlockCell",
    f"{INPUTS} -> {OUTPUTS}",
    f"forget_bias: float = 1.0; cell_clip: float = 3.0; use_peephole: bool = False; {_TYPES}",
    shape=_cell_shape,
    kernel=_kernel,
    lower=_lower,
    gradient=_gradient,
    doc="One step of an LSTM, with all that its gradient needs.",
    test=lambda: {
        "shapes": [_SHAPES],
        "dtypes": ["float32"],
        "attrs": [{}, {"use_peephole": True, "cell_clip": 0.0}, {"use_peephole": True}],
        # Only the memory and the output hand gradients on.
        "gradient": False,
    },
)


def _grad_shape(c: ShapeContext) -> list[TensorShape]:
    batch, cells = ranked(c.inputs[0], 2)[0], ranked(c.inputs[1], 2)[1]
    gates = None if cells is None else 4 * cells
    return [TensorShape([batch, cells]), TensorShape([batch, gates])] + [TensorShape([cells])] * 3


def _parts(values: tuple[Any, ...]) -> tuple[Weights, Step]:
    """What the gradient's inputs behind the first three are, but for the last two."""
    return Weights(*values[:5]), Step._make((*values[5:11], None))


def _grad_kernel(
    c: KernelContext, x: Any, cs_prev: Any, h_prev: Any, *rest: Any
) -> tuple[Any, ...]:
    weights, step = _parts(rest)
    check_step(x, cs_prev, h_prev, weights)
    names = (*("i", "cs", "f", "o", "ci", "co"), "cs_grad_tensor", "h_grad_tensor")
    for name, value in zip(names, rest[5:]):
        require_rank(name, value, 2)
        require_size(f"{name}.dim_size(0)", value.shape[0], "batch_size", x.shape[0])
        require_size(f"{name}.dim_size(1)", value.shape[1], "cell_size", cs_prev.shape[1])
    form = Form(0.0, 0.0, c.attr("use_peephole"))
    return tuple(backward(OnArrays(), form, weights, step, cs_prev, *rest[11:]))


def _grad_lower(
    b: Builder, op: OpView, x: Value, cs_prev: Value, h_prev: Value, *rest: Any
) -> tuple[Any, ...]:
    weights, step = _parts(rest)
    b.require(step_fits(b, x, cs_prev, h_prev, weights))
    b.require(all(fits(value, cs_prev.shape, b.equal) for value in rest[5:]))
    form = Form(0.0, 0.0, op.attr("use_peephole"))
    return tuple(backward(InPlan(b), form, weights, step, cs_prev, *rest[11:]))


define(
    "LSTMBlockCellGrad",
    f"{INPUTS}, i: T, cs: T, f: T, o: T, ci: T, co: T, cs_grad: T, h_grad: T -> "
    "cs_prev_grad: T, dicfo: T, wci_grad: T, wcf_grad: T, wco_grad: T",
    f"use_peephole: bool; {_TYPES}",
    shape=_grad_shape,
    kernel=_grad_kernel,
    lower=_grad_lower,
    gradient=NoGradient("TensorFlow has none"),
    doc="The gradient of LSTMBlockCell, but for the products with its kernel.",
    test=lambda: {
        "shapes": [_SHAPES + [[2, 4]] * 8],
        "dtypes": ["float32"],
        "attrs": [{"use_peephole": False}, {"use_peephole": True}],
    },
)
