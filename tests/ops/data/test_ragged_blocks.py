# SPDX-License-Identifier: Apache-2.0
"""Elements of different lengths, computed for many at once: what comes is what comes one by one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import numbaflow as tf
from numbaflow.ops.data.runtime import functions, mapping

pytestmark = pytest.mark.cpu
LINES = [b"a b  c", b"", b"d", b"b b b b", b" c a", b"a,b", b"9"] * 3


def _bucket(x: Any) -> Any:
    """What bucket_by_sequence_length asks of each element."""
    least, most = [-5, 1, 2, 4], [1, 2, 4, 100]
    is_in = tf.logical_and(tf.less_equal(least, tf.size(x)), tf.less(tf.size(x), most))
    return tf.reduce_min(tf.where(is_in))


FUNCTIONS: dict[str, Callable[[Any], Any]] = {
    "sizes": lambda x: (tf.size(x), tf.shape(x), tf.shape(x, out_type=tf.int64)[0]),
    "stretches": lambda x: (x[:2], x[1:], x[:-1], x[-2:], x[1:3], x[5:2]),
    "rows": lambda x: (tf.concat([x, ["a"]], 0)[0], tf.concat([["q"], x], 0)[-1]),
    "rows that are not there": lambda x: x[0],
    "joined": lambda x: (tf.concat([["<s>"], x], 0), tf.concat([x, ["</s>"], x], 0)),
    "turned": lambda x: (tf.reverse(x, [0]), x[::-1]),
    "numbers": lambda x: (tf.string_to_hash_bucket_fast(x, 100), tf.strings.length(x) + 1),
    "reduced": lambda x: (
        tf.reduce_max(tf.strings.length(x)),
        tf.reduce_sum(tf.strings.length(x)),
        tf.reduce_min(tf.strings.length(x)),
    ),
    "coordinates": lambda x: tf.where(tf.equal(x, "b")),
    "bucket": _bucket,
    "constants": lambda x: (tf.ones_like(tf.strings.length(x)), tf.zeros_like(x)),
    "real numbers": lambda x: tf.cast(tf.strings.length(x), tf.float32)[:2] * 2.5,
}


def _words() -> Any:
    lines = tf.data.Dataset.from_tensor_slices(LINES)
    return lines.map(lambda line: tf.string_split([line]).values)


def _all_of(make: Callable[[], Any]) -> list[Any]:
    """Elements, and the message of the error that ends them."""
    with tf.Graph().as_default(), tf.Session() as session:
        iterator = tf.data.make_initializable_iterator(make())
        element, found = iterator.get_next(), []
        session.run([tf.tables_initializer(), iterator.initializer])
        try:
            while True:
                found.append(session.run(element))
        except tf.errors.OutOfRangeError:
            return found
        except tf.errors.InvalidArgumentError as error:
            return [*found, error.message.split("\n")[0]]


def _same(x: Any, y: Any) -> bool:
    if isinstance(x, tuple):
        return len(x) == len(y) and all(map(_same, x, y))
    x, y = np.asarray(x), np.asarray(y)
    return x.shape == y.shape and x.dtype == y.dtype and bool((x == y).all())


def _one_by_one(make: Callable[[], Any]) -> list[Any]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(functions.FunctionRun, "on_blocks", lambda *arguments: None)
        return _all_of(make)


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("is_ahead", [False, True])
def test_functions_of_ragged_elements(name: str, is_ahead: bool, monkeypatch: Any) -> None:
    def make() -> Any:
        words = _words()
        if is_ahead:
            words = words.prefetch(6).filter(lambda x: tf.size(x) > 0)
        return words.map(FUNCTIONS[name]).prefetch(3)

    expected = _one_by_one(make)
    made: list[Any] = []
    begin = mapping._MappedBlocks.__init__

    def noted(*arguments: Any) -> None:
        made.append(arguments)
        begin(*arguments)

    monkeypatch.setattr(mapping._MappedBlocks, "__init__", noted)
    found = _all_of(make)
    assert len(found) == len(expected) and all(map(_same, found, expected))
    # Both maps, or nothing was tested.
    assert len(made) == 2


def _translated() -> Any:
    """Pairs of sentences as programs for translation read them."""
    pairs = tf.data.Dataset.zip((_words(), _words().map(lambda x: x[::-1])))
    pairs = pairs.shuffle(5, seed=3).map(lambda a, b: (a[:3], b), num_parallel_calls=2)
    pairs = pairs.filter(lambda a, b: tf.logical_and(tf.size(a) > 0, tf.size(b) > 0)).prefetch(4)
    return pairs.map(lambda a, b: (a, tf.concat([["<s>"], b], 0), tf.size(a)))


_SHAPES = ([None], [None], [])


@pytest.mark.parametrize("kind", ["window", "bucket", "padded", "repeated"])
def test_batches_of_ragged_elements(kind: str) -> None:
    def make() -> Any:
        pairs = _translated()
        if kind == "window":
            grouped = tf.data.experimental.group_by_window(
                lambda a, b, n: tf.cast(tf.minimum(n // 2, 2), tf.int64),
                lambda key, group: group.padded_batch(4, _SHAPES),
                window_size=4,
            )
            return pairs.apply(grouped)
        if kind == "bucket":
            bucketed = tf.data.experimental.bucket_by_sequence_length(
                lambda a, b, n: n, [2, 3], [2, 3, 4], _SHAPES
            )
            return pairs.apply(bucketed)
        if kind == "repeated":
            pairs = pairs.repeat(2).skip(3).take(20)
        return pairs.padded_batch(4, _SHAPES)

    found, expected = _all_of(make), _one_by_one(make)
    assert len(found) == len(expected) > 3 and all(map(_same, found, expected))


@pytest.mark.parametrize("place", [0, 1, 5, 9])
def test_iterators_over_ragged_elements_go_on_where_they_were(place: int, tmp_path: Any) -> None:
    expected = _all_of(_translated)
    found: list[Any] = []
    for is_new in (True, False):
        with tf.Graph().as_default(), tf.Session() as session:
            iterator = tf.data.make_initializable_iterator(_translated())
            element = iterator.get_next()
            saver = tf.train.Saver([tf.data.experimental.make_saveable_from_iterator(iterator)])
            session.run(iterator.initializer)
            if is_new:
                found = [session.run(element) for _ in range(place)]
                saver.save(session, str(tmp_path / "it"))
            else:
                saver.restore(session, str(tmp_path / "it"))
                found += [session.run(element) for _ in range(len(expected) - place)]
    assert all(map(_same, found, expected))


def _record(i: int) -> bytes:
    numbers = tf.train.Int64List(value=range(i % 5))
    features = {
        "x": tf.train.Feature(int64_list=numbers),
        "s": tf.train.Feature(bytes_list=tf.train.BytesList(value=[b"%d" % i] * (i % 3))),
    }
    example = tf.train.Example(features=tf.train.Features(feature=features))
    return example.SerializeToString()


@pytest.mark.parametrize("kind", ["batch", "one by one", "shuffled", "cached"])
def test_sparse_components_of_records(kind: str, tmp_path: Any, monkeypatch: Any) -> None:
    wanted = {"x": tf.VarLenFeature(tf.int64), "s": tf.VarLenFeature(tf.string)}
    records = [_record(i) for i in range(20)]

    def make() -> Any:
        def parsed(record: Any) -> Any:
            found = tf.parse_single_example(record, wanted)
            return found["x"], found["s"]

        dataset = tf.data.Dataset.from_tensor_slices(records).map(parsed)
        if kind == "cached":
            dataset = dataset.cache(str(tmp_path / str(len(list(tmp_path.iterdir())))))
        if kind == "shuffled":
            dataset = dataset.shuffle(4, seed=1)
        return dataset if kind == "one by one" else dataset.batch(3)

    found, expected = _all_of(make), _one_by_one(make)
    assert len(found) == len(expected) > 6
    for pair, other in zip(found, expected):
        for sparse, wanted_sparse in zip(pair, other):
            assert all(map(_same, sparse, wanted_sparse))
