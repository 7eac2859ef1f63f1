# SPDX-License-Identifier: Apache-2.0
"""The process that compiles ahead: what it makes is the same, and nobody depends on it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

import numbaflow as tf
from numbaflow.engine import settings
from numbaflow.jit import isolated, target, threads
from numbaflow.jit.cache import store
from numbaflow.jit.codegen import compile as compiler
from numbaflow.jit.codegen import compile_ahead, compile_workers, llvm
from numbaflow.jit.kernel import ir
from numbaflow.jit.kernel import scalar as k
from numbaflow.jit.runtime import backend, interpreted, plan

pytestmark = pytest.mark.cpu


def scaled(factor: float) -> ir.Kernel:
    at = ir.Index((ir.Param(0), 1))
    load = ir.Load(0, at, "float32")
    store = ir.Store(1, at, k.add(k.mul(load, factor), k.mul(load, load)))
    buffers = ir.Buffer("float32", "r"), ir.Buffer("float32", "w")
    return ir.Kernel("map", buffers, (ir.Axis("map"), ir.Axis("map")), (), (store,), 1)


def jobs(count: int = 4) -> list[compile_workers.Job]:
    kernels = [scaled(2.5 + n) for n in range(count)]
    return [
        compile_workers.Job(compiler.source_of(kernel), compiler.symbol_of(kernel), False)
        for kernel in kernels
    ]


def code_of(job: compile_workers.Job) -> bytes:
    aim = target.current()
    return llvm.object_code(llvm.lowered(job.source, job.symbol, aim, job.is_library), aim)


def awaited(is_so: Callable[[], bool]) -> None:
    end = time.monotonic() + 60
    while not is_so():
        assert time.monotonic() < end
        time.sleep(0.01)


@pytest.fixture
def ahead(monkeypatch: pytest.MonkeyPatch) -> Iterator[compile_ahead.Ahead]:
    """This process's, new, with a core of its own."""
    made = compile_ahead.Ahead()
    monkeypatch.setattr(compile_ahead, "_HERE", [made])
    monkeypatch.setattr(threads, "cores", lambda: 2)
    with settings.override(threads=2):
        yield made
    made.end()
    awaited(lambda: not made.is_there)


def test_it_makes_the_same_code(ahead):
    ahead.start()
    ahead.add(jobs())
    awaited(lambda: ahead.has_made(jobs()[-1].symbol))
    for job in jobs():
        made = ahead.take(job.symbol)
        assert made is not None and made[:2] == (job, code_of(job))
        assert ahead.take(job.symbol) is None  # whoever took it has it


def test_the_target_of_who_asked_counts(ahead):
    ahead.start()
    with settings.override(target="generic"):
        (job,) = jobs(1)
        ahead.add([job])
    awaited(lambda: ahead.has_made(job.symbol))
    made = ahead.take(job.symbol)
    with settings.override(target="generic"):
        assert made is not None and made[1] == code_of(job)


def test_what_is_in_a_hurry_comes_first(ahead, monkeypatch):
    order: list[str] = []
    asked = compile_workers.asked

    def noted(process, job, wanted):
        order.append(job.symbol)
        return asked(process, job, wanted)

    monkeypatch.setattr(compile_workers, "asked", noted)
    first, *others, last = jobs()
    monkeypatch.setattr(isolated, "start", _after(0.2, isolated.start))
    ahead.start()
    ahead.add([first, *others, last])
    ahead.hurry(last.symbol)
    ahead.hurry("no such job")
    awaited(lambda: ahead.has_made(others[-1].symbol))
    assert order == [job.symbol for job in (last, first, *others)]


def _after(seconds, call):
    def late(*args):
        time.sleep(seconds)
        return call(*args)

    return late


def test_who_compiles_waits_for_what_is_being_made_and_does_the_rest(ahead, monkeypatch):
    monkeypatch.setattr(compile_workers, "asked", _after(0.3, compile_workers.asked))
    here: list[str] = []
    machine_code = compiler._machine_code

    def noted(job):
        here.append(job.symbol)
        return machine_code(job)

    monkeypatch.setattr(compiler, "_machine_code", noted)
    ahead.start()
    ahead.add(jobs())
    awaited(lambda: ahead.is_making(jobs()[0].symbol))
    made = {job.symbol: code for job, code, _ in compiler._compile(jobs())}
    assert made == {job.symbol: code_of(job) for job in jobs()}
    assert 0 < len(here) < len(made) and jobs()[0].symbol not in here


