# SPDX-License-Identifier: Apache-2.0
"""Datasets that adjust others, TensorArrays as elements, and functions of rows.

Numbers that were drawn are TensorFlow 1.15.5's.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import numbaflow as tf
from numbaflow.ops.data.dataset import _VariantDataset
from numbaflow.ops.data.experimental import adjusting
from numbaflow.ops.flow.function_library import Defun

pytestmark = pytest.mark.cpu

_SAMPLED = [2, 4, 8, 12, 14, 16, 22, 24, 27, 28, 33, 34, 36, 37]


@pytest.fixture(autouse=True)
def _graph() -> Any:
    with tf.Graph().as_default():
        yield


def _elements(dataset: Any) -> list[Any]:
    iterator = tf.data.make_initializable_iterator(dataset)
    element, found = iterator.get_next(), []
    if isinstance(element, tf.TensorArray):
        element = element.stack()
    with tf.Session() as session:
        session.run(iterator.initializer)
        while True:
            try:
                found.append(session.run(element))
            except tf.errors.OutOfRangeError:
                return [np.asarray(each).tolist() for each in found]


def _range(count: int) -> Any:
    return tf.data.Dataset.range(count)


def _arrays(count: Any) -> Any:
    size = tf.cast(count, tf.int32)
    return tf.TensorArray(tf.int32, element_shape=(), size=size).unstack(tf.range(size))


def _sampled() -> Any:
    variant = tf.raw_ops.SamplingDataset(
        input_dataset=_range(40)._variant_tensor,
        rate=0.3,
        seed=5,
        seed2=7,
        output_types=[tf.int64],
        output_shapes=[[]],
    )
    return _VariantDataset(variant, tf.TensorSpec([], tf.int64))


def test_batches_for_replicas() -> None:
    """Parts are of the batch's size over their number, the last ones short or empty."""
    cut = adjusting._RebatchDataset(_range(10).batch(4), 3)
    assert _elements(cut) == [[0, 1], [2, 3], [], [4, 5], [6, 7], [], [8], [9], []]
    even = adjusting._RebatchDataset(_range(8).batch(4, drop_remainder=True), 2)
    assert even.element_spec == tf.TensorSpec([2], tf.int64)
    with pytest.raises(ValueError, match="not batched"):
        adjusting._RebatchDataset(_range(3), 2)


def test_pools_of_threads() -> None:
    """A pool changes nothing of the elements; one of no threads is refused."""
    dataset = _range(20).map(lambda x: x * x, num_parallel_calls=4)
    pool = adjusting.PrivateThreadPool(2, display_name="two")
    assert _elements(adjusting.override_threadpool(dataset, pool)) == [i * i for i in range(20)]
    none = adjusting.PrivateThreadPool(0, display_name="none")
    with pytest.raises(tf.errors.InvalidArgumentError, match="greater than zero"):
        _elements(adjusting.override_threadpool(dataset, none))


def test_sampled_elements() -> None:
    """A sample is drawn as in TensorFlow."""
    assert _elements(_sampled()) == _SAMPLED


@pytest.mark.parametrize(
    "make", [_sampled, lambda: adjusting._RebatchDataset(_range(9).batch(3), 3)]
)
def test_saved_in_the_middle(make: Any, tmp_path: Any) -> None:
    """A restored iterator goes on with the next element."""

    def pipeline() -> Any:
        iterator = tf.data.make_initializable_iterator(make())
        saveable = tf.data.experimental.make_saveable_from_iterator(iterator)
        return iterator.initializer, iterator.get_next(), tf.train.Saver([saveable])

    with tf.Graph().as_default(), tf.Session() as session:
        begin, element, saver = pipeline()
        session.run(begin)
        for _ in range(4):
            session.run(element)
        saver.save(session, str(tmp_path / "input"))
        expected = [session.run(element).tolist() for _ in range(5)]
    with tf.Graph().as_default(), tf.Session() as session:
        begin, element, saver = pipeline()
        session.run(begin)
        saver.restore(session, str(tmp_path / "input"))
        assert [session.run(element).tolist() for _ in range(5)] == expected


