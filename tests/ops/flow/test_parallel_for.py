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
