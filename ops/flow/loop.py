# SPDX-License-Identifier: Apache-2.0
"""`tf.while_loop`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from ...engine.api import export
from ...engine.graph.collections import GraphKeys, add_to_collection, register_proto_function
from ...engine.graph.convert import convert_to_tensor
from ...engine.graph.defaults import get_default_graph
from ...engine.graph.scope_functions import name_scope
from ...engine.tracebacks import shorten
from ...engine.types import nest
from ...engine.types.shape import TensorShape
from ..public import tf
from .shapes import invariants_of
from .util import EnableControlFlowV2
from .while_context import WhileContext

if TYPE_CHECKING:
    from ...engine.graph.annotations import TensorLike
    from ...engine.graph.tensor import Tensor


@export("while_loop")
def while_loop(
    cond: Callable[..., Any],
    body: Callable[..., Any],
    loop_vars: Sequence[Any],
    shape_invariants: Any = None,
    parallel_iterations: int = 10,
    back_prop: bool = True,
    swap_memory: bool = False,
    name: str | None = None,
    maximum_iterations: TensorLike | None = None,
    return_same_structure: bool = False,
) -> Any:
    """Repeats `body` while `cond` is true.

    Args:
        cond: a function of the loop variables that returns a bool scalar tensor.
        body: a function of the loop variables that returns their next values.
        loop_vars: the initial values: a structure of tensors and TensorArrays.
        shape_invariants: shapes that the variables keep, where these are to change.
        parallel_iterations: how many iterations may overlap; here they run one by one.
        back_prop: whether gradients go through the loop.
        swap_memory: accepted; there is one memory.
        name: the scope of the nodes.
        maximum_iterations: the most iterations, an integer scalar.
        return_same_structure: whether a list or tuple of one variable is returned as such.

    Returns:
        The values of the loop variables afterwards, in their structure.

    Raises:
        TypeError: cond or body is no function, or parallel_iterations not positive.
        ValueError: there are no variables, or one changes its shape without an invariant.

    Example:
        >>> i, total = tf.while_loop(
        ...     lambda i, total: i < 4, lambda i, total: (i + 1, total + i), [0, 0]
        ... )
        >>> tf.Session().run(total)
        np.int32(6)
    """
    _check(cond, body, parallel_iterations)
    if EnableControlFlowV2(get_default_graph()):
        return _as_node(
            *(cond, body, loop_vars, shape_invariants, parallel_iterations, maximum_iterations),
            *(name, return_same_structure),
        )
    from .effects import in_order

    return in_order(
        loop_vars,
        lambda given, wrap: _while_loop(
            *(wrap(cond), wrap(body), given, shape_invariants, parallel_iterations, back_prop),
            *(swap_memory, name, maximum_iterations, return_same_structure),
        ),
    )


def _while_loop(
    cond: Callable[..., Any],
    body: Callable[..., Any],
    loop_vars: Sequence[Any],
    shape_invariants: Any,
    parallel_iterations: int,
    back_prop: bool,
    swap_memory: bool,
    name: str | None,
    maximum_iterations: TensorLike | None,
    return_same_structure: bool,
) -> Any:
    """A loop of TensorFlow 1's nodes; the arguments are those of `while_loop`."""
    with name_scope(name, "while", loop_vars):
        if not loop_vars:
            raise ValueError("No loop variables provided")
        limit = maximum_iterations
        if limit is not None:
            limit = convert_to_tensor(limit, name="maximum_iterations")
            is_single = len(loop_vars) == 1 and not return_same_structure
            cond, body, loop_vars = _limited(cond, body, loop_vars, limit, is_single)
        if shape_invariants is not None:
            if limit is not None:
                shape_invariants = (TensorShape([]), shape_invariants)
            shape_invariants = _declared(loop_vars, shape_invariants)
        context = WhileContext(
            maximum_iterations=limit,
            parallel_iterations=parallel_iterations,
            back_prop=back_prop,
            swap_memory=swap_memory,
        )
        if context.outer_context is None:
            add_to_collection(GraphKeys.WHILE_CONTEXT, context)
        try:
            result = context.BuildLoop(
                cond, body, loop_vars, shape_invariants, return_same_structure
            )
        except Exception as error:
            shorten(error)
            raise
        return result if limit is None else result[1]


def _as_node(cond: Any, body: Any, loop_vars: Any, *options: Any) -> Any:
    from .v2.loops import while_loop as build

    if not loop_vars:
        raise ValueError("No loop variables provided")
    try:
        return build(cond, body, loop_vars, *options)
    except Exception as error:
        shorten(error)
        raise


def _check(cond: object, body: object, parallel_iterations: int) -> None:
    if not callable(cond):
        raise TypeError("cond must be callable.")
    if not callable(body):
        raise TypeError("body must be callable.")
    if parallel_iterations < 1:
        raise TypeError("parallel_iterations must be a positive integer.")


def _limited(
    cond: Callable[..., Any],
    body: Callable[..., Any],
    loop_vars: Sequence[Any],
    limit: Tensor,
    is_single: bool,
) -> tuple[Any, Any, Any]:
    """The loop with a counter before the variables, which ends it at `limit`."""
    if limit.shape.ndims != 0:
        raise ValueError(f"maximum_iterations must be a scalar, saw shape: {limit.shape}")
    counter = tf.constant(0, dtype=limit.dtype, name="iteration_counter")
    if is_single:
        return (
            lambda i, value: tf.logical_and(i < limit, cond(value)),
            lambda i, value: (i + 1, body(value)),
            (counter, loop_vars[0]),
        )
    return (
        lambda i, values: tf.logical_and(i < limit, cond(*values)),
        lambda i, values: (i + 1, body(*values)),
        (counter, loop_vars),
    )


def _declared(loop_vars: Sequence[Any], shape_invariants: Sequence[TensorShape]) -> Any:
    nest.assert_same_structure(loop_vars, shape_invariants, expand_composites=False)
    return nest.map_structure(invariants_of, loop_vars, shape_invariants)


def _context_def() -> Any:
    from ...io import protos

    return protos.WhileContextDef()


register_proto_function(
    GraphKeys.WHILE_CONTEXT, _context_def, WhileContext.to_proto, WhileContext.from_proto
)
