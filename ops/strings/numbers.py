# SPDX-License-Identifier: Apache-2.0
"""Numbers in text, as TensorFlow reads them: spaces around, no `+` for integers, hexadecimals."""

from __future__ import annotations

import re
from collections.abc import Sequence
from fractions import Fraction
from struct import Struct

import numpy as np

from ...engine import settings
from ...engine.types import dtypes
from ...engine.types.dtypes import DType
from ...engine.types.texts import PackedTexts
from . import packing

_SPACES = rb"[ \t\n\v\f\r]*"
_INTEGER = re.compile(_SPACES + rb"(-?[0-9]+)" + _SPACES)
_FLOAT = re.compile(
    _SPACES
    + rb"([+-]?)(?:(inf|nan)|0x([0-9a-f]+)|((?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:e[+-]?[0-9]+)?))"
    + _SPACES,
    re.IGNORECASE,
)
# The digits of a float64 that a float32 has not, and those of a number halfway between two.
_BEHIND, _HALF = (1 << 29) - 1, 1 << 28
# The smallest float32 with all digits.
_LEAST = float(np.finfo(np.float32).tiny)
_LARGEST = float(np.finfo(np.float32).max)
_INT64, _FLOAT64 = Struct("<q"), Struct("<d")
# One more than the largest integer of a type.
_MOST = {dtypes.int32: 1 << 31, dtypes.int64: 1 << 63}
# Longer texts are no numbers.
_LONGEST = 31
# From so many texts on they are read by a kernel.
_MANY = 256
# The powers of ten that are float64.
_POWERS = np.array([float(10**i) for i in range(23)])


def parse_number(text: bytes, kind: DType) -> int | float:
    """The number of type int32, int64, float32 or float64 that a text is; else ValueError."""
    return _integer(text, kind) if kind.is_integer else _real(text, kind)


def parse_numbers(texts: Sequence[bytes], kind: DType) -> np.ndarray:
    """The numbers that texts are, all at once if they are plain; ValueError for what is none."""
    plain = _plain_numbers(texts, kind)
    if plain is not None:
        return plain
    with np.errstate(over="ignore"):
        return np.array([parse_number(text, kind) for text in texts], kind.np_dtype)


def _plain_numbers(texts: Sequence[bytes], kind: DType) -> np.ndarray | None:
    """The numbers in texts without spaces or words, for which Python's reading is the same."""
    if not len(texts):
        return np.empty(0, kind.np_dtype)
    is_integer = kind.is_integer
    is_many = len(texts) >= _MANY or isinstance(texts, PackedTexts)
    if is_many and settings.get("jit") != "never":
        found = _integers_at_once(texts) if is_integer else _reals_at_once(texts)
        if found is not None:
            return _narrowed(texts, found, kind)
    characters = b"0123456789-" if is_integer else b"0123456789-+.eE"
    if b"".join(texts).translate(None, characters) or max(map(len, texts), default=0) > _LONGEST:
        return None
    try:
        if len(texts) == 1 or is_integer:
            return few_plain_numbers(texts, kind)
        numbers = np.fromiter(map(float, texts), np.float64, len(texts))
    except (ValueError, OverflowError):
        return None
    return _narrowed(texts, numbers, kind)


def _narrowed(texts: Sequence[bytes], numbers: np.ndarray, kind: DType) -> np.ndarray | None:
    """Numbers of 64 bits in a type; None where some do not fit."""
    if not kind.is_integer:
        return _singles(texts, numbers) if kind == dtypes.float32 else numbers
    if kind == dtypes.int64:
        return numbers
    is_inside = (numbers >= kind.min) & (numbers <= kind.max)
    return numbers.astype(kind.np_dtype) if is_inside.all() else None


def _reals_at_once(texts: Sequence[bytes]) -> np.ndarray | None:
    """Many numbers in double precision, read by a kernel; None if some are not plain."""
    from ...jit.library import decimals
    from ...jit.runtime.calling import call

    whole, count = _joined(texts), len(texts)
    numbers, unread = np.empty(count, np.float64), np.zeros(count, np.uint8)
    found = np.zeros(2, np.int64)
    arrays: list[np.ndarray] = [np.frombuffer(whole or b"\0", np.uint8), _POWERS]
    arrays += [numbers, unread, found]
    call(decimals.reals(), arrays, [len(whole), count], 1)
    left, is_odd = found.tolist()
    if is_odd:
        return None
    for i in np.flatnonzero(unread).tolist() if left else ():
        numbers[i] = float(texts[i])
    return numbers


