# SPDX-License-Identifier: Apache-2.0
"""Deep Q-learning from screens of games: acting on one screen, learning from a batch; RMSProp."""

from __future__ import annotations

from typing import Any

import numpy as np

from .parts import Model, batches, dense, feeds, training, weights, width, zeros

# (channels, size, stride) of each convolution.
FILTERS = ((32, 8, 4), (64, 4, 2), (64, 3, 1))


def values_of(tf: Any, screens: Any, actions: int, units: int, name: str) -> Any:
    """What each action is worth; screens are bytes."""
    h = tf.cast(screens, tf.float32) * (1 / 255)
    with tf.variable_scope(name):
        for number, (channels, size, stride) in enumerate(FILTERS):
            kernel = weights(tf, f"kernel{number}", [size, size, width(h), channels])
            h = tf.nn.conv2d(h, kernel, strides=[1, stride, stride, 1], padding="VALID")
            h = tf.nn.relu(tf.nn.bias_add(h, zeros(tf, f"bias{number}", [channels])))
        h = tf.reshape(h, [-1, int(np.prod(h.get_shape().as_list()[1:]))])
        return dense(tf, dense(tf, h, units, "hidden", tf.nn.relu), actions, "values")


def screens(random: np.random.RandomState, batch: int, pixels: int) -> np.ndarray:
    """Four screens in a row, as bytes."""
    return random.randint(0, 256, (batch, pixels, pixels, 4)).astype(np.uint8)


def one_screen(random: np.random.RandomState, pixels: int) -> tuple:
    """Screens of one game."""
    return (screens(random, 1, pixels),)


def dqn_acting(tf: Any, pixels: int = 84, actions: int = 6, units: int = 512) -> Model:
    """The best action on one screen and what it is worth."""
    now = tf.placeholder(tf.uint8, [None, pixels, pixels, 4])
    worth = values_of(tf, now, actions, units, "online")
    fed = feeds((now,), batches(4, one_screen, pixels))
    return Model([[tf.reduce_max(worth, 1), tf.argmax(worth, 1)]], fed)


def plays(random: np.random.RandomState, batch: int, pixels: int, actions: int) -> tuple:
    """Screens before and after actions, the actions, rewards, and whether games go on."""
    return (
        screens(random, batch, pixels),
        screens(random, batch, pixels),
        random.randint(0, actions, batch),
        random.normal(size=batch),
        random.randint(0, 2, batch),
    )


def dqn_learning(
    tf: Any, batch: int = 32, pixels: int = 84, actions: int = 6, units: int = 512
) -> Model:
    """A training step against what another network, copied from this one, expects."""
    now, after = (tf.placeholder(tf.uint8, [None, pixels, pixels, 4]) for _ in range(2))
    action = tf.placeholder(tf.int32, [None])
    reward, going_on = (tf.placeholder(tf.float32, [None]) for _ in range(2))
    worth = values_of(tf, now, actions, units, "online")
    expected = tf.reduce_max(values_of(tf, after, actions, units, "target"), 1)
    goal = tf.stop_gradient(reward + 0.99 * going_on * expected)
    chosen = tf.reduce_sum(worth * tf.one_hot(action, actions), 1)
    off = tf.abs(chosen - goal)
    huber = tf.where(off < 1, 0.5 * tf.square(off), off - 0.5)
    loss = tf.reduce_mean(huber)
    variables = tf.get_collection(tf.GraphKeys.TRAINABLE_VARIABLES, "online/")
    rmsprop = tf.train.RMSPropOptimizer(2.5e-4, 0.95, 0.0, 0.01)

    placeholders = (now, after, action, reward, going_on)
    fed = feeds(placeholders, batches(4, plays, batch, pixels, actions))
    return Model([[loss, training(tf, rmsprop, loss, variables)]], fed)
