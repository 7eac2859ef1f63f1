# SPDX-License-Identifier: Apache-2.0
"""Importing the package loads NumPy and the op table, and nothing heavy."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.pure
ROOT = Path(__file__).parent.parent

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
# The package's own modules that are read from files; every one costs a fifth of a millisecond.
# Those of public names alone, such as `numbaflow.nn`, cost next to nothing.
MOST_MODULES = 174
MOST_OTHERS = 40

PROGRAM = """
import json, sys
import numpy
before = set(sys.modules)
import numbaflow
from numbaflow.engine.graph import registry
read = sum(type(entry) is registry.OpDef for entry in registry._TABLE.values())
own = [name for name in sys.modules if name.startswith("numbaflow.")]
made = {name for name in own if getattr(sys.modules[name], "__file__", None) is None}
print(json.dumps([sorted(set(sys.modules) - before - made), read, len(registry._LATER)]))
"""


@pytest.fixture(scope="module")
def found() -> Any:
    """The modules that the import adds to NumPy's, the ops read, and those not even imported."""
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
    _, read, not_imported = found
    assert read < 10 and not_imported > 500


def test_every_name_is_there_and_listed() -> None:
    import numbaflow as tf

    listed = set(dir(tf))
    for name in ("nn", "train", "summary", "GraphDef", "logging", "flags", "Session", "matmul"):
        assert name in listed
        assert getattr(tf, name) is not None
    assert {"relu", "conv2d"} <= set(dir(tf.nn))


INDEX = """
import runpy, sys
print("".join(runpy.run_path(sys.argv[1])["index"]().values()), end="")
"""


@pytest.mark.process
def test_the_index_says_where_names_and_ops_are() -> None:
    command = [sys.executable, "-c", INDEX, str(ROOT / "docs" / "definitions.py")]
    found = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    files = (ROOT / "ops" / name for name in ("index.py", "op_index.py"))
    index = "".join(file.read_text(encoding="utf-8") for file in files)
    assert found.stdout == index, "run: python docs/stubs.py"


# Asks for everything by name, each in a state in which nothing else was asked for.
COMPLETE = """
import json, sys
import numbaflow as tf
from numbaflow.engine import api
from numbaflow.engine.graph import namespaces, registry

wrong = []
names, ops = dict(api.LATER), dict(registry._LATER)
known = {*api.NAMES, *names, *api.LAZY}, {*registry._TABLE, *ops}
for name, module in names.items():
    thing = tf
    for part in name.split("."):
        thing = getattr(thing, part)
    if thing is not api.NAMES[name]:
        wrong.append(name)
for name, module in ops.items():
    if registry.find(name) is None:
        wrong.append(name)
namespaces.load_all()
left = [len(api.LATER), len(registry._LATER), len(registry._CHANGES)]
new = [*{*api.NAMES, *api.LAZY} - known[0], *set(registry._TABLE) - known[1]]
print(json.dumps([wrong, left, new, len(names), len(ops)]))
"""


@pytest.mark.process
def test_what_is_imported_later_is_there_when_it_is_asked_for() -> None:
    command = [sys.executable, "-c", COMPLETE]
    found = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    wrong, left, new, names, ops = json.loads(found.stdout)
    assert not wrong and not new and left == [0, 0, 0]
    assert names > 500 and ops > 500


STAR = """
from numbaflow import *
from numbaflow.nn import *
print(matmul, relu, Session, FIFOQueue, dynamic_rnn, train.AdamOptimizer, GraphDef)
"""


@pytest.mark.process
def test_a_star_imports_all_names() -> None:
    subprocess.run([sys.executable, "-c", STAR], check=True, timeout=60)


# Ops change others' definitions, also of modules that are imported only afterwards.
AMENDED = """
from numbaflow.engine.graph import registry
import numbaflow as tf
waiting = {name: dict(changes) for name, changes in registry._CHANGES.items()}
assert waiting and set(waiting) <= set(registry._LATER), waiting
for name, changes in waiting.items():
    for field, value in changes.items():
        assert getattr(registry.find(name), field) is value
assert not registry._CHANGES
"""


@pytest.mark.process
def test_changes_of_definitions_wait_for_them() -> None:
    subprocess.run([sys.executable, "-c", AMENDED], check=True, timeout=60)
