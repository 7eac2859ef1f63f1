# SPDX-License-Identifier: Apache-2.0
"""Numbers shuffled many at a time come in the order in which elements come one by one."""

from __future__ import annotations

import itertools
from typing import Any

import pytest

import numbaflow as tf
from numbaflow.engine import errors
from numbaflow.engine.types import dtypes
from numbaflow.engine.types.shape import TensorShape
from numbaflow.ops.data.runtime.context import Context
from numbaflow.ops.data.runtime.dataset import Element, OneSource, Stream
from numbaflow.ops.data.runtime.shuffling import ShuffleDataset, _ShuffledBlocks
from numbaflow.ops.data.runtime.singles import Singles
from numbaflow.ops.data.runtime.sources import RangeDataset

pytestmark = pytest.mark.programs


class _Blocks(RangeDataset):
    """A range whose elements cannot be had by number."""

    def rows(self, context: Context) -> None:
        return None


class _Alone(OneSource):
    """Elements one by one; the fifth cannot be read if `fails`."""

    def __init__(self, source: Stream, fails: bool) -> None:
        self._source, self._fails, self._count = source, fails, 0

    def next(self) -> Element | None:
        self._count += 1
        if self._fails and self._count == 5:
            raise errors.data_loss("damaged")
        return self._source.next()


class _OneByOne(_Blocks):
    """The same, where nothing but elements one by one can be had."""

    def stream(self, context: Context, path: str) -> Stream:
        return _Alone(super().stream(context, path), False)


class _Failing(_Blocks):
    """The same with an element that cannot be read."""

    def stream(self, context: Context, path: str) -> Stream:
        return _Alone(super().stream(context, path), True)


class _FailingBlocks(_Blocks):
    """Blocks up to that element."""

    def stream(self, context: Context, path: str) -> Stream:
        found = Singles(_Alone(super().stream(context, path), True))
        found.has_blocks = True
        return found


def _stream(kind: Any, count: int, size: int, epochs: int, session: Any) -> Any:
    source = kind([dtypes.int64], [TensorShape([])], (0, count, 1))
    shuffled = ShuffleDataset(source, size, (3, 4), True, epochs)
    return shuffled.stream(Context(session), "root")


def _taken(stream: Any, count: int) -> list[int]:
    found = itertools.islice(iter(stream.next, None), count)
    return [int(element[0]) for element in found]


@pytest.mark.parametrize("epochs", [1, 2, 7, -1])
def test_numbers_come_in_the_order_of_elements(epochs):
    with tf.Session() as session:
        for count, size in itertools.product((1, 2, 5, 40), (1, 3, 7, 40, 41, 1000)):
            theirs = _taken(_stream(_OneByOne, count, size, epochs, session), 300)
            ours = _taken(_stream(RangeDataset, count, size, epochs, session), 300)
            assert ours == theirs, (count, size)
            in_blocks = _stream(_Blocks, count, size, epochs, session)
            assert type(in_blocks) is _ShuffledBlocks
            assert _taken(in_blocks, 300) == theirs, (count, size)
            assert len(ours) == (300 if epochs < 0 else min(300, count * epochs))


@pytest.mark.parametrize("kind", [RangeDataset, _Blocks, _OneByOne])
@pytest.mark.parametrize("size", [7, 1000])
def test_a_restored_stream_goes_on_in_the_middle_of_epochs(size, kind):
    with tf.Session() as session:
        stream = _stream(kind, 12, size, 5, session)
        for _ in range(9):
            state = stream.save()
            expected = _taken(stream, 6)
            stream = _stream(kind, 12, size, 5, session)
            stream.restore(state)
            assert _taken(stream, 6) == expected


@pytest.mark.parametrize("size", [1, 3, 30])
def test_an_error_comes_where_it_comes_of_elements_one_by_one(size):
    def found(kind: Any) -> list[Any]:
        stream, values = _stream(kind, 12, size, 2, session), []
        while len(values) < 40:
            try:
                element = stream.next()
            except errors.DataLossError as error:
                values.append(error.message)
                continue
            if element is None:
                break
            values.append(int(element[0]))
        return values

    with tf.Session() as session:
        theirs = found(_Failing)
        assert theirs.count("damaged") == 2
        assert found(_FailingBlocks) == theirs


@pytest.mark.cpu
def test_records_are_shuffled_alike_in_batches_and_one_by_one(tmp_path):
    path = tmp_path / "records"
    with tf.python_io.TFRecordWriter(str(path)) as writer:
        for number in range(300):
            writer.write(b"%d" % number * (number % 3))
    with tf.Graph().as_default(), tf.Session() as session:
        shuffled = tf.data.TFRecordDataset(str(path)).shuffle(40, seed=5).repeat(2)
        batch = shuffled.batch(7).make_one_shot_iterator().get_next()
        single = shuffled.filter(lambda x: True).make_one_shot_iterator().get_next()
        batches = [text for _ in range(86) for text in session.run(batch).tolist()]
        assert batches == [session.run(single) for _ in range(600)]
        assert sorted(batches[:300]) == sorted(b"%d" % n * (n % 3) for n in range(300))


@pytest.mark.cpu
@pytest.mark.parametrize("count", [1, None])
def test_a_map_that_makes_batches_reads_what_a_map_before_them_does(count):
    """One stream of it: another one would be shuffled otherwise."""
    with tf.Graph().as_default(), tf.Session() as session:
        tf.set_random_seed(2)
        shuffled = tf.data.Dataset.range(40).repeat(count).shuffle(20, seed=1)
        fused = tf.data.experimental.map_and_batch(lambda x: x + 1, 8)
        pair = (shuffled.map(lambda x: x + 1).batch(8), shuffled.apply(fused))
        first, second = (dataset.make_one_shot_iterator().get_next() for dataset in pair)
        for _ in range(5):
            assert session.run(first).tolist() == session.run(second).tolist()
