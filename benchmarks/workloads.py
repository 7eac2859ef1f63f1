# SPDX-License-Identifier: Apache-2.0
"""The workloads: functions of a `tensorflow` module that return (fetches, feeds), and their costs.

Plain TensorFlow 1.x: numbaflow, TensorFlow and TensorFlow with XLA run the same text.  Results that
would be large stay in variables, so that no copy to the client is measured and no work can be
dropped.  A workload's sizes have defaults, the ones that are measured; tests take smaller ones.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .costs import Tally, parameters
from .data import DEEP_LAYERS, LENET_FILTERS, LENET_UNITS, images, normal, options

Built = tuple[Any, dict[Any, Any] | None]
WORKLOADS: dict[str, Callable[..., Built]] = {}
COSTS: dict[str, Callable[..., None]] = {}
MLP_UNITS = (784, 256, 256, 10)


def workload(cost: Callable[..., None]) -> Callable[..., Any]:
    """Registers a workload by its function's name, with the formula of what it must cost."""

    def register(build: Callable[..., Built]) -> Callable[..., Built]:
        WORKLOADS[build.__name__] = build
        COSTS[build.__name__] = cost
        return build

    return register


def keep(tf: Any, *results: Any) -> list[Any]:
    """Ops that store results in variables."""
    return [tf.assign(tf.Variable(tf.zeros(y.shape, y.dtype)), y).op for y in results]


def _two_scalar_ops(tally: Tally) -> None:
    tally.moves(2)
    tally.applies(1, "fma")


@workload(_two_scalar_ops)
def two_scalar_ops(tf: Any) -> Built:
    x = tf.placeholder(tf.float32, [])
    return tf.add(tf.multiply(x, 0.1), 0.2), {x: 3.0}


def _ten_op_chain(tally: Tally, n: int = 100) -> None:
    tally.moves(2 * n)
    tally.applies(n, "sin add " * 5)


@workload(_ten_op_chain)
def ten_op_chain(tf: Any, n: int = 100) -> Built:
    x = tf.placeholder(tf.float32, [n])
    y = x
    for i in range(5):
        y = tf.sin(y) + 0.1 * i
    return y, {x: np.ones(n, np.float32)}


def _black_scholes(tally: Tally, n: int = 1_000_000) -> None:
    # The normal distribution at -d is one minus that at d: two erf, not four.
    tally.moves(5 * n)
    tally.applies(n, "sqrt mul div log fma div sub exp mul mul erf fma mul erf fma mul")
    tally.applies(n, "mul fma sub sub mul fma")


def black_scholes(tf: Any, dtype: str, n: int) -> Built:
    spot, strike, years = (tf.Variable(values) for values in options(n, dtype))
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


@workload(_black_scholes)
def black_scholes_f32(tf: Any, n: int = 1_000_000) -> Built:
    return black_scholes(tf, "float32", n)


def _black_scholes_f64(tally: Tally, n: int = 1_000_000) -> None:
    tally.dtype = "float64"
    _black_scholes(tally, n)


@workload(_black_scholes_f64)
def black_scholes_f64(tf: Any, n: int = 1_000_000) -> Built:
    return black_scholes(tf, "float64", n)


def _softmax(tally: Tally, rows: int = 4096, columns: int = 1000) -> None:
    tally.moves(2 * rows * columns)
    tally.applies(rows * columns, "max sub exp add mul")


@workload(_softmax)
def softmax(tf: Any, rows: int = 4096, columns: int = 1000) -> Built:
    return keep(tf, tf.nn.softmax(tf.Variable(normal(rows, columns)))), None


def _layernorm_gelu(tally: Tally, rows: int = 4096, columns: int = 1024) -> None:
    tally.moves(2 * rows * columns)
    tally.applies(rows * columns, "add sub fma mul mul fma mul tanh fma mul")


