# SPDX-License-Identifier: Apache-2.0
"""Everyday programs of other kinds: adversaries that are held back, twins, flows, recommendations,
equations; see cli/everyday.py.

Of each, the fetches of its runs.  As in cli/everyday_nets.py, sizes do not matter.  `tf` is this
package.  Imports nothing.
"""

from __future__ import annotations

from typing import Any

_RATE = 1e-3


def _adam(tf: Any, loss: Any, scope: str = "", **options: float) -> Any:
    with tf.control_dependencies(tf.get_collection(tf.GraphKeys.UPDATE_OPS)):
        own = tf.trainable_variables(scope)
        return tf.train.AdamOptimizer(1e-4, **options).minimize(loss, var_list=own)


def _judge(tf: Any, h: Any) -> Any:
    with tf.variable_scope("judge", reuse=tf.AUTO_REUSE):
        for number, filters in enumerate((24, 40)):
            h = tf.layers.conv2d(h, filters, 5, 2, padding="same", name=f"c{number}")
            h = tf.nn.leaky_relu(h)
        return tf.layers.dense(tf.layers.flatten(h), 1, name="out")


def held_back(tf: Any) -> list[list[Any]]:
    """Two networks that learn from each other, of which one must have slopes of about one."""
    true = tf.placeholder(tf.float32, [None, 24, 24, 1])
    with tf.variable_scope("maker"):
        h = tf.layers.dense(tf.random_normal([tf.shape(true)[0], 40]), 48, tf.nn.relu)
        made = tf.reshape(tf.layers.dense(h, 24 * 24, tf.sigmoid), [-1, 24, 24, 1])
    share = tf.random_uniform([tf.shape(true)[0], 1, 1, 1])
    between = true + share * (made - true)
    slope = tf.gradients(_judge(tf, between), [between])[0]
    length = tf.sqrt(tf.reduce_sum(tf.square(slope), [1, 2, 3]))
    away = tf.reduce_mean((length - 1.0) ** 2)
    of_true, of_made = _judge(tf, true), _judge(tf, made)
    making = -tf.reduce_mean(of_made)
    judging = tf.reduce_mean(of_made) - tf.reduce_mean(of_true) + 10.0 * away
    both = tf.reduce_mean(tf.nn.relu(1 - of_true)) + tf.reduce_mean(tf.nn.relu(1 + of_made))
    options = {"beta1": 0.5, "beta2": 0.9}
    runs = [[_adam(tf, loss, "judge", **options), loss] for loss in (judging, both)]
    return [*runs, [_adam(tf, making, "maker", **options), making]]


def twins(tf: Any) -> list[list[Any]]:
    """One network that sees pictures in twos and in threes, and what is alike shall be near."""

    def network(h: Any) -> Any:
        with tf.variable_scope("network", reuse=tf.AUTO_REUSE):
            for number, filters in enumerate((24, 40)):
                h = tf.layers.conv2d(h, filters, 5, activation=tf.nn.relu, name=f"c{number}")
                h = tf.layers.max_pooling2d(h, 2, 2)
            return tf.layers.dense(tf.layers.flatten(h), 48, name="out")

    def apart(first: Any, second: Any) -> Any:
        return tf.reduce_sum(tf.square(first - second), 1)

    pictures = [tf.placeholder(tf.float32, [None, 28, 28, 1]) for _ in range(3)]
    flat = [network(picture) for picture in pictures]
    rows = [tf.nn.l2_normalize(row, 1) for row in flat]
    near, far = apart(rows[0], rows[1]), apart(rows[0], rows[2])
    threes = tf.reduce_mean(tf.maximum(near - far + 0.2, 0.0))
    alike = tf.placeholder(tf.float32, [None])
    distance = tf.sqrt(apart(flat[0], flat[1]) + 1e-6)
    twos = alike * tf.square(distance) + (1 - alike) * tf.square(tf.maximum(1.0 - distance, 0.0))
    twos = tf.reduce_mean(twos)
    return [[_adam(tf, loss), loss] for loss in (threes, twos)]


def coupled(tf: Any) -> list[list[Any]]:
    """Numbers turned into noise and back, half of them by what the others are."""
    x = tf.placeholder(tf.float32, [None, 40])
    h, size = x, 0.0
    for number in range(4):
        first, second = tf.split(h, 2, 1)
        inner = tf.layers.dense(tf.layers.dense(first, 48, tf.nn.relu), 48, tf.nn.relu)
        scale, shift = tf.layers.dense(inner, 20, tf.tanh), tf.layers.dense(inner, 20)
        h = tf.concat([second * tf.exp(scale) + shift, first], 1)
        size = size + tf.reduce_sum(scale, 1)
        if number % 2:
            log = tf.get_variable(f"log{number}", [40], initializer=tf.zeros_initializer())
            h, size = h * tf.exp(log), size + tf.reduce_sum(log)
    likely = tf.reduce_sum(-0.5 * (tf.square(h) + 1.8378770664093453), 1) + size
    loss = -tf.reduce_mean(likely)
    return [[_adam(tf, loss), loss], [h]]


