# SPDX-License-Identifier: Apache-2.0
"""Training networks that tell the classes of images."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .parts import Model, batches, cross_entropy, pictures, training


def classifier(
    tf: Any,
    logits_of: Callable[[Any], Any],
    optimizer: Any,
    batch: int,
    shape: tuple[int, int, int],
    classes: int,
) -> Model:
    """The training step of a network from images to logits."""
    images = tf.placeholder(tf.float32, [None, *shape])
    labels = tf.placeholder(tf.int64, [None])
    loss = cross_entropy(tf, labels, logits_of(images))
    feeds = batches(
        4,
        lambda random: {
            images: pictures(random, batch, *shape),
            labels: random.randint(0, classes, batch),
        },
    )
    return Model([[loss, training(tf, optimizer, loss)]], feeds)
