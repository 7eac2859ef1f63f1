# SPDX-License-Identifier: Apache-2.0
"""Starts one program as every task of a cluster, and looks after the tasks until the chief is done.

A task is told who it is as programs expect it: by TF_CONFIG, and by the flags `--job_name`,
`--task_index`, `--ps_hosts` and `--worker_hosts`.  An engine places tasks; `LocalEngine` starts
processes of this machine, `ray_engine.RayEngine` those of a cluster of Ray.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, suppress
from typing import Protocol

from ...engine.record_class import record

# Seconds between looks at the tasks, and before one that has failed is started again.
_LOOK, _AGAIN = 0.05, 1.0
Say = Callable[[str], None]
Cluster = Mapping[str, Sequence[str]]


@record(frozen=True)
class Task:
    """One task of a cluster."""

    job: str
    index: int

    def __str__(self) -> str:
        return f"{self.job} {self.index}"


class Running(Protocol):
    """A task that was started."""

    def poll(self) -> int | None:
        """The exit code; None while it runs."""

    def terminate(self) -> None:
        """Asks it to end."""

    def kill(self) -> None:
        """Ends it."""


class Engine(Protocol):
    """What has tasks run somewhere."""

    def addresses(self, tasks: Sequence[Task]) -> list[str]:
        """Where each task is to listen: "host:port"."""

    def start(
        self, task: Task, arguments: Sequence[str], variables: Mapping[str, str], say: Say
    ) -> Running:
        """Starts the program of a task; `say` takes the lines that it prints."""

    def room(self, wanted: int) -> int:
        """How many tasks there is room for, of those wanted."""

    def close(self) -> None:
        """Gives back what the engine has taken."""


def tasks_of(ps: int, workers: int, has_chief: bool = False) -> list[Task]:
    """The tasks of so many parameter servers and workers; the first worker may be job "chief"."""
    found = [Task("ps", i) for i in range(ps)]
    if has_chief:
        found.append(Task("chief", 0))
        workers -= 1
    return [*found, *(Task("worker", i) for i in range(workers))]


def cluster_of(tasks: Sequence[Task], addresses: Sequence[str]) -> dict[str, list[str]]:
    """The addresses by job."""
    found: dict[str, list[str]] = {}
    for task, address in zip(tasks, addresses, strict=True):
        found.setdefault(task.job, []).append(address)
    return found


def variables_of(task: Task, cluster: Cluster) -> dict[str, str]:
    """What a task finds in its environment."""
    own = {"type": task.job, "index": task.index}
    return {"TF_CONFIG": json.dumps({"cluster": cluster, "task": own}), "PYTHONUNBUFFERED": "1"}


def flags_of(task: Task, cluster: Cluster) -> list[str]:
    """What a task finds on its command line, behind the program's own arguments."""
    flags = [f"--job_name={task.job}", f"--task_index={task.index}"]
    return [*flags, *(f"--{job}_hosts={','.join(hosts)}" for job, hosts in cluster.items())]


def launch(
    engine: Engine,
    tasks: Sequence[Task],
    arguments: Sequence[str],
    has_flags: bool = True,
    restarts: int = 3,
    grace: float = 10.0,
    say: Say = print,
) -> int:
    """Runs a program as all tasks until the chief is done; its exit code.

    Args:
        engine: where the tasks run.
        tasks: the first that is "chief", or else "worker", is the chief.
        arguments: of `numbaflow run`: the program and what it is given.
        has_flags: whether tasks get flags, next to TF_CONFIG.
        restarts: how often each task is started again that ends with an error; one error more, and
            all tasks are stopped.
        grace: seconds that tasks have to end when they are asked to.
        say: takes the lines that tasks print, each with the name of its task.
    """
    cluster = cluster_of(tasks, engine.addresses(tasks))
    chief = next((t for t in tasks if t.job == "chief"), None) or Task("worker", 0)

    def start(task: Task) -> Running:
        flags = flags_of(task, cluster) if has_flags else []
        told = lambda line: say(f"[{task}] {line}")  # noqa: E731
        return engine.start(task, [*arguments, *flags], variables_of(task, cluster), told)

    watch = _Watch(start, chief, restarts, say)
    try:
        for task in tasks:
            watch.start(task)
        return watch.until_done()
    finally:
        stop(list(watch.running.values()), grace)
        engine.close()


