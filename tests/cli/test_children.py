# SPDX-License-Identifier: Apache-2.0
"""Processes that a program starts know what `import tensorflow` means, however they are started."""

from __future__ import annotations

import multiprocessing
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.process

PROGRAM = """
import multiprocessing, sys
import numpy as np
import tensorflow as tf

RAGGED = np.array([[1], [2, 3]]) if "--strict" not in sys.argv else None


def work(queue, count):
    old = hasattr(tf, "mul"), RAGGED is not None and RAGGED.dtype == object
    with tf.Graph().as_default(), tf.Session() as session:
        queue.put((float(session.run(tf.reduce_sum(tf.ones([count])))), *old))


if __name__ == "__main__":
    multiprocessing.set_start_method(sys.argv[1])
    queue = multiprocessing.Queue()
    process = multiprocessing.Process(target=work, args=(queue, 5))
    process.start()
    print(queue.get(timeout=50))
    process.join()
    print(process.exitcode)
"""


def _run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    (folder / "many.py").write_text(PROGRAM)
    place = arguments.index("many.py")
    line = [*arguments[:place], str(folder / "many.py"), *arguments[place + 1 :]]
    command = [sys.executable, "-W", "ignore", "-m", "numbaflow", "run", *line]
    return subprocess.run(command, capture_output=True, text=True, timeout=90, check=False)


@pytest.mark.parametrize("method", multiprocessing.get_all_start_methods())
def test_processes_begin_as_the_program_did(tmp_path: Path, method: str) -> None:
    done = _run(tmp_path, "many.py", method)
    assert done.stdout == "(5.0, False, True)\n0\n", done.stderr


def test_processes_have_the_programs_options(tmp_path: Path) -> None:
    done = _run(tmp_path, "--api", "0.12", "many.py", "spawn")
    assert done.stdout == "(5.0, True, True)\n0\n", done.stderr
    done = _run(tmp_path, "--strict", "many.py", "spawn", "--strict")
    assert done.stdout == "(5.0, False, False)\n0\n", done.stderr
