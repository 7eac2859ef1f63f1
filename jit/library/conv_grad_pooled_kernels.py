# SPDX-License-Identifier: Apache-2.0
"""Kernels of convolution gradients that know of places of maxima; see conv_grad_pooled.py.

An image's gradients that are not zero are in one list for every band of pooled lines and every
feature: values, and where their windows begin in the padded lines of the band.  All sizes are
parameters.
"""

from __future__ import annotations

from . import list_tile_kernels
from .plain_vocabulary import (
    GIVEN,
    Address,
    Arguments,
    call_kernel,
    copy,
    helper,
    place,
    pointer,
    region,
    transpose_tile,
    zero,
)

DTYPE: str = GIVEN
LANES: int = GIVEN  # elements of a vector

# The numbers of a block that tiles get (list_tile_kernels.py).
COUNTS_OF = list_tile_kernels.COUNTS
VALUES_OF = list_tile_kernels.VALUES
OFFSETS_OF = list_tile_kernels.OFFSETS
FEATURES = list_tile_kernels.FEATURES
MOST_OF = list_tile_kernels.MOST
LINE_OF = list_tile_kernels.LINE
WIDTH = list_tile_kernels.WIDTH
SIZE = list_tile_kernels.SIZE

# The parameters of gradients, behind five buffers, the fourth of which has, for every tile that a
# window consists of, where it begins (line, element) and the number of its kernel.
PARAMETERS = (
    "C", "F",  # channels, features
    "KH", "KW", "SH", "SW",  # the convolution's window and strides
    "H", "W", "TOP", "LEFT",  # its input, and the zeros around that
    "PH", "PW", "PSH", "PSW",  # the pooling's window and strides
    "PHO", "PWO", "PTOP", "PLEFT",  # its output, and the zeros around its input
    "BLOCK",  # channels of a block
    "BAND", "BANDS", "MOST",  # pooled lines of a list, lists of a feature, elements of one at most
    "LINES", "LINE",  # padded lines of a block, elements of one
    "COPIED",  # pixels of a padded line that the input has
    "PIECES",  # tiles of a window
    "VALUES", "OFFSETS", "COUNTS", "NUMBERS", "PADDED", "SUMS",  # where parts of memory are
)  # fmt: skip
(
    C, F, KH, KW, SH, SW, H, W, TOP, LEFT, PH, PW, PSH, PSW, PHO, PWO, PTOP, PLEFT, BLOCK,
    BAND, BANDS, MOST, LINES, LINE, COPIED, PIECES, VALUES, OFFSETS, COUNTS, NUMBERS, PADDED, SUMS,
) = range(5, 5 + len(PARAMETERS))  # fmt: skip
FURTHER = 5 + len(PARAMETERS)  # the first of a kernel's other parameters


@helper
def fill_moves(sizes: Arguments, memory: int) -> None:
    """From the place of a maximum in its pooling window to the padded lines."""
    move = pointer(region(memory, "int32"))
    for y in range(sizes[PH]):
        for x in range(sizes[PW]):
            move[y * sizes[PW] + x] = y * sizes[SH] * sizes[LINE] + x * sizes[SW] * sizes[BLOCK]


@helper
def band_lists(sizes: Arguments, dy: Address, places: Address, memory: int, band: int) -> None:
    """The lists of a band, whose gradients and places begin at addresses."""
    gradient, number_of = pointer(dy), pointer(places)
    first, most, features, width = band * sizes[F], sizes[MOST], sizes[F], sizes[PWO]
    move = pointer(region(memory, "int32"))
    value = pointer(region(memory + sizes[VALUES], DTYPE) + first * most)
    offset = pointer(region(memory + sizes[OFFSETS], "int32") + first * most)
    count = pointer(region(memory + sizes[COUNTS], "int64") + first)
    down, across = sizes[PSH] * sizes[SH] * sizes[LINE], sizes[SW] * sizes[BLOCK]
    step, before = sizes[PSW] * across, sizes[PLEFT] * across
    for f in range(features):
        count[f] = 0
    for line in range(min(sizes[BAND], sizes[PHO] - band * sizes[BAND])):
        for col in range(width):
            start = line * down + col * step - before
            at = (line * width + col) * features
            for f in range(features):
                number = count[f]
                value[f * most + number] = gradient[at + f]
                offset[f * most + number] = start + move[number_of[at + f]]
                count[f] = number + (1 if gradient[at + f] != 0 else 0)


