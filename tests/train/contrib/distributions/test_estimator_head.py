# SPDX-License-Identifier: Apache-2.0
"""Heads whose labels have a distribution: the loss is the mean of -log_prob."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import numbaflow as tf

pytestmark = pytest.mark.cpu
LOGITS = np.float32([[0.0, -1.0], [1.0, 0.5], [-1.0, 1.0]])
LABELS = np.float32([[-1.0], [0.0], [1.0]])


def _normal(logits: Any) -> Any:
    return tf.distributions.Normal(logits[..., 0], tf.exp(logits[..., 1]))


def _log_prob() -> np.ndarray:
    z = (LABELS[:, 0] - LOGITS[:, 0]) / np.exp(LOGITS[:, 1])
    return -0.5 * (z**2 + np.log(2 * np.pi)) - LOGITS[:, 1]


def test_loss_and_predictions() -> None:
    make = tf.contrib.distributions.estimator_head_distribution_regression
    head = make(_normal, logits_dimension=2)
    with tf.Graph().as_default(), tf.Session() as session:
        logits = tf.constant(LOGITS)
        given = head.create_model_fn_ops(
            {},
            labels=tf.constant(LABELS),
            mode=tf.contrib.learn.ModeKeys.TRAIN,
            train_op_fn=tf.contrib.learn.no_op_train_fn,
            logits=logits,
        )
        loss, mean = session.run([given.loss, given.predictions["scores"]])
        assert loss == pytest.approx(-_log_prob().mean(), rel=1e-5)
        np.testing.assert_allclose(mean, LOGITS[:, 0])
        assert list(head.distributions) == [logits]


def test_a_distribution_is_made_by_a_function() -> None:
    with pytest.raises(TypeError, match="must be a callable function"):
        tf.contrib.distributions.estimator_head_distribution_regression(3)
