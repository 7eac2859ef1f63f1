# SPDX-License-Identifier: Apache-2.0
"""Statistics of operations, such as their floating-point operations, by functions per op type."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ..api import load
from ..gradients.autodiff import gradient_function as get_gradient_function  # noqa: F401 - TensorFlow's name

if TYPE_CHECKING:
    from ..graph.graph import Graph

_FUNCTIONS: dict[tuple[str, str], Callable[..., Any]] = {}
# What registers those of TensorFlow's own types.
_OWN = "train.contrib.tfprof.flops_registry"


class OpStats:
    """A value of one kind of statistic; None when nothing is known."""

    def __init__(self, statistic_type: str, value: int | None = None) -> None:
        self.statistic_type = statistic_type
        self.value = value

    def __iadd__(self, other: OpStats) -> OpStats:
        if other.statistic_type != self.statistic_type:
            raise ValueError(
                f"Can't add an OpStat of type {self.statistic_type} to one of "
                f"{other.statistic_type}."
            )
        if self.value is None:
            self.value = other.value
        elif other.value is not None:
            self.value += other.value
        return self


class RegisterStatistics:
    """A decorator for the function (graph, node_def) -> OpStats of an op type and statistic."""

    def __init__(self, op_type: str, statistic_type: str) -> None:
        for what, text in (("op_type", op_type), ("statistic_type", statistic_type)):
            if not isinstance(text, str):
                raise TypeError(f"{what} must be a string.")
            if "," in text:
                raise TypeError(f"{what} must not contain a comma.")
        self._key = op_type, statistic_type

    def __call__(self, f: Callable[..., Any]) -> Callable[..., Any]:
        load(_OWN)
        if self._key in _FUNCTIONS:
            raise KeyError(
                f"Registering two statistical functions with name '{','.join(self._key)}'!"
            )
        _FUNCTIONS[self._key] = f
        return f


def get_stats_for_node_def(graph: Graph, node: Any, statistic_type: str) -> Any:
    """The statistic of a node; an empty one when no function is registered for its type."""
    load(_OWN)
    function = _FUNCTIONS.get((node.op, statistic_type))
    return OpStats(statistic_type) if function is None else function(graph, node)
