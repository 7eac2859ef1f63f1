# SPDX-License-Identifier: Apache-2.0
"""Models as SavedModels of objects: of known layers, and of a program's own classes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import numbaflow as tf

pytestmark = pytest.mark.cpu
K = tf.keras
L = tf.keras.layers
X = np.linspace(-1.0, 1.0, 24).reshape(8, 3).astype(np.float32)
Y = X[:, :1] ** 2


@pytest.fixture(autouse=True)
def _session() -> Any:
    with tf.Graph().as_default(), tf.Session() as session:
        K.backend.set_session(session)
        yield
    K.backend.clear_session()


def sequential() -> Any:
    regularizer = K.regularizers.l2(0.1)
    layers = [L.Dense(4, activation="relu", input_shape=(3,)), L.BatchNormalization()]
    return K.Sequential([*layers, L.Dense(1, kernel_regularizer=regularizer)])


def functional() -> Any:
    x = L.Input((3,))
    hidden = L.Dense(2, activity_regularizer="l2")(x)
    return K.Model(x, L.Dense(1)(L.concatenate([hidden, x])))


class Scaled(L.Layer):
    """A layer with a weight, a loss and inner layers, whose class no loader knows."""

    def __init__(self, units: int) -> None:
        super().__init__()
        self.units = units
        self.inner = L.BatchNormalization()

    def build(self, shape: Any) -> None:
        self.w = self.add_weight("w", (shape[-1], self.units))
        super().build(shape)

    def call(self, x: Any, training: Any = None) -> Any:
        found = tf.matmul(x, self.w)
        self.add_loss(tf.reduce_sum(found**2) * 0.01, inputs=True)
        return self.inner(found * 2.0 if training else found, training=training)


class Own(K.Model):
    """A model with a `call` of its own."""

    def __init__(self) -> None:
        super().__init__()
        self.parts = [Scaled(4), L.Dense(1)]

    def call(self, x: Any, training: Any = False) -> Any:
        return self.parts[1](self.parts[0](x, training=training))


def fitted(make: Any) -> Any:
    model = make()
    model.compile(K.optimizers.Adam(0.01), "mse", metrics=["mae"])
    model.fit(X, Y, epochs=2, batch_size=4, shuffle=False, verbose=0)
    return model


@pytest.mark.parametrize("make", [sequential, functional, Own])
def test_a_model_comes_back(make: Any, tmp_path: Path) -> None:
    model = fitted(make)
    folder = str(tmp_path / "model")
    model.save(folder, save_format="tf")
    loaded = K.models.load_model(folder)
    np.testing.assert_allclose(loaded.predict(X), model.predict(X), rtol=1e-6)
    found, expected = (m.evaluate(X, Y, verbose=0) for m in (loaded, model))
    np.testing.assert_allclose(found, expected, rtol=1e-5)
    assert [type(layer).__name__ for layer in loaded.layers] == [
        type(layer).__name__ for layer in model.layers
    ]
    before = loaded.get_weights()
    loaded.fit(X, Y, epochs=1, verbose=0)
    assert any((a != b).any() for a, b in zip(before, loaded.get_weights()))


def test_training_goes_on_as_if_there_had_been_no_file(tmp_path: Path) -> None:
    model = fitted(functional)
    folder = str(tmp_path / "model")
    model.save(folder, save_format="tf")
    loaded = K.models.load_model(folder)
    options = {"epochs": 2, "batch_size": 4, "shuffle": False, "verbose": 0}
    losses = [m.fit(X, Y, **options).history["loss"] for m in (loaded, model)]
    np.testing.assert_allclose(*losses, rtol=1e-6)
    assert loaded.optimizer.get_weights()[0] == 8


def test_a_model_of_functions_is_saved_again(tmp_path: Path) -> None:
    model = fitted(Own)
    model.save(str(tmp_path / "one"), save_format="tf")
    loaded = K.models.load_model(str(tmp_path / "one"))
    loaded.save(str(tmp_path / "two"), save_format="tf")
    again = K.models.load_model(str(tmp_path / "two"))
    np.testing.assert_allclose(again.predict(X), model.predict(X), rtol=1e-6)


def test_a_model_without_its_optimizer(tmp_path: Path) -> None:
    model = fitted(sequential)
    folder = str(tmp_path / "model")
    model.save(folder, save_format="tf", include_optimizer=False)
    assert K.models.load_model(folder).optimizer is None
    assert model.optimizer is not None


def test_signatures_of_models(tmp_path: Path) -> None:
    model = fitted(sequential)

    @tf.function(input_signature=[tf.TensorSpec([None, 3], tf.float32)])
    def doubled(x: Any) -> Any:
        return {"doubled": model(x) * 2.0}

    model.save(str(tmp_path / "own"), save_format="tf", signatures={"doubled": doubled})
    model.save(str(tmp_path / "default"), save_format="tf")
    expected = model.predict(X)
    loaded = K.models.load_model(str(tmp_path / "own"))
    served = tf.saved_model.load_v2(str(tmp_path / "default")).signatures["serving_default"]
    results = [loaded.signatures["doubled"](tf.constant(X)), served(tf.constant(X))]
    K.backend.get_session().run(tf.global_variables_initializer())
    found, default = K.backend.get_session().run(results)
    np.testing.assert_allclose(found["doubled"], expected * 2.0, rtol=1e-6)
    np.testing.assert_allclose(next(iter(default.values())), expected, rtol=1e-6)


def test_saving_leaves_no_traces(tmp_path: Path) -> None:
    model = fitted(Own)
    before = model.losses, model.updates, [len(x.inbound_nodes) for x in model.layers]
    model.save(str(tmp_path / "model"), save_format="tf")
    assert (model.losses, model.updates, [len(x.inbound_nodes) for x in model.layers]) == before


def test_models_whose_inputs_nobody_knows(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="input shapes have not been set"):
        Own().save(str(tmp_path / "model"), save_format="tf")
