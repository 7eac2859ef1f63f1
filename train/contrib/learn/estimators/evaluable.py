# SPDX-License-Identifier: Apache-2.0
"""What can be trained and evaluated."""

from __future__ import annotations

import abc
from collections.abc import Callable, Sequence
from typing import Any

from .....engine.api import export


@export("contrib.learn.Evaluable")
class Evaluable(abc.ABC):
    """What has `evaluate` and a folder."""

    @property
    @abc.abstractmethod
    def model_dir(self) -> str:
        """The folder of checkpoints and events."""

    @abc.abstractmethod
    def evaluate(
        self,
        x: object = None,
        y: object = None,
        input_fn: Callable[..., Any] | None = None,
        feed_fn: Callable[[], Any] | None = None,
        batch_size: int | None = None,
        steps: int | None = None,
        metrics: dict[Any, Any] | None = None,
        name: str | None = None,
        checkpoint_path: str | None = None,
        hooks: Sequence[Any] | None = None,
    ) -> Any:
        """The metrics over an input."""


@export("contrib.learn.Trainable")
class Trainable(abc.ABC):
    """What has `fit`."""

    @abc.abstractmethod
    def fit(
        self,
        x: object = None,
        y: object = None,
        input_fn: Callable[..., Any] | None = None,
        steps: int | None = None,
        batch_size: int | None = None,
        monitors: Any = None,
        max_steps: int | None = None,
    ) -> Any:
        """Trains."""