@helper
def image_lists(sizes: Arguments, dy: Address, places: Address, memory: int) -> None:
    for band in range(sizes[BANDS]):
        at = band * sizes[BAND] * sizes[PWO] * sizes[F]
        band_lists(sizes, dy + at, places + at, memory, band)


@helper
def clear(target: Address, count: int) -> None:
    """Zeros for some vectors: too few for a call."""
    for c in range(0, count, LANES):
        zero(target + c, LANES)


@helper
def copy_pixels(
    target: Address, to: int, source: Address, since: int, pixels: int, block: int
) -> None:
    """Copies the channels of a block between lines whose pixels lie so far apart."""
    for c in range(0, block, LANES):
        for i in range(pixels):
            copy(target + (i * to + c), source + (i * since + c), LANES)


@helper
def pad_block(sizes: Arguments, image: Address, top: int, padded: Address) -> None:
    """Lines of a block of channels, with zeros around them."""
    c, block, line, left = sizes[C], sizes[BLOCK], sizes[LINE], sizes[LEFT] * sizes[BLOCK]
    copied, height, width = sizes[COPIED], sizes[H], sizes[W]
    for i in range(sizes[LINES]):
        target, y = padded + i * line, top + i
        if y >= 0 and y < height:
            behind = left + copied * block
            clear(target, left)
            copy_pixels(target + left, block, image + y * width * c, c, copied, block)
            clear(target + behind, line - behind)
        else:
            clear(target, line)


@helper
def run_tiles(
    sizes: Arguments,
    memory: int,
    band: int,
    table: Address,
    parts: int,
    lines: Address,
    windows: Address,
) -> None:
    """Calls the tiles of a window for the lists of a band; parts: where their addresses are."""
    piece, features, most = pointer(table), sizes[F], sizes[MOST]
    block = region(memory + sizes[NUMBERS], "int64")
    number = pointer(block)
    number[COUNTS_OF] = memory + sizes[COUNTS] + 8 * band * features
    number[VALUES_OF] = place(region(memory + sizes[VALUES], DTYPE) + band * features * most)
    number[OFFSETS_OF] = memory + sizes[OFFSETS] + 4 * band * features * most
    number[FEATURES] = features
    number[MOST_OF] = most
    number[LINE_OF] = sizes[LINE]
    width = sizes[KW] * sizes[BLOCK]
    number[WIDTH] = width
    number[SIZE] = sizes[KH] * width
    for i in range(sizes[PIECES]):
        row, v = piece[3 * i], piece[3 * i + 1]
        call_kernel(
            sizes[parts + piece[3 * i + 2]],
            place(block),
            place(lines + (row * sizes[LINE] + v)),
            place(windows + (row * width + v)),
            0,
            0,
            0,
        )


@helper
def image_sums(
    sizes: Arguments, image: Address, memory: int, table: Address, parts: int, sums: Address
) -> None:
    """Adds up the gradients of a block of filters from one image."""
    padded = region(memory + sizes[PADDED], DTYPE)
    for band in range(sizes[BANDS]):
        top = (band * sizes[BAND] * sizes[PSH] - sizes[PTOP]) * sizes[SH] - sizes[TOP]
        pad_block(sizes, image, top, padded)
        run_tiles(sizes, memory, band, table, parts, padded, sums)


@helper
def transpose_block(
    source: Address, row: int, target: Address, target_row: int, rows: int, cols: int
) -> None:
    """target[j, i] = source[i, j]; of the two sizes one is a number of whole vectors."""
    x, out = pointer(source), pointer(target)
    whole_rows, whole_cols = rows - rows % LANES, cols - cols % LANES
    for i in range(0, whole_rows, LANES):
        for j in range(0, whole_cols, LANES):
            transpose_tile(
                LANES, source + (i * row + j), row, target + (j * target_row + i), target_row
            )
    for i in range(rows):
        for j in range(whole_cols if i < whole_rows else 0, cols):
            out[j * target_row + i] = x[i * row + j]


