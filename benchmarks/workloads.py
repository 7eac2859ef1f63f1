# SPDX-License-Identifier: Apache-2.0
"""The workloads: functions of a `tensorflow` module that return (fetches, feeds).

Plain TensorFlow 1.x; whatever module runs them, the graphs are the same.  Results that would be
large stay in variables, so that no copy to the client is measured and no work can be dropped.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

Built = tuple[Any, dict[Any, Any] | None]
WORKLOADS: dict[str, Callable[[Any], Built]] = {}


def workload(build: Callable[[Any], Built]) -> Callable[[Any], Built]:
    """Registers a workload by its function's name."""
    WORKLOADS[build.__name__] = build
    return build


def images(count: int) -> tuple[np.ndarray, np.ndarray]:
    """Random images of 784 pixels and one-hot labels of ten classes."""
    random = np.random.default_rng(1)
    pixels = random.random((count, 784), dtype=np.float32)
    return pixels, np.eye(10, dtype=np.float32)[random.integers(0, 10, count)]


def keep(tf: Any, *results: Any) -> list[Any]:
    """Ops that store results in variables."""
    return [tf.assign(tf.Variable(tf.zeros(y.shape, y.dtype)), y).op for y in results]


def normal(shape: tuple[int, ...]) -> np.ndarray:
    return np.random.default_rng(0).standard_normal(shape, dtype=np.float32)


@workload
def two_scalar_ops(tf: Any) -> Built:
    x = tf.placeholder(tf.float32, [])
    return tf.add(tf.multiply(x, 0.1), 0.2), {x: 3.0}


@workload
def ten_op_chain(tf: Any) -> Built:
    x = tf.placeholder(tf.float32, [100])
    y = x
    for i in range(5):
        y = tf.sin(y) + 0.1 * i
    return y, {x: np.ones(100, np.float32)}


@workload
def black_scholes_f32_1e6(tf: Any) -> Built:
    random = np.random.default_rng(2)
    low_high = ((10, 50), (10, 50), (0.2, 2))
    data = [random.uniform(low, high, 1_000_000).astype(np.float32) for low, high in low_high]
    spot, strike, years = (tf.Variable(values) for values in data)
    rate, volatility = 0.02, 0.3
    spread = volatility * tf.sqrt(years)
    d1 = (tf.log(spot / strike) + (rate + volatility * volatility / 2) * years) / spread
    d2 = d1 - spread
    discounted = strike * tf.exp(-rate * years)

    def cdf(z: Any) -> Any:
        return 0.5 * (1 + tf.erf(z * 0.7071067811865476))

    call = spot * cdf(d1) - discounted * cdf(d2)
    put = discounted * cdf(-d2) - spot * cdf(-d1)
    return keep(tf, call, put), None


@workload
def softmax_4096x1000(tf: Any) -> Built:
    return keep(tf, tf.nn.softmax(tf.Variable(normal((4096, 1000))))), None


@workload
def layernorm_gelu_4096x1024(tf: Any) -> Built:
    x = tf.Variable(normal((4096, 1024)))
    mean, variance = tf.nn.moments(x, [1], keep_dims=True)
    y = (x - mean) * tf.rsqrt(variance + 1e-5)
    inner = 0.7978845608 * (y + 0.044715 * y * y * y)
    return keep(tf, 0.5 * y * (1 + tf.tanh(inner))), None


def placeholders(tf: Any) -> tuple[Any, Any]:
    return tf.placeholder(tf.float32, [None, 784]), tf.placeholder(tf.float32, [None, 10])


def dense(tf: Any, x: Any, inputs: int, units: int, activation: Any = None) -> Any:
    weights = tf.Variable(tf.random_normal([inputs, units], stddev=0.05))
    y = tf.matmul(x, weights) + tf.Variable(tf.zeros([units]))
    return y if activation is None else activation(y)


def cross_entropy(tf: Any, labels: Any, logits: Any) -> Any:
    losses = tf.nn.softmax_cross_entropy_with_logits_v2(labels=labels, logits=logits)
    return tf.reduce_mean(losses)


def mlp(tf: Any) -> tuple[Any, Any, Any, Any]:
    """(train op, loss, images, labels) of a 784-256-256-10 network with Adam."""
    x, labels = placeholders(tf)
    h = dense(tf, dense(tf, x, 784, 256, tf.nn.relu), 256, 256, tf.nn.relu)
    loss = cross_entropy(tf, labels, dense(tf, h, 256, 10))
    return tf.train.AdamOptimizer(1e-3).minimize(loss), loss, x, labels


@workload
def mlp_adam_b128(tf: Any) -> Built:
    train, loss, x, labels = mlp(tf)
    pixels, classes = images(128)
    return [train, loss], {x: pixels, labels: classes}


@workload
def lenet_adam_b64(tf: Any) -> Built:
    x, labels = placeholders(tf)

    def conv(h: Any, inputs: int, channels: int) -> Any:
        kernel = tf.Variable(tf.random_normal([5, 5, inputs, channels], stddev=0.1))
        bias = tf.Variable(tf.constant(0.1, shape=[channels]))
        h = tf.nn.relu(tf.nn.conv2d(h, kernel, strides=[1, 1, 1, 1], padding="SAME") + bias)
        return tf.nn.max_pool(h, ksize=[1, 2, 2, 1], strides=[1, 2, 2, 1], padding="SAME")

    h = conv(conv(tf.reshape(x, [-1, 28, 28, 1]), 1, 32), 32, 64)
    h = dense(tf, tf.reshape(h, [-1, 3136]), 3136, 1024, tf.nn.relu)
    loss = cross_entropy(tf, labels, dense(tf, h, 1024, 10))
    pixels, classes = images(64)
    return [tf.train.AdamOptimizer(1e-4).minimize(loss), loss], {x: pixels, labels: classes}


@workload
def lstm_28x128_b128(tf: Any) -> Built:
    x, labels = placeholders(tf)
    units = 128
    weights = tf.Variable(tf.random_normal([28 + units, 4 * units], stddev=0.05))
    bias = tf.Variable(tf.zeros([4 * units]))
    cell = hidden = tf.zeros([128, units])
    for t in range(28):
        row = x[:, 28 * t : 28 * t + 28]
        gates = tf.matmul(tf.concat([row, hidden], 1), weights) + bias
        i, j, f, o = tf.split(gates, 4, 1)
        cell = cell * tf.sigmoid(f + 1.0) + tf.sigmoid(i) * tf.tanh(j)
        hidden = tf.tanh(cell) * tf.sigmoid(o)
    loss = cross_entropy(tf, labels, dense(tf, hidden, units, 10))
    train = tf.train.GradientDescentOptimizer(1e-2).minimize(loss)
    pixels, classes = images(128)
    return [train, loss], {x: pixels, labels: classes}


@workload
def adam_10m(tf: Any) -> Built:
    weights = tf.Variable(tf.zeros([10_000_000]))
    gradient = weights * 0.5 + 0.1
    return tf.train.AdamOptimizer(1e-3).apply_gradients([(gradient, weights)]), None
