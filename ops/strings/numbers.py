# SPDX-License-Identifier: Apache-2.0
"""Numbers in text, as TensorFlow reads them: spaces around, no `+` for integers, hexadecimals."""

from __future__ import annotations

import re
from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from ...engine.types import dtypes
from ...engine.types.dtypes import DType

_SPACES = rb"[ \t\n\v\f\r]*"
_INTEGER = re.compile(_SPACES + rb"(-?[0-9]+)" + _SPACES)
_FLOAT = re.compile(
    _SPACES
    + rb"([+-]?)(?:(inf|nan)|0x([0-9a-f]+)|((?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:e[+-]?[0-9]+)?))"
    + _SPACES,
    re.IGNORECASE,
)
# Longer texts are no numbers.
_LONGEST = 31


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
    characters = b"0123456789-" if kind.is_integer else b"0123456789-+.eE"
    if b"".join(texts).translate(None, characters) or max(map(len, texts), default=0) > _LONGEST:
        return None
    try:
        if kind.is_integer:
            whole = np.fromiter(map(int, texts), np.int64, len(texts))
            is_inside = (whole >= kind.min) & (whole <= kind.max)
            return whole.astype(kind.np_dtype) if is_inside.all() else None
        values = np.fromiter(map(float, texts), np.float64, len(texts))
    except (ValueError, OverflowError):
        return None
    if kind != dtypes.float32:
        return values
    with np.errstate(over="ignore", invalid="ignore"):
        singles = values.astype(np.float32)
        error = values - singles
        # Rounded twice, to float64 and then to float32: that is wrong at most where the float64
        # lies halfway between two float32, for which the exact text decides.
        others = np.nextafter(singles, np.where(error > 0, np.inf, -np.inf).astype(np.float32))
        for i in np.flatnonzero((error != 0) & (np.abs(others - values) == np.abs(error))).tolist():
            singles[i] = parse_number(texts[i], kind)
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
