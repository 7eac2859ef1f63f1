# SPDX-License-Identifier: Apache-2.0
"""Copies of what tensors are made of, from one graph into another."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from ...engine.graph.graph import Graph
from ...engine.graph.operation import Operation
from ...engine.graph.scope_functions import control_dependencies
from ...engine.graph.tensor import Tensor
from ..public import tf

_MERGES = ("Merge", "RefMerge")
_TURNS = ("NextIteration", "RefNextIteration")
# What says where an operation is, which is not so in another graph.
_BOUND = ("_class", "_tpu_replicate")


class UnliftableError(Exception):
    """A tensor depends on a placeholder for which nothing stands in the other graph."""

    ag_pass_through = True


def copied_operation(op: Operation, graph: Graph, inputs: Sequence[Tensor]) -> Operation:
    """A copy of an operation in another graph, with other inputs, and the functions it calls."""
    attrs = {key: value for key, value in op._attrs.items() if not key.startswith(_BOUND)}
    for function in _functions_of(op):
        graph._add_function(function)
    with graph.device(op.device or None):
        return graph._create(op.definition, op.name, inputs, attrs, op._input_types_val)


def _functions_of(op: Operation) -> Iterator[Any]:
    """The functions that an operation calls, and those that these call."""
    known = op.graph._functions
    pending = [op.type] if op.type in known else []
    for attr in op.definition.attrs:
        value: Any = op._attrs.get(attr.name)
        named: Any = {"func": [value], "list(func)": value}.get(attr.type, ())
        pending += [each.name for each in named if each is not None]
    seen: set[str] = set()
    while pending:
        name = pending.pop()
        if name in seen or name not in known:
            continue
        seen.add(name)
        yield known[name]
        pending += [called for node in known[name].calls for called in node]


def _op_of(element: Any) -> Operation:
    return element.op if isinstance(element, Tensor) else element


def _before(op: Operation) -> list[Operation]:
    """What an operation needs; a loop's next turn is none of it."""
    inputs: Sequence[Tensor] = op._inputs_val
    if op.type in _MERGES:
        inputs = [x for x in inputs if x.op.type not in _TURNS] or inputs
    return [*(x.op for x in inputs), *op._control_inputs_val]


def _turns(op: Operation) -> list[Operation]:
    """The operations from which a loop's next turn comes."""
    if op.type not in _MERGES:
        return []
    return [x.op for x in op._inputs_val if x.op.type in _TURNS]


class _Walk:
    """The operations behind some elements, each behind what it needs, up to the sources."""

    def __init__(self, sources: Iterable[Tensor], disallowed: Any, adds_sources: bool) -> None:
        self._source_ops = {tensor.op for tensor in sources}
        self._disallowed, self._adds_sources = disallowed, adds_sources
        self.order: list[Operation] = []
        # Placeholders that were met.
        self.added: list[Tensor] = []
        self._seen: set[Operation] = set(self._source_ops)

    def add(self, element: Any) -> None:
        """Walks from a tensor or an operation backwards."""
        pending = [(_op_of(element), False)]
        # (What is in a loop is complete once all that needs no further turn of it is.)
        turns: list[Operation] = []
        while pending or turns:
            op, is_ready = pending.pop() if pending else (turns.pop(), False)
            if is_ready:
                self.order.append(op)
                turns += _turns(op)
                continue
            if op in self._seen:
                continue
            self._seen.add(op)
            if self._refuses(op):
                raise UnliftableError(
                    f"Unable to lift tensor {element!r} because it depends transitively on "
                    f"placeholder {op!r} via at least one path, e.g.: {self._path(element, op)}"
                )
            if op.type == "Placeholder":
                self.added += op.outputs
                continue
            pending.append((op, True))
            pending += [(each, False) for each in reversed(_before(op))]

    def _refuses(self, op: Operation) -> bool:
        if self._disallowed is not None and op in self._disallowed:
            return True
        return op.type == "Placeholder" and self._disallowed is None and not self._adds_sources

    def _path(self, element: Any, op: Operation) -> str:
        """One way from what is lifted to a placeholder."""
        last = _op_of(element)
        user: dict[Operation, Operation] = {}
        pending, seen = [last], set(self._source_ops)
        while pending:
            current = pending.pop()
            if current is op:
                path = [current]
                while current is not last:
                    current = user[current]
                    path.append(current)
                return " <- ".join(f"{x.name} ({x.type})" for x in reversed(path))
            if current in seen:
                continue
            seen.add(current)
            for each in (*_before(current), *_turns(current)):
                if each not in seen:
                    user[each] = current
                    pending.append(each)
        return "??"


