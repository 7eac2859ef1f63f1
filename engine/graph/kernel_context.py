# SPDX-License-Identifier: Apache-2.0
"""`KernelContext`: what a reference kernel may ask for besides its inputs."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from .operation import Operation
from .tensor import Tensor

if TYPE_CHECKING:
    from ..session.session import BaseSession
    from ..session.state import Resources


class KernelContext:
    """One operation in one session, as its reference kernel sees it."""

    __slots__ = (
        *("op", "session_state", "feeds", "session", "_private", "_out"),
        *("may_defer", "is_read_only", "resource_key", "packs"),
    )

    def __init__(
        self,
        op: Operation,
        session_state: Resources | None = None,
        private: dict[Any, Any] | None = None,
        feeds: dict[Tensor, Any] | None = None,
        session: BaseSession | None = None,
    ) -> None:
        self.op = op
        # None for what folds while the graph is built, which never has state.
        self.session_state: Resources = session_state  # type: ignore[assignment]
        self.session = session
        self.feeds: dict[Tensor, Any] = {} if feeds is None else feeds
        # Whether everything that reads the results also takes a `LazyArray`
        # (engine/session/state.py).
        self.may_defer = False
        # The numbers of the outputs whose texts may be packed (engine/types/texts.py), as all that
        # reads them takes them so.
        self.packs: frozenset[int] = frozenset()
        # Where the operation's resource is found, once that is known.
        self.resource_key: tuple[Any, ...] | None = None
        # Whether the run changes no variable: their arrays need not be copied.
        self.is_read_only = False
        self._private = {} if private is None else private
        self._out: list[np.dtype[Any]] | None = None

    @property
    def type(self) -> str:
        """The type of the operation."""
        return self.op.type

    @property
    def name(self) -> str:
        """The name of the operation."""
        return self.op.name

    @property
    def deadline(self) -> float | None:
        """When the run must end, by `time.monotonic`, for operations that wait; None: never."""
        return None if self.session is None else self.session.deadline

    def attr(self, name: str) -> Any:
        """An attribute as a plain Python value, text rather than bytes."""
        value = self.op._attrs[name]
        return value if type(value) is not bytes else value.decode("utf-8", "surrogateescape")

    def out_dtype(self, index: int = 0) -> np.dtype[Any]:
        """The NumPy dtype of an output."""
        if self._out is None:
            self._out = [output.dtype.base_dtype.np_dtype for output in self.op.outputs]
        return self._out[index]

    def known_state(self) -> Any:
        """What `kernel_state` gives if it has been made already, else None."""
        return self._private.get(self.op.name)

    def kernel_state(self, factory: Callable[[], Any]) -> Any:
        """An object kept for this operation as long as the session lives."""
        # Copies that run in place of an operation share its state
        # (engine/session/function_inlining.py).
        key = self.op.name
        state = self._private.get(key)
        if state is None:
            state = self._private.setdefault(key, factory())
        return state
