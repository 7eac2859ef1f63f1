# SPDX-License-Identifier: Apache-2.0
"""What estimators have of scikit-learn's: parameters by name, and an error."""

from __future__ import annotations

from typing import Any

import numpy as np

from .....engine.api import export


class BaseEstimator:
    """Attributes without an underscore are parameters."""

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The parameters by name; with `deep` also those of estimators among them."""
        found: dict[str, Any] = {}
        for name, value in vars(self).items():
            if name.startswith("_") or callable(value):
                continue
            if deep and hasattr(value, "get_params"):
                found.update({f"{name}__{k}": v for k, v in value.get_params().items()})
            found[name] = value
        return found

    def set_params(self, **params: Any) -> BaseEstimator:
        """Sets parameters; "a__b" is `b` of the estimator `a`.

        Raises:
            ValueError: there is no such parameter.
        """
        valid = self.get_params(deep=True) if params else {}
        for key, value in params.items():
            name, _, inner = key.partition("__")
            if name not in valid:
                raise ValueError(
                    f"Invalid parameter {name} for estimator {type(self).__name__}. Check the list "
                    "of available parameters with `estimator.get_params().keys()`."
                )
            if inner:
                valid[name].set_params(**{inner: value})
            else:
                setattr(self, key, value)
        return self

    def __repr__(self) -> str:
        params = sorted(self.get_params(deep=False).items())
        told = ", ".join(f"{key}={value!r}" for key, value in params)
        return f"{type(self).__name__}({told})"


@export("contrib.learn.NotFittedError")
class NotFittedError(ValueError, AttributeError):
    """An estimator was used before it was trained."""


def accuracy_score(y_true: object, y_pred: object) -> Any:
    """The share of predictions that are right."""
    return np.average(y_true == y_pred)


def mean_squared_error(y_true: Any, y_pred: Any) -> Any:
    """The mean of squared errors."""
    return np.average((np.squeeze(y_true) - np.squeeze(y_pred)) ** 2)


def train_test_split(*args: Any, **options: Any) -> tuple[Any, ...]:
    """Parts of arrays for training and for test, in an order that is drawn.

    Args:
        *args: arrays of the same length.
        **options: test_size and train_size, shares; random_state, a seed.

    Returns:
        The part for training and that for test of one array after another.
    """
    share = options.get("train_size")
    if share is None:
        share = 1 - options.get("test_size", 0.25)
    count = int(share * args[0].shape[0])
    np.random.seed(options.get("random_state"))
    order = np.random.permutation(args[0].shape[0])
    parts = order[:count], order[count:]
    return tuple(x.take(part, axis=0) for x in args for part in parts)
