# SPDX-License-Identifier: Apache-2.0
"""Loops without dependencies between turns, and Jacobians."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import pytest

import numbaflow as tf
from numbaflow.ops.flow.parallel_for import batch_jacobian, for_loop, jacobian, pfor

pytestmark = pytest.mark.cpu


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


def run(fetches: Any, feeds: Any = None) -> Any:
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        return session.run(fetches, feeds)


def test_turns_are_stacked() -> None:
    x = tf.constant(np.arange(12.0).reshape(4, 3))

    def turn(i: Any) -> Any:
        row = tf.gather(x, i)
        return {"twice": 2.0 * row, "sum": tf.reduce_sum(row), "none": None}

    dtypes = {"twice": tf.float64, "sum": tf.float64, "none": tf.int32}
    for found in (pfor(turn, 4), pfor(turn, 4, 2), for_loop(turn, dtypes, 4)):
        values = run({"twice": found["twice"], "sum": found["sum"]})
        np.testing.assert_array_equal(values["twice"], 2.0 * np.arange(12.0).reshape(4, 3))
        np.testing.assert_array_equal(values["sum"], [3.0, 12.0, 21.0, 30.0])
        assert found["none"] is None
    assert run(pfor(lambda i: x[0], 2)).tolist() == [[0.0, 1.0, 2.0]] * 2
    assert run(pfor(lambda i: tf.gather(x, i), tf.placeholder_with_default(0, []))).shape == (0, 3)


def test_operations_run_in_all_turns() -> None:
    count = tf.get_variable("count", [], tf.int32, tf.zeros_initializer(), use_resource=True)
    done = pfor(lambda i: count.assign_add(i).op, 4)
    with tf.Session() as session:
        session.run(count.initializer)
        assert session.run(done) is None
        assert session.run(count) == 6


@pytest.mark.parametrize(
    ("iterations", "text"), [(0, "must be None or a positive"), (1, "Use for_loop instead")]
)
def test_wrong_uses(iterations: int, text: str) -> None:
    with pytest.raises(ValueError, match=text):
        pfor(lambda i: i, 8, iterations)
    with pytest.raises(ValueError, match="Number of expected outputs, 1, does not match"):
        for_loop(lambda i: (i, i), tf.int32, 2)
    with pytest.raises(NotImplementedError, match="pfor_config"):
        pfor(functools.partial(lambda i, pfor_config: i), 2)


def test_jacobians() -> None:
    fed = tf.placeholder_with_default(np.float64([[1.0, 2.0], [3.0, 4.0]]), [None, 2])
    w, unused = tf.constant(np.float64([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])), tf.constant(1.0)
    y = tf.square(fed @ w)
    by_x, by_w, by_none = jacobian(y, [fed, w, unused])
    assert by_none is None and by_w.shape.as_list() == [None, 3, 2, 3]
    x, m = np.float64([[1.0, 2.0], [3.0, 4.0]]), np.float64([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    rows = 2.0 * np.einsum("bk,ik->bki", x @ m, m)
    np.testing.assert_allclose(run(by_x), np.einsum("bki,bc->bkci", rows, np.eye(2)))
    np.testing.assert_allclose(
        run(by_w), 2.0 * np.einsum("bk,bi,kj->bkij", x @ m, x, np.eye(3)), rtol=1e-12
    )
    np.testing.assert_allclose(run(batch_jacobian(y, fed)), rows)
    assert batch_jacobian(y, tf.zeros([2, 4])) is None
    with pytest.raises(ValueError, match="Need first dimension of output shape"):
        batch_jacobian(tf.zeros([3, 2]), tf.zeros([2, 2]))
    with pytest.raises(tf.errors.InvalidArgumentError):
        run(batch_jacobian(y, fed), {fed: np.zeros((2, 2)), y: np.zeros((3, 3))})


def test_sparse_gradients_become_dense() -> None:
    table = tf.constant(np.arange(6.0).reshape(3, 2))
    found = run(jacobian(tf.gather(table, [2, 0]), table))
    assert found.shape == (2, 2, 3, 2)
    np.testing.assert_array_equal(
        np.argwhere(found), [[0, 0, 2, 0], [0, 1, 2, 1], [1, 0, 0, 0], [1, 1, 0, 1]]
    )


def _recurrent(x: Any) -> Any:
    cell = tf.nn.rnn_cell.BasicRNNCell(2, dtype=tf.float64)
    return tf.nn.dynamic_rnn(cell, x, dtype=tf.float64)[0]


def _array(x: Any) -> Any:
    rows = tf.TensorArray(tf.float64, 2, clear_after_read=False).unstack(x)
    return tf.stack([tf.cumsum(rows.read(i) * rows.gather([i])[0], 1) for i in range(2)])


def _mapped(x: Any) -> Any:
    return tf.map_fn(lambda row: row * row * tf.reduce_sum(row), x)


@pytest.mark.parametrize("made", [_recurrent, _array, _mapped])
def test_jacobians_of_loops_and_arrays(made: Any) -> None:
    x = tf.constant(np.linspace(-1, 1, 8).reshape(2, 2, 2))
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = made(x)
    whole, rows, taped = jacobian(y, x), batch_jacobian(y, x), tape.jacobian(y, x)
    size = y.shape.num_elements()
    units = tf.constant(np.eye(size).reshape(size, *y.shape.as_list()))
    single = [tf.gradients(y, x, units[i])[0] for i in range(size)]
    found, by_rows, by_tape, expected = run([whole, rows, taped, tf.stack(single)])
    assert np.abs(expected).max() > 0.01
    np.testing.assert_allclose(found.reshape(expected.shape), expected, rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(by_tape, found, rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(by_rows, np.einsum("bijbkl->bijkl", found), rtol=1e-12, atol=1e-14)


def test_jacobians_of_jacobians() -> None:
    x = tf.constant([1.0, 2.0, -3.0], tf.float64)
    hessian = jacobian(jacobian(x**3 * tf.reduce_sum(x), x), x)
    slopes = tf.gradients(x**3 * tf.reduce_sum(x), x)[0]
    found, summed = run([hessian, tf.hessians(x**3 * tf.reduce_sum(x), x)[0]])
    assert slopes is not None and found.shape == (3, 3, 3)
    np.testing.assert_allclose(found.sum(0), summed, rtol=1e-12)


def test_gradients_of_a_loop_for_each_row() -> None:
    x = tf.constant([1.0, 2.0])
    _, out = tf.while_loop(lambda i, _: i < 3, lambda i, v: (i + 1, v * x), (0, tf.ones([2])))

    def slopes_of(i: Any) -> Any:
        return tf.gradients(tf.reduce_sum(out * tf.one_hot(i, 2)), x)[0]

    slopes, turns = tf.vectorized_map(slopes_of, tf.range(2)), pfor(slopes_of, 2)
    none = pfor(slopes_of, 0)
    for found in run([slopes, turns]):
        np.testing.assert_allclose(found, [[3.0, 0.0], [0.0, 12.0]])
    assert run(none).shape == (0, 2)
    with pytest.raises(NotImplementedError, match="jacobian: .* give the tensors sizes"):
        jacobian(tf.boolean_mask(out * x, out > 0), x)


def test_slices_of_turns_become_dense() -> None:
    found = pfor(lambda i: tf.IndexedSlices(tf.reshape(i, [1]), [i], [3]), 2)
    assert run(found).tolist() == [[0, 0, 0], [0, 1, 0]]


def test_sparse_tensors_of_turns_are_one_with_an_axis_in_front() -> None:
    def turn(i: Any) -> Any:
        number = tf.cast(tf.reshape(i, [1]), tf.int64)
        whole = tf.SparseTensor(tf.reshape(number, [1, 1]), tf.cast(number, tf.float32), number + 1)
        return whole, number

    for iters in (4, tf.placeholder_with_default(4, [])):
        sparse, numbers = pfor(turn, iters)
        found = run(tf.sparse.to_dense(sparse))
        np.testing.assert_array_equal(found, np.diag(np.float32([0, 1, 2, 3])))
        np.testing.assert_array_equal(run(numbers), [[0], [1], [2], [3]])
    assert pfor(turn, 4)[1].shape.as_list() == [4, 1]
