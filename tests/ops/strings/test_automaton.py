# SPDX-License-Identifier: Apache-2.0
"""Tables of regular expressions match what Python's matcher does."""

from __future__ import annotations

import re

import numpy as np
import pytest

import numbaflow as tf
from numbaflow.engine import settings
from numbaflow.ops.strings import packing
from numbaflow.ops.strings.automaton import automaton

pytestmark = pytest.mark.cpu

PATTERNS = [
    *("", "a", "a+b?.*", "(ab|a)(c|bcd)", "[^ab]*", "a{2,4}b", "a{2,}", "(a*)*b", "x*?y+?"),
    *(r"\d+\.\d*", r"\w\W\s\S\D", "[a-c\\d-]+", "(?s).*a.", "^ab", "ab\\Z", "^a.*b\\Z", "a|", "|"),
    *("(?:a|b)*abb", "[\\x00-\\x1f]", "a\nb", "[^\n]b", "(a)(b)(c)?"),
]
# Those whose meaning is more than a set of texts of characters.
OTHERS = ["(a)\\1", "a(?=b)", "(?i)a", "(?m)^a", "\\bab", "a$|b", "(?!)", "(?:a{1,30}){1,300}"]


def texts(count: int = 400) -> list[bytes]:
    random = np.random.RandomState(3)
    letters = list(b"aabbcdxy019.- \n\x01_")
    return [
        bytes(random.choice(letters, random.randint(0, 9)).astype(np.uint8)) for _ in range(count)
    ]


@pytest.mark.parametrize("pattern", PATTERNS)
def test_tables_match_what_pythons_matcher_does(pattern: str) -> None:
    compiled = re.compile(pattern, re.ASCII)
    every = texts()
    known = packing.gathered(np.array(every, object))
    assert known is not None
    plain = [text.decode() for text in every]
    for is_search, matcher in ((False, compiled.fullmatch), (True, compiled.search)):
        found = automaton(compiled, is_search)
        assert found is not None
        assert found.matches(*known).tolist() == [matcher(text) is not None for text in plain]


@pytest.mark.parametrize("pattern", OTHERS)
def test_other_patterns_are_no_tables(pattern: str) -> None:
    assert automaton(re.compile(pattern, re.ASCII), True) is None


@pytest.mark.parametrize("pattern", [*PATTERNS[:8], "(?i)a", "a$|b"])
@pytest.mark.parametrize("is_global", [False, True])
def test_ops_on_many_texts_give_what_each_gives(pattern: str, is_global: bool) -> None:
    def run() -> list[np.ndarray]:
        with tf.Graph().as_default(), tf.Session() as session:
            given = tf.constant(np.array(texts() + ["ä".encode()] * is_global, object))
            replaced = tf.regex_replace(given, pattern, r"<\0>", replace_global=is_global)
            return session.run([replaced, tf.strings.regex_full_match(given, pattern)])

    many = run()
    with settings.override(jit="never"):
        for one, other in zip(many, run(), strict=True):
            assert one.tolist() == other.tolist()
