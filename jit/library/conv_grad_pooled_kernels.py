# SPDX-License-Identifier: Apache-2.0
"""Kernels of convolution gradients that know of places of maxima; see conv_grad_pooled.py.

An image's gradients that are not zero are in one list for every band of pooled lines and every
feature: values, and where their windows begin in the padded lines of the band.
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
C: int = GIVEN  # channels
F: int = GIVEN  # features
KH: int = GIVEN  # the convolution's window and strides
KW: int = GIVEN
SH: int = GIVEN
SW: int = GIVEN
H: int = GIVEN  # its input, and the zeros around that
W: int = GIVEN
TOP: int = GIVEN
LEFT: int = GIVEN
PH: int = GIVEN  # the pooling's window and strides
PW: int = GIVEN
PSH: int = GIVEN
PSW: int = GIVEN
PHO: int = GIVEN  # its output, and the zeros around its input
PWO: int = GIVEN
PTOP: int = GIVEN
PLEFT: int = GIVEN
BLOCK: int = GIVEN  # channels of a block
VECTORS: int = GIVEN  # vectors of a line of the window, for a block
ROWS: int = GIVEN  # lines of the window whose sums fit registers, and those that are left
REST: int = GIVEN
BAND: int = GIVEN  # pooled lines of a list
BANDS: int = GIVEN
MOST: int = GIVEN  # elements of a list at most
LINES: int = GIVEN  # padded lines
LINE: int = GIVEN  # elements of a padded line of a block, and its pixels that the input has
COPIED: int = GIVEN
VALUES: int = GIVEN  # where the parts of scratch memory are, in bytes
OFFSETS: int = GIVEN
COUNTS: int = GIVEN
PADDED: int = GIVEN
SUMS: int = GIVEN


@helper
def moves_in(memory: int) -> Address:
    return region(memory, "int32")


@helper
def values_in(memory: int) -> Address:
    return region(memory + VALUES, DTYPE)


@helper
def offsets_in(memory: int) -> Address:
    return region(memory + OFFSETS, "int32")


@helper
def counts_in(memory: int) -> Address:
    return region(memory + COUNTS, "int64")


@helper
def padded_in(memory: int) -> Address:
    return region(memory + PADDED, DTYPE)


@helper
def fill_moves(moves: Address) -> None:
    """From the place of a maximum in its pooling window to the padded lines."""
    target = pointer(moves)
    for place in range(PH * PW):
        target[place] = place // PW * SH * LINE + place % PW * SW * BLOCK


@helper
def band_lists(
    dy: Address, places: Address, moves: Address, values: Address, offsets: Address,
    counts: Address, lines: int,
) -> None:  # fmt: skip
    gradient, place = pointer(dy), pointer(places)
    move, value = pointer(moves), pointer(values)
    offset, count = pointer(offsets), pointer(counts)
    for f in range(F):
        count[f] = 0
    for line in range(lines):
        for col in range(PWO):
            start = line * PSH * SH * LINE + (col * PSW - PLEFT) * SW * BLOCK
            at = (line * PWO + col) * F
            for f in range(F):
                number = count[f]
                value[f * MOST + number] = gradient[at + f]
                offset[f * MOST + number] = start + move[place[at + f]]
                count[f] = number + (1 if gradient[at + f] != 0 else 0)


@helper
def image_lists(dy: Address, places: Address, memory: int) -> None:
    for band in range(BANDS):
        first = band * BAND
        at = first * PWO * F
        band_lists(
            dy + at, places + at, moves_in(memory), values_in(memory) + band * F * MOST,
            offsets_in(memory) + band * F * MOST, counts_in(memory) + band * F,
            min(BAND, PHO - first),
        )  # fmt: skip


@helper
def pad_block(image: Address, top: int, padded: Address) -> None:
    """Lines of a block of channels, with zeros around them."""
    for i in range(LINES):
        target = padded + i * LINE
        y = top + i
        if y >= 0 and y < H:
            source = image + y * W * C
            zero(target, LEFT * BLOCK)
            for col in range(COPIED):
                copy(target + (LEFT + col) * BLOCK, source + col * C, BLOCK)
            zero(target + (LEFT + COPIED) * BLOCK, LINE - (LEFT + COPIED) * BLOCK)
        else:
            zero(target, LINE)


@helper
def gather(padded: Address, values: Address, offsets: Address, count: int, sums: Address) -> None:
    row = 0
    while row + ROWS <= KH:
        gather_tile(
            ROWS, VECTORS, LANES, padded + row * LINE, values, offsets, count,
            sums + row * KW * BLOCK, LINE, KW * BLOCK,
        )  # fmt: skip
        row += ROWS
    if KH % ROWS:
        gather_tile(
            REST, VECTORS, LANES, padded + row * LINE, values, offsets, count,
            sums + row * KW * BLOCK, LINE, KW * BLOCK,
        )  # fmt: skip


@helper
def image_sums(image: Address, block: int, memory: int, sums: Address) -> None:
    counts = pointer(counts_in(memory))
    for band in range(BANDS):
        pad_block(image + block * BLOCK, (band * BAND * PSH - PTOP) * SH - TOP, padded_in(memory))
        for f in range(F):
            at = band * F + f
            if counts[at] > 0:
                gather(
                    padded_in(memory), values_in(memory) + at * MOST,
                    offsets_in(memory) + at * MOST, counts[at], sums + f * KH * KW * BLOCK,
                )  # fmt: skip


@helper
def transpose_sums(sums: Address, out: Address) -> None:
    """out[tap, c, f] of a block's channels from sums[f, tap, c]."""
    source, target = pointer(sums), pointer(out)
    for tap in range(KH * KW):
        for c in range(0, BLOCK, LANES):
            for f in range(0, F - F % LANES, LANES):
                transpose_tile(
                    LANES, sums + ((f * KH * KW + tap) * BLOCK + c), KH * KW * BLOCK,
                    out + ((tap * C + c) * F + f), F,
                )  # fmt: skip
        for f in range(F - F % LANES, F):
            for c in range(BLOCK):
                target[(tap * C + c) * F + f] = source[(f * KH * KW + tap) * BLOCK + c]