def filter_gradient(args: Arguments, r0: int, r1: int, c0: int, c1: int, worker: int) -> None:
    """Rows are chunks of `images` images, columns are blocks of channels.  A chunk sums in memory
    of the worker, feature by feature, and transposes at its end.
    """
    n, images = args[FURTHER], args[FURTHER + 1]
    memory = args[FURTHER + 2] + worker * args[FURTHER + 3]
    sums = region(memory + args[SUMS], DTYPE)
    c, f, block, taps = args[C], args[F], args[BLOCK], args[KH] * args[KW]
    fill_moves(args, memory)
    size = taps * block * f
    for chunk in range(r0, r1):
        zero(sums, size * (c1 - c0))
        for image in range(chunk * images, min(n, (chunk + 1) * images)):
            at = image * args[PHO] * args[PWO] * f
            image_lists(args, args[1] + at, args[2] + at, memory)
            x = args[0] + image * args[H] * args[W] * c
            for b in range(c0, c1):
                image_sums(
                    args, x + b * block, memory, args[3], FURTHER + 4, sums + size * (b - c0)
                )
        for b in range(c0, c1):
            for tap in range(taps):
                transpose_block(
                    sums + (size * (b - c0) + tap * block),
                    taps * block,
                    args[4] + ((chunk * taps + tap) * c + b * block) * f,
                    f,
                    f,
                    block,
                )


def pack_by_feature(args: Arguments, r0: int, r1: int, c0: int, c1: int, worker: int) -> None:
    """out[block, f, tap, c] is w[tap, block * size + c, f].  Rows are taps, columns are blocks.

    Parameters: taps, channels, features, the size of a block.
    """
    taps, c, f, size = args[2], args[3], args[4], args[5]
    for tap in range(r0, r1):
        for block in range(c0, c1):
            transpose_block(
                args[0] + (tap * c + block * size) * f,
                f,
                args[1] + (block * f * taps + tap) * size,
                taps * size,
                size,
                f,
            )


@helper
def image_gradient(
    sizes: Arguments, packed: Address, memory: int, table: Address, parts: int
) -> None:
    """The gradient of a block of channels of one image, in padded lines."""
    whole, line = region(memory + sizes[PADDED], DTYPE), sizes[LINE]
    zero(whole, sizes[LINES] * line)
    for band in range(sizes[BANDS]):
        # (A band may begin before the first line, its maxima do not.)
        first = (band * sizes[BAND] * sizes[PSH] - sizes[PTOP]) * sizes[SH]
        run_tiles(sizes, memory, band, table, parts, whole + first * line, packed)


@helper
def unpad(sizes: Arguments, padded: Address, out: Address) -> None:
    c, block, line, left = sizes[C], sizes[BLOCK], sizes[LINE], sizes[LEFT] * sizes[BLOCK]
    lines, width = sizes[LINES], sizes[W]
    for y in range(sizes[H]):
        target, i = out + y * width * c, y + sizes[TOP]
        copied = sizes[COPIED] if i < lines else 0
        copy_pixels(target, c, padded + (i * line + left), block, copied, block)
        for col in range(copied, width):
            clear(target + col * c, block)


def input_gradient(args: Arguments, r0: int, r1: int, c0: int, c1: int, worker: int) -> None:
    """Rows are images, columns are blocks of channels."""
    memory = args[FURTHER] + worker * args[FURTHER + 1]
    c, f, block = args[C], args[F], args[BLOCK]
    fill_moves(args, memory)
    for image in range(r0, r1):
        at = image * args[PHO] * args[PWO] * f
        image_lists(args, args[0] + at, args[1] + at, memory)
        for b in range(c0, c1):
            packed = args[2] + b * f * args[KH] * args[KW] * block
            image_gradient(args, packed, memory, args[3], FURTHER + 2)
            out = args[4] + (image * args[H] * args[W] * c + b * block)
            unpad(args, region(memory + args[PADDED], DTYPE), out)
