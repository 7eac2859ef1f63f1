# SPDX-License-Identifier: Apache-2.0
"""DCGAN: one network makes images, the other tells them from real ones; two Adams, two runs."""

from __future__ import annotations

from typing import Any

import numpy as np

from .parts import Model, batch_norm, batches, conv, deconv, dense, feeds, pictures, training


def generator(tf: Any, noise: Any, pixels: int, channels: int) -> Any:
    """Images from noise; each layer doubles the size."""
    side, depth = pixels // 8, 4 * channels
    with tf.variable_scope("generator"):
        h = tf.reshape(dense(tf, noise, side * side * depth, "project"), [-1, side, side, depth])
        h = tf.nn.relu(batch_norm(tf, h, "norm"))
        for layer in (1, 2):
            h = deconv(tf, h, depth >> layer, 5, f"deconv{layer}")
            h = tf.nn.relu(batch_norm(tf, h, f"norm{layer}"))
        return tf.tanh(deconv(tf, h, 3, 5, "image"))


def discriminator(tf: Any, images: Any, pixels: int, channels: int, reuse: Any) -> Any:
    """How real images look."""
    with tf.variable_scope("discriminator", reuse=reuse):
        h = tf.nn.leaky_relu(conv(tf, images, channels, 5, "conv0", stride=2), alpha=0.2)
        for layer in (1, 2):
            h = conv(tf, h, channels << layer, 5, f"conv{layer}", stride=2)
            h = tf.nn.leaky_relu(batch_norm(tf, h, f"norm{layer}"), alpha=0.2)
        side = pixels // 8
        return dense(tf, tf.reshape(h, [-1, side * side * 4 * channels]), 1, "logit")


def noise_and_images(random: np.random.RandomState, batch: int, pixels: int, noise: int) -> tuple:
    """What images are made of, and real ones between -1 and 1."""
    z = random.uniform(-1, 1, (batch, noise))
    return z, pictures(random, batch, pixels, pixels, 3) * 2 - 1


def dcgan(
    tf: Any, batch: int = 32, pixels: int = 32, channels: int = 64, noise: int = 100
) -> Model:
    """A training step of one, then of the other."""
    z = tf.placeholder(tf.float32, [None, noise])
    real = tf.placeholder(tf.float32, [None, pixels, pixels, 3])
    on_real = discriminator(tf, real, pixels, channels, None)
    on_made = discriminator(tf, generator(tf, z, pixels, channels), pixels, channels, True)

    def loss(logits: Any, truth: Any) -> Any:
        labels = truth(logits)
        losses = tf.nn.sigmoid_cross_entropy_with_logits(labels=labels, logits=logits)
        return tf.reduce_mean(losses)

    found = loss(on_real, tf.ones_like) + loss(on_made, tf.zeros_like)
    fooled = loss(on_made, tf.ones_like)
    runs = []
    for goal, scope in ((found, "discriminator"), (fooled, "generator")):
        variables = tf.get_collection(tf.GraphKeys.TRAINABLE_VARIABLES, scope + "/")
        adam = tf.train.AdamOptimizer(2e-4, beta1=0.5, name=f"adam_{scope}")
        with tf.variable_scope(scope):
            runs.append([goal, training(tf, adam, goal, variables)])
    fed = feeds((z, real), batches(4, noise_and_images, batch, pixels, noise))
    return Model(runs, fed)
