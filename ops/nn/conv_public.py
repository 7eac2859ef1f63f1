# SPDX-License-Identifier: Apache-2.0
"""The public convolutions of `tf.nn`, with TensorFlow 1.15's arguments."""

from __future__ import annotations

from collections.abc import Sequence, Sized
from typing import TYPE_CHECKING, Any

from ...engine.api import export
from ...engine.deprecation import deprecated_argument_lookup
from ...engine.graph.graph import name_scope
from ...engine.graph.tensor import Tensor
from ..public import raw, tf
from ..shape_inference import known_sizes

if TYPE_CHECKING:
    from ...engine.graph.annotations import TensorLike
    from ..state.variables import Variable

_ONES = (1, 1, 1, 1)


def per_axis(value: Any, count: int, channel_index: int, name: str) -> list[Any]:
    """One value, one per spatial axis or one per axis, as one per axis."""
    if value is None:
        value = [1]
    elif not isinstance(value, Sized):
        value = [value]
    if len(value) == count + 2:
        return value
    if len(value) == 1:
        value = [value[0]] * count
    elif len(value) != count:
        raise ValueError(
            f"{name} should be of length 1, {count} or {count + 2} but was {len(value)}"
        )
    return [1, 1, *value] if channel_index == 1 else [1, *value, 1]


def convert_padding(padding: str | Sequence[Any]) -> tuple[Any, list[int]]:
    """The padding attribute and the explicit paddings of what a caller gave."""
    if padding == "EXPLICIT":
        raise ValueError(
            '"EXPLICIT" is not a valid value for the padding parameter. To use explicit padding, '
            "the padding parameter must be a list."
        )
    if not isinstance(padding, (list, tuple)):
        return padding, []
    explicit: list[int] = []
    shape = "When padding is a list, each element of padding must be a list/tuple of size 2. "
    for i, pair in enumerate(padding):
        if not isinstance(pair, (list, tuple)):
            raise ValueError(f"{shape}Element with index {i} of padding is not a list/tuple")
        if len(pair) != 2:
            raise ValueError(f"{shape}Element with index {i} of padding has size {len(pair)}")
        explicit.extend(pair)
    if len(padding) != 4:
        raise ValueError(
            f"When padding is a list, it must be of size 4. Got padding of size: {len(padding)}"
        )
    return "EXPLICIT", explicit


@export("nn.conv2d")
def conv2d(
    input: TensorLike,
    filter: TensorLike | None = None,
    strides: int | Sequence[Any] | None = None,
    padding: Any = None,
    use_cudnn_on_gpu: bool = True,
    data_format: str | None = "NHWC",
    dilations: Sequence[int] = _ONES,
    name: str | None = None,
    filters: TensorLike | None = None,
) -> Tensor:
    """The convolution of images: sums of products with filters that move over them.

    Args:
        input: float16, bfloat16, float32 or float64 [batch, height, width, channels]; with "NCHW"
            [batch, channels, height, width].
        filter: the same dtype [height, width, channels, output channels].
        strides: how far the filters move: an integer, two of them, or four in the data format.
        padding: "SAME" puts as many zeros around as the output needs to have ceil(size / stride),
            "VALID" none; or a list of four pairs, in the data format: how many before and after.
        use_cudnn_on_gpu: accepted; there is no such device.
        data_format: "NHWC" or "NCHW".
        dilations: how far elements of the filters are apart: as strides.
        name: of the operation.
        filters: another name of `filter`.

    Returns:
        A Tensor of that dtype [batch, new height, new width, output channels], or as "NCHW" has it.

    Raises:
        TypeError: the dtypes differ or are none of these.
        ValueError: the sizes known in the graph or the lengths of lists do not fit.

    Example:
        >>> image = tf.reshape(tf.range(9.0), [1, 3, 3, 1])
        >>> sums = tf.nn.conv2d(image, tf.ones([2, 2, 1, 1]), strides=1, padding="VALID")
        >>> tf.Session().run(sums[0, :, :, 0])
        array([[ 8., 12.],
               [20., 24.]], dtype=float32)
    """
    filter = deprecated_argument_lookup("filters", filters, "filter", filter)
    padding, explicit = convert_padding(padding)
    data_format = data_format or "NHWC"
    channel = 1 if data_format.startswith("NC") else 3
    return raw.Conv2D(
        input,
        filter,
        strides=per_axis(strides, 2, channel, "strides"),
        padding=padding,
        use_cudnn_on_gpu=use_cudnn_on_gpu,
        explicit_paddings=explicit,
        data_format=data_format,
        dilations=list(per_axis(dilations, 2, channel, "dilations")),
        name=name,
    )


