# SPDX-License-Identifier: Apache-2.0
"""Xception: convolutions that take channels and places apart."""

from __future__ import annotations

from typing import Any

from .request import Files, Request, kernels

_FILES = Files(
    "https://github.com/fchollet/deep-learning-models/releases/download/v0.4/",
    kernels("xception"),
    ("0a58e3b7378bc2990ea3b43d5981f1f6", "b0042744bf5b25fce3cb969f33bebb97"),
)
# Blocks that halve, and the filters of their two convolutions.
_HALVING = {2: (128, 128), 3: (256, 256), 4: (728, 728), 13: (728, 1024)}


class _Blocks:
    def __init__(self, request: Request) -> None:
        self.layers, self.axis = request.layers, 1 if request.axis == 1 else -1

    def norm(self, x: Any, name: str | None = None) -> Any:
        return self.layers.BatchNormalization(axis=self.axis, name=name)(x)

    def relu(self, x: Any, name: str) -> Any:
        return self.layers.Activation("relu", name=f"{name}_act")(x)

    def separable(self, x: Any, filters: int, name: str) -> Any:
        x = self.layers.SeparableConv2D(filters, (3, 3), padding="same", use_bias=False, name=name)(
            x
        )
        return self.norm(x, f"{name}_bn")

    def halving(self, x: Any, block: int) -> Any:
        name = f"block{block}"
        first, second = _HALVING[block]
        residual = self.layers.Conv2D(
            second, (1, 1), strides=(2, 2), padding="same", use_bias=False
        )(x)
        residual = self.norm(residual)
        if block > 2:  # what comes before the second block is active already
            x = self.relu(x, f"{name}_sepconv1")
        x = self.relu(self.separable(x, first, f"{name}_sepconv1"), f"{name}_sepconv2")
        x = self.separable(x, second, f"{name}_sepconv2")
        x = self.layers.MaxPooling2D((3, 3), strides=(2, 2), padding="same", name=f"{name}_pool")(x)
        return self.layers.add([x, residual])

    def middle(self, x: Any, block: int) -> Any:
        residual = x
        for place in (1, 2, 3):
            name = f"block{block}_sepconv{place}"
            x = self.separable(self.relu(x, name), 728, name)
        return self.layers.add([x, residual])


def Xception(
    include_top: bool = True,
    weights: str | None = "imagenet",
    input_tensor: Any = None,
    input_shape: Any = None,
    pooling: str | None = None,
    classes: int = 1000,
    **kwargs: Any,
) -> Any:
    """The network; `Request` says what the arguments mean."""
    request = Request(include_top, weights, input_tensor, input_shape, pooling, classes, kwargs)
    layers, blocks = request.layers, _Blocks(request)
    request.settle(299, 71)
    x = request.begin()
    for place, (filters, strides) in enumerate(((32, (2, 2)), (64, (1, 1))), 1):
        name = f"block1_conv{place}"
        x = layers.Conv2D(filters, (3, 3), strides=strides, use_bias=False, name=name)(x)
        x = blocks.relu(blocks.norm(x, f"{name}_bn"), name)
    for block in range(2, 14):
        x = blocks.halving(x, block) if block in _HALVING else blocks.middle(x, block)
    for place, filters in enumerate((1536, 2048), 1):
        name = f"block14_sepconv{place}"
        x = blocks.relu(blocks.separable(x, filters, name), name)
    x = request.classify(x, "predictions", "avg_pool") if include_top else request.pooled(x)
    return request.model(x, "xception", _FILES)
