# SPDX-License-Identifier: Apache-2.0
"""The library is compiled ahead of programs: by a command, and by a process in the background that
nobody notices."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from numbaflow.engine import settings
from numbaflow.jit import isolated, target, threads
from numbaflow.jit.cache import store
from numbaflow.jit.codegen import compile as compiler
from numbaflow.jit.runtime import thread_pool, warming

from ...checkout import BARE
from ..cache.cache_process import assert_sound

pytestmark = [pytest.mark.cpu, BARE]
needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    """An empty cache."""
    with settings.override(cache=tmp_path / "kernels"):
        store.folder().mkdir(mode=0o700)
        yield store.folder()


def process(folder: Path, program: str, **environment: str) -> subprocess.Popen[str]:
    """A process that may do in the background what tests may not."""
    known = {name: text for name, text in os.environ.items() if not name.startswith("PYTEST_")}
    known.pop("CI", None)
    path = os.pathsep.join(p for p in sys.path if p)
    return subprocess.Popen(
        [sys.executable, "-c", program],
        env={**known, "PYTHONPATH": path, "NUMBAFLOW_CACHE": str(folder), **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def output(running: subprocess.Popen[str]) -> str:
    out, err = running.communicate(timeout=120)
    assert running.returncode == 0, err
    return out


def await_(what: Callable[[], Any], seconds: float = 60.0) -> Any:
    end = time.monotonic() + seconds
    while not (found := what()):
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.02)
    return found


# Compiles a kernel; then what is in the background says what it is, instead of working.
PROGRAM = """
import numpy as np, os, threading
import numbaflow as tf
from numbaflow.jit import isolated, threads
from numbaflow.jit.runtime import warming
threads.cores = lambda: 2
beginning = isolated._beginning() + '''
def note(requests, replies):
    import time
    from numbaflow.jit.runtime import warming
    folder, wanted = json.loads(requests.readline())
    warming.step_back()
    facts = {
        "pid": os.getpid(), "parent": os.getppid(), "session": os.getsid(0), "nice": os.nice(0),
        "files": [os.readlink(f"/proc/self/fd/{n}") for n in (1, 2)], "folder": folder,
    }
    with open(folder + "/facts.new", "w") as file:
        json.dump(facts, file)
    os.rename(folder + "/facts.new", folder + "/facts")
    time.sleep(60)
'''
exec(beginning)
isolated._beginning, warming._aside = lambda: beginning, note
x = tf.placeholder(tf.float32, [None])
with tf.Session() as session:
    session.run(tf.exp(x) * 2, {x: np.ones(3, np.float32)})
