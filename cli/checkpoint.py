# SPDX-License-Identifier: Apache-2.0
"""`numbaflow inspect-checkpoint`: what is in a checkpoint, and whether it is whole.

Exit codes: 0 fine; 1 it cannot be read, or a tensor is damaged; 2 wrong usage.  The logic is in
train/checkpoints/inspect_checkpoint.py.  Imports typer.
"""

from __future__ import annotations

import re
from typing import Any

import typer

from ..engine.printable import printable, say
from .cache import fail, print_json


def inspect_checkpoint(
    path: str = typer.Argument(help="Its prefix, one of its files, or a folder with checkpoints."),
    tensor: str = typer.Option("", "--tensor", "-t", help="Print this tensor's value."),
    match: str = typer.Option("", "--match", "-m", help="Only names that match this expression."),
    verify: bool = typer.Option(False, "--verify", help="Read everything and compare checksums."),
    as_json: bool = typer.Option(False, "--json", help="Print JSON."),
) -> None:
    """List a checkpoint's tensors: names, types, shapes, parameters; print one; check them all."""
    from ..engine.errors import OpError
    from ..train.checkpoints import inspect_checkpoint as tool

    try:
        re.compile(match)
    except re.error as error:
        fail(f"{match!r} is no regular expression: {error}", 2)
    prefix = tool.prefix_of(path)
    try:
        reader = tool.new_checkpoint_reader(prefix)
        if tensor:
            _show_value(tensor, reader.get_tensor(tensor), tool.statistics, as_json)
            return
        rows = tool.facts(reader, match)
        bad = tool.damaged(reader, [row.name for row in rows]) if verify else {}
    except OpError as error:
        fail(error.message)
    if as_json:
        print_json({"prefix": prefix, "tensors": [r._asdict() for r in rows], "damaged": bad})
    else:
        _show_table(prefix, rows, bad, verify)
    if bad:
        raise typer.Exit(1)


def _show_table(prefix: str, rows: list[Any], bad: dict[str, str], verified: bool) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, header_style="bold", pad_edge=False)
    table.add_column("tensor", overflow="fold")
    table.add_column("type")
    table.add_column("shape")
    table.add_column("parameters", justify="right")
    for row in rows:
        style = "red" if row.name in bad else ""
        shape = "×".join(map(str, row.shape)) or "scalar"
        table.add_row(Text(printable(row.name), style), row.dtype, shape, f"{row.parameters:,}")
    console = Console()
    console.print(table)
    total = sum(row.parameters for row in rows)
    console.print(Text(f"{len(rows)} tensors, {total:,} parameters in {printable(prefix)}"))
    for reason in bad.values():
        console.print(Text(printable(reason), "red"))
    if verified and not bad:
        console.print("All checksums are right.", style="green")


def _show_value(name: str, value: Any, statistics: Any, as_json: bool) -> None:
    import numpy as np

    facts = statistics(value)
    if as_json:
        array = np.asarray(value)
        content = array.tolist() if array.dtype != object else array.astype(str).tolist()
        print_json(
            {"name": name, "dtype": str(array.dtype), "shape": array.shape, "value": content}
            | {"statistics": facts}
        )
        return
    say(value)
    if facts:
        say(", ".join(f"{key} {number:.6g}" for key, number in facts.items()))
