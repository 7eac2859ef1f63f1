# SPDX-License-Identifier: Apache-2.0
"""Regular expressions where Python's and RE2's differ: the results are TensorFlow 1.15.5's."""

from __future__ import annotations

import numpy as np
import pytest

import numbaflow as tf

pytestmark = pytest.mark.programs


@pytest.mark.parametrize(
    ("text", "pattern", "rewrite", "expected"),
    [
        # Empty matches: none where the last match has ended.
        ("abxd", "x*", "-", "-a-b-d-"),
        ("xaxx", "x*", "-", "-a-"),
        ("aa", "|a", "-", "-a-a-"),
        ("abc", "b*?", "-", "-a-b-c-"),
        # Characters are those of UTF-8.
        ("ä", ".", "x", "x"),
        ("aäb", "[^a]", "_", "a__"),
        ("äx", "", "-", "-ä-x-"),
        ("äöü", "(.)(.)", r"\2\1", "öäü"),
        ("日本語", "[日-本]+", "-", "-語"),
        ("tést", r"\W", "-", "t-st"),
        # `$` is the end of the text alone.
        ("a\n", "a$", "e", "a\n"),
        ("a$b", "[$]", "-", "a-b"),
        ("l1\nl2\n", "(?m)$", "!", "l1!\nl2!\n!"),
        ("a]b", "[]]", "-", "a-b"),
        # Groups that there are not, and what is no escape.
        ("aab", "a", r"<\2>", "<><>b"),
        ("aab", "a", r"<\q>", "<<b"),
        (r"a\z", r"\\z", "-", "a-"),
        # Categories of Unicode.
        ("abÄÖü x1", r"\p{Ll}", "*", "**ÄÖ* *1"),
        ("日本 a1", r"\pL+", "*", "* *1"),
        ("aB1", r"[\p{Lu}1]", "*", "a**"),
        ("Äa-1", r"\P{L}", "*", "Äa**"),
        ("Äa-1", r"[^\p{L}]|\p{^Any}", "*", "Äa**"),
    ],
)
def test_replacing(text: str, pattern: str, rewrite: str, expected: str) -> None:
    found = tf.strings.regex_replace(tf.constant([text.encode()]), pattern, rewrite)
    with tf.Session() as sess:
        assert sess.run(found).tolist() == [expected.encode()]


def test_bytes_that_are_no_characters() -> None:
    texts = tf.constant(np.array([b"\xff", b"a\xffb"], object))
    with tf.Session() as sess:
        assert sess.run(tf.strings.regex_replace(texts, ".", "x")).tolist() == [b"\xff", b"x\xffx"]
        assert sess.run(tf.strings.regex_full_match(texts, "a.b")).tolist() == [False, False]


def test_a_wrong_new_text_replaces_nothing_once() -> None:
    found = tf.strings.regex_replace(tf.constant([b"aab"]), "a", r"<\q>", replace_global=False)
    with tf.Session() as sess:
        assert sess.run(found).tolist() == [b"aab"]


def test_whole_texts() -> None:
    texts = tf.constant(["ä", "a\n", "ab"])
    with tf.Session() as sess:
        assert sess.run(tf.strings.regex_full_match(texts, ".")).tolist() == [True, False, False]
        assert sess.run(tf.strings.regex_full_match(texts, "a.")).tolist() == [False, False, True]


def test_categories_that_there_are_not_are_refused() -> None:
    found = tf.strings.regex_replace(tf.constant(["a"]), r"\p{Nothing}", "")
    with tf.Session() as sess, pytest.raises(tf.errors.InvalidArgumentError, match="Invalid patt"):
        sess.run(found)