def filter_gradient(args: Arguments, r0: int, r1: int, c0: int, c1: int, worker: int) -> None:
    """Rows are chunks of `images` images, columns are blocks of channels.  A chunk sums in memory
    of the worker, feature by feature, and transposes at its end.
    """
    x, dy, places, out = args[0], args[1], args[2], args[3]
    n, images = args[4], args[5]
    memory = args[6] + worker * args[7]
    sums = region(memory + SUMS, DTYPE)
    fill_moves(moves_in(memory))
    size = KH * KW * BLOCK * F
    for chunk in range(r0, r1):
        zero(sums, size * (c1 - c0))
        for image in range(chunk * images, min(n, (chunk + 1) * images)):
            at = image * PHO * PWO * F
            image_lists(dy + at, places + at, memory)
            for block in range(c0, c1):
                image_sums(x + image * H * W * C, block, memory, sums + size * (block - c0))
        for block in range(c0, c1):
            transpose_sums(
                sums + size * (block - c0), out + (chunk * KH * KW * C + block * BLOCK) * F
            )


def pack_by_feature(args: Arguments, r0: int, r1: int, c0: int, c1: int, worker: int) -> None:
    """out[block, f, tap, c] is w[tap, block * BLOCK + c, f].  Rows are taps, columns are blocks."""
    source, target = pointer(args[0]), pointer(args[1])
    for tap in range(r0, r1):
        for block in range(c0, c1):
            w = (tap * C + block * BLOCK) * F
            out = (block * F * KH * KW + tap) * BLOCK
            for c in range(0, BLOCK, LANES):
                for f in range(0, F - F % LANES, LANES):
                    transpose_tile(
                        LANES, args[0] + (w + c * F + f), F,
                        args[1] + (out + f * KH * KW * BLOCK + c), KH * KW * BLOCK,
                    )  # fmt: skip
            for f in range(F - F % LANES, F):
                for c in range(BLOCK):
                    target[out + f * KH * KW * BLOCK + c] = source[w + c * F + f]


@helper
def scatter(w: Address, values: Address, offsets: Address, count: int, padded: Address) -> None:
    row = 0
    while row + ROWS <= KH:
        scatter_tile(
            ROWS, VECTORS, LANES, w + row * KW * BLOCK, values, offsets, count, padded + row * LINE,
            KW * BLOCK, LINE,
        )  # fmt: skip
        row += ROWS
    if KH % ROWS:
        scatter_tile(
            REST, VECTORS, LANES, w + row * KW * BLOCK, values, offsets, count, padded + row * LINE,
            KW * BLOCK, LINE,
        )  # fmt: skip


@helper
def image_gradient(packed: Address, memory: int) -> None:
    counts = pointer(counts_in(memory))
    zero(padded_in(memory), LINES * LINE)
    for band in range(BANDS):
        # (A band may begin before the first line, its maxima do not.)
        padded = padded_in(memory) + (band * BAND * PSH - PTOP) * SH * LINE
        for f in range(F):
            at = band * F + f
            if counts[at] > 0:
                scatter(
                    packed + f * KH * KW * BLOCK, values_in(memory) + at * MOST,
                    offsets_in(memory) + at * MOST, counts[at], padded,
                )  # fmt: skip


@helper
def unpad(padded: Address, out: Address) -> None:
    for y in range(H):
        source = padded + ((y + TOP) * LINE + LEFT * BLOCK)
        target = out + y * W * C
        if y + TOP < LINES:
            for col in range(COPIED):
                copy(target + col * C, source + col * BLOCK, BLOCK)
            for col in range(COPIED, W):
                zero(target + col * C, BLOCK)
        else:
            for col in range(W):
                zero(target + col * C, BLOCK)


def input_gradient(args: Arguments, r0: int, r1: int, c0: int, c1: int, worker: int) -> None:
    """Rows are images, columns are blocks of channels."""
    dy, places, packed, out = args[0], args[1], args[2], args[3]
    memory = args[4] + worker * args[5]
    fill_moves(moves_in(memory))
    for image in range(r0, r1):
        at = image * PHO * PWO * F
        image_lists(dy + at, places + at, memory)
        for block in range(c0, c1):
            image_gradient(packed + block * F * KH * KW * BLOCK, memory)
            unpad(padded_in(memory), out + (image * H * W * C + block * BLOCK))
