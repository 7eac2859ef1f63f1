# SPDX-License-Identifier: Apache-2.0
"""U-Net: an image shrinks and grows again, each size joined to its likeness, and Adam."""

from __future__ import annotations

from typing import Any

import numpy as np

from .parts import Model, batches, conv, cross_entropy, deconv, feeds, pictures, training


def marked(random: np.random.RandomState, batch: int, pixels: int, classes: int) -> tuple:
    """Grey images, and the class of each pixel."""
    labels = random.randint(0, classes, (batch, pixels, pixels))
    return pictures(random, batch, pixels, pixels, 1), labels


def unet(
    tf: Any, batch: int = 4, pixels: int = 96, channels: int = 16, levels: int = 4, classes: int = 2
) -> Model:
    """A training step that finds the class of each pixel."""
    images = tf.placeholder(tf.float32, [None, pixels, pixels, 1])
    labels = tf.placeholder(tf.int32, [None, pixels, pixels])

    def block(h: Any, depth: int, name: str) -> Any:
        for layer in range(2):
            h = tf.nn.relu(conv(tf, h, depth, 3, f"{name}_conv{layer}"))
        return h

    h, sides = images, []
    for level in range(levels - 1):
        sides.append(block(h, channels << level, f"down{level}"))
        h = tf.nn.max_pool(sides[-1], [1, 2, 2, 1], [1, 2, 2, 1], padding="SAME")
    h = block(h, channels << (levels - 1), "bottom")
    for level in reversed(range(levels - 1)):
        h = tf.nn.relu(deconv(tf, h, channels << level, 2, f"grow{level}"))
        h = block(tf.concat([sides[level], h], 3), channels << level, f"up{level}")
    loss = cross_entropy(tf, labels, conv(tf, h, classes, 1, "logits"))
    fed = feeds((images, labels), batches(4, marked, batch, pixels, classes))
    return Model([[loss, training(tf, tf.train.AdamOptimizer(1e-3), loss)]], fed)
