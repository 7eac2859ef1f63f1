# SPDX-License-Identifier: Apache-2.0
"""2-D convolution and its gradients as register tiles over padded lines of the input.

A tile copies the lines that it needs, with zeros around them, into scratch memory; then every
window is a few contiguous runs, and no patches are materialised.  Filters are packed once per call
into panels of whole vectors.  The input gradient is a convolution with flipped, transposed
filters.  The filter gradient sums fixed chunks of images, then the chunks in order.
NCHW goes through a transpose on both sides.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..sizes import AnySize, ceil_div, maximum, minimum
from . import conv_text
from .geometry import Axis, Padding, axes
from .kernel import edge, specialise
from .matmul import matmul
from .vectors import BYTES, vectors

_BLOCK = 320  # reduction steps per block, so that a block's panel rows stay in the first cache
_WORK = 1 << 22  # multiply-adds that make a worthwhile tile
_CHUNK = 1024  # output pixels that make a worthwhile partial filter gradient


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
    both = axes(x.shape[1:3], filter_shape[:2], strides, padding, dilations, data_format)
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
    steps = (kw * c * f, c * f, f, 1)
    return _windows(b, x, w, both, (kh, kw, c, f), steps, 0, 1, bias, relu)


def _convolve_back(
    b: Any, shape: Sequence[AnySize], w: Any, dy: Any, both: tuple[Axis, Axis]
) -> Any:
    kh, kw, c, f = w.shape
    if _is_product(both):
        n, h, width, _ = shape
        flat = matmul(b, b.reshape(dy, (n * h * width, f)), b.reshape(w, (c, f)), False, True)
        return b.reshape(flat, (n, h, width, c))
    # The flipped filter: last tap first; input and output channels change places.
    steps = (-kw * c * f, -c * f, 1, f)
    origin = ((kh - 1) * kw + kw - 1) * c * f
    if both[0].stride != both[1].stride:
        return NotImplemented
    insert = both[0].stride
    back = tuple(Axis(a.out, a.window, 1, a.dilation, a.reach - 1 - a.before, a.size) for a in both)
    return _windows(
        b, dy, w, (back[0], back[1]), (kh, kw, f, c), steps, origin, insert, None, False
    )


def _tile_shape(dtype: str, features: int, pixels: AnySize) -> tuple[int, int, int]:
    """Pixels and vectors of a tile and the pixels left over at the end of a line (0: unknown).

    Chosen by a count of cycles: two multiply-adds and two loads per cycle, and at least four
    cycles from one step to the next.
    """
    lanes, registers = vectors(dtype)
    best: tuple[float, int, int, int] | None = None
    for count in (1, 2, 3, 4):
        panels = -(-features // (lanes * count))
        tallest = min((registers - 1 - count) // count, 28)
        for tall in range(min(2, tallest), tallest + 1):
            length = pixels if isinstance(pixels, int) else 7 * tallest
            if tall > max(length, 1):
                continue
            rest = length % tall
            cycles = panels * (length // tall * _cycles(tall, count) + _cycles(rest, count))
            if best is None or cycles < best[0]:
                best = (cycles, tall, count, rest)
    if best is None:
        return 1, 1, 0
    return best[1:]


def _cycles(tall: int, count: int) -> float:
    return max(tall * count / 2, (tall + count) / 2, 4.0) + 0.4 if tall else 0.0


def _windows(
    b: Any,
    x: Any,
    w: Any,
    both: tuple[Axis, Axis],
    sizes: tuple[int, int, int, int],
    steps: tuple[int, int, int, int],
    origin: int,
    insert: int,
    bias: Any,
    relu: bool,
) -> Any:
    """Packs filters (a view of w given by steps and origin), then runs the windows."""
    kh, kw, c, f = sizes
    high, wide = both
    dtype, size = x.dtype, BYTES[x.dtype]
    lanes = vectors(dtype).lanes
    tall, count, rest = _tile_shape(dtype, f, wide.out)
    panel = lanes * count
    panels = -(-f // panel)
    common = {"DTYPE": dtype, "BYTES": size, "C": c, "F": f, "KH": kh, "KW": kw, "PANEL": panel,
              "LANES": lanes}  # fmt: skip
    pack = specialise(
        "pack_filter", conv_text.PACK_FILTER, WIDTH=size, ORIGIN=origin, STEP_I=steps[0],
        STEP_J=steps[1], STEP_C=steps[2], STEP_F=steps[3], **common,
    )  # fmt: skip
    taps_tile = max(1, (1 << 14) // (c * panel))
    (packed,) = b.call(
        pack, [w], [((panels, kh * kw, c, panel), dtype)], [], kh * kw, taps_tile, panels, 1
    )
    static_wide = isinstance(wide.out, int)
    dense = wide.dilation == 1
    run, segments, outer = (kw * c, kh, 1) if dense else (c, kw, kh)
    blocks = -(-run // _BLOCK)
    text = edge(conv_text.PAD_LINES + conv_text.FORWARD, f % panel != 0, "width")
    segment = f"({high.dilation} * line)" if dense else str(wide.dilation * c)
    row_tile, col_tile, highest = _work_tiles(high.out, wide.out, kh * kw * c * f, panels)
    kernel = specialise(
        "conv2d", text.replace("SEGMENT_X", segment), SH=high.stride, SW=wide.stride,
        DH=high.dilation, DW=wide.dilation, INSERT=insert, PIXELS=tall, VECTORS=count,
        REST=rest if static_wide else 4, ONES=not static_wide, RUN=run, RUN_BLOCK=-(-run // blocks),
        SEGMENTS=segments, SEGMENT_BLOCK=max(1, min(segments, _BLOCK // run)), OUTER=outer,
        EPILOGUE=2 * (bias is not None) + 4 * relu, BIAS_AT=1 if bias is None else 2,
        OUT_AT=2 if bias is None else 3, HIGHEST=highest, **common,
    )  # fmt: skip
    n = x.shape[0]
    scratch = size * ((highest - 1) * high.stride + high.reach) * wide.padded * c
    (out,) = b.call(
        kernel, [x, packed] if bias is None else [x, packed, bias],
        [((n, high.out, wide.out, f), dtype)],
        [high.size, wide.size, high.out, wide.out, high.before, wide.before],
        n * high.out, row_tile, panels, col_tile, scratch + 64,
    )  # fmt: skip
    return out


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
    dtype, size = x.dtype, BYTES[x.dtype]
    lanes = vectors(dtype).lanes
    dense = wide.dilation == 1
    run = kw * c if dense else c
    tall, count, rest = _tile_shape(dtype, f, run)
    panel = lanes * count
    panels = -(-f // panel)
    lines = _gradient_lines(high, wide, c, panel * size, size)
    kernel = specialise(
        "conv2d_filter_gradient",
        edge(conv_text.PAD_LINES + conv_text.FILTER_GRADIENT, f % panel != 0, "width"),
        DTYPE=dtype, BYTES=size, C=c, F=f, KH=kh, KW=kw, PANEL=panel, LANES=lanes, INSERT=1,
        SH=high.stride, SW=wide.stride, DH=high.dilation, DW=wide.dilation, PIXELS=tall, REST=rest,
        VECTORS=count, RUN=run, OUTER=kh, INNER=1 if dense else kw, LINES=lines,
    )  # fmt: skip
    n = x.shape[0]
    pixels = maximum(high.out * wide.out, 1)
    images = maximum(maximum(ceil_div(_CHUNK, pixels), -(-(kh * kw * c * f) >> 16)), 1)
    chunks = ceil_div(n, images)
    scratch = size * ((lines - 1) * high.stride + high.reach) * wide.padded * c
    (partial,) = b.call(
        kernel, [x, dy], [((chunks, kh, kw, c, f), dtype)],
        [n, high.size, wide.size, high.out, wide.out, high.before, wide.before, images],
        chunks, 1, panels, 1, scratch + 64,
    )  # fmt: skip
    return b.reduce("sum", partial, (0,))


def _gradient_lines(high: Axis, wide: Axis, c: int, panel_bytes: int, size: int) -> int:
    """Output lines whose input and gradient together fit two thirds of the first cache."""
    if not isinstance(wide.out, int) or not isinstance(high.out, int):
        return 4
    halo = max(0, high.reach - high.stride) * wide.padded * c * size
    line = high.stride * wide.padded * c * size + wide.out * panel_bytes
    return max(1, min(high.out, max(4, (32768 - halo) // line)))


__all__ = ["conv2d", "conv2d_filter_gradient", "conv2d_input_gradient", "minimum"]
