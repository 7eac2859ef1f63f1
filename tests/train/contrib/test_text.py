# SPDX-License-Identifier: Apache-2.0
"""Pairs of near words, and strings one after another."""

from __future__ import annotations

import pytest

import numbaflow as tf
from numbaflow.train.contrib.input_pipeline import seek_next

pytestmark = pytest.mark.cpu

text = tf.contrib.text


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default():
        tf.set_random_seed(5)
        yield


def pairs(tensors):
    with tf.Session() as session:
        session.run(tf.tables_initializer())
        return list(zip(*(value.tolist() for value in session.run(tensors))))


def test_words_see_those_near_them():
    words = tf.constant([1, 2, 3, 4, 5])
    assert pairs(text.skip_gram_sample(words, 1, 1)) == [
        (a, b) for a in range(1, 6) for b in (a - 1, a + 1) if 1 <= b <= 5
    ]
    inner = text.skip_gram_sample(words, 0, 0, start=1, limit=2, emit_self_as_target=True)
    assert pairs(inner) == [(2, 2), (3, 3)]
    drawn = pairs(text.skip_gram_sample(words, 1, 3, seed=4))
    assert drawn == RECORDED


# By TensorFlow 1.15.5, of the same seeds.
RECORDED = [(int(a), int(b)) for a, b in "12 21 23 24 25 31 32 34 35 42 43 45 54".split()]


def test_words_are_left_out_by_frequency(tmp_path):
    (tmp_path / "words").write_text("the,100\nfox,3\nrare,1\n")
    words = tf.constant(["the", "fox", "jumps", "rare"])
    path = str(tmp_path / "words")
    kept = text.skip_gram_sample_with_text_vocab(words, path, vocab_min_count=2)
    assert pairs(kept) == [(b"the", b"fox"), (b"fox", b"the")]
    with pytest.raises(ValueError, match="should be different, but are both 1"):
        text.skip_gram_sample_with_text_vocab(words, path, 1)
    with pytest.raises(ValueError, match="must be greater than or equal to the sum"):
        text.skip_gram_sample_with_text_vocab(words, path, corpus_size=5)
    with pytest.raises(ValueError, match="useless without a vocab_freq_table"):
        text.skip_gram_sample(words, vocab_min_count=3)


@pytest.mark.parametrize(
    ("least", "most", "message"),
    [(-1, 1, "must be >= 0"), (3, 2, "min_skips must be <= max_skips")],
)
def test_distances_that_cannot_be_are_errors(least, most, message):
    sample = text.skip_gram_sample(tf.constant([1, 2]), least, most)
    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        pairs(sample)


def test_strings_come_in_turns():
    word = seek_next(["a", "b"], num_epochs=2)
    endless = tf.contrib.input_pipeline.obtain_next(
        ["x", "y"], tf.Variable(tf.constant(-1, tf.int64))
    )
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        assert [session.run(word) for _ in range(4)] == [b"a", b"b", b"a", b"b"]
        with pytest.raises(tf.errors.OutOfRangeError):
            session.run(word)
        assert [session.run(endless) for _ in range(3)] == [b"x", b"y", b"x"]
