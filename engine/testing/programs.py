# SPDX-License-Identifier: Apache-2.0
"""Small graphs as data: ops of the registry one after the other, and the Python for them."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from .. import settings
from ..gradients.autodiff_sums import public
from ..graph import registry
from ..graph.build import build_op
from ..graph.graph import Graph
from ..graph.registry import OpDef
from ..graph.tensor import Tensor
from ..record_class import record
from ..types import dtypes

Array = np.ndarray[Any, Any]
# Values of a well-conditioned program are no larger.
_LARGEST = 1e3


@functools.cache
def composable() -> dict[str, int]:
    """Types of ops that map tensors of one shape and type to another one, and their inputs' number.

    Those are elementwise, have gradients, and no attribute but the type.
    """
    return {op.name: len(op.inputs) for op in registry.definitions() if _is_composable(op)}


def _is_composable(op: OpDef) -> bool:
    kinds = {arg.type_attr for arg in (*op.inputs, *op.outputs)}
    if not op.elementwise or not callable(op.gradient) or len(op.outputs) != 1 or len(kinds) != 1:
        return False
    (kind,) = kinds
    if kind is None or len(op.attrs) != 1 or any(arg.number_attr for arg in op.inputs):
        return False
    allowed = op.attr(kind).allowed
    return op.kernel is not None and (allowed is None or dtypes.float64 in allowed)


@record(frozen=True, slots=True)
class Step:
    """One op and the numbers of the values that it takes: first inputs, then what steps gave."""

    op: str
    inputs: tuple[int, ...]


@record(frozen=True)
class Program:
    """A function of tensors that are all of one shape: its last step's value.

    `arrays` are where it is looked at; `around` says that the steps stand in a branch ("cond") or
    in a loop of two turns ("while").  Its repr is a program that makes and checks it.
    """

    arrays: tuple[Array, ...]
    steps: tuple[Step, ...]
    around: str = ""

    def __call__(self, *xs: Tensor) -> Tensor:
        """Adds the nodes for inputs."""
        if self.around == "cond":
            return public("cond")(_is_true(xs[0]), lambda: self._body(*xs), lambda: -xs[0])
        if self.around == "while":
            loop = public("while_loop")
            turn = lambda i, x: (i + 1, self._body(x, *xs[1:]))  # noqa: E731
            return loop(lambda i, x: i < 2, turn, [0, xs[0]])[1]
        return self._body(*xs)

    def _body(self, *xs: Tensor) -> Tensor:
        values = list(xs)
        for step in self.steps:
            names = [arg.name for arg in registry.lookup(step.op).inputs]
            inputs = dict(zip(names, (values[k] for k in step.inputs), strict=True))
            values.append(build_op(step.op, inputs, {}).outputs[0])
        return values[-1]

    def values(self) -> list[Array]:
        """What each step gives at the arrays."""
        with np.errstate(all="ignore"), settings.override(jit="never"), Graph().as_default():
            places: list[Any] = [public("constant")(x) for x in self.arrays]
            for step in self.steps:
                names = [arg.name for arg in registry.lookup(step.op).inputs]
                inputs = dict(zip(names, (places[k] for k in step.inputs), strict=True))
                places.append(build_op(step.op, inputs, {}).outputs[0])
            with public("Session")() as session:
                return session.run(places[len(self.arrays) :]) if self.steps else []

    def well_conditioned(self) -> Program:
        """Without the steps whose values, or whose slopes, are infinite, NaN or large."""
        kept: list[Step] = []
        renamed = {k: k for k in range(len(self.arrays))}
        for k, step in enumerate(self.steps, len(self.arrays)):
            candidate = Step(step.op, tuple(renamed[j] for j in step.inputs))
            value = Program(self.arrays, (*kept, candidate)).values()[-1]
            if np.all(np.isfinite(value)) and np.all(np.abs(value) < _LARGEST):
                kept.append(candidate)
                renamed[k] = len(self.arrays) + len(kept) - 1
            else:
                renamed[k] = renamed[step.inputs[0]]
        return Program(self.arrays, tuple(kept) or (self._identity(),), self.around)

    def _identity(self) -> Step:
        """What is left when nothing is: the simplest of all ops."""
        return Step(
            min(name for name, count in composable().items() if count == 1 and _safe(name)), (0,)
        )

    @property
    def source(self) -> str:
        """Python that makes the program and checks its gradients."""
        names = [f"x{k}" for k in range(len(self.arrays))]
        lines = [f"def f({', '.join(names)}):"]
        indent = "    "
        if self.around == "cond":
            lines.append(f"    def branch({', '.join(n + '=' + n for n in names)}):")
            indent = 2 * indent
        elif self.around == "while":
            lines.append("    def turn(i, x0):")
            indent = 2 * indent
        values = list(names)
        for step in self.steps:
            arguments = [arg.name for arg in registry.lookup(step.op).inputs]
            given = ", ".join(f"{a}={values[k]}" for a, k in zip(arguments, step.inputs))
            values.append(f"y{len(values) - len(names)}")
            lines.append(f"{indent}{values[-1]} = tf.raw_ops.{step.op}({given})")
        lines += self._ending(indent, values[-1])
        given = ", ".join(f"np.array({x.tolist()!r})" for x in self.arrays)
        return "\n".join([*lines, f"testing.check_gradients(f, {given})"])

    def _ending(self, indent: str, last: str) -> list[str]:
        if self.around == "cond":
            is_true = "tf.reduce_sum(x0) < tf.reduce_sum(x0) + 1"
            return [f"{indent}return {last}", f"    return tf.cond({is_true}, branch, lambda: -x0)"]
        if self.around == "while":
            loop = "    return tf.while_loop(lambda i, x: i < 2, turn, [0, x0])[1]"
            return [f"{indent}return i + 1, {last}", loop]
        return [f"{indent}return {last}"]

    def __repr__(self) -> str:
        return "\n" + self.source

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        """What Hypothesis prints of it."""
        del cycle
        printer.text(repr(self))


def _is_true(x: Tensor) -> Tensor:
    total = public("reduce_sum")(x)
    return public("less")(total, total + 1)


def _safe(name: str) -> bool:
    """Whether an op takes any number."""
    with Graph().as_default():
        values = Program((np.array([-2.0, 0.0, 2.0]),), (Step(name, (0,)),)).values()
    return bool(np.all(np.isfinite(values[0])))


@record(frozen=True)
class Training:
    """A program whose first input is a variable, and an optimizer of its sum of squares."""

    program: Program
    optimizer: str
    rate: float

    OPTIMIZERS: ClassVar[Sequence[str]] = (
        "train.GradientDescentOptimizer",
        "train.AdagradOptimizer",
        "train.AdamOptimizer",
        "train.RMSPropOptimizer",
    )

    def build(self) -> tuple[Any, Tensor, Any]:
        """Adds variable, loss and training operation to the default graph, and returns them."""
        variable = public("Variable")(self.program.arrays[0], name="trained")
        value = variable.read_value()
        # (The program may be flat everywhere.)
        loss = public("reduce_mean")(self.program(value) ** 2 + value**2)
        optimizer = public(self.optimizer)(self.rate)
        return variable, loss, optimizer.minimize(loss, var_list=[variable])
