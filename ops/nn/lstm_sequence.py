# SPDX-License-Identifier: Apache-2.0
"""All steps of an LSTM as one op: BlockLSTM, BlockLSTMV2 and their gradients.

In a plan they are a loop (lstm_loop.py).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ...engine import errors
from ...engine.graph.build import define
from ...engine.graph.registry import NoGradient
from ...engine.types.shape import TensorShape, shape_text
from ...jit.kernel import scalar as k
from ..public import raw
from ..shape_inference import ranked
from .lstm_block import INPUTS, OUTPUTS, Sizes, check_step, step_fits
from .lstm_loop import all_gradients, all_steps
from .lstm_step import Form, Step, Weights, backward, forward
from .recurrent_maths import OnArrays, fits, require_rank

if TYPE_CHECKING:
    from ...engine.graph.inference import ShapeContext
    from ...engine.graph.kernel_context import KernelContext
    from ...engine.graph.operation import Operation
    from ...engine.graph.tensor import Tensor
    from ...jit.program.tensor_ir import Value
    from ...jit.trace.builder import Builder
    from ...jit.trace.tracer import OpView

_TYPES = "T: {half, float32}"


def _form(op: KernelContext | OpView, kind: str) -> Form:
    """The numbers of an op; the second version has another order of gates and no forget bias."""
    peephole = op.attr("use_peephole")
    if kind.endswith("Grad"):
        return Form(0.0, 0.0, peephole)
    if kind.endswith("GradV2"):
        return Form(0.0, 0.0, peephole, "ifco")
    if kind.endswith("V2"):
        return Form(0.0, op.attr("cell_clip"), peephole, "ifco")
    return Form(op.attr("forget_bias"), op.attr("cell_clip"), peephole)


def _shape(c: ShapeContext) -> list[TensorShape]:
    time, batch, _ = ranked(c.inputs[1], 3)
    (gates,) = ranked(c.inputs[8], 1)
    if gates is not None and gates % 4:
        raise ValueError(f"Dimension size must be evenly divisible by 4 but is {gates}")
    return [TensorShape([time, batch, None if gates is None else gates // 4])] * 7


def _steps(seq_len_max: Any, x: Any) -> int:
    """The number of steps to take; an error where there are fewer inputs."""
    require_rank("x", x, 3)
    if seq_len_max.ndim:
        raise errors.invalid(f"seq_len_max must be rank 0 but is rank {seq_len_max.ndim}")
    steps = int(seq_len_max)
    if steps > x.shape[0]:
        raise errors.invalid(f"seq_len_max must not be above {x.shape[0]} but is {steps}")
    return max(steps, 0)


def _kernel(kind: str) -> Callable[..., Any]:
    def kernel(
        c: KernelContext, seq_len_max: Any, x: Any, cs: Any, h: Any, *weights: Any
    ) -> tuple[np.ndarray, ...]:
        steps, given = _steps(seq_len_max, x), Weights(*weights)
        check_step(np.broadcast_to(x[:1].sum(0), x.shape[1:]), cs, h, given)
        results = tuple(np.zeros((x.shape[0], *cs.shape), x.dtype) for _ in Step._fields)
        for t in range(steps):
            step = forward(OnArrays(), _form(c, kind), given, x[t], cs, h)
            for result, value in zip(results, step):
                result[t] = value
            cs, h = step.cs, step.h
        return results

    return kernel


def _lower(kind: str) -> Callable[..., Any]:
    def lower(
        b: Builder, op: OpView, seq_len_max: Value, x: Value, cs: Value, h: Value, *weights: Value
    ) -> tuple[Value, ...]:
        given = Weights(*weights)
        b.require(x.ndim == 3 and seq_len_max.ndim == 0)
        b.require(step_fits(b, Sizes(x.shape[1:]), cs, h, given))
        return all_steps(b, _form(op, kind), given, seq_len_max, x, cs, h)

    return lower


def _gradient(op: Operation, *grads: Tensor) -> tuple[Any, ...]:
    inputs: list[Any] = [*op.inputs, *op.outputs, grads[1], grads[6]]
    inputs.append(op.get_attr("use_peephole"))
    made = (raw.BlockLSTMGradV2 if op.type.endswith("V2") else raw.BlockLSTMGrad)(*inputs)
    return None, *made


_SHAPES = [[3, 2, 3], [2, 4], [2, 4], [7, 16], [4], [4], [4], [16]]


def _values(more: int = 0) -> list[list[Any]]:
    """Inputs to test with: fewer steps than there are, and all."""
    random = np.random.RandomState(7)
    drawn = [random.uniform(-1, 1, shape).astype(np.float32) for shape in _SHAPES]
    drawn += [random.uniform(0.1, 0.9, [3, 2, 4]).astype(np.float32) for _ in range(more)]
    # What lies behind the steps that are taken is zero when the gradient gets it.
    return [[np.array(3, np.int64), *drawn]]


for _name, _attrs in (
    ("BlockLSTM", "forget_bias: float = 1.0; cell_clip: float = 3.0"),
    ("BlockLSTMV2", "cell_clip: float = 0.0"),
):
    define(
        _name,
        f"seq_len_max: int64, {INPUTS} -> {OUTPUTS}",
        f"{_attrs}; use_peephole: bool = False; {_TYPES}",
        shape=_shape,
        kernel=_kernel(_name),
        lower=_lower(_name),
        gradient=_gradient,
        doc="All steps of an LSTM along x [time, batch, inputs], with all its gradient needs.",
        test=lambda: {
            "values": _values(),
            "attrs": [{}, {"use_peephole": True}],
            # Only the memories and the outputs hand gradients on.
            "gradient": False,
        },
    )


def _grad_shape(c: ShapeContext) -> list[TensorShape]:
    ranks = (3, 2, 2, 2, 1, 1, 1, 1)
    return [TensorShape(ranked(shape, rank)) for shape, rank in zip(c.inputs[1:9], ranks)]


class _Sums:
    """Gradients of the weights, added up over the steps."""

    def __init__(self, m: Any, form: Form, weights: Weights) -> None:
        self.m, self.form, self.weights = m, form, weights
        self.totals: list[Any] = [None] * 5

    def step(
        self, x: Any, cs_prev: Any, h_prev: Any, step: Step, cs_grad: Any, h_grad: Any
    ) -> tuple[Any, Any, Any]:
        """The gradients by x, by the memory and by the output before a step."""
        m = self.m
        slopes = backward(m, self.form, self.weights, step, cs_prev, cs_grad, h_grad)
        joined = m.product(slopes.gates, self.weights.w, turn_y=True)
        w = m.product(m.join([x, h_prev]), slopes.gates, turn_x=True)
        parts = [w, *slopes[2:], m.total(slopes.gates)]
        self.totals = [
            part if total is None else m.map(k.add, total, part)
            for total, part in zip(self.totals, parts)
        ]
        inputs = x.shape[1]
        return (
            m.columns(joined, 0, inputs),
            slopes.cs_prev,
            m.columns(joined, inputs, cs_prev.shape[1]),
        )


def _check_sequences(x: Any, cs_prev: Any, sequences: Sequence[Any]) -> None:
    wanted = (x.shape[0], *cs_prev.shape)
    for value in sequences:
        if value.shape != wanted:
            raise errors.invalid(
                f"A sequence of steps must have shape {shape_text(wanted)} but has "
                f"{shape_text(value.shape)}"
            )


def _grad_kernel(kind: str) -> Callable[..., Any]:
    def kernel(
        c: KernelContext, seq_len_max: Any, x: Any, cs: Any, h: Any, *rest: Any
    ) -> tuple[Any, ...]:
        weights, sequences, (cs_grads, h_grads) = Weights(*rest[:5]), rest[5:12], rest[12:]
        steps, m = _steps(seq_len_max, x), OnArrays()
        check_step(np.broadcast_to(x[:1].sum(0), x.shape[1:]), cs, h, weights)
        _check_sequences(x, cs, rest[5:])
        sums = _Sums(m, _form(c, kind), weights)
        x_grad, cs_grad, h_grad = np.zeros_like(x), np.zeros_like(cs), np.zeros_like(h)
        for t in reversed(range(steps)):
            given = Step(*(sequence[t] for sequence in sequences))
            before = (sequences[1][t - 1], sequences[6][t - 1]) if t else (cs, h)
            grads = cs_grads[t] + cs_grad, h_grads[t] + h_grad
            x_grad[t], cs_grad, h_grad = sums.step(x[t], *before, given, *grads)
        totals = [
            np.zeros_like(like) if total is None else total
            for total, like in zip(sums.totals, rest[:5])
        ]
        return (x_grad, cs_grad, h_grad, *totals)

    return kernel


def _grad_lower(kind: str) -> Callable[..., Any]:
    def lower(
        b: Builder, op: OpView, seq_len_max: Value, x: Value, cs: Value, h: Value, *rest: Value
    ) -> tuple[Value, ...]:
        weights, sequences, (cs_grads, h_grads) = Weights(*rest[:5]), rest[5:12], rest[12:]
        b.require(x.ndim == 3 and seq_len_max.ndim == 0)
        b.require(step_fits(b, Sizes(x.shape[1:]), cs, h, weights))
        b.require(all(fits(value, [x.shape[0], *cs.shape], b.equal) for value in rest[5:]))
        given = weights, seq_len_max, x, cs, h, sequences, (cs_grads, h_grads)
        return all_gradients(b, _form(op, kind), *given)

    return lower


for _name in ("BlockLSTMGrad", "BlockLSTMGradV2"):
    define(
        _name,
        f"seq_len_max: int64, {INPUTS}, {OUTPUTS}, cs_grad: T, h_grad: T -> x_grad: T, "
        "cs_prev_grad: T, h_prev_grad: T, w_grad: T, wci_grad: T, wcf_grad: T, wco_grad: T, "
        "b_grad: T",
        f"use_peephole: bool; {_TYPES}",
        shape=_grad_shape,
        kernel=_grad_kernel(_name),
        lower=_grad_lower(_name),
        gradient=NoGradient("TensorFlow has none"),
        doc="The gradient of all steps of an LSTM.",
        test=lambda: {
            "values": _values(9),
            "attrs": [{"use_peephole": False}, {"use_peephole": True}],
        },
    )
