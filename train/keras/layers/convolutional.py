# SPDX-License-Identifier: Apache-2.0
"""Convolutions: those of `tf.layers` with Keras's arguments, and those of single channels."""

from __future__ import annotations

from typing import Any

from ....engine.types.shape import TensorShape
from ....ops.public import tf
from ...layers import convolutional, transposed_conv
from ...layers.input_spec import InputSpec
from ...layers.utils import conv_output_length, deconv_output_length, normalize_tuple
from ..backend import convolutions
from ..backend.settings import image_data_format
from ..identifiers import Identifier, PerAxis
from .style import KerasLayer, resolved, with_input_shape

_COMMON = (
    *("filters", "kernel_size", "strides", "padding", "data_format", "dilation_rate"),
    *("activation", "use_bias", "kernel_initializer", "bias_initializer"),
    *("kernel_regularizer", "bias_regularizer", "activity_regularizer"),
    *("kernel_constraint", "bias_constraint"),
)

_ABOUT = """

    Args:
        filters: the number of channels of the outputs.
        kernel_size, strides, dilation_rate: an integer, or one per axis.
        padding: "valid" or "same"; "causal" over one axis.
        data_format: "channels_last" or "channels_first"; that of settings if None.
        activation, *_initializer, *_regularizer, *_constraint: objects or their names.
        use_bias: whether there is a bias.
        name, trainable, dtype, input_shape: as of all layers.

    Raises:
        ValueError: an argument is none of these, or the number of channels is unknown.
    """


class Conv(KerasLayer, convolutional.Conv):
    """What convolutions over any number of axes have in common."""

    _arguments: tuple[str, ...] = _COMMON

    def _begin_conv(self, base: Any, options: dict[str, Any], **given: Any) -> None:
        """Calls a constructor of tf.layers with arguments as objects."""
        if self.rank > 1 or given.get("data_format") is None:
            given["data_format"] = given.get("data_format") or image_data_format()
        base.__init__(self, **resolved(**given), **with_input_shape(options, None))


class Conv1D(Conv, convolutional.Conv1D):
    __doc__ = f"The convolution over one axis.{_ABOUT}"

    def __init__(
        self,
        filters: int,
        kernel_size: PerAxis,
        strides: PerAxis = 1,
        padding: str = "valid",
        data_format: str | None = "channels_last",
        dilation_rate: PerAxis = 1,
        activation: Identifier = None,
        use_bias: bool = True,
        kernel_initializer: Identifier = "glorot_uniform",
        bias_initializer: Identifier = "zeros",
        kernel_regularizer: Identifier = None,
        bias_regularizer: Identifier = None,
        activity_regularizer: Identifier = None,
        kernel_constraint: Identifier = None,
        bias_constraint: Identifier = None,
        **kwargs: Any,
    ) -> None:
        given = _given(locals())
        self._begin_conv(convolutional.Conv1D, kwargs, **given)


def _given(scope: dict[str, Any]) -> dict[str, Any]:
    """A constructor's arguments from its first local variables."""
    return {k: v for k, v in scope.items() if k not in ("self", "kwargs", "__class__")}


class Conv2D(Conv, convolutional.Conv2D):
    __doc__ = f"The convolution over two axes.{_ABOUT}"

    def __init__(
        self,
        filters: int,
        kernel_size: PerAxis,
        strides: PerAxis = (1, 1),
        padding: str = "valid",
        data_format: str | None = None,
        dilation_rate: PerAxis = (1, 1),
        activation: Identifier = None,
        use_bias: bool = True,
        kernel_initializer: Identifier = "glorot_uniform",
        bias_initializer: Identifier = "zeros",
        kernel_regularizer: Identifier = None,
        bias_regularizer: Identifier = None,
        activity_regularizer: Identifier = None,
        kernel_constraint: Identifier = None,
        bias_constraint: Identifier = None,
        **kwargs: Any,
    ) -> None:
        given = _given(locals())
        self._begin_conv(convolutional.Conv2D, kwargs, **given)


