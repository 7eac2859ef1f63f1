# SPDX-License-Identifier: Apache-2.0
"""What everyday programs consist of: small networks, losses, optimizers; see cli/everyday.py.

Sizes do not matter, as kernels take them when they run, but that they are over 16: loops of fewer
turns are of known length.  `tf` is this package.  Imports nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

_CLASSES = 10
_STEPS = 24
# Of a network: its outputs.  Of a loss, given outputs: the loss, and what is told beside it.
Network = Callable[[Any], Any]
Loss = Callable[[Any, Any], tuple[Any, Any]]


def dense_layers(
    activation: str = "relu", dropout: bool = False, outputs: int = _CLASSES
) -> Network:
    """Layers of a perceptron."""

    def build(tf: Any) -> Any:
        h = tf.placeholder(tf.float32, [None, 200])
        for units in (64, 48):
            h = tf.layers.dense(h, units, getattr(tf.nn, activation))
            if dropout:
                h = tf.layers.dropout(h, 0.4, training=True)
        return tf.layers.dense(h, outputs)

    return build


def convolutions(normed: bool = False, dropout: bool = False, bias: bool = True) -> Network:
    """Convolutions in twos, with pooling, and two layers behind."""

    def build(tf: Any) -> Any:
        h = tf.placeholder(tf.float32, [None, 24, 24, 3])
        for filters in (24, 40):
            for _ in range(2):
                h = tf.layers.conv2d(h, filters, 3, padding="same", use_bias=bias)
                h = tf.nn.relu(_normed(tf, h) if normed else h)
            h = tf.layers.max_pooling2d(h, 2, 2)
            h = tf.layers.dropout(h, 0.3, training=True) if dropout else h
        h = tf.layers.dense(tf.layers.flatten(h), 56, tf.nn.relu)
        h = tf.layers.dropout(h, 0.5, training=True) if dropout else h
        return tf.layers.dense(h, _CLASSES)

    return build


def _normed(tf: Any, h: Any) -> Any:
    return tf.layers.batch_normalization(h, training=True)


def residual(tf: Any) -> Any:
    """A residual network: blocks of two convolutions, with batch norm, and ways around them."""

    def convolved(h: Any, filters: int, window: int, stride: int = 1) -> Any:
        h = tf.layers.conv2d(h, filters, window, stride, padding="same", use_bias=False)
        return _normed(tf, h)

    h = tf.nn.relu(convolved(tf.placeholder(tf.float32, [None, 48, 48, 3]), 24, 7, 2))
    h = tf.layers.max_pooling2d(h, 3, 2, padding="same")
    for stride, filters in ((1, 24), (1, 24), (2, 48), (1, 48)):
        inner = tf.nn.relu(convolved(h, filters, 3, stride))
        around = h if stride == 1 else convolved(h, filters, 1, stride)
        h = tf.nn.relu(convolved(inner, filters, 3) + around)
    return tf.layers.dense(tf.reduce_mean(h, [1, 2]), _CLASSES)


def bottlenecks(tf: Any) -> Any:
    """A residual network whose blocks have three convolutions."""

    def convolved(h: Any, filters: int, window: int) -> Any:
        h = tf.layers.conv2d(h, filters, window, padding="same", use_bias=False)
        return _normed(tf, h)

    h = tf.nn.relu(convolved(tf.placeholder(tf.float32, [None, 24, 24, 3]), 64, 3))
    for _ in range(2):
        inner = tf.nn.relu(convolved(tf.nn.relu(convolved(h, 24, 1)), 24, 3))
        h = tf.nn.relu(convolved(inner, 64, 1) + h)
    return tf.layers.dense(tf.layers.flatten(tf.layers.average_pooling2d(h, 8, 8)), _CLASSES)


def recurrent(cell: str) -> Network:
    """A recurrent layer over sequences, and a layer behind its last output."""

    def build(tf: Any) -> Any:
        x = tf.placeholder(tf.float32, [None, _STEPS, 24])
        out, _ = tf.nn.dynamic_rnn(getattr(tf.nn.rnn_cell, cell)(40), x, dtype=tf.float32)
        return tf.layers.dense(out[:, -1], _CLASSES)

    return build


def _words(tf: Any) -> Any:
    numbers = tf.placeholder(tf.int32, [None, _STEPS])
    return tf.nn.embedding_lookup(tf.get_variable("words", [300, 24]), numbers)


def recurrent_words(tf: Any) -> Any:
    """A recurrent layer over words of different counts."""
    lengths = tf.placeholder(tf.int32, [None])
    cell = tf.nn.rnn_cell.BasicLSTMCell(40)
    _, state = tf.nn.dynamic_rnn(cell, _words(tf), lengths, dtype=tf.float32)
    return tf.layers.dense(state.h, _CLASSES)


def bag_of_words(tf: Any) -> Any:
    """Words, averaged."""
    return tf.layers.dense(tf.reduce_mean(_words(tf), 1), _CLASSES)


def convolved_words(tf: Any) -> Any:
    """Convolutions of several widths over words, and the greatest of each."""
    words = _words(tf)
    tops = [tf.reduce_max(tf.nn.relu(tf.layers.conv1d(words, 40, width)), 1) for width in (3, 4, 5)]
    kept = tf.placeholder(tf.float32, [])
    return tf.layers.dense(tf.nn.dropout(tf.concat(tops, 1), kept), _CLASSES)


def columns(tf: Any) -> Any:
    """Numbers and categories beside each other, deep and wide."""
    numbers = tf.placeholder(tf.float32, [None, 13])
    found = [tf.placeholder(tf.int32, [None]) for _ in range(3)]
    deep, wide = [numbers], []
    for i, column in enumerate(found):
        rows = tf.get_variable(f"rows{i}", [40 + 7 * i, 6 + i])
        weights = tf.get_variable(f"weights{i}", [40 + 7 * i, 1])
        deep.append(tf.nn.embedding_lookup(rows, column))
        wide.append(tf.nn.embedding_lookup(weights, column))
    h = tf.layers.dense(tf.concat(deep, 1), 48, tf.nn.relu)
    return tf.layers.dense(h, 1) + tf.add_n(wide)


def attention(tf: Any) -> Any:
    """A block of a Transformer over words and their places, normed behind what is added."""
    x = _placed(tf)
    query, key, value = (_heads(tf, tf.layers.dense(x, _WIDTH)) for _ in range(3))
    scores = tf.matmul(query, key, transpose_b=True) * _SCALE
    mixed = _joined(tf, tf.matmul(tf.nn.softmax(scores), value))
    x = _layer_normed(tf, x + tf.layers.dense(mixed, _WIDTH))
    inner = tf.layers.dense(tf.layers.dense(x, 2 * _WIDTH, tf.nn.relu), _WIDTH)
    x = _layer_normed(tf, x + inner)
    return tf.layers.dense(tf.reduce_mean(x, 1), _CLASSES)


def language(tf: Any, dropout: bool = False) -> Any:
    """Blocks that see what came before, normed within; of every word what may come next."""
    x = _placed(tf)

    def dropped(h: Any) -> Any:
        return tf.nn.dropout(h, 0.9) if dropout else h

    for _ in range(2):
        joint = tf.layers.dense(_layer_normed(tf, x), 3 * _WIDTH)
        query, key, value = (_heads(tf, part) for part in tf.split(joint, 3, axis=2))
        scores = tf.matmul(query, key, transpose_b=True) * _SCALE
        seen = tf.linalg.band_part(tf.ones([_STEPS, _STEPS]), -1, 0)
        shares = dropped(tf.nn.softmax(scores * seen - 1e10 * (1 - seen)))
        mixed = _joined(tf, tf.matmul(shares, value))
        x = x + dropped(tf.layers.dense(mixed, _WIDTH))
        h = tf.layers.dense(_layer_normed(tf, x), 4 * _WIDTH)
        h = 0.5 * h * (1 + tf.tanh((2 / 3.141592653589793) ** 0.5 * (h + 0.044715 * tf.pow(h, 3))))
        x = x + dropped(tf.layers.dense(h, _WIDTH))
    table = tf.get_variable("next", [300, _WIDTH])
    flat = tf.reshape(_layer_normed(tf, x), [-1, _WIDTH])
    return tf.matmul(flat, table, transpose_b=True)


_WIDTH, _HEADS = 80, 4
_SCALE = (_WIDTH // _HEADS) ** -0.5


def _placed(tf: Any) -> Any:
    numbers = tf.placeholder(tf.int32, [None, _STEPS])
    table = tf.get_variable("table", [300, _WIDTH])
    return tf.nn.embedding_lookup(table, numbers) + tf.get_variable("places", [_STEPS, _WIDTH])


def _layer_normed(tf: Any, h: Any) -> Any:
    mean, variance = tf.nn.moments(h, [-1], keep_dims=True)
    scale, shift = tf.Variable(tf.ones([_WIDTH])), tf.Variable(tf.zeros([_WIDTH]))
    return tf.nn.batch_normalization(h, mean, variance, shift, scale, 1e-6)


def _heads(tf: Any, h: Any) -> Any:
    parted = tf.reshape(h, [-1, _STEPS, _HEADS, _WIDTH // _HEADS])
    return tf.transpose(parted, [0, 2, 1, 3])


def _joined(tf: Any, mixed: Any) -> Any:
    return tf.reshape(tf.transpose(mixed, [0, 2, 1, 3]), [-1, _STEPS, _WIDTH])


def one_of_classes(tf: Any, logits: Any) -> tuple[Any, Any]:
    """Cross entropy with numbers of classes, and how many are right."""
    labels = tf.placeholder(tf.int64, [None])
    costs = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits)
    return tf.reduce_mean(costs), _share(tf, tf.equal(tf.argmax(logits, 1), labels))


def weighted_classes(tf: Any, logits: Any) -> tuple[Any, Any]:
    """The same by tf.losses, which counts its weights."""
    labels = tf.placeholder(tf.int64, [None])
    loss = tf.losses.sparse_softmax_cross_entropy(labels, logits)
    return loss, _share(tf, tf.equal(tf.argmax(logits, 1), labels))


def short_classes(tf: Any, logits: Any) -> tuple[Any, Any]:
    """The same of 32-bit numbers."""
    labels = tf.placeholder(tf.int32, [None])
    loss = tf.losses.sparse_softmax_cross_entropy(labels, logits)
    return loss, _share(tf, tf.nn.in_top_k(logits, labels, 1))


def next_words(tf: Any, logits: Any) -> tuple[Any, Any]:
    """The same of a row for each word."""
    labels = tf.placeholder(tf.int32, [None, _STEPS])
    costs = tf.nn.sparse_softmax_cross_entropy_with_logits(
        labels=tf.reshape(labels, [-1]), logits=logits
    )
    return tf.reduce_mean(costs), tf.nn.softmax(logits)


def shares_of_classes(tf: Any, logits: Any) -> tuple[Any, Any]:
    """Cross entropy with a row for each label."""
    labels = tf.placeholder(tf.float32, [None, logits.shape[-1].value])
    costs = tf.nn.softmax_cross_entropy_with_logits_v2(labels=labels, logits=logits)
    right = tf.equal(tf.argmax(logits, 1), tf.argmax(labels, 1))
    return tf.reduce_mean(costs), _share(tf, right)


def one_hot_classes(tf: Any, logits: Any) -> tuple[Any, Any]:
    """The same with rows that are made of numbers."""
    labels = tf.placeholder(tf.int32, [None])
    rows = tf.one_hot(labels, logits.shape[-1].value)
    costs = tf.nn.softmax_cross_entropy_with_logits_v2(labels=rows, logits=logits)
    return tf.reduce_mean(costs), tf.nn.softmax(logits)


def yes_or_no(tf: Any, logits: Any) -> tuple[Any, Any]:
    """Cross entropy of each output for itself."""
    labels = tf.placeholder(tf.float32, [None, logits.shape[-1].value])
    costs = tf.nn.sigmoid_cross_entropy_with_logits(labels=labels, logits=logits)
    return tf.reduce_mean(costs), _share(tf, tf.equal(tf.round(tf.sigmoid(logits)), labels))


def one_yes_or_no(tf: Any, logits: Any) -> tuple[Any, Any]:
    """The same of one output."""
    labels = tf.placeholder(tf.float32, [None])
    logit = tf.squeeze(logits, 1)
    costs = tf.nn.sigmoid_cross_entropy_with_logits(labels=labels, logits=logit)
    return tf.reduce_mean(costs), _share(tf, tf.equal(tf.round(tf.sigmoid(logit)), labels))


def squares(tf: Any, outputs: Any) -> tuple[Any, Any]:
    """Mean square of what is wrong."""
    wanted = tf.placeholder(tf.float32, [None, outputs.shape[-1].value])
    loss = tf.reduce_mean(tf.square(outputs - wanted))
    return loss, tf.losses.mean_squared_error(wanted, outputs)


def policy(tf: Any, logits: Any) -> tuple[Any, Any]:
    """A clipped policy gradient with an entropy bonus."""
    chosen = tf.placeholder(tf.int32, [None])
    advantage, before = (tf.placeholder(tf.float32, [None]) for _ in range(2))
    chance = -tf.nn.sparse_softmax_cross_entropy_with_logits(labels=chosen, logits=logits)
    ratio = tf.exp(chance - before)
    bounded = tf.clip_by_value(ratio, 0.8, 1.2)
    gain = tf.reduce_mean(tf.minimum(ratio * advantage, bounded * advantage))
    shares = tf.nn.softmax(logits)
    entropy = -tf.reduce_mean(tf.reduce_sum(shares * tf.log(shares + 1e-8), 1))
    return -gain - 0.01 * entropy, entropy


def values_of_actions(tf: Any, values: Any) -> tuple[Any, Any]:
    """What an action was worth, with the loss of Huber."""
    chosen = tf.placeholder(tf.int32, [None])
    wanted = tf.placeholder(tf.float32, [None])
    value = tf.reduce_sum(values * tf.one_hot(chosen, values.shape[-1].value), 1)
    return tf.losses.huber_loss(wanted, value), tf.argmax(values, 1)


def _share(tf: Any, right: Any) -> Any:
    return tf.reduce_mean(tf.cast(right, tf.float32))


def optimizers(tf: Any) -> dict[str, Any]:
    """Those in use, by name."""
    return {
        "adam": tf.train.AdamOptimizer(1e-3),
        "sgd": tf.train.GradientDescentOptimizer(0.1),
        "momentum": tf.train.MomentumOptimizer(0.1, 0.9),
        "nesterov": tf.train.MomentumOptimizer(0.1, 0.9, use_nesterov=True),
        "rmsprop": tf.train.RMSPropOptimizer(1e-3),
        "rmsprop with momentum": tf.train.RMSPropOptimizer(1e-3, momentum=0.9),
        "adagrad": tf.train.AdagradOptimizer(0.1),
    }


def plain(tf: Any, loss: Any, optimizer: Any) -> Any:
    """An optimizer's step."""
    return optimizer.minimize(loss)


