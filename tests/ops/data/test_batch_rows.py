# SPDX-License-Identifier: Apache-2.0
"""Batches of parallel maps, whose threads put results into rows, against those of plain maps."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import numbaflow as tf
from numbaflow.engine import memory
from numbaflow.engine.memory import is_alone
from numbaflow.engine.session import interpreter
from numbaflow.jit.kernel import verify_kernel
from numbaflow.ops.data.runtime import batch_filling

pytestmark = pytest.mark.cpu
SIDES = (96, 64, 3)


def _pixels(i: Any) -> Any:
    """Large elements, in another order of operations than blocks have."""
    noise = tf.py_func(lambda n: np.full(SIDES, n, np.float32), [i], tf.float32)
    noise.set_shape(SIDES)
    return tf.reverse(noise, [0]) * 2.0 + 1.0, i


def _batches(make: Any, count: int = 100) -> list[Any]:
    """What a dataset gives, and the errors in between."""
    found: list[Any] = []
    with tf.Graph().as_default(), tf.Session() as session:
        element = make().make_one_shot_iterator().get_next()
        for _ in range(count):
            try:
                found.append(session.run(element))
            except tf.errors.OutOfRangeError:
                break
            except tf.errors.OpError as error:
                found.append(type(error).__name__)
    return found


def _same(ours: list[Any], theirs: list[Any]) -> None:
    assert len(ours) == len(theirs)
    for one, other in zip(ours, theirs):
        np.testing.assert_equal(one, other)


def _failing(i: Any) -> Any:
    with tf.control_dependencies([tf.assert_none_equal(i % 7, np.int64(5))]):
        return _pixels(tf.identity(i))


def _growing(i: Any) -> Any:
    return tf.py_func(lambda n: np.zeros([1 + n // 9, 20000], np.float32), [i], tf.float32)


@pytest.mark.parametrize("function", [_pixels, _failing, _growing])
@pytest.mark.parametrize("batch", [4, 5])
def test_rows_are_what_elements_are(function: Any, batch: int) -> None:
    def make(calls: int | None) -> Any:
        return lambda: tf.data.Dataset.range(23).map(function, calls).batch(batch)

    _same(_batches(make(2)), _batches(make(None)))


@pytest.mark.parametrize("function", [_pixels, _failing])
def test_maps_and_batches_in_one(function: Any) -> None:
    def make(calls: int) -> Any:
        both = tf.data.experimental.map_and_batch(function, 4, num_parallel_calls=calls)
        return lambda: tf.data.Dataset.range(23).apply(both)

    _same(_batches(make(3)), _batches(make(1)))


def test_batches_belong_to_who_fetches_them() -> None:
    def make() -> Any:
        return tf.data.Dataset.range(40).map(_pixels, 2).batch(4)

    found = _batches(make)
    for i, (pixels, numbers) in enumerate(found):
        assert numbers.tolist() == list(range(4 * i, 4 * i + 4))
        assert (pixels == 2.0 * numbers[:, None, None, None] + 1.0).all()


def test_results_are_made_in_memory_that_is_offered() -> None:
    if verify_kernel.guards:
        pytest.skip("guards stand around memory that is theirs")
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.float32, [200, 200])
        y = x * 2.0
        feed = {x: np.ones([200, 200], np.float32)}
        session.run(y, feed)
        place = memory.aligned_empty((200, 200), np.dtype(np.float32))
        with memory.offering([place]):
            first, second = session.run(y, feed), session.run(y, feed)
        assert np.shares_memory(first, place)
        assert not np.shares_memory(second, place)
        unaligned = memory.aligned_empty((40001,), np.dtype(np.float32))[1:].reshape(200, 200)
        with memory.offering([unaligned]):
            assert not np.shares_memory(session.run(y, feed), unaligned)
        assert (first == second).all()


@pytest.mark.parametrize("parallel", [None, 2])
def test_batches_that_were_prefetched_are_not_copied(
    monkeypatch: pytest.MonkeyPatch, parallel: int | None
) -> None:
    asked = []
    monkeypatch.setattr(
        interpreter, "is_alone", lambda *of: asked.append(is_alone(*of)) or asked[-1]
    )
    with tf.Graph().as_default(), tf.Session() as session:
        pixels = tf.data.Dataset.range(400).map(_pixels, num_parallel_calls=parallel)
        element = tf.data.make_one_shot_iterator(pixels.batch(4).prefetch(1)).get_next()
        for _ in range(8):
            session.run(element)
    # (The function's own first run, by reference kernels, is one more.)
    assert 8 <= len(asked) <= 9
    assert sum(asked[-8:]) >= 7  # (the first one may still be compiled where it is read)


def test_a_row_of_another_form_is_none() -> None:
    batch = batch_filling.Batch(3)
    assert [batch.add() for _ in range(2)] == [0, 1]
    assert batch.put((np.ones(4),), 1)
    assert not batch.put((np.ones(5),), 0)
    assert not batch.put((np.ones(4, np.float32),), 0)
    assert batch.put((np.zeros(4),), 0)
    assert not batch.is_full
    (rows,) = batch.take(2)
    assert rows.tolist() == [[0.0] * 4, [1.0] * 4]