@export("nn.conv2d_backprop_filter")
def conv2d_backprop_filter(
    input: TensorLike,
    filter_sizes: Any,
    out_backprop: Any,
    strides: Any,
    padding: Any,
    use_cudnn_on_gpu: bool = True,
    data_format: str = "NHWC",
    dilations: Sequence[int] = _ONES,
    name: str | None = None,
) -> Tensor:
    """The gradient of conv2d with respect to its filter."""
    padding, explicit = convert_padding(padding)
    return raw.Conv2DBackpropFilter(
        input,
        filter_sizes,
        out_backprop,
        strides=strides,
        padding=padding,
        use_cudnn_on_gpu=use_cudnn_on_gpu,
        explicit_paddings=explicit,
        data_format=data_format,
        dilations=list(dilations),
        name=name,
    )


@export("nn.conv2d_backprop_input")
def conv2d_backprop_input(
    input_sizes: TensorLike,
    filter: TensorLike | None = None,
    out_backprop: Any = None,
    strides: Any = None,
    padding: Any = None,
    use_cudnn_on_gpu: bool = True,
    data_format: str = "NHWC",
    dilations: Sequence[int] = _ONES,
    name: str | None = None,
    filters: TensorLike | None = None,
) -> Tensor:
    """The gradient of conv2d with respect to its input."""
    filter = deprecated_argument_lookup("filters", filters, "filter", filter)
    padding, explicit = convert_padding(padding)
    return raw.Conv2DBackpropInput(
        input_sizes,
        filter,
        out_backprop,
        strides=strides,
        padding=padding,
        use_cudnn_on_gpu=use_cudnn_on_gpu,
        explicit_paddings=explicit,
        data_format=data_format,
        dilations=list(dilations),
        name=name,
    )


@export("nn.conv2d_transpose")
def conv2d_transpose(
    value: TensorLike | None = None,
    filter: TensorLike | None = None,
    output_shape: Any = None,
    strides: Any = None,
    padding: Any = "SAME",
    data_format: str | None = "NHWC",
    name: str | None = None,
    input: TensorLike | None = None,
    filters: TensorLike | None = None,
    dilations: Sequence[int] | None = None,
) -> Tensor:
    """The transpose of conv2d, its gradient: it makes images larger.

    Args:
        value: float16, bfloat16, float32 or float64 [batch, height, width, channels]; with "NCHW"
            [batch, channels, height, width].
        filter: the same dtype [height, width, output channels, channels].
        output_shape: of the result, four integers or an int32 vector; conv2d makes `value`'s of it.
        strides: an integer, two of them, or four in the data format.
        padding: "SAME" or "VALID".
        data_format: "NHWC" or "NCHW".
        name: of the operation.
        input: another name of `value`.
        filters: another name of `filter`.
        dilations: as strides.

    Returns:
        A Tensor of that dtype and of `output_shape`.

    Raises:
        TypeError: the dtypes differ or are none of these.
        ValueError: a filter's channels do not fit, or a list has a wrong length.
        InvalidArgumentError: the sizes do not fit in a run.

    Example:
        >>> small = tf.constant([[[[1.0], [2.0]]]])
        >>> large = tf.nn.conv2d_transpose(small, tf.ones([2, 2, 1, 1]), [1, 2, 4, 1], strides=2)
        >>> tf.Session().run(large[0, :, :, 0])
        array([[1., 1., 2., 2.],
               [1., 1., 2., 2.]], dtype=float32)
    """
    value = deprecated_argument_lookup("input", input, "value", value)
    filter = deprecated_argument_lookup("filters", filters, "filter", filter)
    values = [value, filter, output_shape]
    with name_scope(name, "conv2d_transpose", values) as name:
        with name_scope(name, "conv2d_transpose", values) as name:
            data_format = data_format or "NHWC"
            channel = 1 if data_format.startswith("NC") else 3
            return raw.Conv2DBackpropInput(
                output_shape,
                filter,
                value,
                strides=per_axis(strides, 2, channel, "strides"),
                padding=padding,
                data_format=data_format,
                dilations=per_axis(dilations, 2, channel, "dilations"),
                name=name,
            )


