# SPDX-License-Identifier: Apache-2.0
"""Models as scikit-learn's estimators."""

from __future__ import annotations

import copy
import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

from ..engine.sequential import Sequential
from ..losses.objects import is_by
from .arrays import to_categorical


class BaseWrapper:
    """What both have in common.

    Args:
        build_fn: a function that makes a compiled model; or a class defines `__call__` as such.
        **sk_params: arguments of it and of the model's `fit`, `predict` and `evaluate`.

    Raises:
        ValueError: none of these has such an argument.
    """

    # scikit-learn's class whose estimators do the same.
    _mixin = ""

    def __init__(self, build_fn: Callable[..., Any] | None = None, **sk_params: Any) -> None:
        self.build_fn = build_fn
        self.sk_params = sk_params
        self.model: Any = None
        self.check_params(sk_params)

    def __sklearn_tags__(self) -> Any:
        """What scikit-learn since 1.6 asks of an estimator."""
        from sklearn import base

        return type(
            "_Tagged", (getattr(base, self._mixin), base.BaseEstimator), {}
        )().__sklearn_tags__()

    def check_params(self, params: dict[str, Any]) -> None:
        """Raises a ValueError for arguments that nothing takes."""
        methods = (
            Sequential.fit,
            Sequential.predict,
            Sequential.predict_classes,
            Sequential.evaluate,
        )
        takers = [inspect.signature(f).parameters for f in (*methods, self._builder())]
        for name in params:
            if name != "nb_epoch" and not any(name in known for known in takers):
                raise ValueError(f"{name} is not a legal parameter")

    def _builder(self) -> Callable[..., Any]:
        """What has the arguments of the function that makes a model."""
        build: Any = self if self.build_fn is None else self.build_fn
        return build if inspect.isroutine(build) else build.__call__

    def get_params(self, **params: Any) -> dict[str, Any]:
        """The arguments."""
        return {**copy.deepcopy(self.sk_params), "build_fn": self.build_fn}

    def set_params(self, **params: Any) -> BaseWrapper:
        """Sets arguments; ValueError for one that nothing takes."""
        self.check_params({k: v for k, v in params.items() if k != "build_fn"})
        if "build_fn" in params:
            self.build_fn = params.pop("build_fn")
        self.sk_params.update(params)
        return self

    def filter_sk_params(
        self, fn: Callable[..., Any], override: dict[str, Any] | None = None
    ) -> dict[str, Any]:
        """The arguments that a function takes."""
        known = inspect.signature(fn).parameters
        return {**{k: v for k, v in self.sk_params.items() if k in known}, **(override or {})}

    def fit(self, x: Any, y: Any, **kwargs: Any) -> Any:
        """Makes a model and trains it; gives its history."""
        # (A class of a program's own may be what builds models.)
        build: Any = self if self.build_fn is None else self.build_fn
        if inspect.isclass(build):
            build = build()
        function = build if inspect.isroutine(build) else build.__call__
        self.model = build(**self.filter_sk_params(function))
        if is_by_any(self.model.loss, "categorical_crossentropy") and len(y.shape) != 2:
            y = to_categorical(y)
        return self.model.fit(x, y, **self.filter_sk_params(self.model.fit, kwargs))


def is_by_any(loss: Any, name: str) -> bool:
    """Whether a loss is one of that name, as a name, a function or an object."""
    return loss == name or is_by(loss, name)


class KerasClassifier(BaseWrapper):
    """A model that tells classes; arguments as of the base class."""

    _mixin = "ClassifierMixin"

    def fit(self, x: Any, y: Any, **kwargs: Any) -> Any:
        """Makes a model and trains it; ValueError for labels of another shape."""
        y = np.array(y)
        if y.ndim == 2 and y.shape[1] > 1:
            self.classes_ = np.arange(y.shape[1])
        elif y.ndim == 1 or (y.ndim == 2 and y.shape[1] == 1):
            self.classes_ = np.unique(y)
            y = np.searchsorted(self.classes_, y)
        else:
            raise ValueError(f"Invalid shape for y: {y.shape}")
        self.n_classes_ = len(self.classes_)
        return super().fit(x, y, **kwargs)

    def predict(self, x: Any, **kwargs: Any) -> Any:
        """The classes of examples."""
        options = self.filter_sk_params(self.model.predict, kwargs)
        found = self.model.predict(x, **options)
        numbers = found.argmax(-1) if found.shape[-1] > 1 else (found > 0.5).astype("int32")
        return self.classes_[numbers]

    def predict_proba(self, x: Any, **kwargs: Any) -> Any:
        """The probabilities of classes."""
        options = self.filter_sk_params(self.model.predict, kwargs)
        found = self.model.predict(x, **options)
        return np.hstack([1 - found, found]) if found.shape[1] == 1 else found

    def score(self, x: Any, y: Any, **kwargs: Any) -> float:
        """The accuracy; ValueError for a model without this metric."""
        y = np.searchsorted(self.classes_, y)
        if is_by_any(self.model.loss, "categorical_crossentropy") and len(y.shape) != 2:
            y = to_categorical(y)
        found = self.model.evaluate(x, y, **self.filter_sk_params(self.model.evaluate, kwargs))
        for name, value in zip(self.model.metrics_names, np.atleast_1d(found)):
            if name in ("accuracy", "acc"):
                return float(value)
        raise ValueError(
            "The model is not configured to compute accuracy. You should pass "
            '`metrics=["accuracy"]` to the `model.compile()` method.'
        )


class KerasRegressor(BaseWrapper):
    """A model that tells numbers; arguments as of the base class."""

    _mixin = "RegressorMixin"

    def predict(self, x: Any, **kwargs: Any) -> Any:
        """The numbers of examples."""
        return np.squeeze(
            self.model.predict(x, **self.filter_sk_params(self.model.predict, kwargs))
        )

    def score(self, x: Any, y: Any, **kwargs: Any) -> float:
        """The negative loss."""
        found = self.model.evaluate(x, y, **self.filter_sk_params(self.model.evaluate, kwargs))
        return -float(np.atleast_1d(found)[0])
