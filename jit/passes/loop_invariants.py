# SPDX-License-Identifier: Apache-2.0
"""What is the same in every turn of a loop is computed once, in front of it.

That are library kernels, sums and gathers of what comes from outside; and a right factor of a
product that does not change is packed there, where else every turn would pack it again.  (Maps stay
where their readers are: they are fused with these.)  Nor is it kept for each turn: a gradient takes
it from outside, where variables that a loop's body reads would be copied to a stack in every turn.
Imports tensor IR, sizes and products.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from ..kernel.size_scope import Scope
from ..kernel.sizes import same_shape
from ..program.editing import Program
from ..program.node_sizes import symbols_of_node
from ..program.tensor_ir import (
    Call,
    Captured,
    Compose,
    Constant,
    Effects,
    Gather,
    GrowableStack,
    Iota,
    Loop,
    Map,
    Node,
    Read,
    Reduce,
    Register,
    Reshape,
    Sizes,
    Value,
    View,
    written_cells,
)
from .matmul_rewrites import is_plain_product, retarget
from .rewriting import building

# What is worth a value of its own in memory while the loop runs.
_WORK = (Call, Reduce, Gather)
# What gives the same wherever it stands, if what it takes is the same.
_PURE = (*_WORK, Map, View, Reshape, Compose, Iota, Constant, Sizes)


def leave_loops(program: Program, scope: Scope) -> None:
    """Moves what does not change out of the bodies of a program's loops, and of those in them."""
    loops = [node for node in program if isinstance(node, Loop)]
    for loop in loops:
        leave_loops(loop.body, scope)
    for stack, uses in _stacks(program, loops).items():
        _take_from_outside(program, scope, stack, uses)
    for loop in loops:
        _Body(program, loop, scope).clear()


# A call that works on a stack, and the loop in whose body it stands (None: in none).
Use = tuple[Loop | None, Call]


def _stacks(program: Program, loops: Iterable[Loop]) -> dict[GrowableStack, list[Use]]:
    """The stacks that the bodies of loops use, and those not within them, with what does."""
    uses: dict[GrowableStack, list[Use]] = {}
    elsewhere: set[object] = set()
    for loop, part in ((None, program), *((loop, loop.body) for loop in loops)):
        for node in part:
            if isinstance(node, Call) and node.effects.stack is not None:
                uses.setdefault(node.effects.stack, []).append((loop, node))
            elif not isinstance(node, Loop) or loop is not None:
                elsewhere.update(written_cells(node))
    for loop in loops:
        elsewhere.update(cell for node in loop.test for cell in written_cells(node))
    return {stack: found for stack, found in uses.items() if stack not in elsewhere}


def _take_from_outside(
    program: Program, scope: Scope, stack: GrowableStack, uses: Sequence[Use]
) -> None:
    """Does without a stack if all that is pushed to it is the same in every turn."""
    pushes = [(loop, call) for loop, call in uses if call.effects.grows]
    pops = [(loop, call) for loop, call in uses if call.outputs]
    clears = [call for loop, call in uses if loop is None]
    if len(pushes) != 1 or len(pushes) + len(pops) + len(clears) < len(uses) or not pops:
        return
    ((source, push),) = pushes
    if source is None or push.guard or len(push.inputs) != 1 or push.outputs:
        return
    (value,) = push.inputs
    if not all(_gives_back(loop, pop, source, value) for loop, pop in pops):
        return
    if any(call.inputs or call.outputs for call in clears):
        return
    body = _Body(program, source, scope)
    if not body.is_same(value.node):
        return
    outer = body.outside(value)
    for loop, pop in pops:
        assert loop is not None
        loop.body.replace(pop.outputs[0], _Body(program, loop, scope).captured(outer))
        loop.body.remove(pop)
    source.body.remove(push)
    for call in clears:
        program.remove(call)
    for each in {loop for loop, _ in (*pushes, *pops) if loop is not None}:
        each.written = tuple(cell for cell in each.written if cell is not stack)
        each.read = tuple(cell for cell in each.read if cell is not stack)


def _gives_back(loop: Loop | None, pop: Call, source: Loop, value: Value) -> bool:
    """Does a call in another loop than `source` take such a value from the stack, and no more?"""
    if loop is None or loop is source or pop.inputs or len(pop.outputs) != 1:
        return False
    return _alike(pop.outputs[0], value)


def _alike(one: Value, other: Value) -> bool:
    return one.dtype == other.dtype and same_shape(one.shape, other.shape)


class _Body:
    """The body of one loop, and what of it is known outside."""

    def __init__(self, program: Program, loop: Loop, scope: Scope) -> None:
        self.program, self.loop, self.scope = program, loop, scope
        self._is_same: dict[Node, bool] = {}
        self._outside: dict[Value, Value] = {}
        # Symbols that are other numbers in each turn.
        bodies = set(loop.body.all()) | set(loop.test.all())
        self._turning = {name for name, body in scope.turns.items() if body in bodies}

    def clear(self) -> None:
        """Moves what is worth it."""
        body = self.loop.body
        for node in body.nodes:
            if isinstance(node, _WORK) and self.is_same(node):
                for value in node.outputs:
                    if body.users(value) or value in body.kept:
                        body.replace(value, self.captured(self.outside(value)))
            elif is_plain_product(node) and node.role.is_packed_by_turns:
                right = node.inputs[1]
                if self.is_same(right.node):
                    self._pack(node, right)

    def is_same(self, node: Node) -> bool:
        """Does a node give the same in every turn?"""
        known = self._is_same.get(node)
        if known is None:
            known = self._is_same[node] = self._gives_the_same(node)
        return known

    def _gives_the_same(self, node: Node) -> bool:
        if isinstance(node, Captured):
            return node.loop is self.loop
        if isinstance(node, Read):
            is_own = isinstance(node.cell, (Register, GrowableStack))
            return not is_own and node.cell not in self.loop.written
        if not isinstance(node, _PURE) or node.guard or node.after:
            return False
        if isinstance(node, Call) and (node.reserve is not None or node.effects != Effects()):
            return False
        if not self._turning.isdisjoint(symbols_of_node(node)):
            return False
        return all(self.is_same(value.node) for value in node.inputs)

    def outside(self, value: Value) -> Value:
        """What a value that is the same in every turn is in front of the loop."""
        node = value.node
        if isinstance(node, Captured):
            return self.loop.inputs[node.number]
        if value not in self._outside:
            inputs = tuple(map(self.outside, node.inputs))
            with self.program.adding(self.loop, like=self.loop):
                copy = replace(node, inputs=inputs) if node.inputs else replace(node)
                made = self.program.add(copy, *((v.dtype, v.shape) for v in node.outputs))
            copy.origin = node.origin
            for inner, outer in zip(node.outputs, made):
                outer.known = inner.known
                self._outside[inner] = outer
        return self._outside[value]

    def captured(self, value: Value) -> Value:
        """A value from outside, for use in the body."""
        loop, body = self.loop, self.loop.body
        first = next(iter(body))
        source = Captured(loop, len(loop.inputs))
        self.program.set_inputs(loop, (*loop.inputs, value))
        with body.adding(first, like=first):
            (inner,) = body.add(source, (value.dtype, value.shape))
        inner.known = value.known
        return inner

    def _pack(self, call: Call, right: Value) -> None:
        """A product reads its right factor as it was packed in front of the loop."""
        product = call.role
        outer = self.outside(right)
        with building(self.program, self.scope, self.loop) as b:
            panels = self.captured(product.panels(b, outer))
        self.loop.body.set_inputs(call, (call.inputs[0], panels, *call.inputs[2:]))
        retarget(call, product.with_panels())
