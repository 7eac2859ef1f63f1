# SPDX-License-Identifier: Apache-2.0
"""Layers in scopes whose getters put something else in the place of a variable."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import numbaflow as tf

pytestmark = pytest.mark.cpu


def _doubled(getter: Any, name: str, *args: Any, **kwargs: Any) -> Any:
    variable = getter(name, *args, **kwargs)
    return 2.0 * tf.identity(variable) if "kernel" in name else variable


def test_a_tensor_may_stand_for_a_weight() -> None:
    """As 1.15: the layer has the other weights, and the variable is trained all the same."""
    with tf.Graph().as_default(), tf.variable_scope("scope", custom_getter=_doubled):
        layer = tf.layers.Dense(
            4, kernel_regularizer=tf.nn.l2_loss, kernel_initializer=tf.ones_initializer()
        )
        y = layer(tf.ones([2, 3]))
        names = [v.name for v in tf.trainable_variables()]
        assert names == ["scope/dense/kernel:0", "scope/dense/bias:0"]
        assert [v.name for v in layer.trainable_weights] == names[1:]
        gradient = tf.gradients(y, tf.trainable_variables()[0])[0]
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            found, slope, loss = session.run([y, gradient, layer.losses[0]])
    np.testing.assert_array_equal(found, np.full((2, 4), 6.0))
    np.testing.assert_array_equal(slope, np.full((3, 4), 4.0))
    assert loss == 24.0
