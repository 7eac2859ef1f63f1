# SPDX-License-Identifier: Apache-2.0
"""The words of library kernels in plain Python: what they mean, over real memory.

The functions in `*_kernels.py` are written in these words.  What LLVM code each becomes is told in
jit/codegen/vocabulary.py, by the same names and arguments; here each does the same, slowly, so that
the functions have types, and the text of a kernel runs without a compiler as the oracle of what is
compiled from it.  Python's `min` and `max` are words too: of equal or unordered numbers they give
the first.  Imports NumPy and the IR's dtypes.
"""

from __future__ import annotations

import ctypes
import threading
import time
from collections.abc import Callable, MutableSequence, Sequence
from typing import Any, TypeVar

import numpy as np

from ..kernel.reference import numpy_dtype

# The value of a constant that a kernel is made for; see jit/library/template.py.
GIVEN: Any = None
# An element of memory, or a number made of some: its type is that of the memory.
Scalar = Any
_Function = TypeVar("_Function")


class Address:
    """Where elements of a dtype lie; `address + n` is n elements further on."""

    def __init__(self, place: int, dtype: str) -> None:
        self.place, self.dtype = place, numpy_dtype(dtype)

    def __add__(self, count: int) -> Address:
        return Address(self.place + int(count) * self.dtype.itemsize, self.dtype.name)

    def elements(self, count: int) -> np.ndarray:
        """The memory from here on, to be read and written."""
        block = (ctypes.c_char * (int(count) * self.dtype.itemsize)).from_address(self.place)
        return np.frombuffer(memoryview(block).cast("B"), self.dtype)

    def at(self, offsets: np.ndarray) -> np.ndarray:
        """The elements at some offsets, none of which is negative."""
        return self.elements(offsets.max(initial=-1) + 1)[offsets]

    def put(self, offsets: np.ndarray, values: np.ndarray) -> None:
        """Writes elements at some offsets."""
        self.elements(offsets.max(initial=-1) + 1)[offsets] = values


class Arguments:
    """A kernel's argument block: addresses of buffers of these dtypes, then numbers."""

    def __init__(self, words: MutableSequence[int] | Address, dtypes: Sequence[str]) -> None:
        self.words, self.dtypes = words, dtypes

    def __getitem__(self, index: int) -> Any:
        """A typed address for the number of a buffer, else a number."""
        words = self.words
        word = int(Pointer(words)[index] if isinstance(words, Address) else words[index])
        return Address(word, self.dtypes[index]) if index < len(self.dtypes) else word

    def __setitem__(self, index: int, value: int) -> None:
        words = Pointer(self.words) if isinstance(self.words, Address) else self.words
        words[index] = value


class Pointer:
    """The elements at an address: integers and booleans are int64 where they are read."""

    def __init__(self, address: Address) -> None:
        self._address = address

    def __getitem__(self, index: int) -> Scalar:
        value = (self._address + index).elements(1)[0]
        return int(value) if self._address.dtype.kind in "iub" else value

    def __setitem__(self, index: int, value: Scalar) -> None:
        kind = self._address.dtype
        number = int(value) % (1 << 8 * kind.itemsize) if kind.kind in "iu" else value
        place = (self._address + index).elements(1)
        place[0] = np.array(number, f"u{kind.itemsize}").view(kind) if kind.kind == "i" else number


def helper(function: _Function) -> _Function:
    """Marks a function that kernels call."""
    return function


def pointer(address: Address) -> Pointer:
    """The address as a pointer to its elements; those of bool are uint8."""
    return Pointer(address)


def region(start: int, dtype: str) -> Address:
    """Declares what lies at an int address (of scratch memory): elements of a dtype."""
    return Address(start, dtype)


def place(address: Address | Arguments) -> int:
    """The address, of an argument block too, as a number, to be handed to another kernel."""
    if isinstance(address, Arguments):
        assert isinstance(address.words, Address)
        return address.words.place
    return address.place


# What kernels there are, by what stands for their addresses.
KERNELS: dict[int, Callable[..., None]] = {}


def call_kernel(address: int, args: int, r0: int, r1: int, c0: int, c1: int, worker: int) -> None:
    """Calls the machine code at an address with the arguments of a kernel."""
    block = Address(args, "int64")
    KERNELS[address](Arguments(block, ()), r0, r1, c0, c1, worker)


