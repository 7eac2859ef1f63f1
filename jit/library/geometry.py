# SPDX-License-Identifier: Apache-2.0
"""The geometry of a sliding window: sizes, strides, dilations and padding, from op attributes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Union

from ...engine.record_class import record
from ..kernel.sizes import AnySize, ceil_div, maximum

Padding = Union[str, Sequence[Sequence[int]]]


@record(frozen=True)
class Axis:
    """One spatial axis: input size, window, stride, dilation, padding before, output size."""

    size: AnySize
    window: int
    stride: int
    dilation: int
    before: AnySize
    out: AnySize

    @property
    def reach(self) -> int:
        """The extent of one window."""
        return (self.window - 1) * self.dilation + 1

    @property
    def padded(self) -> AnySize:
        """How much of the padded input the windows touch."""
        return (self.out - 1) * self.stride + self.reach


def are_pixels(both: Sequence[Axis]) -> bool:
    """Are windows pixels of the input, and of each so many pixels the first, without padding?

    A convolution of these is a matrix product.
    """
    return all(
        axis.window == 1
        and isinstance(axis.before, int)
        and axis.before == 0
        and str(axis.out) == str(ceil_div(axis.size, axis.stride))
        for axis in both
    )


def spatial(values: Sequence[int], data_format: str) -> tuple[int, int]:
    """The height and width entries of an attribute with two or four entries."""
    if len(values) == 2:
        return int(values[0]), int(values[1])
    first = 1 if data_format == "NHWC" else 2
    return int(values[first]), int(values[first + 1])


def axes(
    sizes: Sequence[AnySize],
    windows: Sequence[int],
    strides: Sequence[int],
    padding: Padding,
    dilations: Sequence[int] = (1, 1),
    data_format: str = "NHWC",
) -> tuple[Axis, Axis]:
    """Both spatial axes; padding is "SAME", "VALID", or (before, after) for two or four axes."""
    stride = spatial(strides, data_format)
    dilation = spatial(dilations, data_format)
    pairs: list[Sequence[int] | None] = [None, None]
    if not isinstance(padding, str):
        first = 0 if len(padding) == 2 else (1 if data_format == "NHWC" else 2)
        pairs = [padding[first], padding[first + 1]]
    made = [
        _axis(sizes[i], int(windows[i]), stride[i], dilation[i], padding, pairs[i]) for i in (0, 1)
    ]
    return made[0], made[1]


def _axis(
    size: AnySize,
    window: int,
    stride: int,
    dilation: int,
    padding: Padding,
    pair: Sequence[int] | None,
) -> Axis:
    reach = (window - 1) * dilation + 1
    if pair is not None:
        out = (size + int(pair[0]) + int(pair[1]) - reach) // stride + 1
        return Axis(size, window, stride, dilation, int(pair[0]), out)
    if padding == "VALID":
        return Axis(size, window, stride, dilation, 0, ceil_div(size - (reach - 1), stride))
    if padding != "SAME":
        raise ValueError(f"padding {padding!r} is not SAME, VALID or a list of pairs")
    out = ceil_div(size, stride)
    # (Windows of one pixel begin within the input, whatever its size.)
    total = maximum((out - 1) * stride + reach - size, 0) if reach > 1 else 0
    return Axis(size, window, stride, dilation, total // 2, out)
