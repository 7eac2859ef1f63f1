# SPDX-License-Identifier: Apache-2.0
"""Discrete Fourier transforms along one axis, of complex numbers, and of real ones.

Lengths are known: radices, and the factors between them, are tables that a plan holds.  Kernels
take products of small primes; what is longer is written as a matrix, and what has large primes in
it as a convolution.  A tile has groups of lines, one in each lane of vectors, so that the bits of a
line depend neither on its neighbours nor on threads.

An even number of real numbers is half as many complex ones, of whose transform that of the real
ones is made (and the reverse): each number meets the one as far from the other end.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from functools import cache, lru_cache
from typing import Any, NamedTuple

import numpy as np

from ..kernel import scalar
from ..kernel.sizes import AnySize, ceil_div, hint, maximum, product
from . import fourier_kernels
from .library_kernel import LibraryKernel
from .template import of_pairs
from .vectors import BYTES, vectors

__all__ = ["closed", "pinned", "real_forward", "real_inverse", "transform"]

# Lines of more numbers, of which scratch memory is no longer in a cache, are written as matrices.
_MOST = 1 << 13
# The tables of longer ones would make plans large.
_LONGEST = 1 << 17
_WORK = 1 << 16  # floating-point operations per tile
_TABLES = 64


def closed(dtypes: Sequence[str]) -> Iterator[LibraryKernel]:
    """Every kernel of this module for complex numbers of these parts."""
    for dtype in dtypes:
        if dtype in BYTES:
            over = [dtype, "int64", dtype, dtype]
            yield _kernel("columns", dtype, 0).over(over)
            for halves in (0, 1, -1) if dtype == "float32" else (0,):
                yield _kernel("rows", dtype, halves).over(over)


@cache
def _kernel(form: str, dtype: str, halves: int) -> LibraryKernel:
    name = {0: f"fourier_{form}", 1: "fourier_real", -1: "fourier_real_inverse"}[halves]
    lanes = vectors(dtype).lanes
    entry = getattr(fourier_kernels, form)
    return of_pairs(name, entry, DTYPE=dtype, LANES=lanes, HALVES=halves)


class _Table(NamedTuple):
    """Radices, factors of all kinds, and where those of halves and of results begin."""

    radices: np.ndarray
    factors: np.ndarray
    folds: int
    fold_count: int
    scale: int


def _radices(length: int) -> list[int] | None:
    """Radices whose product a length is, or None: there is a large prime among its factors."""
    odd = []
    for prime in (3, 5, 7, 11, 13):
        while length % prime == 0:
            odd.append(prime)
            length //= prime
    twos = length.bit_length() - 1
    if length != 1 << twos:
        return None
    eights, rest = divmod(twos, 3)
    if rest == 1 and eights:  # two of four rather than eight and two
        eights, rest = eights - 1, 4
    return [*odd, *[8] * eights, *{0: [], 1: [2], 2: [4], 4: [4, 4]}[rest]]


@lru_cache(_TABLES)
def _table(length: int, dtype: str, halves: int, is_inverse: bool) -> _Table:
    radices = _radices(length)
    assert radices is not None
    parts, left = [], length
    for radix in radices:
        angles = np.outer(np.arange(left // radix), np.arange(1, radix)) % left
        parts.append(np.exp(-2j * np.pi * angles / left).ravel())
        left //= radix
    folds = sum(map(len, parts))
    turns = np.exp(-1j * np.pi * np.arange(length // 2 + 1) / length)
    if halves:
        parts.append(-1j * turns if halves == 1 else np.conj(-1j * turns))
    scale = sum(map(len, parts))
    parts.append(np.array([0.5 if halves == 1 else 1 / ((2 if halves else 1) * length)]))
    factors = np.concatenate(parts).view(np.float64).astype(dtype)
    numbers = np.array(radices, np.int64)
    return _Table(numbers, factors, 2 * folds, len(turns) if halves else 0, 2 * scale)


def pinned(b: Any, size: AnySize) -> int:
    """A size as a number, for which there is a plan of its own."""
    number = hint(size)
    if not b.equal(size, number):
        raise b.host("the length of a transform that only a run tells")
    return number


def _fits(length: int) -> bool:
    """Do the kernels take a length at once?"""
    return 1 <= length <= _MOST and _radices(length) is not None


def transform(b: Any, x: Any, axis: int, is_inverse: bool) -> Any:
    """The transform of complex numbers along an axis, counted from the front."""
    length = pinned(b, x.shape[axis])
    if _fits(length):
        lines = product(x.shape[:axis]), length, product(x.shape[axis + 1 :])
        return _called(b, x, lines, x.shape, x.dtype, 0, is_inverse)
    if not 1 <= length <= _LONGEST:
        raise b.host(f"transforms of {length} numbers are the host's")
    rows = _rows(length)
    if rows:
        return _split(b, x, axis, rows, is_inverse)
    return _by_chirps(b, x, axis, is_inverse)


def _rows(length: int) -> int:
    """One of two factors of a length, both of which fit and are as near to each other as can be."""
    root = math.isqrt(length)
    near = (n for n in range(root, 1, -1) if length % n == 0)
    return next((n for n in near if _fits(n) and _fits(length // n)), 0)


def _split(b: Any, x: Any, axis: int, rows: int, is_inverse: bool) -> Any:
    """As transforms of columns, and of rows: of an axis that is written as a matrix."""
    shape, length = x.shape, pinned(b, x.shape[axis])
    width = length // rows
    x = b.reshape(x, (*shape[:axis], rows, width, *shape[axis + 1 :]))
    x = transform(b, x, axis, is_inverse)
    angles = np.outer(np.arange(rows), np.arange(width)) / length
    turns = np.exp((2j if is_inverse else -2j) * np.pi * angles)
    x = transform(b, _times(b, x, turns, axis), axis + 1, is_inverse)
    order = [*range(axis), axis + 1, axis, *range(axis + 2, x.ndim)]
    return b.reshape(b.transpose(x, order), shape)


def _by_chirps(b: Any, x: Any, axis: int, is_inverse: bool) -> Any:
    """Bluestein's: with j k = (j j + k k - (j - k) (j - k)) / 2 the sums are a convolution, which
    is a product of transforms of any length that is long enough."""
    length = pinned(b, x.shape[axis])
    room = 1 << (2 * length - 2).bit_length()
    squares = np.arange(length, dtype=np.int64) ** 2 % (2 * length)
    chirp = np.exp((1j if is_inverse else -1j) * np.pi * squares / length)
    around = np.zeros(room, np.complex128)
    around[:length] = np.conj(chirp)
    around[room - length + 1 :] = around[length - 1 : 0 : -1]
    behind = [(0, room - length if i == axis else 0) for i in range(x.ndim)]
    made = transform(b, b.pad(_times(b, x, chirp, axis), behind), axis, False)
    made = transform(b, _times(b, made, np.fft.fft(around), axis), axis, True)
    made = b.slice(made, [0] * x.ndim, x.shape)
    return _times(b, made, chirp / length if is_inverse else chirp, axis)


def _times(b: Any, x: Any, factors: np.ndarray, axis: int) -> Any:
    """The product with factors, whose axes begin at one of x."""
    behind = x.ndim - axis - factors.ndim
    known = factors.astype(x.dtype).reshape(*[1] * axis, *factors.shape, *[1] * behind)
    return b.map(scalar.mul, x, b.broadcast(b.constant(known), x.shape))


def real_forward(b: Any, x: Any, length: int) -> Any:
    """The first half of the transform of `length` real numbers: the innermost axis of x."""
    *lead, _ = x.shape
    half = length // 2
    shape = (*lead, half + 1)
    if length % 2 == 0 and _fits(half):
        return _called(b, x, (product(lead), half, 1), shape, "complex64", 1, False)
    whole = transform(b, b.cast(x, "complex64"), x.ndim - 1, False)
    return b.slice(whole, [0] * x.ndim, shape)


def real_inverse(b: Any, x: Any, length: int) -> Any:
    """The real numbers the first half of whose transform the innermost axis of x is."""
    *lead, _ = x.shape
    half = length // 2
    if length % 2 == 0 and _fits(half):
        return _called(b, x, (product(lead), half, 1), (*lead, length), "float32", -1, True)
    start, over = [0] * len(lead), (length - 1) // 2
    back = b.slice(x, [*start, over], (*lead, over), [*[1] * len(lead), -1])
    first = b.cast(b.map(scalar.real, b.slice(x, [*start, 0], (*lead, 1))), "complex64")
    middle = [first, b.slice(x, [*start, 1], (*lead, over))]
    if length % 2 == 0:
        last = b.slice(x, [*start, half], (*lead, 1))
        middle.append(b.cast(b.map(scalar.real, last), "complex64"))
    whole = b.concat([*middle, b.map(scalar.conj, back)], x.ndim - 1)
    return b.map(scalar.real, transform(b, whole, x.ndim - 1, True))


def _called(
    b: Any,
    x: Any,
    lines: tuple[AnySize, int, AnySize],
    shape: Sequence[AnySize],
    dtype: str,
    halves: int,
    is_inverse: bool,
) -> Any:
    if b.is_plain:
        raise b.host("Fourier transforms are the host's")
    outer, length, inner = lines
    real = scalar.part_dtype(dtype)
    table, lanes = _table(length, real, halves, is_inverse), vectors(real).lanes
    taken, given = (length + (halves == side) for side in (-1, 1))
    is_scaled = is_inverse or halves == 1
    steps = len(table.radices)
    # A turn of a vector's lanes, all of which are worked on however few lines there are.
    work = 10 * length * maximum(steps, 1) * lanes
    is_rows = inner == 1
    (out,) = b.call(
        _kernel("rows" if is_rows else "columns", real, halves),
        [x, b.constant(table.radices), b.constant(table.factors)],
        [(shape, dtype)],
        [
            *(length, steps, taken, given, int(is_inverse), int(is_scaled)),
            *(table.folds, table.fold_count, table.scale, inner),
        ],
        outer,
        lanes * max(1, _WORK // work) if is_rows else maximum(1, ceil_div(_WORK, work * inner)),
        1 if is_rows else inner,
        None if is_rows else lanes * max(1, _WORK // work),
        scratch=BYTES[real] * 2 * (length + 1) * 2 * lanes,
        operations=work * ceil_div(outer * inner, lanes),
    )
    return out
