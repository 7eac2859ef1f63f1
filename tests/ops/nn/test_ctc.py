# SPDX-License-Identifier: Apache-2.0
"""Connectionist temporal classification: what TensorFlow 1.15.5 computes (ctc_1_15.json)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import numbaflow as tf
from numbaflow.engine import settings

RECORDED = json.loads((Path(__file__).parent / "ctc_1_15.json").read_text())
INDICES = [[0, 0], [0, 1], [0, 2], [1, 0], [1, 1], [1, 3], [2, 0], [2, 1], [2, 2], [2, 3]]
VALUES = [1, 1, 0, 2, 0, 2, 3, 3, 3, 1]

pytestmark = pytest.mark.cpu


@pytest.fixture(autouse=True, params=["never", "always"])
def _fresh_graph(request: pytest.FixtureRequest) -> Iterator[None]:
    with tf.Graph().as_default(), settings.override(jit=request.param):
        yield


def _run(fetches: Any, feeds: dict[Any, Any] | None = None) -> Any:
    with tf.Session() as session:
        return session.run(fetches, feeds)


def _scores(seed: int, *shape: int) -> np.ndarray:
    return (np.random.RandomState(seed).randn(*shape) * 2).astype(np.float32)


def _losses(case: dict[str, Any]) -> list[float]:
    return [np.inf if value is None else value for value in case["loss"]]


def _close(ours: np.ndarray, theirs: Any) -> None:
    np.testing.assert_allclose(ours, np.array(theirs, float), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("case", RECORDED["loss"], ids=lambda case: str(case["flags"]))
def test_losses_and_gradients_under_all_flags(case: dict[str, Any], dtype: str) -> None:
    scores = tf.placeholder(dtype, [None, 3, 5])
    lengths = [6, 4, 3] if case["flags"][2] else [6, 4, 5]
    labels = tf.SparseTensor(INDICES, tf.constant(VALUES), [3, 4])
    loss = tf.nn.ctc_loss(labels, scores, lengths, *case["flags"])
    (gradient,) = tf.gradients(loss * tf.constant([1, 2, 3], dtype), scores)
    found, slopes = _run([loss, gradient], {scores: _scores(1, 6, 3, 5)})
    _close(found, _losses(case))
    _close(slopes, case["gradient"])
    assert found.dtype == slopes.dtype == dtype


def test_long_sequences_are_exact() -> None:
    """Against float64, where TensorFlow's float32 is off by the size of the sums."""
    scores = _scores(3, 300, 2, 28)
    labels = tf.SparseTensor(np.argwhere(np.ones((2, 40))), tf.range(80) % 27, [2, 40])
    found = []
    for dtype in ("float32", "float64"):
        x = tf.constant(scores, dtype)
        loss = tf.nn.ctc_loss(labels, x, [300, 280])
        found += _run([loss, *tf.gradients(loss, x)])
    np.testing.assert_allclose(found[0], found[2], rtol=1e-6)
    np.testing.assert_allclose(found[1], found[3], atol=2e-5)


def test_time_may_come_second_and_scores_have_two_names() -> None:
    scores = _scores(1, 6, 3, 5)
    labels = tf.SparseTensor(INDICES, tf.constant(VALUES), [3, 4])
    loss = tf.nn.ctc_loss(
        labels,
        logits=tf.constant(scores.transpose(1, 0, 2)),
        sequence_length=[6, 4, 5],
        time_major=False,
    )
    (default,) = (case for case in RECORDED["loss"] if case["flags"] == [False, True, False])
    _close(_run(loss), _losses(default))
    with pytest.raises(ValueError, match="Cannot specify both 'inputs' and 'logits'"):
        tf.nn.ctc_loss(labels, scores, [6, 4, 5], logits=scores)
    with pytest.raises(TypeError, match="Expected labels .first argument. to be a SparseTensor"):
        tf.nn.ctc_loss(tf.constant(VALUES), scores, [6, 4, 5])


