# SPDX-License-Identifier: Apache-2.0
"""LeNet with two convolutions, as TensorFlow's first tutorials had it, and Adam."""

from __future__ import annotations

from typing import Any

from .image_classes import classifier
from .parts import Model, conv, dense


def lenet(
    tf: Any, batch: int = 64, pixels: int = 28, channels: int = 32, units: int = 1024
) -> Model:
    """A training step on grey digits."""

    def logits(h: Any) -> Any:
        for depth in (channels, 2 * channels):
            h = tf.nn.relu(conv(tf, h, depth, 5, f"conv{depth}"))
            h = tf.nn.max_pool(h, [1, 2, 2, 1], [1, 2, 2, 1], padding="SAME")
        side = -(-pixels // 4)
        h = tf.reshape(h, [-1, side * side * 2 * channels])
        h = dense(tf, h, units, "hidden", tf.nn.relu)
        return dense(tf, h, 10, "logits")

    return classifier(tf, logits, tf.train.AdamOptimizer(1e-4), batch, (pixels, pixels, 1), 10)
