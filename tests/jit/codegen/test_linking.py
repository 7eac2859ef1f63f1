# SPDX-License-Identifier: Apache-2.0
"""Object files in this process: what is linked here is what LLVM's linker makes of them."""

from __future__ import annotations

import ctypes
import subprocess
import sys
from pathlib import Path

import pytest

from numbaflow.jit import target
from numbaflow.jit.codegen import linking

pytestmark = pytest.mark.cpu
_OURS = pytest.mark.skipif(not linking._is_ours(), reason="LLVM links on this system")

# Constants of several kinds, a table of addresses, and functions of the C library.
_TEXT = """
@numbers = private constant [3 x double] [double 0.5, double 1.5, double 2.5], align 32
@rows = private constant [2 x ptr] [ptr @numbers, ptr getelementptr (i8, ptr @numbers, i64 8)]
declare double @pow(double, double)
define internal double @of_row(i64 %row, double %x) noinline {
  %place = getelementptr ptr, ptr @rows, i64 %row
  %address = load volatile ptr, ptr %place
  %number = load volatile double, ptr %address
  %power = call double @pow(double %number, double %x)
  ret double %power
}
define double @linked(i64 %row, double %x) {
  %found = call double @of_row(i64 %row, double %x)
  %more = fadd double %found, 0x3FF8000000000000
  ret double %more
}
"""


def made(text: str) -> bytes:
    import llvmlite.binding as binding

    module = binding.parse_assembly(text)
    module.triple = target.native().triple
    code: bytes = target.machine(target.native(), opt=2).emit_object(module)
    return code


def function(address: int) -> ctypes._CFuncPtr:
    return ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_int64, ctypes.c_double)(address)


@pytest.fixture(scope="module")
def code() -> bytes:
    return made(_TEXT)


@_OURS
def test_code_constants_and_functions_of_the_system_are_found(code, monkeypatch):
    def never(*_):
        raise AssertionError("LLVM was asked")

    monkeypatch.setattr(linking, "_by_llvm", never)
    found = function(linking.link(code, "linked"))
    assert [found(0, 2.0), found(1, 3.0)] == [0.25 + 1.5, 1.5**3 + 1.5]


def test_llvm_links_the_same(code):
    found = function(linking._by_llvm(code, "linked"))
    assert [found(0, 2.0), found(1, 3.0)] == [0.25 + 1.5, 1.5**3 + 1.5]


@_OURS
def test_pages_of_code_cannot_be_written(code):
    address = linking.link(code, "linked")
    for line in Path("/proc/self/maps").read_text().splitlines():
        first, last = (int(word, 16) for word in line.split()[0].split("-"))
        if first <= address < last:
            assert line.split()[1] == "r-xp"
            return
    raise AssertionError("its pages are nowhere")


def test_what_is_not_there_is_an_error(code):
    with pytest.raises(RuntimeError, match="no function absent"):
        linking.link(code, "absent")
    assert linking.is_function("memcpy") and not linking.is_function("no_such_function_of_all")


@_OURS
def test_what_is_not_known_here_is_left_to_llvm(monkeypatch, code):
    """Names that only LLVM's libraries have, files of other formats, memory that stays as it is."""
    asked = []
    monkeypatch.setattr(linking, "_by_llvm", lambda *args: asked.append(args) or 1)
    real = linking._address_of
    monkeypatch.setattr(linking, "_address_of", lambda name: 0 if name == "pow" else real(name))
    assert linking.link(code, "linked") == 1
    monkeypatch.setattr(linking, "_address_of", real)
    monkeypatch.setattr(linking, "_protect", lambda: lambda *_: -1)
    assert linking.link(code, "linked") == 1
    assert linking.link(b"MZ" + code, "linked") == 1 and len(asked) == 3


_WARM = """
import sys
import numpy as np, numbaflow as tf
x = tf.placeholder(tf.float32, [None, 4])
w = tf.get_variable("w", [4, 4], initializer=tf.ones_initializer())
loss = tf.reduce_mean(tf.square(tf.tanh(tf.matmul(x, w)) - 0.5))
step = tf.train.AdamOptimizer(0.1).minimize(loss)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for _ in range(12):
        value, _ = sess.run([loss, step], {x: np.ones((3, 4), "f")})
print(value, "llvmlite" in sys.modules)
"""


@_OURS
@pytest.mark.process
def test_a_process_that_compiles_nothing_loads_no_llvm(tmp_path):
    run = [sys.executable, "-c", _WARM]
    environment = {**_environment(), "NUMBAFLOW_CACHE": str(tmp_path), "NUMBAFLOW_JIT": "always"}
    told = [
        subprocess.run(
            run, env=environment, check=True, text=True, capture_output=True, cwd=tmp_path
        )
        for _ in range(2)
    ]
    first, second = (each.stdout.split() for each in told)
    assert first == [second[0], "True"] and second[1] == "False"


def _environment() -> dict[str, str]:
    import os

    return {k: v for k, v in os.environ.items() if not k.startswith("NUMBAFLOW")}
