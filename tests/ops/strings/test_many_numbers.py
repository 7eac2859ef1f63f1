# SPDX-License-Identifier: Apache-2.0
"""Many numbers in texts are read by a kernel as they are read one by one, to the last bit."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from numbaflow.engine.types import dtypes
from numbaflow.ops.strings import numbers

from ...drawing import examples

pytestmark = pytest.mark.cpu

PLAIN = [b"1", b"-0.0", b"+.5", b"7.", b"9007199254740993", b"1e22", b"1e-23", b"0.1", b"1E+5"]
ODD = [b"", b".", b"-", b"1,2", b"1e", b"e5", b"1e+", b"--1", b"1-", b" 1", b"0x1", b"nan"]
ODD += [b"1" * 32, b"1e99999", b"1_0", b"1.2.3", b"\xff"]

reals = st.one_of(
    st.floats(allow_nan=False, allow_infinity=False).map(repr),
    st.floats(-1e6, 1e6).map("{:.6g}".format),
    st.integers(-(10**20), 10**20).map(str),
    st.builds("{}e{}".format, st.integers(-(10**18), 10**18), st.integers(-400, 400)),
    st.from_regex(r"[+-]?([0-9]{1,9}\.?[0-9]{0,9}|\.[0-9]{1,9})", fullmatch=True),
).map(str.encode)


@examples(100)
@given(st.lists(reals, min_size=1, max_size=20))
def test_each_number_is_the_nearest(texts: list[bytes]) -> None:
    texts = [text for text in texts if len(text) <= 31] or [b"1"]
    many = [*texts, *PLAIN, *texts]
    found = numbers._reals_at_once(many)
    assert found is not None
    np.testing.assert_array_equal(found.view(np.int64), np.array([*map(float, many)]).view("i8"))


@examples(50)
@given(st.lists(st.integers(-(10**18) + 1, 10**18 - 1), min_size=1, max_size=20))
def test_whole_numbers(wholes: list[int]) -> None:
    found = numbers._integers_at_once([str(whole).encode() for whole in wholes])
    assert found is not None and found.tolist() == wholes


@pytest.mark.parametrize("odd", ODD)
@pytest.mark.parametrize("place", [0, 3, 9])
def test_what_is_no_plain_number_is_left_to_others(odd: bytes, place: int) -> None:
    assert numbers._reals_at_once([*PLAIN[:place], odd, *PLAIN[place:]]) is None
    assert numbers._integers_at_once([*[b"5"] * place, odd, b"-6"]) is None


@pytest.mark.parametrize("odd", [b"+1", b"1.0", b"1" * 19, b"1e3"])
def test_what_is_no_whole_number(odd: bytes) -> None:
    assert numbers._integers_at_once([b"5", odd]) is None


@pytest.mark.parametrize("kind", [dtypes.int32, dtypes.int64, dtypes.float32, dtypes.float64])
def test_many_are_read_as_few(kind: dtypes.DType) -> None:
    texts = [b"16777217", b"-5", b"2147483647", b"-2147483648", b"0"] * 60
    assert len(texts) >= numbers._MANY
    few = [numbers.parse_numbers([text], kind) for text in texts]
    np.testing.assert_array_equal(numbers.parse_numbers(texts, kind), np.concatenate(few))
    if kind == dtypes.int32:
        with pytest.raises(ValueError, match="2147483648"):
            numbers.parse_numbers([*texts, b"2147483648"], kind)
