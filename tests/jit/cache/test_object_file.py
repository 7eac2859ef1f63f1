# SPDX-License-Identifier: Apache-2.0
"""Object files that are linked, and those that would end the process and therefore are not."""

from __future__ import annotations

import os
import random
import signal
import struct
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from numbaflow.engine import settings
from numbaflow.jit import target
from numbaflow.jit.cache import admin, link_journal, object_file, store
from numbaflow.jit.codegen import compile as compiler
from numbaflow.jit.codegen import linking

from .cache_process import report, start
from .mutants import changed, deadly, function, objects

pytestmark = [
    pytest.mark.cpu,
    pytest.mark.skipif(os.name == "nt", reason="signals and locks of POSIX"),
]


@pytest.fixture(scope="module")
def found() -> dict[str, bytes]:
    return objects()


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    with settings.override(cache=tmp_path / "kernels"):
        yield tmp_path / "kernels"


def problem(code: bytes, symbol: str) -> str:
    return object_file.problem(code, symbol, target.current().triple, linking.is_function)


def test_what_the_compiler_makes_is_sound(found: dict[str, bytes]) -> None:
    assert {name: problem(code, name) for name, code in found.items()} == dict.fromkeys(found, "")


def test_what_is_changed_in_a_file_never_ends_the_process(found: dict[str, bytes]) -> None:
    rng = random.Random(4)
    every = [
        (name, changed(code, rng)) for name, code in sorted(found.items()) for _ in range(1000)
    ]
    passed = [(name, code) for name, code in every if not problem(code, name)]
    assert len(passed) > 300  # changes in instructions and addends remain
    assert [passed[number] for number in deadly(passed)] == []
    refused = [(name, code) for name, code in every[:30] if problem(code, name)]
    assert list(deadly(refused, linking._by_llvm))  # that linker would not have noticed


@pytest.mark.parametrize(
    ("triple", "elsewhere"),
    [
        ("aarch64-linux-gnu", "x86_64-linux-gnu"),
        ("x86_64-apple-darwin", "arm64-apple-darwin"),
        ("arm64-apple-darwin", "aarch64-linux-gnu"),
        ("x86_64-pc-windows-msvc", "x86_64-linux-gnu"),
        ("x86_64-linux-gnu", "aarch64-linux-gnu"),
    ],
)
def test_files_of_other_systems(triple: str, elsewhere: str) -> None:
    code = function("f", triple)
    assert object_file.problem(code, "f", triple) == ""
    assert "does not define" in object_file.problem(code, "g", triple)
    assert object_file.problem(code, "f", elsewhere)
    for length in range(0, len(code) - 1, 7):
        assert object_file.problem(code[:length], "f", triple)
    rng = random.Random(5)
    for _ in range(500):  # whatever it says of them, it says it in words
        content = bytearray(code)
        content[rng.randrange(len(code))] ^= 1 << rng.randrange(8)
        assert isinstance(object_file.problem(bytes(content), "f", triple), str)


def test_functions_that_kernels_have_no_use_for_are_refused(found: dict[str, bytes]) -> None:
    code = found["calls"]
    assert b"\0lgamma\0" in code
    assert "refers to 'execve'" in problem(code.replace(b"\0lgamma\0", b"\0execve\0"), "calls")
    known = object_file.problem(code, "calls", target.current().triple, lambda name: False)
    assert "this system has no function" in known


def run_apart(text: str, **variables: str) -> None:
    """Runs a program in a new process, which finds the package where this one has it."""
    path = os.pathsep.join(folder for folder in sys.path if folder)
    environment = {**os.environ, "PYTHONPATH": path, **variables}
    subprocess.run([sys.executable, "-c", text], env=environment, check=True, timeout=300)


def test_functions_of_this_process_are_known_before_anything_is_linked() -> None:
    text = """
from numbaflow.jit.codegen import linking
assert all(map(linking.is_function, ("syscall", "atan2f", "memset", "lgamma")))
assert not linking.is_function("no_such_function")
"""
    run_apart(text)


def test_each_driver_compiles_after_the_other_in_one_process(tmp_path: Path) -> None:
    """Numba keeps what an intrinsic became by its type: the drivers' targets share none."""
    text = """
from numbaflow.engine import settings
from numbaflow.jit.codegen import compile as compiler
from numbaflow.jit.runtime import thread_pool

compiler.compile_kernel(thread_pool.flow_kernel())
from numbaflow.jit.runtime import parallel
with settings.override(target="generic"):
    compiler.compile_kernel(thread_pool.flow_kernel())
"""
    run_apart(text, NUMBAFLOW_CACHE=str(tmp_path), NUMBA_CACHE_DIR=str(tmp_path))


# What makes a process that links an entry die, whatever the entry holds.
DEADLY = """
import signal
from numbaflow.jit.codegen import linking
load = linking.link
def dying(code, symbol):
    if symbol.startswith("kernel_") and open(os.environ["DEADLY"]).read() in symbol:
        os.kill(os.getpid(), signal.SIGABRT)
    return load(code, symbol)
linking.link = dying
"""


