# SPDX-License-Identifier: Apache-2.0
"""Interleaved files and slices that are read in blocks: order, shapes, errors, and going on."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import numbaflow as tf
from numbaflow.ops.data.runtime.interleaved_blocks import InterleavedBlocks

pytestmark = pytest.mark.cpu


def _in_turns(lists: list[list[Any]], cycle: int, block: int) -> Iterator[Any]:
    """The order that TensorFlow states for `interleave`."""
    todo = [iter(each) for each in lists]
    turns: list[Iterator[Any] | None] = [None] * cycle
    at = 0
    while todo or any(turn is not None for turn in turns):
        if turns[at] is None and todo:
            turns[at] = todo.pop(0)
        turn = turns[at]
        if turn is not None:
            for _ in range(block):
                found = next(turn, None)
                if found is None:
                    turns[at] = None
                    break
                yield found
        at = (at + 1) % cycle


def _files(folder: Path, sizes: list[int]) -> tuple[list[str], list[list[bytes]]]:
    names, lines = [], []
    for number, size in enumerate(sizes):
        names.append(str(folder / f"part-{number}"))
        lines.append([b"%d of %d" % (i, number) for i in range(size)])
        Path(names[-1]).write_bytes(b"".join(line + b"\n" for line in lines[-1]))
    return names, lines


def _all(dataset: Any) -> list[Any]:
    element = tf.data.make_one_shot_iterator(dataset).get_next()
    found = []
    with tf.Session() as session:
        while True:
            try:
                found.append(session.run(element))
            except tf.errors.OutOfRangeError:
                return found


@pytest.mark.parametrize(("cycle", "block"), [(1, 1), (2, 1), (3, 2), (4, 5), (7, 3)])
@pytest.mark.parametrize("batch", [1, 4, 100])
def test_the_order_is_that_of_single_elements(
    cycle: int, block: int, batch: int, tmp_path: Path
) -> None:
    names, lines = _files(tmp_path, [9, 0, 4, 17, 1, 30])
    expected = list(_in_turns(lines, cycle, block))
    with tf.Graph().as_default():
        files = tf.data.Dataset.from_tensor_slices(names)
        read = files.interleave(tf.data.TextLineDataset, cycle_length=cycle, block_length=block)
        assert _all(read) == expected
        assert [x for rows in _all(read.batch(batch)) for x in rows.tolist()] == expected
        lengths = read.map(tf.strings.length).filter(lambda n: n > 0).batch(batch)
        assert [x for rows in _all(lengths) for x in rows.tolist()] == list(map(len, expected))


def test_records_are_read_in_blocks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A record dataset of one file is a flat_map in itself."""
    counts: list[int] = []
    read = InterleavedBlocks._read

    def counted(self: InterleavedBlocks, count: int) -> Any:
        counts.append(count)
        return read(self, count)

    monkeypatch.setattr(InterleavedBlocks, "_read", counted)
    names = [str(tmp_path / str(i)) for i in range(3)]
    for name in names:
        with tf.python_io.TFRecordWriter(name) as writer:
            for i in range(50):
                writer.write(name[-1].encode() + b"%d" % i)
    with tf.Graph().as_default():
        files = tf.data.Dataset.from_tensor_slices(names)
        rows = _all(files.interleave(tf.data.TFRecordDataset, cycle_length=3).batch(40))
    expected = list(_in_turns([[b"%d%d" % (n, i) for i in range(50)] for n in range(3)], 3, 1))
    assert [x for each in rows for x in each.tolist()] == expected
    assert len(counts) < 15 and max(counts) >= 40


def test_rows_of_different_shapes_are_in_different_blocks() -> None:
    with tf.Graph().as_default():
        sizes = tf.data.Dataset.range(1, 4)
        read = sizes.interleave(
            lambda n: tf.data.Dataset.from_tensor_slices(tf.ones([4, n], tf.int64) * n),
            cycle_length=2,
            block_length=2,
        )
        found = [row.tolist() for row in _all(read)]
    lists = [[[n] * n] * 4 for n in (1, 2, 3)]
    assert found == list(_in_turns(lists, 2, 2))


def test_an_error_comes_when_its_element_would(tmp_path: Path) -> None:
    names, lines = _files(tmp_path, [3, 3])
    with tf.Graph().as_default(), tf.Session() as session:
        files = tf.data.Dataset.from_tensor_slices([*names, str(tmp_path / "missing")])
        read = files.interleave(tf.data.TextLineDataset, cycle_length=2, block_length=2)
        element = tf.data.make_one_shot_iterator(read).get_next()
        expected = list(_in_turns(lines, 2, 2))
        assert [session.run(element) for _ in expected[:5]] == expected[:5]
        with pytest.raises(tf.errors.NotFoundError, match="missing"):
            while True:
                assert session.run(element) in expected[5:]


def test_it_goes_on_where_it_was_saved(tmp_path: Path) -> None:
    names, lines = _files(tmp_path, [9, 2, 14, 5])
    expected = list(_in_turns(lines, 2, 3))

    def built() -> tuple[Any, Any, Any]:
        files = tf.data.Dataset.from_tensor_slices(names)
        read = files.interleave(tf.data.TextLineDataset, cycle_length=2, block_length=3)
        iterator = tf.data.make_initializable_iterator(read)
        saveable = tf.data.experimental.make_saveable_from_iterator(iterator)
        return iterator.initializer, iterator.get_next(), tf.train.Saver([saveable])

    for given in (0, 1, 7, 20, len(expected)):
        path = str(tmp_path / f"saved-{given}")
        with tf.Graph().as_default(), tf.Session() as session:
            begin, element, saver = built()
            session.run(begin)
            assert [session.run(element) for _ in range(given)] == expected[:given]
            saver.save(session, path)
            session.run(begin)  # (which closes what was read)
        with tf.Graph().as_default(), tf.Session() as session:
            begin, element, saver = built()
            session.run(begin)
            saver.restore(session, path)
            rest = [session.run(element) for _ in expected[given:]]
            assert rest == expected[given:]
            with pytest.raises(tf.errors.OutOfRangeError):
                session.run(element)


def test_a_function_with_state_is_called_when_its_element_is_wanted() -> None:
    seen: list[int] = []

    def noted(number: np.int64) -> np.int64:
        seen.append(int(number))
        return number

    with tf.Graph().as_default(), tf.Session() as session:
        read = tf.data.Dataset.range(5).interleave(
            lambda n: tf.data.Dataset.range(tf.py_func(noted, [n], tf.int64) + 3), cycle_length=1
        )
        element = tf.data.make_one_shot_iterator(read).get_next()
        assert [session.run(element) for _ in range(3)] == [0, 1, 2]
        assert seen == [0]
