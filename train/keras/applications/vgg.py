# SPDX-License-Identifier: Apache-2.0
"""VGG16 and VGG19: windows of three by three, five times halved."""

from __future__ import annotations

from typing import Any

from .request import Files, Request, kernels

_URL = "https://github.com/fchollet/deep-learning-models/releases/download/v0.1/"
_FILTERS = (64, 128, 256, 512, 512)
_VGG16 = Files(
    _URL,
    kernels("vgg16"),
    ("64373286793e3c8b2b4e3219cbf3544b", "6d6bbae143d832006294945121d1f1fc"),
)
_VGG19 = Files(
    _URL,
    kernels("vgg19"),
    ("cbe5617147190e668d6c5d5026f83318", "253f8cb515780f3b799900260a226db6"),
)


def _network(request: Request, name: str, depths: tuple[int, ...], files: Files) -> Any:
    layers = request.layers
    request.settle(224, 32)
    x = request.begin()
    for block, (filters, depth) in enumerate(zip(_FILTERS, depths, strict=True), 1):
        for place in range(1, depth + 1):
            x = layers.Conv2D(
                filters,
                (3, 3),
                activation="relu",
                padding="same",
                name=f"block{block}_conv{place}",
            )(x)
        x = layers.MaxPooling2D((2, 2), strides=(2, 2), name=f"block{block}_pool")(x)
    if request.include_top:
        x = layers.Flatten(name="flatten")(x)
        x = layers.Dense(4096, activation="relu", name="fc1")(x)
        x = layers.Dense(4096, activation="relu", name="fc2")(x)
        x = layers.Dense(request.classes, activation="softmax", name="predictions")(x)
    else:
        x = request.pooled(x)
    return request.model(x, name, files)


def VGG16(
    include_top: bool = True,
    weights: str | None = "imagenet",
    input_tensor: Any = None,
    input_shape: Any = None,
    pooling: str | None = None,
    classes: int = 1000,
    **kwargs: Any,
) -> Any:
    """The network of 16 layers with weights; `Request` says what the arguments mean."""
    request = Request(include_top, weights, input_tensor, input_shape, pooling, classes, kwargs)
    return _network(request, "vgg16", (2, 2, 3, 3, 3), _VGG16)


def VGG19(
    include_top: bool = True,
    weights: str | None = "imagenet",
    input_tensor: Any = None,
    input_shape: Any = None,
    pooling: str | None = None,
    classes: int = 1000,
    **kwargs: Any,
) -> Any:
    """The network of 19 layers with weights; `Request` says what the arguments mean."""
    request = Request(include_top, weights, input_tensor, input_shape, pooling, classes, kwargs)
    return _network(request, "vgg19", (2, 2, 4, 4, 4), _VGG19)
