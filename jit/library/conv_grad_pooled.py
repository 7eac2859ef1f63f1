# SPDX-License-Identifier: Apache-2.0
"""Gradients of a convolution whose result goes into max pooling, from what pooling remembers.

Of every pooling window one element at most has a gradient, so that most of the gradient of the
convolution's result is zero.  Instead of that tensor the kernels here take the gradient of the
pooled one and the places of the maxima, and visit, feature by feature, only what is not zero.
NHWC, sizes of images known; others are left to jit/library/conv.py.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from ..kernel.sizes import AnySize, ceil_div, maximum, minimum
from . import conv_grad_pooled_kernels, list_tile_kernels
from .geometry import Axis
from .library_kernel import LibraryKernel
from .max_pool_argmax import Windows
from .template import specialise
from .vectors import BYTES, vectors

_WORK = 1 << 20  # multiply-adds that make a worthwhile tile
_ENTRIES = 48  # windows that make a worthwhile list
_CHUNKS = 16  # partial filter gradients at most
_PIXELS = 512  # pixels that make a worthwhile partial filter gradient
_PACKED = 1 << 14  # elements that make a worthwhile tile of packing
_WIDEST = 14  # vectors of a window's line: wider blocks leave the first cache
_PARTIAL_BYTES = 1 << 22  # bytes of all partial filter gradients, about


def filter_gradient(
    b: Any,
    x: Any,
    shape: Sequence[int],
    dy: Any,
    places: Any,
    conv: tuple[Axis, Axis],
    windows: Windows,
) -> Any:
    """Partial gradients, [chunks, *shape], of the filters; or NotImplemented."""
    facts = _facts(x.dtype, shape, conv, windows)
    if facts is None:
        return NotImplemented
    kh, kw, c, f = shape
    last = (facts["BAND"] - 1) * facts["PSH"] + facts["PH"] - 1
    facts = _with_memory(x.dtype, facts, last * conv[0].stride + kh)
    n, size, blocks = x.shape[0], BYTES[x.dtype] * kh * kw * c * f, c // facts["BLOCK"]
    images = images_per_chunk(n, conv, size)
    chunks = ceil_div(n, images)
    col_tile = _columns(chunks, blocks)
    table, parts = _pieces(x.dtype, True, facts)
    facts["PIECES"] = len(table)
    (partial,) = b.call(
        filter_kernel(x.dtype).calling(parts),
        [x, dy, places, b.constant(table)],
        [((chunks, *shape), x.dtype)],
        [*_parameters(facts), n, images],
        chunks,
        1,
        blocks,
        col_tile,
        facts["SUMS"] + size // blocks * col_tile + 64,
        operations=_operations(n, facts),
    )
    return partial


def input_gradient(
    b: Any,
    shape: Sequence[AnySize],
    w: Any,
    dy: Any,
    places: Any,
    conv: tuple[Axis, Axis],
    windows: Windows,
) -> Any:
    """The gradient of a convolution's input, of the given shape; or NotImplemented."""
    facts = _facts(dy.dtype, w.shape, conv, windows)
    if facts is None:
        return NotImplemented
    kh, kw, c, f = w.shape
    facts = _with_memory(dy.dtype, facts, (int(conv[0].out) - 1) * conv[0].stride + kh)
    block, n = facts["BLOCK"], shape[0]
    blocks = c // block
    (packed,) = b.call(
        pack_kernel(dy.dtype),
        [w],
        [((blocks, f, kh * kw, block), dy.dtype)],
        [kh * kw, c, f, block],
        kh * kw,
        max(1, _PACKED // (c * f)),
        blocks,
        1,
    )
    table, parts = _pieces(dy.dtype, False, facts)
    facts["PIECES"] = len(table)
    work = facts["PHO"] * facts["PWO"] * kh * kw * c * f
    (out,) = b.call(
        input_kernel(dy.dtype).calling(parts),
        [dy, places, packed, b.constant(table)],
        [(tuple(shape), dy.dtype)],
        _parameters(facts),
        n,
        max(1, _WORK // work),
        blocks,
        _columns(n, blocks),
        facts["SUMS"] + 64,
        operations=_operations(n, facts),
    )
    return out


def _operations(images: AnySize, facts: dict[str, int]) -> AnySize:
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


# Lines and vectors of tiles, for the common windows; and one line of each width.
_SHAPES = (3, 9), (3, 6), (5, 5), (2, 4), (3, 3), (2, 2), (1, 1)


def _tiles(dtype: str) -> tuple[tuple[int, int], ...]:
    """The tiles whose sums fit into registers."""
    most = vectors(dtype).registers - 4
    return tuple((max(1, min(rows, most // width)), width) for rows, width in _SHAPES)


def _cut(dtype: str, lines: int, width: int) -> Iterator[tuple[int, int, tuple[int, int]]]:
    """The tiles of a window, whose lines are so many vectors: where each begins, and its shape."""
    first = 0
    for rows, wide in _tiles(dtype):
        while first + wide <= width:
            line = 0
            while line < lines:
                tall = rows if line + rows <= lines else 1
                yield line, first, (tall, wide)
                line += tall
            first += wide


def _block(dtype: str, kh: int, kw: int, channels: int) -> int:
    """The channels of a block: as many as make fewest tiles, and no more than do."""
    lanes = vectors(dtype).lanes
    widest = max(lanes, _WIDEST // kw * lanes)

    def count(size: int) -> tuple[int, int]:
        return sum(1 for _ in _cut(dtype, kh, kw * size // lanes)) * (channels // size), size

    return min((s for s in range(lanes, widest + 1, lanes) if channels % s == 0), key=count)


def _pieces(
    dtype: str, gathers: bool, facts: dict[str, int]
) -> tuple[np.ndarray, list[LibraryKernel]]:
    """The tiles of a window as kernels read them, and the kernels of tiles that they name."""
    lanes = vectors(dtype).lanes
    cut = list(_cut(dtype, facts["KH"], facts["KW"] * facts["BLOCK"] // lanes))
    shapes = list(dict.fromkeys(shape for _, _, shape in cut))
    table = [(line, first * lanes, shapes.index(shape)) for line, first, shape in cut]
    return np.array(table, np.int64), [_tile_kernel(dtype, gathers, shape) for shape in shapes]


def _tile_kernel(dtype: str, gathers: bool, shape: tuple[int, int]) -> LibraryKernel:
    name, entry = "gather_tiles" if gathers else "scatter_tiles", list_tile_kernels.tiles
    made = specialise(
        name,
        entry,
        DTYPE=dtype,
        GATHERS=gathers,
        LANES=vectors(dtype).lanes,
        ROWS=shape[0],
        VECTORS=shape[1],
    )
    return made.over(())


def filter_kernel(dtype: str) -> LibraryKernel:
    """The kernel of gradients of filters."""
    return _kernel("pooled_filter_gradient", conv_grad_pooled_kernels.filter_gradient, dtype)


def input_kernel(dtype: str) -> LibraryKernel:
    """The kernel of gradients of inputs."""
    return _kernel("pooled_input_gradient", conv_grad_pooled_kernels.input_gradient, dtype)


def _kernel(name: str, entry: Callable[..., None], dtype: str) -> LibraryKernel:
    return specialise(name, entry, DTYPE=dtype, LANES=vectors(dtype).lanes)


def pack_kernel(dtype: str) -> LibraryKernel:
    """The kernel that puts filters in the order in which gradients of inputs take them."""
    lanes = vectors(dtype).lanes
    return specialise("pack_by_feature", conv_grad_pooled_kernels.pack_by_feature, LANES=lanes)


def closed(dtypes: Iterable[str]) -> Iterator[LibraryKernel]:
    """All kernels of gradients behind max pooling."""
    for dtype in dtypes:
        if dtype in BYTES:
            yield pack_kernel(dtype).over([dtype] * 2)
            yield filter_kernel(dtype).over([dtype, dtype, "uint8", "int64", dtype])
            yield input_kernel(dtype).over([dtype, "uint8", dtype, "int64", dtype])
            for gathers in (True, False):
                for rows, width in _tiles(dtype):
                    for shape in sorted({(rows, width), (1, width)}):
                        yield _tile_kernel(dtype, gathers, shape)


def _facts(
    dtype: str, shape: Sequence[int], conv: tuple[Axis, Axis], windows: Windows
) -> dict[str, int] | None:
    """Parameters of kernels but for those of scratch memory; None where nothing is gained."""
    (kh, kw, c, f), (high, wide), (down, across) = shape, conv, windows
    axes = (high, wide, down, across)
    known = all(isinstance(n, int) for axis in axes for n in (axis.size, axis.before, axis.out))
    if not known or (high.dilation, wide.dilation) != (1, 1) or down.stride * across.stride < 3:
        return None
    if c % vectors(dtype).lanes or int(high.before) < 0 or int(wide.before) < 0:
        return None
    block = _block(dtype, kh, kw, c)
    line = ((int(wide.out) - 1) * wide.stride + kw) * block
    band = -(-int(down.out) // max(1, int(down.out) * int(across.out) // _ENTRIES))
    copied = min(int(wide.size), line // block - int(wide.before))
    return dict(
        C=c, F=f, KH=kh, KW=kw, SH=high.stride, SW=wide.stride, H=int(high.size),
        W=int(wide.size), TOP=int(high.before), LEFT=int(wide.before), PH=down.window,
        PW=across.window, PSH=down.stride, PSW=across.stride, PHO=int(down.out),
        PWO=int(across.out), PTOP=int(down.before), PLEFT=int(across.before), BLOCK=block,
        BAND=band, BANDS=-(-int(down.out) // band), MOST=band * int(across.out), LINE=line,
        COPIED=max(0, copied),
    )  # fmt: skip


def _with_memory(dtype: str, facts: dict[str, int], lines: int) -> dict[str, int]:
    """Adds where the parts of scratch memory are, with so many padded lines; SUMS ends them."""
    lists, size = facts["BANDS"] * facts["F"], BYTES[dtype]
    parts = {
        "VALUES": 4 * facts["PH"] * facts["PW"],  # where places lie comes before the values
        "OFFSETS": size * lists * facts["MOST"],
        "COUNTS": 4 * lists * facts["MOST"],
        "NUMBERS": 8 * lists,
        "PADDED": 8 * list_tile_kernels.WORDS,
        "SUMS": size * lines * facts["LINE"],
    }
    result, place = {**facts, "LINES": lines}, 0
    for name, count in parts.items():
        place += -(-count // 64) * 64
        result[name] = place
    return result


def _parameters(facts: dict[str, int]) -> list[int]:
    return [facts[name] for name in conv_grad_pooled_kernels.PARAMETERS]
