# SPDX-License-Identifier: Apache-2.0
"""MobileNet: depthwise 3 × 3 convolutions between 1 × 1 ones, batch normalization, RMSProp."""

from __future__ import annotations

import math
from typing import Any

from .image_classes import classifier
from .parts import Model, batch_norm, conv, dense, weights, width

# (channels over those of the first layer, stride) of each block.
BLOCKS = ((2, 1), (4, 2), (4, 1), (8, 2), (8, 1), (16, 2), *[(16, 1)] * 5, (32, 2), (32, 1))


def separable(tf: Any, x: Any, channels: int, stride: int, name: str) -> Any:
    """A convolution of each channel by itself, then one across channels."""
    with tf.variable_scope(name):
        kernel = weights(tf, "depthwise", [3, 3, width(x), 1], math.sqrt(2 / 9))
        h = tf.nn.depthwise_conv2d(x, kernel, [1, stride, stride, 1], padding="SAME")
        h = tf.nn.relu6(batch_norm(tf, h, "norm1"))
        h = conv(tf, h, channels, 1, "pointwise", bias=False)
        return tf.nn.relu6(batch_norm(tf, h, "norm2"))


def mobilenet(
    tf: Any,
    batch: int = 8,
    pixels: int = 96,
    channels: int = 32,
    blocks: tuple[tuple[int, int], ...] = BLOCKS,
    classes: int = 1000,
) -> Model:
    """A training step."""

    def logits(x: Any) -> Any:
        h = conv(tf, x, channels, 3, "stem", stride=2, bias=False)
        h = tf.nn.relu6(batch_norm(tf, h, "stem_norm"))
        for block, (times, stride) in enumerate(blocks):
            h = separable(tf, h, times * channels, stride, f"block{block}")
        return dense(tf, tf.reduce_mean(h, [1, 2]), classes, "logits")

    rmsprop = tf.train.RMSPropOptimizer(1e-3, 0.9, 0.9, 1.0)
    return classifier(tf, logits, rmsprop, batch, (pixels, pixels, 3), classes)
