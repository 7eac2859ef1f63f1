# SPDX-License-Identifier: Apache-2.0
"""2-D convolution and its gradients as register tiles over padded lines of the input.

A tile copies the lines that it needs, with zeros around them, into scratch memory; then every
window is a few contiguous runs, and no patches are materialised.  Filters are packed once per call
into panels of whole vectors.  The input gradient is a convolution with flipped, transposed filters,
taken phase by phase when strided.  The filter gradient is in jit/library/conv_filter.py and, of
many channels on small images, in jit/library/conv_filter_product.py.  NCHW goes through a transpose
on both sides.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from ..kernel.sizes import AnySize, product
from ..program.tensor_ir import Launch
from . import conv_filter, conv_filter_product, conv_grad_pooled, conv_kernels, plain_forms
from .conv_tiles import Line, Tile, kinds_of_line, table_of
from .geometry import Axis, Padding, are_pixels, axes
from .library_kernel import LibraryKernel
from .matmul import matmul
from .max_pool_argmax import AcceptsPooledGrad, Windows
from .plain_forms import HALVES, in_float32
from .template import specialise
from .tiles import BLOCK
from .vectors import BYTES, vectors

_BLOCK = 1280  # reduction steps per block, so that the filters of a panel stay in the second cache
_WORK = 1 << 22  # multiply-adds that make a worthwhile tile


def closed(dtypes: Sequence[str]) -> Iterator[LibraryKernel]:
    """All kernels of convolutions, but for the tiles that they call."""
    for dtype in (name for name in dtypes if name in BYTES):
        for with_bias in (False, True):
            buffers = dtype, dtype, "int64", *[dtype] * (1 + with_bias)
            yield _kernel(dtype, with_bias).over(buffers)
        yield _pack_kernel(dtype).over((dtype, "int64", dtype))
        yield _strided_kernel(dtype).over([dtype] * 3)
        yield from conv_filter.closed(dtype)


def conv2d(
    b: Any,
    x: Any,
    w: Any,
    strides: Sequence[int],
    padding: Padding,
    dilations: Sequence[int] = (1, 1),
    data_format: str = "NHWC",
    bias: Any = None,
    relu: bool = False,
) -> Any:
    """The convolution (plus bias, then relu, when asked for), or NotImplemented."""
    rest = strides, padding, dilations, data_format
    if x.dtype in HALVES and not b.is_plain:
        wide = None if bias is None else b.cast(bias, "float32")
        return in_float32(b, conv2d, x, w, *rest, wide, relu)
    if x.dtype not in (*BYTES, *HALVES) or not _static(w.shape):
        return NotImplemented
    if data_format == "NCHW":
        x = b.transpose(x, (0, 2, 3, 1))
    if int(x.shape[3]) != w.shape[2]:
        return NotImplemented
    both = axes(x.shape[1:3], w.shape[:2], strides, padding, dilations, data_format)
    if all(map(_is_whole, both)):
        (n, h, width, c), f = x.shape, w.shape[3]
        # A matrix product; the images of the batch become the pixels of one, which share filters.
        x, w = b.reshape(x, (1, 1, n, h * width * c)), b.reshape(w, (1, 1, h * width * c, f))
        out = _convolve(b, x, w, (_ONE, Axis(n, 1, 1, 1, 0, n)), bias, relu)
        return b.reshape(out, (n, f, 1, 1) if data_format == "NCHW" else (n, 1, 1, f))
    if _is_column(both):
        x, w = b.reshape(x, _in_line(x.shape)), b.reshape(w, _filter_in_line(w.shape))
        out = _convolve(b, x, w, (_ONE, both[0]), bias, relu)
        out = b.reshape(out, (x.shape[0], both[0].out, 1, w.shape[3]))
    else:
        out = _convolve(b, x, w, both, bias, relu)
    return b.transpose(out, (0, 3, 1, 2)) if data_format == "NCHW" else out


def conv2d_input_gradient(
    b: Any,
    input_shape: Sequence[AnySize],
    w: Any,
    dy: Any,
    strides: Sequence[int],
    padding: Padding,
    dilations: Sequence[int] = (1, 1),
    data_format: str = "NHWC",
) -> Any:
    """The gradient with respect to the input, of shape `input_shape`, or NotImplemented."""
    rest = strides, padding, dilations, data_format
    if dy.dtype in HALVES and not b.is_plain:
        w, scores = b.cast(w, "float32"), b.cast(dy, "float32")
        found = conv2d_input_gradient(b, input_shape, w, scores, *rest)
        return found if found is NotImplemented else b.cast(found, dy.dtype)
    if dy.dtype not in (*BYTES, *HALVES) or not _static(w.shape):
        return NotImplemented
    shape = list(input_shape)
    if data_format == "NCHW":
        dy = b.transpose(dy, (0, 2, 3, 1))
        shape = [shape[i] for i in (0, 2, 3, 1)]
    if int(shape[3]) != w.shape[2]:
        return NotImplemented
    both = axes(shape[1:3], w.shape[:2], strides, padding, dilations, data_format)
    b.require_shape(dy, (shape[0], both[0].out, both[1].out, w.shape[3]))
    out = _convolve_back(b, shape, w, dy, both)
    return b.transpose(out, (0, 3, 1, 2)) if data_format == "NCHW" else out


def conv2d_filter_gradient(
    b: Any,
    x: Any,
    filter_shape: Sequence[AnySize],
    dy: Any,
    strides: Sequence[int],
    padding: Padding,
    dilations: Sequence[int] = (1, 1),
    data_format: str = "NHWC",
) -> Any:
    """The gradient with respect to the filters, of shape `filter_shape`, or NotImplemented."""
    rest = strides, padding, dilations, data_format
    if x.dtype in HALVES and not b.is_plain:
        wide = b.cast(x, "float32"), b.cast(dy, "float32")
        found = conv2d_filter_gradient(b, wide[0], filter_shape, wide[1], *rest)
        return found if found is NotImplemented else b.cast(found, x.dtype)
    if x.dtype not in (*BYTES, *HALVES) or not _static(filter_shape):
        return NotImplemented
    if data_format == "NCHW":
        x, dy = b.transpose(x, (0, 2, 3, 1)), b.transpose(dy, (0, 2, 3, 1))
    if int(x.shape[3]) != filter_shape[2]:
        return NotImplemented
    kernel = [int(n) for n in filter_shape[:2]]
    both = axes(x.shape[1:3], kernel, strides, padding, dilations, data_format)
    b.require_shape(dy, (x.shape[0], both[0].out, both[1].out, filter_shape[3]))
    sizes = [int(n) for n in filter_shape]
    if all(map(_is_whole, both)):
        n, rows, f = x.shape[0], sizes[0] * sizes[1] * sizes[2], sizes[3]
        pixels, scores = b.reshape(x, (n, rows)), b.reshape(dy, (n, f))
        return b.reshape(matmul(b, pixels, scores, True, False), sizes)
    if _is_column(both):
        dy = b.reshape(dy, _in_line(dy.shape))
        found = _filter_gradient(
            b, b.reshape(x, _in_line(x.shape)), _filter_in_line(sizes), dy, (_ONE, both[0])
        )
        return b.reshape(found, sizes)
    return _filter_gradient(b, x, sizes, dy, both)


def _filter_gradient(b: Any, x: Any, sizes: Sequence[int], dy: Any, both: tuple[Axis, Axis]) -> Any:
    if b.is_plain:
        return plain_forms.filter_gradient(b, x, dy, both)
    is_product = conv_filter_product.is_worthwhile(sizes, BYTES[x.dtype], both)
    way = conv_filter_product if is_product else conv_filter
    return way.gradient(b, x, sizes, dy, both)


def _static(shape: Sequence[AnySize]) -> bool:
    return all(isinstance(size, int) and size > 0 for size in shape)


# The axis of images whose pixels have become channels.
_ONE = Axis(1, 1, 1, 1, 0, 1)


def _is_whole(axis: Axis) -> bool:
    """One window covers the axis, all of it and nothing else."""
    covers = isinstance(axis.size, int) and axis.size == axis.window > 1
    return bool(covers and axis.dilation == 1 and axis.before == 0 and axis.out == 1)


def _is_column(both: Sequence[Axis]) -> bool:
    """One window covers every line of the images, of which there are several.

    The pixels of a line lie beside each other as channels do: as one pixel with all their channels
    there is no other beside it.  Such pixels make one line (`_in_line`), where a window's taps lie
    side by side and tiles have many pixels.
    """
    tall, wide = both
    return (_is_whole(wide) or _is_one(wide)) and not _is_one(tall) and not _is_whole(tall)


def _is_one(axis: Axis) -> bool:
    return isinstance(axis.size, int) and (axis.size, axis.window, axis.before) == (1, 1, 0)


def _in_line(shape: Sequence[AnySize]) -> tuple[AnySize, ...]:
    """The shape of images, their lines being pixels of one line."""
    n, tall, wide, c = shape
    return (n, 1, tall, wide * c)


def _filter_in_line(shape: Sequence[int]) -> tuple[int, int, int, int]:
    """The shape of filters for these."""
    tall, wide, c, f = shape
    return (1, tall, wide * c, f)


def _steps(both: Sequence[Axis]) -> list[int]:
    """From a pixel that has a window to the next, per axis of images."""
    return [1, *(axis.stride for axis in both), 1]


def _convolve(b: Any, x: Any, w: Any, both: tuple[Axis, Axis], bias: Any, relu: bool) -> Any:
    kh, kw, c, f = w.shape
    if are_pixels(both) and bias is None and not relu:
        out, steps = (x.shape[0], both[0].out, both[1].out), _steps(both)
        # Pixels lie side by side for it.  As rows of a tile they would be as far apart as strides
        # and channels say, often by a power of two, and compete for the same places in the cache.
        if steps != [1] * 4:
            x = b.slice(x, [0] * 4, (*out, c), steps)
        flat = matmul(b, b.reshape(x, (product(out), c)), b.reshape(w, (c, f)))
        return b.reshape(flat, (*out, f))
    if b.is_plain:
        return plain_forms.convolve(b, x, w, both, bias, relu)
    taps = tuple(tap * c * f for tap in range(kh * kw))
    tile = Tile.choose(x.dtype, f, Line.of(both[1], c))
    packed = _pack(b, w, tile, (c, f), taps, (f, 1))
    return _windows(b, x, packed, both, (kh, kw, c, f), tile, bias, relu)


def _convolve_back(
    b: Any, shape: Sequence[AnySize], w: Any, dy: Any, both: tuple[Axis, Axis]
) -> Any:
    kh, kw, c, f = w.shape
    n = shape[0]
    if _is_column(both):
        dy = b.reshape(dy, _in_line(dy.shape))
        flat = _convolve_back(
            b, _in_line(shape), b.reshape(w, _filter_in_line(w.shape)), dy, (_ONE, both[0])
        )
        return b.reshape(flat, tuple(shape))
    if all(map(_is_whole, both)):
        # Of the windows' places all but one are padding.
        folded = b.reshape(w, (1, 1, kh * kw * c, f))
        flat = _convolve_back(b, (n, 1, 1, kh * kw * c), folded, dy, (_ONE, _ONE))
        return b.reshape(flat, tuple(shape))
    if are_pixels(both):
        out, steps = (n, both[0].out, both[1].out), _steps(both)
        flat = matmul(b, b.reshape(dy, (product(out), f)), b.reshape(w, (c, f)), False, True)
        found = b.reshape(flat, (*out, c))
        if steps == [1] * 4:
            return found
        return b.assemble(tuple(shape), dy.dtype, [(found, [0] * 4, steps)], 0)
    if b.is_plain:
        return plain_forms.convolve_back(b, shape, w, dy, both)

    def from_maxima(b: Any, pooled_dy: Any, places: Any, windows: Windows) -> Any:
        return conv_grad_pooled.input_gradient(b, shape, w, pooled_dy, places, both, windows)

    role = AcceptsPooledGrad(0, from_maxima)
    if (both[0].stride, both[1].stride) != (1, 1):
        return _strided_back(b, shape, w, dy, both, role)
    # The gradient is a convolution, too: every input pixel sums over the windows that it was in.
    # The flipped filter: last tap first; input and output channels change places.
    taps = tuple(tap * c * f for tap in reversed(range(kh * kw)))
    back = [Axis(a.out, a.window, 1, a.dilation, a.reach - 1 - a.before, a.size) for a in both]
    tile = Tile.choose(dy.dtype, c, Line.of(back[1], f))
    packed = _pack(b, w, tile, (f, c), taps, (1, f))
    return _windows(b, dy, packed, (back[0], back[1]), (kh, kw, f, c), tile, None, False, role)


def _strided_back(
    b: Any,
    shape: Sequence[AnySize],
    w: Any,
    dy: Any,
    both: tuple[Axis, Axis],
    role: AcceptsPooledGrad,
) -> Any:
    kh, kw, c, f = w.shape
    high, wide = both
    if high.dilation != 1 or wide.dilation != 1:
        return NotImplemented
    # Phase by phase, and within a phase the last tap first.
    taps = tuple(
        (i * kw + j) * c * f
        for a in range(high.stride)
        for z in range(wide.stride)
        for i in reversed(range(a, kh, high.stride))
        for j in reversed(range(z, kw, wide.stride))
    )
    lines = (high.size - 1 + high.before) // high.stride + 1
    cols = (wide.size - 1 + wide.before) // wide.stride + 1
    tile = Tile.choose(dy.dtype, c, Line(wide.size // wide.stride))  # most phases have so many
    packed = _pack(b, w, tile, (f, c), taps, (1, f))
    tall, broad = -(-kh // high.stride), -(-kw // wide.stride)
    row_tile, col_tile, highest = _work_tiles(lines, cols, kh * kw * c * f, tile.panels(c))
    kernel = _strided_kernel(dy.dtype)
    heights = tile.pixels, min(4, tile.pixels), 1
    scratch = BYTES[dy.dtype] * (highest + tall - 1) * (cols + broad - 1) * f
    run = broad * f
    (out,) = b.call(
        kernel.calling(tile.kernel(c, height) for height in heights), [dy, packed],
        [(tuple(shape), dy.dtype)],
        [high.size, wide.size, high.out, wide.out, high.before, wide.before, f, c, kh, kw,
         high.stride, wide.stride, 1, 1, tile.panel, highest, lines, cols, tall, broad,
         max(1, _BLOCK // run), -(-run // -(-run // _BLOCK)), *heights[:2]],
        shape[0] * lines, row_tile, tile.panels(c), col_tile, BLOCK + scratch + 64,
        operations=_operations(shape[0], both, c * f), role=role,
    )  # fmt: skip
    return out


def _pack(
    b: Any,
    w: Any,
    tile: Tile,
    sizes: tuple[int, int],
    taps: tuple[int, ...],
    steps: tuple[int, int],
) -> Any:
    """Filters as panels: `sizes` and `steps` are those of reduced channels and of features."""
    c, f = sizes
    kernel = _pack_kernel(w.dtype)
    panels = tile.panels(f)
    # A tile packs some 16 thousand numbers, beside which it costs little to hand it to a thread.
    taps_tile = max(1, (1 << 14) // (c * tile.panel))
    outputs = [((panels, len(taps), c, tile.panel), w.dtype)]
    params = [len(taps), c, f, tile.panel, *steps]
    table = b.constant(np.array(taps, np.int64))
    (packed,) = b.call(kernel, [w, table], outputs, params, len(taps), taps_tile, panels, 1)
    return packed


def _windows(
    b: Any,
    x: Any,
    packed: Any,
    both: tuple[Axis, Axis],
    sizes: tuple[int, int, int, int],
    tile: Tile,
    bias: Any,
    relu: bool,
    role: AcceptsPooledGrad | None = None,
) -> Any:
    """Slides packed filters over x."""
    kh, kw, c, f = sizes
    high, wide = both
    # The sum is cut into blocks of like length, at most _BLOCK steps: so many lines of the window
    # (segments), or where one is too long, so many of its channels.
    channels = c if kw * c <= _BLOCK else -(-c // -(-kw * c // _BLOCK))
    segments = -(-kh // -(-kh // max(1, _BLOCK // (kw * channels))))
    contiguous = wide.dilation == 1 and channels == c
    kinds = kinds_of_line(Line.of(wide, c), tile, kw, contiguous)
    table, parts = table_of(kinds, tile, f)
    panels = tile.panels(f)
    row_tile, col_tile, highest = _work_tiles(high.out, wide.out, kh * kw * c * f, panels)
    lines = (highest - 1) * high.stride + high.reach

    def launch(with_bias: bool, with_relu: bool) -> Launch:
        params = [
            *(high.size, wide.size, high.out, wide.out, high.before, wide.before, c, f),
            *(kh, kw, high.stride, wide.stride, high.dilation, wide.dilation, tile.panel),
            *(highest, segments, channels, 2 * with_bias + 4 * with_relu, len(kinds)),
        ]
        return Launch(
            _kernel(x.dtype, with_bias).calling(parts),
            tuple(params),
            x.shape[0] * high.out,
            row_tile,
            panels,
            col_tile,
            BLOCK * len(kinds) + BYTES[x.dtype] * lines * wide.padded * c + 64,
            operations=_operations(x.shape[0], both, c * f),
            # Not yet one: a pass may ask for the same launch with a bias and a relu.
            epilogue=None if bias is not None or relu else launch,
            bias=with_bias,
            relu=with_relu,
        )

    inputs = [x, packed, b.constant(table)] + ([] if bias is None else [bias])
    output = (x.shape[0], high.out, wide.out, f), x.dtype
    (out,) = b.launch(launch(bias is not None, relu), inputs, [output], role)
    return out


def _kernel(dtype: str, with_bias: bool) -> LibraryKernel:
    return specialise(
        "conv2d",
        conv_kernels.convolution,
        DTYPE=dtype,
        BIAS_AT=3 if with_bias else 1,
        OUT_AT=3 + with_bias,
        FIRST=4 + with_bias,
    )


def _strided_kernel(dtype: str) -> LibraryKernel:
    entry = conv_kernels.strided_gradient
    return specialise("conv2d_input_gradient", entry, DTYPE=dtype, FIRST=3)


def _pack_kernel(dtype: str) -> LibraryKernel:
    return specialise("pack_filter", conv_kernels.pack_filter, LANES=vectors(dtype).lanes)


def _operations(images: AnySize, both: tuple[Axis, Axis], channels: int) -> AnySize:
    """Multiplications and additions: every tap of every window, for pairs of channels."""
    high, wide = both
    return 2 * images * high.out * wide.out * (high.window * wide.window * channels)


def _work_tiles(oh: AnySize, ow: AnySize, per_pixel: int, panels: int) -> tuple[AnySize, int, int]:
    """Output lines and panels per tile, and the most lines of one image padded at a time."""
    if not isinstance(ow, int) or not isinstance(oh, int):
        return 8, panels, 8  # a plan knows no sizes, and the cut must not depend on a run
    line = max(1, ow * per_pixel)
    # Small images: several in one tile.
    if line * oh < _WORK:
        return max(1, oh) * max(1, _WORK // max(1, line * oh)), panels, max(1, oh)
    # At least four lines, as padding copies those that neighbours share; and tiles of like height.
    lines = max(1, min(oh, _WORK // line))
    lines = max(min(oh, 4), -(-oh // -(-oh // lines)))
    col_tile = max(1, min(panels, -(-panels * _WORK // (line * lines))))
    return lines, col_tile, lines
