# SPDX-License-Identifier: Apache-2.0
"""Processes that end while daemon threads run kernels: none of them dies of it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.process

# A module that another one knows is cleared while threads run on, and its arrays go with it.
_HELD = """
import numpy as np
from numbaflow.engine import settings
from numbaflow.jit.codegen import compile as compiler
from numbaflow.jit.kernel import ir
from numbaflow.jit.kernel import scalar as k
from numbaflow.jit.runtime import driver

def index(i):
    return ir.Index((ir.Param(0), 1))

store = ir.Store(1, index(1), k.add(k.mul(k.exp(ir.Load(0, index(0), "float32")), 0.5), 1.0))
buffers = ir.Buffer("float32", "r"), ir.Buffer("float32", "w")
kernel = ir.Kernel("map", buffers, (ir.Axis("map"), ir.Axis("map")), (), (store,), 1)
address = compiler.compile_kernel(kernel).address

class Problem:
    def __init__(self, rows, columns, tile):
        self.given, self.made = (np.zeros((rows, columns), np.float32) for _ in range(2))
        words = [self.given.ctypes.data, self.made.ctypes.data, rows, columns, columns]
        self.block = np.array(words, np.int64)
        row = [address, self.block.ctypes.data, rows, tile, columns, columns]
        self.program = driver.Program(np.array([row], np.int64))

problems = [Problem(2000, 4000, 2000), Problem(2000, 4000, 64), Problem(40, 100, 40)]
"""
_RUN = """
import threading, time
import held

def work(number):
    while True:
        held.problems[number].program.run()

for number in range(3):
    threading.Thread(target=work, args=(number,), daemon=True).start()
time.sleep(0.3)
print("end")
"""


@pytest.mark.parametrize("run", range(4))
def test_a_process_ends_while_threads_walk(run: int, tmp_path: Path) -> None:
    (tmp_path / "held.py").write_text(_HELD)
    (tmp_path / "program.py").write_text(_RUN)
    done = subprocess.run(
        [sys.executable, "program.py"], cwd=tmp_path, capture_output=True, text=True, timeout=120
    )
    assert (done.returncode, done.stdout) == (0, "end\n"), done.stderr
