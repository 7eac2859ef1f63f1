# SPDX-License-Identifier: Apache-2.0
"""What optimizers and sessions ask of the strategy whose scope this is, if it has several workers.

Strategies themselves are further up (train/distributed/strategy.py).
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any


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


def spread() -> Any:
    """What libraries ask of the strategy whose scope this is (`extended`); None if it has one
    worker alone."""
    extended = _entered.strategies[-1].extended if _entered.strategies else None
    return extended if extended is not None and extended.is_spread else None


def scaled_loss(loss: Any) -> Any:
    """A worker's share of the loss that an optimizer minimizes."""
    extended = spread()
    return loss if extended is None or not extended.scales_loss else loss / extended.count


def reduced_gradients(pairs: Sequence[tuple[Any, Any]]) -> Sequence[tuple[Any, Any]]:
    """Gradients and variables as an optimizer is to apply them: added up over workers."""
    extended = spread()
    given: Sequence[tuple[Any, Any]] = pairs if extended is None else extended.gradients(pairs)
    return given
