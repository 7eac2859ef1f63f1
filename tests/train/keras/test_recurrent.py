# SPDX-License-Identifier: Apache-2.0
"""ConvLSTM2D, with the numbers of TensorFlow 1.15, and CuDNN's layers against those of Keras."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import numbaflow as tf
from numbaflow.train.keras.saving.conversion import preprocess_weights_for_loading

keras = tf.keras
layers = tf.keras.layers
pytestmark = pytest.mark.cpu
PICTURES = np.random.RandomState(0).rand(4, 5, 6, 7, 2).astype("float32")
# Arguments, the losses of three epochs and the shape of the output.
CASES: dict[str, tuple[dict[str, Any], list[float], list[Any]]] = {
    "plain": ({}, [1.0216618, 1.0024858, 0.9846435], [None, 4, 5, 3]),
    "dropped": (
        {"padding": "same", "return_sequences": True, "dropout": 0.2, "recurrent_dropout": 0.3},
        [1.0225002, 1.0171722, 1.0159535],
        [None, None, 6, 7, 3],
    ),
    "strided": (
        {"strides": 2, "go_backwards": True},
        [1.0412994, 1.0215502, 1.0028568],
        [None, 2, 3, 3],
    ),
    "stateful": (
        {"stateful": True, "unit_forget_bias": False},
        [1.0175825, 1.0049213, 0.9947163],
        [4, 4, 5, 3],
    ),
}


@pytest.fixture(autouse=True)
def fresh() -> Any:
    """A graph, a session and seeds of the test's own."""
    keras.backend.clear_session()
    tf.set_random_seed(3)
    np.random.seed(0)
    yield
    keras.backend.clear_session()


@pytest.mark.parametrize("name", CASES)
def test_windows_along_time_train_as_in_tensorflow(name: str) -> None:
    options, losses, shape = CASES[name]
    batch = {"batch_shape": PICTURES.shape} if "stateful" in options else {"shape": (None, 6, 7, 2)}
    start = layers.Input(**batch)
    layer = layers.ConvLSTM2D(3, 3, **options)
    output = layer(start)
    assert output.shape.as_list() == shape
    pool = layers.GlobalAveragePooling2D if len(shape) == 4 else layers.GlobalAveragePooling3D
    model = keras.Model(start, pool()(output))
    model.compile("sgd", "mse")
    found = model.fit(PICTURES, np.ones((4, 3)), epochs=3, batch_size=4, verbose=0)
    assert found.history["loss"] == pytest.approx(losses, rel=1e-4)
    config = layer.get_config()
    assert layers.ConvLSTM2D.from_config(config).get_config() == config


def test_windows_cannot_be_written_out() -> None:
    with pytest.raises(TypeError, match="Unrolling isn't possible"):
        layers.ConvLSTM2D(3, 3, unroll=True)


@pytest.mark.parametrize(
    ("kind", "like"),
    [
        ("LSTM", {"recurrent_activation": "sigmoid"}),
        ("GRU", {"recurrent_activation": "sigmoid", "reset_after": True}),
    ],
)
def test_cudnns_layers_are_keras_layers_of_other_weights(kind: str, like: dict[str, Any]) -> None:
    start = layers.Input((6, 3))
    own = getattr(layers, f"CuDNN{kind}")(4, return_sequences=True, return_state=True)
    other = getattr(layers, kind)(4, return_sequences=True, return_state=True, **like)
    first, second = keras.Model(start, own(start)), keras.Model(start, other(start))
    gates = 4 if kind == "LSTM" else 3
    assert [w.shape.as_list() for w in own.weights] == [
        [3, 4 * gates],
        [4, 4 * gates],
        [8 * gates],
    ]
    random = np.random.RandomState(1)
    values = [random.randn(*w.shape.as_list()) for w in own.weights]
    first.set_weights(values)
    second.set_weights(preprocess_weights_for_loading(other, values, "2"))
    sequences = random.rand(5, 6, 3)
    for one, two in zip(first.predict(sequences), second.predict(sequences), strict=True):
        np.testing.assert_allclose(one, two, rtol=1e-4, atol=1e-5)
    config = own.get_config()
    assert type(own).from_config(config).get_config() == config
    first.compile("adam", "mse", loss_weights=[1.0] * len(first.outputs))
    targets = [np.zeros(x.shape) for x in first.predict(sequences)]
    before = first.train_on_batch(sequences, targets)[0]
    for _ in range(20):
        after = first.train_on_batch(sequences, targets)[0]
    assert after < before


def test_a_forget_gate_of_cudnns_begins_open() -> None:
    layer = layers.CuDNNLSTM(2)
    keras.Model(*(lambda x: (x, layer(x)))(layers.Input((3, 2))))
    bias = layer.get_weights()[2]
    np.testing.assert_array_equal(bias, [0] * 10 + [1, 1] + [0] * 4)


def test_local_windows_may_reach_beyond_the_ends() -> None:
    local = layers.LocallyConnected2D(2, 3, padding="same", implementation=2, use_bias=False)
    start = layers.Input((5, 4, 1))
    model = keras.Model(start, local(start))
    assert model.output_shape == (None, 5, 4, 2)
    local.set_weights([np.ones(local.get_weights()[0].shape)])
    found = model.predict(np.ones((1, 5, 4, 1)))[0, :, :, 0]
    wanted = np.full((5, 4), 9.0)
    wanted[[0, -1]] = wanted[:, [0, -1]] = 6
    wanted[[0, 0, -1, -1], [0, -1, 0, -1]] = 4
    np.testing.assert_array_equal(found, wanted)