def pairs(tf: Any) -> list[list[Any]]:
    """Categories of which every two may mean something together, with layers beside."""
    numbers = tf.placeholder(tf.int32, [None, 24])
    values = tf.placeholder(tf.float32, [None, 24])
    label = tf.placeholder(tf.float32, [None, 1])
    rows = tf.get_variable("rows", [300, 20])
    weights = tf.get_variable("weights", [300, 1])
    found = tf.nn.embedding_lookup(rows, numbers) * tf.expand_dims(values, 2)
    single = tf.nn.embedding_lookup(weights, numbers) * tf.expand_dims(values, 2)
    joint = tf.square(tf.reduce_sum(found, 1)) - tf.reduce_sum(tf.square(found), 1)
    logit = tf.reduce_sum(single, 1) + 0.5 * tf.reduce_sum(joint, 1, keepdims=True)
    h = tf.reshape(found, [-1, 24 * 20])
    for _ in range(2):
        h = tf.layers.batch_normalization(tf.layers.dense(h, 48, tf.nn.relu), training=True)
        h = tf.layers.dropout(h, 0.2, training=True)
    logit = logit + tf.layers.dense(h, 1)
    costs = tf.nn.sigmoid_cross_entropy_with_logits(labels=label, logits=logit)
    small = 1e-5 * (tf.nn.l2_loss(rows) + tf.nn.l2_loss(weights))
    losses = (tf.reduce_mean(costs) + small, tf.losses.log_loss(label, tf.sigmoid(logit)))
    return [*([_adam(tf, loss), loss] for loss in losses), [tf.sigmoid(logit)]]


def looked_at(tf: Any) -> list[list[Any]]:
    """What a user has looked at, weighed by what is offered."""
    item, label = tf.placeholder(tf.int32, [None]), tf.placeholder(tf.float32, [None])
    history, lengths = tf.placeholder(tf.int32, [None, 24]), tf.placeholder(tf.int32, [None])
    table = tf.get_variable("items", [300, 24])
    bias = tf.get_variable("biases", [300], initializer=tf.zeros_initializer())
    query, seen = (tf.nn.embedding_lookup(table, i) for i in (item, history))
    beside = tf.tile(tf.expand_dims(query, 1), [1, 24, 1])
    both = tf.concat([beside, seen, beside - seen, beside * seen], -1)
    scores = tf.squeeze(tf.layers.dense(tf.layers.dense(both, 40, tf.sigmoid), 1), 2)
    mask = tf.sequence_mask(lengths, 24)
    scores = tf.where(mask, scores, tf.ones_like(scores) * -4294967295.0)
    shares = tf.expand_dims(tf.nn.softmax(scores), 1)
    h = tf.concat([tf.squeeze(tf.matmul(shares, seen), 1), query], 1)
    h = tf.layers.dense(tf.layers.batch_normalization(h, training=True), 48, tf.sigmoid)
    logit = tf.squeeze(tf.layers.dense(h, 1), 1) + tf.nn.embedding_lookup(bias, item)
    costs = tf.nn.sigmoid_cross_entropy_with_logits(labels=label, logits=logit)
    loss = tf.reduce_mean(costs)
    short, _ = tf.clip_by_global_norm(tf.gradients(loss, tf.trainable_variables()), 5.0)
    step = tf.train.GradientDescentOptimizer(1.0).apply_gradients(
        zip(short, tf.trainable_variables(), strict=True)
    )
    return [[step, loss], [_adam(tf, loss), loss]]


def equation(tf: Any) -> list[list[Any]]:
    """A network whose slopes are those that an equation asks for."""
    place, time = (tf.placeholder(tf.float32, [None, 1]) for _ in range(2))
    edge, wanted = tf.placeholder(tf.float32, [None, 2]), tf.placeholder(tf.float32, [None, 1])

    def network(h: Any) -> Any:
        with tf.variable_scope("network", reuse=tf.AUTO_REUSE):
            for number in range(3):
                h = tf.layers.dense(h, 20, tf.tanh, name=f"d{number}")
            return tf.layers.dense(h, 1, name="out")

    u = network(tf.concat([place, time], 1))
    by_time, by_place = tf.gradients(u, [time, place])
    twice = tf.gradients(by_place, place)[0]
    wrong = tf.reduce_mean(tf.square(by_time + u * by_place - 0.01 * twice))
    loss = wrong + tf.reduce_mean(tf.square(wanted - network(edge)))
    return [[_adam(tf, loss), loss], [u]]


