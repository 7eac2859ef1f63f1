# SPDX-License-Identifier: Apache-2.0
"""A pipeline among workers, by files or elements, and among devices in turns."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import numbaflow as tf
from numbaflow.ops.data.experimental.adjusting import _AutoShardDataset

pytestmark = pytest.mark.cpu


def elements(dataset: Any) -> list[Any]:
    element = tf.data.make_one_shot_iterator(dataset).get_next()
    found = []
    with tf.Session() as session:
        try:
            while True:
                found.append(session.run(element))
        except tf.errors.OutOfRangeError:
            return found


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    paths = [tmp_path / f"{i}.txt" for i in range(5)]
    for i, path in enumerate(paths):
        path.write_text("".join(f"{i}-{j}\n" for j in range(3)))
    return [str(path) for path in paths]


def of_files(*numbers: int) -> list[bytes]:
    return [b"%d-%d" % (i, j) for i in numbers for j in range(3)]


@pytest.fixture(autouse=True)
def _graph() -> Any:
    with tf.Graph().as_default():
        yield


@pytest.mark.parametrize("index", [0, 1])
def test_files_are_shared_where_they_are_read(files: list[str], index: int) -> None:
    lines = tf.data.TextLineDataset(files).map(tf.identity).prefetch(1)
    assert elements(_AutoShardDataset(lines, 2, index)) == of_files(*range(index, 5, 2))
    names = tf.data.Dataset.from_tensor_slices(files)
    lines = names.interleave(tf.data.TextLineDataset, cycle_length=1).take(100)
    assert elements(_AutoShardDataset(lines, 2, index)) == of_files(*range(index, 5, 2))


def test_names_that_are_shuffled_are_shared_first(files: list[str]) -> None:
    names = tf.data.Dataset.from_tensor_slices(files).shuffle(10)
    lines = names.flat_map(tf.data.TextLineDataset)
    parts = [elements(_AutoShardDataset(lines, 2, index)) for index in range(2)]
    assert [sorted(part) for part in parts] == [of_files(0, 2, 4), of_files(1, 3)]


def test_all_of_several_datasets_are_shared(files: list[str]) -> None:
    lines = tf.data.TextLineDataset(files[:2]).concatenate(tf.data.TextLineDataset(files[2:4]))
    assert elements(_AutoShardDataset(lines, 2, 1)) == of_files(1, 3)


def test_elements_are_shared_where_no_files_are_seen() -> None:
    numbers = tf.data.Dataset.range(7).map(lambda x: x * 10)
    assert elements(_AutoShardDataset(numbers, 3, 1)) == [10, 40]
    with pytest.raises(tf.errors.InvalidArgumentError, match="aren't enough elements"):
        elements(_AutoShardDataset(tf.data.Dataset.range(2), 3, 0))


def test_a_worker_without_a_file_has_nothing(files: list[str]) -> None:
    names = tf.data.Dataset.from_tensor_slices(files)
    lines = names.flat_map(tf.data.TextLineDataset)
    assert elements(_AutoShardDataset(lines, 9, 7)) == []
    assert elements(_AutoShardDataset(tf.data.Dataset.range(0), 3, 0)) == []


def test_elements_for_devices_in_turns() -> None:
    dataset = tf.data.Dataset.range(5)
    types: Any = {"output_types": [tf.int64], "output_shapes": [[]]}
    iterator = tf.raw_ops.MultiDeviceIterator(
        devices=["/cpu:0", "/cpu:1"], shared_name="", container="", **types
    )
    begin = tf.raw_ops.MultiDeviceIteratorInit(
        dataset=dataset._variant_tensor, multi_device_iterator=iterator, max_buffer_size=1
    )
    number = tf.placeholder(tf.int64, [])
    handle = tf.raw_ops.MultiDeviceIteratorToStringHandle(multi_device_iterator=iterator)
    same = tf.raw_ops.MultiDeviceIteratorFromStringHandle(string_handle=handle, **types)
    nexts = [
        tf.raw_ops.MultiDeviceIteratorGetNextFromShard(
            multi_device_iterator=which, shard_num=i, incarnation_id=number, **types
        )[0]
        for i, which in enumerate((iterator, same))
    ]
    with tf.Session() as session:
        for _ in range(2):
            now = {number: session.run(begin)}
            assert [session.run(nexts[1], now) for _ in range(2)] == [1, 3]
            assert [session.run(nexts[0], now) for _ in range(3)] == [0, 2, 4]
            for part in nexts:
                with pytest.raises(tf.errors.OutOfRangeError, match="End of sequence"):
                    session.run(part, now)
        with pytest.raises(tf.errors.InvalidArgumentError, match="incarnation"):
            session.run(nexts[0], {number: 1})
