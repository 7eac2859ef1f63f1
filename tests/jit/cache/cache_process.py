# SPDX-License-Identifier: Apache-2.0
"""Processes that compile kernels and say what that took, for tests of the cache in trouble."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from numbaflow.jit.cache import admin, store

LABELS = (("format", store.FORMAT), ("kernel", "abc"), ("cpu", "some"))
ENTRY = store.Entry("symbol", "def kernel(): ...\n" * 20, bytes(range(256)) * 8)

# Compiles kernels that multiply by 1, 2 … and runs them; TROUBLE is what happens to it before.
PROGRAM = """
import ctypes, json, os, sys, warnings
import numpy as np
from numbaflow.jit.cache import store as cache
from numbaflow.jit.codegen import compile as compiler
from numbaflow.jit.kernel import ir, scalar as k
from numbaflow.jit.runtime import driver

def kernel(factor):
    x = ir.Load(0, ir.Index((1,)), "float32")
    store = ir.Store(1, ir.Index((1,)), k.mul(x, float(factor)))
    buffers = ir.Buffer("float32", "r"), ir.Buffer("float32", "w")
    return ir.Kernel("map", buffers, (ir.Axis("map"),), (), (store,), 0)

def result(factor):
    address = compiler.compile_kernel(kernel(factor)).address
    x, y = np.ones(5, np.float32), np.zeros(5, np.float32)
    args = np.array([x.ctypes.data, y.ctypes.data, 5], np.int64)
    driver.Program(np.array([[address, args.ctypes.data, 1, 1, 5, 5]], np.int64)).run()
    return y.tolist()

each = map
TROUBLE
with warnings.catch_warnings(record=True) as told:
    warnings.simplefilter("always")
    results = list(each(result, range(1, int(sys.argv[1]) + 1)))
assert results == [[float(n)] * 5 for n in range(1, len(results) + 1)], results
print(json.dumps({
    "compiles": compiler.STATS.compiles, "hits": compiler.STATS.hits,
    "told": [str(warning.message) for warning in told],
}))
"""
# Root may write anywhere unless it gives its capabilities up.
POWERLESS = """
header, none = (ctypes.c_uint32 * 2)(0x20080522, 0), (ctypes.c_uint32 * 6)()
assert ctypes.CDLL(None, use_errno=True).capset(header, none) == 0
"""
# All at once instead of one after the other.
THREADS = """
from concurrent.futures import ThreadPoolExecutor
each = ThreadPoolExecutor(8).map
"""
# Files end at a thousand bytes.
SMALL_FILES = """
import resource
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
"""


def start(
    folder: Path | None, kernels: int = 2, trouble: str = "", **environment: str
) -> subprocess.Popen[str]:
    """A process of PROGRAM, whose cache is a folder (or that of `environment`)."""
    known = {**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)}
    if folder is not None:
        known["NUMBAFLOW_CACHE"] = str(folder)
    return subprocess.Popen(
        [sys.executable, "-c", PROGRAM.replace("TROUBLE", trouble), str(kernels)],
        env={**known, **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def report(process: subprocess.Popen[str]) -> dict[str, Any]:
    """What a process says of itself; it must have ended well."""
    out, err = process.communicate(timeout=120)
    assert process.returncode == 0, err
    return json.loads(out)


def assert_sound(count: int | None = None) -> None:
    """Every entry is whole, and there are `count`."""
    found, problems = admin.verify()
    assert not problems
    assert count is None or found == count
