# SPDX-License-Identifier: Apache-2.0
"""Networks for small machines: convolutions by channel, then across channels."""

from __future__ import annotations

import warnings
from typing import Any

from ...layers.nodes import int_shape
from ..backend.elements import is_keras_tensor
from .request import Files, Request, odd_padding

_URL = "https://github.com/fchollet/deep-learning-models/releases/download/v0.6/"
_URL_V2 = "https://github.com/JonathanCMitchell/mobilenet_v2_keras/releases/download/v1.1/"
_SIZES = (128, 160, 192, 224)
# Filters and stride of each block; of version 2 also by how much a block widens inside.
_BLOCKS = (
    *((64, 1), (128, 2), (128, 1), (256, 2), (256, 1), (512, 2)),
    *((512, 1),) * 5,
    *((1024, 2), (1024, 1)),
)
_BLOCKS_V2 = (
    *((16, 1, 1), (24, 2, 6), (24, 1, 6), (32, 2, 6), (32, 1, 6), (32, 1, 6), (64, 2, 6)),
    *((64, 1, 6),) * 3,
    *((96, 1, 6),) * 3,
    *((160, 2, 6), (160, 1, 6), (160, 1, 6), (320, 1, 6)),
)
_TEXTS = {1.0: "1_0", 0.75: "7_5", 0.5: "5_0", 0.25: "2_5"}
_ALPHAS_V2 = (0.35, 0.5, 0.75, 1.0, 1.3, 1.4)


def _default(request: Request, shape: Any, sizes: tuple[int, ...]) -> int:
    rows, columns = request.sides(shape) if shape is not None else (None, None)
    return rows if rows == columns and rows in sizes else 224


def _rows(request: Request, alpha: float, alphas: tuple[float, ...], sizes: tuple[int, ...]) -> Any:
    """The size that stands in the network's name, which that of trained weights is."""
    rows, columns = request.sides(request.input_shape)
    if not request.is_imagenet:
        return rows
    if alpha not in alphas:
        raise ValueError(
            f"If imagenet weights are being loaded, alpha can be one of {alphas} only, not {alpha}."
        )
    if rows == columns and rows in sizes:
        return rows
    warnings.warn(
        f"`input_shape` is undefined or non-square, or `rows` is not in {list(sizes)}. Weights for "
        "input shape (224, 224) will be loaded as the default.",
        stacklevel=3,
    )
    return 224


def _block(request: Request, x: Any, filters: int, multiplier: int, stride: int, place: int) -> Any:
    layers, axis = request.layers, 1 if request.axis == 1 else -1
    if stride > 1:
        x = layers.ZeroPadding2D(((0, 1), (0, 1)), name=f"conv_pad_{place}")(x)
    x = layers.DepthwiseConv2D(
        (3, 3),
        padding="same" if stride == 1 else "valid",
        depth_multiplier=multiplier,
        strides=(stride, stride),
        use_bias=False,
        name=f"conv_dw_{place}",
    )(x)
    x = layers.BatchNormalization(axis=axis, name=f"conv_dw_{place}_bn")(x)
    x = layers.ReLU(6.0, name=f"conv_dw_{place}_relu")(x)
    x = layers.Conv2D(
        filters, (1, 1), padding="same", use_bias=False, strides=(1, 1), name=f"conv_pw_{place}"
    )(x)
    x = layers.BatchNormalization(axis=axis, name=f"conv_pw_{place}_bn")(x)
    return layers.ReLU(6.0, name=f"conv_pw_{place}_relu")(x)


def _top(request: Request, x: Any, channels: int, dropout: float) -> Any:
    layers = request.layers
    x = layers.GlobalAveragePooling2D()(x)
    shape = (channels, 1, 1) if request.axis == 1 else (1, 1, channels)
    x = layers.Reshape(shape, name="reshape_1")(x)
    x = layers.Dropout(dropout, name="dropout")(x)
    x = layers.Conv2D(request.classes, (1, 1), padding="same", name="conv_preds")(x)
    x = layers.Reshape((request.classes,), name="reshape_2")(x)
    return layers.Activation("softmax", name="act_softmax")(x)


def MobileNet(
    input_shape: Any = None,
    alpha: float = 1.0,
    depth_multiplier: int = 1,
    dropout: float = 1e-3,
    include_top: bool = True,
    weights: str | None = "imagenet",
    input_tensor: Any = None,
    pooling: str | None = None,
    classes: int = 1000,
    **kwargs: Any,
) -> Any:
    """The network; `Request` says what the arguments mean that others have, too.

    Args:
        alpha: the factor of all numbers of filters.
        depth_multiplier: filters per channel.
        dropout: the rate before the layer that classifies.

    Raises:
        ValueError: there are no trained weights of this form.
    """
    request = Request(include_top, weights, input_tensor, input_shape, pooling, classes, kwargs)
    request.settle(_default(request, input_shape, _SIZES), 32)
    if request.is_imagenet and depth_multiplier != 1:
        raise ValueError("If imagenet weights are being loaded, depth multiplier must be 1")
    rows = _rows(request, alpha, tuple(_TEXTS), _SIZES)
    layers = request.layers
    x = layers.ZeroPadding2D(padding=((0, 1), (0, 1)), name="conv1_pad")(request.begin())
    x = layers.Conv2D(
        int(32 * alpha), (3, 3), padding="valid", use_bias=False, strides=(2, 2), name="conv1"
    )(x)
    x = layers.BatchNormalization(axis=1 if request.axis == 1 else -1, name="conv1_bn")(x)
    x = layers.ReLU(6.0, name="conv1_relu")(x)
    for place, (filters, stride) in enumerate(_BLOCKS, 1):
        x = _block(request, x, int(filters * alpha), depth_multiplier, stride, place)
    x = _top(request, x, int(1024 * alpha), dropout) if include_top else request.pooled(x)
    stem = f"mobilenet_{_TEXTS.get(alpha)}_{rows}_tf"
    files = Files(_URL, (f"{stem}.h5", f"{stem}_no_top.h5"))
    return request.model(x, f"mobilenet_{alpha:0.2f}_{rows}", files)


