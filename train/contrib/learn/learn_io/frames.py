# SPDX-License-Identifier: Apache-2.0
"""Frames of pandas and dask as arrays, if programs have these libraries loaded."""

from __future__ import annotations

import sys
from typing import Any

from .....engine.api import constant, export


def _is(data: object, library: str, *kinds: str) -> bool:
    """Whether data are of a library's classes; without that library loaded nothing is."""
    module = sys.modules.get(library)
    return module is not None and any(isinstance(data, getattr(module, kind)) for kind in kinds)


def _has(library: str) -> bool:
    from importlib.util import find_spec

    return find_spec(library) is not None


HAS_PANDAS = _has("pandas")
HAS_DASK = _has("dask")
constant("contrib.learn.io.HAS_PANDAS", HAS_PANDAS)
constant("contrib.learn.io.HAS_DASK", HAS_DASK)

PANDAS_DTYPES = {
    **{f"{sign}int{size}": "int" for sign in ("", "u") for size in (8, 16, 32, 64)},
    **{f"float{size}": "float" for size in (16, 32, 64)},
    "bool": "i",
}


def _refuse_other_types(data: Any, what: str, quoted: bool) -> None:
    wrong = [column for column in data if data[column].dtype.name not in PANDAS_DTYPES]
    if wrong:
        quote = "'" if quoted else ""
        told = ", ".join(f"'{c}' type={quote}{data[c].dtype.name}{quote}" for c in wrong)
        raise ValueError(
            f"Data types for extracting {what} must be int, float, or bool. Found: {told}"
        )


@export("contrib.learn.extract_pandas_data", "contrib.learn.io.extract_pandas_data")
def extract_pandas_data(data: Any) -> Any:
    """A frame of numbers as an array of floats; anything else as it is.

    Raises:
        ValueError: a column holds something else.
    """
    if not _is(data, "pandas", "DataFrame"):
        return data
    _refuse_other_types(data, "pandas data", quoted=True)
    return data.values.astype("float")


@export("contrib.learn.extract_pandas_matrix", "contrib.learn.io.extract_pandas_matrix")
def extract_pandas_matrix(data: Any) -> Any:
    """A frame as an array; anything else as it is."""
    return data.values if _is(data, "pandas", "DataFrame") else data


@export("contrib.learn.extract_pandas_labels", "contrib.learn.io.extract_pandas_labels")
def extract_pandas_labels(labels: Any) -> Any:
    """A frame of one column as an array; anything else as it is.

    Raises:
        ValueError: there are more columns, or the column holds no numbers.
    """
    if not _is(labels, "pandas", "DataFrame"):
        return labels
    if len(labels.columns) > 1:
        raise ValueError("Only one column for labels is allowed.")
    _refuse_other_types(labels, "labels", quoted=False)
    return labels.values


@export("contrib.learn.extract_dask_data", "contrib.learn.io.extract_dask_data")
def extract_dask_data(data: Any) -> Any:
    """A frame or series of dask as one of pandas; anything else as it is."""
    return data.compute() if _is(data, "dask.dataframe", "DataFrame", "Series") else data


@export("contrib.learn.extract_dask_labels", "contrib.learn.io.extract_dask_labels")
def extract_dask_labels(labels: Any) -> Any:
    """A frame or series of dask with one column as one of pandas; anything else as it is.

    Raises:
        ValueError: there are more columns.
    """
    if _is(labels, "dask.dataframe", "DataFrame") and len(labels.columns) > 1:
        raise ValueError("Only one column for labels is allowed.")
    return extract_dask_data(labels)
