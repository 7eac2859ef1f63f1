# SPDX-License-Identifier: Apache-2.0
"""Ops on many texts at once give what Python gives for each, whatever their lengths."""

import base64

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import numbaflow as tf
from numbaflow.engine import settings
from numbaflow.ops.strings import pieces

from ...drawing import examples

pytestmark = pytest.mark.programs
few = examples(20)
TEXTS = st.one_of(
    st.lists(st.binary(max_size=9), max_size=6),
    st.lists(st.binary(min_size=4, max_size=4), min_size=1, max_size=6),
)


def each(make, texts):
    """What an op gives for a vector of texts."""
    with tf.Graph().as_default(), settings.override(jit="never"), tf.Session() as session:
        fed = tf.placeholder(tf.string, [None])
        array = np.empty(len(texts), object)
        array[:] = texts
        return session.run(make(fed), {fed: array}).tolist()


@pytest.mark.pure
@few
@given(TEXTS, st.integers(0, 3))
def test_pieces_come_back_from_their_rooms(texts, more):
    sizes = pieces.sizes_of(texts)
    whole = pieces.filled(texts, sizes, sizes + more, ord("x"))
    assert whole == b"".join(text + b"x" * more for text in texts)
    assert pieces.cut(whole, sizes, sizes + more) == texts


@few
@given(TEXTS, st.booleans())
def test_base64_is_pythons(texts, pad):
    written = each(lambda fed: tf.encode_base64(fed, pad=pad), texts)
    expected = [base64.urlsafe_b64encode(text) for text in texts]
    assert written == (expected if pad else [text.rstrip(b"=") for text in expected])
    assert each(tf.decode_base64, written) == texts


@few
@given(TEXTS, st.integers(-3, 3), st.integers(-1, 4))
def test_parts_are_pythons_slices(texts, start, length):
    texts = [text + b"abc" for text in texts]
    starts = [start + len(text) if start < 0 else start for text in texts]
    expected = [
        text[at:] if length < 0 else text[at : at + length] for text, at in zip(texts, starts)
    ]
    assert each(lambda fed: tf.substr(fed, start, length), texts) == expected


@few
@given(TEXTS, st.lists(st.integers(0, 3), min_size=6, max_size=6))
def test_texts_of_a_segment_are_joined_in_order(texts, segments):
    ids = segments[: len(texts)]
    joined = each(
        lambda fed: tf.strings.unsorted_segment_join(fed, np.array(ids, np.int32), 4, "-"), texts
    )
    expected = [[text for text, i in zip(texts, ids) if i == number] for number in range(4)]
    assert joined == list(map(b"-".join, expected))


@pytest.mark.parametrize("texts", [[b"abacus", b"", b"xyz"], [b"aab\0a", b"\xc3\xa4a"]])
@pytest.mark.parametrize("pattern", [b"a+", b"a*", b"[a-c]+", b"."])
def test_replaced_are_all_matches_whatever_way_is_taken(texts, pattern):
    """Where a pattern matches no empty text, what is put there may be the same for all."""
    plain = each(lambda fed: tf.strings.regex_replace(fed, pattern, "-"), texts)
    by_group = each(lambda fed: tf.strings.regex_replace(fed, pattern, r"\0"), texts)
    assert by_group == texts
    assert plain == [
        each(lambda fed: tf.strings.regex_replace(fed, pattern, "-"), [text])[0] for text in texts
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b"YQ=", "Invalid character found"),
        (b"YQ==YQ==", "Invalid character found"),
        (b"Y?==", "Invalid character found"),
        (b"YWJj=", "cannot be 1 modulo 4"),
        (b"=", "cannot be 1 modulo 4"),
    ],
)
def test_what_is_no_base64_is_refused_as_tensorflow_does(text, message):
    assert each(tf.decode_base64, [b"YQ==", b"YQ", b"YWI="]) == [b"a", b"a", b"ab"]
    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        each(tf.decode_base64, [text])


def test_dimensions_to_join_that_there_are_not_are_refused_by_the_graph():
    with pytest.raises(ValueError, match="Invalid reduction dimension 0 for input with 0"):
        tf.strings.reduce_join("", 0)
    with pytest.raises(ValueError, match="Invalid reduction dimension -3"):
        tf.strings.reduce_join([[""]], axis=-3)
