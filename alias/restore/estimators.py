# SPDX-License-Identifier: Apache-2.0
"""Calls of scikit-learn as they were: arguments by position, and words that it has no longer.

scikit-learn is used only where the program has imported it.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from .table import ESTIMATORS
from .tables import by_keyword
from .use import note

# Keyword that is gone -> today's.
_RENAMED = {
    "n_iter": "max_iter",
    "sparse": "sparse_output",
    "base_estimator": "estimator",
    "affinity": "metric",
    "fit_params": "params",
    "probas_pred": "y_score",
    "y_prob": "y_proba",
    "force_all_finite": "ensure_all_finite",
    "store_cv_values": "store_cv_results",
}
_ANY = object()
# Keyword that is gone and of which some values say what is done now -> those values.
_DROPPED: dict[str, Any] = {
    **dict.fromkeys(
        "n_jobs precompute_distances presort iid verbose copy eps behaviour".split(), _ANY
    ),
    "algorithm": ("SAMME", "SAMME.R"),
    "min_impurity_split": (None,),
    "multi_class": ("auto", "multinomial"),
    "normalize": (False,),
    "squared": (True,),
}
# (Keyword, value) -> the value that says the same now.
_VALUES: dict[str, dict[Any, Any]] = {
    "criterion": {"mse": "squared_error", "mae": "absolute_error"},
    "loss": {
        "log": "log_loss",
        "deviance": "log_loss",
        "squared_loss": "squared_error",
        "ls": "squared_error",
        "lad": "absolute_error",
    },
    "penalty": {"none": None},
    "tol": {float("-inf"): None},
}
_WORDS = frozenset(word for words in _VALUES.values() for word in words)


def estimator(name: str, function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
    """A function or an estimator of scikit-learn, called as it was."""
    if not _WORDS.isdisjoint(a for a in args if isinstance(a, str)):
        args, kwargs = by_keyword(function, args, kwargs)
    said = {key: _value(function, key, value) for key, value in kwargs.items()}
    if said != kwargs:
        _note(name)
    try:
        return function(*args, **said)
    except TypeError:
        is_root = name.endswith(".mean_squared_error") and said.get("squared") is False
        now_args, now = _as_now(function, args, {**said, "squared": True} if is_root else said)
        if (now_args, now) == (args, said):
            raise
    _note(name)
    found = function(*now_args, **now)
    return found**0.5 if is_root else found


def _note(name: str) -> None:
    note(f"{name}: {ESTIMATORS[0]}", ESTIMATORS[1])


def _value(function: Callable[..., Any], key: str, value: Any) -> Any:
    if key == "max_features" and isinstance(value, str) and value == "auto":
        # Regressors looked at all features, classifiers at few.
        called = getattr(function, "__name__", "")
        return value if "Vectorizer" in called else 1.0 if "Regress" in called else "sqrt"
    if key in _VALUES and isinstance(value, (str, float)):
        return _VALUES[key].get(value, value)
    return value


def _as_now(function: Callable[..., Any], args: Any, kwargs: dict[str, Any]) -> tuple[Any, Any]:
    now_args, now = by_keyword(function, args, dict(kwargs))
    try:
        taken = inspect.signature(function).parameters
    except (TypeError, ValueError):
        return now_args, now
    for key in [key for key in now if key not in taken]:
        renamed = _RENAMED.get(key)
        if renamed in taken:
            now[renamed] = now.pop(key)
        elif key in _DROPPED and (_DROPPED[key] is _ANY or now[key] in _DROPPED[key]):
            del now[key]
        else:
            return args, kwargs
    return now_args, now