@workload(_layernorm_gelu)
def layernorm_gelu(tf: Any, rows: int = 4096, columns: int = 1024) -> Built:
    x = tf.Variable(normal(rows, columns))
    mean, variance = tf.nn.moments(x, [1], keep_dims=True)
    y = (x - mean) * tf.rsqrt(variance + 1e-5)
    inner = 0.7978845608 * (y + 0.044715 * y * y * y)
    return keep(tf, 0.5 * y * (1 + tf.tanh(inner))), None


def placeholders(tf: Any) -> tuple[Any, Any]:
    """Images and labels of any number."""
    return tf.placeholder(tf.float32, [None, 784]), tf.placeholder(tf.float32, [None, 10])


def dense(tf: Any, x: Any, inputs: int, units: int, activation: Any = None) -> Any:
    """A fully connected layer."""
    weights = tf.Variable(tf.random_normal([inputs, units], stddev=0.05))
    y = tf.matmul(x, weights) + tf.Variable(tf.zeros([units]))
    return y if activation is None else activation(y)


def cross_entropy(tf: Any, labels: Any, logits: Any) -> Any:
    """The mean loss of a batch."""
    losses = tf.nn.softmax_cross_entropy_with_logits_v2(labels=labels, logits=logits)
    return tf.reduce_mean(losses)


def feed(x: Any, labels: Any, batch: int) -> dict[Any, Any]:
    """Images and labels for the placeholders."""
    return dict(zip((x, labels), images(batch)))


def _softmax_regression(tally: Tally, batch: int = 100) -> None:
    tally.feeds_images(batch)
    tally.dense(batch, 784, 10)
    tally.updates(parameters(784, 10))
    tally.applies(parameters(784, 10), "fma")
    tally.applies(batch * 10, "max sub exp add mul sub mul")


@workload(_softmax_regression)
def softmax_regression(tf: Any, batch: int = 100) -> Built:
    x, labels = placeholders(tf)
    weights, bias = tf.Variable(tf.zeros([784, 10])), tf.Variable(tf.zeros([10]))
    loss = cross_entropy(tf, labels, tf.matmul(x, weights) + bias)
    train = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
    return [train, loss], feed(x, labels, batch)


def _mlp_adam(tally: Tally, batch: int = 128) -> None:
    tally.feeds_images(batch)
    tally.dense(batch, *MLP_UNITS)
    tally.adam(parameters(*MLP_UNITS))


def mlp(tf: Any) -> tuple[Any, Any, Any, Any]:
    """(train op, loss, images, labels) of a 784-256-256-10 network with Adam."""
    x, labels = placeholders(tf)
    h = dense(tf, dense(tf, x, 784, 256, tf.nn.relu), 256, 256, tf.nn.relu)
    loss = cross_entropy(tf, labels, dense(tf, h, 256, 10))
    return tf.train.AdamOptimizer(1e-3).minimize(loss), loss, x, labels


@workload(_mlp_adam)
def mlp_adam(tf: Any, batch: int = 128) -> Built:
    train, loss, x, labels = mlp(tf)
    return [train, loss], feed(x, labels, batch)


def _lenet_adam(tally: Tally, batch: int = 64) -> None:
    tally.feeds_images(batch)
    tally.convolution(batch, 28, 5, 1, 32, gradients=1, pool=4)
    tally.convolution(batch, 14, 5, 32, 64, gradients=2, pool=4)
    tally.dense(batch, *LENET_UNITS, first_gradient=True)
    filters = sum((25 * inputs + 1) * outputs for inputs, outputs in LENET_FILTERS)
    tally.adam(filters + parameters(*LENET_UNITS))


