# SPDX-License-Identifier: Apache-2.0
"""What pandas, its tables and its columns had until pandas 2 and 3."""

from __future__ import annotations

import functools
import numbers
import warnings
from typing import Any

import numpy as np


def append(
    self: Any, other: Any, ignore_index: bool = False, verify_integrity: bool = False, **more: Any
) -> Any:
    """The rows of another table, or of a list of them, behind these.

    Args:
        self: the table or column.
        other: a table, a column, a dictionary of one row, or a list of tables.
        ignore_index: whether rows are numbered anew.
        verify_integrity: whether two rows of one index are an error.
        more: `sort`, of tables.

    Returns:
        A new table or column.
    """
    import pandas

    if isinstance(other, dict):
        other = pandas.DataFrame([other])
    elif isinstance(other, pandas.Series) and isinstance(self, pandas.DataFrame):
        other = other.to_frame().T
    parts = [self, *other] if isinstance(other, (list, tuple)) else [self, other]
    return pandas.concat(
        parts, ignore_index=ignore_index, verify_integrity=verify_integrity, **more
    )


def as_matrix(self: Any, columns: Any = None) -> Any:
    """The values as an array."""
    return (self if columns is None else self[columns]).to_numpy()


def value_counts(values: Any, *args: Any, **kwargs: Any) -> Any:
    """How often each value is there."""
    import pandas

    return pandas.Series(values).value_counts(*args, **kwargs)


def _rolling(arg: Any, window: int, min_periods: Any, center: bool, do: str) -> Any:
    import pandas

    rows = arg if hasattr(arg, "rolling") else pandas.Series(arg)
    return getattr(rows.rolling(window, min_periods=min_periods, center=center), do)()


def rolling_mean(arg: Any, window: int, min_periods: Any = None, center: bool = False) -> Any:
    """Means of windows of rows."""
    return _rolling(arg, window, min_periods, center, "mean")


def rolling_std(arg: Any, window: int, min_periods: Any = None, center: bool = False) -> Any:
    """Standard deviations of windows of rows."""
    return _rolling(arg, window, min_periods, center, "std")


def rolling_sum(arg: Any, window: int, min_periods: Any = None, center: bool = False) -> Any:
    """Sums of windows of rows."""
    return _rolling(arg, window, min_periods, center, "sum")


class _Parts:
    """`table.ix[...]`: by label, and by place where labels are no numbers."""

    def __init__(self, table: Any) -> None:
        self._table = table

    def _by(self, key: Any) -> tuple[Any, Any]:
        """What takes a key, and the key with all of it by label or all by place."""
        several = isinstance(key, tuple)
        parts = list(key) if several else [key]
        axes = [self._table.index, *([self._table.columns] if self._table.ndim == 2 else [])]
        places = [_is_place(p, axis) for p, axis in zip(parts, axes, strict=False)]
        if all(places):
            return self._table.iloc, key
        for i, (is_place, axis) in enumerate(zip(places, axes, strict=False)):
            if is_place:
                at = parts[i]
                # (A slice of places ends before its end, one of labels with it.)
                parts[i] = axis[at]
        return self._table.loc, tuple(parts) if several else parts[0]

    def __getitem__(self, key: Any) -> Any:
        by, key = self._by(key)
        return by[key]

    def __setitem__(self, key: Any, value: Any) -> None:
        by, key = self._by(key)
        by[key] = value


def _is_place(key: Any, axis: Any) -> bool:
    import pandas

    if pandas.api.types.is_integer_dtype(axis.dtype) or isinstance(axis, pandas.MultiIndex):
        return False
    if isinstance(key, slice):
        ends = [end for end in (key.start, key.stop) if end is not None]
        return bool(ends) and all(map(_is_integer, ends))
    if isinstance(key, (list, np.ndarray)):
        return len(key) > 0 and all(_is_integer(k) for k in key)
    return _is_integer(key)


def _is_integer(key: Any) -> bool:
    return isinstance(key, numbers.Integral) and not isinstance(key, (bool, np.bool_))


def ix(self: Any) -> _Parts:
    """Rows and columns by their labels, or by their places where labels are no integers."""
    return _Parts(self)


def get_value(self: Any, index: Any, col: Any = None, takeable: bool = False) -> Any:
    """One value of a table or a column."""
    if self.ndim == 1:
        return self.iat[index] if takeable else self.at[index]
    return self.iat[index, col] if takeable else self.at[index, col]


def mad(self: Any, axis: Any = 0, skipna: bool = True) -> Any:
    """The mean distance from the mean."""
    if self.ndim == 1:
        return (self - self.mean(skipna=skipna)).abs().mean(skipna=skipna)
    table = self.select_dtypes("number")
    centre = table.mean(axis=axis, skipna=skipna)
    return table.sub(centre, axis=1 - (axis or 0)).abs().mean(axis=axis, skipna=skipna)


def sort(
    self: Any, columns: Any = None, axis: int = 0, ascending: Any = True, **kwargs: Any
) -> Any:
    """Rows by values of columns, or by their labels."""
    if columns is None:
        return self.sort_index(axis=axis, ascending=ascending, **kwargs)
    return self.sort_values(columns, axis=axis, ascending=ascending, **kwargs)


def nonzero(self: Any) -> Any:
    """Places of what is not zero."""
    return self.to_numpy().nonzero()


def week(self: Any) -> Any:
    """Weeks of dates."""
    return self.isocalendar().week.astype("int64")


def as_before_3() -> None:
    """From here on columns of texts are of objects, and the values of tables can be written."""
    import pandas

    if int(pandas.__version__.partition(".")[0]) < 3:
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # That the option will go.
        try:
            pandas.set_option("future.infer_string", False)
        except (KeyError, AttributeError):  # pandas 4
            return
    for cls in (pandas.DataFrame, pandas.Series):
        cls.values = property(_writable(cls.values.fget))
        cls.__array__ = _writable(cls.__array__)


def _writable(read: Any) -> Any:
    def values(self: Any, *args: Any, **kwargs: Any) -> Any:
        found = read(self, *args, **kwargs)
        if isinstance(found, np.ndarray) and not found.flags.writeable:
            try:
                found.flags.writeable = True
            except ValueError:  # What it is a part of cannot be written, such as a file.
                return found
        return found

    return functools.wraps(read)(values)
