# SPDX-License-Identifier: Apache-2.0
"""What optimizers and sessions ask of the strategy whose scope this is, if it has several workers.

Strategies themselves are further up (train/distributed/strategy.py).
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ...ops.state.variables import Variable


class _Entered(threading.local):
    """The strategies whose scopes this thread is in."""

    def __init__(self) -> None:
        self.strategies: list[Any] = []


_entered = _Entered()


def enter(strategy: Any) -> None:
    """Enters a strategy's scope."""
    _entered.strategies.append(strategy)


def leave() -> None:
    """Leaves the scope that was entered last."""
    _entered.strategies.pop()


def _extended() -> Any:
    """What libraries ask of the strategy whose scope this is; None outside of scopes."""
    return _entered.strategies[-1].extended if _entered.strategies else None


def spread() -> Any:
    """What libraries ask of the strategy whose scope this is (`extended`); None if it has one
    worker alone."""
    extended = _extended()
    return extended if extended is not None and extended.is_spread else None


def mirrored() -> Any:
    """The `extended` of the strategy whose scope this is; None if a process has one replica."""
    extended = _extended()
    return extended if extended is not None and extended.is_mirrored else None


def scaling() -> Any:
    """The `extended` of the strategy whose scope this is; None unless it is to scale losses."""
    extended = _extended()
    several = extended is not None and (extended.is_spread or extended.is_mirrored)
    return extended if several and extended.scales_loss else None


def may_be_empty() -> bool:
    """Whether batches of the strategy whose scope this is may have no elements at the end."""
    return bool(getattr(_extended(), "experimental_enable_get_next_as_optional", False))


def scaled_loss(loss: Any) -> Any:
    """A replica's share of the loss that an optimizer minimizes."""
    extended = scaling()
    return loss if extended is None else loss / extended.count


def reduced_gradients(pairs: Sequence[tuple[Any, Any]]) -> Sequence[tuple[Any, Any]]:
    """Gradients and variables as an optimizer is to apply them: added up over workers."""
    extended = spread()
    given: Sequence[tuple[Any, Any]] = pairs if extended is None else extended.gradients(pairs)
    return given


def container(variable: Variable) -> Any:
    """The variable of all replicas that a replica's belongs to; itself if there is none."""
    reference = getattr(variable, "_distributed_container", None)
    found = None if reference is None else reference()
    return variable if found is None else found


def beside(variable: Any, other: Any) -> Any:
    """A variable as it is to be used with another one: that replica's, if that is a replica's."""
    if container(variable) is not variable or not hasattr(variable, "values"):
        return variable
    return variable if hasattr(other, "values") else variable.get(other.device)


def colocation(variable: Variable) -> AbstractContextManager[Any]:
    """A scope in which variables are where another one is, in all replicas."""
    from ...ops.public import tf

    extended = mirrored()
    if extended is not None:
        return extended.colocate_vars_with(variable)  # type: ignore[no-any-return]
    return tf.colocate_with(variable)  # type: ignore[no-any-return]
