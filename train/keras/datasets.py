# SPDX-License-Identifier: Apache-2.0
"""`tf.keras.datasets`: known collections, from files below ~/.keras/datasets, or fetched there."""

from __future__ import annotations

import gzip
import json
import os
import pickle
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from ...engine.interface import log
from .backend.settings import image_data_format
from .utils.files import get_file

_STORE = "https://storage.googleapis.com/tensorflow/tf-keras-datasets/"
_Pair = tuple[tuple[Any, Any], tuple[Any, Any]]


def load_mnist(path: str = "mnist.npz") -> _Pair:
    """(x_train, y_train), (x_test, y_test) of handwritten digits, 28 by 28 pixels."""
    path = get_file(path, origin=f"{_STORE}mnist.npz", file_hash="8a61469f7ea1b51cbae51d4f78837e45")
    with np.load(path) as f:
        return (f["x_train"], f["y_train"]), (f["x_test"], f["y_test"])


def load_fashion_mnist() -> _Pair:
    """(x_train, y_train), (x_test, y_test) of clothes, 28 by 28 pixels."""
    folder = os.path.join("datasets", "fashion-mnist")
    names = [
        f"{part}-{kind}-ubyte.gz"
        for part in ("train", "t10k")
        for kind in ("labels-idx1", "images-idx3")
    ]
    paths = [get_file(name, origin=_STORE + name, cache_subdir=folder) for name in names]
    arrays = []
    for path, header in zip(paths, (8, 16, 8, 16)):
        with gzip.open(path, "rb") as file:
            arrays.append(np.frombuffer(file.read(), np.uint8, offset=header))
    y_train, x_train, y_test, x_test = arrays
    train = x_train.reshape(len(y_train), 28, 28), y_train
    return train, (x_test.reshape(len(y_test), 28, 28), y_test)


def _unpickled(path: str, label: str) -> tuple[Any, Any]:
    with open(path, "rb") as file:
        found = pickle.load(file, encoding="bytes")  # noqa: S301  the form of the collection
    pictures = found[b"data"].reshape(-1, 3, 32, 32)
    return pictures, np.reshape(found[label.encode()], (-1, 1))


def _in_format(*pictures: Any) -> list[Any]:
    if image_data_format() == "channels_last":
        return [x.transpose(0, 2, 3, 1) for x in pictures]
    return list(pictures)


def load_cifar10() -> _Pair:
    """(x_train, y_train), (x_test, y_test) of pictures of ten classes, 32 by 32 pixels."""
    folder = get_file(
        "cifar-10-batches-py",
        origin="https://www.cs.toronto.edu/~kriz/cifar-10-python.tar.gz",
        untar=True,
    )
    parts = [_unpickled(os.path.join(folder, f"data_batch_{i}"), "labels") for i in range(1, 6)]
    x_test, y_test = _unpickled(os.path.join(folder, "test_batch"), "labels")
    x_train = np.concatenate([x for x, _ in parts])
    y_train = np.concatenate([y for _, y in parts]).astype("uint8")
    x_train, x_test = _in_format(x_train, x_test)
    return (x_train, y_train), (x_test, y_test)


def load_cifar100(label_mode: str = "fine") -> _Pair:
    """(x_train, y_train), (x_test, y_test) of pictures of 100 "fine" or 20 "coarse" classes."""
    if label_mode not in ("fine", "coarse"):
        raise ValueError('`label_mode` must be one of `"fine"`, `"coarse"`.')
    folder = get_file(
        "cifar-100-python",
        origin="https://www.cs.toronto.edu/~kriz/cifar-100-python.tar.gz",
        untar=True,
    )
    (x_train, y_train), (x_test, y_test) = (
        _unpickled(os.path.join(folder, part), f"{label_mode}_labels") for part in ("train", "test")
    )
    x_train, x_test = _in_format(x_train, x_test)
    return (x_train, y_train), (x_test, y_test)


def load_boston_housing(
    path: str = "boston_housing.npz", test_split: float = 0.2, seed: int = 113
) -> _Pair:
    """(x_train, y_train), (x_test, y_test) of 13 numbers about houses, and their prices."""
    if not 0 <= test_split < 1:
        raise ValueError(f"`test_split` must be in [0, 1), not {test_split}")
    path = get_file(
        path,
        origin=f"{_STORE}boston_housing.npz",
        file_hash="f553886a1f8d56431e820c5b82552d9d95cfcb96d1e678153f8839538947dff5",
    )
    with np.load(path) as f:
        x, y = f["x"], f["y"]
    np.random.seed(seed)
    x, y = _shuffled(x, y)
    at = int(len(x) * (1 - test_split))
    return (x[:at], y[:at]), (x[at:], y[at:])


