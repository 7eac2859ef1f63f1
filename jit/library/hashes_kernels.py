# SPDX-License-Identifier: Apache-2.0
"""The kernels that hash many texts; see jit/library/hashes.py.

Texts lie in one piece of memory; `places` has two numbers for each, where it begins and ends.
"""

from __future__ import annotations

from .plain_vocabulary import Arguments, Scalar, helper, int64, pointer, uint64

# MurmurHash64A, with the seed of TensorFlow's core/lib/hash/hash.h.
MURMUR, SEED, LAST = uint64(0xC6A4A7935BD1E995), uint64(0xDECAFCAFFE), uint64(47)
# "somepseudorandomlygeneratedbytes" (https://131002.net/siphash).
SIP0, SIP1 = uint64(0x736F6D6570736575), uint64(0x646F72616E646F6D)
SIP2, SIP3 = uint64(0x6C7967656E657261), uint64(0x7465646279746573)
END = uint64(0xFF)
# Primes of FarmHash.
K0, K1, K2 = uint64(0xC3A5C85C97CB3127), uint64(0xB492B66FBE98F273), uint64(0x9AE16A3B2F90404F)
SIXTY_FOUR = uint64(64)
LONGEST = 64  # longer texts are hashed in another way


@helper
def half(text: Scalar, at: int) -> int:
    """The four bytes at a place, the lowest first."""
    return text[at] | (text[at + 1] << 8) | (text[at + 2] << 16) | (text[at + 3] << 24)


@helper
def word(text: Scalar, at: int) -> Scalar:
    """The eight bytes at a place, the lowest first."""
    return uint64(half(text, at) | (half(text, at + 4) << 32))


@helper
def rest(text: Scalar, at: int, stop: int) -> Scalar:
    """The last bytes of a text, fewer than eight, the lowest first."""
    value, shift = 0, 0
    while at < stop:
        value = value | (text[at] << shift)
        shift += 8
        at += 1
    return uint64(value)


@helper
def murmur(text: Scalar, start: int, stop: int) -> Scalar:
    """TensorFlow's Hash64."""
    result = SEED ^ (uint64(stop - start) * MURMUR)
    at = start
    while at + 8 <= stop:
        mixed = word(text, at) * MURMUR
        mixed = (mixed ^ (mixed >> LAST)) * MURMUR
        result = (result ^ mixed) * MURMUR
        at += 8
    if at < stop:
        result = (result ^ rest(text, at, stop)) * MURMUR
    result = (result ^ (result >> LAST)) * MURMUR
    return result ^ (result >> LAST)


def murmurs(args: Arguments, r0: int, r1: int, c0: int, c1: int, worker: int) -> None:
    """Args: data, places, hashes, found; buckets: TensorFlow's Hash64 of each text modulo them.

    found: 0, as no text is too long.
    """
    data, places, hashes = pointer(args[0]), pointer(args[1]), pointer(args[2])
    buckets = uint64(args[4])
    for i in range(r0, r1):
        hashes[i] = int64(murmur(data, places[2 * i], places[2 * i + 1]) % buckets)
    pointer(args[3])[0] = 0


@helper
def turned(value: Scalar, bits: Scalar) -> Scalar:
    """A word whose bits go round to the left; not by none, nor by all."""
    return (value << bits) | (value >> (SIXTY_FOUR - bits))


@helper
def sip_round(a: Scalar, b: Scalar, c: Scalar, d: Scalar) -> tuple[Scalar, Scalar, Scalar, Scalar]:
    """One round of SipHash."""
    a1, c1 = a + b, c + d
    b1, d1 = turned(b, uint64(13)) ^ a1, turned(d, uint64(16)) ^ c1
    a2 = turned(a1, uint64(32))
    c2, a3 = c1 + b1, a2 + d1
    b2, d2 = turned(b1, uint64(17)) ^ c2, turned(d1, uint64(21)) ^ a3
    return a3, b2, turned(c2, uint64(32)), d2


@helper
def sip(text: Scalar, start: int, stop: int, first: Scalar, second: Scalar) -> Scalar:
    """SipHash-2-4 under a key of two words."""
    a, b, c, d = first ^ SIP0, second ^ SIP1, first ^ SIP2, second ^ SIP3
    at, going = start, True
    while going:
        if at + 8 <= stop:
            value = word(text, at)
        else:
            # The length is in the last word, so that zeros at the end count.
            value = rest(text, at, stop) | (uint64((stop - start) & 255) << uint64(56))
            going = False
        d = d ^ value
        for _ in range(2):
            a, b, c, d = sip_round(a, b, c, d)
        a = a ^ value
        at += 8
    c = c ^ END
    for _ in range(4):
        a, b, c, d = sip_round(a, b, c, d)
    return a ^ b ^ c ^ d