def _format_1d(data_format: str | None) -> tuple[str, int, int]:
    """The data format of images, the new spatial axis and the channel axis of sequences."""
    if data_format in (None, "NHWC", "NWC"):
        return "NHWC", 1, 2
    if data_format in ("NCHW", "NCW"):
        return "NCHW", 2, 1
    raise ValueError('data_format must be "NWC" or "NCW".')


@export("nn.conv1d")
def conv1d(
    value: TensorLike | None = None,
    filters: Any = None,
    stride: TensorLike | None = None,
    padding: Any = None,
    use_cudnn_on_gpu: bool | None = None,
    data_format: str | None = None,
    name: str | None = None,
    input: TensorLike | None = None,
    dilations: Sequence[int] | None = None,
) -> Tensor:
    """The convolution of sequences: sums of products with filters that move along them.

    Args:
        value: float16, bfloat16, float32 or float64 [batch, time, channels]; with "NCW" [batch,
            channels, time].
        filters: the same dtype [width, channels, output channels].
        stride: how far the filters move, an integer.
        padding: "SAME" or "VALID".
        use_cudnn_on_gpu: accepted; there is no such device.
        data_format: "NWC", the default, or "NCW".
        name: of the operation.
        input: another name of `value`.
        dilations: how far elements of the filters are apart, an integer.

    Returns:
        A Tensor of that dtype [batch, new time, output channels], or as "NCW" has it.

    Raises:
        TypeError: the dtypes differ or are none of these.
        ValueError: the sizes do not fit, or there is no such format.

    Example:
        >>> sequence = tf.reshape(tf.range(5.0), [1, 5, 1])
        >>> sums = tf.nn.conv1d(sequence, tf.ones([3, 1, 1]), stride=1, padding="VALID")
        >>> tf.Session().run(sums[0, :, 0])
        array([3., 6., 9.], dtype=float32)
    """
    value = deprecated_argument_lookup("input", input, "value", value)
    with name_scope(name, "conv1d", [value, filters]) as name:
        data_format, axis, channel = _format_1d(data_format)
        strides = [1, *per_axis(stride, 1, channel, "stride")]
        dilations = [1, *per_axis(dilations, 1, channel, "dilations")]
        value = tf.expand_dims(value, axis)
        filters = tf.expand_dims(filters, 0)
        result = raw.Conv2D(
            value,
            filters,
            strides=strides,
            padding=padding,
            use_cudnn_on_gpu=True if use_cudnn_on_gpu is None else use_cudnn_on_gpu,
            data_format=data_format,
            dilations=dilations,
            name=name,
        )
        return tf.squeeze(result, [axis])


@export("nn.conv1d_transpose")
def conv1d_transpose(
    input: TensorLike,
    filters: TensorLike,
    output_shape: Any,
    strides: Any,
    padding: str = "SAME",
    data_format: str | None = "NWC",
    dilations: Sequence[int] | None = None,
    name: str | None = None,
) -> Tensor:
    """The transpose of conv1d."""
    with name_scope(name, "conv1d_transpose", [input, filters, output_shape]) as name:
        if data_format not in (None, "NWC", "NCW"):
            raise ValueError('data_format must be "NWC" or "NCW".')
        data_format, axis, channel = _format_1d(data_format)
        strides = [1, *per_axis(strides, 1, channel, "stride")]
        dilations = [1, *per_axis(dilations, 1, channel, "dilations")]
        input = tf.expand_dims(input, axis)
        filters = tf.expand_dims(filters, 0)
        if not isinstance(output_shape, Tensor):
            output_shape = list(output_shape)
        output_shape = tf.concat([output_shape[:axis], [1], output_shape[axis:]], 0)
        result = raw.Conv2DBackpropInput(
            output_shape,
            filters,
            input,
            strides=strides,
            padding=padding,
            data_format=data_format,
            dilations=dilations,
            name=name,
        )
        return tf.squeeze(result, axis)


