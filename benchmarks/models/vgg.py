# SPDX-License-Identifier: Apache-2.0
"""A network of nine 3 × 3 convolutions with batch normalization, as VGG is for CIFAR, and Adam."""

from __future__ import annotations

from typing import Any

from .image_classes import classifier
from .parts import Model, batch_norm, conv, dense


def vgg(
    tf: Any,
    batch: int = 32,
    pixels: int = 32,
    channels: int = 64,
    stages: tuple[int, ...] = (2, 2, 3, 2),
) -> Model:
    """A training step; each stage doubles the channels and halves the image."""

    def logits(h: Any) -> Any:
        for stage, layers in enumerate(stages):
            for layer in range(layers):
                name = f"stage{stage}_conv{layer}"
                h = conv(tf, h, channels << stage, 3, name, bias=False)
                h = tf.nn.relu(batch_norm(tf, h, f"{name}_norm"))
            h = tf.nn.max_pool(h, [1, 2, 2, 1], [1, 2, 2, 1], padding="VALID")
        side = pixels >> len(stages)
        h = tf.reshape(h, [-1, side * side * (channels << (len(stages) - 1))])
        return dense(tf, h, 10, "logits")

    return classifier(tf, logits, tf.train.AdamOptimizer(1e-3), batch, (pixels, pixels, 3), 10)
