# SPDX-License-Identifier: Apache-2.0
"""Labels are read out of scores, and compared with the right ones, within a plan."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import numbaflow as tf
from numbaflow.engine import settings

pytestmark = pytest.mark.cpu


def hosted(session: Any, fetches: Any, feeds: Any) -> list[str]:
    """The types of the ops that plans of a run leave to the host."""
    return [op.type for op, _ in session.prepared_plan(fetches, feeds)[0].traced.hosted]


def decoded(scores: np.ndarray, lengths: Any, merges: bool) -> list[list[int]]:
    """The labels of each row, one step after another."""
    found = []
    for row, length in enumerate(lengths):
        labels, before = [], None
        for step in range(length):
            best = int(scores[step, row].argmax())
            if best != scores.shape[2] - 1 and not (merges and best == before):
                labels.append(best)
            before = best
        found.append(labels)
    return found


def distance(one: list[int], other: list[int]) -> int:
    """Wagner and Fischer, by recursion over a table."""
    table = {(-1, j): j + 1 for j in range(-1, len(other))}
    table |= {(i, -1): i + 1 for i in range(-1, len(one))}
    for i, x in enumerate(one):
        for j, y in enumerate(other):
            changed = table[i - 1, j - 1] + (x != y)
            table[i, j] = min(changed, table[i - 1, j] + 1, table[i, j - 1] + 1)
    return table[len(one) - 1, len(other) - 1]


@pytest.mark.parametrize("merges", [False, True])
def test_greedy_labels(merges: bool) -> None:
    rng = np.random.default_rng(0)
    scores, lengths = tf.placeholder(tf.float32, [None, None, 4]), tf.placeholder(tf.int32, [None])
    (labels,), total = tf.nn.ctc_greedy_decoder(scores, lengths, merge_repeated=merges)
    fetches = (labels, total)
    with settings.override(jit="always"), tf.Session() as session:
        for time, given in ((7, [7, 4, 0]), (3, [1, 3]), (1, [1]), (9, [9, 8, 9, 2])):
            data = rng.normal(size=(time, len(given), 4)).astype(np.float32)
            feeds = {scores: data, lengths: given}
            found, sums = session.run(fetches, feeds)
            expected = decoded(data, given, merges)
            places = [(i, j) for i, row in enumerate(expected) for j in range(len(row))]
            np.testing.assert_array_equal(found.indices, np.reshape(places, (-1, 2)))
            np.testing.assert_array_equal(found.values, [x for row in expected for x in row])
            longest = max(map(len, expected))
            np.testing.assert_array_equal(found.dense_shape, [len(given), longest])
            best = [data[:n, i].max(-1).sum() for i, n in enumerate(given)]
            np.testing.assert_allclose(sums[:, 0], np.negative(best), rtol=1e-5, atol=1e-6)
        assert not hosted(session, fetches, feeds)
        with pytest.raises(tf.errors.FailedPreconditionError, match=r"sequence_length\(1\) <= 2"):
            session.run(fetches, {scores: data[:2, :2], lengths: [1, 3]})


@pytest.mark.parametrize("normalize", [False, True])
def test_distances_of_labels(normalize: bool) -> None:
    rng = np.random.default_rng(1)
    one, other = (tf.sparse_placeholder(tf.int64, [None, None]) for _ in range(2))
    made = tf.edit_distance(one, other, normalize=normalize)
    with settings.override(jit="always"), tf.Session() as session:
        for rows in (3, 40, 1):
            texts = [
                [rng.integers(0, 4, rng.integers(0, 9)).tolist() for _ in range(rows)]
                for _ in range(2)
            ]
            texts[1][0] = []  # infinitely far, if it is divided by its length
            feeds = dict(zip((one, other), map(sparse, texts), strict=True))
            expected = np.array([distance(*pair) for pair in zip(*texts, strict=True)], np.float32)
            if normalize:
                with np.errstate(all="ignore"):
                    divided = expected / np.array([len(text) for text in texts[1]], np.float32)
                expected = np.where(expected == 0, expected, divided)
            for _ in range(2):
                np.testing.assert_array_equal(session.run(made, feeds), expected)
        assert not hosted(session, made, feeds)
        # Elements in another order are those of their rows all the same.
        feeds = {one: ([[1, 0], [0, 0]], [5, 6], [2, 1]), other: ([[0, 0], [1, 0]], [6, 5], [2, 1])}
        np.testing.assert_array_equal(session.run(made, feeds), [0, 0])
        with pytest.raises(tf.errors.InvalidArgumentError):
            session.run(made, {**feeds, one: ([[2, 0]], [5], [2, 1])})


def sparse(texts: list[list[int]]) -> Any:
    """Rows as a sparse matrix."""
    places = [(i, j) for i, row in enumerate(texts) for j in range(len(row))]
    values = [x for row in texts for x in row]
    shape = [len(texts), max(map(len, texts))]
    indices = np.reshape(places, (-1, 2)).astype(np.int64)
    return tf.SparseTensorValue(indices, np.array(values, np.int64), shape)


def test_errors_of_labels_and_their_loss_are_one_plan() -> None:
    scores = tf.placeholder(tf.float32, [5, None, 4])
    right = tf.SparseTensor([[0, 0], [0, 1], [1, 0]], tf.constant([1, 2, 0]), [2, 2])
    lengths = tf.fill([2], 5)
    (labels,), _ = tf.nn.ctc_greedy_decoder(scores, lengths)
    rate = tf.reduce_mean(tf.edit_distance(tf.cast(labels, tf.int32), right))
    weight = tf.Variable(tf.ones([4]))
    loss = tf.reduce_mean(tf.nn.ctc_loss(right, scores * weight, lengths))
    fetches = [loss, rate, tf.train.GradientDescentOptimizer(0.1).minimize(loss)]
    feeds = {scores: np.random.default_rng(2).normal(size=(5, 2, 4))}
    with tf.Session() as session, settings.override(jit="never"):
        session.run(tf.global_variables_initializer())
        expected = session.run(fetches, feeds)
    with tf.Session() as session, settings.override(jit="always"):
        session.run(tf.global_variables_initializer())
        np.testing.assert_allclose(session.run(fetches, feeds)[:2], expected[:2], rtol=1e-5)
        assert not session.explain(fetches, feeds).follows
