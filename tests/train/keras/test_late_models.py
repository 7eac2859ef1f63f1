# SPDX-License-Identifier: Apache-2.0
"""Models that their first batch builds, and what callbacks are told meanwhile."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import numbaflow as tf
from numbaflow.train.keras.callbacks.latest import latest_of_pattern

pytestmark = pytest.mark.cpu
keras: Any = tf.keras
X, Y = np.ones([6, 3], np.float32), np.zeros([6, 2], np.float32)


@pytest.fixture(autouse=True)
def _session() -> Any:
    with tf.Graph().as_default(), tf.Session():
        yield


def dense(*sizes: int) -> Any:
    return keras.Sequential([keras.layers.Dense(size) for size in sizes])


def test_sequential_models_without_input_shapes_are_nested() -> None:
    model = dense(4)
    model.add(dense(5, 2))
    model.compile("sgd", "mse")
    model.fit(X, Y, verbose=0)
    assert [w.shape for w in model.get_weights()] == [(3, 4), (4,), (4, 5), (5,), (5, 2), (2,)]
    built = dense(4)
    built.add(dense(2))
    built.build((None, 7))
    assert len(built.weights) == 4


def test_layers_are_added_to_a_model_that_was_trained() -> None:
    model = dense(3)
    model.compile("sgd", "mse")
    model.fit(X, X, verbose=0)
    model.add(keras.layers.Dense(2))
    assert model.built and model.outputs[0].shape.as_list() == [None, 2]
    model.compile("sgd", "mse")
    assert model.predict(X).shape == (6, 2)
    model.fit(X, Y, verbose=0)
    assert len(model.weights) == 4


def test_a_model_may_pass_itself_for_its_name() -> None:
    class Own(keras.Model):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__(self)
            self.dense = keras.layers.Dense(2)

        def call(self, inputs: Any) -> Any:
            return self.dense(inputs)

    model = Own()
    model.compile("sgd", "mse")
    model.fit(X, Y, verbose=0)
    assert [w.name for w in model.weights] == ["own/dense/kernel:0", "own/dense/bias:0"]


def test_bars_show_metrics_of_models_that_are_built_late(capsys: Any) -> None:
    data = tf.data.Dataset.from_tensor_slices((X, Y)).batch(2).repeat()
    model = dense(2)
    model.compile("sgd", "mse", metrics=["mae"])
    model.fit(data, steps_per_epoch=3, epochs=2, validation_data=data, validation_steps=1)
    last = capsys.readouterr().out.rstrip().splitlines()[-1]
    assert all(f" - {name}: " in last for name in ("loss", "mean_absolute_error", "val_loss"))
    assert "val_mean_absolute_error: " in last


class Pairs(keras.utils.Sequence):  # type: ignore[misc]
    def __len__(self) -> int:
        return 2

    def __getitem__(self, index: int) -> Any:
        return X[: 4 - index], Y[: 4 - index]


def test_callbacks_are_told_sizes_of_batches_and_get_logs_by_place() -> None:
    told: list[Any] = []
    callback = keras.callbacks.LambdaCallback(
        on_train_begin=lambda logs: told.append("begin"),
        on_batch_end=lambda batch, logs: told.append((batch, logs["size"])),
        on_train_end=lambda logs: told.append("end"),
    )
    model = dense(2)
    model.compile("sgd", "mse")
    model.fit_generator(Pairs(), verbose=0, callbacks=[callback], shuffle=False)
    assert told == ["begin", (0, 4), (1, 3), "end"]


def test_training_goes_on_from_the_last_file_of_a_pattern(tmp_path: Path) -> None:
    model = dense(2)
    model.compile("sgd", "mse")
    path = str(tmp_path / "weights.{epoch:02d}")
    given = {"save_weights_only": True, "load_weights_on_restart": True}
    model.fit(X, Y, epochs=2, verbose=0, callbacks=[keras.callbacks.ModelCheckpoint(path, **given)])
    kept = model.get_weights()
    model.set_weights([w + 1 for w in kept])
    seen: list[Any] = []
    look = keras.callbacks.LambdaCallback(
        on_epoch_begin=lambda epoch, logs: seen.extend(model.get_weights())
    )
    again = keras.callbacks.ModelCheckpoint(path, **given)
    model.fit(X, Y, verbose=0, callbacks=[again, look])
    for got, want in zip(seen, kept):
        np.testing.assert_array_equal(got, want)


def test_the_last_file_is_that_changed_last(tmp_path: Path) -> None:
    assert latest_of_pattern(str(tmp_path / "none" / "f{epoch}.h5")) is None
    for number, (name, when) in enumerate([("f1.h5", 5), ("f2.h5", 9), ("f3.h5", 7), ("g.h5", 10)]):
        (tmp_path / name).write_text(str(number))
        os.utime(tmp_path / name, (when, when))
    assert latest_of_pattern(str(tmp_path / "f{epoch}.h5")) == str(tmp_path / "f2.h5")
    os.utime(tmp_path / "f1.h5", (9, 9))
    assert latest_of_pattern(str(tmp_path / "f{epoch}.h5")) == str(tmp_path / "f3.h5")
    assert latest_of_pattern(str(tmp_path / "h{epoch}.h5")) is None


def test_steps_of_batches_count_from_0(tmp_path: Path) -> None:
    board = keras.callbacks.TensorBoard(str(tmp_path), update_freq="batch")
    written: list[Any] = []

    class Writer:
        def add_summary(self, summary: Any, step: int) -> None:
            written.append((step, summary.value[0].tag))

        def flush(self) -> None:
            written.append("flushed")

    board.writer = Writer()
    for batch in range(2):
        board.on_batch_end(batch, {"acc": 0.5, "size": 3})
    assert written == [(0, "batch_acc"), "flushed", (1, "batch_acc"), "flushed"]


def test_arrays_beside_a_generator_are_evaluated_in_batches_of_its_last_size() -> None:
    sizes: list[int] = []

    class Look(keras.callbacks.Callback):  # type: ignore[misc]
        def on_test_batch_begin(self, batch: int, logs: Any = None) -> None:
            sizes.append(logs["size"])

    model = dense(1)
    model.compile("sgd", "mse")
    x, y = np.zeros([7, 3], np.float32), np.arange(7, dtype=np.float32)[:, None]
    data = (np.zeros([4 - k % 2, 3]) for k in range(4))
    pairs = ((batch, np.zeros([len(batch), 1])) for batch in data)
    history = model.fit_generator(
        pairs, steps_per_epoch=2, epochs=2, validation_data=(x, y), verbose=0, callbacks=[Look()]
    )
    assert sizes == [3, 3, 1] * 2
    # The mean of the three batches' losses, as TensorFlow's.
    want = np.mean([np.mean(y[:3] ** 2), np.mean(y[3:6] ** 2), y[6, 0] ** 2])
    np.testing.assert_allclose(history.history["val_loss"], [want] * 2, rtol=1e-6)