@pytest.mark.parametrize(
    "indices, values, lengths, message",
    [
        ([[0, 0], [0, 1]], [0, -1], [3], "All labels must be nonnegative integers, batch: 0 lab"),
        ([[0, 0], [0, 1]], [3, 1], [3], "following a null label, batch: 0 num_classes: 4 labels: "),
        ([[0, 0], [0, 1]], [0, 1], [1], "Not enough time .*required: 2, available: 1.0You can"),
        (np.zeros((0, 2)), [], [3], "Labels length is zero in batch 0"),
        ([[0, 0]], [0], [-1], r"seq_len\(0\) < 0"),
        ([[0, 0]], [0], [4], r"sequence_length\(0\) <= 3"),
        ([[0, 0]], [0], [3, 3], r"sequence_length\):  2 batch_size: 1"),
        ([[0, 1], [0, 0]], [0, 1], [3], r"= \[0,0\] is out of order. Many sparse ops require"),
        ([[0, 1], [0, 1]], [0, 1], [3], r"not valid: indices\[1\] = \[0,1\] is repeated"),
        ([[0, 0], [1, 0]], [0, 1], [3], r"\[1,0\] is out of bounds: need 0 <= index < \[1,1\]"),
        ([[-1, 0], [0, 0]], [0, 1], [3], r"\[-1,0\] is out of bounds"),
        ([[0, -1], [0, 0]], [0, 1], [3], r"\[0,-1\] is out of bounds"),
        ([[0, 0]], [0, 1], [3], r"same number of rows, but saw shapes: \[1,2\] vs. \[2\]"),
    ],
)
def test_labels_that_are_refused(indices: Any, values: Any, lengths: Any, message: str) -> None:
    fed = {
        tf.placeholder(tf.float32): _scores(1, 3, 1, 4),
        tf.placeholder(tf.int64): np.array(indices, np.int64),
        tf.placeholder(tf.int32): np.array(values, np.int32),
        tf.placeholder(tf.int32): np.array(lengths, np.int32),
    }
    loss = tf.raw_ops.CTCLoss(**dict(zip(_ARGUMENTS, fed)))[0]
    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        _run(loss, fed)


_ARGUMENTS = "inputs", "labels_indices", "labels_values", "sequence_length"


def test_no_possible_path_costs_infinitely_much() -> None:
    scores = np.zeros((2, 1, 3), np.float32)
    scores[:, 0, 0] = -200  # a probability that no float32 holds
    labels = tf.SparseTensor([[0, 0]], tf.constant([0]), [1, 1])
    x = tf.constant(scores)
    loss = tf.nn.ctc_loss(labels, x, [2])
    found, slopes = _run([loss, tf.gradients(loss, x)[0]])
    assert found == [np.inf]
    _close(slopes[0, 0], [0, 0.5, 0.5])


def test_there_is_no_second_derivative() -> None:
    x = tf.constant(_scores(1, 6, 3, 5))
    labels = tf.SparseTensor(INDICES, tf.constant(VALUES), [3, 4])
    (slopes,) = tf.gradients(tf.nn.ctc_loss(labels, x, [6, 4, 5]), x)
    with pytest.raises(LookupError, match="no way to take the second  derivative of ctc_loss"):
        tf.gradients(slopes, x)


@pytest.mark.parametrize("case", RECORDED["blank"], ids=lambda case: str(case["blank"]))
@pytest.mark.parametrize("kind", ["padded", "unique", "sparse"])
def test_any_class_may_be_the_blank(case: dict[str, Any], kind: str) -> None:
    x, counts = tf.constant(_scores(2, 7, 3, 5)), [2, 3, 1]
    labels: Any = tf.constant(case["labels"])
    unique = None
    if kind == "unique":
        if case["blank"]:
            pytest.skip("TensorFlow's labels move, what is unique of them does not")
        unique = tf.nn.ctc_unique_labels(labels)
    if kind == "sparse":
        places = tf.where(tf.sequence_mask(counts, 3))
        labels = tf.SparseTensor(places, tf.gather_nd(labels, places), [3, 3])
    loss = tf.nn.ctc_loss_v2(labels, x, counts, [7, 6, 4], unique=unique, blank_index=case["blank"])
    found, slopes = _run([loss, tf.gradients(loss, x)[0]])
    _close(found, case["loss"])
    wanted = np.array(case["gradient"])
    if kind == "sparse":  # TensorFlow's other way gives gradients to steps behind the last one
        wanted[np.arange(7)[:, None] >= [7, 6, 4]] = 0
    _close(slopes, wanted)


def test_a_blank_is_wanted_beside_sparse_labels() -> None:
    labels = tf.SparseTensor(INDICES, tf.constant(VALUES), [3, 4])
    with pytest.raises(ValueError, match="blank_index must be given when using SparseTensor"):
        tf.nn.ctc_loss_v2(labels, tf.zeros([6, 3, 5]), None, [6, 4, 5])


def test_the_second_version_has_its_blank_in_front() -> None:
    scores, counts = _scores(1, 6, 3, 5), tf.constant([6, 4, 5])
    labels = np.array(VALUES, np.int32)
    moved = tf.raw_ops.CTCLossV2(
        inputs=np.roll(scores, 1, -1),
        labels_indices=INDICES,
        labels_values=labels + 1,
        sequence_length=counts,
    )
    first = tf.raw_ops.CTCLoss(
        inputs=scores, labels_indices=INDICES, labels_values=labels, sequence_length=counts
    )
    (loss, slopes), (wanted, others) = _run([moved, first])
    _close(loss, wanted)
    _close(slopes, np.roll(others, 1, -1))
    zero = tf.raw_ops.CTCLossV2(
        inputs=scores, labels_indices=INDICES, labels_values=labels, sequence_length=counts
    )
    with pytest.raises(tf.errors.InvalidArgumentError, match="positive integers, batch: 0"):
        _run(zero)


