# SPDX-License-Identifier: Apache-2.0
"""Max pooling remembers where its maxima are, and gradients stay pooled as long as they can.

The gradient of max pooling is zero but for one element of a window.  Masks (the gradient of a
relu), sums (that of a bias) and convolutions' gradients behind it are rewritten to read the pooled
gradient and the places of the maxima; what must have the whole tensor gets it from these.
Imports tensor IR, kernel IR, sizes, rewriting, and roles of the library's calls.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...engine.record_class import record
from ..kernel import ir
from ..kernel.size_scope import Scope
from ..kernel.sizes import same_shape
from ..library import max_pool_argmax
from ..program.editing import Program
from ..program.tensor_ir import Call, Map, Node, Reduce, Value
from .rewriting import building


def route_pooled_gradients(program: Program, scope: Scope) -> None:
    """Rewrites the gradients of max pooling that comes in the same program."""
    # The pooling comes first in the program, as its gradient takes what it gives; without it the
    # gradient looks for the maxima itself.
    pools: dict[tuple[Value, str], Call] = {}
    for node in program.nodes:
        if not isinstance(node, Call) or not program.holds(node):
            continue
        if isinstance(node.role, max_pool_argmax.MaxPoolRole):
            pools.setdefault((node.inputs[0], max_pool_argmax.key(node.role.windows)), node)
        elif isinstance(node.role, max_pool_argmax.MaxPoolGradRole):
            key = node.inputs[0], max_pool_argmax.key(node.role.windows)
            if key in pools:
                pools[key] = _remembering(program, scope, pools[key], node.role.windows)
                route = Route(program, scope, pools[key], node.role.windows)
                _follow(route, node.outputs[0], node.inputs[1])


def _remembering(
    program: Program, scope: Scope, pool: Call, windows: max_pool_argmax.Windows
) -> Call:
    """The pooling as one that also gives the places of its maxima."""
    # (Another gradient of it has been here.)
    if len(pool.outputs) > 1:
        return pool
    with building(program, scope, pool) as b:
        call = max_pool_argmax.max_pool_places(b, pool.inputs[0], windows)[0].node
    program.take_over(call, pool)
    assert isinstance(call, Call)
    return call


@record(frozen=True)
class Route:
    """One max pooling (of x, giving y and the places of its maxima) on the way of a gradient."""

    program: Program
    scope: Scope
    pool: Call
    windows: max_pool_argmax.Windows

    @property
    def x(self) -> Value:
        """What is pooled."""
        return self.pool.inputs[0]

    @property
    def y(self) -> Value:
        """The maxima."""
        return self.pool.outputs[0]

    @property
    def places(self) -> Value:
        """Where they are."""
        return self.pool.outputs[1]


def _follow(route: Route, whole: Value, pooled: Value) -> None:
    """Rewrites who reads `whole`, which is `pooled` where the maxima are, by the first rule."""
    left = whole in route.program.kept
    for reader in route.program.users(whole):
        left |= not any(
            isinstance(reader, rule.root) and rule.rewrite(route, reader, whole, pooled)
            for rule in READERS
        )
    if left:
        with building(route.program, route.scope, whole.node) as b:
            spread = max_pool_argmax.spread(b, whole.shape, pooled, route.places, route.windows)
        route.program.take_over(spread.node, whole.node)


@record(frozen=True)
class Reader:
    """How one kind of node reads a pooled gradient instead of the whole one.

    rewrite(route, node, whole, pooled) does it and says so, or leaves the node alone.
    """

    name: str
    formula: str
    root: type[Node]
    rewrite: Callable[[Route, Any, Value, Value], bool]


def _mask(route: Route, node: Map, whole: Value, pooled: Value) -> bool:
    """A map that keeps some elements, chosen by the pooling's input alone.

    On the pooled side it looks at the maximum, which is what the pooling's input was there.
    """
    if len(node.exprs) != 1 or not same_shape(node.outputs[0].shape, whole.shape):
        return False
    # What else it read would have to be looked up at the maximum as well; but for single numbers.
    if not all(value is whole or value is route.x or not value.ndim for value in node.inputs):
        return False
    reads = {number for number, value in enumerate(node.inputs) if value is whole}
    if not _is_mask(node.exprs[0], reads):
        return False
    pooling = {whole: pooled, route.x: route.y}
    inputs = tuple(pooling.get(value, value) for value in node.inputs)
    with route.program.adding(node, like=node):
        (masked,) = route.program.add(Map(inputs, node.exprs), (pooled.dtype, pooled.shape))
    _follow(route, node.outputs[0], masked)
    return True


def _sum(route: Route, node: Reduce, whole: Value, pooled: Value) -> bool:
    """A sum over all positions: what is left out are zeros."""
    # Both dimensions that are pooled: along one alone the rows of the pooled tensor are others.
    if node.fn != "sum" or not {1, 2} <= node.axes:
        return False
    route.program.set_inputs(node, (pooled,))
    return True


def _gradient(route: Route, node: Call, whole: Value, pooled: Value) -> bool:
    """A kernel that the library also has for pooled gradients."""
    role = node.role
    if (
        not isinstance(role, max_pool_argmax.AcceptsPooledGrad)
        or node.inputs[role.position] is not whole
    ):
        return False
    with building(route.program, route.scope, node) as b:
        made = role.instead(b, pooled, route.places, route.windows)
    if made is NotImplemented:
        return False
    route.program.take_over(made.node, node)
    return True


READERS = (
    Reader("mask", "map select(%x > 0, %whole, 0 * %whole) → the same of %y, %pooled", Map, _mask),
    Reader("sum", "sum over [0, 1, 2] %whole → sum over [0, 1, 2] %pooled", Reduce, _sum),
    Reader("gradient", "call gradient %whole → call gradient %pooled %places", Call, _gradient),
)


def _is_mask(expr: ir.Expr, buffers: set[int]) -> bool:
    """Is an expression one of these buffers, that times zero, or zero, whatever the others hold?"""
    if isinstance(expr, ir.Load):
        return expr.buffer in buffers
    # Elsewhere than at the maxima the gradient is zero, and what is kept of it or not stays zero.
    if isinstance(expr, ir.Const):
        return expr.value == 0
    if isinstance(expr, ir.Apply) and expr.fn == "mul":
        # Zero where the buffer is zero, no number where it has none.
        masked, factor = sorted(expr.args, key=lambda arg: isinstance(arg, ir.Const))
        is_zero = isinstance(factor, ir.Const) and factor.value == 0
        return is_zero and _is_mask(masked, buffers)
    if not isinstance(expr, ir.Apply) or expr.fn != "select":
        return False
    choice, *both = expr.args
    return not _loads(choice, buffers) and all(_is_mask(arg, buffers) for arg in both)


def _loads(expr: ir.Expr, buffers: set[int]) -> bool:
    if isinstance(expr, ir.Load):
        return expr.buffer in buffers
    return isinstance(expr, ir.Apply) and any(_loads(arg, buffers) for arg in expr.args)
