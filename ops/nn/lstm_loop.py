# SPDX-License-Identifier: Apache-2.0
"""The steps of an LSTM as a loop of a plan, for sequences whose length is known in a run only.

What the steps have in common is done for all at once: the inputs' part of the gates before the
loop, and the gradients of inputs, kernel and bias behind it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ...engine import errors
from ...jit.kernel import scalar as k
from .lstm_step import Form, Step, Weights, activated, backward
from .recurrent_maths import InPlan

if TYPE_CHECKING:
    from ...jit.program.tensor_ir import Value
    from ...jit.trace.builder import Builder

_PEEPHOLES = ("wci", "wcf", "wco")


def all_steps(
    b: Builder, form: Form, weights: Weights, seq_len_max: Value, x: Value, cs: Value, h: Value
) -> tuple[Value, ...]:
    """Each part of a `Step` for all steps of x [time, batch, inputs]; zeros behind the last."""
    from ...jit.trace.counted import repeated

    time, batch, inputs = x.shape
    m, cells = InPlan(b), cs.shape[1]
    by_x, by_h = _parts(b, weights, inputs, cells)
    gates = m.product(b.reshape(x, (time * batch, inputs)), by_x)
    gates = m.map(k.add, gates, m.row(weights.b))
    rows = b.reshape(gates, (time, batch, 4 * cells))
    kept = _Rows(b, x, [(cs.shape, x.dtype)] * len(Step._fields))

    def turn(b: Builder, t: Value, carried: list[Value], given: list[Value]) -> Sequence[Value]:
        m, (rows, by_h, *others) = InPlan(b), given
        gates = m.map(k.add, b.pick(rows, t), m.product(carried[1], by_h))
        step = activated(m, form, _peepholes(others), gates, carried[0])
        kept.write(b, others[-len(step) :], t, step)
        return step.cs, step.h

    given = [rows, by_h, *_diagonals(weights), *kept.handles]
    repeated(b, _count(b, seq_len_max, x), [cs, h], given, turn)
    return kept.read(b)


def all_gradients(
    b: Builder,
    form: Form,
    weights: Weights,
    seq_len_max: Value,
    x: Value,
    cs: Value,
    h: Value,
    sequences: Sequence[Value],
    grads: Sequence[Value],
) -> tuple[Value, ...]:
    """The gradients by x, by cs and h, and by the weights.

    sequences: what `all_steps` gave; grads: the gradients by the memories and by the outputs.
    """
    from ...jit.trace.counted import repeated

    time, batch, inputs = x.shape
    m, cells = InPlan(b), cs.shape[1]
    by_x, by_h = _parts(b, weights, inputs, cells)
    count = _count(b, seq_len_max, x)
    kept = _Rows(b, x, [((batch, 4 * cells), x.dtype)])

    def turn(b: Builder, t: Value, carried: list[Value], given: list[Value]) -> Sequence[Value]:
        m, (count, cs, by_h, *others) = InPlan(b), given
        cs_grad, h_grad, *totals = carried
        place = b.map(lambda n, t: k.sub(k.sub(n, t), k.const_like(1, n)), count, t)
        *parts, by_cs, by_out = (b.pick(value, place) for value in others[3:12])
        slopes = backward(
            *(m, form, _peepholes(others), Step(*parts), _before(b, others[4], cs, place)),
            *(m.map(k.add, by_cs, cs_grad), m.map(k.add, by_out, h_grad)),
        )
        kept.write(b, others[12:], place, [slopes.gates])
        sums = [m.map(k.add, *pair) for pair in zip(totals, slopes[2:])]
        return slopes.cs_prev, m.product(slopes.gates, by_h, turn_y=True), *sums

    # The diagonals' gradients go round where there are such.
    begin = [m.zeros(cs.shape, cs), m.zeros(cs.shape, cs)]
    begin += [m.zeros([cells], cs)] * (3 if form.use_peephole else 0)
    given = [count, cs, by_h, *_diagonals(weights), *sequences, *grads, *kept.handles]
    cs_grad, h_grad, *totals = repeated(b, count, begin, given, turn)
    (gates,) = kept.read(b)
    slopes = b.reshape(gates, (time * batch, 4 * cells))
    joined = _taken(b, count, _joined(b, x, h, sequences[-1]))
    joined = b.reshape(joined, (time * batch, inputs + cells))
    x_grad = b.reshape(m.product(slopes, by_x, turn_y=True), x.shape)
    by_w = m.product(joined, slopes, turn_x=True)
    totals = totals or [m.zeros([cells], cs)] * 3
    return x_grad, cs_grad, h_grad, by_w, *totals, m.total(slopes)


def _parts(b: Builder, weights: Weights, inputs: Any, cells: Any) -> tuple[Value, Value]:
    """The rows of the kernel that are for inputs, and those for outputs of the step before."""
    by_x = b.slice(weights.w, [0, 0], [inputs, 4 * cells])
    return by_x, b.slice(weights.w, [inputs, 0], [cells, 4 * cells])


def _diagonals(weights: Weights) -> list[Value]:
    return [getattr(weights, name) for name in _PEEPHOLES]


def _peepholes(values: Sequence[Value]) -> Weights:
    wci, wcf, wco = values[:3]
    return Weights(None, wci, wcf, wco, None)


def _count(b: Builder, seq_len_max: Value, x: Value) -> Value:
    """How many steps are taken; the run fails if these are more than there are inputs."""
    time = b.size_scalar(x, [0], "int64")

    def problem(found: np.ndarray, time: np.ndarray) -> BaseException:
        return errors.invalid(f"seq_len_max must not be above {time} but is {found}")

    b.require_not(b.map(k.gt, seq_len_max, time), problem, seq_len_max, time)
    return b.map(lambda n, time: k.maximum(k.minimum(n, time), 0), seq_len_max, time)


def _before(b: Builder, sequence: Value, first: Value, place: Value) -> Value:
    """What a sequence has one step before a place; `first` before the first step."""
    last = b.map(lambda t: k.maximum(k.sub(t, k.const_like(1, t)), k.const_like(0, t)), place)
    is_first = b.map(lambda t: k.eq(t, 0), place)
    return b.map(k.select, is_first, first, b.pick(sequence, last))


def _joined(b: Builder, x: Value, h: Value, outputs: Value) -> Value:
    """What the kernel is multiplied by in all steps: [time, batch, inputs + cells]."""
    behind = b.concat([b.reshape(h, (1, *h.shape)), outputs], 0)
    before = b.slice(behind, [0, 0, 0], outputs.shape)
    return b.concat([x, before], 2)


def _taken(b: Builder, count: Value, value: Value) -> Value:
    """Zeros where no step is taken: what is there need not be finite."""
    place = b.iota((value.shape[0], 1, 1), 0, "int64")

    def chosen(t: Any, count: Any, value: Any) -> Any:
        return k.select(k.lt(t, count), value, k.const_like(0, value))

    return b.map(chosen, place, count, value)


class _Rows:
    """Arrays with a row for each step, zeros where none is written."""

    def __init__(self, b: Builder, x: Value, rows: Sequence[tuple[Any, str]]) -> None:
        from ...jit.library import arrays

        size, self.types = b.size_scalar(x, [0], "int32"), [dtype for _, dtype in rows]
        self.handles = [
            arrays.make(b, "steps", size, dtype, shape, clears=False, is_alike=True)[0]
            for shape, dtype in rows
        ]

    def write(
        self, b: Builder, handles: Sequence[Value], t: Value, values: Sequence[Value]
    ) -> None:
        """Writes a row of each, in a turn that has these handles of them."""
        from ...jit.library import arrays

        place = b.cast(t, "int32")
        for handle, value in zip(handles, values, strict=True):
            arrays.write(b, handle, place, value, _outside)

    def read(self, b: Builder) -> tuple[Value, ...]:
        """All rows of each."""
        from ...jit.library import arrays

        size = self.handles[0].cell.size
        places = b.iota((size,), 0, "int32")
        return tuple(
            arrays.gather(b, handle, places, dtype, _outside)
            for handle, dtype in zip(self.handles, self.types, strict=True)
        )


def _outside(place: np.ndarray) -> BaseException:
    return errors.invalid(f"there is no step {place}")