# What changes a word that threads share; in compiled code one instruction does.
_CHANGING = threading.Lock()


def atomic_load(address: int) -> int:
    """The word at an address."""
    return int(Pointer(Address(address, "int64"))[0])


def atomic_store(address: int, value: int) -> None:
    """Puts a word at an address."""
    atomic_swap(address, value)


def atomic_add(address: int, value: int) -> int:
    """Adds to the word at an address; returns what was there before."""
    with _CHANGING:
        before = atomic_load(address)
        Pointer(Address(address, "int64"))[0] = before + value
        return before


def atomic_swap(address: int, value: int) -> int:
    """Puts a word at an address; returns what was there before."""
    with _CHANGING:
        before = atomic_load(address)
        Pointer(Address(address, "int64"))[0] = value
        return before


def take_if_zero(address: int) -> int:
    """Changes the word at an address from 0 to 1; 1 when it did, 0 when the word was not 0."""
    with _CHANGING:
        is_free = atomic_load(address) == 0
        if is_free:
            Pointer(Address(address, "int64"))[0] = 1
        return int(is_free)


def pause() -> None:
    """Tells the processor that the thread spins."""
    time.sleep(0)


def clock() -> int:
    """Nanoseconds since some moment, a few milliseconds coarse (jit/codegen/clock.py)."""
    return time.monotonic_ns() >> 22 << 22


def futex(number: int, address: int, operation: int, value: int) -> int:
    """Linux's futex system call (its number differs between processors) without a time limit."""
    word, last = ctypes.c_void_p(address), ctypes.c_long(0)
    call = ctypes.c_long(number), word, ctypes.c_long(operation), ctypes.c_long(value)
    return int(ctypes.CDLL(None).syscall(*call, last, last, last))


def crc_of_word(crc: int, word: int) -> int:
    """The CRC-32C (without its inversions) of what `crc` is that of and the eight bytes of a word.

    The lowest byte comes first.  Only for processors that have an instruction for it.
    """
    crc = (int(crc) ^ int(word)) & (1 << 64) - 1
    for _ in range(64):
        crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    return crc


def as_bytes(address: Address) -> Address:
    """The address of elements of any dtype as that of their bytes, to be copied."""
    return Address(address.place, "uint8")


def copy(target: Address, source: Address, count: int) -> None:
    """Copies `count` elements between addresses that do not overlap."""
    target.elements(count)[...] = source.elements(count)


def zero(target: Address, count: int) -> None:
    """Sets `count` elements at an address to zero."""
    target.elements(count)[...] = 0


def bits_as_float(bits: Scalar) -> Scalar:
    """The float with the given bits: float32 of uint32, float64 of uint64."""
    return bits.view(f"f{bits.itemsize}")


def float_as_bits(number: Scalar) -> Scalar:
    """The bits of a float: uint32 of float32, uint64 of float64."""
    return number.view(f"u{number.itemsize}")


def float32(number: Scalar) -> Scalar:
    """The number in single precision."""
    return np.float32(number)


def float64(number: Scalar) -> Scalar:
    """The number in double precision."""
    return np.float64(number)


def int64(number: Scalar) -> int:
    """The number as a signed integer, without what is behind its point."""
    return int(number)


def uint8(number: Scalar) -> Scalar:
    """The lowest 8 bits of an integer."""
    return np.uint8(int(number) & 0xFF)


def uint32(number: Scalar) -> Scalar:
    """The lowest 32 bits of an integer."""
    return np.uint32(int(number) & 0xFFFFFFFF)


def uint64(number: Scalar) -> Scalar:
    """The lowest 64 bits of an integer."""
    return np.uint64(int(number) & 0xFFFFFFFFFFFFFFFF)


def sin(x: Scalar) -> Scalar:
    """The sine, in the precision of x."""
    return np.sin(x)


def cos(x: Scalar) -> Scalar:
    """The cosine, in the precision of x."""
    return np.cos(x)


def log(x: Scalar) -> Scalar:
    """The natural logarithm, in the precision of x."""
    return np.log(x)


def sqrt(x: Scalar) -> Scalar:
    """The square root, in the precision of x."""
    return np.sqrt(x)


def exp(x: Scalar) -> Scalar:
    """The exponential, in the precision of x, of which loops make vectors."""
    return np.exp(x)