def taught(tf: Any) -> list[list[Any]]:
    """A network, the average of its earlier selves, and labels that are a little uncertain."""
    x, number = tf.placeholder(tf.float32, [None, 200]), tf.placeholder(tf.int32, [None])
    h = tf.layers.dense(tf.contrib.layers.layer_norm(tf.layers.dense(x, 64)), 48, tf.nn.selu)
    logits = tf.layers.dense(h, 20)
    labels = tf.one_hot(number, 20)
    loss = tf.losses.softmax_cross_entropy(labels, logits, label_smoothing=0.1)
    average = tf.train.ExponentialMovingAverage(0.999)
    runs = []
    for maker in (tf.train.AdamOptimizer(_RATE), tf.train.MomentumOptimizer(0.1, 0.9)):
        with tf.control_dependencies([maker.minimize(loss)]):
            runs.append([average.apply(tf.trainable_variables()), loss])
    right, told = tf.metrics.accuracy(number, tf.argmax(logits, 1))
    return [*runs, [right, told], [*tf.metrics.mean(loss)]]


def shortened(tf: Any) -> list[list[Any]]:
    """Gradients that are kept short one by one, or number by number, or added up over batches."""
    x, y = tf.placeholder(tf.float32, [None, 200]), tf.placeholder(tf.float32, [None, 20])
    out = tf.layers.dense(tf.layers.dense(x, 64, tf.nn.relu), 20)
    loss = tf.reduce_mean(tf.square(out - y))
    runs = []
    for maker in (tf.train.AdamOptimizer(_RATE), tf.train.RMSPropOptimizer(_RATE)):
        known = [(g, v) for g, v in maker.compute_gradients(loss) if g is not None]
        ways = (lambda g: tf.clip_by_value(g, -1.0, 1.0), lambda g: tf.clip_by_norm(g, 5.0))
        for way in ways:
            runs.append([maker.apply_gradients([(way(g), v) for g, v in known]), loss])
    own = tf.trainable_variables()
    sums = [tf.Variable(tf.zeros(v.shape), trainable=False) for v in own]
    slopes = tf.gradients(loss, own)
    added = [s.assign_add(g) for s, g in zip(sums, slopes, strict=True)]
    cleared = [s.assign(tf.zeros_like(s)) for s in sums]
    maker = tf.train.AdamOptimizer(_RATE)
    step = maker.apply_gradients([(s / 4.0, v) for s, v in zip(sums, own, strict=True)])
    return [*runs, [*added, loss], cleared, [step]]


def weighed_words(tf: Any) -> list[list[Any]]:
    """A reader in both directions whose words count by what they say, with gates behind."""
    numbers, lengths = tf.placeholder(tf.int32, [None, 24]), tf.placeholder(tf.int32, [None])
    label = tf.placeholder(tf.int64, [None])
    words = tf.nn.embedding_lookup(tf.get_variable("words", [300, 24]), numbers)
    cells = [tf.nn.rnn_cell.GRUCell(40) for _ in range(2)]
    out, _ = tf.nn.bidirectional_dynamic_rnn(*cells, words, lengths, dtype=tf.float32)
    read = tf.concat(out, 2)
    asked = tf.get_variable("asked", [48])
    scores = tf.reduce_sum(tf.layers.dense(read, 48, tf.tanh) * asked, 2)
    scores += (1 - tf.sequence_mask(lengths, 24, tf.float32)) * -1e9
    h = tf.reduce_sum(read * tf.expand_dims(tf.nn.softmax(scores), -1), 1)
    gate = tf.layers.dense(h, 80, tf.sigmoid)
    h = tf.layers.dense(h, 80, tf.nn.relu) * gate + h * (1 - gate)
    logits = tf.layers.dense(tf.nn.dropout(h, 0.5), 20)
    costs = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=label, logits=logits)
    loss = tf.reduce_mean(costs)
    maker = tf.train.AdamOptimizer(_RATE)
    short, _ = tf.clip_by_global_norm(tf.gradients(loss, tf.trainable_variables()), 5.0)
    step = maker.apply_gradients(zip(short, tf.trainable_variables(), strict=True))
    return [[step, loss], [maker.minimize(loss), loss]]


KINDS = (
    *(held_back, twins, coupled, pairs, looked_at),
    *(equation, taught, shortened, weighed_words),
)
