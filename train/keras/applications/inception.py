# SPDX-License-Identifier: Apache-2.0
"""Inception's networks: branches of several windows beside each other.

A chain is a tuple of steps (filters, window) or (filters, window, stride); a step with a stride
does not pad.
"""

from __future__ import annotations

from typing import Any

from ...layers.nodes import int_shape
from .request import Files, Request, kernels

_RELEASES = "https://github.com/fchollet/deep-learning-models/releases/download/"
_V3 = Files(
    f"{_RELEASES}v0.5/",
    kernels("inception_v3"),
    ("9a0d58056eeedaa3f26cb7ebd46da564", "bcbd6486424b2319ff4ef7d526e38f63"),
)
_RESIDUAL = Files(
    f"{_RELEASES}v0.7/",
    kernels("inception_resnet_v2"),
    ("e693bd0210a403b3192acc6073ad2e96", "d19885ff4a710c122648d3b5c3b684e4"),
)
_Chain = tuple[Any, ...]


def _seven(inner: int) -> tuple[_Chain, ...]:
    wide, high = (1, 7), (7, 1)
    return (
        ((192, 1),),
        ((inner, 1), (inner, wide), (192, high)),
        ((inner, 1), (inner, high), (inner, wide), (inner, high), (192, wide)),
    )


_FIVE: tuple[_Chain, ...] = (((64, 1),), ((48, 1), (64, 5)), ((64, 1), (96, 3), (96, 3)))
# Name -> chains, and the filters behind an average; none: the largest of every second window.
_MIXED: dict[str, tuple[tuple[_Chain, ...], int | None]] = {
    "mixed0": (_FIVE, 32),
    "mixed1": (_FIVE, 64),
    "mixed2": (_FIVE, 64),
    "mixed3": ((((384, 3, 2),), ((64, 1), (96, 3), (96, 3, 2))), None),
    "mixed4": (_seven(128), 192),
    "mixed5": (_seven(160), 192),
    "mixed6": (_seven(160), 192),
    "mixed7": (_seven(192), 192),
    "mixed8": (
        (((192, 1), (320, 3, 2)), ((192, 1), (192, (1, 7)), (192, (7, 1)), (192, 3, 2))),
        None,
    ),
}
# Kind of block -> chains and how much of them is added.
_RESIDUAL_BLOCKS: dict[str, tuple[tuple[_Chain, ...], float]] = {
    "block35": ((((32, 1),), ((32, 1), (32, 3)), ((32, 1), (48, 3), (64, 3))), 0.17),
    "block17": ((((192, 1),), ((128, 1), (160, (1, 7)), (192, (7, 1)))), 0.1),
    "block8": ((((192, 1),), ((192, 1), (224, (1, 3)), (256, (3, 1)))), 0.2),
}


class _Branches:
    def __init__(self, request: Request) -> None:
        self.layers, self.axis = request.layers, request.axis

    def conv(self, x: Any, filters: int, size: Any, stride: int = 0, pads: bool = True) -> Any:
        """A convolution without a bias, normalized, and its positive part."""
        padding = "valid" if stride or not pads else "same"
        x = self.layers.Conv2D(filters, size, strides=stride or 1, padding=padding, use_bias=False)(
            x
        )
        x = self.layers.BatchNormalization(axis=self.axis, scale=False)(x)
        return self.layers.Activation("relu")(x)

    def stem(self, x: Any) -> Any:
        """The beginning that both networks share."""
        x = self.conv(x, 32, 3, 2)
        x = self.conv(x, 32, 3, pads=False)
        x = self.layers.MaxPooling2D((3, 3), strides=(2, 2))(self.conv(x, 64, 3))
        x = self.conv(x, 80, 1, pads=False)
        x = self.conv(x, 192, 3, pads=False)
        return self.layers.MaxPooling2D((3, 3), strides=(2, 2))(x)

    def chains(self, x: Any, chains: tuple[_Chain, ...]) -> list[Any]:
        ends = []
        for chain in chains:
            end = x
            for step in chain:
                end = self.conv(end, *step)
            ends.append(end)
        return ends

    def averaged(self, x: Any, filters: int) -> Any:
        x = self.layers.AveragePooling2D((3, 3), strides=(1, 1), padding="same")(x)
        return self.conv(x, filters, 1)

    def mixed(self, x: Any, name: str, chains: tuple[_Chain, ...], averaged: int | None) -> Any:
        ends = self.chains(x, chains)
        if averaged is None:
            ends.append(self.layers.MaxPooling2D((3, 3), strides=(2, 2))(x))
        else:
            ends.append(self.averaged(x, averaged))
        return self.layers.concatenate(ends, axis=self.axis, name=name)

    def forked(self, x: Any, place: int) -> Any:
        """One of the last two blocks of version 3, whose branches fork once more."""
        one = self.conv(x, 320, 1)
        near = self.conv(x, 384, 1)
        near = [self.conv(near, 384, (1, 3)), self.conv(near, 384, (3, 1))]
        near = self.layers.concatenate(near, axis=self.axis, name=f"mixed9_{place}")
        far = self.conv(self.conv(x, 448, 1), 384, 3)
        far = [self.conv(far, 384, (1, 3)), self.conv(far, 384, (3, 1))]
        far = self.layers.concatenate(far, axis=self.axis)
        ends = [one, near, far, self.averaged(x, 192)]
        return self.layers.concatenate(ends, axis=self.axis, name=f"mixed{9 + place}")

    def residual(self, x: Any, kind: str, place: int, scale: float, is_last: bool = False) -> Any:
        name = f"{kind}_{place}"
        ends = self.chains(x, _RESIDUAL_BLOCKS[kind][0])
        mixed = self.layers.Concatenate(axis=self.axis, name=f"{name}_mixed")(ends)
        new = self.layers.Conv2D(
            int_shape(x)[self.axis], 1, padding="same", use_bias=True, name=f"{name}_conv"
        )(mixed)
        x = self.layers.Lambda(
            lambda inputs, scale: inputs[0] + inputs[1] * scale,
            output_shape=int_shape(x)[1:],
            arguments={"scale": scale},
            name=name,
        )([x, new])
        return x if is_last else self.layers.Activation("relu", name=f"{name}_ac")(x)


