# SPDX-License-Identifier: Apache-2.0
"""Texts of convolution gradients that know of places of maxima; see conv_grad_pooled.py."""

# An image's gradients that are not zero, in one list for every band of pooled lines and every
# feature: values, and where their windows begin in the padded lines of the band.
LISTS = """
@helper
def moves_in(memory):
    return region(memory, "int32")


@helper
def values_in(memory):
    return region(memory + VALUES, DTYPE)


@helper
def offsets_in(memory):
    return region(memory + OFFSETS, "int32")


@helper
def counts_in(memory):
    return region(memory + COUNTS, "int64")


@helper
def padded_in(memory):
    return region(memory + PADDED, DTYPE)


@helper
def fill_moves(moves):
    # From the place of a maximum in its pooling window to the padded lines.
    target = pointer(moves)
    for place in range(PH * PW):
        target[place] = place // PW * SH * LINE + place % PW * SW * BLOCK


@helper
def band_lists(dy, places, moves, values, offsets, counts, lines):
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
def image_lists(dy, places, memory):
    for band in range(BANDS):
        first = band * BAND
        at = first * PWO * F
        band_lists(dy + at, places + at, moves_in(memory), values_in(memory) + band * F * MOST,
                   offsets_in(memory) + band * F * MOST, counts_in(memory) + band * F,
                   min(BAND, PHO - first))
"""

# Rows are chunks of `images` images, columns are blocks of channels.  A chunk sums in memory of
# the worker, feature by feature, and transposes at its end.
FILTER_GRADIENT = """
@helper
def pad_block(image, top, padded):
    # Lines of a block of channels, with zeros around them.
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
def gather(padded, values, offsets, count, sums):
    row = 0
    while row + ROWS <= KH:
        gather_tile(ROWS, VECTORS, LANES, padded + row * LINE, values, offsets,
                    count, sums + row * KW * BLOCK, LINE, KW * BLOCK)
        row += ROWS
    if KH % ROWS:
        gather_tile(REST, VECTORS, LANES, padded + row * LINE, values, offsets,
                    count, sums + row * KW * BLOCK, LINE, KW * BLOCK)


@helper
def image_sums(image, block, memory, sums):
    counts = pointer(counts_in(memory))
    for band in range(BANDS):
        pad_block(image + block * BLOCK, (band * BAND * PSH - PTOP) * SH - TOP,
                  padded_in(memory))
        for f in range(F):
            at = band * F + f
            if counts[at] > 0:
                gather(padded_in(memory), values_in(memory) + at * MOST,
                       offsets_in(memory) + at * MOST, counts[at],
                       sums + f * KH * KW * BLOCK)


@helper
def transpose_sums(sums, out):
    # out[tap, c, f] of a block's channels from sums[f, tap, c]
    source, target = pointer(sums), pointer(out)
    for tap in range(KH * KW):
        for c in range(0, BLOCK, LANES):
            for f in range(0, F - F % LANES, LANES):
                transpose_tile(LANES, sums + ((f * KH * KW + tap) * BLOCK + c),
                               KH * KW * BLOCK, out + ((tap * C + c) * F + f), F)
        for f in range(F - F % LANES, F):
            for c in range(BLOCK):
                target[(tap * C + c) * F + f] = source[(f * KH * KW + tap) * BLOCK + c]


def kernel(args, r0, r1, c0, c1, worker):
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
            transpose_sums(sums + size * (block - c0),
                           out + (chunk * KH * KW * C + block * BLOCK) * F)
"""

# out[block, f, tap, c] is w[tap, block * BLOCK + c, f].  Rows are taps, columns are blocks.
PACK_BY_FEATURE = """
def kernel(args, r0, r1, c0, c1, worker):
    source, target = pointer(args[0]), pointer(args[1])
    for tap in range(r0, r1):
        for block in range(c0, c1):
            w = (tap * C + block * BLOCK) * F
            out = (block * F * KH * KW + tap) * BLOCK
            for c in range(0, BLOCK, LANES):
                for f in range(0, F - F % LANES, LANES):
                    transpose_tile(LANES, args[0] + (w + c * F + f), F,
                                   args[1] + (out + f * KH * KW * BLOCK + c),
                                   KH * KW * BLOCK)
            for f in range(F - F % LANES, F):
                for c in range(BLOCK):
                    target[out + f * KH * KW * BLOCK + c] = source[w + c * F + f]
"""

# Rows are images, columns are blocks of channels.
INPUT_GRADIENT = """
@helper
def scatter(w, values, offsets, count, padded):
    row = 0
    while row + ROWS <= KH:
        scatter_tile(ROWS, VECTORS, LANES, w + row * KW * BLOCK, values, offsets,
                     count, padded + row * LINE, KW * BLOCK, LINE)
        row += ROWS
    if KH % ROWS:
        scatter_tile(REST, VECTORS, LANES, w + row * KW * BLOCK, values, offsets,
                     count, padded + row * LINE, KW * BLOCK, LINE)


@helper
def image_gradient(packed, memory):
    counts = pointer(counts_in(memory))
    zero(padded_in(memory), LINES * LINE)
    for band in range(BANDS):
        # (A band may begin before the first line, its maxima do not.)
        padded = padded_in(memory) + (band * BAND * PSH - PTOP) * SH * LINE
        for f in range(F):
            at = band * F + f
            if counts[at] > 0:
                scatter(packed + f * KH * KW * BLOCK, values_in(memory) + at * MOST,
                        offsets_in(memory) + at * MOST, counts[at], padded)


@helper
def unpad(padded, out):
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


def kernel(args, r0, r1, c0, c1, worker):
    dy, places, packed, out = args[0], args[1], args[2], args[3]
    memory = args[4] + worker * args[5]
    fill_moves(moves_in(memory))
    for image in range(r0, r1):
        at = image * PHO * PWO * F
        image_lists(dy + at, places + at, memory)
        for block in range(c0, c1):
            image_gradient(packed + block * F * KH * KW * BLOCK, memory)
            unpad(padded_in(memory), out + (image * H * W * C + block * BLOCK))
"""
