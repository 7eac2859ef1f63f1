# SPDX-License-Identifier: Apache-2.0
"""The public pooling functions of `tf.nn`, with TensorFlow 1.15's arguments."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ...engine.api import export
from ...engine.deprecation import deprecated_argument_lookup
from ...engine.graph.convert import convert_to_tensor
from ...engine.graph.graph import name_scope
from ...engine.types import dtypes
from ..public import raw, tf
from .conv_public import per_axis

if TYPE_CHECKING:
    from ...engine.graph.annotations import TensorLike
    from ...engine.graph.tensor import Tensor


def _channel(data_format: str, last: int) -> int:
    return 1 if data_format.startswith("NC") else last


def _plane(
    op_type: str,
    value: TensorLike,
    ksize: int | Sequence[int],
    strides: int | Sequence[Any],
    padding: str,
    form: str,
    name: str,
) -> Any:
    channel = _channel(form, 3)
    ksize = per_axis(ksize, 2, channel, "ksize")
    strides = per_axis(strides, 2, channel, "strides")
    if op_type == "MaxPool" and any(v == 0 for v in np.ravel(ksize)):
        raise ValueError("ksize cannot be zero.")
    return getattr(raw, op_type)(
        value, ksize=ksize, strides=strides, padding=padding, data_format=form, name=name
    )


@export("nn.avg_pool", "nn.avg_pool2d")
def avg_pool(
    value: TensorLike,
    ksize: int | Sequence[int],
    strides: int | Sequence[Any],
    padding: str,
    data_format: str | None = "NHWC",
    name: str | None = None,
    input: TensorLike | None = None,
) -> Any:
    """The mean of every window of images; what is padded does not count.

    Args:
        value: float16, bfloat16, float32 or float64 [batch, height, width, channels]; with "NCHW"
            [batch, channels, height, width].
        ksize: the size of windows: an integer, two of them, or four in the data format.
        strides: how far they move: likewise.
        padding: "SAME" or "VALID".
        data_format: "NHWC" or "NCHW".
        name: of the operation.
        input: another name of `value`.

    Returns:
        A Tensor of that dtype, with other height and width.

    Raises:
        TypeError: the dtype is none of these.
        ValueError: a list has a wrong length, or sizes do not fit.

    Example:
        >>> image = tf.reshape(tf.range(16.0), [1, 4, 4, 1])
        >>> tf.Session().run(tf.nn.avg_pool(image, 2, 2, "VALID")[0, :, :, 0])
        array([[ 2.5,  4.5],
               [10.5, 12.5]], dtype=float32)
    """
    with name_scope(name, "AvgPool", [value]) as name:
        value = deprecated_argument_lookup("input", input, "value", value)
        return _plane("AvgPool", value, ksize, strides, padding, data_format or "NHWC", name)


@export("nn.max_pool")
def max_pool(
    value: TensorLike,
    ksize: int | Sequence[int],
    strides: int | Sequence[Any],
    padding: str,
    data_format: str | None = "NHWC",
    name: str | None = None,
    input: TensorLike | None = None,
) -> Any:
    """The greatest element of every window of images.

    Args:
        value: a tensor of real numbers [batch, height, width, channels]; with "NCHW" [batch,
            channels, height, width].
        ksize: the size of windows: an integer, two of them, or four in the data format.
        strides: how far they move: likewise.
        padding: "SAME" or "VALID".
        data_format: "NHWC" or "NCHW".
        name: of the operation.
        input: another name of `value`.

    Returns:
        A Tensor of that dtype, with other height and width.

    Raises:
        TypeError: the dtype is another, such as complex64.
        ValueError: a list has a wrong length, a size is 0, or sizes do not fit.

    Example:
        >>> image = tf.reshape(tf.range(16.0), [1, 4, 4, 1])
        >>> tf.Session().run(tf.nn.max_pool(image, 2, 2, "VALID")[0, :, :, 0])
        array([[ 5.,  7.],
               [13., 15.]], dtype=float32)
    """
    value = deprecated_argument_lookup("input", input, "value", value)
    with name_scope(name, "MaxPool", [value]) as name:
        return _plane("MaxPool", value, ksize, strides, padding, data_format or "NHWC", name)


@export("nn.max_pool2d")
def max_pool2d(
    input: TensorLike,
    ksize: int,
    strides: int,
    padding: str,
    data_format: str | None = "NHWC",
    name: str | None = None,
) -> Any:
    """The largest element of every window of images."""
    with name_scope(name, "MaxPool2d", [input]) as name:
        return _plane("MaxPool", input, ksize, strides, padding, data_format or "NHWC", name)


def _line(
    op_type: str,
    scope: str,
    value: Tensor,
    ksize: Any,
    strides: Any,
    padding: str,
    form: Any,
    name: Any,
) -> Tensor:
    with name_scope(name, scope, [value]) as name:
        form = form or "NWC"
        channel = _channel(form, 2)
        ksize = [1, *per_axis(ksize, 1, channel, "ksize")]
        strides = [1, *per_axis(strides, 1, channel, "strides")]
        axis = 1 if form == "NWC" else 2
        form = "NHWC" if form == "NWC" else "NCHW"
        value = tf.expand_dims(value, axis)
        result = getattr(raw, op_type)(
            value, ksize=ksize, strides=strides, padding=padding, data_format=form, name=name
        )
        return tf.squeeze(result, axis)


@export("nn.avg_pool1d")
def avg_pool1d(
    input: Any,
    ksize: Any,
    strides: Any,
    padding: str,
    data_format: str | None = "NWC",
    name: str | None = None,
) -> Tensor:
    """The mean of every window of sequences."""
    return _line("AvgPool", "AvgPool1D", input, ksize, strides, padding, data_format, name)


@export("nn.max_pool1d")
def max_pool1d(
    input: Any,
    ksize: Any,
    strides: Any,
    padding: str,
    data_format: str | None = "NWC",
    name: str | None = None,
) -> Tensor:
    """The largest element of every window of sequences."""
    return _line("MaxPool", "MaxPool1d", input, ksize, strides, padding, data_format, name)


def _volume(
    op_type: str,
    value: Tensor,
    ksize: Sequence[int],
    strides: Sequence[int],
    padding: str,
    form: Any,
    last: int,
    name: Any,
) -> Any:
    with name_scope(name, op_type, [value]) as name:
        form = form or "NDHWC"
        channel = _channel(form, last)
        ksize = per_axis(ksize, 3, channel, "ksize")
        strides = per_axis(strides, 3, channel, "strides")
        return getattr(raw, op_type)(
            value, ksize=ksize, strides=strides, padding=padding, data_format=form, name=name
        )


@export("nn.avg_pool3d")
def avg_pool3d(
    input: Any,
    ksize: Any,
    strides: Any,
    padding: str,
    data_format: str | None = "NDHWC",
    name: str | None = None,
) -> Any:
    """The mean of every window of volumes."""
    return _volume("AvgPool3D", input, ksize, strides, padding, data_format, 3, name)


@export("nn.max_pool3d")
def max_pool3d(
    input: Any,
    ksize: Any,
    strides: Any,
    padding: str,
    data_format: str | None = "NDHWC",
    name: str | None = None,
) -> Any:
    """The largest element of every window of volumes."""
    return _volume("MaxPool3D", input, ksize, strides, padding, data_format, 4, name)


def _any_rank(
    plane: str,
    volume: str,
    value: TensorLike,
    ksize: Any,
    strides: Any,
    padding: str,
    form: Any,
    name: Any,
) -> Any:
    value = convert_to_tensor(value)
    rank = value.shape.ndims if value.shape.ndims is not None else len(form or "")
    if not rank:
        raise ValueError("The input must have a rank or a data format must be given.")
    count = rank - 2
    if not 1 <= count <= 3:
        raise ValueError(f"Input tensor must be of rank 3, 4 or 5 but was {rank}.")
    channel = count + 1 if form is None else _channel(form, count + 1)
    ksize = per_axis(ksize, count, channel, "ksize")
    strides = per_axis(strides, count, channel, "strides")
    if count == 1:
        function = avg_pool1d if plane == "AvgPool" else max_pool1d
        return function(value, ksize, strides, padding, data_format=form, name=name)
    function = getattr(raw, volume if count == 3 else plane)
    form = form or ("NHWC" if count == 2 else "NDHWC")
    return function(
        value, ksize=ksize, strides=strides, padding=padding, data_format=form, name=name
    )


@export("nn.avg_pool_v2")
def avg_pool_v2(
    input: Any,
    ksize: Any,
    strides: Any,
    padding: str,
    data_format: str | None = None,
    name: str | None = None,
) -> Any:
    """The mean of every window, over one to three spatial axes."""
    return _any_rank("AvgPool", "AvgPool3D", input, ksize, strides, padding, data_format, name)


@export("nn.max_pool_v2")
def max_pool_v2(
    input: Any,
    ksize: Any,
    strides: Any,
    padding: str,
    data_format: str | None = None,
    name: str | None = None,
) -> Any:
    """The largest element of every window, over one to three spatial axes."""
    return _any_rank("MaxPool", "MaxPool3D", input, ksize, strides, padding, data_format, name)


@export("nn.max_pool_with_argmax")
def max_pool_with_argmax(
    input: TensorLike,
    ksize: Sequence[int],
    strides: Sequence[int],
    padding: str,
    data_format: str = "NHWC",
    Targmax: Any = None,  # noqa: N803
    name: str | None = None,
    output_dtype: Any = None,
    include_batch_in_index: bool = False,
) -> Any:
    """The largest element of every window, and its flat position in the input."""
    if data_format != "NHWC":
        raise ValueError("Data formats other than 'NHWC' are not yet supported")
    kind = deprecated_argument_lookup("output_dtype", output_dtype, "Targmax", Targmax)
    return raw.MaxPoolWithArgmax(
        input,
        ksize=ksize,
        strides=strides,
        padding=padding,
        Targmax=dtypes.int64 if kind is None else kind,
        include_batch_in_index=include_batch_in_index,
        name=name,
    )
