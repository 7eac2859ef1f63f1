# SPDX-License-Identifier: Apache-2.0
"""Loops whose condition and body are functions, as frames that have these within.

What never changes enters a frame once.  Lists that a loop makes for its gradient, one element a
turn, are kept on stacks besides, as loops of TensorFlow 1 keep them: compiled code has these.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Generator, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from ...engine import errors
from ...engine.graph.operation import Operation
from ...engine.graph.tensor import Tensor
from ...engine.session.function_inlining import Body, Inliner, attributes
from ...engine.trampoline import Steps
from ...engine.types import dtypes
from ...engine.types.shape import shape_text, unknown_shape

# What finds something of the variables of a loop: results and what must run.
_Stage = Callable[[list[Tensor]], Any]
LOOPS = ("While", "StatelessWhile")
# Of such there are no stacks in compiled code.
_OBJECTS = (dtypes.variant, dtypes.resource, dtypes.string)


def condition_of(x: Inliner, value: Tensor) -> Tensor:
    """What TensorFlow takes for true: numbers but 0, texts but the empty one, arrays with rows."""
    if value.dtype == dtypes.bool:
        return value
    if value.shape.rank not in (None, 0):
        size = x.node("Size", [value], "size", out_type=dtypes.int32)
        return condition_of(x, size)
    if value.dtype == dtypes.string:
        return condition_of(x, x.node("StringLength", [value], "length"))
    zero = x.node("ZerosLike", [value], "zero")
    return x.node("NotEqual", [value, zero], "condition")


class _Kept(NamedTuple):
    """A stack that has, of each turn of one loop, an element that another one takes."""

    handle: Tensor
    # There once all elements are on it.
    filled: Tensor


def _body(x: Inliner, op: Operation) -> Body:
    called = op.attr("body")
    x.require(op, called.name)
    body: Body = x.function(called.name).body(attributes(called))
    count = len(op._inputs_val)
    if len(body.parameters) != count:
        raise errors.invalid(
            f"Function {called.name} expects {len(body.parameters)} arguments, but {count} are "
            f"given by node '{op.name}'"
        )
    if len(body.results) != count:
        raise errors.invalid(
            f"While loop body returned {len(body.results)} arguments. Expected: {count}"
        )
    return body


def _behind(tensor: Tensor) -> Tensor:
    """The tensor that operations hand on as it is."""
    while tensor.op.type == "Identity":
        tensor = tensor.op.inputs[0]
    return tensor


def _pushed(body: Body, number: int) -> Tensor | None:
    """What a turn puts behind a list that is a variable, if that is all that it does with it."""
    op = _behind(body.results[number]).op
    if op.type != "TensorListPushBack" or op.inputs[0] is not body.parameters[number]:
        return None
    found: Tensor = op.inputs[1]
    return None if found.dtype.base_dtype in _OBJECTS else found


def _popped(body: Body, number: int) -> Operation | None:
    """What takes the last element of a list that is a variable, if that is all that is done."""
    op = _behind(body.results[number]).op
    if op.type != "TensorListPopBack" or op.inputs[0] is not body.parameters[number]:
        return None
    return op if body.parameters[number].consumers() == [op] else None


def _takers(x: Inliner, op: Operation, number: int) -> Iterator[Operation]:
    """The loops that take a list's elements from its end, one in a turn."""
    if op._inputs_val[number].op.type != "EmptyTensorList":
        return
    for other in dict.fromkeys(op.outputs[number]._consumers):
        if other.type in LOOPS and other._inputs_val.count(op.outputs[number]) == 1:
            place = other._inputs_val.index(op.outputs[number])
            if _popped(_body(x, other), place) is not None:
                yield other


def while_(x: Inliner, op: Operation, inputs: list[Tensor]) -> Steps:
    """A loop of two functions."""
    body = _body(x, op)
    count = len(inputs)
    pushed = {n: t for n in range(count) if (t := _pushed(body, n)) is not None}
    wanted = [(n, other) for n in pushed for other in _takers(x, op, n)]
    handles = [_stack(x, pushed[n]) for n, _ in wanted]
    taken = {
        n: found
        for n, tensor in enumerate(op._inputs_val)
        if (tensor, op) in x.stacks and (found := _popped(body, n)) is not None
    }
    stacks = [x.stacks[op._inputs_val[n], op] for n in taken]
    # (The list itself is made besides, for who wants it.)
    results = [body.parameters[n] if n in taken else r for n, r in enumerate(body.results)]
    placed = Body(
        [each for each in body.operations if each not in taken.values()],
        [*body.parameters, *(pop.outputs[1] for pop in taken.values())],
        [*results, *(pushed[n] for n, _ in wanted)],
        body.effects,
        body.frames,
    )

    def turn(values: list[Tensor], constants: Sequence[Tensor]) -> Steps:
        given, tokens = values[:count], values[count:]
        popped = [
            x.node("StackPopV2", [handle], "pop", elem_type=pop.outputs[1].dtype)
            for handle, pop in zip(constants[len(handles) :], taken.values(), strict=True)
        ]
        name = op.attr("body").name
        found = yield x.place(name, placed, [*given, *popped], "body/")
        outputs, elements = found.outputs[:count], found.outputs[count:]
        for n, pop in taken.items():
            shape = _number(x, -1)
            kind = {"element_dtype": pop.outputs[1].dtype}
            outputs[n] = x.node("TensorListPopBack", [given[n], shape], "rest", **kind)[0]
        following = []
        for handle, token, element in zip(constants, tokens, elements):
            push = x.node("StackPushV2", [handle, element], "push")
            with x.after([push.op]):
                following.append(x.node("Identity", [token], "token"))
        return [*outputs, *following], found.effects

    tokens = [_number(x, 0) for _ in wanted]
    constants = [(handle, None) for handle in handles]
    constants += [(each.handle, each.filled.op) for each in stacks]
    exits, effects = yield _loop(
        *(x, [*inputs, *tokens], _parallel(op), _test(x, op, count), turn),
        kept=_kept(body),
        constants=constants,
    )
    for (n, other), handle, filled in zip(wanted, handles, exits[count:], strict=True):
        x.stacks[op.outputs[n], other] = _Kept(handle, filled)
    return exits[:count], effects


