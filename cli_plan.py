# SPDX-License-Identifier: Apache-2.0
"""`numbaflow compile` and `numbaflow plan`: what a graph in a file is compiled to, ahead of time.

Exit codes: 0 done; 1 the graph cannot be compiled; 2 wrong usage.  The logic is in ahead.py.
Imports typer.
"""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

import typer

from . import ahead
from .cli_cache import fail, print_json

GRAPH = typer.Argument(help="A MetaGraphDef (.meta) or GraphDef (.pb, .pbtxt).")
FETCH = typer.Option(
    ..., "--fetch", "-f", help="What is run: names with commas.  Each --fetch is a run of its own."
)
FEED = typer.Option(
    [], "--feed", help="name:dtype[?,784]; ? is the batch.  Placeholders left out are fed too."
)
BATCH = typer.Option(
    str(ahead.BATCH), help="Sizes of the batch, with commas; most programs need one and perhaps 1."
)
JSON = typer.Option(False, "--json", help="Print JSON.")


def compile_graph(
    graph: Path = GRAPH,
    fetch: list[str] = FETCH,
    feed: list[str] = FEED,
    batch: str = BATCH,
    execute: bool = typer.Option(
        False, "--run", help="Run it on zeros, which also compiles parts that depend on data."
    ),
    as_json: bool = JSON,
) -> None:
    """Compile a graph's kernels into the cache, so that programs that use it start warm."""
    plans = _plans(graph, fetch, feed, batch, execute)
    if as_json:
        print_json([_summary(plan) for plan in plans])
        return
    for plan in plans:
        print(
            f"{', '.join(plan.fetches)}: {len(plan.report.kernels)} steps, "
            f"{plan.compiled} kernels compiled in {plan.seconds:.2f} s, {plan.known} known"
        )
        if plan.rest and not execute:
            print(f"  not compiled: {plan.rest}; --run compiles it")


def show_plan(
    graph: Path = GRAPH,
    fetch: list[str] = FETCH,
    feed: list[str] = FEED,
    batch: str = BATCH,
    source: bool = typer.Option(False, "--source", help="Print the kernels' source too."),
    html: Path | None = typer.Option(None, "--html", help="Write a page for a browser instead."),
    as_json: bool = JSON,
) -> None:
    """Print what a graph is compiled to: kernels, what each fuses, loops, bytes moved."""
    plans = _plans(graph, fetch, feed, batch, False)
    if as_json:
        print_json([_summary(plan) | {"sources": plan.sources} for plan in plans])
        return
    if html is not None:
        _write_page(html, f"Plan of {graph.name}", plans)
        return
    for plan in plans:
        print(f"fetch {', '.join(plan.fetches)}\nfeed  {', '.join(plan.feeds) or 'nothing'}")
        print(plan.report)
        for text in plan.sources.values() if source else ():
            print(f"\n{text}", end="")


def _write_page(file: Path, title: str, plans: list[ahead.Planned]) -> None:
    from .jit.page import page

    sources = {key: text for plan in plans for key, text in plan.sources.items()}
    shown = [(", ".join(plan.fetches), ", ".join(plan.feeds), plan.report) for plan in plans]
    try:
        file.write_text(page(title, shown, sources), encoding="utf-8")
    except OSError as error:
        fail(error)
    print(f"wrote {file}")


def _summary(plan: ahead.Planned) -> dict[str, Any]:
    return {
        "fetches": plan.fetches,
        "feeds": plan.feeds,
        "compiled": plan.compiled,
        "known": plan.known,
        "seconds": plan.seconds,
        "rest": plan.rest,
        "plan": asdict(plan.report),
    }


def _plans(
    path: Path, fetch: list[str], feed: list[str], batch: str, execute: bool
) -> list[ahead.Planned]:
    from .engine.errors import OpError
    from .jit.plan import CompileFailure

    try:
        graph = ahead.load_graph(path)
        specs = [ahead.parse_feed(text) for text in feed]
        runs = [_names(graph, text) for text in fetch]
        found = []
        for size in _batches(batch):
            for fetches in runs:
                feeds = ahead.feeds_of(graph, fetches, specs, size)
                found.append(ahead.plan(graph, fetches, feeds))
                if execute:
                    ahead.execute(graph, fetches, feeds)
        return found
    except ahead.UsageError as error:
        fail(error, 2)
    except (OpError, CompileFailure, ValueError, TypeError) as error:
        fail(f"{path} cannot be compiled: {error}")


def _names(graph: Any, text: str) -> list[Any]:
    return [ahead.fetched(graph, name.strip()) for name in text.split(",") if name.strip()]


def _batches(text: str) -> list[int]:
    words = [word.strip() for word in text.split(",")]
    if not all(word.isdigit() for word in words):
        raise ahead.UsageError(f"{text!r} are no sizes; write --batch 32 or --batch 32,1")
    return [int(word) for word in words]
