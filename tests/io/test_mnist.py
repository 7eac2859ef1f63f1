# SPDX-License-Identifier: Apache-2.0
"""The tutorials' MNIST reader: files, scaling, and batches in TensorFlow's order."""

from __future__ import annotations

import gzip
import io
import sys
from pathlib import Path

import numpy as np
import pytest

import numbaflow as tf
from numbaflow.io import mnist as reader
from numbaflow.io import progress
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
    with pytest.raises(OSError, match="put the file there yourself"):
        read_data_sets(str(tmp_path), source_url=f"file://{tmp_path}/none/")


def test_a_download_that_breaks_off(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Response(io.BytesIO):
        headers = {"Content-Length": "10"}

    monkeypatch.setattr("urllib.request.urlopen", lambda url: Response(b"12345"))
    with pytest.raises(OSError, match="it ended after 5 of 10 bytes"):
        reader.downloaded(str(tmp_path / "new" / "data.gz"), "http://example.org/data.gz")
    assert not list(tmp_path.iterdir())


def test_a_download_goes_into_a_new_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    class Response(io.BytesIO):
        headers = {"Content-Length": "5"}

    monkeypatch.setattr("urllib.request.urlopen", lambda url: Response(b"12345"))
    path = reader.downloaded(str(tmp_path / "new" / "data.gz"), "http://example.org/data.gz")
    assert Path(path).read_bytes() == b"12345"
    assert capsys.readouterr() == ("Successfully downloaded data.gz 5 bytes.\n", "")


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


def test_a_terminal_sees_how_far_the_work_is(folder: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stderr", Terminal())
    monkeypatch.setenv("TERM", "xterm")
    with progress.bar("data.gz", 8) as advance:
        advance(8)
        advance(0)
    text = sys.stderr.getvalue()  # type: ignore[attr-defined]
    assert "data.gz" in text
    assert "8/8 bytes" in text


def test_a_pipe_sees_nothing(folder: str, capsys: pytest.CaptureFixture[str]) -> None:
    read_data_sets(folder, validation_size=0)
    assert capsys.readouterr().err == ""


def image_file(*header: int, content: bytes = b"") -> bytes:
    return gzip.compress(np.array(header, dtype=">u4").tobytes() + content)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "damaged"),
        (b"no gzip", "damaged"),
        (image_file(2051, 2, 3, 3, content=bytes(18))[:-9], "damaged"),
        (image_file(2051, 2), "damaged"),
        (image_file(2051, 2**32 - 1, 2**32 - 1, 3, content=bytes(9)), "it has 9 bytes"),
        (image_file(2051, 12, 3, 3, content=bytes(107)), "it has 107 bytes"),
    ],
)
def test_damaged_files_are_named(folder: str, content: bytes, message: str) -> None:
    (Path(folder) / "train-images-idx3-ubyte.gz").write_bytes(content)
    with pytest.raises((tf.errors.DataLossError, ValueError), match=message) as caught:
        read_data_sets(folder)
    assert "train-images-idx3-ubyte.gz" in str(caught.value)


def test_csv_files(tmp_path: Path) -> None:
    base = tf.contrib.learn.datasets.base
    path = tmp_path / "data.csv"
    path.write_text("2,3,a,b\n1,2,3,0\n4,5,6,1\n")
    found = base.load_csv_with_header(str(path), np.int64, np.float32)
    assert found.data.tolist() == [[1, 2, 3], [4, 5, 6]]
    assert (found.target.tolist(), found.data.dtype) == ([0, 1], np.float32)
    path.write_text("0,1,2\n1,3,4\n")
    found = base.load_csv_without_header(str(path), np.int64, np.float64, target_column=0)
    assert (found.data.tolist(), found.target.tolist()) == ([[1, 2], [3, 4]], [0, 1])
    for text, message in (("x\n", "not begin"), ("2,1\n1,0\n", "it has 1, of"), ("", "not begin")):
        path.write_text(text)
        with pytest.raises(tf.errors.InvalidArgumentError, match=message):
            base.load_csv_with_header(str(path), np.int64, np.float32)
    path.write_text("1,2\n1,x\n")
    with pytest.raises(tf.errors.InvalidArgumentError, match="line 2 of .*data.csv"):
        base.load_csv_without_header(str(path), np.int64, np.float64)
