# SPDX-License-Identifier: Apache-2.0
"""Numbers shuffled many at a time come in the order in which elements come one by one."""

from __future__ import annotations

import itertools
from typing import Any

import pytest

import numbaflow as tf
from numbaflow.engine.types import dtypes
from numbaflow.engine.types.shape import TensorShape
from numbaflow.ops.data.runtime.context import Context
from numbaflow.ops.data.runtime.shuffling import ShuffleDataset
from numbaflow.ops.data.runtime.sources import RangeDataset

pytestmark = pytest.mark.programs


class _OneByOne(RangeDataset):
    """A range whose elements cannot be had by number."""

    def rows(self, context: Context) -> None:
        return None


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
            assert len(ours) == (300 if epochs < 0 else min(300, count * epochs))


@pytest.mark.parametrize("size", [7, 1000])
def test_a_restored_stream_goes_on_in_the_middle_of_epochs(size):
    with tf.Session() as session:
        stream = _stream(RangeDataset, 12, size, 5, session)
        for _ in range(9):
            state = stream.save()
            expected = _taken(stream, 6)
            stream = _stream(RangeDataset, 12, size, 5, session)
            stream.restore(state)
            assert _taken(stream, 6) == expected


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
