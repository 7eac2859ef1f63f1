# SPDX-License-Identifier: Apache-2.0
"""Training that is killed at any moment goes on with exactly the elements of an unbroken run."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import numbaflow as tf

HERE = Path(__file__).parent
PACKAGE = Path(tf.__file__).parent
Line = tuple[int, tuple[int, ...], int]

pytestmark = [pytest.mark.process, pytest.mark.slow]


def start(folder: Path, steps: int) -> subprocess.Popen[str]:
    """The loop in a process of its own, which finds the package by its name."""
    named = folder / "path"
    if not named.exists():
        named.mkdir(parents=True)
        (named / "numbaflow").symlink_to(PACKAGE)
    environment = dict(os.environ, PYTHONPATH=str(named), NUMBAFLOW_JIT="never")
    command = [sys.executable, str(HERE / "training_loop.py"), str(folder), str(steps)]
    return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True)


def told(lines: list[str]) -> list[Line]:
    """What whole lines say; the last one may be cut."""
    found = (json.loads(line) for line in lines if line.endswith("\n"))
    return [(number, tuple(elements), total) for number, elements, total in found]


def finished(folder: Path, steps: int) -> list[Line]:
    """The lines of a run that nobody kills."""
    with start(folder, steps) as process:
        assert process.stdout is not None
        lines = list(process.stdout)
    assert process.returncode == 0
    return told(lines)


def killed(folder: Path, count: int, seconds: float) -> list[Line]:
    """The lines of a run that is killed so long after some steps."""
    with start(folder, 1_000_000) as process:
        assert process.stdout is not None
        first = [process.stdout.readline() for _ in range(count)]
        time.sleep(seconds)
        process.send_signal(signal.SIGKILL)
        lines = [*first, *process.stdout]
    assert process.returncode == -signal.SIGKILL
    return told(lines)


def survive(folder: Path, times: int) -> None:
    """Kills the loop so often, then lets it go on for some steps, and compares all with one run."""
    chance = random.Random(times)
    broken: list[Line] = []
    starts = []
    for _ in range(times):
        found = killed(folder / "broken", chance.randint(1, 9), chance.uniform(0.0, 0.03))
        starts.append(found[0][0])
        broken += found
    last = max(number for number, _, _ in broken) + 12
    broken += finished(folder / "broken", last)
    unbroken = {
        number: (number, elements, total)
        for number, elements, total in finished(folder / "unbroken", last)
    }
    assert sorted(unbroken) == list(range(1, last + 1))
    # Steps behind the newest checkpoint were taken twice, with the same elements.
    assert [line for line in broken if line != unbroken[line[0]]] == []
    assert {number for number, _, _ in broken} == set(unbroken)
    assert starts == sorted(starts)
    assert starts[-1] > 1


def test_a_killed_run_goes_on(tmp_path: Path) -> None:
    survive(tmp_path, 3)


@pytest.mark.deep
def test_a_run_that_is_killed_fifty_times_goes_on(tmp_path: Path) -> None:
    survive(tmp_path, 50)
