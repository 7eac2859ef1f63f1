# SPDX-License-Identifier: Apache-2.0
"""Random Fourier features, and wrappers of cells that are cells of Keras."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import numbaflow as tf
from numbaflow.train.keras.layers import kernelized
from numbaflow.train.keras.layers.cell_wrappers import (
    DeviceWrapper,
    DropoutWrapper,
    ResidualWrapper,
)

pytestmark = pytest.mark.cpu
layers: Any = tf.keras.layers


@pytest.mark.parametrize("kernel", ["gaussian", "laplacian"])
def test_products_of_features_are_about_the_kernel(kernel: str) -> None:
    np.random.seed(3)
    exact = getattr(kernelized, f"exact_{kernel}_kernel")
    points = np.random.uniform(-1, 1, [6, 4]).astype(np.float32)
    with tf.Graph().as_default(), tf.Session() as session:
        tf.set_random_seed(1)
        layer = kernelized.RandomFourierFeatures(4000, kernel, scale=1.5)
        features = layer(tf.constant(points))
        found = kernelized.inner_product(features, features) / 2000
        session.run(tf.global_variables_initializer())
        got, want = session.run([found, exact(points, points, 1.5)])
    np.testing.assert_allclose(got, want, atol=0.08)
    np.testing.assert_allclose(np.diag(want), 1)


def test_a_kernel_machine_learns_its_scale() -> None:
    with tf.Graph().as_default(), tf.Session():
        layer = kernelized.RandomFourierFeatures(8, scale=2.0, trainable=True, input_shape=(3,))
        model = tf.keras.Sequential([layer, layers.Dense(1)])
        model.compile("sgd", "mse")
        names = [v.name.split("/")[1] for v in model.trainable_variables]
        assert names == ["random_features_scale:0", "kernel:0", "bias:0"]
        model.fit(np.ones([4, 3]), np.ones([4, 1]), verbose=0)
        assert tf.keras.backend.get_value(layer.trainable_weights[0]) != 2.0
        again = kernelized.RandomFourierFeatures.from_config(layer.get_config())
        assert (again.output_dim, again.scale, again.trainable) == (8, 2.0, True)


@pytest.mark.parametrize(
    "arguments, message",
    [
        ({"output_dim": 0}, "positive integer. Given: 0"),
        ({"output_dim": 2, "scale": -1.0}, "positive float. Given: -1"),
        ({"output_dim": 2, "kernel_initializer": "round"}, "Unsupported kernel type: 'round'"),
    ],
)
def test_wrong_arguments_are_refused(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        kernelized.RandomFourierFeatures(**arguments)


def test_inputs_must_be_rows_of_a_known_size() -> None:
    with tf.Graph().as_default():
        for shape, message in (([2, 3, 4], "Got 3 instead"), ([2, None], "should be defined")):
            with pytest.raises(ValueError, match=message):
                kernelized.RandomFourierFeatures(4)(tf.placeholder(tf.float32, shape))
        with pytest.raises(ValueError, match="should match. Given: 2 vs 3"):
            kernelized.exact_gaussian_kernel(tf.ones([1, 3]), tf.ones([2]), 1.0)


@pytest.mark.parametrize("of_keras", [True, False])
def test_wrapped_cells_compute_and_keep_their_variables(of_keras: bool) -> None:
    def cell() -> Any:
        if of_keras:
            return layers.SimpleRNNCell(3)
        one = tf.nn.rnn_cell.BasicRNNCell
        return tf.nn.rnn_cell.MultiRNNCell([one(3, dtype=tf.float32) for _ in range(2)])

    x = np.random.RandomState(0).rand(2, 5, 3).astype(np.float32)
    with tf.Graph().as_default(), tf.Session() as session:
        inner = cell()
        wrapped = DeviceWrapper(ResidualWrapper(DropoutWrapper(inner)), "/cpu:0")
        layer = layers.RNN(wrapped, return_sequences=True)
        sums = layer(tf.constant(x))
        assert [v.name for v in wrapped.weights] == [v.name for v in inner.weights]
        plain = layers.RNN(inner, return_sequences=True)(tf.constant(x))
        session.run(tf.global_variables_initializer())
        got, want = session.run([sums, plain])
    np.testing.assert_allclose(got, want + x, rtol=1e-6)


def test_descriptions_hold_cells_and_functions() -> None:
    wrapped = ResidualWrapper(layers.LSTMCell(2), residual_fn=lambda i, o: i + 2 * o)
    again = ResidualWrapper.from_config(wrapped.get_config())
    assert type(again.cell) is type(wrapped.cell) and again._residual_fn(1, 2) == 5
    dropped = DropoutWrapper(layers.GRUCell(2), 0.25, dropout_state_filter_visitor=lambda s: False)
    again = DropoutWrapper.from_config(dropped.get_config())
    assert again._input_keep_prob == 0.25 and again._dropout_state_filter(None) is False
    assert again.get_config()["cell"]["class_name"] == "GRUCell"
