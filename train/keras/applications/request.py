# SPDX-License-Identifier: Apache-2.0
"""What is asked of a network for images, where it begins, and how it becomes a model."""

from __future__ import annotations

import os
import warnings
from types import SimpleNamespace
from typing import Any, NamedTuple

from ...layers.nodes import int_shape
from ..backend.elements import is_keras_tensor
from ..backend.settings import image_data_format
from ..engine.input_layer import Input
from ..engine.network_map import source_inputs
from ..engine.training import Model
from ..layers.activations import ReLU
from ..layers.convolutional import Conv2D, DepthwiseConv2D, SeparableConv2D
from ..layers.core import Activation, Dense, Dropout, Flatten, Lambda, Reshape
from ..layers.merge import Add, Concatenate, add, concatenate
from ..layers.normalization import BatchNormalization
from ..layers.spatial import (
    AveragePooling2D,
    Cropping2D,
    GlobalAveragePooling2D,
    GlobalMaxPooling2D,
    MaxPooling2D,
    ZeroPadding2D,
)
from ..utils.files import get_file

LAYERS = SimpleNamespace(
    Activation=Activation,
    Add=Add,
    AveragePooling2D=AveragePooling2D,
    BatchNormalization=BatchNormalization,
    Concatenate=Concatenate,
    Conv2D=Conv2D,
    Cropping2D=Cropping2D,
    Dense=Dense,
    DepthwiseConv2D=DepthwiseConv2D,
    Dropout=Dropout,
    Flatten=Flatten,
    GlobalAveragePooling2D=GlobalAveragePooling2D,
    GlobalMaxPooling2D=GlobalMaxPooling2D,
    Input=Input,
    Lambda=Lambda,
    MaxPooling2D=MaxPooling2D,
    ReLU=ReLU,
    Reshape=Reshape,
    SeparableConv2D=SeparableConv2D,
    ZeroPadding2D=ZeroPadding2D,
    add=add,
    concatenate=concatenate,
)
# Programs of Keras's own package of applications hand these over; only `layers` makes a difference.
_MODULES = frozenset({"backend", "layers", "models", "utils"})


class Files(NamedTuple):
    """Weights trained on ImageNet: files with the top and without it, and their MD5 sums.

    `kept` are their names in the cache of Keras, if they are others there.
    """

    url: str
    names: tuple[str, str]
    sums: tuple[str | None, str | None] = (None, None)
    kept: tuple[str, str] | None = None

    def fetch(self, include_top: bool) -> str:
        """The path of a file, from the cache of Keras or from the network."""
        which = 0 if include_top else 1
        return str(
            get_file(
                (self.kept or self.names)[which],
                self.url + self.names[which],
                cache_subdir="models",
                file_hash=self.sums[which],
            )
        )


def kernels(name: str) -> tuple[str, str]:
    """The usual names of a network's two files."""
    stem = f"{name}_weights_tf_dim_ordering_tf_kernels"
    return f"{stem}.h5", f"{stem}_notop.h5"


