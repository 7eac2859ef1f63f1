# SPDX-License-Identifier: Apache-2.0
"""Texts that stay packed from one operation on the host to the next: the same results."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import numbaflow as tf
from numbaflow.engine import settings
from numbaflow.engine.types.texts import PackedTexts
from numbaflow.ops.strings import at_once, packing

pytestmark = pytest.mark.cpu

_COUNT = 300


@pytest.fixture(autouse=True)
def graph() -> Any:
    with tf.Graph().as_default():
        yield


def _lines() -> list[bytes]:
    """Records of four fields, of which some are missing."""
    return [
        b"%s,%d, Word%d \xc3\xa4,%s" % (b"" if i % 3 == 0 else b"c%d" % i, i, i % 7, b"x" * (i % 5))
        for i in range(_COUNT)
    ]


def _columns(lines: Any) -> Any:
    name, number, word, mark = tf.decode_csv(lines, [["none"], [0], [""], [""]])
    filled = tf.strings.join([word, tf.fill(tf.shape(name), "k"), mark], "_")
    return {
        "bucket": tf.string_to_hash_bucket_fast(filled, 1000),
        "strong": tf.string_to_hash_bucket_strong(tf.strings.lower(word), 1000, [3, 5]),
        "size": tf.strings.length(tf.strings.strip(word)),
        "part": tf.string_to_hash_bucket(tf.strings.substr(filled, 1, 3), 500),
        "words": tf.string_to_hash_bucket_fast(tf.string_split(word, " ").values, 99),
        "names": name,
        "both": tf.strings.join([name, "&", mark]),
        "number": number * 2,
        "real": tf.log1p(tf.cast(number, tf.float32)),
    }


def _run() -> dict[str, np.ndarray]:
    dataset = tf.data.Dataset.from_tensors(_lines()).map(_columns)
    iterator = tf.data.make_initializable_iterator(dataset)
    element = iterator.get_next()
    with tf.Session() as session:
        session.run(iterator.initializer)
        return session.run(element)


def test_what_stays_packed_gives_the_results_of_objects(monkeypatch: pytest.MonkeyPatch) -> None:
    given: list[bool] = []
    hashed = at_once.hashed

    def noted(texts: Any, *others: Any) -> Any:
        given.append(isinstance(texts, PackedTexts))
        return hashed(texts, *others)

    monkeypatch.setattr(at_once, "hashed", noted)
    found = _run()
    assert len(given) == 4 and all(given)
    with tf.Graph().as_default(), settings.override(jit="never"):
        expected = _run()
    assert found.keys() == expected.keys()
    for name, values in expected.items():
        if name == "real":
            np.testing.assert_allclose(found[name], values, rtol=1e-6)
        else:
            assert found[name].dtype == values.dtype
            assert found[name].tolist() == values.tolist(), name


def test_an_error_is_that_of_the_text() -> None:
    def cut(lines: Any) -> Any:
        (word,) = tf.decode_csv(lines, [[""]])
        return tf.string_to_hash_bucket_fast(tf.strings.substr(word, 4, 2), 10)

    words = [b"longer"] * _COUNT
    words[17] = b"abc"
    element = tf.data.make_one_shot_iterator(
        tf.data.Dataset.from_tensors(words).map(cut)
    ).get_next()
    with tf.Session() as session, pytest.raises(tf.errors.InvalidArgumentError) as error:
        session.run(element)
    assert "pos 4 out of range for string b'abc' at index 17" in str(error.value)


def test_texts_lie_between_marks() -> None:
    texts = packing.between_marks(b"ab\0\0cde\0", np.array([2, 0, 3]))
    assert texts.tolist() == [b"ab", b"", b"cde"]
    woven = at_once.woven([texts, PackedTexts(b"-", np.array([[0, 1]] * 3))], 3, b".", packs=True)
    assert isinstance(woven, PackedTexts)
    assert woven.tolist() == [b"ab.-", b".-", b"cde.-"]
