# SPDX-License-Identifier: Apache-2.0
"""The first run of a graph gives the same bits as all later ones, by whatever it was computed."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import numbaflow as tf
from numbaflow.engine import settings
from numbaflow.jit.codegen import compile as compiler

pytestmark = pytest.mark.cpu

ROUNDED = (
    *("negative", "abs", "sign", "square", "reciprocal", "sqrt", "floor", "ceil", "rint"),
    *("is_nan", "is_inf", "is_finite"),
)
ROUNDED_PAIRS = (
    *("add", "subtract", "multiply", "divide", "minimum", "maximum"),
    *("equal", "not_equal", "less", "less_equal", "greater", "greater_equal"),
)
OTHERS = {
    "tanh": lambda x: tf.tanh(x) * 0.37,
    "softmax": tf.nn.softmax,
    "sum": lambda x: tf.reduce_sum(x * 0.1, 1),
    "product": lambda x: tf.matmul(x, x, transpose_b=True),
    "power": lambda x: tf.pow(tf.abs(x) + 0.5, 1.7),
    "moments": lambda x: tf.nn.moments(x, [0])[1],
    "moves": lambda x: tf.transpose(x)[::-1] + 1.0,
    "integers": lambda x: tf.reduce_sum(tf.cast(x * 3, tf.int32)),
    "parts": lambda x: tf.exp(tf.boolean_mask(x, x > 0)) * 0.3,
    "branch": lambda x: tf.cond(x[0, 0] > 0, lambda: tf.exp(x), lambda: tf.sin(x)) / 3,
}


@pytest.fixture(autouse=True)
def _fresh_graph():
    tf.reset_default_graph()


def numbers(dtype: str) -> np.ndarray:
    special = [0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, 1e-41, 0.5, -2.5, 1.5, 7.0]
    return np.concatenate([special, np.random.RandomState(1).randn(52) * 3]).astype(dtype)


def by(mode: str, fetches: Any, feeds: Any) -> Any:
    with settings.override(jit=mode), tf.Session() as session:
        return session.run(fetches, feeds)


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16"])
def test_what_counts_as_rounded_is_the_same_to_the_last_bit(dtype):
    x, y = tf.placeholder(dtype, [64]), tf.placeholder(dtype, [64])
    fetches = {name: getattr(tf, name, None) or getattr(tf.math, name) for name in ROUNDED}
    made = {name: function(x) for name, function in fetches.items()}
    made |= {name: getattr(tf, name)(x, y) for name in ROUNDED_PAIRS}
    made["where"] = tf.where(x > y, x, y)
    made["largest"] = tf.reduce_max(tf.where(tf.is_finite(x), x, y - y))
    made["cast"] = tf.cast(x, tf.float32 if dtype == "float64" else tf.float64)
    feeds = {x: numbers(dtype), y: numbers(dtype)[::-1].copy()}
    want, got = by("never", made, feeds), by("always", made, feeds)
    for name in made:
        np.testing.assert_array_equal(want[name], got[name], err_msg=name)
    before = compiler.STATS.compiles + compiler.STATS.hits
    for name, tensor in made.items():
        with tf.Session() as session:
            session.run(tensor, feeds)
        assert compiler.STATS.compiles + compiler.STATS.hits == before, name


@pytest.mark.parametrize("name", OTHERS)
def test_all_runs_give_the_same_bits(name):
    x = tf.placeholder(tf.float32, [None, 5])
    fetch = OTHERS[name](x)
    fed = np.random.RandomState(0).randn(7, 5).astype("f")
    with tf.Session() as session:
        first, second, third = (session.run(fetch, {x: fed}) for _ in range(3))
    np.testing.assert_array_equal(first, second)
    np.testing.assert_array_equal(first, third)


def test_a_step_after_a_restart_gives_the_same_bits():
    v = tf.Variable(np.linspace(-1, 1, 12).reshape(3, 4).astype("f"))
    step = tf.assign(v, v - 0.1 * tf.gradients(tf.reduce_sum(tf.tanh(v) ** 2), v)[0])
    state = tf.placeholder(tf.float32, [3, 4])
    load = tf.assign(v, state)
    with tf.Session() as session:
        session.run(v.initializer)
        half = [session.run(step) for _ in range(3)][1]
        rest = session.run(v)
    with tf.Session() as session:
        session.run(load, {state: half})
        np.testing.assert_array_equal(session.run(step), rest)


def test_initializers_are_not_compiled():
    v = tf.Variable(tf.random_normal([20, 30], stddev=0.1) * 3)
    w = tf.Variable(tf.truncated_normal([7]))
    before = compiler.STATS.compiles + compiler.STATS.hits
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run([v, w])
        assert compiler.STATS.compiles + compiler.STATS.hits == before
