# SPDX-License-Identifier: Apache-2.0
"""The folder of compiled kernels in trouble: processes and threads that compete or are killed,
damaged files, other versions and other processors in one folder."""

from __future__ import annotations

import json
import os
import random
import signal
import threading
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from numbaflow.engine import settings
from numbaflow.jit.cache import admin, store
from numbaflow.jit.codegen import compile as compiler

from .cache_process import ENTRY, LABELS, THREADS, assert_sound, report, start

pytestmark = [
    pytest.mark.cpu,
    pytest.mark.skipif(os.name == "nt", reason="signals, modes and limits of POSIX"),
]


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    with settings.override(cache=tmp_path / "kernels"):
        yield tmp_path / "kernels"


def test_processes_compile_the_same_kernels_while_another_clears(folder: Path) -> None:
    running = [start(folder, 8) for _ in range(3)]
    while any(process.poll() is None for process in running):
        store.clear()
        time.sleep(0.01)
    for done in [report(process) for process in running]:
        assert done["compiles"] + done["hits"] == 8 and not done["told"]
    assert_sound()
    assert not store.leftovers(folder)


def test_threads_compile_the_same_kernels(folder: Path) -> None:
    running = [start(folder, 12, THREADS) for _ in range(2)]
    done = [report(process) for process in running]
    for each in done:
        assert each["compiles"] + each["hits"] == 12 and not each["told"]
    assert 12 <= sum(each["compiles"] for each in done) <= 24
    assert_sound(12)
    assert report(start(folder, 12, THREADS)) == {"compiles": 0, "hits": 12, "told": []}


def test_threads_write_read_and_remove_the_same_entries(folder: Path) -> None:
    """Each reads what somebody wrote, whole, or nothing; and nobody is told of damage."""
    wrong: list[Any] = []

    def hammer(seed: int) -> None:
        rng = random.Random(seed)
        for _ in range(80):
            labels = (*LABELS, ("number", str(rng.randrange(3))))
            store.save(labels, ENTRY, store.Facts(f"kernel {seed}"))
            found = store.load(labels)
            if found not in (None, ENTRY):
                wrong.append(found)
            store.remove(folder / store.key_of(labels))

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        threads = [threading.Thread(target=hammer, args=(seed,)) for seed in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert not wrong
    assert_sound()
    assert not store.leftovers(folder)


@pytest.mark.parametrize("name", ["kernel.o", "kernel.py", "manifest.json"])
@pytest.mark.parametrize("times", [1, 100])
def test_an_entry_that_is_replaced_while_it_is_read_is_not_damaged(
    folder: Path, monkeypatch: pytest.MonkeyPatch, name: str, times: int
) -> None:
    """Another process takes it away before a file of it is opened, and writes it anew after."""
    store.save(LABELS, ENTRY)
    read_file, disturbed = store.read_file, []

    def read(path: Path) -> bytes:
        if path.name != name or len(disturbed) == times:
            return read_file(path)
        disturbed.append(path)
        assert store.remove(path.parent)
        try:
            return read_file(path)
        finally:
            store.save(LABELS, ENTRY)

    monkeypatch.setattr(store, "read_file", read)
    found = store.load(LABELS)  # a warning would be an error
    assert disturbed and found == (ENTRY if times == 1 else None)
    monkeypatch.undo()
    assert store.load(LABELS) == ENTRY


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
            store.save(labels, ENTRY)
            assert store.load(labels) == ENTRY
            store.remove(folder / store.key_of(labels))

        killed_while(work, rng.uniform(0.001, 0.02))
    assert_sound()
    # What is left of the dead is no entry and goes when its time has come.
    store.sweep(folder, 3600)
    store.sweep(folder, 0)
    assert not store.leftovers(folder)
    store.save(LABELS, ENTRY)
    assert store.load(LABELS) == ENTRY


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
    store.save(LABELS, ENTRY)
    place = folder / store.key_of(LABELS)
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
        assert [problem.key for problem in admin.verify()[1]] == [place.name]
        with pytest.warns(RuntimeWarning, match="is not used"):
            assert store.load(LABELS) is None
        assert not place.exists()
        store.save(LABELS, ENTRY)
        assert store.load(LABELS) == ENTRY


def same_json(one: bytes, other: bytes) -> bool:
    try:
        return bool(json.loads(one) == json.loads(other))
    except ValueError:
        return False


def test_a_damaged_key_is_found_and_harmless(folder: Path) -> None:
    store.save(LABELS, ENTRY)
    path = folder / store.key_of(LABELS) / "key.txt"
    path.write_text(path.read_text().replace("some", "sane"))
    assert store.load(LABELS) == ENTRY  # what was asked for is known without it
    assert "another key" in admin.verify()[1][0].reason


def test_damaged_kernels_are_rebuilt_by_the_next_process(folder: Path) -> None:
    assert report(start(folder))["compiles"] == 2
    for place in store.entries():
        code = bytearray((place / "kernel.o").read_bytes())
        code[len(code) // 2] ^= 1
        (place / "kernel.o").write_bytes(code)
    again = report(start(folder))
    assert again["compiles"] == 2 and len(again["told"]) == 2
    assert all("checksum" in text for text in again["told"])
    assert_sound(2)


def test_versions_and_targets_have_keys_of_their_own(monkeypatch: pytest.MonkeyPatch) -> None:
    keys = {store.key_of(compiler.labels_of("kernel"))}
    for target in ("generic", "generic:+slow", "x86-64-v3"):
        with settings.override(target=target):
            keys.add(store.key_of(compiler.labels_of("kernel")))
    monkeypatch.setattr(compiler, "_versions", lambda: (("numba", "0"), ("llvmlite", "0")))
    keys.add(store.key_of(compiler.labels_of("kernel")))
    assert len(keys) == 5


# What another installation would say of itself.
OTHER_VERSION = "compiler._versions = lambda: (('numba', '0.1'), ('llvmlite', '0.1'))"
OTHER_FORMAT = "cache.FORMAT = '1'"


@pytest.mark.parametrize("other", [OTHER_VERSION, OTHER_FORMAT])
def test_versions_that_share_a_folder_keep_to_their_own(folder: Path, other: str) -> None:
    assert report(start(folder))["compiles"] == 2
    changed = report(start(folder, 2, other))
    assert (changed["compiles"], changed["hits"], changed["told"]) == (2, 0, [])
    assert report(start(folder, 2, other))["hits"] == report(start(folder))["hits"] == 2
    assert_sound(4)
    assert admin.totals().outdated == 2
    assert len(admin.prune(outdated=True)) == 2
    assert report(start(folder))["hits"] == 2


def test_targets_that_share_a_folder_never_run_each_others_code(folder: Path) -> None:
    first = report(start(folder))
    other = report(start(folder, NUMBAFLOW_TARGET="generic"))
    assert first["compiles"] == other["compiles"] == 2 and other["hits"] == 0
    assert_sound(4)
    # Even code that was put under another's key by hand is refused.
    items = admin.items()
    generic = [item for item in items if item.labels["cpu"] == "generic"]
    native = [item for item in items if item.labels["cpu"] != "generic"]
    for mine, theirs in zip(native, generic):
        store.remove(mine.place)
        theirs.place.rename(mine.place)
    last = report(start(folder))
    assert (last["compiles"], last["hits"], len(last["told"])) == (2, 0, 2)
