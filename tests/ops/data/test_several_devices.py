# SPDX-License-Identifier: Apache-2.0
"""Iterators for several devices, and datasets of several branches."""

from __future__ import annotations

from typing import Any

import pytest

import numbaflow as tf
from numbaflow.ops.data.experimental.adjusting import _ChooseFastestBranchDataset
from numbaflow.ops.data.several_devices import MultiDeviceIterator

from .draining import all_of

pytestmark = pytest.mark.cpu
DEVICES = ["/cpu:1", "/cpu:2"]


@pytest.fixture(autouse=True)
def _graph() -> Any:
    with tf.Graph().as_default():
        yield


@pytest.fixture
def session() -> Any:
    with tf.Session(config=tf.ConfigProto(device_count={"CPU": 3})) as made:
        yield made


@pytest.mark.parametrize("ahead", [0, 1, 4])
def test_devices_have_the_elements_in_turns_each_time_it_begins(session: Any, ahead: int) -> None:
    dataset = tf.data.Dataset.range(8)
    iterator = MultiDeviceIterator(dataset, DEVICES, prefetch_buffer_size=ahead)
    elements = iterator.get_next()
    assert [tensor.device for tensor in elements] == ["/device:CPU:1", "/device:CPU:2"]
    for _ in range(3):
        session.run(iterator.initializer)
        assert all_of(session, elements) == [[0, 1], [2, 3], [4, 5], [6, 7]]


def test_one_device_may_go_before_the_others(session: Any) -> None:
    iterator = MultiDeviceIterator(tf.data.Dataset.range(9), DEVICES, max_buffer_size=4)
    first, second = map(iterator.get_next, DEVICES)
    session.run(iterator.initializer)
    assert all_of(session, first) == [0, 2, 4, 6, 8]
    assert all_of(session, second) == [1, 3, 5, 7]


def test_a_device_may_stand_there_twice(session: Any) -> None:
    dataset = tf.data.Dataset.range(8).map(lambda x: {"n": x, "square": x * x})
    iterator = MultiDeviceIterator(dataset, DEVICES * 2)
    session.run(iterator.initializer)
    found = all_of(session, iterator.get_next())
    assert found == [[{"n": i, "square": i * i} for i in range(at, at + 4)] for at in (0, 4)]


def test_optionals_are_empty_at_the_end(session: Any) -> None:
    iterator = MultiDeviceIterator(tf.data.Dataset.range(3), DEVICES)
    optionals = iterator.get_next_as_optional()
    there = [optional.has_value() for optional in optionals]
    session.run(iterator.initializer)
    assert [session.run(there) for _ in range(3)] == [[True, True], [True, False], [False, False]]
    with pytest.raises(tf.errors.InvalidArgumentError):
        session.run(optionals[0].get_value())


def test_a_branch_gives_its_elements_and_takes_what_it_captures(session: Any) -> None:
    one = tf.constant(1, tf.int64)
    dataset = tf.data.Dataset.range(6)
    branches = [lambda d: d.map(lambda x: x + one).batch(2), lambda d: d.batch(2).map(lambda x: x)]
    fastest = _ChooseFastestBranchDataset(dataset, branches, ratio_numerator=2)
    element = tf.data.make_one_shot_iterator(fastest.repeat(2)).get_next()
    found = [list(part) for part in all_of(session, element)]
    assert found == [[1, 2], [3, 4], [5, 6]] * 2


def test_a_branch_reads_its_dataset_once(session: Any) -> None:
    fastest = _ChooseFastestBranchDataset(tf.data.Dataset.range(2), [lambda d: d.repeat(2)] * 2)
    element = tf.data.make_one_shot_iterator(fastest).get_next()
    with pytest.raises(tf.errors.InvalidArgumentError, match="more than one WrapperIterator"):
        all_of(session, element)


@pytest.mark.parametrize("ratio", [(0, 1), (1, -1)])
def test_a_ratio_is_positive(ratio: tuple[int, int]) -> None:
    with pytest.raises(ValueError, match="ratio must be positive"):
        _ChooseFastestBranchDataset(tf.data.Dataset.range(2), [lambda d: d], *ratio)


def test_what_has_no_effect_is_left_out_if_asked_for(session: Any) -> None:
    from numbaflow.ops.data.experimental.adjusting import assert_next

    dataset = tf.data.Dataset.range(5).apply(assert_next(["FiniteSkip", "Prefetch"]))
    dataset = dataset.skip(2).take(-1).skip(0).repeat(1).prefetch(0).prefetch(1)
    options = tf.data.Options()
    options.experimental_optimization.noop_elimination = True
    element = tf.data.make_one_shot_iterator(dataset.with_options(options)).get_next()
    assert all_of(session, element) == [2, 3, 4]
