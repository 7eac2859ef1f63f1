# SPDX-License-Identifier: Apache-2.0
"""Batches of runs at the same time: who gets which rows, gradients, and what is refused."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import numbaflow as tf
from numbaflow.train.contrib.batching import batch_function_v1

pytestmark = pytest.mark.cpu

LONG = 3_000_000  # microseconds


def together(session: tf.Session, fetches: Any, feeds: list[dict[Any, Any]]) -> list[Any]:
    """What runs in threads of their own give, in the order of their feeds."""
    found: list[Any] = [None] * len(feeds)

    def one(i: int) -> None:
        found[i] = session.run(fetches, feeds[i])

    threads = [threading.Thread(target=one, args=(i,)) for i in range(len(feeds))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return found


def batch(inputs: list[Any], most: int = 2, micros: int = LONG, **more: Any) -> Any:
    """The node, with what TensorFlow asks for besides."""
    return tf.raw_ops.Batch(
        in_tensors=inputs,
        num_batch_threads=1,
        max_batch_size=most,
        batch_timeout_micros=micros,
        grad_timeout_micros=LONG,
        **more,
    )


def test_one_run_gets_the_rows_of_all() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        x, y = tf.placeholder(tf.int32, [1]), tf.placeholder(tf.float32, [1, 2])
        (rows, pairs), index, key = batch([x, y])
        assert rows.shape.as_list() == [None] and pairs.shape.as_list() == [None, 2]
        assert index.shape.as_list() == [None, 3] and key.shape.as_list() == []
        feeds = [{x: [n], y: [[n, -n]]} for n in (1, 2)]
        found = together(session, [rows, pairs, index, key], feeds)
        (whole,) = (each for each in found if len(each[0]))
        (empty,) = (each for each in found if not len(each[0]))
        assert sorted(whole[0]) == [1, 2] and whole[1][:, 0].tolist() == whole[0].tolist()
        assert whole[2][:, 1:].tolist() == [[0, 1], [1, 2]]
        assert {*whole[2][:, 0]} == {whole[3], empty[3]}
        assert empty[1].shape == (0, 2) and empty[2].shape == (0, 3)


def test_a_batch_that_waited_long_enough_is_filled_up_to_an_allowed_size() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.int32, [2])
        (rows,), index, _ = batch([x], 10, 1000, allowed_batch_sizes=[5, 10])
        found, places = session.run([rows, index], {x: [7, 8]})
        assert found.tolist() == [7, 8, 7, 7, 7] and places[:, 1:].tolist() == [[0, 2]]


@pytest.mark.parametrize("decorate", [tf.contrib.batching.batch_function, batch_function_v1])
def test_each_run_gets_its_rows_of_what_the_function_gives(decorate: Callable[..., Any]) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        x, more = tf.placeholder(tf.float32, [None]), tf.placeholder_with_default(1.0, [])
        sizes: list[int] = []

        def function(rows: Any) -> Any:
            def note(array: np.ndarray) -> np.ndarray:
                sizes.append(len(array))
                return array

            return rows + more, tf.py_func(note, [rows], tf.float32) * 2.0

        results = decorate(1, 4, LONG)(function)(x)
        found = together(session, results, [{x: [1.0]}, {x: [2.0, 3.0]}, {x: [4.0]}])
        assert [[part.tolist() for part in each] for each in found] == [
            [[2.0], [2.0]],
            [[3.0, 4.0], [4.0, 6.0]],
            [[5.0], [8.0]],
        ]
        assert sorted(sizes) == [0, 0, 4]
        with pytest.raises(ValueError, match="supposed to be Tensors"):
            decorate(1, 4, 10)(function)(3.0)


def test_gradients_go_through_the_batch_and_back_to_each_run() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.float32, [1])
        factor = tf.constant(3.0)
        (rows,), index, key = batch([x])
        mine = tf.raw_ops.Unbatch(
            batched_tensor=rows * rows * factor, batch_index=index, id=key, timeout_micros=LONG
        )
        slopes = tf.gradients(mine, [x, factor])
        found = together(session, slopes, [{x: [2.0]}, {x: [5.0]}])
        assert [each[0].tolist() for each in found] == [[12.0], [30.0]]
        # The factor belongs to the batch: the run that computes it has the slope of all.
        assert sorted(each[1] for each in found) == [0.0, 29.0]


def test_what_is_refused() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        x, y = tf.placeholder(tf.int32, [None]), tf.placeholder(tf.int32, [None])
        node = batch([x, y], 2, 0)
        with pytest.raises(tf.errors.InvalidArgumentError, match="equal 0th-dimension size"):
            session.run(node, {x: [1], y: [1, 2]})
        with pytest.raises(tf.errors.InvalidArgumentError, match="Task size 3 is larger"):
            session.run(node, {x: [1] * 3, y: [1] * 3})
        scalar = tf.placeholder(tf.int32, None)
        with pytest.raises(tf.errors.InvalidArgumentError, match="at least one dimension"):
            session.run(batch([scalar], 2, 0), {scalar: 1})
        with pytest.raises(tf.errors.InvalidArgumentError, match="monotonically increasing"):
            session.run(batch([x], 4, 0, allowed_batch_sizes=[4, 2]), {x: [1]})
        lone = tf.raw_ops.Unbatch(
            batched_tensor=x, batch_index=np.zeros((0, 3), np.int64), id=5, timeout_micros=1000
        )
        with pytest.raises(tf.errors.DeadlineExceededError, match="did not arrive within"):
            session.run(lone, {x: []})
        index = tf.placeholder(tf.int64, [None, None])
        other = tf.raw_ops.Unbatch(batched_tensor=x, batch_index=index, id=5, timeout_micros=1000)
        with pytest.raises(tf.errors.InvalidArgumentError, match="1st dimension size to be 3"):
            session.run(other, {x: [1], index: [[5, 0]]})
        with pytest.raises(tf.errors.InvalidArgumentError, match="no greater than"):
            session.run(other, {x: [1], index: [[5, 0, 2]]})