def InceptionV3(
    include_top: bool = True,
    weights: str | None = "imagenet",
    input_tensor: Any = None,
    input_shape: Any = None,
    pooling: str | None = None,
    classes: int = 1000,
    **kwargs: Any,
) -> Any:
    """Inception's third version; `Request` says what the arguments mean."""
    request = Request(include_top, weights, input_tensor, input_shape, pooling, classes, kwargs)
    branches = _Branches(request)
    request.settle(299, 75)
    x = branches.stem(request.begin())
    for name, (chains, averaged) in _MIXED.items():
        x = branches.mixed(x, name, chains, averaged)
    for place in (0, 1):
        x = branches.forked(x, place)
    x = request.classify(x, "predictions", "avg_pool") if include_top else request.pooled(x)
    return request.model(x, "inception_v3", _V3)


def InceptionResNetV2(
    include_top: bool = True,
    weights: str | None = "imagenet",
    input_tensor: Any = None,
    input_shape: Any = None,
    pooling: str | None = None,
    classes: int = 1000,
    **kwargs: Any,
) -> Any:
    """Inception with residual blocks; `Request` says what the arguments mean."""
    request = Request(include_top, weights, input_tensor, input_shape, pooling, classes, kwargs)
    layers, branches = request.layers, _Branches(request)
    request.settle(299, 75)
    x = branches.stem(request.begin())
    chains: tuple[_Chain, ...] = (((96, 1),), ((48, 1), (64, 5)), ((64, 1), (96, 3), (96, 3)))
    x = branches.mixed(x, "mixed_5b", chains, 64)
    for place in range(1, 11):
        x = branches.residual(x, "block35", place, _RESIDUAL_BLOCKS["block35"][1])
    chains = (((384, 3, 2),), ((256, 1), (256, 3), (384, 3, 2)))
    x = branches.mixed(x, "mixed_6a", chains, None)
    for place in range(1, 21):
        x = branches.residual(x, "block17", place, _RESIDUAL_BLOCKS["block17"][1])
    chains = (((256, 1), (384, 3, 2)), ((256, 1), (288, 3, 2)), ((256, 1), (288, 3), (320, 3, 2)))
    x = branches.mixed(x, "mixed_7a", chains, None)
    for place in range(1, 10):
        x = branches.residual(x, "block8", place, _RESIDUAL_BLOCKS["block8"][1])
    x = branches.residual(x, "block8", 10, 1.0, is_last=True)
    x = layers.Conv2D(1536, 1, padding="same", use_bias=False, name="conv_7b")(x)
    x = layers.BatchNormalization(axis=request.axis, scale=False, name="conv_7b_bn")(x)
    x = layers.Activation("relu", name="conv_7b_ac")(x)
    x = request.classify(x, "predictions", "avg_pool") if include_top else request.pooled(x)
    return request.model(x, "inception_resnet_v2", _RESIDUAL)