def _integers_at_once(texts: Sequence[bytes]) -> np.ndarray | None:
    """Many whole numbers, read by a kernel; None if some are not plain, or have many digits."""
    from ...jit.library import decimals
    from ...jit.runtime.calling import call

    whole, count = _joined(texts), len(texts)
    numbers, found = np.empty(count, np.int64), np.zeros(1, np.int64)
    arrays: list[np.ndarray] = [np.frombuffer(whole or b"\0", np.uint8), numbers, found]
    call(decimals.integers(), arrays, [len(whole), count], 1)
    return None if found[0] else numbers


def _joined(texts: Sequence[bytes]) -> bytes:
    """All texts with commas between them."""
    if isinstance(texts, PackedTexts):
        return packing.with_marks(texts, b","[0])[:-1]
    return b",".join(texts)


def few_plain_numbers(texts: Sequence[bytes], kind: DType) -> np.ndarray | None:
    """The numbers in a few texts of digits, signs, points and `e`; None for a closer look."""
    if max(map(len, texts)) > _LONGEST:
        return None
    if kind.is_integer:
        limit, wholes = _MOST.get(kind, 0), list(map(int, texts))
        is_inside = -limit <= min(wholes) and max(wholes) < limit
        return np.array(wholes, kind.np_dtype) if is_inside else None
    values = list(map(float, texts))
    if kind == dtypes.float32:
        for value in values:
            if value and (
                _INT64.unpack(_FLOAT64.pack(value))[0] & _BEHIND == _HALF
                or not _LEAST <= abs(value) < _LARGEST
            ):
                return None
    return np.array(values, kind.np_dtype)


def _singles(texts: Sequence[bytes], values: np.ndarray) -> np.ndarray:
    """The numbers in texts in single precision, given in double precision."""
    # Rounded twice, to float64 and then to float32: that is wrong at most where the float64 lies
    # halfway between two float32, for which the exact text decides.  What is behind the digits of
    # a float32 is a one and zeros there, unless it is too small to have them all.
    with np.errstate(over="ignore"):
        singles = values.astype(np.float32)
    is_halfway = (values.view(np.int64) & _BEHIND) == _HALF
    if values.size and not np.abs(values).min() >= _LEAST:
        is_halfway |= (np.abs(values) < _LEAST) & (values != 0)
    if is_halfway.any():
        for i in np.flatnonzero(is_halfway).tolist():
            singles[i] = parse_number(texts[i], dtypes.float32)
    return singles


def _integer(text: bytes, kind: DType) -> int:
    found = _INTEGER.fullmatch(text)
    if found is None:
        raise ValueError(text)
    value = int(found[1])
    if not kind.min <= value <= kind.max:
        raise ValueError(text)
    return value


def _real(text: bytes, kind: DType) -> float:
    # TensorFlow reads nothing but spaces as 0 (core/lib/strings/numbers.cc).
    if text and not text.strip() and len(text) <= _LONGEST:
        return 0.0
    found = _FLOAT.fullmatch(text)
    if found is None or len(text) > _LONGEST:
        raise ValueError(text)
    sign, name, hexadecimal, decimal = ((part or b"").decode() for part in found.groups())
    if name:
        value = float(name)
    elif hexadecimal:
        value = _rounded(Fraction(int(hexadecimal, 16)), float(int(hexadecimal, 16)), kind)
    else:
        # Fractions of huge exponents would take for ever.
        value = float(decimal)
        if 1e-50 < value < 1e40:
            value = _rounded(Fraction(decimal), value, kind)
    return -value if sign == "-" else value


def _rounded(exact: Fraction, value: float, kind: DType) -> float:
    """`exact`, whose nearest float64 is `value`, as a number of a type, rounded only once."""
    if kind != dtypes.float32:
        return value
    with np.errstate(over="ignore"):
        single = np.float32(value)
    if not np.isfinite(single) or float(single) == value:
        return value
    other = np.nextafter(single, np.float32(np.inf if value > single else 0))
    is_halfway = abs(float(other) - value) == abs(float(single) - value)
    if is_halfway and exact != Fraction(value):
        lower, upper = sorted((float(single), float(other)))
        return upper if exact > Fraction(value) else lower
    return value
