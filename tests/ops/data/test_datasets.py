# SPDX-License-Identifier: Apache-2.0
"""Datasets: what elements they give, what they refuse, and what of a function is done in blocks."""

from __future__ import annotations

import threading
import warnings
from typing import Any

import numpy as np
import pytest

import numbaflow as tf
from numbaflow.engine import settings
from numbaflow.ops.data.runtime.context import Context
from numbaflow.ops.data.runtime.dataset import dataset_in

pytestmark = pytest.mark.cpu


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as made:
        yield made


def all_of(dataset):
    element = tf.data.make_one_shot_iterator(dataset).get_next()
    found = []
    with tf.Session() as session:
        while True:
            try:
                found.append(session.run(element))
            except tf.errors.OutOfRangeError:
                return found


def stream_of(dataset):
    """The stream that an iterator would read."""
    session = tf.Session()
    handle = session.run(tf.data.experimental.to_variant(dataset))
    return session, dataset_in(handle).stream(Context(session), "test")


def test_elements_keep_their_structure():
    data = {"a": np.arange(2), "b": (np.zeros((2, 3), np.float32), ["x", "y"])}
    dataset = tf.data.Dataset.from_tensor_slices(data)
    assert dataset.output_types == {"a": tf.int64, "b": (tf.float32, tf.string)}
    first, second = all_of(dataset)
    assert second["a"] == 1 and second["b"][1] == b"y" and first["b"][0].shape == (3,)


def test_sparse_components_become_batches_and_slices():
    sparse = tf.SparseTensor([[0, 0], [1, 2]], [1.0, 2.0], [2, 3])
    dataset = tf.data.Dataset.from_tensor_slices(sparse).batch(2)
    (batch,) = all_of(dataset)
    assert batch.indices.tolist() == [[0, 0], [1, 2]] and batch.values.tolist() == [1.0, 2.0]


def test_generators_are_checked_and_closed():
    closed = []

    def numbers(stop):
        try:
            for i in range(stop):
                yield i, [i] * i
        finally:
            closed.append(stop)

    types, shapes = (tf.int32, tf.int64), ([], [None])
    dataset = tf.data.Dataset.from_generator(numbers, types, shapes, args=(4,))
    assert [(int(a), b.tolist()) for a, b in all_of(dataset)][2:] == [(2, [2, 2]), (3, [3] * 3)]
    assert closed == [4]
    wrong = tf.data.Dataset.from_generator(lambda: iter(["x"]), tf.int32)
    with pytest.raises(tf.errors.InvalidArgumentError, match="could not be converted"):
        all_of(wrong)


def test_batches_of_different_shapes_are_refused():
    dataset = tf.data.Dataset.range(3).map(lambda x: tf.fill([x], x)).batch(3)
    with pytest.raises(tf.errors.InvalidArgumentError, match="First element had shape .0. and"):
        all_of(dataset)


def test_reductions_of_structures():
    def add(state, x):
        return {"sum": state["sum"] + x, "count": state["count"] + 1}

    start = {"sum": np.int64(0), "count": np.int32(0)}
    total = tf.data.Dataset.range(5).reduce(start, add)
    with tf.Session() as session:
        assert session.run(total) == {"sum": 10, "count": 5}


def test_cached_elements_are_computed_once(tmp_path):
    for name in ("", str(tmp_path / "cache")):
        calls = []

        def noted(x, calls=calls):
            calls.append(int(x))
            return x

        dataset = tf.data.Dataset.range(3).map(lambda x, f=noted: tf.py_func(f, [x], tf.int64))
        assert all_of(dataset.cache(name).repeat(2)) == [0, 1, 2, 0, 1, 2]
        assert calls == [0, 1, 2]


def test_datasets_are_slices_of_lists_of_them():
    D = tf.data.Dataset
    parts = [D.range(3), D.range(5, 7)]
    assert all_of(D.from_tensor_slices(parts).flat_map(lambda x: x)) == [0, 1, 2, 5, 6]
    slices = D.from_tensors(parts).flat_map(D.from_tensor_slices)
    assert all_of(slices.flat_map(lambda x: x)) == [0, 1, 2, 5, 6]
    with pytest.raises(TypeError, match="Failed to convert object of type <class 'list'>"):
        D.from_tensor_slices([D.range(3), D.from_tensors("a")])


