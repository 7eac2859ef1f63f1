# SPDX-License-Identifier: Apache-2.0
"""The tutorials' MNIST reader: files, scaling, and batches in TensorFlow's order."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pytest

import numbaflow as tf
from numbaflow.io.mnist import read_data_sets

pytestmark = pytest.mark.pure

COUNTS = {"train": 12, "t10k": 5}


@pytest.fixture
def folder(tmp_path: Path) -> str:
    rng = np.random.default_rng(0)
    for name, count in COUNTS.items():
        images = rng.integers(0, 256, (count, 4, 3), dtype=np.uint8)
        head = np.array([2051, count, 4, 3], dtype=">u4").tobytes()
        path = tmp_path / f"{name}-images-idx3-ubyte.gz"
        path.write_bytes(gzip.compress(head + images.tobytes()))
        labels = np.arange(count, dtype=np.uint8) % 10
        head = np.array([2049, count], dtype=">u4").tobytes()
        path = tmp_path / f"{name}-labels-idx1-ubyte.gz"
        path.write_bytes(gzip.compress(head + labels.tobytes()))
    return str(tmp_path)


def test_parts_scaling_and_one_hot(folder: str) -> None:
    data = read_data_sets(folder, one_hot=True, validation_size=2)
    assert [part.num_examples for part in data] == [10, 2, 5]
    assert data.train.images.shape == (10, 12)
    assert data.train.images.dtype == np.float32
    assert data.train.images.max() <= 1.0
    np.testing.assert_array_equal(data.train.labels.argmax(1), [2, 3, 4, 5, 6, 7, 8, 9, 0, 1])


def test_images_as_they_are(folder: str) -> None:
    data = read_data_sets(folder, dtype=tf.uint8, reshape=False, validation_size=0)
    assert data.train.images.shape == (12, 4, 3, 1)
    assert data.train.images.dtype == np.uint8


def test_batches_follow_the_seed_and_span_epochs(folder: str) -> None:
    data = read_data_sets(folder, validation_size=0, seed=7).train
    np.random.seed(7)
    first, second = np.arange(12), np.arange(12)
    np.random.shuffle(first)
    np.random.shuffle(second)
    seen = []
    state = np.random.get_state()
    np.random.seed(7)
    for _ in range(3):
        seen.append(data.next_batch(5)[1])
    np.random.set_state(state)
    labels = np.arange(12) % 10
    wanted = np.concatenate([labels[first], labels[first][second]])[:15]
    np.testing.assert_array_equal(np.concatenate(seen), wanted)
    assert data.epochs_completed == 1


def test_fake_data_needs_no_files() -> None:
    data = read_data_sets("", fake_data=True, one_hot=True)
    images, labels = data.train.next_batch(3, fake_data=True)
    assert (len(images), labels[0]) == (3, [1] + [0] * 9)


def test_a_file_that_is_something_else(folder: str) -> None:
    path = Path(folder) / "train-images-idx3-ubyte.gz"
    path.write_bytes(gzip.compress(np.array([1, 0, 0, 0], dtype=">u4").tobytes()))
    with pytest.raises(ValueError, match="Invalid magic number 1 in MNIST image file"):
        read_data_sets(folder)


def test_missing_files_that_cannot_be_downloaded(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="put the four MNIST files there yourself"):
        read_data_sets(str(tmp_path), source_url=f"file://{tmp_path}/none/")
