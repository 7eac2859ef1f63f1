# SPDX-License-Identifier: Apache-2.0
"""Threads that compile: what they make is the same, whenever it is made, and nobody needs them."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

import numbaflow as tf
from numbaflow.engine import settings
from numbaflow.jit import target, threads
from numbaflow.jit.cache import store
from numbaflow.jit.codegen import compile as compiler
from numbaflow.jit.codegen import compile_workers, llvm, llvm_calls, machine
from numbaflow.jit.codegen.compile_workers import Job, Workers
from numbaflow.jit.kernel import ir
from numbaflow.jit.kernel import scalar as k
from numbaflow.jit.library.matmul import product_kernel
from numbaflow.jit.runtime import interpreted, plan

pytestmark = pytest.mark.cpu


def scaled(factor: float) -> ir.Kernel:
    at = ir.Index((ir.Param(0), 1))
    load = ir.Load(0, at, "float32")
    store = ir.Store(1, at, k.add(k.mul(k.exp(load), factor), k.mul(load, load)))
    buffers = ir.Buffer("float32", "r"), ir.Buffer("float32", "w")
    return ir.Kernel("map", buffers, (ir.Axis("map"), ir.Axis("map")), (), (store,), 1)


def jobs(count: int = 6) -> list[Job]:
    kernels = [scaled(2.5 + n) for n in range(count)]
    product = product_kernel("float32", 64, False, False)[0].over(["float32"] * 3)
    return [
        *(Job(compiler.source_of(one), compiler.symbol_of(one), False) for one in kernels),
        Job(product.text, "product", is_library=True),
    ]


def code_of(job: Job) -> bytes:
    aim = target.current()
    return llvm.object_code(llvm.lowered(job.source, job.symbol, aim, job.is_library), aim)


def awaited(is_so: Callable[[], bool]) -> None:
    end = time.monotonic() + 60
    while not is_so():
        assert time.monotonic() < end
        time.sleep(0.01)


class Gate:
    """Compiles when it is told to, and knows who did and in which order."""

    def __init__(self) -> None:
        self.opened, self.done = threading.Event(), list[tuple[str, bool]]()

    def __call__(self, job: Job) -> bytes:
        is_worker = threading.current_thread().name == "numbaflow-compile"
        self.done.append((job.symbol, is_worker))
        if is_worker:
            assert self.opened.wait(60)
        return code_of(job)


@pytest.fixture
def workers(monkeypatch: pytest.MonkeyPatch) -> Iterator[Workers]:
    """This process's, new, with one core for them."""
    made = Workers()
    monkeypatch.setattr(compile_workers, "_HERE", [made])
    monkeypatch.setattr(threads, "cores", lambda: 2)
    with settings.override(threads=2):
        yield made
    made.hold()


def test_several_threads_make_the_same_code() -> None:
    made = {job.symbol: code for job, code, _ in Workers(3).compile_all(jobs(24), code_of)}
    assert made == {job.symbol: code_of(job) for job in jobs(24)}


def test_threads_take_part(workers: Workers) -> None:
    gate = Gate()
    gate.opened.set()
    made = {job.symbol: code for job, code, _ in workers.compile_all(jobs(), gate)}
    assert made == {job.symbol: code_of(job) for job in jobs()}
    assert len(gate.done) == len(jobs())
    assert {is_worker for _, is_worker in gate.done} == {True, False}


def test_who_compiles_waits_for_what_is_being_made_and_does_the_rest(workers: Workers) -> None:
    gate = Gate()
    workers.add(jobs(), gate)
    first, *others = [job.symbol for job in jobs()]
    awaited(lambda: first in workers._current)
    found = workers.compile_all(jobs(), gate)
    before = [next(found)[0].symbol for _ in others]
    assert sorted(before) == sorted(others)
    gate.opened.set()
    assert [job.symbol for job, _, _ in found] == [first]
    assert gate.done == [(first, True), *((symbol, False) for symbol in others)]


