# SPDX-License-Identifier: Apache-2.0
"""Lines of text files: one carriage return at an end belongs to it, as in TensorFlow 1.15.5."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import numbaflow as tf

CONTENT = b"a\rb\nc\r\nd\r\r\ne"

pytestmark = pytest.mark.programs


def test_lines_in_a_table(tmp_path: Path) -> None:
    path = tmp_path / "words"
    path.write_bytes(CONTENT)
    initializer = tf.lookup.TextFileInitializer(str(path), tf.string, -2, tf.int64, -1)
    table = tf.lookup.StaticHashTable(initializer, -1)
    words = [b"ab", b"a\rb", b"c", b"c\r", b"d", b"d\r", b"e"]
    with tf.Session() as sess:
        sess.run(tf.tables_initializer())
        found = sess.run(table.lookup(tf.constant(np.array(words, object))))
    assert found.tolist() == [-1, 0, 1, -1, -1, 2, 3]


def test_lines_of_a_reader(tmp_path: Path) -> None:
    path = tmp_path / "words"
    path.write_bytes(CONTENT)
    queue = tf.FIFOQueue(1, tf.string, [()])
    line = tf.TextLineReader().read(queue).value
    with tf.Session() as sess:
        sess.run(queue.enqueue(str(path)))
        sess.run(queue.close())
        assert [sess.run(line) for _ in range(4)] == [b"a\rb", b"c", b"d\r", b"e"]
        # The reader closes its file at the end.
        with pytest.raises(tf.errors.OutOfRangeError):
            sess.run(line)
