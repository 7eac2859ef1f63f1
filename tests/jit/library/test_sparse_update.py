# SPDX-License-Identifier: Apache-2.0
"""Rows of variables that kernels change in place: as the reference kernels do it, in order."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import numbaflow as tf
from numbaflow.engine import settings

pytestmark = pytest.mark.cpu

ROWS = 7


def adagrad(var: Any, accum: Any, linear: Any, grad: Any, indices: Any, c: Any) -> Any:
    return tf.raw_ops.SparseApplyAdagrad(
        var=var, accum=accum, lr=c(0.1), grad=grad, indices=indices
    )


def nesterov(var: Any, accum: Any, linear: Any, grad: Any, indices: Any, c: Any) -> Any:
    return tf.raw_ops.SparseApplyMomentum(
        var=var,
        accum=accum,
        lr=c(0.1),
        grad=grad,
        indices=indices,
        momentum=c(0.9),
        use_nesterov=True,
    )


def ftrl(var: Any, accum: Any, linear: Any, grad: Any, indices: Any, c: Any) -> Any:
    scalars = {"lr": c(0.1), "l1": c(0.1), "l2": c(0.2), "lr_power": c(-0.4)}
    return tf.raw_ops.SparseApplyFtrl(
        var=var, accum=accum, linear=linear, grad=grad, indices=indices, **scalars
    )


def scatter(kind: str) -> Any:
    return lambda var, accum, linear, grad, indices, c: getattr(tf, f"scatter_{kind}")(
        var, indices, grad
    )


RULES = {
    "adagrad": adagrad,
    "nesterov": nesterov,
    "ftrl": ftrl,
    **{kind: scatter(kind) for kind in ("update", "add", "sub", "mul", "div")},
}


def run(jit: str, rule: str, dtype: str, tail: tuple[int, ...], indices: list[int]) -> list[Any]:
    """What the variables hold after three updates."""
    random = np.random.RandomState(0)
    with settings.override(jit=jit), tf.Graph().as_default(), tf.Session() as session:
        held = [tf.Variable((random.rand(ROWS, *tail) + 1).astype(dtype)) for _ in range(3)]
        at = tf.placeholder(tf.int32, [None])
        grad = tf.placeholder(dtype, [None, *tail])
        after = RULES[rule](*held, grad, at, lambda x: tf.constant(x, dtype))
        session.run(tf.global_variables_initializer())
        feed = {at: indices, grad: random.rand(len(indices), *tail)}
        seen = [session.run(after + 0, feed) for _ in range(3)]
        return [*seen, *session.run(held)]


@pytest.mark.parametrize("indices", [[0, 3, 5], [2, 2, 2, 6, 2], [1], []])
@pytest.mark.parametrize("tail", [(), (5,), (5, 3)])
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize("rule", RULES)
def test_as_the_reference_kernels(
    rule: str, dtype: str, tail: tuple[int, ...], indices: list[int]
) -> None:
    ours, expected = (run(jit, rule, dtype, tail, indices) for jit in ("always", "never"))
    for mine, theirs in zip(ours, expected, strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=2e-3 if dtype == "float16" else 1e-6)


@pytest.mark.parametrize("resource", [False, True])
def test_many_columns_and_equal_indices(resource: bool) -> None:
    """Tiles share the columns; equal indices stay in order, so the bits are the same."""
    random = np.random.RandomState(1)
    indices, grads = random.randint(0, 50, 4000), random.rand(4000, 100).astype(np.float32)
    found = []
    for jit in ("always", "never"):
        with settings.override(jit=jit), tf.Graph().as_default(), tf.Session() as session:
            w = tf.Variable(tf.zeros([50, 100]), use_resource=resource)
            update = tf.scatter_add(w, tf.constant(indices, tf.int64), grads)
            session.run(tf.global_variables_initializer())
            session.run(update.op)
            found.append(session.run(w))
    np.testing.assert_array_equal(*found)


def test_reads_before_and_after() -> None:
    with settings.override(jit="always"), tf.Graph().as_default(), tf.Session() as session:
        w = tf.Variable([1.0, 2.0, 3.0], use_resource=True)
        before = w.read_value() * 2.0
        with tf.control_dependencies([before]):
            first = w.scatter_add(tf.IndexedSlices([10.0, 20.0], [0, 0]))
        with tf.control_dependencies([first.op]):
            between = w.read_value() + 0.5
        with tf.control_dependencies([between]):
            doubled = w.assign(w.read_value() * 2.0)
        with tf.control_dependencies([doubled]):
            last = w.scatter_sub(tf.IndexedSlices(before[:2], [1, 2]))
        with tf.control_dependencies([last.op]):
            after = w.read_value()
        session.run(tf.global_variables_initializer())
        values = session.run([before, between, after])
    assert [v.tolist() for v in values] == [[2, 4, 6], [31.5, 2.5, 3.5], [62, 2, 2]]


@pytest.mark.parametrize("jit", ["always", "never"])
@pytest.mark.parametrize("resource", [False, True])
def test_in_branches_and_loops(jit: str, resource: bool) -> None:
    with settings.override(jit=jit), tf.Graph().as_default(), tf.Session() as session:
        w = tf.Variable([[1.0, 2.0], [3.0, 4.0]], use_resource=resource)
        choice = tf.placeholder(tf.bool, [])

        def add(at: Any) -> Any:
            update = tf.scatter_add(w, [at, at], tf.ones([2, 2]))
            with tf.control_dependencies([update.op]):
                return w.read_value() * 1.0

        chosen = tf.cond(choice, lambda: add(0), lambda: add(1))

        def turn(i: Any, total: Any) -> Any:
            with tf.control_dependencies([total]):
                return i + 1, total + tf.reduce_sum(add(i % 2))

        start = [0, 0.0 * tf.reduce_sum(chosen)]
        looped = tf.while_loop(lambda i, total: i < 3, turn, start)
        session.run(tf.global_variables_initializer())
        seen = [session.run([chosen, looped[1]], {choice: yes}) for yes in (True, False)]
        after = session.run(w)
    assert seen[0][0].tolist() == [[3, 4], [3, 4]] and seen[1][0].tolist() == [[7, 8], [7, 8]]
    assert [total for _, total in seen] == [18 + 22 + 26, 34 + 38 + 42]
    assert after.tolist() == [[11, 12], [9, 10]]


@pytest.mark.parametrize("jit", ["always", "never"])
def test_indices_out_of_range_change_nothing(jit: str) -> None:
    with settings.override(jit=jit), tf.Graph().as_default(), tf.Session() as session:
        w = tf.Variable([1.0, 2.0, 3.0])
        at = tf.placeholder(tf.int32, [1])
        update = tf.scatter_add(w, at, [5.0])
        session.run(tf.global_variables_initializer())
        for wrong in (-1, 3):
            with pytest.raises(tf.errors.InvalidArgumentError, match=r"not in \[0, 3\)"):
                session.run(update.op, {at: [wrong]})
        assert session.run(w).tolist() == [1.0, 2.0, 3.0]


@pytest.mark.parametrize("dtype", ["float32", "float64", "int32", "int64"])
@pytest.mark.parametrize("kind", ["sum", "prod", "max", "min"])
def test_unsorted_segments(kind: str, dtype: str) -> None:
    random = np.random.RandomState(2)
    data = random.randint(-9, 9, [40, 2, 3]).astype(dtype)
    ids = random.randint(-1, 7, [40, 2])
    found = []
    for jit in ("always", "never"):
        with settings.override(jit=jit), tf.Graph().as_default(), tf.Session() as session:
            segment = getattr(tf.math, f"unsorted_segment_{kind}")
            result = segment(tf.constant(data), tf.placeholder(tf.int32, [None, 2]), 9)
            found.append(session.run(result, {result.op.inputs[1]: ids}))
            with pytest.raises(tf.errors.InvalidArgumentError, match="out of range"):
                session.run(result, {result.op.inputs[1]: ids + 5})
    np.testing.assert_array_equal(*found)
