# SPDX-License-Identifier: Apache-2.0
"""Orders of batches, what TensorBoard is told, local weights; numbers are TensorFlow 1.15's."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import numbaflow as tf

keras = tf.keras
layers = tf.keras.layers
pytestmark = pytest.mark.cpu


@pytest.fixture(autouse=True)
def fresh() -> Any:
    """A graph, a session and seeds of the test's own."""
    keras.backend.clear_session()
    tf.set_random_seed(3)
    np.random.seed(0)
    yield
    keras.backend.clear_session()


class _Batches(keras.utils.Sequence):
    def __init__(self) -> None:
        self.seen: list[Any] = []

    def __len__(self) -> int:
        return 5

    def __getitem__(self, index: int) -> Any:
        self.seen.append(index)
        return np.ones((2, 3)), np.ones((2, 1))

    def on_epoch_end(self) -> None:
        self.seen.append("end")


def _model() -> Any:
    model = keras.Sequential([layers.Dense(1, input_shape=(3,))])
    model.compile("sgd", "mse")
    return model


def test_batches_come_in_the_order_of_pythons_random() -> None:
    random.seed(0)
    batches, validation = _Batches(), _Batches()
    _model().fit_generator(
        batches, epochs=2, verbose=0, validation_data=validation, validation_steps=2
    )
    assert batches.seen == [2, 1, 0, 4, 3, "end", 2, 0, 1, 4, 3]
    assert validation.seen[:2] == [0, 1]
    assert "end" not in validation.seen


def test_without_workers_batches_come_in_order() -> None:
    batches, validation = _Batches(), _Batches()
    _model().fit_generator(
        batches, epochs=2, verbose=0, workers=0, validation_data=validation, validation_steps=2
    )
    assert batches.seen == [0, 1, 2, 3, 4] * 2
    assert validation.seen == [0, 1] * 2


def test_what_goes_wrong_with_a_batch_is_raised() -> None:
    class Broken(_Batches):
        def __getitem__(self, index: int) -> Any:
            if index == 3:
                raise IndexError("the third is broken")
            return super().__getitem__(index)

    with pytest.raises(IndexError, match="the third is broken"):
        _model().fit_generator(Broken(), verbose=0, shuffle=False)


def test_threads_keep_the_order() -> None:
    class Numbers(_Batches):
        def __getitem__(self, index: int) -> Any:
            return index

    enqueuer = keras.utils.OrderedEnqueuer(Numbers())
    enqueuer.start(workers=3, max_queue_size=4)
    found = enqueuer.get()
    assert [next(found) for _ in range(12)] == [0, 1, 2, 3, 4, 0, 1, 2, 3, 4, 0, 1]
    assert enqueuer.is_running()
    enqueuer.stop()
    assert not enqueuer.is_running()


def _summaries(folder: Path) -> dict[str, list[Any]]:
    found: dict[str, list[Any]] = {}
    for path in folder.glob("*tfevents*"):
        for event in tf.train.summary_iterator(str(path)):
            for value in event.summary.value:
                found.setdefault(value.tag, []).append((event.step, value))
    return found


def test_histograms_are_of_each_batch_of_the_validation(tmp_path: Path) -> None:
    model = keras.Sequential(
        [layers.Conv2D(2, 3, input_shape=(5, 4, 1)), layers.Flatten(), layers.Dense(1)]
    )
    model.compile("sgd", "mse")
    board = keras.callbacks.TensorBoard(
        str(tmp_path), histogram_freq=2, write_grads=True, write_images=True
    )
    x, y = np.ones((8, 5, 4, 1)), np.ones((8, 1))
    data = (x, y)
    model.fit(x, y, batch_size=4, epochs=3, verbose=0, validation_data=data, callbacks=[board])
    found = _summaries(tmp_path)
    assert {
        *("epoch_loss", "epoch_val_loss", "conv2d/kernel_0", "conv2d/kernel_0_grad", "conv2d_out"),
        *("conv2d/bias_0_1/image/0", "dense/kernel_0_1/image/0", "dense_out", "flatten_out"),
    } <= found.keys()
    # (Two epochs of three, of two batches.)
    assert [step for step, _ in found["conv2d/kernel_0"]] == [0, 1, 2, 3]
    assert [step for step, _ in found["epoch_loss"]] == [0, 1, 2]
    assert found["conv2d/kernel_0"][0][1].histo.num == 18
    picture = found["dense/kernel_0_1/image/0"][0][1].image
    assert (picture.width, picture.height) == (1, 12)


