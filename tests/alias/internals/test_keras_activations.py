# SPDX-License-Identifier: Apache-2.0
"""Layers of tf.keras that are activations, beside what TensorFlow 1.15 gives."""

from __future__ import annotations

from typing import Any

import pytest

import numbaflow as tf

pytestmark = pytest.mark.cpu

LAYERS = tf.keras.layers
# Layer, arguments, values for [[-3, -0.5], [0.625, 1], [7, 0]], the operation that gives them.
CASES: list[tuple[str, dict[str, Any], list[float], str]] = [
    ("LeakyReLU", {"alpha": 0.2}, [-0.6, -0.1, 0.625, 1.0, 7.0, 0.0], "leaky_re_lu/LeakyRelu"),
    ("LeakyReLU", {}, [-0.9, -0.15, 0.625, 1.0, 7.0, 0.0], "leaky_re_lu/LeakyRelu"),
    ("ELU", {}, [-0.95021, -0.39347, 0.625, 1.0, 7.0, 0.0], "elu/Elu"),
    ("ELU", {"alpha": 0.5}, [-0.47511, -0.19673, 0.625, 1.0, 7.0, 0.0], "elu/Select"),
    ("ThresholdedReLU", {"theta": 0.7}, [0.0, 0.0, 0.0, 1.0, 7.0, 0.0], "thresholded_re_lu/mul"),
    (
        "Softmax",
        {"axis": 0},
        [5e-05, 0.14024, 0.0017, 0.62853, 0.99825, 0.23122],
        "softmax/transpose_1",
    ),
    ("Activation", {"activation": "relu"}, [0.0, 0.0, 0.625, 1.0, 7.0, 0.0], "activation/Relu"),
    ("ReLU", {}, [0.0, 0.0, 0.625, 1.0, 7.0, 0.0], "re_lu/Relu"),
    ("ReLU", {"max_value": 6}, [0.0, 0.0, 0.625, 1.0, 6.0, 0.0], "re_lu/Relu6"),
    (
        "ReLU",
        {"max_value": 6.0, "negative_slope": 0.5},
        [-1.5, -0.25, 0.625, 1.0, 6.0, 0.0],
        "re_lu/sub",
    ),
    (
        "ReLU",
        {"max_value": 2.0, "negative_slope": 0.5, "threshold": 0.75},
        [-1.875, -0.625, -0.0625, 1.0, 2.0, -0.375],
        "re_lu/sub",
    ),
    (
        "ReLU",
        {"negative_slope": 0.5, "threshold": 0.75},
        [-1.875, -0.625, -0.0625, 1.0, 7.0, -0.375],
        "re_lu/sub",
    ),
    ("PReLU", {"alpha_initializer": "ones"}, [-3.0, -0.5, 0.625, 1.0, 7.0, 0.0], "p_re_lu/add"),
    ("PReLU", {"shared_axes": [1]}, [0.0, 0.0, 0.625, 1.0, 7.0, 0.0], "p_re_lu/add"),
]


@pytest.mark.parametrize(("name", "options", "values", "operation"), CASES)
def test_values_are_tensorflows(
    name: str, options: dict[str, Any], values: list[float], operation: str
) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        layer = getattr(LAYERS, name)(**options)
        y = layer(tf.constant([[-3.0, -0.5], [0.625, 1.0], [7.0, 0.0]]))
        session.run(tf.global_variables_initializer())
        assert session.run(y).ravel().tolist() == pytest.approx(values, abs=6e-6)
        assert y.op.name == operation
        assert layer.compute_output_shape([None, 2]).as_list() == [None, 2]


def test_slopes_are_learnt() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        layer = LAYERS.PReLU(shared_axes=1)
        loss = tf.reduce_sum(layer(tf.constant([[[-3.0, 1.0], [-2.0, -1.0]]])))
        (slopes,) = tf.trainable_variables()
        assert slopes.name == "p_re_lu/alpha:0" and slopes.shape.as_list() == [1, 2]
        session.run(tf.global_variables_initializer())
        assert session.run(tf.gradients(loss, slopes)[0]).tolist() == [[-5.0, -1.0]]


@pytest.mark.parametrize("name", ["max_value", "negative_slope"])
def test_negative_limits_are_refused(name: str) -> None:
    with pytest.raises(ValueError, match=f"{name} of Relu layer cannot be negative value: -1"):
        LAYERS.ReLU(**{name: -1})