def conv3d_op(
    x: TensorLike,
    w: Variable,
    strides: Sequence[Any],
    padding: str,
    data_format: str,
    name: str | None,
) -> Tensor:
    """The Conv3D node."""
    return raw.Conv3D(x, w, strides=strides, padding=padding, data_format=data_format, name=name)


@export("nn.conv3d")
def conv3d(
    input: TensorLike,
    filter: TensorLike | None = None,
    strides: Any = None,
    padding: Any = None,
    data_format: str = "NDHWC",
    dilations: Sequence[int] = (1, 1, 1, 1, 1),
    name: str | None = None,
    filters: TensorLike | None = None,
) -> Tensor:
    """The convolution of volumes with filters of shape [depth, height, width, in, out]."""
    filter = deprecated_argument_lookup("filters", filters, "filter", filter)
    return raw.Conv3D(
        input,
        filter,
        strides=strides,
        padding=padding,
        data_format=data_format,
        dilations=list(dilations),
        name=name,
    )


@export("nn.conv3d_backprop_filter", "nn.conv3d_backprop_filter_v2")
def conv3d_backprop_filter(
    input: TensorLike,
    filter_sizes: Any,
    out_backprop: Any,
    strides: Any,
    padding: Any,
    data_format: str = "NDHWC",
    dilations: Sequence[int] = (1, 1, 1, 1, 1),
    name: str | None = None,
) -> Tensor:
    """The gradient of conv3d with respect to its filter."""
    return raw.Conv3DBackpropFilterV2(
        input,
        filter_sizes,
        out_backprop,
        strides=strides,
        padding=padding,
        data_format=data_format,
        dilations=list(dilations),
        name=name,
    )


@export("nn.conv3d_transpose")
def conv3d_transpose(
    value: TensorLike,
    filter: TensorLike | None = None,
    output_shape: Any = None,
    strides: Any = None,
    padding: Any = "SAME",
    data_format: str | None = "NDHWC",
    name: str | None = None,
    input: TensorLike | None = None,
    filters: TensorLike | None = None,
    dilations: Sequence[int] | None = None,
) -> Tensor:
    """The transpose of conv3d."""
    value = deprecated_argument_lookup("input", input, "value", value)
    filter = deprecated_argument_lookup("filters", filters, "filter", filter)
    with name_scope(name, "conv3d_transpose", [value, filter, output_shape]) as name:
        data_format = data_format or "NDHWC"
        channel = 1 if data_format.startswith("NC") else 4
        return raw.Conv3DBackpropInputV2(
            output_shape,
            filter,
            value,
            strides=per_axis(strides, 3, channel, "strides"),
            padding=padding,
            data_format=data_format,
            dilations=per_axis(dilations, 3, channel, "dilations"),
            name=name,
        )


@export("nn.conv_transpose")
def conv_transpose(
    input: Any,
    filters: Any,
    output_shape: Any,
    strides: Any,
    padding: str = "SAME",
    data_format: str | None = None,
    dilations: Any = None,
    name: str | None = None,
) -> Tensor:
    """The transpose of a convolution over one to three spatial axes."""
    with name_scope(name, "conv_transpose", [input, filters, output_shape]) as name:
        if isinstance(output_shape, Tensor):
            count = known_sizes(output_shape.shape)[0] - 2
        elif isinstance(output_shape, Sized):
            count = len(output_shape) - 2
        else:
            raise ValueError("output_shape must be a tensor or sized collection.")
        if not 1 <= count <= 3:
            raise ValueError(f"output_shape must be of length 3, 4 or 5 but was {count + 2}.")
        given = {"padding": padding, "data_format": data_format, "dilations": dilations}
        if count == 1:
            return conv1d_transpose(input, filters, output_shape, strides, name=name, **given)
        function = conv2d_transpose if count == 2 else conv3d_transpose
        return function(input, filters, output_shape, strides, name=name, **given)
