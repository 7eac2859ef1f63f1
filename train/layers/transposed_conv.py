# SPDX-License-Identifier: Apache-2.0
"""Transposed convolutions, and those whose kernels are separable."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from ...engine.types.shape import TensorShape
from ...ops.nn.bias import bias_add
from ...ops.nn.conv_public import conv2d_transpose as transpose2d
from ...ops.nn.conv_public import conv3d_transpose as transpose3d
from ...ops.nn.depthwise import separable_conv2d as separable
from ...ops.public import tf
from . import named
from .convolutional import _SHARED, Conv, arguments_of
from .functional import functional
from .utils import convert_data_format, deconv_output_length

if TYPE_CHECKING:
    from ...engine.graph.annotations import TensorLike
    from ...engine.graph.tensor import Tensor

_TRANSPOSED = _SHARED.replace("strides, dilation_rate:", "strides:").replace(
    ' or, over one axis, "causal"', ""
)


class _Transpose(Conv):
    """What transposed convolutions have in common."""

    _arguments = arguments_of("kernel", dilated=False)

    def __init__(
        self,
        filters: int,
        kernel_size: Any,
        strides: Any = 1,
        padding: str = "valid",
        data_format: str | None = "channels_last",
        activation: Callable[..., Any] | None = None,
        use_bias: bool = True,
        kernel_initializer: Callable[..., Any] | None = None,
        bias_initializer: Callable[..., Any] | None = tf.zeros_initializer(),
        kernel_regularizer: Any = None,
        bias_regularizer: Any = None,
        activity_regularizer: Any = None,
        kernel_constraint: Any = None,
        bias_constraint: Any = None,
        trainable: bool = True,
        name: str | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(
            filters,
            kernel_size,
            strides,
            padding,
            data_format,
            activation=activation,
            use_bias=use_bias,
            kernel_initializer=kernel_initializer,
            bias_initializer=bias_initializer,
            kernel_regularizer=kernel_regularizer,
            bias_regularizer=bias_regularizer,
            activity_regularizer=activity_regularizer,
            kernel_constraint=kernel_constraint,
            bias_constraint=bias_constraint,
            trainable=trainable,
            name=name,
            **kwargs,
        )

    def build(self, input_shape: Any) -> None:
        """Makes the kernel [*kernel_size, filters, channels] and the bias [filters]."""
        rank = TensorShape(input_shape).ndims
        if rank != self.rank + 2:
            raise ValueError(
                f"Inputs should have rank {self.rank + 2}. Received input shape: {input_shape}"
            )
        channels = self._channels(input_shape)
        self.kernel = self._make("kernel", (*self.kernel_size, self.filters, channels))
        self._make_bias()
        self.built = True

    def _lengths(self, sizes: Sequence[Any]) -> list[Any]:
        axes = zip(sizes, self.kernel_size, self.strides)
        return [deconv_output_length(n, k, self.padding, stride) for n, k, stride in axes]

    def call(self, inputs: Tensor) -> Any:  # type: ignore[override]
        """The transposed convolution, the bias and the activation."""
        sizes = tf.shape(inputs)
        batch = sizes[0]
        start = 2 if self._first else 1
        lengths = self._lengths([sizes[start + i] for i in range(self.rank)])
        channels = [self.filters]
        middle = [*channels, *lengths] if self._first else [*lengths, *channels]
        strides = (1, 1, *self.strides) if self._first else (1, *self.strides, 1)
        shape = tf.stack([batch, *middle])
        if self.rank == 2:
            shape[0]  # TensorFlow 1.15 looks at it, too: seeds depend on the number of nodes.
        outputs = (transpose2d if self.rank == 2 else transpose3d)(
            inputs,
            self.kernel,
            shape,
            strides,
            padding=self.padding.upper(),
            data_format=convert_data_format(self.data_format, self.rank + 2),
        )
        outputs.set_shape(self.compute_output_shape(inputs.shape))
        return self.activation(self._with_bias(outputs) if self.use_bias else outputs)

    def compute_output_shape(self, input_shape: Any) -> TensorShape:
        """The shape of the output for a shape of the input."""
        sizes = TensorShape(input_shape).as_list()
        return self._shape(sizes[0], self._lengths(sizes[2:] if self._first else sizes[1:-1]))


class Conv2DTranspose(_Transpose):
    __doc__ = f"The transpose of a convolution (tf.layers.Conv2DTranspose).\n{_TRANSPOSED}"
    rank = 2


class Conv3DTranspose(_Transpose):
    __doc__ = f"The transpose of a convolution (tf.layers.Conv3DTranspose).\n{_TRANSPOSED}"
    rank = 3


class _Separable(Conv):
    """What separable convolutions have in common."""

    _arguments = (*arguments_of("depthwise", "pointwise"), "depth_multiplier")

    def __init__(
        self,
        filters: int,
        kernel_size: Any,
        strides: Any = 1,
        padding: str = "valid",
        data_format: str | None = "channels_last",
        dilation_rate: Any = 1,
        depth_multiplier: int = 1,
        activation: Callable[..., Any] | None = None,
        use_bias: bool = True,
        depthwise_initializer: Callable[..., Any] | None = None,
        pointwise_initializer: Callable[..., Any] | None = None,
        bias_initializer: Callable[..., Any] | None = tf.zeros_initializer(),
        depthwise_regularizer: object = None,
        pointwise_regularizer: Callable[..., Any] | None = None,
        bias_regularizer: Any = None,
        activity_regularizer: Any = None,
        depthwise_constraint: object = None,
        pointwise_constraint: object = None,
        bias_constraint: Any = None,
        trainable: bool = True,
        name: str | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(
            filters,
            kernel_size,
            strides,
            padding,
            data_format,
            dilation_rate,
            activation,
            use_bias,
            bias_initializer=bias_initializer,
            bias_regularizer=bias_regularizer,
            activity_regularizer=activity_regularizer,
            bias_constraint=bias_constraint,
            trainable=trainable,
            name=name,
            **kwargs,
        )
        self.depth_multiplier = depth_multiplier
        self.depthwise_initializer = named.initializer(depthwise_initializer)
        self.pointwise_initializer = named.initializer(pointwise_initializer)
        self.depthwise_regularizer = depthwise_regularizer
        self.pointwise_regularizer = pointwise_regularizer
        self.depthwise_constraint = depthwise_constraint
        self.pointwise_constraint = pointwise_constraint

    def build(self, input_shape: Any) -> None:
        """Makes a kernel per channel, one that mixes channels, and the bias [filters]."""
        channels = self._channels(input_shape)
        depth = self.depth_multiplier
        ones = (1,) * self.rank
        self.depthwise_kernel = self._make("depthwise_kernel", (*self.kernel_size, channels, depth))
        self.pointwise_kernel = self._make(
            "pointwise_kernel", (*ones, depth * channels, self.filters)
        )
        self._make_bias()
        self.built = True

    def _separated(self, inputs: Tensor, depthwise: TensorLike, pointwise: TensorLike) -> Any:
        """The convolution over two axes, and the bias."""
        # Over one axis the inputs have a second one of size 1: its stride is the first one's, since
        # depthwise convolutions want equal strides, and its rate 1.
        strides = self.strides * (2 // self.rank)
        data_format = convert_data_format(self.data_format, 4)
        outputs = separable(
            inputs,
            depthwise,
            pointwise,
            strides=(1, 1, *strides) if self._first else (1, *strides, 1),
            padding=self._op_padding(),
            rate=(1,) * (2 - self.rank) + self.dilation_rate,
            data_format=data_format,
        )
        if self.use_bias:
            outputs = bias_add(outputs, self.bias, data_format=data_format)
        return outputs


class SeparableConv1D(_Separable):
    __doc__ = (
        "A convolution of each channel, then one of all by windows of one position "
        f"(tf.layers.SeparableConv1D).\n{_SHARED}"
    )
    rank = 1
    may_be_causal = True

    def call(self, inputs: Any) -> Any:  # type: ignore[override]
        """The convolutions, the bias and the activation."""
        inputs = self._padded(inputs)
        axis = 2 if self._first else 1
        inputs = tf.expand_dims(inputs, axis)
        kernels = [tf.expand_dims(k, 0) for k in (self.depthwise_kernel, self.pointwise_kernel)]
        return self.activation(tf.squeeze(self._separated(inputs, *kernels), [axis]))


class SeparableConv2D(_Separable):
    __doc__ = (
        "A convolution of each channel, then one of all by windows of one position "
        f"(tf.layers.SeparableConv2D).\n{_SHARED}"
    )
    rank = 2

    def call(self, inputs: Any) -> Any:  # type: ignore[override]
        """The convolutions, the bias and the activation."""
        outputs = self._separated(inputs, self.depthwise_kernel, self.pointwise_kernel)
        return self.activation(outputs)


conv2d_transpose = functional(
    Conv2DTranspose,
    "conv2d_transpose",
    example=("tf.zeros([2, 7, 7, 8]), filters=4, kernel_size=2, strides=2", "(2, 14, 14, 4)"),
)
conv3d_transpose = functional(Conv3DTranspose, "conv3d_transpose")
separable_conv1d = functional(SeparableConv1D, "separable_conv1d")
separable_conv2d = functional(SeparableConv2D, "separable_conv2d")

SeparableConvolution2D, separable_convolution2d = SeparableConv2D, separable_conv2d
Convolution2DTranspose = Deconvolution2D = Deconv2D = Conv2DTranspose
Convolution3DTranspose = Deconvolution3D = Deconv3D = Conv3DTranspose
convolution2d_transpose = deconvolution2d = deconv2d = conv2d_transpose
convolution3d_transpose = deconvolution3d = deconv3d = conv3d_transpose
