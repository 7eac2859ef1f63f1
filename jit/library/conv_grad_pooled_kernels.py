# SPDX-License-Identifier: Apache-2.0
"""Kernels of convolution gradients that know of places of maxima; see conv_grad_pooled.py.

An image's gradients that are not zero are in one list for every band of pooled lines and every
feature: values, and where their windows begin in the padded lines of the band.  All sizes are
parameters.
"""

from __future__ import annotations

from .plain_vocabulary import (
    GIVEN,
    Address,
    Arguments,
    copy,
    gather_tile,
    helper,
    pointer,
    region,
    scatter_tile,
    transpose_tile,
    zero,
)

DTYPE: str = GIVEN
LANES: int = GIVEN  # elements of a vector
# Of sums that are in registers together: lines of the window, and vectors of each, of which the
# last has one.  A line takes as many of the first as fit, then of the next.
TILES: tuple[tuple[int, int], ...] = GIVEN

# The parameters of gradients, behind four buffers.
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
    "VALUES", "OFFSETS", "COUNTS", "PADDED", "SUMS",  # where parts of memory are, in bytes
)  # fmt: skip
(
    C, F, KH, KW, SH, SW, H, W, TOP, LEFT, PH, PW, PSH, PSW, PHO, PWO, PTOP, PLEFT, BLOCK,
    BAND, BANDS, MOST, LINES, LINE, COPIED, VALUES, OFFSETS, COUNTS, PADDED, SUMS,
) = range(4, 4 + len(PARAMETERS))  # fmt: skip
FURTHER = 4 + len(PARAMETERS)  # the first of a kernel's other parameters


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
    gradient, place = pointer(dy), pointer(places)
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
                offset[f * most + number] = start + move[place[at + f]]
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
def gather(
    padded: Address, values: Address, offsets: Address, count: int, sums: Address,
    lines: int, width: int, line: int,
) -> None:  # fmt: skip
    """Adds to the sums of a window, whose lines have `width` elements."""
    v = 0
    for rows, vectors in TILES:
        while v + vectors * LANES <= width:
            row = 0
            if rows > 1:
                while row + rows <= lines:
                    gather_tile(
                        rows, vectors, LANES, padded + (row * line + v), values, offsets, count,
                        sums + (row * width + v), line, width,
                    )  # fmt: skip
                    row += rows
            while row < lines:
                gather_tile(
                    1, vectors, LANES, padded + (row * line + v), values, offsets, count,
                    sums + (row * width + v), line, width,
                )  # fmt: skip
                row += 1
            v += vectors * LANES


@helper
def image_sums(sizes: Arguments, image: Address, memory: int, sums: Address) -> None:
    """Adds up the gradients of a block of filters from one image."""
    padded = region(memory + sizes[PADDED], DTYPE)
    values, offsets = (
        region(memory + sizes[VALUES], DTYPE),
        region(memory + sizes[OFFSETS], "int32"),
    )
    counts = pointer(region(memory + sizes[COUNTS], "int64"))
    lines, width, line, most = sizes[KH], sizes[KW] * sizes[BLOCK], sizes[LINE], sizes[MOST]
    for band in range(sizes[BANDS]):
        top = (band * sizes[BAND] * sizes[PSH] - sizes[PTOP]) * sizes[SH] - sizes[TOP]
        pad_block(sizes, image, top, padded)
        for f in range(sizes[F]):
            at = band * sizes[F] + f
            if counts[at] > 0:
                gather(
                    padded, values + at * most, offsets + at * most, counts[at],
                    sums + f * lines * width, lines, width, line,
                )  # fmt: skip


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
            )  # fmt: skip
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
                image_sums(args, x + b * block, memory, sums + size * (b - c0))
        for b in range(c0, c1):
            for tap in range(taps):
                transpose_block(
                    sums + (size * (b - c0) + tap * block), taps * block,
                    args[3] + ((chunk * taps + tap) * c + b * block) * f, f, f, block,
                )  # fmt: skip


def pack_by_feature(args: Arguments, r0: int, r1: int, c0: int, c1: int, worker: int) -> None:
    """out[block, f, tap, c] is w[tap, block * size + c, f].  Rows are taps, columns are blocks.

    Parameters: taps, channels, features, the size of a block.
    """
    taps, c, f, size = args[2], args[3], args[4], args[5]
    for tap in range(r0, r1):
        for block in range(c0, c1):
            transpose_block(
                args[0] + (tap * c + block * size) * f, f,
                args[1] + (block * f * taps + tap) * size, taps * size, size, f,
            )  # fmt: skip


@helper
def scatter(
    w: Address, values: Address, offsets: Address, count: int, padded: Address,
    lines: int, width: int, line: int,
) -> None:  # fmt: skip
    """Adds multiples of a window, whose lines have `width` elements."""
    v = 0
    for rows, vectors in TILES:
        while v + vectors * LANES <= width:
            row = 0
            if rows > 1:
                while row + rows <= lines:
                    scatter_tile(
                        rows, vectors, LANES, w + (row * width + v), values, offsets, count,
                        padded + (row * line + v), width, line,
                    )  # fmt: skip
                    row += rows
            while row < lines:
                scatter_tile(
                    1, vectors, LANES, w + (row * width + v), values, offsets, count,
                    padded + (row * line + v), width, line,
                )  # fmt: skip
                row += 1
            v += vectors * LANES


@helper
def image_gradient(sizes: Arguments, packed: Address, memory: int) -> None:
    values, offsets = (
        region(memory + sizes[VALUES], DTYPE),
        region(memory + sizes[OFFSETS], "int32"),
    )
    counts = pointer(region(memory + sizes[COUNTS], "int64"))
    lines, width, line, most = sizes[KH], sizes[KW] * sizes[BLOCK], sizes[LINE], sizes[MOST]
    whole = region(memory + sizes[PADDED], DTYPE)
    zero(whole, sizes[LINES] * line)
    for band in range(sizes[BANDS]):
        # (A band may begin before the first line, its maxima do not.)
        padded = whole + (band * sizes[BAND] * sizes[PSH] - sizes[PTOP]) * sizes[SH] * line
        for f in range(sizes[F]):
            at = band * sizes[F] + f
            if counts[at] > 0:
                scatter(
                    packed + f * lines * width, values + at * most, offsets + at * most,
                    counts[at], padded, lines, width, line,
                )  # fmt: skip


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
            image_gradient(args, args[2] + b * f * args[KH] * args[KW] * block, memory)
            out = args[3] + (image * args[H] * args[W] * c + b * block)
            unpad(args, region(memory + args[PADDED], DTYPE), out)
