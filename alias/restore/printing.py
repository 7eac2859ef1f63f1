# SPDX-License-Identifier: Apache-2.0
"""Numbers of NumPy print as plain numbers in lists and dicts, as they did before 2.0."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np


def plain_numbers() -> None:
    """From here on `print({"loss": np.float32(0.5)})` says 0.5, in every thread."""
    default = _options()
    np.set_printoptions(legacy="1.25")
    # New threads begin with what NumPy began with, not with what was set.
    default["legacy"] = _options()["legacy"]


@contextmanager
def as_before() -> Iterator[None]:
    """Within it numbers may be made to print otherwise; afterwards they print as they did."""
    default, shown = _options(), np.get_printoptions()["legacy"]
    legacy = default["legacy"]
    try:
        yield
    finally:
        np.set_printoptions(legacy=shown)
        default["legacy"] = legacy


def _options() -> Any:
    """The options that hold in this thread; before any was set, those of all."""
    try:
        from numpy._core.printoptions import format_options
    except ImportError:  # before NumPy 2.2 all threads had the same
        return dict(np.get_printoptions())
    return format_options.get()