def _parallel(op: Operation) -> int:
    return op.attr("parallel_iterations") if op.type != "_While" else 10


def _number(x: Inliner, value: int) -> Tensor:
    made: Tensor = x.node(
        "Const", [], "number", dtype=dtypes.int32, value=np.array(value, np.int32)
    )
    return made


def _stack(x: Inliner, element: Tensor) -> Tensor:
    made: Tensor = x.node(
        "StackV2", [_number(x, -1)], "stack", elem_type=element.dtype, stack_name=b""
    )
    return made


def _test(x: Inliner, op: Operation, count: int) -> _Stage:
    def test(values: list[Tensor]) -> Steps:
        found = yield x.call(op, op.attr("cond"), values[:count], "cond/")
        if len(found.outputs) != 1:
            raise errors.invalid(
                "Expected a single scalar return value from WhileOp cond, got "
                f"{len(found.outputs)} tensors."
            )
        return found.outputs[0], found.effects

    return test


def _kept(body: Body) -> set[int]:
    """The variables that every turn of a loop hands on as they are."""
    pairs = enumerate(zip(body.parameters, body.results))
    return {number for number, (given, result) in pairs if _behind(result) is given}


def _loop(
    x: Inliner,
    inputs: list[Tensor],
    parallel: int,
    test: _Stage,
    body: Callable[[list[Tensor], Sequence[Tensor]], Any],
    kept: Collection[int] = (),
    constants: Sequence[tuple[Tensor, Operation | None]] = (),
) -> Steps:
    """The frame of a loop: `test` tells from the variables whether `body` makes the next ones.

    Args:
        x: what the frame is put into.
        inputs: what the variables begin with.
        parallel: how many turns may overlap.
        test, body: make a turn, of the variables and, for `body`, of the constants.
        kept: the numbers of variables that never change: they need not leave.
        constants: what enters besides, and what that waits for.
    """
    if len(kept) == len(inputs):
        # (There is no loop without a variable.)
        kept = set(kept) - {0}
    frame = {"frame_name": x.unique("frame").encode(), "parallel_iterations": parallel}

    def enter(value: Tensor, is_constant: bool) -> Tensor:
        made: Tensor = x.node("Enter", [value], "enter", is_constant=is_constant, **frame)
        return made

    enters = [enter(value, number in kept) for number, value in enumerate(inputs)]
    entered = []
    for value, before in constants:
        with x.after([] if before is None else [before]):
            entered.append(enter(value, True))

    def spread(changing: Sequence[Tensor]) -> list[Tensor]:
        given = iter(changing)
        return [enters[n] if n in kept else next(given) for n in range(len(inputs))]

    def picked(values: Sequence[Tensor]) -> list[Tensor]:
        return [value for number, value in enumerate(values) if number not in kept]

    def turn(values: list[Tensor]) -> Steps:
        made = body(spread(values), entered)
        outputs, effects = (yield made) if isinstance(made, Generator) else made
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
            condition = x.node("LoopCond", [condition_of(x, goes_on)], "condition")
    switches = [x.node("Switch", [merge, condition], "switch") for merge in merges]
    stays = [x.node("Identity", [switch[1]], "again") for switch in switches]
    with x.after([stays[0].op]):
        outputs, effects = yield body(stays)
        outputs = [_of_turn(x, output) for output in outputs]
    for merge, output in zip(merges, x.settled(outputs, effects)):
        again = x.node("NextIteration", [output], "next")
        merge.op._update_input(1, again)
    return [x.node("Exit", [switch[0]], "exit") for switch in switches], []


def _of_turn(x: Inliner, output: Tensor) -> Tensor:
    """What a turn gives, there only once the turn is: what never changes would begin others."""
    if output.op.definition.control_flow_role != "enter":
        return output
    made: Tensor = x.node("Identity", [output], "again")
    return made


def for_(x: Inliner, op: Operation, inputs: list[Tensor]) -> Steps:
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

    def body(values: list[Tensor], _: Sequence[Tensor]) -> Steps:
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
