# SPDX-License-Identifier: Apache-2.0
"""`numbaflow cluster run`: one program as all tasks of a cluster.

Exit codes: that of the chief; 2 wrong usage.  Imports typer.
"""

from __future__ import annotations

import signal
import threading
from typing import TYPE_CHECKING, Any

import typer

from ..engine.printable import say

if TYPE_CHECKING:
    from ..train.cluster.ray_engine import RayEngine

app = typer.Typer(
    name="cluster",
    help="Programs of several processes.",
    no_args_is_help=True,
    add_completion=False,
)

SCRIPT = typer.Argument(help="The program of all tasks (.py).")
ARGUMENTS = typer.Argument(None, help="Arguments of the program, behind a --.", show_default=False)
PS = typer.Option(1, "--ps", min=0, help="How many parameter servers.")
WORKERS = typer.Option(2, "--workers", min=1, help="How many workers; the first is the chief.")
CHIEF = typer.Option(
    False, "--chief", help="Call the first worker's job 'chief', as Estimators do."
)
FLAGS = typer.Option(
    True, "--flags/--no-flags", help="Pass --job_name and the like to the program."
)
RESTARTS = typer.Option(3, min=0, help="How often a task that fails is started again.")
GRACE = typer.Option(10.0, min=0.0, help="Seconds that tasks have to end when they are stopped.")
LOCAL = typer.Option(False, "--local", help="Processes of this machine, without Ray.")
ADDRESS = typer.Option("", help="Of a cluster of Ray; without it Ray is started on this machine.")


@app.callback()
def cluster() -> None:
    """Programs of several processes."""


@app.command(name="run")
def run(
    script: str = SCRIPT,
    arguments: list[str] | None = ARGUMENTS,
    ps: int = PS,
    workers: int = WORKERS,
    chief: bool = CHIEF,
    flags: bool = FLAGS,
    restarts: int = RESTARTS,
    grace: float = GRACE,
    local: bool = LOCAL,
    address: str = ADDRESS,
) -> None:
    """Run a program as all tasks of a cluster, until the chief is done.

    Every task gets TF_CONFIG, and the flags --job_name, --task_index, --ps_hosts and
    --worker_hosts.  Tasks that fail are started again; their lines are printed with their names.
    """
    from ..train.cluster import launch

    if local and address:
        raise typer.BadParameter("--local has no --address")
    signal.signal(signal.SIGTERM, _ended)
    lock = threading.Lock()

    def told(line: str) -> None:
        with lock:
            say(line)

    engine: Any = launch.LocalEngine() if local else _ray(address)
    tasks = launch.tasks_of(ps, workers, chief)
    given = [script, *(arguments or [])]
    try:
        code = launch.launch(engine, tasks, given, flags, restarts, grace, told)
    except KeyboardInterrupt:
        raise typer.Exit(130) from None
    raise typer.Exit(code)


def _ray(address: str) -> RayEngine:
    """The engine of Ray; BadParameter where it is not installed."""
    from ..train.cluster.ray_engine import RayEngine

    try:
        return RayEngine(address or None)
    except ImportError as error:
        raise typer.BadParameter(f"{error}; or --local, for processes of this machine") from None


def _ended(number: int, frame: Any) -> None:
    """Has tasks end when the command is asked to."""
    raise KeyboardInterrupt
