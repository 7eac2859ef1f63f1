# SPDX-License-Identifier: Apache-2.0
"""The folder of compiled kernels in trouble: processes that are killed or compete, damaged files,
full disks, folders that may not be written or are not one's own, other targets."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from numbaflow.jit import cache, cache_admin, settings
from numbaflow.jit import compile as compiler

pytestmark = [
    pytest.mark.cpu,
    pytest.mark.skipif(os.name == "nt", reason="signals, modes and limits of POSIX"),
]

LABELS = (("format", cache.FORMAT), ("kernel", "abc"), ("cpu", "some"))
ENTRY = cache.Entry("symbol", "def kernel(): ...\n" * 20, bytes(range(256)) * 8)

# Compiles kernels that multiply by 1, 2 … and runs them; TROUBLE is what happens to it before.
PROGRAM = """
import ctypes, json, os, sys, warnings
import numpy as np
from numbaflow.jit import compile as compiler, driver, ir, scalar as k

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

TROUBLE
with warnings.catch_warnings(record=True) as told:
    warnings.simplefilter("always")
    results = [result(factor) for factor in range(1, int(sys.argv[1]) + 1)]
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
SMALL_DISK = """
import resource
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
"""


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    with settings.override(cache=tmp_path / "kernels"):
        yield tmp_path / "kernels"


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
    found, problems = cache_admin.verify()
    assert not problems
    assert count is None or found == count


def test_processes_compile_the_same_kernels_while_another_clears(folder: Path) -> None:
    running = [start(folder, 8) for _ in range(3)]
    while any(process.poll() is None for process in running):
        cache.clear()
        time.sleep(0.01)
    for process in running:
        done = report(process)
        assert done["compiles"] + done["hits"] == 8 and not done["told"]
    assert_sound()
    assert not cache.leftovers(folder)


def killed_while(work: Any, seconds: float) -> None:
    """Forks a child that repeats `work` until kill -9 comes."""
    child = os.fork()
    if child == 0:
        try:
            for number in range(1_000_000):
                work(number)
        finally:
            os._exit(3)
    time.sleep(seconds)
    os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    assert os.WIFSIGNALED(status)


def test_killed_while_writing(folder: Path) -> None:
    rng = random.Random(1)
    for round_ in range(40):

        def work(number: int, round_: int = round_) -> None:
            labels = (*LABELS, ("number", f"{round_} {number % 50}"))
            cache.save(labels, ENTRY)
            assert cache.load(labels) == ENTRY
            cache.remove(folder / cache.key_of(labels))

        killed_while(work, rng.uniform(0.001, 0.02))
    assert_sound()
    # What is left of the dead is no entry and goes when its time has come.
    cache.sweep(folder, 3600)
    cache.sweep(folder, 0)
    assert not cache.leftovers(folder)
    cache.save(LABELS, ENTRY)
    assert cache.load(LABELS) == ENTRY


@pytest.mark.slow
def test_killed_while_compiling(folder: Path) -> None:
    rng = random.Random(2)
    report(start(folder, 1))  # the time it takes, on a machine as busy as now
    for _ in range(6):
        process = start(folder, 60)
        time.sleep(rng.uniform(1.0, 3.0))
        process.kill()
        process.communicate()
        assert_sound()
    done = report(start(folder, 6))
    assert done["compiles"] + done["hits"] == 6 and not done["told"]
    assert_sound()


@pytest.mark.parametrize("name", ["kernel.o", "kernel.py", "manifest.json"])
def test_every_kind_of_damage_is_noticed(folder: Path, name: str) -> None:
    rng = random.Random(name)
    cache.save(LABELS, ENTRY)
    place = folder / cache.key_of(LABELS)
    whole = (place / name).read_bytes()
    for _ in range(25):
        content = bytearray(whole)
        if rng.random() < 0.3:
            del content[rng.randrange(len(content)) :]
        else:
            content[rng.randrange(len(content) - 1)] ^= 1 << rng.randrange(8)
        (place / name).write_bytes(content)
        if name == "manifest.json" and same_json(content, whole):
            continue  # white space
        assert [problem.key for problem in cache_admin.verify()[1]] == [place.name]
        with pytest.warns(RuntimeWarning, match="is not used"):
            assert cache.load(LABELS) is None
        assert not place.exists()
        cache.save(LABELS, ENTRY)
        assert cache.load(LABELS) == ENTRY


def same_json(one: bytes, other: bytes) -> bool:
    try:
        return bool(json.loads(one) == json.loads(other))
    except ValueError:
        return False


