# SPDX-License-Identifier: Apache-2.0
"""What the models share: variables with seeds of their own, layers, training ops, made-up data.

Functions of a `tensorflow` module, in the names that TensorFlow 1.15, TensorFlow 2's compat.v1 and
numbaflow have in common.  Loads in Python 3.7, as TensorFlow 1.15 needs it.
"""

from __future__ import annotations

import math
import zlib
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np


class Model(NamedTuple):
    """A step: the fetches of its runs in order, and what is fed to them, one batch after another.

    The first fetch of a run is what can be compared: a loss, or what a network answers.
    """

    runs: list[list[Any]]
    batches: list[dict[Any, Any]]


def seed_of(tf: Any, name: str) -> int:
    """A seed that only the name and its scope decide, so that every module draws the same."""
    return zlib.crc32(f"{tf.get_variable_scope().name}/{name}".encode()) & 0x7FFFFFFF


def weights(tf: Any, name: str, shape: list[int], scale: float | None = None) -> Any:
    """A variable of normal values; their scale follows from the inputs unless it is given."""
    scale = math.sqrt(2 / int(np.prod(shape[:-1]))) if scale is None else scale
    normal = tf.random_normal_initializer(stddev=scale, seed=seed_of(tf, name))
    return tf.get_variable(name, shape, initializer=normal)


def zeros(tf: Any, name: str, shape: list[int]) -> Any:
    """A variable of zeros."""
    return tf.get_variable(name, shape, initializer=tf.zeros_initializer())


def width(x: Any) -> int:
    """The size of the last dimension."""
    return int(x.get_shape()[-1])


def dense(tf: Any, x: Any, units: int, name: str, activation: Any = None) -> Any:
    """A fully connected layer over the last of two dimensions."""
    with tf.variable_scope(name):
        y = tf.matmul(x, weights(tf, "weights", [width(x), units]))
        y = tf.nn.bias_add(y, zeros(tf, "bias", [units]))
    return y if activation is None else activation(y)


def conv(
    tf: Any, x: Any, channels: int, size: int, name: str, stride: int = 1, bias: bool = True
) -> Any:
    """A square convolution that keeps the size of the image, over its stride."""
    with tf.variable_scope(name):
        kernel = weights(tf, "kernel", [size, size, width(x), channels])
        y = tf.nn.conv2d(x, kernel, strides=[1, stride, stride, 1], padding="SAME")
        return tf.nn.bias_add(y, zeros(tf, "bias", [channels])) if bias else y


def deconv(tf: Any, x: Any, channels: int, size: int, name: str, stride: int = 2) -> Any:
    """A transposed convolution: the image grows by the stride."""
    batch, rows, columns, depth = (tf.shape(x)[0], *x.get_shape().as_list()[1:])
    shape = [batch, rows * stride, columns * stride, channels]
    with tf.variable_scope(name):
        scale = math.sqrt(2 / (size * size * depth / stride**2))
        kernel = weights(tf, "kernel", [size, size, channels, depth], scale)
        y = tf.nn.conv2d_transpose(x, kernel, tf.stack(shape), strides=[1, stride, stride, 1])
        y.set_shape([None, *shape[1:]])
        return tf.nn.bias_add(y, zeros(tf, "bias", [channels]))


def batch_norm(tf: Any, x: Any, name: str, decay: float = 0.99) -> Any:
    """Batch normalization in training; its moving averages are kept as an update of the step."""
    channels = [width(x)]
    with tf.variable_scope(name):
        scale = tf.get_variable("scale", channels, initializer=tf.ones_initializer())
        y, mean, variance = tf.nn.fused_batch_norm(x, scale, zeros(tf, "offset", channels))
        for statistic, kind in ((mean, "mean"), (variance, "variance")):
            start = tf.zeros_initializer() if kind == "mean" else tf.ones_initializer()
            moving = tf.get_variable(kind, channels, initializer=start, trainable=False)
            update = tf.assign_sub(moving, (moving - statistic) * (1 - decay))
            tf.add_to_collection(tf.GraphKeys.UPDATE_OPS, update)
    return y


def layer_norm(tf: Any, x: Any, name: str) -> Any:
    """Normalization over the last dimension, with a scale and an offset."""
    with tf.variable_scope(name):
        scale = tf.get_variable("scale", [width(x)], initializer=tf.ones_initializer())
        mean, variance = tf.nn.moments(x, [-1], keep_dims=True)
        offset = zeros(tf, "offset", [width(x)])
        return tf.nn.batch_normalization(x, mean, variance, offset, scale, 1e-6)


def gelu(tf: Any, x: Any) -> Any:
    """The Gaussian error linear unit, by its approximation with tanh."""
    return 0.5 * x * (1 + tf.tanh(0.7978845608 * (x + 0.044715 * tf.pow(x, 3))))


def training(
    tf: Any, optimizer: Any, loss: Any, variables: Any = None, clip: float | None = None
) -> Any:
    """The op of a training step, with the updates that layers have asked for."""
    pairs = optimizer.compute_gradients(loss, variables)
    pairs = [(gradient, variable) for gradient, variable in pairs if gradient is not None]
    if clip is not None:
        gradients, _ = tf.clip_by_global_norm([gradient for gradient, _ in pairs], clip)
        pairs = [(gradient, variable) for gradient, (_, variable) in zip(gradients, pairs)]
    scope = tf.get_variable_scope().name or None
    with tf.control_dependencies(tf.get_collection(tf.GraphKeys.UPDATE_OPS, scope)):
        return optimizer.apply_gradients(pairs)


def cross_entropy(tf: Any, labels: Any, logits: Any) -> Any:
    """The mean loss of labels that are numbers of classes."""
    losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits)
    return tf.reduce_mean(losses)


def batches(count: int, make: Callable[..., Any], *sizes: Any) -> list[Any]:
    """What `make` makes of random numbers and sizes, the same in every process."""
    return [make(np.random.RandomState(number), *sizes) for number in range(count)]


def feeds(placeholders: Any, values: list[Any]) -> list[dict[Any, Any]]:
    """Each batch, a tuple of arrays, as a feed of the placeholders."""
    return [dict(zip(placeholders, arrays)) for arrays in values]


def pictures(random: np.random.RandomState, *shape: int) -> np.ndarray:
    """Images of values between 0 and 1."""
    return random.random_sample(shape).astype(np.float32)


def texts(random: np.random.RandomState, vocabulary: int, batch: int, length: int) -> tuple:
    """A batch of texts, each a word longer, so that every word has one that follows."""
    return (words(random, vocabulary, batch, length + 1),)


def words(random: np.random.RandomState, vocabulary: int, *shape: int) -> np.ndarray:
    """Numbers of words, small ones often and large ones seldom, as in a text."""
    return (vocabulary ** random.random_sample(shape)).astype(np.int32) - 1
