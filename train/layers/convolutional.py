# SPDX-License-Identifier: Apache-2.0
"""Convolutions over one, two or three axes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from ...engine.types.shape import TensorShape
from ...ops.nn.atrous import convolution_of_shapes
from ...ops.nn.bias import bias_add
from ...ops.public import tf
from . import base, named
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
    from ...engine.graph.annotations import ShapeLike
    from ...engine.graph.tensor import Tensor

_SHARED = """
    Args:
        filters: the number of channels of the outputs.
        kernel_size, strides, dilation_rate: an integer, or one per axis.
        padding: "valid", "same" or, over one axis, "causal"; any case.
        data_format: "channels_last" or "channels_first".
        activation: a function or its name; None for none.
        use_bias: whether there is a bias.
        *_initializer: initializers or their names; None is the scope's.
        *_regularizer: functions that make losses.
        *_constraint: functions that project variables after updates.
        trainable, name: as tf.layers.Layer.

    Raises:
        ValueError: an argument is none of these, or the number of channels is unknown.
    """


_WINDOWS = ("filters", "kernel_size", "strides", "padding", "data_format")
_AFTER = ("activation", "use_bias")
_OBJECTS = ("initializer", "regularizer", "constraint")


def arguments_of(*parts: str, dilated: bool = True) -> tuple[str, ...]:
    """The arguments of a convolution that has some kernels, and a bias."""
    objects = [f"{part}_{kind}" for kind in _OBJECTS for part in (*parts, "bias")]
    return (
        *_WINDOWS,
        *(("dilation_rate",) if dilated else ()),
        *_AFTER,
        *objects,
        "activity_regularizer",
    )


class Conv(base.Layer):
    """What convolutions over any number of axes have in common; classes say the number."""

    rank = 0
    may_be_causal = False
    _arguments: tuple[str, ...] = arguments_of("kernel")

    def __init__(
        self,
        filters: int,
        kernel_size: int | Sequence[int],
        strides: int | Sequence[int] = 1,
        padding: str = "valid",
        data_format: str | None = "channels_last",
        dilation_rate: int | Sequence[int] = 1,
        activation: Callable[..., Any] | None = None,
        use_bias: bool = True,
        kernel_initializer: Callable[..., Any] | None = None,
        bias_initializer: Callable[..., Any] | None = tf.zeros_initializer(),
        kernel_regularizer: Callable[..., Any] | None = None,
        bias_regularizer: object = None,
        activity_regularizer: Callable[..., Any] | None = None,
        kernel_constraint: Callable[..., Any] | None = None,
        bias_constraint: object = None,
        trainable: bool = True,
        name: str | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(
            trainable=trainable, name=name, activity_regularizer=activity_regularizer, **kwargs
        )
        self.filters = filters
        self.kernel_size = normalize_tuple(kernel_size, self.rank, "kernel_size")
        self.strides = normalize_tuple(strides, self.rank, "strides")
        self.padding = normalize_padding(padding, causal=self.may_be_causal)
        self.data_format = normalize_data_format(data_format)
        self.dilation_rate = normalize_tuple(dilation_rate, self.rank, "dilation_rate")
        self.activation = named.activation(activation)
        self.use_bias = use_bias
        self.kernel_initializer = named.initializer(kernel_initializer)
        self.bias_initializer = named.initializer(bias_initializer)
        self.kernel_regularizer = kernel_regularizer
        self.bias_regularizer = bias_regularizer
        self.kernel_constraint = kernel_constraint
        self.bias_constraint = bias_constraint
        self.input_spec = InputSpec(ndim=self.rank + 2)

    @property
    def _first(self) -> bool:
        """Whether channels are the second axis."""
        return self.data_format == "channels_first"

    def _channels(self, input_shape: TensorShape) -> int:
        """The number of channels of inputs; later inputs must have as many."""
        axis = 1 if self._first else -1
        channels = TensorShape(input_shape).as_list()[axis]
        if channels is None:
            raise ValueError("The channel dimension of the inputs should be defined. Found `None`.")
        self.input_spec = InputSpec(ndim=self.rank + 2, axes={axis: channels})
        return int(channels)

    def _make(self, name: str, shape: tuple[int, ...]) -> Any:
        """A variable, by the attributes about one of its kind ("kernel_initializer", ...)."""
        # A separable convolution has two kernels, whose attributes are "depthwise_..." and
        # "pointwise_...".
        kind = name.removesuffix("_kernel")
        return self.add_weight(
            name=name,
            shape=shape,
            initializer=getattr(self, f"{kind}_initializer"),
            regularizer=getattr(self, f"{kind}_regularizer"),
            constraint=getattr(self, f"{kind}_constraint"),
            trainable=True,
            dtype=self.dtype,
        )

    def _make_bias(self) -> None:
        self.bias = self._make("bias", (self.filters,)) if self.use_bias else None

    def build(self, input_shape: Any) -> None:
        """Makes the kernel [*kernel_size, channels, filters] and the bias [filters]."""
        channels = self._channels(input_shape)
        self.kernel = self._make("kernel", (*self.kernel_size, channels, self.filters))
        self._make_bias()
        self._convolution = convolution_of_shapes(
            TensorShape(input_shape),
            TensorShape(self.kernel.shape),
            self._op_padding(),
            self.strides,
            self.dilation_rate,
            convert_data_format(self.data_format, self.rank + 2),
        )
        self.built = True

    def _op_padding(self) -> Any:
        if isinstance(self.padding, (list, tuple)):
            return self.padding
        return "VALID" if self.padding == "causal" else self.padding.upper()

    def _padded(self, inputs: Tensor) -> Tensor:
        """The inputs, so padded that "valid" windows see no later positions if causal."""
        if self.padding != "causal":
            return inputs
        # All padding goes in front: output i then sees the inputs up to i only.
        before = [self.dilation_rate[0] * (self.kernel_size[0] - 1), 0]
        middle = [[0, 0], before] if self._first else [before, [0, 0]]
        return tf.pad(inputs, [[0, 0], *middle])

    def call(self, inputs: Any) -> Any:  # type: ignore[override]
        """The convolution, the bias and the activation."""
        outputs = self._convolution(self._padded(inputs), self.kernel)
        # bias_add knows no "NCW".
        if self.use_bias and self._first and self.rank == 1:
            outputs += tf.reshape(self.bias, (1, self.filters, 1))
        elif self.use_bias:
            outputs = self._with_bias(outputs)
        return self.activation(outputs)

    def _with_bias(self, outputs: Any) -> Tensor:
        return bias_add(outputs, self.bias, data_format="NCHW" if self._first else "NHWC")

    def _shape(self, batch: Any, sizes: list[Any]) -> TensorShape:
        """The shape of outputs by their sizes without channels."""
        rest = [self.filters, *sizes] if self._first else [*sizes, self.filters]
        return TensorShape([batch, *rest])

    def compute_output_shape(self, input_shape: ShapeLike) -> TensorShape:
        """The shape of the output for a shape of the input."""
        sizes = TensorShape(input_shape).as_list()
        axes = zip(
            sizes[2:] if self._first else sizes[1:-1],
            self.kernel_size,
            self.strides,
            self.dilation_rate,
        )
        return self._shape(
            sizes[0],
            [conv_output_length(n, k, self.padding, stride, d) for n, k, stride, d in axes],
        )


class Conv1D(Conv):
    __doc__ = f"The convolution over one axis (tf.layers.Conv1D).\n{_SHARED}"
    rank = 1
    may_be_causal = True


class Conv2D(Conv):
    __doc__ = f"The convolution over two axes (tf.layers.Conv2D).\n{_SHARED}"
    rank = 2


class Conv3D(Conv):
    __doc__ = f"The convolution over three axes (tf.layers.Conv3D).\n{_SHARED}"
    rank = 3


conv1d = functional(Conv1D, "conv1d", example=("tf.zeros([2, 9, 3]), 8, 3", "(2, 7, 8)"))
conv2d = functional(
    Conv2D,
    "conv2d",
    example=(
        'tf.zeros([2, 28, 28, 1]), filters=8, kernel_size=3, padding="same"',
        "(2, 28, 28, 8)",
    ),
)
conv3d = functional(
    Conv3D, "conv3d", example=("tf.zeros([2, 9, 9, 9, 1]), 8, 3", "(2, 7, 7, 7, 8)")
)

Convolution1D, Convolution2D, Convolution3D = Conv1D, Conv2D, Conv3D
convolution1d, convolution2d, convolution3d = conv1d, conv2d, conv3d
