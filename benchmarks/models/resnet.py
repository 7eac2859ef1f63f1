# SPDX-License-Identifier: Apache-2.0
"""ResNet-50: bottleneck blocks with shortcuts, batch normalization, momentum."""

from __future__ import annotations

from typing import Any

from .image_classes import classifier
from .parts import Model, batch_norm, conv, dense


def bottleneck(tf: Any, x: Any, channels: int, stride: int, name: str) -> Any:
    """1 × 1 to few channels, 3 × 3 with the stride, 1 × 1 to four times as many; plus the input."""
    with tf.variable_scope(name):
        shortcut = x
        if stride != 1 or int(x.get_shape()[-1]) != 4 * channels:
            shortcut = conv(tf, x, 4 * channels, 1, "shortcut", stride, bias=False)
            shortcut = batch_norm(tf, shortcut, "shortcut_norm")
        h = tf.nn.relu(batch_norm(tf, conv(tf, x, channels, 1, "reduce", bias=False), "norm1"))
        h = conv(tf, h, channels, 3, "middle", stride, bias=False)
        h = tf.nn.relu(batch_norm(tf, h, "norm2"))
        h = batch_norm(tf, conv(tf, h, 4 * channels, 1, "expand", bias=False), "norm3")
        return tf.nn.relu(h + shortcut)


def resnet50(
    tf: Any,
    batch: int = 4,
    pixels: int = 160,
    channels: int = 64,
    blocks: tuple[int, ...] = (3, 4, 6, 3),
    classes: int = 1000,
) -> Model:
    """A training step."""

    def logits(x: Any) -> Any:
        h = conv(tf, x, channels, 7, "stem", stride=2, bias=False)
        h = tf.nn.relu(batch_norm(tf, h, "stem_norm"))
        h = tf.nn.max_pool(h, [1, 3, 3, 1], [1, 2, 2, 1], padding="SAME")
        for stage, count in enumerate(blocks):
            for block in range(count):
                stride = 2 if stage and not block else 1
                h = bottleneck(tf, h, channels << stage, stride, f"stage{stage}_block{block}")
        return dense(tf, tf.reduce_mean(h, [1, 2]), classes, "logits")

    momentum = tf.train.MomentumOptimizer(0.01, 0.9)
    return classifier(tf, logits, momentum, batch, (pixels, pixels, 3), classes)
