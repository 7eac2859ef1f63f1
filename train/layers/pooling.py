# SPDX-License-Identifier: Apache-2.0
"""Maxima and means of windows over one, two or three axes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ...engine import api
from ...engine.types.shape import TensorShape
from ...ops.public import tf
from . import base
from .functional import functional
from .input_spec import InputSpec
from .utils import (
    conv_output_length,
    convert_data_format,
    normalize_data_format,
    normalize_padding,
    normalize_tuple,
)

if TYPE_CHECKING:
    from ...engine.graph.tensor import Tensor


class _Pooling(base.Layer):
    """{what} of windows over {axes} (tf.layers.{name}).

    Args:
        pool_size, strides: an integer, or one per axis.
        padding: "valid" or "same"; any case.
        data_format: "channels_last" or "channels_first".
        name: as tf.layers.Layer.

    Raises:
        ValueError: an argument is none of these.
    """

    rank = 0
    pool = ""
    _arguments: tuple[str, ...] = ("pool_size", "strides", "padding", "data_format")

    def __init__(
        self,
        pool_size: int | Sequence[int],
        strides: int | Sequence[int],
        padding: str = "valid",
        data_format: str | None = "channels_last",
        name: str | None = None,
        **kwargs: Any,
    ) -> None:
        if strides is None:
            raise ValueError("Argument `strides` must not be None.")
        super().__init__(name=name, **kwargs)
        self.pool_size = normalize_tuple(pool_size, self.rank, "pool_size")
        self.strides = normalize_tuple(strides, self.rank, "strides")
        self.padding = normalize_padding(padding)
        self.data_format = normalize_data_format(data_format)
        self.input_spec = InputSpec(ndim=self.rank + 2)

    def __init_subclass__(cls) -> None:
        what = "The largest elements" if cls.pool.startswith("max") else "The means"
        axes = ("one axis", "two axes", "three axes")[cls.rank - 1]
        cls.__doc__ = (_Pooling.__doc__ or "").format(what=what, axes=axes, name=cls.__name__)

    def _whole(self, sizes: tuple[int, ...], first: bool) -> tuple[int, ...]:
        return (1, 1, *sizes) if first else (1, *sizes, 1)

    def call(self, inputs: Tensor) -> Any:  # type: ignore[override]
        """The pooled windows."""
        function = api.NAMES[f"nn.{self.pool}"]
        first = self.data_format == "channels_first"
        padding = self.padding.upper()
        if self.rank == 3:
            # The op knows other formats on devices that the layer does not ask for.
            if first:
                inputs = tf.transpose(inputs, (0, 2, 3, 4, 1))
            windows = self._whole(self.pool_size, False), self._whole(self.strides, False)
            outputs = function(inputs, *windows, padding=padding)
            return tf.transpose(outputs, (0, 4, 1, 2, 3)) if first else outputs
        if self.rank == 2:
            windows = self._whole(self.pool_size, first), self._whole(self.strides, first)
            data_format = convert_data_format(self.data_format, 4)
            return function(inputs, *windows, padding=padding, data_format=data_format)
        axis = 3 if first else 2
        inputs = tf.expand_dims(inputs, axis)
        if first:
            inputs = tf.transpose(inputs, (0, 2, 3, 1))
        windows = (1, *self.pool_size, 1, 1), (1, *self.strides, 1, 1)
        outputs = function(inputs, *windows, padding=padding, data_format="NHWC")
        if first:
            outputs = tf.transpose(outputs, (0, 3, 1, 2))
        return tf.squeeze(outputs, axis)

    def compute_output_shape(self, input_shape: Any) -> TensorShape:
        """The shape of the output for a shape of the input."""
        sizes = TensorShape(input_shape).as_list()
        start = 2 if self.data_format == "channels_first" else 1
        for i, (size, stride) in enumerate(zip(self.pool_size, self.strides)):
            length = conv_output_length(sizes[start + i], size, self.padding, stride)
            sizes[start + i] = length
        return TensorShape(sizes)


class AveragePooling1D(_Pooling):
    rank, pool = 1, "avg_pool"


class MaxPooling1D(_Pooling):
    rank, pool = 1, "max_pool"


class AveragePooling2D(_Pooling):
    rank, pool = 2, "avg_pool"


class MaxPooling2D(_Pooling):
    rank, pool = 2, "max_pool"


class AveragePooling3D(_Pooling):
    rank, pool = 3, "avg_pool3d"


class MaxPooling3D(_Pooling):
    rank, pool = 3, "max_pool3d"


# Number of axes -> arguments of a call, and the shape of what it gives.
_EXAMPLES = {
    1: ("tf.zeros([2, 8, 3]), pool_size=2, strides=2", "(2, 4, 3)"),
    2: ("tf.zeros([2, 8, 8, 3]), pool_size=2, strides=2", "(2, 4, 4, 3)"),
    3: ("tf.zeros([2, 8, 8, 8, 3]), pool_size=2, strides=2", "(2, 4, 4, 4, 3)"),
}
average_pooling1d = functional(
    AveragePooling1D, "average_pooling1d", shared=False, example=_EXAMPLES[1]
)
max_pooling1d = functional(MaxPooling1D, "max_pooling1d", shared=False, example=_EXAMPLES[1])
average_pooling2d = functional(
    AveragePooling2D, "average_pooling2d", shared=False, example=_EXAMPLES[2]
)
max_pooling2d = functional(MaxPooling2D, "max_pooling2d", shared=False, example=_EXAMPLES[2])
average_pooling3d = functional(
    AveragePooling3D, "average_pooling3d", shared=False, example=_EXAMPLES[3]
)
max_pooling3d = functional(MaxPooling3D, "max_pooling3d", shared=False, example=_EXAMPLES[3])

AvgPool1D, MaxPool1D = AveragePooling1D, MaxPooling1D
AvgPool2D, MaxPool2D = AveragePooling2D, MaxPooling2D
AvgPool3D, MaxPool3D = AveragePooling3D, MaxPooling3D
avg_pool2d, max_pool2d = average_pooling2d, max_pooling2d
