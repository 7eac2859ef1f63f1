# SPDX-License-Identifier: Apache-2.0
"""How profiles are written: titles, lines of trees and of tables, messages."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from .measures import FACTS, FIELDS, IN_TABLES, IN_TREES, number, selected

if TYPE_CHECKING:
    from .views import Node


def header(options: dict[str, Any], is_table: bool) -> str:
    """The columns' titles."""
    facts = dict(FACTS, occurrence="op occurrence (run|defined)") if is_table else FACTS
    measures = selected(IN_TABLES if is_table else IN_TREES, options["select"])
    titles = [measure.title for measure in measures]
    titles += [title for name, title in facts.items() if name in options["select"]]
    return " | ".join(["node name", *titles]) + "\n"


def line(node: Node, options: dict[str, Any]) -> str:
    """A node's line in a tree."""
    return f"{node.name} ({', '.join(_facts(node, options['select']))})"


def _facts(node: Node, select: list[str]) -> Iterator[str]:
    counts = node.counts
    if "params" in select and counts.sizes:
        yield "x".join(map(str, counts.sizes))
    for measure in selected(IN_TREES, select):
        own = measure.write(node.own[measure.field]) if node.is_accounted else "--"
        yield f"{own}/{measure.write(node.total[measure.field])}{measure.unit}"
    if "device" in select and counts.device:
        yield counts.device
    if "op_types" in select:
        yield "|".join(sorted(counts.types))
    if "occurrence" in select:
        runs, one = (number(node.own["run_count"]), "1") if node.is_accounted else ("--", "--")
        total = node.total
        yield f"{runs}/{number(total['run_count'])}|{one}/{number(total['definition_count'])}"
    if "input_shapes" in select:
        yield "|".join(_inputs(node))


def _inputs(node: Node) -> Iterator[str]:
    for place, sizes in enumerate(node.counts.input_shapes):
        yield f"{place}:{'unknown' if sizes is None else 'x'.join(map(str, sizes))}"


def table(root: Node, options: dict[str, Any]) -> str:
    """A chain as lines: the counts, and what that is of all, with those behind."""
    lines, below = [], root.children
    while below:
        (node,) = below
        lines.append(f"{node.name:<25}{', '.join(_cells(node, root, options['select']))}\n")
        if "input_shapes" in options["select"]:
            lines += ["\n", *_kinds_of_inputs(node), "\n"]
        below = node.children
    return "".join(lines)


def _cells(node: Node, root: Node, select: list[str]) -> Iterator[str]:
    for measure in selected(IN_TABLES, select):
        own, total = node.own[measure.field], node.total[measure.field]
        whole = root.total[measure.field] or 1
        unit = {" flops": " float_ops"}.get(measure.unit, measure.unit)
        cell = f"{measure.write(own)}{unit} ({total / whole:.2%}, {own / whole:.2%})"
        yield f"{cell:>30}"
    if "device" in select:
        yield node.counts.device
    if "op_types" in select:
        yield "|".join(sorted(node.counts.types))
    if "occurrence" in select:
        times = f"{node.own['run_count']}|{len(node.members)}"
        yield f"{times:>10}"


def _kinds_of_inputs(node: Node) -> Iterator[str]:
    """How often and how long a type ran on inputs of each shapes, those that took long first."""
    found: dict[str, list[int]] = {}
    for member in node.members:
        counts = found.setdefault(",\t".join(_inputs(member)), [0, 0, 0])
        counts[0] += member.own["run_count"]
        counts[1] += 1
        counts[2] += member.own["exec_micros"]
    write = next(m.write for m in IN_TREES if m.option == "micros")
    for shapes, (runs, defined, micros) in sorted(found.items(), key=lambda pair: -pair[1][2]):
        yield (
            f"input_type: {shapes}\t(run*{runs}|defined*{defined})\texec_time: {write(micros)}\n"
        )


def message(node: Node, kind: Any) -> Any:
    """A node's GraphNodeProto or MultiGraphNodeProto, without children."""
    made = kind(name=node.name)
    is_graph_node = "run_count" in kind.DESCRIPTOR.fields_by_name
    for name in FIELDS:
        setattr(made, name, node.own[name])
        setattr(made, f"total_{name}", node.total.get(name, 0))
    if not is_graph_node:
        for member in node.members:
            made.graph_nodes.add().CopyFrom(_alone(member))
        return made
    made.run_count = node.own["run_count"]
    made.total_run_count = node.total["run_count"]
    made.total_definition_count = node.total["definition_count"]
    _describe(made, node)
    return made


def _alone(node: Node) -> Any:
    """An operation of a type, as a message."""
    from ....io import protos

    made = protos.GraphNodeProto(name=node.name, run_count=node.own["run_count"])
    for name in FIELDS:
        setattr(made, name, node.own[name])
    _describe(made, node)
    return made


def _describe(made: Any, node: Node) -> None:
    if node.counts.device:
        made.devices.append(node.counts.device)
    if node.counts.sizes:
        shape = made.shapes.add()
        for size in node.counts.sizes:
            shape.dim.add(size=size)
    for place, sizes in enumerate(node.counts.input_shapes):
        shape = made.input_shapes[place]
        shape.unknown_rank = sizes is None
        for size in sizes or ():
            shape.dim.add(size=size)
