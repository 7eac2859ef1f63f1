# SPDX-License-Identifier: Apache-2.0
"""Workers that keep the same variables, and are killed or stopped while they train."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from numbaflow.train.cluster import launch

pytestmark = [
    pytest.mark.process,
    pytest.mark.cpu,
    pytest.mark.skipif(os.name != "posix", reason="tasks are ended by signals"),
]

TRAIN = """
import sys, time
import tensorflow.compat.v1 as tf

strategy = tf.distribute.experimental.MultiWorkerMirroredStrategy()
with strategy.scope():
    x = tf.get_variable("x", [], initializer=tf.zeros_initializer())
    step = tf.train.get_or_create_global_step()
    train = strategy.experimental_run_v2(
        lambda: tf.train.GradientDescentOptimizer(0.002).minimize(tf.square(x - 3.0), step))
    with tf.train.MonitoredTrainingSession(
            checkpoint_dir=sys.argv[1], save_checkpoint_steps=20, save_summaries_steps=None,
            save_checkpoint_secs=None,
            hooks=[tf.train.StopAtStepHook(last_step=int(sys.argv[2]))]) as session:
        while not session.should_stop():
            now, value = session.run([step, x, train])[:2]
            if now % 20 == 0:
                print("step", now, flush=True)
            time.sleep(0.005)
print("trained to %.6f" % value, flush=True)
"""


class _Acting(launch.LocalEngine):
    """Does something to a task, once, when the training has gone on for a while."""

    def __init__(self, number: int, index: int, rounds: int) -> None:
        self._number, self._victim = number, launch.Task("worker", index)
        self._at = [40 + 20 * i for i in range(rounds)]
        self.started: dict[launch.Task, Any] = {}

    def start(
        self, task: launch.Task, arguments: Sequence[str], variables: Any, say: Any
    ) -> launch.Running:
        def told(line: str) -> None:
            say(line)
            if self._at and line == f"step {self._at[0]}":
                del self._at[0]
                self._act(self.started[self._victim])

        self.started[task] = super().start(task, arguments, variables, told)
        return self.started[task]

    def _act(self, victim: Any) -> None:
        victim._signal(self._number)
        if self._number == signal.SIGSTOP:
            threading.Timer(1.0, victim._signal, (signal.SIGCONT,)).start()


@pytest.mark.parametrize("rounds", [1, pytest.param(50, marks=pytest.mark.deep)])
@pytest.mark.parametrize(
    ("number", "index"),
    [
        (signal.SIGKILL, 1),
        pytest.param(signal.SIGKILL, 0, marks=pytest.mark.deep),
        pytest.param(signal.SIGSTOP, 0, marks=pytest.mark.deep),
        (signal.SIGSTOP, 1),
    ],
)
def test_training_goes_on(number: int, index: int, rounds: int, tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(TRAIN)
    lines: list[str] = []
    last = 80 + 20 * rounds
    arguments = [str(tmp_path / "program.py"), str(tmp_path / "model"), str(last)]
    engine = _Acting(number, index, rounds)
    tasks = launch.tasks_of(0, 2)
    code = launch.launch(engine, tasks, arguments, False, rounds, 2.0, lines.append)
    assert code == 0, lines
    killed = sum("ended with signal SIGKILL; it is started again" in line for line in lines)
    assert killed == (rounds if number == signal.SIGKILL else 0), lines
    # The same as if nothing had been: what was done after the last checkpoint is done again.
    assert f"[worker 0] trained to {3 - 3 * 0.992 ** (last - 1):.6f}" in lines, lines
