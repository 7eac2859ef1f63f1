# SPDX-License-Identifier: Apache-2.0
"""Texts and categories as numbers; data sets of files."""

from __future__ import annotations

import pickle
from pathlib import Path

import numpy as np
import pytest

import numbaflow as tf
from numbaflow.train.contrib.learn.datasets import base, synthetic
from numbaflow.train.contrib.learn.learn_io.data_feeder import (
    DataFeeder,
    StreamingDataFeeder,
    setup_predict_data_feeder,
)

pytestmark = pytest.mark.pure

learn = tf.contrib.learn
TEXTS = ["It's a well-known film", "a film", "NLPNetworks read CamelCase"]


def rows(processor: object, texts: list[str]) -> list[list[int]]:
    return [row.tolist() for row in processor.transform(texts)]  # type: ignore[attr-defined]


def test_words_are_numbered_as_they_come() -> None:
    processor = learn.preprocessing.VocabularyProcessor(5)
    found = [row.tolist() for row in processor.fit_transform(TEXTS)]
    assert found == [[1, 2, 3, 4, 0], [2, 4, 0, 0, 0], [5, 6, 7, 8, 9]]
    assert rows(processor, ["a new film"]) == [[2, 0, 4, 0, 0]]
    assert list(processor.reverse([[2, 4, 0]])) == ["a film <UNK>"]


def test_rare_words_are_dropped_and_the_rest_numbered_by_frequency() -> None:
    vocabulary = learn.preprocessing.CategoricalVocabulary()
    for word, count in (("a", 2), ("b", 5), ("c", 1), ("d", 2)):
        vocabulary.add(word, count)
    vocabulary.trim(1, max_frequency=5)
    assert [vocabulary.reverse(i) for i in range(len(vocabulary))] == ["<UNK>", "a", "d"]


def test_processors_come_back_from_files(tmp_path: Path) -> None:
    processor = learn.preprocessing.VocabularyProcessor(4, min_frequency=1)
    processor.fit(TEXTS)
    path = str(tmp_path / "vocab")
    processor.save(path)
    again = learn.preprocessing.VocabularyProcessor.restore(path)
    assert rows(again, TEXTS) == rows(processor, TEXTS)


def test_files_of_tensorflow_name_its_modules(tmp_path: Path) -> None:
    processor = learn.preprocessing.VocabularyProcessor(4).fit(TEXTS)
    package = "numbaflow.train.contrib.learn.preprocessing"
    named = "tensorflow.contrib.learn.python.learn.preprocessing"
    data = pickle.dumps(processor, protocol=0).replace(package.encode(), named.encode())
    (tmp_path / "vocab").write_bytes(data)
    again = learn.preprocessing.VocabularyProcessor.restore(str(tmp_path / "vocab"))
    assert rows(again, TEXTS) == rows(processor, TEXTS)


class Harm:
    """What would create a file when it is unpickled."""

    def __init__(self, path: str) -> None:
        self.path = path

    def __reduce__(self) -> object:
        return open, (self.path, "w")


def test_files_run_nothing(tmp_path: Path) -> None:
    (tmp_path / "vocab").write_bytes(pickle.dumps(Harm(str(tmp_path / "made"))))
    with pytest.raises(pickle.UnpicklingError, match=r"io\.open is none of what"):
        learn.preprocessing.VocabularyProcessor.restore(str(tmp_path / "vocab"))
    assert not (tmp_path / "made").exists()


def test_texts_are_bytes() -> None:
    processor = learn.preprocessing.ByteProcessor(4)
    found = list(processor.fit_transform(["ab", b"\xc3\xa4", "abcdef"]))
    assert np.array(found).tolist() == [[97, 98, 0, 0], [195, 164, 0, 0], [97, 98, 99, 100]]
    assert list(processor.reverse(found)) == ["ab", "ä", "abcd"]


def test_columns_have_vocabularies() -> None:
    processor = learn.preprocessing.CategoricalProcessor()
    found = processor.fit_transform([["x", 1], ["y", float("nan")], ["x", 2]])
    assert np.array(list(found)).tolist() == [[1, 1], [2, 0], [1, 2]]


