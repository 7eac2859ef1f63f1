# SPDX-License-Identifier: Apache-2.0
"""`RayEngine`: the tasks of a cluster are placed by Ray, each started by an actor on its machine.

Needs ray (the extra `distributed`), imported when an engine is made.
"""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

from .launch import LocalProcess, Running, Say, Task, free_ports

_ADVICE = "tasks on Ray need it: pip install 'numbaflow[distributed]'"
# Seconds between questions to an actor what its task has printed, and for it to answer.
_ASK, _ANSWER = 0.2, 60.0
# What a task has ended with whose machine is gone.
_LOST = 1


def ray() -> Any:
    """The module; ImportError with advice where it is not installed."""
    try:
        import ray as found
    except ImportError as error:
        raise ImportError(_ADVICE) from error
    return found


class Keeper:
    """What an actor does on the machine where a task is: starts its program, keeps its lines."""

    def __init__(self) -> None:
        self._lines: queue.SimpleQueue[str] = queue.SimpleQueue()
        self._process: LocalProcess | None = None

    def address(self) -> str:
        """Where a task of this machine may listen, as other machines reach it."""
        host = ray().util.get_node_ip_address()
        return f"{host}:{free_ports(1, host)[0]}"

    def start(self, arguments: Sequence[str], variables: Mapping[str, str]) -> None:
        """Starts the program."""
        self._process = LocalProcess(arguments, variables, self._lines.put)

    def look(self) -> tuple[list[str], int | None]:
        """The lines since the last look, and the exit code."""
        code = None if self._process is None else self._process.poll()
        found = []
        with suppress(queue.Empty):
            while True:
                found.append(self._lines.get_nowait())
        return found, code

    def end(self, by_force: bool) -> None:
        """Ends the program."""
        if self._process is not None:
            self._process.kill() if by_force else self._process.terminate()


class RayEngine:
    """Tasks are processes of the machines of a cluster of Ray."""

    def __init__(self, address: str | None = None, processors: float = 1.0) -> None:
        """address: of a cluster of Ray; None: one is started on this machine.

        processors: that Ray sets aside for each task.
        """
        self._ray = ray()
        self._is_own = not self._ray.is_initialized()
        if self._is_own:
            self._ray.init(address=address, log_to_driver=False, include_dashboard=False)
        self._processors = processors
        self._keeper = self._ray.remote(num_cpus=processors)(Keeper)
        self._actors: dict[Task, Any] = {}

    def addresses(self, tasks: Sequence[Task]) -> list[str]:
        """Places the tasks; where each of them is to listen.

        Raises:
            RuntimeError: Ray has no processors for so many tasks.
        """
        has = self._ray.cluster_resources().get("CPU", 0)
        if has < len(tasks):
            # Tasks that wait for each other to end would wait for ever.
            self._keeper = self._ray.remote(num_cpus=has / len(tasks) * 0.99)(Keeper)
        self._actors = {task: self._keeper.remote() for task in tasks}
        asked = [actor.address.remote() for actor in self._actors.values()]
        found: list[str] = self._ray.get(asked)
        return found

    def start(
        self, task: Task, arguments: Sequence[str], variables: Mapping[str, str], say: Say
    ) -> Running:
        """Starts a task where it was placed: the others know its address."""
        return RayTask(self._ray, self._actors[task], arguments, variables, say)

    def room(self, wanted: int) -> int:
        """How many tasks have the processors that are theirs."""
        has = self._ray.cluster_resources().get("CPU", 0)
        return min(wanted, int(has / self._processors) if self._processors else wanted)

    def close(self) -> None:
        """Ends the actors, and Ray if it was started here."""
        for actor in self._actors.values():
            self._ray.kill(actor)
        if self._is_own:
            self._ray.shutdown()


class RayTask:
    """A task on a machine of Ray's cluster, which is asked again and again how it does."""

    def __init__(
        self,
        ray: Any,
        actor: Any,
        arguments: Sequence[str],
        variables: Mapping[str, str],
        say: Say,
    ) -> None:
        self._ray, self._actor, self._say = ray, actor, say
        self._code: int | None = None
        self._begun = actor.start.remote(list(arguments), dict(variables))
        threading.Thread(target=self._follow, daemon=True).start()

    def _follow(self) -> None:
        # The addresses that others know are of this machine: without it the task cannot go on.
        while True:
            try:
                self._ray.get(self._begun, timeout=_ANSWER)
                lines, code = self._ray.get(self._actor.look.remote(), timeout=_ANSWER)
            except self._ray.exceptions.RayError as error:
                self._say(f"its machine does not answer: {type(error).__name__}")
                self._code = _LOST
                return
            for line in lines:
                self._say(line)
            if code is not None:
                self._code = code
                return
            time.sleep(_ASK)

    def poll(self) -> int | None:
        """The exit code."""
        return self._code

    def terminate(self) -> None:
        """Asks the task to end."""
        self._end(False)

    def kill(self) -> None:
        """Ends the task."""
        self._end(True)

    def _end(self, by_force: bool) -> None:
        with suppress(self._ray.exceptions.RayError):
            self._ray.get(self._actor.end.remote(by_force), timeout=_ANSWER)
