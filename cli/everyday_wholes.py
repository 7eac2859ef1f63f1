# SPDX-License-Identifier: Apache-2.0
"""Everyday programs that are no network with a loss and an optimizer; see cli/everyday.py.

Of each, the fetches of its runs.  As in cli/everyday_nets.py, sizes do not matter.  `tf` is this
package.  Imports nothing.
"""

from __future__ import annotations

from typing import Any

_OTHERS = {"beta1": 0.5}  # what Adam is told where two networks learn from each other


def acting(tf: Any) -> list[list[Any]]:
    """What draws an action of a policy, and values a state."""
    state = tf.placeholder(tf.float32, [None, 40])
    h = tf.layers.dense(tf.layers.dense(state, 40, tf.nn.tanh), 40, tf.nn.tanh)
    logits = tf.layers.dense(h, 5)
    value = tf.squeeze(tf.layers.dense(h, 1), 1)
    return [[tf.squeeze(tf.multinomial(logits, 1), 1), value, logits]]


def beginning(tf: Any) -> list[list[Any]]:
    """What gives variables their first values."""
    makers = (
        tf.glorot_uniform_initializer(),
        tf.truncated_normal_initializer(stddev=0.1),
        tf.random_normal_initializer(stddev=0.1),
        tf.random_uniform_initializer(-0.1, 0.1),
        tf.variance_scaling_initializer(),
        tf.orthogonal_initializer(),
    )
    for number, maker in enumerate(makers):
        tf.get_variable(f"v{number}", [40, 40], initializer=maker)
    return [[tf.global_variables_initializer()]]


def _steps(tf: Any, maker: Any, judge: Any) -> list[list[Any]]:
    """Both steps of two networks of which one judges what the other makes."""

    def costs(logits: Any, label: Any) -> Any:
        labels = label(logits)
        each = tf.nn.sigmoid_cross_entropy_with_logits(labels=labels, logits=logits)
        return tf.reduce_mean(each)

    with tf.variable_scope("maker"):
        made = maker()
    with tf.variable_scope("judge"):
        true = judge(tf.placeholder(tf.float32, made.shape))
    with tf.variable_scope("judge", reuse=True):
        false = judge(made)
    judging = costs(true, tf.ones_like) + costs(false, tf.zeros_like)
    making = costs(false, tf.ones_like)
    runs = []
    for loss, scope in ((judging, "judge"), (making, "maker")):
        own = tf.trainable_variables(scope)
        with tf.control_dependencies(tf.get_collection(tf.GraphKeys.UPDATE_OPS, scope)):
            step = tf.train.AdamOptimizer(2e-4, **_OTHERS).minimize(loss, var_list=own)
        runs.append([step, loss])
    return [*runs, [made]]


def adversaries(tf: Any) -> list[list[Any]]:
    """Two perceptrons that learn from each other."""

    def maker() -> Any:
        h = tf.placeholder(tf.float32, [None, 40])
        return tf.layers.dense(tf.layers.dense(h, 48, tf.nn.relu), 200, tf.sigmoid)

    def judge(h: Any) -> Any:
        return tf.layers.dense(tf.layers.dense(h, 48, tf.nn.relu), 1)

    return _steps(tf, maker, judge)


def picture_adversaries(tf: Any) -> list[list[Any]]:
    """The same of convolutions, with batch norm."""

    def normed(h: Any) -> Any:
        return tf.layers.batch_normalization(h, training=True, momentum=0.9, epsilon=1e-5)

    def maker() -> Any:
        h = tf.layers.dense(tf.placeholder(tf.float32, [None, 40]), 6 * 6 * 80)
        h = tf.nn.relu(normed(tf.reshape(h, [-1, 6, 6, 80])))
        for filters in (40, 20):
            up = tf.layers.conv2d_transpose(h, filters, 5, 2, padding="same")
            h = tf.nn.relu(normed(up))
        return tf.tanh(tf.layers.conv2d_transpose(h, 3, 5, 2, padding="same"))

    def judge(h: Any) -> Any:
        h = tf.nn.leaky_relu(tf.layers.conv2d(h, 20, 5, 2, padding="same"))
        for filters in (40, 80):
            h = normed(tf.layers.conv2d(h, filters, 5, 2, padding="same"))
            h = tf.nn.leaky_relu(h)
        return tf.layers.dense(tf.layers.flatten(h), 1)

    return _steps(tf, maker, judge)