class Conv3D(Conv, convolutional.Conv3D):
    __doc__ = f"The convolution over three axes.{_ABOUT}"

    def __init__(
        self,
        filters: int,
        kernel_size: PerAxis,
        strides: PerAxis = (1, 1, 1),
        padding: str = "valid",
        data_format: str | None = None,
        dilation_rate: PerAxis = (1, 1, 1),
        activation: Identifier = None,
        use_bias: bool = True,
        kernel_initializer: Identifier = "glorot_uniform",
        bias_initializer: Identifier = "zeros",
        kernel_regularizer: Identifier = None,
        bias_regularizer: Identifier = None,
        activity_regularizer: Identifier = None,
        kernel_constraint: Identifier = None,
        bias_constraint: Identifier = None,
        **kwargs: Any,
    ) -> None:
        given = _given(locals())
        self._begin_conv(convolutional.Conv3D, kwargs, **given)


class _Transpose(Conv):
    """What transposed convolutions have in common."""

    # What the shape of the output has besides, and how far elements of windows are apart.
    output_padding: Any = None

    def _set_output_padding(self, output_padding: Any) -> None:
        if output_padding is None:
            return
        self.output_padding = normalize_tuple(output_padding, self.rank, "output_padding")
        for stride, more in zip(self.strides, self.output_padding):
            if more >= stride:
                raise ValueError(
                    f"Stride {self.strides} must be greater than output padding "
                    f"{self.output_padding}"
                )

    def _lengths(self, sizes: Any) -> list[Any]:
        more = self.output_padding or (None,) * self.rank
        axes = zip(sizes, self.kernel_size, self.strides, self.dilation_rate, more)
        return [
            _transposed_length(n, k + (k - 1) * (d - 1), self.padding, stride, m)
            for n, k, stride, d, m in axes
        ]


