# SPDX-License-Identifier: Apache-2.0
"""Texts that end in zeros, as numbers written into texts do, keep them on every way of a run."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import numbaflow as tf
from numbaflow.engine import settings

pytestmark = pytest.mark.cpu

TEXTS = [b"ab\0\0", b"c\0", b"\0\0\0", b""]
NUMBERS = [np.array(row, "<i4") for row in ([1, 2, 3], [256, 5], [0])]


def picked(texts: Any, number: Any, text: Any) -> dict[str, tuple[Any, Any]]:
    """Expressions of texts, a number and a text, with what they give by Python."""
    ring = [(1, 2), (2, 0)]

    def joined(i: Any, so_far: Any) -> Any:
        return i + 1, tf.string_join([so_far, tf.gather(texts, i)])

    return {
        "gather": (tf.gather(texts, number), lambda k, t: TEXTS[k]),
        "slice": (tf.identity(texts[number]), lambda k, t: TEXTS[k]),
        "join": (tf.string_join([text, texts[number]]), lambda k, t: t + TEXTS[k]),
        "decode": (
            tf.decode_raw(tf.gather(texts, number), tf.uint8),
            lambda k, t: list(TEXTS[k]),
        ),
        "python": (
            tf.py_func(lambda one: one + b"\0", [tf.gather(texts, number)], tf.string),
            lambda k, t: TEXTS[k] + b"\0",
        ),
        "fill": (tf.fill([2], text), lambda k, t: [t] * 2),
        "pad": (tf.pad([text], [[0, 1]], constant_values=text), lambda k, t: [t] * 2),
        "where": (
            tf.where([True, False], tf.fill([2], text), texts[:2]),
            lambda k, t: [t, TEXTS[1]],
        ),
        "branch": (
            tf.cond(number > 0, lambda: texts[number], lambda: text),
            lambda k, t: TEXTS[k] if k else t,
        ),
        "loop": (
            tf.while_loop(lambda i, _: i < 2, joined, [0, text])[1],
            lambda k, t: t + TEXTS[0] + TEXTS[1],
        ),
        "fold": (
            tf.foldl(lambda a, x: tf.string_join([x, a]), texts, text),
            lambda k, t: b"".join(TEXTS[::-1]) + t,
        ),
        "map": (
            tf.map_fn(lambda pair: texts[pair[number % 2]], tf.constant(ring), tf.string),
            lambda k, t: [TEXTS[pair[k % 2]] for pair in ring],
        ),
    }


@pytest.mark.parametrize("jit", ["auto", "always", "never"])
def test_zeros_at_the_end_of_texts_stay(jit: str) -> None:
    with tf.Graph().as_default(), tf.Session() as session, settings.override(jit=jit):
        texts, number = tf.placeholder(tf.string, [4]), tf.placeholder(tf.int32, [])
        text = tf.placeholder(tf.string, [])
        table = picked(texts, number, text)
        for k, given in ((0, b"x\0"), (1, b"y\0\0"), (2, b"\0"), (0, b"x\0")):
            feed = {texts: TEXTS, number: k, text: given}
            for name, (tensor, expected) in table.items():
                found = session.run(tensor, feed)
                found = found.tolist() if isinstance(found, np.ndarray) else found
                assert found == expected(k, given), (name, k, given)
            everything = session.run([tensor for tensor, _ in table.values()], feed)
            assert everything[0] == TEXTS[k]


def test_numbers_in_texts_come_through_input_queues() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        rows = tf.constant([row.tobytes() for row in NUMBERS])
        (row,) = tf.train.slice_input_producer([rows], shuffle=False)
        numbers = tf.decode_raw(row, tf.int32)
        coordinator = tf.train.Coordinator()
        threads = tf.train.start_queue_runners(session, coordinator)
        for _ in range(2):
            for expected in NUMBERS:
                np.testing.assert_array_equal(session.run(numbers), expected)
        coordinator.request_stop()
        coordinator.join(threads)
