# SPDX-License-Identifier: Apache-2.0
"""The transpose of a convolution whose filter has holes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ...engine.api import export
from ...engine.graph.convert import convert_to_tensor
from ...engine.graph.scope_functions import name_scope
from ...engine.types.shape import TensorShape
from ..public import raw, tf
from .conv_public import conv2d_transpose

if TYPE_CHECKING:
    from ...engine.graph.annotations import TensorLike
    from ...engine.graph.tensor import Tensor


@export("nn.atrous_conv2d_transpose")
def atrous_conv2d_transpose(
    value: TensorLike,
    filters: TensorLike,
    output_shape: Any,
    rate: int,
    padding: str,
    name: str | None = None,
) -> Tensor:
    """The transpose of atrous_conv2d, its gradient (tf.nn.atrous_conv2d_transpose).

    Args:
        value: floats [batch, height, width, channels].
        filters: the same dtype [height, width, output channels, channels].
        output_shape: of the result: four integers or an int32 vector.
        rate: how far values of the filter are apart, 1 or more.
        padding: "SAME" or "VALID".
        name: of the operations.

    Returns:
        A Tensor of that dtype and of `output_shape`.

    Raises:
        ValueError: channels do not fit, the padding is another, the rate is less than 1, or
            `output_shape` has not four elements.

    Example:
        >>> x, filters = tf.ones([1, 1, 1, 1]), tf.ones([2, 2, 1, 1])
        >>> y = tf.nn.atrous_conv2d_transpose(x, filters, [1, 3, 3, 1], rate=2, padding="VALID")
        >>> tf.Session().run(y)[0, :, :, 0].tolist()
        [[1.0, 0.0, 1.0], [0.0, 0.0, 0.0], [1.0, 0.0, 1.0]]
    """
    given = [value, filters, output_shape]
    with name_scope(name, "atrous_conv2d_transpose", given) as name:
        value = convert_to_tensor(value, name="value")
        filters = convert_to_tensor(filters, name="filters")
        if not value.shape[3].is_compatible_with(filters.shape[3]):
            raise ValueError(
                "value's input channels does not match filters' input channels, "
                f"{value.shape[3]} != {filters.shape[3]}"
            )
        if rate < 1:
            raise ValueError(f"rate {rate} cannot be less than one")
        if rate == 1:
            return conv2d_transpose(
                *(value, filters, output_shape), [1, 1, 1, 1], padding=padding, data_format="NHWC"
            )
        sizes = _output_sizes(output_shape, filters)
        if padding not in ("SAME", "VALID"):
            raise ValueError(f"padding must be either VALID or SAME: {padding}")
        return _in_phases(value, filters, sizes, rate, padding == "SAME")


def _output_sizes(output_shape: Any, filters: Tensor) -> Any:
    """The sizes as they are given, lists as such; ValueError where they do not fit."""
    as_tensor = convert_to_tensor(output_shape, name="output_shape")
    if not as_tensor.shape.is_compatible_with(TensorShape([4])):
        raise ValueError(f"output_shape must have shape (4,), got {as_tensor.shape}")
    if not isinstance(output_shape, (tuple, list, np.ndarray)):
        return output_shape
    if not filters.shape[2].is_compatible_with(output_shape[3]):
        raise ValueError(
            "output_shape does not match filter's output channels, "
            f"{output_shape[3]} != {filters.shape[2]}"
        )
    return list(output_shape)


def _in_phases(value: Tensor, filters: Tensor, sizes: Any, rate: int, same: bool) -> Tensor:
    """Every rate-th pixel is an image of its own, for which the filter has no holes."""
    spread, edges = [], []
    kernel: Any = filters.shape.as_list() if filters.shape.is_fully_defined() else tf.shape(filters)
    for i in range(2):
        around = (kernel[i] + (kernel[i] - 1) * (rate - 1)) - 1 if same else 0
        before = around // 2
        spread.append(sizes[i + 1] + before + (around - before))
        edges.append((before, around - before))
    # More at the end, so that the rate divides the sizes.
    more = [(rate - size % rate) % rate for size in spread]
    value = tf.space_to_batch(value, paddings=[[0, more[0]], [0, more[1]]], block_size=rate)
    phases = [
        rate * rate * sizes[0],
        *((size + extra) // rate for size, extra in zip(spread, more, strict=True)),
        sizes[3],
    ]
    result = raw.Conv2DBackpropInput(
        phases, filters, value, strides=[1, 1, 1, 1], padding="VALID", data_format="NHWC"
    )
    crops = [[before, behind + extra] for (before, behind), extra in zip(edges, more, strict=True)]
    return tf.batch_to_space(result, crops=crops, block_size=rate)
