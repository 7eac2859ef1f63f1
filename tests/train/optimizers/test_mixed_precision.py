# SPDX-License-Identifier: Apache-2.0
"""Scaled losses give the steps of unscaled ones; steps with infinite gradients are left out."""

from __future__ import annotations

import numpy as np
import pytest

import numbaflow as tf

pytestmark = pytest.mark.cpu


@pytest.fixture(autouse=True)
def _graph():
    with tf.Graph().as_default():
        yield


def test_a_dynamic_scale_grows_and_falls():
    x = tf.placeholder(tf.float32, [])
    v = tf.Variable(1.0)
    scale = tf.train.experimental.DynamicLossScale(4.0, increment_period=2)
    inner = tf.train.GradientDescentOptimizer(0.5)
    optimizer = tf.train.experimental.MixedPrecisionLossScaleOptimizer(inner, scale)
    count = tf.train.get_or_create_global_step()
    step = optimizer.minimize(v * x, global_step=count)
    found = []
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for given in (1, 1, np.inf, 1, np.nan, np.nan, np.nan, 1):
            session.run(step, {x: given})
            found.append(tuple(map(float, session.run([v, scale(), count]))))
    assert found == [
        (0.5, 4.0, 1.0),
        (0.0, 8.0, 2.0),
        (0.0, 4.0, 2.0),
        (-0.5, 4.0, 3.0),
        (-0.5, 2.0, 3.0),
        (-0.5, 1.0, 3.0),
        (-0.5, 1.0, 3.0),
        (-1.0, 1.0, 4.0),
    ]


def test_sparse_gradients_are_scaled_back():
    v = tf.get_variable("v", initializer=np.ones([3, 2], np.float32))
    loss = tf.reduce_sum(tf.gather(v, [0, 2]))
    inner = tf.train.GradientDescentOptimizer(1.0)
    step = tf.train.experimental.MixedPrecisionLossScaleOptimizer(inner, 64).minimize(loss)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(step)
        assert session.run(v).tolist() == [[0.0, 0.0], [1.0, 1.0], [0.0, 0.0]]


def test_the_rewrite_wraps_the_optimizer_once():
    options = tf.config.optimizer.get_experimental_options
    inner = tf.train.GradientDescentOptimizer(1.0)
    outer = tf.train.experimental.enable_mixed_precision_graph_rewrite(inner)
    assert options()["auto_mixed_precision"] is True
    with pytest.raises(ValueError, match="must not already be an instance"):
        tf.train.experimental.enable_mixed_precision_graph_rewrite(outer)
    tf.train.experimental.disable_mixed_precision_graph_rewrite()
    assert options()["auto_mixed_precision"] is False
    with pytest.raises(ValueError, match="must be an instance of a tf.train.Optimizer"):
        tf.train.experimental.enable_mixed_precision_graph_rewrite("adam")


def test_the_rewrite_wraps_optimizers_of_models():
    enable = tf.train.experimental.enable_mixed_precision_graph_rewrite
    outer = enable(tf.keras.optimizers.SGD(1.0), 8.0)
    try:
        assert isinstance(outer, tf.keras.mixed_precision.experimental.LossScaleOptimizer)
        with pytest.raises(ValueError, match="an instance of a LossScaleOptimizer"):
            enable(outer)
    finally:
        tf.train.experimental.disable_mixed_precision_graph_rewrite()


def test_scales_of_what_stands_for_them():
    with pytest.raises(ValueError, match="at least 1"):
        tf.train.experimental.FixedLossScale(0.5)
    scale = tf.train.experimental.DynamicLossScale(8.0, 3, 4.0)
    again = tf.train.experimental.DynamicLossScale.from_config(scale.get_config())
    assert repr(again) == repr(scale)
    with tf.train.experimental.auto_mixed_precision_scope(False):
        op = tf.constant(1.0).op
    assert op.get_attr("_AutoMixedPrecisionScopeInclude") is False


def test_average_losses():
    losses = tf.constant([1.0, 2.0, 3.0])
    found = [
        tf.nn.compute_average_loss(losses),
        tf.nn.compute_average_loss(losses, [1.0, 0.0, 2.0], 4),
        tf.nn.scale_regularization_loss([tf.constant(1.0), tf.constant(2.5)]),
    ]
    with tf.Session() as session:
        assert [float(value) for value in session.run(found)] == [2.0, 1.75, 3.5]
