# SPDX-License-Identifier: Apache-2.0
"""Ending what takes long: a session that is closed, a run whose time is up.

Nothing is interrupted in the middle.  Whatever loops or waits for long calls `check` between its
pieces: between operations and tiles with the session at hand, elsewhere with that which `within`
has named.  Ctrl-C needs no call: it is an exception wherever Python runs, and that must be often.
"""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING, Any, TypeVar

from . import errors

if TYPE_CHECKING:
    from .session.session import BaseSession

Error = TypeVar("Error", errors.CancelledError, errors.DeadlineExceededError)

# So often those look who wait for something that cannot be told to wake them.
_POLL = 0.005
# So long sleeps who waits for what takes but moments.
_MOMENT = 2e-5


class _Work(threading.local):
    """The session that this thread works for, where that is not at hand."""

    session: Any = None


_work = _Work()


def check_session(session: BaseSession) -> None:
    """Raises CancelledError or DeadlineExceededError if a run of the session must not go on."""
    if session is None:
        return
    if session.is_ending:
        raise session.cancelled_error()
    if session.has_limits:
        deadline = session.deadline
        if deadline is not None and time.monotonic() > deadline:
            raise deadline_error()


def deadline_error() -> errors.DeadlineExceededError:
    """What a run fails with whose time is up."""
    return of_run(errors.DeadlineExceededError, "Timed out waiting for notification")


def of_run(kind: type[Error], text: str) -> Error:
    """An error that concerns a run, whatever operation it met."""
    error = kind(None, None, text)
    error.is_of_run = True
    return error


class within:  # noqa: N801 - a context, which must cost little
    """Has `check` ask for a session; for work that knows nothing of sessions."""

    __slots__ = ("_before", "_session")

    def __init__(self, session: BaseSession) -> None:
        self._session = session

    def __enter__(self) -> None:
        self._before, _work.session = _work.session, self._session

    def __exit__(self, *error: object) -> None:
        _work.session = self._before


def check() -> None:
    """As `check_session`, for the session that this thread works for, if there is one."""
    if _work.session is not None:
        check_session(_work.session)


def await_release(lock: threading.Lock) -> None:
    """Waits as long as this thread's run may until nobody has a lock; then take it.

    (A function that took it could lose it to Ctrl-C on its way back; `with lock` cannot.)
    """
    while lock.locked():
        check()
        time.sleep(_POLL)


def await_moment(lock: threading.Lock) -> None:
    """Waits until nobody has a lock that is held for moments only; then take it, with `with`.

    A thread that waits for the lock itself gets it without the interpreter's, for which it waits
    next: for so long nobody has use of either, and all that ask meanwhile come to wait in line,
    again and again.  So this asks, and sleeps.
    """
    while lock.locked():
        time.sleep(_MOMENT)
