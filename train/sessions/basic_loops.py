# SPDX-License-Identifier: Apache-2.0
"""The simplest training loop under a supervisor."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...engine import errors


def basic_train_loop(
    supervisor: Any,
    train_step_fn: Callable[..., Any],
    args: Any = None,
    kwargs: Any = None,
    master: str = "",
) -> None:
    """Calls `train_step_fn(session, *args, **kwargs)` until the supervisor says stop.

    Begins again after AbortedError (tf.train.basic_train_loop).
    """
    while True:
        try:
            with supervisor.managed_session(master) as session:
                while not supervisor.should_stop():
                    train_step_fn(session, *(args or ()), **(kwargs or {}))
            return
        except errors.AbortedError:
            continue