class Request:
    """The arguments that all networks have.

    Args:
        include_top: whether the layers that classify are there.
        weights: None for initial values, "imagenet", or the path of a file.
        input_tensor: where the network begins; an `Input` of its own if None.
        input_shape: the shape of an image, if `include_top` is False.
        pooling: "avg" or "max" for a vector per image, if `include_top` is False.
        classes: the number of classes, if `include_top` is True.
        modules: `layers=` in the place of tf.keras.layers.

    Raises:
        ValueError: `weights` is no file, or they do not go with `classes`.
        TypeError: an argument is unknown.
    """

    def __init__(
        self,
        include_top: bool,
        weights: str | None,
        input_tensor: Any,
        input_shape: Any,
        pooling: str | None,
        classes: int,
        modules: dict[str, Any],
    ) -> None:
        unknown = set(modules) - _MODULES
        if unknown:
            raise TypeError(f"Invalid keyword argument: {sorted(unknown)[0]}")
        self.layers: Any = modules.get("layers", LAYERS)
        self.include_top, self.weights = include_top, weights
        self.input_tensor, self.input_shape = input_tensor, input_shape
        self.pooling, self.classes = pooling, classes
        if weights not in ("imagenet", None) and not os.path.exists(weights):
            raise ValueError(
                "The `weights` argument should be either `None` (random initialization), "
                "`imagenet` (pre-training on ImageNet), or the path to the weights file to be "
                f"loaded; {weights!r} is no file."
            )
        if self.is_imagenet and include_top and classes != 1000:
            raise ValueError(
                'If using `weights` as `"imagenet"` with `include_top` as true, `classes` should '
                f"be 1000, not {classes}"
            )

    @property
    def is_imagenet(self) -> bool:
        """Whether the weights are those trained on ImageNet."""
        return self.weights == "imagenet"

    @property
    def axis(self) -> int:
        """The axis of channels, counted from the front."""
        return 1 if image_data_format() == "channels_first" else 3

    def sides(self, shape: Any) -> Any:
        """Height and width of an image's shape without the batch."""
        return shape[1:3] if self.axis == 1 else shape[:2]

    def settle(self, default: int, least: int, needs_size: bool | None = None) -> Any:
        """Makes the shape of images definite.

        Args:
            default: the size where none is given.
            least: the smallest size.
            needs_size: whether height and width must be known; if None, with the top they must.

        Returns:
            The shape without the batch's axis.

        Raises:
            ValueError: the shape has other axes, channels or sizes than the network.
        """
        needs_size = self.include_top if needs_size is None else needs_size
        given = None if self.input_shape is None else tuple(self.input_shape)
        channels = 3
        if not self.is_imagenet and given and len(given) == 3:
            channels = given[self.axis - 1]
            if channels not in (1, 3):
                warnings.warn(
                    "This model usually expects 1 or 3 input channels. However, it was passed an "
                    f"input_shape with {channels} input channels.",
                    stacklevel=4,
                )
        whole = (channels, default, default) if self.axis == 1 else (default, default, channels)
        if self.is_imagenet and needs_size and given not in (None, whole):
            raise ValueError(
                "When setting `include_top=True` and loading `imagenet` weights, `input_shape` "
                f"should be {whole}, not {given}."
            )
        if not given:
            unknown = (3, None, None) if self.axis == 1 else (None, None, 3)
            given = whole if needs_size else unknown
        self._check(given, least, needs_size)
        self.input_shape = given
        return given

    def _check(self, given: Any, least: int, needs_size: bool) -> None:
        if len(given) != 3:
            raise ValueError(f"`input_shape` must be a tuple of three integers, not {given}.")
        if self.is_imagenet and given[self.axis - 1] != 3:
            raise ValueError(f"The input must have 3 channels; got `input_shape={given}`")
        if any(side is not None and side < least for side in self.sides(given)):
            raise ValueError(
                f"Input size must be at least {least}x{least}; got `input_shape={given}`"
            )
        if needs_size and None in given:
            raise ValueError(
                "If `include_top` is True, you should specify a static `input_shape`. Got "
                f"`input_shape={given}`"
            )

    def begin(self) -> Any:
        """The images: the given tensor if it is of Keras, or an input that reads it."""
        if self.input_tensor is None:
            self.start = self.layers.Input(shape=self.input_shape)
        elif is_keras_tensor(self.input_tensor):
            self.start = self.input_tensor
        else:
            self.start = self.layers.Input(tensor=self.input_tensor, shape=self.input_shape)
        return self.start

    def classify(self, x: Any, name: str, pool: str | None = None) -> Any:
        """The top of most networks: the mean of each channel, and a layer that classifies."""
        x = self.layers.GlobalAveragePooling2D(name=pool)(x)
        return self.layers.Dense(self.classes, activation="softmax", name=name)(x)

    def pooled(self, x: Any, average: str | None = None, largest: str | None = None) -> Any:
        """What there is instead of the top, as `pooling` says."""
        if self.pooling == "avg":
            return self.layers.GlobalAveragePooling2D(name=average)(x)
        if self.pooling == "max":
            return self.layers.GlobalMaxPooling2D(name=largest)(x)
        return x

    def model(self, x: Any, name: str, files: Files | None) -> Any:
        """The model of all between the beginning and x, with its weights."""
        whole = self.input_tensor is not None
        inputs = source_inputs(self.input_tensor) if whole else self.start
        model = Model(inputs, x, name=name)
        if self.is_imagenet and files is not None:
            model.load_weights(files.fetch(self.include_top))
        elif self.weights is not None and not self.is_imagenet:
            model.load_weights(self.weights)
        return model


def odd_padding(x: Any, kernel_size: int | tuple[int, int], axis: int) -> Any:
    """The padding that makes a strided window of odd size keep the image's centre.

    Returns:
        Pairs for height and width; an even size gets one row less in front.
    """
    kernel = (kernel_size, kernel_size) if isinstance(kernel_size, int) else kernel_size
    first = 2 if axis == 1 else 1
    sides = int_shape(x)[first : first + 2]
    less = (1, 1) if sides[0] is None else tuple(1 - side % 2 for side in sides)
    return tuple((k // 2 - cut, k // 2) for k, cut in zip(kernel, less, strict=True))
