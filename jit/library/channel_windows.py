# SPDX-License-Identifier: Apache-2.0
"""Depthwise convolutions of many channels by kernels over them; gradients likewise.

Vectors of channels stay in registers while a window is walked, and nothing is padded or copied:
taps in the padding are left out.  For several filters a channel, channels are repeated.  What they
do not serve is in jit/library/shifted_views.py.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from ..kernel.sizes import AnySize, ceil_div, maximum
from ..program.tensor_ir import Axis as At
from . import channel_windows_kernels
from .geometry import Axis
from .library_kernel import LibraryKernel
from .template import specialise
from .vectors import BYTES, vectors

_WORK = 1 << 18  # products of a tile
_GROUPS = 16  # of lines whose products with the gradient are added up apart, at most
# With fewer channels most lanes of a vector would have none.
_FEWEST_CHANNELS = 8


def serves(b: Any, dtype: str, filter_sizes: Sequence[AnySize], high: Axis, wide: Axis) -> bool:
    """Whether these kernels compute convolutions by filters [height, width, channels, filters]."""
    _, _, channels, many = filter_sizes
    if b.is_plain or dtype not in BYTES or not isinstance(channels, int):
        return False
    is_simple = all(1 in (axis.stride, axis.dilation) for axis in (high, wide))
    return is_simple and channels * many >= _FEWEST_CHANNELS


def convolve(b: Any, x: Any, w: Any, high: Axis, wide: Axis) -> Any:
    """Every channel of images convolved with its filters."""
    x, c = repeated(b, x, w.shape[3]), w.shape[2] * w.shape[3]
    n, taps = x.shape[0], high.window * wide.window
    line = maximum(wide.out * c * taps, 1)
    (out,) = b.call(
        _kernel("depthwise", channel_windows_kernels.windows, x.dtype),
        [x, b.reshape(w, (high.window, wide.window, c))],
        [((n, high.out, wide.out, c), x.dtype)],
        _extents(high, wide, c),
        n * high.out,
        maximum(_WORK // line, 1),
        scratch=16 * taps,
        operations=2 * n * high.out * line,
    )
    return out


def input_gradient(b: Any, n: AnySize, w: Any, dy: Any, high: Axis, wide: Axis) -> Any:
    """The gradient of n images from that of their results."""
    depth, many = w.shape[2:]
    c, taps = depth * many, high.window * wide.window
    line = maximum(wide.out * c * taps // high.stride, 1)
    (out,) = b.call(
        _kernel("depthwise_input_gradient", channel_windows_kernels.spread_windows, dy.dtype),
        [dy, b.reshape(w, (high.window, wide.window, c))],
        [((n, high.size, wide.size, c), dy.dtype)],
        _extents(high, wide, c),
        n * high.size,
        maximum(_WORK // line, 1),
        scratch=16 * taps,
        operations=2 * n * high.size * line,
    )
    if many == 1:
        return out
    return b.reduce("sum", b.reshape(out, (*out.shape[:3], depth, many)), (4,))


def filter_gradient(b: Any, x: Any, many: int, dy: Any, high: Axis, wide: Axis) -> Any:
    """The gradient of the filters: [height, width, channels, many]."""
    depth = x.shape[3]
    x = repeated(b, x, many)
    c, taps = x.shape[3], high.window * wide.window
    lines = x.shape[0] * high.out
    line = maximum(wide.out * c * taps, 1)
    # As the sizes tell, so that sums are the same however many threads there are.
    own = maximum(maximum(ceil_div(lines, _GROUPS), _WORK // line), 1)
    groups = ceil_div(lines, own)
    (sums,) = b.call(
        _kernel("depthwise_filter_gradient", channel_windows_kernels.taps, x.dtype),
        [x, dy],
        [((groups, taps * c), x.dtype)],
        [*_extents(high, wide, c), x.shape[0], own],
        groups,
        1,
        scratch=16 * taps,
        operations=2 * lines * line,
    )
    return b.reshape(b.reduce("sum", sums, (0,)), (high.window, wide.window, depth, many))


def repeated(b: Any, x: Any, many: int) -> Any:
    """Images with each channel `many` times."""
    if many == 1:
        return x
    shape = (*x.shape[:3], x.shape[3], many)
    apart = b.view(x, (At(0), At(1), At(2), At(3)), shape)
    return b.reshape(apart, (*x.shape[:3], x.shape[3] * many))


def _extents(high: Axis, wide: Axis, c: AnySize) -> list[AnySize]:
    sizes = [high.size, wide.size, high.out, wide.out, c, high.before, wide.before]
    rest = [high.window, wide.window, high.stride, wide.stride, high.dilation, wide.dilation]
    return [*sizes, *rest]


def _kernel(name: str, entry: Callable[..., None], dtype: str) -> LibraryKernel:
    return specialise(name, entry, LANES=vectors(dtype).lanes)


def closed(dtypes: Sequence[str]) -> Iterator[LibraryKernel]:
    """All kernels of depthwise convolutions."""
    for dtype in (name for name in dtypes if name in BYTES):
        for name, entry in (
            ("depthwise", channel_windows_kernels.windows),
            ("depthwise_input_gradient", channel_windows_kernels.spread_windows),
            ("depthwise_filter_gradient", channel_windows_kernels.taps),
        ):
            yield _kernel(name, entry, dtype).over([dtype] * 3)
