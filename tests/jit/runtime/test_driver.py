# SPDX-License-Identifier: Apache-2.0
"""The driver: order, tiles, threads, forks; the same bits whatever the number of threads."""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import numpy as np
import pytest

from numbaflow.engine import settings
from numbaflow.jit import threads
from numbaflow.jit.codegen import compile as compiler
from numbaflow.jit.kernel import ir
from numbaflow.jit.kernel import scalar as k
from numbaflow.jit.runtime import driver, thread_pool

pytestmark = pytest.mark.cpu


@pytest.fixture(params=("pool", "prange"), autouse=True)
def sharing(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Both ways to share tiles between threads."""
    if request.param == "prange":
        monkeypatch.setattr(thread_pool, "is_supported", lambda: False)
    elif not thread_pool.is_supported():
        pytest.skip("no thread pool on this system")
    return str(request.param)


def scale_and_shift() -> ir.Kernel:
    x = ir.Load(0, ir.Index((ir.Param(0), 1)), "float32")
    store = ir.Store(1, ir.Index((ir.Param(0), 1)), k.add(k.mul(k.exp(x), 0.5), 1.0))
    buffers = ir.Buffer("float32", "r"), ir.Buffer("float32", "w")
    return ir.Kernel("map", buffers, (ir.Axis("map"), ir.Axis("map")), (), (store,), 1)


class Problem:
    """A table of steps that pass a matrix from buffer to buffer, cut into tiles."""

    def __init__(self, rows: int, columns: int, tile: tuple[int, int], steps: int = 1) -> None:
        rng = np.random.default_rng(0)
        first = rng.uniform(-1, 0, (rows, columns)).astype(np.float32)
        self.buffers = [first, *(np.zeros_like(first) for _ in range(steps))]
        address = compiler.compile_kernel(scale_and_shift()).address
        self.blocks = [
            np.array([a.ctypes.data, b.ctypes.data, rows, columns, columns], np.int64)
            for a, b in zip(self.buffers, self.buffers[1:])
        ]
        self.table = np.array(
            [
                [address, block.ctypes.data, rows, tile[0], columns, tile[1]]
                for block in self.blocks
            ],
            np.int64,
        )
        self.program = driver.Program(self.table)

    def result(self) -> Any:
        for buffer in self.buffers[1:]:
            buffer[:] = 0
        self.program.run()
        return self.buffers[-1].copy()


@pytest.mark.parametrize("tile", ((7, 1000), (100, 13), (9, 11)))
def test_the_bits_do_not_depend_on_threads(tile: tuple[int, int]) -> None:
    problem = Problem(40, 100, tile, steps=3)
    results = []
    for count in (1, 2, 3):
        with settings.override(threads=count):
            results.append(problem.result())
    assert (results[0] != 0).all()
    for other in results[1:]:
        np.testing.assert_array_equal(results[0].view(np.int32), other.view(np.int32))
    np.testing.assert_array_equal(results[0], Problem(40, 100, (40, 100), steps=3).result())


def test_empty_steps_do_nothing() -> None:
    assert Problem(0, 5, (4, 4)).result().size == 0
    assert Problem(5, 0, (2, 2)).result().size == 0


def test_the_table_may_be_edited_between_runs() -> None:
    problem = Problem(8, 8, (8, 8))
    whole = problem.result()
    problem.program.table[0, 3] = 2
    problem.program.refresh()
    np.testing.assert_array_equal(problem.result(), whole)


def test_a_table_has_six_columns() -> None:
    with pytest.raises(ValueError, match="int64 with columns kernel, args, rows"):
        driver.Program(np.zeros((2, 5), np.int64))


def test_many_python_threads_run_programs_at_once() -> None:
    problems = [Problem(64, 200, (5, 100), steps=2) for _ in range(8)]
    want = problems[0].result()
    results: list[Any] = [None] * 8

    def work(n: int) -> None:
        for _ in range(30):
            results[n] = problems[n].result()

    workers = [threading.Thread(target=work, args=(n,)) for n in range(8)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    for result in results:
        np.testing.assert_array_equal(result, want)


@contextmanager
def turns_of_another_thread() -> Iterator[list[int]]:
    """How often another thread had the interpreter's lock, which it gets only if it is free."""
    turns, is_over = [0], threading.Event()

    def count() -> None:
        while not is_over.is_set():
            turns[0] += 1
            time.sleep(0)

    before = sys.getswitchinterval()
    thread = threading.Thread(target=count)
    sys.setswitchinterval(60)
    try:
        thread.start()
        yield turns
    finally:
        sys.setswitchinterval(before)
        is_over.set()
        thread.join()


@pytest.mark.parametrize("has_jumps", (False, True))
def test_only_a_walk_that_takes_long_lets_other_threads_go_on(has_jumps: bool) -> None:
    problems = Problem(4, 8, (4, 8)), Problem(2000, 4000, (2000, 4000))
    with settings.override(threads=1), turns_of_another_thread() as turns:
        if has_jumps:
            runs = [partial(driver.Flow(problem.table, 0).run, 0) for problem in problems]
        else:
            runs = [problem.program.run for problem in problems]
        # The first time nobody knows how long it takes.
        for run in runs:
            run()
        # (A walk that the system interrupts has taken long: of a few tries one is quiet.)
        found = []
        for _ in range(5):
            before = turns[0]
            for _ in range(100):
                runs[0]()
            found.append(turns[0] - before)
        assert min(found) == 0
        before = turns[0]
        # (A busy system may not wake up the other thread in time.)
        assert any((runs[1](), turns[0] > before)[1] for _ in range(100))
    assert all((problem.buffers[-1] != 0).all() for problem in problems)


def test_workqueue_is_the_last_choice() -> None:
    driver.parallel_walker()
    assert threads.choose_layer() in ("omp", "tbb") or not threads.allows_concurrent_callers()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork()")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_forked_child_computes_the_same(sharing: str) -> None:
    problem = Problem(64, 200, (5, 100))
    with settings.override(threads=2):
        want = problem.result()
        child = os.fork()
        if child == 0:
            # GNU OpenMP does not survive a fork: the child of a process that used it is serial.
            right = sharing == "pool" or not threads.may_launch()
            os._exit(0 if right and (problem.result() == want).all() else 1)
        assert os.waitpid(child, 0)[1] == 0
