# SPDX-License-Identifier: Apache-2.0
"""Scopes of strategies, which may be entered again, and left only where they were entered."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...ops.public import tf

if TYPE_CHECKING:
    from .strategy import Strategy, StrategyExtended


class StrategyScope:
    """A strategy's scope, as often as it is entered.

    Args:
        extended: the strategy's.
    """

    def __init__(self, extended: StrategyExtended) -> None:
        self._extended = extended
        self._open: list[tuple[Any, Any]] = []

    def __enter__(self) -> Strategy:
        scope = self._extended.scope()
        strategy: Strategy = scope.__enter__()
        self._open.append((scope, _surroundings(self._extended)))
        return strategy

    def __exit__(self, kind: Any, error: Any, traceback: Any) -> Any:
        scope, before = self._open[-1]
        if kind is None:
            _check_nesting(before, _surroundings(self._extended))
        self._open.pop()
        return scope.__exit__(kind, error, traceback)


def _surroundings(extended: StrategyExtended) -> dict[str, Any]:
    """What scopes are open within a strategy's: of the graph that holds."""
    graph: Any = tf.get_default_graph()
    devices = [str(one) for one in graph._device_functions_outer_to_inner]
    return {
        "graph": graph,
        "Device": devices if extended._default_device is not None else None,
        "Variable creator": list(graph._variable_creator_stack),
        "Variable": tf.get_variable_scope().name,
    }


def _check_nesting(before: dict[str, Any], after: dict[str, Any]) -> None:
    """Raises RuntimeError where a scope that was opened within a strategy's outlasts it."""
    if before["graph"] is not after["graph"]:
        return
    for what, found in before.items():
        if found is not after[what] and found != after[what]:
            raise RuntimeError(
                f"{what} scope nesting error: move call to tf.distribute.set_strategy() out of "
                "`with` scope."
            )
