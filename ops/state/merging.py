# SPDX-License-Identifier: Apache-2.0
"""What is computed once for all replicas of a process, though each of them asks for it.

Strategies are further up (train/distributed): they say here how replicas of this thread merge.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any


class _Current(threading.local):
    """How the replica whose code this thread runs merges with the others; None: it is alone."""

    merge_call: Callable[..., Any] | None = None


_current = _Current()


@contextmanager
def replica(merge_call: Callable[..., Any]) -> Iterator[None]:
    """Within it code is that of a replica, which merges by a function."""
    before, _current.merge_call = _current.merge_call, merge_call
    try:
        yield
    finally:
        _current.merge_call = before


def merged(function: Callable[..., Any], *args: Any) -> Any:
    """What a function gives: called once for all replicas, where variables are read of all."""
    if _current.merge_call is None:
        return function(*args)
    return _current.merge_call(lambda strategy, *given: function(*given), args)
