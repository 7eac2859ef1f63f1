# SPDX-License-Identifier: Apache-2.0
"""Convolutions on devices that compute them by tiles or by a library, rather than as loop nests.

Filters are handed on as [features, height, width, channels], so that channels are innermost in all
there is, which libraries want.  They also want as much padding on one side as on the other: else
images get their zeros beforehand.  Imports jit's IR.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from ..kernel.sizes import AnySize, hint, maximum, product, same
from ..program.tensor_ir import Launch
from .block_convolution import block_convolution, parts_of
from .block_tiles import DTYPES
from .computed import Convolution
from .geometry import Axis
from .shifted_views import padded_input

Both = tuple[Axis, Axis]
# From how many features, and multiply-adds for each of them, on convolutions are computed by tiles,
# and from how many altogether by a library.
_LEAST = 16
_LEAST_WORK = 4096


def is_worthwhile(b: Any, dtype: str, sizes: Sequence[int], pixels: AnySize) -> bool:
    """Is there enough to do for a kernel of its own?  (Filters are [high, wide, c, features].)"""
    high, wide, channels, features = sizes
    if dtype not in DTYPES:
        return False
    if Convolution.kind in b.offered:
        return high * wide * channels * features * hint(pixels) >= _LEAST_WORK
    return features >= _LEAST and high * wide * channels >= _LEAST and hint(pixels) >= _LEAST


def convolve(b: Any, x: Any, w: Any, both: Both) -> Any:
    """The convolution of images with filters [height, width, channels, features]."""
    n, features = x.shape[0], w.shape[3]
    x, high, wide = _evenly_padded(b, x, both)
    shape = (n, high.out, wide.out, features)
    numbers = _numbers(x.shape, w.shape, high, wide)
    pixels = product(shape[:3])

    def launch(bias: bool = False, relu: bool = False) -> Launch:
        computes = _computes(x.dtype, "forward", both, bias, relu)
        made = _launch(computes, numbers, pixels, features, product(w.shape[:3]), bias, relu)
        # (A library's own epilogues are for few shapes.)
        return made if Convolution.kind in b.offered else replace(made, epilogue=launch)

    (out,) = b.launch(launch(), [x, b.transpose(w, (3, 0, 1, 2))], [(shape, x.dtype)])
    return out


def convolve_back(b: Any, shape: Sequence[AnySize], w: Any, dy: Any, both: Both) -> Any:
    """The gradient of a convolution with respect to images of a shape."""
    n, height, width, channels = shape
    high, wide = _even(b, both)
    whole = (n, high.size, wide.size, channels)
    computes = _computes(dy.dtype, "images", both)
    numbers = _numbers(whole, w.shape, high, wide)
    taps = product([*w.shape[:2], w.shape[3]])
    launch = _launch(computes, numbers, product(whole[:3]), channels, taps)
    (out,) = b.launch(launch, [b.transpose(w, (3, 0, 1, 2)), dy], [(whole, dy.dtype)])
    if high is both[0] and wide is both[1]:
        return out
    before = [0, *(axis.before for axis in both), 0]
    return b.slice(out, before, (n, height, width, channels))


def filter_gradient(b: Any, x: Any, dy: Any, both: Both) -> Any:
    """The gradient of a convolution with respect to the filters."""
    channels, features = x.shape[3], dy.shape[3]
    x, high, wide = _evenly_padded(b, x, both)
    sizes = (high.window, wide.window, channels, features)
    # What a library adds up in one is one part.
    parts = 1 if Convolution.kind in b.offered else parts_of(x.dtype, *map(int, sizes))
    computes = _computes(x.dtype, "filters", both, parts=parts)
    numbers = _numbers(x.shape, sizes, high, wide)
    rows, pixels = features * high.window * wide.window * parts, product(dy.shape[:3])
    launch = _launch(computes, numbers, rows, channels, pixels)
    shape = (features, *sizes[:3])
    held = x.dtype if parts == 1 or x.dtype == "float64" else "float32"
    (out,) = b.launch(launch, [x, dy], [((parts, *shape), held)])
    out = b.reshape(out, shape) if parts == 1 else b.cast(b.reduce("sum", out, [0]), x.dtype)
    return b.transpose(out, (1, 2, 3, 0))


def _computes(
    dtype: str, way: str, both: Both, bias: bool = False, relu: bool = False, parts: int = 1
) -> Convolution:
    (high, wide) = both
    steps, dilations = (high.stride, wide.stride), (high.dilation, wide.dilation)
    return Convolution(dtype, way, steps, dilations, bias, relu, parts)


def _numbers(
    images: Sequence[AnySize], filters: Sequence[AnySize], high: Axis, wide: Axis
) -> tuple[AnySize, ...]:
    """The numbers of a kernel's arguments (computed.py)."""
    rows, columns, _, features = filters
    ends = high.out, wide.out, high.before, wide.before
    return (*images, rows, columns, features, *ends)


def _launch(
    computes: Convolution,
    numbers: tuple[AnySize, ...],
    rows: AnySize,
    columns: AnySize,
    terms: AnySize,
    bias: bool = False,
    relu: bool = False,
) -> Launch:
    kernel = block_convolution(computes)
    assert kernel.block is not None
    down, across, _ = kernel.block
    operations = 2 * rows * columns * terms
    return Launch(
        kernel, numbers, rows, down, columns, across, operations=operations, bias=bias, relu=relu
    )


def _is_even(axis: Axis) -> bool:
    """Would as much padding behind the images as before them give as many windows?"""
    if not isinstance(axis.before, int):
        return False
    return same((axis.size + 2 * axis.before - axis.reach) // axis.stride + 1, axis.out)


def _even(b: Any, both: Both) -> Both:
    """The axes; where padding is uneven, those of images that have theirs already."""
    high, wide = both
    if Convolution.kind not in b.offered or (_is_even(high) and _is_even(wide)):
        return both
    return _of_padded(high), _of_padded(wide)


def _of_padded(axis: Axis) -> Axis:
    # Windows may leave some of the images behind them alone.
    size = maximum(axis.padded, axis.before + axis.size)
    return Axis(size, axis.window, axis.stride, axis.dilation, 0, axis.out)


def _evenly_padded(b: Any, x: Any, both: Both) -> tuple[Any, Axis, Axis]:
    """Images, and the axes that they have now."""
    high, wide = _even(b, both)
    x = x if high is both[0] and wide is both[1] else padded_input(b, x, *both)
    return x, high, wide