def _transposed_length(n: Any, size: int, padding: str, stride: int, more: int | None) -> Any:
    if n is None or more is None:
        return deconv_output_length(n, size, padding, stride)
    around = {"same": size // 2, "valid": 0, "full": size - 1}[padding]
    return (n - 1) * stride + size - 2 * around + more


class Conv2DTranspose(_Transpose, transposed_conv.Conv2DTranspose):
    __doc__ = f"""The transpose of a convolution over two axes.{_ABOUT}
    `output_padding` says how much larger than the least the outputs are.
    """

    _arguments = (*_COMMON, "output_padding")

    def __init__(
        self,
        filters: int,
        kernel_size: PerAxis,
        strides: PerAxis = (1, 1),
        padding: str = "valid",
        output_padding: Any = None,
        data_format: str | None = None,
        dilation_rate: PerAxis = (1, 1),
        activation: Identifier = None,
        use_bias: bool = True,
        kernel_initializer: Identifier = "glorot_uniform",
        bias_initializer: Identifier = "zeros",
        kernel_regularizer: Identifier = None,
        bias_regularizer: Identifier = None,
        activity_regularizer: Identifier = None,
        kernel_constraint: Identifier = None,
        bias_constraint: Identifier = None,
        **kwargs: Any,
    ) -> None:
        given = _given(locals())
        del given["output_padding"], given["dilation_rate"]
        self._begin_conv(transposed_conv.Conv2DTranspose, kwargs, **given)
        self.dilation_rate = normalize_tuple(dilation_rate, 2, "dilation_rate")
        self._set_output_padding(output_padding)

    def call(self, inputs: Any) -> Any:  # type: ignore[override]
        """The transposed convolution, the bias and the activation."""
        if self.dilation_rate == (1, 1):
            return super().call(inputs)
        sizes = tf.shape(inputs)
        start = 2 if self._first else 1
        lengths = self._lengths([sizes[start + i] for i in range(2)])
        middle = [self.filters, *lengths] if self._first else [*lengths, self.filters]
        outputs = convolutions.conv2d_transpose(
            inputs,
            self.kernel,
            (sizes[0], *middle),
            strides=self.strides,
            padding=self.padding,
            data_format=self.data_format,
            dilation_rate=self.dilation_rate,
        )
        outputs.set_shape(self.compute_output_shape(inputs.shape))
        if self.use_bias:
            outputs = convolutions.bias_add(outputs, self.bias, data_format=self.data_format)
        return self.activation(outputs)


class Conv3DTranspose(_Transpose, transposed_conv.Conv3DTranspose):
    __doc__ = f"The transpose of a convolution over three axes.{_ABOUT}"

    def __init__(
        self,
        filters: int,
        kernel_size: PerAxis,
        strides: PerAxis = (1, 1, 1),
        padding: str = "valid",
        output_padding: Any = None,
        data_format: str | None = None,
        activation: Identifier = None,
        use_bias: bool = True,
        kernel_initializer: Identifier = "glorot_uniform",
        bias_initializer: Identifier = "zeros",
        kernel_regularizer: Identifier = None,
        bias_regularizer: Identifier = None,
        activity_regularizer: Identifier = None,
        kernel_constraint: Identifier = None,
        bias_constraint: Identifier = None,
        **kwargs: Any,
    ) -> None:
        given = _given(locals())
        del given["output_padding"]
        self._begin_conv(transposed_conv.Conv3DTranspose, kwargs, **given)
        self._set_output_padding(output_padding)

    def get_config(self) -> dict[str, Any]:
        """The arguments."""
        config = super().get_config()
        config.pop("dilation_rate")
        return {**config, "output_padding": self.output_padding}


_SEPARABLE = (
    *_COMMON[:6],
    *("depth_multiplier", "activation", "use_bias", "depthwise_initializer"),
    *("pointwise_initializer", "bias_initializer", "depthwise_regularizer"),
    *("pointwise_regularizer", "bias_regularizer", "activity_regularizer"),
    *("depthwise_constraint", "pointwise_constraint", "bias_constraint"),
    # (TensorFlow's configurations have these of the base class, too.)
    *("kernel_initializer", "kernel_regularizer", "kernel_constraint"),
)


class SeparableConv1D(Conv, transposed_conv.SeparableConv1D):
    __doc__ = f"""A convolution of each channel, and a product of all, over one axis.{_ABOUT}
    `depth_multiplier` says how many channels each one becomes first.
    """

    _arguments = _SEPARABLE

    def __init__(
        self,
        filters: int,
        kernel_size: PerAxis,
        strides: PerAxis = 1,
        padding: str = "valid",
        data_format: str | None = None,
        dilation_rate: PerAxis = 1,
        depth_multiplier: int = 1,
        activation: Identifier = None,
        use_bias: bool = True,
        depthwise_initializer: Identifier = "glorot_uniform",
        pointwise_initializer: Identifier = "glorot_uniform",
        bias_initializer: Identifier = "zeros",
        depthwise_regularizer: Identifier = None,
        pointwise_regularizer: Identifier = None,
        bias_regularizer: Identifier = None,
        activity_regularizer: Identifier = None,
        depthwise_constraint: Identifier = None,
        pointwise_constraint: Identifier = None,
        bias_constraint: Identifier = None,
        **kwargs: Any,
    ) -> None:
        given = _given(locals())
        self._begin_conv(transposed_conv.SeparableConv1D, kwargs, **given)


class SeparableConv2D(Conv, transposed_conv.SeparableConv2D):
    __doc__ = f"""A convolution of each channel, and a product of all, over two axes.{_ABOUT}
    `depth_multiplier` says how many channels each one becomes first.
    """

    _arguments = _SEPARABLE

    def __init__(
        self,
        filters: int,
        kernel_size: PerAxis,
        strides: PerAxis = (1, 1),
        padding: str = "valid",
        data_format: str | None = None,
        dilation_rate: PerAxis = (1, 1),
        depth_multiplier: int = 1,
        activation: Identifier = None,
        use_bias: bool = True,
        depthwise_initializer: Identifier = "glorot_uniform",
        pointwise_initializer: Identifier = "glorot_uniform",
        bias_initializer: Identifier = "zeros",
        depthwise_regularizer: Identifier = None,
        pointwise_regularizer: Identifier = None,
        bias_regularizer: Identifier = None,
        activity_regularizer: Identifier = None,
        depthwise_constraint: Identifier = None,
        pointwise_constraint: Identifier = None,
        bias_constraint: Identifier = None,
        **kwargs: Any,
    ) -> None:
        given = _given(locals())
        self._begin_conv(transposed_conv.SeparableConv2D, kwargs, **given)


class DepthwiseConv2D(KerasLayer):
    """A convolution of each channel by itself.

    Args:
        kernel_size, strides: an integer, or one per axis.
        padding: "valid" or "same".
        depth_multiplier: how many channels each one becomes.
        data_format: "channels_last" or "channels_first"; that of settings if None.
        activation, *_initializer, *_regularizer, *_constraint: objects or their names.
        use_bias: whether there is a bias.
        dilation_rate, name, trainable, dtype, input_shape: as of Conv2D.
    """

    _arguments = (
        *("kernel_size", "strides", "padding", "data_format", "dilation_rate"),
        *("activation", "use_bias", "bias_initializer", "bias_regularizer"),
        *("activity_regularizer", "bias_constraint", "depth_multiplier"),
        *("depthwise_initializer", "depthwise_regularizer", "depthwise_constraint"),
    )
    depth_multiplier: int

    def __init__(
        self,
        kernel_size: PerAxis,
        strides: PerAxis = (1, 1),
        padding: str = "valid",
        depth_multiplier: int = 1,
        data_format: str | None = None,
        activation: Identifier = None,
        use_bias: bool = True,
        depthwise_initializer: Identifier = "glorot_uniform",
        bias_initializer: Identifier = "zeros",
        depthwise_regularizer: Identifier = None,
        bias_regularizer: Identifier = None,
        activity_regularizer: Identifier = None,
        depthwise_constraint: Identifier = None,
        bias_constraint: Identifier = None,
        **kwargs: Any,
    ) -> None:
        given = resolved(**_given(locals()))
        dilation = kwargs.pop("dilation_rate", (1, 1))
        # Arguments of Conv2D, below which TensorFlow has this class: taken, and of no effect.
        for name in ("kernel_initializer", "kernel_regularizer", "kernel_constraint"):
            kwargs.pop(name, None)
        super().__init__(
            activity_regularizer=given.pop("activity_regularizer"), **with_input_shape(kwargs)
        )
        for name, value in given.items():
            setattr(self, name, value)
        self.kernel_size = normalize_tuple(kernel_size, 2, "kernel_size")
        self.strides = normalize_tuple(strides, 2, "strides")
        self.padding = padding.lower()
        self.data_format = data_format or image_data_format()
        self.dilation_rate = normalize_tuple(dilation, 2, "dilation_rate")
        self.input_spec = InputSpec(ndim=4)

    @property
    def _axis(self) -> int:
        return 1 if self.data_format == "channels_first" else 3

    def build(self, input_shape: Any) -> None:
        """Makes the kernel [*kernel_size, channels, multiplier] and the bias."""
        channels = TensorShape(input_shape).as_list()[self._axis]
        if channels is None:
            raise ValueError(
                "The channel dimension of the inputs to `DepthwiseConv2D` should be defined. Found "
                "`None`."
            )
        self.depthwise_kernel = self.add_weight(
            shape=(*self.kernel_size, channels, self.depth_multiplier),
            initializer=self.depthwise_initializer,
            name="depthwise_kernel",
            regularizer=self.depthwise_regularizer,
            constraint=self.depthwise_constraint,
        )
        self.bias = None
        if self.use_bias:
            self.bias = self.add_weight(
                shape=(channels * self.depth_multiplier,),
                initializer=self.bias_initializer,
                name="bias",
                regularizer=self.bias_regularizer,
                constraint=self.bias_constraint,
            )
        self.input_spec = InputSpec(ndim=4, axes={self._axis: channels})
        self.built = True

    def call(self, inputs: Any) -> Any:  # type: ignore[override]
        """The convolution, the bias and the activation."""
        outputs = convolutions.depthwise_conv2d(
            inputs,
            self.depthwise_kernel,
            strides=self.strides,
            padding=self.padding,
            dilation_rate=self.dilation_rate,
            data_format=self.data_format,
        )
        if self.use_bias:
            outputs = convolutions.bias_add(outputs, self.bias, data_format=self.data_format)
        return self.activation(outputs)

    def compute_output_shape(self, input_shape: Any) -> TensorShape:
        """The shape of the output for a shape of the input."""
        sizes = TensorShape(input_shape).as_list()
        start = 2 if self._axis == 1 else 1
        for i in range(2):
            sizes[start + i] = conv_output_length(
                sizes[start + i],
                self.kernel_size[i],
                self.padding,
                self.strides[i],
                self.dilation_rate[i],
            )
        channels: Any = sizes[self._axis]
        sizes[self._axis] = channels * self.depth_multiplier
        return TensorShape(sizes)


Convolution1D, Convolution2D, Convolution3D = Conv1D, Conv2D, Conv3D
Convolution2DTranspose, Convolution3DTranspose = Conv2DTranspose, Conv3DTranspose
SeparableConvolution1D, SeparableConvolution2D = SeparableConv1D, SeparableConv2D
