# SPDX-License-Identifier: Apache-2.0
"""Caches in files are read many elements at a time, with what reading one by one gives."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import numbaflow as tf
from numbaflow.io.bundle_elements import BundleElements

pytestmark = pytest.mark.cpu
COUNT = 300


def _alike() -> Any:
    return tf.data.Dataset.range(COUNT).map(
        lambda i: (
            i,
            tf.as_string(i * 1000003),
            tf.cast(i, tf.float32) * [0.5, 2.0, -1.0],
            tf.reshape(tf.as_string([i, i * i]), [2, 1]),
            tf.equal(i % 3, 0),
            tf.zeros([0, 4], tf.float64),
        )
    )


def _different() -> Any:
    return tf.data.Dataset.range(COUNT).map(
        lambda i: (
            tf.range(i // 50),
            tf.strings.reduce_join(tf.fill([i], "xy")),
            tf.fill([i % 2, i % 3], tf.as_string(i)),
        )
    )


def _sparse() -> Any:
    return tf.data.Dataset.range(COUNT).map(
        lambda i: tf.SparseTensor([[i % 7]], [i], [7]),
    )


KINDS = {"alike": _alike, "different": _different, "sparse": _sparse}


def _all_of(dataset: Any) -> tuple[list[Any], str]:
    """Elements, and the name of the error that ends them."""
    iterator = tf.data.make_initializable_iterator(dataset)
    element, found = iterator.get_next(), []
    with tf.Session() as session:
        session.run(iterator.initializer)
        try:
            while True:
                found.append(session.run(element))
        except tf.errors.OpError as error:
            return found, type(error).__name__


def _same(x: Any, y: Any) -> bool:
    if isinstance(x, tuple):
        return len(x) == len(y) and all(map(_same, x, y))
    x, y = np.asarray(x), np.asarray(y)
    return x.shape == y.shape and x.dtype == y.dtype and bool((x == y).all())


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("size", [0, 32])
def test_what_was_written_is_read(kind: str, size: int, tmp_path: Path, monkeypatch: Any) -> None:
    def read() -> tuple[list[Any], str]:
        with tf.Graph().as_default():
            dataset = KINDS[kind]().cache(str(tmp_path / "kept"))
            return _all_of(dataset.batch(size) if size and kind != "different" else dataset)

    written, _ = read()
    blocks: list[Any] = []
    block = BundleElements.block

    def noted(*arguments: Any) -> Any:
        blocks.append(block(*arguments))
        return blocks[-1]

    monkeypatch.setattr(BundleElements, "block", noted)
    in_blocks, end = read()
    monkeypatch.setattr(BundleElements, "block", lambda *arguments: None)
    one_by_one, _ = read()
    assert end == "OutOfRangeError"
    assert len(written) == len(in_blocks) == len(one_by_one)
    assert all(map(_same, in_blocks, written)) and all(map(_same, one_by_one, written))
    # (Variants are read one by one.)
    assert all(found is None for found in blocks) == (kind == "sparse")


def test_parts_and_places_of_iterators(tmp_path: Path) -> None:
    """Of a bundle of several data files, from any place on."""
    path, expected = str(tmp_path / "kept"), []
    with tf.Graph().as_default():
        expected, _ = _all_of(_alike())
    for place in (50, 120, COUNT):
        with tf.Graph().as_default(), tf.Session() as session:
            iterator = tf.data.make_initializable_iterator(_alike().cache(path))
            element = iterator.get_next()
            saver = tf.train.Saver([tf.data.experimental.make_saveable_from_iterator(iterator)])
            session.run(iterator.initializer)
            if place > 50:
                saver.restore(session, str(tmp_path / "it"))
            for i in range({50: 0, 120: 50, COUNT: 120}[place], place):
                assert _same(session.run(element), expected[i])
            saver.save(session, str(tmp_path / "it"))
            if place == COUNT:
                with pytest.raises(tf.errors.OutOfRangeError):
                    session.run(element)
    assert len(list(tmp_path.glob("kept.data-*"))) == 3
    with tf.Graph().as_default(), tf.Session() as session:
        iterator = tf.data.make_initializable_iterator(_alike().cache(path))
        element = iterator.get_next()
        saver = tf.train.Saver([tf.data.experimental.make_saveable_from_iterator(iterator)])
        session.run(iterator.initializer)
        assert all(_same(session.run(element), expected[i]) for i in range(70))
        saver.save(session, str(tmp_path / "read"))
        assert all(_same(session.run(element), expected[i]) for i in range(70, 80))
        saver.restore(session, str(tmp_path / "read"))
        assert all(_same(session.run(element), expected[i]) for i in range(70, COUNT))


@pytest.mark.parametrize("kind", ["alike", "different"])
@pytest.mark.parametrize("share", [0.1, 0.5, 0.99])
def test_damage_is_found(kind: str, share: float, tmp_path: Path) -> None:
    """With those elements before it that reading one by one gives."""
    path = tmp_path / "kept"
    with tf.Graph().as_default():
        expected, _ = _all_of(KINDS[kind]().cache(str(path)))
    data = next(tmp_path.glob("kept.data-*"))
    text = bytearray(data.read_bytes())
    text[int(share * len(text))] ^= 4
    data.write_bytes(bytes(text))
    with tf.Graph().as_default():
        found, end = _all_of(KINDS[kind]().cache(str(path)))
    assert end == "DataLossError"
    assert 0 < len(found) < COUNT and all(map(_same, found, expected))


def test_an_index_of_another_kind_is_read(tmp_path: Path) -> None:
    """Of a dataset with other types, and of a checkpoint that is no cache at all."""
    path = str(tmp_path / "kept")
    with tf.Graph().as_default(), tf.Session() as session:
        v = tf.get_variable("v", initializer=[1.0, 2.0])
        session.run(v.initializer)
        tf.train.Saver().save(session, path, write_meta_graph=False)
    with tf.Graph().as_default():
        assert _all_of(tf.data.Dataset.range(3).cache(path)) == ([], "OutOfRangeError")


@pytest.mark.parametrize("field", ["offset", "size", "shard_id", "dtype"])
@pytest.mark.parametrize("value", [1, 77, 1 << 40, (1 << 63) - 1, -1])
def test_what_an_index_says_is_not_believed(field: str, value: int, tmp_path: Path) -> None:
    """Of an element in the middle: nothing outside of the file is read, whatever stands there."""
    from numbaflow.io import protos, table
    from numbaflow.io.tensor_bundle import read_index

    if field in ("shard_id", "dtype"):
        value = value % (1 << 31) or 5
    path = str(tmp_path / "kept")
    with tf.Graph().as_default():
        expected, _ = _all_of(_alike().cache(path))
    texts, _ = read_index(path)
    for component in range(4):
        key = f"{150:>7d}_{component}".encode()
        entry = protos.BundleEntryProto.FromString(texts[key])
        setattr(entry, field, value)
        texts[key] = entry.SerializeToString()
    (tmp_path / "kept.index").write_bytes(table.encode(sorted(texts.items())))
    with tf.Graph().as_default():
        found, end = _all_of(_alike().cache(path))
    assert end in ("DataLossError", "NotFoundError", "InvalidArgumentError")
    assert len(found) == 150 and all(map(_same, found, expected))
