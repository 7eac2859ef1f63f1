# SPDX-License-Identifier: Apache-2.0
"""Small data sets in CSV files (tensorflow.contrib.learn.python.learn.datasets.base)."""

from __future__ import annotations

import csv
import os
from typing import Any, NamedTuple

import numpy as np

from ..engine import errors
from ..engine.api import export
from .mnist import Datasets, downloaded

__all__ = ["Dataset", "Datasets", "load_csv_with_header", "load_csv_without_header"]


class Dataset(NamedTuple):
    """Features and what they stand for."""

    data: Any
    target: Any


def _rows(filename: str) -> list[list[str]]:
    from .files import open_binary

    with open_binary(filename, "rb") as file:
        text = file.read().decode("utf-8", "replace")
    return list(csv.reader(text.splitlines()))


def _split(
    rows: list[list[str]], column: int, dtypes: tuple[Any, Any], filename: str, first: int
) -> tuple[list[Any], list[Any]]:
    """Features and targets of rows, the first of which is line `first` of the file."""
    data, target = [], []
    target_dtype, features_dtype = dtypes
    for number, row in enumerate(rows, first):
        try:
            target.append(np.asarray(row.pop(column), dtype=target_dtype))
            data.append(np.asarray(row, dtype=features_dtype))
        except (IndexError, ValueError) as error:
            raise errors.invalid(f"line {number} of {filename}: {error}") from None
    return data, target


@export("contrib.learn.datasets.base.load_csv_with_header")
def load_csv_with_header(
    filename: str, target_dtype: Any, features_dtype: Any, target_column: int = -1
) -> Dataset:
    """Reads a CSV file whose first line says how many samples and features it has.

    Args:
        filename: of the file.
        target_dtype: what the column of targets becomes.
        features_dtype: what the others become.
        target_column: which one has the targets.

    Returns:
        A Dataset of arrays.

    Raises:
        InvalidArgumentError: the file is something else.
    """
    rows = _rows(filename)
    try:
        count, width = (int(text) for text in rows[0][:2])
    except (IndexError, ValueError):
        raise errors.invalid(
            f"{filename} does not begin with the numbers of its samples and features"
        ) from None
    data, target = _split(
        rows[1:], target_column, (target_dtype, features_dtype), filename, first=2
    )
    if len(data) != count or any(row.shape != (width,) for row in data):
        raise errors.invalid(
            f"{filename} says it has {count} samples of {width} features; it has {len(data)}, "
            f"of {sorted({row.size for row in data})}"
        )
    # Empty files have shapes, too.
    features = np.array(data, dtype=features_dtype).reshape(count, width)
    return Dataset(features, np.array(target, dtype=target_dtype))


@export("contrib.learn.datasets.base.load_csv_without_header")
def load_csv_without_header(
    filename: str, target_dtype: Any, features_dtype: Any, target_column: int = -1
) -> Dataset:
    """Reads a CSV file of samples; see `load_csv_with_header`."""
    rows = _rows(filename)
    data, target = _split(rows, target_column, (target_dtype, features_dtype), filename, first=1)
    widths = {row.size for row in data}
    if len(widths) > 1:
        raise errors.invalid(f"the lines of {filename} differ in length: {sorted(widths)} features")
    return Dataset(np.array(data), np.array(target, dtype=target_dtype))


def maybe_download(filename: str, work_directory: str, source_url: str) -> str:
    """The path of a file in a folder, downloaded to it from `source_url` if it is not there."""
    path = os.path.join(work_directory, filename)
    return downloaded(path, source_url)