def log1p(x: Scalar) -> Scalar:
    """The natural logarithm of 1 + x, in the precision of x, of which loops make vectors."""
    return np.log1p(x)


def accumulate_add(total: Scalar, x: Scalar) -> Scalar:
    """The sum of both; a loop may add in any order."""
    return total + x


def accumulate_max(most: Scalar, x: Scalar) -> Scalar:
    """The larger of both; a loop may compare in any order."""
    return np.maximum(most, x)


def transpose_tile(
    lanes: int, source: Address, source_row: int, target: Address, target_row: int
) -> None:
    """target[j * target_row + i] = source[i * source_row + j] for i, j < lanes.

    Elements have 4 or 8 bytes, strides are in elements; `lanes` (a power of two) is a literal.
    All loads come before all stores.
    """
    i, j = np.ogrid[:lanes, :lanes]
    target.put(j * target_row + i, source.at(i * source_row + j))


def fma_tile(
    pixels: int, vectors: int, lanes: int, left: int, ragged: int, edged: int,
    x: Address, w: Address, out: Address, bias: Address, base: Address, flags: int,
    segments: int, x_segment: int, w_segment: int, x_tap: int, w_tap: int, count: int,
    x_pixel: int, x_step: int, w_step: int, out_pixel: int, args: Arguments, repeats: int,
) -> None:  # fmt: skip
    """A tile of sums of products, all strides in elements:

    out[p * out_pixel + f] = relu(bias[f] + base[…] + out[…] +
        sum over s < segments, taps t of pixel p, q < count of
            x[s * x_segment + t * x_tap + p * x_pixel + q * x_step] *
            w[s * w_segment + t * w_tap + q * w_step + f])

    for p < pixels and f < vectors * lanes (f < left when `left` is not the literal -1).  `ragged`
    is literal 1 when rows of w end at `left` too, 0 when they are padded to whole vectors.
    `edged` is literal 0 where all pixels have all taps, of which there are args[repeats].  Where it
    is 1 there are args[repeats] groups of taps, and for each, two numbers behind that: how many
    pixels at the start lack it (less than 0: at the end; all, where it says so), and its taps.
    flags: 1 adds the old `out`, 2 adds `bias`, 4 applies relu, 8 adds `base`, which lies as `out`
    does, before the bias.  All counts are at least one.
    """
    width = vectors * lanes if left == -1 else min(left, vectors * lanes)
    sums = np.zeros((pixels, width), x.dtype)
    s, q = np.arange(segments)[:, None, None], np.arange(count)
    groups = [(0, args[repeats])]
    if edged:
        ats = range(repeats + 1, repeats + 1 + 2 * args[repeats], 2)
        groups = [(args[at], args[at + 1]) for at in ats]
    tap = 0
    for missing, taps in groups:
        first, last = max(0, missing), pixels + min(0, missing)
        p = np.arange(first, last)[:, None]
        for t in range(tap, tap + taps if first < last else tap):
            values = x.at(s * x_segment + t * x_tap + p * x_pixel + q * x_step)
            weights = w.at(s * w_segment + t * w_tap + q[:, None] * w_step + np.arange(width))
            sums[first:last] += np.einsum("spq,sqf->pf", values, weights)
        tap += taps
    p, f = np.ogrid[:pixels, :width]
    places = p * out_pixel + f
    if flags & 1:
        sums += out.at(places)
    if flags & 8:
        sums += base.at(places)
    if flags & 2:
        sums += bias.at(f)
    if flags & 4:
        sums = np.where(sums < 0, 0, sums)
    out.put(places, sums)


def gather_tile(
    rows: int,
    vectors: int,
    lanes: int,
    x: Address,
    values: Address,
    offsets: Address,
    count: int,
    out: Address,
    x_row: int,
    out_row: int,
) -> None:
    """Adds sums of shifted pieces of x to a tile of out:

    out[r * out_row + f] += sum over k < count of values[k] * x[offsets[k] + r * x_row + f]

    for r < rows and f < vectors * lanes.  Strides are in elements; count is at least one.
    """
    r, f = np.ogrid[:rows, : vectors * lanes]
    places = r * out_row + f
    pieces = x.at(offsets.elements(count)[:, None, None] + r * x_row + f)
    out.put(places, out.at(places) + np.einsum("k,krf->rf", values.elements(count), pieces))


