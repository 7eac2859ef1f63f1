# SPDX-License-Identifier: Apache-2.0
"""Methods that pandas' tables and columns had until pandas 2."""

from __future__ import annotations

from typing import Any


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
