# SPDX-License-Identifier: Apache-2.0
"""`numbaflow compile` and `numbaflow plan`: what a graph is compiled to, ahead of time.

Exit codes: 0 done; 1 the graph cannot be compiled; 2 wrong usage.  The logic is in cli/aot.py.
Imports typer.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import typer
from rich.console import Console

from ..engine.printable import LINES, printable, say
from ..jit.report.plan_text import counted
from . import aot
from .cache import fail, print_json

GRAPH = typer.Argument(
    help="A graph in a file (.meta, .pb, .pbtxt) or in the folder of a SavedModel, or a program "
    "(.py), which runs up to its first Session.run."
)
ARGUMENTS = typer.Argument(None, help="Arguments of the program, behind a --.", show_default=False)
FETCH = typer.Option(
    [],
    "--fetch",
    "-f",
    metavar="NAMES",
    help="What is run: names with commas.  Each --fetch is a run of its own.  Without one, each "
    "signature of a SavedModel is run; of other graphs the names that they offer are listed.",
)
FEED = typer.Option(
    [],
    "--feed",
    metavar="NAME:DTYPE[SHAPE]",
    help="What is fed, such as 'x:float32[?,784]'; ? is the batch.  Other placeholders are fed by "
    "their own dtype and shape.",
)
BATCH = typer.Option(
    str(aot.BATCH),
    metavar="SIZES",
    help="Sizes of the batch, with commas.  Any size stands for all others but 1: "
    "--batch 32,1 serves both.",
)
TARGET = typer.Option(
    "",
    metavar="PROCESSOR",
    help="Compile for another processor: a name of LLVM's such as x86-64-v3, or what "
    "`numbaflow info --target` prints on the other machine.",
)
JSON = typer.Option(False, "--json", help="Print JSON.")


def compile_graph(
    graph: Path = GRAPH,
    arguments: list[str] = ARGUMENTS,
    fetch: list[str] = FETCH,
    feed: list[str] = FEED,
    batch: str = BATCH,
    target: str = TARGET,
    execute: bool = typer.Option(
        False, "--run", help="Run it on zeros, which also compiles parts that depend on data."
    ),
    as_json: bool = JSON,
) -> None:
    """Compile a graph's kernels into the cache, so that programs that use it start warm.

    [dim]numbaflow compile model.meta --fetch train,loss --feed 'x:float32\\[?,784]'
    numbaflow compile train.py --fetch loss -- --units 64[/dim]
    """
    with _targeting(target) as runs_here:
        if execute and not runs_here:
            fail(f"code for {target} does not run on this processor: leave out --run", 2)
        plans = _plans(graph, arguments, fetch, feed, batch, execute=execute)
    if as_json:
        print_json([_without_sources(plan) for plan in plans])
        return
    for plan in plans:
        report = plan.report
        say(
            f"{', '.join(report.fetches)}: {counted(len(report.kernels), 'step')}, "
            f"{counted(plan.compiled, 'kernel')} compiled in {plan.seconds:.2f} s, "
            f"{plan.known} known"
        )
        if report.follows and not execute:
            say(f"  not compiled: {report.follows}; --run compiles it")


def show_plan(
    graph: Path = GRAPH,
    arguments: list[str] = ARGUMENTS,
    fetch: list[str] = FETCH,
    feed: list[str] = FEED,
    batch: str = BATCH,
    target: str = TARGET,
    timed: bool = typer.Option(
        True,
        "--time/--no-time",
        help="Measure each kernel, on zeros; or only estimate what is possible.",
    ),
    execute: bool = typer.Option(
        False,
        "--run",
        help="Run it on zeros first, to show parts that depend on data.",
    ),
    brief: bool = typer.Option(False, "--brief", help="Print the table of steps only."),
    source: bool = typer.Option(False, "--source", help="Print the kernels' source too."),
    html: Path | None = typer.Option(
        None, "--html", metavar="FILE", help="Write a page for a browser instead."
    ),
    as_json: bool = JSON,
) -> None:
    """Show what a graph is compiled to: kernels, what each fuses, bytes, times, memory.

    [dim]numbaflow plan model.meta --fetch loss --batch 128
    numbaflow plan train.py --fetch train --html plan.html[/dim]
    """
    with _targeting(target) as runs_here:
        if execute and not runs_here:
            fail(f"code for {target} does not run on this processor: leave out --run", 2)
        timed = timed and runs_here
        plans = _plans(graph, arguments, fetch, feed, batch, timed, runs_here, execute)
    if html is not None:
        _write_page(html, f"Plan of {graph.name}", plans)
    if as_json:
        print_json([plan.as_dict() for plan in plans])
    elif html is None:
        console = Console()
        width = console.width if console.is_terminal else None
        say("\n\n".join(_text(plan.report, brief, source, width) for plan in plans))


def _text(report: Any, brief: bool, source: bool, width: int | None = None) -> str:
    """A plan as text; rows of tables are cut at a width."""
    feeds = ", ".join(report.feeds) or "nothing"
    parts = [f"fetches  {', '.join(report.fetches)}\nfeeds    {feeds}\n{report}"]
    if not brief:
        parts.append(report.details)
    parts = ["\n".join(_cut(line, width) for line in part.splitlines()) for part in parts]
    if source:
        parts += report.sources.values()
    return "\n\n".join(part.rstrip() for part in parts if part)


def _cut(line: str, width: int | None) -> str:
    return line if width is None or len(line) <= width else f"{line[: width - 1]}…"


def _write_page(file: Path, title: str, plans: list[aot.Planned]) -> None:
    from ..jit.report.plan_html import page

    text = "\n\n".join(_text(plan.report, False, False) for plan in plans)
    try:
        shown = [
            shown for plan in map(aot.Planned.as_dict, plans) for shown in (plan, *plan["plans"])
        ]
        file.write_text(page(title, shown, text), encoding="utf-8")
    except OSError as error:
        fail(f"{file} cannot be written: {error.strerror}")
    typer.echo(f"wrote {file}", err=True)


def _without_sources(plan: aot.Planned) -> dict[str, Any]:
    return {name: value for name, value in plan.as_dict().items() if name != "sources"}


@contextmanager
def _targeting(text: str) -> Iterator[bool]:
    """Compiles for a processor meanwhile; tells whether its code runs on this one."""
    from ..engine import settings
    from ..jit import target

    if not text:
        yield not target.lacking(target.current())
        return
    with settings.override(target=text):
        aim = target.current()
        if aim.machine != target.native().machine:
            fail(f"{text} is another kind of processor: its programs are compiled there", 2)
        complaints = target.complaints(aim)
        if complaints:
            fail(f"LLVM says of the target: {complaints}", 2)
        yield not target.lacking(aim)


def _plans(
    path: Path,
    arguments: list[str],
    fetch: list[str],
    feed: list[str],
    batch: str,
    timed: bool = False,
    estimated: bool = False,
    execute: bool = False,
) -> list[aot.Planned]:
    with _explained(path):
        specs = [aot.parse_feed(text) for text in feed]
        sizes = _batches(batch)
        graph = aot.load_graph(path, arguments or ())
        fetch = fetch or aot.signature_outputs(path)
        if not fetch:
            names = ", ".join(aot.candidates(graph)[:20])
            raise aot.UsageError(f"say what is run with --fetch; the graph offers {names}")
        runs = [_fetches(graph, text) for text in fetch]
        found = []
        for size in sizes:
            for fetches in runs:
                feeds = aot.feeds_of(graph, fetches, specs, size)
                planned = aot.plan(graph, fetches, feeds, timed, estimated)
                found.append(aot.execute(graph, fetches, feeds, planned) if execute else planned)
        return found


@contextmanager
def _explained(path: Path) -> Iterator[None]:
    """Turns errors into messages and exit codes."""
    from ..engine.errors import OpError
    from ..jit.runtime.segment_plans import CompileFailure

    try:
        yield
    except aot.UsageError as error:
        fail(error, 2)
    except aot.ProgramError as error:
        typer.echo(printable(error.trace, LINES), err=True, nl=False)
        fail(error)
    except (OpError, CompileFailure, ValueError, TypeError) as error:
        fail(f"{path} cannot be compiled: {error}")


def _fetches(graph: Any, text: str) -> list[Any]:
    found = [aot.fetched(graph, name.strip()) for name in text.split(",") if name.strip()]
    if not found:
        raise aot.UsageError(f"--fetch {text!r} names nothing")
    return found


def _batches(text: str) -> list[int]:
    words = [word.strip() for word in text.split(",")]
    if not all(word.isdigit() for word in words):
        raise aot.UsageError(f"{text!r} are no sizes; write --batch 32 or --batch 32,1")
    return [int(word) for word in words]
