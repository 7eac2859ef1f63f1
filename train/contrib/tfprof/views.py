# SPDX-License-Identifier: Apache-2.0
"""Profiles as trees and tables: by name scopes, data flow, types of operations, lines of code."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import field
from typing import Any

from ....engine.record_class import record
from . import columns
from .counted import Counted
from .measures import FIELDS, IN_TREES

ROOT = "_TFProfRoot"
SCOPE = "_kTFScopeParent"
# An operation of a gradient, and of which it is one.
_GRADIENT = re.compile(r"(?:.*/)?gradients(?:_\d+)?/(.*?)_grad/.*")


@record
class Node:
    """A scope, an operation, a type or a line, with what is below it."""

    counts: Counted
    own: dict[str, int]
    children: list[Node] = field(default_factory=list)
    # The operations of a type or a line.
    members: list[Node] = field(default_factory=list)
    total: dict[str, int] = field(default_factory=dict)
    is_accounted: bool = False
    text: str = ""
    message: Any = None

    @property
    def name(self) -> str:
        """Its name."""
        return self.counts.name

    def restart(self) -> None:
        """Counts what it is itself."""
        self.total = dict(self.own) if self.is_accounted else dict.fromkeys(self.own, 0)

    def add(self, other: Node) -> None:
        """Counts what another one has in all."""
        for name, count in other.total.items():
            self.total[name] = self.total.get(name, 0) + count


def _matches(patterns: Iterable[str], name: str) -> bool:
    return any(re.fullmatch(pattern, name) for pattern in patterns)


class View:
    """A tree of what a profile shows.

    Args:
        options: those of `tf.profiler.profile`.
        message: the class of the message for each node.
    """

    def __init__(self, options: dict[str, Any], message: Any) -> None:
        self.options = options
        self._message = message
        self._step = options.get("step", -1)

    def node(self, counts: Counted) -> Node:
        """A node without children."""
        own = {name: counts.measure(name, self._step) for name in (*FIELDS, "run_count")}
        return Node(counts, {**own, "definition_count": 1})

    def node_message(self) -> Any:
        """The message of a profile without anything."""
        return self._message(name=ROOT)

    # Trees

    def scopes(self, operations: Iterable[Counted]) -> Node:
        """The tree of name scopes."""
        root = self.node(Counted(ROOT, {SCOPE}))
        known = {"": root}
        by_name = {counts.name: counts for counts in operations}
        for name in sorted({p for n in by_name for p in _prefixes(n)}, key=lambda n: n.count("/")):
            made = known[name] = self.node(by_name.get(name, Counted(name, {SCOPE})))
            known[name.rpartition("/")[0]].children.append(made)
        self._account(root)
        return root

    def flow(self, operations: Iterable[Counted]) -> Node:
        """The tree from results to what they are made of; each operation stands in it once."""
        nodes = {counts.name: self.node(counts) for counts in operations}
        read = {name for node in nodes.values() for name in node.counts.inputs}
        root = self.node(Counted(ROOT, {SCOPE}))
        seen: set[str] = set()
        # (Without recursion: chains of operations are longer than Python's stack.)
        todo = [(root, iter([name for name in sorted(nodes) if name not in read]))]
        while todo:
            above, names = todo[-1]
            name = next((n for n in names if n in nodes and n not in seen), None)
            if name is None:
                todo.pop()
                continue
            seen.add(name)
            above.children.append(nodes[name])
            todo.append((nodes[name], iter(nodes[name].counts.inputs)))
        starts = self.options.get("start_name_regexes") or [".*"]
        if starts != [".*"]:
            root.children = [n for child in root.children for n in _first(child, starts)]
        self._account(root)
        return root

    def types(self, operations: Iterable[Counted]) -> Node:
        """A chain of types, those with most first; each has the totals of those behind it."""
        by_type: dict[str, list[Counted]] = {}
        for counts in operations:
            if counts.is_accounted(self.options["account_type_regexes"]):
                by_type.setdefault(counts.op_type, []).append(counts)
        made = [self._group(name, members) for name, members in by_type.items()]
        for node in made:
            node.is_accounted = True
            node.restart()
        return self._chain(self._sorted(made))

    def lines(self, operations: Iterable[Counted]) -> Node:
        """The program's lines, below the root."""
        by_name = {counts.name: counts for counts in operations}
        found: dict[str, list[Counted]] = {}
        for counts in by_name.values():
            if not counts.is_accounted(self.options["account_type_regexes"]):
                continue
            is_gradient = _GRADIENT.fullmatch(counts.name)
            origin = by_name.get(is_gradient[1], counts) if is_gradient else counts
            file, line, function = origin.line
            if file:
                suffix = " (gradient)" if is_gradient else ""
                name = f"{os.path.basename(file)}:{line}:{function}{suffix}"
                found.setdefault(name, []).append(counts)
        root = self.node(Counted(ROOT))
        root.children = [self._group(name, members) for name, members in found.items()]
        self._account(root, always=True)
        return root

    def _group(self, name: str, members: list[Counted]) -> Node:
        nodes = [self.node(counts) for counts in members]
        types = {kind for counts in members for kind in counts.types}
        devices = "|".join(sorted({counts.device for counts in members}))
        own = {key: sum(node.own[key] for node in nodes) for key in nodes[0].own}
        return Node(Counted(name, types, device=devices, op_type=name), own, members=nodes)

    def _chain(self, nodes: list[Node]) -> Node:
        """Nodes one below the other, so far as they are shown."""
        root = self.node(Counted(ROOT))
        root.restart()
        _accumulate(nodes)
        starts = self.options.get("start_name_regexes") or [".*"]
        while nodes and starts != [".*"] and not _matches(starts, nodes[0].name):
            nodes = nodes[1:]
        shown = []
        for depth, node in enumerate(nodes):
            if self._is_trimmed(node) or depth > self.options.get("max_depth", 10000):
                break
            if self._is_shown(node, depth):
                shown.append(node)
        if self.options["account_displayed_op_only"]:
            for node in shown:
                node.restart()
            _accumulate(shown)
        for above, below in zip([root, *shown], shown):
            above.children = [below]
        for first in shown[:1] if self.options["account_displayed_op_only"] else nodes[:1]:
            root.add(first)
        return root

    # Accounts

    def _account(self, root: Node, always: bool = False) -> None:
        """Adds up; leaves out what is not accounted, nor has anything below that is."""
        for node in _below_first(root):
            if self._is_trimmed(node):
                node.children = []
            patterns = self.options["account_type_regexes"]
            node.is_accounted = node is not root and (always or node.counts.is_accounted(patterns))
            node.children = [c for c in node.children if c.is_accounted or c.children]
            node.restart()
            for child in node.children:
                node.add(child)

    def shown(self, root: Node) -> None:
        """Leaves what is shown, and writes it."""
        kept: dict[int, list[Node]] = {}
        for node, depth in _below_first_with_depth(root):
            below = [n for child in node.children for n in kept.pop(id(child))]
            if not self._is_shown(node, depth):
                kept[id(node)] = below
                continue
            kept[id(node)] = [node]
            node.children = self._sorted(below)
            if self.options["account_displayed_op_only"]:
                node.restart()
                for child in node.children:
                    node.add(child)
        self._write(root)

    def _write(self, root: Node) -> None:
        lines = []
        todo = [(root, 0)]
        while todo:
            node, indent = todo.pop()
            lines.append(f"{' ' * indent}{columns.line(node, self.options)}\n")
            todo += [(child, indent + 2) for child in reversed(node.children)]
        root.text = "".join(lines)

    def messages(self, root: Node) -> Any:
        """The message of the root, with those of what is below."""
        for node in _below_first(root):
            node.message = columns.message(node, self._message)
            for child in node.children:
                node.message.children.add().CopyFrom(child.message)
                child.message = None
        return root.message

    def _is_trimmed(self, node: Node) -> bool:
        return _matches(self.options.get("trim_name_regexes") or (), node.name)

    def _is_shown(self, node: Node, depth: int) -> bool:
        if node.name == ROOT:
            return True
        limits = self.options
        for measure in IN_TREES:
            is_own = measure.option in ("params", "float_ops")
            count = (node.own if is_own else node.total)[measure.field]
            if count < limits.get(f"min_{measure.option}", 0):
                return False
        runs = len(node.members) or node.own["run_count"]
        return (
            runs >= limits.get("min_occurrence", 0)
            and depth <= limits.get("max_depth", 10000)
            and _matches(limits.get("show_name_regexes") or [".*"], node.name)
            and not _matches(limits.get("hide_name_regexes") or (), node.name)
        )

    def _sorted(self, nodes: list[Node]) -> list[Node]:
        by_name = sorted(nodes, key=lambda node: node.name)
        order = self.options.get("order_by", "name")
        fields = {measure.option: measure.field for measure in IN_TREES}
        if order == "occurrence":
            return sorted(by_name, key=lambda n: -(len(n.members) or n.total["run_count"]))
        if order not in fields:
            return by_name
        return sorted(by_name, key=lambda n: -n.total[fields[order]])


def _accumulate(nodes: list[Node]) -> None:
    """Has each of a chain count those behind it."""
    for node, behind in zip(nodes[-2::-1], nodes[:0:-1]):
        node.add(behind)


def _first(node: Node, patterns: list[str]) -> list[Node]:
    """The nodes nearest to the root whose names match."""
    found, todo = [], [node]
    while todo:
        here = todo.pop()
        if _matches(patterns, here.name):
            found.append(here)
        else:
            todo += reversed(here.children)
    return found


def _below_first_with_depth(root: Node) -> Iterator[tuple[Node, int]]:
    order, todo = [], [(root, 0)]
    while todo:
        node, depth = todo.pop()
        order.append((node, depth))
        todo += [(child, depth + 1) for child in node.children]
    return iter(order[::-1])


def _below_first(root: Node) -> Iterator[Node]:
    return (node for node, _ in _below_first_with_depth(root))


def _prefixes(name: str) -> Iterator[str]:
    """A name and the names of the scopes around it."""
    while name:
        yield name
        name = name.rpartition("/")[0]
