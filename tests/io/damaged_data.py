# SPDX-License-Identifier: Apache-2.0
"""What input pipelines read, damaged: records, lines, iterators; see damage.py."""

from __future__ import annotations

import os
import random
import struct
from typing import Any

from damage import damaged
from damaged_formats import Format
from lmdb_database import DATABASE

import numbaflow as tf
from numbaflow.engine import settings
from numbaflow.io import crc
from numbaflow.io.lmdb_file import Entries
from numbaflow.ops.data.experimental.snapshotting import snapshot


class Datasets(Format):
    """Files that datasets read in blocks, from the beginning to the end."""

    def __init__(self, folder: str) -> None:
        super().__init__(folder)
        self.path = os.path.join(folder, "file")
        self.session = tf.Session(graph=tf.Graph())
        with self.session.graph.as_default():
            iterator = tf.data.make_initializable_iterator(self.dataset())
            self.begin, self.element = iterator.initializer, iterator.get_next()

    def dataset(self) -> Any:
        """What reads the file."""
        raise NotImplementedError

    def content(self, rng: random.Random) -> bytes:
        """What the file holds."""
        raise NotImplementedError

    def damaged(self, rng: random.Random) -> None:
        content = self.content(rng)
        self.write(damaged(content, rng) if rng.random() < 0.7 else content)

    def read(self, thing: None) -> None:
        with settings.override(jit="never"):
            self.session.run(self.begin)
            for _ in range(10_000):
                try:
                    self.session.run(self.element)
                except tf.errors.OutOfRangeError:
                    return
        raise AssertionError("a short file has no end")


class DatasetRecords(Datasets):
    """Examples in records, parsed in blocks."""

    def dataset(self) -> Any:
        features = {
            "a": tf.FixedLenFeature([2], tf.float32),
            "b": tf.FixedLenFeature([], tf.int64, 7),
            "c": tf.FixedLenFeature([], tf.string, ""),
        }
        records = tf.data.TFRecordDataset(self.path)
        return records.map(lambda record: tf.parse_single_example(record, features)).batch(3)

    def content(self, rng: random.Random) -> bytes:
        parts = []
        for i in range(rng.choice((1, 8))):
            example = tf.train.Example()
            example.features.feature["a"].float_list.value.extend([1, i])
            example.features.feature["c"].bytes_list.value.append(b"x" * i)
            text = example.SerializeToString(deterministic=True)
            text = damaged(text, rng) if rng.random() < 0.1 else text
            head = struct.pack("<Q", len(text))
            sums = (struct.pack("<I", crc.masked(part)) for part in (head, text))
            parts += [head, next(sums), text, next(sums)]
        return b"".join(parts)


class DatasetTables(Datasets):
    """Records of CSV files."""

    def dataset(self) -> Any:
        kinds = [tf.float32, tf.constant([3], tf.int32), tf.string]
        return tf.data.experimental.CsvDataset(self.path, kinds, header=True)

    def content(self, rng: random.Random) -> bytes:
        rows = [b"1.5,2,x", b'-3e4,,"a ""b"", c"', b".5,-7,\r", b'7,8,"two\nlines"']
        return b"a,b,c\n" + b"".join(rng.choice(rows) + b"\n" for _ in range(rng.choice((1, 40))))


class DatasetLines(Datasets):
    """Lines, taken apart in blocks, of numbers."""

    def dataset(self) -> Any:
        lines = tf.data.TextLineDataset(self.path)
        words = lines.map(lambda line: tf.string_split([line]).values)
        return words.map(lambda word: tf.string_to_number(word, tf.int64)).padded_batch(3, [None])

    def content(self, rng: random.Random) -> bytes:
        return b"".join(rng.choice((b"1 2", b"", b" -3  4", b"9" * 15)) + b"\n" for _ in range(9))


class IteratorStates(Format):
    """What a saver keeps of an iterator."""

    def __init__(self, folder: str) -> None:
        super().__init__(folder)
        self.session = tf.Session(graph=tf.Graph())
        with self.session.graph.as_default():
            dataset = tf.data.Dataset.range(50).shuffle(9, seed=2).repeat(2).batch(4)
            iterator = tf.data.make_initializable_iterator(dataset)
            position = tf.data.experimental.make_saveable_from_iterator(iterator)
            self.begin, self.element = iterator.initializer, iterator.get_next()
            self.saver = tf.train.Saver([position])
            self.session.run(self.begin)
            self.session.run(self.element)
            self.path = self.saver.save(self.session, os.path.join(folder, "it"))
        self.data = f"{self.path}.data-00000-of-00001"
        with open(self.data, "rb") as file:
            self.whole = file.read()

    def damaged(self, rng: random.Random) -> None:
        with open(self.data, "wb") as file:
            file.write(damaged(self.whole, rng))

    def read(self, thing: None) -> None:
        with settings.override(jit="never"):
            self.session.run(self.begin)
            self.saver.restore(self.session, self.path)
            self.session.run(self.element)


class Databases(Format):
    """Databases of LMDB."""

    def damaged(self, rng: random.Random) -> str:
        return self.write(damaged(DATABASE, rng))

    def read(self, thing: str) -> None:
        entries = Entries(thing)
        try:
            while entries.next() is not None:
                pass
        finally:
            entries.close()


class Snapshots(Format):
    """What snapshots of datasets write: elements, compressed or not, and what is said of them."""

    def __init__(self, folder: str) -> None:
        super().__init__(folder)
        self.session = tf.Session(graph=tf.Graph())
        self.begins, self.elements, self.files = [], [], []
        for kind in ("", "GZIP"):
            path = os.path.join(folder, f"snapshot{kind}")
            with self.session.graph.as_default():
                dataset = tf.data.Dataset.from_tensors({"a": [1.5, 2.5], "b": ["x", "yyy"]})
                kept = dataset.repeat(3).apply(snapshot(path, compression=kind or None))
                iterator = tf.data.make_initializable_iterator(kept)
                self.begins.append(iterator.initializer)
                self.elements.append(iterator.get_next())
            self._read(-1)
            for place, _, names in os.walk(path):
                for name in names:
                    whole = os.path.join(place, name)
                    with open(whole, "rb") as file:
                        self.files.append((len(self.begins) - 1, whole, file.read()))

    def _read(self, number: int) -> None:
        with settings.override(jit="never"):
            self.session.run(self.begins[number])
            try:
                while True:
                    self.session.run(self.elements[number])
            except tf.errors.OutOfRangeError:
                pass

    def damaged(self, rng: random.Random) -> int:
        for _, path, whole in self.files:
            with open(path, "wb") as file:
                file.write(whole)
        number, path, whole = rng.choice(self.files)
        with open(path, "wb") as file:
            file.write(damaged(whole, rng))
        return number

    def read(self, thing: int) -> None:
        self._read(thing)


FORMATS: dict[str, type[Format]] = {
    "databases": Databases,
    "dataset_lines": DatasetLines,
    "dataset_records": DatasetRecords,
    "dataset_tables": DatasetTables,
    "iterators": IteratorStates,
    "snapshots": Snapshots,
}
