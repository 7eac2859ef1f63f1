# SPDX-License-Identifier: Apache-2.0
"""Compiled plans end between steps and tiles, and what ran once runs again with the same bits."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import numbaflow as tf
from numbaflow.engine import settings
from numbaflow.jit.codegen import compile as compiler
from numbaflow.jit.runtime import driver, thread_pool

from . import stopped
from .test_driver import scale_and_shift

pytestmark = pytest.mark.cpu

PATIENCE = 120.0
SHARINGS = {"pool": "2", "prange": "2", "serial": "1"}


@pytest.fixture(autouse=True)
def _fresh_graph() -> Any:
    with settings.override(jit="always"), tf.Graph().as_default():
        yield


def table(steps: int, tile: int) -> tuple[driver.Program, np.ndarray, list[Any]]:
    """A program that turns a vector into itself over and over: x becomes exp(x) / 2 + 1."""
    count = 1 << 20
    x = np.linspace(-1, 0, count, dtype=np.float32)
    address = compiler.compile_kernel(scale_and_shift()).address
    block = np.array([x.ctypes.data, x.ctypes.data, 1, count, count], np.int64)
    row = [address, block.ctypes.data, 1, 1, count, tile]
    return driver.Program(np.array([row] * steps, np.int64)), x, [block]


@pytest.mark.parametrize("tile", [1 << 20, 1 << 14], ids=["steps", "tiles"])
@pytest.mark.parametrize("sharing", SHARINGS)
def test_a_long_walk_pauses(sharing: str, tile: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Minutes of work come back at once, and nobody goes on with it behind the caller's back."""
    if sharing == "prange":
        monkeypatch.setattr(thread_pool, "is_supported", lambda: False)
    with settings.override(threads=int(SHARINGS[sharing])):
        program, x, kept = table(100_000, tile)
        assert program.call() == 1
        assert program.go_on() == 1
        for _ in range(3):
            before = x.copy()
            time.sleep(0.02)
            np.testing.assert_array_equal(x, before)
        # A program that was given up begins anew.
        short, y, more = table(1, tile)
        short.run()
        expected = y.copy()
        program.table[1:, 2] = 0  # no rows: nothing to do
        x[:] = np.linspace(-1, 0, len(x), dtype=np.float32)
        program.run()
        np.testing.assert_array_equal(x, expected)
    del kept, more


@pytest.mark.parametrize("sharing", ["pool", "prange"])
def test_pauses_change_no_bits(sharing: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every element is worked on once a step, wherever the walks are cut."""
    if sharing == "prange":
        monkeypatch.setattr(thread_pool, "is_supported", lambda: False)
    results = []
    for threads, tile in ((1, 1 << 20), (1, 5000), (2, 5000), (3, 1 << 16)):
        with settings.override(threads=threads):
            program, x, kept = table(200, tile)
            program.run()
            results.append(x)
            del kept
    for other in results[1:]:
        np.testing.assert_array_equal(results[0], other)


@pytest.mark.parametrize("program", ["straight", "endless"])
@pytest.mark.parametrize("sharing", SHARINGS)
@pytest.mark.skipif(os.name != "posix", reason="needs signals")
def test_ctrl_c_ends_a_plan(program: str, sharing: str) -> None:
    root = Path(tf.__file__).parents[1]
    environment = {
        **os.environ,
        "NUMBAFLOW_JIT": "always",
        "NUMBAFLOW_THREADS": SHARINGS[sharing],
        "PYTHONPATH": os.pathsep.join([str(root), os.environ.get("PYTHONPATH", "")]),
    }
    command = [sys.executable, stopped.__file__, program, sharing]
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == "begun\n"
            time.sleep(0.3)
            process.send_signal(signal.SIGINT)
            output, _ = process.communicate(timeout=PATIENCE)
        finally:
            process.kill()
    # It never got to what comes behind the products or the loop.
    assert output.splitlines() == ["interrupted 0", "same True"]
    assert process.returncode == 0


@pytest.mark.parametrize("make", [stopped.straight, stopped.endless])
def test_closing_a_session_ends_a_plan(make: Any) -> None:
    begun, reached = threading.Event(), []
    x, end, _ = make(begun.set, reached.append)
    value = np.zeros((stopped.SIZE, stopped.SIZE), np.float32)
    session, caught = tf.Session(), []

    def work() -> None:
        with settings.override(jit="always"), pytest.raises(tf.errors.CancelledError) as error:
            session.run(end, {x: value})
        caught.append(error.value.message)

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    assert begun.wait(PATIENCE)
    session.close()
    thread.join(PATIENCE)
    assert caught == ["Run call was cancelled"]
    assert not reached


@pytest.mark.parametrize("make", [stopped.straight, stopped.endless])
def test_the_time_of_a_plan_can_be_up(make: Any) -> None:
    reached: list[Any] = []
    x, end, short = make(lambda: None, reached.append)
    value = np.full((stopped.SIZE, stopped.SIZE), 1e-3, np.float32)
    with tf.Session() as session:
        session.prepared_plan(end, {x: value})
        expected = session.run(short, {x: value})
        for _ in range(2):
            with pytest.raises(tf.errors.DeadlineExceededError, match="Timed out waiting"):
                session.run(end, {x: value}, options=tf.RunOptions(timeout_in_ms=200))
            assert session.run(short, {x: value}) == expected
    assert not reached


def test_the_time_can_be_up_before_anything_is_compiled() -> None:
    calls: list[Any] = []
    x = tf.placeholder(tf.float32, [None])
    y = x
    for number in range(400):
        y = tf.tanh(y) * float(number % 7 + 1)
        if number % 10 == 0:
            y = tf.cumsum(y)
    run = tf.py_func(lambda value: calls.append(0) or value, [y], tf.float32, stateful=True)
    with tf.Session() as session:
        compiled = compiler.STATS.compiles + compiler.STATS.hits
        with pytest.raises(tf.errors.DeadlineExceededError):
            session.run(run, {x: [1.0]}, options=tf.RunOptions(timeout_in_ms=1))
        assert compiler.STATS.compiles + compiler.STATS.hits == compiled
        assert not calls
        # Nothing is left of the plan that was begun.
        found = session.run(run, {x: [0.5, 0.25]})
        assert len(calls) == 1
    with settings.override(jit="never"), tf.Session() as session:
        np.testing.assert_allclose(found, session.run(run, {x: [0.5, 0.25]}), rtol=1e-4)


def test_a_plan_that_was_interrupted_while_it_was_made_is_made_anew(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Ctrl-C may come at any time, also when what was traced is changed half way."""
    from numbaflow.jit.runtime import plan

    x = tf.placeholder(tf.float32, [None, 4])
    y = tf.nn.softmax(tf.matmul(x, tf.ones([4, 3]))) * 2.0
    original = plan.schedule

    def interrupted(*given: Any) -> Any:
        original(*given)
        raise KeyboardInterrupt

    with tf.Session() as session:
        monkeypatch.setattr(plan, "schedule", interrupted)
        with pytest.raises(KeyboardInterrupt):
            session.run(y, {x: np.ones((2, 4))})
        monkeypatch.setattr(plan, "schedule", original)
        np.testing.assert_allclose(session.run(y, {x: np.ones((2, 4))}), np.full((2, 3), 2 / 3))
