# SPDX-License-Identifier: Apache-2.0
"""Patterns of operations and what makes their inputs, and where they are in a graph."""

from __future__ import annotations

import itertools
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence

from ....engine.graph.graph import Graph
from ....engine.graph.operation import Operation
from ....engine.graph.tensor import Tensor

# Of inputs that come in any order all orders are tried.
_MOST_INPUTS = 8


class Pattern(ABC):
    """A pattern of an operation."""

    name: str | None = None

    @abstractmethod
    def match(self, op: Operation, tensor: Tensor | None) -> MatchResult | None:
        """What the parts of the pattern are; None if it does not fit."""


class OpTypePattern(Pattern):
    """An operation of one of some types, whose inputs fit patterns.

    Args:
        op_type: types, with "|" between them; "*": any.
        name: by which the result is asked for it.
        inputs: patterns or types; any inputs if there are none.
        ordered_inputs: whether the inputs come in that order.
    """

    def __init__(
        self,
        op_type: str,
        name: str | None = None,
        inputs: Sequence[Pattern | str] | None = None,
        ordered_inputs: bool = True,
    ) -> None:
        given = list(inputs or ())
        if len(given) > _MOST_INPUTS:
            raise ValueError("Only < 8 inputs are allowed when ordered_inputs is False.")
        self._types = None if op_type == "*" else frozenset(op_type.split("|"))
        self.name = name
        self._inputs = [p if isinstance(p, Pattern) else OpTypePattern(p) for p in given]
        self._ordered_inputs = ordered_inputs

    def match(self, op: Operation, tensor: Tensor | None) -> MatchResult | None:
        """What the parts of the pattern are; None if it does not fit."""
        if self._types is not None and op.type not in self._types:
            return None
        result = MatchResult()
        result.add(self, op, tensor)
        if not self._inputs:
            return result
        if len(op.inputs) != len(self._inputs):
            return None
        orders: Iterable[Sequence[Pattern]] = [self._inputs]
        if not self._ordered_inputs:
            orders = itertools.permutations(self._inputs)
        return result if any(self._matches(op, order, result) for order in orders) else None

    @staticmethod
    def _matches(op: Operation, patterns: Sequence[Pattern], result: MatchResult) -> bool:
        for given, pattern in zip(op.inputs, patterns):
            found = pattern.match(given.op, given)
            if found is None:
                return False
            result.merge_from(found)
        return True


class OneofPattern(Pattern):
    """The first of some patterns that fits.

    Args:
        sub_patterns: the patterns.
    """

    def __init__(self, sub_patterns: Sequence[Pattern]) -> None:
        self._sub_patterns = sub_patterns

    def match(self, op: Operation, tensor: Tensor | None) -> MatchResult | None:
        """What the parts of the pattern are; None if none fits."""
        found = (pattern.match(op, tensor) for pattern in self._sub_patterns)
        return next((result for result in found if result is not None), None)


class MatchResult:
    """The operations and tensors that the parts of a pattern are."""

    def __init__(self) -> None:
        self._found: dict[Pattern, tuple[Operation, Tensor | None]] = {}
        self._by_name: dict[str, Pattern] = {}

    def add(self, pattern: Pattern, op: Operation, tensor: Tensor | None) -> None:
        """Notes what a part is.

        Raises:
            ValueError: another part has its name.
        """
        self._found[pattern] = op, tensor
        if pattern.name is not None:
            if pattern.name in self._by_name:
                raise ValueError(f"Name {pattern.name} is already bound to another pattern")
            self._by_name[pattern.name] = pattern

    def _of(self, pattern_or_name: Pattern | str) -> tuple[Operation | None, Tensor | None]:
        if isinstance(pattern_or_name, Pattern):
            return self._found.get(pattern_or_name, (None, None))
        if isinstance(pattern_or_name, str):
            pattern = self._by_name.get(pattern_or_name)
            return (None, None) if pattern is None else self._found[pattern]
        raise ValueError(
            f"pattern_or_name has type {type(pattern_or_name)}. Expect Pattern or str."
        )

    def get_op(self, pattern_or_name: Pattern | str) -> Operation | None:
        """The operation that a part is."""
        return self._of(pattern_or_name)[0]

    def get_tensor(self, pattern_or_name: Pattern | str) -> Tensor | None:
        """The tensor by which that operation was reached."""
        return self._of(pattern_or_name)[1]

    def merge_from(self, other_match_result: MatchResult) -> None:
        """Adds the parts of another result."""
        self._found.update(other_match_result._found)
        self._by_name.update(other_match_result._by_name)


class GraphMatcher:
    """Finds a pattern.

    Args:
        pattern: of the last operation and what leads to it.
    """

    def __init__(self, pattern: Pattern) -> None:
        self._pattern = pattern

    def match_op(self, op: Operation) -> MatchResult | None:
        """What the parts are, where an operation is the last one; None if it is not."""
        return self._pattern.match(op, None)

    def match_ops(self, ops: Iterable[Operation]) -> Iterator[MatchResult]:
        """The results for those of some operations that fit."""
        found = (self.match_op(op) for op in ops)
        return (result for result in found if result is not None)

    def match_graph(self, graph: Graph) -> Iterator[MatchResult]:
        """The results for those of a graph's operations that fit."""
        return self.match_ops(graph.get_operations())
