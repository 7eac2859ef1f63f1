# SPDX-License-Identifier: Apache-2.0
"""NASNet: cells that a search found, each of which reads the two before it."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Iterator
from typing import Any

from ....engine.graph.scope_functions import name_scope
from ...layers.nodes import int_shape
from ..backend.settings import image_data_format, set_image_data_format
from .request import Files, Request, odd_padding

_URL = "https://github.com/titu1994/Keras-NASNet/releases/download/v1.2/"


class _Cells:
    """Cells of channels that come last, the only order that these networks have."""

    def __init__(self, layers: Any) -> None:
        self.layers = layers

    def norm(self, x: Any, name: str) -> Any:
        return self.layers.BatchNormalization(axis=-1, momentum=0.9997, epsilon=1e-3, name=name)(x)

    def across(self, x: Any, filters: int, name: str) -> Any:
        return self.layers.Conv2D(
            filters,
            (1, 1),
            strides=(1, 1),
            padding="same",
            name=name,
            use_bias=False,
            kernel_initializer="he_normal",
        )(x)

    def separable(self, x: Any, filters: int, size: int, name: str, stride: int = 1) -> Any:
        """Two separable convolutions, of which the first one may halve."""
        with name_scope(f"separable_conv_block_{name}"):
            x = self.layers.Activation("relu")(x)
            if stride == 2:
                padding = odd_padding(x, size, 3)
                x = self.layers.ZeroPadding2D(padding=padding, name=f"separable_conv_1_pad_{name}")(
                    x
                )
            for place, strides in ((1, stride), (2, 1)):
                if place == 2:
                    x = self.layers.Activation("relu")(x)
                x = self.layers.SeparableConv2D(
                    filters,
                    (size, size),
                    strides=(strides, strides),
                    name=f"separable_conv_{place}_{name}",
                    padding="valid" if strides == 2 else "same",
                    use_bias=False,
                    kernel_initializer="he_normal",
                )(x)
                x = self.norm(x, f"separable_conv_{place}_bn_{name}")
            return x

    def average(self, x: Any, name: str) -> Any:
        return self.layers.AveragePooling2D((3, 3), strides=(1, 1), padding="same", name=name)(x)

    def adjusted(self, before: Any, x: Any, filters: int, name: str) -> Any:
        """The cell before the last one, in the last one's size and with these filters."""
        with name_scope("adjust_block"):
            if before is None:
                return x
            if int_shape(before)[-2] != int_shape(x)[-2]:
                with name_scope(f"adjust_reduction_block_{name}"):
                    return self._halved(before, filters, name)
            if int_shape(before)[-1] != filters:
                with name_scope(f"adjust_projection_block_{name}"):
                    before = self.layers.Activation("relu")(before)
                    before = self.across(before, filters, f"adjust_conv_projection_{name}")
                    return self.norm(before, f"adjust_bn_{name}")
            return before

    def _halved(self, x: Any, filters: int, name: str) -> Any:
        # Every second place, and every second one of those between.
        layers = self.layers
        x = layers.Activation("relu", name=f"adjust_relu_1_{name}")(x)
        even = layers.AveragePooling2D(
            (1, 1), strides=(2, 2), padding="valid", name=f"adjust_avg_pool_1_{name}"
        )(x)
        even = self.across(even, filters // 2, f"adjust_conv_1_{name}")
        odd = layers.ZeroPadding2D(padding=((0, 1), (0, 1)))(x)
        odd = layers.Cropping2D(cropping=((1, 0), (1, 0)))(odd)
        odd = layers.AveragePooling2D(
            (1, 1), strides=(2, 2), padding="valid", name=f"adjust_avg_pool_2_{name}"
        )(odd)
        odd = self.across(odd, filters // 2, f"adjust_conv_2_{name}")
        return self.norm(layers.concatenate([even, odd], axis=-1), f"adjust_bn_{name}")

    def _begin(self, x: Any, before: Any, filters: int, kind: str, name: str) -> tuple[Any, Any]:
        before = self.adjusted(before, x, filters, name)
        here = self.across(self.layers.Activation("relu")(x), filters, f"{kind}_conv_1_{name}")
        return before, self.norm(here, f"{kind}_bn_1_{name}")

    def normal(self, x: Any, before: Any, filters: int, name: str) -> Any:
        """A cell that keeps the size."""
        add, separable = self.layers.add, self.separable
        with name_scope(f"normal_A_block_{name}"):
            before, here = self._begin(x, before, filters, "normal", name)
            with name_scope("block_1"):
                left = separable(here, filters, 5, f"normal_left1_{name}")
                right = separable(before, filters, 3, f"normal_right1_{name}")
                one = add([left, right], name=f"normal_add_1_{name}")
            with name_scope("block_2"):
                left = separable(before, filters, 5, f"normal_left2_{name}")
                right = separable(before, filters, 3, f"normal_right2_{name}")
                two = add([left, right], name=f"normal_add_2_{name}")
            with name_scope("block_3"):
                left = self.average(here, f"normal_left3_{name}")
                three = add([left, before], name=f"normal_add_3_{name}")
            with name_scope("block_4"):
                left = self.average(before, f"normal_left4_{name}")
                right = self.average(before, f"normal_right4_{name}")
                four = add([left, right], name=f"normal_add_4_{name}")
            with name_scope("block_5"):
                left = separable(here, filters, 3, f"normal_left5_{name}")
                five = add([left, here], name=f"normal_add_5_{name}")
            ends = [before, one, two, three, four, five]
            return self.layers.concatenate(ends, axis=-1, name=f"normal_concat_{name}")

    def reduction(self, x: Any, before: Any, filters: int, name: str) -> Any:
        """A cell that halves the size."""
        layers, separable = self.layers, self.separable
        window = {"strides": (2, 2), "padding": "valid"}
        with name_scope(f"reduction_A_block_{name}"):
            before, here = self._begin(x, before, filters, "reduction", name)
            padded = layers.ZeroPadding2D(
                padding=odd_padding(here, 3, 3), name=f"reduction_pad_1_{name}"
            )(here)
            with name_scope("block_1"):
                left = separable(here, filters, 5, f"reduction_left1_{name}", 2)
                right = separable(before, filters, 7, f"reduction_right1_{name}", 2)
                one = layers.add([left, right], name=f"reduction_add_1_{name}")
            with name_scope("block_2"):
                left = layers.MaxPooling2D((3, 3), name=f"reduction_left2_{name}", **window)(padded)
                right = separable(before, filters, 7, f"reduction_right2_{name}", 2)
                two = layers.add([left, right], name=f"reduction_add_2_{name}")
            with name_scope("block_3"):
                left = layers.AveragePooling2D((3, 3), name=f"reduction_left3_{name}", **window)(
                    padded
                )
                right = separable(before, filters, 5, f"reduction_right3_{name}", 2)
                three = layers.add([left, right], name=f"reduction_add3_{name}")
            with name_scope("block_4"):
                four = layers.add([two, self.average(one, f"reduction_left4_{name}")])
            with name_scope("block_5"):
                left = separable(one, filters, 3, f"reduction_left4_{name}")
                right = layers.MaxPooling2D((3, 3), name=f"reduction_right5_{name}", **window)(
                    padded
                )
                five = layers.add([left, right], name=f"reduction_add4_{name}")
            ends = [two, three, four, five]
            return layers.concatenate(ends, axis=-1, name=f"reduction_concat_{name}")


@contextlib.contextmanager
def _channels_last() -> Iterator[None]:
    form = image_data_format()
    if form != "channels_last":
        warnings.warn(
            "The NASNet family of models is only available for the input data format "
            '"channels_last" (width, height, channels). The model being returned right now will '
            'expect inputs to follow the "channels_last" data format.',
            stacklevel=4,
        )
    set_image_data_format("channels_last")
    try:
        yield
    finally:
        set_image_data_format(form)


def _network(
    request: Request, filters: int, depth: int, stem: int, skips: bool, size: int, files: Files
) -> Any:
    request.settle(size, 32, needs_size=True)
    layers, cells = request.layers, _Cells(request.layers)
    x = layers.Conv2D(
        stem,
        (3, 3),
        strides=(2, 2),
        padding="valid",
        use_bias=False,
        name="stem_conv1",
        kernel_initializer="he_normal",
    )(request.begin())
    x, before = cells.norm(x, "stem_bn1"), None
    for place, part in ((1, 4), (2, 2)):
        x, before = cells.reduction(x, before, filters // part, f"stem_{place}"), x
    for stage in range(3):
        if stage:
            new = cells.reduction(x, before, filters << stage, f"reduce_{stage * depth}")
            # The large network's next cell reads what came before the reduction's input.
            x, before = new, before if skips else x
        for place in range(depth):
            name = str(stage * depth + place + (stage > 0))
            x, before = cells.normal(x, before, filters << stage, name), x
    x = layers.Activation("relu")(x)
    x = request.classify(x, "predictions") if request.include_top else request.pooled(x)
    return request.model(x, "NASNet", files)


def NASNetMobile(
    input_shape: Any = None,
    include_top: bool = True,
    weights: str | None = "imagenet",
    input_tensor: Any = None,
    pooling: str | None = None,
    classes: int = 1000,
    **kwargs: Any,
) -> Any:
    """The small network; `Request` says what the arguments mean."""
    request = Request(include_top, weights, input_tensor, input_shape, pooling, classes, kwargs)
    files = Files(
        _URL,
        ("NASNet-mobile.h5", "NASNet-mobile-no-top.h5"),
        ("020fb642bf7360b370c678b08e0adf61", "1ed92395b5b598bdda52abe5c0dbfd63"),
        ("nasnet_mobile.h5", "nasnet_mobile_no_top.h5"),
    )
    with _channels_last():
        return _network(request, 44, 4, 32, skips=False, size=224, files=files)


def NASNetLarge(
    input_shape: Any = None,
    include_top: bool = True,
    weights: str | None = "imagenet",
    input_tensor: Any = None,
    pooling: str | None = None,
    classes: int = 1000,
    **kwargs: Any,
) -> Any:
    """The large network; `Request` says what the arguments mean."""
    request = Request(include_top, weights, input_tensor, input_shape, pooling, classes, kwargs)
    files = Files(
        _URL,
        ("NASNet-large.h5", "NASNet-large-no-top.h5"),
        ("11577c9a518f0070763c2b964a382f17", "d81d89dc07e6e56530c4e77faddd61b5"),
        ("nasnet_large.h5", "nasnet_large_no_top.h5"),
    )
    with _channels_last():
        return _network(request, 168, 6, 96, skips=True, size=331, files=files)
