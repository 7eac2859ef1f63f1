# SPDX-License-Identifier: Apache-2.0
"""Kernels that processes compile: what this one would, whatever becomes of them."""

from __future__ import annotations

import os
import signal
import time

import pytest

from numbaflow.engine import settings
from numbaflow.jit.cache import store
from numbaflow.jit.codegen import compile as compiler
from numbaflow.jit.codegen import compile_workers
from numbaflow.jit.codegen.compile_processes import Processes
from numbaflow.jit.kernel import ir
from numbaflow.jit.kernel import scalar as k

pytestmark = [pytest.mark.cpu, pytest.mark.process]


def scaled(factor: float) -> ir.Kernel:
    at = ir.Index((1,))
    put = ir.Store(1, at, k.mul(ir.Load(0, at, "float32"), factor))
    buffers = ir.Buffer("float32", "r"), ir.Buffer("float32", "w")
    return ir.Kernel("map", buffers, (ir.Axis("map"),), (), (put,), 0)


def jobs(count: int) -> list[compile_workers.Job]:
    return [
        compile_workers.Job(compiler.source_of(scaled(2.0 + n)), f"scaled_{n}", False)
        for n in range(count)
    ]


def test_processes_make_what_this_one_would() -> None:
    wanted, workers = jobs(6), compile_workers.Workers(2)
    with settings.override(target="x86-64-v3"), Processes() as others:
        workers.add(wanted, others.machine_code)
        made = {}
        while len(made) < len(wanted):
            made.update({job: code for job, code, _ in workers.done()})
            time.sleep(0.01)
        started = [*others._processes]
        assert len(started) == 2
        assert made == {job: compiler.machine_code(job) for job in wanted}
    assert all(process.returncode is not None for process in started)


def test_what_dying_processes_leave_is_made_here() -> None:
    wanted, workers = jobs(8), compile_workers.Workers(2)
    with Processes() as others:
        workers.add(wanted, others.machine_code)
        while not others._processes:
            time.sleep(0.01)
        os.kill(others._processes[0].pid, signal.SIGKILL)
        made = [job for job, _, _ in workers.compile_all(wanted, compiler.machine_code)]
    assert sorted(job.symbol for job in made) == sorted(job.symbol for job in wanted)


def test_what_has_ended_compiles_nothing() -> None:
    with Processes() as others:
        pass
    with pytest.raises(OSError, match="have ended"):
        others.machine_code(jobs(1)[0])


def test_what_cannot_be_compiled_is_an_error_here() -> None:
    head = "def kernel(args, r0, r1, c0, c1, worker):\n"
    wrong = compile_workers.Job(f"{head}    no_such_word(args)\n", "wrong", False)
    wanted, workers = [*jobs(4), wrong], compile_workers.Workers(1)
    with Processes() as others:
        with pytest.raises(OSError, match="wrong could not be compiled"):
            others.machine_code(wrong)
        workers.add(wanted, others.machine_code)
        with pytest.raises(Exception, match="no_such"):
            list(workers.compile_all(wanted, compiler.machine_code))


def test_kernels_are_kept_as_they_are_found(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(compiler, "_FEW", 1)
    told = []
    kernels = [scaled(9.0 + n) for n in range(5)]
    with settings.override(cache=tmp_path / "kernels"):
        compiler.store_found(iter(kernels), lambda entry, name, seconds: told.append(name), 1)
        assert not compiler.absent(kernels) and len(store.entries()) == len(told) == 5
