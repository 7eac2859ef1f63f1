# SPDX-License-Identifier: Apache-2.0
"""Calls of pandas in files that import it, as they were before pandas 2 and 3.

A method may be of anything that has one of that name: what is no table is called as it is.
pandas is used only where the program has imported it.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from .table import TABLES
from .use import note

# Keyword that is gone -> what says the same now; {} where that is the default.
_KEYWORDS: dict[str, Callable[[Any], dict[str, Any]]] = {
    "error_bad_lines": lambda value: {} if value else {"on_bad_lines": "skip"},
    "warn_bad_lines": lambda value: {},
    "delim_whitespace": lambda value: {"sep": r"\s+"} if value else {},
    "infer_datetime_format": lambda value: {},
    "mangle_dupe_cols": lambda value: {},
    "convert_float": lambda value: {},
    "squeeze": lambda value: {},
    "truediv": lambda value: {},
    "line_terminator": lambda value: {"lineterminator": value},
    "null_counts": lambda value: {"show_counts": value},
    "downcast": lambda value: {},
    "try_cast": lambda value: {},
}
# Methods that left columns out of which there is no such number.
_OF_NUMBERS = frozenset("corr cov mean median quantile skew std var".split())
_FILL = {"ffill": "ffill", "pad": "ffill", "bfill": "bfill", "backfill": "bfill"}


def _note(what: str) -> None:
    note(f"{what}: {TABLES[0]}", TABLES[1])


def _is_table(thing: Any) -> bool:
    pandas = sys.modules.get("pandas")
    return pandas is not None and isinstance(thing, (pandas.DataFrame, pandas.Series))


def _is_of_pandas(thing: Any) -> bool:
    return type(thing).__module__.partition(".")[0] == "pandas"


def by_keyword(
    function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Arguments of which those are named that must be named now, in the order that they have.

    Args:
        function: what is called.
        args: its arguments by position.
        kwargs: those by name.

    Returns:
        The same by position and by name; as they are where the function does not say what it takes.
    """
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return args, kwargs
    if any(p.kind is p.VAR_POSITIONAL for p in parameters):
        return args, kwargs
    places = sum(p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD) for p in parameters)
    names = [p.name for p in parameters if p.kind is p.KEYWORD_ONLY]
    named = dict(zip(names, args[places:], strict=False))
    if len(named) < len(args) - places or named.keys() & kwargs.keys():
        return args, kwargs
    return args[:places], {**kwargs, **named}


def _as_now(function: Callable[..., Any], args: Any, kwargs: dict[str, Any]) -> tuple[Any, Any]:
    args, kwargs = by_keyword(function, args, dict(kwargs))
    try:
        taken = inspect.signature(function).parameters
    except (TypeError, ValueError):
        return args, kwargs
    for old in [key for key in kwargs if key in _KEYWORDS and key not in taken]:
        kwargs |= _KEYWORDS[old](kwargs.pop(old))
    return args, kwargs


