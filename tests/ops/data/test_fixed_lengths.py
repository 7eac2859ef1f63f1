# SPDX-License-Identifier: Apache-2.0
"""Pieces of one length: read many at once, they are those that lie in the file, one by one."""

from __future__ import annotations

import gzip
import zlib
from pathlib import Path

import numpy as np
import pytest

import numbaflow as tf
from numbaflow.ops.data.runtime import files

pytestmark = pytest.mark.cpu
PACK = {"": bytes, "GZIP": gzip.compress, "ZLIB": zlib.compress}


def written(path: Path, compression: str, length: int, count: int, extra: bytes = b"") -> list[str]:
    body = np.random.RandomState(length).bytes(length * count)
    path.write_bytes(PACK[compression](b"head" + body + b"ends!" + extra))
    return [body[i * length : (i + 1) * length] for i in range(count)]


def values(dataset: tf.data.Dataset) -> list[bytes]:
    with tf.Session() as sess:
        return rest(sess, tf.data.make_one_shot_iterator(dataset).get_next())


def rest(sess: tf.Session, following: tf.Tensor) -> list[bytes]:
    """All that is to come, behind which files are closed."""
    found: list[bytes] = []
    while True:
        try:
            given = sess.run(following)
            found += [given] if isinstance(given, bytes) else given.tolist()
        except tf.errors.OutOfRangeError:
            return found


@pytest.mark.parametrize("compression", PACK)
@pytest.mark.parametrize(
    ("length", "count"), [(1, 5000), (3, 700), (784, 3000), (300_000, 5), (7, 0)]
)
def test_pieces_of_any_size(tmp_path, compression, length, count):
    wanted = written(tmp_path / "data", compression, length, count)
    names = [str(tmp_path / "data")] * 2
    made = tf.data.FixedLengthRecordDataset(names, length, 4, 5, None, compression)
    assert values(made.take(40)) == (wanted * 2)[:40]
    assert values(made.batch(64)) == wanted * 2


@pytest.mark.parametrize("compression", ["GZIP", "ZLIB"])
def test_what_is_left_at_the_end_is_an_error_behind_all_whole_pieces(tmp_path, compression):
    wanted = written(tmp_path / "data", compression, 6, 100, b"xx")
    read = files.FixedLengths(str(tmp_path / "data").encode(), compression, (4, 6, 5))
    found: list[bytes] = []
    with pytest.raises(tf.errors.DataLossError, match="body length 602 bytes, which is not"):
        for _ in range(100):
            found += read.read_some(64)
    assert found[:99] == wanted[:99] and len(found) == 100
    read.close()


def test_a_file_that_shrinks_meanwhile_is_an_error(tmp_path):
    path = tmp_path / "data"
    wanted = written(path, "", 6, 500_000)
    read = files.FixedLengths(str(path).encode(), "", (4, 6, 5))
    assert read.read() == wanted[0]
    with open(path, "r+b") as file:
        file.truncate(4 + 2_400_000 + 3)
    with pytest.raises(tf.errors.DataLossError, match="body length 2400003 bytes"):
        for _ in range(500_000):
            read.read_some(1 << 20)
    read.close()


@pytest.mark.parametrize("compression", PACK)
@pytest.mark.parametrize("passed", [64, 2900])
def test_a_restored_iterator_goes_on(tmp_path, compression, passed):
    wanted = written(tmp_path / "data", compression, 784, 3000)
    made = tf.data.FixedLengthRecordDataset(str(tmp_path / "data"), 784, 4, 5, None, compression)
    iterator = tf.data.make_initializable_iterator(made.batch(64))
    following = iterator.get_next()
    saver = tf.train.Saver([tf.data.experimental.make_saveable_from_iterator(iterator)])
    with tf.Session() as sess:
        sess.run(iterator.initializer)
        found: list[bytes] = []
        while len(found) < passed:
            found += sess.run(following).tolist()
        saved = saver.save(sess, str(tmp_path / "saved"))
        assert rest(sess, following) == wanted[len(found) :]
    with tf.Session() as sess:
        sess.run(iterator.initializer)
        saver.restore(sess, saved)
        assert rest(sess, following) == wanted[len(found) :]


def test_bytes_are_decoded_in_blocks(tmp_path):
    wanted = written(tmp_path / "data", "", 784, 3000)
    made = tf.data.FixedLengthRecordDataset(str(tmp_path / "data"), 784, 4, 5)
    pixels = made.map(lambda text: tf.cast(tf.decode_raw(text, tf.uint8), tf.float32) / 255.0)
    following = tf.data.make_one_shot_iterator(tf.data.Dataset.zip((pixels, made)).batch(100))
    first, text = following.get_next()
    with tf.Session() as sess:
        for i in range(30):
            numbers, texts = sess.run([first, text])
            assert texts.tolist() == wanted[100 * i : 100 * i + 100]
            raw = np.frombuffer(b"".join(texts), np.uint8).reshape(100, 784)
            np.testing.assert_array_equal(numbers, raw.astype(np.float32) / np.float32(255))
        with pytest.raises(tf.errors.OutOfRangeError):
            sess.run(first)
