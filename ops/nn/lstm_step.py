# SPDX-License-Identifier: Apache-2.0
"""One step of an LSTM, there and back: what LSTMBlockCell and BlockLSTM are made of."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from ...engine.record_class import record
from ...jit.kernel import scalar as k
from .recurrent_maths import InPlan, OnArrays, slope_of_sigmoid, slope_of_tanh

if TYPE_CHECKING:
    from ...jit.kernel.scalar import Operand

    Maths = OnArrays | InPlan


class Step(NamedTuple):
    """What a step gives: the gates, the memory `cs`, tanh of both, and the output `h`."""

    i: Any
    cs: Any
    f: Any
    o: Any
    ci: Any
    co: Any
    h: Any


class Slopes(NamedTuple):
    """The gradients of a step by the memory before it, by the gates, and by the peepholes."""

    cs_prev: Any
    gates: Any
    wci: Any
    wcf: Any
    wco: Any


@record(frozen=True)
class Weights:
    """The kernel [inputs + cells, 4 cells], peepholes [cells] and the bias [4 cells]."""

    w: Any
    wci: Any
    wcf: Any
    wco: Any
    b: Any


@record(frozen=True)
class Form:
    """Which LSTM: the numbers that it adds and clips by, and the order of its gates.

    order: what the four parts of the kernel's columns are for: input, cell, forget, output.
    """

    forget_bias: float
    cell_clip: float
    use_peephole: bool
    order: str = "icfo"


def forward(m: Maths, form: Form, weights: Weights, x: Any, cs_prev: Any, h_prev: Any) -> Step:
    """One step."""
    gates = m.product(m.join([x, h_prev]), weights.w)
    return activated(m, form, weights, m.map(k.add, gates, m.row(weights.b)), cs_prev)


def activated(m: Maths, form: Form, weights: Weights, gates: Any, cs_prev: Any) -> Step:
    """One step whose gates [batch, 4 cells] are there, but for the peepholes."""
    cells = cs_prev.shape[1]
    parts = [m.columns(gates, form.order.index(gate) * cells, cells) for gate in "icfo"]
    peepholes = [m.row(p) for p in (weights.wci, weights.wcf, weights.wco)]

    def body(
        i: Operand, j: Operand, f: Operand, o: Operand, cs_prev: Operand, *diagonals: Operand
    ) -> Step:
        f = k.add(f, form.forget_bias)
        if form.use_peephole:
            wci, wcf, wco = diagonals
            i = k.add(i, k.mul(cs_prev, wci))
            f = k.add(f, k.mul(cs_prev, wcf))
        i, f, ci = k.sigmoid(i), k.sigmoid(f), k.tanh(j)
        cs = k.add(k.mul(i, ci), k.mul(f, cs_prev))
        if form.cell_clip > 0:
            cs = k.minimum(k.maximum(cs, -form.cell_clip), form.cell_clip)
        if form.use_peephole:
            o = k.add(o, k.mul(cs, wco))
        o, co = k.sigmoid(o), k.tanh(cs)
        return Step(i, cs, f, o, ci, co, k.mul(o, co))

    return Step(*m.map(body, *parts, cs_prev, *(peepholes if form.use_peephole else ())))


def backward(
    m: Maths, form: Form, weights: Weights, step: Step, cs_prev: Any, cs_grad: Any, h_grad: Any
) -> Slopes:
    """The gradients of a step whose outputs have the gradients cs_grad and h_grad."""
    peepholes = [m.row(p) for p in (weights.wci, weights.wcf, weights.wco)]

    def body(*values: Operand) -> tuple[Any, ...]:
        i, cs, f, o, ci, co, cs_prev, cs_grad, h_grad, *diagonals = values
        do = k.mul(k.mul(slope_of_sigmoid(o), h_grad), co)
        dcs = k.add(k.mul(k.mul(slope_of_tanh(co), h_grad), o), cs_grad)
        if form.use_peephole:
            wci, wcf, wco = diagonals
            dcs = k.add(dcs, k.mul(do, wco))
        dci = k.mul(k.mul(slope_of_tanh(ci), dcs), i)
        df = k.mul(k.mul(slope_of_sigmoid(f), dcs), cs_prev)
        di = k.mul(k.mul(slope_of_sigmoid(i), dcs), ci)
        back = k.mul(dcs, f)
        if not form.use_peephole:
            return back, di, dci, df, do
        back = k.add(k.add(back, k.mul(di, wci)), k.mul(df, wcf))
        return back, di, dci, df, do, k.mul(di, cs_prev), k.mul(df, cs_prev), k.mul(do, cs)

    diagonals = peepholes if form.use_peephole else []
    back, di, dci, df, do, *sums = m.map(body, *step[:6], cs_prev, cs_grad, h_grad, *diagonals)
    by_letter = dict(zip("icfo", (di, dci, df, do)))
    gates = m.join([by_letter[letter] for letter in form.order])
    if not sums:
        none = m.zeros([cs_prev.shape[1]], cs_prev)
        return Slopes(back, gates, none, none, none)
    return Slopes(back, gates, *(m.total(part) for part in sums))