def sips(args: Arguments, r0: int, r1: int, c0: int, c1: int, worker: int) -> None:
    """Args: data, places, hashes, found; buckets, both words of the key.

    hashes: SipHash-2-4 of each text modulo buckets.  found: 0, as no text is too long.
    """
    data, places, hashes = pointer(args[0]), pointer(args[1]), pointer(args[2])
    buckets, first, second = uint64(args[4]), uint64(args[5]), uint64(args[6])
    for i in range(r0, r1):
        hashes[i] = int64(sip(data, places[2 * i], places[2 * i + 1], first, second) % buckets)
    pointer(args[3])[0] = 0


@helper
def mixed_pair(u: Scalar, v: Scalar, factor: Scalar) -> Scalar:
    """Two words as one."""
    a = (u ^ v) * factor
    a = a ^ (a >> LAST)
    b = (v ^ a) * factor
    b = b ^ (b >> LAST)
    return b * factor


@helper
def few(text: Scalar, at: int, size: int) -> Scalar:
    """FarmHash of at most 16 bytes."""
    result, factor = K2, K2 + uint64(2 * size)
    if size >= 8:
        a, b = word(text, at) + K2, word(text, at + size - 8)
        c = turned(b, uint64(27)) * factor + a
        d = (turned(a, uint64(39)) + b) * factor
        result = mixed_pair(c, d, factor)
    elif size >= 4:
        low, high = half(text, at), half(text, at + size - 4)
        result = mixed_pair(uint64(size + (low << 3)), uint64(high), factor)
    elif size > 0:
        y = uint64(text[at] + (text[at + (size >> 1)] << 8)) * K2
        z = uint64(size + (text[at + size - 1] << 2)) * K0
        result = y ^ z
        result = (result ^ (result >> LAST)) * K2
    return result


@helper
def some(text: Scalar, at: int, size: int) -> Scalar:
    """FarmHash of 17 to 32 bytes."""
    factor = K2 + uint64(2 * size)
    a, b = word(text, at) * K1, word(text, at + 8)
    c, d = word(text, at + size - 8) * factor, word(text, at + size - 16) * K2
    one = turned(a + b, uint64(21)) + turned(c, uint64(34)) + d
    return mixed_pair(one, a + turned(b + K2, uint64(46)) + c, factor)


@helper
def many(text: Scalar, at: int, size: int) -> Scalar:
    """FarmHash of 33 to 64 bytes."""
    factor = K2 + uint64(2 * size)
    a, b = word(text, at) * K2, word(text, at + 8)
    c, d = word(text, at + size - 8) * factor, word(text, at + size - 16) * K2
    y = turned(a + b, uint64(21)) + turned(c, uint64(34)) + d
    z = mixed_pair(y, a + turned(b + K2, uint64(46)) + c, factor)
    e, f = word(text, at + 16) * factor, word(text, at + 24)
    g, h = (y + word(text, at + size - 32)) * factor, (z + word(text, at + size - 24)) * factor
    one = turned(e + f, uint64(21)) + turned(g, uint64(34)) + h
    return mixed_pair(one, e + turned(f + a, uint64(46)) + g, factor)


def fingerprints(args: Arguments, r0: int, r1: int, c0: int, c1: int, worker: int) -> None:
    """Args: data, places, hashes, found; buckets.

    hashes: FarmHash's Fingerprint64 of each text modulo buckets.  found: how many texts are too
    long for that; theirs are to be made in another way.
    """
    data, places, hashes = pointer(args[0]), pointer(args[1]), pointer(args[2])
    found, left, buckets = pointer(args[3]), 0, uint64(args[4])
    for i in range(r0, r1):
        start = places[2 * i]
        size = places[2 * i + 1] - start
        result = K2
        if size <= 16:
            result = few(data, start, size)
        elif size <= 32:
            result = some(data, start, size)
        elif size <= LONGEST:
            result = many(data, start, size)
        else:
            left += 1
        hashes[i] = int64(result % buckets)
    found[0] = left
