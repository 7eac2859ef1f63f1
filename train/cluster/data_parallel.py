# SPDX-License-Identifier: Apache-2.0
"""Runs one function as several workers that train together, and again when one of them is lost.

A worker is a process of `python -m` this module: what it is to call comes as an argument, what the
function gives goes back in a line of its output, so that tasks on other machines need no file of
this one.  Workers that were started together are a generation: when one of them fails, all end,
and the next generation goes on from the last checkpoint.
"""

from __future__ import annotations

import base64
import importlib
import importlib.util
import os
import pickle
import sys
import time
from collections.abc import Callable, Sequence
from types import ModuleType
from typing import Any, NamedTuple

from .launch import Engine, Running, Say, Task, cluster_of, stop, variables_of

_MODULE = "numbaflow.train.cluster.data_parallel"
_RESULT = "numbaflow result: "
# The name under which a program's file is imported again.
_MAIN = "__numbaflow_main__"
_LOOK = 0.05


class Work(NamedTuple):
    """What a worker calls: a function by module and name, or by the file it is in, or pickled."""

    module: str
    file: str
    name: str
    pickled: bytes
    arguments: bytes
    checkpoint_dir: str
    generation: int


def described(function: Callable[..., Any], arguments: Sequence[Any]) -> Work:
    """What another process needs to call a function.

    Raises:
        ValueError: the function is neither one of a module nor can be pickled.
    """
    given = pickle.dumps(tuple(arguments))
    module, name = function.__module__, function.__qualname__
    if "<" not in name:
        if module != "__main__":
            return Work(module, "", name, b"", given, "", 0)
        file = getattr(sys.modules["__main__"], "__file__", None)
        if file:
            return Work("", os.path.abspath(file), name, b"", given, "", 0)
    try:
        import cloudpickle
    except ImportError:
        raise ValueError(
            f"{name} is no function of a module: define it there, or install cloudpickle"
        ) from None
    return Work("", "", name, cloudpickle.dumps(function), given, "", 0)


def _function(work: Work) -> Callable[..., Any]:
    if work.pickled:
        found: Callable[..., Any] = pickle.loads(work.pickled)
        return found
    value: Any = _imported(work.file) if work.file else importlib.import_module(work.module)
    for part in work.name.split("."):
        value = getattr(value, part)
    return value  # type: ignore[no-any-return]


def _imported(file: str) -> ModuleType:
    """A program's file as a module: what it does as a program stays out."""
    sys.path.insert(0, os.path.dirname(file))
    spec = importlib.util.spec_from_file_location(_MAIN, file)
    assert spec is not None and spec.loader is not None, "a program has a loader"
    module = sys.modules[_MAIN] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class Generation:
    """Workers that were started together."""

    def __init__(self, engine: Engine, work: Work, count: int, say: Say) -> None:
        self.tasks = [Task("worker", i) for i in range(count)]
        self._results: dict[Task, Any] = {}
        self._say = say
        cluster = cluster_of(self.tasks, engine.addresses(self.tasks))
        given = base64.b64encode(pickle.dumps(tuple(work))).decode()
        self.running: dict[Task, Running] = {}
        try:
            for task in self.tasks:
                variables = variables_of(task, cluster)
                told = lambda line, task=task: self._hear(task, line)  # noqa: E731
                arguments = ["--strict", "-m", _MODULE, given]
                self.running[task] = engine.start(task, arguments, variables, told)
        except BaseException:
            stop(list(self.running.values()), 0.0)
            raise

    def _hear(self, task: Task, line: str) -> None:
        # (What the function has printed last may have no end of line.)
        text, mark, result = line.partition(_RESULT)
        if mark:
            self._results[task] = pickle.loads(base64.b64decode(result))
        if text or not mark:
            self._say(f"[{task}] {text}")

    def outcome(self, grace: float) -> list[Any] | None:
        """What the function gave in each worker; None when one of them has failed."""
        left = dict(self.running)
        try:
            while left:
                for task, running in list(left.items()):
                    code = running.poll()
                    if code is None:
                        continue
                    del left[task]
                    if code or task not in self._results:
                        self._say(f"[{task}] ended with exit code {code}: all workers are stopped")
                        return None
                time.sleep(_LOOK)
            return [self._results[task] for task in self.tasks]
        finally:
            stop(list(left.values()), grace)


def run(
    engine: Engine,
    work: Work,
    workers: int,
    min_workers: int,
    restarts: int,
    grace: float = 2.0,
    say: Say = print,
) -> list[Any]:
    """What a function gives in each of several workers; see `tf.distribute.ray.run`."""
    try:
        for generation in range(restarts + 1):
            count = engine.room(workers)
            if count < min_workers:
                raise RuntimeError(
                    f"There is room for {count} workers, and {min_workers} are needed"
                )
            own = work._replace(generation=generation)
            found = Generation(engine, own, count, say).outcome(grace)
            if found is not None:
                return found
        raise RuntimeError(f"Workers have failed {restarts + 1} times.")
    finally:
        engine.close()


def main(arguments: Sequence[str]) -> None:
    """Does the part of a worker: TF_CONFIG says of which."""
    work = Work(*pickle.loads(base64.b64decode(arguments[0])))
    from ..distributed.cluster_resolver import TFConfigClusterResolver
    from ..distributed.ray import Worker

    task = TFConfigClusterResolver().task_id or 0
    function = _function(work)
    with Worker(task, work.generation, work.checkpoint_dir or None) as worker:
        result = function(worker, *pickle.loads(work.arguments))
    text = base64.b64encode(pickle.dumps(result)).decode()
    sys.stdout.write(f"{_RESULT}{text}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main(sys.argv[1:])