def lift_to_graph(
    tensors: Iterable[Any],
    graph: Graph,
    sources: Iterable[Tensor] | None = None,
    disallowed_placeholders: Any = None,
    add_sources: bool = False,
    handle_captures: bool = False,
    base_graph: Any = None,
    op_map: dict[Any, Any] | None = None,
) -> dict[Any, Any]:
    """Copies tensors, and all that they are made of, into another graph.

    Args:
        tensors: tensors, operations and resource variables, these of which are not copied.
        graph: where the copies are made.
        sources: where copying stops: placeholders stand for these.
        disallowed_placeholders: operations that nothing may depend on; all placeholders but the
            sources if None.
        add_sources: whether placeholders that are met become sources, too.
        handle_captures: whether what a function's graph takes from outside, the other one takes
            from there as well, in the place of a placeholder.
        base_graph: the graph of the tensors, where that is not clear.
        op_map: what was copied before.

    Returns:
        Operations and tensors with their copies.

    Raises:
        UnliftableError: something depends on a placeholder that is no source.
    """
    given = list(tensors)
    found = {} if op_map is None else op_map
    variables = [x for x in given if isinstance(x, tf.Variable)]
    elements = [x for x in given if not isinstance(x, tf.Variable)]
    base = base_graph or elements[0].graph
    stops = list(dict.fromkeys(sources or ()))
    walk = _Walk(stops, disallowed_placeholders, add_sources)
    for element in elements:
        walk.add(element)
    captured = {inner: outer for outer, inner in getattr(base, "captures", ())}
    stops = [*(x for x in captured if x in stops), *(x for x in stops if x not in captured)]
    with graph.as_default():
        found.update((variable, variable) for variable in variables)
        for source in dict.fromkeys([*stops, *walk.added]):
            if source in found:
                continue
            outer = captured.get(source) if handle_captures else None
            made = _stand_in(source, graph, outer, found)
            found[source], found[source.op] = made, made.op
        _copy_all([op for op in walk.order if op not in found], graph, found)
    return found


def _stand_in(source: Tensor, graph: Any, outer: Tensor | None, found: dict[Any, Any]) -> Tensor:
    """What stands for a source: a placeholder, or what is captured."""
    op = source.op
    if outer is not None:
        captured: Tensor = graph.capture(outer, name=op.name)
        return captured
    with graph.device(op.device or None), control_dependencies(None):
        if op.type == "PlaceholderWithDefault" and op.inputs[0].op.type == "Const":
            _copy_all([op.inputs[0].op], graph, found)
            default = found[op.inputs[0]]
            shape: Any = source.shape
            stands: Tensor = tf.placeholder_with_default(default, shape, name=op.name)
            return stands
        made: Tensor = tf.placeholder(source.dtype.base_dtype, source.shape, name=op.name)
    made.op._given = op._given if op._given is not None else source
    return made


def _copy_all(operations: Sequence[Operation], graph: Graph, found: dict[Any, Any]) -> None:
    """Copies operations, each behind what it needs; loops are closed at the end."""
    for op in operations:
        inputs = [found.get(x) for x in op._inputs_val]
        first = next((x for x in inputs if x is not None), None)
        known: list[Any] = [first if x is None else x for x in inputs]
        waits = [found[each] for each in op._control_inputs_val if each in found]
        with graph.control_dependencies(None), graph.control_dependencies(waits):
            copy = copied_operation(op, graph, known)
        found[op] = copy
        found.update(zip(op.outputs, copy.outputs, strict=True))
        if None in inputs:
            # Shapes of later turns are those of the original.
            for output, original in zip(copy.outputs, op.outputs):
                output._shape_val = original.shape
    for op in operations:
        for number, tensor in enumerate(op._inputs_val):
            if op.type in _MERGES and tensor.op.type in _TURNS:
                found[op]._update_input(number, found[tensor])


def operations_behind(elements: Sequence[Any], sources: Iterable[Tensor]) -> list[Operation]:
    """The operations that tensors and operations need, up to the sources, as they were made."""
    walk = _Walk(sources, None, True)
    for element in elements:
        walk.add(element)
    found = {*walk.order, *(tensor.op for tensor in walk.added)}
    return [op for op in elements[0].graph.get_operations() if op in found] if found else []
