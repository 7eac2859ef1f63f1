# SPDX-License-Identifier: Apache-2.0
"""Callbacks that write files, or stop and slow a training by what they see."""

from __future__ import annotations

import csv
import json
import os
import urllib.parse
import urllib.request
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from ....engine.interface import log
from ..backend import sessions
from .base import Callback
from .latest import checkpoint_exists, latest_of_pattern


def _better(monitor: str, mode: str, what: str) -> tuple[Callable[..., Any], float]:
    """Whether a smaller or a larger value is better, and the worst value."""
    if mode not in ("auto", "min", "max"):
        log.warning("%s mode %s is unknown, fallback to auto mode.", what, mode)
        mode = "auto"
    if mode == "auto":
        mode = "max" if "acc" in monitor or monitor.startswith("fmeasure") else "min"
    return (np.greater, -np.inf) if mode == "max" else (np.less, np.inf)


class ModelCheckpoint(Callback):
    """Saves the model behind epochs, or after so many examples.

    Args:
        filepath: the file; "{epoch:02d}" and names of logs in it are filled in.
        monitor: the log by which a model is the best.
        verbose: 1 prints what is done.
        save_best_only: whether only a model that is better than all before is saved.
        save_weights_only: whether only weights are saved.
        mode: "min", "max" or "auto", which goes by the name of the log.
        save_freq: "epoch", or a number of examples.
        **kwargs: `period`, a number of epochs; `load_weights_on_restart`.

    Raises:
        ValueError: `save_freq` is something else.
    """

    def __init__(
        self,
        filepath: str,
        monitor: str = "val_loss",
        verbose: int = 0,
        save_best_only: bool = False,
        save_weights_only: bool = False,
        mode: str = "auto",
        save_freq: Any = "epoch",
        **kwargs: Any,
    ) -> None:
        super().__init__()
        self.monitor, self.verbose, self.filepath = monitor, verbose, filepath
        self.save_best_only, self.save_weights_only = save_best_only, save_weights_only
        if save_freq != "epoch" and not isinstance(save_freq, int):
            raise ValueError(f"Unrecognized save_freq: {save_freq}")
        self.save_freq = save_freq
        self.period = kwargs.get("period", 1)
        self.load_weights_on_restart = kwargs.get("load_weights_on_restart", False)
        self.monitor_op, self.best = _better(monitor, mode, "ModelCheckpoint")
        self.epochs_since_last_save = 0
        self._seen = 0
        self._epoch = 0

    def set_model(self, model: Any) -> None:
        """Saves weights only of models that no configuration describes."""
        self.model = model
        if not model._is_graph_network and type(model).__name__ != "Sequential":
            self.save_weights_only = True

    def on_train_begin(self, logs: Any = None) -> None:
        """Reads the last weights again if that is wanted and they are there.

        Raises:
            ValueError: the file holds other weights.
        """
        if not self.load_weights_on_restart:
            return
        path = self._get_most_recently_modified_file_matching_pattern(self.filepath)
        if path is None or not checkpoint_exists(path):
            return
        try:
            self.model.load_weights(path)
        except (OSError, ValueError) as error:
            raise ValueError(f"Error loading file from {path}. Reason: {error}") from error

    def _get_most_recently_modified_file_matching_pattern(self, pattern: str) -> str | None:
        return latest_of_pattern(pattern)

    def on_batch_end(self, batch: int, logs: Any = None) -> None:
        """Saves after so many examples."""
        if isinstance(self.save_freq, int):
            self._seen += (logs or {}).get("size", 1)
            if self._seen >= self.save_freq:
                self._save(self._epoch, logs)
                self._seen = 0

    def on_epoch_begin(self, epoch: int, logs: Any = None) -> None:
        """Notes the epoch's number."""
        self._epoch = epoch

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        """Saves behind an epoch."""
        self.epochs_since_last_save += 1
        if self.save_freq == "epoch":
            self._save(epoch, logs)

    def _save(self, epoch: int, logs: Any) -> None:
        logs = logs or {}
        if isinstance(self.save_freq, str) and self.epochs_since_last_save < self.period:
            return
        self.epochs_since_last_save = 0
        path = self.filepath.format(epoch=epoch + 1, **logs)
        if self.save_best_only and not self._is_best(epoch, logs, path):
            return
        if not self.save_best_only and self.verbose:
            print(f"\nEpoch {epoch + 1:05d}: saving model to {path}")
        if self.save_weights_only:
            self.model.save_weights(path, overwrite=True)
        else:
            self.model.save(path, overwrite=True)

    def _is_best(self, epoch: int, logs: dict[str, Any], path: str) -> bool:
        current = logs.get(self.monitor)
        if current is None:
            log.warning("Can save best model only with %s available, skipping.", self.monitor)
            return False
        is_better = bool(self.monitor_op(current, self.best))
        if self.verbose and is_better:
            print(
                f"\nEpoch {epoch + 1:05d}: {self.monitor} improved from {self.best:0.5f} to "
                f"{current:0.5f}, saving model to {path}"
            )
        elif self.verbose:
            print(f"\nEpoch {epoch + 1:05d}: {self.monitor} did not improve from {self.best:0.5f}")
        if is_better:
            self.best = current
        return is_better


