# SPDX-License-Identifier: Apache-2.0
"""Tables in CSV files as features and labels."""

from __future__ import annotations

import csv
import random
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from .....engine.api import constant, export
from .....io.csv_datasets import (
    Dataset,
    load_csv_with_header,
    load_csv_without_header,
    maybe_download,
)
from .....io.files import GFile
from .....io.mnist import Datasets
from .iris import IRIS

__all__ = [
    "Dataset",
    "Datasets",
    "load_boston",
    "load_csv_with_header",
    "load_csv_without_header",
    "load_iris",
    "maybe_download",
    "retry",
    "shrink_csv",
]

constant("contrib.learn.datasets.base.Dataset", Dataset)
constant("contrib.learn.datasets.base.Datasets", Datasets)
constant("contrib.learn.datasets.base.maybe_download", maybe_download)


@export("contrib.learn.datasets.base.shrink_csv")
def shrink_csv(filename: str, ratio: int) -> None:
    """Writes every ratio-th row of a table into a file beside, "x_small.csv" of "x.csv"."""
    with GFile(filename) as file, GFile(filename.replace(".", "_small."), "w") as small:
        writer: Any = csv.writer(small)  # type: ignore[arg-type]
        for i, row in enumerate(csv.reader(file)):
            if i % ratio == 0:
                writer.writerow(row)


@export("contrib.learn.datasets.load_iris", "contrib.learn.datasets.base.load_iris")
def load_iris(data_path: str | None = None) -> Dataset:
    """Fisher's measurements of 150 irises of three kinds.

    Args:
        data_path: a file to read instead, with a header.

    Returns:
        A Dataset.
    """
    if data_path is not None:
        return load_csv_with_header(data_path, target_dtype=int, features_dtype=float)
    data = np.array(IRIS.split(), float).reshape(-1, 5)
    return Dataset(data=data[:, :4].copy(), target=data[:, 4].astype(int))


@export("contrib.learn.datasets.load_boston", "contrib.learn.datasets.base.load_boston")
def load_boston(data_path: str | None = None) -> Dataset:
    """Prices of houses in Boston.

    Args:
        data_path: the file.

    Returns:
        A Dataset.

    Raises:
        ValueError: no file is given; the data do not come with numbaflow.
    """
    if data_path is None:
        raise ValueError(
            "the prices of Boston's houses do not come with numbaflow; give load_boston the path "
            "of a boston_house_prices.csv"
        )
    return load_csv_with_header(data_path, target_dtype=float, features_dtype=float)


@export("contrib.learn.datasets.base.retry")
def retry(
    initial_delay: float,
    max_delay: float,
    factor: float = 2.0,
    jitter: float = 0.25,
    is_retriable: Callable[[Exception], bool] | None = None,
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """A decorator that calls a function again when it fails.

    Args:
        initial_delay, max_delay: the first and the longest time to wait, in seconds.
        factor: how much longer each time is than the one before.
        jitter: which share of a time is drawn.
        is_retriable: whether an exception is one to try again after, having waited; all are, at
            once, if None.

    Returns:
        The decorator.

    Raises:
        ValueError: times would shrink, or the jitter is all of them.
    """
    if factor < 1:
        raise ValueError(f"factor must be >= 1; was {factor:f}")
    if jitter >= 1:
        raise ValueError(f"jitter must be < 1; was {jitter:f}")

    def delays() -> Iterator[float]:
        delay = initial_delay
        while delay <= max_delay:
            yield delay * random.uniform(1 - jitter, 1 + jitter)
            delay *= factor

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        def called(*args: Any, **kwargs: Any) -> Any:
            for delay in delays():
                try:
                    return function(*args, **kwargs)
                except Exception as error:
                    if is_retriable is None:
                        continue
                    if not is_retriable(error):
                        raise
                    time.sleep(delay)
            return function(*args, **kwargs)

        return called

    return decorate
