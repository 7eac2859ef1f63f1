# SPDX-License-Identifier: Apache-2.0
"""Numbers in text, as TensorFlow reads them: spaces around, no `+` for integers, hexadecimals."""

from __future__ import annotations

import re
from fractions import Fraction

import numpy as np

from ..engine import dtypes
from ..engine.dtypes import DType

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


def _integer(text: bytes, kind: DType) -> int:
    found = _INTEGER.fullmatch(text)
    if found is None:
        raise ValueError(text)
    value = int(found[1])
    if not kind.min <= value <= kind.max:
        raise ValueError(text)
    return value


def _real(text: bytes, kind: DType) -> float:
    if text and not text.strip() and len(text) <= _LONGEST:
        return 0.0
    found = _FLOAT.fullmatch(text)
    if found is None or len(text) > _LONGEST:
        raise ValueError(text)
    sign, name, hexadecimal, decimal = (part and part.decode() for part in found.groups())
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