def test_tables_are_read(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("2,2,a,b\n1.5,2.5,0\n3.5,4.5,1\n")
    data = learn.datasets.base.load_csv_with_header(str(tmp_path / "t.csv"), int, float)
    assert data.data.tolist() == [[1.5, 2.5], [3.5, 4.5]]
    assert data.target.tolist() == [0, 1]
    base.shrink_csv(str(tmp_path / "t.csv"), 2)
    assert (tmp_path / "t_small.csv").read_text().split() == ["2,2,a,b", "3.5,4.5,1"]


def test_irises_are_here_and_houses_are_not() -> None:
    iris = learn.datasets.load_dataset("iris")
    assert iris.data.shape == (150, 4)
    assert np.bincount(iris.target).tolist() == [50, 50, 50]
    assert iris.data.sum(axis=0) == pytest.approx([876.5, 458.1, 563.8, 179.8])
    with pytest.raises(ValueError, match="boston_house_prices"):
        learn.datasets.load_dataset("boston")
    with pytest.raises(ValueError, match="not found: moons"):
        learn.datasets.load_dataset("moons")


def test_points_are_made_up() -> None:
    circles = learn.datasets.make_dataset("circles", n_samples=10, factor=0.5)
    radius = np.hypot(*circles.data.T)
    assert radius == pytest.approx(np.where(circles.target == 1, 0.5, 1.0))
    for mode in ("archimedes", "bernoulli", "fermat"):
        assert synthetic.spirals(10, seed=1, mode=mode).data.shape == (10, 2)
    with pytest.raises(ValueError, match="mode helix"):
        synthetic.spirals(10, mode="helix")


def test_functions_are_tried_again() -> None:
    calls: list[int] = []

    @base.retry(0.0001, 0.001, is_retriable=lambda error: isinstance(error, OSError))
    def fails_twice() -> str:
        calls.append(1)
        if len(calls) < 3:
            raise OSError
        return "done"

    assert fails_twice() == "done"
    assert len(calls) == 3


def test_feeders_give_batches() -> None:
    x, y = np.arange(10.0, dtype=np.float32).reshape(5, 2), np.array([0, 1, 2, 1, 0])
    with tf.Graph().as_default():
        feeder = DataFeeder(x, y, n_classes=3, batch_size=2, shuffle=False, epochs=1)
        placeholders = feeder.input_builder()
        assert [p.shape.as_list() for p in placeholders] == [[None, 2], [None, 3]]
        feed = feeder.get_feed_dict_fn()
        batches = [feed() for _ in range(3)]
        assert [b["input:0"].tolist() for b in batches] == [
            [[0, 1], [2, 3]],
            [[4, 5], [6, 7]],
            [[8, 9]],
        ]
        assert batches[1]["output:0"].tolist() == [[0, 0, 1], [0, 1, 0]]
        with pytest.raises(StopIteration):
            feed()


def test_feeders_read_iterators_to_their_end() -> None:
    x, y = iter(np.arange(6.0).reshape(3, 2)), iter([1, 0, 1])
    with tf.Graph().as_default():
        feeder = StreamingDataFeeder(x, y, n_classes=2, batch_size=2)
        feeder.input_builder()
        feed = feeder.get_feed_dict_fn()
        assert feed()["output:0"].tolist() == [[0, 1], [1, 0]]
        assert feed()["input:0"].tolist() == [[4, 5]]
        with pytest.raises(StopIteration):
            feed()


def test_predictions_are_for_batches() -> None:
    assert [len(b) for b in setup_predict_data_feeder(np.zeros(5), 2)] == [2, 2, 1]
    assert [len(b) for b in setup_predict_data_feeder(iter(np.zeros([5, 1])), 2)] == [2, 2, 1]
    with pytest.raises(ValueError, match="batch_size 0"):
        setup_predict_data_feeder(np.zeros(5), 0)
