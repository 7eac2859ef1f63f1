# SPDX-License-Identifier: Apache-2.0
"""Residual networks, of which the second version normalizes before it computes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .request import Files, Request, kernels

_URL = "https://github.com/keras-team/keras-applications/releases/download/resnet/"
_SUMS = {
    "resnet50": ("2cb95161c43110f7111970584f804107", "4d473c1dd8becc155b73f8504c6f6626"),
    "resnet101": ("f1aeb4b969a6efcfb50fad2f0c20cfc5", "88cf7a10940856eca736dc7b7e228a21"),
    "resnet152": ("100835be76be38e30d865e96f2aaae62", "ee4c566cf9a93f14d82f913c2dc6dd0c"),
    "resnet50v2": ("3ef43a0b657b3be2300d5770ece849e0", "fac2f116257151a9d068a22e544a4917"),
    "resnet101v2": ("6343647c601c52e1368623803854d971", "c0ed64b8031c3730f411d2eb4eea35b5"),
    "resnet152v2": ("a49b44d1979771252814e80f8ec446f9", "ed17cf2e0169df9d443503ef94b23b33"),
}
# Blocks of the four stacks.
_DEPTHS = {"50": (3, 4, 6, 3), "101": (3, 4, 23, 3), "152": (3, 8, 36, 3)}


class _Blocks:
    def __init__(self, request: Request) -> None:
        self.layers, self.axis = request.layers, request.axis

    def norm(self, x: Any, name: str) -> Any:
        return self.layers.BatchNormalization(axis=self.axis, epsilon=1.001e-5, name=name)(x)

    def relu(self, x: Any, name: str) -> Any:
        return self.layers.Activation("relu", name=name)(x)

    def conv(self, x: Any, filters: int, size: int, name: str, **more: Any) -> Any:
        return self.layers.Conv2D(filters, size, name=name, **more)(x)

    def first(self, x: Any, filters: int, name: str, is_first: bool, stride: int) -> Any:
        """A block of version 1; the first one of a stack has a shortcut of its own."""
        shortcut = x
        if is_first:
            shortcut = self.conv(x, 4 * filters, 1, f"{name}_0_conv", strides=stride)
            shortcut = self.norm(shortcut, f"{name}_0_bn")
        x = self.conv(x, filters, 1, f"{name}_1_conv", strides=stride if is_first else 1)
        x = self.relu(self.norm(x, f"{name}_1_bn"), f"{name}_1_relu")
        x = self.conv(x, filters, 3, f"{name}_2_conv", padding="SAME")
        x = self.relu(self.norm(x, f"{name}_2_bn"), f"{name}_2_relu")
        x = self.norm(self.conv(x, 4 * filters, 1, f"{name}_3_conv"), f"{name}_3_bn")
        return self.relu(self.layers.Add(name=f"{name}_add")([shortcut, x]), f"{name}_out")

    def second(self, x: Any, filters: int, name: str, is_first: bool, stride: int) -> Any:
        """A block of version 2; the stride is the last one's of a stack."""
        before = self.relu(self.norm(x, f"{name}_preact_bn"), f"{name}_preact_relu")
        shortcut = x
        if is_first:
            shortcut = self.conv(before, 4 * filters, 1, f"{name}_0_conv", strides=stride)
        elif stride > 1:
            shortcut = self.layers.MaxPooling2D(1, strides=stride)(x)
        x = self.conv(before, filters, 1, f"{name}_1_conv", strides=1, use_bias=False)
        x = self.relu(self.norm(x, f"{name}_1_bn"), f"{name}_1_relu")
        x = self.layers.ZeroPadding2D(padding=((1, 1), (1, 1)), name=f"{name}_2_pad")(x)
        x = self.conv(x, filters, 3, f"{name}_2_conv", strides=stride, use_bias=False)
        x = self.relu(self.norm(x, f"{name}_2_bn"), f"{name}_2_relu")
        x = self.conv(x, 4 * filters, 1, f"{name}_3_conv")
        return self.layers.Add(name=f"{name}_out")([shortcut, x])


def _stacks(blocks: _Blocks, x: Any, depths: tuple[int, ...], is_second: bool) -> Any:
    for stack, depth in enumerate(depths):
        filters = 64 << stack
        halves = stack < len(depths) - 1 if is_second else stack > 0
        for place in range(depth):
            name = f"conv{stack + 2}_block{place + 1}"
            is_first = place == 0
            if is_second:
                stride = 2 if halves and place == depth - 1 else 1
                x = blocks.second(x, filters, name, is_first, stride)
            else:
                x = blocks.first(x, filters, name, is_first, 2 if halves else 1)
    return x


def _network(request: Request, depth: str, is_second: bool) -> Any:
    layers, blocks = request.layers, _Blocks(request)
    request.settle(224, 32)
    x = layers.ZeroPadding2D(padding=((3, 3), (3, 3)), name="conv1_pad")(request.begin())
    x = blocks.conv(x, 64, 7, "conv1_conv", strides=2)
    if not is_second:
        x = blocks.relu(blocks.norm(x, "conv1_bn"), "conv1_relu")
    x = layers.ZeroPadding2D(padding=((1, 1), (1, 1)), name="pool1_pad")(x)
    x = layers.MaxPooling2D(3, strides=2, name="pool1_pool")(x)
    x = _stacks(blocks, x, _DEPTHS[depth], is_second)
    if is_second:
        x = blocks.relu(blocks.norm(x, "post_bn"), "post_relu")
    if request.include_top:
        x = request.classify(x, "probs", "avg_pool")
    else:
        x = request.pooled(x, "avg_pool", "max_pool")
    name = f"resnet{depth}{'v2' if is_second else ''}"
    return request.model(x, name, Files(_URL, kernels(name), _SUMS[name]))


def _published(name: str, depth: str, is_second: bool) -> Callable[..., Any]:
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
        return _network(request, depth, is_second)

    network.__name__ = network.__qualname__ = name
    network.__doc__ = (
        f"The residual network of {depth} layers, version {2 if is_second else 1}; "
        "`Request` says what the arguments mean."
    )
    return network


ResNet50 = _published("ResNet50", "50", is_second=False)
ResNet101 = _published("ResNet101", "101", is_second=False)
ResNet152 = _published("ResNet152", "152", is_second=False)
ResNet50V2 = _published("ResNet50V2", "50", is_second=True)
ResNet101V2 = _published("ResNet101V2", "101", is_second=True)
ResNet152V2 = _published("ResNet152V2", "152", is_second=True)
