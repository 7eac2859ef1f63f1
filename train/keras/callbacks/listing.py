# SPDX-License-Identifier: Apache-2.0
"""The callbacks of one training, evaluation or prediction, told together."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from .base import BaseLogger, Callback, History, ProgbarLogger


class CallbackList:
    """Several callbacks, told in their order."""

    def __init__(self, callbacks: Sequence[Callback] = ()) -> None:
        self.callbacks = list(callbacks)
        self.params: dict[str, Any] = {}
        self.model: Any = None

    def append(self, callback: Callback) -> None:
        """Adds a callback."""
        self.callbacks.append(callback)

    def set_params(self, params: dict[str, Any]) -> None:
        """Gives all the dict about the training."""
        self.params = params
        for callback in self.callbacks:
            callback.set_params(params)

    def set_model(self, model: Any) -> None:
        """Gives all the model."""
        self.model = model
        for callback in self.callbacks:
            callback.set_model(model)

    def on_batch(self, when: str, mode: str, batch: int, logs: dict[str, Any]) -> None:
        """Tells of a batch: `when` is "begin" or "end", `mode` "train", "test" or "predict"."""
        for callback in self.callbacks:
            getattr(callback, f"on_{mode}_batch_{when}")(batch, logs)

    def renew(self, bar: ProgbarLogger) -> None:
        """Takes over the names of metrics of a model that its first batch has built."""
        names = list(self.model.metrics_names)
        does_validation = self.params["do_validation"]
        known = [*names, *(f"val_{name}" for name in names)] if does_validation else names
        shown = self.params["metrics"]
        if not shown or len(shown) >= len(known):
            return
        shown[:] = known  # In place: all callbacks have the same list.
        for callback in (*self.callbacks, bar):
            if isinstance(callback, (BaseLogger, ProgbarLogger)):
                callback.stateful_metrics.update(names[1:])
        if bar.progbar is not None:
            bar.progbar.stateful_metrics.update(names[1:])

    def __getattr__(self, name: str) -> Any:
        if not name.startswith("on_"):
            raise AttributeError(name)

        def tell(*args: Any, **kwargs: Any) -> None:
            for callback in self.callbacks:
                getattr(callback, name)(*args, **kwargs)

        return tell

    def __iter__(self) -> Iterator[Callback]:
        return iter(self.callbacks)


class Silent(ProgbarLogger):
    """Prints nothing."""

    def on_batch_begin(self, batch: int, logs: Any = None) -> None:
        """Nothing."""

    def on_batch_end(self, batch: int, logs: Any = None) -> None:
        """Nothing."""

    def on_epoch_begin(self, epoch: int, logs: Any = None) -> None:
        """Nothing."""

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        """Nothing."""

    def learn(self, source: Any) -> None:
        """Nothing."""


def configured(
    model: Any,
    callbacks: Any,
    source: Any,
    *,
    epochs: int,
    does_validation: bool,
    verbose: int,
    mode: str,
) -> tuple[CallbackList, ProgbarLogger]:
    """The callbacks of a run, and what prints how far it is."""
    given = list(callbacks) if callbacks else []
    if mode == "train":
        model._set(history=History())
        given = [BaseLogger(), *given, model.history]
    names = list(model.metrics_names) if mode != "predict" else []
    for callback in given:
        if isinstance(callback, (BaseLogger, ProgbarLogger)):
            callback.stateful_metrics = set(names[1:])
    metrics = [*names, *(f"val_{name}" for name in names)] if does_validation else names
    told = CallbackList(given)
    told.set_model(model)
    params = {
        "batch_size": source.batch_size,
        "epochs": epochs,
        "steps": source.steps,
        "samples": source.size,
        "verbose": verbose,
        "do_validation": does_validation,
        "metrics": metrics,
    }
    told.set_params(params)
    if not verbose:
        bar: ProgbarLogger = Silent()
    else:
        bar = ProgbarLogger("samples" if source.counts_samples else "steps", names[1:])
    bar.set_params(dict(params))
    return told, bar
