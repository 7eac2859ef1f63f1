# SPDX-License-Identifier: Apache-2.0
"""Programs: the nodes of jit/program/tensor_ir.py in order, and the ways to edit them.

Tracing builds a program; the passes of the compiler (jit/passes/pipeline.py) edit it.
Imports tensor IR only.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, KeysView, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from ...engine.record_class import record
from .tensor_ir import (
    Guard,
    Iota,
    Loop,
    Node,
    Read,
    Register,
    Reshape,
    Shape,
    Source,
    Value,
    View,
    Write,
)


@record(frozen=True, slots=True)
class Check:
    """A run fails with error(contents of the evidence) if the 0-d bool `flag` comes out true.

    Nothing outside of the run is changed then by what comes behind it.
    """

    flag: Value
    error: Callable[..., BaseException]
    evidence: tuple[Value, ...] = ()
    behind: Node | None = None  # the last node before it, in program order

    @property
    def values(self) -> tuple[Value, ...]:
        """The flag, then the evidence."""
        return (self.flag, *self.evidence)

    def seen(self, through: Callable[[Value], Value]) -> Check:
        """The same check of other values."""
        evidence = tuple(map(through, self.evidence))
        return replace(self, flag=through(self.flag), evidence=evidence)


class Program:
    """Nodes in program order, what is fetched, and what is checked.

    Tracing appends to it (`add`); passes edit it by the methods below, each of which takes time
    that does not depend on the size of the program, and which keep track of who uses what.
    """

    def __init__(self) -> None:
        self._fetches: list[Value] = []
        self._checks: list[Check] = []
        self._kept: dict[Value, None] | None = None
        # Are some of its constants results of kernels (jit/runtime/constant_parts.py)?
        self.has_computed = False
        # Of the nodes that are added now, see Node.
        self.origin: Any = None
        self.guard: Guard = ()
        self._first: Node | None = None
        self._last: Node | None = None
        self._count = 0
        self._place: Node | None = None  # in front of which `add` adds
        # Tracing, which adds most nodes and takes many back, never asks.
        self._users: dict[Value, dict[Node, None]] | None = None  # None: not asked for yet

    # Looking at it.

    def __iter__(self) -> Iterator[Node]:
        return self.behind(None)

    def __len__(self) -> int:
        return self._count

    @property
    def nodes(self) -> list[Node]:
        """The nodes as they are now, in order: a list that may be walked while they change."""
        return list(self)

    @property
    def last(self) -> Node | None:
        """The last node; see `rollback`."""
        return self._last

    def behind(self, node: Node | None) -> Iterator[Node]:
        """The nodes behind one; all of them for None."""
        found = self._first if node is None else node.behind
        while found is not None:
            yield found
            found = found.behind

    @property
    def is_straight(self) -> bool:
        """Does everything run, whatever comes out?"""
        return not any(node.guard for node in self)

    def all(self) -> Iterator[Program]:
        """This program and those of the loops in it."""
        yield self
        for node in self:
            if isinstance(node, Loop):
                yield from node.test.all()
                yield from node.body.all()

    def users(self, value: Value) -> list[Node]:
        """The nodes that take a value, views included, in program order."""
        return sorted(self._users_of(value), key=lambda node: node.position)

    def _users_of(self, value: Value) -> list[Node]:
        if self._users is None:
            self._users = {}
            for node in self:
                self._use(node)
        return list(self._users.get(value, ()))

    @property
    def fetches(self) -> tuple[Value, ...]:
        """The values that are asked for."""
        return tuple(self._fetches)

    @fetches.setter
    def fetches(self, values: Iterable[Value]) -> None:
        self._fetches, self._kept = list(values), None

    @property
    def checks(self) -> tuple[Check, ...]:
        """What makes a run fail."""
        return tuple(self._checks)

    @checks.setter
    def checks(self, checks: Iterable[Check]) -> None:
        self._checks, self._kept = list(checks), None

    @property
    def kept(self) -> KeysView[Value]:
        """The values that Python reads: what is fetched, and what checks look at."""
        if self._kept is None:
            checked = (value for check in self._checks for value in check.values)
            self._kept = dict.fromkeys((*self._fetches, *checked))
        return self._kept.keys()

    def holds(self, node: Node) -> bool:
        """Is a node (still) in the program?"""
        return node.before is not None or node is self._first

    # Adding.

    def fetch(self, value: Value) -> int:
        """Asks for one more value; returns its number among the fetches."""
        self._fetches.append(value)
        self._kept = None
        return len(self._fetches) - 1

    def check(
        self, flag: Value, error: Callable[..., BaseException], evidence: Sequence[Value] = ()
    ) -> None:
        """A run fails with error(contents of the evidence) if the 0-d bool `flag` is true."""
        self._checks.append(Check(flag, error, tuple(evidence), self._last))
        self._kept = None

    def add(self, node: Node, *results: tuple[str, Shape]) -> tuple[Value, ...]:
        """Appends a node (or puts it where `adding` says) and makes its outputs."""
        node.origin = self.origin
        # Ways of reading run where somebody reads, under whatever condition that does.
        if not isinstance(node, (Source, View, Reshape, Iota)):
            node.guard = self.guard
            node.after.extend(flag.node for flag, _ in self.guard)
        node.outputs.extend(Value(dtype, shape, node) for dtype, shape in results)
        if self._place is None:
            self._link(node, self._last, None)
        else:
            self._link(node, self._place.before, self._place)
        return tuple(node.outputs)

    def read(self, register: Register) -> Value:
        """Adds a node that gives the contents of a register."""
        home = register.home
        return self.add(Read(register), (home.dtype, home.shape))[0]

    def write(self, register: Register, value: Value) -> None:
        """Adds a node that gives a register new contents."""
        (after,) = self.add(Write((value,), register), (value.dtype, value.shape))
        after.cell = register

    @contextmanager
    def adding(self, before: Node | None, like: Node) -> Iterator[None]:
        """What is added within the block comes in front of a node (None: at the end).

        It belongs to the graph op of the node `like`, and runs when that runs.
        """
        outside = self._place, self.origin, self.guard
        self._place, self.origin, self.guard = before, like.origin, like.guard
        try:
            yield
        finally:
            self._place, self.origin, self.guard = outside

    def rollback(self, last: Node | None) -> set[Node]:
        """Takes back all nodes behind one that was `last`; returns them."""
        gone: set[Node] = set()
        # From behind, so that nobody uses what goes.
        while self._last is not last and self._last is not None:
            gone.add(self._last)
            self.remove(self._last)
        if gone:
            self.checks = (check for check in self._checks if check.flag.node not in gone)
        return gone

    # Editing.

    def set_inputs(self, node: Node, inputs: Sequence[Value]) -> None:
        """A node takes other values."""
        self._unuse(node)
        node.inputs = tuple(inputs)
        self._use(node)

    def replace(self, old: Value, new: Value, but: Node | None = None) -> None:
        """Everybody takes `new` instead of `old`, but for one node."""
        for node in self._users_of(old):
            if node is not but:
                self.set_inputs(node, [new if value is old else value for value in node.inputs])
        if old in self.kept:
            self.keep(lambda value: new if value is old else value)

    def take_over(self, node: Node, old: Node) -> None:
        """The results of a node that nobody uses yet become those of `old`, which goes.

        The values stay the same objects, for whoever else knows them.
        """
        for number, value in enumerate(old.outputs):
            node.outputs[number] = value
            value.node = node
        self.remove(old)

    def keep(self, through: Callable[[Value], Value]) -> None:
        """Puts other values in the place of those that Python reads."""
        self.fetches = [through(value) for value in self._fetches]
        self.checks = [check.seen(through) for check in self._checks]

    def remove(self, node: Node) -> None:
        """Takes out a node that nobody uses any more."""
        self._unuse(node)
        self._unlink(node)

    def move_behind(self, node: Node, other: Node) -> None:
        """Moves a node right behind another one."""
        self._unlink(node)
        self._connect(node, other, other.behind)

    def move_before(self, node: Node, other: Node) -> None:
        """Moves a node right in front of another one."""
        self._unlink(node)
        self._connect(node, other.before, other)

    # The list, and who uses what.

    def _link(self, node: Node, before: Node | None, behind: Node | None) -> None:
        self._connect(node, before, behind)
        self._use(node)

    def _connect(self, node: Node, before: Node | None, behind: Node | None) -> None:
        node.before, node.behind = before, behind
        if before is None:
            self._first = node
        else:
            before.behind = node
        if behind is None:
            self._last = node
        else:
            behind.before = node
        self._count += 1
        self._set_position(node)

    def _unlink(self, node: Node) -> None:
        before, behind = node.before, node.behind
        if before is None:
            self._first = behind
        else:
            before.behind = behind
        if behind is None:
            self._last = before
        else:
            behind.before = before
        node.before = node.behind = None
        node.position = -1.0
        self._count -= 1

    def _set_position(self, node: Node) -> None:
        """Between those of its neighbours; when there is no number left, all get new ones."""
        low = 0.0 if node.before is None else node.before.position
        high = low + 2.0 if node.behind is None else node.behind.position
        # Halves of doubles last for some fifty nodes at one place; then one renumbering serves as
        # many again, and comparing positions stays the test of who comes first.
        node.position = (low + high) / 2
        if not low < node.position < high:
            for number, other in enumerate(self, 1):
                other.position = float(number)

    def _use(self, node: Node) -> None:
        if self._users is not None:
            for value in node.inputs:
                self._users.setdefault(value, {})[node] = None

    def _unuse(self, node: Node) -> None:
        if self._users is not None:
            for value in node.inputs:
                # (A node may take a value twice.)
                self._users[value].pop(node, None)
