# SPDX-License-Identifier: Apache-2.0
"""A dozen small programs of which each exercises another part of the compiler.

Each builds nodes in the default graph and returns what is fetched and what is fed.  They are used
by tests that look at what the compiler makes of a program, pass by pass.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

import numbaflow as tf

Built = tuple[Any, dict[Any, np.ndarray]]
PROGRAMS: dict[str, Callable[[], Built]] = {}


def program(build: Callable[[], Built]) -> Callable[[], Built]:
    """Adds a program to the table under its name."""
    PROGRAMS[build.__name__] = build
    return build


def numbers(*shape: int, seed: int = 0) -> np.ndarray:
    """Standard normal float32 numbers."""
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


def variable(name: str, *shape: int) -> Any:
    """A variable with normal numbers in it."""
    return tf.Variable(numbers(*shape, seed=len(name)) * 0.1, name=name)


@program
def softmax() -> Built:
    x = tf.placeholder(tf.float32, [None, 10], name="x")
    return tf.nn.softmax(x * 2.0), {x: numbers(7, 10)}


@program
def layer_norm() -> Built:
    x = tf.placeholder(tf.float32, [None, 32], name="x")
    mean, variance = tf.nn.moments(x, [1], keep_dims=True)
    scale, shift = variable("scale", 32), variable("shift", 32)
    y = (x - mean) * tf.rsqrt(variance + 1e-5) * scale + shift
    return [y, tf.gradients(tf.reduce_sum(y * y), [x, scale, shift])], {x: numbers(6, 32)}


@program
def mlp_step() -> Built:
    x = tf.placeholder(tf.float32, [None, 20], name="x")
    labels = tf.placeholder(tf.int32, [None], name="labels")
    hidden = tf.nn.relu(tf.matmul(x, variable("w1", 20, 16)) + variable("b1", 16))
    logits = tf.matmul(hidden, variable("w2", 16, 5)) + variable("b2", 5)
    loss = tf.reduce_mean(
        tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits)
    )
    train = tf.train.AdamOptimizer(0.01).minimize(loss)
    return [train, loss], {x: numbers(8, 20), labels: np.arange(8, dtype=np.int32) % 5}


@program
def conv_step() -> Built:
    x = tf.placeholder(tf.float32, [None, 12, 12, 1], name="x")
    y = tf.nn.conv2d(x, variable("k1", 3, 3, 1, 16), [1, 1, 1, 1], "SAME")
    y = tf.nn.relu(tf.nn.bias_add(y, variable("c1", 16)))
    y = tf.nn.max_pool(y, [1, 2, 2, 1], [1, 2, 2, 1], "SAME")
    y = tf.nn.conv2d(y, variable("k2", 3, 3, 16, 16), [1, 1, 1, 1], "SAME")
    y = tf.nn.relu(tf.nn.bias_add(y, variable("c2", 16)))
    y = tf.nn.max_pool(y, [1, 2, 2, 1], [1, 2, 2, 1], "SAME")
    y = tf.matmul(tf.reshape(y, [-1, 144]), variable("w", 144, 4))
    loss = tf.reduce_mean(tf.square(y))
    return [tf.train.GradientDescentOptimizer(0.1).minimize(loss), loss], {x: numbers(4, 12, 12, 1)}


@program
def batch_norm() -> Built:
    x = tf.placeholder(tf.float32, [None, 6, 6, 8], name="x")
    scale, shift = variable("scale", 8), variable("shift", 8)
    y, mean, variance = tf.nn.fused_batch_norm(x, scale, shift)
    kept = variable("kept", 8)
    update = tf.assign(kept, kept * 0.9 + mean * 0.1)
    grads = tf.gradients(tf.reduce_sum(y * y * y), [x, scale])
    return [y, variance, update, *grads], {x: numbers(3, 6, 6, 8)}


@program
def lstm_loop() -> Built:
    x = tf.placeholder(tf.float32, [5, None, 6], name="x")
    kernel, bias = variable("kernel", 14, 32), variable("bias", 32)
    steps = tf.TensorArray(tf.float32, 5).unstack(x)

    def cell(step: Any, h: Any, c: Any) -> Any:
        gates = tf.matmul(tf.concat([steps.read(step), h], 1), kernel) + bias
        i, j, f, o = tf.split(gates, 4, 1)
        c = tf.sigmoid(f + 1.0) * c + tf.sigmoid(i) * tf.tanh(j)
        return step + 1, tf.sigmoid(o) * tf.tanh(c), c

    zero = tf.zeros([tf.shape(x)[1], 8])
    _, h, _ = tf.while_loop(
        lambda step, h, c: step < 5,
        cell,
        [0, zero, zero],
        shape_invariants=[tf.TensorShape([]), tf.TensorShape([None, 8]), tf.TensorShape([None, 8])],
    )
    grads = tf.gradients(tf.reduce_sum(h), [kernel, bias])
    return [h, *grads], {x: numbers(5, 3, 6)}


@program
def lstm_unrolled() -> Built:
    x = tf.placeholder(tf.float32, [3, None, 6], name="x")
    kernel, bias = variable("kernel", 14, 32), variable("bias", 32)
    h = c = tf.zeros([tf.shape(x)[1], 8])
    for step in range(3):
        gates = tf.matmul(tf.concat([x[step], h], 1), kernel) + bias
        i, j, f, o = tf.split(gates, 4, 1)
        c = tf.sigmoid(f + 1.0) * c + tf.sigmoid(i) * tf.tanh(j)
        h = tf.sigmoid(o) * tf.tanh(c)
    return [h, *tf.gradients(tf.reduce_sum(h), [kernel, bias])], {x: numbers(3, 2, 6)}


@program
def cond() -> Built:
    x = tf.placeholder(tf.float32, [None, 4], name="x")
    flag = tf.placeholder(tf.bool, [], name="flag")
    w = variable("w", 4, 4)
    y = tf.cond(flag, lambda: tf.matmul(x, w), lambda: tf.nn.relu(x) * 2.0)
    return y + 1.0, {x: numbers(3, 4), flag: np.array(True)}


@program
def optimizers() -> Built:
    steps = []
    for optimizer in (
        tf.train.GradientDescentOptimizer(0.1),
        tf.train.MomentumOptimizer(0.1, 0.9, use_nesterov=True),
        tf.train.RMSPropOptimizer(0.1),
        tf.train.AdagradOptimizer(0.1),
        tf.train.FtrlOptimizer(0.1),
    ):
        v = variable(optimizer.get_name(), 9)
        steps.append(optimizer.minimize(tf.reduce_sum(tf.square(v - 1.0)), var_list=[v]))
    return steps, {}


@program
def sparse_update() -> Built:
    table = variable("table", 50, 8)
    ids = tf.placeholder(tf.int32, [None], name="ids")
    rows = tf.nn.embedding_lookup(table, ids)
    train = tf.train.AdagradOptimizer(0.1).minimize(tf.reduce_mean(tf.square(rows)))
    return [train, rows], {ids: np.array([3, 1, 3, 40], np.int32)}


@program
def attention() -> Built:
    x = tf.placeholder(tf.float32, [None, 7, 16], name="x")
    q, k, v = (tf.tensordot(x, variable(f"p{name}", 16, 16), 1) for name in "qkv")
    weights = tf.nn.softmax(tf.matmul(q, k, transpose_b=True) / 4.0)
    y = tf.matmul(weights, v) + x
    return [y, *tf.gradients(tf.reduce_sum(y * y), [x])], {x: numbers(2, 7, 16)}


@program
def dropout() -> Built:
    x = tf.placeholder(tf.float32, [None, 11], name="x")
    return tf.nn.dropout(tf.tanh(x), rate=0.3, seed=7), {x: numbers(5, 11)}


@program
def assembled() -> Built:
    x = tf.placeholder(tf.float32, [None, 5], name="x")
    y = tf.pad(tf.concat([x[:, ::-1], tf.transpose(x)[:5] + x[:5, :1], x * x], 1), [[1, 0], [2, 1]])
    count = tf.cast(tf.shape(x)[0], tf.float32)
    return [y, tf.reduce_max(y, 1), tf.argmax(y, 0), tf.gather(y, [1, 0]) / count], {
        x: numbers(5, 5)
    }


@program
def read_write_order() -> Built:
    v = variable("v", 6)
    before = v * 2.0
    with tf.control_dependencies([before]):
        write = tf.assign_add(v, tf.ones([6]))
    with tf.control_dependencies([write]):
        after = tf.identity(v) + before
    return [before, after, tf.strings.as_string(tf.reduce_sum(after))], {}


@program
def black_scholes() -> Built:
    spot, strike = (tf.placeholder(tf.float32, [None], name=name) for name in ("spot", "strike"))
    d1 = (tf.log(spot / strike) + 0.06) / 0.3
    d2 = d1 - 0.3
    cdf = [0.5 + 0.5 * tf.erf(d * 0.7071068) for d in (d1, d2)]
    call = spot * cdf[0] - strike * cdf[1] * math.exp(-0.02)
    return call, {spot: np.abs(numbers(100)) + 1, strike: np.abs(numbers(100, seed=1)) + 1}
