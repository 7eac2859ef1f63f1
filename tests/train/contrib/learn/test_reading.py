# SPDX-License-Identifier: Apache-2.0
"""Batches that tf.contrib.learn reads from files, and from generators."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import numbaflow as tf
from numbaflow.train.contrib.learn.learn_io import graph_io
from numbaflow.train.contrib.learn.utils import gc

pytestmark = pytest.mark.cpu


def _all_of(fetches: Any) -> list[Any]:
    """What a queue gives until it is empty."""
    found = []
    with tf.Session() as session:
        session.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
        coordinator = tf.train.Coordinator()
        threads = tf.train.start_queue_runners(session, coordinator)
        with pytest.raises(tf.errors.OutOfRangeError):
            while True:
                found.append(session.run(fetches))
        coordinator.request_stop()
        coordinator.join(threads)
    return found


@pytest.mark.parametrize("shared", [False, True])
def test_lines_come_in_batches_with_their_keys(shared: bool, tmp_path: Path) -> None:
    for name, lines in (("a", "one\ntwo\nthree\n"), ("b", "four\n")):
        (tmp_path / name).write_text(lines)
    with tf.Graph().as_default():
        read = tf.contrib.learn.read_keyed_batch_examples
        if shared:
            read = tf.contrib.learn.read_keyed_batch_examples_shared_queue
        keys, lines = read(
            *(str(tmp_path / "*"), 2, tf.TextLineReader),
            randomize_input=False,
            num_epochs=1,
            name="lines",
        )
        assert lines.op.name == "lines" and lines.shape.as_list() == [None]
        batches = _all_of([keys, lines])
    assert [line for _, batch in batches for line in batch] == [b"one", b"two", b"three", b"four"]
    assert batches[0][0][0] == f"{tmp_path / 'a'}:1".encode()


def test_features_are_parsed_ahead(tmp_path: Path) -> None:
    path = str(tmp_path / "records")
    with tf.python_io.TFRecordWriter(path) as writer:
        for i in range(3):
            ages = tf.train.Feature(int64_list=tf.train.Int64List(value=[i] * i))
            name = tf.train.Feature(bytes_list=tf.train.BytesList(value=[b"abc"[i : i + 1]]))
            features = tf.train.Features(feature={"ages": ages, "name": name})
            writer.write(tf.train.Example(features=features).SerializeToString())
    with tf.Graph().as_default():
        found = tf.contrib.learn.read_batch_record_features(
            *(path, 3),
            {"ages": tf.VarLenFeature(tf.int64), "name": tf.FixedLenFeature([], tf.string)},
            randomize_input=False,
            num_epochs=1,
        )
        runners = tf.get_collection(tf.GraphKeys.QUEUE_RUNNERS)
        assert [len(runner.enqueue_ops) for runner in runners] == [1, 1, 2]
        (batch,) = _all_of(found)
    assert batch["name"].tolist() == [b"a", b"b", b"c"]
    assert batch["ages"].values.tolist() == [1, 2, 2]
    assert batch["ages"].dense_shape.tolist() == [3, 2]


def test_wrong_arguments_are_refused(tmp_path: Path) -> None:
    pattern = str(tmp_path / "none*")
    with tf.Graph().as_default():
        with pytest.raises(ValueError, match="No files match"):
            tf.contrib.learn.read_batch_examples(pattern, 1, tf.TextLineReader)
        with pytest.raises(ValueError, match="No files given"):
            tf.contrib.learn.read_batch_examples([], 1, tf.TextLineReader)
        (tmp_path / "none").write_text("a\n")
        for given, message in (
            ({"batch_size": 9, "queue_capacity": 9}, "Invalid batch_size 9, with queue_capacity 9"),
            ({"queue_capacity": 0}, "Invalid queue_capacity 0"),
            ({"num_threads": 0}, "Invalid num_threads 0"),
            ({"num_epochs": 0}, "Invalid num_epochs 0"),
            ({"read_batch_size": 0}, "Invalid read_batch_size 0"),
        ):
            with pytest.raises(ValueError, match=message):
                graph_io.read_batch_examples(
                    pattern, **{"batch_size": 1, "reader": tf.TextLineReader, **given}
                )


def test_generators_give_batches() -> None:
    def rows() -> Iterator[dict[str, np.ndarray]]:
        for i in range(3):
            yield {"x": np.arange(i + 1), "y": np.array(-i)}

    with tf.Graph().as_default():
        read = tf.contrib.learn.io.generator_input_fn
        features, target = read(rows, "y", batch_size=2, shuffle=False, pad_value=9)()
        batches = _all_of([features["x"], target])
    rows_of_x = [row for batch, _ in batches for row in batch]
    # A batch has as many values as was asked for: one row of x and y.  Queues give two.
    found = [row.tolist() for row in rows_of_x]
    # The end is seen by the call that finds none, and begins anew; so does TensorFlow.
    assert found == [[0, 0], [0, 1], [0, 1, 2], [0, 0, 0]]
    assert [int(y) for _, batch in batches for y in batch] == [0, -1, -2, 0]
    with pytest.raises(TypeError, match="x must be generator function; got int"):
        read(3)
    with pytest.raises(KeyError, match="target_key not in yielded dict"):
        read(rows, ["z"])
    with pytest.raises(TypeError, match=r"x\(\) must yield dict"):
        read(lambda: (i for i in range(3)))


def test_which_exports_are_kept() -> None:
    paths = [gc.Path(str(i), i) for i in (0, 4, 5, 9, 10)]
    kept = {
        "largest": gc.largest_export_versions(2),
        "every": gc.one_of_every_n_export_versions(3),
        "divided": gc.mod_export_version(5),
        "others": gc.negation(gc.mod_export_version(5)),
        "both": gc.union(gc.largest_export_versions(1), gc.mod_export_version(4)),
    }
    found = {name: [path.export_version for path in keep(paths)] for name, keep in kept.items()}
    assert found == {
        "largest": [10, 9],
        "every": [0, 10, 5, 9],
        "divided": [0, 10, 5],
        "others": [4, 9],
        "both": [0, 10, 4],
    }


def test_debug_estimators_know_how_frequent_classes_are(tmp_path: Path) -> None:
    from numbaflow.train.contrib.learn.estimators.debug import DebugClassifier

    def given() -> tuple[dict[str, Any], Any]:
        return {"x": tf.zeros([4, 1])}, tf.constant([[1], [1], [1], [0]])

    estimator = DebugClassifier(model_dir=str(tmp_path))
    estimator.fit(input_fn=given, steps=60)
    shares = np.stack(list(estimator.predict_proba(input_fn=given)))
    np.testing.assert_allclose(shares[:, 1], 0.75, atol=0.03)
    assert next(estimator.predict_classes(input_fn=given)) == 1
