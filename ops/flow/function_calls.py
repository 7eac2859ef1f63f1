# SPDX-License-Identifier: Apache-2.0
"""Ops that call functions of the graph's library: calls, branches and loops of TensorFlow 2.

None of them runs: before a run, a branch becomes Switch and Merge and a loop becomes a frame, with
the functions' bodies within (engine/session/function_inlining.py).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Generator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ...engine import errors
from ...engine.graph.build import define
from ...engine.graph.operation import Operation
from ...engine.graph.registry import NoGradient
from ...engine.graph.tensor import Tensor
from ...engine.session.function_inlining import Body, Inliner, attributes
from ...engine.trampoline import Steps
from ...engine.types import dtypes
from ...engine.types.shape import TensorShape, as_shape, shape_text, unknown_shape

if TYPE_CHECKING:
    from ...engine.graph.inference import ShapeContext
    from ...engine.graph.kernel_context import KernelContext

# What finds something of the variables of a loop: results and what must run.
_Stage = Callable[[list[Tensor]], Any]
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


def _condition(x: Inliner, value: Tensor) -> Tensor:
    """What TensorFlow takes for true: numbers but 0, texts but the empty one, arrays with rows."""
    if value.dtype == dtypes.bool:
        return value
    if value.shape.rank not in (None, 0):
        size = x.node("Size", [value], "size", out_type=dtypes.int32)
        return _condition(x, size)
    if value.dtype == dtypes.string:
        return _condition(x, x.node("StringLength", [value], "length"))
    zero = x.node("ZerosLike", [value], "zero")
    return x.node("NotEqual", [value, zero], "condition")


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

    condition = _condition(x, inputs[0])
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


def _while(x: Inliner, op: Operation, inputs: list[Tensor]) -> Steps:
    def test(values: list[Tensor]) -> Steps:
        found = yield x.call(op, op.attr("cond"), values, "cond/")
        if len(found.outputs) != 1:
            raise errors.invalid(
                "Expected a single scalar return value from WhileOp cond, got "
                f"{len(found.outputs)} tensors."
            )
        return found.outputs[0], found.effects

    def body(values: list[Tensor]) -> Steps:
        found = yield x.call(op, op.attr("body"), values, "body/")
        if len(found.outputs) != len(values):
            raise errors.invalid(
                f"While loop body returned {len(found.outputs)} arguments. Expected: {len(values)}"
            )
        return found.outputs, found.effects

    parallel = op.attr("parallel_iterations") if op.type != "_While" else 10
    called = op.attr("body")
    kept = _kept(x.function(called.name).body(attributes(called)))
    return _loop(x, inputs, parallel, test, body, kept)


def _kept(body: Body) -> set[int]:
    """The variables that every turn of a loop hands on as they are."""
    found = set()
    for number, (parameter, result) in enumerate(zip(body.parameters, body.results)):
        while result is not parameter and result.op.type == "Identity":
            result = result.op.inputs[0]
        if result is parameter:
            found.add(number)
    return found


def _loop(
    x: Inliner,
    inputs: list[Tensor],
    parallel: int,
    test: _Stage,
    body: _Stage,
    kept: Collection[int] = (),
) -> Steps:
    """The frame of a loop: `test` tells from the variables whether `body` makes the next ones.

    `kept` are the numbers of variables that never change: they enter the frame and need not leave.
    """
    if len(kept) == len(inputs):
        # (There is no loop without a variable.)
        kept = set(kept) - {0}
    frame = {"frame_name": x.unique("frame").encode(), "parallel_iterations": parallel}
    enters = [
        x.node("Enter", [value], "enter", is_constant=number in kept, **frame)
        for number, value in enumerate(inputs)
    ]

    def spread(changing: Sequence[Tensor]) -> list[Tensor]:
        given = iter(changing)
        return [enters[n] if n in kept else next(given) for n in range(len(inputs))]

    def picked(values: Sequence[Tensor]) -> list[Tensor]:
        return [value for number, value in enumerate(values) if number not in kept]

    def turn(values: list[Tensor]) -> Steps:
        outputs, effects = yield body(spread(values))
        return picked(outputs), effects

    with x.within([]):
        exits, effects = yield _turns(x, picked(enters), lambda v: test(spread(v)), turn)
    given = iter(exits)
    return [inputs[n] if n in kept else next(given) for n in range(len(inputs))], effects


def _turns(x: Inliner, enters: list[Tensor], test: _Stage, body: _Stage) -> Steps:
    """What is in the frame, from the values that enter it to those that leave it."""
    # The second input is the next iteration's, which is made last; until then the first one stands
    # in.
    merges = [x.node("Merge", [enter, enter], "merge")[0] for enter in enters]
    for merge in merges:
        # The shapes of later iterations are not known before the body is.
        merge._shape_val = unknown_shape()
    with x.after([merges[0].op]):
        made = test(merges)
        goes_on, effects = (yield made) if isinstance(made, Generator) else made
        with x.after(effects):
            condition = x.node("LoopCond", [_condition(x, goes_on)], "condition")
    switches = [x.node("Switch", [merge, condition], "switch") for merge in merges]
    stays = [x.node("Identity", [switch[1]], "again") for switch in switches]
    with x.after([stays[0].op]):
        outputs, effects = yield body(stays)
    for merge, output in zip(merges, x.settled(outputs, effects)):
        again = x.node("NextIteration", [output], "next")
        merge.op._update_input(1, again)
    return [x.node("Exit", [switch[0]], "exit") for switch in switches], []


def _for(x: Inliner, op: Operation, inputs: list[Tensor]) -> Steps:
    """A loop over start, start + delta ...; the body is given the number and the variables."""
    start, limit, delta = inputs[:3]
    for label, given in (("start", start), ("limit", limit), ("delta", delta)):
        if given.shape.rank not in (None, 0):
            raise errors.invalid(f"{label} must be a scalar, but {shape_text(given.shape)}")
    zero = x.node("ZerosLike", [delta], "zero")
    rises = x.node("Greater", [delta, zero], "rises")
    falls = x.node("Less", [delta, zero], "falls")
    # What does not rise must not start below the limit, what does not fall not above it.
    above = x.node("GreaterEqual", [start, limit], "above")
    below = x.node("LessEqual", [start, limit], "below")
    sides = ([rises, above], [falls, below])
    fits = x.node("LogicalAnd", [x.node("LogicalOr", side, "fits") for side in sides], "all_fits")
    text = np.array(b"Invalid start/limit/delta: ", object)
    words = x.node("Const", [], "text", dtype=dtypes.string, value=text)
    data, kinds = [words, start, limit, delta], [dtypes.string, *[dtypes.int32] * 3]
    check = x.node("Assert", [fits, *data], "check", T=kinds, summarize=3)
    with x.after([check]):
        start = x.node("Identity", [start], "start")

    def test(values: list[Tensor]) -> Any:
        number, end, by = values[:3]
        none = x.node("ZerosLike", [by], "none")
        on = x.node("Less", [number, end], "before"), x.node("Greater", [by, none], "up")
        back = x.node("Greater", [number, end], "behind"), x.node("Less", [by, none], "down")
        ways = [x.node("LogicalAnd", list(way), "way") for way in (on, back)]
        return x.node("LogicalOr", ways, "goes_on"), []

    def body(values: list[Tensor]) -> Steps:
        number, end, by = values[:3]
        found = yield x.call(op, op.attr("body"), [number, *values[3:]], "body/")
        if len(found.outputs) != len(values) - 3:
            raise errors.invalid(
                f"For loop body returned {len(found.outputs)} arguments. "
                f"Expected: {len(values) - 3}"
            )
        following = x.node("Add", [number, by], "following")
        return [following, end, by, *found.outputs], found.effects

    outputs, effects = yield _loop(x, [start, limit, delta, *inputs[3:]], 1, test, body)
    return outputs[3:], effects


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
        expand=_while,
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
    expand=_while,
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
    expand=_for,
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