def _divisible(value: float, divisor: int = 8) -> int:
    """The nearest multiple, which is not less than nine tenths."""
    found = max(divisor, int(value + divisor / 2) // divisor * divisor)
    return found + divisor if found < 0.9 * value else found


class _Inverted:
    def __init__(self, request: Request) -> None:
        self.layers, self.axis = request.layers, 1 if request.axis == 1 else -1

    def norm(self, x: Any, name: str) -> Any:
        return self.layers.BatchNormalization(
            axis=self.axis, epsilon=1e-3, momentum=0.999, name=name
        )(x)

    def across(self, x: Any, filters: int, name: str) -> Any:
        x = self.layers.Conv2D(
            filters, kernel_size=1, padding="same", use_bias=False, activation=None, name=name
        )(x)
        return self.norm(x, f"{name}_BN")

    def block(
        self, x: Any, filters: int, stride: int, expansion: int, place: int, alpha: float
    ) -> Any:
        start, channels = x, int_shape(x)[self.axis]
        filters = _divisible(int(filters * alpha))
        name = f"block_{place}_" if place else "expanded_conv_"
        if place:
            x = self.across(x, expansion * channels, f"{name}expand")
            x = self.layers.ReLU(6.0, name=f"{name}expand_relu")(x)
        if stride == 2:
            padding = odd_padding(x, 3, self.axis)
            x = self.layers.ZeroPadding2D(padding=padding, name=f"{name}pad")(x)
        x = self.layers.DepthwiseConv2D(
            kernel_size=3,
            strides=stride,
            activation=None,
            use_bias=False,
            padding="same" if stride == 1 else "valid",
            name=f"{name}depthwise",
        )(x)
        x = self.norm(x, f"{name}depthwise_BN")
        x = self.layers.ReLU(6.0, name=f"{name}depthwise_relu")(x)
        x = self.across(x, filters, f"{name}project")
        if channels == filters and stride == 1:
            return self.layers.Add(name=f"{name}add")([start, x])
        return x


def _beginning(request: Request) -> Any:
    """The shape from which version 2 takes its default size."""
    tensor = request.input_tensor
    if tensor is None or not is_keras_tensor(tensor):
        return request.input_shape
    found = int_shape(tensor)[1:]
    if request.input_shape is None:
        return found
    if found[1] != request.input_shape[1]:
        raise ValueError(
            f"input_shape: {request.input_shape} and input_tensor: {tensor} do not meet the same "
            "shape requirements"
        )
    return request.input_shape


def MobileNetV2(
    input_shape: Any = None,
    alpha: float = 1.0,
    include_top: bool = True,
    weights: str | None = "imagenet",
    input_tensor: Any = None,
    pooling: str | None = None,
    classes: int = 1000,
    **kwargs: Any,
) -> Any:
    """The network of inverted residual blocks; `Request` says what the other arguments mean.

    Args:
        alpha: the factor of all numbers of filters.

    Raises:
        ValueError: there are no trained weights of this form.
    """
    sizes = (96, *_SIZES)
    request = Request(include_top, weights, input_tensor, input_shape, pooling, classes, kwargs)
    request.settle(_default(request, _beginning(request), sizes), 32)
    rows = _rows(request, alpha, _ALPHAS_V2, sizes)
    layers, blocks = request.layers, _Inverted(request)
    x = request.begin()
    x = layers.ZeroPadding2D(padding=odd_padding(x, 3, request.axis), name="Conv1_pad")(x)
    x = layers.Conv2D(
        _divisible(32 * alpha),
        kernel_size=3,
        strides=(2, 2),
        padding="valid",
        use_bias=False,
        name="Conv1",
    )(x)
    x = layers.ReLU(6.0, name="Conv1_relu")(blocks.norm(x, "bn_Conv1"))
    for place, (filters, stride, expansion) in enumerate(_BLOCKS_V2):
        x = blocks.block(x, filters, stride, expansion, place, alpha)
    last = _divisible(1280 * alpha) if alpha > 1.0 else 1280
    x = layers.Conv2D(last, kernel_size=1, use_bias=False, name="Conv_1")(x)
    x = layers.ReLU(6.0, name="out_relu")(blocks.norm(x, "Conv_1_bn"))
    x = request.classify(x, "Logits") if include_top else request.pooled(x)
    stem = f"mobilenet_v2_weights_tf_dim_ordering_tf_kernels_{alpha}_{rows}"
    files = Files(_URL_V2, (f"{stem}.h5", f"{stem}_no_top.h5"))
    return request.model(x, f"mobilenetv2_{alpha:0.2f}_{rows}", files)
