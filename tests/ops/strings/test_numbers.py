# SPDX-License-Identifier: Apache-2.0
"""Numbers in texts: what is read quickly, alone or with others, is what a careful reader finds."""

from __future__ import annotations

import numpy as np
import pytest

from numbaflow.engine.types import dtypes
from numbaflow.ops.strings.numbers import parse_number, parse_numbers

pytestmark = pytest.mark.cpu

_KINDS = (dtypes.float32, dtypes.float64, dtypes.int32, dtypes.int64)


def _texts() -> list[bytes]:
    """Numbers of all sizes, and such as lie halfway between two float32, or nearly so."""
    rng = np.random.default_rng(3)
    lower = (rng.uniform(-1, 1, 400) * 10.0 ** rng.uniform(-46, 37, 400)).astype(np.float32)
    upper = np.nextafter(lower, np.float32(np.inf))
    halfway = (lower.astype(np.float64) + upper) / 2
    texts = [repr(float(x)) for x in halfway] + [f"{x:.22e}" for x in halfway]
    texts += [repr(float(x)) for x in rng.standard_normal(200)]
    texts += ["0", "-0", "1e39", "-1e39", "3.4028235e38", "3.4028236e38", "1e-45", "7e-46", "1e-60"]
    return [text.encode() for text in texts if len(text) <= 31]


def test_floats_are_rounded_once() -> None:
    """Alone and together, to the bit."""
    texts = _texts()
    for kind in _KINDS[:2]:
        with np.errstate(over="ignore"):
            expected = np.array([parse_number(text, kind) for text in texts], kind.np_dtype)
        found = parse_numbers(texts, kind)
        alone = np.concatenate([parse_numbers([text], kind) for text in texts])
        assert found.tobytes() == expected.tobytes()
        assert alone.tobytes() == expected.tobytes()


@pytest.mark.parametrize("kind", _KINDS[2:])
def test_integers_keep_to_their_type(kind: dtypes.DType) -> None:
    """The largest are read, one more is refused."""
    for text in (kind.max, kind.min, 0, -7):
        assert parse_numbers([b"%d" % text], kind).tolist() == [text]
        assert parse_numbers([b"%d" % text, b"1"], kind).tolist() == [text, 1]
    for wrong in (b"%d" % (kind.max + 1), b"%d" % (kind.min - 1), b"", b"-", b"1-", b"1.0", b"+1"):
        with pytest.raises(ValueError):
            parse_numbers([wrong], kind)


@pytest.mark.parametrize("text", [b"", b".", b"1e", b"--1", b"1.2.3", b"e5", b"x"])
def test_what_is_no_number(text: bytes) -> None:
    """A text that is no number is refused, alone and among others."""
    for texts in ([text], [b"1", text]):
        with pytest.raises(ValueError):
            parse_numbers(texts, dtypes.float32)