def forge(place: Path, code: bytes) -> None:
    """Puts another object file into an entry, with the checksum that belongs to it."""
    entry = store.read(place, (place / "key.txt").read_text())
    manifest, text = store.manifest_of(place), (place / "key.txt").read_text()
    store.remove(place)
    store.store(place.parent, text, store.Entry(entry.symbol, entry.source, code), manifest)


def broken(code: bytes) -> bytes:
    """An object file whose section of instructions claims to lie behind its end."""
    content = bytearray(code)
    start = struct.unpack_from("<Q", code, 40)[0]
    for place in range(start + 64, len(code) - 63, 64):
        if struct.unpack_from("<I", code, place + 4)[0] == 1:
            struct.pack_into("<Q", content, place + 24, len(code) * 100)
    return bytes(content)


def test_broken_objects_with_the_right_checksum_are_compiled_again(folder: Path) -> None:
    assert report(start(folder))["compiles"] == 2
    for place in store.entries():
        forge(place, broken((place / "kernel.o").read_bytes()))
    assert "object file" in admin.verify()[1][0].reason
    again = report(start(folder))
    assert again["compiles"] == 2 and len(again["told"]) == 2
    assert all("is not in the file" in text for text in again["told"])
    assert report(start(folder))["hits"] == 2


def test_an_entry_under_another_functions_name_is_compiled_again(folder: Path) -> None:
    report(start(folder, 1))
    (place,) = store.entries()
    entry, manifest = store.read(place, (place / "key.txt").read_text()), store.manifest_of(place)
    text = (place / "key.txt").read_text()
    store.remove(place)
    store.store(folder, text, store.Entry("system", entry.source, entry.object_code), manifest)
    again = report(start(folder, 1))
    assert again["compiles"] == 1 and "names another function" in again["told"][0]


def test_what_ended_a_process_does_not_end_the_next(folder: Path, tmp_path: Path) -> None:
    report(start(folder, 3))
    deadly_one = store.entries()[1]
    (tmp_path / "key").write_text(deadly_one.name)
    died = start(folder, 3, DEADLY, DEADLY=str(tmp_path / "key"))
    died.communicate(timeout=60)
    assert died.returncode == -signal.SIGABRT
    assert len(list((folder / link_journal.FOLDER).iterdir())) == 1
    # The entry itself is sound, as a process of its own shows: it stays.
    assert report(start(folder, 3)) == {"compiles": 0, "hits": 3, "told": []}
    assert not list((folder / link_journal.FOLDER).iterdir())


def dead_owner(folder: Path, key: str) -> Path:
    """What a process leaves that dies while it links an entry."""
    child = os.fork()
    if child == 0:
        with link_journal.noted(folder) as note:
            note(key)
            os._exit(0)
    os.waitpid(child, 0)
    (left,) = (folder / link_journal.FOLDER).iterdir()
    return left


def test_an_entry_that_ends_a_process_again_is_removed(folder: Path) -> None:
    report(start(folder, 2))
    place = store.entries()[0]
    (place / "kernel.o").write_bytes(broken((place / "kernel.o").read_bytes()))
    left = dead_owner(folder, place.name)
    running = [start(folder, 2) for _ in range(3)]
    done = [report(process) for process in running]
    assert sum("a process died" in text for each in done for text in each["told"]) == 1
    assert not left.exists() and len(store.entries()) == 2
    assert report(start(folder, 2)) == {"compiles": 0, "hits": 2, "told": []}


def test_what_is_being_linked_is_nobodys_fault(folder: Path) -> None:
    """Processes that live, notes cut short, names that are none of ours."""
    report(start(folder, 1))
    judged: list[str] = []
    other = folder / link_journal.FOLDER / "1-mine"
    other.parent.mkdir(exist_ok=True)
    other.write_text("x")
    with link_journal.noted(folder) as note:
        note(store.entries()[0].name)
        link_journal.examine(folder, judged.append)
        assert not judged
    assert list((folder / link_journal.FOLDER).iterdir()) == [other]
    dead_owner_of_nothing = folder / link_journal.FOLDER / f"1-{'0' * 32}"
    dead_owner_of_nothing.write_text("")
    link_journal.examine(folder, judged.append)
    assert not judged and dead_owner_of_nothing.exists()  # its owner may be about to lock it
    os.utime(dead_owner_of_nothing, (1, 1))
    link_journal.examine(folder, judged.append)
    assert not judged and not dead_owner_of_nothing.exists()
    dead_owner_of_nothing.write_bytes(b"\xff\n../../outside\n")
    link_journal.examine(folder, judged.append)
    assert judged == ["../../outside"]
    compiler._judge("../../outside")


def test_notes_are_optional(folder: Path) -> None:
    """Where none can be written, kernels are linked without."""
    report(start(folder, 1))
    assert not (folder / link_journal.FOLDER).exists()  # nothing was linked that was stored
    (folder / link_journal.FOLDER).write_text("no folder")
    assert report(start(folder, 1)) == {"compiles": 0, "hits": 1, "told": []}