class EarlyStopping(Callback):
    """Ends a training whose log gets no better.

    Args:
        monitor: the log.
        min_delta: by how much it must get better to count.
        patience: for how many epochs it may not.
        verbose: 1 prints that the training ends.
        mode: "min", "max" or "auto", which goes by the name of the log.
        baseline: what must be reached.
        restore_best_weights: whether the model has the weights of its best epoch afterwards.
    """

    def __init__(
        self,
        monitor: str = "val_loss",
        min_delta: float = 0,
        patience: int = 0,
        verbose: int = 0,
        mode: str = "auto",
        baseline: float | None = None,
        restore_best_weights: bool = False,
    ) -> None:
        super().__init__()
        if mode == "auto":
            mode = "max" if "acc" in monitor else "min"
        self.monitor, self.patience, self.verbose = monitor, patience, verbose
        self.baseline = baseline
        self.restore_best_weights = restore_best_weights
        self.monitor_op, self._worst = _better(monitor, mode, "EarlyStopping")
        amount = abs(min_delta)
        self.min_delta = amount if self.monitor_op is np.greater else -amount
        self.wait = self.stopped_epoch = 0
        self.best: Any = self._worst
        self.best_weights: Any = None

    def on_train_begin(self, logs: Any = None) -> None:
        """Begins anew."""
        self.wait = self.stopped_epoch = 0
        self.best = self._worst if self.baseline is None else self.baseline

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        """Looks at the log."""
        current = self.get_monitor_value(logs)
        if current is None:
            return
        if self.monitor_op(current - self.min_delta, self.best):
            self.best, self.wait = current, 0
            if self.restore_best_weights:
                self.best_weights = self.model.get_weights()
            return
        self.wait += 1
        if self.wait >= self.patience:
            self.stopped_epoch = epoch
            self.model.stop_training = True
            if self.restore_best_weights and self.best_weights is not None:
                if self.verbose > 0:
                    print("Restoring model weights from the end of the best epoch.")
                self.model.set_weights(self.best_weights)

    def on_train_end(self, logs: Any = None) -> None:
        """Prints where the training ended."""
        if self.stopped_epoch > 0 and self.verbose > 0:
            print(f"Epoch {self.stopped_epoch + 1:05d}: early stopping")

    def get_monitor_value(self, logs: Any) -> Any:
        """The log, or None and a warning."""
        logs = logs or {}
        if self.monitor not in logs:
            log.warning(
                "Early stopping conditioned on metric `%s` which is not available. Available "
                "metrics are: %s",
                self.monitor,
                ",".join(logs),
            )
        return logs.get(self.monitor)


