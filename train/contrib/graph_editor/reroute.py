# SPDX-License-Identifier: Apache-2.0
"""Operations that take other tensors from now on."""

from __future__ import annotations

from typing import Any

from ....engine.api import export
from ....engine.graph.operation import Operation
from . import subgraph, util
from .subgraph import SubGraphView

# Which of two lists' consumers move: those of the second to the first, and those of the first to
# the second.
_SWAP, _A_TO_B = (True, True), (True, False)
Mode = tuple[bool, bool]


def _check_fit(ts0: list[Any], ts1: list[Any]) -> None:
    if len(ts0) != len(ts1):
        raise ValueError(f"ts0 and ts1 have different sizes: {len(ts0)} != {len(ts1)}")
    for t0, t1 in zip(ts0, ts1):
        if not t0.dtype.is_compatible_with(t1.dtype):
            raise ValueError(f"Dtypes {t0.dtype} and {t1.dtype} are not compatible.")
        if not t0.shape.is_compatible_with(t1.shape):
            raise ValueError(f"Shapes {t0.shape} and {t1.shape} are not compatible.")


def _reroute_ts(
    ts0: object, ts1: object, mode: Mode, can_modify: object = None, cannot_modify: object = None
) -> int:
    ts0, ts1 = util.make_list_of_t(ts0), util.make_list_of_t(ts1)
    _check_fit(ts0, ts1)
    allowed = None if can_modify is None else frozenset(util.make_list_of_op(can_modify))
    kept = frozenset(() if cannot_modify is None else util.make_list_of_op(cannot_modify))
    moves: list[tuple[Operation, int, Any]] = []
    for t0, t1 in zip(ts0, ts1):
        if t0 is t1:
            continue
        for new, old, moved in ((t0, t1, mode[0]), (t1, t0, mode[1])):
            for op in dict.fromkeys(old.consumers()) if moved else ():
                if (allowed is None or op in allowed) and op not in kept:
                    moves += [(op, i, new) for i, t in enumerate(op.inputs) if t is old]
    # Found first, as a tensor may be in both lists.
    for op, i, new in moves:
        op._update_input(i, new)
    return len(moves)


@export("contrib.graph_editor.swap_ts")
def swap_ts(
    ts0: object, ts1: object, can_modify: object = None, cannot_modify: object = None
) -> int:
    """Gives what takes each of two lists of tensors the other.

    Args:
        ts0: Tensors.
        ts1: as many, of fitting dtypes and shapes.
        can_modify: operations that alone are changed.
        cannot_modify: operations that are not.

    Returns:
        How many inputs changed.

    Raises:
        TypeError: something is no tensor.
        ValueError: the lists do not fit each other.
    """
    return _reroute_ts(ts0, ts1, _SWAP, can_modify, cannot_modify)


@export("contrib.graph_editor.reroute_ts")
def reroute_ts(
    ts0: object, ts1: object, can_modify: object = None, cannot_modify: object = None
) -> int:
    """Gives what takes the tensors of a second list those of the first (ge.reroute_ts).

    Args:
        ts0: Tensors.
        ts1: as many, of fitting dtypes and shapes; nothing takes them afterwards.
        can_modify: operations that alone are changed.
        cannot_modify: operations that are not.

    Returns:
        How many inputs changed.

    Raises:
        TypeError: something is no tensor.
        ValueError: the lists do not fit each other.

    Example:
        >>> with tf.Graph().as_default():
        ...     old, new = tf.constant(1), tf.constant(2)
        ...     y = tf.negative(old)
        ...     moved = tf.contrib.graph_editor.reroute_ts(new, old)
        ...     print(moved, tf.Session().run(y))
        1 -2
    """
    return _reroute_ts(ts0, ts1, _A_TO_B, can_modify, cannot_modify)


def _exchange_inputs(sgv0: SubGraphView, sgv1: SubGraphView, mode: Mode) -> None:
    """Has views know of inputs that were exchanged."""
    first, second = sgv0.copy(), sgv1.copy()
    if mode[0]:
        second._input_ts = list(sgv0._input_ts)
        second._passthrough_ts = list(sgv0._passthrough_ts)
    if mode[1]:
        first._input_ts = list(sgv1._input_ts)
        first._passthrough_ts = list(sgv1._passthrough_ts)
    for moved, a, b in ((mode[0], first, second), (mode[1], second, first)):
        for i, t in enumerate(b._output_ts if moved else ()):
            if t in a._passthrough_ts:
                b._output_ts[i] = b._input_ts[a._input_ts.index(t)]
    sgv0._assign_from(first)
    sgv1._assign_from(second)


