# SPDX-License-Identifier: Apache-2.0
"""The clustering loss gives what TensorFlow 1.15 gives, and scores of agreement are right."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import numbaflow as tf
from numbaflow.train.contrib.losses import agreement

pytestmark = pytest.mark.cpu
# By TensorFlow 1.15, of `_rows`: the loss, and the sum of the gradient's absolute values.
RECORDED = {
    ("nmi", False): (7.5659, 32.892),
    ("nmi", True): (8.1585, 27.319),
    ("ami", False): (7.8911, 30.724),
    ("ami", True): (8.4753, 28.059),
    ("ari", False): (7.8911, 30.724),
    ("ari", True): (8.4753, 28.059),
    ("vmeasure", True): (8.1585, 27.319),
    ("const", False): (7.8911, 30.724),
}


def _rows() -> tuple[np.ndarray, np.ndarray]:
    random = np.random.RandomState(3)
    labels = random.randint(0, 3, 12)
    return labels, (np.eye(3, 5)[labels] + 0.8 * random.randn(12, 5)).astype(np.float32)


def _loss(labels: Any, rows: Any, *arguments: Any, **settings: Any) -> tuple[float, float]:
    with tf.Graph().as_default(), tf.Session() as session:
        embeddings = tf.constant(rows)
        function = tf.contrib.losses.metric_learning.cluster_loss
        loss = function(tf.constant(labels), embeddings, *arguments, **settings)
        found, slope = session.run([loss, tf.gradients(loss, embeddings)[0]])
        return float(found), float(np.abs(slope).sum())


@pytest.mark.parametrize("margin, refined", RECORDED)
def test_losses_of_tensorflow(margin: str, refined: bool) -> None:
    labels, rows = _rows()
    found = _loss(labels[:, None], rows, 2.0, refined, margin)
    np.testing.assert_allclose(found, RECORDED[margin, refined], rtol=1e-4)


def test_clusters_that_are_the_classes_cost_nothing() -> None:
    rows = np.eye(3, dtype=np.float32)[[0, 0, 1, 1, 2]]
    assert _loss([4, 4, 7, 7, 1], rows, 0.1, print_losses=True)[0] == 0


def test_margins_have_names() -> None:
    with pytest.raises(ValueError, match="Unrecognized margin_type: f1"):
        _loss([0, 1], np.eye(2, dtype=np.float32), 1.0, margin_type="f1")


# The scores that scikit-learn's documentation gives for these.
SCORES = {
    "ari": (([0, 0, 1, 2], [0, 0, 1, 1]), 0.5714),
    "ami": (([0, 0, 0, 1, 1, 1], [0, 0, 1, 1, 2, 2]), 0.2987),
    "nmi": (([0, 0, 0, 1, 1, 1], [0, 0, 1, 1, 2, 2]), 0.5158),
    "vmeasure": (([0, 0, 1, 2], [0, 0, 1, 1]), 0.8),
    "const": (([0, 1, 1], [0, 1, 2]), 0.0),
}


@pytest.mark.parametrize("name", SCORES)
def test_scores_of_agreement(name: str) -> None:
    score = agreement.SCORES[name]
    (a, b), expected = SCORES[name]
    assert score(np.array(a), np.array(b)) == pytest.approx(expected, abs=1e-4)
    assert score(np.array(a), np.array(a)) == pytest.approx(1.0)
    assert score(np.array([0, 0]), np.array([0, 0])) == 1.0


def test_what_is_drawn_agrees_by_chance_alone() -> None:
    random = np.random.RandomState(0)
    for name in ("ari", "ami"):
        scores = [
            agreement.SCORES[name](random.randint(0, 4, 60), random.randint(0, 4, 60))
            for _ in range(20)
        ]
        assert abs(np.mean(scores)) < 0.03