def test_a_damaged_key_is_found_and_harmless(folder: Path) -> None:
    cache.save(LABELS, ENTRY)
    path = folder / cache.key_of(LABELS) / "key.txt"
    path.write_text(path.read_text().replace("some", "sane"))
    assert cache.load(LABELS) == ENTRY  # what was asked for is known without it
    assert "another key" in cache_admin.verify()[1][0].reason


def test_damaged_kernels_are_rebuilt_by_the_next_process(folder: Path) -> None:
    assert report(start(folder))["compiles"] == 2
    for place in cache.entries():
        code = bytearray((place / "kernel.o").read_bytes())
        code[len(code) // 2] ^= 1
        (place / "kernel.o").write_bytes(code)
    again = report(start(folder))
    assert again["compiles"] == 2 and len(again["told"]) == 2
    assert all("checksum" in text for text in again["told"])
    assert_sound(2)


def test_a_read_only_folder_is_used_but_not_written(folder: Path) -> None:
    assert report(start(folder, 1))["compiles"] == 1
    folder.chmod(0o500)
    try:
        warm = report(start(folder, 1, POWERLESS))
        assert (warm["compiles"], warm["hits"], warm["told"]) == (0, 1, [])
        more = report(start(folder, 4, POWERLESS))
        assert (more["compiles"], more["hits"]) == (3, 1)
        (text,) = more["told"]  # once, not three times
        assert "kernels are not cached" in text and str(folder) in text
    finally:
        folder.chmod(0o700)
    assert_sound(1)


def test_a_home_that_cannot_be_written(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    try:
        environment = {"HOME": str(tmp_path), "NUMBAFLOW_CACHE": "", "XDG_CACHE_HOME": ""}
        done = report(start(None, 2, POWERLESS, **environment))
    finally:
        tmp_path.chmod(0o700)
    assert done["compiles"] == 2
    assert len(done["told"]) == 1 and "kernels are not cached" in done["told"][0]


@pytest.mark.parametrize("place", ["the folder", "an entry", "a file"])
def test_what_others_can_write_is_not_run(folder: Path, place: str) -> None:
    cache.save(LABELS, ENTRY)
    entry = folder / cache.key_of(LABELS)
    where = {"the folder": folder, "an entry": entry, "a file": entry / "kernel.o"}[place]
    where.chmod(0o777)
    with pytest.warns(RuntimeWarning, match="can be written by others"):
        assert cache.load(LABELS) is None
    assert where.exists()  # it may be evidence
    assert cache_admin.verify()[1]


@pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root gives files away"
)
def test_what_belongs_to_others_is_not_run(folder: Path) -> None:
    cache.save(LABELS, ENTRY)
    os.chown(folder / cache.key_of(LABELS), 65534, 65534)
    with pytest.warns(RuntimeWarning, match="belongs to another user"):
        assert cache.load(LABELS) is None
    os.chown(folder, 65534, 65534)
    with pytest.warns(RuntimeWarning, match="belongs to another user"):
        cache.save((*LABELS, ("more", "")), ENTRY)
    assert len(cache.entries()) == 1


def test_a_full_disk(folder: Path) -> None:
    done = report(start(folder, 3, SMALL_DISK))
    assert done["compiles"] == 3
    assert len(done["told"]) == 1 and "kernels are not cached" in done["told"][0]
    assert not cache.entries() and not cache.leftovers(folder)
    assert report(start(folder, 3))["told"] == []
    assert_sound(3)


def test_versions_and_targets_have_keys_of_their_own(monkeypatch: pytest.MonkeyPatch) -> None:
    keys = {cache.key_of(compiler.labels_of("kernel"))}
    for target in ("generic", "generic:+slow", "x86-64-v3"):
        with settings.override(target=target):
            keys.add(cache.key_of(compiler.labels_of("kernel")))
    monkeypatch.setattr(compiler, "_versions", lambda: (("numba", "0"), ("llvmlite", "0")))
    keys.add(cache.key_of(compiler.labels_of("kernel")))
    assert len(keys) == 5


def test_targets_that_share_a_folder_never_run_each_others_code(folder: Path) -> None:
    first = report(start(folder))
    other = report(start(folder, NUMBAFLOW_TARGET="generic"))
    assert first["compiles"] == other["compiles"] == 2 and other["hits"] == 0
    assert_sound(4)
    # Even code that was put under another's key by hand is refused.
    items = cache_admin.items()
    generic = [item for item in items if item.labels["cpu"] == "generic"]
    native = [item for item in items if item.labels["cpu"] != "generic"]
    for mine, theirs in zip(native, generic):
        cache.remove(mine.place)
        theirs.place.rename(mine.place)
    last = report(start(folder))
    assert (last["compiles"], last["hits"], len(last["told"])) == (2, 0, 2)
