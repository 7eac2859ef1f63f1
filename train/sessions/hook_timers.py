# SPDX-License-Identifier: Apache-2.0
"""When a hook acts: every so many steps or seconds."""

from __future__ import annotations

import time
from typing import Any

from ..variables.global_step import _get_or_create_global_step_read


class SecondOrStepTimer:
    """Says when so many seconds or steps have passed (tf.train.SecondOrStepTimer)."""

    def __init__(self, every_secs: float | None = None, every_steps: int | None = None) -> None:
        self.reset()
        self._every_secs, self._every_steps = every_secs, every_steps
        if every_secs is None and every_steps is None:
            raise ValueError("Either every_secs or every_steps should be provided.")
        if every_secs is not None and every_steps is not None:
            raise ValueError("Can not provide both every_secs and every_steps.")

    def reset(self) -> None:
        """Forgets when it was last."""
        self._last_triggered_step: int | None = None
        self._last_triggered_time: float | None = None

    def should_trigger_for_step(self, step: int) -> bool:
        """Whether it is time; always the first time, never twice for one step."""
        if self._last_triggered_step is None:
            return True
        if self._last_triggered_step == step:
            return False
        if self._every_secs is not None and self._last_triggered_time is not None:
            return time.time() >= self._last_triggered_time + self._every_secs
        return self._every_steps is not None and (
            step >= self._last_triggered_step + self._every_steps
        )

    def update_last_triggered_step(self, step: int) -> tuple[float | None, int | None]:
        """Notes that it was now; the seconds and steps since the time before."""
        now = time.time()
        elapsed: tuple[float | None, int | None] = (None, None)
        if self._last_triggered_time is not None and self._last_triggered_step is not None:
            elapsed = now - self._last_triggered_time, step - self._last_triggered_step
        self._last_triggered_time, self._last_triggered_step = now, step
        return elapsed

    def last_triggered_step(self) -> int | None:
        """The step at which it was last."""
        return self._last_triggered_step


class NeverTriggerTimer:
    """Never says that it is time."""

    def reset(self) -> None:
        """Nothing to forget."""

    def should_trigger_for_step(self, step: int) -> bool:
        """False."""
        del step
        return False

    def update_last_triggered_step(self, step: int) -> tuple[None, None]:
        """Nothing was."""
        del step
        return None, None

    def last_triggered_step(self) -> None:
        """None."""
        return


def global_step_read(user: str) -> Any:
    """The tensor that reads the global step; RuntimeError names the hook that needs it."""
    tensor = _get_or_create_global_step_read()
    if tensor is None:
        raise RuntimeError(f"Global step should be created to use {user}.")
    return tensor
