# SPDX-License-Identifier: Apache-2.0
"""Sliding windows over the spatial axes of channels-last arrays, of any number of axes.

All reference kernels of convolution and pooling are loops over the offsets inside of a window: at
each offset, one strided slice of the padded input lines up with the whole output.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ...engine import errors
from ...engine.record_class import record
from ...engine.types.shape import TensorShape

if TYPE_CHECKING:
    from ...jit.kernel.sizes import AnySize

Dim = int | None


def is_channels_first(data_format: str) -> bool:
    """Whether the channels stand behind the batch and not at the end."""
    return data_format.startswith("NC")


def spatial(values: Sequence[Any], data_format: str) -> list[Any]:
    """The entries of a per-axis list that belong to spatial axes."""
    return list(values[2:] if is_channels_first(data_format) else values[1:-1])


def channels(values: Sequence[Any], data_format: str) -> Any:
    """The entry of a per-axis list that belongs to the channels."""
    return values[1 if is_channels_first(data_format) else -1]


def arranged(
    batch: AnySize | None, inner: Sequence[Any], channel: AnySize | None, data_format: str
) -> list[Any]:
    """A per-axis list in the order of a data format."""
    if is_channels_first(data_format):
        return [batch, channel, *inner]
    return [batch, *inner, channel]


def channels_last(x: np.ndarray, data_format: str) -> np.ndarray:
    """The array with its channels at the end."""
    return np.moveaxis(x, 1, -1) if is_channels_first(data_format) else x


def channels_back(x: np.ndarray, data_format: str) -> np.ndarray:
    """A channels-last array in the order of a data format."""
    return np.ascontiguousarray(np.moveaxis(x, -1, 1)) if is_channels_first(data_format) else x


@record(frozen=True)
class Axis:
    """One spatial axis of a window: sizes may be None in static shapes."""

    size: Dim
    window: int
    stride: int
    dilation: int
    before: int
    after: int
    out: Dim

    @property
    def known(self) -> int:
        """The size, which is no secret at run time."""
        assert self.size is not None
        return self.size

    def slice_at(self, offset: int) -> slice:
        """The padded positions that meet this offset of the window, one per output."""
        start = offset * self.dilation
        stop = start + (self.out - 1) * self.stride + 1 if self.out else start
        return slice(start, stop, self.stride)


def _ceil(a: int, b: int) -> int:
    return -(-a // b)


def axis(
    size: Dim,
    window: Dim,
    stride: int,
    dilation: int,
    padding: str,
    explicit: tuple[int, int] = (0, 0),
) -> Axis:
    """The geometry of one axis; a ValueError tells why a window does not fit."""
    if size is None or window is None:
        out = _ceil(size, stride) if size is not None and padding == "SAME" else None
        return Axis(size, window or 0, stride, dilation, *explicit, out)
    reach = (window - 1) * dilation + 1
    if padding == "SAME":
        out = _ceil(size, stride)
        total = max((out - 1) * stride + reach - size, 0)
        return Axis(size, window, stride, dilation, total // 2, total - total // 2, out)
    before, after = explicit if padding == "EXPLICIT" else (0, 0)
    padded = size + before + after
    if padded < reach:
        raise ValueError(f"Negative dimension size caused by subtracting {reach} from {padded}")
    out = (padded - reach) // stride + 1
    return Axis(size, window, stride, dilation, before, after, out)


def pairs(explicit: Sequence[int], data_format: str) -> list[tuple[int, int]]:
    """The spatial entries of an explicit_paddings attribute, as (before, after)."""
    both = [(int(a), int(b)) for a, b in zip(explicit[::2], explicit[1::2], strict=True)]
    return spatial(both, data_format)


@record(frozen=True)
class Window:
    """A window over all spatial axes."""

    axes: tuple[Axis, ...]

    @property
    def out(self) -> list[Dim]:
        """The output's spatial sizes."""
        return [a.out for a in self.axes]

    def offsets(self) -> Iterator[tuple[tuple[int, ...], tuple[Any, ...]]]:
        """Each offset in the window, with the index of the padded array that lines up with it."""
        for offset in np.ndindex(*(a.window for a in self.axes)):
            slices = (a.slice_at(o) for o, a in zip(offset, self.axes, strict=True))
            yield offset, (slice(None), *slices)

    def pad(self, x: np.ndarray, fill: Any = 0) -> np.ndarray:
        """A channels-last array with its padding."""
        if not any(a.before or a.after for a in self.axes):
            return x
        widths = [(0, 0), *((a.before, a.after) for a in self.axes), (0, 0)]
        return np.pad(x, widths, constant_values=fill)

    def padded_zeros(self, batch: int, channel: int, dtype: Any) -> np.ndarray:
        """Zeros in the shape of the padded input."""
        sizes = [a.before + a.known + a.after for a in self.axes]
        return np.zeros([batch, *sizes, channel], dtype)

    def unpad(self, x: np.ndarray) -> np.ndarray:
        """The inner part of a padded array."""
        inner = tuple(slice(a.before, a.before + a.known) for a in self.axes)
        return np.ascontiguousarray(x[(slice(None), *inner)])


def window(
    sizes: Sequence[Dim],
    windows: Sequence[Dim],
    strides: Sequence[int],
    padding: str,
    dilations: Sequence[int] | None = None,
    explicit: Sequence[tuple[int, int]] | None = None,
) -> Window:
    """The geometry of all spatial axes."""
    dilations = dilations or [1] * len(sizes)
    explicit = explicit or [(0, 0)] * len(sizes)
    each = zip(sizes, windows, strides, dilations, explicit, strict=True)
    return Window(tuple(axis(n, w, s, d, padding, e) for n, w, s, d, e in each))


def at_run_time(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Calls `function`; its ValueError becomes the InvalidArgumentError of a kernel."""
    try:
        return function(*args, **kwargs)
    except ValueError as error:
        raise errors.invalid(str(error)) from None


def known_dims(shape: TensorShape, rank: int) -> list[Dim]:
    """The sizes of a static shape of the given rank, None where unknown."""
    if shape.ndims is not None and shape.ndims != rank:
        raise ValueError(f"Shape must be rank {rank} but is rank {shape.ndims}")
    return [None] * rank if shape.ndims is None else shape.as_list()
