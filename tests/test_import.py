# SPDX-License-Identifier: Apache-2.0
"""Importing the package loads NumPy and the op table, and nothing heavy."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import pytest

pytestmark = pytest.mark.pure

# Whoever loads these, it is not for a graph's sake.
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
# Parts of Python that are wanted later, if at all; NumPy may have them for itself.
LATER = (
    *("ctypes", "hashlib", "http", "inspect", "json", "pathlib", "pprint", "random", "shutil"),
    *("socket", "ssl", "subprocess", "tempfile", "urllib", "uuid", "xml"),
)
# The package's own modules; every one costs a fifth of a millisecond.
MOST_MODULES = 405
MOST_OTHERS = 40

PROGRAM = """
import json, sys
import numpy
before = set(sys.modules)
import numbaflow
from numbaflow.engine.graph import registry
unread = sum(type(entry) is not registry.OpDef for entry in registry._TABLE.values())
print(json.dumps([sorted(set(sys.modules) - before), unread, len(registry._TABLE)]))
"""


@pytest.fixture(scope="module")
def found() -> Any:
    """The modules that the import adds to NumPy's, the ops left unread, and all ops."""
    command = [sys.executable, "-c", PROGRAM]
    result = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    return json.loads(result.stdout)


@pytest.mark.process
def test_import_loads_nothing_heavy(found: Any) -> None:
    added = {name for name in found[0] if "." not in name or not name.startswith("numbaflow.")}
    assert not added & {*FORBIDDEN, *LATER}
    assert len([name for name in added if not name.startswith("numbaflow")]) <= MOST_OTHERS
    assert len(found[0]) - len(added) <= MOST_MODULES


@pytest.mark.process
def test_import_reads_no_signatures(found: Any) -> None:
    _, unread, ops = found
    assert unread > 0.95 * ops


def test_every_name_is_there_and_listed() -> None:
    import numbaflow as tf

    listed = set(dir(tf))
    for name in ("nn", "train", "summary", "GraphDef", "logging", "flags", "Session", "matmul"):
        assert name in listed
        assert getattr(tf, name) is not None
    assert {"relu", "conv2d"} <= set(dir(tf.nn))
