# SPDX-License-Identifier: Apache-2.0
"""Programs that are killed while they save leave the newest complete checkpoint, never a part."""

from __future__ import annotations

import importlib.util
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import numbaflow as tf

HERE = Path(__file__).parent
PACKAGE = Path(tf.__file__).parent
KINDS = ("numbered", "same", "sharded", "managed")
# How often each kind is killed; 50 make a thorough test of some minutes, at every operation.
TIMES = int(os.environ.get("NUMBAFLOW_KILLS", "3"))

pytestmark = pytest.mark.process


def _loaded() -> Any:
    spec = importlib.util.spec_from_file_location("saving_loop", HERE / "saving_loop.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


saving_loop = _loaded()


@pytest.fixture
def package(tmp_path: Path) -> Iterator[str]:
    """A folder in which the package is found by its name."""
    folder = tmp_path / "path"
    folder.mkdir()
    (folder / "numbaflow").symlink_to(PACKAGE)
    yield str(folder)


def start(kind: str, folder: Path, package: str, *last: str) -> subprocess.Popen[str]:
    """The loop in a process of its own."""
    environment = dict(os.environ, PYTHONPATH=package, NUMBAFLOW_JIT="never")
    arguments = [sys.executable, str(HERE / "saving_loop.py"), kind, str(folder), *last]
    return subprocess.Popen(arguments, env=environment, stdout=subprocess.PIPE, text=True)


def run_and_kill(kind: str, folder: Path, package: str, seconds: float) -> int:
    """Runs the loop, kills it so long after its first save; the last step that it reported."""
    with start(kind, folder, package) as process:
        assert process.stdout is not None
        first = process.stdout.readline()
        time.sleep(seconds)
        process.send_signal(signal.SIGKILL)
        lines = [first, *process.stdout]
    assert process.returncode == -signal.SIGKILL
    # The last line may be cut.
    return int([line for line in lines if line.endswith("\n")][-1])


def newest(kind: str, folder: Path) -> int:
    """The step in the newest checkpoint; fails if its variables are not all of the same one."""
    path = tf.train.latest_checkpoint(str(folder))
    assert path is not None
    with tf.Graph().as_default(), tf.Session() as session:
        variables = saving_loop.build(tf)
        restore = saving_loop.savers(tf, str(folder))[kind][1]
        restore(session, path)
        steps = [np.unique(value) for value in session.run(variables)]
    assert all(len(step) == 1 for step in steps), (path, steps)
    found = {int(step[0]) for step in steps}
    assert len(found) == 1, (path, found)
    if kind not in ("managed", "same"):
        assert path.endswith(f"-{min(found)}")
    if kind != "managed":
        tf.train.export_meta_graph(graph=tf.Graph())  # its protos are there
        with tf.Graph().as_default():
            tf.train.import_meta_graph(f"{path}.meta")
    return found.pop()


def survive(kind: str, folder: Path, package: str, times: int) -> None:
    """Kills the loop several times; each restore finds what was reported, or one step more."""
    chance = random.Random(kind)
    last = 0
    for _ in range(times):
        reported = run_and_kill(kind, folder, package, chance.uniform(0.0, 0.15))
        assert reported > last
        last = newest(kind, folder)
        assert last in (reported, reported + 1)


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_the_newest_checkpoint_is_complete(kind: str, tmp_path: Path, package: str) -> None:
    (tmp_path / "saved").mkdir()
    survive(kind, tmp_path / "saved", package, TIMES)


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_every_operation_on_files_may_be_the_last(kind: str, tmp_path: Path, package: str) -> None:
    found = []
    for number in range(1, 100, 1 if TIMES >= 50 else 4):
        folder = tmp_path / str(number)
        folder.mkdir()
        with start(kind, folder, package, str(number)) as process:
            process.communicate()
        assert process.returncode in (0, -signal.SIGKILL)
        found.append(newest(kind, folder))
        if not process.returncode:
            break
        shutil.rmtree(folder)
    # The old checkpoint up to some operation, from then on the new one.
    assert found == sorted(found)
    assert set(found) == {2, 3}


@pytest.mark.slow
def test_two_programs_save_under_one_name(tmp_path: Path, package: str) -> None:
    writers = [start("same", tmp_path, package) for _ in range(2)]
    try:
        for writer in writers:
            assert writer.stdout is not None
            writer.stdout.readline()
        for _ in range(30):
            newest("same", tmp_path)
    finally:
        for writer in writers:
            writer.kill()
            writer.communicate()
    newest("same", tmp_path)
