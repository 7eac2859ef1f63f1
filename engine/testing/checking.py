# SPDX-License-Identifier: Apache-2.0
"""Symbolic derivatives, order by order and mode by mode, against numeric ones.

Each order's gradients are the next one's functions: the second derivatives are those of the first.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import field, replace
from typing import Any

import numpy as np

from .. import errors
from ..gradients.autodiff import gradients
from ..gradients.autodiff_sums import public
from ..graph.graph import name_scope
from ..graph.operation import Operation
from ..graph.tensor import IndexedSlices, Tensor
from ..record_class import record
from . import cones, faults
from .directions import beside, dot, nearby, normal, random_directions, wide
from .functions import Array, Feeds, Function, Input, Runner, at, loaded
from .judging import Judge
from .report import Fault, Kink, Mode, Report, Row

# How often a check moves away from kinks.
_MOVES = 4
# How the graph says that it has no such derivative: no gradient of an op, or of a gradient's loop.
_NOT_THERE = (LookupError, NotImplementedError, TypeError)


@record(frozen=True, slots=True)
class Options:
    """How much is checked: see `numbaflow.testing.check_gradients`."""

    order: int = 2
    modes: tuple[Mode, ...] = ("reverse", "forward")
    directions: int = 2
    rtol: float = 0.0
    seed: int = 0
    find_op: bool = True


@record(slots=True)
class _Found:
    """What has been found so far."""

    rows: list[Row] = field(default_factory=list)
    faults: list[Fault] = field(default_factory=list)
    kinks: list[Kink] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def note(self, text: str) -> None:
        if text not in self.notes:
            self.notes.append(text)


@record(frozen=True, slots=True)
class Level:
    """The derivatives of one order: nodes of the graph.

    `grads` of ys by the inputs, given `dys`; None where nothing arrives.  `jvps` are the
    derivatives of ys as the inputs move along `moves`, by the gradient of the gradient; None
    without any.
    """

    order: int
    ys: tuple[Tensor, ...]
    dys: tuple[Tensor, ...]
    grads: tuple[Tensor | None, ...]
    moves: tuple[Tensor | None, ...] = ()
    jvps: tuple[Tensor | None, ...] | None = None


def check(
    runner: Runner, inputs: Sequence[Input], ys: Sequence[Tensor], options: Options
) -> Report:
    """Checks the derivatives of ys by the inputs, as `options` say."""
    found = _Found()
    random = np.random.default_rng(options.seed)
    graph = ys[0].graph
    with np.errstate(all="ignore"), graph.as_default(), graph.control_dependencies(None):
        dys: Sequence[Tensor] = ()
        for order in range(1, options.order + 1):
            if order > 1 and any(map(cones.is_loop, cones.between(dys, ys))):
                found.note(f"order {order} was not checked: gradients of loops have no gradients")
                break
            level = _level(order, ys, inputs, options, found)
            if level is None:
                break
            runner = Check(runner, inputs, level, options, random, found).run()
            dys, ys = level.dys, [grad for grad in level.grads if grad is not None]
            if found.faults or not ys:
                break
    return Report(tuple(found.rows), tuple(found.faults), tuple(found.kinks), tuple(found.notes))


# The nodes


def _level(
    order: int, ys: Sequence[Tensor], inputs: Sequence[Input], options: Options, found: _Found
) -> Level | None:
    dys = tuple(_placeholder_like(y) for y in ys)
    try:
        grads = differentiate(ys, [x.key for x in inputs], dys)
    except _NOT_THERE as error:
        if order == 1:
            raise
        found.note(f"order {order} was not checked: {error}")
        return None
    level = Level(order, tuple(ys), dys, tuple(grads))
    return _with_jvps(level, found) if "forward" in options.modes else level


def _with_jvps(level: Level, found: _Found) -> Level:
    """Differentiates the gradients by what they are given: that makes forward of reverse mode."""
    moves = tuple(None if g is None else _placeholder_like(g) for g in level.grads)
    pairs = [(g, v) for g, v in zip(level.grads, moves) if g is not None]
    if not pairs:
        return level
    try:
        jvps = differentiate([g for g, _ in pairs], list(level.dys), [v for _, v in pairs])
    except _NOT_THERE as error:
        found.note(f"forward mode of order {level.order} was not checked: {error}")
        return level
    return replace(level, moves=moves, jvps=tuple(jvps))


def differentiate(ys: Sequence[Tensor], xs: Sequence[Any], dys: Sequence[Any]) -> list[Any]:
    """Gradients by xs, each as if the others were constant, as dense tensors."""
    # Copies, for a loop takes what it is given into itself, where it cannot be fed.
    given = [public("identity")(dy) for dy in dys]
    graph = ys[0].graph
    context = graph._get_control_flow_context()
    try:
        # (Loops tell by the name that ops are those of a gradient.)
        with name_scope("check_gradients"):
            grads = gradients(list(ys), list(xs), grad_ys=given, stop_gradients=list(xs))
    finally:
        graph._set_control_flow_context(context)  # where a loop refuses, the walk is inside of it
    return [_dense(grad) for grad in grads]


def _dense(grad: Any) -> Tensor | None:
    if not isinstance(grad, IndexedSlices):
        return grad
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that the dense one may be large
        return public("convert_to_tensor")(grad)


def _placeholder_like(y: Tensor) -> Tensor:
    with name_scope(""):
        return public("placeholder")(y.dtype.base_dtype, y.shape, name="check_gradients/given")


# The comparison


class Check:
    """One order: its symbolic derivatives at a point against the numeric ones there."""

    def __init__(
        self,
        runner: Runner,
        inputs: Sequence[Input],
        level: Level,
        options: Options,
        random: np.random.Generator,
        found: _Found,
    ) -> None:
        self._runner, self.inputs, self.level = runner, inputs, level
        self.options, self._random, self._found = options, random, found
        self.function = Function(runner, inputs, level.ys)
        self.base = [x.value for x in inputs]

    def run(self) -> Runner:
        """Compares, beside the point if it is a kink; the runner that later orders have."""
        weights = self._weights()
        if not self._is_repeatable():
            self._found.note(
                f"order {self.level.order} was not checked: the values differ from run to run; "
                "random ops on the way need a seed, and no state"
            )
            return self._runner
        for move in range(_MOVES + 1):
            rows, faults, kinks = self._compare(weights)
            self._found.kinks += kinks
            if not kinks or faults:
                break
            if move == _MOVES:
                self._found.note(
                    f"order {self.level.order} was not checked by all inputs: wherever it was "
                    "tried the values have kinks or are not finite"
                )
            self.base = [beside(x, move, self._random) for x in self.base]
        self._found.rows += rows
        self._found.faults += faults
        feeds = dict(zip(self.level.dys, weights, strict=True))
        return replace(self._runner, feeds={**self._runner.feeds, **feeds})

    def _is_repeatable(self) -> bool:
        runs = [self.function.values(self.base) for _ in range(2)]
        return all(np.array_equal(a, b, equal_nan=True) for a, b in zip(*runs, strict=True))

    def _weights(self) -> list[Array]:
        """What the outputs are multiplied by before they are added up: they count alike."""
        weights = []
        for y, value in zip(self.level.ys, self.function.values(self.base)):
            size = np.abs(value.astype(np.complex128))
            size = size[np.isfinite(size)]
            rms = math.sqrt(float(np.mean(size**2))) if size.size else 0.0
            drawn = normal(self._random, value.shape, y.dtype.is_complex)
            weights.append((drawn / (rms or 1.0)).astype(y.dtype.as_numpy_dtype))
        return weights

    def _compare(self, weights: Sequence[Array]) -> tuple[list[Row], list[Fault], list[Kink]]:
        doubles = [w.astype(wide(w.dtype)) for w in weights]
        try:
            gradient = self._gradient(self.base, weights)
        except errors.OpError as error:
            return [], [self._unrunnable(error)], []
        near = [
            tuple(self._gradient(point, weights) for point in pair)
            for pair in nearby(self.base, self.function.eps, self._random)
        ]
        rows: list[Row] = []
        for i, x in enumerate(self.inputs):
            wrong = self._wrong_shape(x, gradient[i])
            if wrong is not None:
                return rows, [self._blamed(wrong, weights)], []
            found = self._judged(Judge(self, i, doubles, gradient, near), i, gradient, weights)
            if isinstance(found, Kink):
                return rows, [], [found]
            if isinstance(found, Fault):
                return rows, [self._blamed(found, weights)], []
            rows += [
                Row(self.level.order, mode, x.name, self.options.directions, method, value)
                for mode, (value, method) in found.items()
            ]
        return rows, [], []

    def _judged(
        self, judge: Judge, i: int, gradient: list[Array | None], weights: Sequence[Array]
    ) -> dict[Mode, tuple[float, str]] | Fault | Kink:
        """Each mode's worst verdict on an input and its method, or what ends the comparison."""
        worst: dict[Mode, tuple[float, str]] = {}
        for direction in random_directions(self.base[i], self.options.directions, self._random):
            derivative = judge.numeric(direction)
            if not derivative.is_known:
                kink = judge.kink(direction, derivative)
                if kink is None:
                    continue
                return kink
            for mode, symbolic in self._symbolic(i, gradient, direction, weights):
                verdict = judge.verdict(symbolic, derivative, direction)
                # (What is no number is wrong, too.)
                if not verdict <= 1:
                    return judge.fault(mode, direction)
                worst[mode] = max(worst.get(mode, (0.0, "")), (verdict, derivative.method))
        return worst

    def _symbolic(
        self, i: int, gradient: list[Array | None], direction: Array, weights: Sequence[Array]
    ) -> Iterator[tuple[Mode, float]]:
        if "reverse" in self.options.modes:
            yield "reverse", dot(gradient[i], direction)
        if self.level.jvps is not None and self.level.moves[i] is not None:
            yield "forward", self.pushed(i, direction, weights)

    def pushed(self, i: int, direction: Array, weights: Sequence[Array]) -> float:
        """The derivative along a direction of one input, in forward mode."""
        level = self.level
        assert level.jvps is not None
        feeds: Feeds = dict(zip(level.dys, weights, strict=True))
        for j, (x, place) in enumerate(zip(self.base, level.moves, strict=True)):
            if place is not None:
                move = direction if i == j else np.zeros(x.shape)
                feeds[place] = move.astype(place.dtype.as_numpy_dtype)
        present = [jvp for jvp in level.jvps if jvp is not None]
        with loaded(self._runner, self.inputs, self.base):
            values = self._runner.run(present, {**at(self.inputs, self.base), **feeds})
        kept = [w for w, jvp in zip(weights, level.jvps, strict=True) if jvp is not None]
        return sum(dot(w, value) for w, value in zip(kept, values, strict=True))

    def _gradient(self, base: Sequence[Array], weights: Sequence[Array]) -> list[Array | None]:
        level = self.level
        feeds = {**at(self.inputs, base), **dict(zip(level.dys, weights, strict=True))}
        present = [grad for grad in level.grads if grad is not None]
        with loaded(self._runner, self.inputs, base):
            values = iter(self._runner.run(present, feeds))
        return [None if grad is None else np.asarray(next(values)) for grad in level.grads]

    def _unrunnable(self, error: errors.OpError) -> Fault:
        """The gradient fails where the function does not."""
        numbers = (math.nan, 1.0, *(5 * (math.nan,)))
        text = error.message.partition("\n")[0]
        op = faults.described(error.op) if isinstance(error.op, Operation) else None
        name = self.inputs[0].name
        return Fault(self.level.order, "reverse", name, (), *numbers, "a run", text, op)

    def _wrong_shape(self, x: Input, grad: Array | None) -> Fault | None:
        if grad is None or grad.shape == x.value.shape:
            return None
        text = f"its gradient has the shape {list(grad.shape)}, the input {list(x.value.shape)}"
        nan = math.nan
        return Fault(
            *(
                self.level.order,
                "reverse",
                x.name,
                (),
                nan,
                1.0,
                nan,
                nan,
                nan,
                nan,
                nan,
                "shapes",
            ),
            what=text,
        )

    def _blamed(self, fault: Fault, weights: Sequence[Array]) -> Fault:
        if not self.options.find_op:
            return fault
        level = self.level
        feeds = {**at(self.inputs, self.base), **dict(zip(level.dys, weights, strict=True))}
        runner = replace(self._runner, feeds={**self._runner.feeds, **feeds})
        xs: list[Any] = [t for x in self.inputs for t in x.fed]
        ys: Sequence[Tensor] = level.ys
        if fault.mode == "forward":
            xs, ys = list(level.dys), [grad for grad in level.grads if grad is not None]
        op = faults.find(runner, xs, ys, self.options.seed)
        return replace(fault, op=op)
