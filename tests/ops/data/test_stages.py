# SPDX-License-Identifier: Apache-2.0
"""Functions in two stages give what they give in one; so do their errors and saved iterators."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import numbaflow as tf
from numbaflow.ops.data.runtime import mapping
from numbaflow.ops.image.codec_samples import PNG

from .draining import all_of, left_after

pytestmark = pytest.mark.cpu
D = tf.data.Dataset
WORDS = [b"a b c", b"b", b"c a d a", b"d d"] * 30
# What keeps a function from being computed for blocks as a whole.
Late = Callable[[Any], Any]


def _by_python(x: Any) -> Any:
    return tf.py_func(lambda a: a, [x], x.dtype)


def _by_branch(x: Any) -> Any:
    return tf.cond(tf.size(x) > 1, lambda: tf.reverse(x, [0]), lambda: x)


def _looked_up(late: Late) -> Any:
    pairs = tf.lookup.KeyValueTensorInitializer([b"a", b"b", b"c"], np.arange(3, dtype=np.int64))
    table = tf.lookup.StaticHashTable(pairs, -1)

    def numbers(text: Any) -> Any:
        words = tf.string_split([text]).values
        return late(table.lookup(words)), words[-1], text

    return D.from_tensor_slices(WORDS).map(numbers)


def _examples(bad: int = -1) -> list[bytes]:
    found = []
    for i in range(120):
        values = np.arange(i % 4 if i != bad else 5, dtype=np.float32)
        feature = {
            "few": tf.train.Feature(float_list=tf.train.FloatList(value=values)),
            "two": tf.train.Feature(int64_list=tf.train.Int64List(value=[i, i + 1])),
            "name": tf.train.Feature(bytes_list=tf.train.BytesList(value=[b"%06d" % i])),
        }
        if i == bad:
            del feature["two"]
        example = tf.train.Example(features=tf.train.Features(feature=feature))
        found.append(example.SerializeToString())
    return found


def _parsed(late: Late, bad: int = -1) -> Any:
    asked = {
        "few": tf.VarLenFeature(tf.float32),
        "two": tf.FixedLenFeature([2], tf.int64),
        "name": tf.FixedLenFeature([], tf.string),
    }

    def features(record: Any) -> Any:
        found = tf.parse_single_example(record, asked)
        dense = tf.sparse_tensor_to_dense(found["few"])
        return late(found["two"]), late(dense) * 2.0, found["few"], tf.substr(found["name"], 3, 2)

    return D.from_tensor_slices(_examples(bad)).map(features)


def _columns(late: Late) -> Any:
    lines = [b"%d,%d.5,w%d" % (i, i, i) if i % 3 else b"%d,,w" % i for i in range(100)]

    def columns(line: Any) -> Any:
        whole, real, text = tf.decode_csv(line, [[0], [7.0], [""]])
        return late(tf.stack([whole])), real, tf.string_join([text, "!"])

    return D.from_tensor_slices(lines).map(columns)


def _pictures(late: Late) -> Any:
    asked = {"name": tf.FixedLenFeature([], tf.string), "file": tf.FixedLenFeature([], tf.string)}
    records = []
    for i in range(100):
        example = tf.train.Example()
        example.features.feature["name"].bytes_list.value.append(b"%d" % i)
        example.features.feature["file"].bytes_list.value.append(PNG)
        records.append(example.SerializeToString())

    def pixels(record: Any) -> Any:
        found = tf.parse_single_example(record, asked)
        decoded = tf.image.decode_image(found["file"], channels=3)
        return late(decoded), tf.string_to_number(found["name"], tf.int32)

    return D.from_tensor_slices(records).map(pixels)


PROGRAMS = {"pictures": _pictures, "lookup": _looked_up, "examples": _parsed, "csv": _columns}
LATE = {"python": _by_python, "branch": _by_branch}


def _plain(value: Any) -> Any:
    if isinstance(value, tf.SparseTensorValue):
        return [_plain(part) for part in value]
    return [_plain(x) for x in value] if isinstance(value, tuple) else np.asarray(value).tolist()


def _elements(make: Callable[[], Any]) -> list[Any]:
    with tf.Graph().as_default(), tf.Session() as session:
        iterator = tf.data.make_initializable_iterator(make())
        session.run([tf.tables_initializer(), iterator.initializer])
        return [_plain(element) for element in all_of(session, iterator.get_next())]


@pytest.fixture
def used(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """For each function that was asked for, whether it has two stages."""
    found: list[bool] = []
    stages_of = mapping.stages_of

    def noted(*of: Any) -> Any:
        found.append(False)
        return stages_of(*of)

    class Noted(mapping._FirstStage):
        def __init__(self, *of: Any) -> None:
            super().__init__(*of)
            found[-1] = True

    monkeypatch.setattr(mapping, "stages_of", noted)
    monkeypatch.setattr(mapping, "_FirstStage", Noted)
    return found


@pytest.mark.parametrize("late", LATE)
@pytest.mark.parametrize("program", PROGRAMS)
def test_two_stages_give_what_one_gives(
    monkeypatch: pytest.MonkeyPatch, used: list[bool], program: str, late: str
) -> None:
    def make() -> Any:
        return PROGRAMS[program](LATE[late])

    found = _elements(make)
    assert used == [True]
    monkeypatch.setattr(mapping, "stages_of", lambda *_: None)
    assert found == _elements(make)
    assert len(found) >= 100


def test_random_numbers_are_those_of_one_stage(
    monkeypatch: pytest.MonkeyPatch, used: list[bool]
) -> None:
    def make() -> Any:
        tf.set_random_seed(3)

        def drawn(line: Any) -> Any:
            whole, _ = tf.decode_csv(line, [[0], [0]])
            return whole + tf.random_uniform([], 0, 1000, tf.int32, seed=2)

        return D.from_tensor_slices([b"%d,1" % i for i in range(150)]).map(drawn)

    found = _elements(make)
    assert used == [True]
    monkeypatch.setattr(mapping, "stages_of", lambda *_: None)
    assert found == _elements(make)
    assert len(set(found)) > 100


@pytest.mark.parametrize("parallel", [None, 2])
def test_an_error_of_the_first_stage_is_its_elements(
    used: list[bool], parallel: int | None
) -> None:
    asked = {"two": tf.FixedLenFeature([2], tf.int64)}
    with tf.Graph().as_default(), tf.Session() as session:
        records = D.from_tensor_slices(_examples(bad=70))
        numbers = records.map(
            lambda record: _by_python(tf.parse_single_example(record, asked)["two"]),
            num_parallel_calls=parallel,
        )
        element = tf.data.make_one_shot_iterator(numbers).get_next()
        for i in range(120):
            if i == 70:
                with pytest.raises(tf.errors.InvalidArgumentError, match="two"):
                    session.run(element)
            else:
                assert session.run(element).tolist() == [i, i + 1]
    assert used == [True]


def test_saved_iterators_go_on_behind_a_first_stage(used: list[bool], tmp_path: Path) -> None:
    left, restored = left_after(41, lambda: _parsed(_by_branch), tmp_path)
    assert list(map(_plain, restored)) == list(map(_plain, left))
    assert len(left) == 79
    assert all(used)


def test_what_tables_say_that_change_is_asked_for_each_element(used: list[bool]) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        table = tf.contrib.lookup.MutableHashTable(tf.string, tf.int64, -1)
        dataset = D.from_tensor_slices([b"a"] * 100).map(lambda x: _by_python(table.lookup(x)))
        iterator = tf.data.make_initializable_iterator(dataset)
        element = iterator.get_next()
        session.run(iterator.initializer)
        assert session.run(element) == -1
        session.run(table.insert([b"a"], np.array([5])))
        assert session.run(element) == 5
    assert used == [False]


def test_calls_that_wait_for_each_other_go_on() -> None:
    barrier = threading.Barrier(2)

    def met(i: Any) -> Any:
        barrier.wait(30)
        return i

    def make() -> Any:
        return D.range(40).map(lambda i: tf.py_func(met, [i], tf.int64), num_parallel_calls=2)

    assert _elements(make) == list(range(40))


def test_calls_that_take_long_go_on_at_the_same_time() -> None:
    lock, running, most = threading.Lock(), [0], [0]

    def call(i: Any) -> Any:
        with lock:
            running[0] += 1
            most[0] = max(most[0], running[0])
        time.sleep(0.003)
        with lock:
            running[0] -= 1
        return i

    def make() -> Any:
        return D.range(60).map(
            lambda i: tf.cast(tf.py_func(call, [i], tf.int64), tf.float32) * 0.5,
            num_parallel_calls=2,
        )

    assert _elements(make) == [i / 2 for i in range(60)]
    assert most[0] == 2