def test_windows_pass_over_errors_that_nobody_asks_for():
    numbers = np.float32([1, np.nan, 2, np.nan, 3])
    checked = tf.data.Dataset.from_tensor_slices(numbers).map(lambda x: tf.check_numerics(x, "!"))
    apart = checked.window(2, 2, 2, drop_remainder=True).flat_map(lambda x: x.batch(2))
    assert np.array(all_of(apart)).tolist() == [[1, 2], [2, 3]]
    with pytest.raises(tf.errors.InvalidArgumentError, match="NaN"):
        all_of(checked.window(2).flat_map(lambda x: x.batch(2)))


def test_a_cache_file_is_read_by_who_comes_later(tmp_path):
    name = str(tmp_path / "cache")
    pairs = tf.data.Dataset.range(3).map(lambda x: (x, tf.as_string(x)))
    assert all_of(pairs.cache(name)) == all_of(
        tf.data.Dataset.zip((tf.data.Dataset.range(9), tf.data.Dataset.from_tensors("")))
        .take(0)
        .concatenate(pairs)
        .cache(name)
    )
    assert sorted(p.name for p in tmp_path.iterdir()) == [
        "cache.data-00000-of-00001",
        "cache.index",
    ]


@pytest.mark.parametrize(
    ("function", "is_block"),
    [
        (lambda x: x * 2 + 1, True),
        (lambda x: tf.cast(x, tf.float32) / 3, True),
        (lambda x: x + tf.random_uniform([], 0, 9, tf.int64), False),
        (lambda x: tf.reduce_sum([x, x]), True),
        (lambda x: tf.reduce_sum(tf.cast([x, x], tf.float32)), False),
        (lambda x: tf.py_func(abs, [x], tf.int64), False),
    ],
)
def test_facts_of_ops_decide_what_is_computed_in_blocks(function, is_block):
    session, stream = stream_of(tf.data.Dataset.range(8).map(function))
    assert stream.has_blocks is is_block
    stream.close()
    session.close()


def test_blocks_have_the_bits_of_single_elements():
    data = np.random.RandomState(0).randn(300, 3).astype(np.float32)
    vector = tf.constant([1.5, 2.5, -0.5])

    def function(x):
        return tf.tanh(x * vector) + tf.exp(-x) / 3.0

    dataset = tf.data.Dataset.from_tensor_slices(data)
    blocks = np.concatenate(all_of(dataset.map(function).batch(64)))
    alone = dataset.map(lambda x: tf.py_func(lambda y: y, [function(x)], tf.float32))
    with settings.override(jit="always"):
        singles = np.stack(all_of(alone))
    np.testing.assert_array_equal(blocks, singles)


def test_cardinalities():
    data = tf.data.Dataset
    known = {
        data.range(7).batch(2): 4,
        data.range(7).batch(2, drop_remainder=True): 3,
        data.range(3).repeat(): -1,
        data.range(3).repeat(2).skip(1).shard(2, 0): 3,
        data.zip((data.range(3), data.range(5).repeat())): 3,
        data.range(3).filter(lambda x: x > 1): -2,
        data.range(3).concatenate(data.range(4)).take(5): 5,
    }
    with tf.Session() as session:
        found = [session.run(tf.data.experimental.cardinality(d)) for d in known]
    assert found == list(known.values())


def test_lines_records_and_pieces_of_files(tmp_path):
    lines, records, pieces = (str(tmp_path / name) for name in ("lines", "records", "pieces"))
    with open(lines, "wb") as file:
        file.write(b"one\r\n\ntwo\nthree")
    with tf.python_io.TFRecordWriter(records) as writer:
        for i in range(3):
            writer.write(b"r%d" % i)
    with open(pieces, "wb") as file:
        file.write(b"HHaabbccF")
    assert all_of(tf.data.TextLineDataset([lines, lines], buffer_size=3))[:5] == [
        *(b"one", b"", b"two", b"three"),
        b"one",
    ]
    assert all_of(tf.data.TFRecordDataset(records)) == [b"r0", b"r1", b"r2"]
    cut = tf.data.FixedLengthRecordDataset(pieces, 2, header_bytes=2, footer_bytes=1)
    assert all_of(cut) == [b"aa", b"bb", b"cc"]
    with pytest.raises(tf.errors.InvalidArgumentError, match="not an exact multiple"):
        all_of(tf.data.FixedLengthRecordDataset(pieces, 4))
    with pytest.raises(tf.errors.NotFoundError):
        all_of(tf.data.TextLineDataset(str(tmp_path / "nothing")))


@pytest.mark.pure
def test_graph_mode_has_no_loops_over_datasets():
    with pytest.raises(RuntimeError, match="only supported inside of tf.function"):
        iter(tf.data.Dataset.range(3))


