# SPDX-License-Identifier: Apache-2.0
"""Profiles as trees: by name scopes, and by types of operations."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from .counted import COLUMNS, Counted

ROOT = "_TFProfRoot"


@dataclass
class Node:
    """A scope, an operation or a type, with what is below it."""

    counts: Counted
    message: Any
    children: list[Node] = field(default_factory=list)
    is_accounted: bool = False
    text: str = ""
    occurrences: int = 0

    @property
    def name(self) -> str:
        """Its name."""
        return self.counts.name

    def add_own(self) -> None:
        """Counts what it is itself."""
        self.message.total_parameters += self.counts.parameters
        self.message.total_float_ops += self.counts.float_ops
        self.occurrences += 1

    def add(self, other: Node) -> None:
        """Counts what another one has in all."""
        self.message.total_parameters += other.message.total_parameters
        self.message.total_float_ops += other.message.total_float_ops
        self.occurrences += other.occurrences

    def clear(self) -> None:
        """Forgets totals."""
        self.message.total_parameters = self.message.total_float_ops = 0
        self.occurrences = 0


def _number(count: int) -> str:
    for limit, unit, letter in ((10**3, 1, ""), (10**6, 10**3, "k"), (10**9, 10**6, "m")):
        if count < limit:
            return f"{count / unit:.2f}{letter}" if letter else str(count)
    return f"{count / 10**9:.2f}b"


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

    def node(self, counts: Counted) -> Node:
        """A node without children."""
        message = self._message(name=counts.name)
        message.parameters, message.float_ops = counts.parameters, counts.float_ops
        return Node(counts, message)

    def scopes(self, operations: Iterable[Counted]) -> Node:
        """The tree of name scopes."""
        root = self.node(Counted(ROOT))
        known = {"": root}
        by_name = {counts.name: counts for counts in operations}
        for name in sorted({p for n in by_name for p in _prefixes(n)}, key=lambda n: n.count("/")):
            made = known[name] = self.node(by_name.get(name, Counted(name)))
            known[name.rpartition("/")[0]].children.append(made)
        return root

    def types(self, operations: Iterable[Counted]) -> Node:
        """A chain of types, those with most first; each has the totals of those behind it."""
        root = self.node(Counted(ROOT))
        found: dict[str, Counted] = {}
        patterns = self.options["account_type_regexes"]
        for counts in operations:
            for kind in counts.types:
                if not _matches(patterns, kind):
                    continue
                node = found.setdefault(kind, Counted(kind, {kind}))
                node.parameters += counts.parameters
                node.float_ops += counts.float_ops
        above = root
        for made in self._sorted([self.node(counts) for counts in found.values()]):
            above.children.append(made)
            above = made
        return root

    def account(self, node: Node) -> bool:
        """Adds up; leaves out what is not accounted, nor has anything below that is."""
        trimmed = _matches(self.options["trim_name_regexes"], node.name)
        node.children = [] if trimmed else [c for c in node.children if self.account(c)]
        node.is_accounted = node.counts.is_accounted(self.options["account_type_regexes"])
        if node.is_accounted:
            node.add_own()
        for child in node.children:
            node.add(child)
        return node.is_accounted or bool(node.children)

    def shown(self, node: Node, depth: int = 0, indent: int = 0) -> list[Node]:
        """The node, with what is shown below it; or that, if it is not shown itself."""
        is_shown = self._is_shown(node, depth)
        inner = indent + 2 if is_shown else indent
        below = [n for child in node.children for n in self.shown(child, depth + 1, inner)]
        if not is_shown:
            return below
        below = node.children = self._sorted(below)
        if self.options["account_displayed_op_only"]:
            node.clear()
            if node.is_accounted:
                node.add_own()
            for child in below:
                node.add(child)
        for child in below:
            node.message.children.add().CopyFrom(child.message)
        node.text = f"{' ' * indent}{self._line(node)}\n" + "".join(c.text for c in below)
        return [node]

    def _is_shown(self, node: Node, depth: int) -> bool:
        if node.name == ROOT:
            return True
        limits = self.options
        return (
            node.counts.parameters >= limits.get("min_params", 0)
            and node.counts.float_ops >= limits.get("min_float_ops", 0)
            and node.occurrences >= limits.get("min_occurrence", 0)
            and depth <= limits.get("max_depth", 10000)
            and _matches(limits["show_name_regexes"], node.name)
            and not _matches(limits["hide_name_regexes"], node.name)
        )

    def _sorted(self, nodes: list[Node]) -> list[Node]:
        by_name = sorted(nodes, key=lambda node: node.name)
        keys = {
            "params": lambda n: -max(n.message.total_parameters, n.counts.parameters),
            "float_ops": lambda n: -max(n.message.total_float_ops, n.counts.float_ops),
            "occurrence": lambda n: -n.occurrences,
        }
        key = keys.get(self.options.get("order_by", "name"))
        return by_name if key is None else sorted(by_name, key=key)

    def header(self) -> str:
        """The columns' titles."""
        titles = [COLUMNS[c] for c in COLUMNS if c in self.options["select"]]
        return " | ".join(["node name", *titles]) + "\n"

    def table(self, root: Node) -> str:
        """A chain of types as lines: their counts, and what that is of all, with those behind."""
        whole = {
            "params": root.message.total_parameters or 1,
            "float_ops": root.message.total_float_ops or 1,
        }
        lines, below = [], root.children
        while below:
            (node,) = below
            facts = [
                f"{_number(own):>10} {what} ({inside / whole[kind]:.2%}, {own / whole[kind]:.2%})"
                for kind, what, own, inside in (
                    ("params", "params", node.counts.parameters, node.message.total_parameters),
                    ("float_ops", "float_ops", node.counts.float_ops, node.message.total_float_ops),
                )
                if kind in self.options["select"]
            ]
            lines.append(f"{node.name:<20} {', '.join(facts)}\n")
            below = node.children
        return "".join(lines)

    def _line(self, node: Node) -> str:
        return f"{node.name} ({', '.join(self._facts(node))})"

    def _facts(self, node: Node) -> Iterator[str]:
        wanted = self.options["select"]
        counts, message = node.counts, node.message
        if "params" in wanted:
            if counts.sizes:
                yield "x".join(map(str, counts.sizes))
            own = _number(counts.parameters) if node.is_accounted else "--"
            yield f"{own}/{_number(message.total_parameters)} params"
        if "float_ops" in wanted:
            own = _number(counts.float_ops) if node.is_accounted else "--"
            yield f"{own}/{_number(message.total_float_ops)} flops"
        if "device" in wanted:
            yield counts.device
        if "op_types" in wanted:
            yield "|".join(sorted(counts.types))
        if "occurrence" in wanted:
            yield f"0/0|1/{node.occurrences}"


def _prefixes(name: str) -> Iterator[str]:
    """A name and the names of the scopes around it."""
    while name:
        yield name
        name = name.rpartition("/")[0]