def test_what_reads_a_dataset() -> None:
    """`assert_next` holds against the transformations behind it."""

    def made(*kinds: str) -> Any:
        return _range(5).apply(adjusting.assert_next(kinds)).map(lambda x: x + 1).batch(3)

    assert _elements(made("Map", "Batch")) == [[1, 2, 3], [4, 5]]
    with pytest.raises(tf.errors.InvalidArgumentError, match="Asserted Batch transformation at"):
        _elements(made("Batch"))


def test_sleep_and_the_fastest() -> None:
    """Elements come as they are; datasets that differ are not to choose from."""
    assert _elements(_range(3).apply(adjusting.sleep(1000))) == [0, 1, 2]
    assert _elements(adjusting._ChooseFastestDataset([_range(3), _range(3)])) == [0, 1, 2]
    with pytest.raises(tf.errors.InvalidArgumentError, match="compatible cardinalities"):
        _elements(adjusting._ChooseFastestDataset([_range(3), _range(4)]))


def test_functions_of_rows() -> None:
    """A function is called for each row; tensors of other lengths are refused."""

    @Defun(tf.int32, tf.int32)
    def both(x: Any, y: Any) -> Any:
        return x * 2 + y

    rows, more = tf.constant([[1, 2], [3, 4]]), tf.placeholder(tf.int32, [None])
    (found,) = adjusting.map_defun(both, [rows, more], [tf.int32], [(2,)])
    assert found.shape.as_list() == [2, 2]
    with tf.Session() as session:
        assert session.run(found, {more: [10, 20]}).tolist() == [[12, 14], [26, 28]]
        with pytest.raises(tf.errors.InvalidArgumentError, match="same dimension 0"):
            session.run(found, {more: [1, 2, 3]})


def _half(x: Any) -> Any:
    return tf.cast(x, tf.float64) / 2


def test_functions_of_rows_by_their_signature() -> None:
    """A tf.function is called for each row, and may use tensors of the graph outside."""
    factor = tf.constant(10)

    signature = [tf.TensorSpec([2], tf.int32), tf.TensorSpec([], tf.int32)]

    @tf.contrib.eager.defun(input_signature=signature)
    def both(x: Any, y: Any) -> Any:
        assert x.shape.as_list() == [2]
        return x * factor + y, y

    rows = [tf.constant([[1, 2], [3, 4]]), tf.constant([5, 6])]
    found, same = adjusting.map_defun(both, rows, [tf.int32, tf.int32], [(2,), ()])
    half = tf.contrib.eager.defun(_half, [tf.TensorSpec([], tf.int32)])
    with tf.Session() as session:
        assert session.run(found).tolist() == [[15, 25], [36, 46]]
        assert session.run(same).tolist() == [5, 6]
        (wrong,) = adjusting.map_defun(half, rows[1:], [tf.int32], [()])
        with pytest.raises(tf.errors.InvalidArgumentError, match="to be int32, but float64"):
            session.run(wrong)
    with pytest.raises(ValueError, match="needs an input_signature"):
        adjusting.map_defun(tf.function(lambda x: x), rows[:1], [tf.int32], [(2,)])


def test_arrays_of_tensors() -> None:
    """A TensorArray goes through a dataset, and is one in the functions behind."""
    dataset = _range(4).map(_arrays)
    assert dataset.element_spec == tf.TensorArraySpec([], tf.int32)
    assert dataset.output_shapes.as_list() == [0, 1]
    assert _elements(dataset) == [list(range(i)) for i in range(4)]

    def changed(array: Any) -> Any:
        assert isinstance(array, tf.TensorArray)
        array = array.write(0, 7).scatter([1], [9])
        return tf.concat([array.stack(), array.gather([1]), [array.read(0), array.size()]], 0)

    found = _elements(tf.data.Dataset.range(2, 4).map(_arrays).map(changed))
    assert found == [[7, 9, 9, 7, 2], [7, 9, 2, 9, 7, 3]]
