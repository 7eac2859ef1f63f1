# SPDX-License-Identifier: Apache-2.0
"""Whether operations and their neighbours are as a pattern wants them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from ....engine.graph.operation import Operation
from . import select


def op_type(op_types: Any, op: Operation | None = None) -> Any:
    """Whether an operation is of one of some types; without one, a function that says so."""
    types = (op_types,) if isinstance(op_types, str) else op_types
    return (lambda op: op.type in types) if op is None else op.type in types


def _matcher(wanted: object) -> OpMatcher | None:
    return wanted if wanted is None or isinstance(wanted, OpMatcher) else OpMatcher(wanted)


def _all_match(ops: Iterable[Operation], wanted: list[OpMatcher | None] | None) -> bool:
    found = list(ops)
    if wanted is None:
        return True
    return len(found) == len(wanted) and all(
        matcher is None or matcher(op) for op, matcher in zip(found, wanted)
    )


class OpMatcher:
    """A pattern of an operation and its neighbours.

    Args:
        positive_filter: a pattern of names, an Operation, a function, or True.
    """

    def __init__(self, positive_filter: object) -> None:
        self.positive_filters = [self._filter(positive_filter)]
        self.input_op_matches: list[OpMatcher | None] | None = None
        self.control_input_op_matches: list[OpMatcher | None] | None = None
        self.output_op_matches: list[list[OpMatcher | None] | None] | None = None

    @staticmethod
    def _filter(wanted: object) -> Callable[[Operation], Any]:
        if select.can_be_regex(wanted):
            regex = select.make_regex(wanted)
            return lambda op: regex.search(op.name) is not None
        if isinstance(wanted, Operation):
            return lambda op: op is wanted
        if wanted is True:
            return lambda op: True
        if callable(wanted):
            return wanted
        raise ValueError(f"Cannot finalize the positive filter: {wanted}")

    def __call__(self, op: Operation) -> bool:
        """Whether an operation is as wanted.

        Raises:
            TypeError: it is none.
        """
        if not isinstance(op, Operation):
            raise TypeError(f"Expect tf.Operation, got: {type(op)}")
        if not all(fits(op) for fits in self.positive_filters):
            return False
        if not _all_match((t.op for t in op.inputs), self.input_op_matches):
            return False
        if not _all_match(op.control_inputs, self.control_input_op_matches):
            return False
        if self.output_op_matches is None:
            return True
        return len(op.outputs) == len(self.output_op_matches) and all(
            _all_match(t.consumers(), wanted)
            for t, wanted in zip(op.outputs, self.output_op_matches)
        )

    def input_ops(self, *args: Any) -> OpMatcher:
        """Says what makes the inputs; None: anything."""
        if self.input_op_matches is not None:
            raise ValueError("input_op_matches is already set.")
        self.input_op_matches = [_matcher(arg) for arg in args]
        return self

    def control_input_ops(self, *args: Any) -> OpMatcher:
        """Says what is waited for."""
        if self.control_input_op_matches is not None:
            raise ValueError("control_input_op_matches is already set.")
        self.control_input_op_matches = [_matcher(arg) for arg in args]
        return self

    def output_ops(self, *args: Any) -> OpMatcher:
        """Says what takes each output; None: anything."""
        if self.output_op_matches is not None:
            raise ValueError("output_op_matches is already set.")
        lists = [arg if arg is None or isinstance(arg, list) else [arg] for arg in args]
        self.output_op_matches = [
            None if wanted is None else [_matcher(one) for one in wanted] for wanted in lists
        ]
        return self
