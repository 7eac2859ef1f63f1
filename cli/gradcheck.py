# SPDX-License-Identifier: Apache-2.0
"""`numbaflow gradcheck`: are the gradients of a program's loss right, and if not, by which op?

Exit codes: 0 all are right; 1 one is wrong, or the program fails; 2 wrong usage.  Imports typer.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import typer

from ..engine.printable import say
from . import aot
from .cache import fail, print_json

if TYPE_CHECKING:
    from ..engine.graph.graph import Graph
    from ..engine.testing.report import Report

SCRIPT = typer.Argument(help="A program (.py), which runs up to its first Session.run, or a graph.")
ARGUMENTS = typer.Argument(None, help="Arguments of the program, behind a --.", show_default=False)
LOSS = typer.Option("", metavar="NAME", help="The tensor whose gradients are checked.")
FEED = typer.Option(
    [],
    "--feed",
    metavar="NAME:DTYPE[SHAPE]",
    help="What is fed, such as 'x:float32[?,784]'; ? is the batch.  Other placeholders are fed by "
    "their own dtype and shape: floats with random numbers, others with zeros.",
)
BATCH = typer.Option(4, min=1, help="The size of the batch.")
ORDER = typer.Option(1, min=1, help="Up to which order derivatives are checked.")
SEED = typer.Option(0, help="The seed of what is fed and of the directions.")
JSON = typer.Option(False, "--json", help="Print JSON.")


def gradcheck(
    script: Path = SCRIPT,
    arguments: list[str] = ARGUMENTS,
    loss: str = LOSS,
    feed: list[str] = FEED,
    batch: int = BATCH,
    order: int = ORDER,
    seed: int = SEED,
    as_json: bool = JSON,
) -> None:
    """Check the gradient of every variable against the loss's values; name the op at fault."""
    try:
        specs = [aot.parse_feed(text) for text in feed]
        graph = aot.load_graph(script, arguments or ())
        report = _checked(graph, loss, specs, batch, order, seed)
    except aot.UsageError as error:
        fail(error, 2)
    except aot.ProgramError as error:
        fail(error)
    except LookupError as error:
        fail(f"the loss has no gradient: {error}")
    if as_json:
        print_json(report.as_dict())
    else:
        _show(report)
    if not report.passed:
        raise typer.Exit(1)


def _checked(
    graph: Graph, loss: str, specs: list[aot.FeedSpec], batch: int, order: int, seed: int
) -> Report:
    from ..engine.testing.checking import Options
    from ..engine.testing.gradients_of import gradient_report

    if not loss:
        names = ", ".join(_scalars(graph)[:20]) or "none"
        raise aot.UsageError(f"say what is differentiated with --loss; scalars are: {names}")
    tensor: Any = aot.fetched(graph, loss)
    random = np.random.default_rng(seed)
    with graph.as_default():
        graph._unsafe_unfinalize()
        feeds = {
            key: _drawn(value, random)
            for key, value in aot.feeds_of(graph, [tensor], specs, batch).items()
        }
        options = Options(order=order, seed=seed)
        try:
            return gradient_report(tensor, *_variables(graph), options=options, feed_dict=feeds)
        except ValueError as error:
            raise aot.UsageError(f"{loss}: {error}") from error


def _variables(graph: Graph) -> Sequence[Any]:
    """All trainable variables; without any, what is fed."""
    return graph.get_collection("trainable_variables")


def _scalars(graph: Graph) -> list[str]:
    """Names of what could be a loss: scalars among what the graph offers."""
    from ..engine.graph.tensor import Tensor

    offered = [aot.fetched(graph, name) for name in aot.candidates(graph)]
    values = [y for y in offered if isinstance(y, Tensor)]
    return [y.op.name for y in values if y.shape.ndims == 0 and y.dtype.is_floating]


def _drawn(value: np.ndarray, random: np.random.Generator) -> np.ndarray:
    if value.dtype.kind in "fc" or value.dtype.name == "bfloat16":
        return random.standard_normal(value.shape).astype(value.dtype)
    return value


def _show(report: Report) -> None:
    wrong = {fault.input: fault for fault in report.faults}
    names = list(dict.fromkeys([*(row.input for row in report.rows), *wrong]))
    width = max(map(len, names), default=0)
    for name in names:
        rows = [row for row in report.rows if row.input == name]
        if name in wrong:
            fault = wrong[name]
            say(f"{name:{width}}  WRONG")
            say(f"  {fault}".replace("\n", "\n  "))
        else:
            worst = max(row.worst for row in rows)
            orders = max(row.order for row in rows)
            say(f"{name:{width}}  right  to order {orders}, {worst:.1g} of the tolerance")
    for line in (*map(str, report.kinks), *report.notes):
        say(line)
