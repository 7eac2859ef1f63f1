# SPDX-License-Identifier: Apache-2.0
"""A bar on the terminal for work that takes long: bytes that are downloaded, files that are read.

Standard error that is no terminal, a file or a pipe, gets nothing.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager


def is_watched() -> bool:
    """Whether standard error is a terminal."""
    try:
        return sys.stderr is not None and sys.stderr.isatty()
    except ValueError:  # It is closed.
        return False


@contextmanager
def bar(title: str, total: int | None, unit: str = "bytes") -> Iterator[Callable[[int], None]]:
    """A bar that is gone when the work is done.

    Args:
        title: what is going on.
        total: how much there is to do; None where nobody knows.
        unit: "bytes", or what else is counted.

    Returns:
        A context that gives a function to call with how much more was done.
    """
    if not is_watched():
        yield lambda more: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, MofNCompleteColumn, Progress, TextColumn

    count = DownloadColumn() if unit == "bytes" else MofNCompleteColumn()
    columns = (TextColumn("{task.description}"), BarColumn(), count)
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task(title, total=total)
        yield lambda more: progress.advance(task, more)