def test_what_was_made_ahead_is_taken_once(workers: Workers) -> None:
    workers.add(jobs(), code_of)
    awaited(lambda: workers.has_made(jobs()[-1].symbol))
    for job in jobs():
        made = workers.take(job.symbol)
        assert made is not None and made[:2] == (job, code_of(job))
        assert workers.take(job.symbol) is None


def test_what_was_asked_for_last_comes_first(workers: Workers) -> None:
    gate = Gate()
    first, *others, late, last = jobs()
    workers.add([first], gate)
    awaited(lambda: first.symbol in workers._current)
    workers.add([*others, last], gate)
    workers.add([last], gate)
    workers.add([late], gate)
    gate.opened.set()
    awaited(lambda: workers.has_made(others[-1].symbol))
    assert [symbol for symbol, _ in gate.done] == [
        job.symbol for job in (first, late, last, *others)
    ]


def test_the_settings_of_who_asked_count(workers: Workers) -> None:
    with settings.override(target="generic"):
        (job,) = jobs(0)
        workers.add([job], code_of)
    awaited(lambda: workers.has_made(job.symbol))
    made = workers.take(job.symbol)
    assert made is not None and made[1] != code_of(job)
    with settings.override(target="generic"):
        assert made[1] == code_of(job)


def test_errors_are_those_of_who_asked(workers: Workers) -> None:
    wrong = Job("def kernel(args, r0, r1, c0, c1, worker):\n    nothing()\n", "wrong", False)
    workers.add([wrong], code_of)
    awaited(lambda: not workers._waiting and not workers._current)
    with pytest.raises(llvm.Untyped, match="nothing"):
        list(workers.compile_all([*jobs(2), wrong], code_of))
    assert not workers._waiting


def test_who_gives_up_leaves_nothing_behind(workers: Workers) -> None:
    gate = Gate()
    found = workers.compile_all(jobs(), gate)
    next(found)
    found.close()
    gate.opened.set()
    assert not workers._waiting


