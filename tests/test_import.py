# SPDX-License-Identifier: Apache-2.0
"""Importing the package loads NumPy and the op table, and nothing heavy."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

pytestmark = pytest.mark.pure

FORBIDDEN = (
    "numba",
    "llvmlite",
    "scipy",
    "google.protobuf",
    "PIL",
    "fsspec",
    "typer",
    "rich",
    "tensorflow",
    "asyncio",
    "multiprocessing",
)
BUDGET = 0.3  # seconds over NumPy's own import

PROGRAM = """
import sys, time
import numpy
start = time.process_time()
import numbaflow
print(time.process_time() - start)
print(*sorted(sys.modules))
"""


def test_import_is_light() -> None:
    # Later processes find the bytecode that the first one writes.
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    command = [sys.executable, "-c", PROGRAM]
    results = [
        subprocess.run(
            command, env=environment, capture_output=True, text=True, check=True, timeout=60
        ).stdout.splitlines()
        for _ in range(4)
    ]
    loaded = set(results[0][1].split())
    assert not [name for name in FORBIDDEN if name in loaded]
    # The CPU time of the best of them: a busy machine must not fail the test.
    assert min(float(lines[0]) for lines in results) < BUDGET
