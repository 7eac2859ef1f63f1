# SPDX-License-Identifier: Apache-2.0
"""Ops that call functions of the graph's library: calls, branches and loops of TensorFlow 2.

None of them runs: before a run, a branch becomes Switch and Merge and a loop becomes a frame, with
the functions' bodies within (engine/session/function_inlining.py).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ...engine import errors
from ...engine.graph.build import define
from ...engine.graph.operation import Operation
from ...engine.graph.registry import NoGradient
from ...engine.graph.tensor import Tensor
from ...engine.session.function_inlining import Inliner, attributes
from ...engine.trampoline import Steps
from ...engine.types import dtypes
from ...engine.types.shape import TensorShape, as_shape, unknown_shape
from .function_loops import condition_of, for_, while_

if TYPE_CHECKING:
    from ...engine.graph.inference import ShapeContext
    from ...engine.graph.kernel_context import KernelContext

_NO_GRADIENT = NoGradient("gradients do not go through functions")
_TEST = {"needs": "a function"}


def _unknown(c: ShapeContext) -> list[TensorShape]:
    return [unknown_shape() for _ in c.attr("Tout")]


def _stated(key: str) -> Any:
    """A shape function that takes the attribute `output_shapes` where it is given."""

    def shape(c: ShapeContext) -> list[TensorShape]:
        kinds, shapes = c.attr(key), c.attr("output_shapes")
        return list(shapes) if shapes else [unknown_shape() for _ in kinds]

    return shape


def _call(x: Inliner, op: Operation, inputs: list[Tensor]) -> Steps:
    return x.call(op, op.attr("f"), inputs)


def _symbolic_gradient(x: Inliner, op: Operation, inputs: list[Tensor]) -> Steps:
    called = op.attr("f")
    function = x.function(called.name)
    x.require(op, called.name)
    if function.grad_func_name:
        name, body = function.grad_func_name, x.function(function.grad_func_name).body({})
    else:
        name, body = (
            f"gradient of {called.name}",
            function.gradient_body(attributes(called)),
        )
    found = yield x.place(name, body, inputs)
    wanted = len(op.attr("Tout"))
    if len(found.outputs) != wanted:
        raise errors.invalid(
            f"SymGrad expects to return {wanted} values but get {len(found.outputs)} values "
            f"instead (function {called.name})"
        )
    return found


def _branch(x: Inliner, op: Operation, function: Any, inputs: list[Tensor], pivot: Tensor) -> Steps:
    """A function that runs where `pivot` is alive; the last output says that it has run."""
    with x.after([pivot.op]):
        body = yield x.call(op, function, inputs, f"{function.name}/")
    # What the body does without giving it on must be over before the branch counts as run.
    with x.after([pivot.op, *body.effects]):
        return [x.node("Identity", [t], "result") for t in (*body.outputs, pivot)]


def _choose(
    x: Inliner, op: Operation, condition: Tensor, inputs: list[Tensor], branches: tuple[Any, Any]
) -> Steps:
    """One of two functions: of (otherwise, where the condition holds)."""
    sides = [x.node("Switch", [value, condition], "switch") for value in inputs]
    pivots = x.node("Switch", [condition, condition], "branch")
    results = []
    for side, branch in enumerate(branches):
        pivot = x.node("Identity", [pivots[side]], "pivot")
        results.append((yield branch([both[side] for both in sides], pivot)))
    merged = [x.node("Merge", pair, "merge")[0] for pair in zip(*results)]
    return merged[:-1], [merged[-1].op]


def _if(x: Inliner, op: Operation, inputs: list[Tensor]) -> Steps:
    def branch(name: str) -> Any:
        return lambda values, pivot: _branch(x, op, op.attr(name), values, pivot)

    condition = condition_of(x, inputs[0])
    return _choose(x, op, condition, inputs[1:], (branch("else_branch"), branch("then_branch")))


def _case(x: Inliner, op: Operation, inputs: list[Tensor]) -> Steps:
    """Branches one after the other; an index out of range takes the last one."""
    functions = op.attr("branches")

    def choose(number: int, index: Tensor, values: list[Tensor]) -> Steps:
        def this(values: list[Tensor], pivot: Tensor) -> Steps:
            return _branch(x, op, functions[number], values[1:], pivot)

        def others(values: list[Tensor], pivot: Tensor) -> Steps:
            # The last branch needs no test: it takes whatever is left.
            if number + 2 == len(functions):
                return (yield _branch(x, op, functions[number + 1], values[1:], pivot))
            outputs, effects = yield choose(number + 1, values[0], values[1:])
            with x.after(effects):
                return [x.node("Identity", [t], "result") for t in (*outputs, pivot)]

        wanted = x.node("Const", [], "number", dtype=dtypes.int32, value=np.array(number, np.int32))
        condition = x.node("Equal", [index, wanted], "is_number")
        return _choose(x, op, condition, [index, *values], (others, this))

    if len(functions) == 1:
        return x.call(op, functions[0], inputs[1:])
    return choose(0, inputs[0], inputs[1:])


def _stated_later(name: str) -> Any:
    """A gradient of v2/gradients.py, which is imported when there is one to build."""

    def gradient(op: Operation, *grads: Any) -> list[Any]:
        from .v2 import gradients

        found: list[Any] = getattr(gradients, name)(op, *grads)
        return found

    return gradient


_CALL = "f: func; config: string = ''; config_proto: string = ''; executor_type: string = ''"
_BRANCH = "then_branch: func; else_branch: func; output_shapes: list(shape) = []"
_TYPES = "Tin: list(type) >= 0; Tout: list(type) >= 0"

define(
    "SymbolicGradient",
    "input: Tin -> output: Tout",
    "Tin: list(type) >= 1; Tout: list(type) >= 1; f: func",
    shape=lambda c: list(c.inputs[: len(c.attr("Tout"))]),
    expand=_symbolic_gradient,
    gradient=_NO_GRADIENT,
    test=lambda: _TEST,
    doc="The gradients of a function's parameters, from these and its results' gradients.",
)
for _stateful in (False, True):
    define(
        ("PartitionedCall", "StatefulPartitionedCall")[_stateful],
        "args: Tin -> output: Tout",
        f"{_TYPES}; {_CALL}",
        shape=_unknown,
        expand=_call,
        gradient=_stated_later("call_gradient"),
        stateful=_stateful,
        test=lambda: _TEST,
        doc="The results of a function.",
    )
for _stateful in (False, True):
    define(
        ("StatelessIf", "If")[_stateful],
        "cond: Tcond, input: Tin -> output: Tout",
        f"Tcond: type; {_TYPES}; {_BRANCH}",
        shape=_stated("Tout"),
        expand=_if,
        gradient=_stated_later("if_gradient"),
        stateful=_stateful,
        test=lambda: _TEST,
        doc="The results of one of two functions.",
    )
    define(
        ("StatelessCase", "Case")[_stateful],
        "branch_index: int32, input: Tin -> output: Tout",
        f"{_TYPES}; branches: list(func) >= 1; output_shapes: list(shape) = []",
        shape=_stated("Tout"),
        expand=_case,
        gradient=_stated_later("case_gradient"),
        stateful=_stateful,
        test=lambda: _TEST,
        doc="The results of one of several functions, by its number.",
    )
    define(
        ("StatelessWhile", "While")[_stateful],
        "input: T -> output: T",
        "T: list(type) >= 0; cond: func; body: func; output_shapes: list(shape) = []; "
        "parallel_iterations: int = 10",
        shape=_stated("T"),
        expand=while_,
        gradient=_stated_later("while_gradient"),
        stateful=_stateful,
        test=lambda: _TEST,
        doc="The values of the variables of a loop that is stated by two functions.",
    )
define(
    "_If",
    "cond: Tcond, input: Tin -> output: Tout",
    "Tcond: type; Tin: list(type) >= 1; Tout: list(type) >= 1; then_branch: func; "
    "else_branch: func",
    shape=_unknown,
    expand=_if,
    gradient=_NO_GRADIENT,
    stateful=True,
    test=lambda: _TEST,
    doc="The results of one of two functions, as it was first called.",
)
define(
    "_While",
    "input: T -> output: T",
    "T: list(type) >= 0; cond: func; body: func",
    shape=lambda c: [unknown_shape() for _ in c.attr("T")],
    expand=while_,
    gradient=_NO_GRADIENT,
    stateful=True,
    test=lambda: _TEST,
    doc="The values of the variables of a loop of two functions, as it was first called.",
)
define(
    "For",
    "start: int32, limit: int32, delta: int32, input: T -> output: T",
    "T: list(type) >= 0; body: func",
    shape=lambda c: [unknown_shape() for _ in c.attr("T")],
    expand=for_,
    gradient=_NO_GRADIENT,
    test=lambda: _TEST,
    doc="The values of variables after a function has been called for each of some numbers.",
)


def _stand_in(c: KernelContext) -> np.ndarray:
    sizes = as_shape(c.op._attrs["shape"]).sizes or ()
    kind = c.out_dtype()
    return np.full([size or 0 for size in sizes], b"" if kind.kind == "O" else 0, kind)


define(
    "FakeParam",
    "-> output: dtype",
    "dtype: type; shape: shape",
    shape=lambda c: as_shape(c.op._attrs["shape"]),
    kernel=_stand_in,
    gradient=NoGradient("it depends on nothing"),
    test=lambda: {"attrs": [{"dtype": np.float32, "shape": [2, 3]}]},
    doc="Any value of a shape, for results of a branch that nobody reads; unknown sizes are 0.",
)