def _reroute_inputs(sgv0: object, sgv1: object, mode: Mode) -> tuple[SubGraphView, SubGraphView]:
    sgv0, sgv1 = subgraph.make_view(sgv0), subgraph.make_view(sgv1)
    util.check_graphs(sgv0, sgv1)
    takers = [util.get_consuming_ops(view.passthroughs) for view in (sgv0, sgv1)]
    can_modify = [*sgv0.ops, *sgv1.ops, *takers[0], *takers[1]]
    _reroute_ts(sgv0.inputs, sgv1.inputs, mode, can_modify=can_modify)
    _exchange_inputs(sgv0, sgv1, mode)
    return sgv0, sgv1


def _reroute_outputs(sgv0: object, sgv1: object, mode: Mode) -> tuple[SubGraphView, SubGraphView]:
    sgv0, sgv1 = subgraph.make_view(sgv0), subgraph.make_view(sgv1)
    util.check_graphs(sgv0, sgv1)
    _reroute_ts(sgv0.outputs, sgv1.outputs, mode, cannot_modify=sgv0.ops + sgv1.ops)
    return sgv0, sgv1


@export("contrib.graph_editor.swap_inputs")
def swap_inputs(sgv0: object, sgv1: object) -> tuple[SubGraphView, SubGraphView]:
    """Exchanges the inputs of two views, and returns them."""
    return _reroute_inputs(sgv0, sgv1, _SWAP)


@export("contrib.graph_editor.reroute_inputs")
def reroute_inputs(sgv0: object, sgv1: object) -> tuple[SubGraphView, SubGraphView]:
    """Gives the second view the inputs of the first, and returns both."""
    return _reroute_inputs(sgv0, sgv1, _A_TO_B)


@export("contrib.graph_editor.swap_outputs")
def swap_outputs(sgv0: object, sgv1: object) -> tuple[SubGraphView, SubGraphView]:
    """Exchanges what takes the outputs of two views, and returns them."""
    return _reroute_outputs(sgv0, sgv1, _SWAP)


@export("contrib.graph_editor.reroute_outputs")
def reroute_outputs(sgv0: object, sgv1: object) -> tuple[SubGraphView, SubGraphView]:
    """Gives what takes the outputs of the second view those of the first, and returns both."""
    return _reroute_outputs(sgv0, sgv1, _A_TO_B)


@export("contrib.graph_editor.swap_ios")
def swap_ios(sgv0: object, sgv1: object) -> tuple[SubGraphView, SubGraphView]:
    """Exchanges inputs and outputs of two views, and returns them."""
    _reroute_outputs(sgv0, sgv1, _SWAP)
    return _reroute_inputs(sgv0, sgv1, _SWAP)


@export("contrib.graph_editor.reroute_ios")
def reroute_ios(sgv0: object, sgv1: object) -> tuple[SubGraphView, SubGraphView]:
    """Puts the first view in the place of the second, and returns both."""
    _reroute_outputs(sgv0, sgv1, _A_TO_B)
    return _reroute_inputs(sgv0, sgv1, _A_TO_B)


def _operations(op: object, cops: object) -> list[Operation]:
    if not isinstance(op, Operation):
        raise TypeError(f"Expected a tf.Operation, got: {type(op)}")
    return util.make_list_of_op(cops, allow_graph=False)


@export("contrib.graph_editor.remove_control_inputs")
def remove_control_inputs(op: Operation, cops: object) -> None:
    """Has an operation no longer wait for others.

    Raises:
        TypeError: something is no operation.
        ValueError: it does not wait for one.
    """
    others = _operations(op, cops)
    for other in others:
        if other not in op.control_inputs:
            raise ValueError(f"{op.name} is not a control_input of {other.name}")
    kept = [other for other in op.control_inputs if other not in others]
    op._remove_all_control_inputs()
    op._add_control_inputs(kept)


@export("contrib.graph_editor.add_control_inputs")
def add_control_inputs(op: Operation, cops: object) -> None:
    """Has an operation wait for others.

    Raises:
        TypeError: something is no operation.
        ValueError: it waits for one already.
    """
    others = _operations(op, cops)
    for other in others:
        if other in op.control_inputs:
            raise ValueError(f"{other.name} is already a control_input of {op.name}")
    op._add_control_inputs(others)
