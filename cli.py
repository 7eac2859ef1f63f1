# SPDX-License-Identifier: Apache-2.0
"""The `numbaflow` command.  `run` goes straight to the launcher; typer is for all the rest."""

from __future__ import annotations

import sys
from typing import Any


def main() -> None:
    """Entry point of the command and of `python -m numbaflow`."""
    if sys.argv[1:2] == ["run"]:
        from .launcher import run

        run(sys.argv[2:])
    else:
        application()()


def application() -> Any:
    """The typer application of all commands."""
    import typer

    app = typer.Typer(
        name="numbaflow",
        help="TensorFlow 1.x graphs, compiled by Numba.",
        no_args_is_help=True,
        add_completion=False,
        rich_markup_mode="rich",
    )

    def show_version(value: bool) -> None:
        if value:
            print(f"numbaflow {_version('numbaflow')}")
            raise typer.Exit()

    @app.callback()
    def options(
        version: bool = typer.Option(
            False, "--version", callback=show_version, is_eager=True, help="Show the version."
        ),
    ) -> None:
        pass

    app.command(help="Show versions, the compile target, threads and the cache folder.")(info)
    from . import cli_cache, cli_checkpoint, cli_plan

    app.command(name="compile")(cli_plan.compile_graph)
    app.command(name="plan")(cli_plan.show_plan)
    app.command(name="inspect-checkpoint")(cli_checkpoint.inspect_checkpoint)
    app.add_typer(cli_cache.app, name="cache")
    # Listed for the help text; `main` has taken every real `run` before.
    app.command(
        name="run", help="Run a program in which [bold]import tensorflow[/bold] means numbaflow."
    )(_run_for_help)
    return app


def _run_for_help() -> None:
    from .launcher import run

    run([])


def info() -> None:
    """Prints versions, the compile target, threads and the cache folder."""
    from rich.console import Console
    from rich.table import Table

    table = Table.grid(padding=(0, 2))
    for name, value in _facts():
        table.add_row(f"[bold]{name}[/bold]", value)
    Console(soft_wrap=True).print(table)


def _facts() -> list[tuple[str, str]]:
    import platform

    facts = [("python", platform.python_version()), ("platform", platform.platform())]
    for package in ("numbaflow", "numpy", "numba", "llvmlite", "scipy", "protobuf"):
        facts.append((package, _version(package)))
    return facts + _compiler_facts()


def _compiler_facts() -> list[tuple[str, str]]:
    from .jit import cache, settings, target, threads

    aim = target.current()
    kept = len(cache.entries())
    return [
        ("target", f"{aim.cpu} ({aim.triple}), {aim.vector_bits}-bit vectors"),
        ("threads", str(threads.count())),
        ("jit", settings.get("jit")),
        ("cache", f"{settings.get('cache')} ({kept} kernels)"),
    ]


def _version(package: str) -> str:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"
