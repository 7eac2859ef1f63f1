# SPDX-License-Identifier: Apache-2.0
"""Batches without elements leave what batch normalization has learnt, where a strategy has some."""

from __future__ import annotations

import numpy as np
import pytest

import numbaflow as tf

pytestmark = pytest.mark.cpu


@pytest.mark.parametrize("fused", [True, False])
@pytest.mark.parametrize("renorm", [True, False])
def test_empty_batches_leave_the_averages(fused: bool, renorm: bool) -> None:
    strategy = tf.distribute.OneDeviceStrategy("/cpu:0")
    strategy.extended.experimental_enable_get_next_as_optional = True
    with tf.Graph().as_default(), strategy.scope(), tf.Session() as session:
        inputs = tf.placeholder(tf.float32, [None, 4, 4, 3])
        layer = tf.layers.BatchNormalization(fused=fused, renorm=renorm)
        result = layer.apply(inputs, training=True)
        session.run(tf.global_variables_initializer())
        averages = [layer.moving_mean, layer.moving_variance]
        before = session.run(averages)
        empty, _ = session.run([result, layer.updates], {inputs: np.zeros((0, 4, 4, 3))})
        assert empty.shape == (0, 4, 4, 3)
        # (With renorm the variance is what the root of variance and epsilon says.)
        np.testing.assert_allclose(session.run(averages), before, atol=1.01e-3 * renorm)
        session.run(layer.updates, {inputs: np.full((2, 4, 4, 3), 5.0)})
        assert not np.array_equal(session.run(layer.moving_mean), before[0])
