# SPDX-License-Identifier: Apache-2.0
"""`tf.while_loop` as one node, whose condition and body are functions of the library."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ....engine.graph.convert import (
    convert_n_to_tensor_or_indexed_slices,
    convert_to_tensor,
)
from ....engine.graph.defaults import get_default_graph
from ....engine.graph.scope_functions import control_dependencies, name_scope
from ....engine.graph.tensor import Tensor
from ....engine.types import dtypes, nest
from ....engine.types.shape import TensorShape
from ...public import raw, tf
from ..shapes import invariants_of, is_within
from .branches import _prunes, mark_lowered
from .graphs import BodyGraph, as_function, build, flow_of, pack, parameter, unique_fn_name

# Before the variables of a loop stand the number of the turn and the most turns, or -1.
LEADING = 2
# How many outputs of a loop were there before gradients needed more.
ORIGINAL = "_num_original_outputs"


def while_loop(
    cond: Callable[..., Any],
    body: Callable[..., Any],
    loop_vars: Sequence[Any],
    shape_invariants: Any = None,
    parallel_iterations: int = 10,
    maximum_iterations: Any = None,
    name: str | None = None,
    return_same_structure: bool = True,
    back_prop: bool = True,
) -> Any:
    """`tf.while_loop`, as one `While` node.

    Args:
        cond, body, loop_vars, shape_invariants, parallel_iterations, maximum_iterations,
        return_same_structure: as of `tf.while_loop`.
        name: the node's scope, "while" by default.
        back_prop: accepted: what gradients need is kept once a gradient is asked for.

    Returns:
        The values of the variables afterwards, in their structure.

    Raises:
        ValueError: a variable changes its shape without an invariant.
        TypeError: a variable changes its dtype.
    """
    del back_prop
    original = list(loop_vars)
    flat = [flow_of(x) for x in nest.flatten(original)]
    flat = convert_n_to_tensor_or_indexed_slices(flat)
    shapes = _shapes(flat, shape_invariants)
    flat = nest.flatten(flat, expand_composites=True)
    with name_scope(name or "while", "while") as scope:
        limit = convert_to_tensor(
            -1 if maximum_iterations is None else maximum_iterations,
            dtypes.int32,
            name="maximum_iterations",
        )
        counter = tf.constant(0, dtypes.int32, name="loop_counter")
        given = [counter, limit, *flat]
        shapes = [TensorShape([])] * LEADING + shapes
        loop = _Loop(scope, given, shapes)
        loop.build(cond, body, original, maximum_iterations is not None)
        found = loop.node(scope, parallel_iterations)
        results = [tf.identity(x) for x in found]
    packed = pack(original, results[LEADING : LEADING + len(flat)])
    if return_same_structure or len(flat) != 1:
        return packed
    return nest.flatten(packed, expand_composites=True)[0]


def _shapes(flat: Sequence[Any], declared: Any) -> list[TensorShape]:
    if declared is None:
        found = [invariants_of(x) for x in flat]
    else:
        found = [invariants_of(x, s) for x, s in zip(flat, nest.flatten(declared), strict=True)]
    return nest.flatten(found)


class _Loop:
    """The two bodies of a loop while they are built."""

    def __init__(self, scope: str, given: list[Tensor], shapes: list[TensorShape]) -> None:
        outer = get_default_graph()
        self.cond = BodyGraph(unique_fn_name(scope, "cond"), outer)
        self.body = BodyGraph(unique_fn_name(scope, "body"), outer)
        self.given, self.shapes = given, shapes

    def build(
        self, cond: Callable[..., Any], body: Callable[..., Any], original: list[Any], limited: bool
    ) -> None:
        """Calls what builds condition and body."""

        def goes_on(number: Tensor, limit: Tensor, *values: Tensor) -> Any:
            found = cond(*pack(original, values))
            if isinstance(found, Tensor) and found.shape.rank != 0:
                found = tf.squeeze(found)
            return tf.logical_and(number < limit, found) if limited else found

        def turn(number: Tensor, limit: Tensor, *values: Tensor) -> Any:
            # In the order of the condition's, of which each is a parameter here, too.
            for tensor in self.cond.external_captures:
                self.body.capture(tensor)
            found = body(*pack(original, values))
            found = list(found) if nest.is_sequence(found) else [found]
            nest.assert_same_structure(found, original, expand_composites=True)
            return [number + 1, limit, *found]

        for graph, function in ((self.cond, goes_on), (self.body, turn)):
            args = [parameter(graph, x, s) for x, s in zip(self.given, self.shapes, strict=True)]
            build(graph, function, args)
        self._check()
        for tensor in self.body.external_captures:
            self.cond.capture(tensor)
        self.body.outputs += self.body.internal_captures

    def _check(self) -> None:
        """The results of the body are what it is given again."""
        pairs = list(zip(self.body.outputs, self.given, self.shapes, strict=True))
        for result, given, shape in pairs:
            if not is_within(result.shape, shape):
                raise ValueError(
                    f"Input tensor '{given.name}' enters the loop with shape {shape}, but has "
                    f"shape {result.shape} after one iteration. To allow the shape to vary across "
                    "iterations, use the `shape_invariants` argument of tf.while_loop to specify "
                    "a less-specific shape."
                )
        for result, given, _ in pairs:
            if result.dtype.base_dtype != given.dtype.base_dtype:
                raise TypeError(
                    f"Loop var {given.name} enters the loop with type "
                    f"{given.dtype.base_dtype} but has type {result.dtype.base_dtype} after "
                    "1 iteration."
                )

    def node(self, scope: str, parallel_iterations: int) -> list[Tensor]:
        """The node's outputs."""
        bodies = [self.cond, self.body]
        shapes = [*self.shapes, *(x.shape for x in self.body.external_captures)]
        make = raw.StatelessWhile if _prunes(bodies, 8, 23) else raw.While
        with control_dependencies([op for each in bodies for op in each.control_captures]):
            found: list[Tensor] = make(
                [*self.given, *self.body.external_captures],
                cond=as_function(self.cond),
                body=as_function(self.body),
                output_shapes=shapes,
                parallel_iterations=parallel_iterations,
                name=scope,
            )
        op = found[0].op
        op._set_attr(ORIGINAL, len(found))  # type: ignore[arg-type]
        mark_lowered(op)
        return found
