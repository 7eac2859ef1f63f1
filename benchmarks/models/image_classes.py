# SPDX-License-Identifier: Apache-2.0
"""Training networks that tell the classes of images."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .parts import Model, batches, cross_entropy, feeds, pictures, training


def labelled(
    random: np.random.RandomState, batch: int, shape: tuple[int, int, int], classes: int
) -> tuple:
    """A batch of images and of the numbers of their classes."""
    return pictures(random, batch, *shape), random.randint(0, classes, batch)


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
    fed = feeds((images, labels), batches(4, labelled, batch, shape, classes))
    return Model([[loss, training(tf, optimizer, loss)]], fed)
