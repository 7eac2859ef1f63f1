# SPDX-License-Identifier: Apache-2.0
"""Batches of pictures, of tables, of windows and of known texts; numbers are TensorFlow 1.15's."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import numbaflow as tf

preprocessing = tf.keras.preprocessing
Generator = preprocessing.image.ImageDataGenerator
pytestmark = pytest.mark.programs
PICTURES = np.arange(4 * 5 * 4 * 3).reshape(4, 5, 4, 3) % 251


@pytest.mark.parametrize(
    ("options", "numbers"),
    [
        ({"height_shift_range": 2}, [86.3, 55.4407, 7.0]),
        ({"width_shift_range": 0.4}, [89.3418, 51.0146, 10.0]),
        (
            {"featurewise_std_normalization": True, "rescale": 1 / 255.0},
            [-0.433, 0.75, -1.6239],
        ),
        ({"samplewise_std_normalization": True}, [0.0, 1.0, -1.2992]),
    ],
)
def test_pictures_are_changed_by_the_same_numbers(options: Any, numbers: list[float]) -> None:
    if not options.keys() & {"rescale", "samplewise_std_normalization"}:
        pytest.importorskip("scipy")
    with (
        pytest.warns(UserWarning, match="overrides")
        if len(options) > 1 or ("samplewise_std_normalization" in options)
        else np.errstate()
    ):
        generator = Generator(**options)
    if "rescale" in options:
        generator.fit(PICTURES)
    batch = next(generator.flow(PICTURES, batch_size=3, seed=5))
    found = [batch.mean(), batch.std(), batch.ravel()[7]]
    np.testing.assert_allclose(found, numbers, atol=2e-4)


def test_generators_refuse_what_they_cannot_do() -> None:
    for options, words in (
        ({"data_format": "rows"}, "`data_format` should be"),
        ({"brightness_range": 3}, "`brightness_range should be"),
        ({"zoom_range": [1, 2, 3]}, "`zoom_range` should be"),
        ({"validation_split": 2}, "strictly between 0 and 1"),
    ):
        with pytest.raises(ValueError, match=words):
            Generator(**options)
    with pytest.raises(ValueError, match=r"x\.shape = \(4, 5, 4, 3\), y\.shape = \(3,\)"):
        Generator().flow(PICTURES, np.arange(3))
    with pytest.raises(ValueError, match="different number of classes"):
        Generator(validation_split=0.5).flow(PICTURES, np.arange(4), subset="training")
    with pytest.warns(UserWarning, match="hasn't been fit"):
        Generator(featurewise_center=True).standardize(PICTURES[0].astype("f"))


def _files(folder: Path) -> list[str]:
    pytest.importorskip("PIL")
    names = [f"{name}{i}.png" for name in "ab" for i in range(2)]
    for name, picture in zip(names, PICTURES):
        preprocessing.image.save_img(str(folder / name), picture, scale=False)
    return names


def test_a_table_lists_pictures(tmp_path: Path, capsys: Any) -> None:
    pandas = pytest.importorskip("pandas")
    names = _files(tmp_path)
    table = pandas.DataFrame(
        {
            "filename": [*names, "missing.png"],
            "class": list("xyxyx"),
            "several": [["x", "z"], ["y"], ["z"], ["x"], ["z"]],
            "number": np.arange(5.0),
            "weight": np.arange(5.0) / 2,
        }
    )

    def batch(**options: Any) -> Any:
        with pytest.warns(UserWarning, match="Found 1 invalid image"):
            iterator = Generator().flow_from_dataframe(
                table, str(tmp_path), target_size=(5, 4), shuffle=False, **options
            )
        return next(iterator)

    pictures, classes = batch()
    assert "Found 4 validated image filenames belonging to 2 classes." in capsys.readouterr().out
    np.testing.assert_array_equal(pictures, PICTURES)
    np.testing.assert_array_equal(classes, [[1, 0], [0, 1], [1, 0], [0, 1]])
    np.testing.assert_array_equal(batch(class_mode="binary", weight_col="weight")[1], [0, 1, 0, 1])
    np.testing.assert_array_equal(batch(weight_col="weight")[2], [0, 0.5, 1, 1.5])
    np.testing.assert_array_equal(
        batch(y_col="several")[1], [[1, 0, 1], [0, 1, 0], [0, 0, 1], [1, 0, 0]]
    )
    np.testing.assert_array_equal(batch(y_col="number", class_mode="raw")[1], np.arange(4.0))
    outputs = batch(y_col=["number", "weight"], class_mode="multi_output")[1]
    np.testing.assert_array_equal(outputs, [np.arange(4.0), np.arange(4.0) / 2])
    with pytest.raises(TypeError, match="must be type string, list or tuple"):
        Generator().flow_from_dataframe(table, str(tmp_path), y_col="number")


def test_windows_are_written_and_read() -> None:
    series = preprocessing.sequence.TimeseriesGenerator(np.arange(8.0), np.arange(8), 3)
    config = json.loads(series.to_json())["config"]
    assert (config["length"], config["batch_size"]) == (3, 128)
    assert json.loads(config["data"]) == list(range(8))


def test_what_is_no_sequence_is_not_padded() -> None:
    pad = preprocessing.sequence.pad_sequences
    with pytest.raises(ValueError, match="`sequences` must be iterable"):
        pad(3)
    with pytest.raises(ValueError, match="You should set `dtype=object`"):
        pad([["a"]], value="none")
    assert pad([["a"], ["b", "c"]], dtype=object, value="-").tolist() == [["-", "a"], ["b", "c"]]


TEXTS = np.array([[1, 5, 3, 40], [2, 9], [4, 4, 4, 8, 2, 77], [3, 3]] * 3, dtype=object)


def test_reviews_are_cut_and_divided(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = str(tmp_path / "imdb.npz")
    labels = np.arange(12) % 2
    np.savez(path, x_train=TEXTS, y_train=labels, x_test=TEXTS[:3], y_test=np.arange(3))
    monkeypatch.setattr("numbaflow.train.keras.datasets.get_file", lambda path, **kwargs: path)
    load = tf.keras.datasets.imdb.load_data
    (train, _), (test, _) = load(path)
    # The largest number is none of those below it, and becomes the number of unknown words.
    assert train[8] == [1, 7, 7, 7, 11, 5, 2]
    assert test.tolist()[1] == [1, 5, 12]
    (train, tones), (test, rest) = load(path, maxlen=5)
    assert [list(x) for x in train] == [[1, 6, 6], [1, 5, 2], [1, 5, 2], [1, 6, 6]] + [
        [1, 6, 6],
        [1, 5, 2],
        [1, 5, 2],
    ]
    assert (tones.tolist(), len(test), len(rest)) == ([1] * 7, 0, 0)
    with pytest.raises(ValueError, match="no sequence was kept"):
        load(path, maxlen=2)
    with pytest.raises(TypeError, match="Unrecognized keyword"):
        load(path, words=2)


def test_layers_say_what_they_do_not_take() -> None:
    layers = tf.keras.layers
    for make in (layers.LSTM, layers.GRU, layers.SimpleRNN, layers.CuDNNGRU):
        with pytest.raises(ValueError, match=r"expected ndim=3, found ndim=2.*\[None, 4\]"):
            make(3)(tf.keras.Input((4,)))
    with pytest.raises(ValueError, match="of layer bidirectional is incompatible"):
        layers.Bidirectional(layers.LSTM(3), name="bidirectional")(tf.keras.Input((4,)))
    with pytest.raises(ValueError, match=r"Layer shapes: \(None, 2\), \(None, 3\)"):
        layers.Dot(1)([tf.keras.Input((2,)), tf.keras.Input((3,))])


def test_there_is_no_model_where_there_is_nothing(tmp_path: Path) -> None:
    for name in ("model", "model.h5"):
        with pytest.raises(OSError, match=f"SavedModel file does not exist at: .*{name}/"):
            tf.keras.models.load_model(str(tmp_path / name))