print(os.getpid(), os.getsid(0))
"""


@needs_fork
@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_what_is_in_the_background_has_nothing_to_do_with_the_program(folder: Path) -> None:
    start = time.monotonic()
    # The program's output ends with it: nobody else holds its pipes.
    program, session = map(int, output(process(folder, PROGRAM)).split())
    await_((folder / "facts").exists)
    facts = json.loads((folder / "facts").read_text())
    try:
        assert time.monotonic() - start < 60
        assert facts["session"] not in (session, os.getsid(0))
        assert facts["parent"] not in (program, os.getpid()) and facts["nice"] == 19
        assert facts["files"] == ["/dev/null"] * 2 and facts["folder"] == str(folder)
    finally:
        os.kill(facts["pid"], signal.SIGKILL)
    assert_sound()


REASONS = {
    "NUMBAFLOW_WARM": "0",
    "CI": "true",
    "PYTEST_CURRENT_TEST": "some",
}


@needs_fork
@pytest.mark.parametrize("name", REASONS)
def test_the_environment_may_forbid_it(folder: Path, name: str) -> None:
    asked = PROGRAM + "print(warming._may_begin(), warming._ASKED)"
    said = output(process(folder, asked, **{name: REASONS[name]}))
    assert said.splitlines()[-1] == "False [True]" and not (folder / "facts").exists()


@pytest.fixture
def may_begin(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[], bool]]:
    """Asks whether the background may begin, in a process that seems to be no test."""
    monkeypatch.setattr(warming, "sys", type("_", (), {"modules": {}}))
    monkeypatch.setattr(warming.os, "environ", {"NUMBAFLOW_CACHE": str(folder)})
    monkeypatch.setattr(threads, "cores", lambda: 2)

    def ask() -> bool:
        warming.os.environ.pop("PYTEST_CURRENT_TEST", None)
        return warming._may_begin()

    yield ask


@needs_fork
def test_it_begins_only_where_nobody_minds(
    folder: Path, may_begin: Callable[[], bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert may_begin()
    for name, value in (("CI", "1"), ("CI", "true"), ("PYTEST_VERSION", "8")):
        with monkeypatch.context() as patch:
            patch.setitem(warming.os.environ, name, value)
            assert not may_begin()
    with settings.override(warm=False):
        assert not may_begin()
    for module, name in ((threads, "cores"), (isolated, "is_supported")):
        with monkeypatch.context() as patch:
            patch.setattr(module, name, lambda: 0)
            assert not may_begin()
    with monkeypatch.context() as patch:
        patch.setattr(compiler, "is_shipped", lambda: True)
        assert not may_begin()
    with monkeypatch.context() as patch:
        patch.setattr(os, "access", lambda *_: False)
        assert not may_begin()
    with settings.override(cache=folder / "none"):
        assert not may_begin()
    folder.chmod(0o777)
    assert not may_begin()
    folder.chmod(0o700)
    warming.note_done()
    assert not may_begin()
    with settings.override(target=next(iter(target.LEVELS))):
        assert may_begin()
    # Whoever removes the kernels may have them again.
    store.clear()
    assert may_begin()


def test_a_program_asks_once_and_only_if_it_has_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[bool] = []
    monkeypatch.setattr(warming, "_may_begin", lambda: asked.append(True))
    monkeypatch.setattr(warming, "_ASKED", [])
    monkeypatch.setattr(compiler, "STATS", compiler.Stats())
    warming.begin()
    assert not asked
    compiler.STATS.compiles = 1
    warming.begin()
    warming.begin()
    assert asked == [True]


# Does what the background does, at once and not idly, for the few kernels that walk plans.
WORK = """
import sys
from numbaflow.jit.runtime import thread_pool, warming
warming.all_kernels = lambda: list(thread_pool.closed())
warming._PAUSE, warming._is_idle, warming._step_back = 0.0, lambda: True, lambda: None
warming.work_aside()
from numbaflow.jit.codegen import compile as compiler
print(compiler.STATS.compiles)
"""


def test_work_is_done_once_and_by_one(folder: Path) -> None:
    count = len(list(thread_pool.closed()))
    both = [process(folder, WORK) for _ in range(2)]
    assert sum(int(output(each)) for each in both) == count
    assert_sound(count)
    assert not compiler.absent(thread_pool.closed()) and warming.is_done()
    assert int(output(process(folder, WORK))) == 0
    # Never again, whatever has become of the kernels …
    store.remove(store.entries()[0])
    assert int(output(process(folder, WORK))) == 0
    # … but where they were removed with the note.
    store.clear()
    assert int(output(process(folder, WORK))) == count


def test_a_machine_that_is_busy_is_left_alone(folder: Path) -> None:
    busy = WORK.replace("lambda: True", "lambda: False").replace(
        "warming.work_aside()", "warming._MOST = -1.0\nwarming.work_aside()"
    )
    assert int(output(process(folder, busy))) == 0
    assert not warming._noted() and not store.entries()


def test_a_cache_that_is_removed_stays_removed(folder: Path) -> None:
    gone = WORK.replace("lambda: True", "lambda: __import__('shutil').rmtree(sys.argv[1]) or True")
    gone = "import sys; sys.argv.append('" + str(folder) + "')\n" + gone
    assert int(output(process(folder, gone))) == 0
    assert not folder.exists()


def test_a_killed_worker_leaves_a_sound_cache_and_others_go_on(folder: Path) -> None:
    # Killed in the middle of a kernel, before anything of it is kept.
    slow = WORK.replace(
        "warming.work_aside()",
        "import time\nwarming.compiler.store_kernels = lambda *_, **__: time.sleep(60)\n"
        "warming.work_aside()",
    )
    running = process(folder, slow)
    await_(warming._noted)
    running.kill()
    running.communicate()
    assert_sound(0)
    assert len(warming._noted()) == 1 and not warming.is_done()
    with warming._only_one(folder) as is_alone:
        assert is_alone
    # It may be the kernel that ends processes: the next one does the others.
    assert int(output(process(folder, WORK))) == len(list(thread_pool.closed())) - 1
    assert_sound(len(list(thread_pool.closed())) - 1)
    assert warming.is_done()


def test_idleness_is_the_share_of_a_core_that_is_free(monkeypatch: pytest.MonkeyPatch) -> None:
    for share, is_idle in ((1.0, True), (0.75, True), (0.25, False)):
        # A process that gets so much of its core, by two clocks.
        walls = iter(range(1000))
        now = [0]

        def wall() -> float:
            now[0] = next(walls)  # noqa: B023
            return now[0] * 0.001  # noqa: B023

        monkeypatch.setattr(warming.time, "perf_counter", wall)
        monkeypatch.setattr(
            warming.time,
            "process_time",
            lambda: now[0] * 0.001 * share,  # noqa: B023
        )
        assert warming._is_idle() is is_idle
