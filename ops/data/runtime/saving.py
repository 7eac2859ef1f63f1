# SPDX-License-Identifier: Apache-2.0
"""Where an iterator is, as the value of a variant tensor."""

from __future__ import annotations

from .dataset import State


class IteratorState:
    """What `Stream.save` gave."""

    __slots__ = ("state",)

    def __init__(self, state: State) -> None:
        self.state = state

    def __repr__(self) -> str:
        return f"IteratorState({', '.join(self.state)})"
