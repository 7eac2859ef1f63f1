# SPDX-License-Identifier: Apache-2.0
"""`check_gradients`: from a function or a tensor to inputs, outputs and a session."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any

import numpy as np

from ..gradients.autodiff_sums import public
from ..graph.convert import convert_to_tensor_or_indexed_slices
from ..graph.defaults import get_default_session
from ..graph.graph import Graph
from ..graph.tensor import IndexedSlices, SparseTensor, Tensor
from ..types import dtypes
from . import cones
from .checking import Options, check
from .functions import Feeds, Input, Runner, at
from .report import GradientError, Mode, Report

Function = Callable[..., Any]


def check_gradients(
    fn_or_tensor: Any,
    *arrays: Any,
    order: int = 2,
    modes: Sequence[Mode] = ("reverse", "forward"),
    feed_dict: dict[Any, Any] | None = None,
    session: Any = None,
    directions: int = 2,
    rtol: float = 0.0,
    seed: int = 0,
    jit: str | None = "never",
) -> Report:
    """Holds symbolic derivatives against numeric ones, and names the op whose gradient is wrong.

    Of a function: it is called on tensors of the arrays' types and shapes, in a graph of its own,
    and all arrays of floating point or complex numbers are inputs.  Integers, bools and strings
    are handed on but not moved.

    Of a tensor (or a list of them): `arrays` are the tensors or variables to differentiate by; by
    default all trainable variables and all fed numbers that it depends on.

    Random numbers stay as first drawn, and what passes through `tf.stop_gradient`, or an op that
    is declared to have no gradient, counts as constant.

    Args:
      fn_or_tensor: what is differentiated; results of any number, shape and type, of which those
        of numbers count.
      arrays: see above.
      order: up to which order derivatives are checked.
      modes: "reverse" for the gradients themselves, "forward" for the derivatives along a direction
        that the gradients of gradients give.
      feed_dict: what is fed besides, to a tensor's placeholders.
      session: in which variables have their values; the default session, or else a new one whose
        variables are initialized.
      directions: in how many random directions each input is moved.
      rtol: a relative difference to tolerate beside what rounding explains.
      seed: of the directions, and the graph's seed for a function.
      jit: how the graph runs: "never" (the reference), "always" (compiled), "auto", or None for
        the setting as it is.

    Returns:
      A Report: what was compared and how closely, kinks, and what could not be checked.

    Raises:
      GradientError: a derivative is wrong; an AssertionError, whose `report` has all numbers.
      LookupError: an op has no gradient at all.
      ValueError: there is nothing to differentiate.
    """
    options = Options(order, tuple(modes), directions, rtol, seed)
    keywords = {"feed_dict": feed_dict, "session": session, "jit": jit}
    report = gradient_report(fn_or_tensor, *arrays, options=options, **keywords)
    if not report.passed:
        raise GradientError(report)
    return report


def gradient_report(
    fn_or_tensor: Any,
    *arrays: Any,
    options: Options = Options(),
    feed_dict: dict[Any, Any] | None = None,
    session: Any = None,
    jit: str | None = "never",
) -> Report:
    """As `check_gradients`, but a wrong derivative is only reported."""
    _check_options(options)
    with ExitStack() as stack:
        if callable(fn_or_tensor) and not isinstance(fn_or_tensor, Tensor):
            made = _of_function(fn_or_tensor, arrays, options.seed, jit)
        else:
            made = _of_tensor(fn_or_tensor, arrays, feed_dict or {}, session, jit)
        runner, inputs, ys = stack.enter_context(made)
        return check(runner, inputs, ys, options)


def _check_options(options: Options) -> None:
    if options.order < 1 or options.directions < 1:
        raise ValueError(
            f"order and directions must be at least 1, not {options.order}, {options.directions}"
        )
    unknown = set(options.modes) - {"reverse", "forward"}
    if unknown or not options.modes:
        raise ValueError(f"modes must be of 'reverse' and 'forward', not {list(options.modes)}")


Problem = tuple[Runner, list[Input], list[Tensor]]


@contextmanager
def _of_function(
    fn: Function, arrays: Sequence[Any], seed: int, jit: str | None
) -> Iterator[Problem]:
    with Graph().as_default() as graph, public("Session")(graph=graph) as session:
        graph.seed = seed
        values = [np.asarray(array) for array in arrays]
        places = [
            public("placeholder")(dtypes.as_dtype(value.dtype), value.shape, name=f"x{i}")
            for i, value in enumerate(values)
        ]
        ys = _numbers(fn(*places))
        inputs = [
            Input(f"x{i}" if len(places) > 1 else "x", place, (place,), value)
            for i, (place, value) in enumerate(zip(places, values))
            if cones.is_number(place)
        ]
        feeds: Feeds = dict(zip(places, values))
        runner = Runner(session, feeds, jit)
        runner.run(public("global_variables_initializer")(), {})
        yield _problem(runner, inputs, ys)


@contextmanager
def _of_tensor(
    ys: Any, xs: Sequence[Any], feed_dict: dict[Any, Any], session: Any, jit: str | None
) -> Iterator[Problem]:
    tensors = _numbers(ys)
    graph = tensors[0].graph
    with ExitStack() as stack:
        stack.enter_context(graph.as_default())
        session = session or get_default_session()
        feeds = {
            graph.as_graph_element(key, allow_operation=False): np.asarray(value)
            for key, value in feed_dict.items()
        }
        if session is None:
            session = stack.enter_context(public("Session")(graph=graph))
            Runner(session, {}, jit).run(public("global_variables_initializer")(), {})
        runner = Runner(session, feeds, jit)
        wanted = list(xs) or list(_leaves(tensors, feeds))
        inputs = [_input(runner, x) for x in wanted]
        yield _problem(runner, [x for x in inputs if x is not None], tensors)


def _numbers(results: Any) -> list[Tensor]:
    """The tensors among results that derivatives can be of."""
    flat = [
        item.values if isinstance(item, (IndexedSlices, SparseTensor)) else item
        for item in public("nest.flatten")(results)
    ]
    tensors = [convert_to_tensor_or_indexed_slices(item) for item in flat if item is not None]
    numbers = [tensor for tensor in tensors if cones.is_number(tensor)]
    if not numbers:
        raise ValueError(f"there is nothing to differentiate: the results are {results}")
    return numbers


def _leaves(ys: Sequence[Tensor], feeds: Feeds) -> Iterator[Any]:
    """All trainable variables and fed numbers that ys depend on."""
    above = set(cones.ancestors(ys))
    for variable in public("trainable_variables")():
        if _key(variable).op in above:
            yield variable
    for tensor in feeds:
        if cones.is_number(tensor) and (tensor.op in above):
            yield tensor


def _key(x: Any) -> Tensor:
    """What gradients are taken by: a resource variable's handle, a variable's reference."""
    if isinstance(x, Tensor):
        return x
    if getattr(x, "_should_act_as_resource_variable", False):
        return x.handle
    return x._ref() if hasattr(x, "_ref") else x


def _input(runner: Runner, x: Any) -> Input | None:
    """A tensor or variable with its value; None of integers."""
    key = _key(x)
    if isinstance(x, Tensor):
        value = runner.feeds[x] if x in runner.feeds else runner.run(x, {})
        value = np.asarray(value).astype(x.dtype.as_numpy_dtype, copy=False)
        return Input(x.name, x, (x,), value) if cones.is_number(x) else None
    value = np.asarray(runner.run(x.read_value(), {}))
    if not (x.dtype.base_dtype.is_floating or x.dtype.base_dtype.is_complex):
        return None
    name = x.op.name
    if key.dtype.base_dtype != dtypes.resource:
        return Input(name, key, (key,), value)
    reads = cones.reads_of(key)
    if reads is None:
        return Input(name, x, (), value, load=x.load)
    return Input(name, x, tuple(reads), value)


def _problem(runner: Runner, inputs: list[Input], ys: list[Tensor]) -> Problem:
    if not inputs:
        raise ValueError("there is nothing to differentiate by: no input holds numbers")
    feeds = {**runner.feeds, **_held(runner, inputs, ys)}
    return Runner(runner.session, feeds, runner.jit), inputs, ys


def _held(runner: Runner, inputs: list[Input], ys: list[Tensor]) -> Feeds:
    """What counts as constant, with its value: random numbers, and what was said to be."""
    moved = {tensor for x in inputs for tensor in x.fed}
    depend = set(cones.between(moved, ys))
    constant = [
        y
        for op in cones.ancestors(ys)
        if op._control_flow_context is None
        and not op.definition.control_flow_role
        and (cones.is_constant_by_declaration(op) if op in depend else _is_drawn(op))
        for y in op.outputs
        if cones.is_number(y) and y not in moved and y not in runner.feeds
    ]
    values: list[Any] = runner.run(constant, at(inputs, [x.value for x in inputs]))
    return dict(zip(constant, values, strict=True))


def _is_drawn(op: Any) -> bool:
    """Whether an op gives something else each time: it keeps a state, but not for others to see."""
    if not op._is_stateful or op.definition.touches or op.definition.transfer:
        return False
    tensors = (*op.inputs, *op.outputs)
    return not any(
        t.dtype._is_ref_dtype or t.dtype.base_dtype in (dtypes.resource, dtypes.variant)
        for t in tensors
    )