@pytest.mark.parametrize("name", ["cores", "count"])
def test_they_take_no_core_that_others_need(
    workers: Workers, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setattr(threads, name, lambda: 1)
    workers.add(jobs(), code_of)
    assert not workers._threads
    assert len(list(workers.compile_all(jobs(), code_of))) == len(jobs())


def test_what_is_held_goes_on_later(workers: Workers) -> None:
    workers.hold()
    workers.add(jobs(), code_of)
    assert not workers._threads
    workers.go_on()
    awaited(lambda: workers.has_made(jobs()[-1].symbol))


def test_options_hold_while_anybody_needs_them(monkeypatch: pytest.MonkeyPatch) -> None:
    set_now: list[str] = []
    monkeypatch.setattr(
        llvm_calls.binding, "set_option", lambda name, option: set_now.append(option)
    )
    with llvm_calls.told(["-a=true"]):
        with llvm_calls.told(["-a=true", "-b=false"]):
            assert set_now == ["-a=true", "-b=false"]
        assert set_now[2:] == ["-b=true"]
    assert set_now[3:] == ["-a=false"]


_CHILDREN = """
import os, time
import numbaflow as tf
from numbaflow.jit import threads
from numbaflow.jit.codegen import compile as compiler, compile_workers, machine
from numbaflow.jit.runtime import interpreted, plan
threads.cores = lambda: 2
machine.absent = lambda kernels: []
interpreted._BEGIN, interpreted._worth = 0.0, lambda count: 60.0 * count
plan._waits_for_library = lambda native: False
machine_code = compiler.machine_code
def slowly(job):
    time.sleep(0.1)
    return machine_code(job)
compiler.machine_code = slowly

def first_step(number):
    x = tf.placeholder(tf.float32, [None, 7])
    y = x
    for n in range(8):
        z = y
        for _ in range(number):
            z = tf.abs(z * 1.5) - 1
        y = tf.maximum(z * (1.03 + n), y) / 9.0 + tf.reduce_mean(z * z - y) / (3.17 + n)
    sess, feed = tf.Session(), {x: [[float(i) for i in range(7)]]}
    first = sess.run(y, feed).tobytes()
    again = lambda: sess.run(y, feed).tobytes() == first
    assert again() and again()
    return again

for number in range(6):
    again = first_step(number)
    assert compile_workers.here()._threads == 1
    child = os.fork()
    if not child:
        os._exit(0 if again() else 1)
    assert again()
    assert os.waitpid(child, 0)[1] == 0
first_step(7)
assert compile_workers.here()._threads == 1
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_children_and_the_end_of_the_process_wait_for_threads(tmp_path: Path) -> None:
    path = os.pathsep.join(sys.path)
    environment = {**os.environ, "PYTHONPATH": path, "NUMBAFLOW_CACHE": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", _CHILDREN],
        env={**environment, "NUMBAFLOW_THREADS": "2"},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr


def network(x: tf.Tensor) -> list[tf.Tensor]:
    """Some kernels, none of which another test has compiled."""
    start, loss = x, tf.constant(0.0)
    for n in range(12):
        x = tf.nn.softmax(x * (1.0625 + n)) + tf.reduce_mean(x * x, 0) / (3.1875 + n)
        loss += tf.reduce_sum(tf.abs(x - 0.0625 * n))
    return [loss, *tf.gradients(loss, start)]


@pytest.fixture
def new_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A cache without kernels; the library counts as being there."""
    monkeypatch.setattr(plan, "_waits_for_library", lambda native: False)
    monkeypatch.setattr(compiler, "_DONE", {})
    monkeypatch.setattr(interpreted, "new", lambda kernels: list(kernels))
    monkeypatch.setattr(interpreted.compiler, "absent", lambda kernels, even_shipped=False: [])
    with settings.override(cache=str(tmp_path)):
        yield


@pytest.fixture
def bytecode(monkeypatch: pytest.MonkeyPatch) -> None:
    """Kernels begin as bytecode, though instructions are in no cache."""
    monkeypatch.setattr(machine, "absent", lambda kernels: [])


@pytest.mark.parametrize("is_alone", [False, True])
def test_what_runs_again_has_its_kernels_compiled(
    workers: Workers,
    new_cache: None,
    bytecode: None,
    is_alone: bool,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(interpreted, "_BEGIN", 0.0)
    monkeypatch.setattr(interpreted, "_worth", lambda count: 60.0 * count)
    w = tf.Variable(tf.random_uniform([30, 40], seed=1))
    fetches = network(w)
    config = tf.ConfigProto(intra_op_parallelism_threads=1) if is_alone else None
    with tf.Session(config=config) as sess:
        sess.run(w.initializer)
        found = [sess.run(fetches)]
        assert not workers._waiting and not workers._current and not workers._made
        found.append(sess.run(fetches))
        awaited(lambda: not workers._waiting and not workers._current)
        assert bool(workers._made) is not is_alone
        found.append(sess.run(fetches))
        assert not workers._made
    for later in found[1:]:
        for one, other in zip(found[0], later):
            np.testing.assert_array_equal(one, other)


def test_what_runs_seldom_has_none_compiled(
    workers: Workers, new_cache: None, bytecode: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(interpreted, "_PATIENCE", 60.0)
    monkeypatch.setattr(interpreted, "_BEGIN", 60.0)
    monkeypatch.setattr(interpreted, "_worth", lambda count: 60.0 * count)
    w = tf.Variable(tf.random_uniform([3, 4], seed=1))
    fetches = network(w)
    with tf.Session() as sess:
        sess.run(w.initializer)
        for _ in range(9):
            sess.run(fetches)
    assert not workers._waiting and not workers._current and not workers._made


def test_what_was_compiled_and_never_asked_for_is_kept(workers: Workers, new_cache: None) -> None:
    kernel = scaled(17.5)
    compiler.compile_ahead([kernel])
    awaited(lambda: workers.has_made(compiler.symbol_of(kernel)))
    labels = compiler.labels_of(compiler.content_of(kernel))
    assert not store.has(labels)
    compiler.keep_ahead([(kernel, None)])
    assert store.has(labels)
