# SPDX-License-Identifier: Apache-2.0
"""Helpers that compile: they change nothing, whatever happens to them, and none is left over."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from numbaflow.engine import settings
from numbaflow.jit import isolated, target, threads
from numbaflow.jit.codegen import compile as compiler
from numbaflow.jit.codegen import compile_workers, llvm
from numbaflow.jit.kernel import ir
from numbaflow.jit.kernel import scalar as k
from numbaflow.jit.library.matmul import product_kernel

pytestmark = pytest.mark.cpu


def scaled(factor: float) -> ir.Kernel:
    at = ir.Index((ir.Param(0), 1))
    store = ir.Store(1, at, k.mul(k.exp(ir.Load(0, at, "float32")), factor))
    buffers = ir.Buffer("float32", "r"), ir.Buffer("float32", "w")
    return ir.Kernel("map", buffers, (ir.Axis("map"), ir.Axis("map")), (), (store,), 1)


def jobs() -> list[compile_workers.Job]:
    made = [
        compile_workers.Job(compiler.source_of(scaled(2.0 + n)), f"scaled_{n}", is_library=False)
        for n in range(8)
    ]
    product = product_kernel("float32", 64, False, False)[0].over(["float32"] * 3)
    return [*made, compile_workers.Job(product.text, "product", is_library=True)]


def compile_one(job: compile_workers.Job) -> bytes:
    aim = target.current()
    return llvm.object_code(llvm.lowered(job.source, job.symbol, aim, job.is_library), aim)


@pytest.fixture
def eager(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[int]]:
    """Two helpers for any work; their process numbers."""
    numbers: list[int] = []
    start = compile_workers._Helper._start

    def noted(helper: compile_workers._Helper) -> subprocess.Popen[bytes]:
        process = start(helper)
        numbers.append(process.pid)
        return process

    monkeypatch.setattr(compile_workers._Helper, "_start", noted)
    monkeypatch.setattr(compile_workers, "_WORTHWHILE", 1e-6)
    monkeypatch.setattr(threads, "cores", lambda: 3)
    with settings.override(threads=3):
        yield numbers
    assert all(is_gone(number) for number in numbers)


def is_gone(number: int) -> bool:
    """Whether there is no such process, not even one that nobody waits for."""
    try:
        os.kill(number, 0)
    except ProcessLookupError:
        return True
    return False


def test_helpers_make_the_same_code(eager: list[int]) -> None:
    here: list[str] = []

    def noted(job: compile_workers.Job) -> bytes:
        # Slower than the helpers, so that they get something to do.
        time.sleep(0.3)
        here.append(job.symbol)
        return compile_one(job)

    made = {job.symbol: code for job, code, _ in compile_workers.compile_all(jobs(), noted)}
    assert len(eager) == 2
    assert set(made) == {job.symbol for job in jobs()}
    assert len(here) < len(made)
    for job in jobs():
        assert made[job.symbol] == compile_one(job)


def test_the_target_of_the_settings_counts(eager: list[int]) -> None:
    def slow(job: compile_workers.Job) -> bytes:
        time.sleep(1)
        return compile_one(job)

    with settings.override(target="generic"):
        made = {job.symbol: code for job, code, _ in compile_workers.compile_all(jobs(), slow)}
        for job in jobs():
            assert made[job.symbol] == compile_one(job)


def test_helpers_that_die_leave_their_work_to_others(
    eager: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    ask = compile_workers._Helper._ask

    def dying(
        helper: compile_workers._Helper, process: subprocess.Popen[bytes], job: compile_workers.Job
    ) -> compile_workers.Made:
        process.kill()
        return ask(helper, process, job)

    monkeypatch.setattr(compile_workers._Helper, "_ask", dying)
    made = {job.symbol for job, _, _ in compile_workers.compile_all(jobs(), compile_one)}
    assert made == {job.symbol for job in jobs()}


def test_helpers_that_hang_are_given_up(eager: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    hanging = [sys.executable, "-c", "import time; time.sleep(1000)"]
    monkeypatch.setattr(isolated, "_command", lambda task: hanging)
    monkeypatch.setattr(compile_workers, "_PATIENCE", 0.5)
    made = {job.symbol for job, _, _ in compile_workers.compile_all(jobs(), compile_one)}
    assert made == {job.symbol for job in jobs()}


def test_errors_are_those_of_this_process(eager: list[int]) -> None:
    wrong = compile_workers.Job(
        "def kernel(args, r0, r1, c0, c1, worker):\n    nothing()\n", "wrong", False
    )

    def known(job: compile_workers.Job) -> bytes:
        if job is wrong:
            raise ValueError("this one")
        return compile_one(job)

    with pytest.raises(ValueError, match="this one"):
        list(compile_workers.compile_all([*jobs()[:2], wrong], known))


def test_little_work_has_no_helpers(monkeypatch: pytest.MonkeyPatch) -> None:
    many = [compile_workers.Job("\n" * 100, str(n), is_library=True) for n in range(100)]
    monkeypatch.setattr(threads, "cores", lambda: 4)
    with settings.override(threads=4):
        assert compile_workers._count(jobs()[:3]) == 0
        assert compile_workers._count(many) == 3
        monkeypatch.setattr(sys, "executable", "/opt/editor/bin/editor")
        assert compile_workers._count(many) == 0
    with settings.override(threads=1):
        assert compile_workers._count(many) == 0


_PARENT = """
import sys, time
import numbaflow
from numbaflow.engine import settings
from numbaflow.jit import threads
from numbaflow.jit.codegen import compile_workers as crew, llvm
threads.cores = lambda: 3
crew._WORTHWHILE = 1e-9
start = crew._Helper._start
def noted(helper):
    process = start(helper)
    print(process.pid, flush=True)
    return process
crew._Helper._start = noted
jobs = [crew.Job("def kernel(): pass\\n", str(n), False) for n in range(3)]
with settings.override(threads=2):
    list(crew.compile_all(jobs, lambda job: time.sleep(1000)))
"""


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="needs kill -9")
def test_helpers_end_when_their_parent_is_killed() -> None:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    parent = subprocess.Popen(
        [sys.executable, "-c", _PARENT], stdout=subprocess.PIPE, env=environment
    )
    with parent:
        assert parent.stdout is not None
        helper = int(parent.stdout.readline())
        parent.send_signal(signal.SIGKILL)
    for _ in range(300):
        if is_gone(helper) or _is_zombie(helper):
            return
        time.sleep(0.1)
    with suppress(ProcessLookupError):
        os.kill(helper, signal.SIGKILL)
    raise AssertionError("the helper outlived its parent by half a minute")


def _is_zombie(number: int) -> bool:
    """Whether a process has ended and its new parent, the system's, has not looked yet."""
    status = Path(f"/proc/{number}/stat")
    return status.exists() and status.read_text().rpartition(")")[2].split()[0] == "Z"