@pytest.mark.pure
def test_nodes_have_tensorflows_names():
    tf.data.make_one_shot_iterator(tf.data.Dataset.range(3).map(lambda x: x + 1).batch(2))
    graph = tf.get_default_graph()
    kinds = [op.type for op in graph.get_operations() if op.type != "Const"]
    assert kinds == [
        *("RangeDataset", "MapDataset", "BatchDatasetV2", "OneShotIterator"),
        "IteratorToStringHandle",
    ]
    library = graph.as_graph_def().library.function
    inner = next(f for f in library if f.signature.name.startswith("_make_dataset"))
    assert [node.op for node in inner.node_def if node.op != "Const"] == [
        *("RangeDataset", "MapDataset", "BatchDatasetV2", "OptimizeDataset", "ModelDataset")
    ]


def test_files_read_in_parallel_take_turns_as_in_tensorflow(tmp_path):
    for part in range(3):
        lines = "".join(f"{10 * part + i}\n" for i in range(part + 2))
        (tmp_path / f"part{part}").write_text(lines)
    names = [str(tmp_path / f"part{part}") for part in range(3)]
    with tf.Graph().as_default() as graph, tf.Session() as session:
        dataset = tf.data.TextLineDataset(names, num_parallel_reads=2)
        assert "ParallelInterleaveDataset" in {op.type for op in graph.get_operations()}
        iterator = tf.data.make_initializable_iterator(dataset)
        line = iterator.get_next()
        session.run(iterator.initializer)
        found = [int(session.run(line)) for _ in range(9)]
        with pytest.raises(tf.errors.OutOfRangeError):
            session.run(line)
    # TensorFlow 1.15 gives them so.
    assert found == [0, 10, 1, 11, 12, 20, 21, 22, 23]


def test_functions_that_make_tables_or_take_the_seed_of_the_graph_are_warned_of() -> None:
    def with_table(x: Any) -> Any:
        pairs = tf.lookup.KeyValueTensorInitializer(["a"], [1.0])
        tf.lookup.StaticHashTable(pairs, 0.0)
        return x

    with pytest.warns(UserWarning, match=r"Creating resources inside .* Dataset.map\(\) is not"):
        tf.data.Dataset.range(3).map(with_table)
    with tf.Graph().as_default():
        tf.set_random_seed(10)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            tf.data.Dataset.range(3).map(tf.square)
            tf.data.Dataset.range(3).map(lambda x: tf.random_uniform([], seed=1))
        with pytest.warns(UserWarning, match="Seed 10 from outer graph might be getting used"):
            tf.data.Dataset.range(3).map(lambda x: tf.random_uniform([]))


def test_one_that_takes_long_does_not_keep_others_from_being_computed():
    is_free, calls = threading.Event(), []

    def called(x):
        calls.append(int(x))
        if x == 0:  # until others were computed
            assert is_free.wait(30)
        elif x == 2:
            is_free.set()
        return x

    numbers = tf.data.Dataset.range(20)
    dataset = numbers.map(lambda x: tf.py_func(called, [x], tf.int64, stateful=False), 2)
    assert all_of(dataset) == list(range(20))
    assert sorted(calls) == list(range(20))


@pytest.mark.parametrize("channels", [3, 1])
def test_shapes_that_a_function_states(channels: int) -> None:
    """They hold for what is compiled of it; what is stated wrongly is of no matter, as it was."""
    pictures = tf.constant(np.arange(7 * 9 * 3, dtype=np.float32).reshape(7, 9, 3))

    def crop(number: Any, depth: int | None) -> Any:
        number = tf.cast(number, tf.int32)
        sizes = [2 + number % 3, 3 + number % 4, 3 + number % 1]
        piece = tf.slice(pictures, [number % 2, 0, 0], tf.stack(sizes))
        if depth is not None:
            piece.set_shape([None, None, depth])
        return tf.image.resize_images(piece, [4, 4])

    stated = tf.data.Dataset.range(12).map(lambda number: crop(number, channels))
    assert stated.output_shapes.as_list() == [4, 4, channels]
    plain = tf.data.Dataset.range(12).map(lambda number: crop(number, None))
    np.testing.assert_array_equal(all_of(stated), all_of(plain))
    with tf.Session() as session:
        mapped: Any = dataset_in(session.run(tf.data.experimental.to_variant(stated)))
    (piece,) = [op for op in mapped.function.body().operations if op.type == "Slice"]
    assert piece.outputs[0].shape.as_list() == [None, None, channels]