def scatter_tile(
    rows: int,
    vectors: int,
    lanes: int,
    w: Address,
    values: Address,
    offsets: Address,
    count: int,
    out: Address,
    w_row: int,
    out_row: int,
) -> None:
    """Adds multiples of a tile of w at many places of out, for k < count in order:

    out[offsets[k] + r * out_row + f] += values[k] * w[r * w_row + f]

    for r < rows and f < vectors * lanes.  Strides are in elements; count is at least one.
    """
    r, f = np.ogrid[:rows, : vectors * lanes]
    weights = w.at(r * w_row + f)
    for value, offset in zip(values.elements(count), offsets.elements(count), strict=True):
        places = int(offset) + r * out_row + f
        out.put(places, out.at(places) + value * weights)


# What follows does one thing for each of some windows, the elements of which are in a list of
# `count` places, at least one.  x_step and y_step are how far windows, and what there is of each,
# lie apart; `lanes`, those of a vector, is a literal.


def window_max(
    lanes: int,
    x: Address,
    offsets: Address,
    count: int,
    out: Address,
    channels: int,
    windows: int,
    x_step: int,
    y_step: int,
) -> None:
    """out[f] = the largest x[offsets[k] + f] and the least finite number, for f < channels."""
    for n in range(windows):
        best = np.full(channels, np.finfo(x.dtype).min, x.dtype)
        for piece in _pieces(x + n * x_step, offsets, count, channels):
            best = np.where(piece > best, piece, best)
        (out + n * y_step).elements(channels)[...] = best


def window_mean(
    lanes: int,
    x: Address,
    offsets: Address,
    count: int,
    scale: float,
    out: Address,
    channels: int,
    windows: int,
    x_step: int,
    y_step: int,
) -> None:
    """out[f] = scale times the sum of x[offsets[k] + f] in order, for f < channels."""
    for n in range(windows):
        total = np.full(channels, -0.0, x.dtype)
        for piece in _pieces(x + n * x_step, offsets, count, channels):
            total = total + piece
        (out + n * y_step).elements(channels)[...] = total.astype(np.float64) * scale


def window_places(
    lanes: int,
    x: Address,
    offsets: Address,
    numbers: Address,
    count: int,
    out: Address,
    places: Address,
    channels: int,
    windows: int,
    x_step: int,
    y_step: int,
) -> None:
    """As window_max, and places[f] = numbers[k] of the first of the largest, a byte.

    Where a NaN comes first it keeps the place.
    """
    known = numbers.elements(count)
    for n in range(windows):
        pieces = _pieces(x + n * x_step, offsets, count, channels)
        best = np.where(np.isnan(pieces[0]), -np.inf, pieces[0])
        place = np.full(channels, known[0])
        for piece, number in zip(pieces, known, strict=True):
            place = np.where(piece > best, number, place)
            best = np.where(piece > best, piece, best)
        (out + n * y_step).elements(channels)[...] = np.maximum(best, np.finfo(x.dtype).min)
        marks = (places + n * y_step).elements(channels)
        marks[...] = np.where(np.isnan(pieces[0]), known[0], place)


def spread_places(
    lanes: int,
    dy: Address,
    places: Address,
    offsets: Address,
    numbers: Address,
    count: int,
    out: Address,
    channels: int,
    windows: int,
    x_step: int,
    y_step: int,
) -> None:
    """out[offsets[k] + f] += dy[f] where places[f] is numbers[k], for f < channels."""
    for n in range(windows):
        gradient = (dy + n * y_step).elements(channels)
        place = (places + n * y_step).elements(channels)
        targets = _pieces(out + n * x_step, offsets, count, channels)
        for target, number in zip(targets, numbers.elements(count), strict=True):
            target[...] = target + np.where(place == number, gradient, 0)


def spread_mean(
    lanes: int,
    dy: Address,
    offsets: Address,
    count: int,
    scale: float,
    out: Address,
    channels: int,
    windows: int,
    x_step: int,
    y_step: int,
) -> None:
    """out[offsets[k] + f] += scale * dy[f], for f < channels."""
    for n in range(windows):
        share = (dy + n * y_step).elements(channels).astype(np.float64) * scale
        for target in _pieces(out + n * x_step, offsets, count, channels):
            target[...] = target + share


