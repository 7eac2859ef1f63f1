# SPDX-License-Identifier: Apache-2.0
"""Max pooling remembers where its maxima are, and gradients stay pooled as long as they can.

The gradient of max pooling is zero but for one element of a window.  Masks (the gradient of a
relu), sums (that of a bias) and convolutions' gradients behind it are rewritten to read the pooled
gradient and the places of the maxima; what must have the whole tensor gets it from these.
Imports tensor IR, kernel IR, sizes, and roles of the library's calls.
"""

from __future__ import annotations

from collections.abc import Sequence

from . import ir
from .library import maxima
from .lower import Builder
from .sizes import Scope, same_shape
from .tensor import Call, Map, Node, Program, Reduce, Value


def unpool(program: Program, scope: Scope) -> None:
    """Rewrites the gradients of max pooling that comes in the same program."""
    pools: dict[tuple[int, str], Value] = {}
    for node in list(program.nodes):
        if not isinstance(node, Call):
            continue
        if isinstance(node.role, maxima.Pools):
            pools.setdefault((id(node.inputs[0]), maxima.key(node.role.windows)), node.outputs[0])
        elif isinstance(node.role, maxima.Unpools):
            y = pools.get((id(node.inputs[0]), maxima.key(node.role.windows)))
            if y is not None:
                _Unpooling(program, scope, y, node.role.windows).rewrite(node)


class _Unpooling:
    """One max pooling and one gradient of it."""

    def __init__(self, program: Program, scope: Scope, y: Value, windows: maxima.Windows) -> None:
        self.program, self.scope, self.windows = program, scope, windows
        self.x, self.y = y.node.inputs[0], y
        if len(y.node.outputs) == 1:
            start = len(program.nodes)
            maxima.max_pool_places(Builder(program, scope), self.x, windows)
            self._instead_of(y.node, start)
        self.places = y.node.outputs[1]

    def rewrite(self, gradient: Call) -> None:
        """Takes the gradient's readers to the pooled gradient."""
        self._follow(gradient.outputs[0], gradient.inputs[1])

    def _follow(self, whole: Value, pooled: Value) -> None:
        """Rewrites who reads `whole`, which is `pooled` where the maxima are."""
        left = any(whole is value for value in self._outside())
        for reader in [node for node in self.program.nodes if whole in node.inputs]:
            if isinstance(reader, Map) and self._masks(reader, whole):
                self._follow(reader.outputs[0], self._masked(reader, whole, pooled))
            elif isinstance(reader, Reduce) and reader.fn == "sum" and {1, 2} <= reader.axes:
                reader.inputs = (pooled,)
            elif not self._takes(reader, whole, pooled):
                left = True
        if left:
            b, start = Builder(self.program, self.scope), len(self.program.nodes)
            maxima.spread(b, whole.shape, pooled, self.places, self.windows)
            self._instead_of(whole.node, start)

    def _outside(self) -> Sequence[Value]:
        return self.program.kept()

    def _masks(self, node: Map, whole: Value) -> bool:
        """Does a map keep some elements of `whole`, chosen by the pooling's input alone?"""
        if len(node.exprs) != 1 or not same_shape(node.outputs[0].shape, whole.shape):
            return False
        if not all(value is whole or value is self.x for value in node.inputs):
            return False
        reads = {number for number, value in enumerate(node.inputs) if value is whole}
        return _is_mask(node.exprs[0], reads)

    def _masked(self, node: Map, whole: Value, pooled: Value) -> Value:
        """The same mask on the pooled side: the maximum is what the pooling's input was there."""
        made = Map(tuple(pooled if value is whole else self.y for value in node.inputs), node.exprs)
        made.origin = node.origin
        made.outputs.append(Value(pooled.dtype, pooled.shape, made))
        self.program.nodes.insert(self.program.nodes.index(node), made)
        return made.outputs[0]

    def _takes(self, node: Node, whole: Value, pooled: Value) -> bool:
        role = node.role if isinstance(node, Call) else None
        if not isinstance(role, maxima.TakesUnpooled) or node.inputs[role.position] is not whole:
            return False
        b, start = Builder(self.program, self.scope), len(self.program.nodes)
        if role.instead(b, pooled, self.places, self.windows) is NotImplemented:
            return False
        self._instead_of(node, start)
        return True

    def _instead_of(self, old: Node, start: int) -> None:
        """The nodes from `start` on come where `old` was; the last one gives its result."""
        nodes = self.program.nodes
        made = nodes[start:]
        del nodes[start:]
        for node in made:
            node.origin = old.origin
        last = made[-1]
        assert isinstance(last, Call)
        last.outputs[0] = old.outputs[0]
        last.outputs[0].node = last
        place = nodes.index(old)
        nodes[place : place + 1] = made


def _is_mask(expr: ir.Expr, buffers: set[int]) -> bool:
    """Is an expression one of these buffers or zero, whatever the others hold?"""
    if isinstance(expr, ir.Load):
        return expr.buffer in buffers
    if isinstance(expr, ir.Const):
        return expr.value == 0
    if not isinstance(expr, ir.Apply) or expr.fn != "select":
        return False
    choice, *both = expr.args
    return not _loads(choice, buffers) and all(_is_mask(arg, buffers) for arg in both)


def _loads(expr: ir.Expr, buffers: set[int]) -> bool:
    if isinstance(expr, ir.Load):
        return expr.buffer in buffers
    return isinstance(expr, ir.Apply) and any(_loads(arg, buffers) for arg in expr.args)