class _Watch:
    """The tasks that run, and those that are to be started again."""

    def __init__(
        self, start: Callable[[Task], Running], chief: Task, restarts: int, say: Say
    ) -> None:
        self._start, self._chief, self._restarts, self._say = start, chief, restarts, say
        self.running: dict[Task, Running] = {}
        self._failures: dict[Task, int] = {}
        # When tasks are started again.
        self._due: dict[Task, float] = {}

    def start(self, task: Task) -> None:
        """Starts a task."""
        self.running[task] = self._start(task)

    def until_done(self) -> int:
        """Waits for the chief, or for a task that fails too often; the exit code."""
        while True:
            for task in [task for task, due in self._due.items() if due <= time.monotonic()]:
                del self._due[task]
                self.start(task)
            for task, running in list(self.running.items()):
                code = running.poll()
                if code is None:
                    continue
                del self.running[task]
                if code == 0 and task == self._chief:
                    return 0
                if code and not self._goes_on(task, code):
                    return code if code > 0 else 128 - code
            time.sleep(_LOOK)

    def _goes_on(self, task: Task, code: int) -> bool:
        """Notes that a task has failed; whether it is started again."""
        count = self._failures[task] = self._failures.get(task, 0) + 1
        how = f"exit code {code}" if code > 0 else f"signal {signal.Signals(-code).name}"
        if count > self._restarts:
            self._say(f"[{task}] ended with {how}, and is not started again: all tasks are stopped")
            return False
        self._say(f"[{task}] ended with {how}; it is started again ({count} of {self._restarts})")
        self._due[task] = time.monotonic() + _AGAIN
        return True


def stop(running: Sequence[Running], grace: float) -> None:
    """Ends tasks, by force those that do not end in time."""
    for one in running:
        one.terminate()
    end = time.monotonic() + grace
    while time.monotonic() < end and any(one.poll() is None for one in running):
        time.sleep(_LOOK)
    for one in running:
        if one.poll() is None:
            one.kill()


class LocalEngine:
    """Tasks are processes of this machine, which listen at localhost alone."""

    def addresses(self, tasks: Sequence[Task]) -> list[str]:
        """Ports that are free."""
        return [f"localhost:{port}" for port in free_ports(len(tasks))]

    def start(
        self, task: Task, arguments: Sequence[str], variables: Mapping[str, str], say: Say
    ) -> Running:
        """Starts a process."""
        return LocalProcess(arguments, variables, say)

    def room(self, wanted: int) -> int:
        """A machine takes any number of processes."""
        return wanted

    def close(self) -> None:
        """There is nothing to give back."""


def free_ports(count: int, host: str = "localhost") -> list[int]:
    """Ports of this machine that nobody listens at."""
    with ExitStack() as stack:
        found = [stack.enter_context(socket.socket()) for _ in range(count)]
        for one in found:
            one.bind((host, 0))
        return [one.getsockname()[1] for one in found]


class LocalProcess:
    """A process of `numbaflow run`, whose lines go to `say`."""

    def __init__(self, arguments: Sequence[str], variables: Mapping[str, str], say: Say) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "numbaflow", "run", *arguments],
            env={**os.environ, **variables},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            # Ctrl-C is for who has started the tasks, and ends them.
            start_new_session=True,
        )
        self._reader = threading.Thread(target=self._read, args=(say,), daemon=True)
        self._reader.start()

    def _read(self, say: Say) -> None:
        assert self._process.stdout is not None, "the process was started with a pipe"
        with self._process.stdout as lines:
            for line in lines:
                say(line.decode(errors="replace").rstrip("\r\n"))

    def poll(self) -> int | None:
        """The exit code, once all lines have been told."""
        code = self._process.poll()
        if code is not None:
            # (A process of its own that it has left behind may keep the pipe.)
            self._reader.join(1.0)
        return code

    def terminate(self) -> None:
        """Asks the process, and those that it has started, to end."""
        self._signal(signal.SIGTERM)

    def kill(self) -> None:
        """Ends them."""
        self._signal(signal.SIGKILL)
        self._process.wait()

    def _signal(self, number: int) -> None:
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, number)
