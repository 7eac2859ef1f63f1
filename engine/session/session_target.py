# SPDX-License-Identifier: Apache-2.0
"""What a session's target names: this process's own runtime, or a server."""

from __future__ import annotations

from collections.abc import Callable, MutableSet, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any, Protocol

from .. import errors
from .state import Resources

if TYPE_CHECKING:
    from ..graph.graph import Graph
    from ..graph.operation import Operation
    from ..graph.tensor import Tensor
    from .session import BaseSession


class Remote(Protocol):
    """What a session on a server elsewhere has in place of a runtime of its own."""

    def runner(
        self,
        session: BaseSession,
        fetches: Sequence[Tensor],
        targets: Sequence[Operation],
        feeds: Sequence[Tensor],
    ) -> Callable[[Sequence[Any]], list[Any]]:
        """What runs a part of the graph."""

    def observed(self, options: Any, metadata: Any) -> AbstractContextManager[None]:
        """A context in which runs have RunOptions, and fill in a RunMetadata."""

    def setup(
        self, session: BaseSession, fetches: Sequence[Any], feeds: Sequence[Any]
    ) -> tuple[str, Any]:
        """The handle and state of a new run in parts."""

    def make_callable(self, options: Any) -> Callable[..., list[Any]]:
        """A function of feed arrays that gives the fetches of a CallableOptions message."""

    def list_devices(self) -> list[Any]:
        """The devices that the session may use."""

    def close(self) -> None:
        """Ends the session at the server."""


# Targets other than this process's own runtime, by prefix: function(target, graph, config) -> the
# Resources of a server in this process, or what speaks to one elsewhere.
TARGETS: dict[str, Callable[[str, Graph, Any], Resources | Remote]] = {}
# By prefix: function(target, containers, config) clears containers of a target.
RESETS: dict[str, Callable[[str, list[str] | None, Any], None]] = {}


def target_bytes(target: str) -> bytes | None:
    """A session's target as bytes; TypeError for what is no text."""
    if target is None or isinstance(target, bytes):
        return target
    if isinstance(target, str):
        return target.encode()
    advice = ""
    if type(target).__name__ == "ConfigProto":
        advice = ' Did you do "Session(config)" instead of "Session(config=config)"?'
    raise TypeError(
        f"target must be a string, but got {type(target)}." + advice
        if advice
        else f"target must be a string, but got {type(target)}"
    )


def runtime_of(target: bytes | None, graph: Graph, config: Any) -> tuple[Resources, Remote | None]:
    """The state that sessions on a target share, and what speaks to it where it is elsewhere.

    New state for this process's own runtime, and where a ConfigProto asks for it.
    """
    if not target:
        return Resources(), None
    text = target.decode()
    found = _registered(TARGETS, text)(text, graph, config)
    if not isinstance(found, Resources):
        return Resources(), found
    if config is not None and config.isolate_session_state:
        return Resources(found.task, found.timeout), None
    return found, None


def reset(
    target: bytes | None,
    containers: list[str] | None,
    config: Any,
    sessions: MutableSet[BaseSession],
) -> None:
    """Clears containers of a target, None: all, and ends those of the sessions that are on it."""
    if target:
        text = target.decode()
        _registered(RESETS, text)(text, containers, config)
    for session in list(sessions):
        if (session.sess_str or b"") != (target or b""):
            continue
        if target:
            session.is_forgotten = True
        else:
            session.resources.clear(containers)
        session.cancel()
        sessions.discard(session)


def _registered(table: dict[str, Any], target: str) -> Any:
    for prefix, found in table.items():
        if target.startswith(prefix):
            return found
    raise errors.not_found(
        f'No session factory registered for the given session options: {{target: "{target}" '
        "config: } Registered factories are {DIRECT_SESSION}."
    )