class LearningRateScheduler(Callback):
    """Sets the learning rate of each epoch.

    Args:
        schedule: a function of the epoch, or of the epoch and the rate.
        verbose: 1 prints the rate.

    Raises:
        ValueError: the optimizer has no rate, or the schedule gives no number.
    """

    def __init__(self, schedule: Callable[..., Any], verbose: int = 0) -> None:
        super().__init__()
        self.schedule, self.verbose = schedule, verbose

    def on_epoch_begin(self, epoch: int, logs: Any = None) -> None:
        """Sets the rate."""
        if not hasattr(self.model.optimizer, "lr"):
            raise ValueError('Optimizer must have a "lr" attribute.')
        before = float(sessions.get_value(self.model.optimizer.lr))
        try:
            rate = self.schedule(epoch, before)
        except TypeError:
            # A function of the epoch alone, as older programs have.
            rate = self.schedule(epoch)
        if not isinstance(rate, (float, np.floating)):
            raise ValueError('The output of the "schedule" function should be float.')
        sessions.set_value(self.model.optimizer.lr, rate)
        if self.verbose > 0:
            print(
                f"\nEpoch {epoch + 1:05d}: LearningRateScheduler reducing learning rate to {rate}."
            )

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        """Puts the rate into the logs."""
        if logs is not None:
            logs["lr"] = sessions.get_value(self.model.optimizer.lr)


class ReduceLROnPlateau(Callback):
    """Lowers the learning rate where a log gets no better.

    Args:
        monitor: the log.
        factor: what the rate is multiplied by, below 1.
        patience: for how many epochs the log may not get better.
        verbose: 1 prints the rate.
        mode: "min", "max" or "auto", which goes by the name of the log.
        min_delta: by how much the log must get better to count.
        cooldown: for how many epochs nothing is done behind a change.
        min_lr: the least rate.

    Raises:
        ValueError: the factor is not below 1.
    """

    def __init__(
        self,
        monitor: str = "val_loss",
        factor: float = 0.1,
        patience: int = 10,
        verbose: int = 0,
        mode: str = "auto",
        min_delta: float = 1e-4,
        cooldown: int = 0,
        min_lr: float = 0,
        **kwargs: Any,
    ) -> None:
        super().__init__()
        if factor >= 1.0:
            raise ValueError("ReduceLROnPlateau does not support a factor >= 1.0.")
        self.monitor, self.factor, self.patience = monitor, factor, patience
        self.verbose, self.mode, self.cooldown, self.min_lr = verbose, mode, cooldown, min_lr
        if "epsilon" in kwargs:
            log.warning(
                "`epsilon` argument is deprecated and will be removed, use `min_delta` instead."
            )
        self.min_delta = kwargs.get("epsilon", min_delta)
        self.wait = self.cooldown_counter = 0
        self._begin()

    def _begin(self) -> None:
        mode = self.mode
        if mode == "auto":
            mode = "max" if "acc" in self.monitor else "min"
        compare, self.best = _better(self.monitor, mode, "Learning Rate Plateau Reducing")
        amount = self.min_delta if compare is np.greater else -self.min_delta
        self.monitor_op = lambda a, b: compare(a, b + amount)
        self.wait = self.cooldown_counter = 0

    def on_train_begin(self, logs: Any = None) -> None:
        """Begins anew."""
        self._begin()

    def in_cooldown(self) -> bool:
        """Whether nothing is done yet behind a change."""
        return self.cooldown_counter > 0

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        """Looks at the log, and lowers the rate."""
        logs = logs if logs is not None else {}
        logs["lr"] = sessions.get_value(self.model.optimizer.lr)
        current = logs.get(self.monitor)
        if current is None:
            log.warning(
                "Reduce LR on plateau conditioned on metric `%s` which is not available. Available "
                "metrics are: %s",
                self.monitor,
                ",".join(logs),
            )
            return
        if self.in_cooldown():
            self.cooldown_counter -= 1
            self.wait = 0
        if self.monitor_op(current, self.best):
            self.best, self.wait = current, 0
        elif not self.in_cooldown():
            self.wait += 1
            before = float(sessions.get_value(self.model.optimizer.lr))
            if self.wait >= self.patience and before > self.min_lr:
                rate = max(before * self.factor, self.min_lr)
                sessions.set_value(self.model.optimizer.lr, rate)
                if self.verbose > 0:
                    print(
                        f"\nEpoch {epoch + 1:05d}: ReduceLROnPlateau reducing learning rate to "
                        f"{rate}."
                    )
                self.cooldown_counter, self.wait = self.cooldown, 0


