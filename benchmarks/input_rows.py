# SPDX-License-Identifier: Apache-2.0
"""Input pipelines as TensorFlow 1.x programs, which both sides run and `benchmarks.input` measures.

Imports NumPy alone, so that it loads in the Python of either side.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    # (TensorFlow 1.15 has a Python that does not know such types.)
    Pipelines = dict[str, tuple[float, Callable[[], Any]]]
_WORDS, _LINE = 5000, 11
_PICTURES = 64
# Of photographs, about as large as they are in ImageNet; and of smaller ones.
_SIDES, _SMALL = (320, 400), (256, 256)


def pipelines(tf: Any, folder: str, count: int) -> Pipelines:
    """By name the greatest ratio that is promised, and what makes a dataset.

    `count` numbers are in one of numbers; other things are fewer, as each of them is more work.
    """
    texts, files = _texts(tf, folder, count // 20), _files(tf, folder, count)
    return {**_numbers(tf, count), **texts, **files, **_kept(tf, folder, count // 50)}


def _numbers(tf: Any, count: int) -> Pipelines:
    dataset = tf.data.Dataset
    numbers = np.arange(count, dtype=np.float32)
    pictures = np.zeros((max(count // 100, 1), 32, 32, 3), np.uint8)

    def slices(array: Any = numbers) -> Any:
        return dataset.from_tensor_slices(array)

    return {
        "map, shuffle, batch": (
            0.5,
            lambda: slices().map(lambda x: x * 2 + 1).shuffle(10_000, seed=1).batch(128),
        ),
        "shuffle, repeat, batch": (
            1.0,
            lambda: slices().shuffle(10_000, seed=1).repeat(2).take(count).batch(128),
        ),
        "map in parallel, batch, prefetch": (
            1.0,
            lambda: slices().map(lambda x: x * 2 + 1, num_parallel_calls=2).batch(128).prefetch(2),
        ),
        "filter, batch": (
            1.0,
            lambda: dataset.range(count).filter(lambda x: tf.equal(x % 3, 0)).batch(128),
        ),
        "pictures as floats, batch": (
            1.0,
            lambda: slices(pictures).map(lambda x: tf.cast(x, tf.float32) / 255.0).batch(32),
        ),
        "generator, batch, prefetch": (
            1.0,
            lambda: (
                dataset.from_generator(lambda: iter(numbers[: count // 20]), tf.float32, [])
                .batch(128)
                .prefetch(2)
            ),
        ),
    }


def _texts(tf: Any, folder: str, count: int) -> Pipelines:
    dataset = tf.data.Dataset
    lines = os.path.join(folder, f"lines-{count}")
    words = [f"word{i}" for i in range(_WORDS)]
    _made(lines, lambda: _lines(words, count))

    def looked_up() -> Any:
        pairs = tf.lookup.KeyValueTensorInitializer(
            tf.constant(words), tf.constant(np.arange(_WORDS, dtype=np.int64))
        )
        table = tf.lookup.StaticHashTable(pairs, -1)
        numbered = tf.data.TextLineDataset(lines).map(
            lambda line: table.lookup(tf.string_split([line]).values)
        )
        return numbered.padded_batch(32, [None])

    return {
        "lines, split, lookup, padded batch": (1.0, looked_up),
        "pairs of lines, by length, padded batch": (0.6, partial(_pairs, tf, lines, words)),
        "numbers as texts, batch": (1.0, lambda: dataset.range(count).map(tf.as_string).batch(128)),
    }


def _pairs(tf: Any, lines: str, words: list[str]) -> Any:
    """Sentences and what they are to become, as programs for translation read them."""
    known = tf.constant(words), tf.constant(np.arange(_WORDS, dtype=np.int64))
    table = tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(*known), 0)
    files = (tf.data.TextLineDataset(lines), tf.data.TextLineDataset(lines).skip(1))
    pairs = tf.data.Dataset.zip(files).shuffle(1000, seed=3)

    def split(line: Any) -> Any:
        return tf.string_split([line]).values

    def numbers(text: Any) -> Any:
        return tf.cast(table.lookup(text[:15]), tf.int32)

    def framed(a: Any, b: Any) -> Any:
        return a, tf.concat([[1], b], 0), tf.concat([b, [2]], 0), tf.size(a), tf.size(b)

    def key(a: Any, b: Any, c: Any, m: Any, n: Any) -> Any:
        return tf.cast(tf.minimum(tf.maximum(m // 4, n // 4), 5), tf.int64)

    shapes = ([None], [None], [None], [], [])
    pairs = pairs.map(lambda a, b: (split(a), split(b)), num_parallel_calls=2).prefetch(100)
    pairs = pairs.filter(lambda a, b: tf.logical_and(tf.size(a) > 0, tf.size(b) > 0))
    pairs = pairs.map(lambda a, b: (numbers(a), numbers(b)), num_parallel_calls=2)
    pairs = pairs.map(framed, num_parallel_calls=2).prefetch(100)
    batches = tf.data.experimental.group_by_window(
        key, lambda _, group: group.padded_batch(32, shapes), window_size=32
    )
    return pairs.apply(batches)


def _kept(tf: Any, folder: str, count: int) -> Pipelines:
    """Elements in the file of a cache."""
    path = os.path.join(folder, f"kept-{count}-{tf.__name__}")

    def kept() -> Any:
        numbers = tf.data.Dataset.range(count)
        elements = numbers.map(lambda x: (x, tf.as_string(x), tf.cast(x, tf.float32) * [1.0, 2.0]))
        return elements.cache(path).batch(32)

    return {"cache in a file, batch": (1.0, kept)}


def _files(tf: Any, folder: str, count: int) -> Pipelines:
    rows = count // 2
    table = os.path.join(folder, f"table-{rows}.csv")
    _made(table, lambda: _table(rows))
    kinds = [tf.float32] * 10 + [tf.int32] * 5 + [tf.string] * 5

    def csv() -> Any:
        return tf.data.experimental.CsvDataset(table, kinds).batch(1000)

    found: Pipelines = {"CSV of 20 columns, batch": (0.7, csv)}
    return {**found, **_examples(tf, folder, count), **_photographs(tf, folder, count // 1000)}


def _examples(tf: Any, folder: str, count: int) -> Pipelines:
    short = _records(tf, folder, "examples", count // 50, _write_examples)
    wide = _records(tf, folder, "kilobytes", count // 2, _write_wide_examples)
    lists = _records(tf, folder, "lists", count // 50, _write_lists)
    ragged = {"x": tf.VarLenFeature(tf.int64), "names": tf.VarLenFeature(tf.string)}
    few = {
        "x": tf.FixedLenFeature([8], tf.float32),
        "y": tf.FixedLenFeature([], tf.int64),
        "name": tf.FixedLenFeature([], tf.string),
    }
    many = {
        **{f"real{i}": tf.FixedLenFeature([8], tf.float32) for i in range(10)},
        **{f"whole{i}": tf.FixedLenFeature([4], tf.int64) for i in range(5)},
        **{f"name{i}": tf.FixedLenFeature([], tf.string) for i in range(3)},
        **{f"some{i}": tf.VarLenFeature(tf.int64) for i in range(2)},
    }

    def one_by_one() -> Any:
        return short().map(lambda r: tf.parse_single_example(r, few)).batch(128)

    def sparse() -> Any:
        return lists().map(lambda r: tf.parse_single_example(r, ragged)).batch(128)

    def interleaved() -> Any:
        names = tf.data.Dataset.from_tensor_slices(files)
        read = names.interleave(tf.data.TFRecordDataset, cycle_length=3, block_length=4)
        numbers = read.map(lambda r: tf.sparse.to_dense(tf.parse_single_example(r, ragged)["x"]))
        return numbers.filter(lambda x: tf.size(x) > 0).padded_batch(32, [None])

    files = [os.path.join(folder, f"part{i}-{count // 50}") for i in range(3)]
    for i in range(3):
        _records(tf, folder, f"part{i}", count // 50, _write_lists)
    return {
        "records of three files in turns, parsed, filtered, padded batch": (0.95, interleaved),
        "records, parsed one by one, batch": (0.8, one_by_one),
        "records of sparse features, parsed one by one, batch": (1.0, sparse),
        "records, batch, parsed": (
            0.8,
            lambda: short().batch(128).map(lambda r: tf.parse_example(r, few)),
        ),
        "records of 20 features, batch, parsed": (
            0.8,
            lambda: wide().batch(256).map(lambda r: tf.parse_example(r, many)),
        ),
    }


def _photographs(tf: Any, folder: str, count: int) -> Pipelines:
    icons = os.path.join(folder, f"icons-{count}")
    if not os.path.exists(icons):
        _write_icons(tf, icons, count)
    large = _records(tf, folder, "photographs", count, partial(_write_photos, sides=_SIDES))
    small = _records(tf, folder, "small-photographs", count, partial(_write_photos, sides=_SMALL))

    def cut(file: Any, side: int) -> Any:
        pixels = tf.random_crop(tf.image.decode_jpeg(file, channels=3), [side, side, 3], seed=1)
        return tf.image.random_flip_left_right(pixels, seed=2)

    def photograph(file: Any) -> Any:
        return tf.cast(cut(file, 224), tf.float32) / 255.0

    def resized(file: Any) -> Any:
        return tf.image.resize_images(cut(file, 200), [224, 224])

    def icon(path: Any) -> Any:
        pixels = tf.image.decode_jpeg(tf.io.read_file(path), channels=3)
        return tf.image.resize_images(pixels, [64, 64]) / 255.0, tf.string_split([path], "/").values

    return {
        "folder of small JPEG files, resized, batch": (
            1.0,
            lambda: (
                tf.data.Dataset.list_files(os.path.join(icons, "*.jpg"), shuffle=False)
                .map(icon, num_parallel_calls=2)
                .batch(32)
            ),
        ),
        "JPEG files, cut, flipped, batch": (
            1.0,
            lambda: large().map(photograph, num_parallel_calls=2).batch(32),
        ),
        "JPEG files, cut, flipped, resized, batch": (
            1.0,
            lambda: small().map(resized, num_parallel_calls=2).batch(32),
        ),
    }


def _records(
    tf: Any, folder: str, name: str, count: int, write: Callable[[Any, str, int], None]
) -> Callable[[], Any]:
    """Makes the dataset of a file of records, which is written first where it is not there."""
    path = os.path.join(folder, f"{name}-{count}")
    if not os.path.exists(path):
        write(tf, path + ".new", count)
        os.replace(path + ".new", path)
    return lambda: tf.data.TFRecordDataset(path)


def _made(path: str, pieces: Callable[[], Iterator[str]]) -> None:
    """Writes a file that is not there; it appears when it is whole."""
    if not os.path.exists(path):
        with open(path + ".new", "w") as file:
            file.writelines(pieces())
        os.replace(path + ".new", path)


def _lines(words: list[str], count: int) -> Iterator[str]:
    random = np.random.default_rng(1)
    for length in random.integers(2, 2 * _LINE, count).tolist():
        yield " ".join(words[i] for i in random.integers(0, _WORDS, length)) + "\n"


def _table(count: int) -> Iterator[str]:
    random = np.random.default_rng(0)
    for _ in range(count):
        reals = [f"{x:.6g}" for x in random.standard_normal(10)]
        whole = [str(x) for x in random.integers(-100_000, 100_000, 5)]
        named = [f"word{x}" for x in random.integers(0, _WORDS, 5)]
        yield ",".join(reals + whole + named) + "\n"


def _write_examples(tf: Any, path: str, count: int) -> None:
    random = np.random.default_rng(2)
    train = tf.train
    with tf.python_io.TFRecordWriter(path) as writer:
        for i in range(count):
            name = train.BytesList(value=[b"example %d" % i])
            features = {
                "x": train.Feature(float_list=train.FloatList(value=random.random(8))),
                "y": train.Feature(int64_list=train.Int64List(value=[i])),
                "name": train.Feature(bytes_list=name),
            }
            example = train.Example(features=train.Features(feature=features))
            writer.write(example.SerializeToString())


def _write_wide_examples(tf: Any, path: str, count: int) -> None:
    """Of 20 features and about a kilobyte each."""
    random = np.random.default_rng(4)
    train = tf.train
    with tf.python_io.TFRecordWriter(path) as writer:
        for _ in range(count):
            example = train.Example()
            feature = example.features.feature
            for i, reals in enumerate(random.random((10, 8)).tolist()):
                feature[f"real{i}"].float_list.value.extend(reals)
            for i, wholes in enumerate(random.integers(0, 10**6, (5, 4)).tolist()):
                feature[f"whole{i}"].int64_list.value.extend(wholes)
            for i in range(3):
                feature[f"name{i}"].bytes_list.value.append(random.bytes(80))
            for i, length in enumerate(random.integers(0, 9, 2).tolist()):
                some = random.integers(0, 1000, length).tolist()
                feature[f"some{i}"].int64_list.value.extend(some)
            writer.write(example.SerializeToString())


def _write_lists(tf: Any, path: str, count: int) -> None:
    """Of up to 11 numbers, and as many names."""
    random = np.random.default_rng(6)
    train = tf.train
    with tf.python_io.TFRecordWriter(path) as writer:
        for length in random.integers(0, 12, count).tolist():
            wholes = train.Int64List(value=random.integers(0, 10**6, length).tolist())
            names = train.BytesList(value=[b"name%d" % i for i in range(length)])
            features = {
                "x": train.Feature(int64_list=wholes),
                "names": train.Feature(bytes_list=names),
            }
            example = train.Example(features=train.Features(feature=features))
            writer.write(example.SerializeToString())


def _write_icons(tf: Any, folder: str, count: int) -> None:
    """Small pictures of different heights, each in a file."""
    random = np.random.default_rng(7)
    os.makedirs(folder + ".new", exist_ok=True)
    with tf.Graph().as_default(), tf.Session() as session:
        pixels = tf.placeholder(tf.uint8, [None, None, 3])
        encoded = tf.image.encode_jpeg(pixels)
        for i in range(count):
            squares = np.kron(random.integers(0, 256, (12, 16, 3)), np.ones((8, 8, 1)))
            picture = squares[: 64 + i % 32].astype(np.uint8)
            with open(os.path.join(folder + ".new", f"{i:05d}.jpg"), "wb") as file:
                file.write(session.run(encoded, {pixels: picture}))
    os.replace(folder + ".new", folder)


def _write_photos(tf: Any, path: str, count: int, sides: tuple[int, int]) -> None:
    """Smooth pictures with some noise, so that their files are about as large as photographs'."""
    random = np.random.default_rng(3)
    with tf.Graph().as_default(), tf.Session() as session:
        pixels = tf.placeholder(tf.uint8, [*sides, 3])
        encoded = tf.image.encode_jpeg(pixels)
        files = []
        for _ in range(_PICTURES):
            corners = random.random((2, 2, 3))
            down, right = (np.linspace(0, 1, side) for side in sides)
            across = corners[0] + down[:, None, None] * (corners[1] - corners[0])
            smooth = across[:, :1] + right[None, :, None] * (across[:, 1:] - across[:, :1])
            noise = random.normal(0, 0.05, (*sides, 3))
            picture = (np.clip(smooth + noise, 0, 1) * 255).astype(np.uint8)
            files.append(session.run(encoded, {pixels: picture}))
    with tf.python_io.TFRecordWriter(path) as writer:
        for i in range(count):
            writer.write(files[i % _PICTURES])