class _Choice(NamedTuple):
    """Which words of which sequences are kept."""

    num_words: int | None
    skip_top: int
    maxlen: int | None
    start_char: int | None
    oov_char: int | None
    index_from: int

    def of(self, xs: Iterable[Any], labels: Any) -> tuple[list[list[int]], Any]:
        """The sequences that are short enough, with a start and with these words, and labels."""
        begin = [] if self.start_char is None else [self.start_char]
        rows = [[*begin, *(int(w) + (self.index_from or 0) for w in x)] for x in xs]
        if self.maxlen:
            kept = [i for i, x in enumerate(rows) if len(x) < self.maxlen]
            rows, labels = [rows[i] for i in kept], labels[kept]
        if not rows:
            raise ValueError(
                f"After filtering for sequences shorter than maxlen={self.maxlen}, no sequence was "
                "kept. Increase maxlen."
            )
        # (Without a limit the last word itself is none of those below it, as in TensorFlow.)
        limit = self.num_words or max(max(x) for x in rows)
        low, oov = self.skip_top, self.oov_char
        if oov is None:
            return [[w for w in x if low <= w < limit] for x in rows], labels
        return [[w if low <= w < limit else oov for w in x] for x in rows], labels


def _as_array(rows: list[list[int]]) -> np.ndarray:
    """Sequences of one length as rows, others as objects."""
    if len({len(x) for x in rows}) == 1:
        return np.array(rows)
    found = np.empty(len(rows), dtype=object)
    found[:] = rows
    return found


def _halves(rows: list[list[int]], labels: Any, at: int) -> _Pair:
    return (_as_array(rows[:at]), labels[:at]), (_as_array(rows[at:]), labels[at:])


def _shuffled(x: Any, y: Any) -> tuple[Any, Any]:
    order = np.arange(len(x))
    np.random.shuffle(order)
    return x[order], y[order]


def _limit(num_words: int | None, kwargs: dict[str, Any]) -> int | None:
    """The limit of words, which had another name once; TypeError for further arguments."""
    if "nb_words" in kwargs:
        log.warning("The `nb_words` argument in `load_data` has been renamed `num_words`.")
        num_words = kwargs.pop("nb_words")
    if kwargs:
        raise TypeError(f"Unrecognized keyword arguments: {kwargs}")
    return num_words


def load_imdb(
    path: str = "imdb.npz",
    num_words: int | None = None,
    skip_top: int = 0,
    maxlen: int | None = None,
    seed: int = 113,
    start_char: int | None = 1,
    oov_char: int | None = 2,
    index_from: int = 3,
    **kwargs: Any,
) -> _Pair:
    """(x_train, y_train), (x_test, y_test) of reviews as lists of words' numbers, and their tone.

    What `maxlen` leaves of both parts is divided where the first part ended, as in TensorFlow.

    Args:
        path: the file below ~/.keras/datasets.
        num_words: numbers below are kept.
        skip_top: numbers below are left out.
        maxlen: longer reviews are left out.
        seed: of their order.
        start_char, oov_char: numbers of the start and of words that are left out.
        index_from: is added to numbers.

    Raises:
        ValueError: all reviews are longer than `maxlen`.
    """
    num_words = _limit(num_words, kwargs)
    path = get_file(
        path,
        origin=f"{_STORE}imdb.npz",
        file_hash="69664113be75683a8fe16e3ed0ab59fda8886cb3cd7ada244f7d9544e4676b9f",
    )
    with np.load(path, allow_pickle=True) as f:
        parts = [(f[f"x_{part}"], f[f"y_{part}"]) for part in ("train", "test")]
    np.random.seed(seed)
    (a, ya), (b, yb) = [_shuffled(x, y) for x, y in parts]
    choice = _Choice(num_words, skip_top, maxlen, start_char, oov_char, index_from)
    return _halves(*choice.of([*a, *b], np.concatenate([ya, yb])), len(a))


def load_reuters(
    path: str = "reuters.npz",
    num_words: int | None = None,
    skip_top: int = 0,
    maxlen: int | None = None,
    test_split: float = 0.2,
    seed: int = 113,
    start_char: int | None = 1,
    oov_char: int | None = 2,
    index_from: int = 3,
    **kwargs: Any,
) -> _Pair:
    """(x_train, y_train), (x_test, y_test) of news as lists of words' numbers, and their topics.

    Arguments as of load_imdb, and `test_split`, the share of the last ones.
    """
    num_words = _limit(num_words, kwargs)
    path = get_file(
        path,
        origin=f"{_STORE}reuters.npz",
        file_hash="d6586e694ee56d7a4e65172e12b3e987c03096cb01eab99753921ef915959916",
    )
    with np.load(path, allow_pickle=True) as f:
        xs, labels = f["x"], f["y"]
    np.random.seed(seed)
    choice = _Choice(num_words, skip_top, maxlen, start_char, oov_char, index_from)
    rows, labels = choice.of(*_shuffled(xs, labels))
    return _halves(rows, labels, int(len(rows) * (1 - test_split)))


def _index(path: str) -> dict[str, int]:
    with open(get_file(path, origin=_STORE + os.path.basename(path)), encoding="utf-8") as file:
        return json.load(file)  # type: ignore[no-any-return]


def imdb_word_index(path: str = "imdb_word_index.json") -> dict[str, int]:
    """The number of each word of load_imdb."""
    return _index(path)


def reuters_word_index(path: str = "reuters_word_index.json") -> dict[str, int]:
    """The number of each word of load_reuters."""
    return _index(path)
