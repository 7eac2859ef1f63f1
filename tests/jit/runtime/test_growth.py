# SPDX-License-Identifier: Apache-2.0
"""Twice the graph is twice the work: every stage from tracing to binding, counted in calls."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import numbaflow as tf
from numbaflow.engine import gc_pause, settings
from numbaflow.jit.codegen import compile as compiler
from numbaflow.jit.kernel import verify_kernel
from numbaflow.jit.passes.fuse import fuse
from numbaflow.jit.passes.pipeline import rewrite
from numbaflow.jit.runtime.runner import make_runner
from numbaflow.jit.schedule import argument_blocks, bind
from numbaflow.jit.schedule.steps import CallStep, KernelStep, Schedule, schedule
from numbaflow.jit.trace.segment import Traced

from ..counting import calls_of

pytestmark = pytest.mark.growth


def _chain(x: Any, count: int) -> list[Any]:
    for _ in range(count):
        x = tf.sin(x)
    return [x]


def _rows(x: Any, count: int) -> list[Any]:
    for _ in range(count // 3):
        x = tf.sin(x - tf.reduce_mean(x, 1, keepdims=True))
    return [x]


def _wide(x: Any, count: int) -> list[Any]:
    return [tf.sin(x * float(i)) for i in range(count // 2)]


def _sum(x: Any, count: int) -> list[Any]:
    return [tf.add_n(_wide(x, count))]


def _diamonds(x: Any, count: int) -> list[Any]:
    for _ in range(count // 3):
        x = tf.sin(x) * tf.cos(x)
    return [x]


def _gradient(x: Any, count: int) -> list[Any]:
    return tf.gradients(_chain(x, count // 3), x)


def _updates(x: Any, count: int) -> list[Any]:
    v, done = tf.Variable(np.zeros(3, np.float32)), []
    for _ in range(count // 2):
        with tf.control_dependencies(done):
            done = [tf.assign_add(v, x[0, :3] * 0.5)]
    return done


def _products(x: Any, count: int) -> list[Any]:
    for _ in range(count // 2):
        x = tf.matmul(x, x)
    return [x]


def _work(make: Callable[[Any, int], list[Any]], count: int) -> int:
    """The calls that it takes to prepare a run of a graph, machine code and checks aside."""
    with tf.Graph().as_default() as graph, settings.override(jit="always"), gc_pause.held_up():
        x = tf.placeholder(tf.float32, [None, None])
        fetches = make(x, count)
        with tf.Session() as session:
            with settings.override(jit="never"):
                session.run(tf.global_variables_initializer())
            return calls_of(lambda: _prepare(session, graph, fetches, x))


def _prepare(session: Any, graph: Any, fetches: list[Any], x: Any) -> None:
    runner = make_runner(session, graph, fetches, [], [x])
    traced, plan = _scheduled(runner)
    steps = [s for s in plan.steps if isinstance(s, (KernelStep, CallStep))]
    for step in steps:
        compiler.source_of(step.kernel)
    template = argument_blocks.make_template(
        plan, traced.program, traced.scope, [(1,)] * len(steps)
    )
    bind.bind(template, tuple(traced.scope.examples.values()))


def _scheduled(runner: Any) -> tuple[Traced, Schedule]:
    traced = runner.trace([np.ones((4, 4), np.float32)])
    rewrite(traced.program, traced.scope)
    return traced, schedule(fuse(traced.program))


ALL = [_chain, _rows, _wide, _sum, _diamonds, _gradient, _updates, _products]


@pytest.mark.parametrize("count", [400, pytest.param(1200, marks=pytest.mark.deep)])
@pytest.mark.parametrize("make", ALL)
def test_twice_as_many_nodes_take_twice_the_calls(make, count, monkeypatch):
    monkeypatch.setattr(verify_kernel, "enabled", False)
    _work(make, 30)  # what happens once in a process
    # Fewer nodes do not come to where the search for circles ends.
    assert _work(make, 2 * count) <= 2.1 * _work(make, count)


@pytest.mark.parametrize("make", [_chain, _rows, _sum, _diamonds])
def test_no_kernel_grows_with_the_graph(make, monkeypatch):
    monkeypatch.setattr(verify_kernel, "enabled", False)
    with tf.Graph().as_default() as graph, settings.override(jit="always"), tf.Session() as session:
        x = tf.placeholder(tf.float32, [None, None])
        runner = make_runner(session, graph, make(x, 1200), [], [x])
        kernels = [step.kernel for step in _scheduled(runner)[1].steps]
        assert max(compiler.source_of(kernel).count("\n") for kernel in kernels) < 800
