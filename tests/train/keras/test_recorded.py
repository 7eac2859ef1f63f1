# SPDX-License-Identifier: Apache-2.0
"""`tf.keras` against what TensorFlow 1.15 gave: keras_programs.py says how it was recorded."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import numbaflow as tf
from numbaflow.train.keras.names import NAMES

from . import keras_programs as programs

RECORDED = json.loads(Path(__file__).with_name("keras_1_15.json").read_text(encoding="utf-8"))

pytestmark = pytest.mark.cpu


@pytest.fixture
def fresh() -> Any:
    """A graph and a session of Keras of the test's own."""
    tf.keras.backend.clear_session()
    yield
    tf.keras.backend.clear_session()


def _check(found: dict[str, Any], wanted: dict[str, Any]) -> None:
    # The number of nodes decides the seeds of whatever a program makes behind.
    assert found["operations"] == wanted["operations"]
    assert found["weights"] == wanted["weights"]
    assert found["optimizer"] == wanted["optimizer"]
    assert found["history"].keys() == wanted["history"].keys()
    for name, values in wanted["history"].items():
        assert found["history"][name] == pytest.approx(values, rel=1e-4, abs=1e-5), name


@pytest.mark.parametrize("name", programs.MODELS)
def test_models_train_as_in_tensorflow(fresh: None, name: str) -> None:
    _check(programs.run(tf, name), RECORDED["models"][name])


@pytest.mark.parametrize("name", programs.OPTIMIZERS)
def test_optimizers_train_as_in_tensorflow(fresh: None, name: str) -> None:
    _check(programs.run(tf, "dense", name), RECORDED["optimizers"][name])


def test_configurations_are_tensorflows(fresh: None) -> None:
    found = json.loads(json.dumps(programs.configurations(tf), default=float))
    assert found == RECORDED["configurations"]


@pytest.mark.parametrize("name", sorted(NAMES))
def test_every_name_is_there(name: str) -> None:
    found = tf.keras
    for part in name.split("."):
        found = getattr(found, part)
    assert found is not None


def _model() -> Any:
    layers = tf.keras.layers
    start = layers.Input((4, 3))
    x = layers.Bidirectional(layers.LSTM(2))(start)
    inner = tf.keras.Sequential([layers.Dense(3, input_shape=(4,)), layers.BatchNormalization()])
    model = tf.keras.Model(start, layers.Dense(2, activation="softmax")(inner(x)))
    model.compile("adam", "categorical_crossentropy", metrics=["accuracy"])
    return model


def _examples() -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(0)
    return random.random((8, 4, 3)), np.eye(2)[random.integers(0, 2, 8)]


def test_checkpoints_bring_back_weights_and_the_optimizer(fresh: None, tmp_path: Path) -> None:
    x, y = _examples()
    model = _model()
    model.train_on_batch(x, y)
    model.save_weights(str(tmp_path / "weights"))
    wanted = model.predict(x)
    model.train_on_batch(x, y)
    after = model.predict(x)
    tf.keras.backend.clear_session()
    other = _model()
    other.load_weights(str(tmp_path / "weights"))
    np.testing.assert_array_equal(other.predict(x), wanted)
    other.train_on_batch(x, y)
    np.testing.assert_allclose(other.predict(x), after, atol=1e-6)


def test_hdf5_files_bring_back_whole_models(fresh: None, tmp_path: Path) -> None:
    pytest.importorskip("h5py")
    x, y = _examples()
    model = _model()
    model.train_on_batch(x, y)
    model.save(str(tmp_path / "model.h5"))
    wanted, loss = model.predict(x), model.evaluate(x, y, verbose=0)
    model.train_on_batch(x, y)
    after = model.predict(x)
    tf.keras.backend.clear_session()
    other = tf.keras.models.load_model(str(tmp_path / "model.h5"))
    np.testing.assert_array_equal(other.predict(x), wanted)
    assert other.evaluate(x, y, verbose=0) == pytest.approx(loss)
    other.train_on_batch(x, y)
    np.testing.assert_allclose(other.predict(x), after, atol=1e-6)


def test_structures_come_back_from_json(fresh: None) -> None:
    model = _model()
    other = tf.keras.models.model_from_json(model.to_json())
    assert other.get_config() == model.get_config()
    other.set_weights(model.get_weights())
    x, _ = _examples()
    np.testing.assert_array_equal(other.predict(x), model.predict(x))


def test_datasets_and_generators_train_as_arrays(fresh: None) -> None:
    x, y = _examples()

    def trained_with(make: Any, **options: Any) -> list[float]:
        tf.keras.backend.clear_session()
        tf.set_random_seed(1)
        model = _model()
        history = model.fit(*make(), shuffle=False, epochs=2, verbose=0, **options)
        return [float(v) for v in history.history["loss"]]

    def generator() -> Any:
        while True:
            for start in (0, 4):
                yield x[start : start + 4], y[start : start + 4]

    wanted = trained_with(lambda: (x, y), batch_size=4)
    assert trained_with(lambda: (generator(),), steps_per_epoch=2) == pytest.approx(wanted)
    pairs = (x.astype("float32"), y.astype("float32"))
    dataset = lambda: (tf.data.Dataset.from_tensor_slices(pairs).batch(4),)  # noqa: E731
    assert trained_with(dataset) == pytest.approx(wanted)


def test_callbacks_stop_schedule_and_write(fresh: None, tmp_path: Path) -> None:
    callbacks = tf.keras.callbacks
    x, y = _examples()
    model = _model()
    stop = callbacks.EarlyStopping(monitor="loss", baseline=0.0, patience=2)
    history = model.fit(
        x,
        y,
        epochs=9,
        verbose=0,
        callbacks=[
            stop,
            callbacks.LearningRateScheduler(lambda epoch: 0.1 / (epoch + 1)),
            callbacks.CSVLogger(str(tmp_path / "log.csv")),
            callbacks.ModelCheckpoint(str(tmp_path / "{epoch}"), save_weights_only=True),
        ],
    )
    assert history.epoch == [0, 1]
    assert [float(v) for v in history.history["lr"]] == pytest.approx([0.1, 0.05])
    lines = (tmp_path / "log.csv").read_text(encoding="utf-8").splitlines()
    assert lines[0] == "epoch,acc,loss,lr" and len(lines) == 3
    assert (tmp_path / "2.index").exists()


def test_what_does_not_fit_is_said(fresh: None) -> None:
    x, y = _examples()
    model = _model()
    with pytest.raises(ValueError, match=r"expected input_1 to have shape \(4, 3\)"):
        model.fit(x[:, :3], y)
    with pytest.raises(ValueError, match="same number of samples"):
        model.fit(x, y[:5])
    with pytest.raises(ValueError, match="Unknown loss function:there_is_none"):
        model.compile("adam", "there_is_none")
    with pytest.raises(ValueError, match="Graph disconnected"):
        tf.keras.Model(tf.keras.layers.Input((4, 3)), model.outputs)
    with pytest.raises(RuntimeError, match="must compile"):
        tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(2,))]).fit(x, y)
