# SPDX-License-Identifier: Apache-2.0
"""Densely connected networks: each layer of a block reads all before it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...layers.nodes import int_shape
from .request import Files, Request, kernels

_URL = "https://github.com/keras-team/keras-applications/releases/download/densenet/"
_GROWTH = 32
# Name -> layers of the four blocks, sums of the files.
_NETWORKS = {
    "DenseNet121": (
        (6, 12, 24, 16),
        ("9d60b8095a5708f2dcce2bca79d332c7", "30ee3e1110167f948a6b9946edeeb738"),
    ),
    "DenseNet169": (
        (6, 12, 32, 32),
        ("d699b8f76981ab1b30698df4c175e90b", "b8c4d4c20dd625c148057b9ff1c1176b"),
    ),
    "DenseNet201": (
        (6, 12, 48, 32),
        ("1ceb130c1ea1b78c3bf6114dbdfd8807", "c13680b51ded0fb44dff2d8f86ac8bb1"),
    ),
}


class _Blocks:
    def __init__(self, request: Request) -> None:
        self.layers, self.axis = request.layers, request.axis

    def active(self, x: Any, norm: str, relu: str) -> Any:
        x = self.layers.BatchNormalization(axis=self.axis, epsilon=1.001e-5, name=norm)(x)
        return self.layers.Activation("relu", name=relu)(x)

    def conv(self, x: Any, filters: int, size: int, name: str, **more: Any) -> Any:
        return self.layers.Conv2D(filters, size, use_bias=False, name=name, **more)(x)

    def grown(self, x: Any, name: str) -> Any:
        new = self.active(x, f"{name}_0_bn", f"{name}_0_relu")
        new = self.conv(new, 4 * _GROWTH, 1, f"{name}_1_conv")
        new = self.active(new, f"{name}_1_bn", f"{name}_1_relu")
        new = self.conv(new, _GROWTH, 3, f"{name}_2_conv", padding="same")
        return self.layers.Concatenate(axis=self.axis, name=f"{name}_concat")([x, new])

    def halved(self, x: Any, name: str) -> Any:
        x = self.active(x, f"{name}_bn", f"{name}_relu")
        x = self.conv(x, int_shape(x)[self.axis] // 2, 1, f"{name}_conv")
        return self.layers.AveragePooling2D(2, strides=2, name=f"{name}_pool")(x)


def _network(request: Request, name: str) -> Any:
    depths, sums = _NETWORKS[name]
    layers, blocks = request.layers, _Blocks(request)
    request.settle(224, 32)
    x = layers.ZeroPadding2D(padding=((3, 3), (3, 3)))(request.begin())
    x = blocks.conv(x, 64, 7, "conv1/conv", strides=2)
    x = blocks.active(x, "conv1/bn", "conv1/relu")
    x = layers.ZeroPadding2D(padding=((1, 1), (1, 1)))(x)
    x = layers.MaxPooling2D(3, strides=2, name="pool1")(x)
    for stage, depth in enumerate(depths, 2):
        for place in range(1, depth + 1):
            x = blocks.grown(x, f"conv{stage}_block{place}")
        if stage < 5:
            x = blocks.halved(x, f"pool{stage}")
    x = blocks.active(x, "bn", "relu")
    if request.include_top:
        x = request.classify(x, "fc1000", "avg_pool")
    else:
        x = request.pooled(x, "avg_pool", "max_pool")
    return request.model(x, name.lower(), Files(_URL, kernels(name.lower()), sums))


def _published(name: str) -> Callable[..., Any]:
    def network(
        include_top: bool = True,
        weights: str | None = "imagenet",
        input_tensor: Any = None,
        input_shape: Any = None,
        pooling: str | None = None,
        classes: int = 1000,
        **kwargs: Any,
    ) -> Any:
        request = Request(include_top, weights, input_tensor, input_shape, pooling, classes, kwargs)
        return _network(request, name)

    network.__name__ = network.__qualname__ = name
    network.__doc__ = (
        f"The dense network of {name.removeprefix('DenseNet')} layers; "
        "`Request` says what the arguments mean."
    )
    return network


DenseNet121 = _published("DenseNet121")
DenseNet169 = _published("DenseNet169")
DenseNet201 = _published("DenseNet201")