def counted(tf: Any, loss: Any, optimizer: Any) -> Any:
    """The same, with the number of steps."""
    return optimizer.minimize(loss, global_step=tf.train.get_or_create_global_step())


def clipped(tf: Any, loss: Any, optimizer: Any) -> Any:
    """The same, with gradients that are kept short together."""
    gradients, variables = zip(*optimizer.compute_gradients(loss), strict=True)
    short, _ = tf.clip_by_global_norm(gradients, 5.0)
    return optimizer.apply_gradients(zip(short, variables, strict=True))


def decayed(tf: Any, loss: Any, optimizer: Any) -> Any:
    """The same, with weights that are kept small."""
    sizes = tf.add_n([tf.nn.l2_loss(variable) for variable in tf.trainable_variables()])
    return optimizer.minimize(loss + 1e-4 * sizes)


def decaying(tf: Any, loss: Any, optimizer: Any) -> Any:
    """The step of an Adam whose rate falls."""
    step = tf.train.get_or_create_global_step()
    rate = tf.train.exponential_decay(1e-3, step, 1000, 0.9)
    return tf.train.AdamOptimizer(rate).minimize(loss, global_step=step)


def acting(tf: Any) -> list[Any]:
    """What draws an action of a policy, and values a state."""
    state = tf.placeholder(tf.float32, [None, 40])
    h = tf.layers.dense(tf.layers.dense(state, 40, tf.nn.tanh), 40, tf.nn.tanh)
    logits = tf.layers.dense(h, 5)
    value = tf.squeeze(tf.layers.dense(h, 1), 1)
    return [tf.squeeze(tf.multinomial(logits, 1), 1), value, logits]


def beginning(tf: Any) -> list[Any]:
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
    return [tf.global_variables_initializer()]
