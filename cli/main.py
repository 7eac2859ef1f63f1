# SPDX-License-Identifier: Apache-2.0
"""The `numbaflow` command.  `run` goes straight to the launcher; typer is for all the rest."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import typer


def main() -> None:
    """Entry point of the command and of `python -m numbaflow`."""
    if sys.argv[1:2] == ["run"]:
        from .launcher import run

        run(sys.argv[2:])
    else:
        application()()


def application() -> typer.Typer:
    """The typer application of all commands."""
    import typer

    app = typer.Typer(
        name="numbaflow",
        help="TensorFlow 1.x graphs, compiled by Numba.",
        epilog="`numbaflow run train.py` runs an old program; `numbaflow plan train.py` shows what "
        "is compiled for it; `numbaflow cache list` shows what is kept.",
        no_args_is_help=True,
        add_completion=False,
        rich_markup_mode="rich",
        pretty_exceptions_enable=False,
    )

    def show_version(value: bool) -> None:
        if value:
            from .info import version_of

            print(f"numbaflow {version_of('numbaflow')}")
            raise typer.Exit()

    @app.callback()
    def options(
        version: bool = typer.Option(
            False, "--version", callback=show_version, is_eager=True, help="Show the version."
        ),
    ) -> None:
        pass

    _add_commands(app)
    # Listed for the help text; `main` has taken every real `run` before.
    app.command(
        name="run", help="Run a program in which [bold]import tensorflow[/bold] means numbaflow."
    )(_run_for_help)
    return app


def _add_commands(app: typer.Typer) -> None:
    from . import (
        cache,
        check,
        checkpoint,
        cluster,
        gradcheck,
        info,
        library,
        plan,
        saved_model,
        stored_plans,
    )

    app.command()(info.info)
    app.command(name="compile")(plan.compile_graph)
    app.command(name="plan")(plan.show_plan)
    app.command(name="check")(check.check)
    app.command(name="gradcheck")(gradcheck.gradcheck)
    app.command(name="inspect-checkpoint")(checkpoint.inspect_checkpoint)
    # Its options are those of TensorFlow's command: they go through as they are.
    app.command(
        name="saved-model",
        add_help_option=False,
        context_settings={"allow_extra_args": True, "ignore_unknown_options": True},
    )(saved_model.saved_model)
    assert library.app is stored_plans.app is cache.app  # to which they have added commands
    app.add_typer(cache.app, name="cache")
    app.add_typer(cluster.app, name="cluster")


def _run_for_help() -> None:
    from .launcher import run

    run([])
