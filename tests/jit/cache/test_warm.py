# SPDX-License-Identifier: Apache-2.0
"""A second process compiles nothing, nor imports Numba: the examples and the benchmarks."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import pytest

from numbaflow.engine import settings
from numbaflow.jit.cache import store

from ...checkout import BARE

ROOT = Path(__file__).parents[3]
# image_records.py is shared by others, and no program; two start processes of their own, and are
# run by tests/test_examples.py.
OTHERS = {"image_records.py", "digits_cluster.py", "digits_workers.py"}
EXAMPLES = sorted({path.name for path in (ROOT / "examples").glob("*.py")} - OTHERS)
# A folder of its own for each run.
FRESH = "(a new folder)"
# What makes an example quick; others run as they are.
ARGUMENTS = {
    "digits_cnn.py": ["--epochs", "1"],
    "black_scholes.py": ["--options", "20000"],
    "digits_queues.py": ["--logdir", FRESH, "--steps", "3"],
    "photo_patches.py": ["--logdir", FRESH, "--steps", "3"],
    "photo_patches_data.py": ["--logdir", FRESH, "--steps", "3"],
}
SLOW = ("digits_cnn.py", "digits_queues.py", "photo_patches.py", "photo_patches_data.py")
NEEDS = dict.fromkeys(SLOW, "sklearn")

pytestmark = [pytest.mark.cpu, BARE]

# Says at the end what a program compiled.
OBSERVED = """
import atexit, json, sys
from numbaflow.cli import launcher

def tell():
    from numbaflow.jit.codegen import compile as compiler
    stats = compiler.STATS
    found = {"compiles": stats.compiles, "hits": stats.hits, "numba": "numba" in sys.modules}
    print(json.dumps(found | {"names": stats.names}), file=sys.stderr)

atexit.register(tell)
# What runs once is not compiled and what runs twice is, however long a busy machine takes.
from numbaflow.jit.runtime import interpreted
interpreted._PATIENCE, interpreted._MOST_RUNS = 60.0, 1
launcher.run(sys.argv[1:])
"""
# Every workload of the benchmarks, small: sizes are not part of kernels.
BENCHMARKS = """
import inspect, json, sys
sys.path.insert(0, sys.argv[1])
import numbaflow as tf
from benchmarks.workloads import WORKLOADS

SIZES = {"n": 500, "rows": 40, "columns": 30, "batch": 6, "steps": 3, "units": 16, "layers": 4}
for name, build in WORKLOADS.items():
    known = {k: v for k, v in SIZES.items() if k in inspect.signature(build).parameters}
    with tf.Graph().as_default(), tf.Session() as session:
        fetches, feeds = build(tf, **known)
        session.run(tf.global_variables_initializer())
        for _ in range(3):
            session.run(fetches, feeds)
"""


def run(folder: Path, *arguments: str) -> dict[str, Any]:
    """What a program compiles, run with a cache; its last line on standard error says it."""
    with tempfile.TemporaryDirectory() as fresh:
        given = [fresh if text == FRESH else text for text in arguments]
        done = subprocess.run(
            [sys.executable, "-c", OBSERVED, *given],
            env={**os.environ, "NUMBAFLOW_CACHE": str(folder)},
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stderr.splitlines()[-1])


def assert_warm(folder: Path, *arguments: str) -> None:
    first = run(folder, *arguments)
    assert first["compiles"] > 0
    with settings.override(cache=folder):
        kept = {path.name for path in store.entries()}
    # One process leaves numbers behind that another could be led astray by: twice is once more.
    for _ in range(2):
        again = run(folder, *arguments)
        assert (again["compiles"], again["names"], again["numba"]) == (0, [], False)
        assert again["hits"] == len(kept)
    with settings.override(cache=folder):
        assert {path.name for path in store.entries()} == kept


@pytest.mark.parametrize(
    "name", [pytest.param(n, marks=pytest.mark.slow) if n in SLOW else n for n in EXAMPLES]
)
def test_examples(tmp_path: Path, name: str) -> None:
    if name in NEEDS:
        pytest.importorskip(NEEDS[name])
    assert_warm(tmp_path / "kernels", str(ROOT / "examples" / name), *ARGUMENTS.get(name, []))


@pytest.mark.slow
def test_benchmarks(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(BENCHMARKS)
    assert_warm(tmp_path / "kernels", str(program), str(ROOT))
