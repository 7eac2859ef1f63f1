# SPDX-License-Identifier: Apache-2.0
"""A loss of embeddings whose clusters are to be their classes (arXiv:1612.01213)."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from ....engine.api import export
from ....engine.types import dtypes
from ....ops.public import tf
from ....ops.summaries import api as summary
from .agreement import SCORES
from .metric_loss_ops import pairwise_distance

if TYPE_CHECKING:
    from ....engine.graph.tensor import Tensor

Score = Callable[[np.ndarray, np.ndarray], float]
# How often medoids are refined.
_REFINEMENTS = 5


def _assigned(distances: np.ndarray, medoids: np.ndarray) -> np.ndarray:
    """The cluster of each row: that of the nearest medoid; a medoid's is its own."""
    clusters = np.argmin(distances[medoids], axis=0)
    clusters[medoids] = np.arange(len(medoids))
    return clusters


def _disagreement(
    distances: np.ndarray, labels: np.ndarray, medoids: np.ndarray, score: Score
) -> float:
    return 1.0 - max(0.0, score(labels, _assigned(distances, medoids)))


def _first_medoids(
    distances: np.ndarray, labels: np.ndarray, margin: float, score: Score
) -> np.ndarray:
    """Medoids one after another, each the one that makes the loss greatest."""
    medoids = np.zeros(0, np.int64)
    nearest = np.full(len(distances), np.inf, distances.dtype)
    for _ in range(len(np.unique(labels))):
        candidates = np.setdiff1d(np.arange(len(distances)), medoids)
        energy = -np.minimum(nearest, distances[candidates]).sum(1)
        margins = [
            _disagreement(distances, labels, np.append(medoids, candidate), score)
            for candidate in candidates
        ]
        best = candidates[np.argmax(energy + margin * np.array(margins, np.float32))]
        medoids = np.append(medoids, best)
        nearest = np.minimum(nearest, distances[best])
    return medoids


def _refined(
    distances: np.ndarray, labels: np.ndarray, medoids: np.ndarray, margin: float, score: Score
) -> np.ndarray:
    """Each medoid replaced by the member of its cluster that makes the loss greatest."""
    clusters, medoids = _assigned(distances, medoids), medoids.copy()
    for cluster in range(len(medoids)):
        members = np.nonzero(clusters == cluster)[0]
        energy = -distances[np.ix_(members, members)].sum(0)
        margins = []
        for member in members:
            medoids[cluster] = member
            margins.append(_disagreement(distances, labels, medoids, score))
        medoids[cluster] = members[np.argmax(energy + margin * np.array(margins, np.float32))]
    return medoids


def _chosen(
    distances: np.ndarray, labels: np.ndarray, margin: np.ndarray, score: Score, refine: bool
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The medoids, how far their clusters agree with the classes, and the medoid of each class's
    row."""
    medoids = _first_medoids(distances, labels, float(margin), score)
    for _ in range(_REFINEMENTS if refine else 0):
        medoids = _refined(distances, labels, medoids, float(margin), score)
    agreement = 1.0 - _disagreement(distances, labels, medoids, score)
    of_class = np.zeros(len(labels), np.int64)
    for label in np.unique(labels):
        members = np.nonzero(labels == label)[0]
        of_class[members] = members[np.argmin(distances[np.ix_(members, members)].sum(0))]
    return medoids, np.array(agreement, np.float32), of_class


@export("contrib.losses.metric_learning.cluster_loss")
def cluster_loss(
    labels: Tensor,
    embeddings: Tensor,
    margin_multiplier: float,
    enable_pam_finetuning: bool = True,
    margin_type: str = "nmi",
    print_losses: bool = False,
) -> Tensor:
    """What the worst clusters have before the true classes: they are to be no better.

    Clusters are chosen without a gradient; distances to their medoids have one.  scikit-learn,
    which TensorFlow 1.15 asks for scores, is not needed.

    Args:
        labels: the classes, [rows] or [rows, 1].
        embeddings: float32 [rows, features], of length 1.
        margin_multiplier: how much clusters gain by being unlike the classes.
        enable_pam_finetuning: whether medoids are refined, five times.
        margin_type: how they are compared: "nmi" (normalized mutual information), "ami" and "ari"
            (adjusted mutual information and Rand index), "vmeasure", or "const" (whether they are
            the same).
        print_losses: whether a run prints the loss.

    Returns:
        A float32 scalar.

    Raises:
        ValueError: the margin is of another type.

    Example:
        >>> rows = tf.constant([[1.0, 0.0], [0.9, 0.1], [0.0, 1.0], [0.1, 0.9]])
        >>> loss = tf.contrib.losses.metric_learning.cluster_loss
        >>> session = tf.Session()
        >>> print(session.run(loss(tf.constant([0, 0, 1, 1]), rows, 0.1)).round(2))
        0.0
        >>> print(session.run(loss(tf.constant([0, 1, 0, 1]), rows, 0.1)).round(2))
        2.36
    """
    if margin_type not in SCORES:
        raise ValueError(f"Unrecognized margin_type: {margin_type}")
    distances = pairwise_distance(embeddings)
    labels = tf.reshape(labels, [-1])
    choose = partial(_chosen, score=SCORES[margin_type], refine=enable_pam_finetuning)
    margin = tf.convert_to_tensor(margin_multiplier, dtype=dtypes.float32)
    kinds: Any = [dtypes.int64, dtypes.float32, dtypes.int64]
    medoids, agreement, of_class = tf.py_func(choose, [distances, labels, margin], kinds)
    medoids.set_shape([None])
    agreement.set_shape([])
    of_class.set_shape([None])
    energy = -tf.reduce_sum(tf.reduce_min(tf.gather(distances, medoids), axis=0))
    rows = tf.range(tf.size(of_class, out_type=dtypes.int64))
    true_energy = -tf.reduce_sum(tf.gather_nd(distances, tf.stack([of_class, rows], axis=1)))
    excess = energy + margin * (1.0 - agreement) - true_energy
    loss = tf.maximum(excess, 0.0, name="clustering_loss")
    if print_losses:
        loss = tf.Print(loss, ["clustering_loss: ", loss, tf.shape(loss)])
    for name, value in (
        ("score_pred", energy),
        (margin_type, agreement),
        ("score_gt", true_energy),
    ):
        summary.scalar(f"losses/{name}", value)
    return loss
