# SPDX-License-Identifier: Apache-2.0
"""Sets of few elements are combined within a plan; so are losses' checks of their weights."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import numbaflow as tf
from numbaflow.engine import settings

pytestmark = pytest.mark.cpu

COMBINE = {
    "a-b": lambda a, b: a - b,
    "b-a": lambda a, b: b - a,
    "intersection": lambda a, b: a & b,
    "union": lambda a, b: a | b,
}


def expected(operation: str, one: np.ndarray, other: np.ndarray) -> tuple[Any, Any, Any]:
    """The result by Python's sets."""
    indices, values, most = [], [], 0
    for at in np.ndindex(one.shape[:-1]):
        found = sorted(COMBINE[operation](set(one[at].tolist()), set(other[at].tolist())))
        indices += [(*at, place) for place in range(len(found))]
        values += found
        most = max(most, len(found))
    return np.reshape(indices, (-1, one.ndim)), np.array(values), [*one.shape[:-1], most]


@pytest.mark.parametrize("operation", COMBINE)
@pytest.mark.parametrize("dtype", ["int32", "uint8"])
def test_small_sets_are_pythons(operation: str, dtype: str) -> None:
    rng = np.random.default_rng(0)
    one = tf.placeholder(dtype, [None, None, 3])
    other = tf.placeholder(dtype, [None, None, 4])
    made = tf.raw_ops.DenseToDenseSetOperation(set1=one, set2=other, set_operation=operation)
    with settings.override(jit="always"), tf.Session() as session:
        for rows in (2, 3, 1):
            x = rng.integers(0, 5, (rows, 2, 3)).astype(dtype)
            y = rng.integers(0, 5, (rows, 2, 4)).astype(dtype)
            for got, want in zip(
                session.run(made, {one: x, other: y}), expected(operation, x, y), strict=True
            ):
                np.testing.assert_array_equal(got, want)
        # All alike: a difference or an intersection has nothing left.
        x, y = np.full((1, 2, 3), 7, dtype), np.full((1, 2, 4), 7, dtype)
        got = session.run(made, {one: x, other: y})
        for part, want in zip(got, expected(operation, x, y), strict=True):
            np.testing.assert_array_equal(part, want)
        assert not session.prepared_plan(made, {one: x, other: y})[0].traced.hosted


def test_rows_of_other_shapes_are_refused() -> None:
    one, other = tf.placeholder(tf.int32, [None, 2]), tf.placeholder(tf.int32, [None, 2])
    made = tf.sets.set_difference(one, other)
    with settings.override(jit="always"), tf.Session() as session:
        for _ in range(3):
            with pytest.raises(tf.errors.InvalidArgumentError, match="Mismatched group shapes"):
                session.run(made, {one: [[1, 2]], other: [[1, 2], [3, 4]]})


def test_losses_check_their_weights_within_a_plan() -> None:
    x, labels = tf.placeholder(tf.float32, [None, 3]), tf.placeholder(tf.int32, [None])
    weights = tf.placeholder(tf.float32, [None])
    logits = tf.layers.dense(x, 4)
    loss = tf.losses.sparse_softmax_cross_entropy(labels, logits, weights=weights)
    step = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
    feeds = {x: np.eye(3), labels: [0, 1, 2], weights: [1.0, 0.0, 2.0]}
    with settings.override(jit="always"), tf.Session() as session:
        session.run(tf.global_variables_initializer())
        losses = [session.run([loss, step], feeds)[0] for _ in range(3)]
        assert losses[2] < losses[0]
        plan, _ = session.prepared_plan([loss, step], feeds)
        assert not plan.traced.hosted
        with pytest.raises(tf.errors.InvalidArgumentError, match="weights can not be broadcast"):
            session.run(loss, {**feeds, weights: [1.0, 2.0]})