def window_dot(
    lanes: int, x: Address, offsets: Address, w: Address, numbers: Address, count: int,
    out: Address, channels: int, windows: int, x_step: int, y_step: int,
) -> None:  # fmt: skip
    """out[f] = the sum of x[offsets[k] + f] * w[numbers[k] + f] in order, for f < channels."""
    weights = _pieces(w, numbers, count, channels)
    for n in range(windows):
        total = np.zeros(channels, x.dtype)
        pieces = _pieces(x + n * x_step, offsets, count, channels)
        for piece, weight in zip(pieces, weights, strict=True):
            total = total + piece * weight
        (out + n * y_step).elements(channels)[...] = total


def window_taps(
    lanes: int, x: Address, offsets: Address, dy: Address, numbers: Address, count: int,
    sums: Address, channels: int, windows: int, x_step: int, y_step: int,
) -> None:  # fmt: skip
    """sums[numbers[k] + f] += the sum over windows, at least one, of x[offsets[k] + f] * dy[f]."""
    for k, target in enumerate(_pieces(sums, numbers, count, channels)):
        total = np.zeros(channels, x.dtype)
        for n in range(windows):
            piece = _pieces(x + n * x_step, offsets, count, channels)[k]
            total = total + piece * (dy + n * y_step).elements(channels)
        target[...] = target + total


def _pieces(x: Address, offsets: Address, count: int, channels: int) -> list[np.ndarray]:
    return [(x + offset).elements(channels) for offset in offsets.elements(count)]


# What follows are steps of Fourier transforms of `lanes` lines at once, a literal.  Of a complex
# number of each there are two rows of memory: real parts and, `part` elements on, imaginary ones.


def butterflies(
    lanes: int, radix: int, turned: int, count: int, x: Address, y: Address, part: int,
    x_step: int, y_step: int, turns: Address,
) -> None:  # fmt: skip
    """Transforms of `radix` (a literal) numbers, `x_step` apart, of which there are `count` each
    2 * lanes behind the one before; results go to y, `y_step` apart.

    Where `turned` is the literal 1, result j is multiplied by the complex number j - 1 of turns.
    """
    j = np.arange(radix)
    matrix = np.exp(-2j * np.pi * (np.outer(j, j) % radix) / radix)
    if turned:
        pairs = turns.elements(2 * radix - 2).astype(np.float64)
        matrix[1:] *= (pairs[0::2] + 1j * pairs[1::2])[:, None]
    for q in range(count):
        first = q * 2 * lanes
        numbers = np.stack([_line(x + (first + k * x_step), part, lanes) for k in range(radix)])
        for k, line in enumerate(matrix @ numbers):
            _put_line(y + (first + k * y_step), part, line)


def fold_pairs(lanes: int, low: Address, high: Address, part: int, turn: Address) -> None:
    """With a and b at low and high, s = a + conj(b) and d = turn[0] * (a - conj(b)): s + d goes to
    low, then conj(s - d) to high."""
    re, im = turn.elements(2).astype(np.float64)
    a, b = _line(low, part, lanes), np.conj(_line(high, part, lanes))
    total, gap = a + b, (re + 1j * im) * (a - b)
    _put_line(low, part, total + gap)
    _put_line(high, part, np.conj(total - gap))


def split_pairs(lanes: int, count: int, x: Address, x_step: int, y: Address) -> None:
    """Lines' numbers as pairs, `x_step` apart, to rows of parts, one behind the other."""
    for i in range(count):
        pairs = (x + i * x_step).elements(2 * lanes)
        (y + i * 2 * lanes).elements(2 * lanes)[...] = pairs.reshape(lanes, 2).T.ravel()


def join_pairs(lanes: int, count: int, x: Address, y: Address, y_step: int) -> None:
    """The inverse of split_pairs: pairs are `y_step` apart."""
    for i in range(count):
        parts = (x + i * 2 * lanes).elements(2 * lanes)
        (y + i * y_step).elements(2 * lanes)[...] = parts.reshape(2, lanes).T.ravel()


def _line(place: Address, part: int, lanes: int) -> np.ndarray:
    """Complex numbers, one of each line."""
    re, im = (at.elements(lanes).astype(np.float64) for at in (place, place + part))
    return re + 1j * im  # type: ignore[no-any-return]


def _put_line(place: Address, part: int, line: np.ndarray) -> None:
    place.elements(len(line))[...] = line.real
    (place + part).elements(len(line))[...] = line.imag
