# SPDX-License-Identifier: Apache-2.0
"""Rewriting rules on programs: rows of pattern, condition and replacement, and what applies them.

A rule looks at the nodes of one kind.  `match` says whether it applies, and what it found; the
replacement edits the program.  Imports tensor IR, programs and the builder.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from ...engine.record_class import record
from ..kernel.size_scope import Scope
from ..program.editing import Program
from ..program.tensor_ir import Node
from ..trace.builder import Builder


@record(frozen=True)
class Rule:
    """One row: `formula` is for people, in the notation of the program's printed form.

    match(program, node) gives what `rewrite(program, scope, node, found)` needs, or None.
    """

    name: str
    formula: str
    root: type[Node]
    match: Callable[[Program, Any], Any]
    rewrite: Callable[[Program, Scope, Any, Any], None]


def apply_rules(rules: Sequence[Rule], program: Program, scope: Scope) -> Counter[str]:
    """Walks the nodes in order and applies each rule at most once to each; counts by name."""
    applied: Counter[str] = Counter()
    # Once for each rule, so that it ends whatever rules make of each other's results; `holds`,
    # since a rule may have removed nodes further behind.
    for node in program.nodes:
        for rule in rules:
            if not isinstance(node, rule.root) or not program.holds(node):
                continue
            found = rule.match(program, node)
            if found is not None:
                rule.rewrite(program, scope, node, found)
                applied[rule.name] += 1
    return applied


@contextmanager
def building(program: Program, scope: Scope, before: Node) -> Iterator[Builder]:
    """A builder of nodes in front of one that they are to replace or to feed."""
    with program.adding(before, like=before):
        yield Builder(program, scope)
