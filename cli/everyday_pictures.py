# SPDX-License-Identifier: Apache-2.0
"""Networks of pictures of everyday programs, other than the plain ones; see cli/everyday.py.

As in cli/everyday_nets.py, sizes do not matter.  `tf` is this package.  Imports nothing else.
"""

from __future__ import annotations

from typing import Any

_CLASSES = 10


def _normed(tf: Any, h: Any) -> Any:
    return tf.layers.batch_normalization(h, training=True)


def _swish(tf: Any, h: Any) -> Any:
    return h * tf.sigmoid(h)


def leaky(tf: Any) -> Any:
    """Convolutions that let a little of what is negative through, with batch norm."""
    h = tf.placeholder(tf.float32, [None, 24, 24, 3])
    for filters in (24, 40):
        h = tf.layers.conv2d(h, filters, 3, padding="same", use_bias=False)
        h = tf.layers.max_pooling2d(tf.nn.leaky_relu(_normed(tf, h)), 2, 2)
    h = tf.nn.leaky_relu(tf.layers.dense(tf.layers.flatten(h), 56))
    return tf.layers.dense(h, _CLASSES)


def excited(tf: Any) -> Any:
    """Wide blocks of separate convolutions whose channels are weighed by what is in all places."""

    def convolved(h: Any, filters: int, window: int = 1, stride: int = 1) -> Any:
        return _normed(
            tf, tf.layers.conv2d(h, filters, window, stride, padding="same", use_bias=False)
        )

    def block(h: Any, filters: int, stride: int, number: int) -> Any:
        wide = 4 * h.shape[-1].value
        inner = _swish(tf, convolved(h, wide))
        weights = tf.get_variable(f"depthwise{number}", [3, 3, wide, 1])
        inner = tf.nn.depthwise_conv2d(inner, weights, [1, stride, stride, 1], "SAME")
        inner = _swish(tf, _normed(tf, inner))
        shares = tf.reduce_mean(inner, [1, 2], keepdims=True)
        shares = _swish(tf, tf.layers.conv2d(shares, wide // 4, 1))
        shares = tf.sigmoid(tf.layers.conv2d(shares, wide, 1))
        out = convolved(inner * shares, filters)
        return out + h if filters == h.shape[-1].value and stride == 1 else out

    h = tf.placeholder(tf.float32, [None, 48, 48, 3])
    h = _swish(tf, convolved(h, 24, 3, 2))
    for number, (filters, stride) in enumerate(((24, 1), (40, 2), (40, 1))):
        h = block(h, filters, stride, number)
    h = tf.reduce_mean(_swish(tf, convolved(h, 80)), [1, 2])
    return tf.layers.dense(tf.layers.dropout(h, 0.2, training=True), _CLASSES)


def branched(tf: Any) -> Any:
    """Blocks of several convolutions beside each other, put together by channels."""

    def convolved(h: Any, filters: int, window: int | list[int] = 1, stride: int = 1) -> Any:
        h = tf.layers.conv2d(h, filters, window, stride, padding="same", use_bias=False)
        return tf.nn.relu(_normed(tf, h))

    def block(h: Any, filters: int) -> Any:
        deep = convolved(convolved(convolved(h, 20), 24, 3), 24, 3)
        pooled = convolved(tf.layers.average_pooling2d(h, 3, 1, padding="same"), 20)
        narrow = convolved(convolved(h, 20), 24, 5)
        return tf.concat([convolved(h, filters), narrow, deep, pooled], 3)

    h = convolved(tf.placeholder(tf.float32, [None, 48, 48, 3]), 24, 3, 2)
    h = block(block(h, 24), 40)
    most = tf.layers.max_pooling2d(h, 3, 2, padding="same")
    h = block(tf.concat([convolved(h, 40, 3, 2), most], 3), 40)
    h = tf.layers.dropout(tf.reduce_mean(h, [1, 2]), 0.2, training=True)
    return tf.layers.dense(h, _CLASSES)


def grown(tf: Any) -> Any:
    """Blocks each of whose convolutions sees all before it, normed in front."""

    def convolved(h: Any, filters: int, window: int) -> Any:
        h = tf.nn.relu(_normed(tf, h))
        return tf.layers.conv2d(h, filters, window, padding="same", use_bias=False)

    h = tf.placeholder(tf.float32, [None, 24, 24, 3])
    h = tf.layers.conv2d(h, 24, 3, padding="same", use_bias=False)
    for number in range(2):
        for _ in range(3):
            h = tf.concat([h, convolved(convolved(h, 48, 1), 20, 3)], 3)
        if number == 0:
            h = tf.layers.average_pooling2d(convolved(h, 40, 1), 2, 2)
    return tf.layers.dense(tf.reduce_mean(tf.nn.relu(_normed(tf, h)), [1, 2]), _CLASSES)


def redrawn(tf: Any) -> Any:
    """Pictures made anew: mirrored edges, each picture normed for itself, blocks with a way
    around."""

    def normed(h: Any) -> Any:
        mean, variance = tf.nn.moments(h, [1, 2], keep_dims=True)
        scale, shift = (tf.Variable(v([h.shape[-1].value])) for v in (tf.ones, tf.zeros))
        return scale * ((h - mean) / tf.sqrt(variance + 1e-3)) + shift

    def convolved(h: Any, filters: int, window: int, stride: int = 1) -> Any:
        edge = [window // 2] * 2
        h = tf.pad(h, [[0, 0], edge, edge, [0, 0]], "REFLECT")
        return normed(tf.layers.conv2d(h, filters, window, stride, use_bias=False))

    h = tf.nn.relu(convolved(tf.placeholder(tf.float32, [None, 24, 24, 3]), 20, 9))
    h = tf.nn.relu(convolved(h, 40, 3, 2))
    for _ in range(2):
        h = h + convolved(tf.nn.relu(convolved(h, 40, 3)), 40, 3)
    h = tf.image.resize_nearest_neighbor(h, [24, 24])
    return tf.tanh(convolved(tf.nn.relu(convolved(h, 20, 3)), 3, 9))


def sharpened(tf: Any) -> Any:
    """Small pictures made large: blocks with a way around, and channels that become places."""
    h = first = tf.layers.conv2d(
        tf.placeholder(tf.float32, [None, 24, 24, 3]), 24, 3, padding="same"
    )
    for _ in range(2):
        inner = tf.layers.conv2d(h, 24, 3, padding="same", activation=tf.nn.relu)
        h = h + 0.1 * tf.layers.conv2d(inner, 24, 3, padding="same")
    h = first + tf.layers.conv2d(h, 24, 3, padding="same")
    h = tf.depth_to_space(tf.layers.conv2d(h, 96, 3, padding="same"), 2)
    return tf.layers.conv2d(h, 3, 3, padding="same")