def test_embeddings_are_saved_for_the_projector(tmp_path: Path) -> None:
    model = keras.Sequential(
        [layers.Embedding(7, 3, input_length=4, name="words"), layers.Flatten(), layers.Dense(1)]
    )
    model.compile("sgd", "mse")
    x = np.arange(24).reshape(6, 4) % 7
    options = {"embeddings_freq": 1, "embeddings_metadata": "words.tsv", "batch_size": 4}
    board = keras.callbacks.TensorBoard(str(tmp_path), embeddings_data=x, **options)
    model.fit(x, x[:, :1], epochs=2, verbose=0, callbacks=[board])
    saved = tf.train.load_variable(str(tmp_path), "words_embedding")
    rows = model.layers[0].get_weights()[0][x].reshape(6, 12)
    np.testing.assert_allclose(saved, rows, rtol=1e-6)
    assert 'metadata_path: "words.tsv"' in (tmp_path / "projector_config.pbtxt").read_text()
    board = keras.callbacks.TensorBoard(str(tmp_path), embeddings_freq=1)
    with pytest.raises(ValueError, match="embeddings_data must be provided"):
        model.fit(x, x[:, :1], verbose=0, callbacks=[board])


@pytest.mark.parametrize(
    ("implementation", "shape", "losses", "operations"),
    [
        (1, (9, 12, 2), [0.2130066603422165, 0.20435172319412231], 284),
        (2, (6, 5, 2, 3, 3, 2), [0.18428975343704224, 0.17555198073387146], 255),
        (3, (216,), [0.18110835552215576, 0.17324073612689972], 249),
    ],
)
def test_local_weights_are_kept_in_three_ways(
    implementation: int, shape: Any, losses: list[float], operations: int
) -> None:
    normal = keras.initializers.RandomNormal
    local = layers.LocallyConnected2D(
        *(2, (2, 3)),
        strides=(2, 1),
        implementation=implementation,
        input_shape=(6, 5, 2),
        kernel_initializer=normal(seed=1),
    )
    dense = layers.Dense(1, kernel_initializer=normal(seed=3))
    model = keras.Sequential([local, layers.Flatten(), dense])
    model.compile("sgd", "mse")
    x = np.arange(240.0).reshape(4, 6, 5, 2) / 240
    history = model.fit(x, x[:, 0, 0, :1], epochs=2, verbose=0, shuffle=False).history
    assert model.get_weights()[0].shape == shape
    np.testing.assert_allclose(history["loss"], losses, rtol=2e-6)
    assert len(tf.get_default_graph().get_operations()) == operations


def test_wrappers_are_estimators_of_scikit_learn() -> None:
    selection = pytest.importorskip("sklearn.model_selection")

    def make(units: int = 2) -> Any:
        model = keras.Sequential([layers.Dense(units, input_shape=(3,)), layers.Dense(1)])
        model.compile("sgd", "mse")
        return model

    regressor = keras.wrappers.scikit_learn.KerasRegressor
    with pytest.raises(ValueError, match="unit is not a legal parameter"):
        regressor(make, unit=3)
    x = np.arange(24.0).reshape(8, 3) / 24
    search = selection.GridSearchCV(regressor(make, verbose=0), {"units": [2, 3]}, cv=2)
    search.fit(x, x[:, 0])
    assert set(search.best_params_) == {"units"}
    assert search.predict(x).shape == (8,)
