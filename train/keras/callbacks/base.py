# SPDX-License-Identifier: Apache-2.0
"""`Callback`, and those that every training has."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..utils.progress import Progbar


class Callback:
    """Is told of epochs and batches; classes override what they want to know.

    `model` is the model that is trained, and `params` a dict about the training.
    """

    def __init__(self) -> None:
        self.validation_data: Any = None
        self.model: Any = None
        self.params: dict[str, Any] = {}

    def set_params(self, params: dict[str, Any]) -> None:
        """Is given the dict about the training."""
        self.params = params

    def set_model(self, model: Any) -> None:
        """Is given the model."""
        self.model = model

    def on_batch_begin(self, batch: int, logs: Any = None) -> None:
        """Before each batch of a training."""

    def on_batch_end(self, batch: int, logs: Any = None) -> None:
        """Behind each batch of a training, with its loss and metrics."""

    def on_epoch_begin(self, epoch: int, logs: Any = None) -> None:
        """Before each epoch."""

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        """Behind each epoch, with its loss and metrics, those of evaluation with "val_"."""

    def on_train_batch_begin(self, batch: int, logs: Any = None) -> None:
        """Before each batch of a training."""
        self.on_batch_begin(batch, logs=logs)

    def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
        """Behind each batch of a training."""
        self.on_batch_end(batch, logs=logs)

    def on_test_batch_begin(self, batch: int, logs: Any = None) -> None:
        """Before each batch of an evaluation."""

    def on_test_batch_end(self, batch: int, logs: Any = None) -> None:
        """Behind each batch of an evaluation."""

    def on_predict_batch_begin(self, batch: int, logs: Any = None) -> None:
        """Before each batch of a prediction."""

    def on_predict_batch_end(self, batch: int, logs: Any = None) -> None:
        """Behind each batch of a prediction."""

    def on_train_begin(self, logs: Any = None) -> None:
        """Before a training."""

    def on_train_end(self, logs: Any = None) -> None:
        """Behind a training."""

    def on_test_begin(self, logs: Any = None) -> None:
        """Before an evaluation."""

    def on_test_end(self, logs: Any = None) -> None:
        """Behind an evaluation."""

    def on_predict_begin(self, logs: Any = None) -> None:
        """Before a prediction."""

    def on_predict_end(self, logs: Any = None) -> None:
        """Behind a prediction."""


class BaseLogger(Callback):
    """Makes epochs' logs means over examples; those of `stateful_metrics` are the last ones."""

    def __init__(self, stateful_metrics: Any = None) -> None:
        super().__init__()
        self.stateful_metrics = set(stateful_metrics or [])
        self.seen = 0
        self.totals: dict[str, Any] = {}

    def on_epoch_begin(self, epoch: int, logs: Any = None) -> None:
        """Begins the sums anew."""
        self.seen, self.totals = 0, {}

    def on_batch_end(self, batch: int, logs: Any = None) -> None:
        """Adds a batch."""
        logs = logs or {}
        size = logs.get("size", 0)
        self.seen += size
        for name, value in logs.items():
            if name in self.stateful_metrics:
                self.totals[name] = value
            else:
                self.totals[name] = self.totals.get(name, 0) + np.float64(value) * size

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        """Puts the means into the logs."""
        if logs is None:
            return
        for name in self.params["metrics"]:
            if name in self.totals:
                total = self.totals[name]
                logs[name] = total if name in self.stateful_metrics else total / self.seen


class History(Callback):
    """Keeps the logs of all epochs: `history`, a dict of lists, and `epoch`, their numbers."""

    def __init__(self) -> None:
        super().__init__()
        self.epoch: list[int] = []
        self.history: dict[str, list[Any]] = {}

    def on_train_begin(self, logs: Any = None) -> None:
        """Begins anew."""
        self.epoch, self.history = [], {}

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        """Keeps the logs of an epoch."""
        self.epoch.append(epoch)
        for name, value in (logs or {}).items():
            self.history.setdefault(name, []).append(value)


class ProgbarLogger(Callback):
    """Prints how far an epoch is; counts "samples" or "steps"."""

    def __init__(self, count_mode: str = "samples", stateful_metrics: Any = None) -> None:
        super().__init__()
        if count_mode not in ("samples", "steps"):
            raise ValueError(f"Unknown `count_mode`: {count_mode}")
        self.use_steps = count_mode == "steps"
        self.stateful_metrics = set(stateful_metrics or [])
        self.seen = 0
        self.target: Any = None
        self.progbar: Any = None
        self.log_values: list[Any] = []

    def on_epoch_begin(self, epoch: int, logs: Any = None) -> None:
        """Prints the epoch's number, and begins a bar."""
        self.seen = 0
        self.log_values = []
        self.target = self.params["steps" if self.use_steps else "samples"]
        if self.params["verbose"] and (self.params["epochs"] or 1) > 1:
            print(f"Epoch {epoch + 1}/{self.params['epochs']}")
        self.progbar = Progbar(
            target=self.target,
            verbose=self.params["verbose"],
            stateful_metrics=self.stateful_metrics,
            unit_name="step" if self.use_steps else "sample",
        )

    def on_batch_begin(self, batch: int, logs: Any = None) -> None:
        """Begins a batch's values."""
        self.log_values = []

    def on_batch_end(self, batch: int, logs: Any = None) -> None:
        """Moves the bar."""
        logs = logs or {}
        self.seen += 1 if self.use_steps else logs.get("size", 0)
        self._note(logs)
        if self.params["verbose"] and (self.target is None or self.seen < self.target):
            self.progbar.update(self.seen, self.log_values)

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        """Ends the bar."""
        self._note(logs or {})
        if self.params["verbose"]:
            self.progbar.update(self.seen, self.log_values)

    def _note(self, logs: dict[str, Any]) -> None:
        self.log_values += [(name, logs[name]) for name in self.params["metrics"] if name in logs]

    def learn(self, source: Any) -> None:
        """Takes over the number of steps, which only the end of the first epoch tells."""
        if self.use_steps and self.target is None:
            self.target = self.progbar.target = self.params["steps"] = source.steps


class TerminateOnNaN(Callback):
    """Ends a training whose loss is no number."""

    def on_batch_end(self, batch: int, logs: Any = None) -> None:
        """Looks at the loss."""
        loss = (logs or {}).get("loss")
        if loss is not None and not np.isfinite(loss):
            print(f"Batch {batch}: Invalid loss, terminating training")
            self.model.stop_training = True


class LambdaCallback(Callback):
    """Calls functions; each is named as what it is told of."""

    def __init__(
        self,
        on_epoch_begin: Any = None,
        on_epoch_end: Any = None,
        on_batch_begin: Any = None,
        on_batch_end: Any = None,
        on_train_begin: Any = None,
        on_train_end: Any = None,
        **kwargs: Any,
    ) -> None:
        super().__init__()
        given = {
            "on_epoch_begin": on_epoch_begin,
            "on_epoch_end": on_epoch_end,
            "on_batch_begin": on_batch_begin,
            "on_batch_end": on_batch_end,
            "on_train_begin": on_train_begin,
            "on_train_end": on_train_end,
            **kwargs,
        }
        for name, function in given.items():
            if function is not None:
                setattr(self, name, function)
