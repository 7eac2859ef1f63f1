# SPDX-License-Identifier: Apache-2.0
"""MNIST as TensorFlow 1.x's tutorials read it: `input_data.read_data_sets(folder)`.

The four files are read from the folder and downloaded first where they are missing.  Batches come
in the order that TensorFlow gives for the same seed.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from typing import IO, TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..engine import errors
from ..engine.api import export
from ..engine.graph import seed
from ..engine.types import dtypes

if TYPE_CHECKING:
    from ..engine.graph.annotations import DTypeLike

DEFAULT_SOURCE_URL = "https://storage.googleapis.com/cvdf-datasets/mnist/"
# 0x0803 and 0x0801: unsigned bytes (8) in three dimensions or one, after the IDX format.
_IMAGES_MAGIC = 2051
_LABELS_MAGIC = 2049
_PIECE = 1 << 20


class Datasets(NamedTuple):
    """The three parts of a data set."""

    train: Any
    validation: Any
    test: Any


class DataSet:
    """Images and labels in memory, given out in batches."""

    def __init__(
        self,
        images: Any,
        labels: Any,
        fake_data: bool = False,
        one_hot: bool = False,
        dtype: DTypeLike = dtypes.float32,
        reshape: bool = True,
        seed: int | None = None,
    ) -> None:
        _seed_numpy(seed)
        dtype = dtypes.as_dtype(dtype).base_dtype
        if dtype not in (dtypes.uint8, dtypes.float32):
            raise TypeError(f"Invalid image dtype {dtype!r}, expected uint8 or float32")
        self._num_examples = 10000
        self.one_hot = one_hot
        if not fake_data:
            if images.shape[0] != labels.shape[0]:
                raise AssertionError(f"images.shape: {images.shape} labels.shape: {labels.shape}")
            self._num_examples = images.shape[0]
            if reshape:
                images = images.reshape(images.shape[0], images.shape[1] * images.shape[2])
            if dtype == dtypes.float32:
                images = np.multiply(images.astype(np.float32), 1.0 / 255.0)
        self._images = images
        self._labels = labels
        self._epochs_completed = 0
        self._index_in_epoch = 0

    @property
    def images(self) -> Any:
        """The images, in the order of this epoch."""
        return self._images

    @property
    def labels(self) -> Any:
        """The labels, in the order of this epoch."""
        return self._labels

    @property
    def num_examples(self) -> int:
        """How many images there are."""
        return self._num_examples

    @property
    def epochs_completed(self) -> int:
        """How often all images have been given out."""
        return self._epochs_completed

    def next_batch(
        self, batch_size: int, fake_data: bool = False, shuffle: bool = True
    ) -> tuple[Any, Any]:
        """The next images and labels; a batch may span two epochs."""
        if fake_data:
            label = [1, *[0] * 9] if self.one_hot else 0
            return [[1] * 784 for _ in range(batch_size)], [label for _ in range(batch_size)]
        start = self._index_in_epoch
        if self._epochs_completed == 0 and start == 0 and shuffle:
            self._shuffle()
        end = start + batch_size
        if end <= self._num_examples:
            self._index_in_epoch = end
            return self._images[start:end], self._labels[start:end]
        self._epochs_completed += 1
        images, labels = self._images[start:], self._labels[start:]
        if shuffle:
            self._shuffle()
        end -= self._num_examples
        self._index_in_epoch = end
        return (
            np.concatenate((images, self._images[:end]), axis=0),
            np.concatenate((labels, self._labels[:end]), axis=0),
        )

    def _shuffle(self) -> None:
        order = np.arange(self._num_examples)
        np.random.shuffle(order)
        self._images = self._images[order]
        self._labels = self._labels[order]


def _seed_numpy(value: int | None) -> None:
    # NumPy's own generator, which the whole program shares: shuffles come in the order of
    # TensorFlow's.
    graph_seed, op_seed = seed.get_seed(value)
    np.random.seed(graph_seed if value is None else op_seed)


@export("contrib.learn.datasets.mnist.extract_images")
def extract_images(f: IO[bytes]) -> np.ndarray:
    """The images in a gzipped file, as uint8 [index, row, column, 1]."""
    content, header = _extract(f, _IMAGES_MAGIC, "image", 3)
    return content.reshape(*header, 1)


@export("contrib.learn.datasets.mnist.extract_labels")
def extract_labels(f: IO[bytes], one_hot: bool = False, num_classes: int = 10) -> np.ndarray:
    """The labels in a gzipped file, as uint8 or one-hot float64 vectors."""
    labels, _ = _extract(f, _LABELS_MAGIC, "label", 1)
    if not one_hot:
        return labels
    if labels.size and labels.max() >= num_classes:
        reason = f"label {labels.argmax()} is {labels.max()}, of {num_classes} classes"
        raise _damaged(f, "label", reason)
    return dense_to_one_hot(labels, num_classes)


def _extract(f: IO[bytes], magic: int, what: str, sizes: int) -> tuple[np.ndarray, list[int]]:
    import gzip
    import zlib

    from .progress import bar

    print("Extracting", f.name)
    try:
        with gzip.GzipFile(fileobj=f) as stream:
            head = stream.read(4 + 4 * sizes)
            found, *header = np.frombuffer(head[: len(head) // 4 * 4], dtype=">u4").tolist() or [0]
            if found != magic:
                raise ValueError(f"Invalid magic number {found} in MNIST {what} file: {f.name}")
            wanted = math.prod(header)
            with bar(os.path.basename(f.name), wanted) as advance:
                content = _read(stream, wanted, advance)
            stream.read(1)  # The checksum comes behind the last byte.
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise _damaged(f, what, f"{error}") from None
    if len(header) < sizes or len(content) < wanted:
        raise _damaged(f, what, f"it has {len(content)} bytes for the sizes {header}")
    return np.frombuffer(content, dtype=np.uint8), header


def _damaged(f: IO[bytes], what: str, reason: str) -> errors.DataLossError:
    return errors.data_loss(
        f"The MNIST {what} file {f.name} is damaged or was not written to its end: {reason}. "
        "Delete it and have it downloaded again."
    )


def dense_to_one_hot(labels_dense: np.ndarray, num_classes: int) -> np.ndarray:
    """Class numbers as one-hot vectors."""
    vectors = np.zeros((labels_dense.shape[0], num_classes))
    vectors[np.arange(labels_dense.shape[0]), labels_dense.ravel()] = 1
    return vectors


@export("contrib.learn.datasets.mnist.read_data_sets")
def read_data_sets(
    train_dir: str,
    fake_data: bool = False,
    one_hot: bool = False,
    dtype: Any = dtypes.float32,
    reshape: bool = True,
    validation_size: int = 5000,
    seed: int | None = None,
    source_url: str = DEFAULT_SOURCE_URL,
) -> Datasets:
    """The training, validation and test sets in `train_dir`, downloaded if they are not there."""
    if fake_data:
        options = {"fake_data": True, "one_hot": one_hot, "dtype": dtype, "seed": seed}
        return Datasets(*(DataSet([], [], **options) for _ in range(3)))
    url = source_url or DEFAULT_SOURCE_URL
    parts = []
    for name in ("train", "t10k"):
        with open(maybe_download(f"{name}-images-idx3-ubyte.gz", train_dir, url), "rb") as f:
            images = extract_images(f)
        with open(maybe_download(f"{name}-labels-idx1-ubyte.gz", train_dir, url), "rb") as f:
            parts.append((images, extract_labels(f, one_hot=one_hot)))
    (images, labels), test = parts
    if not 0 <= validation_size <= len(images):
        raise ValueError(
            f"Validation size should be between 0 and {len(images)}. Received: {validation_size}."
        )
    options = {"dtype": dtype, "reshape": reshape, "seed": seed}
    return Datasets(
        DataSet(images[validation_size:], labels[validation_size:], **options),
        DataSet(images[:validation_size], labels[:validation_size], **options),
        DataSet(*test, **options),
    )


@export("contrib.learn.datasets.mnist.load_mnist")
def load_mnist(train_dir: str = "MNIST-data") -> Datasets:
    """`read_data_sets` with its defaults."""
    return read_data_sets(train_dir)


def _read(stream: Any, size: int | None, advance: Callable[[int], None]) -> bytes:
    """The next bytes, all if `size` is None, piece by piece: the size may be damaged."""
    pieces, left = [], math.inf if size is None else size
    while left and (piece := stream.read(min(_PIECE, left))):
        pieces.append(piece)
        left -= len(piece)
        advance(len(piece))
    return b"".join(pieces)


def maybe_download(filename: str, work_directory: str, source_url: str) -> str:
    """The path of a file in a folder, downloaded to it if it is not there."""
    return downloaded(os.path.join(work_directory, filename), source_url + filename)


def downloaded(path: str, url: str) -> str:
    """The path, once a file is there: downloaded if it was not.

    Raises:
        OSError: it cannot be read from the address, or not to its end.
    """
    if os.path.exists(path):
        return path
    import http.client
    import urllib.request

    from .graph_def import write_atomically
    from .progress import bar

    filename = os.path.basename(path)
    try:
        with urllib.request.urlopen(url) as response:
            length = response.headers.get("Content-Length")
            size = int(length) if length and length.isdigit() else None
            with bar(filename, size) as advance:
                content = _read(response, None, advance)
            if size is not None and len(content) != size:
                raise OSError(f"it ended after {len(content)} of {size} bytes")
    except (OSError, http.client.HTTPException) as error:
        raise OSError(
            f"{path} does not exist and {url} cannot be read ({error}); put the file there yourself"
        ) from error
    write_atomically(path, content)
    print("Successfully downloaded", filename, len(content), "bytes.")
    return path
