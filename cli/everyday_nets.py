# SPDX-License-Identifier: Apache-2.0
"""The networks of everyday programs, small; see cli/everyday.py.

Sizes do not matter, as kernels take them when they run, but that those of pictures are over 4 and
those of rows over 16: loops of fewer turns are of known length.  `tf` is this package.  Imports
nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

_CLASSES = 10
STEPS = 24
# Of a network: its outputs.
Network = Callable[[Any], Any]


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
        x = tf.placeholder(tf.float32, [None, STEPS, 24])
        out, _ = tf.nn.dynamic_rnn(getattr(tf.nn.rnn_cell, cell)(40), x, dtype=tf.float32)
        return tf.layers.dense(out[:, -1], _CLASSES)

    return build


def _words(tf: Any) -> Any:
    numbers = tf.placeholder(tf.int32, [None, STEPS])
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
        seen = tf.linalg.band_part(tf.ones([STEPS, STEPS]), -1, 0)
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
    numbers = tf.placeholder(tf.int32, [None, STEPS])
    table = tf.get_variable("table", [300, _WIDTH])
    return tf.nn.embedding_lookup(table, numbers) + tf.get_variable("places", [STEPS, _WIDTH])


def _layer_normed(tf: Any, h: Any) -> Any:
    mean, variance = tf.nn.moments(h, [-1], keep_dims=True)
    scale, shift = tf.Variable(tf.ones([_WIDTH])), tf.Variable(tf.zeros([_WIDTH]))
    return tf.nn.batch_normalization(h, mean, variance, shift, scale, 1e-6)


def _heads(tf: Any, h: Any) -> Any:
    parted = tf.reshape(h, [-1, STEPS, _HEADS, _WIDTH // _HEADS])
    return tf.transpose(parted, [0, 2, 1, 3])


def _joined(tf: Any, mixed: Any) -> Any:
    return tf.reshape(tf.transpose(mixed, [0, 2, 1, 3]), [-1, STEPS, _WIDTH])


def normed_layers(tf: Any) -> Any:
    """Layers of a perceptron, normed over the batch."""
    h = tf.placeholder(tf.float32, [None, 200])
    for units in (64, 48):
        h = tf.nn.relu(_normed(tf, tf.layers.dense(h, units)))
    return tf.layers.dense(h, _CLASSES)


def separable(bounded: bool = True) -> Network:
    """Convolutions that are separate in channels and in places, with batch norm."""

    def build(tf: Any) -> Any:
        relu = tf.nn.relu6 if bounded else tf.nn.relu
        h = tf.placeholder(tf.float32, [None, 48, 48, 3])
        h = relu(_normed(tf, tf.layers.conv2d(h, 24, 3, 2, padding="same", use_bias=False)))
        for number, stride in enumerate((1, 2, 1)):
            shape = [3, 3, h.shape[-1].value, 1]
            filters = tf.get_variable(f"depthwise{number}", shape)
            places = tf.nn.depthwise_conv2d(h, filters, [1, stride, stride, 1], "SAME")
            inner = relu(_normed(tf, places))
            h = relu(_normed(tf, tf.layers.conv2d(inner, 40, 1, use_bias=False)))
        return tf.layers.dense(tf.reduce_mean(h, [1, 2]), _CLASSES)

    return build


def pictures(outputs: int = 1, normed: bool = False) -> Network:
    """A network for each pixel: down, up by transposed convolutions, and across."""

    def build(tf: Any) -> Any:
        def twice(h: Any, filters: int) -> Any:
            for _ in range(2):
                h = tf.layers.conv2d(h, filters, 3, padding="same")
                h = tf.nn.relu(_normed(tf, h) if normed else h)
            return h

        high = twice(tf.placeholder(tf.float32, [None, 24, 24, 3]), 20)
        low = twice(tf.layers.max_pooling2d(high, 2, 2), 40)
        up = tf.layers.conv2d_transpose(low, 20, 2, 2, padding="same")
        joint = twice(tf.concat([high, up], 3), 20)
        return tf.layers.conv2d(joint, outputs, 1)

    return build


def coded(tf: Any) -> Any:
    """Pictures, made small and large again."""
    h = tf.placeholder(tf.float32, [None, 24, 24, 3])
    for filters in (20, 40):
        h = tf.layers.conv2d(h, filters, 3, 2, padding="same", activation=tf.nn.relu)
    h = tf.layers.dense(tf.layers.flatten(h), 6 * 6 * 40, tf.nn.relu)
    h = tf.reshape(h, [-1, 6, 6, 40])
    for filters in (20, 3):
        h = tf.image.resize_nearest_neighbor(h, [h.shape[1].value * 2] * 2)
        h = tf.layers.conv2d(h, filters, 3, padding="same", activation=tf.nn.relu)
    return tf.sigmoid(h)


def gated(tf: Any) -> Any:
    """Dilated convolutions with gates over a sequence of numbers of classes."""
    numbers = tf.placeholder(tf.int32, [None, STEPS * 4])
    h = tf.layers.conv1d(tf.one_hot(numbers, 40), 24, 1)
    kept = []
    for dilation in (1, 2, 4):
        padded = tf.pad(h, [[0, 0], [dilation, 0], [0, 0]])
        both = tf.layers.conv1d(padded, 48, 2, dilation_rate=dilation)
        left, right = tf.split(both, 2, 2)
        out = tf.tanh(left) * tf.sigmoid(right)
        kept.append(tf.layers.conv1d(out, 24, 1))
        h = h + tf.layers.conv1d(out, 24, 1)
    h = tf.layers.conv1d(tf.nn.relu(tf.add_n(kept)), 24, 1, activation=tf.nn.relu)
    return tf.layers.conv1d(h, 40, 1)


def both_ways(cell: str = "LSTMCell") -> Network:
    """A recurrent layer in both directions over words; outputs for each of them."""

    def build(tf: Any) -> Any:
        lengths = tf.placeholder(tf.int32, [None])
        cells = [getattr(tf.nn.rnn_cell, cell)(40) for _ in range(2)]
        words = _words(tf)
        out, _ = tf.nn.bidirectional_dynamic_rnn(*cells, words, lengths, dtype=tf.float32)
        return tf.layers.dense(tf.concat(out, 2), _CLASSES)

    return build


def letters(cell: str = "BasicLSTMCell", dropout: bool = False) -> Network:
    """Two recurrent layers over text; of every letter what may come next."""

    def build(tf: Any) -> Any:
        def layer() -> Any:
            made = getattr(tf.nn.rnn_cell, cell)(40)
            return tf.nn.rnn_cell.DropoutWrapper(made, output_keep_prob=0.8) if dropout else made

        layers = tf.nn.rnn_cell.MultiRNNCell([layer() for _ in range(2)])
        words = _words(tf)
        state = layers.zero_state(tf.shape(words)[0], tf.float32)
        out, _ = tf.nn.dynamic_rnn(layers, words, initial_state=state)
        return tf.layers.dense(tf.reshape(out, [-1, 40]), 300)

    return build


def attended(tf: Any) -> Any:
    """A recurrent reader and a writer that looks at what was read."""
    lengths = tf.placeholder(tf.int32, [None])
    words = _words(tf)
    read, state = tf.nn.dynamic_rnn(tf.nn.rnn_cell.GRUCell(40), words, lengths, dtype=tf.float32)
    numbers = tf.placeholder(tf.int32, [None, STEPS])
    table = tf.get_variable("written", [300, 24])
    written = tf.nn.embedding_lookup(table, numbers)
    with tf.variable_scope("writer"):
        out, _ = tf.nn.dynamic_rnn(tf.nn.rnn_cell.GRUCell(40), written, initial_state=state)
    scores = tf.matmul(tf.layers.dense(out, 40, use_bias=False), read, transpose_b=True)
    seen = tf.sequence_mask(lengths, STEPS, dtype=tf.float32)[:, None]
    context = tf.matmul(tf.nn.softmax(scores + (seen - 1) * 1e9), read)
    h = tf.layers.dense(tf.concat([out, context], 2), 40, tf.tanh)
    return tf.layers.dense(h, 300)
