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


@pytest.mark.skipif(sys.platform != "linux", reason="others never forked by themselves")
def test_processes_are_forked_unless_the_program_says_otherwise(tmp_path: Path) -> None:
    program = tmp_path / "default.py"
    program.write_text("""
import multiprocessing
from numbaflow.alias.restore import old_processes

context = multiprocessing.context
defaults = context._default_context
assert defaults._default_context.get_start_method() == "fork"
defaults._default_context = context._concrete_contexts["forkserver"]
old_processes.forked()
assert defaults._default_context.get_start_method() == "fork"
multiprocessing.set_start_method("spawn")
assert multiprocessing.get_context().get_start_method() == "spawn"
print("as it was")
""")
    command = [sys.executable, "-W", "ignore", "-m", "numbaflow", "run", str(program)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.stdout == "as it was\n", done.stderr


def test_processes_have_the_programs_options(tmp_path: Path) -> None:
    done = _run(tmp_path, "--api", "0.12", "many.py", "spawn")
    assert done.stdout == "(5.0, True, True)\n0\n", done.stderr
    done = _run(tmp_path, "--strict", "many.py", "spawn", "--strict")
    assert done.stdout == "(5.0, False, False)\n0\n", done.stderr
