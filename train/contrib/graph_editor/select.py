# SPDX-License-Identifier: Apache-2.0
"""Operations and tensors selected by names, by scopes, and by walks along the graph."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any

from ....engine.api import export
from ....engine.graph.graph import Graph
from ....engine.graph.operation import Operation
from ....engine.graph.tensor import Tensor
from . import util


@export("contrib.graph_editor.can_be_regex")
def can_be_regex(obj: object) -> bool:
    """Whether something is a text or a pattern."""
    return isinstance(obj, (str, re.Pattern))


@export("contrib.graph_editor.make_regex")
def make_regex(obj: Any) -> re.Pattern[str]:
    """A text as a pattern.

    Raises:
        ValueError: it is neither.
    """
    if not can_be_regex(obj):
        raise ValueError(f"Expected a string or a regex, got: {type(obj)}")
    return re.compile(obj)


def _get_input_ts(ops: object) -> list[Tensor]:
    given = util.make_list_of_op(ops)
    return util.concatenate_unique([], (t for op in given for t in op.inputs))


def _get_output_ts(ops: object) -> list[Tensor]:
    return [t for op in util.make_list_of_op(ops) for t in op.outputs]


@export("contrib.graph_editor.filter_ts")
def filter_ts(ops: Any, positive_filter: Any) -> list[Tensor]:
    """Those of the inputs and outputs of operations that a function holds for; True: all."""
    given = util.make_list_of_op(ops)
    ts = util.concatenate_unique(_get_input_ts(given), _get_output_ts(given))
    return ts if positive_filter is True else [t for t in ts if positive_filter(t)]


@export("contrib.graph_editor.filter_ts_from_regex")
def filter_ts_from_regex(ops: object, regex: object) -> list[Tensor]:
    """Those of the inputs and outputs of operations whose names a pattern is found in.

    Example:
        >>> with tf.Graph().as_default() as graph:
        ...     _ = tf.identity(tf.constant(1.0, name="kept"), name="left")
        >>> [t.name for t in tf.contrib.graph_editor.filter_ts_from_regex(graph, "ke.t")]
        ['kept:0']
    """
    pattern = make_regex(regex)
    return filter_ts(ops, positive_filter=lambda t: pattern.search(t.name))


@export("contrib.graph_editor.filter_ops")
def filter_ops(ops: Any, positive_filter: Any) -> list[Operation]:
    """Those operations that a function holds for; True: all."""
    given = util.make_list_of_op(ops)
    return given if positive_filter is True else [op for op in given if positive_filter(op)]


@export("contrib.graph_editor.filter_ops_from_regex")
def filter_ops_from_regex(ops: object, regex: object) -> list[Operation]:
    """Those operations whose names a pattern is found in."""
    pattern = make_regex(regex)
    return filter_ops(ops, lambda op: pattern.search(op.name))


@export("contrib.graph_editor.get_name_scope_ops")
def get_name_scope_ops(ops: object, scope: str) -> list[Operation]:
    """Those operations that lie in a scope."""
    return filter_ops_from_regex(ops, f"^{scope.removesuffix('/')}(/.*)?$")


@export("contrib.graph_editor.check_cios")
def check_cios(
    control_inputs: bool = False, control_outputs: Any = None, control_ios: Any = None
) -> tuple[bool, util.ControlOutputs | None]:
    """Whether walks go along control inputs, and the `ControlOutputs` that they go along.

    Args:
        control_inputs: whether they are followed.
        control_outputs: a `ControlOutputs`, or None.
        control_ios: a `ControlOutputs` for both directions.

    Raises:
        TypeError: one is no `ControlOutputs`.
        ValueError: both are given.
    """
    for given in (control_ios, control_outputs):
        if given is not None and not isinstance(given, util.ControlOutputs):
            raise TypeError(f"Expected a util.ControlOutputs, got: {type(given)}")
    if control_ios is not None:
        if control_outputs is not None:
            raise ValueError("control_outputs should be None when using control_ios.")
        control_inputs, control_outputs = True, control_ios
    if control_outputs is not None:
        control_outputs.update()
    return control_inputs, control_outputs


@export("contrib.graph_editor.get_ops_ios")
def get_ops_ios(
    ops: object,
    control_inputs: bool = False,
    control_outputs: object = None,
    control_ios: object = None,
) -> list[Operation]:
    """The neighbours of operations: what makes their inputs and takes their outputs."""
    follows, waiting = check_cios(control_inputs, control_outputs, control_ios)
    found: list[Operation] = []
    for op in util.make_list_of_op(ops):
        util.concatenate_unique(found, [t.op for t in op.inputs])
        for t in op.outputs:
            util.concatenate_unique(found, t.consumers())
        if waiting is not None:
            util.concatenate_unique(found, waiting.get(op))
        if follows:
            util.concatenate_unique(found, op.control_inputs)
    return found


@export("contrib.graph_editor.compute_boundary_ts")
def compute_boundary_ts(ops: object) -> tuple[list[Tensor], list[Tensor], list[Tensor]]:
    """The tensors that come into operations, that go out of them, and that stay among them."""
    given = util.make_list_of_op(ops)
    inputs, outputs = _get_input_ts(given), _get_output_ts(given)
    made, members = frozenset(outputs), frozenset(given)
    inside = [t for t in inputs if t in made]
    only_inside = {t for t in inside if members.issuperset(t.consumers())}
    known = frozenset(inside)
    outgoing = [t for t in outputs if t not in only_inside]
    return [t for t in inputs if t not in known], outgoing, inside


@export("contrib.graph_editor.get_within_boundary_ops")
def get_within_boundary_ops(
    ops: object,
    seed_ops: object,
    boundary_ops: object = (),
    inclusive: bool = True,
    control_inputs: bool = False,
    control_outputs: object = None,
    control_ios: object = None,
) -> list[Operation]:
    """Those operations that walks in all directions from seeds reach without crossing a boundary.

    Args:
        ops: where the walks go.
        seed_ops: where they begin.
        boundary_ops: where they end.
        inclusive: whether the boundary belongs to the result.
        control_inputs: whether control inputs are followed.
        control_outputs: a `ControlOutputs` to follow.
        control_ios: a `ControlOutputs` for both directions.

    Raises:
        ValueError: a seed is on the boundary.
    """
    follows, waiting = check_cios(control_inputs, control_outputs, control_ios)
    given = util.make_list_of_op(ops)
    wave = set(util.make_list_of_op(seed_ops, allow_graph=False))
    boundary, found = set(util.make_list_of_op(boundary_ops)), set(wave)
    if boundary & found:
        raise ValueError("Boundary is intersecting with the seeds.")
    while wave:
        reached = set(get_ops_ios(list(wave), follows, waiting)) - found
        wave = reached - boundary
        found |= reached if inclusive else wave
    return [op for op in given if op in found]


def _walk(
    seeds: list[Operation],
    following: Callable[[Operation], Iterable[Operation]],
    inclusive: bool,
    within_ops: object,
    within_ops_fn: Callable[[Operation], Any] | None,
) -> list[Operation]:
    """Operations in the order in which they are reached, step by step."""
    within = None
    if within_ops:
        within = frozenset(util.make_list_of_op(within_ops, allow_graph=False))
        seeds = [op for op in seeds if op in within]
    first = dict.fromkeys(seeds)
    found, wave = dict(first), list(first)
    while wave:
        reached = [
            op
            for op in dict.fromkeys(other for op in wave for other in following(op))
            if op not in found
            and (within is None or op in within)
            and (within_ops_fn is None or within_ops_fn(op))
        ]
        found.update(dict.fromkeys(reached))
        wave = reached
    return [op for op in found if inclusive or op not in first]


@export("contrib.graph_editor.get_forward_walk_ops")
def get_forward_walk_ops(
    seed_ops: Any,
    inclusive: bool = True,
    within_ops: Any = None,
    within_ops_fn: Callable[[Operation], Any] | None = None,
    stop_at_ts: Any = (),
    control_outputs: Any = None,
) -> list[Operation]:
    """The operations that depend on others (tf.contrib.graph_editor.get_forward_walk_ops).

    Args:
        seed_ops: Operations, or Tensors, which stand for those that take them.
        inclusive: whether the seeds belong to the result.
        within_ops: operations that alone are walked over.
        within_ops_fn: a function of an operation: whether it may be walked over.
        stop_at_ts: tensors that are not followed.
        control_outputs: a `ControlOutputs` to follow, too.

    Returns:
        A list of Operations.
    """
    _, waiting = check_cios(False, control_outputs)
    given = list(seed_ops) if util.is_iterable(seed_ops) else [seed_ops]
    if given and isinstance(given[0], Tensor):
        given = util.get_consuming_ops(given)
    stops = frozenset(util.make_list_of_t(stop_at_ts))

    def following(op: Operation) -> Iterable[Operation]:
        for t in op.outputs:
            if t not in stops:
                yield from t.consumers()
        if waiting is not None:
            yield from waiting.get(op)

    seeds = util.make_list_of_op(given, allow_graph=False)
    return _walk(seeds, following, inclusive, within_ops, within_ops_fn)


@export("contrib.graph_editor.get_backward_walk_ops")
def get_backward_walk_ops(
    seed_ops: Any,
    inclusive: bool = True,
    within_ops: Any = None,
    within_ops_fn: Callable[[Operation], Any] | None = None,
    stop_at_ts: Any = (),
    control_inputs: bool = False,
) -> list[Operation]:
    """The operations that others depend on (tf.contrib.graph_editor.get_backward_walk_ops).

    Args:
        seed_ops: Operations, or Tensors, which stand for those that make them.
        inclusive: whether the seeds belong to the result.
        within_ops: operations that alone are walked over.
        within_ops_fn: a function of an operation: whether it may be walked over.
        stop_at_ts: tensors that are not followed.
        control_inputs: whether control inputs are followed, too.

    Returns:
        A list of Operations.

    Example:
        >>> with tf.Graph().as_default():
        ...     y = tf.negative(tf.square(tf.constant(1.0)))
        >>> [op.type for op in tf.contrib.graph_editor.get_backward_walk_ops(y)]
        ['Neg', 'Square', 'Const']
    """
    given = list(seed_ops) if util.is_iterable(seed_ops) else [seed_ops]
    if given and isinstance(given[0], Tensor):
        given = util.get_generating_ops(given)
    stops = frozenset(util.make_list_of_t(stop_at_ts))

    def following(op: Operation) -> Iterable[Operation]:
        yield from (t.op for t in op.inputs if t not in stops)
        if control_inputs:
            yield from op.control_inputs

    seeds = util.make_list_of_op(given, allow_graph=False)
    return _walk(seeds, following, inclusive, within_ops, within_ops_fn)


def _both_walks(
    seeds: tuple[Any, Any],
    inclusive: tuple[bool, bool],
    limits: dict[str, Any],
    control: tuple[bool, Any, Any],
) -> tuple[list[Operation], list[Operation]]:
    follows, waiting = check_cios(*control)
    forward = get_forward_walk_ops(
        seeds[0], inclusive=inclusive[0], control_outputs=waiting, **limits
    )
    backward = get_backward_walk_ops(
        seeds[1], inclusive=inclusive[1], control_inputs=follows, **limits
    )
    return forward, backward


@export("contrib.graph_editor.get_walks_intersection_ops")
def get_walks_intersection_ops(
    forward_seed_ops: object,
    backward_seed_ops: object,
    forward_inclusive: bool = True,
    backward_inclusive: bool = True,
    within_ops: object = None,
    within_ops_fn: Callable[[Operation], Any] | None = None,
    control_inputs: bool = False,
    control_outputs: object = None,
    control_ios: object = None,
) -> list[Operation]:
    """What lies between: operations that a walk forward and one backward both reach.

    The arguments are those of `get_forward_walk_ops` and `get_backward_walk_ops`.
    """
    forward, backward = _both_walks(
        (forward_seed_ops, backward_seed_ops),
        (forward_inclusive, backward_inclusive),
        {"within_ops": within_ops, "within_ops_fn": within_ops_fn},
        (control_inputs, control_outputs, control_ios),
    )
    known = frozenset(backward)
    return [op for op in forward if op in known]


@export("contrib.graph_editor.get_walks_union_ops")
def get_walks_union_ops(
    forward_seed_ops: object,
    backward_seed_ops: object,
    forward_inclusive: bool = True,
    backward_inclusive: bool = True,
    within_ops: object = None,
    within_ops_fn: Callable[[Operation], Any] | None = None,
    control_inputs: bool = False,
    control_outputs: object = None,
    control_ios: object = None,
) -> list[Operation]:
    """Operations that a walk forward or one backward reaches.

    The arguments are those of `get_forward_walk_ops` and `get_backward_walk_ops`.
    """
    forward, backward = _both_walks(
        (forward_seed_ops, backward_seed_ops),
        (forward_inclusive, backward_inclusive),
        {"within_ops": within_ops, "within_ops_fn": within_ops_fn},
        (control_inputs, control_outputs, control_ios),
    )
    return util.concatenate_unique(forward, backward)


def _selected(
    args: Iterable[Any],
    given: dict[str, Any],
    mine: str,
    others: str,
    by_regex: Callable[..., list[Any]],
    listed: Callable[[Any], list[Any]],
) -> list[Any]:
    """What patterns and lists name; "(?#ops)" or "(?#ts)" in a pattern says what it is for."""
    known = {"graph", "positive_filter", "restrict_ops_regex", "restrict_ts_regex"}
    for key in given:
        if key not in known:
            raise ValueError(f"Wrong keywords argument: {key}.")
    graph, wanted = given.get("graph"), given.get("positive_filter")
    if graph is not None and not isinstance(graph, Graph):
        raise TypeError(f"Expected a tf.Graph, got: {type(graph)}")
    found: list[Any] = []
    for arg in args:
        if can_be_regex(arg):
            if graph is None:
                raise ValueError("Use the keyword argument 'graph' to use regex.")
            regex = make_regex(arg)
            is_for_mine = regex.pattern.startswith(f"(?#{mine})")
            if regex.pattern.startswith(f"(?#{others})"):
                continue
            if given.get(f"restrict_{mine}_regex", False) and not is_for_mine:
                continue
            items = by_regex(graph, regex)
        else:
            items = listed(arg)
        chosen = [item for item in items if wanted is None or wanted(item)]
        util.concatenate_unique(found, chosen)
    return found


@export("contrib.graph_editor.select_ops")
def select_ops(*args: Any, **kwargs: Any) -> list[Operation]:
    """Operations by patterns of names and lists (tf.contrib.graph_editor.select_ops).

    Args:
        *args: patterns, Operations and lists of them.
        **kwargs: `graph`, which patterns look in; `positive_filter`, a function that must hold;
            `restrict_ops_regex`, whether only patterns that begin with "(?#ops)" count.

    Raises:
        ValueError: a pattern has no graph, or there is another keyword.
        TypeError: the graph is none.
    """
    return _selected(
        *(args, kwargs, "ops", "ts", filter_ops_from_regex),
        lambda arg: util.make_list_of_op(arg, ignore_ts=True),
    )


@export("contrib.graph_editor.select_ts")
def select_ts(*args: Any, **kwargs: Any) -> list[Tensor]:
    """Tensors by patterns of names and lists (tf.contrib.graph_editor.select_ts).

    Args:
        *args: patterns, Tensors and lists of them.
        **kwargs: `graph`, which patterns look in; `positive_filter`, a function that must hold;
            `restrict_ts_regex`, whether only patterns that begin with "(?#ts)" count.

    Raises:
        ValueError: a pattern has no graph, or there is another keyword.
        TypeError: the graph is none.
    """
    return _selected(
        *(args, kwargs, "ts", "ops", filter_ts_from_regex),
        lambda arg: util.make_list_of_t(arg, ignore_ops=True),
    )


@export("contrib.graph_editor.select_ops_and_ts")
def select_ops_and_ts(*args: Any, **kwargs: Any) -> tuple[list[Operation], list[Tensor]]:
    """Operations and tensors by patterns and lists; tensors' patterns begin with "(?#ts)"."""
    ops = select_ops(*args, restrict_ops_regex=False, **kwargs)
    return ops, select_ts(*args, restrict_ts_regex=True, **kwargs)
