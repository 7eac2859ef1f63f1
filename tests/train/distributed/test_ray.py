# SPDX-License-Identifier: Apache-2.0
"""Functions that train as several workers: with processes of this machine, and with Ray."""

from __future__ import annotations

import importlib.util
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import numbaflow as tf
from numbaflow.train.cluster import data_parallel, launch

pytestmark = [
    pytest.mark.process,
    pytest.mark.cpu,
    pytest.mark.skipif(os.name != "posix", reason="tasks are ended by signals"),
]

PROGRAM = """
import os, sys
import numbaflow as tf


def train(worker, goal, dies):
    x = tf.get_variable("x", initializer=float(worker.index))
    step = tf.train.get_or_create_global_step()
    optimizer = tf.train.GradientDescentOptimizer(0.1 / worker.count)
    op = optimizer.minimize(tf.square(x - goal), step)
    seen = []
    hooks = [tf.train.StopAtStepHook(last_step=8)]
    with worker.session(hooks=hooks, save_checkpoint_steps=2, save_checkpoint_secs=None) as session:
        while not session.should_stop():
            number, value, _ = session.run([step, x, op])
            seen.append(int(number))
            if worker.index == dies and worker.generation == 0 and number >= 4:
                os.kill(os.getpid(), 9)
    sys.stdout.write("no end")
    return worker.generation, worker.count, seen, float(value)


if __name__ == "__main__":
    said = []
    found = tf.distribute.ray.run(
        train, 2, args=(3.0, int(sys.argv[1])), checkpoint_dir=sys.argv[2], say=said.append,
        use_ray=len(sys.argv) > 3)
    print(found)
    print(said)
"""


def trained(folder: Path, *arguments: str) -> tuple[list, list]:
    (folder / "program.py").write_text(PROGRAM)
    done = subprocess.run(
        [sys.executable, str(folder / "program.py"), *arguments],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    found, said = done.stdout.splitlines()[-2:]
    return eval(found), eval(said)


@pytest.mark.parametrize("dies", [0, 1])
def test_training_goes_on_when_a_worker_is_killed(tmp_path: Path, dies: int) -> None:
    found, said = trained(tmp_path, str(dies), str(tmp_path / "model"))
    assert any(f"[worker {dies}] ended with exit code -9" in line for line in said)
    assert {f"[worker {i}] no end" for i in (0, 1)} <= set(said)
    for generation, count, seen, value in found:
        assert (generation, count) == (1, 2)
        # From the last checkpoint on, which is of an even step.
        assert seen == list(range(seen[0], 8)) and seen[0] in (2, 4)
        # The first worker's value was the beginning.
        assert value == pytest.approx(3 - 3 * 0.8**7, rel=1e-4)


@pytest.mark.skipif(importlib.util.find_spec("ray") is None, reason="Ray is not installed")
def test_ray_places_workers(tmp_path: Path) -> None:
    found, _ = trained(tmp_path, "-1", str(tmp_path / "model"), "ray")
    assert [one[:3] for one in found] == [(0, 2, list(range(8)))] * 2


class _Task:
    """A task that has ended."""

    def __init__(self, code: int) -> None:
        self._code = code

    def poll(self) -> int:
        return self._code

    def terminate(self) -> None:
        """It has ended."""

    kill = terminate


class _Shrinking(launch.LocalEngine):
    """An engine that has less room each time, and whose tasks fail."""

    def __init__(self, rooms: list[int]) -> None:
        self.rooms, self.started = rooms, []

    def room(self, wanted: int) -> int:
        return min(self.rooms.pop(0), wanted)

    def start(self, task, arguments, variables, say):
        self.started.append((task.index, variables["TF_CONFIG"].count("localhost")))
        return _Task(signal.SIGKILL)


def test_it_goes_on_with_as_many_as_there_is_room_for() -> None:
    work = data_parallel.described(trained, ())
    engine = _Shrinking([3, 2, 1])
    with pytest.raises(RuntimeError, match="room for 1 workers, and 2 are needed"):
        data_parallel.run(engine, work, 3, 2, restarts=5, say=lambda line: None)
    assert engine.started == [(0, 3), (1, 3), (2, 3), (0, 2), (1, 2)]
    with pytest.raises(RuntimeError, match="failed 2 times"):
        data_parallel.run(_Shrinking([1, 1, 1]), work, 1, 1, restarts=1, say=lambda line: None)


def test_what_makes_no_sense_is_refused() -> None:
    with pytest.raises(ValueError, match="2 to 1 workers"):
        tf.distribute.ray.run(trained, 1, min_workers=2)
    if importlib.util.find_spec("cloudpickle") is None:
        with pytest.raises(ValueError, match="no function of a module"):
            tf.distribute.ray.run(lambda worker: None, 1)
    if importlib.util.find_spec("ray") is None:
        with pytest.raises(ImportError, match=r"numbaflow\[distributed\]"):
            tf.distribute.ray.run(trained, 1, use_ray=True)