def test_a_process_that_dies_leaves_its_work_to_others(ahead, monkeypatch):
    asked = compile_workers.asked

    def dying(process, job, wanted):
        process.kill()
        return asked(process, job, wanted)

    monkeypatch.setattr(compile_workers, "asked", dying)
    ahead.start()
    ahead.add(jobs())
    assert ahead.take(jobs()[0].symbol) is None
    awaited(lambda: not ahead.is_there)
    made = {job.symbol: code for job, code, _ in compiler._compile(jobs())}
    assert made == {job.symbol: code_of(job) for job in jobs()}


def test_without_work_it_ends_and_may_start_again(ahead, monkeypatch):
    monkeypatch.setattr(compile_ahead, "_AT_FIRST", 0.05)
    ahead.start()
    awaited(lambda: not ahead.is_there)
    ahead.add(jobs())  # nobody is there to do it
    assert ahead.take(jobs()[0].symbol) is None
    monkeypatch.setattr(compile_ahead, "_AT_FIRST", 60.0)
    monkeypatch.setattr(compile_ahead, "_IDLE", 0.05)
    ahead.start()
    ahead.add(jobs())
    awaited(lambda: ahead.has_made(jobs()[-1].symbol))
    awaited(lambda: not ahead.is_there)


def test_it_ends_soon_when_nothing_is_to_be_compiled(ahead, monkeypatch):
    monkeypatch.setattr(compile_ahead, "_IDLE", 0.05)
    ahead.start()
    compiler.begin_ahead([])
    awaited(lambda: not ahead.is_there)


@pytest.mark.parametrize("name", ["cores", "count"])
def test_it_takes_no_core_that_others_need(ahead, monkeypatch, name):
    monkeypatch.setattr(threads, name, lambda: 1)
    ahead.start()
    assert not ahead.is_there


def network(w: tf.Variable) -> list[tf.Tensor]:
    """Some kernels, none of which another test has compiled."""
    loss, x = tf.constant(0.0), w
    for n in range(12):
        x = tf.nn.softmax(x * (1.0625 + n)) + tf.reduce_mean(x * x, 0) / (3.1875 + n)
        loss += tf.reduce_sum(tf.abs(x - 0.0625 * n))
    return [loss, *tf.gradients(loss, [w])]


@pytest.fixture
def new_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A cache without kernels; the library counts as being there."""
    monkeypatch.setattr(plan, "_waits_for_library", lambda native: False)
    monkeypatch.setattr(compiler, "_DONE", {})
    monkeypatch.setattr(interpreted, "new", lambda kernels: list(kernels))
    monkeypatch.setattr(interpreted.compiler, "absent", lambda kernels, even_shipped=False: [])
    monkeypatch.setattr(backend, "_MANY", 16)
    with settings.override(cache=str(tmp_path)):
        yield


def test_a_first_run_has_its_kernels_compiled(ahead, new_cache, monkeypatch):
    taken: list[str] = []
    take = ahead.take

    def noted(symbol):
        made = take(symbol)
        if made is not None:
            taken.append(symbol)
        return made

    monkeypatch.setattr(ahead, "take", noted)
    w = tf.get_variable("w", [30, 40], initializer=tf.random_uniform_initializer(seed=1))
    fetches = network(w)
    with tf.Session() as sess:
        sess.run(w.initializer)
        first = sess.run(fetches)
        assert ahead.is_there
        awaited(lambda: not ahead._waiting and not ahead._current)
        later = sess.run(fetches)
    assert taken
    for one, other in zip(first, later):
        np.testing.assert_array_equal(one, other)


def test_what_was_compiled_and_never_asked_for_is_kept(ahead, new_cache):
    kernel = scaled(17.5)
    ahead.start()
    compiler.begin_ahead([kernel])
    awaited(lambda: ahead.has_made(compiler.symbol_of(kernel)))
    labels = compiler.labels_of(compiler.content_of(kernel))
    assert not store.has(labels)
    compiler.keep_ahead([(kernel, None)])
    assert store.has(labels)
