# SPDX-License-Identifier: Apache-2.0
"""Functions computed for blocks of elements give what they give one by one; so do their errors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import numbaflow as tf
from numbaflow.engine import settings
from numbaflow.ops.data.runtime import functions, vectorizing
from numbaflow.ops.data.runtime.ragged import Ragged, kept, taken_up

pytestmark = pytest.mark.cpu
LINES = [b"a b  c", b"", b"d", b"b b b b", b" c a", b"a,b", b"9"] * 3
NUMBERED = {"x": tf.FixedLenFeature([2], tf.float32), "y": tf.FixedLenFeature([], tf.int64, 5)}


def _table() -> Any:
    pairs = tf.lookup.KeyValueTensorInitializer(
        tf.constant(["a", "b", "c"]), tf.constant([3, 4, 5], tf.int64)
    )
    return tf.lookup.StaticHashTable(pairs, -1)


def _examples(count: int, bad: int = -1) -> list[bytes]:
    found = []
    for i in range(count):
        x = [i, i + 0.5] if i != bad else [1.0]
        feature = {"x": tf.train.Feature(float_list=tf.train.FloatList(value=x))}
        if i % 2:
            feature["y"] = tf.train.Feature(int64_list=tf.train.Int64List(value=[i]))
        example = tf.train.Example(features=tf.train.Features(feature=feature))
        found.append(example.SerializeToString())
    return found


def _words() -> Any:
    table = _table()
    return tf.data.Dataset.from_tensor_slices(LINES).map(
        lambda line: table.lookup(tf.string_split([line]).values)
    )


def _parsed(bad: int = -1) -> Any:
    records = tf.data.Dataset.from_tensor_slices(_examples(40, bad))

    def features(record: Any) -> Any:
        found = tf.parse_single_example(record, NUMBERED)
        return found["x"] * 2.0, found["y"] + 1

    return records.map(features)


def _shaped() -> Any:
    pairs = np.arange(24).reshape(4, 6)
    return tf.data.Dataset.from_tensor_slices(pairs).map(
        lambda x: (tf.reshape(x, [-1, 2]), tf.expand_dims(x, 0), tf.stack([x, x + 1], axis=-1))
    )


def _texts() -> Any:
    return tf.data.Dataset.from_tensor_slices(LINES).map(
        lambda line: (
            tf.strings.join([tf.strings.lower(line), "!"]),
            tf.regex_replace(line, "[ab]+", "x"),
            tf.string_to_hash_bucket_fast(line, 11),
            tf.strings.length(line),
        )
    )


def _columns() -> Any:
    lines = [b"1,2.5,x", b"-3,1e3,y", b"4,,z"]
    return tf.data.Dataset.from_tensor_slices(lines).map(
        lambda line: tuple(tf.decode_csv(line, [[0], [0.5], [""]]))
    )


def _remainders() -> Any:
    return tf.data.Dataset.range(100).filter(lambda x: tf.equal(x % 7, 3))


def _moved() -> Any:
    grid = np.arange(48).reshape(4, 2, 6)

    def parts(x: Any) -> Any:
        flat = tf.reshape(x, [12])
        return (
            (x[1], x[:, 2], x[..., ::-2], x[:, tf.newaxis, 1:3]),
            (tf.slice(x, [0, 1], [2, -1]), tf.transpose(x), tf.transpose(x, [0, 1])),
            (tf.concat([x, x[:1]], 0), tf.concat([x, x], -1), flat[3:5]),
            (tf.one_hot(flat, 9), tf.one_hot(flat[0], 4), tf.one_hot(flat, 3, axis=0)),
        )

    return tf.data.Dataset.from_tensor_slices(grid).map(lambda x: sum(parts(x), ()))


def _raw() -> Any:
    """As programs read CIFAR-10."""
    random = np.random.RandomState(0)
    records = [random.bytes(13) for _ in range(9)]

    def picture(record: Any) -> Any:
        numbers = tf.decode_raw(record, tf.uint8)
        depth_major = tf.reshape(tf.strided_slice(numbers, [1], [13]), [3, 2, 2])
        pixels = tf.cast(tf.transpose(depth_major, [1, 2, 0]), tf.float32)
        label = tf.cast(tf.strided_slice(numbers, [0], [1]), tf.int32)
        return pixels, label, tf.reshape(numbers, [13])

    return tf.data.Dataset.from_tensor_slices(records).map(picture)


SOME = {
    "ids": tf.VarLenFeature(tf.int64),
    "words": tf.VarLenFeature(tf.string),
    "y": tf.FixedLenFeature([], tf.int64),
}


def _some_features(count: int = 30) -> list[bytes]:
    found = []
    for i in range(count):
        example = tf.train.Example()
        feature = example.features.feature
        feature["y"].int64_list.value.append(i)
        feature["ids"].int64_list.value.extend(range(i % 4))
        feature["words"].bytes_list.value.extend([b"w%d" % i] * (i % 3))
        found.append(example.SerializeToString())
    return found


def _sparse() -> Any:
    def features(record: Any) -> Any:
        found = tf.parse_single_example(record, SOME)
        ids, words = found["ids"], found["words"]
        return (
            *(ids.indices, ids.values, ids.dense_shape, words.values, found["y"]),
            *(tf.sparse_tensor_to_dense(ids, -1), tf.sparse_tensor_to_dense(words, "")),
        )

    return tf.data.Dataset.from_tensor_slices(_some_features()).map(features)


def elements(make: Any, end: type[Exception] = tf.errors.OutOfRangeError) -> list[Any]:
    """What a dataset gives, until it ends."""
    with tf.Graph().as_default(), tf.Session() as session:
        iterator = make().make_initializable_iterator()
        element = iterator.get_next()
        session.run(tf.tables_initializer())
        session.run(iterator.initializer)
        found = []
        with pytest.raises(end):
            while True:
                found.append(session.run(element))
        return found


def _is_same(ours: Any, theirs: Any) -> bool:
    pairs = zip(*(x if isinstance(x, tuple) else (x,) for x in (ours, theirs)))
    return all(
        np.shape(a) == np.shape(b) and np.asarray(a).tolist() == np.asarray(b).tolist()
        for a, b in pairs
    )


MAKERS = {
    maker.__name__: maker
    for maker in (
        *(_words, _parsed, _shaped, _texts, _columns, _remainders),
        *(_moved, _raw, _sparse),
    )
}


@pytest.mark.parametrize("name", MAKERS)
def test_blocks_give_what_single_elements_give(name, monkeypatch):
    made = []

    def noted(*arguments: Any) -> Any:
        made.append(vectorized(*arguments))
        return made[-1]

    vectorized = vectorizing.vectorized
    monkeypatch.setattr(vectorizing, "vectorized", noted)
    ours = elements(MAKERS[name])
    assert made[0] is not None
    monkeypatch.setattr(vectorizing, "vectorized", lambda *arguments: None)
    theirs = elements(MAKERS[name])
    assert len(ours) == len(theirs) > 2
    assert all(map(_is_same, ours, theirs))


def test_words_of_different_number_are_padded():
    (batch,) = elements(lambda: _words().take(5).padded_batch(8, [None], np.int64(9)))
    assert batch.tolist() == [
        [3, 4, 5, 9],
        [9, 9, 9, 9],
        [-1, 9, 9, 9],
        [4, 4, 4, 4],
        [5, 3, 9, 9],
    ]
    batches = elements(lambda: _words().padded_batch(4, [6]))
    assert [batch.shape for batch in batches] == [(4, 6)] * 5 + [(1, 6)]


def test_an_error_comes_with_its_element():
    found = elements(lambda: _parsed(bad=19), tf.errors.InvalidArgumentError)
    assert [int(y) for _, y in found] == [i + 1 if i % 2 else 6 for i in range(19)]


def test_tables_that_change_are_not_read_ahead():
    with settings.override(jit="never"), tf.Session() as session:
        table = tf.contrib.lookup.MutableHashTable(tf.string, tf.int64, -1)
        insert = table.insert(tf.constant(["a"]), tf.constant([7], tf.int64))
        dataset = tf.data.Dataset.from_tensor_slices([b"a"] * 4).map(table.lookup)
        iterator = dataset.make_initializable_iterator()
        number = iterator.get_next()
        session.run(iterator.initializer)
        assert session.run(number) == -1
        session.run(insert)
        assert session.run(number) == 7


def test_an_iterator_over_words_goes_on_where_it_was_saved(tmp_path):
    expected = elements(_words)
    for place in (1, 4, 9):
        found = []
        for is_new in (True, False):
            with tf.Graph().as_default(), tf.Session() as session:
                iterator = _words().make_initializable_iterator()
                word = iterator.get_next()
                saver = tf.train.Saver([tf.data.experimental.make_saveable_from_iterator(iterator)])
                session.run([tf.tables_initializer(), iterator.initializer])
                if is_new:
                    found = [session.run(word) for _ in range(place)]
                    saver.save(session, str(tmp_path / "it"))
                else:
                    saver.restore(session, str(tmp_path / "it"))
                    found += [session.run(word) for _ in range(len(expected) - place)]
        assert all(map(_is_same, found, expected))


def test_ragged_components_are_taken_apart():
    rows = [[1, 2], [], [3], [4, 5, 6], []]
    places = np.repeat(np.arange(5), [len(row) for row in rows])
    whole = Ragged.placed(np.array([1, 2, 3, 4, 5, 6]), places, 5)
    assert [whole[i].tolist() for i in range(len(whole))] == rows
    part = taken_up(kept(whole[1:4]))
    assert [part[i].tolist() for i in range(len(part))] == rows[1:4]
    assert whole[2:].lengths.tolist() == [1, 3, 0]
    assert len(whole[3:3]) == 0


def test_what_has_an_effect_is_no_function_of_blocks():
    with tf.Graph().as_default(), tf.Session() as session:
        dataset = tf.data.Dataset.range(4).map(lambda x: x + tf.random_uniform([], 0, 9, tf.int64))
        iterator = dataset.make_initializable_iterator()
        session.run(iterator.initializer)
        made: list[Any] = []
        on_blocks = functions.FunctionRun.on_blocks

        def noted(run: Any, *arguments: Any) -> Any:
            made.append(on_blocks(run, *arguments))
            return made[-1]

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(functions.FunctionRun, "on_blocks", noted)
            session.run(iterator.initializer)
            session.run(iterator.get_next())
        assert made == [None]


def _wanted(functions: list[Any], source: Any, batch: Any) -> Any:
    # (What is known by number is shuffled by number, and comes in blocks of itself.)
    dataset = source().interleave(tf.data.Dataset.from_tensors, 2).shuffle(7, seed=3)
    for function in functions:
        dataset = dataset.map(function, num_parallel_calls=2)
    return batch(dataset)


def _examples_of(record: Any) -> Any:
    found = tf.parse_single_example(record, SOME)
    return found["y"], found["ids"].values


WANTED = {
    "dense": (
        [lambda x: x * 2, lambda x: (x, x + 1)],
        lambda: tf.data.Dataset.range(50),
        lambda d: d.batch(8),
    ),
    "repeated": ([lambda x: x * 2], lambda: tf.data.Dataset.range(10), lambda d: _twice(d)),
    "ragged": (
        [_examples_of],
        lambda: tf.data.Dataset.from_tensor_slices(_some_features()),
        lambda d: d.padded_batch(8, ([], [None])),
    ),
    "ragged, one by one": (
        [_examples_of],
        lambda: tf.data.Dataset.from_tensor_slices(_some_features()),
        lambda d: d,
    ),
}


def _twice(dataset: Any) -> Any:
    return dataset.skip(1).take(8).repeat(2).batch(5, drop_remainder=True)


@pytest.mark.parametrize("name", WANTED)
def test_maps_of_elements_in_any_order_compute_what_is_wanted_at_once(name, monkeypatch):
    calls = []
    known = functions.BlockRun.__call__
    monkeypatch.setattr(
        functions.BlockRun, "__call__", lambda self, block: calls.append(1) or known(self, block)
    )
    ours = elements(lambda: _wanted(*WANTED[name]))
    assert bool(calls) == (name != "ragged, one by one")
    monkeypatch.setattr(vectorizing, "vectorized", lambda *arguments: None)
    theirs = elements(lambda: _wanted(*WANTED[name]))
    assert len(ours) == len(theirs) > 1
    assert all(map(_is_same, ours, theirs))


def test_nothing_is_read_ahead_of_what_is_wanted():
    read = []

    def numbers() -> Any:
        for i in range(20):
            read.append(i)
            yield i

    with tf.Graph().as_default(), tf.Session() as session:
        dataset = tf.data.Dataset.from_generator(numbers, tf.int64, []).map(lambda x: x * 2)
        one = dataset.make_one_shot_iterator().get_next()
        for i in range(3):
            assert session.run(one) == 2 * i
            assert len(read) == i + 1
        read.clear()
        batch = dataset.batch(4).make_one_shot_iterator().get_next()
        for i in range(3):
            session.run(batch)
            assert len(read) == 4 * (i + 1)


def test_what_comes_before_an_error_of_the_source_comes_first():
    def numbers() -> Any:
        yield from range(3)
        raise ValueError("no more numbers")

    with tf.Graph().as_default(), tf.Session() as session:
        dataset = tf.data.Dataset.from_generator(numbers, tf.int64, []).map(lambda x: 6 // (x - 1))
        batch = dataset.batch(4).make_one_shot_iterator().get_next()
        # The element of the division by zero stands before the error of the generator.
        with pytest.raises(tf.errors.InvalidArgumentError, match="Integer division by zero"):
            session.run(batch)
