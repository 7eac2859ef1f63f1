# SPDX-License-Identifier: Apache-2.0
"""The folder of compiled kernels: warm processes, damage, foreign owners, concurrent writers."""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from numbaflow.engine import settings
from numbaflow.jit.cache import store
from numbaflow.jit.codegen import compile as compiler

pytestmark = pytest.mark.cpu

LABELS = (("kernel", "abc"), ("cpu", "some"))
ENTRY = store.Entry("symbol", "def kernel(): ...\n", b"\x7fELF and more")

# Compiles two kernels, runs one and reports what that took.
PROGRAM = """
import ctypes, json, sys
import numpy as np
from numbaflow.jit.codegen import compile as compiler
from numbaflow.jit.kernel import ir, scalar as k
from numbaflow.jit.runtime import driver

def kernel(factor):
    x = ir.Load(0, ir.Index((1,)), "float32")
    store = ir.Store(1, ir.Index((1,)), k.mul(k.exp(x), factor))
    buffers = ir.Buffer("float32", "r"), ir.Buffer("float32", "w")
    return ir.Kernel("map", buffers, (ir.Axis("map"),), (), (store,), 0)

done = [compiler.compile_kernel(kernel(f)) for f in (2.0, 3.0, 2.0)]
x = np.zeros(5, np.float32)
y = np.zeros(5, np.float32)
args = np.array([x.ctypes.data, y.ctypes.data, 5], np.int64)
table = np.array([[done[1].address, args.ctypes.data, 1, 1, 5, 5]], np.int64)
driver.Program(table).run()
print(json.dumps({
    "compiles": compiler.STATS.compiles, "hits": compiler.STATS.hits,
    "numba": "numba" in sys.modules, "result": y.tolist(),
}))
"""


@pytest.fixture
def folder(tmp_path: Path) -> Any:
    with settings.override(cache=tmp_path / "kernels"):
        yield tmp_path / "kernels"


def run_program(folder: Path) -> subprocess.Popen[str]:
    environment = {**os.environ, "NUMBAFLOW_CACHE": str(folder)}
    environment["PYTHONPATH"] = os.pathsep.join(p for p in sys.path if p)
    return subprocess.Popen(
        [sys.executable, "-c", PROGRAM],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def report(process: subprocess.Popen[str]) -> dict[str, Any]:
    out, err = process.communicate(timeout=120)
    assert process.returncode == 0, err
    assert "Warning" not in err, err
    return json.loads(out)


def test_a_second_process_compiles_nothing_and_leaves_numba_alone(folder: Path) -> None:
    first, second = report(run_program(folder)), report(run_program(folder))
    assert first["compiles"] == 2 and first["result"] == [3.0] * 5
    assert second == {"compiles": 0, "hits": 2, "numba": False, "result": [3.0] * 5}


def test_concurrent_processes_share_the_folder(folder: Path) -> None:
    reports = [report(p) for p in [run_program(folder) for _ in range(3)]]
    assert all(r["result"] == [3.0] * 5 for r in reports)
    assert len(store.entries()) == 2
    assert not list(folder.glob(".new-*"))


def test_entries_come_back_as_they_were(folder: Path) -> None:
    assert store.load(LABELS) is None
    store.save(LABELS, ENTRY)
    assert store.load(LABELS) == ENTRY
    place = folder / store.key_of(LABELS)
    assert place.stat().st_mode & 0o777 == 0o700
    assert (place / "key.txt").read_text() == "kernel: abc\ncpu: some\n"
    assert store.clear() == 1 and store.load(LABELS) is None


@pytest.mark.parametrize("name", ("kernel.o", "manifest.json"))
@pytest.mark.parametrize("damage", ("flip", "cut", "remove"))
def test_damage_is_reported_and_rebuilt(folder: Path, name: str, damage: str) -> None:
    store.save(LABELS, ENTRY)
    path = folder / store.key_of(LABELS) / name
    content = bytearray(path.read_bytes())
    if damage == "flip":
        content[len(content) // 2] ^= 0x10
    path.write_bytes(content if damage == "flip" else content[: len(content) // 2])
    if damage == "remove":
        path.unlink()
    with pytest.warns(RuntimeWarning, match="is not used"):
        assert store.load(LABELS) is None
    store.save(LABELS, ENTRY)
    assert store.load(LABELS) == ENTRY


def test_a_folder_that_others_can_write_is_not_trusted(folder: Path) -> None:
    store.save(LABELS, ENTRY)
    folder.chmod(0o777)
    with pytest.warns(RuntimeWarning, match="can be written by others"):
        assert store.load(LABELS) is None


def test_a_folder_that_cannot_be_written_is_reported(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with settings.override(cache=tmp_path / "file" / "below"):
        with pytest.warns(RuntimeWarning, match="kernels are not cached"):
            store.save(LABELS, ENTRY)


OTHER_VALUES = {
    "jit": "never",
    "debug": "ir",
    "cache": "elsewhere",
    "threads": 1,
    "trust": "graph",
    "gpu": "none",
    "fsync": "1",
    "traceback": "full",
}


def test_settings_are_in_the_key_if_and_only_if_they_affect_code() -> None:
    labels = compiler.labels_of("content")
    assert {"kernel", "emitter", "numba", "llvmlite", "cpu", "features"} <= set(dict(labels))
    for setting in settings.TABLE:
        value = OTHER_VALUES.get(setting.name, "generic")
        with settings.override(**{setting.name: value}):
            assert (compiler.labels_of("content") != labels) == setting.affects_code


# What of the engine the compiler reads; none of it decides on code by itself.
ENGINE = ("errors", "gc_pause", "record_class", "settings", "stopping", "syntax")


def imported_modules(path: Path) -> set[Path]:
    """The modules of jit that a module of it imports, wherever in its text."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.level:
            base = path.parents[node.level - 1].joinpath(*(node.module or "").split("."))
            for name in (base, *(base / alias.name for alias in node.names)):
                if name.with_suffix(".py").is_file():
                    found.add(name.with_suffix(".py"))
    return found


def test_the_key_covers_every_module_that_decides_on_code() -> None:
    """Else a new version of the compiler would run what an old one has compiled."""
    jit = Path(compiler.__file__).parents[1]
    known = {jit / f"{name}.py" for name in compiler.EMITTER}
    # What is compiled is in the key by its text, which ir_text.py and the library state; the rest
    # reads sources, hands them out to threads, keeps, links, names and prints them; what this
    # machine is called is in the key.
    names = (*("kernel/ir", "kernel/module_source", "codegen/compile_workers", "codegen/progress"),)
    names = (*names, "codegen/linking", "codegen/compile_processes", "isolated", "host")
    names = (*names, "kernel/ir_text")
    # (What is made of complex numbers are expressions, which stand in a kernel's text.)
    forms = ("forms", "inverses", "pairs")
    names = (*names, *(f"kernel/complex_{name}" for name in forms))
    # (What a kernel computes is said for libraries of devices.)
    others = {jit / f"{name}.py" for name in (*names, "library/computed", "library/template")}
    cache = (
        "store",
        "admin",
        "link_journal",
        "object_file",
        "kernel_text",
        "shipped",
        "machine_files",
    )
    others |= {jit / "cache" / f"{name}.py" for name in cache}
    others |= {jit.parent / "engine" / f"{name}.py" for name in ENGINE}
    assert all(path.is_file() for path in known)
    reached = set().union(*map(imported_modules, known))
    assert reached - known <= others, reached - known - others
