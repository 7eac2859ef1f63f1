# SPDX-License-Identifier: Apache-2.0
"""Which strategy holds, and whether code is that of a replica or stands outside of them."""

from __future__ import annotations

import contextlib
import enum
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from ...engine.api import export
from ..variables import replicas

if TYPE_CHECKING:
    from .strategy import ReplicaContext, Strategy


@export("distribute.ReduceOp")
class ReduceOp(enum.Enum):
    """How values of replicas become one: their sum or their mean."""

    SUM = "SUM"
    MEAN = "MEAN"

    @staticmethod
    def from_variable_aggregation(aggregation: object) -> ReduceOp:
        """The reduction of a tf.VariableAggregation; ValueError if there is none."""
        name = getattr(aggregation, "name", str(aggregation).rpartition(".")[2])
        if name not in ReduceOp.__members__:
            raise ValueError(
                f"Could not convert from `tf.VariableAggregation` {aggregation} "
                "to`tf.distribute.ReduceOp` type"
            )
        return ReduceOp[name]


class Mode(NamedTuple):
    """The strategy that holds, and the replica that code belongs to; None outside of replicas."""

    strategy: Strategy
    replica: ReplicaContext | None


class _Modes(threading.local):
    """The modes that this thread has entered."""

    def __init__(self) -> None:
        self.entered: list[Mode] = []


_modes = _Modes()
_default: list[Mode] = []


def default_mode() -> Mode:
    """The mode outside of all scopes: the one replica of a strategy that changes nothing."""
    if not _default:
        from .strategy import DefaultStrategy, ReplicaContext

        strategy = DefaultStrategy()
        _default.append(Mode(strategy, ReplicaContext(strategy, 0)))
    return _default[0]


def current_mode() -> Mode:
    """The mode that holds."""
    return _modes.entered[-1] if _modes.entered else default_mode()


def enter(mode: Mode) -> None:
    """Enters a mode."""
    _modes.entered.append(mode)
    replicas.enter(mode.strategy)


def leave() -> None:
    """Leaves the mode that was entered last."""
    _modes.entered.pop()
    replicas.leave()


@export("distribute.get_replica_context", "contrib.distribute.get_replica_context")
def get_replica_context() -> ReplicaContext | None:
    """The replica that code belongs to; None outside of replicas.

    Returns:
        A ReplicaContext. Outside of all scopes that of the only replica.

    Example:
        >>> tf.distribute.get_replica_context().num_replicas_in_sync
        1
    """
    return current_mode().replica


@export("contrib.distribute.get_cross_replica_context")
def get_cross_replica_context() -> Strategy | None:
    """The strategy, where code stands outside of replicas; else None."""
    mode = current_mode()
    return mode.strategy if mode.replica is None else None


@export("distribute.in_cross_replica_context", "contrib.distribute.in_cross_replica_context")
def in_cross_replica_context() -> bool:
    """Whether code stands outside of replicas, as within `strategy.scope()`."""
    return current_mode().replica is None


@export(
    "distribute.get_strategy",
    "contrib.distribute.get_strategy",
    "contrib.distribute.get_distribution_strategy",
)
def get_strategy() -> Strategy:
    """The strategy whose scope this is; one that changes nothing outside of all scopes."""
    return current_mode().strategy


@export(
    "distribute.has_strategy",
    "contrib.distribute.has_strategy",
    "contrib.distribute.has_distribution_strategy",
)
def has_strategy() -> bool:
    """Whether this is within the scope of a strategy."""
    return get_strategy() is not default_mode().strategy


@export("contrib.distribute.require_replica_context")
def require_replica_context(replica_ctx: ReplicaContext) -> None:
    """Raises RuntimeError where code does not belong to a replica."""
    mode = current_mode()
    if mode.replica is replica_ctx:
        return
    if mode.replica is None:
        raise RuntimeError("Need to be inside `call_for_each_replica()`")
    if mode.strategy is replica_ctx.strategy:
        raise RuntimeError("Mismatching ReplicaContext.")
    raise RuntimeError(
        f"Mismatching tf.distribute.Strategy objects: {mode.strategy} is not "
        f"{replica_ctx.strategy}."
    )


def require_strategy(strategy: Strategy) -> None:
    """Raises RuntimeError where another strategy holds."""
    found = get_strategy()
    if found is not strategy:
        raise RuntimeError(
            f"Mixing different tf.distribute.Strategy objects: {found} is not {strategy}"
        )


def require_outside_of_replicas(strategy: Strategy) -> None:
    """Raises RuntimeError in a strategy's replica, or where another strategy holds."""
    mode = current_mode()
    if mode is default_mode():
        return
    require_strategy(strategy)
    if mode.replica is not None:
        raise RuntimeError(
            "Method requires being in cross-replica context, use get_replica_context().merge_call()"
        )


@export("distribute.experimental_set_strategy")
def experimental_set_strategy(strategy: Strategy | None) -> None:
    """Enters a strategy's scope for good; None leaves it.

    Raises:
        RuntimeError: within another scope.
    """
    from ...ops.public import tf

    graph: Any = tf.get_default_graph()
    old = vars(graph).pop("_global_strategy_scope", None)
    if old is not None:
        old.__exit__(None, None, None)
    if has_strategy():
        raise RuntimeError("Must not be called inside a `tf.distribute.Strategy` scope.")
    if strategy is not None:
        scope = strategy.scope()
        scope.__enter__()
        graph._global_strategy_scope = scope


@export("distribute.get_loss_reduction", "contrib.distribute.get_loss_reduction")
def get_loss_reduction() -> ReduceOp:
    """How losses of replicas become one: by their mean, where an Estimator of several workers asks
    for it; of one replica both are the same."""
    return ReduceOp.MEAN if replicas.scaling() is not None else ReduceOp.SUM


def reduce_op_of(reduce_op: ReduceOp | str) -> ReduceOp:
    """A reduction, by its name or as it is."""
    return reduce_op if isinstance(reduce_op, ReduceOp) else ReduceOp(str(reduce_op).upper())


@contextlib.contextmanager
def outside_of_replicas(strategy: Strategy) -> Iterator[None]:
    """Within it code stands outside of a strategy's replicas."""
    enter(Mode(strategy, None))
    try:
        yield
    finally:
        leave()


def called_by_strategy(
    strategy: Strategy, function: Callable[..., Any], args: Sequence[Any], kwargs: dict[str, Any]
) -> Any:
    """What a function gives outside of replicas, called with the strategy first."""
    with outside_of_replicas(strategy):
        return function(strategy, *args, **kwargs)