@pytest.mark.parametrize("case", RECORDED["decoders"])
def test_beams_are_those_of_tensorflow_with_their_ties(case: dict[str, Any]) -> None:
    scores = np.array(case["scores"], np.float32)
    paths, logs = tf.nn.ctc_beam_search_decoder(
        scores, [6, 5], case["width"], min(case["width"], 3), case["merge"]
    )
    found, values = _run([paths, logs])
    assert [[part.tolist() for part in path] for path in found] == case["labels"]
    _close(values, case["logs"])


def test_greedy_labels() -> None:
    #         blank is class 2: A A - A B B, then A - - B
    best = np.array([[0, 0], [0, 2], [2, 2], [0, 1], [1, 0], [1, 0]])
    scores = np.eye(3, dtype=np.float32)[best] * 2
    merged, logs = tf.nn.ctc_greedy_decoder(scores, [6, 4])
    all_of_them, _ = tf.nn.ctc_greedy_decoder(scores, [6, 4], merge_repeated=False)
    (one,), (two,), total = _run([merged, all_of_them, logs])
    assert one.indices.tolist() == [[0, 0], [0, 1], [0, 2], [1, 0], [1, 1]]
    assert one.values.tolist() == [0, 0, 1, 0, 1]
    assert one.dense_shape.tolist() == [2, 3]
    assert two.values.tolist() == [0, 0, 0, 1, 1, 0, 1]
    assert total.tolist() == [[-12], [-8]]


def test_what_decoders_refuse() -> None:
    scores = tf.placeholder_with_default(_scores(1, 4, 2, 3), None)
    lengths = tf.placeholder(tf.int32)
    greedy, _ = tf.nn.ctc_greedy_decoder(scores, lengths)
    with pytest.raises(tf.errors.FailedPreconditionError, match=r"sequence_length\(0\) <= 4"):
        _run(greedy, {lengths: [5, 2]})
    with pytest.raises(tf.errors.FailedPreconditionError, match=r"sequence_length\):  1 batch_si"):
        _run(greedy, {lengths: [4]})
    few, _ = tf.nn.ctc_beam_search_decoder(scores, lengths, 5, 3)
    with pytest.raises(tf.errors.InvalidArgumentError, match="Less leaves in the beam search"):
        _run(few, {lengths: [0, 1]})
    narrow, _ = tf.nn.ctc_beam_search_decoder(scores, lengths, 2, 3)
    with pytest.raises(tf.errors.InvalidArgumentError, match="more paths than the beam width"):
        _run(narrow, {lengths: [4, 4]})


def test_repeated_labels() -> None:
    labels, lengths = tf.nn.collapse_repeated(
        [[1, 1, 2, 2, 1], [3, 3, 3, 3, 3], [4, 5, 5, 6, 6]], tf.constant([5, 2, 4], tf.int64)
    )
    found, counts = _run([labels, lengths])
    assert found.tolist() == [[1, 2, 1], [3, 0, 0], [4, 5, 6]]
    assert counts.tolist() == [3, 1, 3] and counts.dtype == np.int64


def test_a_bidirectional_lstm_learns_as_with_tensorflow() -> None:
    """The losses of 20 steps of Adam, from weights that are drawn alike."""
    tf.set_random_seed(7)
    x = tf.placeholder(tf.float32, [None, None, 5])
    lengths, labels = tf.placeholder(tf.int32, [None]), tf.sparse_placeholder(tf.int32)
    forward, backward = (tf.nn.rnn_cell.LSTMCell(8) for _ in range(2))
    states, _ = tf.nn.bidirectional_dynamic_rnn(
        forward, backward, x, lengths, dtype=tf.float32, time_major=True
    )
    scores = tf.layers.dense(tf.concat(states, 2), 6)
    loss = tf.reduce_mean(tf.nn.ctc_loss(labels, scores, lengths))
    train = tf.train.AdamOptimizer(0.03).minimize(loss)
    random = np.random.RandomState(0)
    inputs = random.randn(12, 4, 5).astype(np.float32)
    values = random.randint(0, 5, (4, 4)).astype(np.int32)
    places = np.argwhere(values >= 0)
    feeds = {x: inputs, lengths: [12, 10, 9, 12], labels: (places, values.ravel(), [4, 4])}
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        losses = [session.run([loss, train], feeds)[0] for _ in range(20)]
    np.testing.assert_allclose(losses, RECORDED["training"], rtol=2e-5)


def test_a_loss_and_its_gradient_are_of_one_plan() -> None:
    x = tf.placeholder(tf.float32, [None, 3, 5])
    labels = tf.SparseTensor(INDICES, tf.constant(VALUES), [3, 4])
    loss = tf.reduce_sum(tf.nn.ctc_loss(labels, x * 2.0, [6, 4, 5]))
    with settings.override(jit="always"), tf.Session() as session:
        text = str(session.explain([loss, *tf.gradients(loss, x)], {x: _scores(1, 6, 3, 5)}))
    assert "alignment" in text and " host " not in text