@workload(_lenet_adam)
def lenet_adam(tf: Any, batch: int = 64) -> Built:
    x, labels = placeholders(tf)
    h = tf.reshape(x, [-1, 28, 28, 1])
    for inputs, outputs in LENET_FILTERS:
        filters = tf.Variable(tf.random_normal([5, 5, inputs, outputs], stddev=0.1))
        bias = tf.Variable(tf.constant(0.1, shape=[outputs]))
        h = tf.nn.relu(tf.nn.conv2d(h, filters, strides=[1, 1, 1, 1], padding="SAME") + bias)
        h = tf.nn.max_pool(h, ksize=[1, 2, 2, 1], strides=[1, 2, 2, 1], padding="SAME")
    flat, units, classes = LENET_UNITS
    h = dense(tf, tf.reshape(h, [-1, flat]), flat, units, tf.nn.relu)
    loss = cross_entropy(tf, labels, dense(tf, h, units, classes))
    train = tf.train.AdamOptimizer(1e-4).minimize(loss)
    return [train, loss], feed(x, labels, batch)


def _lstm_sgd(tally: Tally, batch: int = 128, steps: int = 28, units: int = 128) -> None:
    # Pixels need no gradient, and the first hidden state is zero.
    tally.feeds_images(batch)
    tally.product(2 * steps * batch, 28, 4 * units)
    tally.product(3 * (steps - 1) * batch, units, 4 * units)
    tally.dense(batch, units, 10, first_gradient=True)
    cells = steps * batch * units
    tally.applies(cells, "sigmoid sigmoid sigmoid tanh tanh mul fma mul")
    tally.applies(cells, "fma mul mul mul mul fma mul mul fma mul fma mul")
    weights = parameters(28 + units, 4 * units) + parameters(units, 10)
    tally.updates(weights)
    tally.applies(weights, "fma")


@workload(_lstm_sgd)
def lstm_sgd(tf: Any, batch: int = 128, steps: int = 28, units: int = 128) -> Built:
    x, labels = placeholders(tf)
    weights = tf.Variable(tf.random_normal([28 + units, 4 * units], stddev=0.05))
    bias = tf.Variable(tf.zeros([4 * units]))
    cell = hidden = tf.zeros([batch, units])
    for t in range(steps):
        row = x[:, 28 * t : 28 * t + 28]
        gates = tf.matmul(tf.concat([row, hidden], 1), weights) + bias
        i, j, f, o = tf.split(gates, 4, 1)
        cell = cell * tf.sigmoid(f + 1.0) + tf.sigmoid(i) * tf.tanh(j)
        hidden = tf.tanh(cell) * tf.sigmoid(o)
    loss = cross_entropy(tf, labels, dense(tf, hidden, units, 10))
    train = tf.train.GradientDescentOptimizer(1e-2).minimize(loss)
    return [train, loss], feed(x, labels, batch)


def _adam_update(tally: Tally, n: int = 10_000_000) -> None:
    tally.adam(n)
    tally.applies(n, "fma")


@workload(_adam_update)
def adam_update(tf: Any, n: int = 10_000_000) -> Built:
    weights = tf.Variable(tf.zeros([n]))
    gradient = weights * 0.5 + 0.1
    return tf.train.AdamOptimizer(1e-3).apply_gradients([(gradient, weights)]), None


def _deep_mlp(tally: Tally, batch: int = 64, units: int = 64, layers: int = DEEP_LAYERS) -> None:
    tally.feeds_images(batch)
    widths = (784, *[units] * (layers - 1), 10)
    tally.dense(batch, *widths)
    tally.adam(parameters(*widths))


@workload(_deep_mlp)
def deep_mlp(tf: Any, batch: int = 64, units: int = 64, layers: int = DEEP_LAYERS) -> Built:
    x, labels = placeholders(tf)
    h = dense(tf, x, 784, units, tf.nn.relu)
    for _ in range(layers - 2):
        h = dense(tf, h, units, units, tf.nn.relu)
    loss = cross_entropy(tf, labels, dense(tf, h, units, 10))
    train = tf.train.AdamOptimizer(1e-3).minimize(loss)
    return [train, loss], feed(x, labels, batch)


def costs(name: str, operations_of: Callable[[str, str], int], **sizes: int) -> Tally:
    """The cost of a workload at its own or other sizes."""
    tally = Tally(operations_of)
    COSTS[name](tally, **sizes)
    return tally
