# SPDX-License-Identifier: Apache-2.0
"""Gradients of a convolution whose result goes into max pooling, from what pooling remembers.

Of every pooling window one element at most has a gradient, so that most of the gradient of the
convolution's result is zero.  Instead of that tensor the kernels here take the gradient of the
pooled one and the places of the maxima, and visit, feature by feature, only what is not zero.
NHWC, sizes of images known; others are left to jit/library/conv.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ..kernel.sizes import AnySize, ceil_div, maximum, minimum
from . import conv_grad_pooled_kernels
from .geometry import Axis
from .max_pool_argmax import Windows
from .template import specialise
from .vectors import BYTES, vectors

_WORK = 1 << 20  # multiply-adds that make a worthwhile tile
_ENTRIES = 48  # windows that make a worthwhile list
_CHUNKS = 16  # partial filter gradients at most
_PIXELS = 512  # pixels that make a worthwhile partial filter gradient
_PACKED = 1 << 14  # elements that make a worthwhile tile of packing
_PARTIAL_BYTES = 1 << 22  # bytes of all partial filter gradients, about


def filter_gradient(
    b: Any, x: Any, shape: Sequence[int], dy: Any, places: Any, conv: tuple[Axis, Axis],
    windows: Windows,
) -> Any:  # fmt: skip
    """Partial gradients, [chunks, *shape], of the filters; or NotImplemented."""
    facts = _facts(x.dtype, shape, conv, windows)
    if facts is None:
        return NotImplemented
    kh, kw, c, f = shape
    last = (facts["BAND"] - 1) * facts["PSH"] + facts["PH"] - 1
    facts = _with_memory(facts, last * conv[0].stride + kh)
    kernel = specialise("pooled_filter_gradient", conv_grad_pooled_kernels.filter_gradient, **facts)
    n, size, blocks = x.shape[0], BYTES[x.dtype] * kh * kw * c * f, c // facts["BLOCK"]
    images = images_per_chunk(n, conv, size)
    chunks = ceil_div(n, images)
    col_tile = _columns(chunks, blocks)
    (partial,) = b.call(
        kernel, [x, dy, places], [((chunks, *shape), x.dtype)], [n, images], chunks, 1, blocks,
        col_tile, facts["SUMS"] + size // blocks * col_tile + 64,
        operations=_operations(n, facts),
    )  # fmt: skip
    return partial


def input_gradient(
    b: Any, shape: Sequence[AnySize], w: Any, dy: Any, places: Any, conv: tuple[Axis, Axis],
    windows: Windows,
) -> Any:  # fmt: skip
    """The gradient of a convolution's input, of the given shape; or NotImplemented."""
    facts = _facts(dy.dtype, w.shape, conv, windows)
    if facts is None:
        return NotImplemented
    kh, kw, c, f = w.shape
    facts = _with_memory(facts, (int(conv[0].out) - 1) * conv[0].stride + kh)
    block, n = facts["BLOCK"], shape[0]
    blocks = c // block
    pack = specialise("pack_by_feature", conv_grad_pooled_kernels.pack_by_feature, **facts)
    (packed,) = b.call(
        pack, [w], [((blocks, f, kh * kw, block), dy.dtype)], [], kh * kw,
        max(1, _PACKED // (c * f)), blocks, 1,
    )  # fmt: skip
    kernel = specialise("pooled_input_gradient", conv_grad_pooled_kernels.input_gradient, **facts)
    work = facts["PHO"] * facts["PWO"] * kh * kw * c * f
    (out,) = b.call(
        kernel, [dy, places, packed], [(tuple(shape), dy.dtype)], [], n, max(1, _WORK // work),
        blocks, _columns(n, blocks), facts["SUMS"] + 64,
        operations=_operations(n, facts),
    )  # fmt: skip
    return out


def _operations(images: AnySize, facts: dict[str, Any]) -> AnySize:
    """Multiplications and additions if no gradient is zero."""
    taps = facts["KH"] * facts["KW"] * facts["C"]
    return 2 * images * (facts["PHO"] * facts["PWO"] * facts["F"] * taps)


def images_per_chunk(n: AnySize, conv: tuple[Axis, Axis], size: int) -> AnySize:
    """How many images' gradients make one partial gradient of a filter of `size` bytes."""
    pixels = maximum(conv[0].out * conv[1].out, 1)
    fewest = maximum(ceil_div(n, _CHUNKS), ceil_div(n * size, _PARTIAL_BYTES))
    return maximum(minimum(maximum(fewest, ceil_div(_PIXELS, pixels)), n), 1)


def _columns(rows: AnySize, blocks: int) -> AnySize:
    """Blocks of channels per tile: few only where there are few rows."""
    return minimum(blocks, maximum(ceil_div(rows * blocks, 16), 1))


@dataclass(frozen=True)
class _Blocks:
    """Channels in blocks, whose taps make rows of whole vectors; so many rows fit registers."""

    size: int
    vectors: int
    rows: int

    @staticmethod
    def choose(dtype: str, kh: int, kw: int, channels: int) -> _Blocks | None:
        """The largest block of which all taps fit registers, else the smallest with one row."""
        lanes, registers = vectors(dtype)
        most = registers - 4
        sizes = [k for k in range(lanes, channels + 1, lanes) if channels % k == 0]
        fits = [k for k in sizes if kw * k // lanes <= most]
        if not fits:
            return None
        size = max((k for k in fits if kh * kw * k // lanes <= most), default=fits[0])
        row = kw * size // lanes
        return _Blocks(size, row, -(-kh // -(-kh // (most // row))))


def _facts(
    dtype: str, shape: Sequence[int], conv: tuple[Axis, Axis], windows: Windows
) -> dict[str, Any] | None:
    """The constants of the texts but for those of scratch memory; None where nothing is gained."""
    (kh, kw, c, f), (high, wide), (down, across) = shape, conv, windows
    axes = (high, wide, down, across)
    known = all(isinstance(n, int) for axis in axes for n in (axis.size, axis.before, axis.out))
    if not known or (high.dilation, wide.dilation) != (1, 1) or down.stride * across.stride < 3:
        return None
    blocks = _Blocks.choose(dtype, kh, kw, c)
    if blocks is None or int(high.before) < 0 or int(wide.before) < 0:
        return None
    line = ((int(wide.out) - 1) * wide.stride + kw) * blocks.size
    band = -(-int(down.out) // max(1, int(down.out) * int(across.out) // _ENTRIES))
    copied = min(int(wide.size), line // blocks.size - int(wide.before))
    return dict(
        DTYPE=dtype, LANES=vectors(dtype).lanes, VECTORS=blocks.vectors,
        ROWS=blocks.rows, REST=kh % blocks.rows, BLOCK=blocks.size, C=c, F=f, KH=kh, KW=kw,
        SH=high.stride, SW=wide.stride, H=high.size, W=wide.size, TOP=high.before,
        LEFT=wide.before, COPIED=max(0, copied), LINE=line, PH=down.window, PW=across.window,
        PSH=down.stride, PSW=across.stride, PHO=down.out, PWO=across.out, PTOP=down.before,
        PLEFT=across.before, BAND=band, BANDS=-(-int(down.out) // band),
        MOST=band * int(across.out),
    )  # fmt: skip


def _with_memory(facts: dict[str, Any], lines: int) -> dict[str, Any]:
    """Adds where the parts of scratch memory are, with so many padded lines; SUMS ends them."""
    lists, size = facts["BANDS"] * facts["F"], BYTES[facts["DTYPE"]]
    parts = {
        "VALUES": 4 * facts["PH"] * facts["PW"],  # where places lie comes before the values
        "OFFSETS": size * lists * facts["MOST"],
        "COUNTS": 4 * lists * facts["MOST"],
        "PADDED": 8 * lists,
        "SUMS": size * lines * facts["LINE"],
    }
    result, place = {**facts, "LINES": lines}, 0
    for name, count in parts.items():
        place += -(-count // 64) * 64
        result[name] = place
    return result
