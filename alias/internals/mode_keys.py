# SPDX-License-Identifier: Apache-2.0
"""`saved_model.model_utils.mode_keys`: what a model is for, by two sets of names."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ...train.estimator import export_utils
from ...train.estimator.mode_keys import ModeKeys as EstimatorModeKeys


class KerasModeKeys:
    """Training, evaluation or prediction, as Keras calls them."""

    TRAIN = "train"
    TEST = "test"
    PREDICT = "predict"


def is_predict(mode: str) -> bool:
    """Whether a model is to predict."""
    return mode in (KerasModeKeys.PREDICT, EstimatorModeKeys.PREDICT)


def is_eval(mode: str) -> bool:
    """Whether a model is to be evaluated."""
    return mode in (KerasModeKeys.TEST, EstimatorModeKeys.EVAL)


def is_train(mode: str) -> bool:
    """Whether a model is to be trained."""
    return mode in (KerasModeKeys.TRAIN, EstimatorModeKeys.TRAIN)


class ModeKeyMap(Mapping[str, Any]):
    """Values by mode, under the names of either set; the keys are the names that were given.

    Raises:
        ValueError: a name is that of no mode, or two are those of one.
    """

    def __init__(self, **kwargs: Any) -> None:
        self._values: dict[str, Any] = {}
        self._keys = list(kwargs)
        for key, value in kwargs.items():
            mode = self._mode(key)
            if mode in self._values:
                raise ValueError(
                    f"Error creating ModeKeyMap. Multiple keys/values found for {mode} mode."
                )
            self._values[mode] = value

    @staticmethod
    def _mode(key: str) -> str:
        for is_one, mode in (
            (is_train, KerasModeKeys.TRAIN),
            (is_eval, KerasModeKeys.TEST),
            (is_predict, KerasModeKeys.PREDICT),
        ):
            if is_one(key):
                return mode
        raise ValueError(f"Invalid mode key: {key}.")

    def __getitem__(self, key: str) -> Any:
        return self._values[self._mode(key)]

    def __iter__(self) -> Iterator[str]:
        return iter(self._keys)

    def __len__(self) -> int:
        return len(self._keys)


EXPORT_TAG_MAP = ModeKeyMap(**export_utils.EXPORT_TAG_MAP)
SIGNATURE_KEY_MAP = ModeKeyMap(**export_utils.SIGNATURE_KEY_MAP)
