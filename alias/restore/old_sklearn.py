# SPDX-License-Identifier: Apache-2.0
"""What scikit-learn has moved or given up."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NoReturn

import numpy as np
from sklearn import model_selection as _now
from sklearn.model_selection import cross_val_predict as cross_val_predict
from sklearn.model_selection import cross_val_score as cross_val_score
from sklearn.model_selection import train_test_split as train_test_split

__all__ = [
    *("KFold", "LeaveOneOut", "ShuffleSplit", "StratifiedKFold", "StratifiedShuffleSplit"),
    *("cross_val_predict", "cross_val_score", "fetch_mldata", "linear_assignment", "load_boston"),
    *("RandomizedPCA", "train_test_split"),
]


class _Splits:
    """Splits of a known number of rows: it is iterated over, and has no `split`."""

    def __init__(self, splitter: Any, rows: int, classes: Any = None) -> None:
        self.n, self._splitter, self._classes = rows, splitter, classes

    def __iter__(self) -> Iterator[Any]:
        return iter(self._splitter.split(np.zeros((self.n, 1)), self._classes))

    def __len__(self) -> int:
        return int(self._splitter.get_n_splits(np.zeros((self.n, 1)), self._classes))


def KFold(n: int, n_folds: int = 3, shuffle: bool = False, random_state: Any = None) -> _Splits:
    """Folds of n rows."""
    state = random_state if shuffle else None
    return _Splits(_now.KFold(n_folds, shuffle=shuffle, random_state=state), n)


def StratifiedKFold(
    y: Any, n_folds: int = 3, shuffle: bool = False, random_state: Any = None
) -> _Splits:
    """Folds with the same share of every class."""
    state = random_state if shuffle else None
    splitter = _now.StratifiedKFold(n_folds, shuffle=shuffle, random_state=state)
    return _Splits(splitter, len(y), y)


def LeaveOneOut(n: int) -> _Splits:
    """As many splits as rows."""
    return _Splits(_now.LeaveOneOut(), n)


def ShuffleSplit(n: int, n_iter: int = 10, test_size: Any = 0.1, **options: Any) -> _Splits:
    """Random splits of n rows."""
    return _Splits(_now.ShuffleSplit(n_iter, test_size=test_size, **options), n)


def StratifiedShuffleSplit(
    y: Any, n_iter: int = 10, test_size: Any = 0.1, **options: Any
) -> _Splits:
    """Random splits with the same share of every class."""
    splitter = _now.StratifiedShuffleSplit(n_iter, test_size=test_size, **options)
    return _Splits(splitter, len(y), y)


def fetch_mldata(dataname: str, *args: Any, **kwargs: Any) -> NoReturn:
    """Says that the site is gone.

    Raises:
        OSError: always.
    """
    raise OSError(
        f"mldata.org is gone, and {dataname!r} with it; "
        "sklearn.datasets.fetch_openml('mnist_784') gets MNIST from openml.org"
    )


def load_boston(*args: Any, **kwargs: Any) -> NoReturn:
    """Says that the data set was withdrawn.

    Raises:
        ImportError: always.
    """
    raise ImportError(
        "scikit-learn 1.2 has withdrawn load_boston; "
        "sklearn.datasets.fetch_openml('boston', version=1) gets the same table"
    )


def RandomizedPCA(n_components: Any = None, **options: Any) -> Any:
    """Principal components by random projections."""
    from sklearn.decomposition import PCA

    options.setdefault("iterated_power", 2)
    return PCA(n_components, svd_solver="randomized", **options)


def linear_assignment(X: Any) -> Any:
    """Pairs of a row and a column, each in one pair, whose costs add up to least.

    Args:
        X: costs, one row for each of the ones, one column for each of the others.

    Returns:
        An array of (row, column), by rows.
    """
    from scipy.optimize import linear_sum_assignment

    return np.transpose(linear_sum_assignment(X))


def feature_names(self: Any) -> list[Any]:
    """The names of features, as a list."""
    return list(self.get_feature_names_out())