def variational(tf: Any) -> list[list[Any]]:
    """A perceptron that codes what it sees with noise, and another that decodes it."""
    x = tf.placeholder(tf.float32, [None, 200])
    h = tf.layers.dense(x, 48, tf.nn.relu)
    mean, log_variance = tf.layers.dense(h, 20), tf.layers.dense(h, 20)
    noise = tf.random_normal(tf.shape(mean))
    code = mean + tf.exp(0.5 * log_variance) * noise
    logits = tf.layers.dense(tf.layers.dense(code, 48, tf.nn.relu), 200)
    costs = tf.nn.sigmoid_cross_entropy_with_logits(labels=x, logits=logits)
    apart = 1 + log_variance - tf.square(mean) - tf.exp(log_variance)
    loss = tf.reduce_mean(tf.reduce_sum(costs, 1) - 0.5 * tf.reduce_sum(apart, 1))
    return [[tf.train.AdamOptimizer(1e-3).minimize(loss), loss], [tf.sigmoid(logits)]]


def neighbours(tf: Any) -> list[list[Any]]:
    """Words that are told from others by those beside them, with noise for the rest."""
    words, beside = tf.placeholder(tf.int32, [40]), tf.placeholder(tf.int32, [40, 1])
    table = tf.Variable(tf.random_uniform([300, 24], -1.0, 1.0))
    weights, biases = tf.Variable(tf.truncated_normal([300, 24])), tf.Variable(tf.zeros([300]))
    rows = tf.nn.embedding_lookup(table, words)
    runs = []
    for costs in (tf.nn.nce_loss, tf.nn.sampled_softmax_loss):
        loss = tf.reduce_mean(costs(weights, biases, beside, rows, num_sampled=20, num_classes=300))
        for optimizer in (tf.train.GradientDescentOptimizer(1.0), tf.train.AdagradOptimizer(0.5)):
            runs.append([optimizer.minimize(loss), loss])
    norm = tf.sqrt(tf.reduce_sum(tf.square(table), 1, keepdims=True))
    near = tf.nn.embedding_lookup(table / norm, tf.placeholder(tf.int32, [16]))
    return [*runs, [tf.matmul(near, table / norm, transpose_b=True)]]


def factors(tf: Any) -> list[list[Any]]:
    """Users and things, each a row of numbers, and what users think of things."""
    users, things = (tf.placeholder(tf.int32, [None]) for _ in range(2))
    marks = tf.placeholder(tf.float32, [None])
    p, q = tf.get_variable("p", [300, 24]), tf.get_variable("q", [200, 24])
    b, c = tf.get_variable("b", [300]), tf.get_variable("c", [200])
    mine, its = tf.nn.embedding_lookup(p, users), tf.nn.embedding_lookup(q, things)
    guess = tf.reduce_sum(mine * its, 1)
    guess += tf.nn.embedding_lookup(b, users) + tf.nn.embedding_lookup(c, things)
    loss = tf.reduce_mean(tf.square(guess - marks))
    loss += 0.02 * (tf.nn.l2_loss(mine) + tf.nn.l2_loss(its))
    runs = [[tf.train.GradientDescentOptimizer(0.1).minimize(loss), loss]]
    return [*runs, [tf.train.AdamOptimizer(1e-3).minimize(loss), loss], [guess]]


def actor_and_critic(tf: Any) -> list[list[Any]]:
    """A policy and what states are worth, learnt together."""
    state = tf.placeholder(tf.float32, [None, 40])
    h = tf.layers.dense(tf.layers.dense(state, 40, tf.nn.relu), 40, tf.nn.relu)
    logits, value = tf.layers.dense(h, 5), tf.squeeze(tf.layers.dense(h, 1), 1)
    chosen, gained = tf.placeholder(tf.int32, [None]), tf.placeholder(tf.float32, [None])
    cost = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=chosen, logits=logits)
    gain = tf.reduce_mean(tf.stop_gradient(gained - value) * cost)
    shares = tf.nn.softmax(logits)
    entropy = tf.reduce_mean(tf.reduce_sum(-shares * tf.nn.log_softmax(logits), 1))
    loss = gain + 0.5 * tf.reduce_mean(tf.square(gained - value)) - 0.01 * entropy
    optimizer = tf.train.RMSPropOptimizer(7e-4, decay=0.99, epsilon=1e-5)
    gradients, variables = zip(*optimizer.compute_gradients(loss), strict=True)
    short, _ = tf.clip_by_global_norm(gradients, 0.5)
    step = optimizer.apply_gradients(zip(short, variables, strict=True))
    return [[step, loss, entropy], [shares, value]]


WHOLE = (
    *(acting, beginning, adversaries, picture_adversaries, variational),
    *(neighbours, factors, actor_and_critic),
)
