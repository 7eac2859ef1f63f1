# SPDX-License-Identifier: Apache-2.0
"""The losses and optimizers of everyday programs, and whole steps; see cli/everyday.py.

As in cli/everyday_nets.py, sizes do not matter.  `tf` is this package.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .everyday_nets import STEPS

# Of a loss, given outputs: the loss, and what is told beside it.
Loss = Callable[[Any, Any], tuple[Any, Any]]


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
    labels = tf.placeholder(tf.int32, [None, STEPS])
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


def pixels(tf: Any, logits: Any) -> tuple[Any, Any]:
    """Whether each pixel belongs to what is looked for, with Dice's measure beside it."""
    labels = tf.placeholder(tf.float32, [None, *logits.shape[1:].as_list()])
    costs = tf.nn.sigmoid_cross_entropy_with_logits(labels=labels, logits=logits)
    found = tf.sigmoid(logits)
    both, each = tf.reduce_sum(found * labels), tf.reduce_sum(found) + tf.reduce_sum(labels)
    return tf.reduce_mean(costs), (2 * both + 1) / (each + 1)


def classes_of_pixels(tf: Any, logits: Any) -> tuple[Any, Any]:
    """Cross entropy with a class for each pixel."""
    labels = tf.placeholder(tf.int32, [None, *logits.shape[1:3].as_list()])
    costs = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits)
    return tf.reduce_mean(costs), tf.argmax(logits, 3)


def samples(tf: Any, logits: Any) -> tuple[Any, Any]:
    """A class for each step of a sequence."""
    labels = tf.placeholder(tf.int32, [None, logits.shape[1].value])
    costs = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits)
    return tf.reduce_mean(costs), tf.nn.softmax(logits)


def tags(tf: Any, logits: Any) -> tuple[Any, Any]:
    """A class for each word of sentences of different lengths."""
    labels = tf.placeholder(tf.int32, [None, STEPS])
    lengths = tf.placeholder(tf.int32, [None])
    costs = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits)
    mask = tf.sequence_mask(lengths, STEPS, dtype=tf.float32)
    loss = tf.reduce_sum(costs * mask) / tf.reduce_sum(mask)
    return loss, tf.argmax(logits, 2)


def squares(tf: Any, outputs: Any) -> tuple[Any, Any]:
    """Mean square of what is wrong."""
    wanted = tf.placeholder(tf.float32, [None, *outputs.shape[1:].as_list()])
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