def table_function(name: str, function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
    """A function of pandas with arguments by position, and with keywords that it had."""
    try:
        return function(*args, **kwargs)
    except TypeError:
        now = _as_now(function, args, kwargs)
        if now == (args, kwargs):
            raise
    _note(name)
    found = function(*now[0], **now[1])
    return found.squeeze("columns") if kwargs.get("squeeze") else found


def table_method(name: str, thing: Any, /, *args: Any, **kwargs: Any) -> Any:
    """A method of a table, a column or groups of rows; of all else as it is."""
    if name == "fillna" and "method" in kwargs and _is_table(thing):
        return _filled(thing, *args, **kwargs)
    if name == "size" and not getattr(thing, "as_index", True):
        return _sizes(thing)
    method = getattr(thing, name)
    try:
        return method(*args, **kwargs)
    except (TypeError, ValueError) as error:
        if not _is_of_pandas(thing):
            raise
        if name == "astype" and args and _is_days(args[0]):
            _note(f"{type(thing).__name__}.astype")
            return method("datetime64[ns]", *args[1:], **kwargs)
        now_args, now = _as_now(method, args, kwargs)
        if name in _OF_NUMBERS and "numeric_only" in inspect.signature(method).parameters:
            now = {"numeric_only": True, **now}
        elif isinstance(error, ValueError):
            raise
        if (now_args, now) == (args, kwargs):
            raise
    _note(f"{type(thing).__name__}.{name}")
    return method(*now_args, **now)


def _is_days(dtype: Any) -> bool:
    return isinstance(dtype, str) and dtype in ("M8[D]", "datetime64[D]")


def _sizes(groups: Any) -> Any:
    """How many rows groups have, by what they are grouped by, even if that is to be columns."""
    _note("groups.size")
    return groups.size().set_index(groups._grouper.names)["size"]


def _filled(thing: Any, /, value: Any = None, *, method: Any = None, **kwargs: Any) -> Any:
    """`fillna(method="ffill")`."""
    if method is None:
        return thing.fillna(value, **kwargs)
    _note(f"{type(thing).__name__}.fillna")
    kwargs.pop("downcast", None)
    return getattr(thing, _FILL[method])(**kwargs)


def text_method(name: str, texts: Any, /, *args: Any, **kwargs: Any) -> Any:
    """`column.str.replace`, whose pattern is a regular expression; `split` with a number."""
    if not _is_of_pandas(texts):
        return getattr(texts, name)(*args, **kwargs)
    if name != "replace":
        return table_method(name, texts, *args, **kwargs)
    now_args, now = by_keyword(texts.replace, args, dict(kwargs))
    pattern = now_args[0] if now_args else now.get("pat")
    # (A single character stood for itself.)
    if "regex" not in now and not (isinstance(pattern, str) and len(pattern) == 1):
        _note("Series.str.replace")
        now["regex"] = True
    return texts.replace(*now_args, **now)


class _Column:
    """A column of a table that is changed in its place: `table["age"][rows] = 0`."""

    def __init__(self, table: Any, name: Any) -> None:
        self._table, self._name = table, name

    def __getitem__(self, key: Any) -> Any:
        return self._table[self._name][key]

    def __setitem__(self, key: Any, value: Any) -> None:
        column = self._table[self._name].copy()
        column[key] = value
        self._table[self._name] = column
        _note("table[column][rows] = values")


def _is_column(thing: Any, name: Any) -> bool:
    pandas = sys.modules.get("pandas")
    if pandas is None or not isinstance(thing, pandas.DataFrame) or isinstance(name, slice):
        return False
    return isinstance(name, (str, int)) and name in thing.columns


def item(thing: Any, name: Any) -> Any:
    """`thing[name]` of which an element is given a value; a table's column passes it on."""
    return _Column(thing, name) if _is_column(thing, name) else thing[name]


def attribute(thing: Any, name: str) -> Any:
    """`thing.name` of which an element is given a value; a table's column passes it on."""
    return _Column(thing, name) if _is_column(thing, name) else getattr(thing, name)


def in_place(
    by_item: bool, thing: Any, name: Any, method: str, /, *args: Any, **kwargs: Any
) -> Any:
    """`table["age"].fillna(0, inplace=True)`: the table's column changes."""
    if not _is_column(thing, name):
        held = thing[name] if by_item else getattr(thing, name)
        return table_method(method, held, *args, **kwargs)
    if not kwargs.get("inplace"):
        return table_method(method, thing[name], *args, **kwargs)
    del kwargs["inplace"]
    thing[name] = table_method(method, thing[name], *args, **kwargs)
    _note(f"table[column].{method}(inplace=True)")
    return None


class _Labels:
    """`table.loc` of which something is read: labels that are not there have no values."""

    def __init__(self, table: Any) -> None:
        self._table, self._held = table, table.loc

    def __getattr__(self, name: str) -> Any:
        return getattr(self._held, name)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._held(*args, **kwargs)

    def __getitem__(self, key: Any) -> Any:
        try:
            return self._held[key]
        except KeyError:
            parts = list(key) if isinstance(key, tuple) else [key]
            table = _with_gaps(self._table, parts)
            if table is None:
                raise
        _note("table.loc[labels that are missing]")
        return table.loc[tuple(parts) if isinstance(key, tuple) else parts[0]]


def _with_gaps(table: Any, parts: list[Any]) -> Any:
    """The table's rows and columns of lists of labels, which parts then ask for as a whole.

    None if a list has no label that is there, or if there is no list that has others.
    """
    import pandas

    found = table
    for place, part in enumerate(parts[: table.ndim]):
        axis = table.axes[place]
        is_list = isinstance(part, (list, np.ndarray, pandas.Index, pandas.Series))
        if not is_list or isinstance(axis, pandas.MultiIndex):
            continue
        wanted = pandas.Index(part)
        if wanted.dtype == bool:
            continue
        rows, missing = axis.get_indexer_non_unique(wanted)
        if not len(missing):
            continue
        if len(missing) == len(wanted):
            return None
        names = axis.take(rows).to_numpy(object, copy=True)
        names[rows < 0] = wanted.take(missing).to_numpy(object)
        numbered = found.set_axis(range(len(axis)), axis=place)
        found = numbered.reindex(rows, **({"axis": place} if table.ndim == 2 else {}))
        found = found.set_axis(pandas.Index(list(names), name=axis.name), axis=place)
        parts[place] = slice(None)
    return None if found is table else found


def labels(thing: Any) -> Any:
    """`thing.loc`; a table's gives rows without values for labels that it does not have."""
    return _Labels(thing) if _is_table(thing) else thing.loc