class CSVLogger(Callback):
    """Writes the logs of epochs to a file, a line for each.

    Args:
        filename: the file.
        separator: stands between values.
        append: whether lines are added to a file that is there.
    """

    def __init__(self, filename: str, separator: str = ",", append: bool = False) -> None:
        super().__init__()
        self.filename, self.sep, self.append = filename, separator, append
        self.writer: Any = None
        self.keys: list[str] | None = None
        self._needs_header = True
        self._file: Any = None

    def on_train_begin(self, logs: Any = None) -> None:
        """Opens the file."""
        if self.append and os.path.exists(self.filename):
            with open(self.filename, encoding="utf-8") as file:
                self._needs_header = not file.readline()
        mode = "a" if self.append else "w"
        self._file = open(self.filename, mode, newline="", encoding="utf-8")  # noqa: SIM115

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        """Writes a line."""
        logs = logs or {}
        if self.keys is None:
            self.keys = sorted(logs)
        if self.model.stop_training:
            # Without an evaluation in the last epoch there are fewer logs.
            logs = {key: logs.get(key, "NA") for key in self.keys}
        if self.writer is None:
            self.writer = csv.DictWriter(
                self._file,
                fieldnames=["epoch", *self.keys],
                delimiter=self.sep,
                lineterminator="\n",
            )
            if self._needs_header:
                self.writer.writeheader()
        self.writer.writerow({"epoch": epoch, **{k: _text(logs.get(k)) for k in self.keys}})
        self._file.flush()

    def on_train_end(self, logs: Any = None) -> None:
        """Closes the file."""
        self._file.close()
        self.writer = None


def _text(value: Any) -> Any:
    if isinstance(value, str) or np.ndim(value) == 0:
        return value
    return f'"[{", ".join(map(str, value))}]"' if isinstance(value, Iterable) else value


class RemoteMonitor(Callback):
    """Sends the logs of epochs to a server.

    Args:
        root, path: the server's address, and the path on it.
        field: the name of the form's field, if the logs are sent as a form.
        headers: of the requests.
        send_as_json: whether the logs are sent as JSON.
    """

    def __init__(
        self,
        root: str = "http://localhost:9000",
        path: str = "/publish/epoch/end/",
        field: str = "data",
        headers: dict[str, str] | None = None,
        send_as_json: bool = False,
    ) -> None:
        super().__init__()
        self.root, self.path, self.field = root, path, field
        self.headers, self.send_as_json = headers or {}, send_as_json

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        """Sends the logs; a warning says that the server cannot be reached."""
        sent = {"epoch": epoch, **{k: float(v) for k, v in (logs or {}).items()}}
        text = json.dumps(sent)
        headers = dict(self.headers)
        if self.send_as_json:
            headers["Content-Type"] = "application/json"
        else:
            text = urllib.parse.urlencode({self.field: text})
        request = urllib.request.Request(self.root + self.path, text.encode(), headers)
        try:
            urllib.request.urlopen(request, timeout=10).close()
        except OSError:
            log.warning("Could not reach RemoteMonitor root server at %s", self.root)
