# SPDX-License-Identifier: Apache-2.0
"""2-D convolution and its gradients as register tiles over padded lines of the input.

A tile copies the lines that it needs, with zeros around them, into scratch memory; then every
window is a few contiguous runs, and no patches are materialised.  Filters are packed once per call
into panels of whole vectors.  The input gradient is a convolution with flipped, transposed filters,
taken phase by phase when strided.  The filter gradient sums fixed chunks of images, then the chunks
in order.  NCHW goes through a transpose on both sides.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ..sizes import AnySize, ceil_div
from . import conv_text, pooled
from .geometry import Axis, Padding, axes
from .kernel import LibraryKernel, edge, specialise
from .matmul import matmul
from .maxima import TakesUnpooled, Windows
from .vectors import BYTES, vectors

_BLOCK = 320  # reduction steps per block, so that a block's panel rows stay in the first cache
_WORK = 1 << 22  # multiply-adds that make a worthwhile tile


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
    if x.dtype not in BYTES or not _static(w.shape):
        return NotImplemented
    if data_format == "NCHW":
        x = b.transpose(x, (0, 2, 3, 1))
    if int(x.shape[3]) != w.shape[2]:
        return NotImplemented
    both = axes(x.shape[1:3], w.shape[:2], strides, padding, dilations, data_format)
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
    if dy.dtype not in BYTES or not _static(w.shape):
        return NotImplemented
    shape = list(input_shape)
    if data_format == "NCHW":
        dy = b.transpose(dy, (0, 2, 3, 1))
        shape = [shape[i] for i in (0, 2, 3, 1)]
    if int(shape[3]) != w.shape[2]:
        return NotImplemented
    both = axes(shape[1:3], w.shape[:2], strides, padding, dilations, data_format)
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
    if x.dtype not in BYTES or not _static(filter_shape):
        return NotImplemented
    if data_format == "NCHW":
        x, dy = b.transpose(x, (0, 2, 3, 1)), b.transpose(dy, (0, 2, 3, 1))
    if int(x.shape[3]) != filter_shape[2]:
        return NotImplemented
    kernel = [int(n) for n in filter_shape[:2]]
    both = axes(x.shape[1:3], kernel, strides, padding, dilations, data_format)
    return _filter_gradient(b, x, [int(n) for n in filter_shape], dy, both)


def _static(shape: Sequence[AnySize]) -> bool:
    return all(isinstance(size, int) and size > 0 for size in shape)


def _is_product(both: Sequence[Axis]) -> bool:
    """A 1x1 window on every pixel is a matrix product."""
    return all(
        a.window == 1 and a.stride == 1 and isinstance(a.before, int) and a.before == 0
        for a in both
    ) and all(a.out is a.size or str(a.out) == str(a.size) for a in both)


def _convolve(b: Any, x: Any, w: Any, both: tuple[Axis, Axis], bias: Any, relu: bool) -> Any:
    kh, kw, c, f = w.shape
    if _is_product(both) and bias is None and not relu:
        n, h, width, _ = x.shape
        flat = matmul(b, b.reshape(x, (n * h * width, c)), b.reshape(w, (c, f)))
        return b.reshape(flat, (n, h, width, f))
    taps = tuple(tap * c * f for tap in range(kh * kw))
    tile = _Tile.choose(x.dtype, f, both[1].out)
    packed = _pack(b, w, tile, (c, f), taps, (f, 1))
    return _windows(b, x, packed, both, (kh, kw, c, f), tile, bias, relu)


def _convolve_back(
    b: Any, shape: Sequence[AnySize], w: Any, dy: Any, both: tuple[Axis, Axis]
) -> Any:
    kh, kw, c, f = w.shape
    if _is_product(both):
        n, h, width, _ = shape
        flat = matmul(b, b.reshape(dy, (n * h * width, f)), b.reshape(w, (c, f)), False, True)
        return b.reshape(flat, (n, h, width, c))

    def from_maxima(b: Any, pooled_dy: Any, places: Any, windows: Windows) -> Any:
        return pooled.input_gradient(b, shape, w, pooled_dy, places, both, windows)

    role = TakesUnpooled(0, from_maxima)
    if (both[0].stride, both[1].stride) != (1, 1):
        return _strided_back(b, shape, w, dy, both, role)
    # The flipped filter: last tap first; input and output channels change places.
    taps = tuple(tap * c * f for tap in reversed(range(kh * kw)))
    back = [Axis(a.out, a.window, 1, a.dilation, a.reach - 1 - a.before, a.size) for a in both]
    tile = _Tile.choose(dy.dtype, c, shape[2])
    packed = _pack(b, w, tile, (f, c), taps, (1, f))
    return _windows(b, dy, packed, (back[0], back[1]), (kh, kw, f, c), tile, None, False, role)


def _strided_back(
    b: Any, shape: Sequence[AnySize], w: Any, dy: Any, both: tuple[Axis, Axis], role: TakesUnpooled
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
    tile = _Tile.choose(dy.dtype, c, cols)
    packed = _pack(b, w, tile, (f, c), taps, (1, f))
    tall, broad = -(-kh // high.stride), -(-kw // wide.stride)
    row_tile, col_tile, highest = _work_tiles(lines, cols, kh * kw * c * f, tile.panels(c))
    run = broad * f
    kernel = specialise(
        "conv2d_input_gradient",
        edge(conv_text.PAD_LINES + conv_text.STRIDED_GRADIENT, c % tile.panel != 0, "width"),
        SH=high.stride, SW=wide.stride, KH=kh, KW=kw, C=f, F=c, HIGH=tall, WIDE=broad,
        RUN_BLOCK=-(-run // -(-run // _BLOCK)), SEGMENT_BLOCK=max(1, _BLOCK // run),
        HIGHEST=highest, **tile.facts(),
    )  # fmt: skip
    scratch = BYTES[dy.dtype] * (highest + tall - 1) * (cols + broad - 1) * f
    (out,) = b.call(
        kernel, [dy, packed], [(tuple(shape), dy.dtype)],
        [high.size, wide.size, high.out, wide.out, high.before, wide.before, lines, cols],
        shape[0] * lines, row_tile, tile.panels(c), col_tile, scratch + 64,
        operations=_operations(shape[0], both, c * f), role=role,
    )  # fmt: skip
    return out


@dataclass(frozen=True)
class _Tile:
    """A register tile: rows and vectors of it, and the rows left over at the end of a line."""

    dtype: str
    pixels: int
    vectors: int
    rest: int

    @staticmethod
    def choose(dtype: str, features: int, length: AnySize) -> _Tile:
        """The tile with the fewest cycles for lines of `length` rows (`rest` is 0 if unknown).

        A core does two multiply-adds and two loads per cycle, and needs four cycles from one step
        of the reduction to the next.
        """
        lanes, registers = vectors(dtype)
        known = length if isinstance(length, int) else 0
        best: tuple[float, int, int] | None = None
        for count in (1, 2, 3, 4):
            panels = -(-features // (lanes * count))
            tallest = min((registers - 1 - count) // count, 28)
            for tall in range(1, min(tallest, known or tallest) + 1):
                line = known or 6 * tall
                each = line // tall * _cycles(tall, count) + _cycles(line % tall, count)
                cost = panels * each / line
                if best is None or cost < best[0]:
                    best = (cost, tall, count)
        assert best is not None  # every target holds at least one accumulator
        return _Tile(dtype, best[1], best[2], known % best[1])

    @property
    def panel(self) -> int:
        """Features per tile."""
        return self.vectors * vectors(self.dtype).lanes

    def panels(self, features: int) -> int:
        """Tiles for so many features."""
        return -(-features // self.panel)

    def facts(self) -> dict[str, Any]:
        """The constants that texts use for a tile."""
        return {
            "DTYPE": self.dtype, "BYTES": BYTES[self.dtype], "PIXELS": self.pixels,
            "VECTORS": self.vectors, "LANES": vectors(self.dtype).lanes, "PANEL": self.panel,
        }  # fmt: skip


def _cycles(tall: int, count: int) -> float:
    return max(tall * count / 2, (tall + count) / 2, 4.0) + 0.4 if tall else 0.0


def _pack(
    b: Any,
    w: Any,
    tile: _Tile,
    sizes: tuple[int, int],
    taps: tuple[int, ...],
    steps: tuple[int, int],
) -> Any:
    """Filters as panels: `sizes` and `steps` are those of reduced channels and of features."""
    c, f = sizes
    kernel = specialise(
        "pack_filter", conv_text.PACK_FILTER, TAPS=taps, C=c, F=f, STEP_C=steps[0],
        STEP_F=steps[1], WIDTH=BYTES[w.dtype], **tile.facts(),
    )  # fmt: skip
    panels = tile.panels(f)
    taps_tile = max(1, (1 << 14) // (c * tile.panel))
    outputs = [((panels, len(taps), c, tile.panel), w.dtype)]
    (packed,) = b.call(kernel, [w], outputs, [], len(taps), taps_tile, panels, 1)
    return packed


def _windows(
    b: Any, x: Any, packed: Any, both: tuple[Axis, Axis], sizes: tuple[int, int, int, int],
    tile: _Tile, bias: Any, relu: bool, role: TakesUnpooled | None = None,
) -> Any:  # fmt: skip
    """Slides packed filters over x."""
    kh, kw, c, f = sizes
    high, wide = both
    dense = wide.dilation == 1
    run, segments, outer = (kw * c, kh, 1) if dense else (c, kw, kh)
    text = edge(conv_text.PAD_LINES + conv_text.FORWARD, f % tile.panel != 0, "width")
    segment = f"({high.dilation} * line)" if dense else str(wide.dilation * c)
    panels = tile.panels(f)
    row_tile, col_tile, highest = _work_tiles(high.out, wide.out, kh * kw * c * f, panels)
    known = isinstance(wide.out, int)

    def kernel(with_bias: bool, with_relu: bool) -> LibraryKernel:
        return specialise(
            "conv2d", text.replace("SEGMENT_X", segment), C=c, F=f, KH=kh, KW=kw, SH=high.stride,
            SW=wide.stride, DH=high.dilation, DW=wide.dilation, REST=tile.rest if known else 4,
            ONES=not known, RUN=run, RUN_BLOCK=-(-run // -(-run // _BLOCK)), SEGMENTS=segments,
            SEGMENT_BLOCK=max(1, min(segments, _BLOCK // run)), OUTER=outer,
            EPILOGUE=2 * with_bias + 4 * with_relu, BIAS_AT=1 + with_bias, OUT_AT=2 + with_bias,
            HIGHEST=highest, **tile.facts(),
        )  # fmt: skip

    lines = (highest - 1) * high.stride + high.reach
    (out,) = b.call(
        kernel(bias is not None, relu), [x, packed] if bias is None else [x, packed, bias],
        [((x.shape[0], high.out, wide.out, f), x.dtype)],
        [high.size, wide.size, high.out, wide.out, high.before, wide.before],
        x.shape[0] * high.out, row_tile, panels, col_tile,
        BYTES[x.dtype] * lines * wide.padded * c + 64,
        absorbs=None if bias is not None or relu else kernel, role=role,
        operations=_operations(x.shape[0], both, c * f),
    )  # fmt: skip
    return out


def _operations(images: AnySize, both: tuple[Axis, Axis], channels: int) -> AnySize:
    """Multiplications and additions: every tap of every window, for pairs of channels."""
    high, wide = both
    return 2 * images * high.out * wide.out * (high.window * wide.window * channels)


def _work_tiles(oh: AnySize, ow: AnySize, per_pixel: int, panels: int) -> tuple[AnySize, int, int]:
    """Output lines and panels per tile, and the most lines of one image padded at a time."""
    if not isinstance(ow, int) or not isinstance(oh, int):
        return 8, panels, 8
    line = max(1, ow * per_pixel)
    if line * oh < _WORK:
        return max(1, oh) * max(1, _WORK // max(1, line * oh)), panels, max(1, oh)
    lines = max(1, min(oh, _WORK // line))
    lines = max(min(oh, 4), -(-oh // -(-oh // lines)))
    col_tile = max(1, min(panels, -(-panels * _WORK // (line * lines))))
    return lines, col_tile, lines


def _filter_gradient(b: Any, x: Any, shape: Sequence[int], dy: Any, both: tuple[Axis, Axis]) -> Any:
    kh, kw, c, f = shape
    high, wide = both
    dense = wide.dilation == 1
    run = kw * c if dense else c
    tile = _Tile.choose(x.dtype, f, run)
    size = BYTES[x.dtype]
    lines = _gradient_lines(high, wide, c, tile.panel * size, size)
    kernel = specialise(
        "conv2d_filter_gradient",
        edge(conv_text.PAD_LINES + conv_text.FILTER_GRADIENT, f % tile.panel != 0, "width"),
        C=c, F=f, KH=kh, KW=kw, SH=high.stride, SW=wide.stride, DH=high.dilation, DW=wide.dilation,
        REST=tile.rest, RUN=run, OUTER=kh, INNER=1 if dense else kw, LINES=lines, **tile.facts(),
    )  # fmt: skip

    def from_maxima(b: Any, pooled_dy: Any, places: Any, windows: Windows) -> Any:
        return pooled.filter_gradient(b, x, shape, pooled_dy, places, both, windows)

    n = x.shape[0]
    images = pooled.images_per_chunk(n, both, size * kh * kw * c * f)
    chunks = ceil_div(n, images)
    scratch = size * ((lines - 1) * high.stride + high.reach) * wide.padded * c
    (partial,) = b.call(
        kernel, [x, dy], [((chunks, kh, kw, c, f), x.dtype)],
        [n, high.size, wide.size, high.out, wide.out, high.before, wide.before, images],
        chunks, 1, tile.panels(f), 1, scratch + 64,
        operations=_operations(n, both, c * f), role=TakesUnpooled(1, from_maxima),
    )  # fmt: skip
    return b.reduce("sum", partial, (0,))


def _gradient_lines(high: Axis, wide: Axis, c: int, panel_bytes: int, size: int) -> int:
    """Output lines whose input and gradient together fit two thirds of the first cache."""
    if not isinstance(wide.out, int) or not isinstance(high.out, int):
        return 4
    halo = max(0, high.reach - high.stride) * wide.padded * c * size
    line = high.stride * wide.padded * c * size + wide.out * panel_bytes
    return max(1, min(high.out, max(4, (32768 - halo) // line)))
