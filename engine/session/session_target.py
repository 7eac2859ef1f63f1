# SPDX-License-Identifier: Apache-2.0
"""What a session's target names: this process's own runtime, or a server registered here."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .. import errors
from .state import Resources

# Targets other than this process's own runtime: prefix -> function(target, opens) -> Resources,
# where `opens` says whether a session is opened there.
TARGETS: dict[str, Callable[[str, bool], Resources]] = {}


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


def resources_of(target: bytes | None, config: Any = None, opens: bool = True) -> Resources:
    """The state that sessions on a target share; a new one for this process's own runtime.

    A ConfigProto may ask for state that is shared with no other session.
    """
    if not target:
        return Resources()
    text = target.decode()
    for prefix, resolve in TARGETS.items():
        if text.startswith(prefix):
            shared = resolve(text, opens)
            is_alone = config is not None and config.isolate_session_state
            return Resources(shared.task) if is_alone else shared
    raise errors.not_found(
        f'No session factory registered for the given session options: {{target: "{text}" '
        "config: } Registered factories are {DIRECT_SESSION}."
    )
