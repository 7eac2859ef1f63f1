# SPDX-License-Identifier: Apache-2.0
"""Programs of TensorFlow 1 whose work is in loops and branches, as people write them.

Each takes the module (numbaflow or TensorFlow) and gives what to run and what to feed.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .decoder_programs import DECODERS, Program, values


def maps_and_folds(tf: Any) -> Program:
    """tf.map_fn, foldl, foldr and scan, and a step of training through them."""
    x = tf.placeholder(tf.float32, [None, 5], name="x")
    w = tf.get_variable("w", initializer=values(5, 5))
    b = tf.get_variable("b", initializer=values(5, seed=2))
    mapped = tf.map_fn(lambda row: tf.tanh(tf.squeeze(tf.matmul(row[None], w), 0)), x)
    pair = tf.map_fn(
        lambda rows: (rows[0] * rows[1], tf.reduce_sum(rows[0])),
        (x, mapped),
        dtype=(tf.float32, tf.float32),
    )
    left = tf.foldl(lambda a, row: tf.tanh(a + row * b), mapped)
    right = tf.foldr(lambda a, row: a * 0.5 + row, mapped, initializer=b)
    sums = tf.scan(lambda a, row: a * 0.9 + row, mapped)
    loss = (
        tf.reduce_sum(left)
        + tf.reduce_mean(right)
        + tf.reduce_mean(tf.square(sums))
        + tf.reduce_sum(pair[1])
    )
    train = tf.train.GradientDescentOptimizer(0.01).minimize(loss)
    return [train, loss, mapped, pair[0], left, right, sums], [
        {"x:0": values(7, 5)},
        {"x:0": values(3, 5, seed=2)},
    ]


def bidirectional_rnn(tf: Any) -> Program:
    """A bidirectional dynamic_rnn over sequences of several lengths, trained."""
    x = tf.placeholder(tf.float32, [None, None, 6], name="x")
    lengths = tf.placeholder(tf.int32, [None], name="lengths")
    cells = [
        tf.nn.rnn_cell.LSTMCell(8, initializer=tf.constant_initializer(0.1 + 0.1 * i))
        for i in range(2)
    ]
    (forward, backward), states = tf.nn.bidirectional_dynamic_rnn(
        *cells, x, sequence_length=lengths, dtype=tf.float32
    )
    loss = tf.reduce_mean(tf.square(tf.concat([forward, backward], -1) - 0.3)) + tf.reduce_sum(
        states[0].h * states[1].c
    )
    train = tf.train.AdamOptimizer(0.01).minimize(loss)
    return [loss, train, forward], [
        {"x:0": values(4, 7, 6), "lengths:0": [7, 2, 5, 1]},
        {"x:0": values(3, 9, 6), "lengths:0": [9, 2, 5]},
    ]


def nested_conditions(tf: Any) -> Program:
    """Conditionals within conditionals, differentiated twice."""
    x = tf.placeholder(tf.float32, [None], name="x")
    s = tf.reduce_sum(x)
    y = tf.cond(
        s > 0,
        lambda: tf.cond(s > 2.0, lambda: tf.exp(x) * s, lambda: x * x * x),
        lambda: tf.sin(x) * 2.0 * tf.cond(s < -3.0, lambda: x * x, lambda: s * x),
    )
    g = tf.gradients(y, x)[0]
    h = tf.gradients(g, x)[0]
    return [y, g, h], [
        {"x:0": v} for v in ([1.0, 2.0], [0.5, 0.25, 0.125], [-1.0, -0.5], [-3.0, -1.0])
    ]


def loop_in_condition(tf: Any) -> Program:
    """A loop in a branch, its gradient, and an update in the other."""
    x = tf.placeholder(tf.float32, [3], name="x")
    count = tf.placeholder(tf.int32, [], name="count")
    w = tf.get_variable("w", initializer=values(3))
    kept = tf.get_variable("kept", initializer=0.0)

    def iterate():
        return tf.while_loop(
            lambda i, a: i < count, lambda i, a: (i + 1, tf.tanh(a * w) + x), [0, x]
        )[1]

    def note():
        with tf.control_dependencies([tf.assign_add(kept, tf.reduce_sum(x))]):
            return x * w

    y = tf.cond(count > 0, iterate, note)
    g = tf.gradients(tf.reduce_sum(tf.square(y)), [w, x])
    with tf.control_dependencies([y]):
        return [y, *g, tf.identity(kept)], [
            {"x:0": [1.0, 0.5, -1.0], "count:0": n} for n in (6, 0, 2)
        ]


def condition_in_loop(tf: Any) -> Program:
    """Collatz-like: a branch in each turn, with gradients; a tf.case with four ways."""
    x = tf.placeholder(tf.float32, [], name="x")
    w = tf.get_variable("w", initializer=1.1)

    def body(i, a):
        a = tf.cond(a > 2.0, lambda: a / (w + 0.9), lambda: a * w + 1.0)
        return i + 1, tf.case(
            [
                (tf.equal(i % 4, 0), lambda: a + 0.5),
                (tf.equal(i % 4, 1), lambda: a * 1.01),
                (tf.equal(i % 4, 2), lambda: tf.sin(a) + 2.0),
            ],
            default=lambda: tf.identity(a),
            exclusive=True,
        )

    _, y = tf.while_loop(lambda i, a: i < 17, body, [0, x])
    return [y, *tf.gradients(y, [w, x])], [{"x:0": 3.0}, {"x:0": 0.1}]


def python_in_loop(tf: Any) -> Program:
    """A Python function, and strings, in each turn of a loop."""
    x = tf.placeholder(tf.float32, [None], name="x")

    def smooth(a, i):
        return np.convolve(a, [0.25, 0.5, 0.25], "same").astype("f4") + np.float32(i) * np.float32(
            0.01
        )

    def body(i, a, text):
        b = tf.py_func(smooth, [a, i], tf.float32)
        b.set_shape(a.shape)
        b = tf.tanh(tf.exp(b * 0.5) - 1.0)
        return i + 1, b, tf.string_join([text, tf.as_string(i)], ",")

    return list(
        tf.while_loop(
            lambda i, *_: i < 8,
            body,
            [0, x * 2.0, tf.constant("")],
            shape_invariants=[tf.TensorShape([]), tf.TensorShape([None]), tf.TensorShape([])],
        )
    )[1:], [{"x:0": values(6)}]


def conjugate_gradient(tf: Any) -> Program:
    """Solves A x = b with tf.while_loop until the residual is small."""
    matrix = tf.placeholder(tf.float64, [None, None], name="a")
    b = tf.placeholder(tf.float64, [None], name="b")

    def apply(v):
        return tf.squeeze(tf.matmul(matrix, v[:, None]), 1)

    def body(i, x, r, p, gamma):
        z = apply(p)
        alpha = gamma / tf.reduce_sum(p * z)
        x, r = x + alpha * p, r - alpha * z
        after = tf.reduce_sum(r * r)
        return i + 1, x, r, r + after / gamma * p, after

    zero = tf.zeros_like(b)
    result = tf.while_loop(
        lambda i, x, r, p, gamma: tf.logical_and(i < 50, tf.sqrt(gamma) > 1e-9),
        body,
        [0, zero, b, b, tf.reduce_sum(b * b)],
    )
    m = np.random.RandomState(0).standard_normal((20, 20))
    return [result[0], result[1]], [{"a:0": m @ m.T + 20 * np.eye(20), "b:0": np.arange(20.0)}]


def metropolis(tf: Any) -> Program:
    """Metropolis-Hastings: proposals, acceptance, and a history that grows."""
    steps = tf.placeholder(tf.int32, [], name="steps")

    def log_density(x):
        return -tf.reduce_sum(tf.square(tf.square(x) - 1.0), -1)

    def body(i, x, accepted, history):
        proposal = x + 0.5 * tf.random_normal([4, 2], seed=3)
        ratio = log_density(proposal) - log_density(x)
        accept = tf.log(tf.random_uniform([4], seed=5)) < ratio
        x = tf.where(accept, proposal, x)
        return i + 1, x, accepted + tf.to_int32(accept), tf.concat([history, x[None]], 0)

    start = tf.zeros([4, 2])
    result = tf.while_loop(
        lambda i, *_: i < steps,
        body,
        [0, start, tf.zeros([4], tf.int32), start[None]],
        parallel_iterations=1,
        shape_invariants=[
            tf.TensorShape([]),
            tf.TensorShape([4, 2]),
            tf.TensorShape([4]),
            tf.TensorShape([None, 4, 2]),
        ],
        back_prop=False,
    )
    return list(result[1:]), [{"steps:0": 60}]


def neural_ode(tf: Any) -> Program:
    """Runge-Kutta steps of a small network in a loop, trained through it."""
    x = tf.placeholder(tf.float32, [None, 4], name="x")
    w1, w2 = (
        tf.get_variable("w1", initializer=values(4, 16)),
        tf.get_variable("w2", initializer=values(16, 4, seed=1)),
    )

    def f(y):
        return tf.matmul(tf.tanh(tf.matmul(y, w1)), w2)

    def body(t, y):
        h = 0.1
        k1 = f(y)
        k2 = f(y + h / 2 * k1)
        k3 = f(y + h / 2 * k2)
        k4 = f(y + h * k3)
        return t + h, y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)

    _, y = tf.while_loop(lambda t, y: t < 1.95, body, [0.0, x])
    loss = tf.reduce_mean(tf.square(y - 0.5))
    train = tf.train.AdamOptimizer(0.01).minimize(loss)
    return [loss, train, y], [{"x:0": values(8, 4)}, {"x:0": values(8, 4, seed=4)}]


def growing_gradient(tf: Any) -> Program:
    """The gradient through a loop whose variable grows."""
    x = tf.placeholder(tf.float32, [None, 4], name="x")
    w = tf.get_variable("w", initializer=values(4, 4, scale=0.5))

    def body(i, y):
        return i + 1, tf.concat([y, tf.tanh(tf.matmul(y[-2:], w))], 0)

    _, y = tf.while_loop(
        lambda i, y: i < 5,
        body,
        [0, x],
        shape_invariants=[tf.TensorShape([]), tf.TensorShape([None, 4])],
    )
    loss = tf.reduce_sum(tf.square(y))
    return [y, loss, *tf.gradients(loss, [w, x])], [{"x:0": values(3, 4)}, {"x:0": values(5, 4)}]


def embedding_gradient(tf: Any) -> Program:
    """Gradients as slices, summed over the turns of a loop."""
    ids = tf.placeholder(tf.int32, [None, None], name="ids")  # time, batch
    table = tf.get_variable("t", initializer=values(10, 6))
    w = tf.get_variable("w", initializer=values(6, 6))

    def body(t, h):
        return t + 1, tf.tanh(tf.matmul(h, w) + tf.nn.embedding_lookup(table, ids[t]))

    _, h = tf.while_loop(
        lambda t, h: t < tf.shape(ids)[0], body, [0, tf.zeros([tf.shape(ids)[1], 6])]
    )
    loss = tf.reduce_sum(tf.square(h))
    grad = tf.convert_to_tensor(tf.gradients(loss, table)[0])
    return [loss, grad], [{"ids:0": [[1, 2, 3], [4, 2, 0], [1, 1, 9], [0, 3, 3]]}]


def ragged_array(tf: Any) -> Program:
    """TensorArrays whose elements have different shapes: split, concat, infer_shape=False."""
    x = tf.placeholder(tf.float32, [None, 3], name="x")
    lengths = tf.placeholder(tf.int32, [None], name="lengths")
    count = tf.size(lengths)
    parts = tf.TensorArray(tf.float32, size=count, infer_shape=False).split(x, lengths)
    out = tf.TensorArray(tf.float32, size=count, infer_shape=False)

    def body(i, out):
        part = parts.read(i)
        part.set_shape([None, 3])
        return i + 1, out.write(i, tf.cumsum(part) / tf.to_float(tf.shape(part)[0]))

    _, out = tf.while_loop(lambda i, _: i < count, body, [0, out])
    y = out.concat()
    return [y, tf.gradients(tf.reduce_sum(tf.square(y)), x)[0]], [
        {"x:0": values(9, 3), "lengths:0": [2, 3, 0, 4]}
    ]


def unknown_size_scan(tf: Any) -> Program:
    """Arrays whose size and element shape are known late: gathered, scattered, stacked."""
    size = tf.placeholder(tf.int32, [], name="size")
    x = tf.placeholder(tf.float32, [None, 3], name="x")
    array = tf.TensorArray(
        tf.float32, size=size, clear_after_read=False, dynamic_size=True
    ).scatter(tf.range(tf.shape(x)[0]), x)

    def body(i, array, total):
        row = array.read(i) + array.read(i - 1) * 0.5
        return i + 1, array.write(i + 1, row), total + tf.reduce_sum(array.gather([0, i]))

    start = tf.shape(x)[0] - 1
    _, array, total = tf.while_loop(lambda i, *_: i < size, body, [start, array, 0.0])
    return [array.stack(), total, array.size()], [
        {"x:0": values(3, 3), "size:0": 8},
        {"x:0": values(2, 3), "size:0": 4},
    ]


PROGRAMS = [
    *DECODERS,
    maps_and_folds,
    bidirectional_rnn,
    nested_conditions,
    loop_in_condition,
    condition_in_loop,
    python_in_loop,
    conjugate_gradient,
    metropolis,
    neural_ode,
    growing_gradient,
    embedding_gradient,
    ragged_array,
    unknown_size_scan,
]
