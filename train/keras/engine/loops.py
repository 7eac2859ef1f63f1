# SPDX-License-Identifier: Apache-2.0
"""Epochs and batches: what happens around each batch of a source."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ..backend.phase import phase_value
from ..callbacks import listing
from .composites import concatenated, shape_of
from .sources import Batch


class Epochs(NamedTuple):
    """From which epoch to which, and after which of them models are evaluated."""

    number: int
    first: int
    validation: Any

    def validates(self, epoch: int) -> bool:
        """Whether the model is evaluated after an epoch."""
        if isinstance(self.validation, int):
            if self.validation < 1:
                raise ValueError("`validation_freq` can not be less than 1.")
            return (epoch + 1) % self.validation == 0
        if isinstance(self.validation, (list, tuple, set)):
            return epoch + 1 in self.validation
        raise ValueError(
            "`validation_freq` must be an Integer or `collections.Container` (e.g. list, tuple, "
            f"etc.), not {self.validation!r}"
        )


class _Mean:
    """The mean loss of batches, and the last of their metrics."""

    def __init__(self) -> None:
        self._loss, self._count = 0.0, 0
        self.last_size = 0
        self._metrics: list[Any] = []

    def add(self, found: Sequence[Any], batch: Batch) -> None:
        self._loss = self._loss + np.float64(found[0]) * batch.weight
        self._count += batch.weight
        self.last_size = batch.size
        self._metrics = list(found[1:])

    def results(self) -> list[Any]:
        if not self._count:
            raise ValueError("Empty training data.")
        return [self._loss / self._count, *self._metrics]


def _logs(model: Any, results: Sequence[Any], prefix: str = "") -> dict[str, Any]:
    return {prefix + name: value for name, value in zip(model.metrics_names, results)}


def _pass(model: Any, source: Any, mode: str, told: Any, bar: Any, use: Any) -> None:
    """One epoch: runs each batch and hands on what comes out."""
    extra: list[bool] = []
    function = None
    for number, batch in enumerate(source.batches()):
        if function is None:
            function = _function(model, source, mode)
            if not source.counts_samples:
                told.renew(bar)  # the model may be built only now
            if mode == "train":
                extra = phase_value(function, batch.values)
        logs: dict[str, Any] = {"batch": number, "size": batch.size if source.tells_size else 1}
        told.on_batch("begin", mode, number, logs)
        bar.on_batch_begin(number, logs)
        found = function([*batch.values, *extra])
        use(found, batch)
        logs = {**logs, **(_logs(model, found) if mode != "predict" else {"outputs": found})}
        told.on_batch("end", mode, number, logs)
        bar.on_batch_end(number, logs)
        if model.stop_training:
            break


def _function(model: Any, source: Any, mode: str) -> Any:
    """What runs a batch, made for weights of samples if there are any."""
    if source.counts_samples and mode != "predict":
        model._use_weights(source.weights)
    return model._function(mode)


def _announce(source: Any, validation: Any) -> None:
    if source.unit is None:
        return
    text = f"Train on {source.size} {source.unit}"
    if validation is not None and validation.size:
        text += f", validate on {validation.size} {source.unit}"
    print(text)


def fit(
    model: Any, source: Any, validation: Any, epochs: Epochs, callbacks: Any, verbose: int
) -> Any:
    """Trains a model for some epochs; gives its history."""
    if source.counts_samples:
        _function(model, source, "train")
    if verbose:
        _announce(source, validation)
    told, bar = listing.configured(
        model,
        callbacks,
        source,
        epochs=epochs.number,
        does_validation=validation is not None,
        verbose=verbose,
        mode="train",
    )
    model.stop_training = False
    told.on_train_begin(None)
    bar.on_train_begin()
    for epoch in range(epochs.first, epochs.number):
        if model.stop_training:
            break
        model.reset_metrics()
        logs: dict[str, Any] = {}
        told.on_epoch_begin(epoch, logs)
        bar.on_epoch_begin(epoch, logs)
        mean = _Mean()
        _pass(model, source, "train", told, bar, mean.add)
        logs = _logs(model, mean.results())
        bar.learn(source)
        if validation is not None and epochs.validates(epoch) and not model.stop_training:
            if validation.counts_samples and source.tells_size and not source.counts_samples:
                validation.follow(mean.last_size)
            found = _evaluated(model, validation, told, listing.Silent())
            logs.update(_logs(model, found, "val_"))
        told.on_epoch_end(epoch, logs)
        bar.on_epoch_end(epoch, logs)
    told.on_train_end(None)
    for each in (source, validation):
        if hasattr(each, "close"):
            each.close()
    return model.history


def _evaluated(model: Any, source: Any, told: Any, bar: Any) -> list[Any]:
    if source.counts_samples:
        _function(model, source, "test")
    else:
        source.restart()
    model.reset_metrics()
    told.on_test_begin(None)
    mean = _Mean()
    _pass(model, source, "test", told, bar, mean.add)
    told.on_test_end(None)
    return mean.results()


def evaluate(model: Any, source: Any, callbacks: Any, verbose: int) -> Any:
    """The loss of examples, or a list of the loss and metrics."""
    told, bar = listing.configured(
        model, callbacks, source, epochs=1, does_validation=False, verbose=verbose, mode="test"
    )
    model.stop_training = False
    bar.on_train_begin()
    bar.on_epoch_begin(0, {})
    found = _evaluated(model, source, told, bar)
    bar.on_epoch_end(0, _logs(model, found))
    if hasattr(source, "close"):
        source.close()
    return found[0] if len(found) == 1 else found


def _check_rows(found: Sequence[Any], size: int) -> None:
    """Raises a ValueError where a model made other rows of a batch than it was given."""
    for output in found:
        shape = tuple(shape_of(output) or ())
        if shape and shape[0] not in (1, size):
            raise ValueError(
                "Mismatch between expected batch size and model output batch size. Output shape = "
                f"{shape}, expected output shape = shape {(size, *shape[1:])}"
            )


def predict(model: Any, source: Any, callbacks: Any, verbose: int) -> Any:
    """The outputs for examples, an array or a list of arrays."""
    told, bar = listing.configured(
        model, callbacks, source, epochs=1, does_validation=False, verbose=verbose, mode="predict"
    )
    model.stop_training = False
    parts: list[list[Any]] = []

    def keep(found: list[Any], batch: Batch) -> None:
        if source.counts_samples:
            _check_rows(found, batch.size)
        parts.append(found)

    told.on_predict_begin(None)
    bar.on_train_begin()
    bar.on_epoch_begin(0, {})
    _pass(model, source, "predict", told, bar, keep)
    bar.on_epoch_end(0, {})
    told.on_predict_end(None)
    if hasattr(source, "close"):
        source.close()
    if not parts:
        raise ValueError("Empty training data.")
    outputs = [concatenated(x) for x in zip(*parts)]
    return outputs[0] if len(outputs) == 1 else outputs
