# SPDX-License-Identifier: Apache-2.0
"""Datasets that keep their elements in a folder, as TensorFlow 1.15 does."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import numbaflow as tf
from numbaflow.io import protos
from numbaflow.io.raw_tensors import runtime_array, runtime_tensor_proto
from numbaflow.ops.data.experimental.snapshotting import snapshot

from .snapshot_programs import elements, pipelines

pytestmark = pytest.mark.cpu
# The folders that TensorFlow 1.15.5 makes for the pipelines of snapshot_programs.py.
FOLDERS = {
    "numbers": "91e655f56630b5d2",
    "slices": "f06e47fe931a4b01",
    "pairs": "ca2d984a1783a044",
    "texts": "d433ade1442173fe",
}


@pytest.fixture(autouse=True)
def _graph() -> Any:
    with tf.Graph().as_default():
        yield


def counted(count: int = 5) -> tuple[Any, list[int]]:
    """A dataset, and how often its elements were made."""
    made: list[int] = []

    def make(number: int) -> np.int64:
        made.append(int(number))
        return np.int64(number * 10)

    source = tf.data.Dataset.range(count)
    return source.map(lambda x: tf.py_func(make, [x], tf.int64)), made


def files_in(folder: Path) -> list[list[str]]:
    """The names of the files of each run."""
    runs = [run for each in folder.iterdir() for run in each.iterdir() if run.is_dir()]
    return [sorted(path.name for path in run.iterdir()) for run in runs]


@pytest.mark.parametrize("name", FOLDERS)
def test_the_folder_is_the_one_that_tensorflow_makes(name: str, tmp_path: Path) -> None:
    dataset = pipelines(tf)[name]()
    wanted = elements(tf, dataset)
    assert elements(tf, dataset.apply(snapshot(str(tmp_path)))) == wanted
    assert [path.name for path in tmp_path.iterdir()] == [FOLDERS[name]]
    assert elements(tf, dataset.apply(snapshot(str(tmp_path)))) == wanted


@pytest.mark.parametrize("compression", [None, "GZIP"])
def test_a_second_run_reads_what_the_first_one_wrote(
    compression: str | None, tmp_path: Path
) -> None:
    dataset, made = counted()
    kept = dataset.apply(snapshot(str(tmp_path), compression=compression))
    for _ in range(2):
        assert elements(tf, kept) == [0, 10, 20, 30, 40]
    assert sorted(made) == [0, 1, 2, 3, 4]
    assert files_in(tmp_path) == [["00000000.snapshot"]]


def test_what_was_not_read_to_the_end_is_passed_by_while_it_may_still_be_written(
    tmp_path: Path,
) -> None:
    dataset, made = counted()
    kept = dataset.apply(snapshot(str(tmp_path)))
    assert elements(tf, kept.take(2)) == [0, 10]
    # (Another run may be at it, and nothing is written.)
    assert elements(tf, kept) == [0, 10, 20, 30, 40]
    assert len(files_in(tmp_path)) == 1
    count = len(made)
    assert elements(tf, kept) == [0, 10, 20, 30, 40]
    assert len(made) > count


def test_an_abandoned_snapshot_is_written_anew(tmp_path: Path) -> None:
    dataset, _ = counted()
    kept = dataset.apply(snapshot(str(tmp_path), pending_snapshot_expiry_seconds=1))
    assert elements(tf, kept.take(2)) == [0, 10]
    (metadata,) = tmp_path.glob("*/snapshot.metadata")
    content = bytearray(metadata.read_bytes())
    module = protos.module("tensorflow/core/protobuf/data/experimental/snapshot.proto")
    found = module.SnapshotMetadataRecord.FromString(bytes(content[8:]))
    assert not found.finalized and found.graph_hash == metadata.parent.name
    found.creation_timestamp -= 10**7
    record = found.SerializeToString()
    metadata.write_bytes(len(record).to_bytes(8, "little") + record)
    assert elements(tf, kept) == [0, 10, 20, 30, 40]
    assert len(files_in(tmp_path)) == 2
    assert elements(tf, kept) == [0, 10, 20, 30, 40]


def test_files_end_where_they_are_full_and_several_are_written_in_turns(tmp_path: Path) -> None:
    large = tf.data.Dataset.from_tensors(np.zeros((1024, 1024), np.float32)).repeat(10)
    kept = large.apply(snapshot(str(tmp_path / "a"), shard_size_bytes=10 << 20))
    assert len(elements(tf, kept.map(lambda x: x[0, 0]))) == 10
    assert [len(names) for names in files_in(tmp_path / "a")] == [4]
    few = tf.data.Dataset.range(10).apply(snapshot(str(tmp_path / "b"), num_writer_threads=3))
    assert elements(tf, few) == list(range(10))
    assert [len(names) for names in files_in(tmp_path / "b")] == [3]
    assert sorted(elements(tf, few)) == list(range(10))


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"compression": "ZIP"}, "compression must be either '' or 'GZIP'"),
        ({"shard_size_bytes": 1000}, "shard_size_bytes must be at least 1 MiB"),
        ({"pending_snapshot_expiry_seconds": 0}, "must be at least 1 second"),
    ],
)
def test_wrong_settings_are_refused(given: dict[str, Any], message: str, tmp_path: Path) -> None:
    dataset = tf.data.Dataset.range(2).apply(snapshot(str(tmp_path), **given))
    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        elements(tf, dataset)


@pytest.mark.parametrize("length", [3, 8, 12, 40])
def test_a_file_that_ends_early_is_lost_data(length: int, tmp_path: Path) -> None:
    dataset = tf.data.Dataset.range(3).apply(snapshot(str(tmp_path)))
    elements(tf, dataset)
    (path,) = tmp_path.glob("*/*/*.snapshot")
    path.write_bytes(path.read_bytes()[:length])
    with pytest.raises(tf.errors.DataLossError):
        elements(tf, dataset)


def test_an_iterator_goes_on_where_it_was_saved(tmp_path: Path) -> None:
    dataset = tf.data.Dataset.range(6).apply(snapshot(str(tmp_path)))
    iterator = tf.data.make_initializable_iterator(dataset)
    element = iterator.get_next()
    saver = tf.train.Saver({"it": tf.data.experimental.make_saveable_from_iterator(iterator)})
    with tf.Session() as session:
        session.run(iterator.initializer)
        assert [session.run(element) for _ in range(2)] == [0, 1]
        path = saver.save(session, str(tmp_path / "saved"))
        assert [session.run(element) for _ in range(4)] == [2, 3, 4, 5]
        session.run(iterator.initializer)
        saver.restore(session, path)
        assert [session.run(element) for _ in range(4)] == [2, 3, 4, 5]


@pytest.mark.parametrize(
    "array",
    [
        np.arange(6, dtype=np.int16).reshape(2, 3),
        np.array(2.5),
        np.array([[b"a", b""], [b"\xff" * 300, b"b"]], object),
        np.array([True, False]),
        np.zeros((0, 3), np.float32),
    ],
)
@pytest.mark.parametrize("raw", [None, True, False])
def test_tensors_are_the_same_in_both_kinds_of_messages(
    array: np.ndarray, raw: bool | None
) -> None:
    kind = tf.string if array.dtype == object else tf.as_dtype(array.dtype)
    found = runtime_array(runtime_tensor_proto(array, kind, raw))
    assert found.shape == array.shape and found.dtype == array.dtype
    assert found.tolist() == array.tolist()


@pytest.mark.parametrize("content", [b"\x05", b"\x05\x00abc", b"\xff\xff", b"\x01\x01a"])
def test_raw_texts_that_do_not_fit_are_refused(content: bytes) -> None:
    message = protos.TensorProto(dtype=tf.string.as_datatype_enum, tensor_content=content)
    message.tensor_shape.dim.add(size=2)
    with pytest.raises(ValueError, match="TensorProto"):
        runtime_array(message)


@pytest.mark.tf
@pytest.mark.slow
@pytest.mark.parametrize("name", FOLDERS)
def test_tensorflow_and_numbaflow_read_each_others_snapshots(name: str, tmp_path: Path) -> None:
    python = os.environ.get("NUMBAFLOW_TF115_PYTHON")
    if not python:
        pytest.skip("NUMBAFLOW_TF115_PYTHON names no Python")
    program = str(Path(__file__).with_name("snapshot_programs.py"))
    orders = [(sys.executable, python), (python, sys.executable)]
    for number, (writer, reader) in enumerate(orders):
        folder = tmp_path / str(number)
        command = [program, name, str(folder)]
        found = [
            json.loads(subprocess.run([each, *command], check=True, capture_output=True).stdout)
            for each in (writer, reader)
        ]
        assert found[0] == found[1]
        assert len(files_in(folder)) == 1
