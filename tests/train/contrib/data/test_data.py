# SPDX-License-Identifier: Apache-2.0
"""Older names of datasets' transformations, and the datasets of TensorFlow 1.3."""

from __future__ import annotations

import numpy as np
import pytest

import numbaflow as tf

pytestmark = pytest.mark.cpu

data = tf.contrib.data


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default():
        yield


def elements(dataset):
    element = tf.data.make_one_shot_iterator(dataset).get_next()
    found = []
    with tf.Session() as session:
        try:
            while True:
                found.append(session.run(element))
        except tf.errors.OutOfRangeError:
            return found


@pytest.mark.parametrize(
    ("size", "shift", "stride"), [(3, 1, 1), (3, 2, 1), (2, 5, 1), (3, 1, 2), (11, 1, 1)]
)
def test_windows_slide(size, shift, stride):
    windows = tf.data.Dataset.range(10).apply(
        data.sliding_window_batch(size, window_shift=shift, window_stride=stride)
    )
    whole = (size - 1) * stride + 1
    expected = [list(range(i, i + whole, stride)) for i in range(0, 11 - whole, shift)]
    assert [window.tolist() for window in elements(windows)] == expected
    assert tf.data.get_output_shapes(windows).as_list() == [None]


def test_windows_go_on_from_a_checkpoint(tmp_path):
    windows = tf.data.Dataset.range(8).apply(data.sliding_window_batch(3, stride=2))
    iterator = tf.data.make_initializable_iterator(windows)
    element = iterator.get_next()
    saver = tf.train.Saver([data.make_saveable_from_iterator(iterator)])
    with tf.Session() as session:
        session.run(iterator.initializer)
        session.run(element)
        path = saver.save(session, str(tmp_path / "it"))
    with tf.Session() as session:
        session.run(iterator.initializer)
        saver.restore(session, path)
        assert session.run(element).tolist() == [2, 3, 4]


def test_windows_that_cannot_be_are_errors():
    with pytest.raises(ValueError, match="Cannot specify both `stride` and `window_shift`"):
        data.sliding_window_batch(1, stride=1, window_shift=1)
    for numbers, name in (((0, 1, 1), "Window size"), ((1, 0, 1), "Window shift")):
        with pytest.raises(tf.errors.InvalidArgumentError, match=f"{name} must be greater"):
            size, shift, stride = numbers
            windows = data.sliding_window_batch(size, window_shift=shift, window_stride=stride)
            elements(tf.data.Dataset.range(3).apply(windows))


def test_last_batches_are_left_out():
    numbers = tf.data.Dataset.range(5)
    batches = numbers.apply(data.batch_and_drop_remainder(2))
    padded = numbers.map(lambda n: tf.fill([n], n)).apply(
        data.padded_batch_and_drop_remainder(3, [None], np.int64(9))
    )
    assert [batch.tolist() for batch in elements(batches)] == [[0, 1], [2, 3]]
    assert [batch.tolist() for batch in elements(padded)] == [[[9, 9], [1, 9], [2, 2]]]


def test_shapes_of_elements_are_stated_and_checked():
    def rows():
        yield np.ones((2, 3), np.float32)

    unknown = tf.data.Dataset.from_generator(rows, tf.float32)
    stated = unknown.apply(data.assert_element_shape(tf.TensorShape([2, None])))
    assert tf.data.get_output_shapes(stated).as_list() == [2, None]
    assert elements(stated)[0].shape == (2, 3)
    wrong = unknown.apply(data.assert_element_shape(tf.TensorShape([3, 3])))
    with pytest.raises(tf.errors.InvalidArgumentError):
        elements(wrong)
    with pytest.raises(ValueError):
        tf.data.Dataset.range(2).apply(data.assert_element_shape(tf.TensorShape([3])))


def test_reducers_make_one_element():
    reducer = data.Reducer(lambda _: np.int64(0), lambda s, x: s + x, lambda s: s)
    with tf.Session() as session:
        assert session.run(data.reduce_dataset(tf.data.Dataset.range(6), reducer)) == 15
    with pytest.raises(TypeError, match="must be a `tf.data.Dataset` object"):
        data.reduce_dataset([1], reducer)


def test_interleaving_reads_several_datasets():
    interleaved = tf.data.Dataset.range(3).apply(
        data.sloppy_interleave(lambda n: tf.data.Dataset.from_tensors(n).repeat(2), 2)
    )
    assert sorted(elements(interleaved)) == [0, 0, 1, 1, 2, 2]


def test_examples_are_read_in_batches(tmp_path):
    path = str(tmp_path / "examples")
    with tf.python_io.TFRecordWriter(path) as writer:
        for n in range(3):
            value = tf.train.Feature(int64_list=tf.train.Int64List(value=[n]))
            features = tf.train.Features(feature={"n": value})
            writer.write(tf.train.Example(features=features).SerializeToString())
    wanted = {"n": tf.FixedLenFeature([], tf.int64)}
    batch = data.read_batch_features(path, 2, wanted, randomize_input=False, num_epochs=1)
    with tf.Session() as session:
        assert session.run(batch)["n"].tolist() == [0, 1]


def test_datasets_of_1_3_take_the_arguments_of_then(tmp_path):
    (tmp_path / "lines").write_text("a b\nc\n")
    lines = data.TextLineDataset(str(tmp_path / "lines"))
    words = lines.map(
        lambda line: tf.string_split([line]).values, num_threads=2, output_buffer_size=4
    )
    sizes = (
        words.map(tf.size)
        .enumerate(start=5)
        .group_by_window(lambda n, _: n % 2, lambda _, window: window.batch(2), 2)
    )
    assert isinstance(sizes, data.Dataset)
    assert [(n.tolist(), s.tolist()) for n, s in elements(sizes)] == [([6], [1]), ([5], [2])]
    pairs = data.Dataset.zip((data.Dataset.range(4), data.Dataset.from_tensor_slices([7, 8])))
    assert [int(a + b) for a, b in elements(pairs.shuffle(4, seed=1).repeat(1))] in ([7, 9], [9, 7])
    rows = (
        data.Dataset.range(4)
        .batch(3)
        .unbatch()
        .map(lambda n: tf.fill([1], n))
        .dense_to_sparse_batch(2, [3])
    )
    assert len(elements(rows)) == 2
    iterator = data.Iterator.from_structure(tf.int64, [])
    filled = iterator.make_initializer(data.Dataset.range(3))
    element = iterator.get_next()
    with tf.Session() as session:
        session.run(filled)
        assert [session.run(element) for _ in range(3)] == [0, 1, 2]
